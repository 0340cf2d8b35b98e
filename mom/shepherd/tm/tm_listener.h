#ifndef TM_LISTENER_H
#define TM_LISTENER_H
/* A unix socket at which a job's own processes knock, and the RPC connections it brings. Driven by poll.
 *
 * Who comes is known by the kernel; only the uid given, root and our own are let in. At most DOOR_GUESTS_MAX at
 * once: more wait in the socket's queue. A guest that breaks the protocol is shown out and nothing else happens.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "rpc_core.h"

enum {
    DOOR_GUESTS_MAX = 1024,
    DOOR_OUT_ALL_MAX = 8 << 20, /* answers that guests have not read: beyond it none is heard that has any */
    DOOR_IN_ALL_MAX = 16 << 20  /* of messages that have come in part: beyond it the largest is waited for */
};

struct door;
struct polls;

struct door_guest { /* fields are read only, but for `task` */
    uint64_t id;    /* never used again */
    int fd;
    struct rpc_core *core;
    unsigned task; /* of the door's owner: who it says it is; 0 before */
    size_t poll_at;
    bool broken;
    size_t partial; /* bytes of a message that has not come whole */
    char *rest;     /* read, and not looked at while its answers wait */
    size_t n_rest;
    struct door *door;
};

struct door_hooks {
    void (*call)(void *arg, struct door_guest *g, const struct rpc_call_hdr *h);
    void (*gone)(void *arg, uint64_t guest);
};

/* Listen at `path`, which must lie in a directory of ours; what is there under that name is replaced. The socket
 * is given to `uid`. NULL: e. */
struct door *door_open(const char *path, uid_t uid, gid_t gid, const struct door_hooks *hooks, void *arg,
                       struct err *e);
/* The guests go; `gone` is not called. The socket's name stays: by now it may be that of the job's next run. */
void door_close(struct door *d);

bool door_is_crowded(const struct door *d); /* more than DOOR_OUT_ALL_MAX waits to be read */
struct door_guest *door_find(const struct door *d, uint64_t guest); /* NULL: it has gone */

bool door_has_work(const struct door *d); /* a turn is due although nothing may come */
void door_poll(struct door *d, struct polls *p);
void door_turn(struct door *d, const struct polls *p);
void door_send(struct door *d); /* what has been queued since */

#endif
