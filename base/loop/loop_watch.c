/* Descriptors and signals, by epoll(7) and sigaction(2). See loop.h.
 *
 * What one epoll_wait() has returned is a list of watches. A callback takes its watch from the list; a watch that is
 * changed or destroyed by another callback leaves the list too, so no callback sees what is not so any more. epoll is
 * level triggered here: what was left out is returned by the next wait.
 *
 * A signal's handler raises a flag and writes to an eventfd, which the loop watches. The flags belong to the process,
 * not to a loop: one loop of a process has signals. They are not blocked, so a child inherits no mask. */
#include "loop_watch.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>

#include "loop_state.h"

/* 3 KB of stack; with more the rest is returned by the next wait, behind the end of a turn. */
enum { READY_MAX = 256 };

struct loop_watch {
    struct loop *l;
    int fd;
    unsigned want, ready; /* ready: what epoll said; not 0 while in l->ready */
    struct loop_watch *prev, *next;
    loop_watch_fn *fn;
    void *arg;
};

struct loop_signal {
    struct loop *l;
    int signo;
    bool raised;
    struct sigaction before;
    struct loop_signal *prev, *next;
    loop_fn *fn;
    void *arg;
};

static volatile sig_atomic_t is_raised[NSIG];
static atomic_int signal_fd = -1; /* of the loop that has signals */

/* Out of the list of what is still to be called in this turn. */
static void leave_ready(struct loop_watch *w)
{
    if (w->ready)
        DL_DELETE(w->l->ready, w);
    w->ready = 0;
}

/* An error or a hang-up is shown as both: the callee finds out by reading or writing. */
static unsigned ready_of(uint32_t events)
{
    if (events & (EPOLLHUP | EPOLLERR)) /* a read or a write says which */
        return LOOP_READ | LOOP_WRITE;
    return (events & EPOLLIN ? LOOP_READ : 0u) | (events & EPOLLOUT ? LOOP_WRITE : 0u);
}

int loop_watches_call(struct loop *l, int wait_ms, struct err *e)
{
    struct epoll_event events[READY_MAX];
    struct loop_watch *w;
    int n;

    do
        n = epoll_wait(l->epoll_fd, events, READY_MAX, wait_ms);
    while (n < 0 && errno == EINTR); /* a signal of ours has made the eventfd readable */
    if (n < 0)
        return err_errno(e, errno, "the event loop cannot wait for events");
    for (int i = 0; i < n; i++) {
        w = events[i].data.ptr;
        w->ready = ready_of(events[i].events) & w->want;
        if (w->ready)
            DL_APPEND(l->ready, w);
    }
    while ((w = l->ready)) {
        unsigned ready = w->ready;

        leave_ready(w);
        loop_note_begin(l);
        w->fn(w->arg, ready);
    }
    return 0;
}

/* 0, or -1 with errno. A silent watch is not in the epoll set, which would report a closed peer again and again. */
static int tell_epoll(struct loop_watch *w, unsigned want)
{
    struct epoll_event event = {.events = (want & LOOP_READ ? (uint32_t)EPOLLIN : 0) |
                                          (want & LOOP_WRITE ? (uint32_t)EPOLLOUT : 0),
                                .data.ptr = w};
    int op = !w->want ? EPOLL_CTL_ADD : want ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;

    return epoll_ctl(w->l->epoll_fd, op, w->fd, &event);
}

struct loop_watch *loop_watch_create(struct loop *l, int fd, unsigned want, loop_watch_fn *fn, void *arg,
                                     struct err *e)
{
    struct loop_watch *w = calloc(1, sizeof *w);

    if (!w) {
        err_set(e, ENOMEM, "no memory to watch a descriptor");
        return NULL;
    }
    w->l = l;
    w->fd = fd;
    w->fn = fn;
    w->arg = arg;
    if (want && tell_epoll(w, want) < 0) {
        err_errno(e, errno, "cannot watch descriptor %d", fd);
        free(w);
        return NULL;
    }
    w->want = want;
    return w;
}

