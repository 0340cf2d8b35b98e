#ifndef JOBID_SET_H
#define JOBID_SET_H
/* A set of job identifiers, to see which of the jobs asked for have come. They are kept without their server, whose
 * name a client may write in another way. Zeroed memory is an empty set. */
#include <stdbool.h>
#include <stddef.h>

struct jobid_set {
    char **name;
    size_t n, room;
    bool failed; /* no memory for one: jobid_set_has returns true for all */
};

/* "41[2].svr1" as "41[2]". */
void jobid_set_add(struct jobid_set *l, const char *id);

/* Call after the last addition, before jobid_set_has. */
void jobid_set_sort(struct jobid_set *l);
bool jobid_set_has(const struct jobid_set *l, const char *id);

void jobid_set_fini(struct jobid_set *l);

#endif
