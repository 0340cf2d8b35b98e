/* Shares of reservations. See resv_shares.h.
 *
 *   confirmed   resv_shares_set     listed on the vnodes: planners and other reservations see it
 *   begins      resv_shares_take    counted as assigned on vnodes and at the server; its jobs take from it
 *   other vnodes, also while it runs: set again, and its jobs' claims point to the new shares
 *   ends        resv_shares_drop    when no job of it runs any more
 *
 * Invariant: while it is taken, a vnode's `assigned` has the whole share once, and `used` of the share what its jobs have; a job's
 * own claim is in `used` only. */
#include "resv_shares.h"

#include <stdlib.h>

#include "exec_vnode.h"
#include "pbs_error.h"
#include "run_demand.h"
#include "server_ctx.h"

static void resv_shares_link(struct server_ctx *s, struct resv_share *x)
{
    struct resv_share **at = &x->node->shares;

    while (*at)
        at = &(*at)->next;
    x->next = NULL;
    *at = x;
    change_touch(s->change, &x->node->obj.change, PART_NONE);
}

static void resv_shares_unlink(struct server_ctx *s, struct resv_share *x)
{
    struct resv_share **at = &x->node->shares;

    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    change_touch(s->change, &x->node->obj.change, PART_NONE);
}

static void resv_shares_show(struct server_ctx *s, struct node *n)
{
    bool alone = resv_shares_other(n, NULL, false) != NULL;

    node_set_state(s->nodes, n, alone ? NODE_RESV_EXCLUSIVE : 0, alone ? 0 : NODE_RESV_EXCLUSIVE,
                   server_ctx_now_s(s));
    change_touch(s->change, &n->obj.change, PART_NONE);
}

static struct resv_share *resv_shares_make(struct resv *r, struct run_demand *w, size_t n)
{
    struct resv_share *x = calloc(n ? n : 1, sizeof *x);

    for (size_t i = 0; x && i < n; i++) {
        x[i] = (struct resv_share){
            .resv = r, .node = w[i].node, .amounts = w[i].amounts, .alone = w[i].alone && !w[i].lent};
        w[i].amounts = NULL;
    }
    return x;
}

/* What it asks of the server as a whole, as it is when this is taken. */
static void resv_shares_of_server(struct server_ctx *s, struct resv *r, bool take)
{
    if ((take && resc_dup(attr_list_amounts(&r->obj.attrs, RESV_ATTR_Resource_List), &r->charged) < 0) ||
        (take ? resc_add : resc_subtract)(&s->server->assigned, r->charged, s->resources, RESC_SUM, NULL) < 0)
        abort(); /* the sums that limits need would be lost */
    if (take)
        return;
    resc_free(r->charged);
    r->charged = NULL;
}

void resv_shares_take(struct server_ctx *s, struct resv *r)
{
    if (r->taken)
        return;
    r->taken = true;
    resv_shares_of_server(s, r, true);
    for (size_t i = 0; i < r->n_shares; i++) {
        if (resc_add(&r->shares[i].node->assigned, r->shares[i].amounts, s->resources, 0, NULL) < 0)
            abort(); /* the same of a vnode */
        resv_shares_show(s, r->shares[i].node);
    }
}

static void resv_shares_give_back(struct server_ctx *s, struct resv *r)
{
    if (!r->taken)
        return;
    r->taken = false;
    resv_shares_of_server(s, r, false);
    for (size_t i = 0; i < r->n_shares; i++) {
        resc_subtract(&r->shares[i].node->assigned, r->shares[i].amounts, s->resources, 0, NULL);
        resv_shares_show(s, r->shares[i].node);
    }
}

/* Unlink and free; nothing is counted and no job takes from them. */
static void resv_shares_forget(struct server_ctx *s, struct resv *r)
{
    for (size_t i = 0; i < r->n_shares; i++) {
        resv_shares_unlink(s, &r->shares[i]);
        resc_free(r->shares[i].amounts);
        resc_free(r->shares[i].used);
    }
    free(r->shares);
    r->shares = NULL;
    r->n_shares = 0;
}

void resv_shares_drop(struct server_ctx *s, struct resv *r)
{
    resv_shares_give_back(s, r);
    resv_shares_forget(s, r);
}

/* --- other vnodes ---------------------------------------------------------------------------------------- */

static bool resv_shares_are_used_by(const struct node_use *u, const struct resv_share *x)
{
    while (u && u->share != x)
        u = u->next;
    return u != NULL;
}

