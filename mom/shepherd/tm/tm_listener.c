/* Each client is an rpc_core, read and written when poll says so. A client is dropped at the end of a turn
 * only, since its core may be at work.
 *
 * Others keep a client's number, never its address, and ask tm_listener_find each time. With as many clients as may be the
 * listener is left out of the polls: no client is refused, they wait in the kernel's queue. A client that does not
 * read its answers is not heard until it does: what waits for it would be our memory, not the job's. New clients are
 * let in after those that are here were heard, so the places of the turn's polls stay true. */

#include "tm_listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "poll_set.h"

/* PIECE: each client may keep one. It is heard call by call: a call of a hundred bytes may have an answer of a megabyte. */
enum { RECORD_LIMIT = 4 << 20, PIECE = 16384, QUEUE = 512, OUT_HIGH = 1 << 20 };

struct tm_listener {
    int listener;
    size_t poll_at;
    uid_t uid;
    const struct tm_listener_hooks *hooks;
    void *arg;
    struct tm_client **clients;
    size_t n;
    uint64_t last_id;
    const struct tm_client
        *largest;  /* the client with the longest partial message at the last poll; only compared */
    size_t in_all; /* bytes of all partial messages at the last poll */
};

static size_t owed(const struct tm_listener *d)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++)
        n += rpc_core_output(d->clients[i]->core)->len;
    return n;
}

bool tm_listener_is_crowded(const struct tm_listener *d)
{
    return d && owed(d) > TM_LISTENER_OUT_ALL_MAX;
}

static bool is_full(const struct tm_client *g)
{
    size_t n = rpc_core_output(g->core)->len;

    return n > OUT_HIGH || (n && tm_listener_is_crowded(g->listener));
}

static void tm_listener_on_call(void *arg, const struct rpc_call_hdr *h)
{
    struct tm_client *g = arg;

    g->partial = 0;
    g->listener->hooks->call(g->listener->arg, g, h);
    if (is_full(g))
        rpc_core_stop(g->core, true);
}

static int listen_at(const char *path, uid_t uid, gid_t gid, struct err *e)
{
    struct sockaddr_un at;
    socklen_t length;
    int dir = -1, fd, rc = -1;

    unlink(path);
    if (file_socket_address(path, &at, &length, &dir, e) < 0)
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* The mode before the name: at no moment may others connect. */
    if (fd < 0 || fchmod(fd, 0600) < 0 || bind(fd, (const struct sockaddr *)&at, length) < 0 ||
        (uid != geteuid() && lchown(path, uid, gid) < 0) || listen(fd, QUEUE) < 0) {
        err_errno(e, errno, "cannot listen on %s", path);
        if (fd >= 0)
            close(fd);
    } else {
        rc = fd;
    }
    if (dir >= 0)
        close(dir);
    return rc;
}

struct tm_listener *tm_listener_open(const char *path, uid_t uid, gid_t gid,
                                     const struct tm_listener_hooks *hooks, void *arg, struct err *e)
{
    struct tm_listener *d = calloc(1, sizeof *d);

    if (!d || !(d->clients = calloc(TM_LISTENER_CLIENTS_MAX, sizeof(struct tm_client *)))) {
        err_set(e, ENOMEM, "no memory for %s", path);
        goto fail;
    }
    d->uid = uid;
    d->hooks = hooks;
    d->arg = arg;
    d->listener = listen_at(path, uid, gid, e);
    if (d->listener >= 0)
        return d;
fail:
    if (d)
        free(d->clients);
    free(d);
    return NULL;
}

static void client_free(struct tm_client *g)
{
    close(g->fd);
    rpc_core_fail(g->core, &(struct err){.code = ECONNRESET, .text = "the task has gone"});
    rpc_core_destroy(g->core);
    free(g->rest);
    free(g);
}

void tm_listener_close(struct tm_listener *d)
{
    if (!d)
        return;
    while (d->n) /* out of the list first, as in show_out */
        client_free(d->clients[--d->n]);
    close(d->listener);
    free(d->clients);
    free(d);
}

struct tm_client *tm_listener_find(const struct tm_listener *d, uint64_t client)
{
    for (size_t i = 0; d && i < d->n; i++)
        if (d->clients[i]->id == client && !d->clients[i]->broken)
            return d->clients[i];
    return NULL;
}

bool tm_listener_has_hung_up(const struct tm_listener *d, uint64_t client)
{
    const struct tm_client *g = tm_listener_find(d, client);
    struct pollfd f = {.fd = g ? g->fd : -1, .events = POLLRDHUP};

    return !g || (poll(&f, 1, 0) > 0 && (f.revents & (POLLRDHUP | POLLHUP | POLLERR)));
}

static bool is_welcome(const struct tm_listener *d, int fd, uid_t *uid)
{
    struct ucred who;
    socklen_t n = sizeof who;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0)
        return false;
    *uid = who.uid;
    return who.uid == d->uid || who.uid == 0 || who.uid == geteuid();
}

