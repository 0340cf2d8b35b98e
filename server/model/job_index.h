#ifndef JOB_INDEX_H
#define JOB_INDEX_H
/* Jobs by their key, or by the token of their submission: a chained hash whose links lie in the jobs, 8 bytes a job
 * and index where a generic handle takes 56. It grows with the jobs and never shrinks. Loop thread only. */
#include <stdint.h>

#include "job.h"

struct job_index {
    enum job_index_of of;
    struct job **buckets; /* n_buckets is a power of two, or 0 */
    size_t n_buckets, n_jobs;
    uint64_t seed; /* tokens come from clients, which must not know which of them share a bucket */
};

void job_index_init(struct job_index *x, enum job_index_of of);
void job_index_fini(struct job_index *x); /* the jobs are not its own */

/* Put a job in, which has its key or token and keeps it. -1: no memory for the first bucket. */
int job_index_add(struct job_index *x, struct job *j);
void job_index_remove(struct job_index *x, struct job *j); /* which is in it */

struct job *job_index_find_key(const struct job_index *x, struct job_key key); /* or NULL */
struct job *job_index_find_token(const struct job_index *x, const unsigned char token[static JOB_TOKEN_SIZE]);

#endif
