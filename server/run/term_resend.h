#ifndef TERM_RESEND_H
#define TERM_RESEND_H
/* A host that refuses to end a run is told again, resend_term_delay seconds later, until the run has finished.
 *
 * What it hears is what stands then: SIGTERM with its time of grace, or SIGKILL if somebody asked for that meanwhile. A host
 * that is away is none of this: its HELLO brings the order back. Kept in memory only, since a restart renews orders too.
 */
#include "job.h"

struct loop;
struct resend;
struct runs;
struct site;

struct resend *resend_create(struct loop *l, struct site *s, struct runs *r); /* NULL: no memory */
void resend_destroy(struct resend *r);

/* TERMINATE of the job's present run was refused by a host. Without memory it is not told again before its next event. */
void resend_later(struct resend *r, struct job *j);

#endif
