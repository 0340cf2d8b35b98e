/* A service that is given up. See node_lost.h.
 *
 * node_watch.c has waited for node_fail_requeue seconds, or the service has said that it leaves. A service that comes back
 * later says in its HELLO which runs it holds, and is told to end those that were given up (exec_agree.c).
 *
 * Giving up one run may end the job and start others, so nothing found before holds after it: the search
 * begins again each time. It ends, because a host that was given up is passed over. */
#include "node_lost.h"

#include <stdlib.h>

#include "job_end.h"
#include "job_run.h"
#include "log.h"
#include "services.h"
#include "server_ctx.h"

struct node_lost {
    struct server_ctx *ctx;
    struct job_end *end;
};

struct node_lost *node_lost_create(struct server_ctx *s, struct job_end *d)
{
    struct node_lost *n = calloc(1, sizeof *n);

    if (n)
        *n = (struct node_lost){s, d};
    return n;
}

void node_lost_destroy(struct node_lost *n)
{
    free(n);
}

/* Each loss changes the list of uses: begin again until none is left. */
static bool give_up_one(struct node_lost *nl, struct service *s)
{
    for (struct node *n = nodes_first(nl->ctx->nodes); n; n = nodes_next(n)) {
        if (n->service != s)
            continue;
        for (struct node_use *u = n->uses; u; u = u->next) {
            struct run_host *h = u->job->run ? job_run_host(u->job->run, s->name) : NULL;

            if (!h || h->state > RUN_HOST_READY)
                continue;
            job_end_host_lost(nl->end, u->job, s->name);
            return true;
        }
    }
    return false;
}

void node_lost_expired(void *arg, struct service *s)
{
    const struct node_lost *n = arg;

    if (s->leaving)
        log_event(LOGC_NODE, LOGE_ADMIN, s->name, "has left; its jobs are given up");
    else
        log_event(LOGC_NODE, LOGE_ADMIN, s->name,
                  "has been away longer than node_fail_requeue (%lld s); its jobs are given up",
                  (long long)attr_list_effective(&n->ctx->server->obj.attrs, SERVER_ATTR_node_fail_requeue));
    while (give_up_one(arg, s))
        ;
}
