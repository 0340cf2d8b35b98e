/* The scheduler's day: news come in, a cycle decides, orders go out, and only then the next news are asked for.
 *
 *   link up -> mirror follows the stream -> news -> cycle (pure) -> act sends the orders -> settled -> next news
 *
 * A cycle runs when the news could change a decision, or when a request asked for one (scheduling set true, an
 * iteration due): that one is run and logged even if there is nothing to decide. No call here waits for a reply; while
 * a preemption is under way the stream is followed on. Invariant: NEXT is outstanding only when no order is. */
#include "scheduler.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "act.h"
#include "answer.h"
#include "clock.h"
#include "comments.h"
#include "cycle.h"
#include "dyn_res.h"
#include "sched_link.h"
#include "histogram.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "mirror.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "prime_calendar.h"
#include "shares.h"
#include "sched_cluster.h"
#include "cluster_array.h"
#include "cluster_change.h"
#include "cluster_settle.h"
#include "cycle_answers.h"
#include "cycle_resv.h"
#include "cycle_preempt.h"
#include "cycle_decide.h"

/* TICK_MS: timed cycles and signs of life are counted in seconds. */
enum { TICK_MS = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

/* PBS's scheduler commands. */
enum command {
    COMMAND_TIME = 3,
    COMMAND_CMD = 5,
    COMMAND_CONFIGURE = 6,
    COMMAND_QUIT = 7,
    COMMAND_RUN_JOB = 11,
    COMMAND_RESTART = 16, /* a hook asks for a new cycle */
    COMMAND_EXPLAIN = PBS_WAKE_EXPLAIN,
    COMMAND_WHEN = PBS_WAKE_WHEN
};

struct scheduler {
    struct loop *loop;
    struct policy *policy;
    struct scheduler_events events;
    struct cycle *cycle;
    struct sched_link *link;
    struct mirror *mirror;
    struct act *act;
    struct comments *comments;
    struct shares *shares;
    struct dyn_res *dyn_res;
    struct loop_timer *tick;
    struct loop_timer *signs; /* that we are there while orders are open */
    struct loop_timer *alarm; /* when the cycle itself wants to be woken: a turn is over */
    int64_t began_us;         /* real monotonic: the cycle under way */
    struct histogram cycles;  /* that have ended: how long they took */
    uint64_t jobs;            /* that cycles have looked at */
    uint64_t cycles_told;     /* to the server */
    int64_t iterate_ms;       /* monotonic: when a timed cycle is due */
    int64_t clock_ahead_ns;   /* the server's wall clock less our monotonic one, which is never set */
    unsigned mask;            /* of the log, as set */
    bool hours_said;          /* it is in the log whether this is prime time */
    bool asked;               /* for a cycle, whatever the news are */
    bool again;               /* the same, since the amounts were asked that scripts tell */
    bool answered;            /* a preemption or a turn: a look is due at the end of this turn of the loop */
};

static int64_t mono_ns(const struct scheduler *s)
{
    return clock_mono_ms(loop_clock(s->loop)) * NS_PER_MS;
}

/* The server's wall clock. It is the server's word of the last news, carried on by our monotonic clock: a
 * clock of this host that is wrong, or is set, decides nothing. */
static int64_t now_ns(const struct scheduler *s)
{
    return mono_ns(s) + s->clock_ahead_ns;
}

static int64_t now_s(const struct scheduler *s)
{
    return now_ns(s) / NS_PER_S;
}

/* Set the alarm to when the cycle itself wants to be woken: to the millisecond at which that second begins.
 * 0: never. */
static void set_alarm(struct scheduler *s)
{
    int64_t at_s = cycle_wakes_s(s->cycle);
    int64_t now_ms = now_ns(s) / NS_PER_MS;

    if (at_s == 0)
        loop_timer_cancel(s->alarm);
    else
        loop_timer_set(s->alarm, at_s * 1000 > now_ms ? at_s * 1000 - now_ms + 1 : 0);
}

/* PBS's lines, which hours it is and until when. */
static void say_hours(struct scheduler *s)
{
    int64_t ends_s = prime_calendar_changes_s(s->policy->times, now_s(s));
    const char *what = s->policy->is_prime ? "primetime" : "non-primetime";
    time_t ends = (time_t)ends_s;
    char date[64] = "";

    if (ends_s == 0) {
        log_event(LOGC_SVR, LOGE_DEBUG, "", "It is %s.  It will never end", what);
        return;
    }
    if (!ctime_r(&ends, date))
        date[0] = '\0';
    date[strcspn(date, "\n")] = '\0';
    log_event(LOGC_SVR, LOGE_DEBUG, "", "It is %s.  It will end in %lld seconds at %s", what,
              (long long)(ends_s - now_s(s)), date);
}

/* Some options of sched_config are others in prime time. At a change the policy is filled again, and every
 * job looked at again. */
static void follow_hours(struct scheduler *s)
{
    bool is_prime = prime_calendar_is_prime(s->policy->times, now_s(s));
    bool same = is_prime == s->policy->is_prime;

    if (same && s->hours_said)
        return;
    s->hours_said = true;
    if (same) {
        say_hours(s);
        return;
    }
    s->policy->is_prime = is_prime;
    dyn_res_forget(s->dyn_res);
    s->events.hours_turn(s->events.arg);
    cluster_change_policy(cycle_cluster(s->cycle));
    cluster_settle(cycle_cluster(s->cycle));
    say_hours(s);
}

static int64_t scheduler_cycle_took_s(void *arg)
{
    const struct scheduler *s = arg;

    return (clock_real_mono_us() - s->began_us) / 1000000;
}

/* Before each job of a cycle: a long one must not look like a scheduler that hangs. */
static void scheduler_cycle_stepped(void *arg)
{
    struct scheduler *s = arg;

    s->jobs++;
    sched_link_sign(s->link);
}

static_assert((int)PBS_TOOK == HISTOGRAM_BOUNDS + 1, "pbs_ext.h says what base says");

/* Once a second at most, and not while there were no cycles. */
static void scheduler_tell_counts(struct scheduler *s)
{
    struct pbs_sched_counts counts = {.jobs = s->jobs, .us = s->cycles.us};
    uint64_t n = histogram_count(&s->cycles);

    if (n == s->cycles_told || !mirror_is_whole(s->mirror))
        return;
    s->cycles_told = n;
    memcpy(counts.took, s->cycles.in, sizeof counts.took);
    sched_link_tell_counts(s->link, &counts);
}

/* While the scheduler waits for the server's answers it owes signs of life too; with NEXT open the server
 * asks by itself. Once a second, by the machine's clock. */
static void scheduler_sign_while_busy(void *arg)
{
    struct scheduler *s = arg;

    loop_timer_set(s->signs, TICK_MS);
    if (act_is_busy(s->act))
        sched_link_sign(s->link);
    scheduler_tell_counts(s);
}

/* Decide and send the orders. The next changes are asked for when the orders are answered. */
static void scheduler_decide(struct scheduler *s)
{
    struct decisions d = {.say = act_log}; /* lines have the time at which they are said */

    s->began_us = clock_real_mono_us();
    if (shares_refresh(s->shares))
        cycle_retry_all(s->cycle);
    cycle_run(s->cycle, now_s(s), &d);
    histogram_add(&s->cycles, clock_real_mono_us() - s->began_us);
    if (act_carry_out(s->act, &d) > 0)
        comments_busy(s->comments);
    comments_poke(s->comments);
    set_alarm(s);
}

static void scheduler_run_cycle(struct scheduler *s);

/* server_dyn_res has been asked. */
static void scheduler_amounts_told(void *arg, bool changed)
{
    struct scheduler *s = arg;

    if (changed)
        cluster_note_news(cycle_cluster(s->cycle));
    if (mirror_is_whole(s->mirror))
        scheduler_decide(s);
    else
        s->asked = true; /* decided when the changes have come, since they may change it */
    if (s->again)
        scheduler_run_cycle(s);
}

/* What has to be known first may take its time. A request for a cycle meanwhile gets one that begins after the request. */
static void scheduler_run_cycle(struct scheduler *s)
{
    if (!mirror_is_whole(s->mirror))
        return;
    if (dyn_res_is_asking(s->dyn_res)) {
        s->again = s->again || s->asked;
        s->asked = false;
        return;
    }
    s->asked = s->again = false;
    follow_hours(s);
    if (!dyn_res_ask(s->dyn_res))
        scheduler_decide(s);
}

/* The sched object may have changed: other directories need another registration, other log events apply at
 * once. */
static void follow_policy(struct scheduler *s)
{
    if (!s->events.places_hold(s->events.arg, s->policy->sched_priv, s->policy->sched_log))
        sched_link_fail(s->link);
    if (s->policy->log_mask == s->mask)
        return;
    s->mask = s->policy->log_mask;
    log_set_mask(s->mask);
}

static void iterate_later(struct scheduler *s)
{
    s->iterate_ms = clock_mono_ms(loop_clock(s->loop)) + s->policy->iteration_s * 1000;
}

/* qrun without a place. The next cycle decides; the answer goes out with the order's, or with
 * DECIDE_REFUSE. */
static void run_by_request(struct scheduler *s, const struct pbs_wake *w)
{
    log_event(LOGC_SCHED, LOGE_DEBUG, w->job, "Received qrun request");
    act_promise(s->act, w->job, w->answer);
    if (cycle_decide_urge(s->cycle, w->job))
        return;
    log_event(LOGC_SCHED, LOGE_SCHED, w->job, "Could not find job to qrun.");
    act_tell(s->act, w->job, PBSE_UNKJOBID, "PBS Error: Scheduler can not find job");
}

static void explain_resv(struct scheduler *s, const struct pbs_wake *w, struct resv *r)
{
    struct cluster *cl = cycle_cluster(s->cycle);
    struct confirm_answer x = {.n = 0};
    struct batch_status *list;

    cycle_resv_explain(s->cycle, r, now_s(s), &x);
    list = answer_resv_create(cl, r, &x, now_s(s));
    act_explained(s->act, w->job, w->answer, list);
    answer_destroy(list);
    confirm_fini(&x);
}

/* What the next cycle would do for this job, and when it is expected. It is computed from the cluster as it is, and changes nothing. */
static void explain_waiting(struct scheduler *s, const struct pbs_wake *w, const struct job *j)
{
    struct batch_status *list;
    struct explanation x;
    struct forecast f;
    bool may_wait;

    cycle_preempt_explain(s->cycle, j, now_s(s), &x);
    may_wait = x.verdict != EXPLAIN_RUNS && x.verdict != EXPLAIN_UNDER_WAY;
    if (may_wait)
        forecast_make(s->cycle, j, now_s(s), &f);
    list = answer_create(cycle_cluster(s->cycle), &x, may_wait ? &f : NULL, w->job);
    act_explained(s->act, w->job, w->answer, list);
    answer_destroy(list);
    if (may_wait)
        forecast_fini(&f);
    explain_fini(&x);
}

/* A reservation, a job, or a subjob that is an index of its array. */
static void explain_job(struct scheduler *s, const struct pbs_wake *w)
{
    struct cluster *cl = cycle_cluster(s->cycle);
    struct job *j = cluster_job(cl, w->job);

    if (cluster_resv(cl, w->job)) {
        explain_resv(s, w, cluster_resv(cl, w->job));
        return;
    }
    if (!j)
        j = cluster_array_named(cl, w->job);
    if (!j || !j->queue) {
        act_not_explained(s->act, w->job, w->answer, PBSE_UNKJOBID,
                          "the job, or its queue, is not one that its scheduler sees");
        return;
    }
    explain_waiting(s, w, j);
}

/* The job's name is the scheduler's own, so that it is not taken for one that the server has. */
static void explain_unlisted(struct scheduler *s, const struct pbs_wake *w)
{
    struct cluster *cl = cycle_cluster(s->cycle);
    struct job *j = cluster_change_unlisted(cl, "unlisted", mirror_unlisted(s->mirror, w->answer));

    if (j->queue && cluster_serves(cl, j->queue))
        explain_waiting(s, w, j);
    else
        act_not_explained(s->act, w->job, w->answer, PBSE_NOSUP,
                          "its queue is not one that this scheduler serves");
    job_destroy(j);
}

/* Asked after the cycle that the same news may have caused: what could be started has been, so the order of jobs is settled. */
static void explain_all(struct scheduler *s, const struct pbs_wake wakes[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (wakes[i].command == COMMAND_EXPLAIN)
            explain_job(s, &wakes[i]);
        else if (wakes[i].command == COMMAND_WHEN)
            explain_unlisted(s, &wakes[i]);
}

/* Commands of PBS's servers by number. Those that say only that something has changed do nothing: the
 * stream has said it better. */
static void scheduler_wake(struct scheduler *s, const struct pbs_wake *w)
{
    log_event(LOGC_SCHED, LOGE_DEBUG3, w->job, "Scheduler received command %d", w->command);
    switch (w->command) {
    case COMMAND_TIME:
    case COMMAND_CMD:
    case COMMAND_RESTART:
        s->asked = true;
        cycle_retry_all(s->cycle);
        shares_ask(s->shares);
        break;
    case COMMAND_CONFIGURE:
        log_event(LOGC_SCHED, LOGE_DEBUG2, "", "Updating scheduler attributes");
        s->events.configure(s->events.arg);
        break;
    case COMMAND_QUIT:
        s->events.quit(s->events.arg);
        break;
    case COMMAND_RUN_JOB:
        run_by_request(s, w);
        break;
    case COMMAND_EXPLAIN: /* explain_all */
    case COMMAND_WHEN:
    default: /* new jobs, ended ones ...: the stream has said it better */
        break;
    }
}

static void scheduler_go_on(struct scheduler *s)
{
    if (!act_is_busy(s->act))
        mirror_next(s->mirror);
}

/* The heart of the day: see the head. The order matters: the clock first, since everything below asks for
 * it; commands before the cycle that they ask for; plans are logged as the news show them; explanations
 * behind the cycle, so that they tell of what is left. */
static void scheduler_news(void *arg, int64_t server_ns, bool relevant)
{
    struct scheduler *s = arg;
    size_t n;
    const struct pbs_wake *wakes = mirror_wakes(s->mirror, &n);
    struct decisions seen = {0};

    s->clock_ahead_ns = (server_ns ? server_ns : clock_wall_ns(loop_clock(s->loop))) - mono_ns(s);
    if (relevant)
        follow_policy(s);
    for (size_t i = 0; i < n; i++)
        scheduler_wake(s, &wakes[i]);
    cycle_watch(s->cycle, &seen);
    act_carry_out(s->act, &seen);
    if (s->asked || cycle_has_news(s->cycle, now_s(s)))
        scheduler_run_cycle(s);
    else
        comments_poke(s->comments);
    explain_all(s, wakes, n);
    scheduler_go_on(s);
}

static void scheduler_settled(void *arg)
{
    scheduler_go_on(arg);
}

static void scheduler_after_answers(void *arg)
{
    struct scheduler *s = arg;

    s->answered = false;
    if (mirror_is_whole(s->mirror) && cycle_has_news(s->cycle, now_s(s)))
        scheduler_run_cycle(s);
    scheduler_go_on(s);
}

/* Many may be answered at once: one cycle for all of them. */
static void scheduler_preempted(void *arg)
{
    struct scheduler *s = arg;

    if (!s->answered)
        s->answered = loop_defer(s->loop, scheduler_after_answers, s) == 0;
}

static int scheduler_enter(void *arg, int c, struct err *e)
{
    struct scheduler *s = arg;

    return s->events.enter(s->events.arg, c, e);
}

/* Registered: everything is read from the beginning. The next timed cycle is a whole period from now. */
static void scheduler_up(void *arg)
{
    struct scheduler *s = arg;

    iterate_later(s);
    mirror_start(s->mirror);
}

/* Connection lost: each part forgets what it waits for. The order is that of the parts: calls first, then
 * what the cycle has open. */
static void scheduler_down(void *arg)
{
    struct scheduler *s = arg;

    act_forget(s->act);
    comments_forget(s->comments);
    cycle_answers_forget(s->cycle);
    mirror_stop(s->mirror);
    shares_lost(s->shares);
    s->cycles_told = 0; /* the next server knows none of them */
}

/* Timed cycles, and jobs that the server refused a while ago. */
static void scheduler_tick(void *arg)
{
    struct scheduler *s = arg;

    loop_timer_set(s->tick, TICK_MS);
    if (!mirror_is_whole(s->mirror))
        return;
    cycle_time(s->cycle, now_s(s));
    if (clock_mono_ms(loop_clock(s->loop)) >= s->iterate_ms) {
        iterate_later(s);
        s->asked = true;
        cycle_retry_all(s->cycle);
        shares_ask(s->shares);
    }
    if (shares_tick(s->shares, now_s(s)))
        cycle_retry_all(s->cycle);
    if (s->asked || cycle_has_news(s->cycle, now_s(s)))
        scheduler_run_cycle(s);
    comments_poke(s->comments);
}

/* The alarm: what the cycle has to do when a time comes. */
static void scheduler_ring(void *arg)
{
    struct scheduler *s = arg;

    if (mirror_is_whole(s->mirror) && cycle_has_news(s->cycle, now_s(s)))
        scheduler_run_cycle(s);
}

/* Other settings may make any job runnable, so a cycle follows at once, if there is a whole cluster to
 * decide on. */
void scheduler_reconfigured(struct scheduler *s, const char *priv)
{
    shares_read(s->shares, priv);
    dyn_res_forget(s->dyn_res);
    s->hours_said = false;
    cluster_change_policy(cycle_cluster(s->cycle));
    if (!mirror_is_whole(s->mirror))
        return; /* it will settle */
    cluster_settle(cycle_cluster(s->cycle));
    scheduler_run_cycle(s);
}

static uint64_t scheduler_seen(void *arg)
{
    const struct scheduler *s = arg;

    return mirror_seen(s->mirror);
}

static int scheduler_create_parts(struct scheduler *s, const char *name, struct err *e)
{
    const struct sched_link_events on_link = {
        .enter = scheduler_enter, .up = scheduler_up, .down = scheduler_down, .arg = s};
    const struct mirror_events on_mirror = {.news = scheduler_news, .arg = s};
    const struct act_events on_act = {
        .settled = scheduler_settled, .preempted = scheduler_preempted, .seen = scheduler_seen, .arg = s};

    s->cycle = cycle_create(name, s->policy);
    cycle_on_elapsed(s->cycle, scheduler_cycle_took_s, s);
    cycle_on_step(s->cycle, scheduler_cycle_stepped, s);
    s->link = sched_link_create(s->loop, name, &on_link, e);
    if (!s->link)
        return -1;
    s->mirror = mirror_create(s->link, cycle_cluster(s->cycle), &on_mirror);
    s->act = act_create(s->link, s->cycle, &on_act);
    s->comments = comments_create(s->loop, s->link, s->cycle, e);
    if (!s->comments)
        return -1;
    s->shares = shares_create(&(struct shares_parts){.loop = s->loop,
                                                     .link = s->link,
                                                     .cluster = cycle_cluster(s->cycle),
                                                     .accrual = cycle_accrual(s->cycle),
                                                     .policy = s->policy},
                              e);
    if (!s->shares)
        return -1;
    s->dyn_res = dyn_res_create(s->loop, s->policy, scheduler_amounts_told, s, e);
    if (!s->dyn_res)
        return -1;
    s->tick = loop_timer_create(s->loop, LOOP_CLOCK, scheduler_tick, s);
    s->alarm = loop_timer_create(s->loop, LOOP_CLOCK, scheduler_ring, s);
    s->signs = loop_timer_create(s->loop, LOOP_REAL, scheduler_sign_while_busy, s);
    if (!s->tick || !s->alarm || !s->signs)
        return err_set(e, PBSE_SYSTEM, "no memory for a timer");
    loop_timer_set(s->tick, TICK_MS);
    loop_timer_set(s->signs, TICK_MS);
    return 0;
}

struct scheduler *scheduler_create(struct loop *l, const char *name, struct policy *policy,
                                   const struct scheduler_events *events, struct err *e)
{
    struct scheduler *s = mem_new(1, sizeof *s);

    s->loop = l;
    s->policy = policy;
    s->events = *events;
    s->mask = policy->log_mask;
    if (scheduler_create_parts(s, name, e) == 0)
        return s;
    scheduler_destroy(s);
    return NULL;
}

/* In the reverse order of creation, timers of a part before the part. NULL parts: creation failed half-way. */
void scheduler_destroy(struct scheduler *s)
{
    if (!s)
        return;
    loop_forget(s->loop, scheduler_after_answers, s);
    if (s->tick)
        loop_timer_destroy(s->tick);
    if (s->signs)
        loop_timer_destroy(s->signs);
    dyn_res_destroy(s->dyn_res);
    shares_destroy(s->shares);
    if (s->alarm)
        loop_timer_destroy(s->alarm);
    comments_destroy(s->comments);
    act_destroy(s->act);
    sched_link_destroy(s->link);
    mirror_destroy(s->mirror);
    cycle_destroy(s->cycle);
    free(s);
}
