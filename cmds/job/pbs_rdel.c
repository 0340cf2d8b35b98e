/* pbs_rdel: delete reservations with their queues and jobs. */
#include <string.h>

#include "api_error.h"
#include "conn_pool.h"
#include "operand.h"
#include "pbs_ifl.h"

struct rdel {
    struct cmd_args a;
    const char *destination;
};

static const struct option_row rows[] = {
    CMD_TEXT('q', struct rdel, destination, "destination",
             "accepted for compatibility: its jobs are deleted"),
};

static int pbs_rdel_one(const struct rdel *q, int c, const char *text)
{
    char id[OPERAND_RESV_MAX];

    if (operand_resv(&q->a, text, id) < 0)
        return 1;
    return pbs_delresv(c, id, NULL) == 0 ? 0 : api_error_report(&q->a, c, id);
}

static int pbs_rdel_run(void *settings, int n, char *operands[])
{
    struct rdel *q = settings;
    struct conn_pool *s;
    int c, rc = 0;

    if (!n)
        return cmd_usage(&q->a);
    s = conn_pool_create(&q->a);
    c = s ? conn_pool_connect(s, NULL) : -1;
    if (c < 0)
        rc = s ? pbs_errno : 1;
    for (int i = 0; c >= 0 && i < n; i++) {
        char *save = NULL;

        for (char *id = strtok_r(operands[i], ",", &save); id; id = strtok_r(NULL, ",", &save)) {
            int code = pbs_rdel_one(q, c, id);

            rc = code ? code : rc;
        }
    }
    conn_pool_destroy(s);
    return rc;
}

const struct cmd command = {
    .options = {.program = "pbs_rdel", .operands = "resv_identifier...", CMD_ROWS(rows)},
    .usage = "usage:\tpbs_rdel [-q dest] resv_identifier...\n",
    .usage_exit = 2,
    .size = sizeof(struct rdel),
    .run = pbs_rdel_run,
};
