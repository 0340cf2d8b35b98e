/* See rpc_shares.h. A share is forgotten with its last connection and request.
 *
 * Calls a second: `full_at_ms` is when the ten seconds' worth will have been earned again; each call moves it by what a
 * call costs. In thousandths of a millisecond, so that no rate is rounded to nothing. */
#include "rpc_shares.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "loop.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* A user may use the share of BURST_MS at once: commands come in bursts. A complaint is logged once in COMPLAIN_MS. */
enum { BURST_MS = 10000, COMPLAIN_MS = 60000 };

struct rpc_share {
    struct rpc_shares *all; /* NULL: they are destroyed */
    unsigned refs;
    size_t connections, memory, output;
    int64_t full_at_us, complained_mono_ms;
    struct rpc_share_waiter *first, *last;
    struct loop_timer *timer;
    UT_hash_handle hh;
    char name[AUTH_ROLE_MAX + 1];
};

struct rpc_shares {
    struct loop *loop;
    struct rpc_share_limits each;
    struct rpc_share *users;
};

struct rpc_shares *rpc_shares_create(struct loop *l, const struct rpc_share_limits *each)
{
    struct rpc_shares *s = calloc(1, sizeof *s);

    if (s)
        *s = (struct rpc_shares){.loop = l, .each = *each};
    return s;
}

static void rpc_shares_forget(struct rpc_share *u)
{
    loop_timer_destroy(u->timer);
    u->timer = NULL;
    if (u->all)
        HASH_DEL(u->all->users, u);
    u->all = NULL;
}

void rpc_shares_destroy(struct rpc_shares *s)
{
    struct rpc_share *u, *next;

    if (!s)
        return;
    HASH_ITER(hh, s->users, u, next)
    rpc_shares_forget(u); /* the last holder frees it */
    free(s);
}

/* The numbers of root and of our own account: exempt where the kernel says so. MUNGE proves them by any host that has
 * its key, so it gives no such rights (doc/security.md). */
static bool is_ours(const struct auth_peer *p)
{
    return p->uid == 0 || p->uid == geteuid();
}

static bool has_share(const struct auth_peer *p)
{
    if (p->kind == AUTH_LOCAL)
        return !is_ours(p);
    return p->kind == AUTH_USER || (p->kind == AUTH_DAEMON && strncmp(p->role, "mom:", 4) == 0);
}

/* Root of one host is another user than root of the next. */
static void share_name(const struct auth_peer *p, char out[AUTH_ROLE_MAX + 1])
{
    char address[64];

    if (p->kind == AUTH_DAEMON)
        snprintf(out, AUTH_ROLE_MAX + 1, "%s", p->role);
    else if (p->kind == AUTH_USER && is_ours(p))
        snprintf(out, AUTH_ROLE_MAX + 1, "user %ld of %s", (long)p->uid, auth_peer_address(p, address));
    else
        snprintf(out, AUTH_ROLE_MAX + 1, "user %ld", (long)p->uid);
}

static struct rpc_share *rpc_shares_add(struct rpc_shares *s, const char *name)
{
    struct rpc_share *u = calloc(1, sizeof *u);

    if (!u)
        return NULL;
    u->all = s;
    snprintf(u->name, sizeof u->name, "%s", name);
    HASH_ADD_STR(s->users, name, u);
    if (u->hh.tbl)
        return u;
    free(u);
    return NULL;
}

struct rpc_share *rpc_shares_get(struct rpc_shares *s, const struct auth_peer *p, bool *ok)
{
    char name[AUTH_ROLE_MAX + 1];
    struct rpc_share *u;

    *ok = true;
    if (!has_share(p))
        return NULL;
    share_name(p, name);
    HASH_FIND_STR(s->users, name, u);
    if (!u)
        u = rpc_shares_add(s, name);
    *ok = u != NULL;
    return rpc_share_ref(u);
}

struct rpc_share *rpc_share_ref(struct rpc_share *u)
{
    if (u)
        u->refs++;
    return u;
}

void rpc_share_unref(struct rpc_share *u)
{
    if (!u || --u->refs)
        return;
    rpc_shares_forget(u);
    free(u);
}

