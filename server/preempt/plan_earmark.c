/* A plan of a preemption, from PreemptRun to the start of the urgent job. The order, and why:
 *
 *   1 examine plan_draft_examine      the plan as a whole: a plan that is refused has changed nothing
 *   2 open    plan_earmark_open       row, links and timer of the earmark, since a victim may settle as soon as it begins
 *   3 victims plan_earmark_begin      each gives notice or starts its first method (victim.c), and its record says what it frees
 *   4 room    earmark_sums_put        after the victims: what they have yet to give back covers the earmark, only the rest is kept
 *   5 look    plan_earmark_look       at the end of the turn, and of each turn that may have brought the plan forward
 *   6 start   plan_earmark_try_start  the job claims the room before any other job can
 *     or undo plan_earmarks_undo      the victims that can, continue
 *
 * plan_earmarks_make takes steps 1 to 4; its caller answers when they are durable, so the scheduler does not wait for victims. All
 * that happens later (a victim settles, room is given back, the job moves, time is up) comes back in one way: look_later() asks
 * for a look at the end of the turn, and the look decides. So no decision is taken inside another part's change, and all that a
 * turn brought counts together. What happens in a look is in the same batch as what caused it: a crash finds either the
 * earmark or what became of it.
 *
 * The arithmetic is in plan_fit (before) and earmark_sums (after); what an earmark knows of its jobs is in earmark_links. */
#include "plan_earmark.h"

#include <stdlib.h>
#include <string.h>

#include "run_admission.h"
#include "commit.h"
#include "exec_vnode.h"
#include "earmark_sums.h"
#include "earmark_links.h"
#include "intern.h"
#include "job_fsm.h"
#include "job_run.h"
#include "log.h"
#include "loop.h"
#include "preempt_notice.h"
#include "pbs_error.h"
#include "plan_draft.h"
#include "plan_offer.h"
#include "release_nodes.h"
#include "run.h"
#include "server_ctx.h"
#include "strbuf.h"
#include "run_suspend.h"
#include "victim.h"
#include "words.h"

/* Choices. How long, in seconds, an earmark waits for room after all of its victims have given way: a vnode that was not heard of
 * yet may return it. After a start of the server its hosts connect first. TICK_MS is between two looks. */
enum { PATIENCE_S = 10, PATIENCE_AT_START_S = 60, TICK_MS = 500 };

struct plan_earmarks {
    struct plan_earmark_parts p;
};

struct earmark_plan {
    struct plan_earmarks *all;
    struct earmark_obj *earmark;
    struct loop_timer *timer;
    bool looking;           /* a look is due at the end of the turn */
    bool starting;          /* it is we who run the job */
    size_t at;              /* where room lacked last */
    int64_t patient_till_s; /* 0: victims are still giving way */
    struct err why;         /* code not 0: it is to be undone */
};

/* --- the order of steps ------------------------------------------------------------------------------ */

static int plan_earmark_open(struct plan_earmarks *all, const struct plan_draft *d, struct earmark_obj **out,
                             struct err *e);
static int plan_earmark_begin(struct plan_earmarks *all, struct earmark_obj *h, const struct plan_draft *d,
                              struct err *e);
static void plan_earmark_set_timer(struct earmark_plan *x);
static void look_later(struct earmark_plan *x);

int plan_earmarks_make(struct plan_earmarks *all, const struct plan_ask *ask, struct err *e)
{
    struct plan_draft d = {.ctx = all->p.ctx, .stop_methods = all->p.stop_methods, .ask = ask};
    struct earmark_obj *h = NULL;
    int rc = plan_draft_examine(&d, e);

    /* From here on it can only fail for lack of memory; then what was begun is undone like any earmark. */
    if (rc == 0)
        rc = plan_earmark_open(all, &d, &h, e);
    if (rc == 0)
        rc = plan_earmark_begin(all, h, &d, e);
    if (rc == 0)
        rc = earmark_sums_put(all->p.ctx, h, d.wants, d.n_wants, e);
    if (rc == 0) {
        log_event(LOGC_JOB, LOGE_JOB, h->obj.name, "Room is held on %s until %zu jobs have given way",
                  ask->location, d.n_victims);
        plan_earmark_set_timer(h->plan);
        look_later(h->plan);
    } else if (h)
        plan_earmarks_undo(all, h, e->text);
    plan_draft_fini(&d);
    return rc;
}

