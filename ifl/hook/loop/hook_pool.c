/* Workers and the work that waits for them. See hook_pool.h.
 *
 * A worker is starting (no hello yet), free, or busy with one piece of work: it is given the script first where it does not have it
 * (`loading`). What a script does to its process counts as the script's failure; only work for which no worker could be
 * started is internal. A worker that fails is killed, and the next piece of work starts another one; START_MAX that end before their
 * hello in a row close the pool for PAUSE_MS, and work then is answered at once. */
#include "hook_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "hook_event.h"
#include "hook_json.h"
#include "hook_worker.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"

enum {
    WORKERS_MAX = 4,
    START_MAX = 3,
    PAUSE_MS = 30000,
    START_MS = 30000, /* a cold Python on a busy host */
    CHECK_MS = 30000,
    GRACE_MS = 2000, /* between the worker's own alarm and ours */
    LOG_LINES = 100000,
    LOG_BYTES = 17 << 20, /* a worker stops at 16 MB by itself */
    SAID_BYTES =
        256
        << 20, /* of all its messages during one piece of work: questions, lines, and an answer of up to 16 MB */
    SAID_MESSAGES = 1 << 20,
    WAITING_MAX = 10000,  /* pieces of work: each has the data of its event, some ten kilobytes */
    MEMORY_MAX = 1 << 30, /* bytes that a worker may keep after a run; with more it is replaced */
    RUNS_MAX = 10000,     /* then a worker is replaced: what scripts leave behind in it is given back */
    LABEL_MAX = 800,
    VERSION = 1
};

struct hook_work {
    struct hook_work *next;
    json_t *message; /* of op run or check */
    char *hook;      /* of a run */
    int64_t limit_ms;
    size_t lines, line_bytes; /* of the log, so far */
    size_t said, said_bytes;  /* messages of the worker, so far */
    int64_t id;
    int64_t asked_mono_us, step_mono_us; /* when it came; when its script was sent, or its run began */
    double cpu_s;                        /* of the worker for it, so far */
    bool loading;
    json_t *seq; /* of a query that waits for its page */
    hook_done_fn *done;
    void *arg;
};

struct hook_seat { /* a place for a worker */
    struct hook_pool *pool;
    struct hook_worker *worker; /* NULL: none */
    struct loop_timer *timer;
    struct hook_work *work; /* what it does; NULL: nothing */
    json_t *loaded;         /* name of a hook -> serial of its script */
    unsigned runs;
    unsigned resources; /* that it has been told: a value of resources_known */
    bool ready;         /* its hello has come */
    bool swollen;       /* its last run has left too much in its memory */
};

/* A check comes before all runs: with it a manager mends what they wait for. */
enum hook_rank { RANK_CHECK, RANK_ASKED, RANK_TOLD, RANK_COUNT };

struct hook_queue {
    struct hook_work *first, **last;
    size_t n;
};

struct hook_pool {
    struct hook_pool_options o;
    struct hook_seat seats[WORKERS_MAX];
    struct hook_queue queues[RANK_COUNT];
    size_t waiting; /* in all of them */
    struct loop_timer *pause;
    int64_t last_id;
    int failed_starts;
    bool closed; /* workers cannot be started now */
};

static void hook_pool_feed(void *pool);
static void hook_seat_late(void *seat);

/* ---- work -------------------------------------------------------------------------------------------- */

static void hook_work_free(struct hook_work *w)
{
    if (!w)
        return;
    json_decref(w->message);
    json_decref(w->seq);
    free(w->hook);
    free(w);
}

/* ---- what it costs -------------------------------------------------------------------------------------
 *
 * PBS's lines. load_code: the script is compiled by this worker. run_code: it runs. server_process_hooks, mom_process_hooks: all of it, from
 * the moment it came, waiting for a worker included, until what it answered has been used. */

static const double us_per_s = 1e6;

/* Work is named by its event, its hook, and its job or this process. */
static void hook_work_label(const struct hook_work *w, char *text, size_t size)
{
    const json_t *data = json_object_get(w->message, "data");
    const char *job = json_string_value(json_object_get(json_object_get(data, "job"), "name"));
    char number[16];

    snprintf(number, sizeof number, "%d", (int)getpid());
    snprintf(text, size, "hook_%s_%s_%s", json_string_value(json_object_get(w->message, "event")), w->hook,
             job ? job : number);
}

