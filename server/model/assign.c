/* Claims of jobs on vnodes. See assign.h.
 *
 * A claim is a node_use: it is in the list of its node (in the order of claims) and in the list of its job.
 * Each node sums the amounts of its uses in `assigned`, so a check costs one comparison for each resource,
 * however many jobs there are. Free is: available - assigned - held, where `held` is the sum of the earmarks
 * (earmark_sums.c), reviewed whenever a sum changes.
 *
 * Invariants: n_uses counts the list; n_exclusive those uses that keep others out now; n_idle those whose job
 * is suspended whole. A use that is lent has a list of its own and counts in none of these; it is dropped with
 * the job's last vnode. What a suspended job gave back is kept in its use (`given_back`): it is off the node's
 * sum already, and must not be taken off twice when the use is dropped. What a job has of server and queue is
 * taken with its first vnode and given back with its last.
 *
 * Callers: run.c claims, run_hosts.c and exec_take.c give back vnode by vnode, job_end.c what is left, run_suspend.c what a suspension
 * gives and takes. All may be called for a vnode that is free already. A claim is not a lock: it is made and checked in one call of
 * the one thread. */
#include "assign.h"

#include <stdlib.h>
#include <string.h>

#include "earmark_sums.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "resv_shares.h"
#include "server_ctx.h"
#include "strbuf.h"
#include "type_list.h"

struct assign {
    struct server_ctx *ctx;
};

struct assign *assign_create(struct server_ctx *s)
{
    struct assign *a = calloc(1, sizeof *a);

    if (a)
        a->ctx = s;
    return a;
}

void assign_destroy(struct assign *a)
{
    free(a);
}

/* --- is it free? ----------------------------------------------------------------------------------- */

static int64_t assign_amount_of(const struct resc_list *l, int id)
{
    return value_number(resc_find(l, id));
}

/* "4" or "2097152kb": sizes are printed in kb. */
static void assign_show(const struct value *v, int64_t n, struct strbuf *out)
{
    if (v->kind == VALUE_SIZE)
        strbuf_addf(out, "%lldkb", (long long)(n / 1024));
    else
        strbuf_addf(out, "%lld", (long long)n);
}

static int too_little(const struct resource *r, const struct value *want, int64_t free_n, int64_t total,
                      const char *where, struct err *e)
{
    struct strbuf b;

    strbuf_init(&b, 256);
    strbuf_add(&b, "(R: ");
    assign_show(want, value_number(want), &b);
    strbuf_add(&b, " A: ");
    assign_show(want, free_n, &b);
    strbuf_add(&b, " T: ");
    assign_show(want, total, &b);
    err_set(e, PBSE_RESCUNAV, "Insufficient amount of resource: %s %s) on %s", r->name, strbuf_str(&b),
            where);
    strbuf_fini(&b);
    return -1;
}

static int assign_check_amounts(const struct assign *a, const struct node *n, const struct resc_list *want,
                                struct err *e)
{
    for (size_t i = 0; want && i < want->n; i++) {
        const struct value *v = &want->v[i];
        const struct resource *r = resource_get(a->ctx->resources, v->tag);
        int64_t total, free_n;

        if (!(r->flags & (RESC_PER_NODE | RESC_FIRST_NODE)) || value_number(v) == 0)
            continue;
        total = value_number(attr_list_amount(&n->obj.attrs, NODE_ATTR_resources_available, r->id));
        free_n = total - assign_amount_of(n->assigned, r->id) - assign_amount_of(n->held, r->id);
        if (value_number(v) > free_n)
            return too_little(r, v, free_n, total, n->obj.name, e);
    }
    return 0;
}

/* Earmarks that keep other jobs out of the vnode altogether, or that a job that wants it alone would keep out. */
static int check_holds(const struct node *n, bool alone, struct err *e)
{
    for (const struct earmark_part *p = n->parts; p; p = p->next)
        if (!p->earmark->off && (alone || p->alone))
            return err_set(e, PBSE_RESCUNAV, "node %s is held for job %s", n->obj.name, p->earmark->obj.name);
    return 0;
}

/* The reservation of which this job is, while that runs. */
static struct resv *assign_resv_of(const struct job *j)
{
    return j->queue && j->queue->resv && j->queue->resv->taken ? j->queue->resv : NULL;
}

/* A job of a reservation has what the reservation has of the vnode, and its other jobs have not taken. */
static int check_share(const struct assign *a, const struct resv *r, const struct run_demand *w,
                       struct err *e)
{
    const struct resv_share *x = resv_shares_find(r, w->node);

