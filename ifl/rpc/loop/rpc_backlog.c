/* A queue of calls, each one block: the struct, then its arguments. See rpc_backlog.h.
 *
 * Nothing bounds it here: rpc_conn.c looks at n and bytes, since a bound means to stop reading in one direction and to
 * fail the caller in the other. */
#include "rpc_backlog.h"

#include <stdlib.h>
#include <string.h>

static size_t rpc_backlog_size_of(const struct rpc_backlog_call *c)
{
    return sizeof *c + c->h.n_args;
}

int rpc_backlog_add(struct rpc_backlog *b, const struct rpc_call_hdr *h, struct rpc_pending *p)
{
    struct rpc_backlog_call *c = malloc(sizeof *c + h->n_args);

    if (!c)
        return -1;
    *c = (struct rpc_backlog_call){.h = *h, .pending = p};
    c->h.cred.bytes = c->h.verf.bytes = NULL; /* on an open connection nothing asks for them */
    c->h.cred.n = c->h.verf.n = 0;
    if (h->n_args)
        memcpy(c->bytes, h->args, h->n_args);
    c->h.args = c->bytes;
    if (b->last)
        b->last->next = c;
    else
        b->first = c;
    b->last = c;
    b->n++;
    b->bytes += rpc_backlog_size_of(c);
    return 0;
}

struct rpc_backlog_call *rpc_backlog_take(struct rpc_backlog *b)
{
    struct rpc_backlog_call *c = b->first;

    if (!c)
        return NULL;
    b->first = c->next;
    if (!b->first)
        b->last = NULL;
    b->n--;
    b->bytes -= rpc_backlog_size_of(c);
    return c;
}
