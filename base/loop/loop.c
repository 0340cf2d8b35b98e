/* The event loop: see loop.h. libevent waits for descriptors and signals; everything else is ours.
 *
 * libevent does not know our timers: a timerfd wakes it for the earlier of the two first ones, and it does not wait at all
 * when something is pending. (A timer of its own is exact only if it may set it at every wait; ours is set when its
 * moment has changed.) A driven clock wakes the loop only by its hook. Other threads add to a locked list and write to an
 * eventfd. */
#include "loop.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "loop_private.h"

enum { HOOK_ROUNDS_MAX = 1000 };

/* false: there is none. */
static bool make_call(struct call *c)
{
    struct call now;

    if (!c)
        return false;
    now = *c;
    free(c);
    now.fn(now.arg);
    return true;
}

/* Make the calls one by one: the later ones stay in the list, where loop_forget can find them. */
static void make_calls(struct loop *l)
{
    while (make_call(call_list_take(&l->running)))
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

/* Take all calls of the list at once: calls that are posted meanwhile are made in the next turn, so threads cannot
 * keep the loop here for ever. The calls are made without the lock, since they may post. */
static void loop_posted_cb(evutil_socket_t fd, short what, void *arg)
{
    struct loop *l = arg;
    uint64_t n;

    (void)what;
    loop_note_begin(l);
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
    return background_add(&l->background, BACKGROUND_COMMON, fn, arg);
}

int loop_background_soon(struct loop *l, loop_fn *fn, void *arg)
{
    return background_add(&l->background, BACKGROUND_SOON, fn, arg);
}

void loop_press(struct loop *l)
{
    background_press(&l->background, clock_real_mono_us());
}

size_t loop_forget(struct loop *l, loop_fn *fn, void *arg)
{
    size_t n = call_list_forget(&l->running, fn, arg) + call_list_forget(&l->deferred, fn, arg) +
               background_forget(&l->background, fn, arg);

    pthread_mutex_lock(&l->post_lock);
    n += call_list_forget(&l->posted, fn, arg);
    pthread_mutex_unlock(&l->post_lock);
    return n;
}

bool loop_is_busy(const struct loop *l)
{
    return l->deferred.first || l->running.first || background_has_calls(&l->background) || l->n_marked ||
           l->n_posted;
}

/* --- creating and destroying --- */

static void loop_sleep_cb(evutil_socket_t fd, short what, void *arg)
{
    struct loop *l = arg;
    uint64_t n;

    (void)what; /* waking up was all: due timers are looked for after every wait */
    while (read(fd, &n, sizeof n) < 0 && errno == EINTR)
        ;
    l->sleep_until_mono_ms = -1;
}

static void loop_clock_moved(void *arg)
{
    struct loop *l = arg;

    event_active(l->sleep, EV_READ, 1);
}

static struct event_base *create_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (config && event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK) == 0)
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
    background_init(&l->background);
    pthread_mutex_init(&l->post_lock, NULL);
    l->post_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->sleep_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    l->base = l->post_fd >= 0 && l->sleep_fd >= 0 ? create_base() : NULL;
    l->sleep = l->base ? event_new(l->base, l->sleep_fd, EV_READ | EV_PERSIST, loop_sleep_cb, l) : NULL;
    l->post_event = l->base ? event_new(l->base, l->post_fd, EV_READ | EV_PERSIST, loop_posted_cb, l) : NULL;
    if (!l->sleep || !l->post_event || event_add(l->sleep, NULL) < 0 || event_add(l->post_event, NULL) < 0) {
        err_set(e, errno ? errno : ENOMEM, "cannot create an event loop");
        loop_destroy(l);
        return NULL;
    }
    clock_on_move(l->clock, loop_clock_moved, l);
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
    background_drop(&l->background);
    call_list_drop(&l->posted);
    if (l->post_event)
        event_free(l->post_event);
    if (l->sleep)
        event_free(l->sleep);
    if (l->base)
        event_base_free(l->base);
    if (l->post_fd >= 0)
        close(l->post_fd);
    if (l->sleep_fd >= 0)
        close(l->sleep_fd);
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

static int64_t time_to_sleep_ms(const struct loop *l, int64_t max_wait_ms)
{
    if (l->deferred.first || l->n_marked)
        return 0;
    if (background_has_calls(&l->background)) {
        int64_t rests_ms = (background_rests_us(&l->background, clock_real_mono_us()) + 999) / 1000;

        max_wait_ms = max_wait_ms < 0 || rests_ms < max_wait_ms ? rests_ms : max_wait_ms;
    }
    return loop_timers_wait_ms(l, max_wait_ms);
}

/* Wake us in so many milliseconds (at least 1), -1: not. Most turns end before the first timer is due and leave it the
 * first one: then it stays set, and no system call is spent on it. One that comes too early does no harm. */
static void set_sleep(struct loop *l, int64_t wait_ms)
{
    struct itimerspec in = {.it_value = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000}};
    int64_t until = wait_ms < 0 ? -1 : clock_real_mono_ms() + wait_ms;

    if (until == l->sleep_until_mono_ms)
        return;
    if (until < 0)
        in = (struct itimerspec){0};
    timerfd_settime(l->sleep_fd, 0, &in, NULL);
    l->sleep_until_mono_ms = until;
}

static int wait_and_call(struct loop *l, int64_t wait_ms, struct err *e)
{
    int flags = EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY;

    if (wait_ms == 0)
        flags |= EVLOOP_NONBLOCK; /* with ONCE: alone it would continue while anything is ready */
    else
        set_sleep(l, wait_ms);
    if (event_base_loop(l->base, flags) < 0)
        return err_set(e, errno ? errno : EIO, "the event loop cannot wait for events");
    return 0;
}

static struct loop_hook *first_marked(struct loop *l)
{
    struct loop_hook *h = l->hooks;

    while (h && !h->marked)
        h = h->next;
    return h;
}

/* Run until nothing is deferred or marked. Calls that defer themselves again and again are interrupted, so that
 * descriptors are served. */
static void end_turn(struct loop *l)
{
    for (int round = 0; round < HOOK_ROUNDS_MAX; round++) {
        struct loop_hook *h;

        if (l->deferred.first || l->n_marked)
            loop_note_begin(l);
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

/* Behind all that was ready, for as long as turn_share allows. A call is never cut short; what it leaves for the end of
 * the turn (an answer to be sent) is paid by the background too. */
static void work_in_background(struct loop *l)
{
    struct background *b = &l->background;
    int64_t now_us = clock_real_mono_us(), began_us = now_us;
    bool is_free = background_is_free(b, now_us, !l->began_us);
    int64_t slice_us = turn_share_slice(&b->share, now_us, is_free);

    if (slice_us == 0)
        return;
    while (now_us - began_us < slice_us && make_call(background_take(b)))
        now_us = clock_real_mono_us();
    end_turn(l);
    if (!is_free)
        turn_share_spend(&b->share, clock_real_mono_us() - began_us);
}

int loop_turn(struct loop *l, int64_t max_wait_ms, struct err *e)
{
    l->began_us = 0;
    if (wait_and_call(l, time_to_sleep_ms(l, max_wait_ms), e) < 0)
        return -1;
    loop_timers_call(l, LOOP_CLOCK);
    loop_timers_call(l, LOOP_REAL);
    end_turn(l);
    if (background_has_calls(&l->background))
        work_in_background(l);
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
