#ifndef RELEASE_PLAN_H
#define RELEASE_PLAN_H
/* Which vnodes a running job gives back: pure, from where it runs and what was asked.
 *
 * A chunk goes or stays whole. A host goes whole, unless its service can free single vnodes of a run. The first
 * chunk always stays, and with it the first host where that can only go whole.
 */
#include <stdbool.h>

#include "err.h"
#include "exec_vnode.h"
#include "resource.h"
#include "select.h"

struct release_plan_host {
    const char *name; /* for people */
    bool parts;       /* single vnodes of it may go */
};

struct release_plan {
    const struct exec_vnode *where;
    const size_t *host_of; /* for each part, an index into hosts */
    const struct release_plan_host *hosts;
    size_t n_hosts;
    bool *gone; /* for each part: the answer. All false at first. */
};

/* Every vnode but those that always stay. */
void release_plan_all(struct release_plan *s);

/* The vnodes named, "n2+n3". -1, PBSE_IVALREQ: one is not of the job, is of the first host, or does not go alone;
 * the text names it. */
int release_plan_named(struct release_plan *s, const char *vnodes, struct err *e);

/* Keep the first host, and of the others as many as `count` says. */
void release_plan_to_count(struct release_plan *s, size_t count);

/* Keep the first host, and of the other chunks, in their order, those that satisfy `keep` one by one. `asked` is the
 * select of the job, in whose order `where` has its chunks. -1, PBSE_IVALREQ: no chunk is left for one of `keep`. */
int release_plan_to_select(struct release_plan *s, const struct select *asked, const struct select *keep,
                           const struct resource_table *t, struct err *e);

bool release_plan_is_nothing(const struct release_plan *s);

/* The chunk of a select by its number, counts expanded; NULL: there are fewer. */
const struct select_chunk *release_plan_chunk(const struct select *s, size_t number);

#endif
