#ifndef TM_WAIT_H
#define TM_WAIT_H
/* Waiting for events of task management: what pbsdsh, pbs_tmrsh and pbs_attach share. */
#include "tm.h"

/* Wait for the next event. Return 0 with *event and its result *code, or -1: the connection failed. */
int tm_wait_any(tm_event_t *event, int *code);
/* Wait for this event; others that come are dropped. Return TM_SUCCESS or a number. */
int tm_wait_for(tm_event_t event);

const char *tm_wait_error_text(int code); /* a few words; never NULL */

#endif
