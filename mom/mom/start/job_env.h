#ifndef JOB_ENV_H
#define JOB_ENV_H
/* The environment of a job: what the mpirun of MPI libraries needs to start processes through the job's shepherds, over it
 * pbs_environment, over that the job's Variable_List, over that what MOM computes.
 * Pure. */
#include <stdbool.h>

#include "err.h"
#include "words.h"

struct home;
struct run;

struct job_env_facts {
    const char *user, *home, *shell;
    const char *nodefile, *tmpdir, *jobdir;
    const char *notice;         /* file that tells that the job is to give way */
    const char *tm_socket;      /* where the job's shepherd serves tasks */
    const char *checkpoint_dir; /* of the job's images; "" or NULL has none */
    bool interactive;
    unsigned mom_port;
};

/* "NAME=value" words into `out` (initialised by the caller), each name once. What the MOM computes comes last, from HOME
 * on, which is always there: so a program of root can tell it from what the owner said (mom/shepherd/files/site_env.h).
 * O(n log n) of the number of entries. -1: Variable_List cannot be cut into words, no memory. */
int job_env_make(const struct home *h, const struct run *r, const struct job_env_facts *f, struct words *out,
                 struct err *e);

/* The entries of these lists, the first list first; of one name only its last entry, where that is. */
int job_env_merge(const struct words *const layers[], size_t n_layers, struct words *out, struct err *e);

#endif
