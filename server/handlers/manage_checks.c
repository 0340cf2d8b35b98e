/* What must hold between attributes. See manage_checks.h.
 *
 * A check sees the whole list as it would be, not what was changed: so the order in which attributes were
 * set does not matter, and one request may set several that only together are right. Nothing is changed
 * here. */
#include "manage_checks.h"

#include <limits.h>
#include <string.h>

#include "parts.h"
#include "pbs_error.h"
#include "limit_counts.h"
#include "words.h"

static const char default_partition[] = "pbs-default";

static struct server_ctx *site_of(void *parts)
{
    return ((struct parts *)parts)->ctx;
}

/* --- limits of both styles ---------------------------------------------------------------------------- */

#define OLD_LIMITS(of)                                                                                       \
    of##_ATTR_max_running, of##_ATTR_max_user_run, of##_ATTR_max_group_run, of##_ATTR_max_user_run_soft,     \
        of##_ATTR_max_group_run_soft, of##_ATTR_max_user_res, of##_ATTR_max_group_res,                       \
        of##_ATTR_max_user_res_soft, of##_ATTR_max_group_res_soft
#define NEW_LIMITS(of)                                                                                       \
    of##_ATTR_max_run, of##_ATTR_max_run_res, of##_ATTR_max_run_soft, of##_ATTR_max_run_res_soft,            \
        of##_ATTR_max_queued, of##_ATTR_max_queued_res, of##_ATTR_queued_jobs_threshold,                     \
        of##_ATTR_queued_jobs_threshold_res

static int first_set(const struct attr_list *l, const int *indices, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (attr_list_is_set(l, indices[i]))
            return indices[i];
    return ATTR_NONE;
}

