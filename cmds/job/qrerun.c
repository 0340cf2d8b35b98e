/* qrerun: put running jobs back into their queue. */
#include "each_job.h"

struct qrerun {
    struct cmd_args a;
    const char *extend;
};

static int qrerun_take_force(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qrerun *q = settings;

    q->extend = FORCE;
    return strcmp(value, FORCE) ? cmd_bad_value(&q->a, row) : 0;
}

static const struct option_row rows[] = {
    {'W', NULL, OPTION_VALUE, "force", "requeue even if the job's hosts do not answer", qrerun_take_force, 0},
};

static int qrerun_job_cb(int c, const char *id, void *extend)
{
    return pbs_rerunjob(c, id, extend);
}

static int qrerun_run(void *settings, int n, char *operands[])
{
    struct qrerun *q = settings;

    return n ? each_job(&q->a, n, operands, qrerun_job_cb, (void *)q->extend) : cmd_usage(&q->a);
}

const struct cmd command = {
    .options = {.program = "qrerun", .operands = "job_identifier...", CMD_ROWS(rows)},
    .usage = "usage: qrerun [-W force] job_identifier...\n",
    .usage_exit = 2,
    .size = sizeof(struct qrerun),
    .run = qrerun_run,
};
