#ifndef EXEC_SEND_H
#define EXEC_SEND_H
/* Orders to execution services. An order leaves only when everything it rests on is durable; an order to a
 * service that is away is dropped, since its HELLO makes both sides agree again (exec_agree.c).
 * "Taken" promises nothing: what comes of an order arrives as an event (exec_take.c).
 *
 * A refusal is told as EVENT_RUN_REFUSED. Loop thread only. */
#include <stdbool.h>

#include <types.h>

#include "err.h"
#include "job.h"

struct commit;
struct exec_notice_args;
struct exec_taken;
struct exec_send;
struct loop;
struct service;
struct services;
struct server_ctx;

/* The end of an order that a caller waits for: 0, or -1 with why (PBSE_*). */
typedef void exec_sent_fn(void *arg, int rc, const struct err *why);
/* The same of an order that asks for something: the answer, or NULL with why. */
typedef void exec_told_fn(void *arg, const struct exec_taken *t, const struct err *why);

struct exec_send *exec_send_create(struct server_ctx *s, struct services *sv, struct commit *c,
                                   struct loop *l);
void exec_send_destroy(struct exec_send *x);
/* ^ Scripts lie in the store; those of jobs that wait are at hand for a while. Borrow the bytes, or NULL: the
 * service then asks for the script. */
typedef const void *exec_script_fn(void *arg, const struct job *j, size_t *n);
void exec_send_on_script(struct exec_send *x, exec_script_fn *fn, void *arg);

/* ^ What START says of a job beside what its host needs: added to *out. */
typedef void exec_attrs_fn(void *arg, const struct job *j, wire_attrs *out);
void exec_send_on_attrs(struct exec_send *x, exec_attrs_fn *fn, void *arg);

/* ^ Called before a START leaves for a service that is here, on whose connection it may send what a run needs there first; with the job. */
typedef void exec_before_fn(void *arg, struct service *s, struct job_key job);
void exec_send_before_start(struct exec_send *x, exec_before_fn *fn, void *arg);

void exec_send_start(struct exec_send *x, struct job *j); /* to hosts that are SENT */
/* To this host, as soon as it is known where the other hosts of the job are: after a restart of the server the
 * first HELLO is not the last. exec_send_start_waiting: perhaps it is now. */
void exec_send_start_to(struct exec_send *x, struct job *j, const char *service);
void exec_send_start_waiting(struct exec_send *x, struct job *j);
void exec_send_launch(struct exec_send *x, struct job *j);  /* to the first host */
void exec_send_suspend(struct exec_send *x, struct job *j); /* attempt: j->run->attempt */
void exec_send_resume(struct exec_send *x, struct job *j);
void exec_send_undo(struct exec_send *x, struct job *j); /* RESUME after a checkpoint that failed elsewhere */
void exec_send_terminate(struct exec_send *x, struct job *j, int why, unsigned grace_s); /* enum exec_why */
/* Do all hosts of the run take WITHDRAW? */
bool exec_send_can_withdraw(const struct exec_send *x, const struct job *j);
void exec_send_withdraw(struct exec_send *x,
                        struct job *j); /* the last terminate; attempt: j->run->attempt */
/* To the first host: the whole job is over a limit, enum exec_reason; `text` for people. */
void exec_send_over_limit(struct exec_send *x, struct job *j, int reason, const char *text, unsigned grace_s);
void exec_send_end_others(struct exec_send *x,
                          struct job *j); /* the script is over: all but the first host */
void exec_send_update(struct exec_send *x,
                      struct job *j); /* of a running job: limits, where its output goes */
/* To each host: these vnodes the job has given back. Those that have them free them, the others tell the job. Said
 * again it is harmless. */
void exec_send_give_up(struct exec_send *x, struct job *j);
/* To every MOM that can: end. No answer is awaited: this server goes down as well. */
void exec_send_stop_moms(struct exec_send *x);
size_t exec_send_open(const struct exec_send *x); /* orders given and not answered yet */
void exec_send_checkpoint(struct exec_send *x,
                          struct job *j); /* to hosts without image; and leave, unless `staying` */
/* The job's images (restart_from) go, wherever they are; or those that no host of its run has, and nothing else there. */
void exec_send_purge_images(struct exec_send *x, struct job *j);
void exec_send_purge_moved(struct exec_send *x, struct job *j);
/* Output that an earlier run has left at this service goes, and images with it. */
void exec_send_purge_left(struct exec_send *x, struct job *j, const char *service);
void exec_send_purge_earlier(struct exec_send *x, struct job *j); /* at all in left_at */
/* Forget the run: to every host that has released it. */
void exec_send_purge(struct exec_send *x, struct job *j);
/* Can the job be told that it is to give way, that is: can its first host do it? */
bool exec_send_can_notice(const struct exec_send *x, const struct job *j);
/* The job is to give way, or need not: to every host that can tell it. Of `a` the fields that say which run are filled in.
 * answered: the service, interned, whose programs a->answer is for; the others get "". NULL: there is no answer. */
void exec_send_notice(struct exec_send *x, struct job *j, struct exec_notice_args *a, const char *answered);
/* The same to one host. */
void exec_send_notice_to(struct exec_send *x, struct job *j, const char *service, struct exec_notice_args *a);
/* A line for the job's output (1) or error (2) file, written by its first host. */
void exec_send_message(struct exec_send *x, struct job *j, unsigned files, const char *text, exec_sent_fn *fn,
                       void *arg);
/* A piece of an output file (1 output, 2 error), from an offset on: t->ext is an exec_peeked. -1, fn not called: the job's
 * first host does not know the order (an older MOM, the simulator). */
int exec_send_peek(struct exec_send *x, struct job *j, unsigned file, int64_t offset, exec_told_fn *fn,
                   void *arg, struct err *e);
/* One signal to the script's session or to all; fn is called once, when the first host has answered. */
void exec_send_signal(struct exec_send *x, struct job *j, const char *signal, bool all, exec_sent_fn *fn,
                      void *arg);
/* To the first host alone. */
void exec_send_signal_first(struct exec_send *x, struct job *j, const char *signal, exec_sent_fn *fn,
                            void *arg);

#endif