    if (!x)
        return err_set(e, PBSE_RESCUNAV, "node %s is not of reservation %s", w->node->obj.name, r->obj.name);
    for (size_t i = 0; w->amounts && i < w->amounts->n; i++) {
        const struct value *v = &w->amounts->v[i];
        const struct resource *def = resource_get(a->ctx->resources, v->tag);
        int64_t total = assign_amount_of(x->amounts, v->tag), used = assign_amount_of(x->used, v->tag);

        if ((def->flags & (RESC_PER_NODE | RESC_FIRST_NODE)) && value_number(v) > total - used)
            return too_little(def, v, total - used, total, r->obj.name, e);
    }
    return 0;
}

/* Running reservations keep other jobs out of vnodes that they have alone, and jobs that want a vnode alone out of theirs. */
static int check_reserved(const struct node *n, const struct resv *own, bool alone, struct err *e)
{
    const struct resv *other = n->shares ? resv_shares_other(n, own, alone) : NULL;

    return other ? err_set(e, PBSE_RESCUNAV, "node %s is reserved by %s", n->obj.name, other->obj.name) : 0;
}

static int check_node(const struct assign *a, const struct resv *r, const struct run_demand *w, struct err *e)
{
    const struct node *n = w->node;
    struct strbuf state;

    if (w->lent)
        return r ? check_share(a, r, w, e) : assign_check_amounts(a, n, w->amounts, e);
    if (!w->beside && !node_is_usable(n)) {
        strbuf_init(&state, 256);
        states_node_format(n->state, &state);
        err_set(e, PBSE_RESCUNAV, "node %s cannot take jobs: %s", n->obj.name,
                n->service ? strbuf_str(&state) : "no execution service is here for it");
        strbuf_fini(&state);
        return -1;
    }
    if (n->n_exclusive)
        return err_set(e, PBSE_RESCUNAV, "node %s is in exclusive use", n->obj.name);
    if (w->alone && n->n_uses > n->n_idle)
        return err_set(e, PBSE_RESCUNAV, "node %s is wanted exclusively and is in use", n->obj.name);
    if (check_reserved(n, r, w->alone, e) < 0)
        return -1;
    if (r)
        return check_share(a, r, w, e);
    return check_holds(n, w->alone, e) < 0 ? -1 : assign_check_amounts(a, n, w->amounts, e);
}

/* Amounts that server or queue offer as a whole. */
static int check_shared(const struct assign *a, const struct resc_list *want, const struct queue *q,
                        struct err *e)
{
    const struct server_obj *server = a->ctx->server;
    const struct resc_list *offered =
        q ? attr_list_amounts(&q->obj.attrs, QUEUE_ATTR_resources_available)
          : attr_list_amounts(&server->obj.attrs, SERVER_ATTR_resources_available);
    const struct resc_list *taken = q ? q->assigned : server->assigned;

    for (size_t i = 0; want && offered && i < want->n; i++) {
        const struct value *v = &want->v[i], *total = resc_find(offered, v->tag);
        const struct resource *r = resource_get(a->ctx->resources, v->tag);
        int64_t free_n;

        if (!total || !(r->flags & RESC_SUM))
            continue;
        free_n = value_number(total) - assign_amount_of(taken, r->id) - earmark_sums_shared(a->ctx, q, r);
        if (value_number(v) > free_n)
            return too_little(r, v, free_n, value_number(total), q ? q->obj.name : "the server", e);
    }
    return 0;
}

static const struct resc_list *asked_by(const struct job *j)
{
    return attr_list_amounts(&j->obj.attrs, JOB_ATTR_Resource_List);
}

static int check_all(const struct assign *a, const struct job *j, const struct run_demand *w, size_t n,
                     struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (check_node(a, assign_resv_of(j), &w[i], e) < 0)
            return -1;
    if (!assign_resv_of(j) && check_shared(a, asked_by(j), NULL, e) < 0) /* the reservation has it already */
        return -1;
    return j->queue ? check_shared(a, asked_by(j), j->queue, e) : 0;
}

/* --- taking and giving back ------------------------------------------------------------------------ */

static void show_state(struct assign *a, struct node *n)
{
    const struct value *cpus = attr_list_amount(&n->obj.attrs, NODE_ATTR_resources_available, RESC_ncpus);
    bool busy = n->n_uses && value_number(cpus) <= assign_amount_of(n->assigned, RESC_ncpus);
    unsigned set = (busy ? NODE_JOB_BUSY : 0) | (n->n_exclusive ? NODE_JOB_EXCLUSIVE : 0);

    node_set_state(a->ctx->nodes, n, set, (NODE_JOB_BUSY | NODE_JOB_EXCLUSIVE) & ~set,
                   server_ctx_now_s(a->ctx));
    change_touch(a->ctx->change, &n->obj.change, PART_NONE);
    earmark_sums_review(a->ctx, n);
}

