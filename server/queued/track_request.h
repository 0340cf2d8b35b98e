#ifndef TRACK_REQUEST_H
#define TRACK_REQUEST_H
/* TRACK: servers that gave us jobs wait here to hear that these have started, or how they ended.
 *
 * Each call contains what is known already, and is answered as soon as there is more, durable here, or after
 * the time that it gave. Loop thread only. */
#include "depend.h"
#include "request.h"

struct commit;
struct depends;
struct loop;
struct track_request;

struct track_request *track_request_create(struct loop *l, struct depends *d,
                                           struct commit *c); /* NULL: no memory */
void track_request_destroy(struct track_request *t);          /* when no request is left */

void track_request_serve(struct track_request *t, struct request *r); /* IFL_TRACK */
/* Listener of EVENT_JOB_FACTS: more may be known of this job. */
void track_request_on_facts(void *track_request, const struct server_event *ev);

#endif
