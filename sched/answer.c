/* One entry a job, attributes as text. See answer.h.
 *
 * What does not fit into an answer of bounded size is left out from the end, where the jobs are that a reader would
 * expect to give way; the counts in the first entry are of all. */
#include "answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mem.h"
#include "pbs_ifl.h"
#include "placement.h"
#include "sched_cluster.h"

enum { VALUE_MAX = 512 }; /* of a value that is put together here; what is longer is cut */

struct list {
    struct batch_status *first, **end;
};

struct answer_entry {
    struct batch_status *b;
    struct attrl **end;
};

/* One entry more, at the end. The result is for filling it; the list owns it. */
static struct answer_entry entry_add(struct list *l, const char *name)
{
    struct batch_status *b = mem_new(1, sizeof *b);

    b->name = mem_text(name);
    *l->end = b;
    l->end = &b->next;
    return (struct answer_entry){b, &b->attribs};
}

/* One attribute, at the end; all texts are copied. */
static void add_text(struct answer_entry *e, const char *name, const char *resource, const char *value)
{
    struct attrl *a = mem_new(1, sizeof *a);

    a->name = mem_text(name);
    a->resource = resource ? mem_text(resource) : NULL;
    a->value = mem_text(value);
    *e->end = a;
    e->end = &a->next;
}

