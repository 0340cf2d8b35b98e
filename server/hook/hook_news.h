#ifndef HOOK_NEWS_H
#define HOOK_NEWS_H
/* Hooks after the fact: postqueuejob, jobobit, management, modifyvnode, resv_*. What they reject stays as it is; only their log lines, and of postqueuejob a
 * few attributes, have an effect. While no hook wants an event, telling it costs a comparison. Loop thread only. */
#include "err.h"
#include "hook_server.h"
#include "job_fsm.h"

struct request;

/* Listener of the machine, before the run is dropped: a job has come into a queue (postqueuejob), a run or an array is over (jobobit). */
void hook_news_listen(void *hook_server, struct job *j, enum job_state from, enum job_event ev);
/* A job has come from one queue into another; `r` NULL: by itself. */
void hook_news_moved(struct hook_server *s, const struct job *j, struct request *r);
/* A Manager request was done (why NULL), or refused. */
void hook_news_managed(struct hook_server *s, struct request *r, const struct err *why);
/* A reservation was confirmed, has begun, or is over: this event. */
void hook_news_resv(struct hook_server *s, const struct resv *r, uint32_t event);
/* For nodes_on_transition: the state of a vnode has changed; arg is the struct hook_server. */
void hook_news_vnode(void *hook_server, const struct node *n, unsigned old_state, int64_t old_state_s);

#endif
