#ifndef SERVER_EVENTS_H
#define SERVER_EVENTS_H
/* What happens to runs, jobs, reservations, vnodes and clients, told to the parts that act on it.
 *
 * The machine (job_fsm.h) has the events that move a job, and tells its transitions; these are all others. A part tells an event
 * after it has changed the object, through server_ctx.events, and knows no listener. Each kind has its own listeners, called in
 * the order in which they were bound: the table in assembly_events.c, which is the only caller of server_events_listen(). A kind
 * without listeners is told to no part. Loop thread only. */
#include <stdint.h>

#include "err.h"
#include "job.h"
#include "preempt_method.h"

struct depend_remote;
struct earmark_obj;
struct exec_checkpointed_data;
struct exec_declared;
struct exec_hook_data;
struct exec_notice_data;
struct node;
struct resv;
struct server_events;

enum server_event_kind {
    /* Runs. Beside `job` these fields are filled in: */
    EVENT_RUN_READY,    /* a host is prepared */
    EVENT_RUN_RELEASED, /* service: a host is over, and perhaps the run */
    EVENT_RUN_LOST, /* service: it does not hold a run that had begun there, or that is no longer wanted */
    EVENT_RUN_KEPT, /* service: a host holds the run, and orders may have been lost: send again those that are in force */
    EVENT_RUN_REFUSED,      /* service, proc (EXEC_START ...), code, text: it refused an order */
    EVENT_RUN_FAILED,       /* method, code, text: an attempt failed on a host */
    EVENT_RUN_SUSPENDED,    /* one host more */
    EVENT_RUN_RESUMED,      /* one host more */
    EVENT_RUN_CHECKPOINTED, /* service, image: one host more */
    EVENT_RUN_NO_IMAGE,     /* text: the job starts without the image that START named */
    EVENT_RUN_DECLARED,     /* service, declared: its program there says, or shows, that it saves itself */
    EVENT_RUN_PARTY, /* programs of a host take part in conversations about preemption, or do not any more */
    EVENT_RUN_LEFT,  /* service: something of the job stays there for its next run */
    EVENT_RUN_SAVABLE,       /* its program could not be saved, and says or shows now that it can */
    EVENT_RUN_NOTICE_REPLY,  /* service, notice: a host of the job answers a notice */
    EVENT_RUN_HOOK,          /* service, hook: what a hook of the host asks for */
    EVENT_RUN_FILES,         /* service, text: some files could not be delivered */
    EVENT_RUN_USED,          /* its usage was reported */
    EVENT_RUN_IMAGE,         /* the job has a whole image and leaves */
    EVENT_RUN_RESTARTED,     /* it continues from its image */
    EVENT_RUN_NOT_SUSPENDED, /* why: the attempt has failed as a whole; likewise the next two */
    EVENT_RUN_NOT_RESUMED,
    EVENT_RUN_NOT_CHECKPOINTED,
    EVENT_RUN_STAYS,         /* its end was ordered and is withdrawn; it runs on */
    EVENT_RUN_ENDS,          /* the end could not be withdrawn, and was ordered again */
    EVENT_RUN_METHOD_FAILED, /* id, code: a preemption by this method has failed at the job's hosts */
    EVENT_RUN_ENDED,         /* the job is about to leave: its run, if it had one, can still be read */
    EVENT_RUN_PHASE_OVER,    /* vnodes are about to be given back; nothing has changed yet */
    EVENT_RUN_PHASE_BEGUN, /* they have been given back; letter: c, or s (before the script, without PHASE_OVER) */
    EVENT_RUN_LIMITS,      /* limits were altered, or where output goes: its hosts must know */

    /* Jobs. Beside `job`: */
    EVENT_JOB_MOVED,    /* it has come from a route queue into another queue */
    EVENT_JOB_UNWANTED, /* text: no queue takes it, or its dependency cannot be satisfied; delete it */
    EVENT_JOB_LEFT, /* to ("queue@server"), as: it is at another server under this identifier, and gone at once */
    EVENT_JOB_STAYED, /* its move to another server has failed */
    EVENT_JOB_FACTS,  /* key, and no job: the result of depends_facts() for it may have changed */
    EVENT_REMOTE_CHANGED, /* remote, and no job: what is noted of a job at another server is new, or is to be sent there */
    EVENT_REMOTE_GOING,   /* remote, and no job: it is about to be removed */
    EVENT_JOB_PREEMPTING, /* result, by: a method that would have this result has begun */
    EVENT_JOB_PREEMPTED, /* result, by, lost_core_s: every end; ENDED: the job ended before a method reached it */

    /* Reservations. Beside `resv`: */
    EVENT_RESV_SUBMITTED, /* a scheduler is to decide about it */
    EVENT_RESV_CONFIRMED, /* its vnodes were named */
    EVENT_RESV_BEGUN,     /* an occurrence begins; not from an action that is performed again */
    EVENT_RESV_OVER,      /* one has ended, or the whole that was confirmed once is deleted; likewise */
    EVENT_RESV_STARTED,   /* its jobs may run */
    EVENT_RESV_ENDED,     /* its vnodes are free */
    EVENT_RESV_UNFIT,     /* it wants other vnodes */
    EVENT_RESV_RECORD,    /* letter, text: a record of accounting */
    EVENT_RESV_MAIL,      /* letter (of Mail_Points), text */
    EVENT_RESV_LEFT,      /* job: it was moved out of its queue */
    EVENT_RESV_JOB,       /* job, by: it is to end with its reservation */

    /* Others */
    EVENT_EARMARK_ROOM, /* earmark: more of its room is free than before, or less */
    EVENT_NODE_STATE,   /* node, old_state, old_state_s: it has changed, not only by its jobs */
    EVENT_CLIENT_GONE,  /* client: its connection is closed */
    EVENT_SCHED_HEARD,  /* client: a scheduler has sent a request */
    EVENT_SCHED_HUNG,   /* client: a scheduler has said nothing for too long */
    EVENT_SCHED_TIME,   /* scheduler_iteration has passed in virtual time */
    SERVER_EVENT_COUNT
};

struct server_event { /* all of it is borrowed for the call */
    enum server_event_kind kind;
    struct job *job;
    const char *service; /* lives as long as the service */
    unsigned proc;
    const char *method;
    int code;
    const char *text;
    const struct exec_checkpointed_data *image;
    const struct exec_notice_data *notice;
    const struct exec_hook_data *hook;
    const struct exec_declared *declared;
    const struct err *why;
    struct job_key key;
    const char *to, *as;
    struct depend_remote *remote;
    struct earmark_obj *earmark;
    enum method_id id;
    enum preempt_result result;
    const char *by;
    double lost_core_s;
    const struct resv *resv;
    char letter;
    const struct node *node;
    unsigned old_state;
    int64_t old_state_s;
    const void *client;
};

typedef void server_listener_fn(void *arg, const struct server_event *ev);

struct server_events *server_events_create(void); /* NULL: no memory */
void server_events_destroy(struct server_events *b);
/* The server ends: from now on no listener is called, as parts are being destroyed. NULL is accepted. */
void server_events_silence(struct server_events *b);

void server_events_listen(struct server_events *b, enum server_event_kind k, server_listener_fn *fn,
                          void *arg);
/* Call the listeners of this kind. One of them may end the run, or the job: those after it look; the caller holds a reference
 * if it uses the job afterwards. */
void server_events_tell(struct server_events *b, const struct server_event *ev);

#endif
