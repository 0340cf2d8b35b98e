/* qterm: stop servers, and the daemons that belong to them. All options are bits of one number, the manner of
 * pbs_terminate; the server knows their meaning. */
#include "cmd.h"
#include "pbs_ifl.h"
#include "api_error.h"
#include "conn_pool.h"

enum {
    ALSO_SCHEDULER = 0x10,
    ALSO_MOMS = 0x20,
    ALSO_SECONDARY = 0x40,
    IDLE_SECONDARY = 0x80,
    ONLY_SECONDARY = 0x100
};

struct qterm {
    struct cmd_args a;
    const char *type;
    bool moms, scheduler, secondary, idle, only_secondary;
};

static const struct option_row rows[] = {
    CMD_TEXT('t', struct qterm, type, "immediate|delay|quick",
             "what becomes of running jobs; quick leaves them alone"),
    CMD_FLAG('m', struct qterm, moms, "stop MOMs too"),
    CMD_FLAG('s', struct qterm, scheduler, "stop the scheduler too"),
    CMD_FLAG('f', struct qterm, secondary, "stop the secondary server too"),
    CMD_FLAG('i', struct qterm, idle, "idle the secondary server"),
    CMD_FLAG('F', struct qterm, only_secondary, "stop the secondary server only"),
};

/* Return the low digit and its flags, as pbs_terminate takes them; -1: no such type. */
static int manner(const struct qterm *q)
{
    int m;

    if (!q->type || !strcmp(q->type, "quick"))
        m = SHUT_QUICK;
    else if (!strcmp(q->type, "delay"))
        m = SHUT_DELAY;
    else if (!strcmp(q->type, "immediate"))
        m = SHUT_IMMEDIATE;
    else
        return -1;
    m |= q->scheduler ? ALSO_SCHEDULER : 0;
    m |= q->moms ? ALSO_MOMS : 0;
    m |= q->secondary ? ALSO_SECONDARY : 0;
    m |= q->idle ? IDLE_SECONDARY : 0;
    return m | (q->only_secondary ? ONLY_SECONDARY : 0);
}

static int qterm_stop(const struct qterm *q, struct conn_pool *s, const char *server)
{
    int c = conn_pool_connect(s, server);

    if (c < 0)
        return 2;
    if (pbs_terminate(c, manner(q), NULL) == 0)
        return 0;
    api_error_report(&q->a, c, server);
    return 2;
}

static int qterm_run(void *settings, int n, char *operands[])
{
    struct qterm *q = settings;
    struct conn_pool *s;
    int i, rc = 0;

    if (manner(q) < 0 || q->secondary + q->idle + q->only_secondary > 1)
        return cmd_usage(&q->a);
    s = conn_pool_create(&q->a);
    if (!s)
        return 2;
    for (i = 0; i < (n ? n : 1); i++)
        rc |= qterm_stop(q, s, n ? operands[i] : "");
    conn_pool_destroy(s);
    return rc;
}

const struct cmd command = {
    .options = {.program = "qterm", .operands = "[server ...]", CMD_ROWS(rows)},
    .usage = "Usage: qterm [-t immediate|delay|[quick]] [-m] [-s] [-f|-i] [server ...]\n",
    .usage_exit = 2,
    .admin = true,
    .size = sizeof(struct qterm),
    .run = qterm_run,
};
