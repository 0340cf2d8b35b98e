/* What this scheduler has ordered and the stream has not shown yet. See cluster_order.h. The
 * room is taken at once, and given back when the order fails, or is seen. */
#include "cluster_order.h"

#include "intern.h"
#include "mem.h"
#include "pools.h"
#include "cluster_state.h"
#include "cluster_index.h"

/* One part more (times 1) or less (-1) is claimed. The vnode is moved out of its bucket and in again. */
static void claim(struct cluster *cl, const struct alloc_part *p, int64_t times)
{
    struct node *n = p->node;

    if (!n)
        return;
    cluster_node_out(cl, n);
    amounts_add_times(&n->claimed, &p->use, times);
    cluster_node_move(cl, n, &p->use, -times);
    n->n_jobs += times;
    n->n_alone += p->alone ? times : 0;
    n->exclusive = node_is_shut(n);
    cluster_node_in(cl, n);
}

static void claim_all(struct cluster *cl, const struct allocation *p, int64_t times)
{
    for (size_t i = 0; i < p->n; i++)
        claim(cl, &p->a[i], times);
}

/* Of a job that is under no such order any more nothing is reserved. */
void cluster_order_reserve(struct cluster *cl, struct job *j, const struct allocation *reserve)
{
    claim_all(cl, &j->reserve, -1);
    allocation_fini(&j->reserve);
    if (j->order == ORDER_AWAITS)
        allocation_copy(&j->reserve, reserve);
    claim_all(cl, &j->reserve, 1);
}

static void note_host(struct cluster *cl, const struct allocation *where)
{
    const struct node *n = where->n > 0 ? where->a[0].node : NULL;

    if (!n || n->host_name == cl->last_host)
        return;
    intern_unref(cl->last_host);
    cl->last_host = intern_again(n->host_name);
}

uint32_t cluster_order_round_from(const struct cluster *cl)
{
    size_t n;
    struct node *const *nodes = cluster_nodes(cl, &n);

    for (size_t i = n; i > 0 && cl->last_host; i--)
        if (nodes[i - 1]->host_name == cl->last_host) /* interned */
            return i < n ? (uint32_t)i : 0;
    return 0;
}

/* Orders that have a room of their own, which others must see as taken. */
static bool is_listed(const struct job *j)
{
    return j->order == ORDER_RUN || j->order == ORDER_RESUME || j->order == ORDER_AWAITS;
}

static void list_in(struct cluster *cl, struct job *j)
{
    struct list *l = &cl->ordered;

    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    j->ordered_at = l->n;
    l->a[l->n++] = j;
}

static void list_out(struct cluster *cl, struct job *j)
{
    struct job *last = cl->ordered.a[--cl->ordered.n];

    cl->ordered.a[j->ordered_at] = last;
    last->ordered_at = j->ordered_at;
}

/* server_dyn_res: a script says how much there is at the begin of a cycle; what is ordered since is counted
 * here. */
static void cluster_order_take_dynamic(struct cluster *cl, const struct job *j)
{
    for (size_t i = 0; i < cl->policy->n_dynamic; i++)
        cl->policy->dynamic[i].taken += job_asked_amount(j, cl->catalogue, cl->policy->dynamic[i].resource);
}

/* When victims give back what they have depends on the places of those for which they give way. */
static void note_gives_way(struct cluster *cl, const struct job *j)
{
    if (j->order == ORDER_STOP || j->order == ORDER_AWAITS)
        cl->promised++;
}

/* The old order goes first, then the job leaves its class: it is not to be looked at again. */
void cluster_order(struct cluster *cl, struct job *j, enum order_kind kind, const struct allocation *claim)
{
    struct allocation copy = {0};

    if (claim) /* it may be the job's own */
        allocation_copy(&copy, claim);
    if (j->order != ORDER_NONE)
        cluster_order_drop(cl, j);
    if (j->class)
        TELL(cl, job_leaves, j);
    j->order = kind;
    j->answered = j->heard = false;
    j->claim = copy;
    if (kind == ORDER_RUN) {
        note_host(cl, &copy);
        cluster_order_take_dynamic(cl, j);
    }
    if (kind == ORDER_RUN || kind == ORDER_RESUME) {
        j->is_charged = !j->within; /* else its reservation's room is */
        if (j->is_charged)
            claim_all(cl, &j->claim, 1);
        cluster_index_count(cl, j, 1);
    }
    if (is_listed(j))
        list_in(cl, j);
    note_gives_way(cl, j);
}

void cluster_order_taken(struct job *j)
{
    j->answered = true;
}

/* In the reverse order of cluster_order. */
bool cluster_order_end(struct cluster *cl, struct job *j)
{
    if (j->order == ORDER_RUN || j->order == ORDER_RESUME) {
        if (j->is_charged)
            claim_all(cl, &j->claim, -1);
        cluster_index_count(cl, j, -1);
    }
    if (is_listed(j))
        list_out(cl, j);
    if (j->order == ORDER_NONE)
        return false;
    note_gives_way(cl, j);
    claim_all(cl, &j->reserve, -1);
    allocation_fini(&j->reserve);
    if (j->order == ORDER_AWAITS) /* it may be that the server holds that room from now on */
        allocation_copy(&j->awaited, &j->claim);
    allocation_fini(&j->claim);
    j->order = ORDER_NONE;
    j->answered = false;
    return true;
}

void cluster_order_drop(struct cluster *cl, struct job *j)
{
    if (!cluster_order_end(cl, j))
        return;
    cl->news++;
    if (!j->dirty && cluster_index_may_wait(cl, j))
        TELL(cl, job_waits, j);
}