static void link_use(struct node_use *u)
{
    struct node *n = u->node;
    struct node_use **first = u->lent ? &n->lent : &n->uses, **last = u->lent ? &n->last_lent : &n->last_use;

    u->prev = *last;
    *(*last ? &(*last)->next : first) = u;
    *last = u;
    u->next_of_job = u->job->uses;
    if (u->next_of_job)
        u->next_of_job->prev_of_job = u;
    u->job->uses = u;
}

/* The sum in which a use is counted. */
static struct resc_list **sum_of(const struct node_use *u)
{
    return u->share ? &u->share->used : &u->node->assigned;
}

static int use_node(struct assign *a, struct job *j, struct run_demand *w, struct err *e)
{
    struct node_use *u = calloc(1, sizeof *u);
    struct node *n = w->node;
    const struct resv *r = assign_resv_of(j);
    struct resv_share *share = r ? resv_shares_find(r, n) : NULL;

    if (!u || resc_add(share ? &share->used : &n->assigned, w->amounts, a->ctx->resources, 0, e) < 0) {
        free(u);
        return err_set(e, PBSE_SYSTEM, "no memory for a claim");
    }
    *u = (struct node_use){
        .job = j, .node = n, .amounts = w->amounts, .exclusive = w->alone, .lent = w->lent, .share = share};
    w->amounts = NULL;
    link_use(u);
    n->n_uses += !u->lent;
    n->n_exclusive += u->exclusive;
    show_state(a, n);
    return 0;
}

static void drop_use(struct assign *a, struct node_use *u)
{
    struct node *n = u->node;
    struct node_use **first = u->lent ? &n->lent : &n->uses, **last = u->lent ? &n->last_lent : &n->last_use;

    if (u->given_back) /* first: a sum of sizes does not go below nothing */
        resc_add(sum_of(u), u->given_back, a->ctx->resources, 0, NULL);
    resc_subtract(sum_of(u), u->amounts, a->ctx->resources, 0, NULL);
    *(u->prev ? &u->prev->next : first) = u->next;
    *(u->next ? &u->next->prev : last) = u->prev;
    n->n_uses -= !u->lent;
    n->n_exclusive -= u->exclusive && !u->paused;
    n->n_idle -= u->idle;
    n->last_used_s = server_ctx_now_s(a->ctx);
    resc_free(u->amounts);
    resc_free(u->given_back);
    free(u);
    show_state(a, n);
}

/* What a suspended job gave back of server and queue counts again. */
static void share_back(struct assign *a, struct job *j)
{
    if (!j->shares_given)
        return;
    if (!j->shares_resv)
        resc_add(&a->ctx->server->assigned, j->shares_given, a->ctx->resources, RESC_SUM, NULL);
    if (j->queue)
        resc_add(&j->queue->assigned, j->shares_given, a->ctx->resources, RESC_SUM, NULL);
    resc_free(j->shares_given);
    j->shares_given = NULL;
}

void assign_share(struct assign *a, struct job *j, bool take)
{
    int (*change)(struct resc_list **, const struct resc_list *, const struct resource_table *, unsigned,
                  struct err *) = take ? resc_add : resc_subtract;

    if (j->shares == take)
        return;
    j->shares = take;
    share_back(a, j); /* before anything is taken away, as in drop_use */
    if (take)
        j->shares_resv = assign_resv_of(j) != NULL;
    if (!j->shares_resv)
        change(&a->ctx->server->assigned, asked_by(j), a->ctx->resources, RESC_SUM, NULL);
    if (j->queue)
        change(&j->queue->assigned, asked_by(j), a->ctx->resources, RESC_SUM, NULL);
}

int assign_claim(struct assign *a, struct job *j, const struct assign_ask *ask, struct err *e)
{
    struct run_demand *w;
    size_t n;
    int rc = -1;

    if (run_demands_make(a->ctx, j, ask->where, &w, &n, e) < 0)
        return -1;
    if (!ask->force && check_all(a, j, w, n, e) < 0)
        goto out;
    for (size_t i = 0; i < n; i++)
        if (use_node(a, j, &w[i], e) < 0) {
            assign_release_all(a, j);
            goto out;
        }
    assign_share(a, j, true);
    rc = 0;
out:
    run_demands_free(w, n);
    return rc;
}

static bool is_on_a_vnode(const struct job *j)
{
    for (const struct node_use *u = j->uses; u; u = u->next_of_job)
        if (!u->lent)
            return true;
    return false;
}

static void unlink_and_drop(struct assign *a, struct job *j, struct node_use *u)
{
    *(u->prev_of_job ? &u->prev_of_job->next_of_job : &j->uses) = u->next_of_job;
    if (u->next_of_job)
        u->next_of_job->prev_of_job = u->prev_of_job;
    drop_use(a, u);
}

/* A job may be on many vnodes, and a vnode may have many jobs: both lists are walked side by side, so the shorter one says how long it
 * takes. NULL: it does not use it. */
