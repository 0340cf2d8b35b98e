#ifndef STORE_TABLE_H
#define STORE_TABLE_H
/* The tables of a store as rows: the contents of a copy.
 *
 * A row is passed as the statement that writes it (`put`), whose parameters are the columns in order; `all`
 * reads them in the same order. The order of the tables has no meaning: no table has a foreign key to another.
 */
#include <stddef.h>

#include "store_batch.h"
#include "store.h"

enum { STORE_TABLE_COLUMNS_MAX = 11 };

struct store_table {
    const char *name;
    unsigned all, put, clear; /* enum stmt_id */
    size_t n_columns;
    const char *column[STORE_TABLE_COLUMNS_MAX];
};

enum { STORE_TABLES = 8, STORE_TABLE_META = 0 };
extern const struct store_table store_tables[STORE_TABLES];

/* ^ A row as the statement that writes it; its texts live for this call. Not 0 ends the walk and is returned. */
typedef int store_table_row_fn(void *arg, const struct store_table *t, const struct store_batch_stmt *row,
                               struct err *e);

/* Every row of every table. To see the store at one moment, call it between store_begin(STORE_READ) and
 * store_end. */
int store_table_walk(struct store *from, store_table_row_fn *row, void *arg, struct err *e);

/* Find a table by name; NULL: none. */
const struct store_table *store_table_find(const char *name);

/* Of a number, text, JSON or bytes ('n', 't', 'j', 'b'): the letter of a column, see schema.h. */
char store_table_letter(const struct store_table *t, size_t column);

/* Add a row to a batch. */
void store_table_put(struct store_batch *b, const struct store_batch_stmt *row);

/* Read the value under a name of the table `meta`; "" if there is none. Cut at
 * `size`. */
int store_table_meta(struct store *s, const char *name, char *out, size_t size, struct err *e);

#endif
