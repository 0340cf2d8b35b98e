/* Rows that two servers leave for each other. See failover_peer.h.
 *
 * The servers need no connection between them: a server that reaches the store can be told, and no other one matters. The
 * active one writes with its batches, and so only while it has the lease; the standby one writes its single row
 * ("wanted") outside of any batch. A word counts for the epoch or the time in it, so an old one means nothing. The table
 * may not be there yet, where the standby is the first to look. */
#include "failover_peer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "commit.h"
#include "schema.h"
#include "store.h"

enum { NUMBER_TEXT = 24 }; /* 20 digits of an epoch */

static int failover_peer_take_text(void *arg, const struct store_row *row, struct err *e)
{
    const char *value = store_row_text(row, 0);

    snprintf(arg, FAILOVER_POLICY_ORDER_MAX, "%s", value ? value : "");
    return 0;
}

static int get(struct store *s, const char *name, char out[static FAILOVER_POLICY_ORDER_MAX], struct err *e)
{
    struct store_batch_stmt q;

    *out = '\0';
    stmt_init(&q, STMT_META_GET);
    stmt_text(&q, name);
    return store_query(s, &q, failover_peer_take_text, out, e);
}

/* Ask first whether the lease is held: an epoch that is read later may only be newer than the answer. */
int failover_peer_look(struct store *s, struct pair_look *out, struct err *e)
{
    char epoch[FAILOVER_POLICY_ORDER_MAX], left[FAILOVER_POLICY_ORDER_MAX];

    memset(out, 0, sizeof *out);
    if (s->class->held(s, &out->held, e) < 0 ||
        store_script(s, "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);", e) <
            0 ||
        get(s, "epoch", epoch, e) < 0 || get(s, "left", left, e) < 0 || get(s, "standby", out->order, e) < 0)
        return -1;
    out->epoch = strtoull(epoch, NULL, 10);
    out->left = strtoull(left, NULL, 10);
    return 0;
}

int failover_peer_ask(struct store *s, uint64_t epoch, struct err *e)
{
    char number[NUMBER_TEXT];
    struct store_batch_stmt q;

    snprintf(number, sizeof number, "%" PRIu64, epoch);
    stmt_init(&q, STMT_META_SET);
    stmt_text(&q, PAIR_WANTED);
    stmt_text(&q, number);
    return store_query(s, &q, NULL, NULL, e);
}

void failover_peer_leave(struct commit *c, uint64_t epoch)
{
    char number[NUMBER_TEXT];

    snprintf(number, sizeof number, "%" PRIu64, epoch);
    commit_put_meta(c, "left", number);
}

void failover_peer_order(struct commit *c, const char *word)
{
    char order[FAILOVER_POLICY_ORDER_MAX];

    snprintf(order, sizeof order, "%s %" PRId64, word, clock_wall_ns(clock_real()));
    commit_put_meta(c, "standby", order);
}
