/* Examining a store. See store_check.h.
 *
 * First the database examines its own pages, then the rows are taken up as at a start of the server, then what
 * only hangs on rows is looked for: pieces of scripts and pages of arrays without a job, finished jobs that no
 * status could show. Faults are reported as they are found. */
#include "store_check.h"

#include <stdlib.h>
#include <string.h>

#include "json_scan.h"
#include "pbs_error.h"
#include "schema.h"
#include "server_ctx_life.h"
#include "store_table.h"

struct store_check_rows {
    FILE *out;
    struct store_check *result;
};

static void store_check_report_row(void *arg, const struct restore_error *f)
{
    struct store_check_rows *c = arg;

    c->result->errors++;
    fprintf(c->out, "%s %s: %s; the server %s\n", f->kind, f->name, f->why,
            f->in_part ? "takes up what it can read of it" : "leaves the row out at its start");
}

static int store_check_report_page(void *arg, const struct store_row *row, struct err *e)
{
    struct store_check_rows *c = arg;

    c->result->errors++;
    fprintf(c->out, "database: %s; restore a dump, or repair the file with the tools of the database\n",
            store_row_text(row, 0));
    return 0;
}

static int store_check_report_script(void *arg, const struct store_row *row, struct err *e)
{
    struct store_check_rows *c = arg;

    c->result->errors++;
    fprintf(c->out, "script of job %lld[%lld]: there is no such job; its %lld pieces only take room\n",
            (long long)store_row_number(row, 0), (long long)store_row_number(row, 1),
            (long long)store_row_number(row, 2));
    return 0;
}

static int store_check_report_array(void *arg, const struct store_row *row, struct err *e)
{
    struct store_check_rows *c = arg;

    c->result->errors++;
    fprintf(c->out, "pages of array %lld: there is no such job; they only take room\n",
            (long long)store_row_number(row, 0));
    return 0;
}

static bool is_json_object(const char *text)
{
    char *copy = strdup(text);
    struct json_member m;
    struct json_scan s;
    int rc = -1;

    if (copy && *copy == '{' && json_scan_begin(&s, copy) == 0) {
        while ((rc = json_scan_next(&s, &m)) > 0)
            continue;
        rc = rc == 0 && json_scan_is_over(&s) ? 0 : -1;
    }
    free(copy);
    return rc == 0;
}

static int store_check_take_history(void *arg, const struct store_row *row, struct err *e)
{
    struct store_check_rows *c = arg;
    const char *attrs = store_row_text(row, 6);

    c->result->history++;
    if (attrs && is_json_object(attrs))
        return 0;
    c->result->errors++;
    fprintf(c->out, "finished job %s: its attributes are not a JSON object; status -x cannot show them\n",
            store_row_text(row, 2));
    return 0;
}

static int store_check_ask(struct store *s, enum stmt_id id, store_row_fn *row, struct store_check_rows *c,
                           struct err *e)
{
    struct store_batch_stmt q;

    stmt_init(&q, id);
    return store_query(s, &q, row, c, e);
}

static int check_version(struct store *s, struct err *e)
{
    char schema[32], identity[64];

    if (store_table_meta(s, "schema", schema, sizeof schema, e) < 0 ||
        store_table_meta(s, "identity", identity, sizeof identity, e) < 0)
        return err_prefix(e, "this is not a store of a server");
    if (!*identity)
        return err_set(e, PBSE_SYSTEM, "no server has used the store yet: there is nothing in it");
    if (atoi(schema) != schema_version)
        return err_set(e, PBSE_SYSTEM, "the store has tables of version %s, this program knows %d", schema,
                       schema_version);
    return 0;
}

static int check_rows(struct store *s, struct store_check_rows *c, struct err *e)
{
    const struct restore_errors errors = {store_check_report_row, c};
    struct server_ctx ctx = {0};
    int rc = -1;

    if (server_ctx_create(&ctx, clock_real(), "check", e) == 0)
        rc = restore_rows(&ctx, s, &errors, &c->result->counts, e);
    server_ctx_destroy(&ctx);
    return rc;
}

/* Accounting lines that are not in a file yet are read as at a start; what cannot be read is an error of the whole. */
static void store_check_pass_over(void *arg, const struct restore_acct *a)
{
}

int store_check_run(struct store *s, FILE *out, struct store_check *result, struct err *e)
{
    struct store_check_rows c = {out, result};
    struct restore_filed filed;
    int rc = -1;

    *result = (struct store_check){0};
    if (store_begin(s, STORE_READ, e) < 0)
        return -1;
    if (check_version(s, e) == 0 &&
        (!s->class->examine || s->class->examine(s, store_check_report_page, &c, e) == 0) &&
        check_rows(s, &c, e) == 0 &&
        store_check_ask(s, STMT_SCRIPT_ORPHANS, store_check_report_script, &c, e) == 0 &&
        store_check_ask(s, STMT_ARRAY_ORPHANS, store_check_report_array, &c, e) == 0 &&
        store_check_ask(s, STMT_HISTORY_ALL, store_check_take_history, &c, e) == 0)
        rc = restore_acct(s, &filed, store_check_pass_over, NULL, e);
    store_end(s, false, NULL);
    return rc;
}
