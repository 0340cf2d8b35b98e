#ifndef EXECSIM_H
#define EXECSIM_H
/* An execution service without execution: jobs that only take time, on any number of vnodes.
 *
 * It speaks EXEC as a MOM does, for all its vnodes on one connection. How long a job runs and how it ends: EXECSIM_MS
 * (milliseconds) and EXECSIM_STATUS of its Variable_List, else the rule for its name, else `job.run_ms` and 0.
 * Nothing is kept on disk: a restarted simulator has lost its runs. */
#include <stdint.h>

#include "err.h"
#include "sim_job.h"

struct clock;
struct sim_nodes;
struct execsim;
struct loop;
struct sim_rules;

struct execsim_options {
    const char *service;     /* "sim:1" */
    const char *socket_path; /* of the server */
    const char *host;        /* name for people */
    const struct sim_nodes *cluster;
    struct sim_rules *rules;
    struct sim_job_options job;
    bool takes_notice;   /* jobs are told before they are preempted */
    struct clock *clock; /* of the loop, when sim_advance.c drives it; else NULL */
};

/* Options' pointers are borrowed while it exists. NULL: e. */
struct execsim *execsim_create(struct loop *l, const struct execsim_options *o, struct err *e);
void execsim_destroy(struct execsim *s);

/* Say goodbye to the server, so that vnodes that belonged to another service go back to it; `done` is called once. */
void execsim_stop(struct execsim *s, void (*done)(void *arg), void *arg);

/* Take a step of the last run of this job (sim_job.h). -1: the job is unknown, or the step is not possible now. */
int execsim_step(struct execsim *s, const char *job, enum sim_job_step step, int status, struct err *e);

/* For sim_advance.c. */
struct exec_service *execsim_service(const struct execsim *s);
size_t execsim_n_runs(const struct execsim *s);     /* including ended ones */
uint64_t execsim_n_events(const struct execsim *s); /* events ever */
bool execsim_is_quiet(const struct execsim *s);     /* accepted, and every event acknowledged */

#endif
