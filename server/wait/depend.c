/* See depend.h.
 *
 * Everything happens in the listener of the job machine and in the three calls of submission and alteration.
 * A job is released by its hold alone: hold_bits_change posts EV_REVIEW, and the machine does the rest. Nothing
 * here looks at more than the two ends of a tie, but the search for cycles, which is made only for a job that
 * others wait for. */
#include "depend.h"

#include <stdlib.h>
#include <string.h>

#include "depend_list.h"
#include "hold_bits.h"
#include "job_fsm.h"
#include "log.h"
#include "pbs_error.h"
#include "site.h"
#include "strbuf.h"

struct depends {
    struct site *site;
    struct job_fsm *fsm;
    void (*unmet)(void *arg, struct job *j, const char *target);
    void *unmet_arg;
    uint32_t search; /* number of the last search for a cycle */
};

/* --- what is known of a target ----------------------------------------------------------------------- */

enum met { MET_LATER, MET_YES, MET_NEVER, MET_UNKNOWN };

struct facts {
    bool over, started, ok;
};

static enum met met(enum depend_kind k, struct facts f)
{
    if (k == DEPEND_AFTER)
        return f.started ? MET_YES : f.over ? MET_NEVER : MET_LATER;
    if (!f.over)
        return MET_LATER;
    if (k == DEPEND_AFTERANY)
        return MET_YES;
    return f.ok == (k == DEPEND_AFTEROK) ? MET_YES : MET_NEVER;
}

static struct facts facts_of(const struct job *j)
{
    bool runs = j->state == JOB_RUNNING || j->state == JOB_SUSPENDED || j->state == JOB_EXITING;
    bool ran = j->exited && j->intent != INTENT_DELETE; /* its end may come with the news of its start */
    /* deleted subjobs do not count in an array's status, but an array that was deleted has not come to its end */
    bool cut_short = j->array && j->intent == INTENT_DELETE;

    return (struct facts){.over = job_is_over(j),
                          .started = runs || ran || j->stime_s != 0,
                          .ok = j->exited && j->exit_status == 0 && !cut_short};
}

struct pasts {
    const struct depend_past *v;
    size_t n;
};

static enum met judge(const struct depends *d, const struct depend_item *item, struct pasts past)
{
    const struct job *t = jobs_find(d->site->jobs, item->key);

    if (t)
        return met(item->kind, facts_of(t));
    for (size_t i = 0; i < past.n; i++)
        if (job_key_is_equal(past.v[i].key, item->key))
            return met(item->kind, (struct facts){true, past.v[i].started, past.v[i].ok});
    return MET_UNKNOWN;
}

/* --- is a list right? --------------------------------------------------------------------------------- */

static int refuse(const struct depends *d, const struct depend_item *item, const char *why, struct err *e)
{
    char id[JOBID_TEXT_MAX];

    return err_set(e, PBSE_BADDEPEND, "Invalid Job Dependency: %s:%s: %s", depend_kind_name(item->kind),
                   jobid_format(id, item->key, item->array, d->site->name), why);
}

static int check_after(const struct depends *d, const struct depend_item *item, struct pasts past,
                       struct err *e)
{
    char id[JOBID_TEXT_MAX];

    switch (judge(d, item, past)) {
    case MET_UNKNOWN:
        return refuse(d, item, "the server knows no such job", e);
    case MET_NEVER:
        return err_set(e, PBSE_HISTDEPEND, "Finished job did not satisfy dependency: %s:%s",
                       depend_kind_name(item->kind), jobid_format(id, item->key, item->array, d->site->name));
    case MET_YES:
    case MET_LATER:
        break;
    }
    return 0;
}

/* A tie that holds another job back, or joins its group: the job must be one's own, and not have begun. */
static int check_other(const struct depends *d, const struct job *j, const struct depend_item *item,
                       struct err *e)
{
    const struct job *t = jobs_find(d->site->jobs, item->key);
    const struct depend_item *on;
    struct depend_items l;
    int rc = 0;

    if (!t || job_is_over(t))
        return refuse(d, item, t ? "that job has ended" : "the server knows no such job", e);
    if (t->user != j->user) /* interned */
        return refuse(d, item, "that is another user's job", e);
    if (item->kind == DEPEND_RUNONE)
        return 0;
    if (!job_is_waiting(t))
        return refuse(d, item, "that job has begun", e);
    depend_list_of(d->site, t, &l);
    on = depend_list_find_kind(&l, DEPEND_ON);
    if ((!on || on->count == 0) && !depend_list_find(&l, depend_mirror(item->kind), j->key))
        rc = refuse(d, item, "that job needs depend=on:COUNT, and has none left", e);
    depend_list_fini(&l);
    return rc;
}

