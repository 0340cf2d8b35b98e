/* Checks a list of dependencies, item by item, then as a whole. See depend_check.h.
 *
 *   after*         the target is known here, in the history, or has moved away; and can still be satisfied
 *   before*        the target is a job of the same user that has not begun and has depend=on:COUNT left
 *   runone         the target is a job of the same user, at this server
 *   on, sync*      nothing to check here
 *   the whole      no job would wait, through any number of others, for itself
 *
 * The search for circles marks jobs with numbers that rise from search to search, so no mark is ever taken off. */
#include "depend_check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "depend_edges.h"
#include "pbs_error.h"
#include "server_ctx.h"

bool depend_check_met(const struct depends *w, const struct depend_item *item, struct depend_pasts past,
                      enum depend_fact_met *met)
{
    struct depend_end t = depend_end_find(w, item->key);

    if (depend_end_is(t)) {
        *met = depend_fact_met(item->kind, depend_end_facts(t));
        return true;
    }
    for (size_t i = 0; i < past.n; i++) {
        if (!job_key_is_equal(past.v[i].key, item->key))
            continue;
        *met = depend_fact_met(item->kind, DEPEND_FACT_OVER | (past.v[i].started ? DEPEND_FACT_STARTED : 0u) |
                                               (past.v[i].ok ? DEPEND_FACT_OK : 0u));
        return true;
    }
    *met = DEPEND_FACT_LATER; /* where it went will be asked */
    return depend_gone(w, item->key, item->array) != NULL;
}

static int depend_check_refuse(const struct depends *w, const struct depend_item *item, const char *why,
                               struct err *e)
{
    char id[JOBID_TEXT_MAX];

    return err_set(e, PBSE_BADDEPEND, "Invalid Job Dependency: %s:%s: %s", depend_kind_name(item->kind),
                   jobid_format(id, item->key, item->array, w->ctx->name), why);
}

static int check_after(const struct depends *w, const struct depend_item *item, struct depend_pasts past,
                       struct err *e)
{
    char id[JOBID_TEXT_MAX];
    enum depend_fact_met met;

    if (!depend_check_met(w, item, past, &met))
        return depend_check_refuse(w, item, "the server knows no such job", e);
    if (met == DEPEND_FACT_NEVER)
        return err_set(e, PBSE_HISTDEPEND, "Finished job did not satisfy dependency: %s:%s",
                       depend_kind_name(item->kind), jobid_format(id, item->key, item->array, w->ctx->name));
    return 0;
}

/* A dependency that makes another job wait: that job counts such in depend=on:COUNT, and has room for one more. */
static int check_count(const struct depends *w, const struct job *j, const struct depend_item *item,
                       struct depend_end t, struct err *e)
{
    const struct depend_item *on;
    struct depend_items l;
    bool has_room;

    depend_end_list(w, t, &l);
    on = depend_list_find_kind(&l, DEPEND_ON);
    has_room = (on && on->count != 0) || depend_list_find(&l, depend_mirror(item->kind), j->key);
    depend_list_fini(&l);
    if (has_room)
        return 0;
    if (t.job && depend_fact_list_has(depend_home(t.job), DEPEND_ON))
        return depend_check_refuse(
            w, item, "its on:COUNT is kept by the server that it came from: submit this job there", e);
    return depend_check_refuse(w, item, "that job needs depend=on:COUNT, and has none left", e);
}

/* A dependency that makes another job wait, or joins its group: that job must have the same user, and not have begun. */
static int check_other(const struct depends *w, const struct job *j, const struct depend_item *item,
                       struct err *e)
{
    struct depend_end t = depend_end_find(w, item->key);

    if (!depend_end_is(t) && depend_gone(w, item->key, item->array))
        return depend_check_refuse(w, item, "that job went to another server without depend=on:COUNT", e);
    if (!depend_end_is(t) || depend_end_is_over(t))
        return depend_check_refuse(w, item, t.job ? "that job has ended" : "the server knows no such job", e);
    if (depend_end_user(t) != j->user) /* interned */
        return depend_check_refuse(w, item, "that is another user's job", e);
    if (item->kind == DEPEND_RUNONE && t.depend_remote)
        return depend_check_refuse(w, item, "that job is at another server, and runone is of one server only",
                                   e);
    if (item->kind == DEPEND_RUNONE)
        return 0;
    if (!depend_end_waits(t))
        return depend_check_refuse(w, item, "that job has begun", e);
    return check_count(w, j, item, t, e);
}

static_assert(DEPEND_MAX == 16384, "the text below says it");

/* Check that the other job can have one more dependency. */
static int depend_check_room(const struct depends *w, const struct depend_item *item, struct err *e)
{
    struct depend_end t = depend_end_find(w, item->key);
    struct depend_items l = {0};
    int rc = 0;

    if (depend_end_is(t) && !depend_end_is_over(t))
        depend_end_list(w, t, &l);
    if (l.n >= DEPEND_MAX)
        rc = depend_check_refuse(w, item, "that job has 16384 dependencies, which is the limit", e);
    depend_list_fini(&l);
    return rc;
}

