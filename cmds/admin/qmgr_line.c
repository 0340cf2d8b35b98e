/* A walk from left to right with one pointer into the line (struct qmgr_line_scan): command, object, names,
 * attributes; where it stops is where the caret of a message goes. Two places need a look ahead. A word after the
 * object is a name or an attribute, and what follows it decides (is_attribute); and a "-" before "=" belongs to the
 * operator, in other places to the name.
 *
 * Here the order of the tables matters: an abbreviation means the first word that begins with it. */
#include "qmgr_line.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "qmgr_attrs.h"

struct word {
    const char *name;
    int value;
};

static const struct word commands[] = {
    {"create", MGR_CMD_CREATE}, {"delete", MGR_CMD_DELETE}, {"set", MGR_CMD_SET},
    {"unset", MGR_CMD_UNSET},   {"list", MGR_CMD_LIST},     {"print", MGR_CMD_PRINT},
    {"active", MGR_CMD_ACTIVE}, {"import", MGR_CMD_IMPORT}, {"export", MGR_CMD_EXPORT},
    {"help", QMGR_HELP},        {"?", QMGR_HELP},           {"quit", QMGR_QUIT},
    {"exit", QMGR_QUIT},        {"history", QMGR_HISTORY},  {"diff", QMGR_DIFF},
    {"apply", QMGR_APPLY},
};

static const struct word objects[] = {
    {"server", MGR_OBJ_SERVER},    {"servers", MGR_OBJ_SERVER}, {"queue", MGR_OBJ_QUEUE},
    {"queues", MGR_OBJ_QUEUE},     {"node", MGR_OBJ_NODE},      {"nodes", MGR_OBJ_NODE},
    {"resource", MGR_OBJ_RSC},     {"sched", MGR_OBJ_SCHED},    {"hook", MGR_OBJ_HOOK},
    {"pbshook", MGR_OBJ_PBS_HOOK},
};

struct qmgr_line_scan {
    const char *line, *at;
    struct qmgr_line *out;
    struct qmgr_line_error *error;
};

const char *qmgr_line_object(int object)
{
    size_t i;

    for (i = 0; i < sizeof objects / sizeof objects[0]; i++)
        if (objects[i].value == object)
            return objects[i].name;
    return "";
}

void qmgr_line_fini(struct qmgr_line *l)
{
    size_t i;

    for (i = 0; i < l->n; i++) {
        free(l->names[i].name);
        free(l->names[i].server);
    }
    free(l->names);
    attrs_fini(&l->attrs);
    *l = (struct qmgr_line){.command = QMGR_NOTHING, .object = MGR_OBJ_NONE};
}

static void qmgr_line_skip_blanks(struct qmgr_line_scan *s)
{
    while (isspace((unsigned char)*s->at))
        s->at++;
}

static size_t word_length(const char *s)
{
    return strcspn(s, " \t\r\n");
}

static int set_error(struct qmgr_line_scan *s, enum qmgr_line_error_kind kind, size_t n)
{
    s->error->kind = kind;
    s->error->at = (size_t)(s->at - s->line);
    snprintf(s->error->word, sizeof s->error->word, "%.*s", (int)n, s->at);
    return -1;
}

/* Return the value of the first row that begins with the word; -1: none. */
static int find_word(const struct word *rows, size_t n_rows, const char *word, size_t n)
{
    for (size_t i = 0; n && i < n_rows; i++)
        if (!strncasecmp(rows[i].name, word, n))
            return rows[i].value;
    return -1;
}

/* The same for the next word, which is then read. */
static int take_word(struct qmgr_line_scan *s, const struct word *rows, size_t n_rows)
{
    size_t n;
    int value;

    qmgr_line_skip_blanks(s);
    n = word_length(s->at);
    value = find_word(rows, n_rows, s->at, n);
    s->at += value < 0 ? 0 : n;
    return value;
}

int qmgr_line_find_command(const char *word, size_t n)
{
    return find_word(commands, sizeof commands / sizeof commands[0], word, n);
}

int qmgr_line_find_object(const char *word, size_t n)
{
    return find_word(objects, sizeof objects / sizeof objects[0], word, n);
}

/* Of several words for one thing take the first, which comes before the others. */
static void each_word(const struct word *rows, size_t n_rows, qmgr_line_word_fn *fn, void *arg)
{
    for (size_t i = 0; i < n_rows; i++)
        if (i == 0 || rows[i].value != rows[i - 1].value)
            fn(arg, rows[i].name, rows[i].value);
}

void qmgr_line_commands(qmgr_line_word_fn *fn, void *arg)
{
    each_word(commands, sizeof commands / sizeof commands[0], fn, arg);
}

void qmgr_line_objects(qmgr_line_word_fn *fn, void *arg)
{
    each_word(objects, sizeof objects / sizeof objects[0], fn, arg);
}

/* --- names -------------------------------------------------------------------------------------------------- */

