/* qorder: two jobs change places. Both must be of one server, which alone knows their order: so there is one
 * call, and no loop over operands. */
#include "cmd.h"
#include "operand.h"
#include "conn_pool.h"

static int order(const struct cmd_args *a, struct session *s, const struct ids_job *one,
                 const struct ids_job *two)
{
    int c = session_connect(s, one->server);
    const char *text;

    if (c < 0)
        return 1;
    if (pbs_orderjob(c, one->id, two->id, NULL) == 0)
        return 0;
    text = pbs_geterrmsg(c);
    session_report_text(a, text, text && strstr(text, two->id) ? two->shown : one->shown);
    return 1;
}

static int run(void *settings, int n, char *operands[])
{
    struct cmd_args *a = settings;
    struct ids_job one, two;
    struct session *s;
    int rc;

    if (n != 2)
        return cmd_usage(a);
    if (ids_job(a, operands[0], &one) < 0 || ids_job(a, operands[1], &two) < 0)
        return 1;
    if (strcmp(one.server, two.server) != 0) {
        cmd_say(a, "both jobs ids must specify the same server");
        return 1;
    }
    s = session_create(a);
    rc = s ? order(a, s, &one, &two) : 1;
    session_destroy(s);
    return rc;
}

const struct cmd command = {
    .options = {.program = "qorder", .operands = "job_identifier job_identifier"},
    .usage = "usage: qorder job_identifier job_identifier\n",
    .usage_exit = 2,
    .size = sizeof(struct cmd_args),
    .run = run,
};
