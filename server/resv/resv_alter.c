/* Altering a reservation. Times wait for a scheduler: the new ones are set, the old ones are kept (resv_revert.h). Names, mail
 * and lists of users hold at once.
 *
 * Of a standing reservation one occurrence is altered; what the others have is kept in reserve_standing_revert as seconds, from the request on. */
#include <ifl.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "attr_edit.h"
#include "log.h"
#include "pbs_error.h"
#include "queue.h"
#include "request.h"
#include "reservations.h"
#include "resv_recur.h"
#include "resv_revert.h"
#include "resv_select.h"
#include "resv_times.h"

enum { STANDING_TEXT = 24 };

static struct resv_times resv_alter_times(const struct resv *r)
{
    return (struct resv_times){resv_number(r, RESV_ATTR_reserve_start), resv_number(r, RESV_ATTR_reserve_end),
                               resv_number(r, RESV_ATTR_reserve_duration)};
}

static void resv_alter_set(struct resv *r, const struct resv_times *t)
{
    resv_set_number(r, RESV_ATTR_reserve_start, t->start_s);
    resv_set_number(r, RESV_ATTR_reserve_end, t->end_s);
    resv_set_number(r, RESV_ATTR_reserve_duration, t->duration_s);
    if (attr_list_set_amount(&r->obj.attrs, RESV_ATTR_Resource_List, RESC_walltime,
                             value_of_number(t->duration_s), NULL) < 0)
        abort(); /* the amounts would not be those of the times */
}

void resv_alter_undo(struct reservations *all, struct resv *r)
{
    struct resv_times was;
    int substate;

    if (!resv_revert_get(r, &was, &substate))
        return;
    resv_select_undo(all, r);
    resv_alter_set(r, &was);
    resv_set_number(r, RESV_ATTR_reserve_substate, substate);
    attr_list_unset(&r->obj.attrs, RESV_ATTR_reserve_alter_revert);
}

void resv_alter_keep(struct reservations *all, struct resv *r)
{
    struct resv_times was;
    int substate;

    if (!resv_revert_get(r, &was, &substate))
        return;
    resv_select_keep(all, r);
    attr_list_unset(&r->obj.attrs, RESV_ATTR_reserve_alter_revert);
}

void resv_alter_undo_occurrence(struct reservations *all, struct resv *r)
{
    const char *text = attr_list_text(&r->obj.attrs, RESV_ATTR_reserve_standing_revert);
    struct resv_times t = resv_alter_times(r);

    resv_alter_undo(all, r);
    resv_select_undo_occurrence(all, r);
    if (!text)
        return;
    t.duration_s = strtoll(text, NULL, 10);
    resv_alter_set(r, &t);
    attr_list_unset(&r->obj.attrs, RESV_ATTR_reserve_standing_revert);
}

/* --- the request ------------------------------------------------------------------------------------------ */

struct resv_change {      /* what is asked for */
    struct attr_list now; /* a copy with everything set */
    struct resv_times said;
    int64_t wait_s;
    const char *select; /* NULL: not said */
    bool acls, times;
    bool force; /* whatever schedulers say */
};

static bool is_alterable(int index)
{
    static const int rows[] = {
        RESV_ATTR_Reserve_Name,      RESV_ATTR_reserve_start,    RESV_ATTR_reserve_end,
        RESV_ATTR_reserve_duration,  RESV_ATTR_Resource_List,    RESV_ATTR_Mail_Points,
        RESV_ATTR_Mail_Users,        RESV_ATTR_interactive,      RESV_ATTR_Authorized_Users,
        RESV_ATTR_Authorized_Groups, RESV_ATTR_delete_idle_time, RESV_ATTR_Priority};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i] == index)
            return true;
    return false;
}

/* Where the time that this attribute says is noted; NULL: it says none. */
static int64_t *resv_alter_said(struct resv_change *c, int index)
{
    return index == RESV_ATTR_reserve_start                                          ? &c->said.start_s
           : index == RESV_ATTR_reserve_end                                          ? &c->said.end_s
           : index == RESV_ATTR_reserve_duration || index == RESV_ATTR_Resource_List ? &c->said.duration_s
                                                                                     : NULL;
}

static int64_t resv_alter_walltime(const struct attr_list *l)
{
    const struct value *v = attr_list_amount(l, RESV_ATTR_Resource_List, RESC_walltime);

    return v ? value_number(v) : 0;
}

