/* Two phases take turns. While changes come in, an object is only decoded and marked dirty; a dirty job is in
 * no index (not on its vnodes, in no count, in no class), a dirty vnode in no bucket. universe_settle ranks
 * the vnodes anew if it must, puts them back into the index, and then the jobs, which look up their queue and
 * vnodes by name. This order is needed because the stream brings objects as they changed: a job may come
 * before the queue and the vnodes that it names. After settling only orders and trials move anything.
 *
 * Jobs point to vnodes and queues by address; so what goes first makes those jobs dirty. Three counters tell
 * readers what happened without saying to what: news, stoppable, shape (universe.h). */
#include "universe.h"

#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "memory.h"
#include "pbs_ifl.h"
#include "pools.h"
#include "ranks.h"
#include "universe_private.h"

static void list_add(struct list *l, void *x)
{
    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    l->a[l->n++] = x;
}

static void list_fini(struct list *l)
{
    free(l->a);
    *l = (struct list){0};
}

static void list_remove(struct list *l, const void *x)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->a[i] == x) {
            l->a[i] = l->a[--l->n];
            return;
        }
}

static void index_out(void *u, struct node *n)
{
    universe_node_out(u, n);
}

static void index_in(void *u, struct node *n)
{
    universe_node_in(u, n);
}

struct universe *universe_create(const char *sched_name, struct policy *policy)
{
    struct universe *u = mem_new(1, sizeof *u);

    u->sched_name = mem_text(sched_name);
    u->policy = policy;
    u->catalogue = catalogue_create();
    u->ranks = ranks_create();
    u->pools = pools_create(&(struct pools_hooks){index_out, index_in, u});
    u->server = queue_create("");
    u->news = u->shape = 1;
    return u;
}

void universe_listen(struct universe *u, const struct universe_listener *l)
{
    if (u->n_listeners < LISTENERS_MAX)
        u->listeners[u->n_listeners++] = *l;
}

/* --- jobs in and out of the indices ------------------------------------------------------------------ */

static void find_vnodes(struct universe *u, struct job *j)
{
    struct piece_text *texts = NULL;
    bool released = j->released && !job_holds_nodes(j); /* suspended, it needs no more than that to go on */

    if (!j->exec_vnode)
        return;
    size_t n = request_parse_exec(u->catalogue, released ? j->released : j->exec_vnode, &texts);
    for (size_t i = 0; i < n; i++)
        pieces_add(&j->on, universe_node(u, texts[i].vnode), &texts[i].use, texts[i].joined);
    request_free_exec(texts, n);
    pieces_mark_alone(&j->on, request_sharing(j->place));
}

static struct list *list_of(struct universe *u, const struct job *j)
{
    switch (j->standing) {
    case STANDING_RUNS:
        return &u->running;
    case STANDING_ENDS:
        return &u->ending;
    case STANDING_AWAITS:
        return &u->awaiting;
    case STANDING_OTHER:
    case STANDING_WAITS:
    case STANDING_SUSPENDED:
    case STANDING_STOPPED:
        break;
    }
    return NULL;
}

static void run_in(struct universe *u, struct job *j)
{
    for (size_t i = 0; i < j->on.n; i++) {
        struct node *n = j->on.a[i].node;
        if (n) {
            universe_node_out(u, n);
            node_join(n, j);
            universe_node_in(u, n);
        }
    }
    if (list_of(u, j)) {
        j->running_at = list_of(u, j)->n;
        list_add(list_of(u, j), j);
    }
    universe_count(u, j, 1);
}

static void run_out(struct universe *u, struct job *j)
{
    for (size_t i = 0; i < j->on.n; i++) {
        struct node *n = j->on.a[i].node;
        if (n) {
            universe_node_out(u, n);
            node_leave(n, j);
            universe_node_in(u, n);
        }
    }
    struct list *l = list_of(u, j);
    if (l) {
        struct job *last = l->a[--l->n];
        l->a[j->running_at] = last;
        last->running_at = j->running_at;
    }
    universe_count(u, j, -1);
    u->news++;
}

static void link_job(struct universe *u, struct job *j)
{
    j->queue = j->queue_name ? universe_queue(u, j->queue_name) : NULL;
    if (!job_holds_nodes(j))
        j->turn_s = 0;
    if (j->standing != STANDING_SUSPENDED)
        j->since_s = 0;
    if (j->standing != STANDING_AWAITS)
        pieces_fini(&j->awaited);
    pieces_fini(&j->on);
    pieces_fini(&j->yields);
    if (job_holds_nodes(j) || j->standing == STANDING_SUSPENDED || j->standing == STANDING_STOPPED)
        find_vnodes(u, j);
    TELL(u, job_seen, j);
    if (job_counts(j))
        run_in(u, j);
    else if (universe_may_wait(u, j))
        TELL(u, job_waits, j);
}

