/* qorder: two jobs change places. Both must be of one server, which alone knows their order: there is one call, and
 * no loop over operands. */
#include "cmd.h"
#include "operand.h"
#include "api_error.h"
#include "conn_pool.h"

static int order(const struct cmd_args *a, struct conn_pool *s, const struct operand_job *one,
                 const struct operand_job *two)
{
    int c = conn_pool_connect(s, one->server);
    const char *text;

    if (c < 0)
        return 1;
    if (pbs_orderjob(c, one->id, two->id, NULL) == 0)
        return 0;
    text = pbs_geterrmsg(c);
    api_error_report_text(a, text, text && strstr(text, two->id) ? two->shown : one->shown);
    return 1;
}

static int qorder_run(void *settings, int n, char *operands[])
{
    struct cmd_args *a = settings;
    struct operand_job one, two;
    struct conn_pool *s;
    int rc;

    if (n != 2)
        return cmd_usage(a);
    if (operand_job(a, operands[0], &one) < 0 || operand_job(a, operands[1], &two) < 0)
        return 1;
    if (strcmp(one.server, two.server) != 0) {
        cmd_error(a, "both jobs ids must specify the same server");
        return 1;
    }
    s = conn_pool_create(a);
    rc = s ? order(a, s, &one, &two) : 1;
    conn_pool_destroy(s);
    return rc;
}

const struct cmd command = {
    .options = {.program = "qorder", .operands = "job_identifier job_identifier"},
    .usage = "usage: qorder job_identifier job_identifier\n",
    .usage_exit = 2,
    .size = sizeof(struct cmd_args),
    .run = qorder_run,
};
