#ifndef COMMIT_H
#define COMMIT_H
/* Writes changes to the store: one batch of encoded statements under way at a time.
 *
 * At the end of each iteration with changes, unless a batch is under way, the loop encodes every dirty object
 * (once, whatever happened to it meanwhile) after what commit_put_* and commit_remove_* have added, and the
 * writer's thread commits it all as one transaction. When it is done the next begins. So what belongs together
 * is stored together: an event's sequence number with what the event changed, a history row with the removal of
 * the job.
 *
 * A batch that fails is tried again, the same bytes, after 0.1 s, 0.2 s ... 10 s, until it succeeds: nothing is
 * lost, the order is kept, and callers of commit_then wait. Meanwhile dirty objects stay dirty; only what
 * handlers add here grows, and commit_check() refuses further changes beyond a bound. A lost epoch is reported
 * to ^lost, once, and nothing is written after that. Loop thread only.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "err.h"
#include "histogram.h"
#include "job.h"
#include "store.h"

struct change;
struct commit;
struct loop;
struct resource_table;

enum { COMMIT_HOOK_ORDER = 10 }; /* at the end of an iteration; watchers come after it */

typedef void commit_fn(void *arg);
typedef void commit_lost_fn(void *arg, const struct err *why);

/* `writer` is owned from now on (closed by destroy), also when this fails. NULL: errno in e. */
struct commit *commit_create(struct loop *l, struct change *c, struct resource_table *t, struct store *writer,
                             uint64_t epoch, struct err *e);
/* Wait for the batch under way; what has not begun is not written, and functions of commit_then are not called.
 * Call commit_flush() first to end in order. */
void commit_destroy(struct commit *c);

/* From now on write nothing: what a batch would hold is dropped at the end of the iteration, and its promises are kept. For a
 * simulation, which is made again and never recovered. The reader finds what was stored before. */
void commit_keep_nothing(struct commit *c);

/* ^ The store belongs to another server now: close all connections and end. */
void commit_on_lost(struct commit *c, commit_lost_fn *fn, void *arg);

/* Call `fn` when everything changed so far is durable: at once (before this returns) if nothing is dirty or
 * under way. In the order of the calls. Without memory the process ends: the call cannot be lost. */
void commit_then(struct commit *c, commit_fn *fn, void *arg);

/* ^ For rows that are written once, however often their object changes in an iteration: after commit_owe() `fn`
 * is called once, before the batch closes with what was put, removed and owed until then, and puts them. For
 * one caller. */
void commit_on_close(struct commit *c, commit_fn *fn, void *arg);
void commit_owe(struct commit *c);

/* Write a batch at the end of this iteration, even an empty one, to check that the store still belongs to this
 * server. */
void commit_probe(struct commit *c);

/* ---- rows beside those of dirty objects; bytes are copied */
void commit_remove_job(struct commit *c, struct job_key key); /* and its script */
/* An array's page of indices that have or have not ended (array_map.h); all pages of an array; the history of
 * its subjobs. */
void commit_put_array_page(struct commit *c, int64_t seq, int64_t page, const char *remaining,
                           const char *failed);
void commit_remove_array(struct commit *c, int64_t seq);
void commit_remove_subjob_history(struct commit *c, int64_t seq);
void commit_remove_object(struct commit *c, const struct object *o); /* or a job */
void commit_put_object(
    struct commit *c, const char *kind, const char *name, const char *hot_json,
    const char *attrs_json); /* of an object without a struct object; NULL: leave that part */
void commit_drop_object(struct commit *c, const char *kind, const char *name);
/* A piece of a script, `offset` bytes from its beginning. */
void commit_put_script(struct commit *c, struct job_key key, uint64_t offset, const void *bytes, size_t n);
/* A finished job as status -x shows it: attrs is a JSON object of texts (status_history_json). */
struct history_row {
    struct job_key key;
    const char *id, *owner, *queue; /* of one that has moved, "queue@server" */
    int64_t ended_s;
    const char *attrs;
};
/* Return true if this is the queue of a job that moved to another server. */
static inline bool history_queue_is_elsewhere(const char *queue)
{
    return strchr(queue, '@') != NULL;
}
static inline bool history_row_is_moved(const struct history_row *row)
{
    return history_queue_is_elsewhere(row->queue);
}
void commit_put_history(struct commit *c, const struct history_row *row);
void commit_remove_history(struct commit *c, struct job_key key);
/* History and event log of what ended before that time. */
void commit_purge_history(struct commit *c, int64_t before_s);
/* An accounting line; `n` is its number, rising. The file comes after it (publish/accounting.c). */
void commit_add_acct(struct commit *c, uint64_t n, int64_t time_s, const char *line);
/* Lines up to n are in `file`, which was `size` bytes long then: their rows may go. */
void commit_acct_filed(struct commit *c, uint64_t n, const char *file, uint64_t size);
void commit_put_meta(struct commit *c, const char *name,
                     const char *value); /* a value about the store itself */
/* A line of a job's event log. */
void commit_add_log(void *commit, struct job_key key, int64_t time_ns, const char *text);

/* ---- state */
/* Check that changes may be accepted. -1, PBSE_SYSTEM: the store has been failing and too much waits; the text
 * says since when and why. */
int commit_check(const struct commit *c, struct err *e);
/* Return true if the last attempt at the present batch failed, with the time of the first failure (wall clock)
 * and the reason; else 0 and NULL. For tests, which wait for it. */
bool commit_is_stuck(const struct commit *c, int64_t *since_s, const char **why);
bool commit_is_idle(const struct commit *c); /* nothing dirty, nothing under way */
/* Block until all changes so far are durable, or `limit_ms` of real time are over (-1). For shutting down. */
int commit_flush(struct commit *c, int64_t limit_ms, struct err *e);

struct commit_stats {
    uint64_t batches, statements, bytes, failures;
    int64_t last_us, max_us; /* time of a batch in the writer */
    struct histogram took;   /* the same of all that were stored */
};
void commit_get_stats(const struct commit *c, struct commit_stats *out);

#endif
