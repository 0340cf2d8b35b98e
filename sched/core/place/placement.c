/* First fit by rank: chunks in the order of the select text, each on the vnodes of lowest rank that take it,
 * and no way back. A chunk without room ends the search (with pack: on this host). Then, where the chunks are of a few different
 * kinds, the search is made once more in one other order, kinds with the least choice of vnodes first (or backwards): "1:ncpus=1+1:ncpus=1:mem=64gb"
 * must not fail because the first chunk sits on the only vnode with so much memory. Parts are in the order of the select text in
 * any case. There may be a place that neither order finds.
 *
 * For each chunk, gather() makes a bitmap of the ranks that are worth a look, from one sample of each bucket;
 * placement_fill() walks its bits. What is put is a step of the trial at once, so that the next chunk sees it taken,
 * and a search that fails undoes its steps. Vnodes and hosts that this search uses carry its serial number as
 * a mark: nothing has to be cleared for the next one. */
#include "placement.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mem.h"
#include "pools.h"
#include "search_log.h"
#include "strbuf.h"
#include "cluster_order.h"

/* EXEC_VNODE_MAX: bytes of an exec_vnode, about 50,000 vnodes of 20 bytes each. KINDS_MAX: more kinds of chunks than that are tried in
 * the order of the select text alone, since the other order asks once more what room each has; selects written by hand have two or
 * three. */
enum { EXEC_VNODE_MAX = 1 << 20, KINDS_MAX = 8 };

struct placer {
    struct cluster *cl;
    struct buckets *buckets;
    struct trial *trial;
    struct decisions *log; /* or NULL */
    unsigned serial;       /* of the search under way: nodes and hosts used by it carry it as their mark */
    uint64_t *set;         /* ranks to look at */
    size_t words;
    struct amounts **kept; /* parts of split chunks, borrowed by the trial */
    size_t n_kept, cap_kept;
};

/* One search. */
struct placement_search {
    struct placer *p;
    const struct asker *a;
    struct node *const *nodes;
    const struct host *only; /* ARRANGE_PACK: this host alone; else NULL */
    uint32_t from;           /* the first rank to look at, then round to the one before it */
    struct allocation *out;
};

struct placer *placement_create(struct cluster *cl, struct buckets *b, struct trial *t)
{
    struct placer *p = mem_new(1, sizeof *p);

    p->cl = cl;
    p->buckets = b;
    p->trial = t;
    return p;
}

void placement_forget(struct placer *p)
{
    for (size_t i = 0; i < p->n_kept; i++) {
        amounts_fini(p->kept[i]);
        free(p->kept[i]);
    }
    p->n_kept = 0;
}

void placement_destroy(struct placer *p)
{
    if (!p)
        return;
    placement_forget(p);
    free(p->kept);
    free(p->set);
    free(p);
}

void placement_set_log(struct placer *p, struct decisions *log)
{
    p->log = log;
}

struct decisions *placement_log(const struct placer *p)
{
    return p->log;
}

static void placement_put(struct placement_search *s, struct node *n, const struct amounts *use, bool joined)
{
    trial_take(s->p->trial, n, use);
    allocation_add(s->out, n, use, joined);
    n->mark = s->p->serial;
    n->host->mark = s->p->serial;
}

/* --- which nodes to look at -------------------------------------------------------------------------- */

/* The set has a bit for each rank; buckets_words grows with the number of vnodes. */
static void set_clear(struct placer *p)
{
    if (p->words != buckets_words(p->buckets)) {
        p->words = buckets_words(p->buckets);
        p->set = mem_grow(p->set, p->words, sizeof *p->set);
    }
    memset(p->set, 0, p->words * sizeof *p->set);
}

static void set_add(struct placer *p, const struct node *n)
{
    p->set[n->rank / 64] |= 1ull << n->rank % 64;
}

/* How many copies go to this vnode: of scattered ones one. Most vnodes keep nothing for reservations, or
 * have nothing free, and cost one look. */
