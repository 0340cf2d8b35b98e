/* libpbs on the loop: the descriptor is watched, and whatever answers are ready are handed to those who await
 * them. Connecting and registering wait for the server; nothing else is to be done meanwhile.
 *
 * A send may read the answer of an earlier call, after which the descriptor is silent: so answers are looked
 * for at the end of each turn in which something was sent. A connection that fails is taken down at the end
 * of the turn too, because sched_link_fail is called from within the functions of those who await. */
#include "sched_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "clock.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "pbs_error.h"
#include "pbs_ext.h"

/* A server that was restarted answers within moments; one that is away is asked every RETRY_LAST_MS, which costs it
 * nothing. */
enum { RETRY_FIRST_MS = 50, RETRY_LAST_MS = 2000 };

/* Between signs of life: half of the least heartbeat_timeout, and nothing beside what a cycle of that length costs. */
enum { SIGN_MS = 500 };

/* A call that is not answered. */
struct sched_link_waiter {
    int ticket;
    sched_link_fn *fn;
    void *arg;
    UT_hash_handle hh;
};

struct sched_link {
    struct loop *loop;
    char *sched_name;
    struct sched_link_events events;
    int c;
    struct loop_watch *watch;
    struct loop_timer *retry;
    int64_t delay_ms;
    int64_t signed_ms; /* real monotonic: the last sign of life */
    bool complained;   /* one line about a server that is away, not one a second */
    bool failing;      /* going down at the end of the turn */
    bool deferred;
    struct sched_link_waiter *waiters;
};

static void sched_link_try_connect(void *arg);

struct sched_link *sched_link_create(struct loop *l, const char *sched_name,
                                     const struct sched_link_events *events, struct err *e)
{
    struct sched_link *k = mem_new(1, sizeof *k);

    k->loop = l;
    k->sched_name = mem_text(sched_name);
    k->events = *events;
    k->c = -1;
    k->delay_ms = RETRY_FIRST_MS;
    k->retry = loop_timer_create(l, LOOP_REAL, sched_link_try_connect, k);
    if (!k->retry) {
        err_set(e, PBSE_SYSTEM, "no memory for a timer");
        sched_link_destroy(k);
        return NULL;
    }
    loop_timer_set(k->retry, 0);
    return k;
}

int sched_link_connection(const struct sched_link *k)
{
    return k->failing ? -1 : k->c;
}

/* At the end of a turn. Tickets are dropped before the connection closes, since they are of it. */
static void sched_link_take_down(void *arg)
{
    struct sched_link *k = arg;

    if (k->c < 0)
        return;
    loop_watch_destroy(k->watch);
    k->watch = NULL;
    while (k->waiters) {
        struct sched_link_waiter *w = k->waiters;
        HASH_DEL(k->waiters, w);
        pbs_drop(k->c, w->ticket);
        free(w);
    }
    pbs_disconnect(k->c);
    k->c = -1;
    k->failing = false;
    log_event(LOGC_SVR, LOGE_SYSTEM, "link", "We lost connection with the server, leaving scheduling cycle");
    k->events.down(k->events.arg);
    loop_timer_set(k->retry, k->delay_ms);
}

void sched_link_fail(struct sched_link *k)
{
    if (k->failing || k->c < 0)
        return;
    k->failing = true;
    loop_defer(k->loop, sched_link_take_down, k);
}

/* All that are ready. A function may send, or fail the connection, which ends the walk. */
static void sched_link_take_answers(void *arg)
{
    struct sched_link *k = arg;
    int ticket = 0;

    while (!k->failing && (ticket = pbs_next_ready(k->c)) > 0) {
        struct sched_link_waiter *w;
        HASH_FIND_INT(k->waiters, &ticket, w);
        if (!w) {
            pbs_drop(k->c, ticket);
            continue;
        }
        HASH_DEL(k->waiters, w);
        w->fn(w->arg, k->c, ticket);
        free(w);
    }
    if (ticket < 0)
        sched_link_fail(k);
}

static void sched_link_take_deferred(void *arg)
{
    struct sched_link *k = arg;

    k->deferred = false;
    if (k->c >= 0)
        sched_link_take_answers(k);
}

