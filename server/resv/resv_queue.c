/* The queue of a reservation: made with it, closed until it is confirmed, stopped until it starts.
 *
 * It is the reservation in a form that jobs know: who may use it are the queue's ACLs, how much of it its
 * resources_available and resources_max. Both are written from the reservation's attributes, here only, whenever those
 * change, and never read back. Whatever cannot be written ends the server: the row in the store would let jobs have more
 * than was confirmed. */
#include "reservations.h"

#include <stdlib.h>
#include <string.h>

#include "commit.h"
#include "log.h"
#include "queue.h"

static void set(struct queue *q, int index, int64_t n)
{
    if (attr_list_set_number(&q->obj.attrs, index, n, NULL) < 0)
        abort(); /* its row would not say what holds */
}

static bool is_bound(int id)
{
    static const int not [] = {RESC_nodes, RESC_nodect, RESC_select, RESC_place, RESC_walltime};

    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (not [i] == id)
            return false;
    return true;
}

/* Its jobs together, and each of them, have no more than the reservation. */
static int set_amounts(struct queue *q, const struct resv *r, int index, struct err *e)
{
    const struct resc_list *want = attr_list_amounts(&r->obj.attrs, RESV_ATTR_Resource_List);
    struct resc_list *l = NULL;

    for (size_t i = 0; want && i < want->n; i++) {
        struct value v;

        if (!is_bound(want->v[i].tag))
            continue;
        if (value_dup(&want->v[i], &v) < 0 || resc_put(&l, want->v[i].tag, v, e) < 0) {
            resc_free(l);
            return err_no_memory(e);
        }
    }
    return attr_list_set_amounts(&q->obj.attrs, index, l, e);
}

static void set_acl(struct queue *q, int enable, int acl, const char *list)
{
    set(q, enable, list != NULL);
    if (attr_list_set_text(&q->obj.attrs, acl, list, NULL) < 0)
        abort();
}

void resv_queue_set_acls(struct reservations *all, struct resv *r)
{
    const struct attr_list *a = &r->obj.attrs;
    struct queue *q = r->queue;

    set_acl(q, QUEUE_ATTR_acl_user_enable, QUEUE_ATTR_acl_users,
            attr_list_text(a, RESV_ATTR_Authorized_Users));
    set(q, QUEUE_ATTR_acl_user_enable, 1);
    set_acl(q, QUEUE_ATTR_acl_group_enable, QUEUE_ATTR_acl_groups,
            attr_list_text(a, RESV_ATTR_Authorized_Groups));
    set_acl(q, QUEUE_ATTR_acl_host_enable, QUEUE_ATTR_acl_hosts,
            attr_list_text(a, RESV_ATTR_Authorized_Hosts));
    change_touch(all->p.ctx->change, &q->obj.change, PART_ALL);
}

void resv_queue_set_amounts(struct reservations *all, struct resv *r)
{
    struct err e;

    if (!r->queue)
        return;
    if (set_amounts(r->queue, r, QUEUE_ATTR_resources_available, &e) < 0 ||
        set_amounts(r->queue, r, QUEUE_ATTR_resources_max, &e) < 0)
        abort(); /* its row would not say what holds */
    change_touch(all->p.ctx->change, &r->queue->obj.change, PART_ALL);
}

int resv_queue_create(struct reservations *all, struct resv *r, struct err *e)
{
    char name[PBS_MAXQUEUENAME + 1];
    struct queue *q;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(r->obj.name, "."), r->obj.name);
    if (queues_add(all->p.ctx->queues, name, &q, e) < 0)
        return -1;
    if (attr_list_set_text(&q->obj.attrs, QUEUE_ATTR_queue_type, "Execution", e) < 0 ||
        set_amounts(q, r, QUEUE_ATTR_resources_available, e) < 0 ||
        set_amounts(q, r, QUEUE_ATTR_resources_max, e) < 0) {
        queues_remove(all->p.ctx->queues, q, NULL);
        return -1;
    }
    q->resv = r;
    r->queue = q;
    resv_queue_set_acls(all, r);
    resv_queue_open(all, r, false, false);
    resv_set_text(r, RESV_ATTR_queue, name);
    log_event(LOGC_QUE, LOGE_ADMIN, name, "created at request of pbs_server@%s", all->p.ctx->name);
    return 0;
}

void resv_queue_open(struct reservations *all, struct resv *r, bool enabled, bool started)
{
    struct queue *q = r->queue;

    if (!q)
        return;
    set(q, QUEUE_ATTR_enabled, enabled);
    set(q, QUEUE_ATTR_started, started);
    if (attr_list_set_text(&q->obj.attrs, QUEUE_ATTR_partition,
                           attr_list_text(&r->obj.attrs, RESV_ATTR_partition), NULL) < 0)
        abort();
    change_touch(all->p.ctx->change, &q->obj.change, PART_ALL);
}

void resv_queue_remove(struct reservations *all, struct resv *r)
{
    struct queue *q = r->queue;
    struct err e;

    r->queue = NULL;
    q->resv = NULL;
    log_event(LOGC_QUE, LOGE_ADMIN, q->obj.name, "deleted at request of pbs_server@%s", all->p.ctx->name);
    commit_remove_object(all->p.commit, &q->obj);
    if (queues_remove(all->p.ctx->queues, q, &e) < 0)
        log_err(LOGC_QUE, q->obj.name, &e, "the queue of a reservation that is over");
}
