/* Watchers of the change list. See watch.h.
 *
 * One NEXT: the client gives the cursor it has; without news the request is parked (watches_next); a change anywhere marks
 * the hook at the end of the turn, which looks whom it concerns (watch_tell: schedulers first, for jobs wait for them, others up to a
 * bound, the rest in the background); the answer is produced as the connection takes it, and ends with a tail that has the new cursor.
 * The client sends the next NEXT; what changed meanwhile is not lost, since the cursor says where it was.
 *
 * An answer is produced piece by piece: a cursor (the number of the last change told) and nothing else is kept
 * between two pieces. Changed objects and gone ones are merged by number. An object that changes while its
 * watcher reads moves behind the cursor and is told again: the watcher sees fewer steps, never wrong ones. */
#include "watch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attr_select.h"
#include "clock.h"
#include "exit_cache.h"
#include "intern.h"
#include "job.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "rpc_buf.h"
#include "rpc_entries.h"
#include "rpc_request.h"

struct watch {
    unsigned number;
    const void *owner;
    enum level level;
    const char *who; /* interned */
    bool wants[CHANGE_KIND_COUNT];
    struct attr_select select[CHANGE_KIND_COUNT];
    struct rpc_request *parked;        /* referenced: a NEXT with nothing to say yet */
    struct watch_answering *answering; /* a NEXT whose answer is on its way */
    bool restart;
    uint64_t began; /* number of the last change when the answer began: what was gone by then is not told */
    uint64_t cursor;
    bool one;      /* this job and nothing else */
    bool told_end; /* the watcher has been told that the job is over: the watch ends with this answer */
    struct job_key only;
    bool only_is_array;
    struct job *job; /* referenced, so that its end can be told; NULL: it had ended before */
    struct watch *next;
};

/* What the producer of an answer holds: the watch may go before it. */
struct watch_answering {
    struct watches *all;
    struct watch *watch;
    uint64_t resources;        /* up to this change the resources are known to the watcher */
    struct change_pause pause; /* between two pieces of an answer */
};

struct watches {
    struct loop *loop;
    struct server_ctx *ctx;
    struct status *status;
    struct loop_hook *hook;
    struct watch *list; /* the one told last is last */
    bool more_wait;     /* look again, in the background */
    unsigned last;
    struct watch_wakes wakes;
    void *wakes_arg;
    struct byte_buf entry;
    const struct exit_cache *ends;
};

static void watch_look(void *arg);
static void watch_look_again(void *arg);

static void watch_touched(void *arg)
{
    watches_look(arg);
}

struct watches *watches_create(struct loop *l, struct server_ctx *s, struct status *st)
{
    struct watches *ws = calloc(1, sizeof *ws);

    if (!ws)
        return NULL;
    *ws = (struct watches){.loop = l, .ctx = s, .status = st};
    byte_buf_init(&ws->entry);
    ws->hook = loop_hook_create(l, WATCH_HOOK_ORDER, watch_look, ws);
    if (!ws->hook) {
        free(ws);
        return NULL;
    }
    change_on_touch(s->change, watch_touched, ws);
    return ws;
}

static void watch_free(struct watch *w)
{
    if (w->parked)
        rpc_request_unref(w->parked);
    if (w->answering)
        w->answering->watch = NULL;
    for (size_t k = 0; k < CHANGE_KIND_COUNT; k++)
        if (w->wants[k])
            attr_select_fini(&w->select[k]);
    intern_unref(w->who);
    job_unref(w->job);
    free(w);
}

void watches_destroy(struct watches *ws)
{
    if (!ws)
        return;
    for (struct watch *w = ws->list, *next; w; w = next) {
        next = w->next;
        watch_free(w);
    }
    change_off_touch(ws->ctx->change, ws);
    if (ws->more_wait)
        loop_forget(ws->loop, watch_look_again, ws);
    loop_hook_destroy(ws->hook);
    byte_buf_fini(&ws->entry);
    free(ws);
}

