/* Dependencies of jobs that are, or were, at another server. See depend_remote_news.h and the end of depend.h.
 *
 * What is said of a job here is asked for by the server from which it came; what it is to wait for is told by that server. Of
 * a job that has gone the same is done the other way round. A job that came and went has both: its remote dependency passes them on. */
#include "depend_remote_news.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "depend_edges.h"
#include "log.h"
#include "store_notes.h"
#include "pbs_error.h"
#include "server_ctx.h"
#include "strbuf.h"

static void add_facts(struct depends *d, struct job *j, unsigned facts)
{
    unsigned old = (unsigned)attr_list_number(&j->obj.attrs, JOB_ATTR_tie_facts, 0);

    if ((old | facts) == old)
        return;
    attr_list_set_number(&j->obj.attrs, JOB_ATTR_tie_facts, old | facts, NULL);
    jobs_touch(d->ctx->jobs, j, PART_ATTRS);
    server_events_tell(d->ctx->events, &(struct server_event){.kind = EVENT_JOB_FACTS, .key = j->key});
}

static void set_home(struct depends *d, struct job *j, const char *list)
{
    if (*list)
        attr_list_set_text(&j->obj.attrs, JOB_ATTR_depend_home, list, NULL);
    else
        attr_list_unset(&j->obj.attrs, JOB_ATTR_depend_home);
    jobs_touch(d->ctx->jobs, j, PART_ATTRS);
}

/* The job no longer waits for what the other server reports. */
void depend_remote_news_cut(struct depends *d, struct job *j)
{
    struct strbuf rest;

    if (!depend_home(j))
        return;
    strbuf_init(&rest, DEPEND_TEXT_MAX);
    if (depend_fact_list_cut(depend_home(j), &rest) < 0)
        abort();
    set_home(d, j, strbuf_str(&rest));
    strbuf_fini(&rest);
    add_facts(d, j, DEPEND_FACT_CUT);
}

/* The server that it came from asks how it ended, perhaps long after. */
static void note_end(struct depends *d, struct depend_end t)
{
    char facts[16];

    snprintf(facts, sizeof facts, "%u", depend_end_facts(t));
    store_notes_put(d->store_notes, "end", depend_end_name(t), facts);
    server_events_tell(d->ctx->events, &(struct server_event){.kind = EVENT_JOB_FACTS,
                                                              .key = depend_end_item(t, DEPEND_AFTER).key});
}

static bool is_from_elsewhere(const struct job *j)
{
    return attr_list_is_set(&j->obj.attrs, JOB_ATTR_origin) && !job_is_subjob(j);
}

void depends_arrive(struct depends *d, struct job *j)
{
    const char *list = attr_list_text(&j->obj.attrs, JOB_ATTR_depend);
    const struct depend_items none = {0};

    if (!list)
        return;
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_depend_home, list, NULL);
    attr_list_unset(&j->obj.attrs, JOB_ATTR_depend);
    depend_edges_hold(d, j, &none);
}

/* It is here until the end of this iteration. */
void depends_on_left(void *arg, const struct server_event *ev)
{
    struct depends *d = arg;
    struct job *j = ev->job;
    const struct depend_remote a = {.key = j->key,
                                    .array = j->array != NULL,
                                    .from_elsewhere = is_from_elsewhere(j),
                                    .name = j->obj.name,
                                    .user = j->user,
                                    .server = strchr(ev->to, '@') + 1,
                                    .as = ev->as,
                                    .depend = attr_list_text(&j->obj.attrs, JOB_ATTR_depend),
                                    .home = depend_home(j),
                                    .doomed = attr_list_text(&j->obj.attrs, JOB_ATTR_doomed_by),
                                    .facts = (unsigned)attr_list_number(&j->obj.attrs, JOB_ATTR_tie_facts, 0),
                                    .known = true};

    if (a.depend || a.home || a.doomed)
        depend_remotes_add(d->depend_remotes, &a);
}

/* Do what was postponed until that was known; it may be deleted. */
void depends_on_stayed(void *arg, const struct server_event *ev)
{
    struct depends *d = arg;
    struct job *j = ev->job;
    const char *by = attr_list_text(&j->obj.attrs, JOB_ATTR_doomed_by);
    char name[JOBID_TEXT_MAX];

    if (!by)
        return;
    snprintf(name, sizeof name, "%s", by);
    attr_list_unset(&j->obj.attrs, JOB_ATTR_doomed_by);
    jobs_touch(d->ctx->jobs, j, PART_ATTRS);
    depend_edges_doom(d, j, name);
}

