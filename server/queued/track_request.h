#ifndef TRACK_REQUEST_H
#define TRACK_REQUEST_H
/* TRACK: servers that gave us jobs wait here to hear that these have started, or how they ended.
 *
 * Each call names what is known already, and is answered as soon as there is more, durable here, or when it has waited as
 * long as it said. Loop thread only. */
#include "depend.h"
#include "request.h"

struct commit;
struct depends;
struct loop;
struct tracks;

struct tracks *tracks_create(struct loop *l, struct depends *d, struct commit *c); /* NULL: no memory */
void tracks_destroy(struct tracks *t); /* when no request is left */

void tracks_serve(struct tracks *t, struct request *r); /* IFL_TRACK */
void tracks_news(struct tracks *t, struct job_key key); /* more may be known of this job */

#endif
