/* Reservations that need vnodes: new ones, altered ones, and those that have lost some. See cycle_resv.h.
 *
 * They are placed before any job, altered ones first, then in the order in which they were asked for. What
 * is found is kept for a reservation at once, so the next one and all jobs of the cycle see it as promised.
 *
 * A reservation is left alone between the decision and what the stream shows of it (resv->is_asked). */
#include "cycle_resv.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "confirm.h"
#include "log.h"
#include "mem.h"
#include "pbs_error.h"
#include "cluster_resvs.h"
#include "cycle_state.h"
#include "cycle_preempt.h"
#include "cycle_decide.h"

/* How long a reservation is left alone whose confirmation the server refused: it saw more than this scheduler. A choice. */
enum { AGAIN_S = 5 };

/* A reservation without a partition may be confirmed by any scheduler; then it belongs to that scheduler. */
static bool is_ours(const struct cycle *c, const struct resv *r)
{
    const char *partition = r->partition && strcmp(r->partition, "pbs-default") != 0 ? r->partition : "";

    return !r->partition || strcmp(partition, cluster_policy(c->cl)->partition) == 0;
}

/* O(reservations), in each question for news; most have their vnodes and cost a look at two fields. */
bool cycle_resv_is_due(const struct cycle *c, int64_t now_s)
{
    for (const struct resv *r = cluster_next_resv(c->cl, NULL); r; r = cluster_next_resv(c->cl, r))
        if (is_ours(c, r) && resv_needs_vnodes(r, now_s))
            return true;
    return false;
}

int64_t cycle_resv_wakes_s(const struct cycle *c)
{
    int64_t first_s = 0;

    for (const struct resv *r = cluster_next_resv(c->cl, NULL); r; r = cluster_next_resv(c->cl, r)) {
        int64_t at_s = r->again_s > r->retry_s ? r->again_s : r->retry_s;
        if (at_s && is_ours(c, r) && resv_needs_vnodes(r, INT64_MAX) && (!first_s || at_s < first_s))
            first_s = at_s;
    }
    return first_s;
}