static int64_t times_in(const struct placement_search *s, const struct node *n, const struct chunk *k)
{
    int64_t most = s->a->request->arrange == ARRANGE_FREE || s->only ? k->count : 1;
    int64_t times = match_times(s->a, n, &n->free, k, most);

    return times == 0 || n->n_keeps == 0 ? times : match_times_beside(s->a, n, k, times);
}

/* Everything but the amounts. */
static bool offers(const struct placement_search *s, const struct node *n, const struct chunk *k)
{
    return match_pool(s->a, n) && match_open(s->a, n) && match_labels(s->a, n, k);
}

/* Where names matter every node is looked at, else one node of each bucket. Returns
 * an upper bound of the copies that fit. */
static int64_t gather_named(struct placement_search *s, const struct chunk *k)
{
    size_t n;
    struct node *const *nodes = cluster_nodes(s->p->cl, &n);
    int64_t fits = 0;

    for (size_t i = 0; i < n; i++)
        if (offers(s, nodes[i], k)) {
            set_add(s->p, nodes[i]);
            fits += times_in(s, nodes[i], k);
        }
    return fits;
}

/* The room of a reservation: its vnodes, even if there are many others. */
static int64_t gather_within(struct placement_search *s, const struct chunk *k)
{
    const struct allocation *share = &s->a->within->times[0].share;
    int64_t fits = 0;

    for (size_t i = 0; i < share->n; i++)
        if (offers(s, share->a[i].node, k)) {
            set_add(s->p, share->a[i].node);
            fits += times_in(s, share->a[i].node, k);
        }
    return fits;
}

/* What ends on a vnode before a reservation begins there is asked of each: those of a bucket differ in that. */
static bool is_each_its_own(const struct placement_search *s, const struct bucket *b)
{
    return s->a->span.by == SPAN_LATER && b->sample->n_keeps > 0;
}

/* The vnodes that something is kept on, in the order in which they are filled: where each copy may be on any vnode, those behind the
 * first that have room for all copies are never reached. */
static int64_t gather_kept(struct placement_search *s, const struct chunk *k)
{
    bool may_stop = s->a->request->arrange == ARRANGE_FREE && s->from == 0;
    int64_t fits = 0, sure = 0;
    size_t n;
    struct node *const *nodes = cluster_nodes(s->p->cl, &n);

    for (size_t i = 0; i < n && !(may_stop && sure >= k->count); i++) {
        if (nodes[i]->n_keeps == 0 || !offers(s, nodes[i], k))
            continue;
        int64_t times = times_in(s, nodes[i], k);
        set_add(s->p, nodes[i]);
        fits += times;
        sure += nodes[i]->n_pools > 0 ? 0 : times; /* what is lent may be taken by another one */
    }
    return fits;
}

/* One look at each bucket. With SPAN_LATER the vnodes that keep something are looked at one by one instead,
 * once for all their buckets. */
static int64_t gather_buckets(struct placement_search *s, const struct chunk *k)
{
    struct placer *p = s->p;
    int64_t fits = 0;
    bool any_kept = false;

    for (struct bucket *b = buckets_next_for(p->buckets, k, NULL); b;
         b = buckets_next_for(p->buckets, k, b)) {
        if (is_each_its_own(s, b)) {
            any_kept = true;
            continue;
        }
        int64_t times = times_in(s, b->sample, k); /* what rules out most of them, and is cheap */
        if (times == 0 || !offers(s, b->sample, k))
            continue;
        fits += times * (int64_t)b->n;
        bucket_add_to(p->buckets, b, p->set);
    }
    return fits + (any_kept ? gather_kept(s, k) : 0);
}

static int64_t gather_host(struct placement_search *s, const struct chunk *k)
{
    int64_t fits = 0;

    for (size_t i = 0; i < s->only->n; i++)
        if (offers(s, s->only->nodes[i], k)) {
            set_add(s->p, s->only->nodes[i]);
            fits += times_in(s, s->only->nodes[i], k);
        }
    return fits;
}

/* Fill the set of vnodes that are worth a look for this chunk. Return an upper bound of the copies that
 * fit: fewer than are needed end the search without a walk. */
