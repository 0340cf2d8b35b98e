#ifndef STORE_READER_H
#define STORE_READER_H
/* Reads what is only in the store, finished jobs and scripts, in a thread of its own.
 *
 * Every call returns at once and its function is called later, once, on the loop thread; the rows it gets live
 * for that call. What was changed a moment ago may not be there yet: commit_then() first where that matters.
 * Loop thread only.
 */
#include <stddef.h>
#include <stdint.h>

#include "commit.h"

struct loop;
struct store_reader;

enum { STORE_READER_PAGE_MAX = 1000 };

struct store_reader *store_reader_create(struct loop *l, struct store *s,
                                         struct err *e); /* owns s, also when it fails */
/* Wait for the query under way; those that have not begun get why != NULL, and a new one is refused
 * (PBSE_SYSTEM). Call commit_flush() after it: an answer may promise something. */
void store_reader_stop(struct store_reader *r);
void store_reader_destroy(struct store_reader *r); /* stops it, too */

/* rows[0..n), rising by key; why is NULL, or says what failed (then n is 0). */
typedef void store_reader_history_fn(void *arg, const struct history_row *rows, size_t n,
                                     const struct err *why);
/* Some bytes of a script from the offset asked for; n is 0 at its end. */
typedef void store_reader_script_fn(void *arg, const void *bytes, size_t n, const struct err *why);

/* Finished jobs with keys above `after`, at most `limit` (1..READER_PAGE_MAX); of one owner (user@host) or
 * queue only, unless NULL. Fewer than `limit` rows: there are no more. Begin with {-1, -1}.
 * -1: too many wait (EAGAIN), or no memory; the function is not called. */
int store_reader_history(struct store_reader *r, struct job_key after, size_t limit, const char *owner,
                         const char *queue, store_reader_history_fn *fn, void *arg, struct err *e);
/* One finished job: one row or none. */
int store_reader_history_job(struct store_reader *r, struct job_key key, store_reader_history_fn *fn,
                             void *arg, struct err *e);

/* Up to `max` bytes of a job's script. */
int store_reader_script(struct store_reader *r, struct job_key key, uint64_t offset, size_t max,
                        store_reader_script_fn *fn, void *arg, struct err *e);

/* Read a value about the store itself (commit_put_meta); "" if it has none. `name` is a constant. */
typedef void store_reader_meta_fn(void *arg, const char *value, const struct err *why);
int store_reader_meta(struct store_reader *r, const char *name, store_reader_meta_fn *fn, void *arg,
                      struct err *e);

#endif
