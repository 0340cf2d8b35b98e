/* A priority queue: see pqueue.h. heap[0] is never used, so that place 0 can mean "in none". */
#include "pqueue.h"

#include <assert.h>
#include <stdlib.h>

static bool pqueue_is_before(const struct pqueue_entry *a, const struct pqueue_entry *b)
{
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static void pqueue_put(struct pqueue *q, struct pqueue_entry *e, size_t place)
{
    q->heap[place] = e;
    e->place = place;
}

/* e is at its place, which may be too far back. */
static void rise(struct pqueue *q, struct pqueue_entry *e)
{
    size_t place = e->place;

    for (; place > 1 && pqueue_is_before(e, q->heap[place / 2]); place /= 2)
        pqueue_put(q, q->heap[place / 2], place);
    pqueue_put(q, e, place);
}

/* e is at its place, which may be too far in front. */
static void pqueue_sink(struct pqueue *q, struct pqueue_entry *e)
{
    size_t place = e->place, child;

    for (; (child = place * 2) <= q->n; place = child) {
        if (child < q->n && pqueue_is_before(q->heap[child + 1], q->heap[child]))
            child++;
        if (!pqueue_is_before(q->heap[child], e))
            break;
        pqueue_put(q, q->heap[child], place);
    }
    pqueue_put(q, e, place);
}

void pqueue_init(struct pqueue *q)
{
    *q = (struct pqueue){0};
}

void pqueue_fini(struct pqueue *q)
{
    for (size_t i = 1; i <= q->n; i++)
        q->heap[i]->place = 0;
    free(q->heap);
    pqueue_init(q);
}

int pqueue_reserve(struct pqueue *q, size_t n)
{
    size_t cap = q->cap ? q->cap : 16;
    struct pqueue_entry **heap;

    if (n < q->cap)
        return 0;
    while (cap <= n)
        cap *= 2;
    heap = realloc(q->heap, cap * sizeof *heap);
    if (!heap)
        return -1;
    q->heap = heap;
    q->cap = cap;
    return 0;
}

int pqueue_push(struct pqueue *q, struct pqueue_entry *e, int64_t key)
{
    assert(!e->place);
    if (pqueue_reserve(q, q->n + 1) < 0)
        return -1;
    e->key = key;
    e->order = q->next_order++;
    pqueue_put(q, e, ++q->n);
    rise(q, e);
    return 0;
}

/* The last entry takes the place, and may belong further in either direction. */
void pqueue_remove(struct pqueue *q, struct pqueue_entry *e)
{
    struct pqueue_entry *last;

    if (!e->place)
        return;
    assert(q->heap[e->place] == e);
    last = q->heap[q->n--];
    if (last != e) {
        pqueue_put(q, last, e->place);
        rise(q, last);
        pqueue_sink(q, last);
    }
    e->place = 0;
}

struct pqueue_entry *pqueue_first(const struct pqueue *q)
{
    return q->n ? q->heap[1] : NULL;
}

struct pqueue_entry *pqueue_pop(struct pqueue *q)
{
    struct pqueue_entry *e = pqueue_first(q);

    if (e)
        pqueue_remove(q, e);
    return e;
}

bool pqueue_has(const struct pqueue_entry *e)
{
    return e->place != 0;
}
