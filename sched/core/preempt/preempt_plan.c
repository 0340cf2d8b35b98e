/* One row for each urgent job, by id; orders themselves are kept in the cluster: ORDER_STOP on the victims,
 * ORDER_AWAITS on the job. Its room has two parts. What victims still hold comes free by itself; what is free
 * already is reserved before each cycle, or another job would start there. As victims go, the one becomes
 * the other.
 *
 * A row outlives its round: failures and the number of rounds are remembered until the job runs or goes. The
 * answer to a call and the stream of changes race, and either may be first: an order whose effect is seen
 * already is dropped, the other one is marked as taken and ends with the victim's next change.
 *
 * `watched` is for the log only: the victims that the server was asked to stop in a whole plan, until the stream shows
 * what came of it. */
#include "preempt_plan.h"

#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "log.h"
#include "mem.h"
#include "cluster_order.h"

/* A victim of the round under way. */
struct preempt_plan_victim {
    const char *id; /* interned */
    bool answered, stopped;
};

/* A victim of any round that has not given way. */
struct preempt_plan_failure {
    const char *id; /* interned */
    int64_t at_s;
};

struct watched {    /* of a plan that the server carries out */
    const char *id; /* interned */
    bool is_victim;
};

struct preempt_plan {
    const char *urgent; /* interned */
    struct preempt_plan_victim *victims;
    size_t n, cap, next;                 /* next: the one whose answer is expected */
    struct preempt_plan_failure *failed; /* of all rounds */
    size_t n_failed, cap_failed;
    int rounds;
    bool under_way; /* a round: victims are being stopped, and the job awaits them */
    UT_hash_handle hh;
};

struct plans {
    struct cluster *cl;
    struct preempt_plan *all;
    struct watched *watched;
    size_t n_watched, cap_watched;
};

struct plans *plans_create(struct cluster *cl)
{
    struct plans *p = mem_new(1, sizeof *p);

    p->cl = cl;
    return p;
}

static void forget_victims(struct preempt_plan *x)
{
    for (size_t i = 0; i < x->n; i++)
        intern_unref(x->victims[i].id);
    x->n = x->next = 0;
}

static void preempt_plan_drop(struct plans *p, struct preempt_plan *x)
{
    HASH_DEL(p->all, x);
    forget_victims(x);
    for (size_t i = 0; i < x->n_failed; i++)
        intern_unref(x->failed[i].id);
    intern_unref(x->urgent);
    free(x->victims);
    free(x->failed);
    free(x);
}

void plans_clear(struct plans *p)
{
    for (struct preempt_plan *x = p->all, *next; x; x = next) {
        next = x->hh.next;
        preempt_plan_drop(p, x);
    }
    while (p->n_watched > 0)
        intern_unref(p->watched[--p->n_watched].id);
}

void plans_destroy(struct plans *p)
{
    if (!p)
        return;
    plans_clear(p);
    free(p->watched);
    free(p);
}

static struct preempt_plan *preempt_plan_find(const struct plans *p, const char *urgent)
{
    struct preempt_plan *x;

    HASH_FIND_STR(p->all, urgent, x);
    return x;
}

/* What is missing when the victims' own room is set aside for the job: that must come from what is free. */
static void keep_room(struct plans *p, const struct preempt_plan *x, struct job *urgent)
{
    struct allocation rest = {0};

    allocation_copy(&rest, &urgent->claim);
    size_t *next = allocation_index(&rest);
    for (size_t i = 0; i < x->n; i++) {
        const struct job *v = cluster_job(p->cl, x->victims[i].id);
        if (v && job_holds_nodes(v))
            allocation_lessen(&rest, next, job_freed(v));
    }
    allocation_unindex(&rest, next);
    cluster_order_reserve(p->cl, urgent, &rest);
    allocation_fini(&rest);
}

void plans_begin(struct plans *p, struct job *urgent, const struct candidates *victims,
                 const struct allocation *where)
{
    struct preempt_plan *x = preempt_plan_find(p, urgent->id);

    if (!x) {
        x = mem_new(1, sizeof *x);
        x->urgent = mem_intern(urgent->id);
        HASH_ADD_KEYPTR(hh, p->all, x->urgent, strlen(x->urgent), x);
    }
    x->rounds++;
    x->under_way = true;
    for (size_t i = 0; i < victims->n; i++) {
        x->victims = mem_room(x->victims, x->n, &x->cap, sizeof *x->victims);
        x->victims[x->n++] = (struct preempt_plan_victim){.id = mem_intern(victims->a[i]->id)};
        cluster_order(p->cl, victims->a[i], ORDER_STOP, NULL);
    }
    cluster_order(p->cl, urgent, ORDER_AWAITS, where);
    keep_room(p, x, urgent);
}

/* The job of this plan, if it still waits for the room: a job that runs, is held or has gone by other means
 * needs it no more, and its order ends here. */