void watches_know_ends(struct watches *ws, const struct exit_cache *ends)
{
    ws->ends = ends;
}

/* --- WATCH -------------------------------------------------------------------------------------------- */

static enum attr_of of_kind(enum change_kind k)
{
    static const enum attr_of of[CHANGE_KIND_COUNT] = {
        [CHANGE_SERVER] = OF_SERVER, [CHANGE_QUEUE] = OF_QUEUE, [CHANGE_JOB] = OF_JOB,
        [CHANGE_NODE] = OF_NODE,     [CHANGE_RESV] = OF_RESV,   [CHANGE_RESOURCE] = OF_RESOURCE,
        [CHANGE_SCHED] = OF_SCHED,   [CHANGE_HOLD] = OF_HOLD,
    };

    return of[k];
}

static int add_kind(struct watches *ws, struct watch *w, const ifl_watch_kind *k, struct err *e)
{
    unsigned kind = (unsigned)k->kind;

    if (kind >= CHANGE_KIND_COUNT || w->wants[kind])
        return err_set(e, PBSE_IVALREQ, "kind %u is unknown, or named twice", kind);
    if (status_want(ws->ctx, of_kind((enum change_kind)kind), k->wanted.wanted_val, k->wanted.wanted_len,
                    &w->select[kind], e) < 0)
        return -1;
    w->wants[kind] = true;
    return 0;
}

/* "job=ID": nothing but this job. */
static int set_only(struct watches *ws, struct watch *w, const char *extend, struct err *e)
{
    struct jobid id;
    struct job *j;

    if (!extend || strncmp(extend, "job=", 4) != 0)
        return 0;
    if (jobid_parse(extend + 4, &id, e) < 0)
        return -1;
    j = server_ctx_is_named(ws->ctx, id.server) ? jobs_find_named(ws->ctx->jobs, &id) : NULL;
    if (j && (j->state == JOB_ARRIVING || !status_may_see(ws->ctx, w->level, w->who, j->owner)))
        j = NULL;
    if (!w->wants[CHANGE_JOB] || (!j && !(ws->ends && exit_cache_find(ws->ends, id.key))))
        return err_set(e, w->wants[CHANGE_JOB] ? PBSE_UNKJOBID : PBSE_IVALREQ, "Unknown Job Id %s",
                       extend + 4);
    w->one = true;
    w->only = id.key;
    w->only_is_array = id.form == JOBID_ARRAY;
    w->job = j ? job_ref(j) : NULL;
    return 0;
}

static size_t count_of(const struct watches *ws, const void *owner)
{
    size_t n = 0;

    for (const struct watch *w = ws->list; w; w = w->next)
        n += w->owner == owner;
    return n;
}

int watches_add(struct watches *ws, const struct watch_owner *o, const ifl_watch_args *args, unsigned *watch,
                struct err *e)
{
    struct watch *w;

    if (count_of(ws, o->owner) >= WATCH_PER_OWNER_MAX)
        return err_set(e, PBSE_IVALREQ, "a connection has at most %d watches", WATCH_PER_OWNER_MAX);
    w = calloc(1, sizeof *w);
    if (!w)
        return err_set(e, PBSE_SYSTEM, "no memory for a watch");
    w->owner = o->owner;
    w->level = o->level;
    w->who = intern_ref(o->who);
    w->number = ++ws->last;
    for (u_int i = 0; i < args->kinds.kinds_len; i++)
        if (add_kind(ws, w, &args->kinds.kinds_val[i], e) < 0) {
            watch_free(w);
            return -1;
        }
    if (set_only(ws, w, args->extend, e) < 0) {
        watch_free(w);
        return -1;
    }
    w->next = ws->list;
    ws->list = w;
    *watch = w->number;
    return 0;
}

/* --- one entry ---------------------------------------------------------------------------------------- */

