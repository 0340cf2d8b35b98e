#ifndef STATUS_NAMES_H
#define STATUS_NAMES_H
/* Where the walk of a query is: the names that it shows one after the other, or of all jobs the key of the last. No pointer to an object:
 * it may go before its turn comes. */
#include <stdbool.h>
#include <stddef.h>

#include "job.h"
#include "status_filter.h"
#include "status_tally.h"

/* The index in the key of a name that is a range of subjobs: what it means is computed when its turn comes. */
enum { STATUS_RANGE = -2 };
/* status_query_next and what it calls: nothing found yet, call again. Bounds what is done at once. */
enum { STATUS_PAUSE = 2 };

struct status_names {
    const char **names;   /* interned; of jobs: as asked */
    struct job_key *keys; /* of jobs, beside names */
    size_t n, cap, at;
    size_t ranged;       /* subjobs of the arrays of whose ranges it names: each may be shown once for each */
    bool everything;     /* no names were asked for: what vanishes meanwhile is not reported */
    struct job_key last; /* of all jobs: what was shown last */
    int looks;           /* how many more things this call may look at */
};

/* Read the list `ids` of a request into `w`, and into `f` which queue it names or that it means all jobs. -1: see
 * status_query_create. */
int status_names_choose(struct status_names *w, struct status_filter *f, const char *ids, struct err *e);
void status_names_fini(struct status_names *w);

struct object *status_names_find(const struct status_filter *f, const char *name); /* of no job; or NULL */
/* Count a name that is not there, unless all were asked for. */
void status_names_unknown(const struct status_names *w, enum attr_of of, const char *name,
                          struct status_tally *t);

/* One more thing is looked at; false: not in this call any more. */
static inline bool status_names_may_look(struct status_names *w)
{
    return --w->looks >= 0;
}

static inline const char *status_names_name(const struct status_names *w)
{
    return w->names[w->at];
}

static inline struct job_key status_names_key(const struct status_names *w)
{
    return w->keys[w->at];
}

#endif
