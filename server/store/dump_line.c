/* Rows as lines. See dump_line.h. The reader takes what the writer writes, and JSON that means the same, with blanks and escapes of its own;
 * values are read in place, which works since none is longer than its text in JSON.
 *
 * The table says which type each column has (store_table_letter), not the line: a number where a text belongs is refused, so a line that was
 * edited by hand cannot bring a row into the store that a start of the server could not read. */
#include "dump_line.h"

#include <errno.h>
#include <string.h>

#include "base64.h"
#include "json_read.h"
#include "json_scan.h"
#include "json_text.h"
#include "strbuf.h"

/* ---- writing ----------------------------------------------------------------------------------------- */

static void add_base64(struct strbuf *out, const char *bytes, size_t n)
{
    strbuf_add_char(out, '"');
    base64_encode_line(out, bytes, n);
    strbuf_add_char(out, '"');
}

int dump_line_add(struct strbuf *out, const struct store_table *t, const struct store_batch_stmt *row)
{
    strbuf_addf(out, "[\"%s\"", t->name);
    for (unsigned i = 0; i < row->n; i++) {
        const struct store_batch_param *p = &row->param[i];

        strbuf_add_char(out, ',');
        switch (p->type) {
        case STORE_BATCH_NULL:
            strbuf_add(out, "null");
            break;
        case STORE_BATCH_NUMBER:
            strbuf_addf(out, "%lld", (long long)p->number);
            break;
        case STORE_BATCH_TEXT:
            json_text_add_n(out, p->bytes, p->n);
            break;
        case STORE_BATCH_BYTES:
            add_base64(out, p->bytes, p->n);
            break;
        }
    }
    return strbuf_add_char(out, ']');
}

/* ---- reading ----------------------------------------------------------------------------------------- */

/* In place; -1: it is not base64 as it is written here, without blanks. */
static int read_base64(char *text, size_t n, size_t *out)
{
    const char *why;

    return n % 4 ? -1 : base64_decode_in_place(text, n, out, &why);
}

/* Unescape a text; what the parser makes of it is never longer than what is written. -1: it is not a text. */
static int read_text(struct json_member *m)
{
    json_t *v;
    int rc = -1;

    if (m->kind == JSON_SCAN_TEXT)
        return 0;
    if (m->kind != JSON_SCAN_OTHER || *m->text != '"')
        return -1;
    v = json_read_value(m->text, m->len);
    if (json_is_string(v)) {
        m->len = json_string_length(v);
        memcpy(m->text, json_string_value(v), m->len + 1);
        rc = 0;
    }
    json_decref(v);
    return rc;
}

static bool is_null(const struct json_member *m)
{
    return m->kind == JSON_SCAN_OTHER && m->len == 4 && memcmp(m->text, "null", 4) == 0;
}

/* One value of that letter. */
static int read_value(struct json_member *m, char letter, struct store_batch_param *p)
{
    if (is_null(m)) {
        *p = (struct store_batch_param){.type = STORE_BATCH_NULL};
        return 0;
    }
    if (letter == 'n') {
        *p = (struct store_batch_param){.type = STORE_BATCH_NUMBER, .number = m->n};
        return m->kind == JSON_SCAN_INTEGER ? 0 : -1;
    }
    if (read_text(m) < 0)
        return -1;
    *p = (struct store_batch_param){.type = STORE_BATCH_TEXT, .bytes = m->text, .n = m->len};
    if (letter == 'b') {
        p->type = STORE_BATCH_BYTES;
        return read_base64(m->text, m->len, &p->n);
    }
    p->n = json_text_restore(m->text);
    return 0;
}

static const char *letter_name(char letter)
{
    switch (letter) {
    case 'n':
        return "number";
    case 'b':
        return "text in base64";
    default:
        return "text";
    }
}

static int read_columns(struct json_scan *s, const struct store_table *t, struct store_batch_stmt *row,
                        struct err *e)
{
    struct json_member m;

    for (size_t i = 0; i < t->n_columns; i++) {
        char letter = store_table_letter(t, i);
        int rc = json_scan_next(s, &m);

        if (rc == 0)
            return err_set(e, EINVAL, "a row of table %s has %zu columns where %zu belong", t->name, i,
                           t->n_columns);
        if (rc < 0 || read_value(&m, letter, &row->param[i]) < 0)
            return err_set(e, EINVAL, "column %s of a row of table %s is not a %s", t->column[i], t->name,
                           letter_name(letter));
        row->n++;
    }
    if (json_scan_next(s, &m) != 0)
        return err_set(e, EINVAL, "a row of table %s has more than %zu columns", t->name, t->n_columns);
    return json_scan_is_over(s) ? 0 : err_set(e, EINVAL, "text follows a row of table %s", t->name);
}

int dump_line_read(char *line, const struct store_table **t, struct store_batch_stmt *row, struct err *e)
{
    struct json_scan s;
    struct json_member name;

    if (json_scan_begin(&s, line) < 0 || s.close != ']')
        return err_set(e, EINVAL, "this is not a row: it does not begin with [");
    if (json_scan_next(&s, &name) <= 0 || name.kind != JSON_SCAN_TEXT)
        return err_set(e, EINVAL, "this is not a row: the name of a table is missing");
    *t = store_table_find(name.text);
    if (!*t)
        return err_set(e, EINVAL, "there is no table \"%.40s\"", name.text);
    stmt_init(row, (*t)->put);
    return read_columns(&s, *t, row, e);
}
