/* The event loop: see loop.h. libevent waits for descriptors and signals; everything else is here.
 *
 * Timers are two heaps, one a kind of time. libevent only knows how long it may sleep: until the earlier of the two
 * first ones, not at all when something is pending, and a driven clock wakes nobody but by its hook. Other threads
 * add to a locked list and write to an eventfd. */
#include "loop.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "call_list.h"
#include "clock.h"
#include "pqueue.h"
#include "turn_share.h"

enum { LOOP_TIMES = 2, HOOK_ROUNDS_MAX = 1000 };

struct loop {
    struct event_base *base;
    struct event *sleep;         /* fires when the first timer is due */
    int64_t sleep_until_mono_ms; /* what it is set to, real time; -1: not set */
    struct clock *clock;
    struct pqueue timers[LOOP_TIMES];
    size_t n_timers[LOOP_TIMES];        /* that exist: the heaps have room for all of them */
    struct call_list deferred, running; /* running: taken from a list, not made yet */
    struct call_list background;
    struct turn_share share; /* of the background */
    int64_t began_us;        /* when this turn's first callback was called; 0: none was yet */
    struct loop_hook *hooks; /* in order */
    size_t n_marked;
    bool stop;
    int post_fd;
    struct event *post_event;
    pthread_mutex_t post_lock;
    struct call_list posted;
    atomic_size_t n_posted;
};

struct loop_watch {
    struct loop *l;
    struct event *event;
    int fd;
    unsigned want;
    loop_watch_fn *fn;
    void *arg;
};

struct loop_timer {
    struct loop *l;
    enum loop_time which;
    struct pqueue_entry due;
    loop_fn *fn;
    void *arg;
};

struct loop_signal {
    struct event *event;
    loop_fn *fn;
    void *arg;
};

struct loop_hook {
    struct loop *l;
    struct loop_hook *next;
    int order;
    bool marked;
    loop_fn *fn;
    void *arg;
};

/* Something was ready in this turn. */
static void note_begin(struct loop *l)
{
    if (!l->began_us)
        l->began_us = clock_real_mono_us();
}

/* The first call of a list; the others stay where loop_forget can find them. false: there is none. */
static bool make_call(struct call_list *list)
{
    struct call *c = call_list_take(list);
    struct call now;

    if (!c)
        return false;
    now = *c;
    free(c);
    now.fn(now.arg);
    return true;
}

static void make_calls(struct loop *l)
{
    while (make_call(&l->running))
        ;
}

/* --- calls from other threads --- */

int loop_post(struct loop *l, loop_fn *fn, void *arg)
{
    struct call *c = call_create(fn, arg);
    uint64_t one = 1;
    bool first;

    if (!c)
        return -1;
    pthread_mutex_lock(&l->post_lock);
    first = !l->posted.first;
    call_list_add(&l->posted, c);
    l->n_posted++;
    if (first) /* inside the lock: the loop may be destroyed as soon as this call has been made */
        while (write(l->post_fd, &one, sizeof one) < 0 && errno == EINTR)
            ;
    pthread_mutex_unlock(&l->post_lock);
    return 0;
}

static void posted_cb(evutil_socket_t fd, short what, void *arg)
{
    struct loop *l = arg;
    uint64_t n;

    (void)what;
    note_begin(l);
    while (read(fd, &n, sizeof n) < 0 && errno == EINTR)
        ;
    pthread_mutex_lock(&l->post_lock);
    call_list_move(&l->running, &l->posted);
    l->n_posted = 0;
    pthread_mutex_unlock(&l->post_lock);
    make_calls(l);
}

int loop_defer(struct loop *l, loop_fn *fn, void *arg)
{
    struct call *c = call_create(fn, arg);

    if (!c)
        return -1;
    call_list_add(&l->deferred, c);
    return 0;
}

int loop_background(struct loop *l, loop_fn *fn, void *arg)
{
    struct call *c = call_create(fn, arg);

    if (!c)
        return -1;
    call_list_add(&l->background, c);
    return 0;
}

