/* The scheduler's own rules are asked through explain, so nothing of them is said twice. The others try sets of candidates:
 * all of a set is given back in the trial, and the urgent job is placed. */
#include "rules.h"

#include <stdlib.h>

#include "explain.h"
#include "mem.h"
#include "placement.h"
#include "trial.h"
#include "cycle_preempt.h"

enum { SETS_OF_MAX = 14 };

static bool never_failed(void *arg, const struct job *p, const struct job *victim)
{
    (void)arg, (void)p, (void)victim;
    return false;
}

static void never_later(void *arg, int64_t at_s)
{
    (void)arg, (void)at_s;
}

void rules_scheduler(struct world *w, const struct job *j, int urgent, struct choice *out)
{
    struct explanation x;

    explain(
        &(struct explain_ask){
            .picker = cycle_preempt_picker(w->c), .job = j, .now_s = w->now_s, .has_failed = never_failed},
        &x);
    if (x.verdict == EXPLAIN_WOULD_PREEMPT) {
        out->where = placement_text(cycle_cluster(w->c), &x.where);
        out->victims = mem_new(x.n_victims + 1, sizeof *out->victims);
        for (; out->n < x.n_victims; out->n++)
            out->victims[out->n] = atoi(x.victims[out->n].job->id);
    }
    explain_fini(&x);
}

/* --- sets of candidates ---------------------------------------------------------------------------------- */

struct asking { /* for one urgent job */
    struct picker k;
    struct preemptor p;
    struct request *request;
    struct candidates l;
    struct decisions unsaid;
    bool *gone; /* of each candidate */
};

static void asking_init(struct asking *a, struct world *w, const struct job *j)
{
    struct reason why;

    *a = (struct asking){.k = cycle_preempt_picker(w->c)};
    a->request = request_parse(cluster_catalogue(a->k.cl), j->select, j->place);
    a->p = (struct preemptor){.cl = a->k.cl,
                              .job = j,
                              .request = a->request,
                              .level = 1 << 20,
                              .now_s = w->now_s,
                              .has_failed = never_failed,
                              .later = never_later};
    a->k.log = &a->unsaid;
    reason_set(&why, REASON_FEW_FREE_NODES, NULL, NULL);
    candidates_collect(&a->l, &a->p, &why);
    a->gone = mem_new(a->l.n + 1, sizeof *a->gone);
}

static void asking_fini(struct asking *a)
{
    request_destroy(a->request);
    candidates_fini(&a->l);
    decisions_fini(&a->unsaid);
    free(a->gone);
}

/* Does the urgent job fit without those that are gone? `where` may be NULL; else it is filled then. */
static bool fits(const struct asking *a, char **where)
{
    size_t mark = trial_mark(a->k.trial);
    struct allocation found = {0};
    struct reason why;

    for (size_t i = 0; i < a->l.n; i++)
        if (a->gone[i])
            trial_give_all(a->k.trial, &a->l.a[i]->on);
    bool does = pick_place(&a->k, &a->p, &found, &why);
    if (does && where)
        *where = placement_text(a->k.cl, &found);
    trial_undo(a->k.trial, mark);
    allocation_fini(&found);
    return does;
}

static void choose(const struct asking *a, struct choice *out)
{
    if (!fits(a, &out->where))
        return;
    out->victims = mem_new(a->l.n + 1, sizeof *out->victims);
    for (size_t i = 0; i < a->l.n; i++)
        if (a->gone[i])
            out->victims[out->n++] = atoi(a->l.a[i]->id);
}

static int64_t width(const struct job *j)
{
    int64_t n = 0;

    for (size_t i = 0; i < j->on.n; i++)
        n += amounts_get(&j->on.a[i].use, RES_NCPUS);
    return n;
}

static int widest_then_oldest(const void *a, const void *b)
{
    const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;

    if (width(x) != width(y))
        return width(x) > width(y) ? -1 : 1;
    return x->start_s < y->start_s ? -1 : x->start_s > y->start_s;
}

void rules_oldest(struct world *w, const struct job *j, int urgent, struct choice *out)
{
    struct asking a;
    size_t n = 0;

    asking_init(&a, w, j);
    if (a.l.n)
        qsort(a.l.a, a.l.n, sizeof(struct job *), widest_then_oldest);
    while (n < a.l.n && !fits(&a, NULL))
        a.gone[n++] = true;
    for (size_t i = 0; i < n; i++) { /* without those that are not needed */
        a.gone[i] = false;
        a.gone[i] = !fits(&a, NULL);
    }
    choose(&a, out);
    asking_fini(&a);
}

static bool is_least(struct asking *a)
{
    for (size_t i = 0; i < a->l.n; i++) {
        if (!a->gone[i])
            continue;
        a->gone[i] = false;
        bool too_many = fits(a, NULL);
        a->gone[i] = true;
        if (too_many)
            return false;
    }
    return true;
}

int rules_all(struct world *w, const struct job *j, struct choice out[], int max)
{
    struct asking a;
    int n = 0;

    asking_init(&a, w, j);
    for (unsigned long set = 1; a.l.n <= SETS_OF_MAX && set < 1ul << a.l.n && n < max; set++) {
        for (size_t i = 0; i < a.l.n; i++)
            a.gone[i] = set >> i & 1;
        if (fits(&a, NULL) && is_least(&a))
            choose(&a, &out[n++]);
    }
    if (a.l.n > SETS_OF_MAX || n == max) {
        while (n > 0)
            choice_fini(&out[--n]);
        n = -1;
    }
    asking_fini(&a);
    return n;
}
