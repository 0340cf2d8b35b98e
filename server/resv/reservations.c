/* What the files of this folder share: the look that is due, the reservation that a request names, who may change it.
 * See reservations.h.
 *
 * However often a look at a reservation is asked for within a turn of the loop, it is made once, at its end (look_waits): an action of
 * the machine may end jobs, whose events are told while it runs, and the look posts to the machine. The rest of the folder:
 * requests are resv_submit, resv_alter, resv_confirm; the machine resv_fsm, resv_rules, resv_life; what becomes due
 * resv_clock, and behind it resv_refuse, resv_degrade, resv_drain. */
#include "reservations.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "node.h"
#include "request.h"
#include "states.h"
#include "resv_shares.h"

static void reservations_defer_look(struct reservations *all)
{
    if (all->look_waits)
        return;
    all->look_waits = true;
    if (loop_defer(all->p.loop, all->look, all) < 0)
        abort(); /* it would not start or end */
}

static void reservations_list_look(struct reservations *all, struct resv *r)
{
    if (r->look_waits || r->obj.gone)
        return;
    object_ref(&r->obj);
    r->look_waits = true;
    *(all->last_look ? &all->last_look->next_look : &all->first_look) = r;
    all->last_look = r;
}

void reservations_look_later(struct reservations *all, struct resv *r)
{
    if (resv_is_maintenance(r)) {
        all->later_moved = true;
        reservations_look_at_all(all); /* others have its vnodes, or lose them */
    }
    reservations_list_look(all, r);
    reservations_defer_look(all);
}

void reservations_look_at_all(struct reservations *all)
{
    if (!resvs_first(all->p.ctx->resvs))
        return;
    all->look_all = true;
    reservations_defer_look(all);
}

struct resv *reservations_list_looks(struct reservations *all, int64_t now_s)
{
    struct pqueue_entry *e;

    while ((e = pqueue_first(&all->due)) && e->key <= now_s) {
        pqueue_pop(&all->due);
        reservations_list_look(all, PQUEUE_OWNER(e, struct resv, due));
    }
    for (struct resv *r = all->look_all ? resvs_first(all->p.ctx->resvs) : NULL; r; r = resvs_next(r))
        reservations_list_look(all, r);
    all->look_all = all->look_waits = false;
    return all->last_look;
}

struct resv *reservations_next_look(struct reservations *all)
{
    struct resv *r = all->first_look;

    if (!r)
        return NULL;
    all->first_look = r->next_look;
    if (!all->first_look)
        all->last_look = NULL;
    r->next_look = NULL;
    r->look_waits = false;
    return r;
}

/* Down, as every host is when the server starts, and nothing else. While its HELLO is under way it has been reported, and is down still. */
bool reservations_may_be_back(const struct reservations *all, const struct node *n)
{
    return server_ctx_now_s(all->p.ctx) < all->patient_till_s && !n->heard &&
           states_node_is_usable(n->state & ~(unsigned)(NODE_DOWN | NODE_UNKNOWN));
}

/* --- objects ------------------------------------------------------------------------------------------- */

struct resv *reservations_find(const struct reservations *all, const char *id, struct err *e)
{
    const struct server_ctx *s = all->p.ctx;
    char name[PBS_MAXSVRRESVID + 1];
    size_t n = strcspn(id, ".@");
    const char *server = id[n] == '.' ? id + n + 1 : "";
    struct resv *r = NULL;

    if (n + strlen(s->name) + 2 < sizeof name) {
        char asked[PBS_MAXSERVERNAME + 1];

        snprintf(asked, sizeof asked, "%.*s", (int)strcspn(server, "@"), server);
        snprintf(name, sizeof name, "%.*s.%s", (int)n, id, s->name);
        r = server_ctx_is_named(s, asked) ? resvs_find(s->resvs, name) : NULL;
    }
    if (!r)
        err_set(e, PBSE_UNKRESVID, "Unknown Reservation Id %s", id);
    return r;
}

