#ifndef RESTORE_H
#define RESTORE_H
/* Rows in, at start: everything but history goes back into memory as it was stored.
 *
 * restore_rows reads resources first, then server, schedulers, queues, nodes, jobs (by number), and leaves
 * nothing dirty. restore_enter then runs the entry action of each job's state again (fsm): the row is the
 * truth, no event is replayed. Blocks; before the loop runs.
 */
#include <stddef.h>

#include "site.h"
#include "store.h"

struct job_fsm;

struct restore_counts {
    size_t resources, queues, nodes, scheds, jobs;
};

/* Into the empty tables of `s`. A row that cannot be read is logged as an error, left in the store and left
 * out; a job whose queue is gone is held back the same way. -1: the store cannot be read. */
int restore_rows(struct site *s, struct store *from, struct restore_counts *out, struct err *e);

/* The same for who only looks (pbs_store check): rows that are left out are told to `faults`, not to the log. */
struct restore_faults {
    void (*fn)(void *arg, const char *kind, const char *name, const char *why);
    void *arg;
};
int restore_rows_tell(struct site *s, struct store *from, const struct restore_faults *faults,
                      struct restore_counts *out, struct err *e);

/* Every job's entry action, by number. */
void restore_enter(struct site *s, struct job_fsm *f);

/* ---- for accounting: lines whose way into the file is not certain */
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

/* Throw away the jobs of a store that is ours (lease): queued, running and finished ones, with scripts and event logs;
 * `all`: queues, nodes, resources, schedulers and attributes of the server too. The number of the next job stays, so that
 * no run that a host still knows is taken for a new one: such runs are killed when their host says HELLO. Accounting
 * lines that are not in the file yet stay. */
int restore_nothing(struct store *writer, bool all, struct err *e);

#endif
