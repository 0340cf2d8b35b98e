/* See partial_release.h. The vnodes go as by pbs_release_nodes; it is settled when the last host that leaves has released. */
#include "partial_release.h"

#include <stdlib.h>

#include "job_run.h"
#include "stop_method.h"
#include "pbs_error.h"
#include "release_nodes.h"

enum { LIMIT_S = 600 };

struct partial_release {
    struct release_nodes *release_nodes;
};

static struct release_nodes_ask ask_of(const struct job *j)
{
    return (struct release_nodes_ask){.vnodes = j->preempt->offer, .by = j->preempt->by};
}

static int partial_release_may(void *arg, const struct job *j, struct err *e)
{
    const struct partial_release *p = arg;
    struct release_nodes_ask ask;

    if (!j->preempt || !j->preempt->offer)
        return err_set(e, PBSE_BADSTATE, "job %s has offered nothing", j->obj.name);
    ask = ask_of(j);
    return release_nodes_check(p->release_nodes, j, &ask, e);
}

static int partial_release_start(void *arg, struct job *j, struct err *e)
{
    const struct partial_release *p = arg;
    const struct release_nodes_ask ask = ask_of(j);

    return release_nodes_release(p->release_nodes, j, &ask, e);
}

static bool partial_release_is_settled(void *arg, const struct job *j)
{
    bool any = false;

    (void)arg;
    if (!job_is_placed(j) || j->state == JOB_EXITING || !j->run)
        return false; /* it has come to another end */
    for (size_t i = 0; i < j->run->n_hosts; i++) {
        const struct run_host *h = &j->run->hosts[i];

        if (h->leaving && h->state <= RUN_HOST_READY)
            return false;
        any |= h->leaving;
    }
    return any;
}

static int64_t partial_release_limit_s(const struct job *j)
{
    (void)j;
    return LIMIT_S;
}

struct partial_release *partial_release_create(struct release_nodes *z, struct stop_methods *m)
{
    struct partial_release *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->release_nodes = z;
    stop_methods_add(m, &(struct stop_method){METHOD_RELEASE, partial_release_may, partial_release_start,
                                              partial_release_is_settled, partial_release_limit_s, p});
    return p;
}

void partial_release_destroy(struct partial_release *p)
{
    free(p);
}
