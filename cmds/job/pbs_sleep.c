/* pbs_sleep: sleep for a number of seconds of wall time, also when it is stopped in between. Site scripts use it
 * where the shell's sleep counts differently on each system. */
#include <errno.h>
#include <time.h>

#include "cmd.h"
#include "units.h"

static int pbs_sleep_run(void *settings, int n, char *operands[])
{
    struct cmd_args *a = settings;
    struct timespec end;
    int64_t seconds;
    struct err e;

    if (n != 1)
        return cmd_usage(a);
    if (units_parse_duration_s(operands[0], &seconds, &e) < 0) {
        cmd_error(a, "%s", e.text);
        return 1;
    }
    clock_gettime(CLOCK_BOOTTIME, &end);
    end.tv_sec += seconds;
    while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &end, NULL) == EINTR)
        ;
    return 0;
}

const struct cmd command = {
    .options = {.program = "pbs_sleep", .operands = "seconds"},
    .usage = "usage: pbs_sleep seconds\n",
    .usage_exit = 2,
    .size = sizeof(struct cmd_args),
    .run = pbs_sleep_run,
};