static bool plan_earmark_try_start(struct earmark_plan *x);
static bool is_too_late(const struct earmark_plan *x);
static void wait_a_little(struct earmark_plan *x);

/* Start, undo or wait. The start comes first: room that is there at the last moment is used. */
static void plan_earmark_look(void *arg)
{
    struct earmark_plan *x = arg;
    struct earmark_obj *h = x->earmark;

    x->looking = false;
    if (!x->why.code && earmark_sums_is_there(x->all->p.ctx, h, &x->at) && plan_earmark_try_start(x))
        return;
    if (!x->why.code && is_too_late(x))
        err_set(&x->why, PBSE_RESCUNAV, "the plan's time is over, and %zu jobs have not given way",
                h->n_victims);
    if (!x->why.code && h->n_victims == 0)
        wait_a_little(x);
    else if (server_ctx_now_s(x->all->p.ctx) >= x->patient_till_s)
        x->patient_till_s = 0;
    if (x->why.code)
        plan_earmarks_undo(x->all, h, x->why.text);
    else
        plan_earmark_set_timer(x);
}

/* --- life of a plan ------------------------------------------------------------------------------------ */

static void look_later(struct earmark_plan *x)
{
    if (x->looking)
        return;
    x->looking = loop_defer(x->all->p.loop, plan_earmark_look, x) == 0;
    if (!x->looking)
        loop_timer_set(x->timer, 0);
}

static void plan_earmark_time_is_up(void *arg)
{
    plan_earmark_look(arg);
}

static void plan_earmark_set_timer(struct earmark_plan *x)
{
    int64_t deadline_s = attr_list_number(&x->earmark->obj.attrs, HOLD_ATTR_deadline, 0);

    loop_timer_set(x->timer,
                   x->patient_till_s ? TICK_MS : (deadline_s - server_ctx_now_s(x->all->p.ctx)) * 1000);
}

static void plan_free(struct earmark_plan *x)
{
    loop_forget(x->all->p.loop, plan_earmark_look, x);
    loop_timer_destroy(x->timer);
    x->earmark->plan = NULL;
    free(x);
}

static void plan_earmark_close(struct plan_earmarks *all, struct earmark_obj *h)
{
    earmark_sums_drop(all->p.ctx, h);
    earmark_links_cut(all->p.ctx, h);
    if (h->plan)
        plan_free(h->plan);
    commit_drop_object(all->p.commit, h->obj.kind->name, h->obj.name);
    earmarks_remove(all->p.ctx->earmarks, h);
}

/* --- undoing, and letting go of victims ------------------------------------------------------------------ */

static void resume(struct plan_earmarks *all, struct job *j)
{
    struct err e;

    if (j->state != JOB_SUSPENDED || j->suspender != SUSPENDED_BY_SCHED)
        return; /* what an operator has suspended meanwhile, an operator resumes */
    if (run_admission_check(all->p.ctx, j, &e) < 0 ||
        run_suspend_resume(all->p.run_suspend, j, false, &e) < 0)
        log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name, "it cannot be resumed at once: %s", e.text);
}

/* Withdraw victims whose method has not started. The rest finish on their own and end in plan_earmark_victim_done(). */
static void plan_earmark_let_go(struct plan_earmarks *all, struct earmark_obj *h, const char *why)
{
    struct strbuf text; /* for those who read it at the victim's */

    strbuf_init(&text, 4096);
    strbuf_addf(&text, "no room is needed for job %s any more: %s", h->obj.name, why);
    for (size_t i = 0; i < h->n_victims; i++) {
        struct job *j = h->victims[i];

        j->gives_way_to = NULL;
        if (victims_withdraw(all->p.victims, j, all, strbuf_str(&text)))
            log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "does not have to give way to job %s after all",
                      h->obj.name);
    }
    strbuf_fini(&text);
}

/* Resume the jobs that were suspended for it and still are. */
static void resume_all(struct plan_earmarks *all, const struct words *victims, const char *urgent)
{
    for (size_t i = 0; i < victims->n; i++) {
        struct job *j = plan_draft_find(all->p.ctx, victims->w[i]);

        if (j && !j->preempt && j->preempted_by && strcmp(j->preempted_by, urgent) == 0)
            resume(all, j);
    }
}