static int64_t gather(struct placement_search *s, const struct chunk *k)
{
    int64_t fits;

    set_clear(s->p);
    if (s->only)
        fits = gather_host(s, k);
    else if (s->a->within)
        fits = gather_within(s, k);
    else
        fits = match_is_named(s->a, k) ? gather_named(s, k) : gather_buckets(s, k);
    /* Vnodes that this job has taken alone are in use, but not by others. */
    for (size_t i = 0; i < s->out->n; i++) {
        struct node *n = s->out->a[i].node;
        if (match_wants_alone(s->a, n) && match_labels(s->a, n, k)) {
            set_add(s->p, n);
            fits += times_in(s, n, k);
        }
    }
    return fits;
}

/* --- one chunk --------------------------------------------------------------------------------------- */

/* Is it empty, but for what this search has put there? */
static bool host_is_free(const struct placement_search *s, const struct host *h)
{
    if (h->mark == s->p->serial)
        return true;
    for (size_t i = 0; i < h->n; i++)
        if (node_is_occupied(h->nodes[i]) || h->nodes[i]->exclusive || match_is_kept(s->a, h->nodes[i]))
            return false;
    return true;
}

/* Scattered chunks want a host, or a vnode, that this search has not used; exclhost wants a host without
 * other jobs. */
static bool may_use(const struct placement_search *s, const struct node *n)
{
    switch (s->a->request->arrange) {
    case ARRANGE_SCATTER:
        if (n->host->mark == s->p->serial)
            return false;
        break;
    case ARRANGE_VSCATTER:
        if (n->mark == s->p->serial)
            return false;
        break;
    case ARRANGE_FREE:
    case ARRANGE_PACK:
        break;
    }
    return !match_wants_host(s->a, n) || host_is_free(s, n->host);
}

/* Place as many whole copies as this node takes. Return how many are still to be placed. */
static int64_t fill_node(struct placement_search *s, const struct chunk *k, struct node *n, int64_t need)
{
    int64_t times = times_in(s, n, k);

    if (times > need)
        times = need;
    if (times == 0 || !may_use(s, n))
        return need;
    for (int64_t i = 0; i < times; i++)
        placement_put(s, n, &k->use, false);
    return need - times;
}

/* Those of the 64 ranks of word w that are at least `rank`. */
static uint64_t bits_from(size_t w, uint32_t rank)
{
    if (w * 64 >= rank)
        return ~0ull;
    return w < rank / 64 ? 0 : ~0ull << rank % 64;
}

/* Try node after node, beginning behind s->from. */
static int64_t placement_fill(struct placement_search *s, const struct chunk *k, int64_t need)
{
    for (int round = 0; round < (s->from ? 2 : 1); round++)
        for (size_t w = 0; w < s->p->words && need > 0; w++) {
            uint64_t behind = bits_from(w, s->from);
            uint64_t bits = s->p->set[w] & (round == 0 ? behind : ~behind);
            for (; bits && need > 0; bits &= bits - 1)
                need = fill_node(s, k, s->nodes[w * 64 + (size_t)__builtin_ctzll(bits)], need);
        }
    return need;
}

static void placement_add_free(const struct placement_search *s, const struct node *n, struct amounts *sum)
{
    struct amounts scratch = {0};

    amounts_add(sum, match_free(s->a, n, &scratch));
    amounts_fini(&scratch);
}

/* All vnodes of the host together: amounts that they share are counted once. */
static bool split_fits(const struct placement_search *s, const struct host *h, const struct chunk *k)
{
    struct amounts sum = {0};

    for (size_t i = 0; i < h->n; i++)
        if (offers(s, h->nodes[i], k) && may_use(s, h->nodes[i]))
            placement_add_free(s, h->nodes[i], &sum);
    for (size_t i = 0; i < h->n; i++)
        pools_count_once(h->nodes[i], &sum);
    bool fits = amounts_cover(&sum, &k->use, NULL);
    amounts_fini(&sum);
    return fits;
}

