#ifndef RELAY_H
#define RELAY_H
/* Bytes between a terminal and the network, both ways, as frames: a letter, two bytes of length (the higher first), so many
 * bytes.
 *
 *   I  first, from qsub: rows, columns (two bytes each), then the characters for intr, quit, erase, kill, eof, susp
 *   D  what was typed, or written
 *   W  from qsub: the window has another size: rows, columns
 *   E  from the host: the job has ended
 *   X  from qsub, before I: X11 is wanted; a cookie of 16 bytes, the screen (two bytes)
 *   O B G Z  connections beside the terminal (channels.h)
 *
 * A slow side makes the other wait; nothing is kept beyond one buffer each way. */
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include <openssl/ssl.h>

enum { RELAY_BUFFER = 16384, RELAY_HEADER = 3, RELAY_FRAME_MAX = 4096, RELAY_GUEST_FDS = 72 };

struct relay;

/* Who has descriptors of its own in this loop. */
struct relay_guest {
    void *arg;
    /* before waiting, the place to queue frames: into fds what is waited for, at most RELAY_GUEST_FDS; how many */
    size_t (*ask)(void *arg, struct relay *r, struct pollfd *fds);
    void (*serve)(void *arg, struct relay *r, const struct pollfd *fds, size_t n);
};

struct relay_buffer {
    unsigned char bytes[RELAY_BUFFER];
    size_t n;
};

struct relay {
    SSL *ssl;
    int net; /* its socket */
    int local_in, local_out;
    int wake; /* readable when `woken` is to be called (a signalfd), or -1 */
    void (*woken)(struct relay *r);
    /* a frame other than D has come */
    void (*control)(struct relay *r, char letter, const unsigned char *bytes, size_t n);
    /* what was read of the local side, at most RELAY_TYPED_MAX bytes, may be changed and grow by one; or NULL */
    size_t (*typed)(struct relay *r, unsigned char *bytes, size_t n);
    struct relay_guest guest; /* without `ask`: there is none */
    void *arg;                /* of these callbacks */
    struct relay_buffer to_net, from_net, to_local;
    bool local_over, net_over,
        ended; /* ended: E has come; any may be set by the functions above, to end it */
};

void relay_init(struct relay *r, SSL *ssl, int net, int local_in, int local_out);
/* Queue a frame of at most RELAY_FRAME_MAX bytes; false: there is no room. */
bool relay_put(struct relay *r, char letter, const void *bytes, size_t n);
bool relay_has_room(const struct relay *r); /* for a frame of any size */
/* Until *enough, or either side is over. */
void relay_wait(struct relay *r, const bool *enough);
/* Until either side is over; what was read from the local side is sent then. With `say_end` E is sent as well. */
void relay_run(struct relay *r, bool say_end);

#endif
