#ifndef RESV_REFUSE_H
#define RESV_REFUSE_H
/* A scheduler has no room for a reservation. One that belongs to no partition yet is refused when all schedulers that were asked have
 * said so; what each said is its comment. */
#include "reservations.h"

/* Take a refusal with this reason ("": none is given), and answer the request. Soon after a start a scheduler is told to try again, while
 * hosts have not said hello, or have after the last change that it knew (`seen`; UINT64_MAX: it does not say). */
void resv_refuse(struct reservations *all, struct request *q, struct resv *r, const char *reason,
                 uint64_t seen);
/* Schedulers are asked again, or have agreed: earlier refusals do not count any more. */
void resv_refuse_forget(struct resv *r);
/* Post REFUSE where all who were still to answer have gone. Not from an action. */
void resv_refuse_look(struct reservations *all, struct resv *r);
/* Listener of EVENT_CLIENT_GONE: it may have been a scheduler that was still to answer. */
void resv_refuse_on_gone(void *reservations, const struct server_event *ev);

#endif