static void put_u64(struct byte_buf *b, uint64_t v)
{
    char *at = byte_buf_room(b, 8);

    if (!at)
        return;
    rpc_buf_put_u32(at, (uint32_t)(v >> 32));
    rpc_buf_put_u32(at + 4, (uint32_t)v);
    b->len += 8;
}

static void put_u32(struct byte_buf *b, uint32_t v)
{
    char *at = byte_buf_room(b, 4);

    if (!at)
        return;
    rpc_buf_put_u32(at, v);
    b->len += 4;
}

static void begin_entry(struct byte_buf *b, uint64_t number, enum change_kind kind, enum ifl_change change)
{
    byte_buf_clear(b);
    put_u64(b, number);
    put_u32(b, (uint32_t)kind);
    put_u32(b, (uint32_t)change);
}

static void put_gone(struct watches *ws, struct rpc_entries *out, uint64_t number, enum change_kind kind,
                     const char *name)
{
    struct byte_buf *b = &ws->entry;

    begin_entry(b, number, kind, IFL_GONE);
    if (rpc_buf_encode(b, (xdrproc_t)xdr_wire_id, &name) == 0) {
        put_u32(b, 0); /* no attributes */
        rpc_entries_add_bytes(out, b->bytes, b->len);
    }
}

/* An object that this watcher may not see, or that has not begun its life, counts as gone. */
static bool may_see(const struct watches *ws, const struct watch *w, const struct object *o)
{
    const struct job *j = (const struct job *)o;

    if (o->kind->kind != CHANGE_JOB)
        return true;
    return j->state != JOB_ARRIVING && j->state != JOB_FINISHED && j->state != JOB_GONE &&
           status_may_see(ws->ctx, w->level, w->who, j->owner);
}

static void put_changed(struct watches *ws, struct watch *w, struct rpc_entries *out, const struct object *o)
{
    struct attr_reader reader = status_reader(ws->ctx, w->level, w->who);
    enum change_kind kind = o->kind->kind;

    if (!may_see(ws, w, o)) {
        put_gone(ws, out, o->change.number, kind, o->name);
        return;
    }
    if (w->level == LEVEL_SCHED)
        reader = (struct attr_reader){.level = LEVEL_SCHED, .show_hidden = true};
    begin_entry(&ws->entry, o->change.number, kind, IFL_CHANGED);
    if (status_encode(ws->status, o, &w->select[kind], &reader, &ws->entry) == 0)
        rpc_entries_add_bytes(out, ws->entry.bytes, ws->entry.len);
}

static void put_resource(struct watch *w, struct rpc_entries *out, const struct resource *r)
{
    static char nothing[1];
    const struct attr_select *select = &w->select[CHANGE_RESOURCE];
    char type[24], flag[24];
    wire_attr attrs[2];
    ifl_watch_entry entry = {
        .kind = IFL_KIND_RESOURCE, .change = IFL_CHANGED, .name = (char *)r->name, .attrs = {0, attrs}};

    snprintf(type, sizeof type, "%d", r->type->number);
    snprintf(flag, sizeof flag, "%u", r->flags);
    if (attr_select_has(select, RESOURCE_ATTR_type))
        attrs[entry.attrs.wire_attrs_len++] = (wire_attr){(char *)"type", nothing, type};
    if (attr_select_has(select, RESOURCE_ATTR_flag))
        attrs[entry.attrs.wire_attrs_len++] = (wire_attr){(char *)"flag", nothing, flag};
    rpc_entries_add(out, (xdrproc_t)xdr_ifl_watch_entry, &entry);
}

/* Resources are not objects of the change list: whenever one has changed all of them are told. One that may not
 * be read counts as gone. */
static void put_resources(struct watches *ws, struct watch *w, struct rpc_entries *out)
{
    const struct resource_table *t = ws->ctx->resources;

    for (int id = 0; w->wants[CHANGE_RESOURCE] && id < resource_count(t); id++) {
        const struct resource *r = resource_get(t, id);

        if (!r->gone && resource_may_read(r, w->level))
            put_resource(w, out, r);
        else if (!w->restart)
            put_gone(ws, out, 0, CHANGE_RESOURCE, r->name);
    }
}

