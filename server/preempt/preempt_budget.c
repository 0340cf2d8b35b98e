/* What preemptions for a queue may cost. See preempt_budget.h; the arithmetic is in preempt_rules.c, the ledger's form in ledger.c.
 *
 * Asked three times on the way of a plan, each with what is known then: for each victim while the plan is examined (with `planned`, what the
 * victims before it lose), before each method after the first (the first was agreed), and charged when a method has begun. Between
 * examination and charge, that is while notices run, the loss is `pending`: no second plan can spend it. */
#include "preempt_budget.h"

#include "job_run.h"
#include "ledger.h"
#include "pbs_error.h"
#include "server_ctx.h"
#include "strbuf.h"

/* TEXT_LIMIT: the ledger of an hour has few entries, see ledger.h. */
enum { HOUR_S = 3600, TEXT_LIMIT = 4096 };

static double spent(const struct server_ctx *s, const struct queue *q)
{
    struct ledger l;

    ledger_parse(attr_list_text(&q->obj.attrs, QUEUE_ATTR_preempt_ledger), &l);
    return ledger_sum(&l, server_ctx_now_s(s));
}

/* Amounts that are agreed but not spent yet: those of victims that have been given notice. */
static double pending(const struct server_ctx *s, const struct queue *q)
{
    double sum = 0;

    for (const struct earmark_obj *h = earmarks_first(s->earmarks); h;
         h = earmarks_next((struct earmark_obj *)h))
        for (size_t i = 0; h->job && h->job->queue == q && i < h->n_victims; i++)
            if (h->victims[i]->preempt && !h->victims[i]->preempt->method)
                sum += preempt_policy_loss(s, h->victims[i],
                                           preempt_methods_first(&h->victims[i]->preempt->left));
    return sum;
}

/* May the urgent job's queue have this much more destroyed? `planned`: by others of the same plan. True where there is
 * no budget, or the request names no urgent job. O(victims of earmarks for this queue). */
static bool preempt_budget_allows(const struct preempt_ask *a, double planned, double loss)
{
    double budget = preempt_policy_budget(a);

    if (budget < 0 || loss <= 0)
        return true;
    return preempt_rules_affords(
        budget, spent(a->ctx, a->urgent->queue) + pending(a->ctx, a->urgent->queue) + planned, loss);
}

/* "queue express may destroy 2 core-hours an hour (preempt_budget), 1.5 are spent": for a refusal. */
static void preempt_budget_describe(const struct preempt_ask *a, struct strbuf *out)
{
    const struct queue *q = a->urgent->queue;

    strbuf_addf(
        out, "queue %s may destroy %.6g core-hours an hour (preempt_budget), %.3g are spent or agreed",
        q->obj.name, preempt_policy_budget(a) / HOUR_S, (spent(a->ctx, q) + pending(a->ctx, q)) / HOUR_S);
}

bool preempt_budget_covers_next(const struct server_ctx *s, const struct job *j, double loss, struct err *e)
{
    const struct earmark_obj *h = j->gives_way_to;
    const char *by = h ? attr_list_text(&h->obj.attrs, HOLD_ATTR_scheduler) : NULL;
    const struct preempt_ask ask = {
        .ctx = s, .sched = by ? scheds_find(s->scheds, by) : NULL, .urgent = h ? h->job : NULL};
    struct strbuf why;

    if (!ask.sched || !ask.urgent || preempt_budget_allows(&ask, 0, loss))
        return true;
    strbuf_init(&why, ERR_TEXT_MAX);
    preempt_budget_describe(&ask, &why);
    err_set(e, PBSE_BADSTATE, "it would lose %.3g core-hours: %s", loss / HOUR_S, strbuf_str(&why));
    strbuf_fini(&why);
    return false;
}

static bool is_counted(const struct server_ctx *s, const struct queue *q)
{
    if (attr_list_is_set(&q->obj.attrs, QUEUE_ATTR_preempt_budget))
        return true;
    for (const struct sched_obj *o = scheds_first(s->scheds); o; o = scheds_next((struct sched_obj *)o))
        if (attr_list_is_set(&o->obj.attrs, SCHED_ATTR_preempt_budget))
            return true;
    return false;
}

static void write_ledger(struct server_ctx *s, struct queue *q, const struct ledger *l)
{
    struct strbuf text;

    strbuf_init(&text, TEXT_LIMIT);
    if (ledger_format(l, &text) == 0)
        attr_list_set_text(&q->obj.attrs, QUEUE_ATTR_preempt_ledger, text.len ? strbuf_str(&text) : NULL,
                           NULL);
    strbuf_fini(&text);
    change_touch(s->change, &q->obj.change, PART_ATTRS);
}

void preempt_budget_charge(struct server_ctx *s, struct queue *urgent, double loss)
{
    struct ledger l;

    if (loss <= 0 || !is_counted(s, urgent))
        return;
    ledger_parse(attr_list_text(&urgent->obj.attrs, QUEUE_ATTR_preempt_ledger), &l);
    ledger_add(&l, server_ctx_now_s(s), loss);
    write_ledger(s, urgent, &l);
}

void preempt_budget_refund(struct server_ctx *s, const char *queue, int64_t charged_s, double loss)
{
    struct queue *q = queues_find(s->queues, queue);
    struct ledger l;

    if (!q || !attr_list_is_set(&q->obj.attrs, QUEUE_ATTR_preempt_ledger))
        return;
    ledger_parse(attr_list_text(&q->obj.attrs, QUEUE_ATTR_preempt_ledger), &l);
    ledger_take_back(&l, charged_s, loss);
    write_ledger(s, q, &l);
}

/* Take out the methods that would destroy more than the urgent job's queue may. */
static int keep_within(const struct preempt_ask *a, const struct job *j, struct preempt_methods *l,
                       struct err *e)
{
    struct preempt_facts f = preempt_policy_facts(a->ctx, j);
    double most = 0;
    struct preempt_methods kept = {0};
    struct strbuf why;

    for (unsigned i = 0; i < l->n; i++) {
        double loss = preempt_rules_loss(&f, (enum method_id)l->m[i], server_ctx_now_s(a->ctx));

        most = loss > most ? loss : most;
        if (preempt_budget_allows(a, a->planned, loss))
            preempt_methods_add(&kept, (enum method_id)l->m[i]);
    }
    if (kept.n || !l->n) {
        *l = kept;
        return 0;
    }
    *l = kept;
    strbuf_init(&why, ERR_TEXT_MAX);
    preempt_budget_describe(a, &why);
    err_set(e, PBSE_BADSTATE, "job %s would lose %.3g core-hours: %s", j->obj.name, most / HOUR_S,
            strbuf_str(&why));
    strbuf_fini(&why);
    return -1;
}

int preempt_budget_methods(const struct preempt_ask *a, const struct job *j, struct preempt_methods *out,
                           struct err *e)
{
    return preempt_policy_methods(a, j, out, e) < 0 ? -1 : keep_within(a, j, out, e);
}
