#ifndef JOBID_SET_H
#define JOBID_SET_H
/* Names of jobs, to see which of those asked for have come: without their server, whose name a client may write
 * in another way. Zeroed memory is an empty list. */
#include <stdbool.h>
#include <stddef.h>

struct job_names {
    char **name;
    size_t n, room;
    bool broken; /* no memory for one: job_names_has says yes to all */
};

/* "41[2].svr1" as "41[2]". */
void job_names_add(struct job_names *l, const char *id);

/* After the last addition, before job_names_has. */
void job_names_sort(struct job_names *l);
bool job_names_has(const struct job_names *l, const char *id);

void job_names_fini(struct job_names *l);

#endif
