/* Submission of a reservation: may it, what it asks for, when, for whom; then object, queue and answer.
 *
 * The first failure is the one that is told. The user it is for may have to be looked up first; the request is then checked as a
 * whole when the answer has come. A refused submission changes nothing but the sequence of numbers. */
#include <ifl.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "commit.h"
#include "intern.h"
#include "job_identity.h"
#include "log.h"
#include "names.h"
#include "pbs_error.h"
#include "request.h"
#include "reservations.h"
#include "resv_drain.h"
#include "resv_of_job.h"
#include "resv_recur.h"
#include "resv_select.h"
#include "resv_times.h"
#include "strbuf.h"

struct resv_asked { /* a submission that waits for a user */
    struct reservations *all;
    struct request *request;
};

static const char *resv_submit_value(const ifl_resv_args *a, const char *name)
{
    for (u_int i = 0; i < a->attrs.wire_attrops_len; i++)
        if (strcasecmp(a->attrs.wire_attrops_val[i].name, name) == 0)
            return a->attrs.wire_attrops_val[i].value;
    return NULL;
}

const char *resv_submit_job(struct request *q)
{
    return resv_submit_value(request_args(q), ATTR_resv_job);
}

static bool is_for_maintenance(const ifl_resv_args *a)
{
    return strchr(a->extend, 'm') != NULL;
}

/* --- may it? -------------------------------------------------------------------------------------------- */

static int may_ask(const struct reservations *all, const struct request *q, const ifl_resv_args *a,
                   struct err *e)
{
    const struct attr_list *s = &all->p.ctx->server->obj.attrs;

    if (*a->resv)
        return err_set(e, PBSE_IVALREQ, "Invalid request");
    if (!attr_list_bool(s, SERVER_ATTR_resv_enable, true))
        return err_set(e, PBSE_RESVAUTH_U, "reservations disallowed on %s", all->p.ctx->name);
    if (attr_list_bool(s, SERVER_ATTR_acl_resv_host_enable, false) &&
        !access_acl_allows(attr_list_text(s, SERVER_ATTR_acl_resv_hosts), ACL_HOST,
                           client_host(request_client(q)), false))
        return err_set(e, PBSE_RESVAUTH_H, "Host machine not authorized to submit reservations");
    if (is_for_maintenance(a) && request_level(q) < LEVEL_OPERATOR)
        return err_set(e, PBSE_PERM, "Unauthorized Request ");
    return 0;
}

/* As of a queue's list the group that counts is the effective one, so that "-students,+" holds. */
static int may_reserve(const struct reservations *all, const struct request *q, const struct attr_list *l,
                       struct err *e)
{
    const struct attr_list *s = &all->p.ctx->server->obj.attrs;

    if (attr_list_bool(s, SERVER_ATTR_acl_resv_group_enable, false) &&
        !access_acl_allows(attr_list_text(s, SERVER_ATTR_acl_resv_groups), ACL_GROUP,
                           attr_list_text(l, RESV_ATTR_egroup), true))
        return err_set(e, PBSE_RESVAUTH_G, "Requestor's group not authorized to submit reservations");
    if (attr_list_bool(s, SERVER_ATTR_acl_resv_user_enable, false) &&
        !access_acl_allows(attr_list_text(s, SERVER_ATTR_acl_resv_users), ACL_USER, request_who(q), true))
        return err_set(e, PBSE_RESVAUTH_U, "Requestor not authorized to make reservations");
    return 0;
}

/* --- what it asks for ------------------------------------------------------------------------------------- */

static int refuse_shrinking(const wire_attrop *w, struct err *e)
{
    if (strcasecmp(w->resource, "min_walltime") == 0 || strcasecmp(w->resource, "max_walltime") == 0)
        return err_set(e, PBSE_NOSTF_RESV,
                       "\"min_walltime\" and \"max_walltime\" are not valid resources for a reservation");
    return 0;
}

static int take_one(const struct reservations *all, struct attr_list *l, struct request *q,
                    const wire_attrop *w, struct err *e)
{
    struct attr_writer writer = {.level = request_level(q), .creating = true};
    int index = attr_def_find(OF_RESV, w->name);

    if (refuse_shrinking(w, e) < 0)
        return -1;
    if (index < 0 && attr_def_find(OF_JOB, w->name) >= 0)
        return 0; /* of jobs only: PBS drops it */
    if (index < 0)
        return attr_def_need(OF_RESV, w->name, e);
    if (attr_def_check_write(attr_def_get(OF_RESV, index), &writer, e) < 0)
        return -1;
    if (!resv_submit_value(request_args(q), ATTR_convert) && /* copies of what the job has */
        resource_check_write(all->p.ctx->resources, w->resource, request_level(q), e) < 0)
        return -1;
    return attr_list_change(l, all->p.ctx->resources, index, *w->resource ? w->resource : NULL, w->value, SET,
                            e);
}