static bool qmgr_line_is_name(int object, const char *s, size_t n)
{
    size_t i;

    if (!n)
        return true;
    if (object == MGR_OBJ_NODE ? !isalnum((unsigned char)*s) : !isalpha((unsigned char)*s))
        return object == MGR_OBJ_SERVER && isdigit((unsigned char)*s);
    for (i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr("_-.:[]", s[i]))
            return false;
    return true;
}

/* "name", "name@server", "@server", "@default". */
static int add_name(struct qmgr_line_scan *s, const char *text, size_t n)
{
    struct qmgr_line *l = s->out;
    const char *at = memchr(text, '@', n);
    size_t n_name = at ? (size_t)(at - text) : n, n_server = at ? n - n_name - 1 : 0;
    struct qmgr_name *more, *name;

    if (!n || (at && !n_server) || !qmgr_line_is_name(l->object, text, n_name)) {
        s->at = text;
        return set_error(s, QMGR_BAD_NAME, n);
    }
    more = realloc(l->names, (l->n + 1) * sizeof *more);
    if (!more)
        return set_error(s, QMGR_BAD_NAME, n);
    l->names = more;
    name = &l->names[l->n];
    name->name = strndup(text, n_name);
    name->server =
        n_server == 7 && !strncmp(at + 1, "default", 7) ? strdup("") : strndup(at ? at + 1 : "", n_server);
    l->n++;
    return name->name && name->server ? 0 : set_error(s, QMGR_BAD_NAME, n);
}

/* Return true if the next word is an attribute, and not a name. A word that an operator follows surely is; where none
 * is needed, a word that the definitions know and that nothing follows. */
static bool is_attribute(const struct qmgr_line_scan *s)
{
    const char *end = s->at + strcspn(s->at, " \t\r\n=+,"), *next = end + strspn(end, " \t\r\n");
    size_t n = strcspn(s->at, " \t\r\n=+,.");
    char name[64];

    if (*next == '=' || !strncmp(next, "+=", 2) || !strncmp(next, "-=", 2))
        return true;
    if (end > s->at + 1 && end[-1] == '-' && *end == '=')
        return true;
    if ((*next && *next != ',') || n >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)n, s->at);
    return qmgr_attrs_is_attribute(s->out->object, name);
}

static int take_names(struct qmgr_line_scan *s)
{
    qmgr_line_skip_blanks(s);
    if (!*s->at || (s->out->command != MGR_CMD_CREATE && is_attribute(s)))
        return 0;
    for (;;) {
        size_t n = strcspn(s->at, " \t\r\n,");

        if (add_name(s, s->at, n) < 0)
            return -1;
        s->at += n;
        if (*s->at != ',')
            return 0;
        s->at++;
        qmgr_line_skip_blanks(s);
    }
}

/* --- attributes --------------------------------------------------------------------------------------------- */

/* "name[.resource]" up to an operator, comma or blank; a '-' before '=' is the operator's. */
static size_t attribute_length(const char *s)
{
    size_t n = 0;

    while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '.' || (s[n] == '-' && s[n + 1] != '='))
        n++;
    return n;
}

static bool take_operator(struct qmgr_line_scan *s, enum batch_op *op)
{
    qmgr_line_skip_blanks(s);
    *op = *s->at == '+' ? INCR : *s->at == '-' ? DECR : SET;
    s->at += *op != SET;
    if (*s->at != '=')
        return false;
    s->at++;
    qmgr_line_skip_blanks(s);
    return true;
}

/* What is in quotes, and in quotes right behind them: "it's "'"so"'. On the heap, NULL: a quote is not closed. */
static char *take_quoted(struct qmgr_line_scan *s)
{
    char *value = malloc(strlen(s->at)), *to = value;

    while (value && (*s->at == '"' || *s->at == '\'')) {
        const char *from = s->at + 1, *end = strchr(from, *s->at);

        if (!end) {
            free(value);
            return NULL;
        }
        to = mempcpy(to, from, (size_t)(end - from));
        s->at = end + 1;
    }
    if (value)
        *to = '\0';
    return value;
}

/* Read a value: in quotes, or up to the next comma. On the heap, NULL: a quote is not closed. */
static char *qmgr_line_take_value(struct qmgr_line_scan *s)
{
    const char *from = s->at, *end;

    if (*from == '"' || *from == '\'')
        return take_quoted(s);
    end = from + strcspn(from, ",");
    s->at = end;
    while (end > from && isspace((unsigned char)end[-1]))
        end--;
    return strndup(from, (size_t)(end - from));
}

static int add_attribute(struct qmgr_line_scan *s, const char *text, size_t n, const char *value,
                         enum batch_op op)
{
    char *copy = strndup(text, n), *dot = copy ? strchr(copy, '.') : NULL;

    if (dot)
        *dot++ = '\0';
    if (copy)
        attrs_add(&s->out->attrs, copy, dot, value, op);
    free(copy);
    return copy && !s->out->attrs.failed ? 0 : set_error(s, QMGR_BAD_ATTRIBUTE, 0);
}