void plan_earmarks_undo(struct plan_earmarks *all, struct earmark_obj *h, const char *why)
{
    const char *urgent = intern_ref(h->obj.name);
    struct words victims;

    log_event(LOGC_JOB, LOGE_JOB, h->obj.name, "Room is no longer held: %s", why);
    /* Collect the names first, since the links go with the earmark. No victim can continue before its room is back. */
    earmark_links_names(h, &victims);
    plan_earmark_let_go(all, h, why);
    plan_earmark_close(all, h);
    resume_all(all, &victims, urgent);
    words_fini(&victims);
    intern_unref(urgent);
}

/* --- starting ------------------------------------------------------------------------------------------ */

static bool was_altered(const struct earmark_obj *h)
{
    const char *then = attr_list_text(&h->obj.attrs, HOLD_ATTR_schedselect);
    const char *now = attr_list_text(&h->job->obj.attrs, JOB_ATTR_schedselect);

    return strcmp(then ? then : "", now ? now : "") != 0;
}

/* true: it runs, and the plan is gone. false: not yet, or x->why says why never. */
static bool plan_earmark_try_start(struct earmark_plan *x)
{
    struct plan_earmarks *all = x->all;
    struct earmark_obj *h = x->earmark;
    char by[300];
    struct run_ask ask = {.location = attr_list_text(&h->obj.attrs, HOLD_ATTR_exec_vnode),
                          .unlimited = attr_list_bool(&h->obj.attrs, HOLD_ATTR_by_request, false),
                          .by = by};
    struct err e = {0};
    int rc;

    if (was_altered(h)) {
        err_set(&x->why, PBSE_BADSTATE, "the job asks for something else now");
        return false;
    }
    if (run_admission_waits(h->job, &x->why) < 0)
        return false;
    snprintf(by, sizeof by, "Scheduler@%s", all->p.ctx->name);
    /* Changes that this claim causes need no look, and the earmarked room must not block its own job. */
    x->starting = true;
    earmark_sums_switch(all->p.ctx, h, false);
    rc = runs_start(all->p.runs, h->job, &ask, &e);
    earmark_sums_switch(all->p.ctx, h, true);
    x->starting = false;
    if (rc < 0) {
        log_event(LOGC_JOB, LOGE_DEBUG, h->obj.name, "the room that is held cannot be claimed yet: %s",
                  e.text);
        if (e.code != PBSE_RESCUNAV)
            x->why = e;
        return false;
    }
    plan_earmark_let_go(all, h, "it has started");
    plan_earmark_close(all, h);
    return true;
}

static bool is_too_late(const struct earmark_plan *x)
{
    return server_ctx_now_s(x->all->p.ctx) >= attr_list_number(&x->earmark->obj.attrs, HOLD_ATTR_deadline, 0);
}

/* All victims have given way, and it does not fit: a vnode of another job is not back yet, or never will be. */
static void wait_a_little(struct earmark_plan *x)
{
    int64_t now = server_ctx_now_s(x->all->p.ctx);

    if (!x->patient_till_s)
        x->patient_till_s = now + PATIENCE_S;
    else if (now >= x->patient_till_s)
        err_set(&x->why, PBSE_RESCUNAV, "all its victims have given way, and the room is not free yet");
}

/* --- what happens meanwhile ---------------------------------------------------------------------------- */

void plan_earmarks_on_room(void *arg, const struct server_event *ev)
{
    const struct earmark_obj *h = ev->earmark;

    if (h->plan && !h->plan->starting)
        look_later(h->plan);
}

/* The listener, for the job that the room is for. */
void plan_earmarks_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct earmark_plan *x = j->room ? j->room->plan : NULL;

    if (!x || x->starting || j->state == JOB_QUEUED)
        return;
    err_set(&x->why, PBSE_BADSTATE, "the job is %s", job_state_name(j->state));
    look_later(x);
}

static void plan_earmark_victim_done(void *arg, struct job *j, enum preempt_result r)
{
    struct plan_earmarks *all = arg;
    struct earmark_obj *h = j->gives_way_to;

    if (!h) { /* the job that it stopped for is over already: resume it where that is possible */
        if (r == PREEMPT_SUSPENDED)
            resume(all, j);
        return;
    }
    j->gives_way_to = NULL;
    job_ref(j);
    earmark_links_strike(h, j);
    earmark_sums_review_job(all->p.ctx, j);
    if (r == PREEMPT_FAILED)
        err_set(&h->plan->why, PBSE_BADSTATE, "job %s could not be made to give way", j->obj.name);
    job_unref(j);
    change_touch(all->p.ctx->change, &h->obj.change, PART_NONE);
    look_later(h->plan);
}

