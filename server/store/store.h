#ifndef STORE_H
#define STORE_H
/* The store: one set of tables, two databases behind it (SQLite in a file, PostgreSQL by libpq).
 *
 * Both have the same tables and run the same statements (schema.h); an implementation only says how to open,
 * run and query. A store handle is one connection and belongs to one thread at a time: the writer's to the
 * commit worker, the reader's to the read worker; before those begin, to the code that opened it. Calls block.
 *
 * Errors: e->code is PBSE_SYSTEM with the text of the database, except
 *   ESTALE  another server has taken the store over (epoch or lease is lost): the caller must end.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store_batch.h"
#include "err.h"

struct store_where {
    bool existing;             /* make nothing (store_open_existing) */
    bool is_fleeting;          /* a crash of the machine may lose it: nothing waits for the disk (SQLite) */
    const char *path;          /* of the SQLite file, or NULL: PostgreSQL, as the rest says */
    const char *host;          /* name, or directory of a unix socket */
    int port;                  /* 0: the database's own default */
    const char *database;      /* NULL: pbs_datastore */
    const char *user;          /* NULL: the current user's name */
    const char *password_file; /* its first line, if the file is there; or NULL */
};

struct store;
struct store_row;

/* ^ One row of an answer; the texts live for this call. Not 0 ends the walk and is returned. */
typedef int store_row_fn(void *arg, const struct store_row *row, struct err *e);

enum store_access {
    STORE_READ, /* every query sees the store as it was at the beginning; writers are not blocked */
    STORE_WRITE /* other handles see nothing before store_end(keep), and nothing at all without it */
};

struct store_class {
    const char *name; /* "SQLite", "PostgreSQL" */
    /* Words of the schema that differ between databases, so that a commit writes as few pages as it can: */
    const char *number_key; /* type of a number of 64 bits that is the whole primary key */
    const char *in_key;     /* behind a table whose rows are small: kept in the key's own index */
    void (*close)(struct store *s);
    /* Run statements without parameters, separated by semicolons, as one transaction. */
    int (*script)(struct store *s, const char *sql, struct err *e);
    /* Run one statement of the batch's form, outside any batch. */
    int (*query)(struct store *s, const struct store_batch_stmt *q, store_row_fn *row, void *arg,
                 struct err *e);
    /* All or nothing, durable on return: check that the epoch is still that of this server, then run every
     * statement. */
    int (*apply)(struct store *s, const struct store_batch *b, uint64_t epoch, struct err *e);
    /* Hold the lease as long as this handle is open. -1: EWOULDBLOCK another server has it. */
    int (*lease)(struct store *s, struct err *e);
    /* Set *out if any server holds the lease. */
    int (*held)(struct store *s, bool *out, struct err *e);
    /* One transaction of many calls: open it, run a batch in it (no epoch is checked), end it. */
    int (*begin)(struct store *s, enum store_access how, struct err *e);
    int (*add)(struct store *s, const struct store_batch *b, struct err *e);
    int (*end)(struct store *s, bool keep, struct err *e);
    /* Ask the database to examine its own files: one row of text for each fault. NULL: it cannot. */
    int (*examine)(struct store *s, store_row_fn *fault, void *arg, struct err *e);
    /* The columns of a row, from 0. */
    const char *(*text)(const struct store_row *row, int column, size_t *n);
    int64_t (*number)(const struct store_row *row, int column);
};

struct store_row { /* made by an implementation, read by it */
    const struct store_class *class;
    const void *result;
    int index;
};

struct store { /* first member of each implementation's own struct */
    const struct store_class *class;
};

/* Connect; makes the file, or the database, when it is missing. NULL: it cannot be reached (the text says why). */
struct store *store_open(const struct store_where *w, struct err *e);
/* The same, but nothing is created: a path without a file, or no such database, is an error. */
struct store *store_open_existing(const struct store_where *w, struct err *e);
void store_close(struct store *s); /* NULL is allowed */

/* ---- thin: call the implementation */
const char *store_name(const struct store *s);
int store_script(struct store *s, const char *sql, struct err *e);
int store_query(struct store *s, const struct store_batch_stmt *q, store_row_fn *row, void *arg,
                struct err *e);
int store_apply(struct store *s, const struct store_batch *b, uint64_t epoch, struct err *e);

/* One transaction over many calls; between begin and end nothing but queries and store_add. A connection that is lost
 * meanwhile loses all of it, and every call up to store_end says so. */
int store_begin(struct store *s, enum store_access how, struct err *e);
int store_add(struct store *s, const struct store_batch *b, struct err *e);
int store_end(struct store *s, bool keep,
              struct err *e); /* keep: durable on return; else, and on -1: nothing was */

const char *store_row_text(const struct store_row *row, int column); /* NULL: null */
const char *store_row_bytes(const struct store_row *row, int column, size_t *n);
int64_t store_row_number(const struct store_row *row, int column);

/* ---- the implementations; store_open chooses */
struct store *store_sqlite_open(const struct store_where *w, struct err *e);
struct store *store_pg_open(const struct store_where *w, struct err *e);

#endif
