#ifndef FAILOVER_POLICY_H
#define FAILOVER_POLICY_H
/* Which of two servers that share a store is active: what a standby server does about what it sees in the
 * store.
 *
 * Pure: it gets what the store says (failover_peer.h) at each poll, and returns what to do. The rules:
 *   - a primary that was just started takes a free store at once, and asks a secondary that has it to hand over;
 *   - a standby server takes a store that is left in good order (qterm) at once, else when it has been free for
 *     `delay_ms`, in which a killed server may come back;
 *   - a secondary that has handed over to the primary gives it at least FAILOVER_POLICY_YIELD_MS;
 *   - the active server may order the other to end, or to take nothing until another server has been active.
 */
#include <stdbool.h>
#include <stdint.h>

enum { FAILOVER_POLICY_ORDER_MAX = 64, FAILOVER_POLICY_YIELD_MS = 10000 };

/* What the store says. */
struct pair_look {
    bool held;                             /* some server has the lease */
    uint64_t epoch;                        /* of the last activation; 0: there was none */
    uint64_t left;                         /* epoch that was left in good order; 0 */
    char order[FAILOVER_POLICY_ORDER_MAX]; /* last order to the standby server: "end TIME", "idle TIME", "" */
};

struct failover_policy { /* the caller's memory; begin with failover_policy_begin */
    bool primary, just_started;
    int64_t delay_ms; /* <= 0: at once */
    int64_t least_ms; /* of this one time */
    bool saw_free, knows_order, idle;
    int64_t free_since_mono_ms;
    uint64_t idle_epoch, asked, yielded;
    char order[FAILOVER_POLICY_ORDER_MAX]; /* already known */
};

enum failover_policy_move {
    FAILOVER_POLICY_WAIT,
    FAILOVER_POLICY_ASK, /* ask the active server to hand over (failover_peer_ask) */
    FAILOVER_POLICY_TAKE,
    FAILOVER_POLICY_END
};

void failover_policy_begin(struct failover_policy *t, bool primary, int64_t delay_ms);
/* Standing by again after having been active; `yielded`: the epoch of that, if the primary has asked for it, else 0. */
void failover_policy_again(struct failover_policy *t, uint64_t yielded);
enum failover_policy_move failover_policy_decide(struct failover_policy *t, const struct pair_look *l,
                                                 int64_t now_mono_ms);

#endif