/* Find the number that a job has here which another server names. */
static int read_name(const struct depends *d, const struct depend_peer_job *of, struct depend_item *out,
                     struct err *e)
{
    const char *name = *of->as ? of->as : store_notes_find_alias(d->store_notes, of->name);
    struct jobid id;

    if (!name || jobid_parse(name, &id, e) < 0 || !server_ctx_is_named(d->ctx, id.server) ||
        id.key.index != JOBID_NO_INDEX)
        return err_set(e, PBSE_UNKJOBID, "Unknown Job Id %s", name ? name : of->name);
    *out = (struct depend_item){.key = id.key, .array = id.form == JOBID_ARRAY};
    return 0;
}

/* A job that came here from another server, which calls it `name`, or its record since it moved on. */
static int find_theirs(struct depends *d, const struct depend_item *item, const char *name,
                       struct depend_end *t, struct err *e)
{
    *t = store_notes_find_alias(d->store_notes, name) ? depend_edges_follow(d, item, true)
                                                      : depend_end_find(d, item->key);
    if ((t->job && is_from_elsewhere(t->job)) || t->depend_remote)
        return 0;
    return err_set(e, PBSE_UNKJOBID, "Unknown Job Id");
}

/* How it ended, where only a note tells. */
static bool find_end(const struct depends *d, const struct depend_item *item, unsigned *facts)
{
    char id[JOBID_TEXT_MAX];
    const char *note =
        store_notes_find(d->store_notes, "end", jobid_format(id, item->key, item->array, d->ctx->name));

    if (note)
        *facts = (unsigned)strtoul(note, NULL, 10);
    return note != NULL;
}

static void depend_remote_news_say_released(void *arg, const char *job)
{
    log_event(LOGC_JOB, LOGE_JOB, arg, "Dependency on job %s released.", job);
}

/* Its list there is this one now. Sent again after a restart it changes nothing, not the hold either, from
 * which a user may have released the job. */
static void depend_remote_news_take_list(struct depends *d, struct job *j, const char *list, bool is_cut)
{
    const char *home = depend_home(j);
    struct depend_items own;
    struct strbuf now;

    strbuf_init(&now, DEPEND_TEXT_MAX);
    if (is_cut ? depend_fact_list_cut(list, &now) < 0 : strbuf_add(&now, list) < 0)
        abort();
    if (strcmp(home ? home : "", strbuf_str(&now)) == 0) {
        strbuf_fini(&now);
        return;
    }
    depend_fact_list_released(depend_home(j), strbuf_str(&now), depend_remote_news_say_released,
                              (void *)(uintptr_t)j->obj.name);
    set_home(d, j, strbuf_str(&now));
    strbuf_fini(&now);
    depend_list_of(d->ctx, j, &own);
    depend_edges_hold(d, j, &own);
    depend_list_fini(&own);
}

static void depend_remote_news_told(struct depends *d, struct job *j, const char *list, const char *doomed)
{
    bool is_cut = (depend_facts_of(j) & DEPEND_FACT_CUT) != 0;

    depend_remote_news_take_list(d, j, list, is_cut);
    if (*doomed && !is_cut && job_is_waiting(j))
        depend_edges_doom(d, j, doomed);
}

int depends_told(struct depends *d, const struct depend_peer_job *of, const char *list, const char *doomed,
                 struct err *e)
{
    struct depend_item item;
    struct depend_end t;
    unsigned facts;

    if (read_name(d, of, &item, e) < 0)
        return -1;
    if (find_theirs(d, &item, of->name, &t, e) < 0)
        return find_end(d, &item, &facts) ? 0 : -1;
    if (t.job && !job_is_over(t.job)) {
        depend_remote_news_told(d, t.job, list, doomed);
    } else if (t.depend_remote) {
        depend_remote_set(d->depend_remotes, t.depend_remote, &t.depend_remote->home, list);
        depend_remote_set(d->depend_remotes, t.depend_remote, &t.depend_remote->doomed, doomed);
    }
    return 0;
}

int depends_facts(struct depends *d, const struct depend_peer_job *of, struct job_key *key, unsigned *facts,
                  struct err *e)
{
    struct depend_item item;
    struct depend_end t;

