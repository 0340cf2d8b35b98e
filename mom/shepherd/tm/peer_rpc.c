/* One struct for each letter that is not answered. It is under way (the link owes an answer or "lost") or it
 * waits for its next try.
 *
 * Two ways of failing are kept apart. Our own MOM has gone: that says nothing about the other host, and the
 * letter waits for the next MOM as long as it takes. The other host cannot be reached: the time of that is
 * counted, and ends it. A try that lasted long had reached the host, so the count begins again. */
#include "peer_rpc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <shep.h>

#include "clock.h"
#include "mom_link.h"
#include "pbs_error.h"
#include "rpc_buf.h"
#include "rpc_match.h"
#include "tm_.h"

/* A try that lasted so long had reached the other host. */
enum { AGAIN_MS = 200, REACHED_MS = 10000 };

struct peer_rpc_letter {
    struct peer_rpc_letter *next, **at; /* list of all */
    struct rpc_pending pending;
    struct peer_rpc *all;
    unsigned host;
    struct byte_buf bytes;
    bool under_way;
    int64_t tried_mono_ms, next_mono_ms;
    int64_t away_mono_ms; /* since when the other host is out of reach; 0: it is not, for all we know */
    peer_rpc_fn *fn;
    void *arg;
};

struct peer_rpc {
    struct mom_link *mom_link;
    struct peer_rpc_letter *first;
    uint64_t last_number;
};

struct peer_rpc *peer_rpc_create(struct mom_link *l)
{
    struct peer_rpc *all = calloc(1, sizeof *all);

    if (all)
        all->mom_link = l;
    return all;
}

static void letter_free(struct peer_rpc_letter *x)
{
    *x->at = x->next;
    if (x->next)
        x->next->at = x->at;
    byte_buf_fini(&x->bytes);
    free(x);
}

static void peer_rpc_finish(struct peer_rpc_letter *x, const struct tmx_answer *a)
{
    peer_rpc_fn *fn = x->fn;
    void *arg = x->arg;

    letter_free(x);
    fn(arg, a);
}

static void peer_rpc_fail(struct peer_rpc_letter *x, const char *why)
{
    struct tmx_answer a = {.code = TM_ESYSTEM, .text = (char *)why};

    peer_rpc_finish(x, &a);
}

void peer_rpc_destroy(struct peer_rpc *l)
{
    while (l && l->first)
        peer_rpc_fail(l->first, "the job has ended");
    free(l);
}

static void take_answer(struct peer_rpc_letter *x, const struct shep_letter_result *r)
{
    struct tmx_answer a = {0};

    if (rpc_buf_decode(r->bytes.bytes_val, r->bytes.bytes_len, (xdrproc_t)xdr_tmx_answer, &a) < 0)
        peer_rpc_fail(x, "the answer of another host cannot be read");
    else
        peer_rpc_finish(x, &a);
    xdr_free((xdrproc_t)xdr_tmx_answer, &a);
}

static void try_later(struct peer_rpc_letter *x)
{
    x->under_way = false;
    x->next_mono_ms = clock_real_mono_ms() + AGAIN_MS;
}

/* Refused for good: the run is not there (any more), or is not for us. */
static bool is_final(int code)
{
    return code == PBSE_UNKJOBID || code == PBSE_PERM || code == PBSE_IVALREQ;
}

static void not_reached(struct peer_rpc_letter *x)
{
    int64_t now = clock_real_mono_ms();

    if (!x->away_mono_ms || now - x->tried_mono_ms > REACHED_MS)
        x->away_mono_ms = now;
    if (now - x->away_mono_ms >= PEER_RPC_LIMIT_MS)
        peer_rpc_fail(x, "another host of the job cannot be reached");
    else
        try_later(x);
}

static void peer_rpc_on_reply(struct rpc_pending *p, const struct rpc_reply_hdr *h)
{
    struct peer_rpc_letter *x =
        (struct peer_rpc_letter *)((char *)p - offsetof(struct peer_rpc_letter, pending));
    struct shep_letter_result r = {0};

    x->under_way = false;
    if (h->status != RPC_ST_OK ||
        rpc_buf_decode(h->result, h->n_result, (xdrproc_t)xdr_shep_letter_result, &r) < 0)
        peer_rpc_fail(x, "this host's MOM does not carry letters");
    else if (r.code == 0)
        take_answer(x, &r);
    else if (is_final(r.code))
        peer_rpc_fail(x, r.text);
    else
        not_reached(x);
    xdr_free((xdrproc_t)xdr_shep_letter_result, &r);
}

static void peer_rpc_on_lost(struct rpc_pending *p, const struct err *why)
{
    struct peer_rpc_letter *x =
        (struct peer_rpc_letter *)((char *)p - offsetof(struct peer_rpc_letter, pending));

    (void)why; /* our own MOM has gone: that says nothing about the other host */
    x->away_mono_ms = 0;
    try_later(x);
}

static void try_now(struct peer_rpc_letter *x)
{
    static const struct rpc_pending_ops ops = {.reply = peer_rpc_on_reply, .lost = peer_rpc_on_lost};
    struct shep_letter_args a = {.host = x->host};

    a.bytes.bytes_len = (u_int)x->bytes.len;
    a.bytes.bytes_val = x->bytes.bytes;
    x->pending.ops = &ops;
    x->tried_mono_ms = clock_real_mono_ms();
    if (mom_link_ask(x->all->mom_link, SHEP_PEER, (xdrproc_t)xdr_shep_letter_args, &a, &x->pending) < 0)
        try_later(x);
    else
        x->under_way = true;
}

void peer_rpc_send(struct peer_rpc *l, unsigned host, const struct tmx_ask *ask, peer_rpc_fn *fn, void *arg)
{
    struct tmx_letter full = {.number = ++l->last_number, .ask = *ask};
    struct peer_rpc_letter *x = calloc(1, sizeof *x);
    struct tmx_answer none = {.code = TM_ESYSTEM};

    if (x)
        byte_buf_init(&x->bytes);
    if (!x || rpc_buf_encode(&x->bytes, (xdrproc_t)xdr_tmx_letter, &full) < 0) {
        free(x);
        fn(arg, &none);
        return;
    }
    x->all = l;
    x->host = host;
    x->fn = fn;
    x->arg = arg;
    x->next = l->first;
    x->at = &l->first;
    if (x->next)
        x->next->at = &x->next;
    l->first = x;
    try_now(x);
}

int peer_rpc_wait_ms(const struct peer_rpc *l)
{
    int64_t now = clock_real_mono_ms(), first = -1;

    for (const struct peer_rpc_letter *x = l->first; x; x = x->next) {
        int64_t left = x->next_mono_ms > now ? x->next_mono_ms - now : 0;

        if (x->under_way)
            continue;
        if (first < 0 || left < first)
            first = left;
    }
    return first > INT32_MAX ? INT32_MAX : (int)first;
}

void peer_rpc_turn(struct peer_rpc *l)
{
    int64_t now = clock_real_mono_ms();
    struct peer_rpc_letter *next;

    for (struct peer_rpc_letter *x = l->first; x; x = next) {
        next = x->next;
        if (!x->under_way && now >= x->next_mono_ms)
            try_now(x);
    }
}
