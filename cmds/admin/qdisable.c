/* qdisable: make queues refuse jobs. */
#include "each_queue.h"
#include "pbs_ifl.h"

static int qdisable_run(void *settings, int n, char *operands[])
{
    struct cmd_args *a = settings;

    return n ? each_queue_set(a, n, operands, ATTR_enable, "FALSE") : cmd_usage(a);
}

const struct cmd command = {
    .options = {.program = "qdisable", .operands = "[queue][@server] ..."},
    .usage = "Usage: qdisable [queue][@server] ...\n",
    .usage_exit = 1,
    .admin = true,
    .size = sizeof(struct cmd_args),
    .run = qdisable_run,
};