static struct node_use *assign_find_use(const struct job *j, const struct node *n)
{
    struct node_use *of_job = j->uses, *of_node = n->uses;

    while (of_job && of_node) {
        if (of_job->node == n && !of_job->lent)
            return of_job;
        if (of_node->job == j)
            return of_node;
        of_job = of_job->next_of_job;
        of_node = of_node->next;
    }
    return NULL;
}

void assign_release_node(struct assign *a, struct job *j, const struct node *n)
{
    struct node_use *u = assign_find_use(j, n);

    if (!u)
        return;
    unlink_and_drop(a, j, u);
    if (is_on_a_vnode(j))
        return;
    while (j->uses)
        unlink_and_drop(a, j, j->uses);
    assign_share(a, j, false);
}

void assign_release_all(struct assign *a, struct job *j)
{
    while (j->uses)
        unlink_and_drop(a, j, j->uses);
    assign_share(a, j, false);
}

static struct resc_list *part_of(const struct assign *a, const struct resc_list *amounts, const char *only)
{
    struct resc_list *part = NULL;

    for (size_t i = 0; amounts && i < amounts->n; i++) {
        const struct value *v = &amounts->v[i];
        struct value copy;

        if (only && !list_contains(only, resource_get(a->ctx->resources, v->tag)->name))
            continue;
        if (value_dup(v, &copy) == 0)
            resc_put(&part, v->tag, copy, NULL);
    }
    return part;
}

static void share_some(struct assign *a, struct job *j, const char *only)
{
    if (!j->shares || j->shares_given)
        return;
    j->shares_given = part_of(a, asked_by(j), only);
    if (!j->shares_resv)
        resc_subtract(&a->ctx->server->assigned, j->shares_given, a->ctx->resources, RESC_SUM, NULL);
    if (j->queue)
        resc_subtract(&j->queue->assigned, j->shares_given, a->ctx->resources, RESC_SUM, NULL);
}

void assign_suspend(struct assign *a, struct job *j, const struct assign_gift *gift)
{
    for (struct node_use *u = j->uses; u; u = u->next_of_job) {
        if (u->given_back || u->idle)
            continue;
        u->given_back = part_of(a, u->amounts, gift->only);
        resc_subtract(sum_of(u), u->given_back, a->ctx->resources, 0, NULL);
        u->paused = u->exclusive && gift->vnodes;
        u->idle = gift->vnodes && !u->lent;
        u->node->n_exclusive -= u->paused;
        u->node->n_idle += u->idle;
        show_state(a, u->node);
    }
    if (gift->only)
        share_some(a, j, gift->only);
    else
        assign_share(a, j, false);
}

static int can_take_back(struct assign *a, const struct node_use *u, struct err *e)
{
    const struct node *n = u->node;
    size_t own = u->exclusive && !u->paused; /* what it has kept does not count against it */

    if (!u->given_back && !u->idle)
        return 0;
    if (u->lent)
        return assign_check_amounts(a, n, u->given_back, e);
    if (n->n_exclusive > own || (u->paused && n->n_uses > n->n_idle))
        return err_set(e, PBSE_RESCUNAV, "node %s is in use by others", n->obj.name);
    if (u->share) /* its reservation has kept it, from all but the reservation's own jobs */
        return check_share(a, u->share->resv, &(struct run_demand){.node = u->node, .amounts = u->given_back},
                           e);
    return check_holds(n, u->paused, e) < 0 ? -1 : assign_check_amounts(a, n, u->given_back, e);
}

/* Of server and queue: what it has given back. */
static int can_share_again(const struct assign *a, const struct job *j, struct err *e)
{
    const struct resc_list *want = j->shares ? j->shares_given : asked_by(j);

    if (!j->shares_resv && check_shared(a, want, NULL, e) < 0)
        return -1;
    return j->queue ? check_shared(a, want, j->queue, e) : 0;
}

int assign_resume(struct assign *a, struct job *j, bool force, struct err *e)
{
    for (struct node_use *u = j->uses; u && !force; u = u->next_of_job)
        if (can_take_back(a, u, e) < 0)
            return -1;
    if (!force && can_share_again(a, j, e) < 0)
        return -1;
    for (struct node_use *u = j->uses; u; u = u->next_of_job) {
        if (!u->given_back && !u->idle)
            continue;
        resc_add(sum_of(u), u->given_back, a->ctx->resources, 0, NULL);
        resc_free(u->given_back);
        u->given_back = NULL;
        u->node->n_exclusive += u->paused;
        u->paused = false;
        u->node->n_idle -= u->idle;
        u->idle = false;
        show_state(a, u->node);
    }
    share_back(a, j);
    assign_share(a, j, true);
    return 0;
}