/* There is room for one more tie in the other job? */
static int check_room(const struct depends *d, const struct depend_item *item, struct err *e)
{
    const struct job *t = jobs_find(d->site->jobs, item->key);
    struct depend_items l = {0};
    int rc = 0;

    if (t && !job_is_over(t))
        depend_list_of(d->site, t, &l);
    if (l.n >= DEPEND_MAX)
        rc = refuse(d, item, "too many jobs are tied to that job", e);
    depend_list_fini(&l);
    return rc;
}

static int check_item(const struct depends *d, const struct job *j, const struct depend_item *item,
                      struct pasts past, struct err *e)
{
    if (item->kind == DEPEND_SYNCCOUNT || item->kind == DEPEND_SYNCWITH || item->kind == DEPEND_ON)
        return 0;
    if (job_key_is_equal(item->key, j->key))
        return refuse(d, item, "a job cannot wait for itself", e);
    if (depend_is_after(item->kind) ? check_after(d, item, past, e) < 0 : check_other(d, j, item, e) < 0)
        return -1;
    return check_room(d, item, e);
}

/* --- cycles: does `from`, or what it waits for, wait for one of these? --------------------------------- */

static bool waits_for(struct depends *d, const struct job *from, struct job_key key)
{
    struct depend_items open = {0};
    bool found = false;

    d->search++;
    depend_list_of(d->site, from, &open);
    while (!found && open.n > 0) {
        struct depend_item item = open.v[--open.n];
        struct job *t = depend_is_after(item.kind) ? jobs_find(d->site->jobs, item.key) : NULL;
        struct depend_items more;

        found = depend_is_after(item.kind) && job_key_is_equal(item.key, key);
        if (found || !t || job_is_over(t) || t->depend_search == d->search)
            continue;
        t->depend_search = d->search;
        depend_list_of(d->site, t, &more);
        for (size_t i = 0; i < more.n; i++)
            if (depend_is_after(more.v[i].kind))
                depend_list_append(&open, more.v[i]);
        depend_list_fini(&more);
    }
    depend_list_fini(&open);
    return found;
}

/* j is to wait for `after`; what waits for j already, or is to wait for it by `l`, must not be among that. */
static int check_cycle(struct depends *d, const struct job *j, const struct depend_item *after,
                       const struct depend_items *l, struct err *e)
{
    const struct job *t = jobs_find(d->site->jobs, after->key);

    if (!t || job_is_over(t)) /* what it was waiting for still stands in it */
        return 0;
    if (waits_for(d, t, j->key))
        return refuse(d, after, "that job waits for this one", e);
    for (size_t i = 0; i < l->n; i++)
        if (depend_is_before(l->v[i].kind) &&
            (job_key_is_equal(l->v[i].key, t->key) || waits_for(d, t, l->v[i].key)))
            return refuse(d, after, "that job waits for this one", e);
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
static int check_cycles(struct depends *d, const struct job *j, const struct depend_items *l, struct err *e)
{
    struct depend_items now;
    bool search;

    depend_list_of(d->site, j, &now);
    search = others_wait(&now) || others_wait(l);
    depend_list_fini(&now);
    for (size_t i = 0; search && i < l->n; i++)
        if (depend_is_after(l->v[i].kind) && check_cycle(d, j, &l->v[i], l, e) < 0)
            return -1;
    return 0;
}

int depends_check(struct depends *d, const struct job *j, const char *text, const struct depend_past *past,
                  size_t n_past, struct err *e)
{
    struct depend_items l;
    int rc = 0;

    if (depend_list_read(d->site, text, &l, e) < 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < l.n; i++)
        rc = check_item(d, j, &l.v[i], (struct pasts){past, n_past}, e);
    if (rc == 0)
        rc = check_cycles(d, j, &l, e);
    depend_list_fini(&l);
    return rc;
}

/* --- ties made and undone ------------------------------------------------------------------------------ */

static bool member_runs(const struct depends *d, const struct depend_item *item)
{
    const struct job *t = jobs_find(d->site->jobs, item->key);

    return t && job_is_placed(t);
}

static bool is_blocked(const struct depends *d, const struct depend_items *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct depend_item *item = &l->v[i];

        if (depend_is_after(item->kind) || (item->kind == DEPEND_ON && item->count > 0) ||
            (item->kind == DEPEND_RUNONE && member_runs(d, item)))
            return true;
    }
    return false;
}

/* The list as it is now becomes the job's; its hold follows. */
static void settle(struct depends *d, struct job *j, const struct depend_items *l)
{
    bool blocked = is_blocked(d, l);

    depend_list_store(d->site, j, l);
    hold_bits_change(d->site, d->fsm, j, blocked ? HOLD_DEPEND : 0, blocked ? 0 : HOLD_DEPEND);
}

