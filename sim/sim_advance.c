/* One ADVANCE at a time. The clock here is set when the request is sent, not when it is answered: orders of the new
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

/* Real time between two looks whether a step of simulated time is complete; a simulation without work looks more rarely. */
enum { LOOK_MS = 1, IDLE_MS = 20, NS_PER_MS = 1000000 };

struct sim_advance {
    struct loop *loop;
    struct clock *clock;
    struct execsim *sim;
    struct loop_timer *timer;
    bool under_way, refused;
    uint64_t told;   /* events that the server had when it was last asked */
    int64_t next_ns; /* the server's next timer; 0: none */
    unsigned jobs;
};

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
    p->next_ns = r->next_ns;
    p->jobs = r->jobs;
    loop_timer_set(p->timer, 0);
}

/* Return the next time; 0: stay, and see first what the server does with the last events. */
static int64_t target_ns(const struct sim_advance *p)
{
    int64_t now_ns = clock_wall_ns(p->clock), due = loop_next_due_mono_ms(p->loop), ours = 0;

    if (due != INT64_MAX)
        ours = now_ns + (due - clock_mono_ms(p->clock)) * NS_PER_MS;
    if (!p->jobs || p->told != execsim_n_events(p->sim))
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
    p->told = execsim_n_events(p->sim);
    if (!c || rpc_conn_call(c, &spec, sim_advance_answer_cb, p, NULL) < 0)
        return;
    p->under_way = true;
    if (a.to_ns > clock_wall_ns(p->clock))
        clock_advance(p->clock, a.to_ns - clock_wall_ns(p->clock));
}

/* Advance when there is nothing left to send; slowly where only timers of the server are due. */
static void sim_advance_timer_cb(void *arg)
{
    struct sim_advance *p = arg;
    bool idle = !p->jobs || !execsim_n_runs(p->sim);

    if (!p->under_way && execsim_is_quiet(p->sim) && loop_next_due_mono_ms(p->loop) > clock_mono_ms(p->clock))
        advance(p);
    loop_timer_set(p->timer, idle ? IDLE_MS : LOOK_MS);
}

struct sim_advance *sim_advance_create(struct loop *l, struct clock *c, struct execsim *s, struct err *e)
{
    struct sim_advance *p = calloc(1, sizeof *p);

    if (p)
        *p = (struct sim_advance){.loop = l,
                                  .clock = c,
                                  .sim = s,
                                  .timer = loop_timer_create(l, LOOP_REAL, sim_advance_timer_cb, p)};
    if (!p || !p->timer) {
        free(p);
        err_set(e, 12, "no memory");
        return NULL;
    }
    loop_timer_set(p->timer, 0);
    return p;
}

void sim_advance_destroy(struct sim_advance *p)
{
    if (!p)
        return;
    loop_timer_destroy(p->timer);
    free(p);
}
