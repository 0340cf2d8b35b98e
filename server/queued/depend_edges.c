/* Makes and removes dependencies, at both ends. See depend_edges.h.
 *
 * Invariant between two calls: an element of one end's list has its mirror in the list of the other end (depend_mirror), unless it is a
 * count or the other end is over. A function that changes one end changes the other before it returns, in the same batch of the store.
 * Deleting a job here (doom) may come back through the job machine and end further jobs: lists are read again from the attribute for
 * each end, and no element is kept across such a call. */
#include "depend_edges.h"

#include <stdlib.h>

#include "hold_types.h"
#include "log.h"
#include "move_out.h"
#include "pbs_error.h"
#include "server_ctx.h"
#include "strbuf.h"

static bool member_runs(const struct depends *d, const struct depend_item *item)
{
    const struct job *t = jobs_find(d->ctx->jobs, item->key);

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

const char *depend_home(const struct job *j)
{
    return attr_list_text(&j->obj.attrs, JOB_ATTR_depend_home);
}

void depend_edges_hold(struct depends *d, struct job *j, const struct depend_items *l)
{
    bool blocked = is_blocked(d, l) || depend_fact_list_blocks(depend_home(j));

    hold_types_change(d->ctx, d->fsm, j, blocked ? HOLD_DEPEND : 0, blocked ? 0 : HOLD_DEPEND);
}

/* Set the list of that end as it is now; a hold of the job follows. */
void depend_edges_settle(struct depends *d, struct depend_end t, const struct depend_items *l)
{
    struct strbuf text;

    if (t.job) {
        depend_list_store(d->ctx, t.job, l);
        depend_edges_hold(d, t.job, l);
        return;
    }
    strbuf_init(&text, DEPEND_TEXT_MAX);
    if (depend_list_write(d->ctx, l, &text) < 0)
        abort(); /* as in depend_list_store */
    depend_remote_set(d->depend_remotes, t.depend_remote, &t.depend_remote->depend, strbuf_str(&text));
    strbuf_fini(&text);
}

/* At the other end: the dependency on `to` is entered. A new "after" there uses up one of its "on". */
void depend_edges_make(struct depends *d, struct depend_end other, struct depend_end to, enum depend_kind k)
{
    struct depend_item item = depend_end_item(to, k);
    struct depend_items l;
    struct depend_item *on;

    depend_end_list(d, other, &l);
    if (!depend_list_find(&l, k, item.key)) {
        on = depend_is_after(k) ? depend_list_find_kind(&l, DEPEND_ON) : NULL;
        if (on && --on->count <= 0)
            depend_list_drop(&l, on);
        depend_list_add(&l, item);
        depend_edges_settle(d, other, &l);
    }
    depend_list_fini(&l);
}

/* At the other end: the dependency is removed. True if it was there. */
static bool depend_edges_undo(struct depends *d, struct depend_end other, struct depend_end to,
                              enum depend_kind k)
{
    struct depend_items l;
    struct depend_item *at;

    depend_end_list(d, other, &l);
    at = depend_list_find(&l, k, depend_end_item(to, k).key);
    if (at) {
        depend_list_drop(&l, at);
        depend_edges_settle(d, other, &l);
    }
    depend_list_fini(&l);
    return at != NULL;
}

/* Find the end that is named. If that job has moved, its server is asked, unless it was before. */
struct depend_end depend_edges_follow(struct depends *d, const struct depend_item *item, bool from_elsewhere)
{
    struct depend_end t = depend_end_find(d, item->key);
    const char *server = depend_end_is(t) ? NULL : depend_gone(d, item->key, item->array);
    char name[JOBID_TEXT_MAX];

    if (server)
        t.depend_remote = depend_remotes_add(
            d->depend_remotes,
            &(struct depend_remote){.key = item->key,
                                    .array = item->array,
                                    .from_elsewhere = from_elsewhere,
                                    .name = jobid_format(name, item->key, item->array, d->ctx->name),
                                    .server = server});
    return t;
}

/* Remove what it waited for until now and no longer does. */
void depend_edges_leave(struct depends *d, struct depend_end from, const struct depend_item *item)
{
    struct depend_end t = {0};

    if (depend_is_after(item->kind) || item->kind == DEPEND_RUNONE)
        t = depend_end_find(d, item->key);
    if (depend_end_is(t))
        depend_edges_undo(d, t, from, depend_mirror(item->kind));
}

static void release(struct depends *d, struct depend_end t, struct depend_end by, enum depend_kind k)
{
    if (depend_edges_undo(d, t, by, k))
        log_event(LOGC_JOB, LOGE_JOB, depend_end_name(t), "Dependency on job %s released.",
                  depend_end_name(by));
}

/* It cannot become what it waits for, which is `by`. On its way to another server it cannot be deleted: that is done where
 * the way ends. */
void depend_edges_doom(struct depends *d, struct job *j, const char *by)
{
    char text[JOBID_TEXT_MAX + 64];

    if (move_out_is_under_way(j)) {
        attr_list_set_text(&j->obj.attrs, JOB_ATTR_doomed_by, by, NULL);
        jobs_touch(d->ctx->jobs, j, PART_ATTRS);
        return;
    }
    snprintf(text, sizeof text, "Job deleted as result of dependency on job %s", by);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "%s", text);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, text, NULL);
    server_events_tell(d->ctx->events,
                       &(struct server_event){.kind = EVENT_JOB_UNWANTED, .job = j, .text = text});
}