static void sched_link_readable(void *arg, unsigned ready)
{
    sched_link_take_answers(arg);
}

int sched_link_await(struct sched_link *k, int ticket, sched_link_fn *fn, void *arg)
{
    if (ticket <= 0) {
        sched_link_fail(k);
        return -1;
    }
    struct sched_link_waiter *w = mem_new(1, sizeof *w);
    w->ticket = ticket;
    w->fn = fn;
    w->arg = arg;
    HASH_ADD_INT(k->waiters, ticket, w);
    /* A send may have read the answer of an earlier call: no poll reports that one. */
    if (!k->deferred)
        loop_defer(k->loop, sched_link_take_deferred, k);
    k->deferred = true;
    return 0;
}

static void sched_link_sign_answered(void *arg, int c, int ticket)
{
    pbs_recv(
        c,
        ticket); /* a server that does not know signs of life refuses this one, and has heard from us all the same */
}

void sched_link_sign(struct sched_link *k)
{
    int64_t now_ms = clock_real_mono_ms();

    if (sched_link_connection(k) < 0 || now_ms - k->signed_ms < SIGN_MS)
        return;
    k->signed_ms = now_ms;
    sched_link_await(k, pbs_sched_alive_send(k->c), sched_link_sign_answered, NULL);
}

void sched_link_tell_counts(struct sched_link *k, const struct pbs_sched_counts *counts)
{
    if (sched_link_connection(k) >= 0)
        sched_link_await(k, pbs_sched_counts_send(k->c, counts), sched_link_sign_answered, NULL);
}

/* The only place that waits for the server: connecting, what `enter` asks, and registering. */
static int make_connection(struct sched_link *k, struct err *e)
{
    int c = pbs_connect(NULL);

    if (c < 0)
        return err_set(e, pbs_errno, "cannot connect to the server (%d)", pbs_errno);
    if (k->events.enter(k->events.arg, c, e) < 0) {
        pbs_disconnect(c);
        return -1;
    }
    if (pbs_register_sched(k->sched_name, c, c) != 0) {
        const char *text = pbs_geterrmsg(c);
        err_set(e, pbs_errno, "cannot register as scheduler %s: %s (%d)", k->sched_name, text ? text : "",
                pbs_errno);
        pbs_disconnect(c);
        return -1;
    }
    k->watch = loop_watch_create(k->loop, pbs_fd(c), LOOP_READ, sched_link_readable, k, e);
    if (!k->watch) {
        pbs_disconnect(c);
        return -1;
    }
    k->c = c;
    return 0;
}

/* At first after RETRY_FIRST_MS, then less and less often. One line about a server that is away, not one
 * for each try. */
static void sched_link_try_connect(void *arg)
{
    struct sched_link *k = arg;
    struct err e;

    if (make_connection(k, &e) < 0) {
        if (!k->complained)
            log_event(LOGC_SVR, LOGE_SYSTEM, "link", "%s", e.text);
        k->complained = true;
        loop_timer_set(k->retry, k->delay_ms);
        k->delay_ms = k->delay_ms * 2 < RETRY_LAST_MS ? k->delay_ms * 2 : RETRY_LAST_MS;
        return;
    }
    k->complained = false;
    k->delay_ms = RETRY_FIRST_MS;
    log_event(LOGC_SVR, LOGE_SYSTEM, "link", "Connected to the server");
    k->signed_ms = 0;
    sched_link_sign(k); /* from now on the server expects signs */
    k->events.up(k->events.arg);
}

void sched_link_destroy(struct sched_link *k)
{
    if (!k)
        return;
    loop_forget(k->loop, sched_link_take_down, k);
    loop_forget(k->loop, sched_link_take_deferred, k);
    loop_watch_destroy(k->watch);
    loop_timer_destroy(k->retry);
    while (k->waiters) {
        struct sched_link_waiter *w = k->waiters;
        HASH_DEL(k->waiters, w);
        free(w);
    }
    if (k->c >= 0)
        pbs_disconnect(k->c);
    free(k->sched_name);
    free(k);
}
