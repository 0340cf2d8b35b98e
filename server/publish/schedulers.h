#ifndef SCHEDULERS_H
#define SCHEDULERS_H
/* Registered schedulers: which connection is which sched object, why each should act, and what it was asked.
 *
 * A wake-up is a PBS scheduler command; it is queued until the scheduler's NEXT takes it, and one that is queued
 * already is not queued twice. A question (qrun of a job, pbs_preempt --explain) waits for its answer. When the
 * connection ends the object goes down, questions fail, wake-ups are dropped: the next scheduler that registers
 * gets command FIRST.
 *
 * A scheduler that was told something asks on when it is done. One that gives signs of life (SCHED_REPLY with
 * answer 0) and then says nothing for SCHEDULERS_SILENCE_S while it owes the next question hangs, however long its
 * cycles may take: that is said, its questions fail, its connection is closed, and another may register. One that
 * has never given a sign has sched_cycle_length and a minute, and its time does not count while it is owed an
 * answer; but questions that it does not answer fail after SCHEDULERS_SILENCE_S too. heartbeat_timeout takes the
 * place of either time. One with nothing to do is told nothing (SCHED_CMD_NULL) now and then. Loop thread only.
 */
#include <stdbool.h>

#include <ifl.h>

#include "err.h"
#include "job.h"
#include "sched_obj.h"
#include "server_ctx.h"
#include "server_events.h"

struct request;
struct schedulers;
struct watches;

/* PBS's numbers of scheduler commands. */
enum sched_command {
    SCHED_CMD_NULL = 0, /* are you there? */
    SCHED_CMD_NEW = 1,  /* a job has come, or may run again */
    SCHED_CMD_TERM = 2, /* a job has ended, resources are free */
    SCHED_CMD_TIME = 3, /* scheduler_iteration is over */
    SCHED_CMD_CMD = 5,  /* scheduling was set True */
    SCHED_CMD_CONFIGURE = 6,
    SCHED_CMD_QUIT = 7,
    SCHED_CMD_FIRST = 9,         /* first after registering */
    SCHED_CMD_RESV_STARTED = 10, /* a reservation has started */
    SCHED_CMD_RUN_JOB = 11,      /* qrun: answer wanted */
    SCHED_CMD_QUEUE_STARTED = 12,
    SCHED_CMD_MOVED = 13, /* a job moved into a queue here */
    SCHED_CMD_ELIGIBLE = 14,
    SCHED_CMD_RECONFIRM = 15, /* a reservation was altered, or is degraded and wants other vnodes */
    SCHED_CMD_RESTART = 16,
    SCHED_CMD_EXPLAIN = IFL_WAKE_EXPLAIN, /* answer wanted: what would be done for a job */
    SCHED_CMD_WHEN = IFL_WAKE_WHEN        /* the same of a job that is not submitted */
};

struct schedulers *schedulers_create(struct server_ctx *s, struct watches *ws);

struct loop;
/* Is an answer to this owner still to come? The part that knows is above. */
typedef bool schedulers_waits_fn(const void *owner);
/* From now on those that hang are found: EVENT_SCHED_HUNG; it is out of the table already. -1: no memory. */
int schedulers_guard(struct schedulers *sc, struct loop *l, schedulers_waits_fn *waits_for_us);
/* How long people wait for a silent scheduler: sixty signs of ours, more than a host that swaps or a search for one
 * job takes, and not so long that a person gives up. */
enum { SCHEDULERS_SILENCE_S = 30 };
/* A sign of life: the owner will go on giving them. -1: PBSE_IVALREQ it is not a scheduler. */
int schedulers_sign(struct schedulers *sc, const void *owner, struct err *e);
/* Listeners of server_events.h. This owner has asked for something: */
void schedulers_on_heard(void *schedulers, const struct server_event *ev);
/* Something has happened that is a reason to act: wake all of them. EVENT_JOB_MOVED, EVENT_RESV_*, EVENT_SCHED_TIME. */
void schedulers_on_reason(void *schedulers, const struct server_event *ev);
void schedulers_destroy(struct schedulers *sc);

