#ifndef DEPEND_H
#define DEPEND_H
/* Dependencies: what a job waits for, what waits for it, and what happens to both when it starts or ends.
 *
 * A dependency (link) is in the attribute "depend" of both jobs: afterok:A in B is beforeok:B in A. A job with
 * an "after" that is not satisfied, with "on:N" that is not used up, or whose runone group has a member that
 * runs, has HOLD_DEPEND (shown as hold s, substate 22). Both sides change in one iteration of the loop, so in
 * one batch of the store: a restart at any moment finds them consistent, and nothing is replayed.
 *
 *   satisfied            the link is removed from both jobs; the last one releases the job
 *   cannot be satisfied  the job is deleted, and the dependencies on it are checked next
 *
 * A target that has ended is checked at once, in memory or in the store's history (depend_history). An
 * array is a target by its parent: it has started with its first subjob and ends with its last one. Loop thread
 * only. Rule: reference guide, qsub -W depend. */
#include <stddef.h>

#include "depend_history.h"
#include "err.h"
#include "job.h"
#include "level.h"
#include "job_fsm.h"
#include "server_events.h"

struct depend_remote;
struct depend_remotes;
struct depends;
struct store_notes;
struct server_ctx;

struct depends *
depends_create(struct server_ctx *s, struct job_fsm *f,
               struct depend_remotes *a); /* tells EVENT_JOB_UNWANTED, _FACTS; NULL: no memory */
void depends_destroy(struct depends *d);

/* Call once, before any dependency is made. `n`: notes of where jobs went, their former names, how those from
 * elsewhere ended. */
void depends_bind(struct depends *d, struct store_notes *n);

/* Check this list for the job (which need not be in the table yet). `past`: ended jobs, from the store.
 * -1: PBSE_BADDEPEND a target is unknown, the job itself, another user's, has no "on" left, or waits for this
 * job; PBSE_HISTDEPEND a target has ended and did not satisfy; PBSE_BADATVAL the grammar. */
int depends_check(struct depends *d, const struct job *j, const char *text, const struct depend_history *past,
                  size_t n_past, struct err *e);

/* Apply the job's list, checked in this iteration: add links to the other jobs, set the hold. The job
 * is in the table. */
void depends_enter(struct depends *d, struct job *j, const struct depend_history *past, size_t n_past);

/* Apply its altered and checked list; `old` is the text before. Jobs that wait for this job continue to wait. */
void depends_altered(struct depends *d, struct job *j, const char *old, const struct depend_history *past,
                     size_t n_past);

/* ---- jobs that move between servers (depend_remote.h)
 *
 * A job that moves away keeps its links: a struct depend_remote remains here for it, and its whole list goes
 * along, as that of its home. At the other server it waits as long as that list says so. */

/* It came with a list that the sending server keeps from now on, and is in no queue yet. */
void depends_arrive(struct depends *d, struct job *j);

/* A job that came from elsewhere, as the server that asks knows it: what it is called here ("": not known), and there. */
struct depend_peer_job {
    const char *as, *name;
};
/* REGIST_DEP: its list there is `list` now, and it is to be deleted because of `doomed` ("": not). -1: PBSE_UNKJOBID. */
int depends_told(struct depends *d, const struct depend_peer_job *of, const char *list, const char *doomed,
                 struct err *e);
/* TRACK: what is known of it (enum depend_fact), and its number here, by which `news` speaks of it. -1: PBSE_UNKJOBID. */
int depends_facts(struct depends *d, const struct depend_peer_job *of, struct job_key *key, unsigned *facts,
                  struct err *e);

/* Facts from the server where the job is; `a` may be freed. */
void depends_heard(struct depends *d, struct depend_remote *a, unsigned facts);
/* That server does not know the job. If it never did, the jobs that wait for it are deleted and `a` is freed;
 * else it is logged as an error for an administrator. */
void depends_unknown(struct depends *d, struct depend_remote *a);

/* Listener of the machine: dependencies on the job, and its own. */
void depends_listen(void *depends, struct job *j, enum job_state from, enum job_event ev);
/* Listeners of EVENT_JOB_LEFT and EVENT_JOB_STAYED. */
void depends_on_left(void *depends, const struct server_event *ev);
void depends_on_stayed(void *depends, const struct server_event *ev);

#endif