/* Memory for a part of a chunk, which must live as long as the trial's step and the allocation that borrow
 * it. */
static struct amounts *placement_keep(struct placer *p)
{
    p->kept = mem_room(p->kept, p->n_kept, &p->cap_kept, sizeof *p->kept);
    return p->kept[p->n_kept++] = mem_new(1, sizeof(struct amounts));
}

/* Part of `left` that node n can give; true when that is anything. */
static bool placement_part_of(const struct placement_search *s, const struct node *n, struct amounts *left,
                              struct amounts *part)
{
    struct amounts scratch = {0};
    const struct amounts *is_free = match_free(s->a, n, &scratch);
    bool any = false;

    for (uint32_t i = 0; i < left->n; i++) {
        int64_t have = amounts_get(is_free, left->a[i].res);
        int64_t give = have < left->a[i].n ? have : left->a[i].n;
        if (give <= 0)
            continue;
        amounts_set(part, left->a[i].res, give);
        left->a[i].n -= give;
        any = true;
    }
    amounts_fini(&scratch);
    return any;
}

/* Place one copy over several vnodes of one host. */
static void split(struct placement_search *s, const struct host *h, const struct chunk *k)
{
    struct amounts left = {0};
    bool joined = false;

    amounts_copy(&left, &k->use);
    for (size_t i = 0; i < h->n; i++) {
        struct node *n = h->nodes[i];
        struct amounts *part = placement_keep(s->p);
        if (offers(s, n, k) && placement_part_of(s, n, &left, part)) {
            placement_put(s, n, part, joined);
            joined = true;
        }
    }
    amounts_fini(&left);
}

/* Copies that no single vnode took, over vnodes of one host; vscatter allows no splitting. */
static int64_t fill_split(struct placement_search *s, const struct chunk *k, int64_t need)
{
    size_t n;
    struct host *const *hosts = cluster_big_hosts(s->p->cl, &n);

    if (s->a->request->arrange == ARRANGE_VSCATTER)
        return need;
    for (size_t i = 0; i < n && need > 0; i++) {
        if (s->only && hosts[i] != s->only)
            continue;
        while (need > 0 && split_fits(s, hosts[i], k)) {
            split(s, hosts[i], k);
            need--;
            if (s->a->request->arrange == ARRANGE_SCATTER)
                break;
        }
    }
    return need;
}

/* Whole copies first, then split ones, where there are hosts with several vnodes. */
static bool seek_chunk(struct placement_search *s, const struct chunk *k)
{
    size_t n_big;
    int64_t need = k->count;

    cluster_big_hosts(s->p->cl, &n_big);
    if (gather(s, k) < need && n_big == 0)
        return false;
    need = placement_fill(s, k, need);
    if (need > 0 && n_big > 0)
        need = fill_split(s, k, need);
    return need == 0;
}

static bool place_chunk(struct placement_search *s, const struct chunk *k)
{
    size_t first = s->out->n;

    search_log_begin(s->p->log, s->a, k);
    bool done = seek_chunk(s, k);
    search_log_end(s->p->log, s->a, k, s->out, first, done);
    return done;
}

/* Empty, with the memory kept: a packed search fills it many times. */
static void clear_pieces(struct allocation *p)
{
    for (size_t i = 0; i < p->n; i++)
        amounts_fini(&p->a[i].use);
    p->n = 0;
}

/* A search has failed. Another serial number makes its marks those of no search. */
static void undo(struct placement_search *s, size_t mark)
{
    trial_undo(s->p->trial, mark);
    clear_pieces(s->out);
    s->p->serial++;
}

/* One kind of chunk of a request. */
struct placement_kind {
    size_t index;        /* in the request */
    int64_t spare;       /* copies that would fit beyond those that are needed, with nothing else placed */
    size_t first, parts; /* in the allocation */
};

static int kind_compare_spare(const void *a, const void *b)
{
    const struct placement_kind *x = a, *y = b;

    if (x->spare != y->spare)
        return x->spare < y->spare ? -1 : 1;
    return x->index < y->index ? 1 : -1; /* of equal ones the last: the first have been first already */
}

