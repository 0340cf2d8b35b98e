/* When maintenance reservations drain their hosts. See resv_drain.h.
 *
 *     confirmed --start - drain_time--> drain_begun --start--> it runs, jobs that could not leave stay
 *                                          | deleted, or the start put off: taken back
 *
 * drain_begun is stored in the batch in which the jobs' own records are, so a restarted server neither forgets nor repeats it. */
#include "resv_drain.h"

#include <stdlib.h>
#include <string.h>

#include "drain.h"
#include "log.h"
#include "pbs_error.h"
#include "resv_shares.h"

static const char none[] = "none";

int resv_drain_take(const struct reservations *all, struct attr_list *l, bool maintenance, struct err *e)
{
    const struct attr_list *s = &all->p.ctx->server->obj.attrs;

    if (!maintenance)
        return attr_list_is_set(l, RESV_ATTR_drain) || attr_list_is_set(l, RESV_ATTR_drain_time)
                   ? err_set(
                         e, PBSE_BADATVAL,
                         "Illegal attribute or resource value: drain and drain_time are of maintenance reservations")
                   : 0;
    if (!attr_list_is_set(l, RESV_ATTR_drain) &&
        attr_list_set_text(l, RESV_ATTR_drain, attr_list_text(s, SERVER_ATTR_maintenance_drain), e) < 0)
        return -1;
    if (!attr_list_is_set(l, RESV_ATTR_drain) || attr_list_is_set(l, RESV_ATTR_drain_time))
        return 0;
    return attr_list_set_number(l, RESV_ATTR_drain_time,
                                attr_list_effective(s, SERVER_ATTR_maintenance_drain_time), e);
}

static bool resv_drain_methods(const struct resv *r, struct preempt_methods *out)
{
    const char *letters = attr_list_text(&r->obj.attrs, RESV_ATTR_drain);

    return letters && strcmp(letters, none) != 0 && preempt_methods_parse(letters, out);
}

static bool resv_drain_may_begin(const struct resv *r)
{
    enum resv_states s = resv_state(r);

    return s == RESV_CONFIRMED || s == RESV_DEGRADED || s == RESV_RUNNING;
}

/* The vnodes of a reservation; the caller frees. Without memory the process ends: its hosts would be taken for drained. */
static struct node **resv_drain_nodes(const struct resv *r)
{
    struct node **nodes = malloc((r->n_shares ? r->n_shares : 1) * sizeof(*nodes));

    if (!nodes)
        abort();
    for (size_t i = 0; i < r->n_shares; i++)
        nodes[i] = r->shares[i].node;
    return nodes;
}

/* What jobs are asked for; without vnodes. false: this reservation does not drain. */
static bool resv_drain_ask(const struct reservations *all, const struct resv *r, struct drain_ask *out)
{
    int64_t start = resv_number(r, RESV_ATTR_reserve_start);

    *out = (struct drain_ask){
        .by = r->obj.name, .free_by_s = start > server_ctx_now_s(all->p.ctx) ? start : 0, .spare = r->queue};
    return resv_drain_methods(r, &out->methods);
}

static void resv_drain_begin(struct reservations *all, const struct resv *r, struct drain_ask *ask)
{
    struct node **nodes = resv_drain_nodes(r);
    size_t asked;

    ask->nodes = nodes;
    ask->n = r->n_shares;
    asked = drain_begin(all->p.ctx, all->p.victims, ask);
    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name,
              "draining its vnodes: %zu of %zu jobs are to leave", asked,
              drain_count(nodes, r->n_shares, r->queue));
    free(nodes);
}

void resv_drain_look(struct reservations *all, struct resv *r, int64_t now, int64_t *next)
{
    int64_t start = resv_number(r, RESV_ATTR_reserve_start);
    int64_t due = start - resv_number(r, RESV_ATTR_drain_time);
    bool begun = resv_number(r, RESV_ATTR_drain_begun) != 0;
    struct drain_ask ask;

    if (!resv_is_maintenance(r) || !resv_drain_ask(all, r, &ask) || !resv_drain_may_begin(r))
        return;
    if (now < due) {
        if (begun)
            resv_drain_stop(all, r);
        *next = due < *next ? due : *next;
    } else if (!begun) {
        resv_set_number(r, RESV_ATTR_drain_begun, now);
        resvs_touch(all->p.ctx->resvs, r);
        resv_drain_begin(all, r, &ask);
    }
}

/* The reservation that has begun to drain this vnode and is to begin, or has; NULL: none. */
static struct resv *resv_drain_of(const struct node *n)
{
    for (const struct resv_share *x = n->shares; x; x = x->next)
        if (resv_is_maintenance(x->resv) && resv_number(x->resv, RESV_ATTR_drain_begun) &&
            resv_drain_may_begin(x->resv))
            return x->resv;
    return NULL;
}

void resv_drain_job(struct reservations *all, struct job *j)
{
    struct resv *r = NULL;
    struct drain_ask ask;

    for (const struct node_use *u = j->uses; u && !r; u = u->next_of_job)
        r = resv_drain_of(u->node);
    if (!r || (r->queue && j->queue == r->queue) || !resv_drain_ask(all, r, &ask))
        return;
    drain_job(all->p.ctx, all->p.victims, &ask, j);
}

void resv_drain_stop(struct reservations *all, struct resv *r)
{
    struct node **nodes;

    if (!resv_number(r, RESV_ATTR_drain_begun))
        return;
    attr_list_unset(&r->obj.attrs, RESV_ATTR_drain_begun);
    resvs_touch(all->p.ctx->resvs, r);
    if (!r->taken)
        log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name, "draining its vnodes no more");
    nodes = resv_drain_nodes(r);
    drain_withdraw(all->p.victims, nodes, r->n_shares, r->obj.name, "its vnodes are not drained any more");
    free(nodes);
}