/* Note the time that the attribute says, if it says one. */
static int note_time(struct resv_change *c, int index, struct err *e)
{
    int64_t *said = resv_alter_said(c, index);

    if (!said)
        return 0;
    *said =
        index == RESV_ATTR_Resource_List ? resv_alter_walltime(&c->now) : attr_list_number(&c->now, index, 0);
    if (*said <= 0) /* no time at all is not "as before" */
        return err_set(e, PBSE_BADTSPEC, "Bad time specification(s)");
    c->times = true;
    return 0;
}

static int take_value(const struct reservations *all, struct resv_change *c, const wire_attrop *w, int index,
                      struct err *e)
{
    if (attr_list_change(&c->now, all->p.ctx->resources, index, *w->resource ? w->resource : NULL, w->value,
                         *w->value ? SET : UNSET, e) < 0)
        return -1;
    if (index == RESV_ATTR_interactive)
        c->wait_s = attr_list_number(&c->now, index, 0);
    c->acls = c->acls || index == RESV_ATTR_Authorized_Users || index == RESV_ATTR_Authorized_Groups;
    return note_time(c, index, e);
}

static int take_change(const struct reservations *all, struct resv_change *c, const wire_attrop *w,
                       struct err *e)
{
    int index = attr_def_need(OF_RESV, w->name, e);

    if (index < 0)
        return -1;
    if (!is_alterable(index))
        return err_set(e, PBSE_ATTRRO, "Cannot set attribute, read only or insufficient permission: %s",
                       w->name);
    if (index == RESV_ATTR_Resource_List && strcasecmp(w->resource, "select") == 0) {
        c->select = w->value;
        return c->force ? err_set(e, PBSE_NOSUP, "No support for requested service") : 0;
    }
    if (index == RESV_ATTR_Resource_List && strcasecmp(w->resource, "walltime") != 0)
        return err_set(e, PBSE_BADATVAL, "Illegal attribute or resource value: Resource_List.%s",
                       w->resource);
    return take_value(all, c, w, index, e);
}

/* Times may be altered in this state, and of one that has jobs the end alone. */
static int check_state(const struct resv *r, const struct resv_change *c, struct err *e)
{
    bool busy = r->taken && r->queue && r->queue->n_jobs;

    if (!resv_fsm_rule(r, RESV_EV_ALTER) && !(c->force && resv_state(r) == RESV_UNCONFIRMED))
        return err_set(e, PBSE_BADSTATE, "Request invalid for state of job");
    if (busy && (c->said.start_s || (c->said.duration_s && c->said.end_s)))
        return err_set(e, PBSE_RESV_NOT_EMPTY, "Reservation not empty");
    return 0;
}

static int check_times(const struct reservations *all, const struct resv *r, const struct resv_change *c,
                       struct resv_times *t, struct err *e)
{
    if (check_state(r, c, e) < 0)
        return -1;
    if (c->said.start_s && c->said.start_s <= server_ctx_now_s(all->p.ctx))
        return err_set(e, PBSE_BADTSPEC, "Bad time specification(s)");
    if (resv_times_alter(t, &c->said, e) < 0)
        return -1;
    if (t->end_s <= server_ctx_now_s(all->p.ctx))
        return err_set(e, PBSE_BADTSPEC, "Bad time specification(s)");
    if (resv_is_standing(r) && t->end_s > resv_recur_second(r)) {
        log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name,
                  "Requested time(s) will interfere with a later occurrence");
        return err_set(e, PBSE_STDG_RESV_OCCR_CONFLICT,
                       "Requested time(s) will interfere with a later occurrence");
    }
    return 0;
}

/* A part of what it has, where it may be altered. */
static int resv_alter_check_select(const struct reservations *all, const struct resv *r,
                                   struct resv_change *c, struct err *e)
{
    if (!resv_fsm_rule(r, RESV_EV_ALTER) || resv_substate(r) == RESV_IN_CONFLICT)
        return err_set(e, PBSE_BADSTATE, "Request invalid for state of job");
    return resv_select_alter(all->p.ctx, &c->now, c->select, e);
}

/* What holds at once: everything but the times, which are those of before again. A new select is in use when it is confirmed. */
static void resv_alter_apply(struct reservations *all, struct resv *r, struct resv_change *c)
{
    struct resv_times was = resv_alter_times(r);

    attr_list_unset(&c->now, RESV_ATTR_interactive);
    attr_list_fini(&r->obj.attrs);
    r->obj.attrs = c->now;
    attr_list_init(&c->now, OF_RESV);
    resv_alter_set(r, &was);
    resv_set_number(r, RESV_ATTR_mtime, server_ctx_now_s(all->p.ctx));
    if (c->acls)
        resv_queue_set_acls(all, r);
    resvs_touch(all->p.ctx->resvs, r);
}

