#ifndef RUN_EVENTS_H
#define RUN_EVENTS_H
/* What happens to runs, told to the parts that act on it: what execution services report, and what became of attempts.
 *
 * The machine (job_fsm.h) has the events that move a job; these are the others. A part tells an event after it has changed the
 * run, and knows no listener. Each kind has its own listeners, called in the order in which they were bound: the table in
 * assembly_events.c. Loop thread only. */
#include "err.h"
#include "job.h"

struct exec_checkpointed_data;
struct exec_hook_data;
struct exec_declared;
struct exec_notice_data;
struct run_events;

enum run_event_kind {                     /* beside `job`, the fields that it fills in */
                      RUN_EVENT_READY,    /* a host is prepared */
                      RUN_EVENT_RELEASED, /* service: a host is over, and perhaps the run */
                      RUN_EVENT_LOST, /* service: it does not hold a run that had begun there, or that is no longer wanted */
                      RUN_EVENT_KEPT, /* service: a host holds the run, and orders may have been lost: send again those that are in force */
                      RUN_EVENT_REFUSED, /* service, proc (EXEC_START ...), code, text: it refused an order */
                      RUN_EVENT_FAILED,  /* method, code, text: an attempt failed on a host */
                      RUN_EVENT_SUSPENDED,    /* one host more */
                      RUN_EVENT_RESUMED,      /* one host more */
                      RUN_EVENT_CHECKPOINTED, /* service, image: one host more */
                      RUN_EVENT_NO_IMAGE,     /* text: the job starts without the image that START named */
                      RUN_EVENT_NOTICE_REPLY, /* notice: the job answers a notice */
                      RUN_EVENT_HOOK,         /* service, hook: what a hook of the host asks for */
                      RUN_EVENT_DECLARED,     /* declared: its program says, or shows, that it saves itself */
                      RUN_EVENT_FILES,        /* service, text: some files could not be delivered */
                      RUN_EVENT_USED,         /* its usage was reported */
                      RUN_EVENT_IMAGE,        /* the job has a whole image and leaves */
                      RUN_EVENT_RESTARTED,    /* it continues from its image */
                      RUN_EVENT_NOT_SUSPENDED, /* why: the attempt has failed as a whole; likewise the next two */
                      RUN_EVENT_NOT_RESUMED,
                      RUN_EVENT_NOT_CHECKPOINTED,
                      RUN_EVENT_ENDED, /* the job is about to leave: its run, if it had one, can still be read */
                      RUN_EVENT_COUNT
};

struct run_event { /* all of it is borrowed for the call */
    enum run_event_kind kind;
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
};

typedef void run_listener_fn(void *arg, const struct run_event *ev);

struct run_events *run_events_create(void); /* NULL: no memory */
void run_events_destroy(struct run_events *b);

void run_events_listen(struct run_events *b, enum run_event_kind k, run_listener_fn *fn, void *arg);
/* Call the listeners of this kind. One of them may end the run, or the job: those after it look; the caller holds a reference
 * if it uses the job afterwards. */
void run_events_tell(struct run_events *b, const struct run_event *ev);

#endif
