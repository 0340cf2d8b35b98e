/* Sockets, made and tuned. See rpc_plug.h.
 *
 * Nothing here waits: addresses are numeric, connecting continues while the caller watches the socket. A unix
 * socket's file outlives a killed daemon: it is tried before it is replaced, so that the socket of a running daemon
 * is never replaced. Paths too long for a socket address go through an open directory (file_socket_address). */
#include "rpc_plug.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "rpc_conn.h"

/* BACKLOG: all MOMs of a large complex connect within a second when a server starts. USER_TIMEOUT_MS: a peer that
 * acknowledges nothing for that long is gone. */
enum { BACKLOG = 4096, USER_TIMEOUT_MS = 60000 };

void rpc_plug_tune(int fd)
{
    int on = 1, idle_s = 60, limit_ms = USER_TIMEOUT_MS;

    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        return; /* not TCP */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof limit_ms);
}

/* Numeric only: a resolver would block. */
static int parse_address(const char *address, uint16_t port, struct sockaddr_storage *out, socklen_t *n,
                         struct err *e)
{
    struct sockaddr_in *v4 = (void *)out;
    struct sockaddr_in6 *v6 = (void *)out;

    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        *n = sizeof *v4;
        return 0;
    }
    if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        *n = sizeof *v6;
        return 0;
    }
    return err_set(e, EINVAL, "\"%s\" is not a numeric address", address);
}

static int dial_unix(int fd, const char *path, struct err *e)
{
    struct sockaddr_un a;
    socklen_t n;
    int dir = -1, rc;

    if (file_socket_address(path, &a, &n, &dir, e) < 0)
        return -1;
    rc = connect(fd, (struct sockaddr *)&a, n);
    if (rc < 0)
        err_errno(e, errno, "cannot connect to %s", path);
    if (dir >= 0)
        close(dir);
    return rc;
}

static int dial_tcp(int fd, const struct sockaddr_storage *a, socklen_t n, const struct rpc_conn_target *t,
                    struct err *e)
{
    if (connect(fd, (const struct sockaddr *)a, n) < 0 && errno != EINPROGRESS)
        return err_errno(e, errno, "cannot connect to %s port %u", t->address, t->port);
    return 0;
}

int rpc_plug_dial(const struct rpc_conn_target *t, bool *done, struct err *e)
{
    struct sockaddr_storage a = {.ss_family = AF_UNIX};
    socklen_t n = 0;
    int fd, rc;

    if (!t->unix_path && parse_address(t->address, t->port, &a, &n, e) < 0)
        return -1;
    fd = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_errno(e, errno, "cannot make a socket");
    *done = t->unix_path != NULL;
    rc = t->unix_path ? dial_unix(fd, t->unix_path, e) : dial_tcp(fd, &a, n, t, e);
    if (rc == 0)
        return fd;
    close(fd);
    return -1;
}

/* Return true if a program accepts connections there. A socket file that a killed daemon left refuses. */
static bool is_listened_on(const struct sockaddr_un *a, socklen_t n)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool yes = fd < 0 || connect(fd, (const struct sockaddr *)a, n) == 0 || errno == EAGAIN;

    if (fd >= 0)
        close(fd);
    return yes;
}

static int bind_unix(int fd, const char *path, const struct sockaddr_un *a, socklen_t n, mode_t mode,
                     struct err *e)
{
    mode_t mask = umask(0777 & ~mode);
    int rc = bind(fd, (const struct sockaddr *)a, n);

    if (rc < 0 && errno == EADDRINUSE) {
        if (is_listened_on(a, n)) {
            umask(mask);
            return err_set(e, EADDRINUSE, "another daemon listens on %s", path);
        }
        rc = unlink(path) < 0 ? -1 : bind(fd, (const struct sockaddr *)a, n);
    }
    umask(mask);
    if (rc < 0 || listen(fd, BACKLOG) < 0)
        return err_errno(e, errno, "cannot listen on %s", path);
    return 0;
}

int rpc_plug_listen_unix(const char *path, mode_t mode, struct err *e)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), dir = -1, rc;
    struct sockaddr_un a;
    socklen_t n;

    if (fd < 0)
        return err_errno(e, errno, "cannot make a socket");
    rc = file_socket_address(path, &a, &n, &dir, e);
    if (rc == 0)
        rc = bind_unix(fd, path, &a, n, mode, e);
    if (dir >= 0)
        close(dir);
    if (rc == 0)
        return fd;
    close(fd);
    return -1;
}

/* NULL is every address of both families, where the kernel has IPv6. */
static int any_socket(struct sockaddr_storage *a, socklen_t *n, uint16_t port)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), off = 0;

    if (fd >= 0) {
        parse_address("::", port, a, n, NULL);
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        return fd;
    }
    parse_address("0.0.0.0", port, a, n, NULL);
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int bind_tcp(int fd, const struct sockaddr_storage *a, socklen_t n, uint16_t *bound, struct err *e)
{
    struct sockaddr_storage got;
    socklen_t n_got = sizeof got;
    int on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (const struct sockaddr *)a, n) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)&got, &n_got) < 0)
        return err_errno(e, errno, "cannot listen on port %u",
                         ntohs(((const struct sockaddr_in *)a)->sin_port));
    *bound = ntohs(((const struct sockaddr_in *)&got)->sin_port); /* at the same place in both families */
    return 0;
}

int rpc_plug_listen_tcp(const char *address, uint16_t port, uint16_t *bound, struct err *e)
{
    struct sockaddr_storage a;
    socklen_t n;
    int fd;

    if (address && parse_address(address, port, &a, &n, e) < 0)
        return -1;
    fd = address ? socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)
                 : any_socket(&a, &n, port);
    if (fd < 0)
        return err_errno(e, errno, "cannot make a socket");
    if (bind_tcp(fd, &a, n, bound, e) == 0)
        return fd;
    close(fd);
    return -1;
}

struct ssl_ctx_st *rpc_plug_ref_context(struct ssl_ctx_st *ctx)
{
    if (ctx)
        SSL_CTX_up_ref(ctx);
    return ctx;
}

void rpc_plug_free_context(struct ssl_ctx_st *ctx)
{
    SSL_CTX_free(ctx);
}