static bool hook_work_is_profiled(const struct hook_work *w)
{
    return w->hook && log_is_on(LOGE_DEBUG4);
}

static void hook_work_say_start(const struct hook_work *w, const char *action)
{
    char label[LABEL_MAX];

    hook_work_label(w, label, sizeof label);
    log_event(LOGC_HOOK, LOGE_DEBUG4, w->hook, "hook_perf_stat;label=%s action=%s profile_start", label,
              action);
}

static void hook_work_say_stop(const struct hook_work *w, const char *action, int64_t since_mono_us,
                               double cpu_s)
{
    char label[LABEL_MAX];

    hook_work_label(w, label, sizeof label);
    log_event(LOGC_HOOK, LOGE_DEBUG4, w->hook,
              "hook_perf_stat;label=%s action=%s profile_stop walltime=%f cputime=%f", label, action,
              (double)(clock_real_mono_us() - since_mono_us) / us_per_s, cpu_s);
}

static void hook_work_asked(struct hook_work *w, const char *action)
{
    if (!hook_work_is_profiled(w))
        return;
    w->asked_mono_us = clock_real_mono_us();
    hook_work_say_start(w, action);
}

static void hook_work_step_begins(struct hook_work *w, const char *action)
{
    if (!hook_work_is_profiled(w))
        return;
    w->step_mono_us = clock_real_mono_us();
    hook_work_say_start(w, action);
}

/* `answer` says what it has cost the worker, or is NULL. Of a step that did not begin nothing is said. */
static void hook_work_step_ends(struct hook_work *w, const char *action, const json_t *answer)
{
    double cpu_s = json_number_value(json_object_get(answer, "cpu_s"));

    w->cpu_s += cpu_s;
    if (w->step_mono_us && hook_work_is_profiled(w))
        hook_work_say_stop(w, action, w->step_mono_us, cpu_s);
    w->step_mono_us = 0;
}

static void hook_work_end(const struct hook_pool *p, struct hook_work *w, enum hook_result result,
                          const char *message, const json_t *answer)
{
    const struct hook_outcome o = {result, message, answer};

    w->done(w->arg, &o);
    if (w->asked_mono_us && hook_work_is_profiled(w))
        hook_work_say_stop(w, p->o.action, w->asked_mono_us, w->cpu_s);
    hook_work_free(w);
}

/* ---- seats ------------------------------------------------------------------------------------------- */

static void hook_seat_clear(struct hook_seat *s)
{
    hook_worker_destroy(s->worker);
    s->worker = NULL;
    loop_timer_cancel(s->timer);
    json_decref(s->loaded);
    s->loaded = NULL;
    s->ready = false;
    s->swollen = false;
    s->runs = 0;
}

/* The work of this seat is done; the worker stays. */
static void hook_seat_finish(struct hook_seat *s, enum hook_result result, const char *message,
                             const json_t *answer)
{
    struct hook_work *w = s->work;

    s->work = NULL;
    hook_work_step_ends(w, w->loading ? "load_code" : "run_code", answer);
    loop_timer_cancel(s->timer);
    if (s->runs >= RUNS_MAX || s->swollen)
        hook_seat_clear(s);
    loop_defer(s->pool->o.loop, hook_pool_feed, s->pool);
    hook_work_end(s->pool, w, result, message, answer);
}

static void hook_pool_open(void *arg)
{
    struct hook_pool *p = arg;

    p->closed = false;
    p->failed_starts = 0;
}

static struct hook_work *hook_pool_take(struct hook_pool *p)
{
    struct hook_queue *q = p->queues;
    struct hook_work *w;

    while (!q->n)
        q++;
    w = q->first;
    q->first = w->next;
    if (!q->first)
        q->last = &q->first;
    q->n--;
    p->waiting--;
    w->next = NULL;
    return w;
}

static void hook_pool_close(struct hook_pool *p)
{
    p->closed = true;
    loop_timer_set(p->pause, PAUSE_MS);
    log_event(LOGC_HOOK, LOGE_ERROR, p->o.daemon,
              "hooks are skipped for %d s: %s does not start (run it by hand to see why)", PAUSE_MS / 1000,
              p->o.program);
    while (p->waiting)
        hook_work_end(p, hook_pool_take(p), HOOK_INTERNAL, NULL, NULL);
}

