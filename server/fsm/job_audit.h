#ifndef JOB_AUDIT_H
#define JOB_AUDIT_H
/* The event log of jobs: one line for each transition. History only, never replayed.
 *
 * The line goes to the store with the batch that holds the transition, through ^put (server/store is a higher
 * folder), and to the daemon's log as a debug line. A line reads "run: queued -> starting run=2". Loop thread
 * only.
 */
#include <stdint.h>

#include "job_fsm.h"
#include "server_events.h"

struct clock;
struct job_audit;

/* Keep a line: commit_add_log, whose folder is above this one. */
typedef void job_audit_put_fn(void *arg, struct job_key key, int64_t time_ns, const char *text);

struct job_audit *job_audit_create(struct clock *clock, job_audit_put_fn *put,
                                   void *arg); /* NULL: no memory */
void job_audit_destroy(struct job_audit *l);

/* job_listener_fn; bind it before the listeners that cause further transitions, with the log as argument. */
void job_audit_listen(void *job_log, struct job *j, enum job_state from, enum job_event ev);

/* Listener of EVENT_JOB_PREEMPTED. */
void job_audit_on_preempted(void *job_log, const struct server_event *ev);

/* Write a line that is not a transition: "release: host n2", "signal TERM by anna@h". */
void job_audit_note(struct job_audit *l, const struct job *j, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