/* --- when -------------------------------------------------------------------------------------------------- */

static int take_times(const struct reservations *all, struct attr_list *l, struct err *e)
{
    const struct value *wall = attr_list_amount(l, RESV_ATTR_Resource_List, RESC_walltime);
    struct resv_times t = {
        .start_s = attr_list_number(l, RESV_ATTR_reserve_start, 0),
        .end_s = attr_list_number(l, RESV_ATTR_reserve_end, 0),
        .duration_s = attr_list_number(l, RESV_ATTR_reserve_duration, wall ? value_number(wall) : 0)};

    if (resv_times_complete(&t, server_ctx_now_s(all->p.ctx), e) < 0)
        return -1;
    if (attr_list_set_number(l, RESV_ATTR_reserve_start, t.start_s, e) < 0 ||
        attr_list_set_number(l, RESV_ATTR_reserve_end, t.end_s, e) < 0 ||
        attr_list_set_number(l, RESV_ATTR_reserve_duration, t.duration_s, e) < 0)
        return -1;
    return attr_list_set_amount(l, RESV_ATTR_Resource_List, RESC_walltime, value_of_number(t.duration_s), e);
}

/* A rule with one occurrence makes an advance reservation. */
static int take_rule(const struct reservations *all, struct attr_list *l, bool *standing, struct err *e)
{
    const char *rule = attr_list_text(l, RESV_ATTR_reserve_rrule);
    struct resv_recur_ask ask = {.rule = rule,
                                 .zone = attr_list_text(l, RESV_ATTR_reserve_timezone),
                                 .start_s = attr_list_number(l, RESV_ATTR_reserve_start, 0),
                                 .duration_s = attr_list_number(l, RESV_ATTR_reserve_duration, 0),
                                 .now_s = server_ctx_now_s(all->p.ctx)};
    char *starts = NULL;
    size_t n = 1;
    int rc = 0;

    *standing = false;
    if (rule) {
        if (resv_recur_expand(&ask, &starts, &n, e) < 0)
            return -1;
        ask.start_s = strtoll(starts, NULL, 10);
        *standing = n > 1;
        rc = attr_list_set_text(l, RESV_ATTR_reserve_starts, *standing ? starts : NULL, e);
        free(starts);
    }
    if (rc < 0 || attr_list_set_number(l, RESV_ATTR_reserve_count, (int64_t)n, e) < 0 ||
        attr_list_set_number(l, RESV_ATTR_reserve_standing, *standing, e) < 0 ||
        attr_list_set_number(l, RESV_ATTR_reserve_start, ask.start_s, e) < 0)
        return -1;
    if (*standing && attr_list_set_number(l, RESV_ATTR_reserve_index, 1, e) < 0)
        return -1;
    return attr_list_set_number(l, RESV_ATTR_reserve_end, ask.start_s + ask.duration_s, e);
}

/* --- for whom ------------------------------------------------------------------------------------------------ */

/* The group of group_list that the user is in; without such a list the user's own. `name` may hold it. NULL: there is none. */
static const char *choose_group(const struct attr_list *l, const struct names_user *u,
                                char name[PBS_MAXGRPN + 1])
{
    const char *list = attr_list_text(l, RESV_ATTR_group_list);

    if (!list)
        return u->group;
    snprintf(name, PBS_MAXGRPN + 1, "%.*s", (int)strcspn(list, "@,"), list);
    for (size_t i = 0; i < u->n_groups; i++)
        if (strcmp(u->groups[i], name) == 0)
            return name;
    return NULL;
}

/* Its owner is one of its users. */
static int set_users(struct attr_list *l, const char *who, struct err *e)
{
    const char *users = attr_list_text(l, RESV_ATTR_Authorized_Users);
    struct strbuf b;
    int rc;

    strbuf_init(&b, 1 << 20);
    strbuf_add(&b, users ? users : who);
    if (users && !access_acl_allows(users, ACL_USER, who, false))
        strbuf_addf(&b, ",%s", who);
    rc = attr_list_set_text(l, RESV_ATTR_Authorized_Users, strbuf_str(&b), e);
    strbuf_fini(&b);
    return rc;
}

static int take_owner(struct attr_list *l, const struct request *q, const struct names_user *u, struct err *e)
{
    char name[PBS_MAXGRPN + 1];
    const char *group;

    if (strcmp(u->name, request_user(q)) != 0 && request_level(q) < LEVEL_MANAGER)
        return err_set(e, PBSE_R_UID, "Bad effective UID for reservation");
    group = choose_group(l, u, name);
    if (!group)
        return err_set(e, PBSE_R_GID, "Bad effective GID for reservation");
    if (set_users(l, request_who(q), e) < 0 ||
        attr_list_set_text(l, RESV_ATTR_Reserve_Owner, request_who(q), e) < 0 ||
        attr_list_set_text(l, RESV_ATTR_euser, u->name, e) < 0)
        return -1;
    return attr_list_set_text(l, RESV_ATTR_egroup, group, e);
}