/* The other occurrences last as long as before; a scheduler must know that before it decides. */
static void resv_alter_keep_standing(struct resv *r)
{
    char text[STANDING_TEXT];

    if (!resv_is_standing(r) || attr_list_is_set(&r->obj.attrs, RESV_ATTR_reserve_standing_revert))
        return;
    snprintf(text, sizeof text, "%lld", (long long)resv_number(r, RESV_ATTR_reserve_duration));
    resv_set_text(r, RESV_ATTR_reserve_standing_revert, text);
}

/* Schedulers are asked. By force: where none would answer, or one refuses, the new times hold with the vnodes that it has. */
static void resv_alter_ask(struct reservations *all, struct resv *r, const struct resv_times *t, bool force)
{
    if (resv_revert_keep(r, force) < 0)
        abort(); /* it could not be undone */
    resv_alter_keep_standing(r);
    resv_alter_set(r, t);
    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name,
              "Attempting to modify reservation start=%lld end=%lld%s%s", (long long)t->start_s,
              (long long)t->end_s, resv_select_is_altered(r) ? " select=" : "",
              resv_select_is_altered(r)
                  ? value_text(attr_list_amount(&r->obj.attrs, RESV_ATTR_Resource_List, RESC_select))
                  : "");
    resv_fsm_post(all->fsm, r, RESV_EV_ALTER);
    reservations_look_later(all, r);
}

/* 0, or -1 with nothing changed and *at the attribute at fault, if there is one. */
static int resv_alter_check(const struct reservations *all, const struct resv *r, const ifl_resv_args *a,
                            struct resv_change *c, struct resv_times *t, const wire_attrop **at,
                            struct err *e)
{
    if (attr_list_dup(&r->obj.attrs, &c->now) < 0)
        return err_no_memory(e);
    for (u_int i = 0; i < a->attrs.wire_attrops_len; i++)
        if (take_change(all, c, &a->attrs.wire_attrops_val[i], e) < 0) {
            *at = &a->attrs.wire_attrops_val[i];
            return -1;
        }
    *t = resv_alter_times(r);
    if (c->times && check_times(all, r, c, t, e) < 0)
        return -1;
    return c->select ? resv_alter_check_select(all, r, c, e) : 0;
}

static int resv_alter_may(const struct request *q, const ifl_resv_args *a, const struct resv *r,
                          struct err *e)
{
    if (reservations_may(q, r, e) < 0)
        return -1;
    if (resv_state(r) == RESV_BEING_ALTERED)
        return err_set(e, PBSE_BADSTATE, "Request invalid for state of job");
    if (strstr(a->extend, "force") && request_level(q) < LEVEL_OPERATOR)
        return err_set(e, PBSE_PERM, "Unauthorized Request ");
    return 0;
}

/* The times. true: they hold already. */
static bool resv_alter_begin(struct reservations *all, struct request *q, struct resv *r,
                             const struct resv_times *t, bool force)
{
    if (resv_state(r) == RESV_UNCONFIRMED) {
        resv_alter_set(r, t);
        reservations_look_later(all, r);
        return false;
    }
    resv_alter_ask(all, r, t, force);
    if (!force || all->p.is_scheduled(all->p.schedulers))
        return false;
    all->decision.who = request_who(q);
    resv_fsm_post(all->fsm, r, RESV_EV_REFUSE);
    all->decision = (struct resv_decision){0};
    return true;
}

void resv_alter(struct reservations *all, struct request *q)
{
    const ifl_resv_args *a = request_args(q);
    const wire_attrop *at = NULL;
    struct resv_change c = {.force = strstr(a->extend, "force") != NULL};
    struct resv_times t;
    bool done = false;
    struct err e;
    struct resv *r = reservations_find(all, a->resv, &e);

    attr_list_init(&c.now, OF_RESV);
    if (!r || resv_alter_may(q, a, r, &e) < 0 || resv_alter_check(all, r, a, &c, &t, &at, &e) < 0) {
        if (at)
            request_fail_attr(q, &e, at->name, at->resource, at->value);
        else
            request_fail(q, &e);
    } else {
        resv_alter_apply(all, r, &c);
        if (!c.times && !c.select)
            log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name, "Attempting to modify reservation");
        else
            done = resv_alter_begin(all, q, r, &t, c.force);
        if (done || (!c.times && !c.select) || c.wait_s <= 0 || resv_wait_add(all, r, q, c.wait_s, &e) < 0)
            resv_wait_promise(all, q, r, done ? "CONFIRMED" : "ALTER REQUESTED");
    }
    attr_list_fini(&c.now);
}
