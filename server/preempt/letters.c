/* Which methods may be tried. See letters.h.
 *
 * Protection is asked first, then the order: of the job's queue if it has one, else of the scheduler, else
 * "SCR". The job's own wish only narrows it, and never to nothing: a job cannot make itself safe by a
 * wish. */
#include "letters.h"

#include <string.h>

#include "attr_list.h"
#include "budget.h"
#include "job_run.h"
#include "pbs_error.h"
#include "site.h"
#include "strbuf.h"
#include "type_list.h"
#include "type_order.h"

static int64_t asked_s(const struct job *j, int resource)
{
    return value_number(attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, resource));
}

/* Usage is reported now and then; a running job's walltime is at least what it had then. Time in which it was suspended
 * is no walltime. */
static int64_t walltime_used_s(const struct job *j, int64_t now_s)
{
    int64_t reported = j->usage.walltime_ms / 1000;
    int64_t since = j->stime_s && j->state == JOB_RUNNING ? now_s - j->stime_s - job_run_paused_s(j) : 0;

    return reported > since || j->suspender != SUSPENDED_BY_NOBODY ? reported : since;
}

int letters_percent_left(const struct job *j, int64_t now_s)
{
    int64_t asked = asked_s(j, RESC_soft_walltime), used = walltime_used_s(j, now_s), left;

    if (!asked)
        asked = asked_s(j, RESC_walltime);
    if (!asked) {
        asked = asked_s(j, RESC_cput);
        used = j->usage.cput_ms / 1000;
    }
    if (!asked || used <= 0)
        return 100;
    left = 100 - used * 100 / asked; /* truncation is that of the share used, as PBS has it */
    return left < 0 ? 1 : (int)left;
}

/* --- protection ---------------------------------------------------------------------------------------- */

int64_t letters_policy(const struct letters_ask *a, const struct job *j, int of_queue, int of_sched,
                       int64_t if_unset)
{
    int64_t n = j->queue ? attr_list_number(&j->queue->obj.attrs, of_queue, -1) : -1;

    return n >= 0 ? n : attr_list_number(&a->sched->obj.attrs, of_sched, if_unset);
}

static int check_exempt(const struct letters_ask *a, const struct job *j, struct err *e)
{
    int64_t exempt = letters_policy(a, j, QUEUE_ATTR_preempt_exempt_time, SCHED_ATTR_preempt_exempt_time, 0);
    int64_t left = j->stime_s ? j->stime_s + exempt - site_now_s(a->site) : exempt;

    if (exempt <= 0 || left <= 0 || j->state == JOB_EXITING)
        return 0;
    return err_set(e, PBSE_BADSTATE, "job %s is exempt from preemption for %lld seconds more", j->obj.name,
                   (long long)left);
}

static int check_count(const struct letters_ask *a, const struct job *j, struct err *e)
{
    int64_t most = letters_policy(a, j, QUEUE_ATTR_preempt_max_count, SCHED_ATTR_preempt_max_count, -1);

    if (most < 0 || j->preempt_count < most)
        return 0;
    return err_set(e, PBSE_BADSTATE, "job %s has been preempted %u times and is exempt from now on",
                   j->obj.name, j->preempt_count);
}

static int check_by(const struct letters_ask *a, const struct job *j, struct err *e)
{
    const char *by = j->queue ? attr_list_text(&j->queue->obj.attrs, QUEUE_ATTR_preemptable_by) : NULL;
    const struct queue *q = a->urgent ? a->urgent->queue : NULL;

    if (!by || !q || list_contains(by, q->obj.name) ||
        list_contains(by, queue_priority(q) >=
                                  attr_list_effective(&a->sched->obj.attrs, SCHED_ATTR_preempt_queue_prio)
                              ? "express_queue"
                              : "normal_jobs"))
        return 0;
    return err_set(e, PBSE_BADSTATE, "job %s of queue %s may not be preempted by jobs of queue %s",
                   j->obj.name, j->queue->obj.name, q->obj.name);
}

/* What the job asks for, where its queue allows that and something is left then. */
static void narrow(const struct job *j, char out[5])
{
    const char *wish = attr_list_text(&j->obj.attrs, JOB_ATTR_preempt_methods);
    char left[5];
    size_t n = 0;

    if (!wish || !j->queue || !attr_list_bool(&j->queue->obj.attrs, QUEUE_ATTR_preempt_methods_enable, false))
        return;
    for (const char *l = out; *l; l++)
        if (strchr(wish, *l))
            left[n++] = *l;
    left[n] = '\0';
    if (n)
        memcpy(out, left, n + 1);
}

/* Methods that would cost more than the urgent job's queue may destroy are taken out. */
static int spare_for_budget(const struct letters_ask *a, const struct job *j, char out[5], struct err *e)
{
    double loss = budget_loss(a->site, j, 'R');
    struct strbuf why;
    size_t n = 0;

    if (budget_allows(a, a->planned, loss))
        return 0;
    for (const char *l = out; *l; l++)
        if (*l != 'R' && *l != 'D')
            out[n++] = *l;
    out[n] = '\0';
    if (n)
        return 0;
    strbuf_init(&why, ERR_TEXT_MAX);
    budget_describe(a, &why);
    err_set(e, PBSE_BADSTATE, "job %s would lose %.3g core-hours: %s", j->obj.name, loss / 3600,
            strbuf_str(&why));
    strbuf_fini(&why);
    return -1;
}

static const char *order_text(const struct letters_ask *a, const struct job *j)
{
    const char *own = j->queue ? attr_list_text(&j->queue->obj.attrs, QUEUE_ATTR_preempt_order) : NULL;

    return own ? own : attr_list_text(&a->sched->obj.attrs, SCHED_ATTR_preempt_order);
}

int letters_for(const struct letters_ask *a, const struct job *j, char out[5], struct err *e)
{
    const char *text = order_text(a, j);
    struct preempt_order order;

    out[0] = '\0';
    if (text && strcmp(text, "none") == 0)
        return err_set(e, PBSE_BADSTATE, "jobs of queue %s are not preempted", j->queue->obj.name);
    if (check_exempt(a, j, e) < 0 || check_count(a, j, e) < 0 || check_by(a, j, e) < 0)
        return -1;
    if (!text || order_parse(text, &order, e) < 0)
        order_parse("SCR", &order, e);
    snprintf(out, 5, "%s", order_letters(&order, letters_percent_left(j, site_now_s(a->site))));
    narrow(j, out);
    return spare_for_budget(a, j, out, e);
}
