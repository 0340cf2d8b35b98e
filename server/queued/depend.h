#ifndef DEPEND_H
#define DEPEND_H
/* Dependencies: what a job waits for, what waits for it, and what becomes of both when it starts or ends.
 *
 * A tie stands in the attribute "depend" of both jobs: afterok:A in B is beforeok:B in A. A job with an
 * "after" that is not satisfied, with "on:N" that is not used up, or whose runone group has a member that runs,
 * carries HOLD_DEPEND (shown as hold s, substate 22). Both sides change in one turn, hence in one batch of the
 * store: a restart at any moment finds them in step, and nothing is replayed.
 *
 *   satisfied            the tie goes from both jobs; the last one releases the job
 *   cannot be satisfied  the job is deleted, and what depends on it is judged in turn
 *
 * A target that has ended is judged at once, in memory or by what the store's history says (depend_history). An
 * array is a target by its parent: it has started with its first subjob and ends with its last one. Loop thread
 * only. Rule: reference guide, qsub -W depend. */
#include <stddef.h>

#include "depend_history.h"
#include "err.h"
#include "job.h"
#include "level.h"

struct depend_remote;
struct depend_remotes;
struct depends;
struct job_fsm;
struct store_notes;
struct server_ctx;

struct depends *depends_create(struct server_ctx *s, struct job_fsm *f,
                               struct depend_remotes *a); /* listens to `f`; NULL: no memory */
void depends_destroy(struct depends *d);

struct depends_hooks {
    void *arg;
    /* This job's dependency on `target` cannot be satisfied any more: delete it. */
    void (*unmet)(void *arg, struct job *j, const char *target);
    /* What depends_facts says of this job may have changed. */
    void (*news)(void *arg, struct job_key key);
};
/* Once, before any job is tied. `n`: where jobs went, what they were called, how those from elsewhere ended. */
void depends_bind(struct depends *d, struct store_notes *n, const struct depends_hooks *h);

/* Is this list right for the job (which need not be in the table yet)? `past`: ended jobs, from the store.
 * -1: PBSE_BADDEPEND a target is unknown, the job itself, another user's, has no "on" left, or waits for this
 * job; PBSE_HISTDEPEND a target has ended and did not satisfy; PBSE_BADATVAL the grammar. */
int depends_check(struct depends *d, const struct job *j, const char *text, const struct depend_history *past,
                  size_t n_past, struct err *e);

/* The job's list, checked in this turn, takes effect: ties are made in the other jobs, the hold is set. The job
 * is in the table. */
void depends_enter(struct depends *d, struct job *j, const struct depend_history *past, size_t n_past);

/* Its list was altered, and checked; `old` is the text before. What waits for this job goes on waiting. */
void depends_altered(struct depends *d, struct job *j, const char *old, const struct depend_history *past,
                     size_t n_past);

/* ---- jobs that move between servers (depend_remote.h)
 *
 * A job that leaves keeps its ties: it leaves an away, and its whole list goes along, as that of its home. At the other
 * server it waits as long as that list says so. */

/* It came with a list, which its new home is to be asked about, and is in no queue yet. */
void depends_arrive(struct depends *d, struct job *j);
/* It went to `server`, where it is called `as`; it is here until the end of this turn. */
void depends_left(struct depends *d, struct job *j, const char *server, const char *as);
/* It did not move after all: what was put off until that was known is done now; it may be deleted. */
void depends_stayed(struct depends *d, struct job *j);

/* A job that came from elsewhere, as the server that asks knows it: what it is called here ("": not known), and there. */
struct depend_peer_job {
    const char *as, *name;
};
/* REGIST_DEP: its list there is `list` now, and it is to be deleted because of `doomed` ("": not). -1: PBSE_UNKJOBID. */
int depends_told(struct depends *d, const struct depend_peer_job *of, const char *list, const char *doomed,
                 struct err *e);
/* TRACK: what is known of it (enum tie_fact), and its number here, by which `news` speaks of it. -1: PBSE_UNKJOBID. */
int depends_facts(struct depends *d, const struct depend_peer_job *of, struct job_key *key, unsigned *facts,
                  struct err *e);

/* The server where it is says what is known of it; the away may go. */
void depends_heard(struct depends *d, struct depend_remote *a, unsigned facts);
/* That server knows no such job. If it never did, what waits for it is deleted, and the away goes; else a person must look. */
void depends_unknown(struct depends *d, struct depend_remote *a);

#endif
