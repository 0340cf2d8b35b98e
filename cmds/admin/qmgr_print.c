/* `list` shows everything; `print` writes lines that would make it again, and so leaves out what the server sets by
 * itself. A list becomes a line for each item, the first with "=" and the others with "+=". Types and flags of
 * resources come as numbers and are turned into words here. */
#include "qmgr_print.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attrs.h"
#include "qmgr_attrs.h"
#include "qmgr_line.h"
#include "status_out.h"
#include "term_out.h"

enum { LIST_COLUMN = 80 };

/* --- resources ---------------------------------------------------------------------------------------------- */

/* The interface gives a resource's type and flags as numbers; people write words and letters. */
static const char *resource_type(const char *number)
{
    static const struct {
        int number;
        const char *name;
    } types[] = {{1, "long"}, {3, "string"},   {4, "string_array"},
                 {5, "size"}, {11, "boolean"}, {14, "float"}};
    size_t i;

    for (i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].number == atoi(number))
            return types[i].name;
    return number;
}

static const char *resource_flags(const char *number, char out[static QMGR_PRINT_TEXT])
{
    enum { USER_READ = 0x1, USER_WRITE = 0x2, TO_MOM = 0x400 };
    static const struct {
        unsigned bit;
        char letter;
    } flags[] = {{0x20000, 'h'}, {0x8000, 'n'}, {0x10000, 'f'}, {0x4000, 'q'}, {TO_MOM, 'm'}};
    unsigned long mask = strtoul(number, NULL, 10);
    size_t n = 0, i;

    for (i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (mask & flags[i].bit)
            out[n++] = flags[i].letter;
    if (!(mask & USER_READ))
        out[n++] = 'i';
    else if (!(mask & USER_WRITE))
        out[n++] = 'r';
    out[n] = '\0';
    return out;
}

/* The text to show for a resource's `type` or `flag`; anything but a number is text already. */
const char *qmgr_print_resource_text(const struct attrl *a, char out[static QMGR_PRINT_TEXT])
{
    const char *v = a->value ? a->value : "";

    if (!*v || v[strspn(v, "0123456789")])
        return v;
    return !strcmp(a->name, ATTR_RESC_TYPE) ? resource_type(v) : resource_flags(v, out);
}

static void list_resource(FILE *f, const struct batch_status *o)
{
    const struct attrl *a;
    char text[QMGR_PRINT_TEXT];

    fprintf(f, "Resource %s\n", o->name);
    for (a = o->attribs; a; a = a->next)
        if (*qmgr_print_resource_text(a, text))
            fprintf(f, "    %s = %s\n", a->name, qmgr_print_resource_text(a, text));
    putc('\n', f);
}

static void print_resource(FILE *f, const struct batch_status *o)
{
    const struct attrl *a;
    char text[QMGR_PRINT_TEXT];

    if (qmgr_attrs_is_builtin(o->name))
        return;
    fprintf(f, "#\n# Create and define resource %s\n#\ncreate resource %s\n", o->name, o->name);
    for (a = o->attribs; a; a = a->next)
        if (*qmgr_print_resource_text(a, text))
            fprintf(f, "set resource %s %s = %s\n", o->name, a->name, qmgr_print_resource_text(a, text));
}

/* --- list --------------------------------------------------------------------------------------------------- */

void qmgr_print_list(FILE *f, int object, const struct batch_status *o)
{
    static const char *const heads[MGR_OBJ_LAST] = {
        [MGR_OBJ_SERVER] = "Server ", [MGR_OBJ_QUEUE] = "Queue ", [MGR_OBJ_NODE] = "Node ",
        [MGR_OBJ_SCHED] = "Sched ",   [MGR_OBJ_HOOK] = "Hook ",   [MGR_OBJ_PBS_HOOK] = "Hook ",
    };
    const struct status_full how = {.head = heads[object], .indent = "    ", .fold = LIST_COLUMN};

    if (object == MGR_OBJ_RSC) {
        list_resource(f, o);
        return;
    }
    status_out_full(f, &how, o);
}

void qmgr_print_begin(FILE *f, int object)
{
    const char *text = NULL;

    switch (object) {
    case MGR_OBJ_RSC:
        text = "Create resources and set their properties.";
        break;
    case MGR_OBJ_QUEUE:
        text = "Create queues and set their attributes.";
        break;
    case MGR_OBJ_NODE:
        text = "Create nodes and set their properties.";
        break;
    case MGR_OBJ_HOOK:
        text = "Create hooks and set their properties.";
        break;
    case MGR_OBJ_PBS_HOOK:
        text = "Set PBS hooks properties.";
        break;
    case MGR_OBJ_SERVER:
        text = "Set server attributes.";
        break;
    }
    if (text)
        fprintf(f, "#\n# %s\n#\n", text);
}

/* --- values ------------------------------------------------------------------------------------------------- */

void qmgr_print_value(FILE *f, const char *value, size_t n)
{
    if (n && strcspn(value, " \t\n,'\"\\") >= n) {
        term_out_text_n(f, value, n);
        return;
    }
    do { /* what has both quotes is in several, one behind the other */
        bool has_double = value[0] == '"' || (memchr(value, '"', n) && !memchr(value, '\'', n));
        const char *quote = has_double ? "'" : "\"", *end = memchr(value, *quote, n);
        size_t len = end ? (size_t)(end - value) : n;

        fputs(quote, f);
        term_out_text_n(f, value, len);
        fputs(quote, f);
        value += len;
        n -= len;
    } while (n);
}

static void put_line(FILE *f, int object, const char *name, const struct attrl *a, const char *op,
                     const char *value, size_t n)
{
    fprintf(f, "set %s %s%s%s%s%s %s ", qmgr_line_object(object), name, *name ? " " : "", a->name,
            a->resource ? "." : "", a->resource ? a->resource : "", op);
    qmgr_print_value(f, value, n);
    putc('\n', f);
}

static void put_attribute(FILE *f, int object, const char *name, const struct attrl *a)
{
    const char *value = a->value ? a->value : "", *op = "=";

    if (!qmgr_attrs_is_list(object, a->name)) {
        put_line(f, object, name, a, op, value, strlen(value));
        return;
    }
    do {
        size_t n = strcspn(value, ",");
        size_t blanks = strspn(value, " ");

        put_line(f, object, name, a, op, value + blanks, n - blanks);
        op = "+=";
        value += n + (value[n] == ',');
    } while (*value);
}

/* What the server sets by itself is not printed: it would be wrong when the lines are read again. */
bool qmgr_print_is_printed(int object, const struct attrl *a)
{
    if (object == MGR_OBJ_NODE && !strcmp(a->name, ATTR_NODE_state))
        return a->value && strstr(a->value, "offline") && !strchr(a->value, ',');
    return qmgr_attrs_is_settable(object, a->name);
}

/* --- heads -------------------------------------------------------------------------------------------------- */

static void put_node_head(FILE *f, const struct batch_status *o)
{
    const char *mom = attrs_value(o->attribs, ATTR_NODE_Mom, NULL),
               *port = attrs_value(o->attribs, ATTR_NODE_Port, NULL);

    fprintf(f, "#\n# Create and define node %s\n#\ncreate node %s", o->name, o->name);
    if (mom && strcmp(mom, o->name) != 0)
        fprintf(f, " Mom=%s", mom);
    if (port && strcmp(port, "15002") != 0)
        fprintf(f, "%sPort=%s", mom && strcmp(mom, o->name) != 0 ? "," : " ", port);
    putc('\n', f);
}

static void put_head(FILE *f, int object, const struct batch_status *o)
{
    switch (object) {
    case MGR_OBJ_SERVER:
        return;
    case MGR_OBJ_NODE:
        put_node_head(f, o);
        return;
    case MGR_OBJ_PBS_HOOK:
        fprintf(f, "#\n# Set pbshook %s\n#\n", o->name);
        return;
    case MGR_OBJ_SCHED:
        fprintf(f, "#\n# Create and define scheduler %s\n#\ncreate sched %s\n", o->name, o->name);
        return;
    }
    fprintf(f, "#\n# Create and define %s %s\n#\ncreate %s %s\n", qmgr_line_object(object), o->name,
            qmgr_line_object(object), o->name);
}

void qmgr_print_object(FILE *f, int object, const struct batch_status *o)
{
    const char *name = object == MGR_OBJ_SERVER ? "" : o->name;
    const struct attrl *a;

    if (object == MGR_OBJ_RSC) {
        print_resource(f, o);
        return;
    }
    put_head(f, object, o);
    for (a = o->attribs; a; a = a->next) {
        if (object == MGR_OBJ_NODE && (!strcmp(a->name, ATTR_NODE_Mom) || !strcmp(a->name, ATTR_NODE_Port)))
            continue;
        if (qmgr_print_is_printed(object, a))
            put_attribute(f, object, name, a);
    }
}