/* This connection (`owner`, as in watch.h) is the scheduler `name` from now on. -1: PBSE_UNKSCHED no such object;
 * 15230 another live connection has it, or this one is another scheduler already. Wakes it with FIRST. */
int schedulers_register(struct schedulers *sc, const char *name, const void *owner, struct err *e);
/* EVENT_CLIENT_GONE: the connection has ended. Owners that are not schedulers are not an error. */
void schedulers_on_gone(void *schedulers, const struct server_event *ev);

struct sched_obj *schedulers_object(const struct schedulers *sc, const void *owner); /* NULL: no scheduler */
bool schedulers_is_connected(const struct schedulers *sc, const struct sched_obj *o);

/* Give it a reason to act; nothing if it is not connected or its `scheduling` is False (CONFIGURE, QUIT and
 * RUN_JOB always pass). */
void schedulers_wake(struct schedulers *sc, struct sched_obj *o, enum sched_command why);
/* For virtual time: return true if there is a scheduler, and each waits in NEXT with everything seen. */
bool schedulers_all_wait(const void *schedulers); /* virtual_time_quiet_fn */
/* Is there one that is connected and whose attribute scheduling is true? */
bool schedulers_any_schedules(const void *schedulers); /* as reservations ask */
/* Is there one that would confirm reservations, and whose name is not among these ("a,b,")? */
bool schedulers_any_other(const void *schedulers, const char *names);
void schedulers_wake_all(struct schedulers *sc, enum sched_command why);
/* The one that serves this job's queue partition (default, if none says otherwise); may be NULL. */
struct sched_obj *schedulers_of_job(const struct schedulers *sc, const struct job *j);
struct sched_obj *schedulers_of_queue(const struct schedulers *sc,
                                      const struct queue *q); /* NULL: one of no partition */

/* Ask it about a job, by name (a subjob need not be an object yet): RUN_JOB, to run it at once, EXPLAIN, or WHEN. fn is
 * called once: code 0 or PBSE_* with a text, also when the scheduler goes away (PBSE_NOSCHEDULER); of EXPLAIN and WHEN
 * with code 0 the request that holds what was found (ifl_explain_reply_args), else NULL: borrowed, to be referenced.
 * -1, fn is not called: PBSE_NOSCHEDULER it is not connected, PBSE_TOOMANY it has SCHEDULERS_EXPLAIN_MAX to explain, or too many of one user.
 * `cancel` by destroying the asker: schedulers_forget(arg). */
enum { SCHEDULERS_EXPLAIN_MAX = 32, SCHEDULERS_EXPLAIN_USER_MAX = 4 };
typedef void schedulers_answer_fn(void *arg, int code, const char *text, struct request *found);
struct sched_question {
    enum sched_command what;
    const char *job;
    struct job
        *unlisted; /* of WHEN: the job, in no table, which is told with the question; referenced meanwhile */
    const char *
        asker; /* one of whom only SCHEDULERS_EXPLAIN_USER_MAX questions wait; NULL: of any number. Borrowed for the call */
};
int schedulers_ask(struct schedulers *sc, struct sched_obj *o, const struct sched_question *q,
                   schedulers_answer_fn *fn, void *arg, struct err *e);
void schedulers_forget(struct schedulers *sc, void *arg);
bool schedulers_is_asked(const struct schedulers *sc,
                         const struct job *j); /* by any request, to run it, without an answer yet */
/* SCHED_REPLY, EXPLAIN_REPLY. -1: PBSE_IVALREQ no such question of this scheduler. */
struct sched_answer {
    unsigned number;
    int code;
    const char *text;
    struct request *found; /* EXPLAIN_REPLY itself; or NULL */
};
int schedulers_answer(struct schedulers *sc, const void *owner, const struct sched_answer *a, struct err *e);

#endif
