/* A warm child that answers lines: see coproc.h.
 *
 * Questions wait in order; all of them are written at once, and answers come in the same order. The time limit of a
 * question runs from when it is the first, since only then the child can be at work on it. When the child ends or is
 * given up, every question waiting fails, and the next one starts a new child. */
#include "coproc.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop.h"
#include "spawn.h"
#include "stream.h"

struct coproc_question {
    struct coproc_question *next;
    int64_t limit_ms;
    coproc_fn *fn;
    void *arg;
};

/* A question that could not even be asked: told at the end of the turn. */
struct refusal {
    struct refusal *next;
    struct coproc *c;
    coproc_fn *fn;
    void *arg;
    struct err why;
};

struct coproc {
    struct loop *l;
    struct coproc_options o;
    struct spawn *child;
    struct stream *s;
    struct loop_timer *limit;
    struct coproc_question *first, **last;
    size_t n_waiting;
    struct refusal *refusals; /* that coproc_refuse_cb is still to tell */
};

static void coproc_no_end_cb(void *arg, int status)
{
    (void)arg, (void)status; /* the stream's end says it; see stop_child */
}

/* Kill the child and close the stream. It is reaped by spawn, when it comes to that. */
static void stop_child(struct coproc *c)
{
    stream_destroy(c->s);
    c->s = NULL;
    loop_timer_cancel(c->limit);
    if (c->child)
        spawn_signal_group(c->child, SIGKILL);
    spawn_destroy(c->child);
    c->child = NULL;
}

static struct coproc_question *take_first(struct coproc *c)
{
    struct coproc_question *q = c->first;

    c->first = q->next;
    if (!c->first)
        c->last = &c->first;
    c->n_waiting--;
    return q;
}

/* All questions waiting fail. A callback may ask anew, which starts another child: take the present ones only. */
static void fail_all(struct coproc *c, const struct err *why)
{
    struct coproc_question *q = c->first, *next;

    stop_child(c);
    c->first = NULL;
    c->last = &c->first;
    c->n_waiting = 0;
    for (; q; q = next) {
        next = q->next;
        q->fn(q->arg, NULL, why);
        free(q);
    }
}

static void time_limit_of_first(struct coproc *c)
{
    if (c->first)
        loop_timer_set(c->limit, c->first->limit_ms);
    else
        loop_timer_cancel(c->limit);
}

static size_t coproc_data_cb(void *arg, const void *bytes, size_t n)
{
    struct coproc *c = arg;
    const char *newline = memchr(bytes, '\n', n);
    struct coproc_question *q;
    struct err e;
    char *line;

    if (!c->first) {
        err_set(&e, EPROTO, "%s said something nobody had asked", c->o.path);
        fail_all(c, &e);
        return 0;
    }
    if (!newline && n < c->o.max_line)
        return 0;
    if (!newline || (size_t)(newline - (const char *)bytes) > c->o.max_line) {
        err_set(&e, EMSGSIZE, "the answer of %s is longer than %zu bytes", c->o.path, c->o.max_line);
        fail_all(c, &e);
        return 0;
    }
    line = strndup(bytes, (size_t)(newline - (const char *)bytes));
    err_set(&e, ENOMEM, "no memory for an answer");
    q = take_first(c);
    time_limit_of_first(c);
    q->fn(q->arg, line, line ? NULL : &e);
    free(q);
    free(line);
    return (size_t)(newline - (const char *)bytes) + 1;
}

static void coproc_closed_cb(void *arg, const struct err *why)
{
    struct coproc *c = arg;
    struct err e;

    err_set(&e, EPIPE, "%s ended%s%s", c->o.path, why->code ? ": " : "", why->text);
    fail_all(c, &e);
}

static void coproc_limit_cb(void *arg)
{
    struct coproc *c = arg;
    struct err e;

    err_set(&e, ETIMEDOUT, "%s gave no answer in %lld ms", c->o.path, (long long)c->first->limit_ms);
    fail_all(c, &e);
}

static const struct stream_events events = {.data = coproc_data_cb, .closed = coproc_closed_cb};

