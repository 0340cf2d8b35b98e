#ifndef RELAY_H
#define RELAY_H
/* Bytes between a terminal and the network, both ways, as frames: a letter, two bytes of length (the higher first), so many
 * bytes.
 *
 *   I  first, from qsub: rows, columns (two bytes each), then the characters for intr, quit, erase, kill, eof, susp
 *   D  what was typed, or written
 *   W  from qsub: the window has another size: rows, columns
 *   E  from the host: the job has ended
 *
 * A slow side makes the other wait; nothing is kept beyond one buffer each way. */
#include <stdbool.h>
#include <stddef.h>

#include <openssl/ssl.h>

enum { RELAY_BUFFER = 16384, RELAY_HEADER = 3 };

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
    struct relay_buffer to_net, from_net, to_local;
    bool local_over, net_over, ended; /* ended: E has come */
};

void relay_init(struct relay *r, SSL *ssl, int net, int local_in, int local_out);
/* Queue a frame; false: there is no room. */
bool relay_put(struct relay *r, char letter, const void *bytes, size_t n);
/* Until either side is over; what was read from the local side is sent then. With `say_end` E is sent as well. */
void relay_run(struct relay *r, bool say_end);

#endif