void depend_edges_give_up(struct depends *d, struct depend_end t, struct depend_end by, enum depend_kind k)
{
    if (!depend_end_waits(t))
        depend_edges_undo(d, t, by, k); /* an operator has run it all the same */
    else if (t.job)
        depend_edges_doom(d, t.job, depend_end_name(by));
    else
        depend_remote_set(d->depend_remotes, t.depend_remote, &t.depend_remote->doomed, depend_end_name(by));
}

/* A job of the group that ran to its end was the chosen one; if it was deleted, another job may run. */
static void end_group(struct depends *d, struct depend_end by, struct depend_end t)
{
    bool was_the_one = by.job && by.job->exited && by.job->intent != INTENT_DELETE &&
                       (depend_end_facts(by) & DEPEND_FACT_STARTED);

    if (was_the_one)
        depend_edges_give_up(d, t, by, DEPEND_RUNONE);
    else
        depend_edges_undo(d, t, by, DEPEND_RUNONE);
}

static void end_item(struct depends *d, struct depend_end by, struct depend_end t, enum depend_kind k)
{
    enum depend_kind there = depend_mirror(k);

    if (k == DEPEND_RUNONE)
        end_group(d, by, t);
    else if (depend_is_after(k))
        depend_edges_undo(d, t, by, there);
    else if (depend_is_before(k) && depend_fact_met(there, depend_end_facts(by)) == DEPEND_FACT_MET)
        release(d, t, by, there);
    else if (depend_is_before(k))
        depend_edges_give_up(d, t, by, there);
}

void depend_edges_ended(struct depends *d, struct depend_end by)
{
    struct depend_items l;

    depend_end_list(d, by, &l);
    for (size_t i = 0; i < l.n; i++) {
        struct depend_end t = {0};

        if (!depend_has_count(l.v[i].kind))
            t = depend_end_find(d, l.v[i].key);
        if (depend_end_is(t) && !depend_end_is_over(t))
            end_item(d, by, t, l.v[i].kind);
    }
    depend_list_fini(&l);
}

/* Those that waited for its start; the dependency is removed at both ends. */
void depend_edges_started(struct depends *d, struct depend_end by)
{
    struct depend_items l, rest = {0};

    depend_end_list(d, by, &l);
    for (size_t i = 0; i < l.n; i++) {
        struct depend_end t = {0};

        if (l.v[i].kind == DEPEND_BEFORE)
            t = depend_end_find(d, l.v[i].key);
        else
            depend_list_add(&rest, l.v[i]);
        if (depend_end_is(t))
            release(d, t, by, DEPEND_AFTER);
    }
    if (rest.n < l.n && by.job)
        depend_list_store(d->ctx, by.job, &rest);
    else if (rest.n < l.n)
        depend_edges_settle(d, by, &rest);
    depend_list_fini(&l);
    depend_list_fini(&rest);
}