static victim_offer_fn plan_earmark_offered;

/* --- beginning --------------------------------------------------------------------------------------- */

static int plan_create(struct plan_earmarks *all, struct earmark_obj *h, struct err *e)
{
    struct earmark_plan *x = calloc(1, sizeof *x);

    if (x)
        x->timer = loop_timer_create(all->p.loop, LOOP_CLOCK, plan_earmark_time_is_up, x);
    if (!x || !x->timer) {
        free(x);
        return err_set(e, PBSE_SYSTEM, "no memory to hold room for %s", h->obj.name);
    }
    x->all = all;
    x->earmark = h;
    h->plan = x;
    return 0;
}

/* *out is set as soon as there is something to undo. */
static int plan_earmark_open(struct plan_earmarks *all, const struct plan_draft *d, struct earmark_obj **out,
                             struct err *e)
{
    if (earmarks_add(all->p.ctx->earmarks, d->ask->job->obj.name, out, e) < 0)
        return -1;
    earmark_links_job(all->p.ctx, *out, d->ask->job);
    return plan_draft_write(d, *out, e) < 0 ? -1 : plan_create(all, *out, e);
}

/* A new plan, or one that is restored, waits for this victim; `record` is of a new one. A victim that is restored has its record
 * already, and only gets one more that waits for it. */
static int plan_earmark_join(struct plan_earmarks *all, struct earmark_obj *h, struct job *j,
                             const struct preempt_record_ask *record, struct err *e)
{
    const struct victim_ask ask = {
        .record = *record, .done = plan_earmark_victim_done, .offer = plan_earmark_offered, .arg = all};

    if (earmark_links_victim(h, j) < 0)
        return err_set(e, PBSE_SYSTEM, "no memory for victim %s of job %s", j->obj.name, h->obj.name);
    return victims_begin(all->p.victims, j, &ask, e);
}

static int plan_earmark_begin(struct plan_earmarks *all, struct earmark_obj *h, const struct plan_draft *d,
                              struct err *e)
{
    const struct preempt_ask policy = {.ctx = d->ctx, .sched = d->ask->scheduler, .urgent = d->ask->job};
    char by[300];

    snprintf(by, sizeof by, "Scheduler@%s", all->p.ctx->name);
    for (size_t i = 0; i < d->n_victims; i++) {
        const struct fit_victim *v = &d->victims[i];
        struct preempt_record_ask record = {
            .methods = v->methods, .by = by, .scheduler = d->ask->scheduler->obj.name, .urgent = h->obj.name};
        struct preempt_line line;

        preempt_policy_line(&policy, v->job, &line);
        record.line = &line;
        record.grace_ms = preempt_notices_grace_ms(&policy, v->job, &record.grace_max_ms);
        if (plan_earmark_join(all, h, v->job, &record, e) < 0)
            return -1;
    }
    return 0;
}

/* --- an offer ------------------------------------------------------------------------------------------ */

static int restore_room(struct plan_earmarks *all, struct earmark_obj *h, struct err *e);

/* Move the earmark to where the offer has room for it, or leave it where it was. */
static int plan_earmark_move(struct plan_earmarks *all, struct earmark_obj *h, struct job *j, struct err *e)
{
    struct strbuf where;
    struct err why;
    int rc;

    strbuf_init(&where, 1 << 20);
    earmark_sums_drop(all->p.ctx, h);
    rc = plan_offer_place(all->p.ctx, h, j, &where, e);
    if (rc == 0)
        rc = attr_list_set_text(&h->obj.attrs, HOLD_ATTR_exec_vnode, strbuf_str(&where), e);
    strbuf_fini(&where);
    if (restore_room(all, h, &why) < 0) {
        h->plan->why = why;
        *e = why;
        rc = -1;
    }
    change_touch(all->p.ctx->change, &h->obj.change, PART_HOT | PART_ATTRS);
    look_later(h->plan);
    return rc;
}

/* Would it be enough if this victim gave j->preempt->offer instead of all? 0: yes, perhaps with the urgent job on other
 * vnodes of the offer, where the earmark then is. */