static int kind_compare_index(const void *a, const void *b)
{
    const struct placement_kind *x = a, *y = b;

    return x->index < y->index ? -1 : x->index > y->index;
}

/* Parts of the allocation in the order of the select text. */
static void place_reorder(struct placement_search *s, struct placement_kind *kinds, size_t n)
{
    struct alloc_part *sorted = mem_new(s->out->n, sizeof *sorted);
    size_t at = 0;

    qsort(kinds, n, sizeof *kinds, kind_compare_index);
    for (size_t i = 0; i < n; i++) {
        memcpy(sorted + at, s->out->a + kinds[i].first, kinds[i].parts * sizeof *sorted);
        at += kinds[i].parts;
    }
    memcpy(s->out->a, sorted, at * sizeof *sorted);
    free(sorted);
}

/* The kinds in the order to be tried: by choice, or backwards where that is the order of the select text, so that two kinds are tried in
 * both orders. */
static void place_order_scarce_first(struct placement_search *s, struct placement_kind *kinds, size_t n)
{
    const struct chunk *k = s->a->request->chunks;
    bool is_other = false;

    for (size_t i = 0; i < n; i++)
        kinds[i] = (struct placement_kind){.index = i, .spare = gather(s, &k[i]) - k[i].count};
    qsort(kinds, n, sizeof *kinds, kind_compare_spare);
    for (size_t i = 0; i < n; i++)
        is_other = is_other || kinds[i].index != i;
    for (size_t i = 0; i < n && !is_other; i++)
        kinds[i].index = n - 1 - i;
}

static bool place_scarce_first(struct placement_search *s)
{
    const struct request *q = s->a->request;
    struct placement_kind kinds[KINDS_MAX] = {0};

    place_order_scarce_first(s, kinds, q->n);
    for (size_t i = 0; i < q->n; i++) {
        kinds[i].first = s->out->n;
        if (!place_chunk(s, &q->chunks[kinds[i].index]))
            return false;
        kinds[i].parts = s->out->n - kinds[i].first;
    }
    place_reorder(s, kinds, q->n);
    return true;
}

/* Return how many kinds have been placed. */
static size_t place_in_text_order(struct placement_search *s)
{
    const struct request *q = s->a->request;
    size_t i = 0;

    while (i < q->n && place_chunk(s, &q->chunks[i]))
        i++;
    return i;
}

static bool place_chunks(struct placement_search *s)
{
    size_t n = s->a->request->n, mark = trial_mark(s->p->trial), placed = place_in_text_order(s);

    if (placed == n)
        return true;
    if (placed == 0 || n > KINDS_MAX) /* 0: a kind that has no room alone has none in any order */
        return false;
    undo(s, mark);
    return place_scarce_first(s);
}

/* --- all of them ------------------------------------------------------------------------------------- */

/* The commonest job: one chunk, once. The best bucket's first node is the answer. */
static bool seek_one(struct placement_search *s, const struct chunk *k)
{
    uint32_t best = UINT32_MAX;

    if (s->from || s->a->span.by == SPAN_LATER)
        return seek_chunk(s, k);

    for (struct bucket *b = buckets_next_for(s->p->buckets, k, NULL); b;
         b = buckets_next_for(s->p->buckets, k, b)) {
        if (times_in(s, b->sample, k) == 0 || !offers(s, b->sample, k))
            continue;
        uint32_t first = bucket_first(b);
        best = first < best ? first : best;
    }
    if (best == UINT32_MAX)
        return false;
    placement_put(s, s->nodes[best], &k->use, false);
    return true;
}

static bool place_one(struct placement_search *s, const struct chunk *k)
{
    search_log_begin(s->p->log, s->a, k);
    bool done = seek_one(s, k);
    search_log_end(s->p->log, s->a, k, s->out, 0, done);
    return done;
}

static const char *placement_name_of(const struct placement_search *s, res_id res)
{
    const struct resource *r = catalogue_get(cluster_catalogue(s->p->cl), res);

    return r ? r->name : "";
}

