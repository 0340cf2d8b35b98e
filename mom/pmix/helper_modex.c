/* Two ends. Asking: the library's thread queues a wish; the helper asks its peer on the host of that rank, piece by piece, and calls the
 * library back once, with all bytes or with a status. Answering: each piece is a request of its own, for which the library is asked for
 * everything that the rank has published, and a part of that is sent; so nothing is kept between two pieces, and a peer that goes in the
 * middle leaves nothing behind. The library answers when the rank has published; no time is kept here. */
#include "helper_modex.h"

#include <stdlib.h>
#include <string.h>

#include "helper.h"
#include "helper_launch.h"
#include "helper_link.h"
#include "helper_reply.h"
#include "byte_buf.h"

enum { SIZE_LIMIT = 64 << 20 }; /* what one rank publishes is some kilobytes */

/* ---- asking */
struct fetch {
    struct helper *h;
    unsigned node;
    pmix_proc_t proc;
    struct byte_buf bytes;
    pmix_modex_cbfunc_t done;
    void *done_arg;
};

static void helper_modex_release(void *arg)
{
    free(arg);
}

static void fetch_over(struct fetch *f, pmix_status_t status)
{
    char *bytes = status == PMIX_SUCCESS ? f->bytes.bytes : NULL;

    helper_reply_modex(f->done, f->done_arg, status, bytes, bytes ? f->bytes.len : 0, helper_modex_release,
                       bytes);
    if (!bytes)
        byte_buf_fini(&f->bytes);
    free(f);
}

static void fetch_ask(struct fetch *f);

static void fetch_on_piece(void *arg, const struct launch_answer *a, const char *why)
{
    struct fetch *f = arg;

    if (!a || a->status != PMIX_SUCCESS)
        fetch_over(f, a ? a->status : PMIX_ERR_UNREACH);
    else if (a->size > SIZE_LIMIT || (!a->bytes.bytes_len && f->bytes.len < a->size) ||
             byte_buf_add(&f->bytes, a->bytes.bytes_val, a->bytes.bytes_len) < 0)
        fetch_over(f, PMIX_ERR_OUT_OF_RESOURCE);
    else if (f->bytes.len < a->size)
        fetch_ask(f);
    else
        fetch_over(f, PMIX_SUCCESS);
}

static void fetch_ask(struct fetch *f)
{
    struct launch_ask ask = {.kind = LAUNCH_MODEX};
    struct launch_modex_args *a = &ask.launch_ask_u.modex;

    a->nspace = f->proc.nspace;
    a->rank = f->proc.rank;
    a->offset = f->bytes.len;
    if (helper_link_ask_peer(f->h->link, f->node, &ask, fetch_on_piece, f, NULL) < 0)
        fetch_over(f, PMIX_ERR_NOMEM);
}

void helper_modex_begin(struct helper *h, struct helper_event *ev)
{
    struct helper_modex_wish *w = (struct helper_modex_wish *)ev;
    const struct helper_launch *l = helper_launch_find(h, w->proc.nspace);
    struct fetch *f =
        l && w->proc.rank < l->n_ranks && l->at[w->proc.rank] != l->mine ? calloc(1, sizeof *f) : NULL;

    if (!f) {
        helper_reply_modex(w->done, w->done_arg, PMIX_ERR_NOT_FOUND, NULL, 0, NULL, NULL);
    } else {
        *f = (struct fetch){.h = h,
                            .node = l->node[l->at[w->proc.rank]],
                            .proc = w->proc,
                            .done = w->done,
                            .done_arg = w->done_arg};
        byte_buf_init(&f->bytes);
        fetch_ask(f);
    }
    free(w);
}

/* ---- answering */
struct serving {
    struct helper_event event;
    struct helper_queue *queue;
    uint32_t xid;
    uint64_t offset;
    pmix_status_t status;
    char *bytes;
    size_t n;
};

static void serving_answer(struct helper *h, struct helper_event *ev)
{
    struct serving *s = (struct serving *)ev;
    struct launch_answer a = {.status = s->status, .size = s->n};

    if (s->offset < s->n) {
        a.bytes.bytes_val = s->bytes + s->offset;
        a.bytes.bytes_len =
            (u_int)(s->n - s->offset < LAUNCH_PIECE_MAX ? s->n - s->offset : LAUNCH_PIECE_MAX);
    }
    helper_link_answer(h->link, s->xid, &a);
    free(s->bytes);
    free(s);
}

/* In the library's thread. */
static void serving_on_data(pmix_status_t status, char *data, size_t n, void *arg)
{
    struct serving *s = arg;

    s->status = status;
    s->bytes = n ? malloc(n) : NULL;
    if (s->bytes) {
        memcpy(s->bytes, data, n);
        s->n = n;
    } else if (n) {
        s->status = PMIX_ERR_NOMEM;
    }
    helper_queue_add(s->queue, &s->event);
}

void helper_modex_serve(struct helper *h, uint32_t xid, const struct launch_modex_args *a)
{
    struct serving *s = helper_launch_find(h, a->nspace) ? calloc(1, sizeof *s) : NULL;
    pmix_proc_t proc;
    pmix_status_t rc;

    if (!s) {
        helper_link_refuse(h->link, xid, PMIX_ERR_NOT_FOUND, "there is no such launch here");
        return;
    }
    s->event.take = serving_answer;
    s->queue = h->queue;
    s->xid = xid;
    s->offset = a->offset;
    PMIX_LOAD_PROCID(&proc, a->nspace, a->rank);
    rc = PMIx_server_dmodex_request(&proc, serving_on_data, s);
    if (rc == PMIX_SUCCESS)
        return;
    helper_link_refuse(h->link, xid, rc, PMIx_Error_string(rc));
    free(s);
}
