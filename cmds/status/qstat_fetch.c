/* See qstat_fetch.h. */
#include "qstat_fetch.h"

#include <stdio.h>
#include <string.h>

#include "operand.h"

int qstat_fetch_target(const struct qstat *q, const char *operand, struct qstat_target *t)
{
    struct destination d;
    struct operand_job job;

    memset(t, 0, sizeof *t);
    strbuf_init(&t->ids, 1 << 20);
    if (!operand)
        return 0;
    if (q->servers) {
        snprintf(t->server, sizeof t->server, "%s", operand);
    } else if (qstat_options_object(q) == QSTAT_JOBS && jobid_is_jobid(operand)) {
        if (operand_job(&q->a, operand, &job) < 0)
            return -1;
        strbuf_add(&t->ids, job.id);
        memcpy(t->shown, job.shown, sizeof t->shown);
        memcpy(t->server, job.server, sizeof t->server);
    } else {
        if (operand_destination(&q->a, operand, &d) < 0)
            return -1;
        memcpy(t->server, d.server, sizeof t->server);
        memcpy(t->queue, d.queue, sizeof t->queue);
        snprintf(t->shown, sizeof t->shown, "%s", operand);
    }
    return 0;
}

static const char *what_of(const struct qstat_target *t)
{
    return t->ids.len ? t->ids.s : *t->queue ? t->queue : NULL;
}

/* Jobs by criteria; else by their names. */
static bool is_selection(const struct qstat_fetch *f)
{
    return !f->t->ids.len && (f->q->users || qstat_options_states(f->q));
}

static struct attropl *criteria_of(const struct qstat_fetch *f, struct attrs *out)
{
    if (f->q->users)
        attrs_add(out, ATTR_u, NULL, f->q->users, EQ);
    if (qstat_options_states(f->q))
        attrs_add(out, ATTR_state, NULL, qstat_options_states(f->q), EQ);
    if (*f->t->queue)
        attrs_add(out, ATTR_q, NULL, f->t->queue, EQ);
    return out->first;
}

void qstat_fetch_jobs_each(const struct qstat_fetch *f, pbs_job_fn *fn, void *arg)
{
    struct attrs criteria = {0};

    if (is_selection(f))
        pbs_selstat_each(f->connection, criteria_of(f, &criteria), f->wants, qstat_options_extend(f->q), fn,
                         arg);
    else
        pbs_statjob_each(f->connection, what_of(f->t), f->wants, qstat_options_extend(f->q), fn, arg);
    attrs_fini(&criteria);
}

struct batch_status *qstat_fetch_jobs(const struct qstat_fetch *f)
{
    struct attrs criteria = {0};
    struct batch_status *list;

    if (is_selection(f))
        list = pbs_selstat(f->connection, criteria_of(f, &criteria), f->wants, qstat_options_extend(f->q));
    else
        list = pbs_statjob(f->connection, what_of(f->t), f->wants, qstat_options_extend(f->q));
    attrs_fini(&criteria);
    return list;
}

struct batch_status *qstat_fetch_objects(const struct qstat_fetch *f)
{
    if (qstat_options_object(f->q) == QSTAT_QUEUES)
        return pbs_statque(f->connection, *f->t->queue ? f->t->queue : NULL, f->wants, NULL);
    return pbs_statserver(f->connection, f->wants, NULL);
}
