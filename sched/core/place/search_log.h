#ifndef SEARCH_LOG_H
#define SEARCH_LOG_H
/* What a search for room says of its steps, in the words of PBS. All of it is DEBUG3; where that is masked off, or `log` is
 * NULL, nothing is computed. The object is the job, of what was taken the vnode.
 *
 *   Chunk: 4:ncpus=1                  the chunk of a job that wants vnodes alone, and is matched by kinds of them
 *   Evaluating subchunk: ncpus=1      of any other job; then
 *   vnode allocated ncpus=1             for each vnode that it gets, and for each copy
 *   Allocated one subchunk: ncpus=1
 *   Failed to satisfy subchunk: 4:ncpus=1   or this
 */
#include "decisions.h"
#include "match.h"

struct allocation;

bool search_log_is_on(const struct decisions *log, const struct asker *a);

void search_log_begin(struct decisions *log, const struct asker *a, const struct chunk *k);
/* It has got the parts from number `first` on; or, not `done`, none. */
void search_log_end(struct decisions *log, const struct asker *a, const struct chunk *k,
                    const struct allocation *out, size_t first, bool done);

/* place=pack looks at one host after the other. `is_open`: one of its vnodes takes jobs; `lacks`: what all of these together have
 * too little of; NULL: nothing. */
void search_log_host(struct decisions *log, const struct asker *a, const char *host, bool is_open,
                     const char *lacks);

/* Placement sets: one is looked at; it could never take the job (`why`: the reason); no set could. `value` NULL: not set. */
void search_log_set(struct decisions *log, const struct asker *a, const char *res, const char *value);
void search_log_small(struct decisions *log, const struct asker *a, const char *res, const char *value,
                      const struct reason *why);
void search_log_span(struct decisions *log, const struct asker *a);

#endif