static void answer_add(struct answer_entry *e, const char *name, const char *resource, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void answer_add(struct answer_entry *e, const char *name, const char *resource, const char *fmt, ...)
{
    char value[VALUE_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(value, sizeof value, fmt, ap);
    va_end(ap);
    add_text(e, name, resource, value);
}

void answer_destroy(struct batch_status *list)
{
    for (struct batch_status *b = list, *next; b; b = next) {
        next = b->next;
        for (struct attrl *a = b->attribs, *after; a; a = after) {
            after = a->next;
            free(a->name);
            free(a->resource);
            free(a->value);
            free(a);
        }
        free(b->name);
        free(b);
    }
}

/* --- the job itself -------------------------------------------------------------------------------------- */

/* Reasons why no cycle looks at it yet are numbered apart from obstacles, and never "never". */
static void add_reasons(struct answer_entry *e, const struct explanation *x)
{
    char text[REASON_TEXT_MAX], number[32];
    bool never = false;

    if (x->reasons.n > x->n_aside)
        add_text(e, "comment", NULL, reason_comment(&x->why[x->n_aside], text));
    for (size_t i = 0; i < x->reasons.n; i++) {
        bool aside = i < x->n_aside;
        snprintf(number, sizeof number, "%zu", (aside ? i : i - x->n_aside) + 1);
        add_text(e, aside ? "not_yet" : "in_the_way", number, reason_log(&x->why[i], text));
        never = never || x->why[i].never;
    }
    if (never)
        add_text(e, "never", NULL, "True");
    if (x->bar != ATTEMPT_OPEN)
        add_text(e, "no_preemption", NULL, attempt_bar_text(x->bar));
    else if (x->found_none)
        add_text(e, "no_preemption", NULL, "to stop all who may be stopped would not be enough");
}

/* Of a job that runs: what could be done to it. Else there is no such job here. */
static void add_self(struct answer_entry *e, const struct victim_method *self)
{
    char letters[PREEMPT_LETTERS_MAX];

    if (!self->job)
        return;
    add_text(e, "methods", NULL, preempt_methods_format(&self->methods, letters));
    answer_add(e, "lost_core_seconds", NULL, "%lld", (long long)self->lost_s);
}

static void add_sums(struct answer_entry *e, const struct explanation *x)
{
    int64_t lost_s = 0;

    for (size_t i = 0; i < x->n_victims; i++)
        lost_s += x->victims[i].lost_s;
    if (x->n_victims) {
        answer_add(e, "victims", NULL, "%zu", x->n_victims);
        answer_add(e, "lost_core_seconds", NULL, "%lld", (long long)lost_s);
    }
    for (int i = EXCLUDED_NONE + 1; i < EXCLUDED_COUNT_OF; i++)
        if (x->counts[i])
            answer_add(e, "spared", exclusion_word((enum exclusion)i), "%zu", x->counts[i]);
}

/* Name the terms of the price by which victims are chosen, the most important first. */
static void add_price(struct answer_entry *e, const struct cluster *cl, const struct explanation *x)
{
    long long lost_s = (long long)x->price_s;

    if (x->n_victims == 0)
        return;
    switch (cluster_policy(cl)->preempt_sort) {
    case PREEMPT_LEAST:
        answer_add(e, "price", NULL, "least_lost_work: %lld core-seconds lost, then %zu victims", lost_s,
                   x->n_victims);
        break;
    case PREEMPT_FEWEST:
        answer_add(e, "price", NULL, "fewest_jobs: %zu victims, then %lld core-seconds lost", x->n_victims,
                   lost_s);
        break;
    case PREEMPT_LATEST:
        add_text(e, "price", NULL, "min_time_since_start: the one that started last, whatever is lost");
        break;
    case PREEMPT_SORT_COUNT:
        break;
    }
}

/* When and where it is expected, and how many jobs and reservations that rests on. */
static void add_expected(struct answer_entry *e, const struct cluster *cl, const struct forecast *f)
{
    static const char *const kinds[FORECAST_KIND_COUNT] = {
        [FORECAST_RUNS] = "holder", [FORECAST_BEFORE] = "before", [FORECAST_RESV] = "reservation"};

    if (f->at_s) {
        char *where = placement_text(cl, &f->where);
        answer_add(e, "expected", NULL, "%lld", (long long)f->at_s);
        add_text(e, "expected_vnode", NULL, where);
        free(where);
        if (f->alone_s && f->alone_s < f->at_s)
            answer_add(e, "expected_alone", NULL, "%lld", (long long)f->alone_s);
    } else
        add_text(e, "no_expectation", NULL, forecast_unknown_text(f->unknown));
    if (f->is_top)
        add_text(e, "topjob", NULL, "True");
    if (job_lasts_s(f->job) < JOB_FOREVER_S)
        answer_add(e, "lasts", NULL, "%lld", (long long)job_lasts_s(f->job));
    if (f->n_before) {
        answer_add(e, "jobs_before", NULL, "%zu", f->n_before);
        answer_add(e, "jobs_planned", NULL, "%zu", f->n_planned);
    }
    for (int i = 0; i < FORECAST_KIND_COUNT; i++)
        if (f->n_of[i])
            answer_add(e, "rests_on", kinds[i], "%zu", f->n_of[i]);
}

/* The first entry: the verdict and everything that is said once. */
static void add_job(struct list *l, const struct cluster *cl, const struct explanation *x,
                    const struct forecast *f, const char *name)
{
    struct answer_entry e = entry_add(l, name);

    add_text(&e, "verdict", NULL, explain_word(x->verdict));
    answer_add(&e, "job_state", NULL, "%c", x->job->state);
    add_text(&e, "queue", NULL, x->job->queue_name);
    answer_add(&e, "level", NULL, "%d", x->level);
    if (x->verdict == EXPLAIN_WOULD_RUN || x->verdict == EXPLAIN_WOULD_PREEMPT) {
        char *where = placement_text(cl, &x->where);
        add_text(&e, "exec_vnode", NULL, where);
        free(where);
    }
    add_reasons(&e, x);
    add_self(&e, &x->self);
    add_sums(&e, x);
    add_price(&e, cl, x);
    if (f)
        add_expected(&e, cl, f);
}

/* --- the others ------------------------------------------------------------------------------------------ */

/* Its place in the order of victims, its methods, and when it could be back. */
static void add_victim(struct list *l, const struct victim_method *s, size_t number)
{
    struct answer_entry e = entry_add(l, s->job->id);
    char letters[PREEMPT_LETTERS_MAX];

    add_text(&e, "role", NULL, "victim");
    answer_add(&e, "order", NULL, "%zu", number);
    add_text(&e, "queue", NULL, s->job->queue_name);
    if (s->method)
        answer_add(&e, "method", NULL, "%c", preempt_method_row(s->method)->letter);
    add_text(&e, "methods", NULL, preempt_methods_format(&s->methods, letters));
    answer_add(&e, "lost_core_seconds", NULL, "%lld", (long long)s->lost_s);
    if (s->back_s == VICTIM_NEVER_BACK)
        add_text(&e, "back", NULL, "never");
    else if (s->back_s)
        answer_add(&e, "back", NULL, "%lld", (long long)s->back_s);
}

/* Why this running job would not give way. */
static void add_spared(struct list *l, const struct explain_excluded *s)
{
    struct answer_entry e = entry_add(l, s->job->id);

    add_text(&e, "role", NULL, "spared");
    add_text(&e, "queue", NULL, s->job->queue_name);
    add_text(&e, "why", NULL, exclusion_word(s->why));
    add_text(&e, "reason", NULL, exclusion_sentence(s->why));
    if (s->until_s)
        answer_add(&e, "until", NULL, "%lld", (long long)s->until_s);
    if (s->why == EXCLUDED_NEEDLESS)
        answer_add(&e, "lost_core_seconds", NULL, "%lld", (long long)s->price_s);
}

/* --- what the time rests on, and where it was looked for ---------------------------------------------------- */

/* One of the jobs or reservations that the expected time rests on. */
static void add_ground(struct list *l, const struct forecast_item *x)
{
    struct answer_entry e = entry_add(l, x->job ? x->job->id : x->resv->id);

    add_text(&e, "role", NULL,
             x->kind == FORECAST_RUNS     ? "holder"
             : x->kind == FORECAST_BEFORE ? "before"
                                          : "reservation");
    if (x->job)
        add_text(&e, "queue", NULL, x->job->queue_name);
    if (x->from_s)
        answer_add(&e, "begins", NULL, "%lld", (long long)x->from_s);
    if (!x->is_open)
        answer_add(&e, "ends", NULL, "%lld", (long long)x->until_s);
    if (x->kind == FORECAST_RUNS && x->job->on.n && x->job->on.a[0].node) {
        add_text(&e, "vnode", NULL, x->job->on.a[0].node->name);
        answer_add(&e, "parts", NULL, "%u", x->job->on.n);
    }
}

/* A group of vnodes; its entry has the name of the first. */
static void add_vnodes(struct list *l, const struct cluster *cl, const struct refusal *x, bool has_chunks)
{
    struct answer_entry e = entry_add(l, x->nodes[0]->name);
    char text[REASON_TEXT_MAX], number[32];

    add_text(&e, "role", NULL, "vnodes");
    answer_add(&e, "count", NULL, "%zu", x->n);
    for (size_t i = 0; i < x->n && i < REFUSAL_NAMES_MAX; i++) {
        snprintf(number, sizeof number, "%zu", i + 1);
        add_text(&e, "vnode", number, x->nodes[i]->name);
    }
    if (has_chunks && x->chunk->text)
        answer_add(&e, "chunk", NULL, "%s", x->chunk->text);
    if (x->why.code == REASON_NONE) {
        answer_add(&e, "room", NULL, "%lld", (long long)x->times);
        return;
    }
    add_text(&e, "reason", NULL, reason_log(&x->why, text));
    if (x->why.res != RES_NONE)
        add_text(&e, "resource", NULL, catalogue_get(cluster_catalogue(cl), x->why.res)->name);
    if (x->why.never)
        add_text(&e, "never", NULL, "True");
}

static void add_forecast(struct list *l, const struct cluster *cl, const struct forecast *f)
{
    for (size_t i = 0; i < f->n_items; i++)
        add_ground(l, &f->items[i]);
    for (size_t i = 0; i < f->refusals.n; i++)
        add_vnodes(l, cl, &f->refusals.a[i], f->request->n > 1);
}

/* Jobs that are nearest to being stopped come first. */
static int answer_by_interest(const void *a, const void *b)
{
    const struct explain_excluded *x = a, *y = b;

    if (x->why != y->why)
        return x->why > y->why ? -1 : 1;
    return strverscmp(x->job->id, y->job->id);
}

struct batch_status *answer_create(const struct cluster *cl, struct explanation *x, const struct forecast *f,
                                   const char *name)
{
    struct list l = {.end = &l.first};

    add_job(&l, cl, x, f, name);
    if (f)
        add_forecast(&l, cl, f);
    for (size_t i = 0; i < x->n_victims && i < ANSWER_VICTIMS_MAX; i++)
        add_victim(&l, &x->victims[i], i + 1);
    if (x->n_excluded)
        qsort(x->excluded, x->n_excluded, sizeof *x->excluded, answer_by_interest);
    for (size_t i = 0; i < x->n_excluded && i < ANSWER_SPARED_MAX; i++)
        add_spared(&l, &x->excluded[i]);
    return l.first;
}

/* --- a reservation --------------------------------------------------------------------------------------- */

/* Why no cycle looks at it yet. */
static void answer_resv_aside(struct answer_entry *e, const struct cluster *cl, const struct resv *r,
                              int64_t now_s)
{
    size_t n = 0;
    char number[8];
    time_t at = (time_t)r->retry_s;
    char when[32] = "";

    if (!cluster_policy(cl)->scheduling) {
        snprintf(number, sizeof number, "%zu", ++n);
        add_text(e, "not_yet", number, "scheduling is off");
    }
    if (r->state == RESV_IS_UNCONFIRMED && r->is_asked) {
        snprintf(number, sizeof number, "%zu", ++n);
        add_text(e, "not_yet", number, "this scheduler has answered, the server has not decided");
    }
    if (r->retry_s > now_s && ctime_r(&at, when)) {
        when[strcspn(when, "\n")] = '\0';
        snprintf(number, sizeof number, "%zu", ++n);
        answer_add(e, "not_yet", number, "it is tried again at %s", when);
    }
}

static void answer_resv_place(struct answer_entry *e, const struct cluster *cl,
                              const struct confirm_answer *x)
{
    char *where = confirm_text(cl, x);

    add_text(e, "exec_vnode", NULL, where);
    answer_add(e, "begins", NULL, "%lld", (long long)x->times[0].from_s);
    free(where);
}

static void answer_resv_lack(struct answer_entry *e, const struct resv *r, const struct confirm_answer *x)
{
    char text[REASON_TEXT_MAX];

    add_text(e, "in_the_way", "1", reason_log(&x->why, text));
    if (x->why.never)
        add_text(e, "never", NULL, "True");
    if (x->n > 1) {
        answer_add(e, "occurrence", NULL, "%lld", (long long)(r->index + (int64_t)x->failed));
        answer_add(e, "occurrence_begins", NULL, "%lld", (long long)resv_starts_s(r, x->failed));
    }
    if (x->could_s)
        answer_add(e, "could_begin", NULL, "%lld", (long long)x->could_s);
}

/* One entry: what a cycle would decide about the reservation, or what has been decided. */
struct batch_status *answer_resv_create(const struct cluster *cl, const struct resv *r,
                                        const struct confirm_answer *x, int64_t now_s)
{
    struct list l = {.end = &l.first};
    struct answer_entry e = entry_add(&l, r->id);
    bool needs = resv_needs_vnodes(r, INT64_MAX) || (r->state == RESV_IS_UNCONFIRMED && r->n_times == 0);

    add_text(&e, "verdict", NULL, !needs ? "confirmed" : x->times ? "would_confirm" : "unconfirmed");
    answer_add(&e, "reserve_state", NULL, "%lld", (long long)r->state);
    if (r->queue_name)
        add_text(&e, "queue", NULL, r->queue_name);
    if (!needs && (r->sequence || r->nodes))
        add_text(&e, "exec_vnode", NULL, r->sequence ? r->sequence : r->nodes);
    if (!needs)
        return l.first;
    answer_resv_aside(&e, cl, r, now_s);
    if (*x->no_preemption)
        add_text(&e, "no_preemption", NULL, x->no_preemption);
    if (x->times)
        answer_resv_place(&e, cl, x);
    else
        answer_resv_lack(&e, r, x);
    return l.first;
}
