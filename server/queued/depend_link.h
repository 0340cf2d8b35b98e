#ifndef DEPEND_LINK_H
#define DEPEND_LINK_H
/* Keeps the records of moved jobs (depend_remote.h) in step with the servers where the jobs are: one connection
 * to each server.
 *
 *   for each record REGIST_DEP until it is acknowledged, again after every change
 *                   TRACK, answered when there is news, or after TRACK_WAIT_S; asked again at once
 *
 * A server that cannot be reached is tried again after 1, 2, 4 ... 60 seconds, without end, and when it is reached everything
 * is sent again. At most TRACKS_MAX calls of TRACK wait at one server; further records take turns. A record
 * with nothing left to send, on which no job depends, is removed. Loop thread only. */
#include "server_events.h"

struct depend_links;
struct depend_remotes;
struct depends;
struct loop;
struct peer_servers;

/* NULL: no memory. */
struct depend_links *depend_links_create(struct loop *l, struct peer_servers *p, struct depend_remotes *a,
                                         struct depends *d);
void depend_links_destroy(struct depend_links *s); /* before names go */
void depend_links_start(struct depend_links *s);   /* at start: for those that were restored */

/* Listeners of EVENT_REMOTE_CHANGED and EVENT_REMOTE_GOING. */
void depend_links_on_changed(void *depend_links, const struct server_event *ev);
void depend_links_on_going(void *depend_links, const struct server_event *ev);

#endif
