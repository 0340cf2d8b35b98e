/* A plan is examined. See plan_draft.h.
 *
 * It was made from a picture that may be old. So the job is examined as if to run it, each victim by the
 * run that the plan saw, the methods by what site, plan and job allow now, the limits as they will be
 * without the victims; and last plan_fit.c does the arithmetic. Victims that are out of the way already
 * are left out, which is not a fault. */
#include "plan_draft.h"

#include <stdlib.h>
#include <string.h>

#include "run_admission.h"
#include "preempt_budget.h"
#include "exec_vnode.h"
#include "earmark.h"
#include "jobid.h"
#include "job_run.h"
#include "stop_method.h"
#include "preempt_notice.h"
#include "pbs_error.h"
#include "preempt_policy.h"
#include "run.h"
#include "server_ctx.h"
#include "start_order.h"
#include "strbuf.h"
#include "limit_counts.h"

/* A choice, without a limit of the scheduler: longer than any checkpoint that ends (LIMIT_S of run_checkpoint.c), since the plan is
 * undone then and the victims have stopped for nothing. */
enum { HOLD_LIMIT_S = 3600 };

struct job *plan_draft_find(const struct server_ctx *s, const char *id)
{
    struct jobid parsed;
    struct err e;

    if (jobid_parse(id, &parsed, &e) < 0 || !server_ctx_is_named(s, parsed.server))
        return NULL;
    return jobs_find(s->jobs, parsed.key);
}

void plan_draft_fini(struct plan_draft *d)
{
    run_demands_free(d->wants, d->n_wants);
    free(d->victims);
}

/* Collect the methods that the policy allows, the plan accepts, and that can be applied now, in the order of the policy. */
static int choose_methods(const struct plan_draft *d, const struct job *j, const char *accepted,
                          struct preempt_methods *out, struct err *e)
{
    const struct preempt_ask ask = {
        .ctx = d->ctx, .sched = d->ask->scheduler, .urgent = d->ask->job, .planned = d->planned};
    struct preempt_methods policy, order;
    struct err why;

    *out = (struct preempt_methods){0};
    if (preempt_budget_methods(&ask, j, &policy, e) < 0)
        return -1;
    if (*accepted && !preempt_methods_parse(accepted, &order))
        return err_set(e, PBSE_IVALREQ, "\"%s\" is not a sequence of methods", accepted);
    if (!*accepted)
        order = policy;
    for (unsigned i = 0; i < order.n; i++) {
        enum method_id id = (enum method_id)order.m[i];
        const struct stop_method *m = stop_methods_find(d->stop_methods, id);
        const struct preempt_method_row *row = preempt_method_row(id);
        /* A job in state STARTING counts as suspendable: it can be suspended as soon as it has started. */
        bool can = m && (m->can(m->arg, j, &why) == 0 ||
                         (row->after == AFTER_SUSPENDED && j->state == JOB_STARTING));

        if (can && preempt_methods_has(&policy, id))
            preempt_methods_add(out, id);
    }
    return out->n ? 0 : err_set(e, PBSE_BADSTATE, "no method is left to preempt job %s", j->obj.name);
}

static bool is_leaving(const struct job *j)
{
    return j->state == JOB_EXITING || (j->intent != INTENT_NONE && !job_run_is_withdrawing(j));
}

/* Is it to make room for another plan, or for a request? One whose end has begun or is withdrawn may be asked again. */
static bool gives_way(const struct job *j)
{
    return j->gives_way_to || (j->victim && !is_leaving(j) && !job_run_is_withdrawing(j));
}

/* A victim whose end has begun counts with all it has, whatever the policy says: it gives that back in any case. */
static int examine_victim(struct plan_draft *d, const struct plan_victim *w, struct err *e)
{
    struct job *j = plan_draft_find(d->ctx, w->id);
    struct fit_victim *v = &d->victims[d->n_victims];

    if (!j || !job_is_placed(j))
        return 0; /* out of the way already */
    if (j == d->ask->job)
        return err_set(e, PBSE_IVALREQ, "job %s cannot give way to itself", j->obj.name);
    if (w->run_version && w->run_version != j->run_version)
        return err_set(e, PBSE_BADSTATE, "job %s is in run %u, the plan saw run %u", j->obj.name,
                       j->run_version, w->run_version);
    if (gives_way(j))
        return err_set(e, PBSE_BADSTATE, "job %s gives way already%s%s", j->obj.name,
                       j->gives_way_to ? ", to job " : "", j->gives_way_to ? j->gives_way_to->obj.name : "");
    v->job = j;
    if (choose_methods(d, j, w->methods, &v->methods, e) < 0 && !is_leaving(j))
        return -1;
    if (!is_leaving(j))
        d->planned += preempt_policy_loss(d->ctx, j, preempt_methods_first(&v->methods));
    d->n_victims++;
    return 0;
}

static int plan_draft_by_address(const void *a, const void *b)
{
    const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;

    return x < y ? -1 : x > y;
}

