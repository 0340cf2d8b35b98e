/* The arithmetic of earmarks. See earmark_sums.h for the rule.
 *
 * An earmark is in the list of each of its vnodes (n->parts), a victim's claim in n->uses: a review walks both
 * and computes the sum again, which is short and cannot drift. Code that starts a job from its earmark switches
 * the earmark off first: else the job's own room would count against it. For server and queue nothing is summed
 * in advance: a question walks the earmarks. */
#include "earmark_sums.h"

#include <stdlib.h>
#include <string.h>

#include "job_run.h"
#include "pbs_error.h"
#include "server_ctx.h"
#include "server_events.h"
#include "type_list.h"

static int64_t earmark_sums_amount_of(const struct resc_list *l, int id)
{
    return value_number(resc_find(l, id));
}

bool earmark_sums_is_memory(const struct resource *r)
{
    return r->id == RESC_mem || r->id == RESC_vmem || r->id == RESC_hbmem || r->id == RESC_accelerator_memory;
}

bool earmark_sums_method_frees(const struct server_ctx *s, const struct job *j, enum method_id m,
                               const struct resource *r)
{
    const char *only = attr_list_text(&s->server->obj.attrs, SERVER_ATTR_restrict_res_to_release_on_suspend);
    const struct preempt_method_row *row = preempt_method_row(m);

    /* How much of a shared resource a part of a job frees is not known. */
    if (row->after != AFTER_SUSPENDED)
        return preempt_method_ends_run(m);
    if (row->keeps_memory && earmark_sums_is_memory(r) && (!only || (j->queue && queue_is_gang(j->queue))))
        return false;
    return !only || list_contains(only, r->name);
}

bool earmark_sums_is_offered(const struct job *j, const struct node *n)
{
    const char *at = j->preempt ? j->preempt->offer : NULL;
    size_t len = strlen(n->obj.name);

    for (; at && *at; at += strcspn(at, "+"), at += *at == '+')
        if (strcspn(at, "+") == len && strncmp(at, n->obj.name, len) == 0)
            return true;
    return false;
}

enum method_id earmark_sums_method_of(const struct job *j)
{
    if (j->state == JOB_EXITING || j->intent != INTENT_NONE)
        return METHOD_DELETE;
    if (!j->preempt)
        return METHOD_NONE;
    return j->preempt->method ? j->preempt->method : preempt_methods_first(&j->preempt->left);
}

int64_t earmark_sums_would_free(const struct server_ctx *s, const struct node_use *u, enum method_id m,
                                const struct resource *r)
{
    if (m == METHOD_RELEASE)
        return earmark_sums_is_offered(u->job, u->node) ? earmark_sums_amount_of(u->amounts, r->id) : 0;
    if (!earmark_sums_method_frees(s, u->job, m, r) ||
        (preempt_method_row(m)->after == AFTER_SUSPENDED && u->given_back))
        return 0;
    return earmark_sums_amount_of(u->amounts, r->id) - earmark_sums_amount_of(u->given_back, r->id);
}

/* --- one vnode ---------------------------------------------------------------------------------------- */

/* What this earmark's victims on the vnode have yet to give back. */
static int64_t pending(const struct server_ctx *s, const struct earmark_part *p, const struct resource *r)
{
    int64_t sum = 0;

    for (const struct node_use *u = p->node->uses; u; u = u->next)
        if (u->job->gives_way_to == p->earmark)
            sum += earmark_sums_would_free(s, u, earmark_sums_method_of(u->job), r);
    for (const struct node_use *u = p->node->lent; u; u = u->next)
        if (u->job->gives_way_to == p->earmark)
            sum += earmark_sums_would_free(s, u, earmark_sums_method_of(u->job), r);
    return sum;
}

static int64_t kept(const struct server_ctx *s, const struct earmark_part *p, const struct value *want)
{
    int64_t n = value_number(want) - pending(s, p, resource_get(s->resources, want->tag));

    return n > 0 ? n : 0;
}

static int earmark_sums_add_part(const struct server_ctx *s, struct resc_list **sum,
                                 const struct earmark_part *p)
{
    for (size_t i = 0; p->amounts && i < p->amounts->n; i++) {
        const struct value *v = &p->amounts->v[i];
        int64_t n = kept(s, p, v) + earmark_sums_amount_of(*sum, v->tag);
        struct value copy;

        if (n == 0)
            continue;
        copy = v->kind == VALUE_SIZE ? value_of_kb((uint64_t)n / 1024) : value_of_number(n);
        if (resc_put(sum, v->tag, copy, NULL) < 0)
            return -1;
    }
    return 0;
}

void earmark_sums_review(struct server_ctx *s, struct node *n)
{
    struct resc_list *sum = NULL;

    if (!n->parts && !n->held)
        return;
    for (const struct earmark_part *p = n->parts; p; p = p->next)
        if (!p->earmark->off && earmark_sums_add_part(s, &sum, p) < 0) {
            resc_free(sum); /* no memory: keep what was kept before */
            return;
        }
    if (resc_is_equal(sum, n->held, s->resources)) {
        resc_free(sum);
    } else {
        resc_free(n->held);
        n->held = sum;
        change_touch(s->change, &n->obj.change, PART_NONE);
    }
    for (const struct earmark_part *p = n->parts; p; p = p->next)
        server_events_tell(s->events,
                           &(struct server_event){.kind = EVENT_EARMARK_ROOM, .earmark = p->earmark});
}

