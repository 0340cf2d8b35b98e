/* See preempt_rules.h. A queue's own setting goes before that of its scheduler in every rule. */
#include "preempt_rules.h"

#include <string.h>

enum {
    QUEUE_PRIO = 150, /* preempt_queue_prio where nothing is set (PBS) */
    HOUR_S = 3600
};

void preempt_rules_init_settings(struct preempt_settings *s, const char *name)
{
    *s = (struct preempt_settings){.name = name,
                                   .exempt_s = PREEMPT_UNSET,
                                   .max_count = PREEMPT_UNSET,
                                   .budget = PREEMPT_UNSET,
                                   .priority = name ? 0 : QUEUE_PRIO};
    if (!name)
        preempt_rules_settings_order(s, "SCR");
}

bool preempt_rules_settings_order(struct preempt_settings *s, const char *text)
{
    bool never = s->name && strcmp(text, "none") == 0;

    if (!never && order_parse(text, &s->order, NULL) < 0)
        return false;
    s->never = never;
    if (never)
        s->order.n = 0;
    return true;
}

int64_t preempt_rules_number(int64_t of_queue, int64_t of_sched, int64_t unset)
{
    return of_queue >= 0 ? of_queue : of_sched >= 0 ? of_sched : unset;
}

/* --- time and loss -------------------------------------------------------------------------------------- */

static int64_t preempt_rules_worked_s(const struct preempt_facts *f, int64_t now_s)
{
    int64_t worked = f->start_s ? now_s - f->start_s - f->paused_s : 0;

    return worked > 0 ? worked : 0;
}

/* Usage is reported now and then, so a job that runs has used at least the time since its start. */
static int64_t walltime_used_s(const struct preempt_facts *f, int64_t now_s)
{
    int64_t worked = f->suspended ? 0 : preempt_rules_worked_s(f, now_s);

    return worked > f->used_walltime_s ? worked : f->used_walltime_s;
}

int preempt_rules_percent_left(const struct preempt_facts *f, int64_t now_s)
{
    int64_t requested = f->soft_walltime_s ? f->soft_walltime_s : f->walltime_s;
    int64_t used = walltime_used_s(f, now_s), left;

    if (!requested) {
        requested = f->cput_s;
        used = f->used_cput_s;
    }
    if (!requested || used <= 0)
        return 100;
    left = 100 - used * 100 / requested;
    return left < 0 ? 1 : (int)left;
}

double preempt_rules_loss(const struct preempt_facts *f, enum method_id m, int64_t now_s)
{
    if (!preempt_method_row(m)->loses_work)
        return 0;
    return (double)((f->cores > 0 ? f->cores : 1) * preempt_rules_worked_s(f, now_s));
}

/* --- methods -------------------------------------------------------------------------------------------- */

void preempt_rules_methods(const struct preempt_facts *f, const struct preempt_settings *queue,
                           const struct preempt_settings *sched, int64_t now_s, struct preempt_methods *out)
{
    const struct preempt_order *o = queue && queue->order.n ? &queue->order : &sched->order;
    struct preempt_methods wished;

    *out = (struct preempt_methods){0};
    if ((queue && queue->never) || !o->n)
        return;
    *out = *order_methods(o, preempt_rules_percent_left(f, now_s));
    if (!queue || !queue->methods_enable || !f->wish.n)
        return;
    wished = *out;
    preempt_methods_keep(&wished, &f->wish);
    if (wished.n) /* a job cannot protect itself by its wish */
        *out = wished;
}

/* --- protection ----------------------------------------------------------------------------------------- */

static bool preempt_rules_is_listed(const char *list, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = list; *at; at += strspn(at, ", \t")) {
        size_t len = strcspn(at, ", \t");

        if (len == n && memcmp(at, name, n) == 0)
            return true;
        at += len;
    }
    return false;
}

bool preempt_rules_is_express(const struct preempt_settings *queue, const struct preempt_settings *sched)
{
    return queue->priority >= sched->priority;
}

bool preempt_rules_is_preemptable_by(const struct preempt_settings *queue,
                                     const struct preempt_settings *urgent,
                                     const struct preempt_settings *sched)
{
    const char *by = queue ? queue->preemptable_by : NULL;

    return !by || !urgent || preempt_rules_is_listed(by, urgent->name) ||
           preempt_rules_is_listed(by,
                                   preempt_rules_is_express(urgent, sched) ? "express_queue" : "normal_jobs");
}

enum preempt_exempt preempt_rules_exempt(const struct preempt_facts *f, const struct preempt_settings *queue,
                                         const struct preempt_settings *sched,
                                         const struct preempt_settings *urgent, int64_t now_s,
                                         int64_t *until_s)
{
    int64_t exempt_s = preempt_rules_number(queue ? queue->exempt_s : PREEMPT_UNSET, sched->exempt_s, 0);
    int64_t most =
        preempt_rules_number(queue ? queue->max_count : PREEMPT_UNSET, sched->max_count, PREEMPT_UNSET);

    *until_s = 0;
    if (queue && queue->never)
        return EXEMPT_NEVER;
    if (most >= 0 && f->count >= most)
        return EXEMPT_COUNT;
    if (!preempt_rules_is_preemptable_by(queue, urgent, sched))
        return EXEMPT_BY;
    if (exempt_s <= 0 || (f->start_s && now_s >= f->start_s + exempt_s))
        return EXEMPT_NOT;
    *until_s = (f->start_s ? f->start_s : now_s) + exempt_s;
    return EXEMPT_TIME;
}

/* --- budget --------------------------------------------------------------------------------------------- */

double preempt_rules_budget(const struct preempt_settings *urgent, const struct preempt_settings *sched)
{
    double hours = !urgent ? PREEMPT_UNSET : urgent->budget >= 0 ? urgent->budget : sched->budget;

    return hours < 0 ? PREEMPT_UNSET : hours * HOUR_S;
}

bool preempt_rules_affords(double budget, double spent, double loss)
{
    return budget < 0 || loss <= 0 || spent + loss <= budget;
}
