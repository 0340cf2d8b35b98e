#ifndef SIM_JOB_H
#define SIM_JOB_H
/* A simulated run: started, suspended, resumed, ended, and its vnodes released one by one.
 *
 *   START -> ready -> (LAUNCH) -> start ... finish -> release of the vnodes without an epilogue, then of each other
 *
 * The name of a checkpoint says how much of the job was done: "shared:sim/JOB.RUN/MILLISECONDS".
 *
 * Times are those of the simulation: the loop's clock, `scale` times as fast. */
#include <exec.h>

#include "err.h"
#include "sim_runs.h"

struct sim_jobs;
struct loop;
struct sim_rules;

/* Called when a job has ended by itself; `line` is the EXECSIM_LINE of its Variable_List. */
typedef void sim_job_ended_fn(void *arg, uint32_t line);

struct sim_job_options {
    int64_t run_ms, die_ms;  /* length of a job without a rule; time from TERMINATE with a grace to the end */
    double scale;            /* simulated seconds in one of the loop's clock */
    sim_job_ended_fn *ended; /* or NULL */
    void *ended_arg;
    bool by_hand; /* only sim_job_step and orders of the server change a run */
};

struct sim_jobs *sim_job_create(struct loop *l, struct sim_runs *runs, struct sim_rules *rules,
                                const struct sim_job_options *o);
void sim_job_destroy(struct sim_jobs *js); /* and all runs */

int64_t sim_job_to_clock_ms(const struct sim_jobs *js, int64_t ms); /* a duration, for timers */

/* Take START: plan the run and post ready. */
struct sim_run *sim_job_prepare(struct sim_jobs *js, const struct sim_run_key *key, const exec_start_args *a);
void sim_job_launch(struct sim_run *r);
/* With by_hand: the script begins; it ends with this status; it disappears. -1: not possible now, e says why. */
enum sim_job_step { SIM_JOB_START, SIM_JOB_FINISH, SIM_JOB_FAIL };
int sim_job_step(struct sim_run *r, enum sim_job_step step, int status, struct err *e);
void sim_job_suspend(struct sim_run *r, u_int attempt);
void sim_job_resume(struct sim_run *r, u_int attempt);
/* Save it, if the rules allow: it is suspended meanwhile, and then ends (`leave`; stays suspended where another
 * service has a part of it) or continues. */
void sim_job_checkpoint(struct sim_run *r, u_int attempt, bool leave);
void sim_job_terminate(struct sim_run *r, unsigned grace_s);
/* Release these vnodes at once; the run continues on the others. */
void sim_job_release_nodes(struct sim_run *r, const wire_name *nodes, u_int n);
/* Lose a vnode: the run ends, and is released at once. */
void sim_job_lose_node(struct sim_run *r);
void sim_job_purge(struct sim_run *r);
bool sim_job_has_node(const struct sim_run *r, const char *node);

/* Take the server's acknowledgement of events; the run may be freed. */
void sim_job_acked(struct sim_run *r, uint64_t seq);

#endif