static int plan_earmark_offered(void *arg, struct job *j, struct err *e)
{
    struct plan_earmarks *all = arg;
    struct earmark_obj *h = j->gives_way_to;
    const struct release_nodes_ask ask = {.vnodes = j->preempt->offer, .by = j->preempt->by};

    if (!h)
        return err_set(e, PBSE_BADSTATE, "the request does not say what is needed");
    if (release_nodes_check(all->p.release_nodes, j, &ask, e) < 0 || plan_earmark_move(all, h, j, e) < 0)
        return -1;
    log_event(LOGC_JOB, LOGE_JOB, h->obj.name, "Room is held on %s: job %s gives %s and keeps the rest",
              attr_list_text(&h->obj.attrs, HOLD_ATTR_exec_vnode), j->obj.name, ask.vnodes);
    return 0;
}

/* --- after a restart ----------------------------------------------------------------------------------- */

static int restore_room(struct plan_earmarks *all, struct earmark_obj *h, struct err *e)
{
    const char *text = attr_list_text(&h->obj.attrs, HOLD_ATTR_exec_vnode);
    struct exec_vnode *where = text ? exec_vnode_parse(text, e) : NULL;
    struct run_demand *w = NULL;
    size_t n = 0;
    int rc;

    if (!where)
        return text ? -1 : err_set(e, PBSE_SYSTEM, "the earmark's row has no exec_vnode");
    rc = run_demands_make(all->p.ctx, h->job, where, &w, &n, e);
    exec_vnode_destroy(where);
    if (rc == 0)
        rc = earmark_sums_put(all->p.ctx, h, w, n, e);
    run_demands_free(w, n);
    return rc;
}

/* Victims that had settled before the restart have no preempt record any more. */
static int restore_victims(struct plan_earmarks *all, struct earmark_obj *h, struct err *e)
{
    struct words names;
    int rc = earmark_links_names(h, &names);

    for (size_t i = 0; i < names.n && rc == 0; i++) {
        struct job *j = plan_draft_find(all->p.ctx, names.w[i]);

        if (!j || !j->victim || !j->preempt->urgent || strcmp(j->preempt->urgent, h->obj.name) != 0)
            continue;
        rc = plan_earmark_join(all, h, j, &(struct preempt_record_ask){0}, e);
    }
    words_fini(&names);
    return rc;
}

static int restore_one(struct plan_earmarks *all, struct earmark_obj *h, struct err *e)
{
    struct job *j = plan_draft_find(all->p.ctx, h->obj.name);

    if (!j)
        return err_set(e, PBSE_UNKJOBID, "job %s does not exist any more", h->obj.name);
    earmark_links_job(all->p.ctx, h, j);
    if (run_admission_waits(j, e) < 0 || plan_create(all, h, e) < 0 || restore_victims(all, h, e) < 0 ||
        restore_room(all, h, e) < 0)
        return -1;
    h->plan->patient_till_s = server_ctx_now_s(all->p.ctx) + PATIENCE_AT_START_S;
    look_later(h->plan);
    return 0;
}

void plan_earmarks_restore(struct plan_earmarks *all)
{
    struct err e;

    for (struct earmark_obj *h = earmarks_first(all->p.ctx->earmarks), *next; h; h = next) {
        next = earmarks_next(h);
        if (restore_one(all, h, &e) < 0)
            plan_earmarks_undo(all, h, e.text);
    }
}

struct plan_earmarks *plan_earmarks_create(const struct plan_earmark_parts *p)
{
    struct plan_earmarks *all = calloc(1, sizeof *all);

    if (!all)
        return NULL;
    all->p = *p;
    return all;
}

void plan_earmarks_destroy(struct plan_earmarks *all)
{
    if (!all)
        return;
    for (struct earmark_obj *h = earmarks_first(all->p.ctx->earmarks); h; h = earmarks_next(h)) {
        if (h->plan)
            plan_free(h->plan);
        earmark_sums_drop(all->p.ctx, h);
        earmark_links_cut(all->p.ctx, h);
    }
    free(all);
}

void plan_earmarks_move(struct plan_earmarks *all, int64_t by_s)
{
    for (struct earmark_obj *h = earmarks_first(all->p.ctx->earmarks); h; h = earmarks_next(h)) {
        int64_t deadline_s = attr_list_number(&h->obj.attrs, HOLD_ATTR_deadline, 0);

        attr_list_set_number(&h->obj.attrs, HOLD_ATTR_deadline, deadline_s + by_s, NULL);
        change_touch(all->p.ctx->change, &h->obj.change, PART_ATTRS);
        if (h->plan && h->plan->patient_till_s)
            h->plan->patient_till_s += by_s;
    }
}
