/* Timers: two heaps, one a kind of time. See loop.h.
 *
 * Room in the heap is reserved when a timer is created, so that setting one cannot fail: a daemon that loses a
 * deadline because memory is short would wait for ever. */
#include "loop_timer.h"

#include <assert.h>
#include <stdlib.h>

#include "loop_state.h"

struct loop_timer {
    struct loop *l;
    enum loop_time which;
    struct pqueue_entry due;
    loop_fn *fn;
    void *arg;
};

static int64_t now_of(const struct loop *l, enum loop_time which)
{
    return which == LOOP_CLOCK ? clock_mono_ms(l->clock) : clock_real_mono_ms();
}

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

/* A delay that is too long for the clock is for ever. */
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

/* --- for the turn --- */

/* -1: as long as it takes. Never longer than max_wait_ms, if that is not below 0. */
int64_t loop_timers_wait_ms(const struct loop *l, int64_t max_wait_ms)
{
    int64_t wait_ms = max_wait_ms < 0 ? INT64_MAX : max_wait_ms;

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

/* The timers that are due now; what these set to "at once" comes in the next turn, so descriptors get theirs. */
void loop_timers_call(struct loop *l, enum loop_time which)
{
    int64_t now_ms = now_of(l, which);
    uint64_t newer = l->timers[which].next_order;
    struct pqueue_entry *first;

    while ((first = pqueue_first(&l->timers[which])) && first->key <= now_ms && first->order < newer) {
        struct loop_timer *t = PQUEUE_OWNER(first, struct loop_timer, due);

        pqueue_remove(&l->timers[which], first);
        loop_note_begin(l);
        t->fn(t->arg);
    }
}