void loop_forget(struct loop *l, loop_fn *fn, void *arg)
{
    call_list_forget(&l->running, fn, arg);
    call_list_forget(&l->deferred, fn, arg);
    call_list_forget(&l->background, fn, arg);
    pthread_mutex_lock(&l->post_lock);
    call_list_forget(&l->posted, fn, arg);
    pthread_mutex_unlock(&l->post_lock);
}

bool loop_is_busy(const struct loop *l)
{
    return l->deferred.first || l->running.first || l->background.first || l->n_marked || l->n_posted;
}

/* --- creating and destroying --- */

static void sleep_cb(evutil_socket_t fd, short what, void *arg)
{
    struct loop *l = arg;

    (void)fd, (void)what; /* waking up was all: due timers are looked for after every wait */
    l->sleep_until_mono_ms = -1;
}

static void clock_moved(void *arg)
{
    struct loop *l = arg;

    event_active(l->sleep, EV_TIMEOUT, 1);
}

static struct event_base *create_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (config && event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_PRECISE_TIMER) == 0)
        base = event_base_new_with_config(config);
    if (config)
        event_config_free(config);
    return base;
}

struct loop *loop_create(struct clock *clock, struct err *e)
{
    struct loop *l = calloc(1, sizeof *l);

    if (!l) {
        err_set(e, ENOMEM, "no memory for an event loop");
        return NULL;
    }
    l->clock = clock ? clock : clock_real();
    l->sleep_until_mono_ms = -1;
    call_list_init(&l->posted);
    call_list_init(&l->deferred);
    call_list_init(&l->running);
    call_list_init(&l->background);
    pthread_mutex_init(&l->post_lock, NULL);
    l->post_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->base = l->post_fd >= 0 ? create_base() : NULL;
    l->sleep = l->base ? event_new(l->base, -1, 0, sleep_cb, l) : NULL;
    l->post_event = l->base ? event_new(l->base, l->post_fd, EV_READ | EV_PERSIST, posted_cb, l) : NULL;
    if (!l->sleep || !l->post_event || event_add(l->post_event, NULL) < 0) {
        err_set(e, errno ? errno : ENOMEM, "cannot create an event loop");
        loop_destroy(l);
        return NULL;
    }
    clock_on_move(l->clock, clock_moved, l);
    return l;
}

void loop_destroy(struct loop *l)
{
    int saved = errno;

    if (!l)
        return;
    assert(!l->hooks && !l->n_timers[LOOP_CLOCK] && !l->n_timers[LOOP_REAL]);
    clock_on_move(l->clock, NULL, NULL);
    call_list_drop(&l->running);
    call_list_drop(&l->deferred);
    call_list_drop(&l->background);
    call_list_drop(&l->posted);
    if (l->post_event)
        event_free(l->post_event);
    if (l->sleep)
        event_free(l->sleep);
    if (l->base)
        event_base_free(l->base);
    if (l->post_fd >= 0)
        close(l->post_fd);
    pqueue_fini(&l->timers[LOOP_CLOCK]);
    pqueue_fini(&l->timers[LOOP_REAL]);
    pthread_mutex_destroy(&l->post_lock);
    free(l);
    errno = saved;
}

struct clock *loop_clock(const struct loop *l)
{
    return l->clock;
}

/* --- a turn --- */

static int64_t now_of(const struct loop *l, enum loop_time which)
{
    return which == LOOP_CLOCK ? clock_mono_ms(l->clock) : clock_real_mono_ms();
}

/* How long the wait may take at most, -1: for ever. */
static int64_t time_to_sleep_ms(const struct loop *l, int64_t max_wait_ms)
{
    int64_t wait_ms = max_wait_ms < 0 ? INT64_MAX : max_wait_ms;

    if (l->deferred.first || l->background.first || l->n_marked)
        return 0;
    for (int which = 0; which < LOOP_TIMES; which++) {
        struct pqueue_entry *first = pqueue_first(&l->timers[which]);
        int64_t left_ms;

        if (!first)
            continue;
        left_ms = first->key - now_of(l, (enum loop_time)which);
        if (left_ms > 0 && which == LOOP_CLOCK && clock_is_driven(l->clock))
            continue; /* waiting does not bring it nearer */
        if (left_ms < wait_ms)
            wait_ms = left_ms < 0 ? 0 : left_ms;
    }
    return wait_ms == INT64_MAX ? -1 : wait_ms;
}

