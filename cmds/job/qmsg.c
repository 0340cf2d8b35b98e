/* qmsg: write a line into the output of running jobs. */
#include "each_job.h"

struct qmsg {
    struct cmd_args a;
    bool error, output;
    const char *text;
};

static const struct option_row rows[] = {
    CMD_FLAG('E', struct qmsg, error, "to standard error (the default)"),
    CMD_FLAG('O', struct qmsg, output, "to standard output"),
};

static int qmsg_job_cb(int c, const char *id, void *settings)
{
    const struct qmsg *q = settings;
    const int files = (q->output ? MSG_OUT : 0) | (q->error || !q->output ? MSG_ERR : 0);

    return pbs_msgjob(c, id, files, q->text, NULL);
}

static int qmsg_run(void *settings, int n, char *operands[])
{
    struct qmsg *q = settings;

    if (n < 2)
        return cmd_usage(&q->a);
    q->text = operands[0];
    return each_job(&q->a, n - 1, operands + 1, qmsg_job_cb, q);
}

const struct cmd command = {
    .options = {.program = "qmsg", .operands = "message_string job_identifier...", CMD_ROWS(rows)},
    .usage = "usage: qmsg [-O] [-E] message_string job_identifier...\n",
    .usage_exit = 2,
    .size = sizeof(struct qmsg),
    .run = qmsg_run,
};
