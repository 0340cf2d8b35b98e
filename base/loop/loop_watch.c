/* Descriptors and signals, which libevent waits for. See loop.h. */
#include <errno.h>
#include <stdlib.h>

#include "loop_private.h"

struct loop_watch {
    struct loop *l;
    struct event *event;
    int fd;
    unsigned want;
    loop_watch_fn *fn;
    void *arg;
};

struct loop_signal {
    struct event *event;
    loop_fn *fn;
    void *arg;
};

static void loop_watch_cb(evutil_socket_t fd, short what, void *arg)
{
    struct loop_watch *w = arg;
    unsigned ready = (what & EV_READ ? LOOP_READ : 0u) | (what & EV_WRITE ? LOOP_WRITE : 0u);

    (void)fd;
    if (!(ready & w->want))
        return; /* a callback of this same turn no longer wants it */
    loop_note_begin(w->l);
    w->fn(w->arg, ready & w->want);
}

struct loop_watch *loop_watch_create(struct loop *l, int fd, unsigned want, loop_watch_fn *fn, void *arg,
                                     struct err *e)
{
    struct loop_watch *w = calloc(1, sizeof *w);

    if (w)
        w->event = event_new(l->base, fd, EV_PERSIST, loop_watch_cb, w);
    if (!w || !w->event) {
        free(w);
        err_set(e, ENOMEM, "no memory to watch a descriptor");
        return NULL;
    }
    w->l = l;
    w->fd = fd;
    w->fn = fn;
    w->arg = arg;
    loop_watch_set(w, want);
    return w;
}

void loop_watch_set(struct loop_watch *w, unsigned want)
{
    short what = EV_PERSIST;

    if (want == w->want)
        return;
    what |= want & LOOP_READ ? EV_READ : 0;
    what |= want & LOOP_WRITE ? EV_WRITE : 0;
    event_del(w->event); /* libevent lets no event change that is pending */
    event_assign(w->event, w->l->base, w->fd, what, loop_watch_cb, w);
    if (want)
        event_add(w->event, NULL);
    w->want = want;
}

void loop_watch_destroy(struct loop_watch *w)
{
    if (!w)
        return;
    event_free(w->event);
    free(w);
}

/* --- signals --- */

static void loop_watch_signal_cb(evutil_socket_t signo, short what, void *arg)
{
    struct loop_signal *s = arg;

    (void)signo, (void)what;
    s->fn(s->arg);
}

struct loop_signal *loop_signal_create(struct loop *l, int signo, loop_fn *fn, void *arg, struct err *e)
{
    struct loop_signal *s = calloc(1, sizeof *s);

    if (s) {
        s->fn = fn;
        s->arg = arg;
        s->event = evsignal_new(l->base, signo, loop_watch_signal_cb, s);
        if (s->event && event_add(s->event, NULL) == 0)
            return s;
    }
    loop_signal_destroy(s);
    err_set(e, ENOMEM, "cannot watch signal %d", signo);
    return NULL;
}

void loop_signal_destroy(struct loop_signal *s)
{
    if (!s)
        return;
    if (s->event)
        event_free(s->event);
    free(s);
}
