/* Stores as files, and into stores. See dump.h.
 *
 * Writing and filling are both a walk over the tables, a row at a time, so a store may be larger than memory. The sum
 * over all lines comes last: a file that was cut off has none. A fill adds rows in batches within one transaction;
 * it keeps the copy's identity, and writes an epoch of its own. */
#include "dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>
#include <openssl/evp.h>

#include "dump_line.h"
#include "json_read.h"
#include "pbs_error.h"
#include "schema.h"
#include "strbuf.h"

/* A row holds at most a piece of a script or the attributes of a job, some megabytes; base64 and escapes multiply that by
 * six at worst. */
#define DUMP_LINE_MAX ((size_t)256 << 20)
enum { FILL_BATCH_BYTES = 4 << 20, FILL_BATCH_ROWS = 2000, SHA256_HEX = 65, META_TEXT = 64 };

/* ---- sums -------------------------------------------------------------------------------------------- */

static void sum_hex(EVP_MD_CTX *sum, char out[static SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char raw[EVP_MAX_MD_SIZE];
    unsigned int n = 0;

    EVP_DigestFinal_ex(sum, raw, &n);
    for (unsigned int i = 0; i < n && 2 * i + 2 < SHA256_HEX; i++) {
        out[2 * i] = digits[raw[i] >> 4];
        out[2 * i + 1] = digits[raw[i] & 15];
    }
    out[SHA256_HEX - 1] = '\0';
}

static EVP_MD_CTX *sum_create(struct err *e)
{
    EVP_MD_CTX *sum = EVP_MD_CTX_new();

    if (sum && EVP_DigestInit_ex(sum, EVP_sha256(), NULL))
        return sum;
    EVP_MD_CTX_free(sum);
    err_set(e, PBSE_SYSTEM, "no memory for the sum of a dump");
    return NULL;
}

static void dump_count(struct dump_counts *c, const struct store_table *t)
{
    c->rows++;
    if (strcmp(t->name, "job") == 0)
        c->jobs++;
}

/* Only a store of this very version of the tables can be copied: an older one is brought up to date by its server. */
static int check_source(struct store *s, struct err *e)
{
    char schema[META_TEXT], identity[META_TEXT];

    if (store_table_meta(s, "schema", schema, sizeof schema, e) < 0 ||
        store_table_meta(s, "identity", identity, sizeof identity, e) < 0)
        return err_prefix(e, "the store holds nothing that can be read");
    if (!*identity)
        return err_set(e, PBSE_SYSTEM, "no server has used the store yet: there is nothing in it");
    if (atoi(schema) != schema_version)
        return err_set(e, PBSE_SYSTEM,
                       "the store has tables of version %s, this program knows %d: use the pbs_store of its "
                       "server, or start a server of this version once",
                       schema, schema_version);
    return 0;
}

/* ---- writing ----------------------------------------------------------------------------------------- */

struct dump_writing {
    FILE *to;
    EVP_MD_CTX *sum;
    struct strbuf line;
    struct dump_counts counts;
};

static int write_line(struct dump_writing *w, bool summed, struct err *e)
{
    if (strbuf_add_char(&w->line, '\n') < 0)
        return err_set(e, PBSE_SYSTEM, "no memory for a line of a dump");
    if (summed)
        EVP_DigestUpdate(w->sum, w->line.s, w->line.len);
    if (fwrite(w->line.s, 1, w->line.len, w->to) != w->line.len)
        return err_errno(e, errno, "the dump cannot be written");
    strbuf_reset(&w->line);
    return 0;
}

static int write_head(struct dump_writing *w, const struct store *from, struct err *e)
{
    time_t now = time(NULL);
    char made[32];
    struct tm utc;

    strftime(made, sizeof made, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    strbuf_addf(&w->line,
                "{\"cede_dump\":%d,\"schema\":%d,\"store\":\"%s\",\"made\":\"%s\",\"version\":\"%s\"}",
                DUMP_FORMAT, schema_version, store_name(from), made, CEDE_VERSION);
    return write_line(w, true, e);
}

static int dump_write_row(void *arg, const struct store_table *t, const struct store_batch_stmt *row,
                          struct err *e)
{
    struct dump_writing *w = arg;

    dump_count(&w->counts, t);
    dump_line_add(&w->line, t, row);
    return write_line(w, true, e);
}

static int write_end(struct dump_writing *w, struct err *e)
{
    char hex[SHA256_HEX];

    sum_hex(w->sum, hex);
    strbuf_addf(&w->line, "{\"rows\":%" PRIu64 ",\"sha256\":\"%s\"}", w->counts.rows, hex);
    if (write_line(w, false, e) < 0)
        return -1;
    return fflush(w->to) == 0 ? 0 : err_errno(e, errno, "the dump cannot be written");
}

int dump_write(struct store *from, FILE *to, struct dump_counts *out, struct err *e)
{
    struct dump_writing w = {.to = to, .sum = sum_create(e)};
    int rc = -1;

    if (!w.sum)
        return -1;
    strbuf_init(&w.line, DUMP_LINE_MAX);
    if (store_begin(from, STORE_READ, e) == 0) {
        if (check_source(from, e) == 0 && write_head(&w, from, e) == 0 &&
            store_table_walk(from, dump_write_row, &w, e) == 0)
            rc = write_end(&w, e);
        store_end(from, false, NULL);
    }
    *out = w.counts;
    strbuf_fini(&w.line);
    EVP_MD_CTX_free(w.sum);
    return rc;
}

/* ---- filling a store --------------------------------------------------------------------------------- */

struct dump_filling {
    struct store *to;
    struct store_batch *store_batch;
    struct dump_counts counts;
    uint64_t epoch; /* the highest that either store has seen */
    bool has_identity;
};

static int fill_flush(struct dump_filling *f, struct err *e)
{
    int rc = store_batch_is_ok(f->store_batch) ? 0 : err_set(e, PBSE_SYSTEM, "no memory for rows of a dump");

    if (rc == 0 && !store_batch_is_empty(f->store_batch))
        rc = store_add(f->to, f->store_batch, e);
    store_batch_clear(f->store_batch);
    return rc;
}

static int fill_clear(struct dump_filling *f, struct err *e)
{
    for (size_t i = 0; i < STORE_TABLES; i++)
        store_batch_begin(f->store_batch, store_tables[i].clear);
    return fill_flush(f, e);
}

static uint64_t epoch_of(const char *text)
{
    return strtoull(text, NULL, 10);
}

/* Open the transaction and make room in it. */
static int fill_begin(struct dump_filling *f, struct store *to, bool replace, struct err *e)
{
    char identity[META_TEXT], epoch[META_TEXT];

    *f = (struct dump_filling){.to = to, .store_batch = store_batch_create()};
    if (!f->store_batch)
        return err_no_memory(e);
    if (store_begin(to, STORE_WRITE, e) < 0) {
        store_batch_destroy(f->store_batch);
        return -1;
    }
    if (store_table_meta(to, "identity", identity, sizeof identity, e) == 0 &&
        store_table_meta(to, "epoch", epoch, sizeof epoch, e) == 0) {
        f->epoch = epoch_of(epoch);
        if (*identity && !replace)
            err_set(e, EEXIST, "the store is in use: it has the identity %s", identity);
        else if (fill_clear(f, e) == 0)
            return 0;
    }
    store_end(to, false, NULL);
    store_batch_destroy(f->store_batch);
    return -1;
}

/* Copy the rows about the store itself; the version of the tables remains that of the store that is filled. */
static int fill_meta(struct dump_filling *f, const struct store_batch_stmt *row, struct err *e)
{
    const char *name = row->param[0].bytes, *value = row->param[1].bytes;

    if (!name || !value)
        return err_set(e, EINVAL, "a row of table meta has no name or no value");
    if (strcmp(name, "identity") == 0)
        f->has_identity = true;
    if (strcmp(name, "epoch") == 0) {
        f->epoch = epoch_of(value) > f->epoch ? epoch_of(value) : f->epoch;
        return 0;
    }
    if (strcmp(name, "schema") == 0)
        return atoi(value) == schema_version ? 0 : err_set(e, EINVAL, "tables of version %s", value);
    store_table_put(f->store_batch, row);
    return 0;
}

static int dump_fill_row(void *arg, const struct store_table *t, const struct store_batch_stmt *row,
                         struct err *e)
{
    struct dump_filling *f = arg;

    dump_count(&f->counts, t);
    if (t == &store_tables[STORE_TABLE_META]) {
        if (fill_meta(f, row, e) < 0)
            return -1;
    } else {
        store_table_put(f->store_batch, row);
    }
    if (store_batch_count(f->store_batch) < FILL_BATCH_ROWS &&
        store_batch_size(f->store_batch) < FILL_BATCH_BYTES)
        return 0;
    return fill_flush(f, e);
}

static void put_meta(struct dump_filling *f, const char *name, uint64_t number)
{
    char text[META_TEXT];

    snprintf(text, sizeof text, "%" PRIu64, number);
    store_batch_begin(f->store_batch, STMT_META_SET);
    store_batch_text(f->store_batch, name);
    store_batch_text(f->store_batch, text);
}

/* Close the transaction: `rc` is what filling it came to. */
static int fill_end(struct dump_filling *f, int rc, struct dump_counts *out, struct err *e)
{
    if (rc == 0 && !f->has_identity)
        rc = err_set(e, EINVAL, "the dump has no identity of a store in table meta");
    if (rc == 0) {
        put_meta(f, "schema", (uint64_t)schema_version);
        put_meta(f, "epoch", f->epoch + DUMP_EPOCH_STRIDE);
        rc = fill_flush(f, e);
    }
    if (store_end(f->to, rc == 0, rc == 0 ? e : NULL) < 0)
        rc = -1;
    *out = f->counts;
    store_batch_destroy(f->store_batch);
    return rc;
}

int dump_copy(struct store *to, struct store *from, bool replace, struct dump_counts *out, struct err *e)
{
    struct dump_filling f;
    int rc;

    if (store_begin(from, STORE_READ, e) < 0)
        return -1;
    rc = check_source(from, e);
    if (rc == 0)
        rc = fill_begin(&f, to, replace, e);
    if (rc == 0)
        rc = fill_end(&f, store_table_walk(from, dump_fill_row, &f, e), out, e);
    store_end(from, false, NULL);
    return rc;
}

/* ---- reading ----------------------------------------------------------------------------------------- */

struct dump_reading {
    FILE *from;
    EVP_MD_CTX *sum;
    char *line;
    size_t cap;
    uint64_t number; /* of the line, from 1 */
};

/* One line without its newline into r->line. 0: there are no more. */
static int read_line(struct dump_reading *r, size_t *n, struct err *e)
{
    ssize_t got = getline(&r->line, &r->cap, r->from);

    if (got < 0)
        return ferror(r->from) ? err_errno(e, errno, "the dump cannot be read") : 0;
    r->number++;
    *n = (size_t)got;
    if (*n > DUMP_LINE_MAX)
        return err_set(e, EINVAL, "line %" PRIu64 " is longer than %zu bytes", r->number, DUMP_LINE_MAX);
    if (r->line[*n - 1] != '\n')
        return err_set(e, EINVAL, "the dump is cut off in line %" PRIu64, r->number);
    if (memchr(r->line, '\0', *n))
        return err_set(e, EINVAL, "line %" PRIu64 " holds a NUL", r->number);
    return 1;
}

static json_t *read_object(const struct dump_reading *r, struct err *e)
{
    json_t *o = json_read(r->line, strlen(r->line), DUMP_LINE_MAX, NULL);

    if (!json_is_object(o)) {
        json_decref(o);
        err_set(e, EINVAL, "line %" PRIu64 " of the dump is not a JSON object", r->number);
        return NULL;
    }
    return o;
}

static int read_head(struct dump_reading *r, struct err *e)
{
    size_t n = 0;
    int got = read_line(r, &n, e), rc = 0;
    json_t *o;
    json_int_t format, schema;

    if (got <= 0)
        return got < 0 ? -1 : err_set(e, EINVAL, "the dump is empty");
    EVP_DigestUpdate(r->sum, r->line, n);
    o = read_object(r, NULL);
    format = json_integer_value(json_object_get(o, "cede_dump"));
    schema = json_integer_value(json_object_get(o, "schema"));
    json_decref(o);
    if (format == 0)
        rc = err_set(e, EINVAL,
                     "this is not a dump of pbs_store: the first line is not {\"cede_dump\":%d,...}",
                     DUMP_FORMAT);
    else if (format != DUMP_FORMAT)
        rc = err_set(e, EINVAL, "the dump has format %lld, this program reads %d", (long long)format,
                     DUMP_FORMAT);
    else if (schema != schema_version)
        rc = err_set(e, EINVAL,
                     "the dump holds tables of version %lld, this program knows %d: restore it with "
                     "the pbs_store of that version, and start a server of this one",
                     (long long)schema, schema_version);
    return rc;
}

/* The last line: check that all rows before it are there, as they were written. */
static int read_end(struct dump_reading *r, const struct dump_filling *f, struct err *e)
{
    json_t *o = read_object(r, e);
    char hex[SHA256_HEX];
    size_t n;
    int rc = 0;

    if (!o)
        return -1;
    sum_hex(r->sum, hex);
    if ((uint64_t)json_integer_value(json_object_get(o, "rows")) != f->counts.rows)
        rc = err_set(e, EINVAL, "the dump has %" PRIu64 " rows, its last line says %lld", f->counts.rows,
                     (long long)json_integer_value(json_object_get(o, "rows")));
    else if (strcmp(json_string_value(json_object_get(o, "sha256")) ?: "", hex) != 0)
        rc = err_set(e, EINVAL, "the dump was altered: its SHA-256 is %s, its last line says %s", hex,
                     json_string_value(json_object_get(o, "sha256")) ?: "nothing");
    else if (read_line(r, &n, e) != 0)
        rc = err_set(e, EINVAL, "the dump does not end behind line %" PRIu64, r->number - 1);
    json_decref(o);
    return rc;
}

static int read_row(struct dump_reading *r, struct dump_filling *f, size_t n, struct err *e)
{
    const struct store_table *t;
    struct store_batch_stmt row;

    EVP_DigestUpdate(r->sum, r->line, n);
    r->line[n - 1] = '\0';
    if (dump_line_read(r->line, &t, &row, e) < 0 || dump_fill_row(f, t, &row, e) < 0)
        return err_prefix(e, "line %" PRIu64 " of the dump", r->number);
    return 0;
}

static int dump_read_rows(struct dump_reading *r, struct dump_filling *f, struct err *e)
{
    size_t n = 0;
    int rc;

    while ((rc = read_line(r, &n, e)) > 0) {
        if (r->line[0] == '{')
            return read_end(r, f, e);
        if (read_row(r, f, n, e) < 0)
            return -1;
    }
    return rc < 0 ? -1 : err_set(e, EINVAL, "the dump is cut off behind line %" PRIu64, r->number);
}

int dump_read(struct store *to, FILE *from, bool replace, struct dump_counts *out, struct err *e)
{
    struct dump_reading r = {.from = from, .sum = sum_create(e)};
    struct dump_filling f;
    int rc;

    if (!r.sum)
        return -1;
    rc = read_head(&r, e);
    if (rc == 0)
        rc = fill_begin(&f, to, replace, e);
    if (rc == 0)
        rc = fill_end(&f, dump_read_rows(&r, &f, e), out, e);
    free(r.line);
    EVP_MD_CTX_free(r.sum);
    return rc;
}