/* place=pack: one host for everything. */
static bool place_packed(struct placement_search *s)
{
    size_t n, mark = trial_mark(s->p->trial);
    struct amounts sum = {0};
    res_id lack = RES_NONE;
    bool done = false;

    cluster_nodes(s->p->cl, &n);
    for (size_t i = 0; i < n && !done; i++) {
        const struct host *h = s->nodes[i]->host;
        if (h->nodes[0] != s->nodes[i]) /* each host once */
            continue;
        bool is_open = false;
        amounts_clear(&sum);
        for (size_t k = 0; k < h->n; k++)
            if (match_open(s->a, h->nodes[k])) {
                placement_add_free(s, h->nodes[k], &sum);
                is_open = true;
            }
        /* Where only some resources are checked, the sum of all says nothing. */
        bool lacks =
            !amounts_cover(&sum, &s->a->request->total, &lack) && !cluster_policy(s->p->cl)->resources;
        search_log_host(s->p->log, s->a, h->name, is_open, lacks ? placement_name_of(s, lack) : NULL);
        if (lacks)
            continue;
        s->only = h;
        done = place_chunks(s);
        if (!done)
            undo(s, mark);
    }
    amounts_fini(&sum);
    return done;
}

/* May seek_one answer? One chunk, once, on vnodes that are hosts, none of them asked for by name. */
static bool is_simple(const struct placement_search *s)
{
    const struct request *q = s->a->request;
    size_t n_big;

    cluster_big_hosts(s->p->cl, &n_big);
    return n_big == 0 && !s->a->within && q->n == 1 && q->n_chunks == 1 &&
           !match_is_named(s->a, &q->chunks[0]) && q->sharing != SHARING_EXCLHOST;
}

/* Mark vnodes or hosts as taken alone, if the job wants them so. */
static void take_alone(struct placement_search *s)
{
    allocation_mark_alone(s->out, s->a->request->sharing);
    for (size_t i = 0; i < s->out->n; i++)
        if (s->out->a[i].alone && !s->out->a[i].node->exclusive)
            trial_exclude(s->p->trial, s->out->a[i].node);
}

/* exclusive is set last: a later chunk of the same job may go to a vnode that it has alone. */
bool placement_find(struct placer *p, const struct asker *a, struct allocation *out)
{
    struct placement_search s = {.p = p, .a = a, .out = out};
    size_t mark = trial_mark(p->trial), n;
    bool done;

    s.nodes = cluster_nodes(p->cl, &n);
    p->serial++;
    if (a->request->n == 0 || n == 0 || (a->within && a->within->n_times == 0))
        return false;
    if (cluster_policy(p->cl)->round_hosts && a->request->n_chunks == 1)
        s.from = cluster_order_round_from(p->cl);
    if (is_simple(&s))
        done = place_one(&s, &a->request->chunks[0]);
    else if (a->request->arrange == ARRANGE_PACK)
        done = place_packed(&s);
    else
        done = place_chunks(&s);
    if (!done) {
        undo(&s, mark);
        return false;
    }
    take_alone(&s);
    return true;
}

char *placement_text(const struct cluster *cl, const struct allocation *p)
{
    struct strbuf b;
    char number[RES_TEXT_MAX];

    strbuf_init(&b, EXEC_VNODE_MAX);
    for (size_t i = 0; i < p->n; i++) {
        const struct alloc_part *x = &p->a[i];
        if (x->beside)
            break; /* they are last */
        strbuf_addf(&b, "%s%s", i == 0 ? "(" : x->joined ? "+" : ")+(", x->node ? x->node->name : "");
        for (uint32_t k = 0; k < x->use.n; k++) {
            const struct resource *r = catalogue_get(cluster_catalogue(cl), x->use.a[k].res);
            strbuf_addf(&b, ":%s=%s", r->name, res_format(r, x->use.a[k].n, number));
        }
    }
    if (p->n)
        strbuf_add_char(&b, ')');
    return strbuf_take(&b);
}