/* --- the answer --------------------------------------------------------------------------------------- */

/* The job of a question about one that is not submitted goes before the tail that has the question. Its queue is looked up again,
 * since it may have gone. */
static void put_unlisted(struct watches *ws, struct watch *w, struct rpc_entries *out, unsigned answer)
{
    const struct attr_reader reader = {.level = LEVEL_SCHED, .show_hidden = true};
    struct job *j = ws->wakes.unlisted(ws->wakes_arg, w->owner, answer);

    if (!j || !w->wants[CHANGE_JOB])
        return; /* the scheduler answers that it cannot say */
    j->queue = queues_find(ws->ctx->queues, j->queue_name);
    begin_entry(&ws->entry, answer, (enum change_kind)IFL_KIND_UNLISTED, IFL_CHANGED);
    if (status_encode(ws->status, &j->obj, &w->select[CHANGE_JOB], &reader, &ws->entry) == 0)
        rpc_entries_add_bytes(out, ws->entry.bytes, ws->entry.len);
    j->queue = NULL;
}

static void put_tail(struct watches *ws, struct watch *w, struct rpc_entries *out)
{
    static char nothing[1];
    ifl_wake wakes[WATCH_WAKES_MAX];
    ifl_next_result tail = {.result = {.text = nothing},
                            .epoch = ws->ctx->epoch,
                            .number = w->cursor,
                            .caught_up = w->cursor == change_number(ws->ctx->change),
                            .now_ns = clock_wall_ns(ws->ctx->clock)};

    if (ws->wakes.take)
        tail.wakes.wakes_len = (u_int)ws->wakes.take(ws->wakes_arg, w->owner, wakes, WATCH_WAKES_MAX);
    tail.wakes.wakes_val = wakes;
    for (u_int i = 0; i < tail.wakes.wakes_len; i++)
        if (wakes[i].command == IFL_WAKE_WHEN)
            put_unlisted(ws, w, out, wakes[i].answer);
    rpc_entries_tail(out, (xdrproc_t)xdr_ifl_next_result, &tail);
}

/* The next step of the merge: the smaller number of the two. */
static bool watch_step(struct watches *ws, struct watch *w, struct rpc_entries *out, struct change_entry **at)
{
    struct change *c = ws->ctx->change;
    struct change_gone gone;
    uint64_t after = w->restart && w->began > w->cursor ? w->began : w->cursor;
    bool has_gone = change_gone_after(c, after, &gone);

    if (!*at && !has_gone)
        return false;
    if (has_gone && (!*at || gone.number < (*at)->number)) {
        if (w->wants[gone.kind])
            put_gone(ws, out, gone.number, gone.kind, gone.name);
        w->cursor = gone.number;
        return true;
    }
    if (w->wants[(*at)->kind])
        put_changed(ws, w, out, object_of(*at));
    w->cursor = (*at)->number;
    *at = change_next(*at);
    return true;
}

