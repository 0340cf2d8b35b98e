/* The timer runs from the loss of a connection until a server has accepted this MOM and decided about its runs; the silence before
 * the loss was noticed counts. When it fires, each run that is not ending already is told to end, and its events wait in its journal
 * for a server. It fires once: without a server no run can come. A MOM that is started has no server, so it begins a lease. */
#include "server_lease.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mom_config.h"
#include "log.h"
#include "loop.h"
#include "mom.h"
#include "mom_run.h"

/* LOOKS: a choice; a silent connection is tried after this part of the lease, so that a loss is noticed before the lease is over.
 * Leases of four minutes and more leave that to the usual keepalive. */
enum { MS_PER_S = 1000, LOOKS = 4 };

struct server_lease {
    struct mom *m;
    struct loop_timer *timer;
};

static void server_lease_end_run(void *arg, struct run *r)
{
    struct mom *m = arg;

    if (r->slot.state >= RUN_ENDING)
        return;
    r->grace_s = config_grace_s(m->home.config, r->start.kill_delay_s);
    r->stop_reason = EXEC_END_LOST;
    snprintf(r->stop_text, sizeof r->stop_text, "job killed: its host has had no server for %lld s",
             (long long)m->home.config->server_lease_s);
    mom_post(m, r, RUN_EV_TERMINATE);
}

static void server_lease_expired(void *arg)
{
    struct server_lease *l = arg;

    log_event(
        LOGC_NODE, LOGE_ERROR, l->m->home.node,
        "no server for %lld s ($server_lease): those of the %zu runs here that have not ended are ended",
        (long long)l->m->home.config->server_lease_s, runs_count(l->m->runs));
    runs_each(l->m->runs, server_lease_end_run, l->m);
}

struct server_lease *server_lease_create(struct mom *m, struct err *e)
{
    struct server_lease *l = calloc(1, sizeof *l);

    if (l)
        *l = (struct server_lease){m, loop_timer_create(m->loop, LOOP_REAL, server_lease_expired, l)};
    if (!l || !l->timer) {
        free(l);
        err_set(e, ENOMEM, "no memory for the lease");
        return NULL;
    }
    server_lease_start(l, 0);
    return l;
}

void server_lease_destroy(struct server_lease *l)
{
    if (!l)
        return;
    loop_timer_destroy(l->timer);
    free(l);
}

void server_lease_renew(struct server_lease *l)
{
    loop_timer_cancel(l->timer);
}

void server_lease_start(struct server_lease *l, int64_t silent_ms)
{
    int64_t lease_ms = l->m->home.config->server_lease_s * MS_PER_S;

    if (lease_ms)
        loop_timer_set(l->timer, lease_ms > silent_ms ? lease_ms - silent_ms : 0);
}

int64_t server_lease_keepalive_ms(const struct mom *m)
{
    int64_t lease_ms = m->home.config->server_lease_s * MS_PER_S;

    return lease_ms && lease_ms < LOOKS * 60 * MS_PER_S ? lease_ms / LOOKS : 0;
}
