#ifndef SHEPHERDS_H
#define SHEPHERDS_H
/* The shepherds of this host: started, found again after a restart, spoken to, and missed when they are gone.
 *
 * Records are read from the run's directory, whenever the shepherd says that there is a new one or falls silent; so
 * whatever it has recorded is known before it is reported lost. Each record is told once: ^started, ^ended. A
 * shepherd that is gone without an end record is ^lost. Loop thread only.
 */
#include <stdbool.h>
#include <stdint.h>

#include <shep.h>

#include "err.h"

struct home;
struct loop;
struct rpc_request;
struct run;
struct shep_declared;
struct shep_notice_reply;
struct shepherds;

struct shepherds_hooks {
    void (*started)(void *arg, struct run *r);
    void (*ended)(void *arg, struct run *r);
    void (*lost)(void *arg, struct run *r);
    /* It has a letter (shep_letter_args) for another host; `q` is borrowed, to be answered with shep_letter_result. */
    void (*letter)(void *arg, struct run *r, struct rpc_request *q);
    /* The job's answer to a notice. It is kept by us from now on. */
    void (*notice_reply)(void *arg, struct run *r, const struct shep_notice_reply *a);
    /* Hooks decide about a task (shep_hook_args); `q` is borrowed, to be answered with shep_hook_result. */
    void (*task)(void *arg, struct run *r, struct rpc_request *q);
    /* What its programs have declared through PMIx; the same. */
    void (*declared)(void *arg, struct run *r, const struct shep_declared *a);
    void *arg;
};

struct shepherds *shepherds_create(struct loop *l, const struct home *h, const struct shepherds_hooks *hooks);
void shepherds_destroy(struct shepherds *s); /* after all runs have let go */

/* Start one for the run, whose order is written. -1: it could not be started. */
int shepherds_start(struct shepherds *s, struct run *r, struct err *e);

/* After a restart: read the records (^started, ^ended are called from inside this), and if a shepherd holds the run,
 * speak to it. False: none does. */
bool shepherds_find(struct shepherds *s, struct run *r);

void shepherds_let_go(struct run *r); /* forget it here; it lives on */
void shepherds_leave(struct run *r);  /* the same when this program is about to end */

/* Orders of requests. `fn` is called once, perhaps inside this: with the shepherd's answer, or with code PBSE_SYSTEM when
 * it does not listen now or goes before it has answered; inside shepherds_let_go at the latest. `text` is that of the code. */
typedef void shepherds_fn(void *arg, struct run *r, const struct shep_done *d);
void shepherds_signal(struct run *r, int signo, exec_target target, shepherds_fn *fn, void *arg);
void shepherds_message(struct run *r, unsigned files, const char *text, shepherds_fn *fn, void *arg);

/* Orders of this host. The same, but `fn` is never called after shepherds_let_go has begun. */
void shepherds_continue(struct run *r, shepherds_fn *fn, void *arg); /* SIGCONT to all */
void shepherds_suspend(struct run *r, shepherds_fn *fn, void *arg);
void shepherds_resume(struct run *r, shepherds_fn *fn, void *arg);
/* Withdraw shepherds_terminate. It is answered when the grace of that is over: 0 the job runs on; PBSE_BADSTATE it ends; PBSE_SYSTEM the
 * shepherd is gone, or of a version without WITHDRAW. */
void shepherds_withdraw(struct run *r, shepherds_fn *fn, void *arg);
void shepherds_usage(struct run *r, shepherds_fn *fn, void *arg);
/* Tell it the limit of time that UPDATE has set; done again whenever it listens again. */
void shepherds_update(struct run *r);
/* Remembered until the shepherd listens; there is no callback, the end comes as a record. It may be withdrawn if r->may_withdraw. */
void shepherds_terminate(struct run *r, unsigned grace_s, exec_reason reason, const char *text);

/* Remembered until the shepherd listens; the last one counts. PBSE_NOSUP: it knows of no notices. */
void shepherds_notice(struct run *r, const struct shep_notice_args *a, shepherds_fn *fn, void *arg);

/* A piece of an output file (1 output, 2 error). fn is called once, perhaps inside this: with the shepherd's answer, or with NULL when it
 * does not listen now or goes before it has answered. */
typedef void shepherds_peek_fn(void *arg, const struct shep_peek_result *res);
void shepherds_peek(struct run *r, unsigned file, int64_t offset, shepherds_peek_fn *fn, void *arg);

/* A letter for it from another host. fn is called once, perhaps inside this: with its answer, or with NULL when it does not
 * listen now or goes before it has answered. */
typedef void shepherds_letter_fn(void *arg, const struct shep_letter_result *res);
void shepherds_letter(struct run *r, const struct shep_letter_args *a, shepherds_letter_fn *fn, void *arg);

/* Deliver and clean up: by the shepherd, which then leaves, or by an errand where there is none. `a` is taken over. */
typedef void shepherds_closed_fn(void *arg, struct run *r, const struct shep_close_result *res);
void shepherds_close(struct shepherds *s, struct run *r, struct shep_close_args *a, shepherds_closed_fn *fn,
                     void *arg);

#endif
