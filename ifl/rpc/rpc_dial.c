/* Dialling: sockets that block only in poll. See rpc_dial.h.
 *
 * Every socket is non-blocking, so that each wait is a poll with the rest of the caller's time. What is
 * not: the resolver, which has no time limit of its own, and the connect to a unix socket, which the
 * kernel bounds. TLS is a transport that a module brings: it is loaded only for TCP, and stays loaded.
 * Without one the descriptor is read and written plainly. */
#include "rpc_dial.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"
#include "host_address.h"
#include "pbs_error.h"
#include "rpc_transport.h"

int64_t rpc_dial_deadline_in(int64_t limit_ms)
{
    return limit_ms < 0 ? RPC_NEVER : clock_real_mono_ms() + limit_ms;
}

bool rpc_dial_deadline_is_over(int64_t deadline)
{
    return deadline != RPC_NEVER && clock_real_mono_ms() >= deadline;
}

bool rpc_dial_deadline_spec(int64_t deadline, struct timespec *t)
{
    int64_t left_ms = deadline - clock_real_mono_ms();

    if (deadline == RPC_NEVER)
        return false;
    clock_gettime(CLOCK_MONOTONIC, t);
    if (left_ms < 0)
        left_ms = 0;
    t->tv_sec += left_ms / 1000;
    t->tv_nsec += left_ms % 1000 * 1000000;
    if (t->tv_nsec >= 1000000000) {
        t->tv_sec++;
        t->tv_nsec -= 1000000000;
    }
    return true;
}

/* For poll: -1 waits for ever. */
static int left_ms(int64_t deadline)
{
    int64_t left;

    if (deadline == RPC_NEVER)
        return -1;
    left = deadline - clock_real_mono_ms();
    if (left < 0)
        return 0;
    return left > INT_MAX ? INT_MAX : (int)left;
}

/* 1 ready, 0 time is over, -1 errno */
static int wait_fd(int fd, short events, int64_t deadline)
{
    struct pollfd p = {.fd = fd, .events = events};
    int rc;

    do
        rc = poll(&p, 1, deadline ? left_ms(deadline) : 0);
    while (rc < 0 && errno == EINTR);
    return rc;
}

int rpc_dial_adopt(struct rpc_dial *d, int fd, struct err *e)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
        err_errno(e, errno, "cannot use descriptor %d", fd);
        close(fd);
        return -1;
    }
    *d = (struct rpc_dial){.fd = fd};
    return 0;
}

static int connect_unix(int fd, const char *path, struct err *e)
{
    struct sockaddr_un a;
    socklen_t n;
    int dir = -1, rc;

    if (file_socket_address(path, &a, &n, &dir, e) < 0)
        return -1;
    do
        rc = connect(fd, (struct sockaddr *)&a, n);
    while (rc < 0 && errno == EINTR);
    if (rc < 0)
        err_errno(e, errno == EAGAIN ? ETIMEDOUT : errno, "cannot connect to %s", path);
    if (dir >= 0)
        close(dir);
    return rc;
}

/* A unix connect blocks only while the listener's queue is full; the kernel bounds that by SO_SNDTIMEO. */
int rpc_dial_unix(struct rpc_dial *d, const char *path, int64_t limit_ms, struct err *e)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval limit = {.tv_sec = limit_ms / 1000, .tv_usec = limit_ms % 1000 * 1000 + 1};

    if (fd < 0)
        return err_errno(e, errno, "cannot make a socket");
    if (limit_ms >= 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect_unix(fd, path, e) < 0) {
        close(fd);
        return -1;
    }
    return rpc_dial_adopt(d, fd, e);
}

