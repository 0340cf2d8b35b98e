/* Peers. See auth.h.
 *
 * A peer begins as what the kernel says of its socket and only ever rises: a stranger becomes a daemon or
 * a guest when the TLS handshake is done, a guest becomes a user by a credential. Roles are checked for
 * their form here, since a MOM's name comes from a certificate and becomes part of file names. */
#include "auth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int from_unix(struct auth_peer *p, int fd, struct err *e)
{
    struct ucred cred;
    socklen_t n = sizeof cred;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) < 0)
        return err_errno(e, errno, "cannot ask who the peer is");
    p->kind = AUTH_LOCAL;
    p->uid = cred.uid;
    p->gid = cred.gid;
    p->pid = cred.pid;
    snprintf(p->from, sizeof p->from, "pid %ld uid %lu", (long)cred.pid, (unsigned long)cred.uid);
    return 0;
}

static void from_inet(struct auth_peer *p, const struct sockaddr_storage *a)
{
    const struct sockaddr_in *v4 = (const void *)a;
    const struct sockaddr_in6 *v6 = (const void *)a;
    char text[INET6_ADDRSTRLEN] = "?";

    p->kind = AUTH_STRANGER;
    if (a->ss_family == AF_INET6 &&
        IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) { /* of a socket for both families */
        inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], text, sizeof text);
        snprintf(p->from, sizeof p->from, "%s:%u", text, ntohs(v6->sin6_port));
    } else if (a->ss_family == AF_INET) {
        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
        snprintf(p->from, sizeof p->from, "%s:%u", text, ntohs(v4->sin_port));
    } else {
        inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
        snprintf(p->from, sizeof p->from, "[%s]:%u", text, ntohs(v6->sin6_port));
    }
}

struct auth_peer *auth_peer_of_socket(int fd, struct err *e)
{
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof a;
    struct auth_peer *p = calloc(1, sizeof *p);

    if (!p) {
        err_set(e, ENOMEM, "no memory for a peer");
        return NULL;
    }
    p->refs = 1;
    if (getpeername(fd, (struct sockaddr *)&a, &n) < 0) {
        err_errno(e, errno, "cannot ask where the peer is");
    } else if (a.ss_family != AF_UNIX) {
        from_inet(p, &a);
        return p;
    } else if (from_unix(p, fd, e) == 0) {
        return p;
    }
    free(p);
    return NULL;
}

struct auth_peer *auth_peer_ref(struct auth_peer *p)
{
    p->refs++;
    return p;
}

void auth_peer_unref(struct auth_peer *p)
{
    if (p && --p->refs == 0)
        free(p);
}

/* A node's name: letters, digits and what host names have, as it becomes part of a file name too. */
static bool auth_is_name(const char *s)
{
    static const char *const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t n = strlen(s);

    return n > 0 && n <= AUTH_ROLE_MAX - 4 && s[0] != '.' && s[0] != '-' && strspn(s, allowed) == n;
}

bool auth_role_is_valid(const char *role)
{
    return !strcmp(role, "server") || !strcmp(role, "sched") ||
           (!strncmp(role, "mom:", 4) && auth_is_name(role + 4));
}

bool auth_peer_is_foreign(const struct auth_peer *p)
{
    return p->kind == AUTH_DAEMON && strcmp(p->role, AUTH_FOREIGN_SERVER) == 0;
}

int auth_peer_set_role(struct auth_peer *p, const char *role, struct err *e)
{
    if (!auth_role_is_valid(role) && strcmp(role, AUTH_FOREIGN_SERVER) != 0)
        return err_set(e, EACCES,
                       "the certificate of %s names \"%.64s\", which is not a role of this complex", p->from,
                       role);
    p->kind = AUTH_DAEMON;
    snprintf(p->role, sizeof p->role, "%s", role);
    return 0;
}

void auth_peer_set_guest(struct auth_peer *p)
{
    p->kind = AUTH_GUEST;
}

void auth_peer_set_user(struct auth_peer *p, uid_t uid, const char *origin)
{
    snprintf(p->origin, sizeof p->origin, "%s", origin);
    p->kind = AUTH_USER;
    p->uid = uid;
}

/* "127.0.0.1:4711", "[::1]:4711" */
const char *auth_peer_address(const struct auth_peer *p, char out[64])
{
    const char *from = p->from, *end = strrchr(from, ':');

    out[0] = '\0';
    if (p->kind == AUTH_LOCAL || !end)
        return out;
    if (*from == '[') {
        from++;
        end--;
    }
    snprintf(out, 64, "%.*s", (int)(end - from), from);
    return out;
}

bool auth_peer_is_loopback(const struct auth_peer *p)
{
    char address[64];

    auth_peer_address(p, address);
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}
