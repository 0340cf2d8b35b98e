#ifndef TERM_RESEND_H
#define TERM_RESEND_H
/* A host that refuses to end a run gets the order again, resend_term_delay seconds later, until the run has finished.
 *
 * The order has the wish of that moment: SIGTERM with its time of grace, or SIGKILL if a request asked for that
 * meanwhile. A host that is away is not concerned: its HELLO renews the order. Kept in memory only, since a restart
 * renews orders too.
 */
#include "server_events.h"

struct loop;
struct term_resend;
struct runs;
struct server_ctx;

struct term_resend *term_resend_create(struct loop *l, struct server_ctx *s,
                                       struct runs *r); /* NULL: no memory */
void term_resend_destroy(struct term_resend *r);

/* Listener of EVENT_RUN_REFUSED: if it was TERMINATE of the job's present run, it is sent again later. Without memory it is not told again before its next event. */
void term_resend_on_refused(void *resend, const struct server_event *ev);

#endif
