/* Tolerant jobs wait for their slow hosts, but not for ever. See join_wait.h.
 *
 * One timer, set to the first such job; when it rings all jobs are looked at, and those that are being started are few. The
 * time of sending is of this process only: after a restart the wait begins again. What a host says after it
 * was given up is ignored (exec_take.c). The first host is never given up: it has the script. */
#include "join_wait.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "job_end.h"
#include "job_run.h"
#include "log.h"
#include "loop.h"
#include "server_ctx.h"

/* PBS's default of $sister_join_job_alarm, which is not read: that setting is a MOM's. */
enum { PATIENCE_MS = 30000 };

struct join_wait {
    struct server_ctx *ctx;
    struct job_end *end;
    struct loop_timer *timer;
};

static bool is_tolerant(const struct job *j)
{
    const char *how = attr_list_text(&j->obj.attrs, JOB_ATTR_tolerate_node_failures);

    return how && strcmp(how, "none") != 0;
}

static bool waits(const struct job *j)
{
    return j->state == JOB_STARTING && j->run && j->run->n_hosts > 1 && !j->run->launched && is_tolerant(j);
}

static void give_up_slow(struct join_wait *w, struct job *j)
{
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "sister_join_job_alarm wait time %d secs exceeded",
              PATIENCE_MS / 1000);
    job_ref(j);
    for (size_t i = 1; waits(j) && i < j->run->n_hosts; i++)
        if (j->run->hosts[i].state == RUN_HOST_SENT)
            job_end_host_lost(w->end, j, j->run->hosts[i].service);
    job_unref(j);
}

static void join_wait_look(void *arg)
{
    struct join_wait *w = arg;
    int64_t now = clock_mono_ms(w->ctx->clock), next = INT64_MAX;

    for (struct job *j = jobs_first(w->ctx->jobs), *after; j; j = after) {
        after = jobs_next(j);
        if (!waits(j))
            continue;
        if (!j->run->sent_mono_ms) /* found by a restarted server */
            j->run->sent_mono_ms = now;
        if (j->run->sent_mono_ms + PATIENCE_MS <= now)
            give_up_slow(w, j);
        else if (j->run->sent_mono_ms + PATIENCE_MS < next)
            next = j->run->sent_mono_ms + PATIENCE_MS;
    }
    if (next != INT64_MAX)
        loop_timer_set_at(w->timer, next);
}

struct join_wait *join_wait_create(struct loop *l, struct server_ctx *s, struct job_end *d)
{
    struct join_wait *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    *w = (struct join_wait){.ctx = s, .end = d, .timer = loop_timer_create(l, LOOP_CLOCK, join_wait_look, w)};
    if (!w->timer) {
        free(w);
        return NULL;
    }
    loop_timer_set(w->timer, PATIENCE_MS); /* for what a restart finds */
    return w;
}

void join_wait_destroy(struct join_wait *w)
{
    if (!w)
        return;
    loop_timer_destroy(w->timer);
    free(w);
}

void join_wait_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct join_wait *w = arg;

    if (!waits(j) || j->run->sent_mono_ms)
        return;
    j->run->sent_mono_ms = clock_mono_ms(w->ctx->clock);
    if (!j->run->sent_mono_ms)
        j->run->sent_mono_ms = 1;
    if (!loop_timer_is_set(w->timer))
        loop_timer_set(w->timer, PATIENCE_MS);
}
