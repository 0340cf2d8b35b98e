/* What this scheduler has ordered and the stream has not shown yet: the room is taken at once, and given back when
 * the order fails, or is seen. See sched_cluster.h, "orders". */
#include "intern.h"
#include "mem.h"
#include "pools.h"
#include "cluster_private.h"

void universe_node_move(struct universe *u, struct node *n, const struct amounts *use, int64_t times)
{
    pools_move(u->pools, n, use, times);
}

static void claim(struct universe *u, const struct piece *p, int64_t times)
{
    struct node *n = p->node;

    if (!n)
        return;
    universe_node_out(u, n);
    amounts_add_times(&n->claimed, &p->use, times);
    universe_node_move(u, n, &p->use, -times);
    n->n_jobs += times;
    n->n_alone += p->alone ? times : 0;
    n->exclusive = node_is_shut(n);
    universe_node_in(u, n);
}

static void claim_all(struct universe *u, const struct pieces *p, int64_t times)
{
    for (size_t i = 0; i < p->n; i++)
        claim(u, &p->a[i], times);
}

void universe_reserve(struct universe *u, struct job *j, const struct pieces *reserve)
{
    claim_all(u, &j->reserve, -1);
    pieces_fini(&j->reserve);
    if (j->order == ORDER_AWAITS)
        pieces_copy(&j->reserve, reserve);
    claim_all(u, &j->reserve, 1);
}

static void note_host(struct universe *u, const struct pieces *where)
{
    const struct node *n = where->n > 0 ? where->a[0].node : NULL;

    if (!n || n->host_name == u->last_host)
        return;
    intern_unref(u->last_host);
    u->last_host = intern_again(n->host_name);
}

uint32_t universe_round_from(const struct universe *u)
{
    size_t n;
    struct node *const *nodes = universe_nodes(u, &n);

    for (size_t i = n; i > 0 && u->last_host; i--)
        if (nodes[i - 1]->host_name == u->last_host) /* interned */
            return i < n ? (uint32_t)i : 0;
    return 0;
}

static bool is_listed(const struct job *j)
{
    return j->order == ORDER_RUN || j->order == ORDER_RESUME || j->order == ORDER_AWAITS;
}

static void list_in(struct universe *u, struct job *j)
{
    struct list *l = &u->ordered;

    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    j->ordered_at = l->n;
    l->a[l->n++] = j;
}

static void list_out(struct universe *u, struct job *j)
{
    struct job *last = u->ordered.a[--u->ordered.n];

    u->ordered.a[j->ordered_at] = last;
    last->ordered_at = j->ordered_at;
}

static void take_dynamic(struct universe *u, const struct job *j)
{
    for (size_t i = 0; i < u->policy->n_dynamic; i++)
        u->policy->dynamic[i].taken += job_asked_amount(j, u->catalogue, u->policy->dynamic[i].resource);
}

void universe_order(struct universe *u, struct job *j, enum order_kind kind, const struct pieces *claim)
{
    struct pieces copy = {0};

    if (claim) /* it may be the job's own */
        pieces_copy(&copy, claim);
    if (j->order != ORDER_NONE)
        universe_order_drop(u, j);
    if (j->class)
        TELL(u, job_leaves, j);
    j->order = kind;
    j->answered = j->heard = false;
    j->claim = copy;
    if (kind == ORDER_RUN) {
        note_host(u, &copy);
        take_dynamic(u, j);
    }
    if (kind == ORDER_RUN || kind == ORDER_RESUME) {
        claim_all(u, &j->claim, 1);
        universe_count(u, j, 1);
    }
    if (is_listed(j))
        list_in(u, j);
}

void universe_order_taken(struct universe *u, struct job *j)
{
    (void)u;
    j->answered = true;
}

void universe_order_drop(struct universe *u, struct job *j)
{
    if (j->order == ORDER_RUN || j->order == ORDER_RESUME) {
        claim_all(u, &j->claim, -1);
        universe_count(u, j, -1);
    }
    if (is_listed(j))
        list_out(u, j);
    if (j->order == ORDER_NONE)
        return;
    claim_all(u, &j->reserve, -1);
    pieces_fini(&j->reserve);
    if (j->order == ORDER_AWAITS) /* it may be that the server holds that room from now on */
        pieces_copy(&j->awaited, &j->claim);
    pieces_fini(&j->claim);
    j->order = ORDER_NONE;
    j->answered = false;
    u->news++;
    if (!j->dirty && universe_may_wait(u, j))
        TELL(u, job_waits, j);
}