/* Have libevent wake us in so many milliseconds, -1: not. Most turns end before the first timer is due and leave it
 * the first one: then it stays set, and no system call is spent on it. One that comes too early does no harm. */
static void set_sleep(struct loop *l, int64_t wait_ms)
{
    struct timeval tv = {wait_ms / 1000, wait_ms % 1000 * 1000};
    int64_t until = wait_ms < 0 ? -1 : clock_real_mono_ms() + wait_ms;

    if (until == l->sleep_until_mono_ms)
        return;
    if (until < 0)
        event_del(l->sleep);
    else
        event_add(l->sleep, &tv);
    l->sleep_until_mono_ms = until;
}

static int wait_and_call(struct loop *l, int64_t wait_ms, struct err *e)
{
    int flags = EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY;

    if (wait_ms == 0)
        flags |= EVLOOP_NONBLOCK; /* with ONCE: alone it goes on while anything is ready */
    else
        set_sleep(l, wait_ms);
    if (event_base_loop(l->base, flags) < 0)
        return err_set(e, errno ? errno : EIO, "the event loop cannot wait for events");
    return 0;
}

/* The timers that are due now; what these set to "at once" comes in the next turn, so descriptors get theirs. */
static void call_due(struct loop *l, enum loop_time which)
{
    int64_t now_ms = now_of(l, which);
    uint64_t newer = l->timers[which].next_order;
    struct pqueue_entry *first;

    while ((first = pqueue_first(&l->timers[which])) && first->key <= now_ms && first->order < newer) {
        struct loop_timer *t = PQUEUE_OWNER(first, struct loop_timer, due);

        pqueue_remove(&l->timers[which], first);
        note_begin(l);
        t->fn(t->arg);
    }
}

static struct loop_hook *first_marked(struct loop *l)
{
    struct loop_hook *h = l->hooks;

    while (h && !h->marked)
        h = h->next;
    return h;
}

/* Until nothing is deferred or marked; but what feeds itself for ever must let descriptors have their turn. */
static void end_turn(struct loop *l)
{
    for (int round = 0; round < HOOK_ROUNDS_MAX; round++) {
        struct loop_hook *h;

        if (l->deferred.first || l->n_marked)
            note_begin(l);
        if (l->deferred.first) {
            call_list_move(&l->running, &l->deferred);
            make_calls(l);
            continue;
        }
        h = l->n_marked ? first_marked(l) : NULL;
        if (!h)
            return;
        h->marked = false;
        l->n_marked--;
        h->fn(h->arg);
    }
}

/* Behind all that was ready, for as long as turn_share allows. A call is never cut short. */
static void work_in_background(struct loop *l)
{
    bool is_idle = !l->began_us;
    int64_t now_us = clock_real_mono_us(), began_us = now_us;
    int64_t slice_us = turn_share_slice(&l->share, is_idle ? 0 : now_us - l->began_us, is_idle);

    while (now_us - began_us < slice_us && make_call(&l->background))
        now_us = clock_real_mono_us();
    if (!is_idle)
        turn_share_spend(&l->share, now_us - began_us);
}

int loop_turn(struct loop *l, int64_t max_wait_ms, struct err *e)
{
    l->began_us = 0;
    if (wait_and_call(l, time_to_sleep_ms(l, max_wait_ms), e) < 0)
        return -1;
    call_due(l, LOOP_CLOCK);
    call_due(l, LOOP_REAL);
    end_turn(l);
    if (l->background.first) {
        work_in_background(l);
        end_turn(l);
    }
    return 0;
}

int loop_run(struct loop *l, struct err *e)
{
    int rc = 0;

    while (rc == 0 && !l->stop)
        rc = loop_turn(l, -1, e);
    l->stop = false;
    return rc;
}

