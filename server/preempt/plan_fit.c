/* The arithmetic of a plan. See plan_fit.h.
 *
 * A pool is whatever has amounts: each vnode that the urgent job wants, the server, its queue. For each pool and
 * resource `lack` is what is missing when every victim gives way by its first method. A victim whose first letter
 * leaves what is missing (a suspended job keeps its memory) continues with the next that does not; that order is kept,
 * since it is the site's. Later letters stay only where they would serve in place of the first. */
#include "plan_fit.h"

#include <stdlib.h>
#include <string.h>

#include "earmark_sums.h"
#include "pbs_error.h"
#include "server_ctx.h"
#include "strbuf.h"
#include "uthash.h"

/* Below 0: so much would be left. */
struct plan_fit_pool {
    const struct node *node;   /* of a vnode */
    bool alone;                /* which the urgent job wants for itself */
    const struct queue *queue; /* of a queue; neither: the server */
    const struct resc_list *want;
    int64_t *lack; /* beside want->v; INT64_MIN: not bounded here */
    UT_hash_handle hh;
};

struct plan_fit {
    const struct server_ctx *ctx;
    const struct fit_ask *ask;
    struct plan_fit_pool *pools; /* n_wants vnodes, then server and queue */
    size_t n;
    struct plan_fit_pool *by_node;
};

static int64_t plan_fit_amount_of(const struct resc_list *l, int id)
{
    return value_number(resc_find(l, id));
}

/* --- what is missing before any victim gives way ------------------------------------------------------- */

static int64_t lack_of_node(const struct plan_fit *f, const struct plan_fit_pool *p, const struct value *v)
{
    const struct resource *r = resource_get(f->ctx->resources, v->tag);
    int64_t total = value_number(attr_list_amount(&p->node->obj.attrs, NODE_ATTR_resources_available, r->id));

    if (!(r->flags & (RESC_PER_NODE | RESC_FIRST_NODE)) || value_number(v) == 0)
        return INT64_MIN;
    return value_number(v) -
           (total - plan_fit_amount_of(p->node->assigned, r->id) - plan_fit_amount_of(p->node->held, r->id));
}

static int64_t lack_of_shared(const struct plan_fit *f, const struct plan_fit_pool *p, const struct value *v)
{
    const struct resource *r = resource_get(f->ctx->resources, v->tag);
    const struct server_obj *server = f->ctx->server;
    const struct value *total =
        p->queue ? attr_list_amount(&p->queue->obj.attrs, QUEUE_ATTR_resources_available, r->id)
                 : attr_list_amount(&server->obj.attrs, SERVER_ATTR_resources_available, r->id);
    const struct resc_list *taken = p->queue ? p->queue->assigned : server->assigned;

    if (!total || !(r->flags & RESC_SUM))
        return INT64_MIN;
    return value_number(v) - (value_number(total) - plan_fit_amount_of(taken, r->id) -
                              earmark_sums_shared(f->ctx, p->queue, r));
}

static int pool_open(const struct plan_fit *f, struct plan_fit_pool *p)
{
    size_t n = p->want ? p->want->n : 0;

    p->lack = calloc(n ? n : 1, sizeof *p->lack);
    for (size_t i = 0; p->lack && i < n; i++)
        p->lack[i] = p->node ? lack_of_node(f, p, &p->want->v[i]) : lack_of_shared(f, p, &p->want->v[i]);
    return p->lack ? 0 : -1;
}

static int fit_open(struct plan_fit *f)
{
    const struct job *j = f->ask->urgent;
    const struct resc_list *asked = attr_list_amounts(&j->obj.attrs, JOB_ATTR_Resource_List);
    struct plan_fit_pool *shared;

    f->pools = calloc(f->ask->n_wants + 2, sizeof *f->pools);
    if (!f->pools)
        return -1;
    for (; f->n < f->ask->n_wants; f->n++) {
        struct plan_fit_pool *p = &f->pools[f->n];

        p->node = f->ask->wants[f->n].node;
        p->alone = f->ask->wants[f->n].alone;
        p->want = f->ask->wants[f->n].amounts;
        HASH_ADD_PTR(f->by_node, node, p);
    }
    shared = &f->pools[f->n];
    shared[0].want = asked;
    shared[1] = (struct plan_fit_pool){.want = asked, .queue = j->queue};
    f->n += j->queue ? 2 : 1;
    for (size_t i = 0; i < f->n; i++)
        if (pool_open(f, &f->pools[i]) < 0)
            return -1;
    return 0;
}

static void fit_close(struct plan_fit *f)
{
    HASH_CLEAR(hh, f->by_node);
    for (size_t i = 0; f->pools && i < f->n; i++)
        free(f->pools[i].lack);
    free(f->pools);
}

/* --- what a victim gives ------------------------------------------------------------------------------- */

