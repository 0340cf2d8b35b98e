/* qstart: let the jobs of queues start. */
#include "each_queue.h"
#include "pbs_ifl.h"

static int qstart_run(void *settings, int n, char *operands[])
{
    struct cmd_args *a = settings;

    return n ? each_queue_set(a, n, operands, ATTR_start, "TRUE") : cmd_usage(a);
}

const struct cmd command = {
    .options = {.program = "qstart", .operands = "[queue][@server] ..."},
    .usage = "Usage: qstart [queue][@server] ...\n",
    .usage_exit = 1,
    .admin = true,
    .size = sizeof(struct cmd_args),
    .run = qstart_run,
};