    if (read_name(d, of, &item, e) < 0)
        return -1;
    *key = item.key;
    if (find_theirs(d, &item, of->name, &t, e) == 0) {
        *facts = depend_end_facts(t);
        return 0;
    }
    return find_end(d, &item, facts) ? 0 : -1;
}

/* The job has been altered there: it waits for nothing of this server any more. */
static void cut_away(struct depends *d, struct depend_remote *a)
{
    const struct depend_end t = {.depend_remote = a};
    struct depend_items l, rest = {0};
    struct strbuf home;

    depend_end_list(d, t, &l);
    for (size_t i = 0; i < l.n; i++)
        if (depend_is_before(l.v[i].kind))
            depend_list_add(&rest, l.v[i]);
        else
            depend_edges_leave(d, t, &l.v[i]);
    depend_edges_settle(d, t, &rest);
    depend_list_fini(&l);
    depend_list_fini(&rest);
    strbuf_init(&home, DEPEND_TEXT_MAX);
    if (depend_fact_list_cut(a->home, &home) < 0)
        abort();
    depend_remote_set(d->depend_remotes, a, &a->home, strbuf_str(&home));
    depend_remote_set(d->depend_remotes, a, &a->doomed, NULL);
    strbuf_fini(&home);
}

void depends_heard(struct depends *d, struct depend_remote *a, unsigned facts)
{
    const struct depend_end t = {.depend_remote = a};
    unsigned news = facts & ~a->facts;

    if (a->known && !news)
        return;
    a->facts |= facts;
    a->known = true;
    a->complained = false;
    depend_remote_store(d->depend_remotes, a);
    if (news & DEPEND_FACT_CUT)
        cut_away(d, a);
    if (news & DEPEND_FACT_STARTED) {
        depend_remote_set(d->depend_remotes, a, &a->doomed, NULL); /* an operator has run it all the same */
        depend_edges_started(d, t);
    }
    if (news & DEPEND_FACT_OVER)
        depend_edges_ended(d, t);
    if (a->from_elsewhere && (news & DEPEND_FACT_OVER))
        note_end(d, t);
    else if (a->from_elsewhere)
        server_events_tell(d->ctx->events, &(struct server_event){.kind = EVENT_JOB_FACTS, .key = a->key});
    if (news & DEPEND_FACT_OVER)
        depend_remotes_remove(d->depend_remotes, a);
}

/* The other server knows no such job and never did: a job that depends on it has a wrong dependency. */
static void refused(struct depends *d, struct depend_remote *a)
{
    const struct depend_end by = {.depend_remote = a};
    struct depend_items l;

    depend_end_list(d, by, &l);
    a->facts |= DEPEND_FACT_OVER;
    for (size_t i = 0; i < l.n; i++) {
        struct depend_end t = depend_end_find(d, l.v[i].key);

        if (!depend_end_is(t) || depend_end_is_over(t) || !depend_is_before(l.v[i].kind))
            continue;
        log_event(LOGC_JOB, LOGE_JOB, depend_end_name(t), "Dependency request for job rejected by %s",
                  a->name);
        depend_edges_give_up(d, t, by, depend_mirror(l.v[i].kind));
    }
    depend_list_fini(&l);
    depend_remotes_remove(d->depend_remotes, a);
}

void depends_unknown(struct depends *d, struct depend_remote *a)
{
    struct depend_items l;

    if (!a->known) {
        refused(d, a);
        return;
    }
    if (a->complained)
        return;
    a->complained = true;
    depend_end_list(d, (struct depend_end){.depend_remote = a}, &l);
    for (size_t i = 0; i < l.n; i++) {
        struct depend_end t = depend_end_find(d, l.v[i].key);

        if (depend_end_is(t) && depend_is_before(l.v[i].kind))
            log_event(LOGC_JOB, LOGE_JOB, depend_end_name(t), "Unable to perform dependency with job %s",
                      a->name);
    }
    depend_list_fini(&l);
}

void depend_remote_news_tell(struct depends *d, struct job *j, enum job_state from, enum job_event ev)
{
    if (!is_from_elsewhere(j) || from == JOB_FINISHED)
        return;
    if (job_is_over(j) && from != j->state)
        note_end(d, depend_end_of(j));
    else if (ev == EV_ARRAY_BEGUN || (j->state == JOB_RUNNING && from == JOB_STARTING))
        add_facts(d, j, DEPEND_FACT_STARTED);
}
