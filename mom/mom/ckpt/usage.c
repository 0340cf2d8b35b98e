/* A timer for each active run asks its shepherd, and the answer is looked at by three: the server is told,
 * the limits are held against it, and a checkpoint may be due. The answer may come when the run is no longer
 * active; then it is dropped. The pause grows in equal steps up to $max_check_poll, so a job that goes wrong
 * at its start is caught early. A program that may show that it saves itself is looked at sooner: until that is seen, an
 * urgent job cannot choose to have it saved. */
#include "usage.h"

#include <stdio.h>
#include <stdlib.h>

#include "ckpt.h"
#include "mom_config.h"
#include "enforce.h"
#include "exec_service.h"
#include "log.h"
#include "loop.h"
#include "mom.h"
#include "mom_run.h"
#include "rpc_buf.h"
#include "shepherds.h"

/* FIRST_LOOK_MS: a shell has set its traps after 50 ms, Python imports take most of a second; each further look comes after twice as
 * long. */
enum { MS_PER_S = 1000, STEPS_TO_MAX = 20, FIRST_LOOK_MS = 500 };

struct exec_usage usage_counted(const struct mom *m, const struct run *r)
{
    struct exec_usage u = r->usage;

    u.cput_ms = (u_quad_t)((double)u.cput_ms * m->home.config->cput_mult);
    u.walltime_ms = (u_quad_t)((double)u.walltime_ms * m->home.config->wall_mult);
    return u;
}

/* A run that was told to end has its grace period, or the script of $action terminate. A second order to end would cut
 * that short. */
static void enforce(struct mom *m, struct run *r, const struct exec_usage *u)
{
    char over[sizeof r->stop_text - 32];

    enforce_note(m->home.config, r, u);
    if (r->stop_reason != EXEC_END_ITSELF ||
        !enforce_is_over(m->home.config, r, u, &r->stop_reason, over, sizeof over))
        return;
    log_event(LOGC_JOB, LOGE_JOB, r->id, "%s", over);
    snprintf(r->stop_text, sizeof r->stop_text, "job killed: %s", over);
    r->grace_s = config_grace_s(m->home.config, r->start.kill_delay_s);
    mom_post(m, r, RUN_EV_TERMINATE);
}

static void usage_on_sample(void *arg, struct run *r, const struct shep_done *d)
{
    struct mom *m = arg;
    struct exec_run_usage one = {.job = run_job(r), .run = r->key.run};
    struct exec_usage_args a = {.runs = {1, &one}};
    struct shep_seen seen = {0};

    if (d->code || !run_is_active(r))
        return;
    one.usage = usage_counted(m, r);
    exec_service_send_usage(m->service, &a);
    enforce(m, r, &one.usage);
    if (rpc_buf_decode(d->ext.wire_ext_val, d->ext.wire_ext_len, (xdrproc_t)xdr_shep_seen, &seen) == 0)
        ckpt_saw_handlers(m, r, seen.handlers);
    ckpt_look(m, r, &one.usage);
}

struct sampler { /* lives with the timer */
    struct mom *m;
    struct run *r;
};

static int64_t usage_next_ms(const struct mom *m, const struct run *r)
{
    const struct config *c = m->home.config;
    int64_t least = c->min_check_s * MS_PER_S, most = c->max_check_s * MS_PER_S, next;

    if (r->sample_ms < least)
        return ckpt_wants_handlers(m, r) && 2 * r->sample_ms < least ? 2 * r->sample_ms : least;
    next = r->sample_ms + (most - least) / STEPS_TO_MAX;
    return next < most ? next : most;
}

static void usage_on_timer(void *arg)
{
    struct sampler *s = arg;

    s->r->sample_ms = usage_next_ms(s->m, s->r);
    /* Before the question: it may be answered inside. */
    loop_timer_set(s->r->sample_timer, s->r->sample_ms);
    shepherds_usage(s->r, usage_on_sample, s->m);
}

void usage_begin(struct mom *m, struct run *r)
{
    if (r->sample_timer)
        return;
    r->sampler = calloc(1, sizeof *r->sampler);
    if (!r->sampler)
        return;
    *r->sampler = (struct sampler){m, r};
    r->sample_timer = loop_timer_create(m->loop, LOOP_CLOCK, usage_on_timer, r->sampler);
    r->sample_ms = m->home.config->min_check_s * MS_PER_S;
    if (ckpt_wants_handlers(m, r) && r->sample_ms > FIRST_LOOK_MS)
        r->sample_ms = FIRST_LOOK_MS;
    if (r->sample_timer)
        loop_timer_set(r->sample_timer, r->sample_ms);
}

void usage_end(struct run *r)
{
    loop_timer_destroy(r->sample_timer);
    r->sample_timer = NULL;
    free(r->sampler);
    r->sampler = NULL;
}
