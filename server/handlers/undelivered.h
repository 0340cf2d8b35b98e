#ifndef UNDELIVERED_H
#define UNDELIVERED_H
/* Files of a job that a host could not deliver: told to its owner by mail, and in the comment that the job has after its end. */
#include "server_events.h"

/* Listener of EVENT_RUN_FILES, with the parts as argument. */
void undelivered_on_files(void *parts, const struct server_event *ev);

#endif
