/* Three ways to write the same list of attributes. Only JSON needs more than one walk: the resources of an attribute
 * become one object, but they need not be next to one another in the list. The first of them writes all, and the
 * later ones are skipped as repeated. One function makes a value readable (dates, arguments) for all three. */
#include "status_out.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "attrs.h"
#include "conf.h"
#include "json_out.h"
#include "jsdl.h"
#include "strbuf.h"
#include "term_out.h"

enum { FOLD_COLUMN = 78, TAB_COLUMNS = 8 };

int status_out_format(const char *text, enum status_format *out)
{
    static const char *const names[] = {"default", "dsv", "json"};
    int i;

    for (i = 0; i < 3; i++)
        if (!strcasecmp(text, names[i])) {
            *out = (enum status_format)i;
            return 0;
        }
    return -1;
}

/* --- values ------------------------------------------------------------------------------------------------- */

bool status_out_is_date(const struct attrl *a)
{
    static const char *const names[] = {ATTR_ctime,
                                        ATTR_mtime,
                                        ATTR_qtime,
                                        ATTR_etime,
                                        ATTR_stime,
                                        ATTR_obittime,
                                        ATTR_a,
                                        ATTR_history_timestamp,
                                        ATTR_resv_start,
                                        ATTR_resv_end,
                                        ATTR_NODE_last_state_change_time,
                                        ATTR_NODE_last_used_time};
    size_t i;

    if (a->resource)
        return !strcmp(a->name, ATTR_estimated) && !strcmp(a->resource, "start_time");
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(a->name, names[i]))
            return true;
    return false;
}

static const char *show_date(const struct attrl *a, char *scratch)
{
    char *end;
    long long s = strtoll(a->value, &end, 10);
    time_t t = (time_t)s;
    struct tm tm;

    if (end == a->value || *end || !localtime_r(&t, &tm))
        return a->value;
    if (!s && a->resource)
        return "UNKNOWN";
    strftime(scratch, STATUS_SCRATCH, "%a %b %e %H:%M:%S %Y", &tm);
    return scratch;
}

static const char *show_arguments(const struct attrl *a, char *scratch)
{
    struct strbuf b;

    strbuf_init(&b, STATUS_SCRATCH - 1);
    if (jsdl_plain(&b, a->value) < 0)
        strbuf_reset(&b);
    memcpy(scratch, b.s, b.len + 1);
    strbuf_fini(&b);
    return *scratch ? scratch : a->value;
}

const char *status_out_value(const struct attrl *a, char scratch[static STATUS_SCRATCH])
{
    if (!a->value)
        return "";
    if (status_out_is_date(a))
        return show_date(a, scratch);
    return strcmp(a->name, ATTR_submit_arguments) ? a->value : show_arguments(a, scratch);
}

/* --- full --------------------------------------------------------------------------------------------------- */

/* Return the length of the piece at s, with the next comma that no backslash protects. */
static size_t piece_length(const char *s)
{
    size_t n = 0;

    while (s[n] && s[n] != ',')
        n += s[n] == '\\' && s[n + 1] ? 2 : 1;
    return s[n] ? n + 1 : n;
}

static void put_folded(FILE *f, const char *value, size_t column, size_t fold)
{
    bool first = true;

    while (*value) {
        size_t n = piece_length(value);

        if (!first && column + n > fold) {
            fputs_unlocked("\n\t", f);
            column = TAB_COLUMNS;
        }
        term_out_text_n(f, value, n);
        column += n;
        value += n;
        first = false;
    }
}

static void full_attribute(FILE *f, const struct status_full *how, const struct attrl *a)
{
    char scratch[STATUS_SCRATCH];
    const char *value = status_out_value(a, scratch);
    size_t column = strlen(how->indent) + strlen(a->name) + 3;

    fputs_unlocked(how->indent, f);
    fputs_unlocked(a->name, f);
    if (a->resource) {
        putc_unlocked('.', f);
        fputs_unlocked(a->resource, f);
        column += strlen(a->resource) + 1;
    }
    fputs_unlocked(" = ", f);
    if (how->unfolded)
        term_out_text(f, value);
    else
        put_folded(f, value, column, how->fold ? how->fold : FOLD_COLUMN);
    putc_unlocked('\n', f);
}

void status_out_full(FILE *f, const struct status_full *how, const struct batch_status *object)
{
    const struct attrl *a;

    fputs_unlocked(how->head, f);
    term_out_text(f, object->name);
    putc_unlocked('\n', f);
    for (a = object->attribs; a; a = a->next)
        full_attribute(f, how, a);
    putc_unlocked('\n', f);
}

/* --- DSV ---------------------------------------------------------------------------------------------------- */

/* Return the length of the text before the next newline or delimiter. */
static size_t plain_length(const char *s, const char *delimiter, size_t n)
{
    size_t at = 0;

    while (s[at] && s[at] != '\n' && strncmp(s + at, delimiter, n) != 0)
        at++;
    return at;
}

