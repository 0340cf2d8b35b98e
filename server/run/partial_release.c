/* See partial_release.h. The vnodes go as by pbs_release_nodes; it is settled when the last host that leaves has released. */
#include "partial_release.h"

#include <stdlib.h>

#include "job_run.h"
#include "stop_method.h"
#include "pbs_error.h"
#include "release_nodes.h"

enum { LIMIT_S = 600 };

struct partial {
    struct resize *resize;
};

static struct resize_ask ask_of(const struct job *j)
{
    return (struct resize_ask){.vnodes = j->preempt->offer, .by = j->preempt->by};
}

static int may(void *arg, const struct job *j, struct err *e)
{
    const struct partial *p = arg;
    struct resize_ask ask;

    if (!j->preempt || !j->preempt->offer)
        return err_set(e, PBSE_BADSTATE, "job %s has offered nothing", j->obj.name);
    ask = ask_of(j);
    return resize_check(p->resize, j, &ask, e);
}

static int start(void *arg, struct job *j, struct err *e)
{
    const struct partial *p = arg;
    const struct resize_ask ask = ask_of(j);

    return resize_release(p->resize, j, &ask, e);
}

static bool is_settled(void *arg, const struct job *j)
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

static int64_t limit_s(void *arg, const struct job *j)
{
    (void)arg;
    (void)j;
    return LIMIT_S;
}

struct partial *partial_create(struct resize *z, struct methods *m)
{
    struct partial *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->resize = z;
    methods_add(m, &(struct method){METHOD_RELEASE, may, start, is_settled, limit_s, p});
    return p;
}

void partial_destroy(struct partial *p)
{
    free(p);
}
