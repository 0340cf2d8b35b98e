#ifndef SIM_JOB_H
#define SIM_JOB_H
/* The life of a simulated run: started, stopped, resumed, ended, and its vnodes released one by one.
 *
 *   START -> ready -> (LAUNCH) -> start ... finish -> release of the vnodes without an epilogue, then of each other
 *
 * The name of an image says how much of the job was done: "shared:sim/JOB.RUN/MILLISECONDS".
 *
 * Times are those of the simulated world: the loop's clock, `scale` times as fast. */
#include <exec.h>

#include "err.h"
#include "sim_runs.h"

struct life;
struct loop;
struct rules;

struct life_options {
    int64_t run_ms, die_ms; /* of a job that says nothing; from TERMINATE with a grace to the end */
    double scale;           /* simulated seconds in one of the loop's clock */
    bool by_hand; /* nothing comes by itself but what it is told by life_step, and ends that are ordered */
};

struct life *life_create(struct loop *l, struct sim_runs *runs, struct rules *rules,
                         const struct life_options *o);
void life_destroy(struct life *f); /* and all runs */

int64_t life_now_ms(const struct life *f);
int64_t life_to_clock_ms(const struct life *f, int64_t ms); /* a duration, for timers */

struct sim_run *life_begin(struct life *f, const struct sim_run_key *key,
                           const exec_start_args *a); /* says ready */
void life_launch(struct sim_run *r);
/* With by_hand: its script begins; it ends with this status; it is gone. -1: that cannot be now, e says why. */
enum life_step { LIFE_START, LIFE_FINISH, LIFE_FAIL };
int life_step(struct sim_run *r, enum life_step step, int status, struct err *e);
void life_suspend(struct sim_run *r, u_int attempt);
void life_resume(struct sim_run *r, u_int attempt);
/* Save it, if the rules can: it stands still meanwhile, and then ends (`leave`; stands on where others have a part of it)
 * or goes on. */
void life_checkpoint(struct sim_run *r, u_int attempt, bool leave);
void life_terminate(struct sim_run *r, unsigned grace_s);
void life_give_up(struct sim_run *r, const wire_name *nodes, u_int n); /* at once, with no end of the run */
/* A vnode of it is gone: it ends, and is released at once. */
void life_lose(struct sim_run *r);
void life_purge(struct sim_run *r);
bool life_has_node(const struct sim_run *r, const char *node);

/* The server has spoken about its events; the run may be gone afterwards. */
void life_acked(struct sim_run *r, uint64_t seq);

#endif