static void hook_seat_start_failed(struct hook_seat *s, const char *why)
{
    struct hook_pool *p = s->pool;

    log_event(LOGC_HOOK, LOGE_ERROR, p->o.daemon, "a hook worker did not start: %s", why);
    hook_seat_clear(s);
    if (++p->failed_starts >= START_MAX)
        hook_pool_close(p);
    else
        loop_defer(p->o.loop, hook_pool_feed, p);
}

static void hook_seat_ended(void *arg, const char *why)
{
    struct hook_seat *s = arg;
    bool was_ready = s->ready;

    if (!was_ready) {
        hook_seat_start_failed(s, why);
        return;
    }
    hook_seat_clear(s);
    if (!s->work)
        return;
    log_event(LOGC_HOOK, LOGE_ERROR, s->work->hook ? s->work->hook : s->pool->o.daemon,
              "the hook's worker process failed: %s", why);
    hook_seat_finish(s, HOOK_ERROR, NULL, NULL);
}

/* ---- messages of a worker ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum log_class c;
} hook_pool_classes[] = {{"Hook", LOGC_HOOK}, {"Job", LOGC_JOB}, {"Svr", LOGC_SVR}, {"Node", LOGC_NODE}};

/* The line that is one too many is said, and no other. */
static bool hook_work_may_log(struct hook_work *w, size_t n)
{
    bool was_over = w->lines > LOG_LINES || w->line_bytes > LOG_BYTES;

    w->lines++;
    w->line_bytes += n;
    if (w->lines <= LOG_LINES && w->line_bytes <= LOG_BYTES)
        return true;
    if (!was_over)
        log_event(LOGC_HOOK, LOGE_ERROR, w->hook ? w->hook : "",
                  "more than %d log lines or %d bytes of one run: the others are lost", LOG_LINES, LOG_BYTES);
    return false;
}

