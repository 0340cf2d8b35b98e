/* qrun: run jobs now, without the scheduler's decision. It does not use each_job, since its exit codes differ: 2 for
 * any error. Without -a the call returns when the server has an answer. */
#include "cmd.h"
#include "operand.h"
#include "pbs_error.h"
#include "api_error.h"
#include "conn_pool.h"

struct qrun {
    struct cmd_args a;
    bool asynchronous;
    const char *where; /* -H; "-": the vnodes that it has or would get */
};

static const struct option_row rows[] = {
    CMD_FLAG('a', struct qrun, asynchronous, "do not wait until they have started"),
    CMD_TEXT('H', struct qrun, where, "vnode_specification", "where: v1+v2, (v1:ncpus=2)+(v2:ncpus=1), or -"),
};

static int run_one(const struct qrun *q, struct conn_pool *s, const char *operand)
{
    struct operand_job job;
    int c, rc;

    if (operand_job(&q->a, operand, &job) < 0)
        return 2;
    c = conn_pool_connect(s, job.server);
    if (c < 0)
        return 2;
    rc = q->asynchronous ? pbs_asyrunjob(c, job.id, q->where, NULL) : pbs_runjob(c, job.id, q->where, NULL);
    if (rc == 0)
        return 0;
    api_error_report(&q->a, c, pbs_errno == PBSE_UNKNODE && q->where ? q->where : job.shown);
    return 2;
}

static int qrun_run(void *settings, int n, char *operands[])
{
    struct qrun *q = settings;
    struct conn_pool *s;
    int i, rc = 0;

    if (!n || (q->where && !*q->where))
        return cmd_usage(&q->a);
    s = conn_pool_create(&q->a);
    if (!s)
        return 2;
    for (i = 0; i < n; i++) {
        int code = run_one(q, s, operands[i]);

        rc = code ? code : rc;
    }
    conn_pool_destroy(s);
    return rc;
}

const struct cmd command = {
    .options = {.program = "qrun", .operands = "job_identifier...", CMD_ROWS(rows)},
    .usage = "Usage: qrun [-a] [-H vnode_specification ] job_identifier_list\n",
    .usage_exit = 1,
    .admin = true,
    .size = sizeof(struct qrun),
    .run = qrun_run,
};