void earmark_sums_review_job(struct server_ctx *s, const struct job *j)
{
    for (struct node_use *u = j->uses; u; u = u->next_of_job)
        earmark_sums_review(s, u->node);
}

/* --- the parts of an earmark -------------------------------------------------------------------------- */

int earmark_sums_put(struct server_ctx *s, struct earmark_obj *h, struct run_demand *w, size_t n,
                     struct err *e)
{
    h->parts = calloc(n ? n : 1, sizeof *h->parts);
    if (!h->parts)
        return err_set(e, PBSE_SYSTEM, "no memory to hold room for %s", h->obj.name);
    h->n_parts = n;
    for (size_t i = 0; i < n; i++) {
        struct earmark_part *p = &h->parts[i];

        *p = (struct earmark_part){.earmark = h,
                                   .node = w[i].node,
                                   .amounts = w[i].amounts,
                                   .alone = w[i].alone,
                                   .beside = w[i].beside,
                                   .lent = w[i].lent};
        w[i].amounts = NULL;
        change_touch(s->change, &p->node->obj.change, PART_NONE); /* for whom it is held, if not how much */
        p->next = p->node->parts;
        p->node->parts = p;
    }
    for (size_t i = 0; i < n; i++)
        earmark_sums_review(s, h->parts[i].node);
    return 0;
}

void earmark_sums_drop(struct server_ctx *s, struct earmark_obj *h)
{
    for (size_t i = 0; i < h->n_parts; i++) {
        struct earmark_part *p = &h->parts[i], **at = &p->node->parts;

        while (*at != p)
            at = &(*at)->next;
        *at = p->next;
        resc_free(p->amounts);
        change_touch(s->change, &p->node->obj.change, PART_NONE);
        earmark_sums_review(s, p->node);
    }
    free(h->parts);
    h->parts = NULL;
    h->n_parts = 0;
}

void earmark_sums_switch(struct server_ctx *s, struct earmark_obj *h, bool on)
{
    h->off = !on;
    for (size_t i = 0; i < h->n_parts; i++)
        earmark_sums_review(s, h->parts[i].node);
}

/* --- server and queue --------------------------------------------------------------------------------- */

static int64_t earmark_sums_asked(const struct job *j, const struct resource *r)
{
    return value_number(attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, r->id));
}

static int64_t shared_pending(const struct server_ctx *s, const struct earmark_obj *h, const struct queue *q,
                              const struct resource *r)
{
    int64_t sum = 0;

    for (size_t i = 0; i < h->n_victims; i++) {
        const struct job *j = h->victims[i];

        if (j->shares && (!q || j->queue == q) &&
            earmark_sums_method_frees(s, j, earmark_sums_method_of(j), r))
            sum += earmark_sums_asked(j, r) - earmark_sums_amount_of(j->shares_given, r->id);
    }
    return sum;
}

int64_t earmark_sums_shared(const struct server_ctx *s, const struct queue *q, const struct resource *r)
{
    int64_t sum = 0;

    for (const struct earmark_obj *h = earmarks_first(s->earmarks); h; h = earmarks_next(h)) {
        int64_t n = h->job && !h->off && (!q || h->job->queue == q) ? earmark_sums_asked(h->job, r) : 0;

        if (n > 0)
            n -= shared_pending(s, h, q, r);
        sum += n > 0 ? n : 0;
    }
    return sum;
}

/* --- is it there? ------------------------------------------------------------------------------------- */

static bool part_is_there(const struct server_ctx *s, const struct earmark_part *p)
{
    const struct node *n = p->node;

    if (!p->lent &&
        ((!p->beside && !node_is_usable(n)) || n->n_exclusive || (p->alone && n->n_uses > n->n_idle)))
        return false;
    for (size_t i = 0; p->amounts && i < p->amounts->n; i++) {
        const struct value *v = &p->amounts->v[i];
        const struct resource *r = resource_get(s->resources, v->tag);
        int64_t total, others;

        if (!(r->flags & (RESC_PER_NODE | RESC_FIRST_NODE)))
            continue;
        total = value_number(attr_list_amount(&n->obj.attrs, NODE_ATTR_resources_available, r->id));
        others = earmark_sums_amount_of(n->held, r->id) - kept(s, p, v);
        if (value_number(v) > total - earmark_sums_amount_of(n->assigned, r->id) - others)
            return false;
    }
    return true;
}

bool earmark_sums_is_there(const struct server_ctx *s, const struct earmark_obj *h, size_t *at)
{
    for (size_t i = 0; i < h->n_parts; i++) {
        size_t k = (*at + i) % h->n_parts;

        if (!part_is_there(s, &h->parts[k])) {
            *at = k;
            return false;
        }
    }
    return true;
}
