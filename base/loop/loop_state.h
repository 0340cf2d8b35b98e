#ifndef LOOP_STATE_H
#define LOOP_STATE_H
/* The fields of a loop, for the files loop*.c; others ask loop.h. The comments say which file writes. loop.c (the turn, calls
 * and hooks) calls loop_watch.c and loop_timer.c, which do not know one another. */
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
    /* loop_watch.c */
    int epoll_fd;             /* loop.c opens and closes it */
    struct loop_watch *ready; /* what the last wait has returned and is not called yet */
    struct loop_signal *signals;
    int signal_fd; /* an eventfd, written by the handler; -1 until the first signal is watched */
    struct loop_watch *signal_watch;

    /* loop_timer.c */
    struct clock *clock; /* borrowed */
    struct pqueue timers[LOOP_TIMES];
    size_t n_timers[LOOP_TIMES]; /* that exist: the heaps have room for all of them */

    /* loop.c */
    struct loop_hook *hooks;            /* in order */
    size_t n_marked;                    /* of them */
    struct call_list deferred, running; /* running: taken from a list, not made yet */
    struct background background;
    int64_t began_us; /* when this turn's first callback was called; 0: none was yet (loop_note_begin) */
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

#endif
