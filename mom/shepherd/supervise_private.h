#ifndef SUPERVISE_PRIVATE_H
#define SUPERVISE_PRIVATE_H
/* A job as its shepherd holds it: private to supervise.c (its birth, the loop), supervise_calls.c (what a MOM asks) and supervise_acts.c
 * (what the state machine does).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <shep.h>

#include "err.h"
#include "mom_link.h"
#include "usage_sample.h"
#include "job_declared.h"
#include "job_notice.h"
#include "poll_set.h"
#include "shep_fsm.h"
#include "stopwatch.h"
#include "task.h"

enum { SUPERVISE_SAY_MAX = 512, SUPERVISE_RECORDS = 2 };

struct supervise {
    const char *path;
    struct shep_order order;
    int records, signals;
    struct mom_link *mom_link;
    struct job_notice *job_notice;
    struct job_declared *job_declared;
    struct tm_server *tm; /* NULL: its socket could not be made; the job runs without */
    struct poll_set poll_set;
    size_t memory_at; /* among them */
    struct confine *confine;
    struct task task;
    struct stopwatch watch;
    struct usage_sample usage_sample;
    enum shep_state state;
    bool prepared; /* for being suspended */
    bool main_ended;
    int status;
    bool leftovers;
    int64_t grace_mono_ms; /* when STOPPING, WITHDRAWN or KILLING end by themselves */
    int64_t give_up_mono_ms;
    unsigned grace_s;
    bool may_withdraw;   /* of the order to end */
    bool withdraw_waits; /* WITHDRAW is to be answered by `withdraw` */
    struct mom_link_ticket withdraw;
    enum shep_end how;
    enum exec_reason reason;
    char say[SUPERVISE_SAY_MAX]; /* for the job's stderr */
    struct err why;              /* it was not set up */
    int setup_code;
    struct shep_record unsaved[SUPERVISE_RECORDS]; /* texts are h->say and h->why */
    unsigned n_unsaved;
    int64_t save_mono_ms; /* when that is tried again */
    struct shep_close_args *closing;
    struct shep_close_result *closed;
};

/* Another host runs the script: we hold the run for what the program may start here. */
bool supervise_is_sister(const struct supervise *h);
/* One that needs no process: the job may still start some here. */
bool supervise_waits_for_tasks(const struct supervise *h);
int64_t supervise_wall_ms(const struct supervise *h); /* while not suspended */
void supervise_usage(struct supervise *h, struct exec_usage *out);

/* Into the run's file, and told to the MOMs. `sync`: it is on disk before they hear it. Its texts must live as long as
 * `h`: what finds no room on the disk is kept. */
void supervise_append_record(struct supervise *h, const struct shep_record *r, bool sync);
/* What was kept, into the file, and told to the MOM that has come meanwhile. To be called when save_mono_ms has come. */
void supervise_save_records(struct supervise *h);

void supervise_post(struct supervise *h, enum shep_event ev);
/* Answer WITHDRAW, if it waits: 0 the job runs on, else PBSE_BADSTATE. */
void supervise_answer_withdraw(struct supervise *h, int code, const char *text);
void supervise_note_memory(struct supervise *h); /* it is ending because memory ran out */
void supervise_kill(struct supervise *h);        /* once more: something is left */

extern const struct mom_link_row hold_calls[];
extern const size_t hold_calls_n;

#endif