static void unlink_job(struct universe *u, struct job *j)
{
    if (job_counts(j))
        run_out(u, j);
    if (j->class)
        TELL(u, job_leaves, j);
}

static void make_dirty(struct universe *u, struct job *j)
{
    if (j->dirty)
        return;
    unlink_job(u, j);
    j->dirty = true;
    list_add(&u->dirty_jobs, j);
}

/* --- changes ----------------------------------------------------------------------------------------- */

static bool change_job(struct universe *u, const char *id, const struct attrl *attrs)
{
    struct job *j = universe_job(u, id);

    if (!j) {
        j = job_create(id);
        j->dirty = true;
        list_add(&u->dirty_jobs, j);
        HASH_ADD_KEYPTR(hh, u->jobs, j->id, strlen(j->id), j);
    }
    enum job_news news = job_look(j, attrs);
    if (news == JOB_COMMENT)
        TELL(u, job_comment, j);
    /* An order that was answered ends with whatever is heard of the job next, even if nothing of it is new: what the
     * order did may have been undone in the same moment. One that was refused waits for a real change. */
    bool is_ordered = j->order != ORDER_NONE && j->order != ORDER_REFUSED;
    j->heard |= is_ordered && !j->answered;
    if (news != JOB_CHANGED && !(is_ordered && j->answered))
        return false;
    bool was_up = job_is_up(j) && !j->gives_way;
    make_dirty(u, j);
    j->is_provisional = false;
    if (j->answered)
        universe_order_drop(u, j);
    job_take(j, u->catalogue, attrs);
    if (!was_up && job_is_up(j) && !j->gives_way)
        u->stoppable++;
    return true;
}

static void make_node_dirty(void *arg, struct node *n)
{
    struct universe *u = arg;

    universe_node_out(u, n);
    if (!n->dirty)
        list_add(&u->dirty_nodes, n);
    n->dirty = true;
}

static bool change_node(struct universe *u, const char *name, const struct attrl *attrs)
{
    struct node *n = universe_node(u, name);
    uint64_t look = 0;
    int64_t priority = 0, last_used_s = 0;
    const char *host = NULL;

    if (!n) {
        n = node_create(name);
        HASH_ADD_KEYPTR(hh, u->nodes, n->name, strlen(n->name), n);
        u->rerank = u->relink = true;
    } else {
        look = n->look;
        priority = n->priority;
        last_used_s = n->last_used_s;
        host = n->host_name;
        universe_node_out(u, n);
    }
    if (node_take(n, u->catalogue, attrs))
        u->news++;
    if ((n->most_user >= 0 || n->most_group >= 0) && !u->of_users)
        u->of_users = u->relink = true;
    pools_seen(u->pools, n, n->look != look, make_node_dirty, u);
    if (n->look != look)
        u->shape++;
    u->rerank = u->rerank || n->priority != priority || n->host_name != host ||
                (u->by_amount && (n->look != look || n->last_used_s != last_used_s));
    make_node_dirty(u, n);
    return true;
}

static bool change_queue(struct universe *u, const char *name, const struct attrl *attrs)
{
    struct queue *q = universe_queue(u, name);
    bool is_new = !q;

    if (!q) {
        q = queue_create(name);
        HASH_ADD_KEYPTR(hh, u->queues, q->name, strlen(q->name), q);
    }
    if (!queue_take(q, u->catalogue, attrs) && !is_new)
        return false;
    u->relink = true;
    u->news++;
    return true;
}

static const char *value_of(const struct attrl *attrs, const char *name)
{
    for (; attrs; attrs = attrs->next)
        if (attrs->name && strcmp(attrs->name, name) == 0)
            return attrs->value;
    return NULL;
}

static bool same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool change_server(struct universe *u, const struct attrl *attrs)
{
    const char *formula = value_of(attrs, "job_sort_formula");
    bool other_formula = !same_text(formula, u->policy->server_formula);
    const char *frees = value_of(attrs, "restrict_res_to_release_on_suspend");

    free(u->policy->suspend_frees);
    u->policy->suspend_frees = frees ? mem_text(frees) : NULL;
    if (other_formula)
        policy_server_formula(u->policy, formula);
    if (!queue_take(u->server, u->catalogue, attrs) && !other_formula)
        return false;
    u->relink = true; /* by its limits jobs are alike, or are not */
    u->news++;
    return true;
}

