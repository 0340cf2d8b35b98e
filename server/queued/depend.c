/* Dependencies of jobs. See depend.h. Both ends of a dependency are changed in depend_edges.c, lists checked in depend_check.c, other
 * servers told in depend_remote_news.c; what an end is, a job here or the record of one that has moved, is hidden in depend_end.c.
 *
 * Everything happens in the listener of the job machine, in the calls of submission and alteration, and in
 * those of moves between servers. A job is released by its hold alone: hold_types_change posts EV_REVIEW, and
 * the machine does the rest. Nothing here looks at more than the two ends of a dependency, except the search for cycles,
 * which is made only for a job that others wait for.
 *
 * A job that came from another server has two lists: its dependencies on jobs of this server ("depend"), and those
 * that the other server keeps ("depend_home"), which it sends again whenever they change. Its hold covers both. */
#include "depend.h"

#include <stdlib.h>

#include "depend_remote_news.h"
#include "depend_check.h"
#include "depend_edges.h"
#include "job_fsm.h"
#include "log.h"
#include "server_ctx.h"

int depends_check(struct depends *d, const struct job *j, const char *text, const struct depend_history *past,
                  size_t n_past, struct err *e)
{
    return depend_check(d, j, text, (struct depend_pasts){past, n_past}, e);
}

/* --- a list becomes a job's ----------------------------------------------------------------------------- */

/* The group of a runone target is that target and all it is in a group with. */
static void join_group(struct depends *d, struct job *j, struct depend_items *mine, struct job *member)
{
    struct depend_items theirs;

    depend_list_of(d->ctx, member, &theirs);
    depend_list_add(&theirs, depend_end_item(depend_end_of(member), DEPEND_RUNONE));
    for (size_t i = 0; i < theirs.n; i++) {
        struct job *t = theirs.v[i].kind == DEPEND_RUNONE ? jobs_find(d->ctx->jobs, theirs.v[i].key) : NULL;

        if (!t || t == j)
            continue;
        depend_list_add(mine, theirs.v[i]);
        depend_edges_make(d, depend_end_of(t), depend_end_of(j), DEPEND_RUNONE);
    }
    depend_list_fini(&theirs);
}

static void say_satisfied(const struct depends *d, const struct job *j, const struct depend_item *item)
{
    struct depend_end t = depend_end_find(d, item->key);
    char id[JOBID_TEXT_MAX];

    if (!depend_end_is(t) || depend_end_is_over(t)) /* not there: its history has been asked */
        log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name, "%s Job has finished, dependency satisfied",
                  jobid_format(id, item->key, item->array, d->ctx->name));
}

/* One element of the job's new list: into `now` if it is still to be waited for, and into the other job. */
static void enter_item(struct depends *d, struct job *j, const struct depend_item *item,
                       struct depend_pasts past, struct depend_items *now)
{
    struct depend_end t = {0};
    enum depend_fact_met met = DEPEND_FACT_LATER;

    if (depend_is_after(item->kind) && (!depend_check_met(d, item, past, &met) || met != DEPEND_FACT_LATER)) {
        say_satisfied(d, j, item); /* it has been checked */
        return;
    }
    if (!depend_has_count(item->kind))
        t = depend_is_after(item->kind) ? depend_edges_follow(d, item, false) : depend_end_find(d, item->key);
    if (item->kind == DEPEND_RUNONE) {
        if (t.job)
            join_group(d, j, now, t.job);
        return;
    }
    if (!depend_has_count(item->kind) || item->count > 0)
        depend_list_add(now, *item);
    if (depend_end_is(t) && item->kind != DEPEND_SYNCWITH)
        depend_edges_make(d, t, depend_end_of(j), depend_mirror(item->kind));
}

void depends_enter(struct depends *d, struct job *j, const struct depend_history *past, size_t n_past)
{
    struct depend_items asked, now = {0};

    if (!attr_list_text(&j->obj.attrs, JOB_ATTR_depend))
        return;
    depend_list_of(d->ctx, j, &asked);
    for (size_t i = 0; i < asked.n; i++)
        enter_item(d, j, &asked.v[i], (struct depend_pasts){past, n_past}, &now);
    depend_edges_settle(d, depend_end_of(j), &now);
    depend_list_fini(&asked);
    depend_list_fini(&now);
}

void depends_altered(struct depends *d, struct job *j, const char *old, const struct depend_history *past,
                     size_t n_past)
{
    struct depend_items before, asked, now = {0};
    struct err ignored;

    depend_list_of(d->ctx, j, &asked);
    depend_list_read(d->ctx, old, &before, &ignored);
    depend_remote_news_cut(d, j);
    for (size_t i = 0; i < before.n; i++)
        if (depend_is_before(before.v[i].kind))
            depend_list_add(&now, before.v[i]);
        else
            depend_edges_leave(d, depend_end_of(j), &before.v[i]);
    for (size_t i = 0; i < asked.n; i++)
        enter_item(d, j, &asked.v[i], (struct depend_pasts){past, n_past}, &now);
    depend_edges_settle(d, depend_end_of(j), &now);
    depend_list_fini(&before);
    depend_list_fini(&asked);
    depend_list_fini(&now);
}

/* --- a job starts, goes back, ends --------------------------------------------------------------------- */

/* A job of a group has got its vnodes, or has given them back: hold the others, or release them. */
static void review_group(struct depends *d, struct job *j)
{
    struct depend_items l;

    depend_list_of(d->ctx, j, &l);
    for (size_t i = 0; i < l.n; i++) {
        struct job *t = l.v[i].kind == DEPEND_RUNONE ? jobs_find(d->ctx->jobs, l.v[i].key) : NULL;
        struct depend_items theirs;

        if (!t || !job_is_waiting(t))
            continue;
        depend_list_of(d->ctx, t, &theirs);
        depend_edges_settle(d, depend_end_of(t), &theirs);
        depend_list_fini(&theirs);
    }
    depend_list_fini(&l);
}

void depends_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct depends *d = arg;
    bool was_placed =
        from == JOB_STARTING || from == JOB_RUNNING || from == JOB_SUSPENDED || from == JOB_EXITING;

    if (j->moved_to)
        return; /* the other ends of its dependencies name its struct depend_remote by now */
    depend_remote_news_tell(d, j, from, ev);
    if (ev == EV_ARRAY_BEGUN && attr_list_text(&j->obj.attrs, JOB_ATTR_depend))
        depend_edges_started(d, depend_end_of(j));
    if (!attr_list_text(&j->obj.attrs, JOB_ATTR_depend) || from == j->state || from == JOB_FINISHED)
        return;
    if (job_is_over(j)) {
        depend_edges_ended(d, depend_end_of(j));
        return;
    }
    if (j->state == JOB_RUNNING && from == JOB_STARTING)
        depend_edges_started(d, depend_end_of(j));
    if (was_placed != job_is_placed(j))
        review_group(d, j);
}

struct depends *depends_create(struct server_ctx *s, struct job_fsm *f, struct depend_remotes *a)
{
    struct depends *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    *d = (struct depends){.ctx = s, .fsm = f, .depend_remotes = a};
    return d;
}

void depends_destroy(struct depends *d)
{
    free(d);
}

void depends_bind(struct depends *d, struct store_notes *n)
{
    d->store_notes = n;
}
