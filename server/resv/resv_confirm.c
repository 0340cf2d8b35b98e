/* Decisions about reservations: confirmed or refused by a scheduler or an administrator; deleted.
 *
 * A scheduler is told of a reservation that waits by the change list, looks for vnodes at its times, and sends CONFIRM with one
 * exec_vnode for each occurrence that is left, or with a refusal and its reason. The words are PBS's, in `extend` of the request:
 *
 *   PBS_RESV_CONFIRM_SUCCESS[:reason=TEXT][:partition=NAME]
 *   PBS_RESV_CONFIRM_FAIL[:seen=NUMBER][:reason=TEXT]
 *
 * The reservation may have changed or gone meanwhile: the machine's rows say in which states a decision counts (resv_rules.c), and the
 * vnodes are checked again here: that they exist, that they have such amounts, and that jobs which run in the reservation stay on them. A
 * refusal may say up to which change the scheduler knew when it decided (resv_refuse.h).
 *
 * `all->decision` and `all->requestor` are arguments of the event that is posted, for its action: set before, cleared behind. The
 * answer leaves when the decision is durable (resv_wait_promise). */
#include <ifl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "exec_vnode.h"
#include "pbs_error.h"
#include "request.h"
#include "reservations.h"
#include "resv_recur.h"
#include "resv_refuse.h"
#include "resv_shares.h"
#include "resv_times.h"
#include "run_demand.h"

static const char success[] = "PBS_RESV_CONFIRM_SUCCESS", failure[] = "PBS_RESV_CONFIRM_FAIL";

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Does each exec_vnode name vnodes and amounts that there are? */
static int resv_confirm_check_one(const struct reservations *all, const struct resv *r, const char *text,
                                  struct err *e)
{
    struct exec_vnode *ev = exec_vnode_parse(text, e);
    struct run_demand *w;
    size_t n;
    int rc = ev ? run_demands_make_for(all->p.ctx, resv_place(r), ev, &w, &n, e) : -1;

    if (rc == 0)
        run_demands_free(w, n);
    exec_vnode_destroy(ev);
    return rc;
}

static int check_location(const struct reservations *all, const struct resv *r, const char *location,
                          struct err *e)
{
    int64_t left = resv_is_standing(r)
                       ? resv_number(r, RESV_ATTR_reserve_count) - resv_number(r, RESV_ATTR_reserve_index) + 1
                       : 1;
    size_t n;