static bool change_resource(struct universe *u, const char *name, const struct attrl *attrs)
{
    if (!catalogue_define(u->catalogue, name, value_of(attrs, "type"), value_of(attrs, "flag")))
        return false;
    u->misread = u->misread || u->jobs || u->nodes;
    return true;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    for (; text && *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001B3ull;
    return (h ^ 0xff) * 0x100000001B3ull;
}

/* The object changes often (its state); what matters of it seldom. */
static bool change_sched(struct universe *u, const char *name, const struct attrl *attrs)
{
    const char *of;
    uint64_t look = 1;

    if (strcmp(name, u->sched_name) != 0)
        return false;
    for (size_t i = 0; (of = policy_attribute_name(i)) != NULL; i++)
        look = hash_text(look, value_of(attrs, of));
    if (look == u->sched_look)
        return false;
    u->sched_look = look;
    for (size_t i = 0; (of = policy_attribute_name(i)) != NULL; i++)
        policy_attribute(u->policy, of, value_of(attrs, of), NULL);
    if (strcmp(u->policy->partition, "pbs-default") == 0)
        policy_attribute(u->policy, "partition", "", NULL);
    u->relink = true;
    u->news++;
    return true;
}

bool universe_change(struct universe *u, enum universe_kind kind, const char *name, const struct attrl *attrs)
{
    switch (kind) {
    case UNIVERSE_SERVER:
        return change_server(u, attrs);
    case UNIVERSE_QUEUE:
        return change_queue(u, name, attrs);
    case UNIVERSE_JOB:
        return change_job(u, name, attrs);
    case UNIVERSE_NODE:
        return change_node(u, name, attrs);
    case UNIVERSE_RESOURCE:
        return change_resource(u, name, attrs);
    case UNIVERSE_SCHED:
        return change_sched(u, name, attrs);
    case UNIVERSE_RESV:
    case UNIVERSE_HOLD:
    case UNIVERSE_KIND_COUNT:
        break;
    }
    return false;
}

void universe_used(struct universe *u, const char *id, const struct attrl *attrs)
{
    struct job *j = universe_job(u, id);

    if (!j)
        return;
    job_take_used(j, u->catalogue, attrs);
    if (!j->dirty) /* settling will tell */
        TELL(u, job_seen, j);
}

void universe_reconfigured(struct universe *u)
{
    u->relink = u->rerank = true;
    u->news++;
}

/* --- what goes --------------------------------------------------------------------------------------- */

void universe_drop_job(struct universe *u, struct job *j)
{
    if (!j->dirty)
        unlink_job(u, j);
    else
        list_remove(&u->dirty_jobs, j);
    /* Whoever speaks of the job afterwards must not find it in a class. */
    j->dirty = true;
    universe_order_drop(u, j);
    HASH_DEL(u->jobs, j);
    job_destroy(j);
}

static void forget_node(struct pieces *p, const struct node *n)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->a[i].node == n)
            p->a[i].node = NULL;
}

/* Jobs remember their vnodes by address: those of a vnode that goes are linked again without it. */
static void drop_node(struct universe *u, struct node *n)
{
    for (struct job *j = u->jobs; j; j = j->hh.next) {
        bool is_on = false;
        for (size_t i = 0; i < j->on.n; i++)
            is_on = is_on || j->on.a[i].node == n;
        forget_node(&j->claim, n);
        forget_node(&j->reserve, n);
        forget_node(&j->awaited, n);
        if (is_on) {
            make_dirty(u, j);
            pieces_fini(&j->on);
            pieces_fini(&j->yields);
        }
    }
    universe_node_out(u, n);
    pools_gone(u->pools, n);
    if (n->dirty)
        list_remove(&u->dirty_nodes, n);
    HASH_DEL(u->nodes, n);
    node_destroy(n);
    u->rerank = true;
    u->shape++;
    u->news++;
}

bool universe_gone(struct universe *u, enum universe_kind kind, const char *name)
{
    struct job *j = kind == UNIVERSE_JOB ? universe_job(u, name) : NULL;
    struct node *n = kind == UNIVERSE_NODE ? universe_node(u, name) : NULL;
    struct queue *q = kind == UNIVERSE_QUEUE ? universe_queue(u, name) : NULL;

    if (j) {
        TELL(u, job_gone, j);
        universe_drop_job(u, j);
    }
    if (n)
        drop_node(u, n);
    if (q) {
        for (j = u->jobs; j; j = j->hh.next)
            if (j->queue == q) {
                make_dirty(u, j);
                j->queue = NULL;
            }
        HASH_DEL(u->queues, q);
        queue_destroy(q);
    }
    return j || n || q;
}

