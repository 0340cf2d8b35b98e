#ifndef MARK_H
#define MARK_H
/* The stored half of a job that gives way (j->preempt): which letters are left, which have been tried, who asked, for whom;
 * and what people see of it afterwards: preempted_by, preempt_count, preempt_time, the method.
 *
 *   mark_make -> mark_take_letter ... -> mark_note_end -> mark_drop
 *
 * Who waits, and until when, is victim.c's. Loop thread only. */
#include <stdbool.h>

#include "err.h"

struct job;
struct preempt_mark;
struct site;

struct mark_ask {
    const char *letters;            /* of SCRD, in the order in which they are to be tried */
    const char *by;                 /* who asks, for people */
    const char *scheduler;          /* the sched object of whoever asks */
    const char *urgent;             /* for which job; NULL: nobody said */
    int64_t grace_ms, grace_max_ms; /* notices_grace_ms */
};

/* The job has a mark from now on. -1 PBSE_SYSTEM: no memory. */
int mark_make(struct site *s, struct job *j, const struct mark_ask *ask, struct err *e);
void mark_drop(struct site *s, struct job *j);

/* The first of those left has been tried. */
void mark_take_letter(struct preempt_mark *m);

/* ^ of job_end: the job becomes history, and its row is about to be written. Without a mark nothing happens. */
void mark_note_gone(struct site *s, struct job *j);
/* It has settled with this code (victim.h). What is noted already stays. */
void mark_note_end(struct site *s, struct job *j, const char *code);

/* It is gone, but not by a method: by itself, on notice or before it could be reached, or by its owner's wish. */
bool mark_went_otherwise(const struct job *j, const char *code);

#endif
