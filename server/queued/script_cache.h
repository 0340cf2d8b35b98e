#ifndef SCRIPT_CACHE_H
#define SCRIPT_CACHE_H
/* A cache of small scripts of recent jobs, for START. The store has them all; what falls out of this
 * bounded memory is read from there when a host asks. Loop thread only. */
#include <stddef.h>

#include "jobid.h"
#include "server_events.h"

struct script_cache;

struct script_cache *script_cache_create(size_t max_bytes);
void script_cache_destroy(struct script_cache *s);

/* Copied; a script that does not fit is not kept. The oldest make room. */
void script_cache_keep(struct script_cache *s, struct job_key key, const void *bytes, size_t n);
const void *script_cache_find(const struct script_cache *s, struct job_key key,
                              size_t *n); /* borrow, or NULL */

/* exec_script_fn: of this job; of a subjob, that of its array. */
const void *script_cache_of_job(void *cache, const struct job *j, size_t *n);
/* Listener of EVENT_RUN_ENDED: it is needed no more. A subjob has none of its own. */
void script_cache_on_ended(void *cache, const struct server_event *ev);

#endif
