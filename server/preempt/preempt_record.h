#ifndef PREEMPT_RECORD_H
#define PREEMPT_RECORD_H
/* The stored half of a job that gives way (j->preempt): which methods are left, which have been tried, who asked, for
 * whom;
 * and what users see of it afterwards: preempted_by, preempt_count, preempt_time, the method.
 *
 *   preempt_record_make -> preempt_record_take_method ... -> preempt_record_note_end -> preempt_record_drop
 *
 * victim.c knows which requests wait, and until when. Loop thread only. */
#include <stdbool.h>

#include "err.h"
#include "preempt_method.h"
#include "server_events.h"

struct job;
struct preempt_line;
struct queue;
struct preempt_record;
struct server_ctx;

struct preempt_record_ask {
    struct preempt_methods methods; /* in the order in which they are to be tried */
    const char *by;                 /* who asks, for people */
    const char *scheduler;          /* the sched object of the scheduler that asks */
    const char *urgent;             /* for which job; NULL: the request does not say */
    const struct preempt_line
        *line; /* what allows it, for the record; NULL: not said. Borrowed for the call */
    int64_t grace_ms, grace_max_ms; /* preempt_notices_grace_ms */
};

/* Give the job a preempt record. -1 PBSE_SYSTEM: no memory. */
int preempt_record_make(struct server_ctx *s, struct job *j, const struct preempt_record_ask *ask,
                        struct err *e);
void preempt_record_drop(struct server_ctx *s, struct job *j);

/* The budget of the urgent job's queue pays for what the method under way destroys. */
void preempt_record_charge(struct server_ctx *s, struct job *j, struct queue *urgent);
/* Drop it: the job runs on, or another wish has ended it. What was charged is given back. */
void preempt_record_withdraw(struct server_ctx *s, struct job *j);

/* The first of those left is being tried. */
void preempt_record_take_method(struct preempt_record *m);

/* Listener of EVENT_RUN_ENDED: the job becomes history, and its row is about to be written. Does nothing without a preempt record. */
void preempt_record_on_ended(void *ctx, const struct server_event *ev);
/* It has settled with this result. What is noted already stays. */
void preempt_record_note_end(struct server_ctx *s, struct job *j, enum preempt_result r);

/* It is gone, but not by a method: by itself, on notice or before it could be reached, or by its owner's wish. */
bool preempt_record_went_otherwise(const struct job *j, enum preempt_result r);

#endif
