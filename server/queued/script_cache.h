#ifndef SCRIPT_CACHE_H
#define SCRIPT_CACHE_H
/* Small scripts of jobs that came in lately, at hand for START. The store has them all; what falls out of this
 * bounded memory is read from there when a host asks. Loop thread only. */
#include <stddef.h>

#include "jobid.h"

struct scripts;

struct scripts *scripts_create(size_t max_bytes);
void scripts_destroy(struct scripts *s);

/* Copied; a script that does not fit is not kept. The oldest make room. */
void scripts_keep(struct scripts *s, struct job_key key, const void *bytes, size_t n);
const void *scripts_find(const struct scripts *s, struct job_key key, size_t *n); /* borrow, or NULL */
void scripts_drop(struct scripts *s, struct job_key key);

#endif
