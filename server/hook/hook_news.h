#ifndef HOOK_NEWS_H
#define HOOK_NEWS_H
/* Hooks after the fact: postqueuejob, jobobit, management, modifyvnode, resv_*. What they reject stays as it is; only their log lines, and of postqueuejob a
 * few attributes, have an effect. While no hook wants an event, telling it costs a comparison. Loop thread only. */
#include "err.h"
#include "hook_server.h"
#include "job_fsm.h"
#include "server_events.h"

struct request;

/* Listener of the machine, before the run is dropped: a job has come into a queue (postqueuejob), a run or an array is over (jobobit). */
void hook_news_listen(void *hook_server, struct job *j, enum job_state from, enum job_event ev);
/* A job has come from one queue into another; `r` NULL: by itself. */
void hook_news_moved(struct hook_server *s, const struct job *j, struct request *r);
/* A Manager request was done (why NULL), or refused. */
void hook_news_managed(struct hook_server *s, struct request *r, const struct err *why);
/* Listeners of server_events.h: EVENT_JOB_MOVED; EVENT_RESV_CONFIRMED, _BEGUN, _OVER; EVENT_NODE_STATE. */
void hook_news_on_moved(void *hook_server, const struct server_event *ev);
void hook_news_on_resv(void *hook_server, const struct server_event *ev);
void hook_news_on_vnode(void *hook_server, const struct server_event *ev);

#endif
