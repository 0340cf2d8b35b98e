/* Tables, and their rows as statements. See store_table.h.
 *
 * A row of store_tables: the name, the statements that read all, write one and clear all, and the columns, in the order
 * of the parameters of the one that writes. A new table of the schema is a row here, or dumps and restores would lose it
 * without a word. */
#include "store_table.h"

#include <stdio.h>
#include <string.h>

#include "schema.h"

const struct store_table store_tables[STORE_TABLES] = {
    [STORE_TABLE_META] = {"meta", STMT_META_ALL, STMT_META_SET, STMT_META_CLEAR, 2, {"name", "value"}},
    {"object",
     STMT_OBJECT_WHOLE,
     STMT_OBJECT_PUT,
     STMT_OBJECT_CLEAR,
     5,
     {"kind", "name", "hot", "attrs", "n"}},
    {"job",
     STMT_JOB_WHOLE,
     STMT_JOB_PUT,
     STMT_JOB_CLEAR,
     11,
     {"seq", "idx", "id", "state", "queue", "owner", "project", "hot", "attrs", "fixed", "fixed_attrs"}},
    {"array_page",
     STMT_ARRAY_ALL,
     STMT_ARRAY_PUT,
     STMT_ARRAY_CLEAR,
     4,
     {"seq", "page", "remaining", "failed"}},
    {"script", STMT_SCRIPT_ALL, STMT_SCRIPT_PUT, STMT_SCRIPT_CLEAR, 4, {"seq", "idx", "start", "bytes"}},
    {"history",
     STMT_HISTORY_ALL,
     STMT_HISTORY_PUT,
     STMT_HISTORY_CLEAR,
     7,
     {"seq", "idx", "id", "ended", "owner", "queue", "attrs"}},
    {"acct", STMT_ACCT_ALL, STMT_ACCT_PUT, STMT_ACCT_CLEAR, 3, {"n", "time", "line"}},
    {"job_log", STMT_LOG_ALL, STMT_LOG_PUT, STMT_LOG_CLEAR, 5, {"n", "time", "seq", "idx", "text"}},
};

const struct store_table *store_table_find(const char *name)
{
    for (size_t i = 0; i < STORE_TABLES; i++)
        if (strcmp(store_tables[i].name, name) == 0)
            return &store_tables[i];
    return NULL;
}

char store_table_letter(const struct store_table *t, size_t column)
{
    return stmt_rows[t->put].types[column];
}

struct store_table_walk {
    const struct store_table *table;
    store_table_row_fn *fn;
    void *arg;
};

static struct store_batch_param column_of(const struct store_row *row, int column, char letter)
{
    struct store_batch_param p = {.type = STORE_BATCH_NULL};
    size_t n = 0;
    const char *bytes = store_row_bytes(row, column, &n);

    if (letter == 'n' && bytes)
        p = (struct store_batch_param){.type = STORE_BATCH_NUMBER, .number = store_row_number(row, column)};
    else if (letter == 'b' || bytes)
        p = (struct store_batch_param){
            .type = letter == 'b' ? STORE_BATCH_BYTES : STORE_BATCH_TEXT, .bytes = bytes, .n = n};
    return p;
}

static int store_table_walk_row(void *arg, const struct store_row *row, struct err *e)
{
    const struct store_table_walk *w = arg;
    struct store_batch_stmt q;

    stmt_init(&q, w->table->put);
    for (size_t i = 0; i < w->table->n_columns; i++)
        q.param[q.n++] = column_of(row, (int)i, store_table_letter(w->table, i));
    return w->fn(w->arg, w->table, &q, e);
}

int store_table_walk(struct store *from, store_table_row_fn *row, void *arg, struct err *e)
{
    for (size_t i = 0; i < STORE_TABLES; i++) {
        struct store_table_walk w = {.table = &store_tables[i], .fn = row, .arg = arg};
        struct store_batch_stmt q;
        int rc;

        stmt_init(&q, w.table->all);
        rc = store_query(from, &q, store_table_walk_row, &w, e);
        if (rc != 0)
            return rc;
    }
    return 0;
}

void store_table_put(struct store_batch *b, const struct store_batch_stmt *row)
{
    store_batch_begin(b, row->id);
    for (unsigned i = 0; i < row->n; i++) {
        const struct store_batch_param *p = &row->param[i];

        switch (p->type) {
        case STORE_BATCH_NULL:
            store_batch_null(b);
            break;
        case STORE_BATCH_NUMBER:
            store_batch_number(b, p->number);
            break;
        case STORE_BATCH_TEXT:
            store_batch_text_n(b, p->bytes, p->n);
            break;
        case STORE_BATCH_BYTES:
            store_batch_bytes(b, p->n ? p->bytes : "", p->n);
            break;
        }
    }
}

struct store_table_meta {
    char *out;
    size_t size;
};

static int store_table_take_value(void *arg, const struct store_row *row, struct err *e)
{
    const struct store_table_meta *v = arg;
    const char *value = store_row_text(row, 0);

    snprintf(v->out, v->size, "%s", value ? value : "");
    return 0;
}

int store_table_meta(struct store *s, const char *name, char *out, size_t size, struct err *e)
{
    struct store_table_meta v = {out, size};
    struct store_batch_stmt q;

    *out = '\0';
    stmt_init(&q, STMT_META_GET);
    stmt_text(&q, name);
    return store_query(s, &q, store_table_take_value, &v, e);
}