static int qmgr_line_take_attribute(struct qmgr_line_scan *s)
{
    const bool wants_value = s->out->command == MGR_CMD_SET || s->out->command == MGR_CMD_CREATE;
    const char *name = s->at;
    size_t n = attribute_length(name);
    enum batch_op op = UNSET;
    char *value = NULL;
    int rc;

    if (!n)
        return set_error(s, QMGR_BAD_ATTRIBUTE, word_length(s->at));
    s->at += n;
    if (wants_value && (!take_operator(s, &op) || !(value = qmgr_line_take_value(s))))
        return set_error(s, QMGR_BAD_ATTRIBUTE, word_length(s->at));
    rc = add_attribute(s, name, n, value ? value : "", op);
    free(value);
    return rc;
}

static int take_attributes(struct qmgr_line_scan *s)
{
    qmgr_line_skip_blanks(s);
    if (!*s->at)
        return 0;
    for (;;) {
        if (qmgr_line_take_attribute(s) < 0)
            return -1;
        qmgr_line_skip_blanks(s);
        if (!*s->at)
            return 0;
        if (*s->at != ',')
            return set_error(s, QMGR_BAD_ATTRIBUTE, word_length(s->at));
        s->at++;
        qmgr_line_skip_blanks(s);
    }
}

/* import and export: content type, encoding, file. */
static int take_content(struct qmgr_line_scan *s)
{
    static const char *const names[] = {"content-type", "content-encoding", "input-file", "output-file"};
    const bool export = s->out->command == MGR_CMD_EXPORT;
    int i;

    for (i = 0; i < 3; i++) {
        char *value;
        size_t n;

        qmgr_line_skip_blanks(s);
        n = word_length(s->at);
        if (!n && export && i == 2)
            return 0;
        value = n ? strndup(s->at, n) : NULL;
        if (!value)
            return set_error(s, QMGR_BAD_ATTRIBUTE, 0);
        s->at += n;
        attrs_add(&s->out->attrs, names[export && i == 2 ? 3 : i], NULL, value, SET);
        free(value);
    }
    qmgr_line_skip_blanks(s);
    return *s->at ? set_error(s, QMGR_BAD_ATTRIBUTE, word_length(s->at)) : 0;
}

/* --- the whole ---------------------------------------------------------------------------------------------- */

/* Check what a command must have, and must not. */
static int qmgr_line_check(struct qmgr_line_scan *s)
{
    const struct qmgr_line *l = s->out;
    const bool named = l->object == MGR_OBJ_SERVER || l->n;

    if ((l->command == MGR_CMD_CREATE || l->command == MGR_CMD_DELETE) && !l->n)
        return set_error(s, QMGR_BAD_NAME, 0);
    if ((l->command == MGR_CMD_SET || l->command == MGR_CMD_UNSET) && !l->attrs.first)
        return set_error(s, QMGR_BAD_ATTRIBUTE, 0);
    if ((l->command == MGR_CMD_DELETE || l->command == MGR_CMD_ACTIVE) && l->attrs.first)
        return set_error(s, QMGR_BAD_ATTRIBUTE, 0);
    if ((l->command == MGR_CMD_IMPORT || l->command == MGR_CMD_EXPORT) && !named)
        return set_error(s, QMGR_BAD_NAME, 0);
    return 0;
}

static int take_object(struct qmgr_line_scan *s)
{
    size_t n;

    qmgr_line_skip_blanks(s);
    n = word_length(s->at);
    s->out->object = take_word(s, objects, sizeof objects / sizeof objects[0]);
    if (s->out->object >= 0)
        return 0;
    s->out->object = MGR_OBJ_NONE;
    /* "active" alone shows what is active. */
    return n || s->out->command != MGR_CMD_ACTIVE ? set_error(s, QMGR_BAD_OBJECT, n) : 0;
}

static int qmgr_line_parse_words(struct qmgr_line_scan *s)
{
    struct qmgr_line *l = s->out;

    l->command = take_word(s, commands, sizeof commands / sizeof commands[0]);
    if (l->command < 0)
        return set_error(s, QMGR_BAD_COMMAND, word_length(s->at));
    if (l->command > QMGR_NOTHING) {
        qmgr_line_skip_blanks(s);
        l->rest = s->at;
        return 0;
    }
    if (take_object(s) < 0 || take_names(s) < 0)
        return -1;
    if (l->command == MGR_CMD_IMPORT || l->command == MGR_CMD_EXPORT)
        return take_content(s) < 0 ? -1 : qmgr_line_check(s);
    return take_attributes(s) < 0 ? -1 : qmgr_line_check(s);
}

int qmgr_line_parse(const char *line, struct qmgr_line *out, struct qmgr_line_error *f)
{
    struct qmgr_line_scan s = {line, line, out, f};

    *out = (struct qmgr_line){.command = QMGR_NOTHING, .object = MGR_OBJ_NONE};
    qmgr_line_skip_blanks(&s);
    return !*s.at || *s.at == '#' ? 0 : qmgr_line_parse_words(&s);
}