static struct depend_item tie_to(const struct job *j, enum depend_kind k)
{
    return (struct depend_item){.kind = k, .key = j->key, .array = strchr(j->obj.name, '[') != NULL};
}

/* In the other job: this tie is there. A new "after" there uses up one of its "on". */
static void tie(struct depends *d, struct job *other, const struct job *j, enum depend_kind k)
{
    struct depend_items l;
    struct depend_item *on;

    depend_list_of(d->site, other, &l);
    if (!depend_list_find(&l, k, j->key)) {
        on = depend_is_after(k) ? depend_list_find_kind(&l, DEPEND_ON) : NULL;
        if (on && --on->count <= 0)
            depend_list_drop(&l, on);
        depend_list_add(&l, tie_to(j, k));
        settle(d, other, &l);
    }
    depend_list_fini(&l);
}

/* In the other job: this tie is no more. True where it was there. */
static bool untie(struct depends *d, struct job *other, const struct job *j, enum depend_kind k)
{
    struct depend_items l;
    struct depend_item *at;

    depend_list_of(d->site, other, &l);
    at = depend_list_find(&l, k, j->key);
    if (at) {
        depend_list_drop(&l, at);
        settle(d, other, &l);
    }
    depend_list_fini(&l);
    return at != NULL;
}

/* The group of a runone target is that target and all it is in a group with. */
static void join_group(struct depends *d, struct job *j, struct depend_items *mine, struct job *member)
{
    struct depend_items theirs;

    depend_list_of(d->site, member, &theirs);
    depend_list_add(&theirs, tie_to(member, DEPEND_RUNONE));
    for (size_t i = 0; i < theirs.n; i++) {
        struct job *t = theirs.v[i].kind == DEPEND_RUNONE ? jobs_find(d->site->jobs, theirs.v[i].key) : NULL;

        if (!t || t == j)
            continue;
        depend_list_add(mine, theirs.v[i]);
        tie(d, t, j, DEPEND_RUNONE);
    }
    depend_list_fini(&theirs);
}

/* One element of the job's new list: into `now` if it is still to be waited for, and into the other job. */
static void enter_item(struct depends *d, struct job *j, const struct depend_item *item, struct pasts past,
                       struct depend_items *now)
{
    struct job *t = depend_has_count(item->kind) ? NULL : jobs_find(d->site->jobs, item->key);

    if (depend_is_after(item->kind) && judge(d, item, past) != MET_LATER)
        return; /* satisfied: it has been checked */
    if (item->kind == DEPEND_RUNONE) {
        if (t)
            join_group(d, j, now, t);
        return;
    }
    if (!depend_has_count(item->kind) || item->count > 0)
        depend_list_add(now, *item);
    if (t && item->kind != DEPEND_SYNCWITH)
        tie(d, t, j, depend_mirror(item->kind));
}

void depends_enter(struct depends *d, struct job *j, const struct depend_past *past, size_t n_past)
{
    struct depend_items asked, now = {0};

    if (!attr_list_text(&j->obj.attrs, JOB_ATTR_depend))
        return;
    depend_list_of(d->site, j, &asked);
    for (size_t i = 0; i < asked.n; i++)
        enter_item(d, j, &asked.v[i], (struct pasts){past, n_past}, &now);
    settle(d, j, &now);
    depend_list_fini(&asked);
    depend_list_fini(&now);
}

/* What the job waited for until now, and no longer does. */
static void leave_item(struct depends *d, struct job *j, const struct depend_item *item)
{
    struct job *t = depend_has_count(item->kind) ? NULL : jobs_find(d->site->jobs, item->key);

    if (t && (depend_is_after(item->kind) || item->kind == DEPEND_RUNONE))
        untie(d, t, j, depend_mirror(item->kind));
}

void depends_altered(struct depends *d, struct job *j, const char *old, const struct depend_past *past,
                     size_t n_past)
{
    struct depend_items before, asked, now = {0};
    struct err ignored;

    depend_list_of(d->site, j, &asked);
    depend_list_read(d->site, old, &before, &ignored);
    for (size_t i = 0; i < before.n; i++)
        if (depend_is_before(before.v[i].kind))
            depend_list_add(&now, before.v[i]);
        else
            leave_item(d, j, &before.v[i]);
    for (size_t i = 0; i < asked.n; i++)
        enter_item(d, j, &asked.v[i], (struct pasts){past, n_past}, &now);
    settle(d, j, &now);
    depend_list_fini(&before);
    depend_list_fini(&asked);
    depend_list_fini(&now);
}

/* --- a job starts, goes back, ends --------------------------------------------------------------------- */

