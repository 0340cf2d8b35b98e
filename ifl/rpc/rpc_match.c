/* Calls under way by xid. See rpc_match.h.
 *
 * A hash of chains over consecutive numbers: xids are given in order, so the number itself is the hash,
 * and chains stay at one entry. It doubles when there are as many calls as slots. A number that is still
 * in use after all others were given is passed over. */
#include "rpc_match.h"

#include <assert.h>

enum { FIRST_SLOTS = 16 }; /* a power of two, as slot() needs; a command has one or two calls under way */

void rpc_match_init(struct rpc_match *m, uint32_t first_xid)
{
    *m = (struct rpc_match){.next_xid = first_xid};
}

void rpc_match_fini(struct rpc_match *m)
{
    free(m->slots);
    *m = (struct rpc_match){0};
}

static struct rpc_pending **slot(const struct rpc_match *m, uint32_t xid)
{
    return &m->slots[xid & (m->n_slots - 1)];
}

static int rpc_match_grow(struct rpc_match *m)
{
    struct rpc_match bigger = *m;
    size_t i;

    bigger.n_slots = m->n_slots ? 2 * m->n_slots : FIRST_SLOTS;
    bigger.slots = calloc(bigger.n_slots, sizeof *bigger.slots);
    if (!bigger.slots)
        return -1;
    for (i = 0; i < m->n_slots; i++) {
        struct rpc_pending *p, *next;

        for (p = m->slots[i]; p; p = next) {
            next = p->next;
            p->next = *slot(&bigger, p->xid);
            *slot(&bigger, p->xid) = p;
        }
    }
    free(m->slots);
    *m = bigger;
    return 0;
}

int rpc_match_add(struct rpc_match *m, struct rpc_pending *p)
{
    if (m->n == m->n_slots && rpc_match_grow(m) < 0)
        return -1;
    /* A call may be parked for days while the numbers go round. */
    while (rpc_match_find(m, m->next_xid))
        m->next_xid++;
    p->xid = m->next_xid++;
    p->next = *slot(m, p->xid);
    *slot(m, p->xid) = p;
    m->n++;
    return 0;
}

struct rpc_pending *rpc_match_find(const struct rpc_match *m, uint32_t xid)
{
    struct rpc_pending *p;

    if (!m->n)
        return NULL;
    for (p = *slot(m, xid); p && p->xid != xid; p = p->next)
        ;
    return p;
}

void rpc_match_remove(struct rpc_match *m, struct rpc_pending *p)
{
    struct rpc_pending **at = slot(m, p->xid);

    while (*at && *at != p)
        at = &(*at)->next;
    assert(*at == p);
    *at = p->next;
    p->next = NULL;
    m->n--;
}

struct rpc_pending *rpc_match_any(const struct rpc_match *m)
{
    size_t i;

    for (i = 0; m->n && i < m->n_slots; i++)
        if (m->slots[i])
            return m->slots[i];
    return NULL;
}