void loop_stop(struct loop *l)
{
    l->stop = true;
}

/* --- descriptors --- */

static void watch_cb(evutil_socket_t fd, short what, void *arg)
{
    struct loop_watch *w = arg;
    unsigned ready = (what & EV_READ ? LOOP_READ : 0u) | (what & EV_WRITE ? LOOP_WRITE : 0u);

    (void)fd;
    if (!(ready & w->want))
        return;
    note_begin(w->l);
    w->fn(w->arg, ready & w->want);
}

struct loop_watch *loop_watch_create(struct loop *l, int fd, unsigned want, loop_watch_fn *fn, void *arg,
                                     struct err *e)
{
    struct loop_watch *w = calloc(1, sizeof *w);

    if (w)
        w->event = event_new(l->base, fd, EV_PERSIST, watch_cb, w);
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
    event_del(w->event);
    event_assign(w->event, w->l->base, w->fd, what, watch_cb, w);
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

/* --- timers --- */

struct loop_timer *loop_timer_create(struct loop *l, enum loop_time which, loop_fn *fn, void *arg)
{
    struct loop_timer *t = calloc(1, sizeof *t);

    if (!t || pqueue_reserve(&l->timers[which], l->n_timers[which] + 1) < 0) {
        free(t);
        return NULL;
    }
    l->n_timers[which]++;
    t->l = l;
    t->which = which;
    t->fn = fn;
    t->arg = arg;
    return t;
}

void loop_timer_set_at(struct loop_timer *t, int64_t due_mono_ms)
{
    struct pqueue *q = &t->l->timers[t->which];

    pqueue_remove(q, &t->due);
    if (pqueue_push(q, &t->due, due_mono_ms) < 0)
        assert(!"room was reserved when the timer was created");
}

void loop_timer_set(struct loop_timer *t, int64_t delay_ms)
{
    int64_t due_ms;

    if (__builtin_add_overflow(now_of(t->l, t->which), delay_ms < 0 ? 0 : delay_ms, &due_ms))
        due_ms = INT64_MAX;
    loop_timer_set_at(t, due_ms);
}

void loop_timer_cancel(struct loop_timer *t)
{
    pqueue_remove(&t->l->timers[t->which], &t->due);
}

bool loop_timer_is_set(const struct loop_timer *t)
{
    return pqueue_has(&t->due);
}

int64_t loop_timer_due_mono_ms(const struct loop_timer *t)
{
    assert(pqueue_has(&t->due));
    return t->due.key;
}

void loop_timer_destroy(struct loop_timer *t)
{
    if (!t)
        return;
    loop_timer_cancel(t);
    t->l->n_timers[t->which]--;
    free(t);
}

int64_t loop_next_due_mono_ms(const struct loop *l)
{
    struct pqueue_entry *first = pqueue_first(&l->timers[LOOP_CLOCK]);

    return first ? first->key : INT64_MAX;
}

/* --- signals --- */

static void signal_cb(evutil_socket_t signo, short what, void *arg)
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
        s->event = evsignal_new(l->base, signo, signal_cb, s);
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

/* --- hooks --- */

struct loop_hook *loop_hook_create(struct loop *l, int order, loop_fn *fn, void *arg)
{
    struct loop_hook *h = calloc(1, sizeof *h), **at = &l->hooks;

    if (!h)
        return NULL;
    while (*at && (*at)->order <= order)
        at = &(*at)->next;
    *h = (struct loop_hook){.l = l, .next = *at, .order = order, .fn = fn, .arg = arg};
    *at = h;
    return h;
}

void loop_hook_mark(struct loop_hook *h)
{
    if (h->marked)
        return;
    h->marked = true;
    h->l->n_marked++;
}

void loop_hook_destroy(struct loop_hook *h)
{
    struct loop_hook **at;

    if (!h)
        return;
    for (at = &h->l->hooks; *at != h; at = &(*at)->next)
        assert(*at);
    *at = h->next;
    h->l->n_marked -= h->marked;
    free(h);
}
