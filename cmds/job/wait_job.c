/* See wait_job.h. A signal handler may only write and leave, so its line is made before it is needed. */
#include "wait_job.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "pbs_ext.h"
#include "api_error.h"

enum { LINE_MAX_BYTES = 1024, STATUS_MASK = 255 };

/* Mutable and global, since a signal handler has no argument. */
static char line[LINE_MAX_BYTES];
static size_t line_length;

static void wait_job_interrupted(int signal)
{
    char digits[4] = {(char)('0' + signal / 10 % 10), (char)('0' + signal % 10), '\n', 0};
    const char *from = signal < 10 ? digits + 1 : digits;

    if (write(STDERR_FILENO, line, line_length) < 0 || write(STDERR_FILENO, from, strlen(from)) < 0)
        _exit(WAIT_JOB_INTERRUPTED); /* a failed write changes nothing: the exit code says the same */
    _exit(WAIT_JOB_INTERRUPTED);
}

static void catch_signals(const struct cmd_args *a, const char *id)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    struct sigaction act;
    int n = snprintf(line, sizeof line, "%s: wait for job %s interrupted by signal ", cmd_name(a), id);

    line_length = n < 0 ? 0 : (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    memset(&act, 0, sizeof act);
    act.sa_handler = wait_job_interrupted;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &act, NULL);
}

int wait_job(const struct cmd_args *a, int c, const char *id, int *code)
{
    struct pbs_job_end end;

    catch_signals(a, id);
    *code = pbs_waitjob(c, id, NULL, &end);
    if (*code) {
        *code = api_error_report(a, c, id);
        return WAIT_JOB_FAILED;
    }
    if (end.exited)
        return end.exit_status & STATUS_MASK;
    cmd_error(a, "job %s was deleted before it ran", id);
    return WAIT_JOB_FAILED;
}