    free(resv_recur_execvnode(location, 0, &n));
    if ((int64_t)n != left)
        return err_set(
            e, n || !*location ? PBSE_BADATVAL : PBSE_IVALREQ,
            "Illegal attribute or resource value: exec_vnodes of %zu occurrences, and %lld are left", n,
            (long long)left);
    for (size_t i = 0; i < n; i++) {
        char *one = resv_recur_execvnode(location, i, NULL);
        int rc = one ? resv_confirm_check_one(all, r, one, e)
                     : err_set(e, PBSE_IVALREQ, "no exec_vnode for occurrence %zu", i);

        free(one);
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* It ends by the end of time. */
static int check_start(const struct resv *r, int64_t start_s, struct err *e)
{
    return start_s < 0 || start_s > RESV_TIMES_LAST_S - resv_number(r, RESV_ATTR_reserve_duration)
               ? err_set(e, PBSE_BADTSPEC, "Bad time specification(s)")
               : 0;
}

/* Running jobs stay where they are. */
static int check_jobs(const struct reservations *all, const struct resv *r, const char *location,
                      struct err *e)
{
    char *first = resv_recur_execvnode(location, 0, NULL);
    int rc = first && r->taken ? resv_shares_check(all->p.ctx, r, first, e) : 0;

    free(first);
    return rc;
}

/* "PBS_RESV_CONFIRM_SUCCESS:reason=TEXT:partition=NAME", each part or none. The caller frees; NULL: there is no text. */
static char *confirm_why(const char *extend, const char *partition)
{
    static const char reason[] = ":reason=";
    const char *at = extend + strlen(success);

    if (!begins(at, reason))
        return NULL;
    at += strlen(reason);
    return partition && partition > at ? strndup(at, (size_t)(partition - at)) : strdup(at);
}

static void confirm(struct reservations *all, struct request *q, struct resv *r)
{
    const ifl_confirm_resv_args *a = request_args(q);
    const char *partition = strstr(a->extend, ":partition=");
    char *why = confirm_why(a->extend, partition);
    char scheduler[PBS_MAXSERVERNAME + 16];
    struct err e;

    if (check_start(r, a->start_s, &e) < 0 || check_location(all, r, a->location, &e) < 0 ||
        check_jobs(all, r, a->location, &e) < 0) {
        request_fail(q, &e);
        free(why);
        return;
    }
    snprintf(scheduler, sizeof scheduler, "Scheduler@%s", all->p.ctx->name);
    all->decision =
        (struct resv_decision){.location = a->location,
                               .partition = partition ? partition + strlen(":partition=") : NULL,
                               .why_later = why,
                               .who = client_sched(request_client(q)) ? scheduler : request_who(q),
                               .start_s = a->start_s};
    resv_fsm_post(all->fsm, r, RESV_EV_CONFIRM);
    resv_wait_promise(all, q, r, NULL);
    all->decision = (struct resv_decision){0};
    free(why);
}

static int may_decide(const struct reservations *all, const struct request *q, const ifl_confirm_resv_args *a,
                      struct resv **r, struct err *e)
{
    bool yes = begins(a->extend, success);

    if (request_level(q) < LEVEL_OPERATOR)
        return err_set(e, PBSE_PERM, "Unauthorized Request ");
    if (!yes && !begins(a->extend, failure))
        return err_set(e, PBSE_resvFail, "reservation failure: extend says neither %s nor %s", success,
                       failure);
    *r = reservations_find(all, a->resv, e);
    if (!*r)
        return -1;
    if (!resv_fsm_rule(*r, yes ? RESV_EV_CONFIRM : RESV_EV_REFUSE))
        return err_set(e, PBSE_BADSTATE, "nothing of %s is to be confirmed: %s", (*r)->obj.name,
                       resv_state_name(resv_state(*r)));
    return 0;
}

/* "PBS_RESV_CONFIRM_FAIL:seen=NUMBER:reason=TEXT", each part or none. */
static void resv_confirm_failed(struct reservations *all, struct request *q, struct resv *r,
                                const char *extend)
{
    static const char seen[] = ":seen=", reason[] = ":reason=";
    const char *at = extend + strlen(failure), *why = strstr(extend, reason);
    uint64_t number = begins(at, seen) ? strtoull(at + strlen(seen), NULL, 10) : UINT64_MAX;

    resv_refuse(all, q, r, why ? why + strlen(reason) : "", number);
}

void resv_confirm(struct reservations *all, struct request *q)
{
    const ifl_confirm_resv_args *a = request_args(q);
    struct resv *r = NULL;
    struct err e;

    if (may_decide(all, q, a, &r, &e) < 0)
        request_fail(q, &e);
    else if (begins(a->extend, success))
        confirm(all, q, r);
    else
        resv_confirm_failed(all, q, r, a->extend);
}

void resv_delete(struct reservations *all, struct request *q)
{
    const ifl_resv_args *a = request_args(q);
    struct err e;
    struct resv *r = reservations_find(all, a->resv, &e);

    if (!r || reservations_may(q, r, &e) < 0) {
        request_fail(q, &e);
        return;
    }
    all->requestor = request_who(q);
    object_ref(&r->obj);
    resv_fsm_post(all->fsm, r, RESV_EV_DELETE);
    resv_wait_promise(all, q, r, NULL);
    object_unref(&r->obj);
    all->requestor = NULL;
}
