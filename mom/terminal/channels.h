#ifndef CHANNELS_H
#define CHANNELS_H
/* Connections beside the terminal, as frames of the relay. Each begins with a channel, one byte below CHANNELS_MAX.
 *
 *   O  from the host: a client has connected there
 *   B  bytes of it, no more than the other side has room for: CHANNEL_WINDOW at first
 *   G  four bytes, the highest first: so many bytes have been passed on, there is room for as many more
 *   Z  it is over; said by both sides, then the number is free for another one
 *
 * By its window a connection delays only itself. */
#include <stdbool.h>
#include <stddef.h>

#include "relay.h"

enum { CHANNELS_MAX = 64, CHANNEL_WINDOW = 65536 };

struct channel {
    bool used, said_over, heard_over;
    bool admitted;        /* what has come is passed on */
    int fd;               /* -1: over on our side */
    unsigned char *queue; /* CHANNEL_WINDOW bytes for fd, n of them there */
    size_t n;
    size_t credit; /* what the other side has room for */
    size_t taken;  /* passed on, and not yet said */
};

struct channels {
    struct channel all[CHANNELS_MAX];
    int listening; /* the host's: whom connects gets a channel; else -1 */
    /* qsub's: where a new channel leads to: a non-blocking descriptor, or -1 */
    int (*open)(void *arg);
    /* May what a channel begins with pass? 1, with bytes and *n as they are to be passed on; 0: more must come; -1: never.
     * NULL: all may. */
    int (*admit)(void *arg, unsigned char *bytes, size_t *n);
    void *arg;
    int waited[RELAY_GUEST_FDS]; /* channel of each descriptor that is waited for, or -1 for `listening` */
};

void channels_init(struct channels *c, struct relay *r); /* becomes the relay's guest */
/* A frame. False: it is not one of channels. A frame that neither end of ours sends ends the relay. */
bool channels_take(struct channels *c, struct relay *r, char letter, const unsigned char *bytes, size_t n);
void channels_fini(struct channels *c);

#endif