bool rpc_share_connect(struct rpc_share *u)
{
    if (!u)
        return true;
    if (u->all && u->connections >= u->all->each.connections)
        return false;
    u->connections++;
    return true;
}

void rpc_share_disconnect(struct rpc_share *u)
{
    if (u)
        u->connections--;
}

void rpc_share_add_memory(struct rpc_share *u, size_t n)
{
    if (u)
        u->memory += n;
}

void rpc_share_drop_memory(struct rpc_share *u, size_t n)
{
    if (!u)
        return;
    u->memory -= n;
    rpc_share_pass_on(u);
}

void rpc_share_change_output(struct rpc_share *u, size_t before, size_t now)
{
    if (!u || before == now)
        return;
    u->output += now - before;
    if (now < before)
        rpc_share_pass_on(u);
}

/* --- calls a second. MOMs have no such limit, since they report what jobs do and do not choose how often. */

static bool has_rate(const struct rpc_share *u)
{
    return u->all && u->all->each.calls_per_s && u->name[0] == 'u';
}

void rpc_share_count_call(struct rpc_share *u, int64_t now_mono_ms)
{
    int64_t now_us = now_mono_ms * 1000;

    if (!u || !has_rate(u))
        return;
    if (u->full_at_us < now_us)
        u->full_at_us = now_us;
    u->full_at_us += 1000000 / u->all->each.calls_per_s;
}

static int64_t late_ms(const struct rpc_share *u, int64_t now_mono_ms)
{
    int64_t ahead_ms = u->full_at_us / 1000 - now_mono_ms - BURST_MS;

    return has_rate(u) && ahead_ms > 0 ? ahead_ms : 0;
}

/* --- waiting */

static const char *what_is_over(const struct rpc_share *u, int64_t now_mono_ms)
{
    if (!u->all)
        return NULL;
    if (u->memory > u->all->each.memory_bytes)
        return "memory of calls that are not answered";
    if (u->output > u->all->each.output_bytes)
        return "answers that are not read";
    return late_ms(u, now_mono_ms) ? "calls a second" : NULL;
}

bool rpc_share_is_over(const struct rpc_share *u, int64_t now_mono_ms)
{
    return u && what_is_over(u, now_mono_ms) != NULL;
}

void rpc_share_pass_on(struct rpc_share *u)
{
    struct rpc_share_waiter *w = u ? u->first : NULL;

    if (!w)
        return;
    rpc_share_leave(w);
    w->wake(w->arg);
}

static void rpc_shares_on_time(void *arg)
{
    rpc_share_pass_on(arg);
}

static void rpc_shares_complain(struct rpc_share *u, int64_t now_mono_ms)
{
    const char *what = what_is_over(u, now_mono_ms);

    if (!what || (u->complained_mono_ms && now_mono_ms - u->complained_mono_ms < COMPLAIN_MS))
        return;
    u->complained_mono_ms = now_mono_ms;
    log_event(
        LOGC_TPP, LOGE_ADMIN, u->name,
        "calls wait: the share of %s is used up (%zu bytes of calls, %zu bytes of answers, %zu connections)",
        what, u->memory, u->output, u->connections);
}

void rpc_share_wait(struct rpc_share *u, struct rpc_share_waiter *w, int64_t now_mono_ms)
{
    int64_t late = late_ms(u, now_mono_ms);

    rpc_shares_complain(u, now_mono_ms);
    if (!w->share) {
        w->share = u;
        w->prev = u->last;
        w->next = NULL;
        if (u->last)
            u->last->next = w;
        else
            u->first = w;
        u->last = w;
    }
    if (!late || (u->timer && loop_timer_is_set(u->timer)))
        return;
    if (!u->timer)
        u->timer = loop_timer_create(u->all->loop, LOOP_REAL, rpc_shares_on_time, u);
    if (u->timer)
        loop_timer_set(u->timer, late);
}

void rpc_share_leave(struct rpc_share_waiter *w)
{
    struct rpc_share *u = w->share;

    if (!u)
        return;
    if (w->prev)
        w->prev->next = w->next;
    else
        u->first = w->next;
    if (w->next)
        w->next->prev = w->prev;
    else
        u->last = w->prev;
    w->next = w->prev = NULL;
    w->share = NULL;
}
