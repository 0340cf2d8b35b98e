/* Chunks of the exec_vnode against those of the select. See confirm_kept.h. */
#include "confirm_kept.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

static size_t chunk_end(const struct allocation *p, size_t first)
{
    size_t i = first + 1;

    while (i < p->n && p->a[i].joined)
        i++;
    return i;
}

static bool has_jobs(const struct resv *r, const struct node *n)
{
    for (size_t i = 0; i < n->n_on; i++)
        if (n->jobs[i]->resv == r->id) /* interned */
            return true;
    return false;
}

struct kept_chunk {
    size_t first, end; /* of confirm_kept.where */
    struct amounts sum;
    bool is_usable, has_jobs;
};

static void chunk_look(struct kept_chunk *x, const struct allocation *p, const struct resv *r)
{
    x->is_usable = true;
    for (size_t i = x->first; i < x->end; i++) {
        amounts_add(&x->sum, &p->a[i].use);
        x->is_usable = x->is_usable && !p->a[i].node->state;
        x->has_jobs = x->has_jobs || has_jobs(r, p->a[i].node);
    }
}

/* The chunk of the select that it is one of; NULL: none. */
static struct chunk *chunk_of(struct request *rest, const struct amounts *sum)
{
    for (size_t i = 0; i < rest->n; i++) {
        struct chunk *k = &rest->chunks[i];
        if (k->count > 0 && amounts_cover(sum, &k->use, NULL) && amounts_cover(&k->use, sum, NULL))
            return k;
    }
    return NULL;
}

static bool has_room(const struct kept_chunk *x, const struct allocation *p, const struct asker *a)
{
    bool fits = true;

    for (size_t i = x->first; i < x->end && fits; i++) {
        struct amounts scratch = {0};
        const struct node *n = p->a[i].node;
        fits = match_open(a, n) && amounts_cover(match_free(a, n, &scratch), &p->a[i].use, NULL);
        amounts_fini(&scratch);
    }
    return fits;
}

static bool keep(struct confirm_kept *k, struct trial *t, const struct asker *a, const struct kept_chunk *x)
{
    struct chunk *of = chunk_of(&k->rest, &x->sum);

    if (!of || !has_room(x, &k->where, a))
        return false;
    of->count--;
    k->rest.n_chunks--;
    amounts_sub(&k->rest.total, &of->use);
    for (size_t i = x->first; i < x->end; i++) {
        trial_take(t, k->where.a[i].node, &k->where.a[i].use);
        k->is_kept[i] = true;
    }
    return true;
}

/* No other chunk may come to what is kept, where each is to have a vnode or host of its own. */
static void spread(const struct confirm_kept *k, struct trial *t)
{
    for (size_t i = 0; i < k->where.n; i++) {
        struct node *n = k->where.a[i].node;
        if (!k->is_kept[i] || k->rest.arrange == ARRANGE_FREE || k->rest.arrange == ARRANGE_PACK)
            continue;
        trial_exclude(t, n);
        for (size_t h = 0; k->rest.arrange == ARRANGE_SCATTER && h < n->host->n; h++)
            trial_exclude(t, n->host->nodes[h]);
    }
}

static void copy_request(struct confirm_kept *k, const struct request *q)
{
    k->rest = *q;
    k->rest.chunks = mem_new(q->n, sizeof *k->rest.chunks);
    memcpy(k->rest.chunks, q->chunks, q->n * sizeof *q->chunks);
    k->rest.total = (struct amounts){0};
    amounts_copy(&k->rest.total, &q->total);
}

/* One round keeps what it must, the next what it may, so that fewer chunks than before are those with jobs first. */
static bool keep_all(struct confirm_kept *k, struct trial *t, const struct asker *a, const struct resv *r,
                     bool with_jobs)
{
    for (size_t first = 0, end; first < k->where.n && !k->where.a[first].beside; first = end) {
        struct kept_chunk x = {.first = first};
        bool lost = false;

        end = x.end = chunk_end(&k->where, first);
        chunk_look(&x, &k->where, r);
        if (x.has_jobs == with_jobs && (!x.is_usable || !keep(k, t, a, &x)))
            lost = with_jobs;
        amounts_fini(&x.sum);
        if (lost)
            return false;
    }
    return true;
}

bool confirm_kept_take(struct confirm_kept *k, struct trial *t, const struct asker *a, const struct resv *r,
                       bool others, struct reason *why)
{
    *k = (struct confirm_kept){.is_kept = mem_new(r->times[0].where.n + 1, sizeof *k->is_kept)};
    copy_request(k, a->request);
    allocation_copy(&k->where, &r->times[0].where);
    if (!keep_all(k, t, a, r, true)) {
        reason_set(why, REASON_RESV_JOBS, NULL, NULL);
        return false;
    }
    if (others)
        keep_all(k, t, a, r, false);
    spread(k, t);
    size_t n = 0;
    for (size_t i = 0; i < k->rest.n; i++)
        if (k->rest.chunks[i].count > 0)
            k->rest.chunks[n++] = k->rest.chunks[i];
    k->rest.n = n;
    return true;
}

static void add_part(struct allocation *out, const struct alloc_part *x)
{
    allocation_add(out, x->node, &x->use, x->joined);
}

void confirm_kept_join(const struct confirm_kept *k, const struct allocation *found, struct allocation *out)
{
    size_t next = 0;

    for (size_t first = 0, end; first < k->where.n && !k->where.a[first].beside; first = end) {
        end = chunk_end(&k->where, first);
        for (size_t i = first; k->is_kept[first] && i < end; i++)
            add_part(out, &k->where.a[i]);
        if (k->is_kept[first] || next >= found->n || found->a[next].beside)
            continue;
        for (size_t stop = chunk_end(found, next); next < stop; next++)
            add_part(out, &found->a[next]);
    }
    for (; next < found->n && !found->a[next].beside; next++)
        add_part(out, &found->a[next]);
}

void confirm_kept_fini(struct confirm_kept *k)
{
    free(k->rest.chunks);
    amounts_fini(&k->rest.total);
    allocation_fini(&k->where);
    free(k->is_kept);
}
