#ifndef TM_LISTENER_H
#define TM_LISTENER_H
/* A unix socket at which a job's own processes knock, and the RPC connections it brings. Driven by poll.
 *
 * Who comes is known by the kernel; only the uid given, root and our own are let in. At most TM_LISTENER_CLIENTS_MAX at
 * once: more wait in the socket's queue. A client that breaks the protocol is shown out and nothing else happens.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "rpc_core.h"

enum {
    TM_LISTENER_CLIENTS_MAX = 1024,
    TM_LISTENER_OUT_ALL_MAX =
        8 << 20, /* answers that clients have not read: beyond it none is heard that has any */
    TM_LISTENER_IN_ALL_MAX =
        16 << 20 /* of messages that have come in part: beyond it the largest is waited for */
};

struct tm_listener;
struct poll_set;

struct tm_client { /* fields are read only, but for `task` */
    uint64_t id;   /* never used again */
    int fd;
    struct rpc_core *core;
    uid_t uid;     /* that the kernel says has connected; of an inherited socket: of the owner */
    unsigned task; /* tm_server: the task that the client says it is; 0 before INIT */
    size_t poll_at;
    bool broken;
    size_t partial; /* bytes of a message that has not come whole */
    char *rest;     /* read, and not looked at while its answers wait */
    size_t n_rest;
    struct tm_listener *listener;
};

struct tm_listener_hooks {
    void (*call)(void *arg, struct tm_client *g, const struct rpc_call_hdr *h);
    void (*gone)(void *arg, uint64_t client);
};

/* Listen at `path`, which must lie in a directory of ours; what is there under that name is replaced. The socket
 * is given to `uid`. NULL: e. */
struct tm_listener *tm_listener_open(const char *path, uid_t uid, gid_t gid,
                                     const struct tm_listener_hooks *hooks, void *arg, struct err *e);
/* The clients go; `gone` is not called. The socket's name stays: by now it may be that of the job's next run. */
void tm_listener_close(struct tm_listener *d);

/* A connected socket of a process of ours that need not knock; taken. Its number, or 0: no memory, or no place (then it is closed). */
uint64_t tm_listener_adopt(struct tm_listener *d, int fd);

bool tm_listener_is_crowded(
    const struct tm_listener *d); /* more than TM_LISTENER_OUT_ALL_MAX waits to be read */
struct tm_client *tm_listener_find(const struct tm_listener *d, uint64_t client); /* NULL: it has gone */
/* Has it closed its end, also if that was not read yet? */
bool tm_listener_has_hung_up(const struct tm_listener *d, uint64_t client);

bool tm_listener_has_work(const struct tm_listener *d); /* a turn is due although nothing may come */
void tm_listener_poll(struct tm_listener *d, struct poll_set *p);
void tm_listener_turn(struct tm_listener *d, const struct poll_set *p);
void tm_listener_send(struct tm_listener *d); /* what has been queued since */

#endif
