/* The event loop: see loop.h. Other threads add to a locked list and write to an eventfd.
 *
 * The loop waits until the earlier of the two first timers is due, and not at all when something is
 * pending. A driven clock shortens no wait: the code that drives it does so from the loop's thread, in a
 * callback or between turns.
 *
 * The order of a turn is loop_turn: what is ready, timers of both kinds, the end of the turn (deferred
 * calls and hooks until there are none), background work, and its end of the turn. Nothing here knows what
 * a call does; what a turn may cost is the callee's duty.
 *
 * Calls that are being made are in `running`, not in a local variable, so that loop_forget finds those that
 * a callback cancels. */
#include "loop.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "loop_state.h"
#include "loop_timer.h"
#include "loop_watch.h"

/* Hooks that mark one another for ever are an error of ours: above any chain that ends. */
enum { HOOK_ROUNDS_MAX = 1000 };

/* false: there is none. */
static bool loop_make_call(struct call *c)
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
static void loop_make_calls(struct loop *l)
{
    while (loop_make_call(call_list_take(&l->running)))
        ;
}

/* --- calls from other threads --- */

/* The only function for other threads. The write wakes the loop; one is enough for all calls that are
 * posted until it has read it. */
int loop_post(struct loop *l, loop_fn *fn, void *arg)
{
    struct call *c = call_list_create_call(fn, arg);
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
static void loop_posted_cb(void *arg, unsigned ready)
{
    struct loop *l = arg;
    uint64_t n;

    while (read(l->post_fd, &n, sizeof n) < 0 && errno == EINTR)
        ;
    pthread_mutex_lock(&l->post_lock);
    call_list_move(&l->running, &l->posted);
    l->n_posted = 0;
    pthread_mutex_unlock(&l->post_lock);
    loop_make_calls(l);
}

int loop_defer(struct loop *l, loop_fn *fn, void *arg)
{
    struct call *c = call_list_create_call(fn, arg);

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

/* Background work counts: an idle daemon has none. */
bool loop_is_busy(const struct loop *l)
{
    return l->deferred.first || l->running.first || background_has_calls(&l->background) || l->n_marked ||
           l->n_posted;
}

/* --- hooks of the end of a turn --- */

/* In order, behind equal ones. */
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

/* --- creating and destroying --- */

struct loop *loop_create(struct clock *clock, struct err *e)
{
    struct loop *l = calloc(1, sizeof *l);

    if (!l) {
        err_set(e, ENOMEM, "no memory for an event loop");
        return NULL;
    }
    l->clock = clock ? clock : clock_real();
    l->signal_fd = -1;
    call_list_init(&l->posted);
    call_list_init(&l->deferred);
    call_list_init(&l->running);
    background_init(&l->background);
    pthread_mutex_init(&l->post_lock, NULL);
    l->post_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (l->post_fd < 0 || l->epoll_fd < 0)
        err_errno(e, errno, "cannot create an event loop");
    else
        l->post_watch = loop_watch_create(l, l->post_fd, LOOP_READ, loop_posted_cb, l, e);
    if (l->post_watch)
        return l;
    loop_destroy(l);
    return NULL;
}

/* The assertion finds a part that was not destroyed, by kind. -1 as a descriptor: creation failed half-way. */
void loop_destroy(struct loop *l)
{
    int saved = errno;

    if (!l)
        return;
    assert(!l->hooks && !l->signals && !l->n_timers[LOOP_CLOCK] && !l->n_timers[LOOP_REAL]);
    call_list_drop(&l->running);
    call_list_drop(&l->deferred);
    background_drop(&l->background);
    call_list_drop(&l->posted);
    loop_signals_close(l);
    loop_watch_destroy(l->post_watch);
    if (l->post_fd >= 0)
        close(l->post_fd);
    if (l->epoll_fd >= 0)
        close(l->epoll_fd);
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

/* 0 where something waits for the end of the turn; background work that must rest shortens the wait until
 * it may run. */
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

static struct loop_hook *first_marked(struct loop *l)
{
    struct loop_hook *h = l->hooks;

    while (h && !h->marked)
        h = h->next;
    return h;
}

/* Run until nothing is deferred or marked. Calls that defer themselves again and again are interrupted, so that
 * descriptors are served. */
static void loop_end_turn(struct loop *l)
{
    for (int round = 0; round < HOOK_ROUNDS_MAX; round++) {
        struct loop_hook *h;

        if (l->deferred.first || l->n_marked)
            loop_note_begin(l);
        if (l->deferred.first) {
            call_list_move(&l->running, &l->deferred);
            loop_make_calls(l);
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
static void loop_work_in_background(struct loop *l)
{
    struct background *b = &l->background;
    int64_t now_us = clock_real_mono_us(), began_us = now_us;
    bool is_free = background_is_free(b, now_us, !l->began_us);
    int64_t slice_us = turn_share_slice(&b->share, now_us, is_free);

    if (slice_us == 0)
        return;
    while (now_us - began_us < slice_us && loop_make_call(background_take(b)))
        now_us = clock_real_mono_us();
    loop_end_turn(l);
    if (!is_free)
        turn_share_spend(&b->share, clock_real_mono_us() - began_us);
}

int loop_turn(struct loop *l, int64_t max_wait_ms, struct err *e)
{
    int64_t wait_ms = time_to_sleep_ms(l, max_wait_ms);

    l->began_us = 0;
    if (loop_watches_call(l, wait_ms > INT_MAX ? INT_MAX : (int)wait_ms, e) < 0)
        return -1;
    loop_timers_call(l, LOOP_CLOCK);
    loop_timers_call(l, LOOP_REAL);
    loop_end_turn(l);
    if (background_has_calls(&l->background))
        loop_work_in_background(l);
    if (l->turn_over)
        l->turn_over(l->turn_over_arg);
    return 0;
}

void loop_set_turn_over(struct loop *l, loop_fn *fn, void *arg)
{
    l->turn_over = fn;
    l->turn_over_arg = arg;
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
