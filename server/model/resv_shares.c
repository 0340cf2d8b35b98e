/* Shares of reservations. See resv_shares.h. */
#include "resv_shares.h"

#include <stdlib.h>

#include "exec_vnode.h"
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

/* What it asks of the server as a whole. */
static void resv_shares_of_server(struct server_ctx *s, const struct resv *r, bool take)
{
    const struct resc_list *want = attr_list_amounts(&r->obj.attrs, RESV_ATTR_Resource_List);

    if ((take ? resc_add : resc_subtract)(&s->server->assigned, want, s->resources, RESC_SUM, NULL) < 0)
        abort(); /* the sums that limits need would be lost */
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

void resv_shares_drop(struct server_ctx *s, struct resv *r)
{
    resv_shares_give_back(s, r);
    for (size_t i = 0; i < r->n_shares; i++) {
        resv_shares_unlink(s, &r->shares[i]);
        resc_free(r->shares[i].amounts);
        resc_free(r->shares[i].used);
    }
    free(r->shares);
    r->shares = NULL;
    r->n_shares = 0;
}

int resv_shares_set(struct server_ctx *s, struct resv *r, const char *exec_vnode, struct err *e)
{
    bool taken = r->taken;
    struct exec_vnode *ev = NULL;
    struct run_demand *w = NULL;
    struct resv_share *x;
    size_t n = 0;

    if (exec_vnode && *exec_vnode) {
        ev = exec_vnode_parse(exec_vnode, e);
        if (!ev || run_demands_make_for(s, resv_place(r), ev, &w, &n, e) < 0) {
            exec_vnode_destroy(ev);
            return -1;
        }
    }
    x = resv_shares_make(r, w, n);
    run_demands_free(w, n);
    exec_vnode_destroy(ev);
    if (!x)
        return err_no_memory(e);
    resv_shares_drop(s, r);
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
