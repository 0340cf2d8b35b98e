/* The site's policy, asked for a job of this server. See preempt_policy.h.
 *
 * An adapter: it fills `preempt_facts` from a job and `preempt_settings` from a queue or a scheduler, calls preempt_rules.c, and puts
 * its answer into words. The scheduler's core and pbs_preempt do the same with what they know (sched/core/preempt, cmds), so all
 * three foretell and charge the same. A new setting is a field of preempt_settings, filled here and there. */
#include "preempt_policy.h"

#include <stdio.h>

#include "attr_list.h"
#include "job_run.h"
#include "pbs_error.h"
#include "server_ctx.h"

enum { MS_PER_S = 1000 };

/* --- facts and settings ---------------------------------------------------------------------------------- */

static int64_t requested(const struct job *j, int resource)
{
    return value_number(attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, resource));
}

static int64_t claimed_cores(const struct job *j)
{
    int64_t n = 0;

    for (const struct node_use *u = j->uses; u; u = u->next_of_job)
        n += value_number(resc_find(u->amounts, RESC_ncpus));
    return n;
}

static int64_t paused_s(const struct job *j, int64_t now_s)
{
    return job_run_paused_s(j) + (j->run && j->run->suspended_s ? now_s - j->run->suspended_s : 0);
}

struct preempt_facts preempt_policy_facts(const struct server_ctx *s, const struct job *j)
{
    const char *wish = attr_list_text(&j->obj.attrs, JOB_ATTR_preempt_methods);
    struct preempt_facts f = {.soft_walltime_s = requested(j, RESC_soft_walltime),
                              .walltime_s = requested(j, RESC_walltime),
                              .cput_s = requested(j, RESC_cput),
                              .used_walltime_s = j->usage.walltime_ms / MS_PER_S,
                              .used_cput_s = j->usage.cput_ms / MS_PER_S,
                              .start_s = j->stime_s,
                              .paused_s = paused_s(j, server_ctx_now_s(s)),
                              .suspended = j->suspender != SUSPENDED_BY_NOBODY,
                              .cores = claimed_cores(j),
                              .count = j->preempt_count};

    if (wish)
        preempt_methods_parse(wish, &f.wish);
    return f;
}

static void settings_of_queue(struct preempt_settings *s, const struct queue *q)
{
    const struct attr_list *l = &q->obj.attrs;
    const char *order = attr_list_text(l, QUEUE_ATTR_preempt_order);
    const struct value *budget = attr_list_find(l, QUEUE_ATTR_preempt_budget);

    preempt_rules_init_settings(s, q->obj.name);
    if (order)
        preempt_rules_settings_order(s, order);
    s->exempt_s = attr_list_number(l, QUEUE_ATTR_preempt_exempt_time, PREEMPT_UNSET);
    s->max_count = attr_list_number(l, QUEUE_ATTR_preempt_max_count, PREEMPT_UNSET);
    s->budget = budget ? budget->real : PREEMPT_UNSET;
    s->priority = queue_priority(q);
    s->preemptable_by = attr_list_text(l, QUEUE_ATTR_preemptable_by);
    s->methods_enable = attr_list_bool(l, QUEUE_ATTR_preempt_methods_enable, false);
}

static void settings_of_sched(struct preempt_settings *s, const struct sched_obj *o)
{
    const struct attr_list *l = &o->obj.attrs;
    const char *order = attr_list_text(l, SCHED_ATTR_preempt_order);
    const struct value *budget = attr_list_find(l, SCHED_ATTR_preempt_budget);

    preempt_rules_init_settings(s, NULL);
    if (order)
        preempt_rules_settings_order(s, order);
    s->exempt_s = attr_list_number(l, SCHED_ATTR_preempt_exempt_time, PREEMPT_UNSET);
    s->max_count = attr_list_number(l, SCHED_ATTR_preempt_max_count, PREEMPT_UNSET);
    s->budget = budget ? budget->real : PREEMPT_UNSET;
    s->priority = attr_list_effective(l, SCHED_ATTR_preempt_queue_prio);
}

/* --- answers ---------------------------------------------------------------------------------------------- */

double preempt_policy_loss(const struct server_ctx *s, const struct job *j, enum method_id m)
{
    struct preempt_facts f = preempt_policy_facts(s, j);

    return preempt_rules_loss(&f, m, server_ctx_now_s(s));
}