static void hook_seat_log_line(struct hook_seat *s, enum log_class c, unsigned mask, const char *object,
                               char *text)
{
    char *save = NULL;

    for (char *line = strtok_r(text, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
        if (!hook_work_may_log(s->work, strlen(line)))
            return;
        log_event(c, mask, object, "%s", line);
    }
}

static void hook_seat_log(struct hook_seat *s, const json_t *m)
{
    const char *class = json_string_value(json_object_get(m, "class"));
    char *object = hook_json_bytes(json_object_get(m, "object"));
    char *text = hook_json_bytes(json_object_get(m, "text"));
    json_int_t mask = json_integer_value(json_object_get(m, "mask"));
    enum log_class c = LOGC_HOOK;

    for (size_t i = 0; class && i < sizeof hook_pool_classes / sizeof hook_pool_classes[0]; i++)
        if (strcmp(hook_pool_classes[i].name, class) == 0)
            c = hook_pool_classes[i].c;
    if (text && s->work)
        hook_seat_log_line(s, c, (unsigned)mask & 0xffff, object ? object : s->pool->o.daemon, text);
    free(object);
    free(text);
}

static void hook_seat_send(struct hook_seat *s, json_t *m)
{
    struct err e;

    if (hook_worker_send(s->worker, m, &e) < 0)
        hook_seat_ended(s, e.text);
}

static const struct hook *hook_seat_hook(const struct hook_seat *s)
{
    return s->work->hook ? hooks_find(s->pool->o.hooks, s->work->hook) : NULL;
}

static void hook_seat_load(struct hook_seat *s, const struct hook *h)
{
    char path[4200];
    json_t *m;

    snprintf(path, sizeof path, "%s/%s.CF", hooks_dir(s->pool->o.hooks), h->name);
    m = json_pack("{s:s, s:s, s:I, s:o, s:o}", "op", "load", "hook", h->name, "serial", (json_int_t)h->serial,
                  "script", hook_json_text_n(h->script.bytes, h->script.n), "config",
                  h->config.bytes ? hook_json_text(path) : json_null());
    s->work->loading = true;
    hook_work_step_begins(s->work, "load_code");
    hook_seat_send(s, m);
}

/* Resources that were made since it was told. False: it has ended, and so has its work. */
static bool hook_seat_tell_resources(struct hook_seat *s)
{
    const struct hook_pool_options *o = &s->pool->o;

    if (s->resources == o->resources_known(o->arg))
        return true;
    s->resources = o->resources_known(o->arg);
    hook_seat_send(s, o->resources(o->arg));
    return s->work != NULL;
}

/* Give it the work: the script first, where it is another one than it has. */
static void hook_seat_begin(struct hook_seat *s)
{
    const struct hook *h = hook_seat_hook(s);
    json_t *m;

    loop_timer_set(s->timer, s->work->limit_ms + GRACE_MS);
    if (s->work->hook && (!h || !h->script.bytes)) {
        hook_seat_finish(s, HOOK_INTERNAL, NULL, NULL); /* it was deleted while this work waited */
        return;
    }
    if (!hook_seat_tell_resources(s))
        return;
    if (h && json_integer_value(json_object_get(s->loaded, h->name)) != (json_int_t)h->serial) {
        hook_seat_load(s, h);
        return;
    }
    s->work->loading = false;
    hook_work_step_begins(s->work, "run_code");
    s->runs++;
    m = json_incref(s->work->message);
    if (h)
        json_object_set_new(m, "serial", json_integer((json_int_t)h->serial));
    hook_seat_send(s, m);
}

static void hook_seat_hello(struct hook_seat *s, const json_t *m)
{
    if (s->ready || json_integer_value(json_object_get(m, "version")) != VERSION) {
        hook_seat_ended(s, "it speaks another version of the protocol");
        return;
    }
    s->ready = true;
    s->pool->failed_starts = 0;
    loop_timer_cancel(s->timer);
    hook_pool_feed(s->pool);
}

static void hook_seat_loaded(struct hook_seat *s, const json_t *m)
{
    char *message;

    if (!s->work || !s->work->loading) {
        hook_seat_ended(s, "it answered what was not asked");
        return;
    }
    if (json_is_true(json_object_get(m, "ok"))) {
        json_object_set_new(s->loaded, s->work->hook, json_incref(json_object_get(m, "serial")));
        hook_work_step_ends(s->work, "load_code", m);
        hook_seat_begin(s);
        return;
    }
    message = hook_json_bytes(json_object_get(m, "message"));
    log_event(LOGC_HOOK, LOGE_ERROR, s->work->hook, "Failed to compile script: %s", message ? message : "");
    free(message);
    hook_seat_finish(s, HOOK_ERROR, NULL, NULL);
}

static void hook_seat_query(struct hook_seat *s, const json_t *m)
{
    if (!s->work || s->work->loading || s->work->seq) {
        hook_seat_ended(s, "it asked outside a run");
        return;
    }
    s->work->seq = json_incref(json_object_get(m, "seq"));
    if (!s->work->seq)
        s->work->seq = json_null();
    s->pool->o.query(s->pool->o.arg, m, s->work->id);
}

void hook_pool_page(struct hook_pool *p, int64_t ticket, json_t *page)
{
    struct hook_seat *s = NULL;

    for (int i = 0; i < WORKERS_MAX; i++)
        if (p->seats[i].work && p->seats[i].work->id == ticket && p->seats[i].work->seq)
            s = &p->seats[i];
    if (!s) {
        json_decref(page);
        return;
    }
    if (page) {
        json_object_set_new(page, "id", json_integer(ticket));
        json_object_set(page, "seq", s->work->seq);
    }
    json_decref(s->work->seq);
    s->work->seq = NULL;
    hook_seat_send(s, page);
}

static enum hook_result hook_seat_result(const char *word)
{
    static const char *const words[] = {"accept", "reject", "error", "alarm"};

    for (size_t i = 0; word && i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], word) == 0)
            return (enum hook_result)i;
    return HOOK_ERROR;
}

static void hook_seat_answer(struct hook_seat *s, const json_t *m)
{
    char *message;

    if (!s->work || s->work->loading || json_integer_value(json_object_get(m, "id")) != s->work->id) {
        hook_seat_ended(s, "it answered what was not asked");
        return;
    }
    message = hook_json_bytes(json_object_get(m, "message"));
    s->swollen = json_integer_value(json_object_get(m, "memory")) > MEMORY_MAX;
    hook_seat_finish(s, hook_seat_result(json_string_value(json_object_get(m, "result"))), message, m);
    free(message);
}

