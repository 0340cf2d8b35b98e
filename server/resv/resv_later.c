/* The sequence of exec_vnodes against vnodes and maintenance. See resv_later.h.
 *
 * Nothing is kept but the answer: the text is read again when something has happened to vnodes, which is rare, while a look at
 * reservations is not. */
#include "resv_later.h"

#include <stdlib.h>
#include <string.h>

#include "exec_vnode.h"
#include "resv_recur.h"

struct resv_later { /* of one reservation */
    const struct reservations *all;
    const struct resv *r;
    size_t passed;   /* occurrences of the sequence that are not behind the present one */
    int64_t *starts; /* of those behind it, in order */
    size_t n;
    int64_t lasts_s;
    bool waits; /* a host may say hello yet */
};

static int64_t later_lasts_s(const struct resv *r)
{
    int64_t other = resv_number(r, RESV_ATTR_reserve_standing_revert);

    return other ? other : resv_number(r, RESV_ATTR_reserve_duration);
}

/* Those of reserve_starts but the first. */
static void later_read_starts(struct resv_later *x)
{
    const char *at = attr_list_text(&x->r->obj.attrs, RESV_ATTR_reserve_starts);

    x->starts = calloc(x->n + 1, sizeof *x->starts);
    if (!x->starts)
        abort(); /* a vnode that is lost would not be seen */
    at = at ? strchr(at, ',') : NULL;
    for (size_t i = 0; at && i < x->n; i++) {
        x->starts[i] = strtoll(at + 1, NULL, 10);
        at = strchr(at + 1, ',');
    }
}

/* Is one of the occurrences of this set, "{0-3,5}", in a time of maintenance of the vnode? */
static bool later_is_taken(const struct resv_later *x, const struct node *n, const char *set)
{
    for (const struct resv_share *s = n->shares; s; s = s->next) {
        int64_t from = resv_number(s->resv, RESV_ATTR_reserve_start),
                to = resv_number(s->resv, RESV_ATTR_reserve_end);

        if (!resv_is_maintenance(s->resv) || s->resv == x->r)
            continue;
        for (size_t i = 0; i < x->n; i++)
            if (x->starts[i] <= to && x->starts[i] + x->lasts_s >= from && resv_recur_has(set, x->passed + i))
                return true;
    }
    return false;
}

static bool later_has(struct resv_later *x, const char *exec_vnode, const char *set)
{
    struct exec_vnode *ev = exec_vnode_parse(exec_vnode, NULL);
    bool whole = ev != NULL;

    for (size_t i = 0; whole && i < ev->n; i++) {
        const struct node *n = nodes_find(x->all->p.ctx->nodes, ev->part[i].vnode);

        whole = n && (node_is_usable(n) || reservations_may_be_back(x->all, n)) && !later_is_taken(x, n, set);
        x->waits = x->waits || (n && !node_is_usable(n));
    }
    exec_vnode_destroy(ev);
    return whole;
}

static bool later_look(struct resv_later *x)
{
    const char *at = attr_list_text(&x->r->obj.attrs, RESV_ATTR_reserve_execvnodes);
    struct resv_recur_group g;
    bool whole = true;

    at = at ? strchr(at, '#') : NULL;
    for (at = at ? at + 1 : ""; whole && (at = resv_recur_next(at, &g)) != NULL; resv_recur_group_fini(&g))
        if (g.last >= x->passed)
            whole = later_has(x, g.exec_vnode, g.set);
    return whole;
}

bool resv_later_is_whole(const struct reservations *all, struct resv *r, int64_t *next)
{
    int64_t index = resv_number(r, RESV_ATTR_reserve_index), count = resv_number(r, RESV_ATTR_reserve_count);
    struct resv_later x = {.all = all, .r = r};

    if (!resv_is_standing(r) || index >= count) {
        r->later_new = false;
        return true;
    }
    if (all->later_moved || r->later_new) {
        x.n = (size_t)(count - index);
        x.passed = (size_t)(index + 1 - resv_number(r, RESV_ATTR_reserve_first));
        x.lasts_s = later_lasts_s(r);
        later_read_starts(&x);
        r->later_lost = !later_look(&x);
        r->later_new = x.waits && !r->later_lost;
        free(x.starts);
    }
    if (r->later_new && all->patient_till_s < *next)
        *next = all->patient_till_s;
    return !r->later_lost;
}

void resv_later_review(struct reservations *all)
{
    all->later_moved = true;
    for (const struct resv *r = resvs_first(all->p.ctx->resvs); r && !all->look_all; r = resvs_next(r))
        if (resv_is_standing(r))
            reservations_look_at_all(all);
}
