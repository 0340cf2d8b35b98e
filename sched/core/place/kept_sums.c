/* Steps: from that time on, so much more of a resource is needed by some vnodes of a stock. A vnode needs the most of all times that the
 * job would see, so it has a step only where its need is larger than all before. Sorted by stock, resource and time they are
 * summed up, and the last one before a time says what is needed until then. See kept_sums.h. */
#include "kept_sums.h"

#include <stdlib.h>

#include "mem.h"

enum {
    KEPT_ANY = UINT16_MAX
}; /* in place of a resource: that something is kept, were it room that comes back in time */

struct kept_step {
    const struct stock *stock;
    int64_t from_s;
    int64_t n; /* so much more; once they are summed up: all until then */
    res_id res;
};

struct kept_sums {
    struct kept_step *a;
    size_t n, cap;
    int64_t now_s;
    bool are_summed;
};

struct kept_sums *kept_sums_create(void)
{
    return mem_new(1, sizeof(struct kept_sums));
}

void kept_sums_destroy(struct kept_sums *s)
{
    if (!s)
        return;
    free(s->a);
    free(s);
}

void kept_sums_begin(struct kept_sums *s, int64_t now_s)
{
    s->n = 0;
    s->now_s = now_s;
    s->are_summed = true;
}

/* The most of this resource that is needed in the times before keep `end`, as match_free finds it for SPAN_NOW. */
static int64_t kept_sums_before(const struct kept_sums *s, const struct node *n, size_t end, res_id res)
{
    int64_t most = 0;

    for (size_t i = 0; i < end; i++) {
        int64_t need = n->keeps[i].to_s > s->now_s ? amounts_get(&n->keeps[i].leave, res) : 0;
        most = need > most ? need : most;
    }
    return most;
}

static void kept_sums_add_step(struct kept_sums *s, struct kept_step step)
{
    s->a = mem_room(s->a, s->n, &s->cap, sizeof *s->a);
    s->a[s->n++] = step;
    s->are_summed = false;
}

void kept_sums_add(struct kept_sums *s, const struct stock *stock, const struct node *n, size_t times)
{
    bool is_open = !n->state && !n->exclusive;
    size_t first = 0;

    while (first < n->n_keeps && n->keeps[first].to_s <= s->now_s)
        first++;
    if (first < n->n_keeps)
        kept_sums_add_step(s, (struct kept_step){stock, n->keeps[first].from_s, (int64_t)times, KEPT_ANY});
    for (size_t i = first; i < n->n_keeps; i++)
        for (uint32_t r = 0; r < n->keeps[i].leave.n; r++) {
            const struct amount *x = &n->keeps[i].leave.a[r];
            int64_t more = stock_counts(n, x->res, is_open) ? x->n - kept_sums_before(s, n, i, x->res) : 0;
            if (more <= 0)
                continue;
            kept_sums_add_step(s,
                               (struct kept_step){stock, n->keeps[i].from_s, more * (int64_t)times, x->res});
        }
}

static int kept_sums_compare(const void *a, const void *b)
{
    const struct kept_step *x = a, *y = b;

    if (x->stock != y->stock)
        return (uintptr_t)x->stock < (uintptr_t)y->stock ? -1 : 1;
    if (x->res != y->res)
        return x->res < y->res ? -1 : 1;
    return x->from_s < y->from_s ? -1 : x->from_s > y->from_s;
}

static void kept_sums_sum(struct kept_sums *s)
{
    qsort(s->a, s->n, sizeof *s->a, kept_sums_compare);
    for (size_t i = 1; i < s->n; i++)
        if (s->a[i].stock == s->a[i - 1].stock && s->a[i].res == s->a[i - 1].res)
            s->a[i].n += s->a[i - 1].n;
    s->are_summed = true;
}

int64_t kept_sums_of(struct kept_sums *s, const struct stock *stock, res_id res, int64_t until_s)
{
    const struct kept_step want = {.stock = stock, .res = res, .from_s = until_s};
    size_t low = 0, high = s->n;

    if (!s->are_summed)
        kept_sums_sum(s);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (kept_sums_compare(&s->a[middle], &want) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_any = low > 0 && s->a[low - 1].stock == stock && s->a[low - 1].res == res;
    return is_any ? s->a[low - 1].n : 0;
}

bool kept_sums_any(struct kept_sums *s, const struct stock *stock, int64_t until_s)
{
    return kept_sums_of(s, stock, KEPT_ANY, until_s) > 0;
}