static void hook_seat_checked(struct hook_seat *s, const json_t *m)
{
    char *message;

    if (!s->work || s->work->hook) {
        hook_seat_ended(s, "it answered what was not asked");
        return;
    }
    message = hook_json_bytes(json_object_get(m, "message"));
    hook_seat_finish(s, json_is_true(json_object_get(m, "ok")) ? HOOK_ACCEPT : HOOK_REJECT, message, m);
    free(message);
}

static const struct {
    const char *op;
    void (*fn)(struct hook_seat *s, const json_t *m);
} hook_seat_ops[] = {{"log", hook_seat_log},       {"query", hook_seat_query},
                     {"answer", hook_seat_answer}, {"loaded", hook_seat_loaded},
                     {"hello", hook_seat_hello},   {"checked", hook_seat_checked}};

/* A script that writes into the socket by itself is held to these. */
static bool hook_work_may_say(struct hook_work *w, size_t n)
{
    w->said++;
    w->said_bytes += n;
    return w->said <= SAID_MESSAGES && w->said_bytes <= SAID_BYTES;
}

static void hook_seat_message(void *arg, const char *op, const json_t *m, size_t n)
{
    struct hook_seat *s = arg;

    if (s->work && !hook_work_may_say(s->work, n)) {
        hook_seat_ended(s, "it has said more than a run may");
        return;
    }

    for (size_t i = 0; i < sizeof hook_seat_ops / sizeof hook_seat_ops[0]; i++)
        if (strcmp(hook_seat_ops[i].op, op) == 0) {
            hook_seat_ops[i].fn(s, m);
            return;
        }
    hook_seat_ended(s, "it sent a message that is not of the protocol");
}

static const struct hook_worker_events hook_seat_events = {.message = hook_seat_message,
                                                           .ended = hook_seat_ended};

/* ---- starting and feeding ---------------------------------------------------------------------------- */

static void hook_seat_start(struct hook_seat *s)
{
    const struct hook_pool_options *o = &s->pool->o;
    const struct hook_worker_options w = {.program = o->program, .cwd = o->cwd, .env = o->env};
    struct err e;

    s->loaded = json_object();
    s->resources = o->resources_known(o->arg);
    s->worker = s->loaded ? hook_worker_create(o->loop, &w, &hook_seat_events, s, &e) : NULL;
    if (!s->worker || hook_worker_send(s->worker, o->hello(o->arg), &e) < 0)
        hook_seat_start_failed(s, e.text);
    else
        loop_timer_set(s->timer, START_MS);
}

/* Its time is over: to say hello, or to do its work. */
static void hook_seat_late(void *arg)
{
    struct hook_seat *s = arg;

    if (!s->ready) {
        hook_seat_start_failed(s, "it did not say hello");
        return;
    }
    log_event(LOGC_HOOK, LOGE_ADMIN, s->work && s->work->hook ? s->work->hook : s->pool->o.daemon,
              "the hook's worker process is killed: it does not heed its alarm");
    hook_seat_clear(s);
    if (s->work)
        hook_seat_finish(s, HOOK_ALARM, NULL, NULL);
}

/* Work to workers that are free; and a further worker where more waits than are starting. */
static void hook_pool_feed(void *pool)
{
    struct hook_pool *p = pool;
    size_t waiting;

    for (int i = 0; i < WORKERS_MAX && p->waiting; i++)
        if (p->seats[i].ready && !p->seats[i].work) {
            p->seats[i].work = hook_pool_take(p);
            hook_seat_begin(&p->seats[i]);
        }
    waiting = p->waiting;
    for (int i = 0; i < WORKERS_MAX; i++)
        waiting -= waiting && p->seats[i].worker && !p->seats[i].ready;
    for (int i = 0; i < WORKERS_MAX && waiting && !p->closed; i++)
        if (!p->seats[i].worker) {
            waiting--;
            hook_seat_start(&p->seats[i]);
        }
}

static int hook_pool_add(struct hook_pool *p, struct hook_work *w, enum hook_rank rank, struct err *e)
{
    struct hook_queue *q = &p->queues[rank];

    if (!w || !w->message || (w->hook == NULL && json_object_get(w->message, "hook"))) {
        hook_work_free(w);
        return err_set(e, PBSE_SYSTEM, "no memory to run a hook");
    }
    if (q->n >= WAITING_MAX) {
        hook_work_free(w);
        return err_set(e, PBSE_SYSTEM, "%d runs of hooks wait for a worker already", WAITING_MAX);
    }
    if (p->closed) {
        log_event(LOGC_HOOK, LOGE_DEBUG3, p->o.daemon, "Python interpreter not started, skipping hooks");
        hook_work_end(p, w, HOOK_INTERNAL, NULL, NULL);
        return 0;
    }
    *q->last = w;
    q->last = &w->next;
    q->n++;
    p->waiting++;
    loop_defer(p->o.loop, hook_pool_feed, p);
    return 0;
}