static int stamp(const struct reservations *all, struct attr_list *l, const char *host, struct err *e)
{
    int64_t now = server_ctx_now_s(all->p.ctx);

    if (!attr_list_is_set(l, RESV_ATTR_Reserve_Name) &&
        attr_list_set_text(l, RESV_ATTR_Reserve_Name, "NULL", e) < 0)
        return -1;
    if (attr_list_set_text(l, RESV_ATTR_server, all->p.ctx->name, e) < 0 ||
        attr_list_set_text(l, RESV_ATTR_Submit_Host, host, e) < 0 ||
        attr_list_set_number(l, RESV_ATTR_ctime, now, e) < 0 ||
        attr_list_set_number(l, RESV_ATTR_mtime, now, e) < 0)
        return -1;
    return attr_list_set_number(l, RESV_ATTR_reserve_substate, RESV_UNCONFIRMED, e) < 0
               ? -1
               : attr_list_set_number(l, RESV_ATTR_reserve_state, RESV_UNCONFIRMED, e);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

struct resv_new { /* in no object yet */
    struct attr_list l;
    bool standing;
    struct job *of;        /* that runs, or NULL */
    const wire_attrop *at; /* the attribute at fault */
};

/* What is asked for, when, for whom. */
static int resv_submit_derive(const struct reservations *all, struct request *q, const struct names_user *u,
                              struct resv_new *w, struct err *e)
{
    const char *job = attr_list_text(&w->l, RESV_ATTR_reserve_job);
    struct attr_list *l = &w->l;

    if (job) {
        w->of = resv_of_job_running(all, q, job, e);
        return w->of ? resv_of_job_fill(all, w->of, l, e) : -1;
    }
    if (attr_list_is_set(l, RESV_ATTR_qmove) && resv_of_job_ask_asap(all, q, l, e) < 0)
        return -1;
    return take_times(all, l, e) < 0 || take_rule(all, l, &w->standing, e) < 0 ||
                   resv_select_complete(all->p.ctx, l, e) < 0
               ? -1
               : take_owner(l, q, u, e);
}

static int resv_submit_fill(const struct reservations *all, struct request *q, const struct names_user *u,
                            struct resv_new *w, struct err *e)
{
    const ifl_resv_args *a = request_args(q);

    if (attr_list_set_defaults(&w->l, e) < 0)
        return -1;
    for (u_int i = 0; i < a->attrs.wire_attrops_len; i++)
        if (take_one(all, &w->l, q, &a->attrs.wire_attrops_val[i], e) < 0) {
            w->at = &a->attrs.wire_attrops_val[i];
            return -1;
        }
    if (resv_drain_take(all, &w->l, is_for_maintenance(a), e) < 0 ||
        resv_submit_derive(all, q, u, w, e) < 0 || may_reserve(all, q, &w->l, e) < 0)
        return -1;
    return stamp(all, &w->l, client_host(request_client(q)), e);
}

static struct resv *resv_submit_make(struct reservations *all, struct attr_list *l, int64_t seq, char letter,
                                     struct err *e)
{
    const char *job = attr_list_text(l, RESV_ATTR_qmove);
    char name[PBS_MAXSVRRESVID + 1];
    struct resv *r;

    snprintf(name, sizeof name, "%c%lld.%s", letter, (long long)seq, all->p.ctx->name);
    if (resvs_add(all->p.ctx->resvs, name, &r, e) < 0)
        return NULL;
    attr_list_fini(&r->obj.attrs);
    r->obj.attrs = *l;
    attr_list_init(l, OF_RESV);
    if (job) /* its text has moved along */
        resvs_add_of_job(all->p.ctx->resvs, r, job);
    if (resv_queue_create(all, r, e) == 0)
        return r;
    e->code = PBSE_resvFail;
    resvs_remove(all->p.ctx->resvs, r);
    return NULL;
}

static void tell(struct reservations *all, const struct resv *r, const struct request *q)
{
    const char *rule = attr_list_text(&r->obj.attrs, RESV_ATTR_reserve_rrule);
    int64_t waits = resv_number(r, RESV_ATTR_interactive);
    struct strbuf b, rest;

    strbuf_init(&b, 4096);
    strbuf_init(&rest, 2048);
    if (rule)
        strbuf_addf(&rest, " recurrence_rrule=%s timezone=%s", rule,
                    attr_list_text(&r->obj.attrs, RESV_ATTR_reserve_timezone));
    strbuf_addf(&b, "requestor=%s", request_who(q));
    if (waits)
        strbuf_addf(&b, " Interactive=%lld", (long long)waits);
    strbuf_add(&b, strbuf_str(&rest));
    reservations_record(all, r, 'U', strbuf_str(&b));
    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name,
              "New reservation submitted start=%lld end=%lld%s",
              (long long)resv_number(r, RESV_ATTR_reserve_start),
              (long long)resv_number(r, RESV_ATTR_reserve_end), strbuf_str(&rest));
    strbuf_fini(&rest);
    strbuf_fini(&b);
    if (!resv_is_maintenance(r))
        reservations_tell(all, EVENT_RESV_SUBMITTED, r);
}

