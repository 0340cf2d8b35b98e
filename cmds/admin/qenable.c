/* qenable: make queues accept jobs. */
#include "each_queue.h"
#include "pbs_ifl.h"

static int qenable_run(void *settings, int n, char *operands[])
{
    struct cmd_args *a = settings;

    return n ? each_queue_set(a, n, operands, ATTR_enable, "TRUE") : cmd_usage(a);
}

const struct cmd command = {
    .options = {.program = "qenable", .operands = "[queue][@server] ..."},
    .usage = "Usage: qenable [queue][@server] ...\n",
    .usage_exit = 1,
    .admin = true,
    .size = sizeof(struct cmd_args),
    .run = qenable_run,
};