/* The victims keep the order in which the plan has them. */
static int plan_draft_check_twice(const struct plan_draft *d, struct err *e)
{
    struct job **all = calloc(d->n_victims ? d->n_victims : 1, sizeof(struct job *));
    int rc = 0;

    if (!all)
        return err_set(e, PBSE_SYSTEM, "no memory for %zu victims", d->n_victims);
    for (size_t i = 0; i < d->n_victims; i++)
        all[i] = d->victims[i].job;
    qsort(all, d->n_victims, sizeof(struct job *), plan_draft_by_address);
    for (size_t i = 1; i < d->n_victims && rc == 0; i++)
        if (all[i] == all[i - 1])
            rc = err_set(e, PBSE_IVALREQ, "job %s is named twice", all[i]->obj.name);
    free(all);
    return rc;
}

static int examine_victims(struct plan_draft *d, struct err *e)
{
    d->victims = calloc(d->ask->n_victims ? d->ask->n_victims : 1, sizeof *d->victims);
    if (!d->victims)
        return err_set(e, PBSE_SYSTEM, "no memory for %zu victims", d->ask->n_victims);
    for (size_t i = 0; i < d->ask->n_victims; i++)
        if (examine_victim(d, &d->ask->victims[i], e) < 0)
            return -1;
    return plan_draft_check_twice(d, e);
}

/* Run limits, as they will be when the victims have given way. */
static int plan_draft_check_limits(const struct plan_draft *d, struct err *e)
{
    struct limit_counts *t = d->ctx->limit_counts;
    int rc;

    if (d->ask->unlimited)
        return 0;
    for (size_t i = 0; i < d->n_victims; i++)
        limit_counts_forget(t, d->victims[i].job);
    rc = run_admission_check(d->ctx, d->ask->job, e);
    for (size_t i = 0; i < d->n_victims; i++)
        limit_counts_review(t, d->victims[i].job);
    return rc;
}

int plan_draft_examine(struct plan_draft *d, struct err *e)
{
    struct exec_vnode *where;
    struct fit_ask fit;
    int rc;

    if (run_admission_waits(d->ask->job, e) < 0)
        return -1;
    if (d->ask->job->room)
        return err_set(e, PBSE_BADSTATE, "room is held for job %s already", d->ask->job->obj.name);
    where = exec_vnode_parse(d->ask->location, e);
    if (!where)
        return -1;
    rc = start_order_check(d->ctx, where, e);
    if (rc == 0)
        rc = where->n ? run_demands_make(d->ctx, d->ask->job, where, &d->wants, &d->n_wants, e)
                      : err_set(e, PBSE_IVALREQ, "the location names no vnode");
    exec_vnode_destroy(where);
    if (rc < 0 || examine_victims(d, e) < 0 || plan_draft_check_limits(d, e) < 0)
        return -1;
    fit = (struct fit_ask){.urgent = d->ask->job,
                           .wants = d->wants,
                           .n_wants = d->n_wants,
                           .victims = d->victims,
                           .n_victims = d->n_victims};
    return plan_fit(d->ctx, &fit, e);
}

/* --- what is stored of it ---------------------------------------------------------------------------------- */

/* How long the victims' notices may put the start off. */
static int64_t longest_notice_s(const struct plan_draft *d)
{
    const struct preempt_ask policy = {.ctx = d->ctx, .sched = d->ask->scheduler, .urgent = d->ask->job};
    int64_t longest = 0;

    for (size_t i = 0; i < d->n_victims; i++) {
        int64_t most, grace = preempt_notices_grace_ms(&policy, d->victims[i].job, &most);

        if (grace && most > grace)
            grace = most;
        longest = grace > longest ? grace : longest;
    }
    return longest / 1000;
}

int plan_draft_write(const struct plan_draft *d, struct earmark_obj *h, struct err *e)
{
    int64_t now = server_ctx_now_s(d->ctx);
    int64_t limit_s = d->ask->limit_s ? d->ask->limit_s : HOLD_LIMIT_S + longest_notice_s(d);
    struct attr_list *l = &h->obj.attrs;
    struct strbuf victims;
    int rc = -1;

    strbuf_init(&victims,
                64 << 20); /* names of all jobs that a message of PreemptRun can name, with room left */
    for (size_t i = 0; i < d->n_victims; i++) {
        strbuf_add_sep(&victims, ",");
        strbuf_add(&victims, d->victims[i].job->obj.name);
    }
    if (attr_list_set_text(l, HOLD_ATTR_job, d->ask->job->obj.name, e) == 0 &&
        attr_list_set_text(l, HOLD_ATTR_exec_vnode, d->ask->location, e) == 0 &&
        attr_list_set_text(l, HOLD_ATTR_victims, victims.len ? strbuf_str(&victims) : NULL, e) == 0 &&
        attr_list_set_text(l, HOLD_ATTR_scheduler, d->ask->scheduler->obj.name, e) == 0 &&
        attr_list_set_text(l, HOLD_ATTR_schedselect,
                           attr_list_text(&d->ask->job->obj.attrs, JOB_ATTR_schedselect), e) == 0 &&
        (!d->ask->unlimited || attr_list_set_number(l, HOLD_ATTR_by_request, 1, e) == 0) &&
        attr_list_set_number(l, HOLD_ATTR_ctime, now, e) == 0)
        rc = attr_list_set_number(l, HOLD_ATTR_deadline, now + limit_s, e);
    strbuf_fini(&victims);
    return rc;
}
