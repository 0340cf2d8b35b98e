#ifndef HISTORY_H
#define HISTORY_H
/* Finished jobs: a row in the store at once, some minutes more in memory, and gone from the store after
 * job_history_duration, subjobs too, which are counted from their own end. Where no history is kept a job leaves with its end. One that has moved to another server is a row at
 * once, of the queue "queue@server", and no job of this server any more. */
#include "job.h"
#include "job_fsm.h"
#include "server_events.h"

struct commit;
struct history;
struct loop;
struct server_ctx;
struct status;

struct history *history_create(struct loop *l, struct server_ctx *s, struct job_fsm *f, struct commit *c,
                               struct status *st);
void history_destroy(struct history *h);

/* Listener of EVENT_RUN_ENDED. Writes the row. */
void history_on_ended(void *history, const struct server_event *ev);
/* After a restart: jobs that had ended before are in the store's history, and leave memory. */
void history_restore(struct history *h);

/* Listener of the machine: a job that ended is kept in memory for a while. */
void history_listen(void *history, struct job *j, enum job_state from, enum job_event ev);

#endif
