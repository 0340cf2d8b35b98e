/* A fence is known by its ranks (a hash of their list) and by its number among the fences of the same ranks: all of them take part in
 * each, in the same order, so each host counts for itself. The helper that puts together keeps what is complete until the next fence
 * of the same ranks is: a host whose answer was lost with a MOM asks again.
 *
 * Pieces of one host come one after the other, each with its place, so a piece that comes twice is seen. */
#include "helper_fence.h"

#include <stdlib.h>
#include <string.h>

#include "helper.h"
#include "helper_launch.h"
#include "helper_link.h"
#include "helper_reply.h"
#include "byte_buf.h"

/* SIZE_MAX_ALL: some kilobytes a rank is usual; a hundred thousand ranks fit. */
enum { SIZE_MAX_ALL = 512 << 20 };

struct helper_fence_count {
    struct helper_fence_count *next;
    uint64_t ranks;
    unsigned n;
};

struct asker { /* a GET that waits */
    struct asker *next;
    uint32_t xid;
    uint64_t offset;
};

struct helper_fence { /* on the host that puts together */
    struct helper_fence *next;
    uint64_t ranks;
    unsigned number, hosts, have;
    struct part {
        unsigned host;
        bool complete;
        struct byte_buf bytes;
    } * parts;
    unsigned n_parts;
    struct byte_buf all; /* when complete */
    bool complete;
    struct asker *askers;
    pmix_modex_cbfunc_t done; /* of our own ranks; NULL: they have not come, or have been told */
    void *done_arg;
    size_t size;
};

struct sending { /* on the others */
    struct helper *h;
    char *nspace;
    unsigned node; /* of the host that puts together */
    struct launch_fence id;
    unsigned hosts;
    char *data;
    size_t n_data, sent;
    struct byte_buf all;
    pmix_modex_cbfunc_t done;
    void *done_arg;
};

/* ---- who takes part */
static uint64_t hash_add(uint64_t h, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        h = (h ^ (v >> (8 * i) & 0xff)) * 0x100000001b3ULL; /* FNV-1a */
    return h;
}

