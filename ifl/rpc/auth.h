#ifndef AUTH_H
#define AUTH_H
/* The identity of a peer, as the kernel or a certificate proves it, never as a message claims it.
 *
 * A peer is counted, since a request may outlive its connection.
 */
#include <stdbool.h>
#include <sys/types.h>

#include "err.h"

enum auth_kind {
    AUTH_STRANGER, /* TCP in the clear: may call procedure 0 and nothing else */
    AUTH_GUEST,    /* TLS without a certificate: a user that has not authenticated yet */
    AUTH_USER,     /* TLS, and the user is known by another credential: uid */
    AUTH_LOCAL,    /* unix socket: uid, gid, pid by the kernel */
    AUTH_DAEMON    /* TLS with a certificate of the complex: role; or "peer:server", of another complex */
};

enum { AUTH_ROLE_MAX = 255 };

struct auth_peer {
    enum auth_kind kind;
    uid_t uid; /* LOCAL, USER */
    gid_t gid;
    pid_t pid;
    char role[AUTH_ROLE_MAX + 1]; /* DAEMON only: "server", "sched", "mom:n1" */
    char serial[64];              /* DAEMON only: of its certificate, hexadecimal */
    char from[64];                /* for logs: "127.0.0.1:4711", "pid 4711 uid 1000" */
    char origin
        [16]; /* USER: the other host that the credential was made on, an IPv4 address; "": this one, or unknown */
    unsigned refs; /* private */
};

/* The peer of a connected socket: LOCAL for a unix socket, STRANGER for others. The caller owns one reference. NULL:
 * e. */
struct auth_peer *auth_peer_of_socket(int fd, struct err *e);
struct auth_peer *auth_peer_ref(struct auth_peer *p);
void auth_peer_unref(struct auth_peer *p);

/* The TLS handshake is done and the verified certificate names `role`. -1 EACCES: not a role's form. */
int auth_peer_set_role(struct auth_peer *p, const char *role, struct err *e);
/* Inside TLS: a guest, or a guest whose name is known now. */
void auth_peer_set_guest(struct auth_peer *p);
void auth_peer_set_user(struct auth_peer *p, uid_t uid, const char *origin);
/* The address that a TCP peer comes from, without its port; "" for others. */
const char *auth_peer_address(const struct auth_peer *p, char out[64]);
bool auth_peer_is_loopback(const struct auth_peer *p);
bool auth_peer_is_foreign(
    const struct auth_peer *p); /* the server of another complex that may exchange jobs with this one */
bool auth_role_is_valid(const char *role); /* "server", "sched", "mom:NODE" */
#define AUTH_FOREIGN_SERVER "peer:server"

#endif
