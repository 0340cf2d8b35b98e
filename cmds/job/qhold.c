/* qhold: keep jobs from running. */
#include "hold_job.h"
#include "pbs_ifl.h"

static int qhold_job_cb(int c, const char *id, void *letters)
{
    return pbs_holdjob(c, id, letters, NULL);
}

static int qhold_run(void *settings, int n, char *operands[])
{
    return hold_job_run(settings, n, operands, qhold_job_cb);
}

const struct cmd command = {
    .options = {.program = "qhold", .operands = "job_identifier...", .rows = hold_job_rows, .n_rows = 1},
    .usage = "usage: qhold [-h hold_list] job_identifier...\n",
    .usage_exit = 2,
    .size = sizeof(struct hold_job),
    .run = qhold_run,
};
