/* qmove: move jobs to another queue. The form of the destination is checked here and sent as it was written; the
 * job's server decides whether the queue exists. */
#include "each_job.h"

struct qmove {
    struct cmd_args a;
};

static int qmove_job_cb(int c, const char *id, void *destination)
{
    return pbs_movejob(c, id, destination, NULL);
}

static int qmove_run(void *settings, int n, char *operands[])
{
    struct qmove *q = settings;
    struct destination d;

    if (n < 2)
        return cmd_usage(&q->a);
    if (operand_destination(&q->a, operands[0], &d) < 0)
        return 2;
    return each_job(&q->a, n - 1, operands + 1, qmove_job_cb, operands[0]);
}

const struct cmd command = {
    .options = {.program = "qmove", .operands = "destination job_identifier..."},
    .usage = "usage: qmove destination job_identifier...\n",
    .usage_exit = 2,
    .size = sizeof(struct qmove),
    .run = qmove_run,
};
