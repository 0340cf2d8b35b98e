/* All descriptors are non-blocking, and poll waits for any of them. A side is read only while the buffer towards
 * the other has room: that is the flow control. */
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* FLUSH_MS: what the job wrote last is sent to a slow network, but an end that no program reads does not hold the job. */
enum { FLUSH_MS = 5000, TYPED_MAX = RELAY_FRAME_MAX - 1 };

void relay_init(struct relay *r, SSL *ssl, int net, int local_in, int local_out)
{
    memset(r, 0, sizeof *r);
    r->ssl = ssl;
    r->net = net;
    r->local_in = local_in;
    r->local_out = local_out;
    r->wake = -1;
    SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    fcntl(net, F_SETFL, fcntl(net, F_GETFL) | O_NONBLOCK);
}

static size_t room(const struct relay_buffer *b)
{
    return sizeof b->bytes - b->n;
}

static void eat(struct relay_buffer *b, size_t n)
{
    memmove(b->bytes, b->bytes + n, b->n - n);
    b->n -= n;
}

bool relay_put(struct relay *r, char letter, const void *bytes, size_t n)
{
    unsigned char *at = r->to_net.bytes + r->to_net.n;

    if (n > RELAY_FRAME_MAX || room(&r->to_net) < n + RELAY_HEADER)
        return false;
    at[0] = (unsigned char)letter;
    at[1] = (unsigned char)(n >> 8);
    at[2] = (unsigned char)n;
    if (n)
        memcpy(at + RELAY_HEADER, bytes, n);
    r->to_net.n += n + RELAY_HEADER;
    return true;
}

/* ---- the network */
static bool is_only_waiting(SSL *ssl, int rc)
{
    int why = SSL_get_error(ssl, rc);

    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
}

static void write_net(struct relay *r)
{
    while (r->to_net.n && !r->net_over) {
        int n = SSL_write(r->ssl, r->to_net.bytes, (int)r->to_net.n);

        if (n > 0)
            eat(&r->to_net, (size_t)n);
        else if (is_only_waiting(r->ssl, n))
            return;
        else
            r->net_over = true;
    }
}

static void read_net(struct relay *r)
{
    while (room(&r->from_net) && !r->net_over) {
        int n = SSL_read(r->ssl, r->from_net.bytes + r->from_net.n, (int)room(&r->from_net));

        if (n > 0)
            r->from_net.n += (size_t)n;
        else if (is_only_waiting(r->ssl, n))
            return;
        else
            r->net_over = true;
    }
}

/* False: the next frame is not whole, or there is no room for what is in it. */
static bool take_frame(struct relay *r)
{
    const unsigned char *f = r->from_net.bytes;
    size_t n = r->from_net.n < RELAY_HEADER ? 0 : (size_t)f[1] << 8 | f[2];

    if (n > RELAY_FRAME_MAX) {
        r->net_over = true; /* no version of ours writes that */
        return false;
    }
    if (r->from_net.n < RELAY_HEADER || r->from_net.n < n + RELAY_HEADER)
        return false;
    if (f[0] == 'D') {
        if (room(&r->to_local) < n)
            return false;
        memcpy(r->to_local.bytes + r->to_local.n, f + RELAY_HEADER, n);
        r->to_local.n += n;
    } else if (f[0] == 'E') {
        r->ended = true;
    } else if (r->control) {
        r->control(r, (char)f[0], f + RELAY_HEADER, n);
    }
    eat(&r->from_net, n + RELAY_HEADER);
    return true;
}

/* ---- the terminal */
static void write_local(struct relay *r)
{
    while (r->to_local.n && !r->local_over) {
        ssize_t n = write(r->local_out, r->to_local.bytes, r->to_local.n);

        if (n > 0)
            eat(&r->to_local, (size_t)n);
        else if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        else
            r->local_over = true;
    }
}

static void read_local(struct relay *r)
{
    unsigned char piece[RELAY_FRAME_MAX];
    ssize_t n = read(r->local_in, piece, TYPED_MAX);
    size_t len = n > 0 && r->typed ? r->typed(r, piece, (size_t)n) : n > 0 ? (size_t)n : 0;

    if (len)
        relay_put(r, 'D', piece, len);
    else if (n > 0)
        return;
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        r->local_over = true;
}

bool relay_has_room(const struct relay *r)
{
    return room(&r->to_net) >= RELAY_FRAME_MAX + RELAY_HEADER;
}

static bool can_read_local(const struct relay *r)
{
    return !r->local_over && relay_has_room(r);
}

/* ---- together */
enum { NET, LOCAL_IN, LOCAL_OUT, WAKE, GUEST };

/* What OpenSSL has read already is seen by no poll; without room for it, it waits there. */
static bool has_read_ahead(const struct relay *r)
{
    return room(&r->from_net) && SSL_has_pending(r->ssl);
}

static size_t relay_ask(struct relay *r, struct pollfd *fds)
{
    size_t guests = r->guest.ask ? r->guest.ask(r->guest.arg, r, fds + GUEST) : 0;

    fds[NET] = (struct pollfd){
        .fd = r->net,
        .events = (short)((room(&r->from_net) ? POLLIN : 0) | (r->to_net.n ? POLLOUT : 0)),
    };
    fds[LOCAL_IN] = (struct pollfd){.fd = can_read_local(r) ? r->local_in : -1, .events = POLLIN};
    fds[LOCAL_OUT] = (struct pollfd){.fd = r->to_local.n ? r->local_out : -1, .events = POLLOUT};
    fds[WAKE] = (struct pollfd){.fd = r->wake, .events = POLLIN};
    return guests;
}

static void relay_turn(struct relay *r)
{
    struct pollfd fds[GUEST + RELAY_GUEST_FDS];
    size_t guests = relay_ask(r, fds);

    if (poll(fds, GUEST + guests, has_read_ahead(r) ? 0 : -1) < 0)
        return;
    if (fds[WAKE].revents)
        r->woken(r);
    if (fds[LOCAL_IN].revents)
        read_local(r);
    if (guests)
        r->guest.serve(r->guest.arg, r, fds + GUEST, guests);
    read_net(r);
    while (take_frame(r))
        ;
    write_local(r);
    write_net(r);
}

/* The last words, in their time. */
static void flush(struct relay *r)
{
    struct pollfd p = {.fd = r->net, .events = POLLOUT};

    write_net(r);
    while (r->to_net.n && !r->net_over && poll(&p, 1, FLUSH_MS) > 0)
        write_net(r);
    fcntl(r->local_out, F_SETFL, fcntl(r->local_out, F_GETFL) & ~O_NONBLOCK);
    if (!r->local_over)
        write_local(r);
}

void relay_wait(struct relay *r, const bool *enough)
{
    while (!r->net_over && !r->local_over && !r->ended && !*enough)
        relay_turn(r);
}

void relay_run(struct relay *r, bool say_end)
{
    static const bool never = false;

    relay_wait(r, &never);
    if (say_end && r->local_over)
        relay_put(r, 'E', NULL, 0);
    flush(r);
}