void loop_watch_set(struct loop_watch *w, unsigned want)
{
    if (want == w->want)
        return;
    leave_ready(w);
    /* A peer that is no longer listened to would be waited for without an end. Only ENOMEM and ENOSPC
     * (fs.epoll.max_user_watches) come here; the store has the truth, and a start reads it. */
    if (tell_epoll(w, want) < 0 && want)
        abort();
    w->want = want;
}

/* Silent first: that takes it out of the epoll set and out of the list of this turn. */
void loop_watch_destroy(struct loop_watch *w)
{
    if (!w)
        return;
    loop_watch_set(w, 0);
    free(w);
}

/* --- signals --- */

static void loop_signal_handler(int signo)
{
    int saved = errno;
    uint64_t one = 1;

    is_raised[signo] = 1;
    while (write(signal_fd, &one, sizeof one) < 0 && errno == EINTR) /* EAGAIN: it is readable already */
        ;
    errno = saved;
}

static struct loop_signal *first_raised(struct loop *l)
{
    struct loop_signal *s;

    DL_FOREACH(l->signals, s)
    if (s->raised)
        return s;
    return NULL;
}

/* A callback may destroy any of them, so the list is read again after each. */
static void loop_signal_ready(void *arg, unsigned ready)
{
    struct loop *l = arg;
    struct loop_signal *s;
    uint64_t n;

    while (read(l->signal_fd, &n, sizeof n) < 0 && errno == EINTR)
        ;
    DL_FOREACH(l->signals, s)
    s->raised = is_raised[s->signo];
    DL_FOREACH(l->signals, s)
    if (s->raised)
        is_raised[s->signo] = 0;
    while ((s = first_raised(l))) {
        s->raised = false;
        s->fn(s->arg);
    }
}

/* With the first signal; loops without signals have no eventfd for them. */
static int open_signal_fd(struct loop *l, struct err *e)
{
    if (l->signal_fd >= 0)
        return 0;
    l->signal_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->signal_fd < 0)
        return err_errno(e, errno, "cannot create an eventfd for signals");
    l->signal_watch = loop_watch_create(l, l->signal_fd, LOOP_READ, loop_signal_ready, l, e);
    if (!l->signal_watch)
        return -1;
    signal_fd = l->signal_fd;
    return 0;
}

void loop_signals_close(struct loop *l)
{
    loop_watch_destroy(l->signal_watch);
    if (l->signal_fd < 0)
        return;
    if (signal_fd == l->signal_fd)
        signal_fd = -1;
    close(l->signal_fd);
}

static const struct loop_signal *find_signal(const struct loop *l, int signo)
{
    const struct loop_signal *s;

    DL_FOREACH(l->signals, s)
    if (s->signo == signo)
        return s;
    return NULL;
}

/* The first for a signal installs the handler, and the last puts back what was before. */
static int take_signal(struct loop_signal *s)
{
    struct sigaction act = {.sa_handler = loop_signal_handler, .sa_flags = SA_RESTART};
    const struct loop_signal *other = find_signal(s->l, s->signo);

    if (other)
        s->before = other->before;
    sigfillset(&act.sa_mask);
    return other ? 0 : sigaction(s->signo, &act, &s->before);
}

struct loop_signal *loop_signal_create(struct loop *l, int signo, loop_fn *fn, void *arg, struct err *e)
{
    struct loop_signal *s;

    if (open_signal_fd(l, e) < 0)
        return NULL;
    s = calloc(1, sizeof *s);
    if (!s) {
        err_set(e, ENOMEM, "no memory to watch signal %d", signo);
        return NULL;
    }
    s->l = l;
    s->signo = signo;
    s->fn = fn;
    s->arg = arg;
    if (take_signal(s) < 0) {
        err_errno(e, errno, "cannot watch signal %d", signo);
        free(s);
        return NULL;
    }
    DL_APPEND(l->signals, s);
    return s;
}

void loop_signal_destroy(struct loop_signal *s)
{
    if (!s)
        return;
    DL_DELETE(s->l->signals, s);
    if (!find_signal(s->l, s->signo))
        sigaction(s->signo, &s->before, NULL);
    free(s);
}
