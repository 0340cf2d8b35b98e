#ifndef RESTORE_H
#define RESTORE_H
/* Reads the store at start: everything except history is restored into memory as it was stored.
 *
 * restore_rows reads resources first, then server, schedulers, queues, nodes, jobs (by number), and leaves
 * nothing dirty. restore_enter then runs the entry action of each job's state again (fsm): the row is the
 * truth, no event is replayed. Blocks; before the loop runs.
 */
#include <stddef.h>

#include "server_ctx.h"
#include "store.h"

struct job_fsm;

struct restore_counts {
    size_t resources, queues, nodes, scheds, jobs;
};

/* A row that cannot be understood, as the store holds it; borrowed for the call. */
enum { RESTORE_COLUMNS_MAX = 4 };
struct restore_error {
    const char *kind, *name, *why;
    bool in_part; /* the object is there, with what could be read of it; else it is left out */
    size_t n;
    struct {
        const char *name, *text; /* text NULL: the column is empty */
    } columns[RESTORE_COLUMNS_MAX];
};
/* Called once for each row with an error. NULL instead of it: errors go to the log. */
struct restore_errors {
    void (*fn)(void *arg, const struct restore_error *f);
    void *arg;
};
/* The same of a row of STMT_OBJECT_ALL, for modules that read such rows themselves (notes, remote dependencies,
 * exit caches). Always 0. */
int restore_tell_object(const struct restore_errors *errors, const char *kind, const struct store_row *row,
                        bool in_part, const char *why);

/* Into the empty tables of `s`. A bad row does not stop the others from being restored:
 *
 *   server              with what can be read, closed (server_obj.h); the same where its row is gone and others are there
 *   scheduler           with what can be read
 *   queue               the same, closed and stopped, since what it admits may be lost
 *   node                the same, offline
 *   job one with damaged attributes the same, with a system hold if it waits; any other is left out
 *   queue of a job is made if it is missing, closed and stopped
 *   all else            left out
 *
 * What is left out stays in the store. Where there are 10,000 jobs or more the log says at each tenth how many are
 * read. -1: the store cannot be read. */
int restore_rows(struct server_ctx *s, struct store *from, const struct restore_errors *errors,
                 struct restore_counts *out, struct err *e);

/* Every job's entry action, by number. */
void restore_enter(struct server_ctx *s, struct job_fsm *f);

/* ---- for accounting: lines that may not be in the file yet */
struct restore_acct {
    uint64_t n;
    int64_t time_s;
    const char *line;
};
/* The last commit_acct_filed (n 0, file "": none), and every line above it, in order. */
struct restore_filed {
    uint64_t n;
    char file[32];
    uint64_t size;
};
int restore_acct(struct store *from, struct restore_filed *filed,
                 void (*line)(void *arg, const struct restore_acct *a), void *arg, struct err *e);

/* Delete the jobs of a store of which the lease is held: queued, running and finished ones, with scripts and
 * event logs; `all`: queues, nodes, resources, schedulers and attributes of the server too. The number of the
 * next job stays, so that no run that a host still knows is taken for a new one: such runs are killed when
 * their host says HELLO. Accounting lines that are not in the file yet stay. */
int restore_nothing(struct store *writer, bool all, struct err *e);

#endif
