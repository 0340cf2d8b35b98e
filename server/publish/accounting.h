#ifndef ACCOUNTING_H
#define ACCOUNTING_H
/* Accounting records: a line is a row of the batch that holds what it tells of; the file comes after.
 *
 * "MM/DD/YYYY HH:MM:SS;T;id;text". Transitions of jobs make Q S E R z r by themselves (a listener of job_fsm); what
 * only a request knows is told by the calls below. How a line comes into its file is acct_files.h.
 * Loop thread.
 */
#include <stdint.h>

#include "commit.h"
#include "derived_attribs.h"
#include "job.h"
#include "job_fsm.h"
#include "preempt_method.h"
#include "server_ctx.h"
#include "run_events.h"

struct accounting;
struct loop;

/* `home` is PBS_HOME. The folder is made if it is missing. */
struct accounting *accounting_create(struct loop *l, struct server_ctx *s, struct commit *c, const char *home,
                                     struct err *e);
void accounting_destroy(struct accounting *a); /* what is durable is in the files then */

/* At start, before the loop runs: complete the files from the store. Blocks. */
int accounting_restore(struct accounting *a, struct store *from, struct err *e);

/* job_listener_fn; bind it with the accounting as argument, before preemption's listener. */
void accounting_listen(void *accounting, struct job *j, enum job_state from, enum job_event ev);
/* Listener of RUN_EVENT_IMAGE and RESTARTED. */
void accounting_on_image(void *accounting, const struct run_event *ev);

/* A running job gives vnodes back: u before, c after; at the end of such a job e. */
void accounting_phase_over(void *accounting, struct job *j);
void accounting_phase_begun(void *accounting, struct job *j);
void accounting_moved_in(struct accounting *a, const struct job *j);                 /* Q again */
void accounting_deleted(struct accounting *a, const struct job *j, const char *who); /* D requestor= */
void accounting_aborted(struct accounting *a, const struct job *j, const char *why); /* A */
void accounting_moved_out(struct accounting *a, const struct job *j, const char *destination); /* M */
void accounting_checkpointed(struct accounting *a, const struct job *j);                       /* C */
void accounting_restarted(struct accounting *a, const struct job *j);                          /* T */
/* An attribute was altered by anyone but a scheduler: "Priority", NULL, "150"; value NULL: UNSET, else it is recorded as the
 * job has it now. Gathered until
 * accounting_altered_end, which writes one record. */
void accounting_altered(struct accounting *a, const struct job *j, const char *name, const char *resource,
                        const char *value);
void accounting_altered_end(struct accounting *a, const struct job *j);
/* A record of a reservation: its letter, the text behind its identifier. */
struct resv;
void accounting_resv(struct accounting *a, const struct resv *r, char letter, const char *text);
/* What a preemption cost (our own record, letter v): how it ended, who asked, core-seconds that are lost. `r`
 * has a letter (preempt_result_letter). */
void accounting_preempted(struct accounting *a, const struct job *j, enum preempt_result r, const char *by,
                          double lost_core_s);

#endif