static void resv_submit_answer(struct reservations *all, struct request *q, struct resv *r)
{
    int64_t waits = resv_number(r, RESV_ATTR_interactive);
    struct err e;

    if (waits == 0 || resv_wait_add(all, r, q, waits, &e) < 0)
        resv_wait_promise(all, q, r, "UNCONFIRMED");
    tell(all, r, q);
    reservations_look_later(all, r);
}

/* Of a job that runs: no scheduler is asked. */
static void resv_submit_answer_now(struct reservations *all, struct request *q, struct resv *r, struct job *j)
{
    attr_list_unset(&r->obj.attrs, RESV_ATTR_interactive);
    resv_of_job_begin(all, r, j, request_who(q));
    resv_wait_promise(all, q, r, "CONFIRMED");
}

static void resv_submit_with(struct reservations *all, struct request *q, const struct names_user *u)
{
    const ifl_resv_args *a = request_args(q);
    int64_t seq = server_obj_take_seq(all->p.ctx->server, all->p.ctx->change);
    struct resv_new w = {.of = NULL};
    struct resv *r = NULL;
    struct err e;

    attr_list_init(&w.l, OF_RESV);
    if (resv_submit_fill(all, q, u, &w, &e) == 0)
        r = resv_submit_make(all, &w.l, seq,
                             is_for_maintenance(a) ? PBS_MNTNC_RESV_ID_CHAR
                             : w.standing          ? PBS_STDNG_RESV_ID_CHAR
                                                   : PBS_RESV_ID_CHAR,
                             &e);
    attr_list_fini(&w.l);
    if (!r && w.at)
        request_fail_attr(q, &e, w.at->name, w.at->resource, w.at->value);
    else if (!r)
        request_fail(q, &e);
    else if (w.of)
        resv_submit_answer_now(all, q, r, w.of);
    else
        resv_submit_answer(all, q, r);
}

void resv_submit_of_started(struct reservations *all, struct job *j)
{
    int64_t seq = server_obj_take_seq(all->p.ctx->server, all->p.ctx->change);
    struct attr_list l;
    struct resv *r = NULL;
    struct err e;

    attr_list_init(&l, OF_RESV);
    if (attr_list_set_defaults(&l, &e) == 0 && resv_of_job_fill(all, j, &l, &e) == 0 &&
        stamp(all, &l, j->host, &e) == 0)
        r = resv_submit_make(all, &l, seq, PBS_RESV_ID_CHAR, &e);
    attr_list_fini(&l);
    if (r)
        resv_of_job_begin(all, r, j, j->owner);
    else
        log_err(LOGC_JOB, j->obj.name, &e, "no reservation can be made from it");
}

static void resv_submit_user_known(void *arg, const struct names_user *u, const struct err *why)
{
    struct resv_asked *a = arg;
    struct err e;

    if (u)
        resv_submit_with(a->all, a->request, u);
    else {
        err_set(&e, why && why->code != ENOENT ? PBSE_TRYAGAIN : PBSE_R_UID,
                "Bad effective UID for reservation");
        request_fail(a->request, &e);
    }
    request_unref(a->request);
    free(a);
}

void resv_submit(struct reservations *all, struct request *q)
{
    const ifl_resv_args *args = request_args(q);
    char buf[JOB_IDENTITY_NAME_MAX];
    const char *user = job_identity_name(resv_submit_value(args, "User_List"), request_user(q), buf);
    struct resv_asked *a;
    struct err e;

    if (may_ask(all, q, args, &e) < 0) {
        request_fail(q, &e);
        return;
    }
    a = malloc(sizeof *a);
    if (!a) {
        request_failf(q, PBSE_SYSTEM, "no memory for a reservation");
        return;
    }
    *a = (struct resv_asked){all, request_ref(q)};
    if (names_find_user(all->p.names, user))
        resv_submit_user_known(a, names_find_user(all->p.names, user), NULL);
    else
        names_ask_user(all->p.names, user, resv_submit_user_known, a);
}