int hook_pool_run(struct hook_pool *p, const struct hook_run *r, hook_done_fn *done, void *arg, struct err *e)
{
    struct hook_work *w = calloc(1, sizeof *w);
    const struct hook *h = hooks_find(p->o.hooks, r->hook);

    if (!w)
        return err_set(e, PBSE_SYSTEM, "no memory to run a hook");
    w->id = ++p->last_id;
    w->done = done;
    w->arg = arg;
    w->hook = strdup(r->hook);
    w->limit_ms = (h ? h->set.alarm_s : 1) * 1000;
    w->message =
        json_pack("{s:s, s:I, s:s, s:I, s:s, s:s, s:I, s:b, s:o, s:o, s:O}", "op", "run", "id",
                  (json_int_t)w->id, "event", r->event, "type", (json_int_t)r->type, "hook", r->hook,
                  "hook_type", h && h->set.of_pbs ? "pbs" : "site", "alarm", (json_int_t)(w->limit_ms / 1000),
                  "debug", h && h->set.debug, "requestor", hook_json_text(r->requestor), "requestor_host",
                  hook_json_text(r->requestor_host), "data", r->data);
    if (w->message && r->user)
        json_object_set_new(w->message, "user", hook_json_text(r->user));
    if (w->message && r->type & (HOOK_EVENT_periodic | HOOK_EVENT_exechost_periodic) && h)
        json_object_set_new(w->message, "freq", json_integer(h->set.freq_s));
    if (w->message)
        hook_work_asked(w, p->o.action);
    return hook_pool_add(p, w, r->asked ? RANK_ASKED : RANK_TOLD, e);
}

int hook_pool_check(struct hook_pool *p, const char *kind, const char *name, const char *bytes, size_t n,
                    hook_done_fn *done, void *arg, struct err *e)
{
    struct hook_work *w = calloc(1, sizeof *w);

    if (!w)
        return err_set(e, PBSE_SYSTEM, "no memory to check a hook");
    w->done = done;
    w->arg = arg;
    w->limit_ms = CHECK_MS;
    w->message = json_pack("{s:s, s:s, s:s, s:o}", "op", "check", "kind", kind, "name", name, "text",
                           hook_json_text_n(bytes, n));
    return hook_pool_add(p, w, RANK_CHECK, e);
}

/* ---- life -------------------------------------------------------------------------------------------- */

struct hook_pool *hook_pool_create(const struct hook_pool_options *o)
{
    struct hook_pool *p = calloc(1, sizeof *p);
    bool ok = p != NULL;

    if (!p)
        return NULL;
    p->o = *o;
    for (int i = 0; i < RANK_COUNT; i++)
        p->queues[i].last = &p->queues[i].first;
    p->pause = loop_timer_create(o->loop, LOOP_REAL, hook_pool_open, p);
    ok = p->pause != NULL;
    for (int i = 0; i < WORKERS_MAX; i++) {
        p->seats[i].pool = p;
        p->seats[i].timer = loop_timer_create(o->loop, LOOP_REAL, hook_seat_late, &p->seats[i]);
        ok = ok && p->seats[i].timer;
    }
    if (ok)
        return p;
    hook_pool_destroy(p);
    return NULL;
}

void hook_pool_destroy(struct hook_pool *p)
{
    if (!p)
        return;
    loop_forget(p->o.loop, hook_pool_feed, p);
    for (int i = 0; i < WORKERS_MAX; i++) {
        if (p->seats[i].timer)
            hook_seat_clear(&p->seats[i]);
        if (p->seats[i].work)
            hook_work_end(p, p->seats[i].work, HOOK_DROPPED, NULL, NULL);
        loop_timer_destroy(p->seats[i].timer);
    }
    while (p->waiting)
        hook_work_end(p, hook_pool_take(p), HOOK_DROPPED, NULL, NULL);
    loop_timer_destroy(p->pause);
    free(p);
}