static int by_urgency(const void *a, const void *b)
{
    const struct resv *x = *(struct resv *const *)a, *y = *(struct resv *const *)b;
    bool x_first = x->state == RESV_IS_ALTERED, y_first = y->state == RESV_IS_ALTERED;

    if (x_first != y_first)
        return x_first ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Those that are due, by urgency; NULL where there are none. The caller frees. */
static struct resv **list_resvs(const struct cycle *c, size_t *n)
{
    struct resv **list = NULL;
    size_t cap = 0;

    *n = 0;
    for (struct resv *r = cluster_next_resv(c->cl, NULL); r; r = cluster_next_resv(c->cl, r))
        if (is_ours(c, r) && resv_needs_vnodes(r, c->now_s)) {
            list = mem_room(list, *n, &cap, sizeof *list);
            list[(*n)++] = r;
        }
    if (*n)
        qsort(list, *n, sizeof(struct resv *), by_urgency);
    return list;
}

/* PBS's words differ between one that never had vnodes and one that has lost some. */
static void say_failed(struct cycle *c, const struct resv *r, const struct reason *why)
{
    bool is_new = r->state == RESV_IS_UNCONFIRMED || r->state == RESV_IS_ALTERED;
    char text[REASON_TEXT_MAX];

    decisions_log(c->d, LOGE_SCHED, r->id, "%s: %s",
                  is_new ? "PBS Failed to confirm resv" : "Reservation Failed to Reconfirm",
                  reason_log(why, text));
    if (!is_new)
        decisions_log(c->d, LOGE_SCHED, r->id, "Reservation is in degraded mode");
}

/* The occurrence that has no room, or the time at which it would have, where that is known. */
static void deny(struct cycle *c, struct resv *r, const struct confirm_answer *x)
{
    char text[REASON_TEXT_MAX], told[REASON_TEXT_MAX + CONFIRM_TEXT_MAX + 64];

    say_failed(c, r, &x->why);
    if (x->n > 1)
        snprintf(told, sizeof told, "%s, in occurrence %lld of %lld", reason_log(&x->why, text),
                 (long long)(r->index + (int64_t)x->failed), (long long)r->count);
    else
        snprintf(told, sizeof told, "%s%s%s", reason_log(&x->why, text), *x->no_preemption ? "; " : "",
                 x->no_preemption);
    decisions_add(c->d, DECIDE_DENY, r->id, told)->at_s = x->could_s;
    cluster_resv_promise(c->cl, r, NULL, 0);
}

/* PBS logs the number always, and each occurrence at the level of debugging only. */
static void say_occurrences(struct cycle *c, const struct resv *r, const struct confirm_answer *x)
{
    decisions_log(c->d, LOGE_SCHED, r->id, "Confirming %zu Occurrences", x->n);
    for (size_t i = 0; x->n > 1 && i < x->n && log_is_on(LOGE_DEBUG2); i++) {
        time_t at = (time_t)x->times[i].from_s;
        struct tm tm;
        char when[32] = "";
        if (localtime_r(&at, &tm))
            strftime(when, sizeof when, "%Y%m%d-%H:%M:%S", &tm);
        decisions_log(c->d, LOGE_DEBUG2, r->id, "Occurrence %zu/%zu,%s", i + 1, x->n, when);
    }
}

/* The decision, then the room. One that had vnodes before has given some of them up by now, so what is kept
 * is made again as a whole; a new one only adds. */
static void confirm(struct cycle *c, struct resv *r, struct confirm_answer *x)
{
    char *text = confirm_text(c->cl, x);
    bool had = r->n_times > 0; /* vnodes that it may give up */
    struct decision *d;

    say_occurrences(c, r, x);
    d = decisions_add(c->d, DECIDE_CONFIRM, r->id, text);
    d->at_s = r->is_asap ? x->times[0].from_s : 0;
    d->why = *x->no_preemption ? mem_text(x->no_preemption) : NULL;
    if (d->why)
        decisions_log(c->d, LOGE_SCHED, r->id, "It does not begin now: %s", x->no_preemption);
    free(text);
    cluster_resv_promise(c->cl, r, x->times, x->n);
    x->times = NULL;
    if (had)
        keeps_make(c->keeps, c->now_s, c->until_s);
    else
        keeps_added(c->keeps, r);
}

static void try_one(struct cycle *c, struct resv *r, int64_t now_s, int64_t until_s,
                    struct confirm_answer *out)
{
    confirm_try(&(struct confirm_ask){.cl = c->cl,
                                      .trial = c->trial,
                                      .placer = c->placer,
                                      .buckets = c->buckets,
                                      .keeps = c->keeps,
                                      .resv = r,
                                      .now_s = now_s,
                                      .until_s = until_s},
                out);
}

/* --- as soon as possible, in the room of others -------------------------------------------------------------- */

/* How often it is looked whether its job has begun, or has not: the server confirms it in the first case. A choice. */
enum { LOOK_S = 2 };

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The job of an ASAP reservation, if the site lets others give way to it. */
static struct job *job_of_asap(const struct cycle *c, const struct resv *r)
{
    bool may = cluster_policy(c->cl)->preempt_for_resv && r->is_asap && r->of_job;

    return may ? cluster_job(c->cl, r->of_job) : NULL;
}

/* Why no job may give way to the job of this reservation, whatever runs; NULL: some may. */
static const char *asap_bar(const struct cycle *c, const struct resv *r, const struct job *j)
{
    if (!j->queue || !preempt_rules_is_express(&j->queue->preempt, &cluster_policy(c->cl)->preempt))
        return "its queue is not an express queue";
    if (j->is_array || !same_text(j->select, r->select) || !same_text(j->place, r->place))
        return "it asks for other vnodes than the reservation";
    return j->class && cycle_decide_may_run(j) ? NULL : "it is not one that may be run now";
}

static bool is_on_its_way(const struct job *j)
{
    return j->order != ORDER_NONE || j->sched_state == SCHED_STATE_AWAITING_ROOM;
}

/* The sentence that people read, of its second half. */
static void asap_say(struct confirm_answer *x, const struct job *j, const char *why)
{
    if (*why)
        snprintf(x->no_preemption, sizeof x->no_preemption, "no job gives way to job %s: %s", j->id, why);
}

/* Does an ASAP reservation's job begin in the room of others, and the reservation with it? Then nothing is
 * to be confirmed here. Not where the reservation itself could begin now: that stops no job. The job's
 * preemption is begun if it is not under way, and looked after again in LOOK_S; where it is refused the answer says why. */
static bool goes_to_its_job(struct cycle *c, struct resv *r, struct confirm_answer *x)
{
    struct job *j = job_of_asap(c, r);
    bool is_under_way = j && is_on_its_way(j);
    char refused[REASON_TEXT_MAX];

    if (!j || (x->times && x->times[0].from_s <= c->now_s && !is_under_way))
        return false;
    const char *bar = is_under_way ? NULL : asap_bar(c, r, j);
    if (bar || (!is_under_way && !cycle_preempt_for(c, j, refused, sizeof refused))) {
        asap_say(x, j, bar ? bar : refused);
        return false;
    }
    if (!is_under_way)
        decisions_log(c->d, LOGE_SCHED, r->id, "Others give way to job %s, with which it will begin", j->id);
    r->again_s = c->now_s + LOOK_S;
    return true;
}

/* The same question between cycles, with no answer but the sentence. */
static void asap_explain(struct cycle *c, const struct resv *r, int64_t now_s, struct confirm_answer *x)
{
    struct job *j = job_of_asap(c, r);
    char refused[REASON_TEXT_MAX];

    if (!j || (x->times && x->times[0].from_s <= now_s) || is_on_its_way(j))
        return;
    const char *bar = asap_bar(c, r, j);
    if (!bar)
        cycle_preempt_why_not(c, j, now_s, refused, sizeof refused);
    asap_say(x, j, bar ? bar : refused);
}

void cycle_resv_confirm(struct cycle *c)
{
    size_t n;
    struct resv **list = list_resvs(c, &n);

    if (n > 0)
        keeps_make(c->keeps, c->now_s, c->until_s);
    for (size_t i = 0; i < n; i++) {
        struct confirm_answer x;
        try_one(c, list[i], c->now_s, c->until_s, &x);
        if (goes_to_its_job(c, list[i], &x))
            keeps_make(c->keeps, c->now_s, c->until_s); /* what its victims have ends sooner */
        else if (x.times)
            confirm(c, list[i], &x);
        else
            deny(c, list[i], &x);
        confirm_fini(&x);
    }
    free(list);
}

void cycle_resv_answered(struct cycle *c, const char *id, bool found, int code, const char *text,
                         struct decisions *d)
{
    struct resv *r = cluster_resv(c->cl, id);

    if (code != 0)
        decisions_log(d, LOGE_SCHED, id, "PBS Failed to confirm resv: %s (%d)", text, code);
    else if (found)
        decisions_log(d, LOGE_SCHED, id, "Reservation Confirmed");
    if (!r || !r->is_asked)
        return;
    cluster_resv_answered(c->cl, r, code == 0 ? 0 : c->now_s + AGAIN_S);
    if (code == PBSE_RESV_NOT_EMPTY && r->state != RESV_IS_UNCONFIRMED) { /* not before its retry time */
        struct confirm_answer x = {.n = 0};
        c->d = d;
        reason_set(&x.why, REASON_RESV_JOBS, NULL, NULL);
        deny(c, r, &x);
    }
}

void cycle_resv_explain(struct cycle *c, struct resv *r, int64_t now_s, struct confirm_answer *out)
{
    keeps_make(c->keeps, now_s, INT64_MAX);
    try_one(c, r, now_s, INT64_MAX, out);
    asap_explain(c, r, now_s, out);
}
