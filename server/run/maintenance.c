/* Vnodes in maintenance. See maintenance.h.
 *
 * It listens to the machine: a job that admin-suspend has stopped marks its vnodes, and leaving that state
 * takes the marks back, whichever way it leaves (admin-resume, its end, a deletion). Nodes are then found by the mark,
 * not by the job's claims, which may be gone already.
 *
 * maintenance_jobs is the truth and is stored; the bit NODE_MAINTENANCE follows it, and is made from it at a start. */
#include "maintenance.h"

#include <stdlib.h>

#include "job_fsm.h"
#include "log.h"
#include "server_ctx.h"
#include "type_list.h"

struct maintenance {
    struct server_ctx *ctx;
    size_t n; /* vnodes in maintenance: it costs nothing while there is none */
};

static const char *jobs_of(const struct node *n)
{
    return attr_list_text(&n->obj.attrs, NODE_ATTR_maintenance_jobs);
}

static void maintenance_change(struct maintenance *m, struct node *n, const struct job *j, enum batch_op op)
{
    bool was = jobs_of(n) != NULL, is;
    struct err e;

    if (attr_list_change(&n->obj.attrs, m->ctx->resources, NODE_ATTR_maintenance_jobs, NULL, j->obj.name, op,
                         &e) < 0)
        log_err(LOGC_NODE, n->obj.name, &e, "job %s cannot be %s maintenance_jobs", j->obj.name,
                op == DECR ? "taken out of" : "added to");
    is = jobs_of(n) != NULL;
    m->n += (size_t)is - (size_t)was;
    change_touch(m->ctx->change, &n->obj.change, PART_ATTRS);
    node_set_state(m->ctx->nodes, n, is ? NODE_MAINTENANCE : 0, is ? 0 : NODE_MAINTENANCE,
                   server_ctx_now_s(m->ctx));
}

static void maintenance_begin(struct maintenance *m, struct job *j)
{
    for (struct node_use *u = j->uses; u; u = u->next_of_job)
        if (!u->lent && (!jobs_of(u->node) || !list_contains(jobs_of(u->node), j->obj.name)))
            maintenance_change(m, u->node, j, jobs_of(u->node) ? INCR : SET);
}

static void maintenance_end(struct maintenance *m, struct job *j)
{
    for (struct node *n = nodes_first(m->ctx->nodes); n; n = nodes_next(n))
        if (jobs_of(n) && list_contains(jobs_of(n), j->obj.name))
            maintenance_change(m, n, j, DECR);
}

void maintenance_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct maintenance *m = arg;

    if (j->state == JOB_SUSPENDED && from != JOB_SUSPENDED && j->suspender == SUSPENDED_BY_ADMIN)
        maintenance_begin(m, j);
    else if (from == JOB_SUSPENDED && j->state != JOB_SUSPENDED && m->n)
        maintenance_end(m, j);
}

struct maintenance *maintenance_create(struct server_ctx *s)
{
    struct maintenance *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    m->ctx = s;
    return m;
}

void maintenance_destroy(struct maintenance *m)
{
    free(m);
}

void maintenance_restore(struct maintenance *m)
{
    for (struct node *n = nodes_first(m->ctx->nodes); n; n = nodes_next(n)) {
        if (!jobs_of(n))
            continue;
        m->n++;
        n->state |= NODE_MAINTENANCE;
    }
}
