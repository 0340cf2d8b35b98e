/* qwait: wait until jobs have ended. The exit code is that of the last one named, as with the shell's wait. */
#include "cmd.h"

#include "operand.h"
#include "conn_pool.h"
#include "wait_job.h"

struct qwait {
    struct cmd_args a;
    bool verbose;
};

static const struct option_row rows[] = {
    CMD_FLAG('v', struct qwait, verbose, "print each job and the exit code that it gives"),
};

static int wait_for(const struct qwait *q, struct conn_pool *s, const char *operand)
{
    struct operand_job job;
    int c, rc, code;

    if (operand_job(&q->a, operand, &job) < 0)
        return 1;
    c = conn_pool_connect(s, job.server);
    if (c < 0)
        return pbs_errno;
    rc = wait_job(&q->a, c, job.id, &code);
    if (code)
        return code;
    if (q->verbose) {
        printf("%s %d\n", job.shown, rc);
        fflush(stdout);
    }
    return rc;
}

static int qwait_run(void *settings, int n, char *operands[])
{
    struct qwait *q = settings;
    struct conn_pool *s;
    int rc = 1;

    if (!n)
        return cmd_usage(&q->a);
    s = conn_pool_create(&q->a);
    for (int i = 0; s && i < n; i++)
        rc = wait_for(q, s, operands[i]);
    conn_pool_destroy(s);
    return rc;
}

const struct cmd command = {
    .options = {.program = "qwait", .operands = "job_identifier...", CMD_ROWS(rows)},
    .usage = "usage: qwait [-v] job_identifier...\n",
    .usage_exit = 2,
    .size = sizeof(struct qwait),
    .run = qwait_run,
};
