#ifndef SIM_RUNS_H
#define SIM_RUNS_H
/* The runs that the simulator holds, and their events until the server has acknowledged them.
 *
 * A run exists until it was purged and all its events are acknowledged. Plain data; sim_job.c writes it. Loop thread
 * only. Events are kept in memory alone: a simulator that ends has lost its runs. */
#include <exec.h>
#include <stdbool.h>
#include <stdint.h>

#include <uthash.h>

struct sim_jobs;
struct loop_timer;
struct sim_event;
struct sim_text;

struct sim_run_key {
    int64_t seq;
    int32_t index;
    uint32_t run;
};

struct sim_run {
    struct sim_run_key key;
    UT_hash_handle hh;
    struct sim_run *prev, *next; /* of those with events to send */
    bool is_unsent;
    struct sim_event *first, *last; /* not acknowledged */
    uint64_t last_seq, sent_seq;
    bool purged;

    struct sim_jobs *jobs;
    struct loop_timer *timer;
    char **nodes; /* its vnodes, those with the shortest epilogue first */
    int64_t *epilogue_ms;
    u_int n_nodes, n_released;
    char *host;
    struct sim_text *texts;   /* that events point to */
    int64_t plan_ms, left_ms; /* planned length; what was left of it when it was last suspended or resumed */
    int64_t done_ms; /* done by an earlier run that was checkpointed; less than 0 while the job is restored */
    int64_t crash_ms; /* it crashes after so long; -1: it does not */
    int64_t since_ms, began_ms, ended_ms, suspended_ms;
    int status;
    uint32_t line; /* of the workload; 0: none */
    exec_reason reason;
    bool launched, begun, ended, suspended; /* launched: by hand only */
    bool alone;                             /* no other service has a part of the job */
    struct sim_saving {
        bool under_way, leave, was_suspended; /* before it was saved */
        u_int attempt;
    } saving;
};

struct sim_runs {
    struct sim_run *table, *unsent;
    uint64_t n_posted;       /* events ever */
    void (*wake)(void *arg); /* ^ there is something to send */
    void *arg;
};

struct sim_run *sim_runs_add(struct sim_runs *t, const struct sim_run_key *key); /* NULL: no memory */
struct sim_run *sim_runs_find(const struct sim_runs *t, const wire_job *job, uint32_t run);
/* Owned texts of `r` are freed; its timer is not. */
void sim_runs_drop(struct sim_runs *t, struct sim_run *r);

/* Number and keep an event. What `data` points at must live as long as the run. */
void sim_runs_post(struct sim_runs *t, struct sim_run *r, const exec_event_data *data, int64_t time_ns);

/* Room for a text that lives as long as the run. */
char *sim_runs_text(struct sim_run *r, size_t size);

size_t sim_runs_next(struct sim_runs *t, exec_event *out, size_t max); /* as exec_service_journal */
void sim_runs_rewind(struct sim_runs *t);
void sim_runs_acked(struct sim_run *r, uint64_t seq);
/* Return true if no event is to be sent or waits for its acknowledgement. */
bool sim_runs_all_acked(const struct sim_runs *t);

#endif
