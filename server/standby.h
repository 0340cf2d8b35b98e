#ifndef STANDBY_H
#define STANDBY_H
/* Standing by: what one of two servers with one store does while the other is active.
 *
 * It listens on its TCP port and serves nothing there: procedure 0 says that there is no such program, HELLO of
 * an execution service is refused, and callers go to the other one. Twice a second it looks into the store
 * (failover_peer.h), and does what failover_policy_decide() says. The store blocks, so it is a worker that looks.
 */
#include "err.h"
#include "server_settings.h"
#include "failover_policy.h"

enum standby_end {
    STANDBY_TAKE,  /* be active now; nothing is listened on any more */
    STANDBY_END,   /* told to end, by a signal or by the active server */
    STANDBY_FAILED /* it cannot listen */
};

/* Wait for this server's turn. `ready` is called once, when it is certain that there is a while to wait: it
 * listens then. Blocks. */
enum standby_end standby_wait(const struct server_settings *set, struct failover_policy *turn,
                              void (*ready)(void *arg), void *arg, struct err *e);

#endif