static int start_child(struct coproc *c, struct err *e)
{
    struct spawn_options o = {.path = c->o.path, .argv = c->o.argv, .envp = c->o.envp, .new_session = true};
    struct stream_options so = {.in_max = c->o.max_line + 1};
    int pair[2], fds[3];

    if (c->s)
        return 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_errno(e, errno, "cannot talk to %s", c->o.path);
    fds[0] = fds[1] = pair[1];
    fds[2] = STDERR_FILENO;
    o.fds = fds;
    o.n_fds = 3;
    c->child = spawn_start(c->l, &o, coproc_no_end_cb, c, e);
    close(pair[1]);
    if (!c->child) {
        close(pair[0]);
        return -1;
    }
    c->s = stream_create(c->l, pair[0], &so, &events, c, e);
    if (!c->s)
        stop_child(c);
    return c->s ? 0 : -1;
}

struct coproc *coproc_create(struct loop *l, const struct coproc_options *o, struct err *e)
{
    struct coproc *c = calloc(1, sizeof *c);

    if (c)
        c->limit = loop_timer_create(l, LOOP_REAL, coproc_limit_cb, c);
    if (!c || !c->limit) {
        free(c);
        err_set(e, ENOMEM, "no memory for %s", o->path);
        return NULL;
    }
    c->l = l;
    c->o = *o;
    c->o.max_line = o->max_line ? o->max_line : 64 * 1024;
    c->o.max_waiting = o->max_waiting ? o->max_waiting : 64;
    c->last = &c->first;
    return c;
}

/* --- refusing, not inside the asking call --- */

static void unlink_refusal(struct coproc *c, struct refusal *r)
{
    struct refusal **at = &c->refusals;

    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
}

static void coproc_refuse_cb(void *arg)
{
    struct refusal *r = arg;

    unlink_refusal(r->c, r);
    r->fn(r->arg, NULL, &r->why);
    free(r);
}

static void coproc_refuse(struct coproc *c, coproc_fn *fn, void *arg, const struct err *why)
{
    struct refusal *r = malloc(sizeof *r);

    if (!r || loop_defer(c->l, coproc_refuse_cb, r) < 0) {
        free(r);
        fn(arg, NULL, why); /* no memory: too early is better than never */
        return;
    }
    *r = (struct refusal){.next = c->refusals, .c = c, .fn = fn, .arg = arg, .why = *why};
    c->refusals = r;
}

void coproc_destroy(struct coproc *c)
{
    struct refusal *r;

    if (!c)
        return;
    stop_child(c);
    while (c->first)
        free(take_first(c));
    while ((r = c->refusals)) {
        c->refusals = r->next;
        loop_forget(c->l, coproc_refuse_cb, r);
        free(r);
    }
    loop_timer_destroy(c->limit);
    free(c);
}

/* --- asking --- */

static int send_question(struct coproc *c, const char *line, struct err *e)
{
    if (c->n_waiting >= c->o.max_waiting)
        return err_set(e, EAGAIN, "%zu questions to %s are waiting already", c->n_waiting, c->o.path);
    if (strchr(line, '\n'))
        return err_set(e, EINVAL, "a question to %s holds a line break", c->o.path);
    if (start_child(c, e) < 0 || stream_write(c->s, line, strlen(line), e) < 0)
        return -1;
    return stream_write(c->s, "\n", 1, e);
}

void coproc_ask(struct coproc *c, const char *line, int64_t limit_ms, coproc_fn *fn, void *arg)
{
    struct coproc_question *q = malloc(sizeof *q);
    struct err e;

    if (!q)
        err_set(&e, ENOMEM, "no memory for a question to %s", c->o.path);
    if (!q || send_question(c, line, &e) < 0) {
        free(q);
        coproc_refuse(c, fn, arg, &e);
        return;
    }
    *q = (struct coproc_question){.limit_ms = limit_ms, .fn = fn, .arg = arg};
    *c->last = q;
    c->last = &q->next;
    if (c->n_waiting++ == 0)
        time_limit_of_first(c);
}
