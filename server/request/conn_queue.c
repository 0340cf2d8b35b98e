/* The calls of one connection. See conn_queue.h.
 *
 * dispatch.c puts each call of a connection in, in the order in which they came. A call waits in three cases: the
 * queue is not open yet, a call is waiting before it, or it looks and the loop has given no turn yet. The queue asks
 * for a turn in the background when the call at its front is one that looks, and makes that one and what follows up to
 * the next such call. So at most one turn is asked for at a time (`turn_comes`).
 *
 * A call may destroy the queue that makes it (its handler closes the connection): while calls are made (`is_busy`) the
 * queue is only marked dead, and freed when the call has returned. A call may also put another one in; that one waits
 * for the loop below to come to it.
 *
 * Looks before the crowd are tokens: LOOKS_SAVED at first and at most, one more for each LOOK_EARNED_MS. They are kept
 * as the time since which none was used, so no timer counts them. */
#include "conn_queue.h"

#include <stdlib.h>

#include "clock.h"
#include "loop.h"

/* Choices: a command of a person connects, looks once or twice and ends, or is repeated by hand or by watch(1) every
 * second or two. Beside 200 clients that poll without rest this makes a qstat take 50 to 100 ms instead of 200. */
enum { LOOKS_SAVED = 4, LOOK_EARNED_MS = 500 };

struct conn_queue_waiting {
    struct conn_queue_waiting *next;
    void *call;
    bool looks;
};

struct conn_queue {
    struct loop *l;
    const struct conn_queue_ops *ops;
    void *arg;
    struct conn_queue_waiting *first, **last;
    bool is_open, turn_comes, is_busy, is_dead;
    int64_t looks_since_ms; /* tokens have been earned since then */
};

struct conn_queue *conn_queue_create(struct loop *l, const struct conn_queue_ops *ops, void *arg)
{
    struct conn_queue *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    *n = (struct conn_queue){.l = l, .ops = ops, .arg = arg, .last = &n->first};
    n->looks_since_ms = clock_mono_ms(loop_clock(l)) - LOOKS_SAVED * LOOK_EARNED_MS;
    return n;
}

static void *take_first(struct conn_queue *n)
{
    struct conn_queue_waiting *w = n->first;
    void *call = w->call;

    n->first = w->next;
    if (!n->first)
        n->last = &n->first;
    free(w);
    return call;
}

static void conn_queue_turn_cb(void *queue);

void conn_queue_destroy(struct conn_queue *n)
{
    if (!n)
        return;
    if (n->turn_comes)
        loop_forget(n->l, conn_queue_turn_cb, n);
    while (n->first)
        n->ops->drop(take_first(n));
    n->is_dead = true;
    if (!n->is_busy)
        free(n);
}

/* Use one token, if there is one: false means that this client looks often and waits with the crowd. */
static bool is_seldom(struct conn_queue *n)
{
    int64_t now_ms = clock_mono_ms(loop_clock(n->l));

    if (n->looks_since_ms < now_ms - LOOKS_SAVED * LOOK_EARNED_MS)
        n->looks_since_ms = now_ms - LOOKS_SAVED * LOOK_EARNED_MS;
    if (n->looks_since_ms > now_ms - LOOK_EARNED_MS)
        return false;
    n->looks_since_ms += LOOK_EARNED_MS;
    return true;
}

static int ask_for_turn(struct conn_queue *n)
{
    return (is_seldom(n) ? loop_background_soon : loop_background)(n->l, conn_queue_turn_cb, n);
}

/* As many as may be made now: with a turn one that looks, and up to the next such in any case. `n` may be freed. */
static void conn_queue_make_calls(struct conn_queue *n, bool has_turn)
{
    n->is_busy = true;
    while (n->first && (has_turn || !n->first->looks)) {
        has_turn = has_turn && !n->first->looks;
        n->ops->make(n->arg, take_first(n));
    }
    n->is_busy = false;
    if (n->is_dead)
        free(n);
    else if (n->first)
        n->turn_comes = ask_for_turn(n) == 0; /* no memory: the next call asks again */
}

static void conn_queue_turn_cb(void *queue)
{
    struct conn_queue *n = queue;

    n->turn_comes = false;
    conn_queue_make_calls(n, true);
}

static int conn_queue_append(struct conn_queue *n, void *call, bool looks)
{
    struct conn_queue_waiting *w = malloc(sizeof *w);

    if (!w)
        return -1;
    *w = (struct conn_queue_waiting){.call = call, .looks = looks};
    *n->last = w;
    n->last = &w->next;
    return 0;
}

int conn_queue_call(struct conn_queue *n, void *call, bool looks)
{
    if (n->is_open && !n->first && !looks) {
        n->ops->make(n->arg, call);
        return 0;
    }
    if (conn_queue_append(n, call, looks) < 0)
        return -1;
    if (n->is_open && !n->turn_comes && !n->is_busy)
        conn_queue_make_calls(n, false);
    return 0;
}

void conn_queue_open(struct conn_queue *n)
{
    n->is_open = true;
    conn_queue_make_calls(n, false);
}
