#ifndef X11_SETUP_H
#define X11_SETUP_H
/* The first bytes of an X11 connection, in which a client shows its cookie. A job is given a cookie that was made up for it; only
 * qsub, at the user's desk, knows the true one, and puts it in its place. So no host of the job and no user who reads
 * there learns what opens the user's display. Pure. */
#include <stdbool.h>
#include <stddef.h>

enum { X11_COOKIE_SIZE = 16 };

struct x11_cookies {
    unsigned char shown[X11_COOKIE_SIZE]; /* what a client of the job must show */
    unsigned char real[X11_COOKIE_SIZE];
    bool has_real; /* else the connection is passed on without any: the display may let us in as it is */
};

/* Exchange the cookie. 1: done, *n may have become less; 0: more bytes must come first; -1: it is not the cookie, or nothing
 * that X11 begins with. bytes has room for its own *n. */
int x11_setup_admit(const struct x11_cookies *c, unsigned char *bytes, size_t *n);

#endif