bool resv_shares_has_jobs(const struct resv_share *x)
{
    return resv_shares_are_used_by(x->node->uses, x) || resv_shares_are_used_by(x->node->lent, x);
}

static int resv_shares_keep_jobs(const struct server_ctx *s, const struct resv *r, const struct run_demand *w,
                                 size_t n, struct err *e)
{
    for (size_t i = 0; i < r->n_shares; i++) {
        const struct resv_share *x = &r->shares[i];
        size_t k = 0;

        if (!resv_shares_has_jobs(x))
            continue;
        while (k < n && w[k].node != x->node)
            k++;
        if (k == n || resc_exceeds(x->used, w[k].amounts, NULL, s->resources) != RESC_NONE)
            return err_set(e, PBSE_RESV_NOT_EMPTY, "Reservation has running jobs in it");
    }
    return 0;
}

static void resv_shares_move_uses(struct node_use *u, const struct resv_share *from, struct resv_share *to)
{
    for (; u; u = u->next)
        if (u->share == from)
            u->share = to;
}

/* What jobs have of the present shares they have of the new ones; checked before. */
static void resv_shares_hand_over(struct resv *r, struct resv_share *to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct resv_share *from = resv_shares_find(r, to[i].node);

        if (!from)
            continue;
        resv_shares_move_uses(to[i].node->uses, from, &to[i]);
        resv_shares_move_uses(to[i].node->lent, from, &to[i]);
        to[i].used = from->used;
        from->used = NULL;
    }
}

static int resv_shares_demand(const struct server_ctx *s, const struct resv *r, const char *exec_vnode,
                              struct run_demand **w, size_t *n, struct err *e)
{
    struct exec_vnode *ev;
    int rc;

    *w = NULL;
    *n = 0;
    if (!exec_vnode || !*exec_vnode)
        return resv_shares_keep_jobs(s, r, NULL, 0, e);
    ev = exec_vnode_parse(exec_vnode, e);
    rc = ev ? run_demands_make_for(s, resv_place(r), ev, w, n, e) : -1;
    exec_vnode_destroy(ev);
    if (rc == 0 && resv_shares_keep_jobs(s, r, *w, *n, e) < 0) {
        run_demands_free(*w, *n);
        rc = -1;
    }
    return rc;
}

int resv_shares_check(const struct server_ctx *s, const struct resv *r, const char *exec_vnode, struct err *e)
{
    struct run_demand *w;
    size_t n;

    if (resv_shares_demand(s, r, exec_vnode, &w, &n, e) < 0)
        return -1;
    run_demands_free(w, n);
    return 0;
}

int resv_shares_set(struct server_ctx *s, struct resv *r, const char *exec_vnode, struct err *e)
{
    bool taken = r->taken;
    struct run_demand *w;
    struct resv_share *x;
    size_t n;

    if (resv_shares_demand(s, r, exec_vnode, &w, &n, e) < 0)
        return -1;
    x = resv_shares_make(r, w, n);
    run_demands_free(w, n);
    if (!x)
        return err_no_memory(e);
    resv_shares_give_back(s, r);
    resv_shares_hand_over(r, x, n);
    resv_shares_forget(s, r);
    r->shares = x;
    r->n_shares = n;
    for (size_t i = 0; i < n; i++)
        resv_shares_link(s, &x[i]);
    if (taken)
        resv_shares_take(s, r);
    return 0;
}

struct resv_share *resv_shares_find(const struct resv *r, const struct node *n)
{
    for (size_t i = 0; i < r->n_shares; i++)
        if (r->shares[i].node == n)
            return &r->shares[i];
    return NULL;
}

const struct resv *resv_shares_other(const struct node *n, const struct resv *than, bool any)
{
    for (const struct resv_share *x = n->shares; x; x = x->next)
        if (x->resv != than && x->resv->taken && (any || x->alone))
            return x->resv;
    return NULL;
}

bool resv_shares_is_conflict(const struct resv *r)
{
    for (size_t i = 0; i < r->n_shares; i++)
        if (resv_shares_is_taken(&r->shares[i]))
            return true;
    return false;
}

bool resv_shares_is_taken(const struct resv_share *of)
{
    const struct resv *r = of->resv;

    for (const struct resv_share *x = of->node->shares; x; x = x->next)
        if (x->resv != r && resv_is_maintenance(x->resv) &&
            resv_number(x->resv, RESV_ATTR_reserve_start) <= resv_number(r, RESV_ATTR_reserve_end) &&
            resv_number(x->resv, RESV_ATTR_reserve_end) >= resv_number(r, RESV_ATTR_reserve_start))
            return true;
    return false;
}