/* The end of the one job, with what it was like. */
static void put_end(struct watches *ws, struct watch *w, struct rpc_entries *out)
{
    static char nothing[1];
    struct attr_reader reader = status_reader(ws->ctx, w->level, w->who);
    const struct job_end_note *note = ws->ends ? exit_cache_find(ws->ends, w->only) : NULL;
    char id[JOBID_TEXT_MAX], status[24], start[24], state[2] = "F";
    wire_attr attrs[3] = {{(char *)"job_state", nothing, state},
                          {(char *)"Exit_status", nothing, status},
                          {(char *)"stime", nothing, start}};
    ifl_watch_entry entry = {.number = change_number(ws->ctx->change),
                             .kind = IFL_KIND_JOB,
                             .change = IFL_GONE,
                             .name = (char *)jobid_format(id, w->only, w->only_is_array, ws->ctx->name),
                             .attrs = {1, attrs}};

    w->told_end = true;
    log_event(LOGC_JOB, LOGE_DEBUG, entry.name, "check_block_wt: Write successful to client %s for job %s",
              w->who, entry.name);
    if (w->job) {
        begin_entry(&ws->entry, entry.number, CHANGE_JOB, IFL_GONE);
        if (status_encode(ws->status, &w->job->obj, &w->select[CHANGE_JOB], &reader, &ws->entry) == 0)
            rpc_entries_add_bytes(out, ws->entry.bytes, ws->entry.len);
        return;
    }
    if (note && note->exited) {
        snprintf(status, sizeof status, "%d", note->exit_status);
        snprintf(start, sizeof start, "%lld", (long long)note->start_s);
        entry.attrs.wire_attrs_len = note->start_s ? 3 : 2;
    }
    rpc_entries_add(out, (xdrproc_t)xdr_ifl_watch_entry, &entry);
}

static bool watch_is_over(const struct watch *w)
{
    return !w->job || job_is_over(w->job);
}

static enum rpc_more one_job(struct watches *ws, struct watch *w, struct rpc_entries *out)
{
    if (watch_is_over(w))
        put_end(ws, w, out);
    else if (w->job->obj.change.number > w->cursor)
        put_changed(ws, w, out, &w->job->obj);
    w->cursor = change_number(ws->ctx->change);
    put_tail(ws, w, out);
    return RPC_DONE;
}

static enum rpc_more watch_more(void *arg, struct rpc_entries *out)
{
    struct watch_answering *a = arg;
    struct watches *ws = a->all;
    struct watch *w = a->watch;
    struct change_entry *at;

    if (!w)
        return RPC_DONE; /* the watch went with its connection */
    if (w->one)
        return one_job(ws, w, out);
    if (a->resources < ws->ctx->resources_changed || (w->restart && w->cursor == 0)) {
        put_resources(ws, w, out);
        a->resources = change_number(ws->ctx->change);
    }
    at = change_resume(&a->pause);
    if (!at)
        at = change_after(ws->ctx->change, w->cursor);
    while (!rpc_entries_is_full(out))
        if (!watch_step(ws, w, out, &at)) {
            w->cursor = change_number(ws->ctx->change);
            put_tail(ws, w, out);
            return RPC_DONE;
        }
    change_pause(ws->ctx->change, &a->pause, at);
    return RPC_MORE;
}

static void watch_drop(struct watches *ws, struct watch *w)
{
    struct watch **at = &ws->list;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    watch_free(w);
}

static void watch_end(void *arg)
{
    struct watch_answering *a = arg;
    struct watch *w = a->watch;

    change_resume(&a->pause);
    if (w) {
        w->answering = NULL;
        w->restart = false;
        if (w->told_end)
            watch_drop(a->all, w);
    }
    free(a);
}

static void watch_answer(struct watches *ws, struct watch *w)
{
    static const struct rpc_producer to_sched = {.more = watch_more, .end = watch_end, .is_news = true};
    static const struct rpc_producer to_others = {.more = watch_more, .end = watch_end};
    static char nothing[1];
    ifl_next_head head = {.result = {.text = nothing}, .restart = w->restart};
    struct rpc_request *r = w->parked;
    struct watch_answering *a = malloc(sizeof *a);

    if (!a)
        return; /* it stays parked; the next change tries again */
    *a = (struct watch_answering){.all = ws, .watch = w, .resources = w->cursor};
    w->began = change_number(ws->ctx->change);
    w->parked = NULL;
    w->answering = a;
    if (ws->wakes.waits)
        ws->wakes.waits(ws->wakes_arg, w->owner, false);
    rpc_reply_entries(r, (xdrproc_t)xdr_ifl_next_head, &head,
                      w->level == LEVEL_SCHED ? &to_sched : &to_others, a);
    rpc_request_unref(r);
}

