#ifndef WEB_PBS_H
#define WEB_PBS_H
/* Calls of libpbs for a request: a connection for each thread, as the user that runs this program. */
#include <stdbool.h>

struct web_call;

/* The connection of this thread, made when there is none. -1: the call has the problem. */
int web_pbs_connect(struct web_call *w);

/* The call of libpbs that came last has failed: answer with its number and text, and drop the connection if it is lost. */
void web_pbs_failed(struct web_call *w, int c);

/* The connection and one thing asked on it, once more where the connection was lost: only for calls that change nothing. `ask` returns
 * -1 with pbs_errno set. False: the call has the problem. */
bool web_pbs_ask(struct web_call *w, int (*ask)(struct web_call *w, int c, void *arg), void *arg);

/* After a call failed: was that the connection, so that another try may succeed? True: it is dropped. Only for calls that change nothing. */
bool web_pbs_lost(void);

#endif
