/* Said again at every look: a job that was started, resumed, or found again by a new MOM in the meantime is treated like the
 * others, and the shepherd minds no repetition. */
#include "harvest.h"

#include <stdio.h>

#include "clock.h"
#include "mom_config.h"
#include "cycle_harvest.h"
#include "log.h"
#include "mom.h"
#include "mom_run.h"
#include "shepherds.h"

enum { MS_PER_S = 1000 };

/* From when on a job on several hosts has to go. */
static bool must_go(const struct mom *m, const struct run *r)
{
    const struct config *c = m->home.config;

    return c->multinode_requeue && r->start.hosts.hosts_len > 1 &&
           clock_real_mono_ms() - r->stands_since_ms >= c->multinode_wait_s * MS_PER_S;
}

static void send_back(struct mom *m, struct run *r)
{
    r->grace_s = config_grace_s(m->home.config, r->start.kill_delay_s);
    r->stop_reason = EXEC_END_LOST;
    snprintf(r->stop_text, sizeof r->stop_text, "job requeued: its host %s is in use", m->home.node);
    log_event(LOGC_JOB, LOGE_JOB, r->id, "ended here, the host is in use ($action multinodebusy)");
    r->stands = false;
    mom_post(m, r, RUN_EV_TERMINATE);
}

static void stop(struct mom *m, struct run *r)
{
    if (!r->stands) {
        r->stands_since_ms = clock_real_mono_ms();
        log_event(LOGC_JOB, LOGE_JOB, r->id, "stands still, the host is in use");
    }
    r->stands = true;
    if (must_go(m, r))
        send_back(m, r);
    else
        shepherds_suspend(r, NULL, NULL);
}

static void let_go_on(struct run *r)
{
    log_event(LOGC_JOB, LOGE_JOB, r->id, "goes on, the host is not in use any more");
    r->stands = false;
    shepherds_resume(r, NULL, NULL);
}

static void look_at(void *arg, struct run *r)
{
    struct mom *m = arg;

    if (r->slot.state != RUN_RUNNING)
        r->stands = false; /* what it does is the server's matter, or its end */
    else if (cycle_harvest_stops_jobs(m->cycle_harvest) &&
             r->stop_reason == EXEC_END_ITSELF) /* not told to end */
        stop(m, r);
    else if (r->stands)
        let_go_on(r);
}

void harvest_look(struct mom *m)
{
    runs_each(m->runs, look_at, m);
}