void status_out_dsv_value(FILE *f, const char *value, const char *delimiter)
{
    size_t n = strlen(delimiter),
           first = (unsigned char)*delimiter < 0x80 ? 1 : n; /* one character of UTF-8 */

    for (;;) {
        size_t plain = plain_length(value, delimiter, n);

        term_out_text_n(f, value, plain);
        value += plain;
        if (!*value)
            return;
        if (*value == '\n') {
            fputs_unlocked("\\n", f);
            value++;
        } else {
            putc_unlocked('\\', f);
            fwrite_unlocked(value, 1, first, f);
            value += first;
        }
    }
}

void status_out_dsv(FILE *f, const char *head, const char *delimiter, const struct batch_status *object)
{
    char scratch[STATUS_SCRATCH];
    const struct attrl *a;

    fputs_unlocked(head, f);
    term_out_text(f, object->name);
    for (a = object->attribs; a; a = a->next) {
        fprintf(f, "%s%s%s%s=", delimiter, a->name, a->resource ? "." : "", a->resource ? a->resource : "");
        status_out_dsv_value(f, status_out_value(a, scratch), delimiter);
    }
    putc_unlocked('\n', f);
}

/* --- JSON --------------------------------------------------------------------------------------------------- */

static bool is_always_string(const char *name)
{
    return !strcmp(name, ATTR_name) || !strcmp(name, ATTR_project) || !strcmp(name, ATTR_A);
}

/* "A=1,B=x\,y" as an object. Backslashes go; each value is a string or what JSON it is. */
static void json_variables(struct json_out *j, const struct attrl *a)
{
    const char *v = a->value;
    char *value = malloc(strlen(v) + 1);

    if (!value)
        return;
    json_out_open(j, a->name, '{');
    while (*v) {
        size_t n = piece_length(v), len = v[n - 1] == ',' ? n - 1 : n, key = 0, k = 0, i;
        char name[512];

        while (key < len && v[key] != '=')
            key++;
        for (i = key + 1; i < len; i++) {
            i += v[i] == '\\' && i + 1 < len;
            value[k++] = v[i];
        }
        value[k] = '\0';
        snprintf(name, sizeof name, "%.*s", (int)key, v);
        json_out_any_n(j, name, value, k);
        v += n;
    }
    json_out_close(j, '}');
    free(value);
}

/* Return true if an attribute with the same name and a resource comes before this one. */
static bool is_repeated(const struct attrl *first, const struct attrl *a)
{
    for (; first != a; first = first->next)
        if (first->resource && !strcmp(first->name, a->name))
            return true;
    return false;
}

static bool is_all_omitted(const struct attrl *a, bool (*omit)(const struct attrl *a))
{
    const char *name = a->name;

    if (!omit)
        return false;
    for (; a; a = a->next)
        if (a->resource && !strcmp(a->name, name) && !omit(a))
            return false;
    return true;
}

static void json_resources(struct json_out *j, const struct attrl *a, bool (*omit)(const struct attrl *a))
{
    char scratch[STATUS_SCRATCH];
    const char *name = a->name;

    if (is_all_omitted(a, omit))
        return;
    json_out_open(j, name, '{');
    for (; a; a = a->next)
        if (a->resource && !strcmp(a->name, name) && (!omit || !omit(a)))
            json_out_any(j, a->resource, status_out_value(a, scratch));
    json_out_close(j, '}');
}

static void json_attribute(struct json_out *j, const struct attrl *first, const struct attrl *a,
                           bool (*omit)(const struct attrl *a))
{
    char scratch[STATUS_SCRATCH];

    if (a->resource) {
        if (!is_repeated(first, a))
            json_resources(j, a, omit);
    } else if (omit && omit(a)) {
        return;
    } else if (!strcmp(a->name, ATTR_v) && a->value) {
        json_variables(j, a);
    } else if (is_always_string(a->name)) {
        json_out_string(j, a->name, a->value ? a->value : "");
    } else {
        json_out_any(j, a->name, status_out_value(a, scratch));
    }
}

void status_out_json_open(struct json_out *j, const struct batch_status *object,
                          bool (*omit)(const struct attrl *a))
{
    const struct attrl *a;

    json_out_open(j, object->name, '{');
    for (a = object->attribs; a; a = a->next)
        json_attribute(j, object->attribs, a, omit);
}

void status_out_json(struct json_out *j, const struct batch_status *object,
                     bool (*omit)(const struct attrl *a))
{
    status_out_json_open(j, object, omit);
    json_out_close(j, '}');
}

void status_out_json_head(struct json_out *j, FILE *f, const struct batch_status *server)
{
    const char *version = server ? attrs_value(server->attribs, ATTR_version, NULL) : NULL;

    json_out_begin(j, f);
    json_out_number(j, "timestamp", (long long)time(NULL));
    json_out_string(j, "pbs_version", version ? version : conf_row(CONF_PBS_VERSION)->preset);
    json_out_string(j, "pbs_server", server ? server->name : "");
}
