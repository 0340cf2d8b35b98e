#ifndef FAILOVER_POLICY_H
#define FAILOVER_POLICY_H
/* Whose turn it is to be active: what one of two servers that share a store does about what it sees there.
 *
 * Pure: it is shown the store's word (failover_peer.h) every moment, and answers what to do. The rules:
 *   - a primary that was just started takes a free store at once, and asks a secondary that has it to leave;
 *   - who stands by takes a store that is left in good order (qterm) at once, else when it has been free for
 *     `delay_ms`, in which whoever was killed may come back;
 *   - a secondary that has left for the primary gives it TURN_YIELD_MS at least;
 *   - the active server may tell the other to end, or to take nothing until somebody else has been active.
 */
#include <stdbool.h>
#include <stdint.h>

enum { TURN_ORDER_MAX = 64, TURN_YIELD_MS = 10000 };

/* What the store says. */
struct pair_look {
    bool held;                  /* some server has the lease */
    uint64_t epoch;             /* of the last activation; 0: there was none */
    uint64_t left;              /* epoch that was left in good order; 0 */
    char order[TURN_ORDER_MAX]; /* last word to who stands by: "end TIME", "idle TIME", "" */
};

struct turn { /* the caller's memory; begin with turn_begin */
    bool primary, just_started;
    int64_t delay_ms; /* <= 0: at once */
    int64_t least_ms; /* of this one time */
    bool saw_free, knows_order, idle;
    int64_t free_since_mono_ms;
    uint64_t idle_epoch, asked, yielded;
    char order[TURN_ORDER_MAX]; /* already known */
};

enum turn_move {
    TURN_WAIT,
    TURN_ASK, /* tell the active one to leave (pair_ask) */
    TURN_TAKE,
    TURN_END
};

void turn_begin(struct turn *t, bool primary, int64_t delay_ms);
/* Standing by again after having been active; `yielded`: the epoch of that, if the primary has asked for it, else 0. */
void turn_again(struct turn *t, uint64_t yielded);
enum turn_move turn_decide(struct turn *t, const struct pair_look *l, int64_t now_mono_ms);

#endif
