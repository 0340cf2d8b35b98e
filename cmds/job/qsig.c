/* qsig: send a signal to jobs. The server decides which signals exist, and who may send them. */
#include "each_job.h"

struct qsig {
    struct cmd_args a;
    const char *signal;
};

static const struct option_row rows[] = {
    CMD_TEXT('s', struct qsig, signal, "signal",
             "name, number, suspend, resume, admin-suspend or admin-resume; SIGTERM if not given"),
};

static int qsig_job_cb(int c, const char *id, void *signal)
{
    return pbs_sigjob(c, id, signal, NULL);
}

static int qsig_run(void *settings, int n, char *operands[])
{
    struct qsig *q = settings;

    return n ? each_job(&q->a, n, operands, qsig_job_cb, (void *)(q->signal ? q->signal : "SIGTERM"))
             : cmd_usage(&q->a);
}

const struct cmd command = {
    .options = {.program = "qsig", .operands = "job_identifier...", CMD_ROWS(rows)},
    .usage = "usage: qsig [-s signal] job_identifier...\n",
    .usage_exit = 2,
    .size = sizeof(struct qsig),
    .run = qsig_run,
};