static struct job *urgent_of(const struct plans *p, const struct preempt_plan *x)
{
    struct job *j = cluster_job(p->cl, x->urgent);

    if (!j || j->order != ORDER_AWAITS)
        return NULL;
    if (j->sched_state == SCHED_STATE_WAITING || j->sched_state == SCHED_STATE_SUSPENDED)
        return j;
    cluster_order_drop(p->cl, j);
    return NULL;
}

/* A row without a round stays for what it remembers, as long as its job is there. */
void plans_refresh(struct plans *p)
{
    for (struct preempt_plan *x = p->all, *next; x; x = next) {
        next = x->hh.next;
        struct job *j = x->under_way ? urgent_of(p, x) : NULL;
        if (j)
            keep_room(p, x, j);
        if (!x->under_way && !cluster_job(p->cl, x->urgent))
            preempt_plan_drop(p, x);
    }
}

/* Answers come in the order in which the victims were named, so the next one is looked at first. */
static struct preempt_plan_victim *preempt_plan_victim(struct preempt_plan *x, const char *id)
{
    for (size_t i = 0; i < x->n; i++) {
        size_t at = (x->next + i) % x->n;
        if (strcmp(x->victims[at].id, id) != 0)
            continue;
        x->next = at + 1;
        return &x->victims[at];
    }
    return NULL;
}

void plans_result(struct plans *p, const char *urgent, const char *victim, bool stopped)
{
    struct preempt_plan *x = preempt_plan_find(p, urgent);
    struct job *v = cluster_job(p->cl, victim);

    struct preempt_plan_victim *w = x ? preempt_plan_victim(x, victim) : NULL;

    if (w) {
        w->answered = true;
        w->stopped = stopped;
    }
    if (!v || v->order != ORDER_STOP)
        return;
    /* The answer may be ahead of the stream: until that shows it stopped, no other job may pick it. */
    if (stopped && v->sched_state == SCHED_STATE_RUNNING)
        cluster_order_taken(v);
    else
        cluster_order_drop(p->cl, v);
}

/* Victims that the answer does not name have not stopped. Returns how many failed. */
static size_t note_failures(struct plans *p, struct preempt_plan *x, int64_t now_s)
{
    size_t before = x->n_failed;

    for (size_t i = 0; i < x->n; i++) {
        struct job *v = cluster_job(p->cl, x->victims[i].id);
        if (v && v->order == ORDER_STOP && !v->answered)
            cluster_order_drop(p->cl, v);
        if (x->victims[i].answered && x->victims[i].stopped)
            continue;
        x->failed = mem_room(x->failed, x->n_failed, &x->cap_failed, sizeof *x->failed);
        x->failed[x->n_failed++] = (struct preempt_plan_failure){intern_again(x->victims[i].id), now_s};
    }
    return x->n_failed - before;
}

enum plan_outcome plans_end(struct plans *p, const char *urgent, int64_t now_s)
{
    struct preempt_plan *x = preempt_plan_find(p, urgent);

    if (!x)
        return PLAN_LOST;
    size_t n_failed = note_failures(p, x, now_s);
    struct job *j = urgent_of(p, x);
    int rounds = x->rounds;
    x->under_way = false;
    forget_victims(x);
    if (!j || n_failed == 0) {
        preempt_plan_drop(p, x);
        return j ? PLAN_READY : PLAN_LOST;
    }
    cluster_order_drop(p->cl, j);
    if (rounds < PLAN_ROUNDS_MAX)
        return PLAN_AGAIN;
    preempt_plan_drop(p, x);
    return PLAN_OVER;
}

int64_t plans_victim_again_s(const struct job *victim)
{
    int more = victim->preempt_failures - 1;

    if (!victim->preempt_failed_s)
        return 0;
    more = more < 0 ? 0 : more > PLAN_DOUBLINGS ? PLAN_DOUBLINGS : more;
    return victim->preempt_failed_s + ((int64_t)PLAN_FORGET_S << more);
}

/* The newest entry of a victim counts, so from the end. */
bool plans_has_failed(const struct plans *p, const char *urgent, const char *victim, int64_t now_s)
{
    const struct preempt_plan *x = preempt_plan_find(p, urgent);

    for (size_t i = x ? x->n_failed : 0; i > 0; i--)
        if (strcmp(x->failed[i - 1].id, victim) == 0)
            return now_s < x->failed[i - 1].at_s + PLAN_FORGET_S;
    return false;
}

void plans_forget(struct plans *p, const char *urgent)
{
    struct preempt_plan *x = preempt_plan_find(p, urgent);

    if (x)
        preempt_plan_drop(p, x);
}

/* --- plans that the server carries out ---------------------------------------------------------------- */

