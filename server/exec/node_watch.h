#ifndef NODE_WATCH_H
#define NODE_WATCH_H
/* Watches whether a service is connected: its nodes go down when its connection closes and come up with its HELLO;
 * if it stays away for node_fail_requeue seconds, what it ran is given up. Jobs do not change before that. */
#include "services.h"

struct loop;
struct node_watch;
struct server_ctx;

/* ^ The service has been away too long, or has left: give up what it ran. */
typedef void node_watch_expired_fn(void *arg, struct service *s);

struct node_watch *node_watch_create(struct loop *l, struct server_ctx *s, struct services *sv,
                                     node_watch_expired_fn *fn, void *arg);
void node_watch_destroy(struct node_watch *w);

void node_watch_up(struct node_watch *w, struct service *s); /* HELLO accepted */
void node_watch_down(struct node_watch *w,
                     struct service *s); /* connection closed, or not seen since the start */
void node_watch_left(struct node_watch *w, struct service *s); /* it said that it does not come back */

#endif
