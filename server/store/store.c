/* The choice of an implementation, and the way into it. See store.h.
 *
 * A path means SQLite, else PostgreSQL. Everything after store_open uses the class, so no caller
 * above knows which of them it is. */
#include "store.h"

struct store *store_open(const struct store_where *w, struct err *e)
{
    return w->path ? store_sqlite_open(w, e) : store_pg_open(w, e);
}

struct store *store_open_existing(const struct store_where *w, struct err *e)
{
    struct store_where there = *w;

    there.existing = true;
    return store_open(&there, e);
}

void store_close(struct store *s)
{
    if (s)
        s->class->close(s);
}

const char *store_name(const struct store *s)
{
    return s->class->name;
}

int store_script(struct store *s, const char *sql, struct err *e)
{
    return s->class->script(s, sql, e);
}

int store_query(struct store *s, const struct store_batch_stmt *q, store_row_fn *row, void *arg,
                struct err *e)
{
    return s->class->query(s, q, row, arg, e);
}

int store_apply(struct store *s, const struct store_batch *b, uint64_t epoch, struct err *e)
{
    return s->class->apply(s, b, epoch, e);
}

int store_begin(struct store *s, enum store_access how, struct err *e)
{
    return s->class->begin(s, how, e);
}

int store_add(struct store *s, const struct store_batch *b, struct err *e)
{
    return s->class->add(s, b, e);
}

int store_end(struct store *s, bool keep, struct err *e)
{
    return s->class->end(s, keep, e);
}

const char *store_row_text(const struct store_row *row, int column)
{
    return row->class->text(row, column, NULL);
}

const char *store_row_bytes(const struct store_row *row, int column, size_t *n)
{
    return row->class->text(row, column, n);
}

int64_t store_row_number(const struct store_row *row, int column)
{
    return row->class->number(row, column);
}
