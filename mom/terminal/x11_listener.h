#ifndef X11_LISTENER_H
#define X11_LISTENER_H
/* The job's display on its host: a port of the loopback, numbered as X11 does, from 10 on. A client that connects there is led to qsub,
 * which checks the client's cookie. */
#include "channels.h"
#include "err.h"

enum { X11_LISTENER_TEXT = 64 };

/* hello: qsub's frame X. text: what RUNDIR_DISPLAY is to say. -1: EPROTO; EADDRINUSE, no number is free. */
int x11_listener_open(const unsigned char *hello, size_t n, struct channels *c,
                      char text[static X11_LISTENER_TEXT], struct err *e);

#endif
