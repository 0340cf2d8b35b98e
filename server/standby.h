#ifndef STANDBY_H
#define STANDBY_H
/* Standing by: what one of two servers with one store does while the other is active.
 *
 * It listens on its TCP port and serves nothing there: procedure 0 reports an unknown program, HELLO of an execution
 * service is refused, and callers go to the other one. Twice a second it reads the store
 * (failover_peer.h), and does what failover_policy_decide() says. Reading the store blocks, so a worker does it.
 */
#include "err.h"
#include "server_settings.h"
#include "failover_policy.h"

enum standby_end {
    STANDBY_TAKE,  /* become active now; the listener is closed */
    STANDBY_END,   /* told to end, by a signal or by the active server */
    STANDBY_FAILED /* it cannot listen */
};

/* Wait until this server is to become active. `ready` is called once, when the server must wait and listens. Blocks. */
enum standby_end standby_wait(const struct server_settings *set, struct failover_policy *turn,
                              void (*ready)(void *arg), void *arg, struct err *e);

#endif
