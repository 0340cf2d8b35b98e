/* qrls: take holds from jobs. */
#include "each_job.h"

#include "hold_letters.h"

struct qrls {
    struct cmd_args a;
    const char *letters;
};

static int take_letters(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qrls *q = settings;

    (void)e;
    q->letters = value;
    return hold_letters_are_good(value) ? 0 : cmd_bad(&q->a, row);
}

static const struct option_row rows[] = {
    {'h', NULL, OPTION_VALUE, "hold_list", "which holds: letters of u, o, s, p; or n for none", take_letters,
     0},
};

static int release(int c, const char *id, void *letters)
{
    return pbs_rlsjob(c, id, letters, NULL);
}

static int run(void *settings, int n, char *operands[])
{
    struct qrls *q = settings;

    return n ? each_job(&q->a, n, operands, release, (void *)(q->letters ? q->letters : USER_HOLD))
             : cmd_usage(&q->a);
}

const struct cmd command = {
    .options = {.program = "qrls", .operands = "job_identifier...", CMD_ROWS(rows)},
    .usage = "usage: qrls [-h hold_list] job_identifier...\n",
    .usage_exit = 2,
    .size = sizeof(struct qrls),
    .run = run,
};
