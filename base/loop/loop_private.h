#ifndef LOOP_PRIVATE_H
#define LOOP_PRIVATE_H
/* What the files of the loop share; no other file includes it. loop.c (the turn) calls loop_watch.c (descriptors and
 * signals) and loop_timer.c; loop_hook.c is independent of them. All are declared in loop.h. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "background.h"
#include "call_list.h"
#include "clock.h"
#include "loop.h"
#include "pqueue.h"

enum { LOOP_TIMES = 2 };

struct loop {
    int epoll_fd;
    struct loop_watch *ready; /* what the last wait has returned and is not called yet */
    struct loop_signal *signals;
    int signal_fd; /* an eventfd, written by the handler; -1 until the first signal is watched */
    struct loop_watch *signal_watch;
    struct clock *clock;
    struct pqueue timers[LOOP_TIMES];
    size_t n_timers[LOOP_TIMES];        /* that exist: the heaps have room for all of them */
    struct call_list deferred, running; /* running: taken from a list, not made yet */
    struct background background;
    int64_t began_us;        /* when this turn's first callback was called; 0: none was yet */
    struct loop_hook *hooks; /* in order */
    size_t n_marked;
    bool stop;
    int post_fd;
    struct loop_watch *post_watch;
    pthread_mutex_t post_lock;
    struct call_list posted;
    atomic_size_t n_posted;
    loop_fn *turn_over;
    void *turn_over_arg;
};

struct loop_hook {
    struct loop *l;
    struct loop_hook *next;
    int order;
    bool marked;
    loop_fn *fn;
    void *arg;
};

/* Something was ready in this turn: what its callbacks take is not the background's (loop_background). */
static inline void loop_note_begin(struct loop *l)
{
    if (!l->began_us)
        l->began_us = clock_real_mono_us();
}

/* ---- loop_watch.c */
/* Wait at most wait_ms (-1: as long as it takes) for a descriptor or signal, and call what is ready. -1: the system refused. */
int loop_watches_call(struct loop *l, int wait_ms, struct err *e);
void loop_signals_close(struct loop *l); /* after all signals are destroyed */

/* ---- loop_timer.c */
/* Until the first timer of either kind is due, at most max_wait_ms; -1: for ever. A driven clock is not waited for. */
int64_t loop_timers_wait_ms(const struct loop *l, int64_t max_wait_ms);
/* Call those that are due now. */
void loop_timers_call(struct loop *l, enum loop_time which);

#endif