static void release(struct depends *d, struct job *t, const struct job *by, enum depend_kind k)
{
    if (untie(d, t, by, k))
        log_event(LOGC_JOB, LOGE_JOB, t->obj.name, "Dependency on job %s released.", by->obj.name);
}

static void give_up(struct depends *d, struct job *t, const struct job *by, enum depend_kind k)
{
    char text[JOBID_TEXT_MAX + 64];

    if (!job_is_waiting(t)) {
        untie(d, t, by, k); /* an operator has run it all the same */
        return;
    }
    snprintf(text, sizeof text, "Job deleted as result of dependency on job %s", by->obj.name);
    log_event(LOGC_JOB, LOGE_JOB, t->obj.name, "%s", text);
    attr_list_set_text(&t->obj.attrs, JOB_ATTR_comment, text, NULL);
    if (d->unmet)
        d->unmet(d->unmet_arg, t, by->obj.name);
}

/* A group's job that ran to its end was the one; if it was deleted, another may be. */
static void end_group(struct depends *d, struct job *j, struct job *t, struct facts f)
{
    if (f.started && j->exited && j->intent != INTENT_DELETE)
        give_up(d, t, j, DEPEND_RUNONE);
    else
        untie(d, t, j, DEPEND_RUNONE);
}

static void ended(struct depends *d, struct job *j)
{
    struct facts f = facts_of(j);
    struct depend_items l;

    depend_list_of(d->site, j, &l);
    for (size_t i = 0; i < l.n; i++) {
        enum depend_kind k = l.v[i].kind, there = depend_mirror(k);
        struct job *t = depend_has_count(k) ? NULL : jobs_find(d->site->jobs, l.v[i].key);

        if (!t || job_is_over(t))
            continue;
        if (k == DEPEND_RUNONE)
            end_group(d, j, t, f);
        else if (depend_is_after(k))
            untie(d, t, j, there);
        else if (depend_is_before(k) && met(there, f) == MET_YES)
            release(d, t, j, there);
        else if (depend_is_before(k))
            give_up(d, t, j, there);
    }
    depend_list_fini(&l);
}

/* Those that waited for its start; the tie goes from both. */
static void started(struct depends *d, struct job *j)
{
    struct depend_items l, rest = {0};

    depend_list_of(d->site, j, &l);
    for (size_t i = 0; i < l.n; i++) {
        struct job *t = l.v[i].kind == DEPEND_BEFORE ? jobs_find(d->site->jobs, l.v[i].key) : NULL;

        if (t)
            release(d, t, j, DEPEND_AFTER);
        if (l.v[i].kind != DEPEND_BEFORE)
            depend_list_add(&rest, l.v[i]);
    }
    if (rest.n < l.n)
        depend_list_store(d->site, j, &rest);
    depend_list_fini(&l);
    depend_list_fini(&rest);
}

/* One of a group has got its vnodes, or has given them back: the others are held, or not. */
static void review_group(struct depends *d, struct job *j)
{
    struct depend_items l;

    depend_list_of(d->site, j, &l);
    for (size_t i = 0; i < l.n; i++) {
        struct job *t = l.v[i].kind == DEPEND_RUNONE ? jobs_find(d->site->jobs, l.v[i].key) : NULL;
        struct depend_items theirs;

        if (!t || !job_is_waiting(t))
            continue;
        depend_list_of(d->site, t, &theirs);
        settle(d, t, &theirs);
        depend_list_fini(&theirs);
    }
    depend_list_fini(&l);
}

static void listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct depends *d = arg;
    bool was_placed =
        from == JOB_STARTING || from == JOB_RUNNING || from == JOB_SUSPENDED || from == JOB_EXITING;

    if (ev == EV_ARRAY_BEGUN && attr_list_text(&j->obj.attrs, JOB_ATTR_depend))
        started(d, j);
    if (!attr_list_text(&j->obj.attrs, JOB_ATTR_depend) || from == j->state || from == JOB_FINISHED)
        return;
    if (job_is_over(j)) {
        ended(d, j);
        return;
    }
    if (j->state == JOB_RUNNING && from == JOB_STARTING)
        started(d, j);
    if (was_placed != job_is_placed(j))
        review_group(d, j);
}

struct depends *depends_create(struct site *s, struct job_fsm *f)
{
    struct depends *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    *d = (struct depends){.site = s, .fsm = f};
    job_fsm_listen(f, listen, d);
    return d;
}

void depends_destroy(struct depends *d)
{
    free(d);
}

void depends_on_unmet(struct depends *d, void (*unmet)(void *arg, struct job *j, const char *target),
                      void *arg)
{
    d->unmet = unmet;
    d->unmet_arg = arg;
}
