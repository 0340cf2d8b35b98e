/* Is a list right? See depend_check.h. */
#include "depend_check.h"

#include <string.h>

#include "depend_ties.h"
#include "pbs_error.h"
#include "site.h"

bool depend_check_met(const struct depends *w, const struct depend_item *item, struct depend_pasts past,
                      enum tie_met *met)
{
    struct depend_end t = depend_end_find(w, item->key);

    if (depend_end_is(t)) {
        *met = tie_met(item->kind, depend_end_facts(t));
        return true;
    }
    for (size_t i = 0; i < past.n; i++) {
        if (!job_key_is_equal(past.v[i].key, item->key))
            continue;
        *met = tie_met(item->kind,
                       TIE_OVER | (past.v[i].started ? TIE_STARTED : 0u) | (past.v[i].ok ? TIE_OK : 0u));
        return true;
    }
    *met = TIE_LATER; /* where it went will be asked */
    return depend_gone(w, item->key, item->array) != NULL;
}

static int refuse(const struct depends *w, const struct depend_item *item, const char *why, struct err *e)
{
    char id[JOBID_TEXT_MAX];

    return err_set(e, PBSE_BADDEPEND, "Invalid Job Dependency: %s:%s: %s", depend_kind_name(item->kind),
                   jobid_format(id, item->key, item->array, w->site->name), why);
}

static int check_after(const struct depends *w, const struct depend_item *item, struct depend_pasts past,
                       struct err *e)
{
    char id[JOBID_TEXT_MAX];
    enum tie_met met;

    if (!depend_check_met(w, item, past, &met))
        return refuse(w, item, "the server knows no such job", e);
    if (met == TIE_NEVER)
        return err_set(e, PBSE_HISTDEPEND, "Finished job did not satisfy dependency: %s:%s",
                       depend_kind_name(item->kind), jobid_format(id, item->key, item->array, w->site->name));
    return 0;
}

/* A tie that holds another job back, or joins its group: the job must be one's own, and not have begun. */
static int check_other(const struct depends *w, const struct job *j, const struct depend_item *item,
                       struct err *e)
{
    struct depend_end t = depend_end_find(w, item->key);
    const struct depend_item *on;
    struct depend_items l;
    int rc = 0;

    if (!depend_end_is(t) && depend_gone(w, item->key, item->array))
        return refuse(w, item, "that job went to another server without depend=on:COUNT", e);
    if (!depend_end_is(t) || depend_end_is_over(t))
        return refuse(w, item, t.job ? "that job has ended" : "the server knows no such job", e);
    if (depend_end_user(t) != j->user) /* interned */
        return refuse(w, item, "that is another user's job", e);
    if (item->kind == DEPEND_RUNONE)
        return t.away ? refuse(w, item, "that job is at another server, and runone is of one server only", e)
                      : 0;
    if (!depend_end_waits(t))
        return refuse(w, item, "that job has begun", e);
    depend_end_list(w, t, &l);
    on = depend_list_find_kind(&l, DEPEND_ON);
    if ((!on || on->count == 0) && !depend_list_find(&l, depend_mirror(item->kind), j->key))
        rc = refuse(w, item,
                    t.job && tie_list_has(depend_home(t.job), DEPEND_ON)
                        ? "its on:COUNT is kept by the server that it came from: submit this job there"
                        : "that job needs depend=on:COUNT, and has none left",
                    e);
    depend_list_fini(&l);
    return rc;
}

/* There is room for one more tie in the other job? */
static int check_room(const struct depends *w, const struct depend_item *item, struct err *e)
{
    struct depend_end t = depend_end_find(w, item->key);
    struct depend_items l = {0};
    int rc = 0;

    if (depend_end_is(t) && !depend_end_is_over(t))
        depend_end_list(w, t, &l);
    if (l.n >= DEPEND_MAX)
        rc = refuse(w, item, "too many jobs are tied to that job", e);
    depend_list_fini(&l);
    return rc;
}

static int check_item(const struct depends *w, const struct job *j, const struct depend_item *item,
                      struct depend_pasts past, struct err *e)
{
    if (item->kind == DEPEND_SYNCCOUNT || item->kind == DEPEND_SYNCWITH || item->kind == DEPEND_ON)
        return 0;
    if (job_key_is_equal(item->key, j->key))
        return refuse(w, item, "a job cannot wait for itself", e);
    if (depend_is_after(item->kind) ? check_after(w, item, past, e) < 0 : check_other(w, j, item, e) < 0)
        return -1;
    return check_room(w, item, e);
}

/* --- cycles: does `from`, or what it waits for, wait for one of these? --------------------------------- */

static uint32_t *search_of(struct depend_end t)
{
    return t.job ? &t.job->depend_search : &t.away->search;
}

static bool waits_for(struct depends *w, struct depend_end from, struct job_key key)
{
    struct depend_items open = {0};
    bool found = false;

    w->search++;
    depend_end_list(w, from, &open);
    while (!found && open.n > 0) {
        struct depend_item item = open.v[--open.n];
        struct depend_end t = {0};
        struct depend_items more;

        if (depend_is_after(item.kind))
            t = depend_end_find(w, item.key);
        found = depend_is_after(item.kind) && job_key_is_equal(item.key, key);
        if (found || !depend_end_is(t) || depend_end_is_over(t) || *search_of(t) == w->search)
            continue;
        *search_of(t) = w->search;
        depend_end_list(w, t, &more);
        for (size_t i = 0; i < more.n; i++)
            if (depend_is_after(more.v[i].kind))
                depend_list_append(&open, more.v[i]);
        depend_list_fini(&more);
    }
    depend_list_fini(&open);
    return found;
}

/* j is to wait for `after`; what waits for j already, or is to wait for it by `l`, must not be among that. */
static int check_cycle(struct depends *w, const struct job *j, const struct depend_item *after,
                       const struct depend_items *l, struct err *e)
{
    struct depend_end t = depend_end_find(w, after->key);

    if (!depend_end_is(t) || depend_end_is_over(t)) /* what it was waiting for still stands in it */
        return 0;
    if (waits_for(w, t, j->key))
        return refuse(w, after, "that job waits for this one", e);
    for (size_t i = 0; i < l->n; i++)
        if (depend_is_before(l->v[i].kind) &&
            (job_key_is_equal(l->v[i].key, after->key) || waits_for(w, t, l->v[i].key)))
            return refuse(w, after, "that job waits for this one", e);
    return 0;
}

static bool others_wait(const struct depend_items *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (depend_is_before(l->v[i].kind))
            return true;
    return false;
}

/* A job that nobody waits for closes no circle. */
static int check_cycles(struct depends *w, const struct job *j, const struct depend_items *l, struct err *e)
{
    struct depend_items now;
    bool search;

    depend_list_of(w->site, j, &now);
    search = others_wait(&now) || others_wait(l);
    depend_list_fini(&now);
    for (size_t i = 0; search && i < l->n; i++)
        if (depend_is_after(l->v[i].kind) && check_cycle(w, j, &l->v[i], l, e) < 0)
            return -1;
    return 0;
}

int depend_check(struct depends *w, const struct job *j, const char *text, struct depend_pasts past,
                 struct err *e)
{
    struct depend_items l;
    int rc = 0;

    if (depend_list_read(w->site, text, &l, e) < 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < l.n; i++)
        rc = check_item(w, j, &l.v[i], past, e);
    if (rc == 0)
        rc = check_cycles(w, j, &l, e);
    depend_list_fini(&l);
    return rc;
}
