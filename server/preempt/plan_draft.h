#ifndef PLAN_DRAFT_H
#define PLAN_DRAFT_H
/* A proposed preemption plan and its examination, which changes nothing: it refuses the plan, or says what would be
 * done. */
#include <stdint.h>

#include "err.h"
#include "job.h"
#include "plan_fit.h"
#include "run_demand.h"

struct earmark_obj;
struct stop_methods;
struct sched_obj;
struct server_ctx;

struct plan_victim {
    const char *id;
    unsigned run_version; /* 0: any */
    const char *methods;  /* "": all */
};

struct plan_ask {
    struct job *job;
    const char *location; /* exec_vnode */
    const struct plan_victim *victims;
    size_t n_victims;
    const struct sched_obj *scheduler;
    int64_t limit_s; /* until it is undone; 0: an hour beside what notices may take */
    bool unlimited;  /* a user asked: run limits and a stopped queue do not count */
};

struct plan_draft {
    struct server_ctx *ctx;
    struct stop_methods *stop_methods;
    const struct plan_ask *ask;
    /* what plan_draft_examine has found */
    struct run_demand *wants;
    size_t n_wants;
    struct fit_victim *victims; /* that are still in the way */
    size_t n_victims;
    double planned; /* core-seconds that they would lose */
};

/* The job as if to run it, the victims by their runs, the methods by policy, job and arithmetic. 0, or -1: as
 * pbs_preempt_run() promises. plan_draft_fini() in both cases. */
int plan_draft_examine(struct plan_draft *d, struct err *e);
void plan_draft_fini(struct plan_draft *d);

/* Fill the row of the earmark for this examined plan: all that is stored of it. -1 PBSE_SYSTEM: no memory. */
int plan_draft_write(const struct plan_draft *d, struct earmark_obj *h, struct err *e);

/* A job of this server by its identifier, or NULL. */
struct job *plan_draft_find(const struct server_ctx *s, const char *id);

#endif
