/* The tables of a server. See server_ctx_life.h.
 *
 * Objects are destroyed in reverse order of need: claims and earmark sums first, which link jobs to nodes; then
 * earmarks and jobs, which point at queues and nodes; the change list last, as every object leaves it when it
 * is destroyed. */
#include "server_ctx_life.h"

#include <unistd.h>

#include "assign.h"
#include "conf.h"
#include "earmark_sums.h"
#include "intern.h"
#include "limit_counts.h"
#include "pbs_error.h"
#include "resv_shares.h"
#include "server_events.h"

int server_ctx_create(struct server_ctx *s, struct clock *clock, const char *name, struct err *e)
{
    *s = (struct server_ctx){.clock = clock,
                             .name = intern_ref(name),
                             .pbs_version = conf_row(CONF_PBS_VERSION)->preset,
                             .daemon_uid = geteuid(),
                             .serves_all = geteuid() == 0};
    /* Removals that are remembered, a choice: a watcher that is further behind begins again with all objects. 100,000 are some MB, and
     * more than a server removes in minutes. */
    s->change = change_create(100000);
    if (!s->change)
        return err_set(e, PBSE_SYSTEM, "no memory for the server's tables");
    s->events = server_events_create();
    s->resources = resource_table_create();
    s->server = server_obj_create(s->change, name);
    s->queues = queues_create(s->change);
    s->nodes = s->events ? nodes_create(s->change, s->events) : NULL;
    s->scheds = scheds_create(s->change);
    s->earmarks = earmarks_create(s->change);
    s->resvs = resvs_create(s->change);
    s->jobs = jobs_create(s->change, clock);
    s->assign = assign_create(s);
    s->limit_counts = limit_counts_create(s);
    if (!s->resources || !s->server || !s->queues || !s->nodes || !s->scheds || !s->earmarks || !s->resvs ||
        !s->jobs || !s->assign || !s->limit_counts) {
        server_ctx_destroy(s);
        return err_set(e, PBSE_SYSTEM, "no memory for the server's tables");
    }
    return 0;
}

void server_ctx_destroy(struct server_ctx *s)
{
    for (struct job *j = s->jobs ? jobs_first(s->jobs) : NULL; j; j = jobs_next(j))
        assign_release_all(s->assign, j);
    for (struct earmark_obj *h = s->earmarks ? earmarks_first(s->earmarks) : NULL; h; h = earmarks_next(h))
        earmark_sums_drop(s, h);
    for (struct resv *r = s->resvs ? resvs_first(s->resvs) : NULL; r; r = resvs_next(r))
        resv_shares_drop(s, r);
    earmarks_destroy(s->earmarks);
    resvs_destroy(s->resvs);
    jobs_destroy(s->jobs);
    limit_counts_destroy(s->limit_counts);
    assign_destroy(s->assign);
    scheds_destroy(s->scheds);
    nodes_destroy(s->nodes);
    queues_destroy(s->queues);
    server_obj_destroy(s->server, s->change);
    resource_table_destroy(s->resources);
    change_destroy(s->change);
    server_events_destroy(s->events);
    intern_unref(s->store_id);
    intern_unref(s->name);
    intern_unref(s->full_name);
    *s = (struct server_ctx){0};
}