static bool owns(const struct request *q, const struct resv *r)
{
    const char *owner = attr_list_text(&r->obj.attrs, RESV_ATTR_Reserve_Owner);
    size_t n = owner ? strcspn(owner, "@") : 0;

    return owner && strlen(request_user(q)) == n && strncmp(owner, request_user(q), n) == 0 &&
           (!client_is_distant(request_client(q)) || strcmp(owner, request_who(q)) == 0);
}

int reservations_may(const struct request *q, const struct resv *r, struct err *e)
{
    if (request_level(q) >= LEVEL_OPERATOR || (owns(q, r) && !resv_is_maintenance(r)))
        return 0;
    request_log_unauthorized(q, "Resv", r->obj.name);
    return err_set(e, PBSE_PERM, "Unauthorized Request ");
}

/* --- life ---------------------------------------------------------------------------------------------- */

struct reservations *reservations_create(const struct resv_parts *p, struct err *e)
{
    struct reservations *all = calloc(1, sizeof *all);

    if (!all) {
        err_no_memory(e);
        return NULL;
    }
    all->p = *p;
    pqueue_init(&all->due);
    all->fsm = resv_fsm_create(p->ctx->resvs);
    if (!all->fsm) {
        reservations_destroy(all);
        err_no_memory(e);
        return NULL;
    }
    return all;
}

void reservations_tell(const struct reservations *all, enum server_event_kind k, const struct resv *r)
{
    server_events_tell(all->p.ctx->events, &(struct server_event){.kind = k, .resv = r});
}

void reservations_record(const struct reservations *all, const struct resv *r, char letter, const char *text)
{
    server_events_tell(
        all->p.ctx->events,
        &(struct server_event){.kind = EVENT_RESV_RECORD, .resv = r, .letter = letter, .text = text});
}

void reservations_destroy(struct reservations *all)
{
    struct resv *r;

    if (!all)
        return;
    resv_wait_destroy_all(all);
    while ((r = reservations_next_look(all)))
        object_unref(&r->obj);
    pqueue_fini(&all->due);
    if (all->look)
        loop_forget(all->p.loop, all->look, all);
    loop_timer_destroy(all->timer);
    resv_fsm_destroy(all->fsm);
    free(all);
}

static void reservations_link_one(struct reservations *all, struct resv *r)
{
    const char *queue = attr_list_text(&r->obj.attrs, RESV_ATTR_queue);
    const char *job = attr_list_text(&r->obj.attrs, RESV_ATTR_qmove);
    struct err e;

    if (job)
        resvs_add_of_job(all->p.ctx->resvs, r, job);
    r->queue = queue ? queues_find(all->p.ctx->queues, queue) : NULL;
    if (r->queue)
        r->queue->resv = r;
    else
        log_event(LOGC_RESV, LOGE_ERROR, r->obj.name, "Queue %s for reservation %s missing",
                  queue ? queue : "", r->obj.name);
    if (resv_shares_set(all->p.ctx, r, attr_list_text(&r->obj.attrs, RESV_ATTR_resv_nodes), &e) < 0) {
        log_err(LOGC_RESV, r->obj.name, &e, "its vnodes cannot be taken");
        r->corrupted = true;
    }
    r->later_new = true;
    if (resv_number(r, RESV_ATTR_reservation_Tag))
        resv_shares_take(all->p.ctx, r);
    log_event(LOGC_RESV, LOGE_ADMIN, r->obj.name, "Recovered reservation %s", r->obj.name);
}

void reservations_link(struct reservations *all)
{
    if (!resvs_first(all->p.ctx->resvs))
        log_event(LOGC_SVR, LOGE_SYSTEM, all->p.ctx->name, "No resvs to open");
    for (struct resv *r = resvs_first(all->p.ctx->resvs); r; r = resvs_next(r))
        reservations_link_one(all, r);
}