/* A victim that is about to end in any case gives all it has, whatever the methods say. */
static enum method_id method_of(const struct fit_victim *v, size_t k)
{
    if (v->job->state == JOB_EXITING || v->job->intent != INTENT_NONE)
        return METHOD_DELETE;
    return k < v->methods.n ? (enum method_id)v->methods.m[k] : METHOD_NONE;
}

static int64_t gives_shared(const struct plan_fit *f, const struct plan_fit_pool *p, const struct job *j,
                            enum method_id m, const struct resource *r)
{
    if (!j->shares || (p->queue && j->queue != p->queue) || !earmark_sums_method_frees(f->ctx, j, m, r))
        return 0;
    return value_number(attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, r->id)) -
           plan_fit_amount_of(j->shares_given, r->id);
}

/* Call fn for every (pool, resource) that the victim has a part in, with what method `m` gives there. true as soon
 * as fn says so. */
typedef bool gift_fn(struct plan_fit_pool *p, size_t i, int64_t n, void *arg);

static bool each_in_pool(const struct plan_fit *f, struct plan_fit_pool *p, const struct node_use *u,
                         const struct job *j, enum method_id m, gift_fn *fn, void *arg)
{
    for (size_t i = 0; p->want && i < p->want->n; i++) {
        const struct resource *r = resource_get(f->ctx->resources, p->want->v[i].tag);
        int64_t n;

        if (p->lack[i] == INT64_MIN)
            continue;
        n = u ? earmark_sums_would_free(f->ctx, u, m, r) : gives_shared(f, p, j, m, r);
        if (fn(p, i, n, arg))
            return true;
    }
    return false;
}

static bool each_gift(const struct plan_fit *f, const struct job *j, enum method_id m, gift_fn *fn, void *arg)
{
    for (const struct node_use *u = j->uses; u; u = u->next_of_job) {
        struct plan_fit_pool *p;

        HASH_FIND_PTR(f->by_node, &u->node, p);
        if (p && each_in_pool(f, p, u, j, m, fn, arg))
            return true;
    }
    for (size_t i = f->ask->n_wants; i < f->n; i++)
        if (each_in_pool(f, &f->pools[i], NULL, j, m, fn, arg))
            return true;
    return false;
}

static bool plan_fit_take_gift(struct plan_fit_pool *p, size_t i, int64_t n, void *arg)
{
    p->lack[i] -= n;
    return false;
}

static bool plan_fit_return_gift(struct plan_fit_pool *p, size_t i, int64_t n, void *arg)
{
    p->lack[i] += n;
    return false;
}

static bool plan_fit_add_rest(struct plan_fit_pool *p, size_t i, int64_t n, void *arg)
{
    *(int64_t *)arg += p->lack[i] > n ? p->lack[i] - n : 0;
    return false;
}

static bool plan_fit_leaves_a_lack(struct plan_fit_pool *p, size_t i, int64_t n, void *arg)
{
    return p->lack[i] > n;
}

/* Does exclusive use forbid this method? What restrict_res_to_release_on_suspend limits keeps its vnode. */
static bool keeps_alone(const struct plan_fit *f, const struct job *j, enum method_id m)
{
    if (preempt_method_row(m)->after != AFTER_SUSPENDED ||
        !attr_list_text(&f->ctx->server->obj.attrs, SERVER_ATTR_restrict_res_to_release_on_suspend))
        return false;
    for (const struct node_use *u = j->uses; u; u = u->next_of_job) {
        struct plan_fit_pool *p;

        HASH_FIND_PTR(f->by_node, &u->node, p);
        if (p && (p->alone || u->exclusive))
            return true;
    }
    return false;
}

/* --- choosing methods ---------------------------------------------------------------------------------- */

static void drop_method(struct fit_victim *v, size_t k)
{
    memmove(v->methods.m + k, v->methods.m + k + 1, --v->methods.n - k);
}

static void drop_keepers(const struct plan_fit *f, struct fit_victim *v)
{
    for (size_t k = 0; k < v->methods.n;)
        if (keeps_alone(f, v->job, (enum method_id)v->methods.m[k]))
            drop_method(v, k);
        else
            k++;
}

/* What would still be missing of everything that this victim has a part in, if its method were the one at k. */
static int64_t rest(const struct plan_fit *f, const struct fit_victim *v, size_t k)
{
    int64_t sum = 0;

    each_gift(f, v->job, method_of(v, k), plan_fit_add_rest, &sum);
    return sum;
}

/* While something is missing of which a later method would give more than the first, drop the first. Each victim is judged with what
 * those before it have settled for; so of two that could help, the earlier one changes its method, as the plan has them in order. */
static void pass_over(struct plan_fit *f, struct fit_victim *v)
{
    /* `lack` is for a moment as if it gave nothing: so what each of its methods would leave can be compared. */
    each_gift(f, v->job, method_of(v, 0), plan_fit_return_gift, NULL);
    for (size_t k = 1; k < v->methods.n && rest(f, v, 0) > 0; k++)
        if (rest(f, v, k) < rest(f, v, 0)) {
            while (k--)
                preempt_methods_drop_first(&v->methods);
            k = 0; /* it is the first now: those behind it are compared with it */
        }
    each_gift(f, v->job, method_of(v, 0), plan_fit_take_gift, NULL);
}

