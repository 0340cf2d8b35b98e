#ifndef DEPEND_REMOTE_NEWS_H
#define DEPEND_REMOTE_NEWS_H
/* What is sent to the server from which a job came; for depend.c. The rest of depend_remote_news.c is in
 * depend.h. */
#include "depend_end.h"
#include "job_fsm.h"

/* The job no longer waits for what the list at the other server says. */
void depend_remote_news_cut(struct depends *d, struct job *j);
/* Of every transition of a job. */
void depend_remote_news_tell(struct depends *d, struct job *j, enum job_state from, enum job_event ev);

#endif