static int check_styles(enum attr_of of, int old, int modern, struct err *e)
{
    if (old == ATTR_NONE || modern == ATTR_NONE)
        return 0;
    return err_set(e, PBSE_MIXENTLIMS,
                   "Cannot mix old and new style queue/run limit enforcement types: %s and %s",
                   attr_def_get(of, old)->name, attr_def_get(of, modern)->name);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int check_server_limits(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    static const int old[] = {OLD_LIMITS(SERVER)}, modern[] = {NEW_LIMITS(SERVER)};

    (void)arg, (void)o;
    return check_styles(OF_SERVER, first_set(now, old, COUNT(old)), first_set(now, modern, COUNT(modern)), e);
}

static int check_queue_limits(const struct attr_list *now, struct err *e)
{
    static const int old[] = {OLD_LIMITS(QUEUE), QUEUE_ATTR_max_queuable}, modern[] = {NEW_LIMITS(QUEUE)};

    return check_styles(OF_QUEUE, first_set(now, old, COUNT(old)), first_set(now, modern, COUNT(modern)), e);
}

/* --- the server --------------------------------------------------------------------------------------- */

int check_default_queue(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    const char *name = attr_list_text(now, SERVER_ATTR_default_queue);

    if (!name || queues_find(site_of(arg)->queues, name))
        return 0;
    return err_set(e, PBSE_UNKQUE, "Unknown queue: %s", name);
}

int check_sequence_max(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    int64_t n = attr_list_effective(now, SERVER_ATTR_max_job_sequence_id);

    (void)arg, (void)o;
    if (n >= 9999999 && n <= 999999999999)
        return 0;
    return err_set(e, PBSE_INVALID_MAX_JOB_SEQUENCE_ID,
                   "Cannot set max_job_sequence_id < 9999999, or > 999999999999: %lld", (long long)n);
}

int check_script_max(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    int64_t bytes = attr_list_effective(now, SERVER_ATTR_jobscript_max_size);

    (void)arg, (void)o;
    if (bytes >= 0 && bytes <= (int64_t)2 << 30)
        return 0;
    return err_set(e, PBSE_BADJOBSCRIPTMAXSIZE, "jobscript max size exceeds 2GB: jobscript_max_size");
}

int check_licenses(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    int64_t min = attr_list_effective(now, SERVER_ATTR_pbs_license_min),
            max = attr_list_effective(now, SERVER_ATTR_pbs_license_max),
            linger_s = attr_list_effective(now, SERVER_ATTR_pbs_license_linger_time);

    if (min < 0 || (min > max && max == attr_list_effective(&o->attrs, SERVER_ATTR_pbs_license_max)))
        return err_set(e, PBSE_LICENSE_MIN_BADVAL, "pbs_license_min is < 0, or > pbs_license_max");
    if (max < min)
        return err_set(e, PBSE_LICENSE_MAX_BADVAL, "pbs_license_max is < 0, or < pbs_license_min");
    if (linger_s <= 0)
        return err_set(e, PBSE_LICENSE_LINGER_BADVAL, "pbs_license_linger_time is <= 0");
    return 0;
}

int check_released(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    struct parts *p = arg;
    const char *text = attr_list_text(now, SERVER_ATTR_restrict_res_to_release_on_suspend);
    struct words w;
    int rc;

    words_init(&w);
    rc = text ? words_parse_commas(text, &w, e) : 0;
    for (size_t i = 0; rc == 0 && i < w.n; i++)
        if (!resource_find(p->ctx->resources, w.w[i]))
            rc = err_set(e, PBSE_UNKRESC, "restrict_res_to_release_on_suspend: resource %s is unknown",
                         w.w[i]);
    words_fini(&w);
    return rc;
}

/* --- queues ------------------------------------------------------------------------------------------- */

/* Only an execution queue has a scheduler to run its jobs, only a route queue places to send them to. */
static int check_kind(const struct object *o, const struct attr_list *now, bool route, struct err *e)
{
    unsigned foreign = route ? AF_EXEC : AF_ROUTING;

    for (int i = 0; i < attr_def_count(OF_QUEUE); i++) {
        const struct attr_def *d = attr_def_get(OF_QUEUE, i);

        if ((d->flags & foreign) && attr_list_is_set(now, i))
            return i == QUEUE_ATTR_partition
                       ? err_set(e, PBSE_ROUTE_QUE_NO_PARTITION,
                                 "Cannot assign a partition to route queue %s", o->name)
                       : err_set(e, PBSE_ATTRTYPE,
                                 "Incompatible type: %s is of %s queues only, and %s is none", d->name,
                                 route ? "execution" : "route", o->name);
    }
    return 0;
}

static int check_open(const struct object *o, const struct attr_list *now, const char *type, struct err *e)
{
    if (!attr_list_bool(now, QUEUE_ATTR_enabled, false) && !attr_list_bool(now, QUEUE_ATTR_started, false))
        return 0;
    if (!type)
        return err_set(e, PBSE_NEEDQUET, "Queue type must be set: queue_type of %s", o->name);
    if (strcmp(type, "Route") == 0 && attr_list_bool(now, QUEUE_ATTR_enabled, false) &&
        !attr_list_is_set(now, QUEUE_ATTR_route_destinations))
        return err_set(e, PBSE_QUENOEN,
                       "Cannot enable queue, incomplete definition: %s has no route_destinations", o->name);
    return 0;
}

/* What the jobs of a queue are, and what may be done with them, follows from its type. */
static int check_type(void *arg, const struct object *o, const char *type, struct err *e)
{
    const struct parts *p = arg;
    struct queue *q = (struct queue *)(uintptr_t)o;
    const char *was = attr_list_text(&o->attrs, QUEUE_ATTR_queue_type);
    const struct node *node = nodes_find_of_queue(p->ctx->nodes, o->name);
    int64_t jobs = limit_counts_jobs(p->ctx->limit_counts, q, LIMIT_ALL, NULL, LIMIT_COUNTS_LIVE);

    if (!was || (type && strcmp(was, type) == 0))
        return 0;
    if (jobs > 0)
        return err_set(e, PBSE_OBJBUSY, "queue_type: queue %s has %lld jobs", o->name, (long long)jobs);
    return node ? err_set(e, PBSE_OBJBUSY, "queue_type: node %s is for jobs of queue %s", node->obj.name,
                          o->name)
                : 0;
}

/* Vnodes that are for its jobs are of its partition, or of none. */
static int check_nodes_of_queue(const struct server_ctx *s, const char *queue, const char *partition,
                                struct err *e)
{
    for (struct node *n = nodes_first(s->nodes); n; n = nodes_next(n)) {
        const char *its = attr_list_text(&n->obj.attrs, NODE_ATTR_queue),
                   *own = attr_list_text(&n->obj.attrs, NODE_ATTR_partition);

        if (partition && its && own && strcmp(its, queue) == 0 && strcmp(own, partition) != 0)
            return err_set(e, PBSE_INVALID_PARTITION_QUE,
                           "Invalid partition in queue: node %s of %s is of partition %s", n->obj.name, queue,
                           own);
    }
    return 0;
}

int check_queue(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    const char *type = attr_list_text(now, QUEUE_ATTR_queue_type);
    const char *partition = attr_list_text(now, QUEUE_ATTR_partition);
    const char *was = attr_list_text(&o->attrs, QUEUE_ATTR_partition); /* that of a reservation has it */

    if (check_open(o, now, type, e) < 0 || check_type(arg, o, type, e) < 0)
        return -1;
    if (type && check_kind(o, now, strcmp(type, "Route") == 0, e) < 0)
        return -1;
    if (partition && strcmp(partition, default_partition) == 0 && (!was || strcmp(was, partition) != 0))
        return err_set(e, PBSE_DEFAULT_PARTITION, "Default partition name is not allowed: %s", partition);
    if (check_nodes_of_queue(site_of(arg), o->name, partition, e) < 0)
        return -1;
    return check_queue_limits(now, e);
}

/* --- vnodes ------------------------------------------------------------------------------------------- */

static const char *lender_of(const struct value *v)
{
    const char *text = v->kind == VALUE_TEXT ? value_text(v) : NULL;

    return text && *text == '@' ? text + 1 : NULL;
}

static int check_lender(const struct server_ctx *s, const struct value *v, const char *name, struct err *e)
{
    const struct resource *r = resource_get(s->resources, v->tag);
    const struct node *lender = nodes_find(s->nodes, name);
    const struct value *has =
        lender ? attr_list_amount(&lender->obj.attrs, NODE_ATTR_resources_available, v->tag) : NULL;

    if (!(r->flags & (RESC_PER_NODE | RESC_FIRST_NODE)))
        return err_set(e, PBSE_BADATVAL,
                       "%s=@%s: only what jobs consume on a vnode can be indirect (flag nh)", r->name, name);
    if (!lender)
        return err_set(e, PBSE_UNKNODE, "Unknown node %s, from which %s would be taken", name, r->name);
    if (!has)
        return err_set(e, PBSE_INDIRECTBT, "indirect target undefined on node for resource: %s on %s",
                       r->name, name);
    if (lender_of(has))
        return err_set(e, PBSE_INDIRECTHOP,
                       "invalid multi-level indirect reference for resource: %s on %s is %s", r->name, name,
                       value_text(has));
    return 0;
}

/* Does another vnode have this resource by way of this one? */
static const struct node *borrower_of(const struct server_ctx *s, const char *name, int resource)
{
    for (struct node *n = nodes_first(s->nodes); n; n = nodes_next(n)) {
        const struct value *v = attr_list_amount(&n->obj.attrs, NODE_ATTR_resources_available, resource);
        const char *lender = v ? lender_of(v) : NULL;

        if (lender && strcmp(lender, name) == 0)
            return n;
    }
    return NULL;
}

static bool differ(const char *partition, const char *other)
{
    return partition && other && strcmp(partition, other) != 0;
}

/* A vnode is for the jobs of an execution queue, and seen by the scheduler of that queue. */
int check_node_queue(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    const char *queue = attr_list_text(now, NODE_ATTR_queue), *own = attr_list_text(now, NODE_ATTR_partition);
    struct queue *q = queue ? queues_find(site_of(arg)->queues, queue) : NULL;
    const char *its = q ? attr_list_text(&q->obj.attrs, QUEUE_ATTR_partition) : NULL;

    if (queue && !q)
        return err_set(e, PBSE_UNKQUE, "Unknown queue: %s", queue);
    if (q && queue_is_route(q))
        return err_set(e, PBSE_ATTRTYPE, "Incompatible type: jobs of route queue %s run on no node", queue);
    if (!differ(own, its))
        return 0;
    return err_set(e, PBSE_QUE_NOT_IN_PARTITION,
                   "Queue %s is not part of partition for node: it is of partition %s, node %s of %s", queue,
                   its, o->name, own);
}

int check_node_partition(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    const struct node *n = (const struct node *)o;
    const char *queue = attr_list_text(now, NODE_ATTR_queue), *own = attr_list_text(now, NODE_ATTR_partition),
               *was = attr_list_text(&o->attrs, NODE_ATTR_partition);
    struct queue *q = queue ? queues_find(site_of(arg)->queues, queue) : NULL;
    const char *its = q ? attr_list_text(&q->obj.attrs, QUEUE_ATTR_partition) : NULL;

    if (own && strcmp(own, default_partition) == 0)
        return err_set(e, PBSE_DEFAULT_PARTITION, "Default partition name is not allowed: %s", own);
    if (differ(own, its))
        return err_set(e, PBSE_PARTITION_NOT_IN_QUE,
                       "Partition %s is not part of queue for node: queue %s of node %s is of partition %s",
                       own, queue, o->name, its);
    if (n->uses && strcmp(own ? own : "", was ? was : "") != 0)
        return err_set(e, PBSE_NODE_BUSY, "Node is busy: jobs of partition %s run on %s",
                       was ? was : default_partition, o->name);
    return 0;
}

int check_borrowed(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    const struct resc_list *l = attr_list_amounts(now, NODE_ATTR_resources_available);

    for (size_t i = 0; l && i < l->n; i++) {
        const char *name = lender_of(&l->v[i]);
        const struct node *other = name ? borrower_of(site_of(arg), o->name, l->v[i].tag) : NULL;

        if (other)
            return err_set(e, PBSE_INDIRECTHOP,
                           "invalid multi-level indirect reference for resource: %s has it from %s",
                           other->obj.name, o->name);
        if (name && check_lender(site_of(arg), &l->v[i], name, e) < 0)
            return -1;
    }
    return 0;
}

/* --- schedulers --------------------------------------------------------------------------------------- */

/* What a scheduler has: what is set, or else the directory that it has by itself. NULL: nothing. */
static const char *sched_has(const struct server_ctx *s, const struct object *o,
                             const struct attr_list *attrs, int index, char preset[PATH_MAX])
{
    const char *text = attr_list_text(attrs, index);

    if (text || index == SCHED_ATTR_partition || !s->home)
        return text;
    sched_obj_preset(o, index, s->home, preset);
    return preset;
}

/* What no other scheduler may have too; the default scheduler's is never set. */
static int check_own(const struct server_ctx *s, const struct object *o, const struct attr_list *now,
                     int index, int code, struct err *e)
{
    char preset[PATH_MAX], its[PATH_MAX];
    const char *own = sched_has(s, o, now, index, preset), *name = attr_def_get(OF_SCHED, index)->name;

    if (attr_list_text(now, index) && strcmp(o->name, "default") == 0)
        return err_set(e, PBSE_SCHED_OP_NOT_PERMITTED, "Operation is not permitted on default scheduler: %s",
                       name);
    for (struct sched_obj *x = scheds_first(s->scheds); x && own; x = scheds_next(x)) {
        const char *other = &x->obj == o ? NULL : sched_has(s, &x->obj, &x->obj.attrs, index, its);

        if (other && strcmp(other, own) == 0)
            return err_set(e, code, "%s %s is that of scheduler %s", name, own, x->obj.name);
    }
    return 0;
}

int check_sched_partition(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    const char *text = attr_list_text(now, SCHED_ATTR_partition);

    if (check_own(site_of(arg), o, now, SCHED_ATTR_partition, PBSE_SCHED_PARTITION_ALREADY_EXISTS, e) < 0)
        return -1;
    if (text && strcmp(text, default_partition) == 0)
        return err_set(e, PBSE_DEFAULT_PARTITION, "Default partition name is not allowed: %s", text);
    return 0;
}

int check_sched_priv(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    return check_own(site_of(arg), o, now, SCHED_ATTR_sched_priv, PBSE_SCHED_PRIV_EXIST, e);
}

int check_sched_log(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    return check_own(site_of(arg), o, now, SCHED_ATTR_sched_log, PBSE_SCHED_LOG_EXIST, e);
}

static bool is_given(const struct attr_edit_change *c, size_t n, int index)
{
    for (size_t i = 0; i < n; i++)
        if (attr_def_find(OF_SCHED, c[i].name) == index)
            return true;
    return false;
}

int check_sched_presets(const struct server_ctx *s, const struct object *o, const struct attr_edit_change *c,
                        size_t n, struct err *e)
{
    if (!is_given(c, n, SCHED_ATTR_sched_priv) &&
        check_own(s, o, &o->attrs, SCHED_ATTR_sched_priv, PBSE_SCHED_PRIV_EXIST, e) < 0)
        return -1;
    if (is_given(c, n, SCHED_ATTR_sched_log))
        return 0;
    return check_own(s, o, &o->attrs, SCHED_ATTR_sched_log, PBSE_SCHED_LOG_EXIST, e);
}