static int check_item(const struct depends *w, const struct job *j, const struct depend_item *item,
                      struct depend_pasts past, struct err *e)
{
    if (item->kind == DEPEND_SYNCCOUNT || item->kind == DEPEND_SYNCWITH || item->kind == DEPEND_ON)
        return 0;
    if (job_key_is_equal(item->key, j->key))
        return depend_check_refuse(w, item, "a job cannot wait for itself", e);
    if (depend_is_after(item->kind) ? check_after(w, item, past, e) < 0 : check_other(w, j, item, e) < 0)
        return -1;
    return depend_check_room(w, item, e);
}

/* --- cycles: does one of these, or what it waits for, wait for one of those? --------------------------- */

/* A search marks the ends that must not be reached, and those it has been at: each is looked at once, however many
 * dependencies a list has. */
static uint32_t *search_of(struct depend_end t)
{
    return t.job ? &t.job->depend_search : &t.depend_remote->search;
}

struct cycle_search {
    struct depends *w;
    uint32_t forbidden, seen; /* marks */
    struct job_key self;      /* a job that is being submitted cannot be found, and is forbidden too */
    struct depend_items open;
};

static void search_begin(struct cycle_search *c, struct depends *w, const struct job *j,
                         const struct depend_items *l)
{
    struct depend_end t = depend_end_find(w, j->key);

    w->search += 2;
    *c = (struct cycle_search){.w = w, .forbidden = w->search - 1, .seen = w->search, .self = j->key};
    if (depend_end_is(t))
        *search_of(t) = c->forbidden;
    for (size_t i = 0; i < l->n; i++)
        if (depend_is_before(l->v[i].kind) && depend_end_is(t = depend_end_find(w, l->v[i].key)))
            *search_of(t) = c->forbidden;
}

/* The end of an "after": true if it must not be reached; else what it waits for in turn is open. */
static bool search_look(struct cycle_search *c, struct job_key key)
{
    struct depend_end t = depend_end_find(c->w, key);
    struct depend_items more;

    if (job_key_is_equal(key, c->self))
        return true;
    if (!depend_end_is(t) || depend_end_is_over(t) || *search_of(t) == c->seen)
        return false;
    if (*search_of(t) == c->forbidden)
        return true;
    *search_of(t) = c->seen;
    depend_end_list(c->w, t, &more);
    for (size_t i = 0; i < more.n; i++)
        if (depend_is_after(more.v[i].kind))
            depend_list_append(&c->open, more.v[i]);
    depend_list_fini(&more);
    return false;
}

static bool search_from(struct cycle_search *c, struct job_key key)
{
    bool found = search_look(c, key);

    while (!found && c->open.n > 0)
        found = search_look(c, c->open.v[--c->open.n].key);
    return found;
}

static bool others_wait(const struct depend_items *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (depend_is_before(l->v[i].kind))
            return true;
    return false;
}

/* j is to wait for each "after" of `l`; what waits for j already, or is to wait for it by `l`, must not be among what that
 * waits for. A job that no other waits for closes no circle. */
static int check_cycles(struct depends *w, const struct job *j, const struct depend_items *l, struct err *e)
{
    struct cycle_search c;
    struct depend_items now;
    bool search;
    int rc = 0;

    depend_list_of(w->ctx, j, &now);
    search = others_wait(&now) || others_wait(l);
    depend_list_fini(&now);
    if (!search)
        return 0;
    search_begin(&c, w, j, l);
    for (size_t i = 0; rc == 0 && i < l->n; i++)
        if (depend_is_after(l->v[i].kind) && search_from(&c, l->v[i].key))
            rc = depend_check_refuse(w, &l->v[i], "that job waits for this one", e);
    depend_list_fini(&c.open);
    return rc;
}

/* --- the whole ----------------------------------------------------------------------------------------- */

static int depend_check_order_items(const void *x, const void *y)
{
    const struct depend_item *a = x, *b = y;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->key.seq > b->key.seq) - (a->key.seq < b->key.seq);
}

/* A dependency that is named twice is examined once. */
static void drop_repeated(struct depend_items *l)
{
    size_t n = 0;

    qsort(l->v, l->n, sizeof *l->v, depend_check_order_items);
    for (size_t i = 0; i < l->n; i++)
        if (!i || depend_check_order_items(&l->v[n - 1], &l->v[i]) != 0 || depend_has_count(l->v[i].kind))
            l->v[n++] = l->v[i];
    l->n = n;
}

int depend_check(struct depends *w, const struct job *j, const char *text, struct depend_pasts past,
                 struct err *e)
{
    struct depend_items l;
    int rc = 0;

    if (depend_list_read(w->ctx, text, &l, e) < 0)
        return -1;
    if (l.n)
        drop_repeated(&l);
    for (size_t i = 0; rc == 0 && i < l.n; i++)
        rc = check_item(w, j, &l.v[i], past, e);
    if (rc == 0)
        rc = check_cycles(w, j, &l, e);
    depend_list_fini(&l);
    return rc;
}