int64_t preempt_policy_number(const struct preempt_ask *a, const struct job *j, int of_queue, int of_sched)
{
    return preempt_rules_number(j->queue ? attr_list_number(&j->queue->obj.attrs, of_queue, PREEMPT_UNSET)
                                         : PREEMPT_UNSET,
                                attr_list_number(&a->sched->obj.attrs, of_sched, PREEMPT_UNSET), 0);
}

double preempt_policy_budget(const struct preempt_ask *a)
{
    const struct queue *q = a->urgent ? a->urgent->queue : NULL;
    struct preempt_settings queue, sched;

    if (!q)
        return PREEMPT_UNSET;
    settings_of_queue(&queue, q);
    settings_of_sched(&sched, a->sched);
    return preempt_rules_budget(&queue, &sched);
}

static int preempt_policy_refuse(const struct preempt_ask *a, const struct job *j, enum preempt_exempt why,
                                 int64_t until_s, struct err *e)
{
    switch (why) {
    case EXEMPT_NEVER:
        return err_set(e, PBSE_BADSTATE, "jobs of queue %s are not preempted", j->queue->obj.name);
    case EXEMPT_COUNT:
        return err_set(e, PBSE_BADSTATE, "job %s has been preempted %u times and is exempt from now on",
                       j->obj.name, j->preempt_count);
    case EXEMPT_BY:
        return err_set(e, PBSE_BADSTATE, "job %s of queue %s may not be preempted by jobs of queue %s",
                       j->obj.name, j->queue->obj.name, a->urgent->queue->obj.name);
    case EXEMPT_TIME:
        return err_set(e, PBSE_BADSTATE, "job %s is exempt from preemption for %lld seconds more",
                       j->obj.name, (long long)(until_s - server_ctx_now_s(a->ctx)));
    case EXEMPT_NOT:
    case EXEMPT_COUNT_OF:
        break;
    }
    return 0;
}

int preempt_policy_methods(const struct preempt_ask *a, const struct job *j, struct preempt_methods *out,
                           struct err *e)
{
    const struct queue *q = a->urgent ? a->urgent->queue : NULL;
    struct preempt_settings queue, sched, urgent;
    struct preempt_facts f = preempt_policy_facts(a->ctx, j);
    int64_t now_s = server_ctx_now_s(a->ctx), until_s;
    enum preempt_exempt why;

    *out = (struct preempt_methods){0};
    if (j->queue)
        settings_of_queue(&queue, j->queue);
    if (q)
        settings_of_queue(&urgent, q);
    settings_of_sched(&sched, a->sched);
    why = preempt_rules_exempt(&f, j->queue ? &queue : NULL, &sched, q ? &urgent : NULL, now_s, &until_s);
    /* A job whose end has begun is out of the way soon: its exempt time is not a reason to wait. */
    if (why != EXEMPT_NOT && !(why == EXEMPT_TIME && j->state == JOB_EXITING))
        return preempt_policy_refuse(a, j, why, until_s, e);
    preempt_rules_methods(&f, j->queue ? &queue : NULL, &sched, now_s, out);
    return 0;
}

void preempt_policy_line(const struct preempt_ask *a, const struct job *j, struct preempt_line *out)
{
    const struct queue *q = a->urgent ? a->urgent->queue : NULL;
    struct preempt_settings queue, sched, urgent;
    const char *order;
    bool is_queues, is_wish;

    preempt_rules_init_settings(&queue, "");
    if (j->queue)
        settings_of_queue(&queue, j->queue);
    settings_of_sched(&sched, a->sched);
    is_queues = queue.order.n > 0;
    is_wish = queue.methods_enable && preempt_policy_facts(a->ctx, j).wish.n > 0;
    order = is_queues ? attr_list_text(&j->queue->obj.attrs, QUEUE_ATTR_preempt_order)
                      : attr_list_text(&a->sched->obj.attrs, SCHED_ATTR_preempt_order);
    snprintf(out->policy, sizeof out->policy, "%s:%.240s:preempt_order=%.240s%s",
             is_queues ? "queue" : "sched", is_queues ? j->queue->obj.name : a->sched->obj.name,
             order ? order : "SCR", is_wish ? ",preempt_methods" : "");
    for (char *c = out->policy; *c; c++)
        *c = *c == ' ' ? ',' : *c;
    *out->authority = '\0';
    if (!q)
        return;
    settings_of_queue(&urgent, q);
    snprintf(out->authority, sizeof out->authority, "%s:%.240s",
             preempt_rules_is_express(&urgent, &sched) ? "express_queue" : "normal_jobs", q->obj.name);
}