void universe_clear(struct universe *u)
{
    for (struct job *j = u->jobs, *next; j; j = next) {
        next = j->hh.next;
        universe_drop_job(u, j);
    }
    for (struct node *n = u->nodes, *next; n; n = next) {
        next = n->hh.next;
        drop_node(u, n);
    }
    for (struct queue *q = u->queues, *next; q; q = next) {
        next = q->hh.next;
        HASH_DEL(u->queues, q);
        queue_destroy(q);
    }
    u->misread = false;
    u->relink = u->rerank = true;
    u->news++;
}

/* --- settling ---------------------------------------------------------------------------------------- */

static void rerank(struct universe *u)
{
    for (struct node *n = u->nodes; n; n = n->hh.next)
        universe_node_out(u, n);
    for (struct queue *q = u->queues; q; q = q->hh.next)
        q->n_nodes = 0;
    ranks_make(u->ranks, u->nodes, u->policy);
    for (struct node *n = u->nodes; n; n = n->hh.next) {
        struct queue *q = n->queue ? universe_queue(u, n->queue) : NULL;
        if (q)
            q->n_nodes++;
        if (!n->dirty)
            list_add(&u->dirty_nodes, n);
        n->dirty = true;
    }
    u->rerank = false;
}

/* Numbers of resources that jobs and vnodes are sorted by; they are known once the catalogue is. */
static void find_keys(struct universe *u)
{
    struct policy *p = u->policy;

    for (size_t i = 0; i < p->n_job_sort; i++)
        if (p->job_sort[i].resource)
            p->job_sort[i].id = catalogue_find(u->catalogue, p->job_sort[i].resource);
    u->by_amount = false;
    for (size_t i = 0; i < p->n_node_sort; i++) {
        struct node_key *k = &p->node_sort[i];
        if (k->resource)
            k->id = catalogue_find(u->catalogue, k->resource);
        u->by_amount = u->by_amount || k->what != NODE_BY_PRIORITY;
    }
    u->rerank = u->rerank || u->by_amount;
}

static void settle_nodes(struct universe *u)
{
    pools_make(u->pools, u->nodes, make_node_dirty, u);
    for (size_t i = 0; i < u->dirty_nodes.n; i++) {
        struct node *n = u->dirty_nodes.a[i];
        node_settle(n);
        pools_settle(n);
        n->dirty = false;
        universe_node_in(u, n);
    }
    u->dirty_nodes.n = 0;
}

bool universe_settle(struct universe *u)
{
    if (u->misread || catalogue_take_missed(u->catalogue))
        return false;
    if (u->relink)
        for (struct job *j = u->jobs; j; j = j->hh.next)
            make_dirty(u, j);
    if (u->relink)
        find_keys(u);
    u->relink = false;
    if (u->rerank || (u->dirty_nodes.n > 0 && policy_sorts_by_use(u->policy)))
        rerank(u);
    settle_nodes(u);
    for (size_t i = 0; i < u->dirty_jobs.n; i++) {
        struct job *j = u->dirty_jobs.a[i];
        j->dirty = false;
        link_job(u, j);
    }
    u->dirty_jobs.n = 0;
    return !catalogue_take_missed(u->catalogue);
}

void universe_resort(struct universe *u)
{
    if (!policy_sorts_by_use(u->policy))
        return;
    rerank(u);
    settle_nodes(u);
}

void universe_destroy(struct universe *u)
{
    if (!u)
        return;
    universe_clear(u);
    ranks_destroy(u->ranks);
    pools_destroy(u->pools);
    queue_destroy(u->server);
    catalogue_destroy(u->catalogue);
    list_fini(&u->running);
    list_fini(&u->ending);
    list_fini(&u->awaiting);
    list_fini(&u->ordered);
    list_fini(&u->dirty_jobs);
    list_fini(&u->dirty_nodes);
    intern_unref(u->last_host);
    free(u->sched_name);
    free(u);
}

/* --- looking ----------------------------------------------------------------------------------------- */

const struct policy *universe_policy(const struct universe *u)
{
    return u->policy;
}

struct catalogue *universe_catalogue(const struct universe *u)
{
    return u->catalogue;
}

struct queue *universe_server(const struct universe *u)
{
    return u->server;
}

uint64_t universe_news(const struct universe *u)
{
    return u->news;
}

void universe_note_news(struct universe *u)
{
    u->news++;
}

uint64_t universe_stoppable(const struct universe *u)
{
    return u->stoppable;
}

uint64_t universe_shape(const struct universe *u)
{
    return u->shape;
}
