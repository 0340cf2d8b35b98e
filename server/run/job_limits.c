/* Limits of a whole job. See job_limits.h.
 *
 * Hosts report usage in their own time; exec_take.c adds it up and tells RUN_USED, and this is asked each time. A job on one
 * host is left to that host.
 *
 * The order goes to the first host: its end is the job's, and act_finish ends the others then, as for any
 * job. That it was told is remembered in the run and not stored: after a restart the next sample tells it
 * again, which is harder, and that does no harm to a job that is over its limit. */
#include "job_limits.h"

#include <exec.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec_send.h"
#include "job_run.h"
#include "log.h"
#include "services.h"
#include "server_ctx.h"
#include "run_terminate.h"

enum { MS_PER_S = 1000, KB = 1024, TEXT_MAX = 128 };

struct job_limits {
    struct server_ctx *ctx;
    struct services *services;
    struct exec_send *send;
};

struct job_limits *job_limits_create(struct server_ctx *s, struct services *sv, struct exec_send *x)
{
    struct job_limits *l = calloc(1, sizeof *l);

    if (l)
        *l = (struct job_limits){s, sv, x};
    return l;
}

void job_limits_destroy(struct job_limits *l)
{
    free(l);
}

/* 0: none. */
static int64_t job_limits_asked(const struct job *j, int resource)
{
    return value_number(attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, resource));
}

static bool over_cput(const struct job *j, char *text)
{
    int64_t limit_s = job_limits_asked(j, RESC_cput);

    if (limit_s <= 0 || j->usage.cput_ms <= limit_s * MS_PER_S)
        return false;
    snprintf(text, TEXT_MAX, "cput job total %" PRId64 " secs exceeded limit %" PRId64 " secs",
             (j->usage.cput_ms + MS_PER_S - 1) / MS_PER_S, limit_s);
    return true;
}

static bool over_mem(const struct job_limits *l, const struct job *j, char *text)
{
    const struct service *first = services_find(l->services, j->run->hosts[0].service);
    int64_t limit_kb = job_limits_asked(j, RESC_mem) / KB;

    if (!first || !(first->capabilities & EXEC_WANTS_MEM_SUM) || limit_kb <= 0 || j->usage.mem_kb <= limit_kb)
        return false;
    snprintf(text, TEXT_MAX, "mem job total %" PRId64 " kb exceeded limit %" PRId64 " kb", j->usage.mem_kb,
             limit_kb);
    return true;
}

void job_limits_on_used(void *arg, const struct server_event *ev)
{
    struct job_limits *l = arg;
    struct job *j = ev->job;
    struct run *r = j->run;
    char text[TEXT_MAX];
    exec_reason reason = EXEC_END_CPUT;

    if (r->n_hosts < 2 || r->over_limit || r->finished || !r->started || r->terminations ||
        !service_is_here(services_find(l->services, r->hosts[0].service)))
        return;
    if (!over_cput(j, text)) {
        reason = EXEC_END_MEM;
        if (!over_mem(l, j, text))
            return;
    }
    r->over_limit = true;
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "%s", text);
    exec_send_over_limit(l->send, j, (int)reason, text, run_terminate_grace_s(j));
}
