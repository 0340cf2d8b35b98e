#ifndef RESERVATIONS_H
#define RESERVATIONS_H
/* Reservations as a part of the server: what the files of this folder share.
 *
 *   a request or the clock -> resv_fsm_post -> actions (resv_life.c) -> events: records, mail, schedulers
 *
 * resv_clock_look() compares a reservation that has changed, or whose time has come, with the clock and its jobs and posts what has become due
 * (resv_clock.h). Without reservations nothing is called. Loop thread only. */
#include "job.h"
#include "job_fsm.h"
#include "loop.h"
#include "preempt_method.h"
#include "resv.h"
#include "resv_fsm.h"
#include "server_ctx.h"
#include "server_events.h"

struct commit;
struct names;
struct request;
struct resv_wait;
struct runs;
struct victims;

struct resv_parts { /* tells EVENT_RESV_* */
    struct loop *loop;
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct commit *commit;
    struct names *names;
    struct runs *runs;
    struct victims *victims;
    /* Would a scheduler answer now? The part that knows is above. */
    bool (*is_scheduled)(const void *arg);
    /* Might one answer yet that is not among these names ("a,b,")? */
    bool (*others)(const void *arg, const char *names);
    const void *schedulers;
};

struct resv_decision { /* of the CONFIRM that is being handled */
    const char *location, *partition, *who;
    const char *why_later; /* why it does not begin sooner; NULL: it was not asked */
    int64_t start_s;
    bool is_begun; /* the job that it is made of runs already */
};

struct reservations { /* read by the files of this folder only */
    struct resv_parts p;
    struct resv_fsm *fsm;
    loop_fn *look;            /* resv_clock.c: compares them with the clock and their jobs */
    struct loop_timer *timer; /* for the first of `due` */
    struct pqueue due;        /* resv->due */
    struct resv_wait *waits;  /* clients that wait for a decision; resv_wait.c */
    struct resv_decision decision;
    int64_t patient_till_s; /* until then hosts that have not been heard of since the start are not lost */
    const char *requestor;  /* of the deletion that is being handled; NULL: the server */
    struct resv *first_look, *last_look; /* to be looked at in this turn, each once; referenced */
    bool look_waits;                     /* the look of this turn is deferred */
    bool look_all;                       /* it is at all of them */
    bool later_moved;                    /* vnodes have changed since the last look at all */
    bool entering;                       /* actions are performed again after a restart */
};

struct reservations *reservations_create(const struct resv_parts *p, struct err *e);
void reservations_destroy(struct reservations *all); /* clients that wait are told that the server ends */
/* After a restart, before jobs claim: queues and shares. */
void reservations_link(struct reservations *all);

/* Have resv_clock_look look at this one at the end of this turn of the loop, O(1); of maintenance at all of them. */
void reservations_look_later(struct reservations *all, struct resv *r);
/* ... at all of them: something has changed that any of them may depend on. */
void reservations_look_at_all(struct reservations *all);
/* Begin a look: those whose time has come join those that are to be looked at. The last one of these, or NULL. */
struct resv *reservations_list_looks(struct reservations *all, int64_t now_s);
/* The next one that is to be looked at, referenced, which the caller gives back; NULL: no more. */
struct resv *reservations_next_look(struct reservations *all);

/* Requests. Each answers. */
void resv_submit(struct reservations *all, struct request *q);  /* IFL_SUBMIT_RESV */
void resv_confirm(struct reservations *all, struct request *q); /* IFL_CONFIRM_RESV */
void resv_delete(struct reservations *all, struct request *q);  /* IFL_DELETE_RESV */
void resv_alter(struct reservations *all, struct request *q);   /* IFL_MODIFY_RESV */

/* ---- for the files of this folder */
/* The reservation of this identifier, with or without the server, or NULL with PBSE_UNKRESVID. */
struct resv *reservations_find(const struct reservations *all, const char *id, struct err *e);
/* May this client alter or delete it? -1: PBSE_PERM, logged. */
int reservations_may(const struct request *q, const struct resv *r, struct err *e);
/* Return true if this vnode is not lost yet: it has not been heard of since this server started, which may still come. */
bool reservations_may_be_back(const struct reservations *all, const struct node *n);
/* Tell an event of this kind, about `r` where it is about one. */
void reservations_tell(const struct reservations *all, enum server_event_kind k, const struct resv *r);
/* Tell a record of accounting. */
void reservations_record(const struct reservations *all, const struct resv *r, char letter, const char *text);

/* resv_submit.c: the running job of which a submitted reservation is to be made, or NULL. Borrowed from the request. */
const char *resv_submit_job(struct request *q);
/* resv_submit.c: of a job that has begun and asks for it by create_resv_from_job. */
void resv_submit_of_started(struct reservations *all, struct job *j);

/* resv_life.c */
void resv_life_bind(struct reservations *all);
bool resv_life_is_running(const struct resv *r); /* a job of it has a run */
void resv_life_log_time(const struct resv *r, const char *what);

/* resv_alter.c: it is what it was before; it stays what it is now. */
void resv_alter_undo(struct reservations *all, struct resv *r);
void resv_alter_keep(struct reservations *all, struct resv *r);
/* A standing one: what was altered for one occurrence is as it was. */
void resv_alter_undo_occurrence(struct reservations *all, struct resv *r);

/* resv_queue.c */
int resv_queue_create(struct reservations *all, struct resv *r, struct err *e);
void resv_queue_open(struct reservations *all, struct resv *r, bool enabled, bool started);
void resv_queue_set_acls(struct reservations *all, struct resv *r);
void resv_queue_set_amounts(struct reservations *all,
                            struct resv *r);                      /* those of its present Resource_List */
void resv_queue_remove(struct reservations *all, struct resv *r); /* it holds no jobs */

/* resv_wait.c: "I": a client waits for the decision */
/* seconds > 0: answered UNCONFIRMED when they are over; < 0: the reservation is deleted then. -1: no memory. */
int resv_wait_add(struct reservations *all, struct resv *r, struct request *q, int64_t seconds,
                  struct err *e);
/* Answer the client that waits for this one: "ID WORD". None waits: nothing. */
void resv_wait_settle(struct reservations *all, const struct resv *r, const char *word);
/* The same of this request, when everything is durable. word NULL: of a request that is answered without a text. */
void resv_wait_promise(struct reservations *all, struct request *q, const struct resv *r, const char *word);
void resv_wait_destroy_all(struct reservations *all);

#endif
