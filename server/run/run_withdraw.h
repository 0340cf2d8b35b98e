#ifndef RUN_WITHDRAW_H
#define RUN_WITHDRAW_H
/* Taking back the order to end a run that methods R and D have given, as long as its hosts have sent no more than SIGTERM.
 *
 *   run_withdraw_begin   WITHDRAW to every host; the job has its intent until all have answered
 *     all hosts say that it runs on        -> the intent is dropped, EVENT_RUN_STAYS
 *     a host refuses, fails or is over     -> the run is told to end again, EVENT_RUN_ENDS
 *     finish                               -> as if nothing had been withdrawn: the job goes back, or away
 *     act_terminate                        -> another wish to end it: that one counts
 *
 * The wish is stored with the run. A host that was away, and a restarted server's hosts, get the order by runs_renew().
 * Loop thread only. */
#include <stdbool.h>

#include "job.h"
#include "server_events.h"

struct exec_send;
struct run_withdraw;
struct server_ctx;

struct run_withdraw *run_withdraw_create(struct server_ctx *s, struct exec_send *x); /* NULL: no memory */
void run_withdraw_destroy(struct run_withdraw *w);

/* false, and nothing is done: the job is not running on all of its hosts, one order to end was not the only one, an image is being
 * written, or a host is of a version that cannot withdraw. */
bool run_withdraw_begin(struct run_withdraw *w, struct job *j);

/* Listener of EVENT_RUN_RESUMED: the job runs on at one host more. */
void run_withdraw_on_resumed(void *withdraw, const struct server_event *ev);
/* Listener of EVENT_RUN_REFUSED and FAILED. */
void run_withdraw_on_failed(void *withdraw, const struct server_event *ev);
/* Listener of EVENT_RUN_RELEASED and LOST: the job cannot run on without that host. */
void run_withdraw_on_host_over(void *withdraw, const struct server_event *ev);

#endif
