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
#include "server_events.h"

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
/* Listener of EVENT_RUN_IMAGE and RESTARTED. */
void accounting_on_image(void *accounting, const struct server_event *ev);

/* More listeners of server_events.h, each of the event of its name. A running job gives vnodes back: u before, c after; at the
 * end of such a job e. */
void accounting_on_phase_over(void *accounting, const struct server_event *ev);
void accounting_on_phase_begun(void *accounting, const struct server_event *ev);
void accounting_on_moved(void *accounting, const struct server_event *ev);      /* Q again */
void accounting_on_unwanted(void *accounting, const struct server_event *ev);   /* A */
void accounting_on_left(void *accounting, const struct server_event *ev);       /* M */
void accounting_on_preempting(void *accounting, const struct server_event *ev); /* D where it is deleted */
/* What a preemption cost (our own record, letter v): how it ended, who asked, core-seconds that are lost. */
void accounting_on_preempted(void *accounting, const struct server_event *ev);
void accounting_on_resv_record(void *accounting, const struct server_event *ev);
void accounting_on_resv_job(void *accounting, const struct server_event *ev); /* D */

void accounting_moved_in(struct accounting *a, const struct job *j);                 /* Q again */
void accounting_deleted(struct accounting *a, const struct job *j, const char *who); /* D requestor= */
void accounting_checkpointed(struct accounting *a, const struct job *j);             /* C */
void accounting_restarted(struct accounting *a, const struct job *j);                /* T */
/* An attribute was altered by anyone but a scheduler: "Priority", NULL, "150"; value NULL: UNSET, else it is recorded as the
 * job has it now. Gathered until
 * accounting_altered_end, which writes one record. */
void accounting_altered(struct accounting *a, const struct job *j, const char *name, const char *resource,
                        const char *value);
void accounting_altered_end(struct accounting *a, const struct job *j);

#endif
