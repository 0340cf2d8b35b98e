/* See budget.h. */
#include "budget.h"

#include "job_run.h"
#include "ledger.h"
#include "pbs_error.h"
#include "site.h"
#include "strbuf.h"

enum { HOUR_S = 3600, TEXT_LIMIT = 4096 };

static int64_t cores(const struct job *j)
{
    int64_t n = 0;

    for (const struct node_use *u = j->uses; u; u = u->next_of_job)
        n += value_number(resc_find(u->amounts, RESC_ncpus));
    return n > 0 ? n : 1;
}

double budget_loss(const struct site *s, const struct job *j, char letter)
{
    int64_t ran_s = j->stime_s ? site_now_s(s) - j->stime_s - job_run_paused_s(j) : 0;

    return (letter == 'R' || letter == 'D') && ran_s > 0 ? (double)(cores(j) * ran_s) : 0;
}

/* Core-seconds; -1: none is set. */
static double budget_of(const struct letters_ask *a)
{
    const struct queue *q = a->urgent ? a->urgent->queue : NULL;
    const struct value *v = q ? attr_list_find(&q->obj.attrs, QUEUE_ATTR_preempt_budget) : NULL;

    if (!v && q)
        v = attr_list_find(&a->sched->obj.attrs, SCHED_ATTR_preempt_budget);
    return v ? v->real * HOUR_S : -1;
}

static double spent(const struct site *s, const struct queue *q)
{
    struct ledger l;

    ledger_parse(attr_list_text(&q->obj.attrs, QUEUE_ATTR_preempt_ledger), &l);
    return ledger_sum(&l, site_now_s(s));
}

/* Agreed, and not begun: those that have been given notice. */
static double pending(const struct site *s, const struct queue *q)
{
    double sum = 0;

    for (const struct hold_obj *h = holds_first(s->holds); h; h = holds_next((struct hold_obj *)h))
        for (size_t i = 0; h->job && h->job->queue == q && i < h->n_victims; i++)
            if (h->victims[i]->preempt && !h->victims[i]->preempt->method)
                sum += budget_loss(s, h->victims[i], h->victims[i]->preempt->left[0]);
    return sum;
}

bool budget_allows(const struct letters_ask *a, double planned, double loss)
{
    double budget = budget_of(a);

    if (budget < 0 || loss <= 0)
        return true;
    return spent(a->site, a->urgent->queue) + pending(a->site, a->urgent->queue) + planned + loss <= budget;
}

bool budget_covers_next(const struct site *s, const struct job *j, double loss, struct err *e)
{
    const struct hold_obj *h = j->gives_way_to;
    const char *by = h ? attr_list_text(&h->obj.attrs, HOLD_ATTR_scheduler) : NULL;
    const struct letters_ask ask = {
        .site = s, .sched = by ? scheds_find(s->scheds, by) : NULL, .urgent = h ? h->job : NULL};
    struct strbuf why;

    if (!ask.sched || !ask.urgent || budget_allows(&ask, 0, loss))
        return true;
    strbuf_init(&why, ERR_TEXT_MAX);
    budget_describe(&ask, &why);
    err_set(e, PBSE_BADSTATE, "it would lose %.3g core-hours: %s", loss / HOUR_S, strbuf_str(&why));
    strbuf_fini(&why);
    return false;
}

void budget_describe(const struct letters_ask *a, struct strbuf *out)
{
    const struct queue *q = a->urgent->queue;

    strbuf_addf(out,
                "queue %s may destroy %.6g core-hours an hour (preempt_budget), %.3g are spent or agreed",
                q->obj.name, budget_of(a) / HOUR_S, (spent(a->site, q) + pending(a->site, q)) / HOUR_S);
}

static bool is_counted(const struct site *s, const struct queue *q)
{
    if (attr_list_is_set(&q->obj.attrs, QUEUE_ATTR_preempt_budget))
        return true;
    for (const struct sched_obj *o = scheds_first(s->scheds); o; o = scheds_next((struct sched_obj *)o))
        if (attr_list_is_set(&o->obj.attrs, SCHED_ATTR_preempt_budget))
            return true;
    return false;
}

void budget_charge(struct site *s, struct queue *urgent, double loss)
{
    struct strbuf text;
    struct ledger l;

    if (loss <= 0 || !is_counted(s, urgent))
        return;
    ledger_parse(attr_list_text(&urgent->obj.attrs, QUEUE_ATTR_preempt_ledger), &l);
    ledger_add(&l, site_now_s(s), loss);
    strbuf_init(&text, TEXT_LIMIT);
    if (ledger_format(&l, &text) == 0)
        attr_list_set_text(&urgent->obj.attrs, QUEUE_ATTR_preempt_ledger, strbuf_str(&text), NULL);
    strbuf_fini(&text);
    change_touch(s->change, &urgent->obj.change, PART_ATTRS);
}
