/* One ADVANCE at a time, sent at the end of the turn in which all became quiet. The clock here is set when the request is sent, not when it is answered: orders of the new
 * time come before the answer. */
#include "sim_advance.h"

#include <stdlib.h>

#include <exec.h>

#include "clock.h"
#include "exec_service.h"
#include "execsim.h"
#include "log.h"
#include "loop.h"
#include "rpc_conn.h"
#include "sim_feed.h"

/* Of real time: between two steps where nothing is known that could happen. */
enum { IDLE_MS = 20, NS_PER_MS = 1000000 };

struct sim_advance {
    struct loop *loop;
    struct clock *clock;
    struct execsim *sim;
    struct sim_feed *feed; /* or NULL */
    struct loop_timer *timer;
    bool under_way, refused, answered;
    uint64_t told;   /* that the server had when it was last asked */
    int64_t next_ns; /* the server's next timer; 0: none */
    unsigned jobs;
};

/* What the server is told: events and submissions. Unless it has seen the last one, its next timer is not known. */
static uint64_t sim_advance_n_told(const struct sim_advance *p)
{
    return execsim_n_events(p->sim) + (p->feed ? sim_feed_n_submitted(p->feed) : 0);
}

static void sim_advance_answer_cb(void *arg, const struct rpc_outcome *out)
{
    struct sim_advance *p = arg;
    const exec_advance_result *r = out->result;

    p->under_way = false;
    if (out->status != RPC_ST_OK)
        return; /* the connection is lost: continued after the next HELLO */
    if (r->code) {
        if (!p->refused)
            log_event(LOGC_SVR, LOGE_ERROR, "sim_advance", "the server does not let time be driven: %s",
                      r->text);
        p->refused = true;
        return;
    }
    p->refused = false;
    p->answered = true;
    p->next_ns = r->next_ns;
    p->jobs = r->jobs;
}

/* Return the next time; 0: stay, and see first what the server does with the last events. A workload begins at the time that the
 * server was started with, however long the connections take. */
static int64_t target_ns(const struct sim_advance *p)
{
    int64_t now_ns = clock_wall_ns(p->clock), due = loop_next_due_mono_ms(p->loop), ours = 0;

    if (p->feed && !sim_feed_has_begun(p->feed))
        return 0;
    if (due != INT64_MAX)
        ours = now_ns + (due - clock_mono_ms(p->clock)) * NS_PER_MS;
    if ((!p->jobs && !(p->feed && sim_feed_has_more(p->feed))) || p->told != sim_advance_n_told(p))
        return 0;
    if (!ours || (p->next_ns && p->next_ns < ours))
        return p->next_ns;
    return ours;
}

static void advance(struct sim_advance *p)
{
    struct rpc_conn *c = exec_service_conn(execsim_service(p->sim));
    exec_advance_args a = {.to_ns = target_ns(p)};
    const struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, EXEC_ADVANCE},
                                       .xargs = (xdrproc_t)xdr_exec_advance_args,
                                       .args = &a,
                                       .xres = (xdrproc_t)xdr_exec_advance_result,
                                       .res_size = sizeof(exec_advance_result)};

    p->next_ns = 0;
    p->told = sim_advance_n_told(p);
    if (!c || rpc_conn_call(c, &spec, sim_advance_answer_cb, p, NULL) < 0)
        return;
    p->under_way = true;
    if (a.to_ns > clock_wall_ns(p->clock))
        clock_advance(p->clock, a.to_ns - clock_wall_ns(p->clock));
}

/* Return true if the workload is over, which ends the loop. */
static bool sim_advance_is_over(struct sim_advance *p)
{
    struct err e;

    if (!p->feed)
        return false;
    if (p->answered)
        sim_feed_begin(p->feed); /* the server has the vnodes, and there is a scheduler */
    if (sim_feed_check(p->feed, &e) < 0) {
        log_event(LOGC_SVR, LOGE_ERROR, "sim_advance", "%s", e.text);
        loop_stop(p->loop);
        return true;
    }
    if (!p->answered || p->told != sim_advance_n_told(p) ||
        !sim_feed_is_over(p->feed, p->jobs, execsim_n_runs(p->sim)))
        return false;
    loop_stop(p->loop);
    return true;
}

static bool sim_advance_is_quiet(const struct sim_advance *p)
{
    return !p->under_way && execsim_is_quiet(p->sim) && (!p->feed || sim_feed_is_quiet(p->feed)) &&
           loop_next_due_mono_ms(p->loop) > clock_mono_ms(p->clock);
}

/* Behind each turn. Where no next time is known, only the timer asks. */
static void sim_advance_turn_over(void *arg)
{
    struct sim_advance *p = arg;

    if (!sim_advance_is_quiet(p) || sim_advance_is_over(p))
        return;
    if (p->feed && p->told == sim_advance_n_told(p) && sim_feed_submit_due(p->feed))
        return;
    if (target_ns(p) || p->told != sim_advance_n_told(p))
        advance(p);
    else if (!loop_timer_is_set(p->timer))
        loop_timer_set(p->timer, IDLE_MS);
}

static void sim_advance_timer_cb(void *arg)
{
    struct sim_advance *p = arg;

    if (sim_advance_is_quiet(p))
        advance(p);
    else
        loop_timer_set(p->timer, IDLE_MS);
}

struct sim_advance *sim_advance_create(struct loop *l, struct clock *c, struct execsim *s, struct sim_feed *f,
                                       struct err *e)
{
    struct sim_advance *p = calloc(1, sizeof *p);

    if (p)
        *p = (struct sim_advance){.loop = l,
                                  .clock = c,
                                  .sim = s,
                                  .feed = f,
                                  .timer = loop_timer_create(l, LOOP_REAL, sim_advance_timer_cb, p)};
    if (!p || !p->timer) {
        free(p);
        err_set(e, 12, "no memory");
        return NULL;
    }
    loop_set_turn_over(l, sim_advance_turn_over, p);
    loop_timer_set(p->timer, 0);
    return p;
}

void sim_advance_destroy(struct sim_advance *p)
{
    if (!p)
        return;
    loop_set_turn_over(p->loop, NULL, NULL);
    loop_timer_destroy(p->timer);
    free(p);
}