uint64_t tm_listener_adopt(struct tm_listener *d, int fd)
{
    static const struct rpc_core_events events = {.call = tm_listener_on_call};
    struct tm_client *g = d->n < TM_LISTENER_CLIENTS_MAX ? calloc(1, sizeof *g) : NULL;

    if (g && (g->core = rpc_core_create(&events, g, RECORD_LIMIT))) {
        g->id = ++d->last_id;
        g->fd = fd;
        g->uid = d->uid;
        g->listener = d;
        d->clients[d->n++] = g;
        return g->id;
    }
    free(g);
    close(fd);
    return 0;
}

static void let_in(struct tm_listener *d)
{
    int fd = accept4(d->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    uid_t uid;

    if (fd < 0)
        return;
    if (!is_welcome(d, fd, &uid))
        close(fd);
    else if (tm_listener_adopt(d, fd))
        d->clients[d->n - 1]->uid = uid;
}

/* Small messages are always heard; a large one where there is room, or as the largest, so that one of them gets on. */
static bool may_go_on(const struct tm_listener *d, const struct tm_client *g)
{
    return !is_full(g) && (d->in_all <= TM_LISTENER_IN_ALL_MAX || g->partial <= PIECE || g == d->largest);
}

static void see_partial(struct tm_listener *d)
{
    d->in_all = 0;
    d->largest = NULL;
    for (size_t i = 0; i < d->n; i++) {
        const struct tm_client *g = d->clients[i];

        d->in_all += g->partial;
        if (!d->largest || g->partial > d->largest->partial)
            d->largest = g;
    }
}

void tm_listener_poll(struct tm_listener *d, struct poll_set *p)
{
    if (!d)
        return;
    see_partial(d);
    d->poll_at = d->n < TM_LISTENER_CLIENTS_MAX ? poll_set_add(p, d->listener, POLLIN) : SIZE_MAX;
    for (size_t i = 0; i < d->n; i++) {
        struct tm_client *g = d->clients[i];

        short in = may_go_on(d, g) ? POLLIN : 0, out = rpc_core_output(g->core)->len ? POLLOUT : 0;

        g->poll_at = poll_set_add(p, g->fd, (short)(in | out));
    }
}

/* What is not used, since the client's answers wait, is kept for later. */
static void hear(struct tm_client *g, const char *bytes, size_t n)
{
    ptrdiff_t used;

    g->partial += n;
    rpc_core_stop(g->core, false);
    used = rpc_core_input(g->core, bytes, n, NULL);
    if (used >= 0 && !rpc_core_is_inside(g->core))
        g->partial = 0;
    if (used < 0) {
        g->broken = true;
    } else if ((size_t)used < n) {
        g->n_rest = n - (size_t)used;
        g->rest = malloc(g->n_rest);
        if (g->rest)
            memcpy(g->rest, bytes + used, g->n_rest);
        else
            g->broken = true;
    }
}

static void tm_listener_receive(struct tm_client *g)
{
    char piece[PIECE];
    ssize_t n = read(g->fd, piece, sizeof piece);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0)
        g->broken = true;
    else
        hear(g, piece, (size_t)n);
}

/* What was kept goes first. */
static void hear_rest(struct tm_client *g)
{
    char *rest = g->rest;
    size_t n = g->n_rest;

    if (is_full(g) || g->broken)
        return;
    g->rest = NULL;
    g->n_rest = 0;
    hear(g, rest, n);
    free(rest);
}

static void send_some(struct tm_client *g)
{
    struct byte_buf *out = rpc_core_output(g->core);

    while (out->len && !g->broken) {
        ssize_t n = send(g->fd, out->bytes, out->len, MSG_NOSIGNAL);

        if (n < 0) {
            g->broken = errno != EAGAIN && errno != EINTR;
            return;
        }
        byte_buf_drop(out, (size_t)n);
    }
}

void tm_listener_send(struct tm_listener *d)
{
    for (size_t i = 0; d && i < d->n; i++)
        send_some(d->clients[i]);
}

/* Out of the list first: what its calls under way are told may look clients up. */
static void show_out(struct tm_listener *d)
{
    size_t i = 0;

    while (i < d->n) {
        struct tm_client *g = d->clients[i];
        uint64_t id = g->id;

        if (!g->broken) {
            i++;
            continue;
        }
        d->clients[i] = d->clients[--d->n];
        client_free(g);
        d->hooks->gone(d->arg, id);
    }
}

bool tm_listener_has_work(const struct tm_listener *d)
{
    for (size_t i = 0; d && i < d->n; i++)
        if (d->clients[i]->rest && !is_full(d->clients[i]))
            return true;
    return false;
}

void tm_listener_turn(struct tm_listener *d, const struct poll_set *p)
{
    size_t n = d ? d->n : 0;

    for (size_t i = 0; i < n; i++)
        if (d->clients[i]->rest)
            hear_rest(d->clients[i]);
        else if (may_go_on(d, d->clients[i]) && poll_set_got(p, d->clients[i]->poll_at, d->clients[i]->fd))
            tm_listener_receive(d->clients[i]);
    if (d && poll_set_got(p, d->poll_at, d->listener))
        let_in(d);
    tm_listener_send(d);
    if (d)
        show_out(d);
}
