/* qrls: release holds of jobs. */
#include "hold_job.h"
#include "pbs_ifl.h"

static int qrls_job_cb(int c, const char *id, void *letters)
{
    return pbs_rlsjob(c, id, letters, NULL);
}

static int qrls_run(void *settings, int n, char *operands[])
{
    return hold_job_run(settings, n, operands, qrls_job_cb);
}

const struct cmd command = {
    .options = {.program = "qrls", .operands = "job_identifier...", .rows = hold_job_rows, .n_rows = 1},
    .usage = "usage: qrls [-h hold_list] job_identifier...\n",
    .usage_exit = 2,
    .size = sizeof(struct hold_job),
    .run = qrls_run,
};