static bool has_changes(const struct watches *ws, const struct watch *w)
{
    for (unsigned k = 0; k < CHANGE_KIND_COUNT; k++)
        if (w->wants[k] && change_number_of(ws->ctx->change, (enum change_kind)k) > w->cursor)
            return true;
    return false;
}

static bool has_news(const struct watches *ws, const struct watch *w)
{
    if (w->one)
        return w->restart || watch_is_over(w) || w->job->obj.change.number > w->cursor;
    return w->restart || ws->ctx->resources_changed > w->cursor || has_changes(ws, w) ||
           (ws->wakes.has && ws->wakes.has(ws->wakes_arg, w->owner));
}

/* Tell up to max of the parked ones, schedulers or the others; the ones told are last in the list afterwards. Return how many were left out. */
static size_t watch_tell(struct watches *ws, bool scheds, size_t max)
{
    struct watch *told = NULL, **end_of_told = &told, **at = &ws->list;
    size_t n = 0, left = 0;

    while (*at) {
        struct watch *w = *at;
        bool concerns = w->parked && (w->level == LEVEL_SCHED) == scheds;
        bool news = concerns && has_news(ws, w);

        if (concerns && !news)
            w->cursor = change_number(ws->ctx->change); /* nothing of it is for this watcher */
        if (!news || n == max) {
            left += news;
            at = &w->next;
            continue;
        }
        watch_answer(ws, w);
        n++;
        *at = w->next;
        *end_of_told = w;
        end_of_told = &w->next;
    }
    *end_of_told = NULL;
    *at = told;
    return left;
}

static void watch_look_again(void *arg)
{
    struct watches *ws = arg;

    ws->more_wait = false;
    watches_look(ws);
}

/* Tell schedulers at once, and other watchers too unless they are so many that new changes would wait for them. */
static void watch_look(void *arg)
{
    struct watches *ws = arg;

    watch_tell(ws, true, SIZE_MAX);
    if (watch_tell(ws, false, WATCH_TOLD_A_TURN) && !ws->more_wait)
        ws->more_wait = loop_background(ws->loop, watch_look_again, ws) == 0; /* no memory: the next change */
}

void watches_look(struct watches *ws)
{
    loop_hook_mark(ws->hook);
}

static struct watch *watch_find(const struct watches *ws, const void *owner, unsigned number)
{
    struct watch *w = ws->list;

    while (w && (w->owner != owner || w->number != number))
        w = w->next;
    return w;
}

int watches_next(struct watches *ws, const void *owner, const ifl_next_args *args, struct rpc_request *r,
                 struct err *e)
{
    struct watch *w = watch_find(ws, owner, args->watch);
    const struct change *c = ws->ctx->change;

    if (!w || w->parked || w->answering)
        return err_set(e, PBSE_IVALREQ, w ? "watch %u has a NEXT under way" : "there is no watch %u here",
                       args->watch);
    w->restart = args->epoch != ws->ctx->epoch || args->number < change_oldest_known(c) ||
                 args->number > change_number(c);
    w->cursor = w->restart ? 0 : args->number;
    w->parked = rpc_request_ref(r);
    if (has_news(ws, w))
        watches_look(ws);
    else if (ws->wakes.waits)
        ws->wakes.waits(ws->wakes_arg, owner, true);
    return 0;
}

void watches_on_gone(void *arg, const struct server_event *ev)
{
    struct watches *ws = arg;

    for (struct watch **at = &ws->list; *at;) {
        struct watch *w = *at;

        if (w->owner != ev->client) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        watch_free(w);
    }
}

void watches_on_wakes(struct watches *ws, const struct watch_wakes *w, void *arg)
{
    ws->wakes = *w;
    ws->wakes_arg = arg;
}

bool watches_is_waiting(const struct watches *ws, const void *owner)
{
    for (const struct watch *w = ws->list; w; w = w->next)
        if (w->owner == owner && w->parked && !has_news(ws, w))
            return true;
    return false;
}