/* 0 connected, else an errno */
static int connect_one(const struct addrinfo *a, int64_t deadline, int *out)
{
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int failure = 0, on = 1, rc;
    socklen_t n = sizeof failure;

    if (fd < 0)
        return errno;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (connect(fd, a->ai_addr, a->ai_addrlen) < 0 && errno != EINPROGRESS)
        failure = errno;
    if (!failure) {
        rc = wait_fd(fd, POLLOUT, deadline);
        if (rc == 1 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &n) == 0 && !failure) {
            *out = fd;
            return 0;
        }
        failure = failure ? failure : (rc == 0 ? ETIMEDOUT : errno);
    }
    close(fd);
    return failure;
}

int rpc_dial_tcp(struct rpc_dial *d, const char *host, uint16_t port, int64_t deadline, struct err *e)
{
    struct addrinfo *list = NULL, *a;
    char service[8];
    int rc, failure = EHOSTUNREACH, fd = -1;

    snprintf(service, sizeof service, "%u", port);
    rc = host_address_find(host, service, AI_NUMERICSERV, &list);
    if (rc != 0)
        return err_set(e, PBSE_BADHOST, "cannot find host %s: %s", host, gai_strerror(rc));
    for (a = list; a && fd < 0; a = a->ai_next)
        failure = connect_one(a, deadline, &fd);
    freeaddrinfo(list);
    if (fd < 0)
        return err_errno(e, failure, "cannot connect to %s port %u", host, port);
    return rpc_dial_adopt(d, fd, e);
}

void rpc_dial_close(struct rpc_dial *d)
{
    if (d->transport)
        d->transport->destroy(d->ctx);
    close(d->fd);
    /* The module stays loaded: OpenSSL has exit handlers and thread data that outlive any connection. */
}

int rpc_dial_secure(struct rpc_dial *d, const char *module, const char *certs, const char *role,
                    const char *expect, int64_t deadline, struct err *e)
{
    rpc_transport_connect_fn *enter;
    int64_t limit_ms = deadline == RPC_NEVER ? -1 : left_ms(deadline);

    d->module = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    if (!d->module)
        return err_set(e, EPROTONOSUPPORT, "cannot load the TLS module: %s", dlerror());
    *(void **)&enter = dlsym(d->module, RPC_TRANSPORT_ENTRY);
    if (!enter)
        return err_set(e, EPROTONOSUPPORT, "%s is not a TLS module of this release", module);
    return enter(d->fd, certs, role, expect, limit_ms, &d->transport, &d->ctx, e);
}

static ssize_t read_now(struct rpc_dial *d, void *bytes, size_t n)
{
    if (d->transport)
        return d->transport->read(d->ctx, bytes, n);
    return recv(d->fd, bytes, n, MSG_DONTWAIT);
}

ssize_t rpc_dial_read(struct rpc_dial *d, void *bytes, size_t n, int64_t deadline, struct err *e)
{
    ssize_t got = -1;

    errno = EAGAIN;
    /* TLS may hold decoded bytes that poll does not see; a plain socket is seldom readable right after a call.
     */
    if (d->transport)
        got = read_now(d, bytes, n);
    if (got < 0 && errno == EAGAIN && wait_fd(d->fd, POLLIN, deadline) == 1)
        got = read_now(d, bytes, n);
    else if (got < 0 && errno == EINTR)
        errno = EAGAIN;
    if (got > 0)
        return got;
    if (got == 0)
        return err_set(e, ECONNRESET, "the server has closed the connection");
    return err_errno(e, errno == EINTR || errno == EWOULDBLOCK ? EAGAIN : errno, "reading from the server");
}

ssize_t rpc_dial_write(struct rpc_dial *d, const void *bytes, size_t n, struct err *e)
{
    ssize_t done;

    do
        done = d->transport ? d->transport->write(d->ctx, bytes, n)
                            : send(d->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (done < 0 && errno == EINTR);
    if (done < 0)
        return err_errno(e, errno, "writing to the server");
    return done;
}

bool rpc_dial_is_readable(const struct rpc_dial *d)
{
    return wait_fd(d->fd, POLLIN, 0) == 1;
}
