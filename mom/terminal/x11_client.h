#ifndef X11_CLIENT_H
#define X11_CLIENT_H
/* The user's display, at qsub's end: what connects to the job's display is connected to this one (DISPLAY), if it shows the cookie
 * that was made up for the job. */
#include "channels.h"
#include "err.h"
#include "x11_setup.h"

struct x11_client {
    struct channels channels;
    struct x11_cookies cookies;
    bool wanted;
};

/* What qsub has said behind the key: "" nothing is wanted; "X" and 32 hexadecimal digits, or none. -1: EINVAL. */
int x11_client_take(struct x11_client *d, const char *said, struct err *e);
/* First words to the host; before them nothing of the channels happens. */
void x11_client_greet(struct x11_client *d, struct relay *r);

#endif