static int compare_ranks(const void *a, const void *b)
{
    const pmix_proc_t *x = a, *y = b;

    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The hosts that take part are marked in `on`, whose first one puts together. Return the hash. */
static uint64_t helper_fence_ranks(const struct helper_launch *l, struct helper_fence_wish *w, char *on)
{
    uint64_t hash = 0xcbf29ce484222325ULL;

    qsort(w->procs, w->n_procs, sizeof *w->procs, compare_ranks);
    for (size_t i = 0; i < w->n_procs; i++) {
        pmix_rank_t r = w->procs[i].rank;

        hash = hash_add(hash, r);
        if (r == PMIX_RANK_WILDCARD)
            for (unsigned k = 0; k < l->n_ranks; k++)
                on[l->at[k]] = 1;
        else if (r < l->n_ranks)
            on[l->at[r]] = 1;
    }
    return hash;
}

static unsigned helper_fence_number(struct helper_launch *l, uint64_t ranks)
{
    struct helper_fence_count *c = l->counts;

    while (c && c->ranks != ranks)
        c = c->next;
    if (!c && (c = calloc(1, sizeof *c))) {
        c->ranks = ranks;
        c->next = l->counts;
        l->counts = c;
    }
    return c ? ++c->n : 0;
}

/* ---- what goes to the library */
static void helper_fence_release(void *arg)
{
    free(arg);
}

static void tell(pmix_modex_cbfunc_t done, void *done_arg, pmix_status_t status, const char *bytes, size_t n)
{
    char *copy = n ? malloc(n) : NULL;

    if (n && !copy) {
        status = PMIX_ERR_NOMEM;
        n = 0;
    }
    if (n)
        memcpy(copy, bytes, n);
    helper_reply_modex(done, done_arg, status, copy, n, helper_fence_release, copy);
}

static void wish_free(struct helper_fence_wish *w)
{
    free(w->procs);
    free(w->data);
    free(w);
}

/* ---- putting together */
static void fence_free(struct helper_fence *f)
{
    for (unsigned i = 0; i < f->n_parts; i++)
        byte_buf_fini(&f->parts[i].bytes);
    free(f->parts);
    byte_buf_fini(&f->all);
    while (f->askers) {
        struct asker *a = f->askers;

        f->askers = a->next;
        free(a);
    }
    free(f);
}

void helper_fence_forget(struct helper_launch *l)
{
    while (l->fences) {
        struct helper_fence *f = l->fences;

        l->fences = f->next;
        fence_free(f);
    }
    while (l->counts) {
        struct helper_fence_count *c = l->counts;

        l->counts = c->next;
        free(c);
    }
}

static struct helper_fence *fence_get(struct helper_launch *l, uint64_t ranks, unsigned number,
                                      unsigned hosts)
{
    struct helper_fence *f = l->fences;

    while (f && (f->ranks != ranks || f->number != number))
        f = f->next;
    if (f)
        return f;
    f = hosts && hosts <= l->n_hosts ? calloc(1, sizeof *f) : NULL;
    if (!f)
        return NULL;
    f->parts = calloc(hosts, sizeof *f->parts);
    if (!f->parts) {
        free(f);
        return NULL;
    }
    f->ranks = ranks;
    f->number = number;
    f->hosts = hosts;
    byte_buf_init(&f->all);
    f->next = l->fences;
    l->fences = f;
    return f;
}

static struct part *part_of(struct helper_fence *f, unsigned host)
{
    for (unsigned i = 0; i < f->n_parts; i++)
        if (f->parts[i].host == host)
            return &f->parts[i];
    if (f->n_parts == f->hosts)
        return NULL;
    f->parts[f->n_parts].host = host;
    byte_buf_init(&f->parts[f->n_parts].bytes);
    return &f->parts[f->n_parts++];
}

/* The fences of the same ranks before this one: all hosts have what they were. */
static void forget_older(struct helper_launch *l, const struct helper_fence *than)
{
    struct helper_fence **at = &l->fences;

    while (*at) {
        struct helper_fence *f = *at;

        if (f->ranks == than->ranks && f->number < than->number) {
            *at = f->next;
            fence_free(f);
        } else {
            at = &f->next;
        }
    }
}

static void answer_piece(struct helper *h, uint32_t xid, const struct byte_buf *all, uint64_t offset)
{
    struct launch_answer a = {.status = PMIX_SUCCESS, .size = all->len};

    if (offset < all->len) {
        a.bytes.bytes_val = all->bytes + offset;
        a.bytes.bytes_len =
            (u_int)(all->len - offset < LAUNCH_PIECE_MAX ? all->len - offset : LAUNCH_PIECE_MAX);
    }
    helper_link_answer(h->link, xid, &a);
}

static void fence_complete(struct helper *h, struct helper_launch *l, struct helper_fence *f)
{
    pmix_status_t status = PMIX_SUCCESS;

    for (unsigned i = 0; i < f->n_parts; i++) {
        if (byte_buf_add(&f->all, f->parts[i].bytes.bytes, f->parts[i].bytes.len) < 0)
            status = PMIX_ERR_NOMEM;
        byte_buf_fini(&f->parts[i].bytes);
        byte_buf_init(&f->parts[i].bytes);
    }
    f->complete = true;
    while (f->askers) {
        struct asker *a = f->askers;

        f->askers = a->next;
        answer_piece(h, a->xid, &f->all, a->offset);
        free(a);
    }
    if (f->done)
        tell(f->done, f->done_arg, status, f->all.bytes, f->all.len);
    f->done = NULL;
    forget_older(l, f);
}

static void part_complete(struct helper *h, struct helper_launch *l, struct helper_fence *f, struct part *p)
{
    if (p->complete)
        return;
    p->complete = true;
    if (++f->have == f->hosts)
        fence_complete(h, l, f);
}

/* Say why a piece cannot be taken, or NULL. */
static const char *take_piece(struct helper_fence *f, struct part *p, const struct launch_put_args *a)
{
    if (a->size > SIZE_MAX_ALL || f->size > SIZE_MAX_ALL - a->size)
        return "the data of a fence are larger than 512 MB";
    if (p->complete || a->offset < p->bytes.len)
        return NULL; /* said again */
    if (a->offset != p->bytes.len || p->bytes.len + a->bytes.bytes_len > a->size)
        return "a piece of a fence is missing";
    if (byte_buf_add(&p->bytes, a->bytes.bytes_val, a->bytes.bytes_len) < 0)
        return "no memory for a fence";
    f->size += a->bytes.bytes_len;
    return NULL;
}

void helper_fence_put(struct helper *h, uint32_t xid, const struct launch_put_args *a)
{
    struct helper_launch *l = helper_launch_find(h, a->fence.nspace);
    struct helper_fence *f =
        l && a->fence.from < l->n_hosts ? fence_get(l, a->fence.ranks, a->fence.number, a->hosts) : NULL;
    struct part *p = f && f->hosts == a->hosts ? part_of(f, a->fence.from) : NULL;
    const char *why = p ? take_piece(f, p, a) : "there is no such launch or fence here";

    helper_link_refuse(h->link, xid, why ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS, why ? why : "");
    if (!why && p->bytes.len == a->size)
        part_complete(h, l, f, p);
}

void helper_fence_get(struct helper *h, uint32_t xid, const struct launch_get_args *a)
{
    struct helper_launch *l = helper_launch_find(h, a->fence.nspace);
    struct helper_fence *f = l ? fence_get(l, a->fence.ranks, a->fence.number, 0) : NULL;
    struct asker *w;

    if (!f) {
        helper_link_refuse(h->link, xid, PMIX_ERR_NOT_FOUND, "there is no such launch or fence here");
        return;
    }
    if (f->complete) {
        answer_piece(h, xid, &f->all, a->offset);
        return;
    }
    w = calloc(1, sizeof *w);
    if (!w) {
        helper_link_refuse(h->link, xid, PMIX_ERR_NOMEM, "no memory for a fence");
        return;
    }
    w->xid = xid;
    w->offset = a->offset;
    w->next = f->askers;
    f->askers = w;
}

/* ---- on the other hosts */
static void sending_over(struct sending *s, pmix_status_t status)
{
    tell(s->done, s->done_arg, status, s->all.bytes, status == PMIX_SUCCESS ? s->all.len : 0);
    free(s->nspace);
    free(s->data);
    byte_buf_fini(&s->all);
    free(s);
}

static void sending_fetch(struct sending *s);

static void sending_on_piece(void *arg, const struct launch_answer *a, const char *why)
{
    struct sending *s = arg;

    if (!a || a->status != PMIX_SUCCESS || a->size > SIZE_MAX_ALL ||
        byte_buf_add(&s->all, a->bytes.bytes_val, a->bytes.bytes_len) < 0 ||
        (!a->bytes.bytes_len && s->all.len < a->size))
        sending_over(s, a && a->status != PMIX_SUCCESS ? a->status : PMIX_ERR_UNREACH);
    else if (s->all.len < a->size)
        sending_fetch(s);
    else
        sending_over(s, PMIX_SUCCESS);
}

static void sending_fetch(struct sending *s)
{
    struct launch_ask ask = {.kind = LAUNCH_GET};

    ask.launch_ask_u.get.fence = s->id;
    ask.launch_ask_u.get.offset = s->all.len;
    if (helper_link_ask_peer(s->h->link, s->node, &ask, sending_on_piece, s, NULL) < 0)
        sending_over(s, PMIX_ERR_NOMEM);
}

static void sending_put(struct sending *s);

static void sending_on_put(void *arg, const struct launch_answer *a, const char *why)
{
    struct sending *s = arg;

    if (!a || a->status != PMIX_SUCCESS)
        sending_over(s, a ? a->status : PMIX_ERR_UNREACH);
    else if (s->sent < s->n_data)
        sending_put(s);
    else
        sending_fetch(s);
}

static void sending_put(struct sending *s)
{
    struct launch_ask ask = {.kind = LAUNCH_PUT};
    struct launch_put_args *a = &ask.launch_ask_u.put;
    size_t n = s->n_data - s->sent < LAUNCH_PIECE_MAX ? s->n_data - s->sent : LAUNCH_PIECE_MAX;

    a->fence = s->id;
    a->hosts = s->hosts;
    a->offset = s->sent;
    a->size = s->n_data;
    a->bytes.bytes_val = s->data + s->sent;
    a->bytes.bytes_len = (u_int)n;
    s->sent += n;
    if (helper_link_ask_peer(s->h->link, s->node, &ask, sending_on_put, s, NULL) < 0)
        sending_over(s, PMIX_ERR_NOMEM);
}

static void send_mine(struct helper *h, struct helper_launch *l, struct helper_fence_wish *w,
                      const struct launch_fence *id, unsigned first, unsigned hosts)
{
    struct sending *s = calloc(1, sizeof *s);

    if (!s || !(s->nspace = strdup(l->nspace))) {
        free(s);
        tell(w->done, w->done_arg, PMIX_ERR_NOMEM, NULL, 0);
        return;
    }
    s->h = h;
    s->node = l->node[first];
    s->id = *id;
    s->id.nspace = s->nspace;
    s->hosts = hosts;
    s->data = w->data;
    s->n_data = w->n_data;
    w->data = NULL;
    s->done = w->done;
    s->done_arg = w->done_arg;
    byte_buf_init(&s->all);
    sending_put(s);
}

static void keep_mine(struct helper *h, struct helper_launch *l, struct helper_fence_wish *w,
                      const struct launch_fence *id, unsigned hosts)
{
    struct helper_fence *f = fence_get(l, id->ranks, id->number, hosts);
    struct part *p = f && f->hosts == hosts ? part_of(f, l->mine) : NULL;

    if (!p || byte_buf_add(&p->bytes, w->data, w->n_data) < 0) {
        tell(w->done, w->done_arg, PMIX_ERR_NOMEM, NULL, 0);
        return;
    }
    f->size += w->n_data;
    f->done = w->done;
    f->done_arg = w->done_arg;
    part_complete(h, l, f, p);
}

static void helper_fence_among(struct helper *h, struct helper_launch *l, struct helper_fence_wish *w,
                               char *on)
{
    struct launch_fence id = {.nspace = l->nspace, .from = l->mine};
    unsigned hosts = 0, first = 0;

    id.ranks = helper_fence_ranks(l, w, on);
    for (unsigned i = l->n_hosts; i-- > 0;)
        if (on[i]) {
            hosts++;
            first = i;
        }
    if (hosts <= 1)
        tell(w->done, w->done_arg, PMIX_SUCCESS, w->data, w->n_data);
    else if ((id.number = helper_fence_number(l, id.ranks)) == 0)
        tell(w->done, w->done_arg, PMIX_ERR_NOMEM, NULL, 0);
    else if (first == l->mine)
        keep_mine(h, l, w, &id, hosts);
    else
        send_mine(h, l, w, &id, first, hosts);
}

void helper_fence_begin(struct helper *h, struct helper_event *ev)
{
    struct helper_fence_wish *w = (struct helper_fence_wish *)ev;
    struct helper_launch *l = w->n_procs ? helper_launch_find(h, w->procs[0].nspace) : NULL;
    char *on = l ? calloc(l->n_hosts, 1) : NULL;
    bool one = l;

    for (size_t i = 0; i < w->n_procs && one; i++)
        one = strcmp(w->procs[i].nspace, l->nspace) == 0;
    if (!on || !one) /* over several launches, which the library does not know of one another either */
        tell(w->done, w->done_arg, one ? PMIX_ERR_NOMEM : PMIX_ERR_NOT_SUPPORTED, NULL, 0);
    else
        helper_fence_among(h, l, w, on);
    free(on);
    wish_free(w);
}