static void watch(struct plans *p, const char *id, bool is_victim)
{
    p->watched = mem_room(p->watched, p->n_watched, &p->cap_watched, sizeof *p->watched);
    p->watched[p->n_watched++] = (struct watched){mem_intern(id), is_victim};
}

/* The order of a job ends with what the stream shows. The answer may come before that, or after; then
 * nothing of it need be left to be seen, as the plan may have been undone at once: job->heard says that the
 * job was heard of meanwhile. */
static void order_seen(struct plans *p, struct job *j, bool is_seen)
{
    if (is_seen || j->heard)
        cluster_order_drop(p->cl, j);
    else
        cluster_order_taken(j);
}

/* From here on the server keeps the room (room_held, gives_way); orders of this scheduler only bridge the
 * time until the stream shows it. */
void plans_taken(struct plans *p, const char *urgent)
{
    struct preempt_plan *x = preempt_plan_find(p, urgent);
    struct job *j = cluster_job(p->cl, urgent);

    for (size_t i = 0; x && i < x->n; i++) {
        struct job *v = cluster_job(p->cl, x->victims[i].id);
        watch(p, x->victims[i].id, true);
        if (v && v->order == ORDER_STOP)
            order_seen(p, v, v->gives_way || v->sched_state != SCHED_STATE_RUNNING);
    }
    watch(p, urgent, false);
    if (j && j->order == ORDER_AWAITS)
        order_seen(p, j, j->sched_state != SCHED_STATE_WAITING);
    if (x)
        preempt_plan_drop(p, x);
}

void plans_refused(struct plans *p, const char *urgent)
{
    struct preempt_plan *x = preempt_plan_find(p, urgent);
    struct job *j = cluster_job(p->cl, urgent);

    for (size_t i = 0; x && i < x->n; i++) {
        struct job *v = cluster_job(p->cl, x->victims[i].id);
        if (v && v->order == ORDER_STOP)
            cluster_order_drop(p->cl, v);
    }
    if (j && j->order == ORDER_AWAITS)
        cluster_order_drop(p->cl, j);
    if (x)
        preempt_plan_drop(p, x);
}

/* The method of the last preemption, if such a one leaves the job in the state in which it is; else the usual one. */
static const struct preempt_method_row *method_that(const struct job *j, enum preempt_after after,
                                                    enum method_id usual)
{
    const struct preempt_method_row *row = preempt_method_row(preempt_result_method(j->preempt_method));

    return row->after == after ? row : preempt_method_row(usual);
}

/* What the stream shows of a watched job. */
struct outcome {
    const char *text;                    /* "": nothing is to be said; NULL: nothing has come of it yet */
    const struct preempt_method_row *by; /* instead of text: the job was preempted by this method */
};

/* The urgent job runs; or it is gone or waits again, because the plan was undone. */
static struct outcome outcome_of_urgent(const struct job *j)
{
    if (!j || j->sched_state == SCHED_STATE_WAITING)
        return (struct outcome){.text = ""};
    return (struct outcome){.text = job_holds_nodes(j) ? "Job run" : NULL};
}

/* A victim is in one of the states that a method leaves it in, runs on because no method was left, or runs on untouched.
 * {0}: not decided yet. */
static struct outcome outcome_of_victim(const struct job *j)
{
    if (!j)
        return (struct outcome){.by = preempt_method_row(METHOD_DELETE)};
    if (j->order == ORDER_STOP || j->gives_way)
        return (struct outcome){0};
    switch (j->sched_state) {
    case SCHED_STATE_SUSPENDED:
        return (struct outcome){.by = method_that(j, AFTER_SUSPENDED, METHOD_SUSPEND)};
    case SCHED_STATE_RUNNING:
        return (struct outcome){.text = j->preempt_failed_s ? "Job failed to be preempted" : ""};
    case SCHED_STATE_WAITING:
    case SCHED_STATE_AWAITING_ROOM:
    case SCHED_STATE_OTHER:
        return (struct outcome){.by = method_that(j, AFTER_QUEUED, METHOD_REQUEUE)};
    case SCHED_STATE_ENDING:
    case SCHED_STATE_STOPPED:
        break;
    }
    return (struct outcome){0};
}

/* O(watched jobs), a look each: they are as many as victims of plans that are not over. */
void plans_watch(struct plans *p, struct decisions *log)
{
    for (size_t i = p->n_watched; i > 0; i--) {
        struct watched *w = &p->watched[i - 1];
        const struct job *j = cluster_job(p->cl, w->id);
        struct outcome o = w->is_victim ? outcome_of_victim(j) : outcome_of_urgent(j);

        if (!o.text && !o.by)
            continue;
        if (o.by)
            decisions_log(log, LOGE_SCHED, w->id, "Job preempted by %s", o.by->noun);
        else if (*o.text)
            decisions_log(log, LOGE_SCHED, w->id, "%s", o.text);
        intern_unref(w->id);
        *w = p->watched[--p->n_watched];
    }
}
