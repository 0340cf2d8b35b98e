#ifndef SCHEMA_H
#define SCHEMA_H
/* The tables, and every statement that is ever run on them: one text for both databases.
 *
 * Parameters are $1, $2 ... in order of first use, so that SQLite numbers them alike. Every writing statement may
 * run twice with the same outcome, since a batch whose commit was not confirmed is run again. JSON is of type
 * json in PostgreSQL, so an administrator can query it; SQLite keeps it as text.
 */
#include <stddef.h>

struct store_class;
struct strbuf;

enum stmt_id {
#define STMT(id, params, sql) STMT_##id,
#include "stmt.def"
#undef STMT
    STMT_COUNT
};

struct stmt_row {
    const char *name; /* for the database: prepared under it */
    const char *sql;
    unsigned params;   /* how many */
    const char *types; /* one letter each: n number, t text, j JSON, b bytes */
};

extern const struct stmt_row stmt_rows[STMT_COUNT];

/* The statements that bring a store from version i to i + 1; NULL ends the list. A new store begins at version
 * 0. */
extern const char *const schema_steps[];
extern const int schema_version; /* the number of steps: the version that this server makes and reads */

/* Append the step from version `from` to the next, in the dialect of that database. -1: no memory. */
int schema_step(int from, const struct store_class *class, struct strbuf *out);

#endif
