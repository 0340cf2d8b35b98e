/* qhold: keep jobs from running. */
#include "each_job.h"

#include "hold_letters.h"

struct qhold {
    struct cmd_args a;
    const char *letters;
};

static int take_letters(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qhold *q = settings;

    (void)e;
    q->letters = value;
    return hold_letters_are_good(value) ? 0 : cmd_bad(&q->a, row);
}

static const struct option_row rows[] = {
    {'h', NULL, OPTION_VALUE, "hold_list", "which holds: letters of u, o, s, p; or n for none", take_letters,
     0},
};

static int hold(int c, const char *id, void *letters)
{
    return pbs_holdjob(c, id, letters, NULL);
}

static int run(void *settings, int n, char *operands[])
{
    struct qhold *q = settings;

    return n ? each_job(&q->a, n, operands, hold, (void *)(q->letters ? q->letters : USER_HOLD))
             : cmd_usage(&q->a);
}

const struct cmd command = {
    .options = {.program = "qhold", .operands = "job_identifier...", CMD_ROWS(rows)},
    .usage = "usage: qhold [-h hold_list] job_identifier...\n",
    .usage_exit = 2,
    .size = sizeof(struct qhold),
    .run = run,
};