/* What the later methods leave must be enough as well. */
static void drop_useless(struct plan_fit *f, struct fit_victim *v)
{
    each_gift(f, v->job, method_of(v, 0), plan_fit_return_gift, NULL);
    for (size_t k = 1; k < v->methods.n;)
        if (each_gift(f, v->job, method_of(v, k), plan_fit_leaves_a_lack, NULL))
            drop_method(v, k);
        else
            k++;
    each_gift(f, v->job, method_of(v, 0), plan_fit_take_gift, NULL);
}

/* --- is it enough? ------------------------------------------------------------------------------------- */

static const char *where(const struct plan_fit_pool *p)
{
    return p->node ? p->node->obj.name : p->queue ? p->queue->obj.name : "the server";
}

static int check_enough(const struct plan_fit *f, struct err *e)
{
    for (size_t k = 0; k < f->n; k++) {
        const struct plan_fit_pool *p = &f->pools[k];

        for (size_t i = 0; p->want && i < p->want->n; i++) {
            const struct value *v = &p->want->v[i];
            bool size = v->kind == VALUE_SIZE;

            if (p->lack[i] > 0)
                return err_set(
                    e, PBSE_RESCUNAV,
                    "Insufficient amount of resource: %s: %lld%s short on %s when all victims have "
                    "given way",
                    resource_get(f->ctx->resources, v->tag)->name,
                    (long long)(size ? (p->lack[i] + 1023) / 1024 : p->lack[i]), size ? "kb" : "", where(p));
        }
    }
    return 0;
}

static bool gives_way(const struct plan_fit *f, const struct node_use *u)
{
    for (size_t i = 0; i < f->ask->n_victims; i++)
        if (f->ask->victims[i].job == u->job)
            return preempt_methods_first(&f->ask->victims[i].methods) == METHOD_RELEASE
                       ? earmark_sums_is_offered(u->job, u->node)
                       : f->ask->victims[i].methods.n > 0;
    return false;
}

static int check_state(const struct node *n, struct err *e)
{
    struct strbuf state;

    if (node_is_usable(n))
        return 0;
    strbuf_init(&state, 256);
    states_node_format(n->state, &state);
    err_set(e, PBSE_RESCUNAV, "node %s cannot take jobs: %s", n->obj.name, strbuf_str(&state));
    strbuf_fini(&state);
    return -1;
}

/* Where one of two wants a vnode alone, the other one has to leave. */
static int check_uses(const struct plan_fit *f, const struct run_demand *w, struct err *e)
{
    const struct node *n = w->node;

    if (!w->alone && !n->n_exclusive)
        return 0;
    for (const struct node_use *u = n->uses; u; u = u->next)
        if (!u->idle && (w->alone || (u->exclusive && !u->paused)) && !gives_way(f, u))
            return err_set(e, PBSE_RESCUNAV, "node %s is in use by job %s, which does not give way",
                           n->obj.name, u->job->obj.name);
    return 0;
}

static int check_node(const struct plan_fit *f, const struct run_demand *w, struct err *e)
{
    const struct node *n = w->node;

    if (w->lent)
        return 0;
    if (!w->beside && check_state(n, e) < 0)
        return -1;
    for (const struct earmark_part *p = n->parts; p; p = p->next)
        if (w->alone || p->alone)
            return err_set(e, PBSE_RESCUNAV, "node %s is held for job %s", n->obj.name, p->earmark->obj.name);
    return check_uses(f, w, e);
}

int plan_fit(const struct server_ctx *s, const struct fit_ask *ask, struct err *e)
{
    struct plan_fit f = {.ctx = s, .ask = ask};
    int rc = -1;

    if (fit_open(&f) < 0) {
        err_set(e, PBSE_SYSTEM, "no memory for a plan of %zu vnodes", ask->n_wants);
        goto out;
    }
    for (size_t i = 0; i < ask->n_victims; i++)
        drop_keepers(&f, &ask->victims[i]);
    for (size_t i = 0; i < ask->n_wants; i++)
        if (check_node(&f, &ask->wants[i], e) < 0)
            goto out;
    /* Compute first as if all victims gave way by their first methods; then each may change its method, and with it what
     * it gives. */
    for (size_t i = 0; i < ask->n_victims; i++)
        each_gift(&f, ask->victims[i].job, method_of(&ask->victims[i], 0), plan_fit_take_gift, NULL);
    for (size_t i = 0; i < ask->n_victims; i++)
        pass_over(&f, &ask->victims[i]);
    for (size_t i = 0; i < ask->n_victims; i++)
        drop_useless(&f, &ask->victims[i]);
    rc = check_enough(&f, e);
out:
    fit_close(&f);
    return rc;
}
