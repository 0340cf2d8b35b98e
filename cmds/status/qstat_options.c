/* Options as a set of bits, and rules as rows over such sets. See qstat_options.h.
 *
 * cmd_rule_broken says what a row means; the first that is broken is reported. Most bits are one option; QSTAT_ALTERNATIVE and
 * QSTAT_OF_JOBS are all options of a kind of listing, so a new option of such a kind needs no row of its own, only its place in
 * qstat_options_given. */
#include "qstat_options.h"

#include <string.h>

#include "job_show.h"

bool qstat_options_is_alternative(const struct qstat *q)
{
    return q->all || q->idle || q->running || q->finished || q->estimates || q->hosts || q->comments ||
           q->users || q->gigabytes || q->megawords;
}

enum {
    QSTAT_ALL = 1,
    QSTAT_IDLE = 2,
    QSTAT_RUNNING = 4,
    QSTAT_FINISHED = 8,
    QSTAT_ESTIMATES = 16,
    QSTAT_OF_QUEUES = 32,
    QSTAT_OF_SERVERS = 64,
    QSTAT_LIMITS = 128,
    QSTAT_ALTERNATIVE = 256, /* any option of the alternative listing, but for limits */
    QSTAT_FULL_LISTING = 512,
    QSTAT_FORM = 1024, /* -F or -D */
    QSTAT_DELIMITER = 2048,
    QSTAT_DSV = 4096,
    QSTAT_GIGABYTES = 8192,
    QSTAT_MEGAWORDS = 16384,
    QSTAT_SAME_LINE = 32768,
    QSTAT_LINES = 65536, /* -n or -s: what -1 puts into the same line */
    QSTAT_PERCENT = 131072,
    QSTAT_OF_JOBS = 262144, /* options that only a listing of jobs has */
};
#define QSTAT_KINDS (QSTAT_OF_QUEUES | QSTAT_OF_SERVERS | QSTAT_LIMITS)

#define QSTAT_CONFLICT .text = "conflicting options."
static const struct cmd_rule qstat_options_rules[] = {
    {.two = QSTAT_KINDS, QSTAT_CONFLICT},
    {.two = QSTAT_ALL | QSTAT_IDLE | QSTAT_RUNNING | QSTAT_FINISHED | QSTAT_ESTIMATES, QSTAT_CONFLICT},
    {.any = QSTAT_OF_QUEUES | QSTAT_OF_SERVERS, .all = QSTAT_ALTERNATIVE, QSTAT_CONFLICT},
    {.any = QSTAT_KINDS, .all = QSTAT_OF_JOBS, QSTAT_CONFLICT},
    {.all = QSTAT_FULL_LISTING, .any = QSTAT_ALTERNATIVE | QSTAT_LIMITS, QSTAT_CONFLICT},
    {.all = QSTAT_GIGABYTES | QSTAT_MEGAWORDS, QSTAT_CONFLICT},
    {.all = QSTAT_ALTERNATIVE | QSTAT_PERCENT, QSTAT_CONFLICT},
    {.all = QSTAT_SAME_LINE, .none = QSTAT_LINES, QSTAT_CONFLICT},
    {.all = QSTAT_FORM, .none = QSTAT_FULL_LISTING, QSTAT_CONFLICT},
    {.all = QSTAT_DELIMITER, .none = QSTAT_DSV, QSTAT_CONFLICT},
};

static unsigned qstat_options_given(const struct qstat *q)
{
    const bool of_jobs = q->arrays || q->subjobs || q->history || q->percent || q->express;

    return QSTAT_ALL * q->all | QSTAT_IDLE * q->idle | QSTAT_RUNNING * q->running |
           QSTAT_FINISHED * q->finished | QSTAT_ESTIMATES * q->estimates | QSTAT_OF_QUEUES * q->queues |
           QSTAT_OF_SERVERS * q->servers | QSTAT_LIMITS * q->limits |
           QSTAT_ALTERNATIVE * (qstat_options_is_alternative(q) && !q->limits) |
           QSTAT_FULL_LISTING * q->full | QSTAT_FORM * (q->format_text || q->delimiter) |
           QSTAT_DELIMITER * !!q->delimiter | QSTAT_DSV * (q->format == STATUS_DSV) |
           QSTAT_GIGABYTES * q->gigabytes | QSTAT_MEGAWORDS * q->megawords | QSTAT_SAME_LINE * q->same_line |
           QSTAT_LINES * (q->hosts || q->comments) | QSTAT_PERCENT * q->percent | QSTAT_OF_JOBS * of_jobs;
}

int qstat_options_check(struct qstat *q)
{
    const char *wrong;

    if (q->delimiter && !*q->delimiter) {
        cmd_error(&q->a, "illegal -D value");
        cmd_hint("a delimiter has at least one character");
        return cmd_usage(&q->a);
    }
    if (q->full && q->wide && q->format_text && q->format != STATUS_FULL) {
        cmd_error(&q->a, "option w cannot be used with -F");
        return cmd_usage(&q->a);
    }
    wrong = cmd_rule_broken(qstat_options_rules, sizeof qstat_options_rules / sizeof qstat_options_rules[0],
                            qstat_options_given(q));
    if (!wrong)
        return 0;
    cmd_error(&q->a, "%s", wrong);
    return cmd_usage(&q->a);
}

enum qstat_object qstat_options_object(const struct qstat *q)
{
    return q->servers ? QSTAT_SERVERS : q->queues || q->limits ? QSTAT_QUEUES : QSTAT_JOBS;
}

const char *qstat_options_states(const struct qstat *q)
{
    return q->idle ? "EHQTW" : q->running ? "RS" : q->finished ? "MFX" : NULL;
}

const char *qstat_options_extend(const struct qstat *q)
{
    const bool history = q->history || q->finished;

    return q->subjobs && history ? "tx" : q->subjobs ? "t" : history ? "x" : NULL;
}

static bool qstat_options_is_listed(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (!strncmp(list, word, n) && (!list[n] || strchr(",@", list[n])))
            return true;
    return false;
}

/* A job named on the command line is sent whatever its state and owner are, and the server knows no -J: both are
 * checked here. */
bool qstat_options_is_shown(const struct qstat *q, const struct batch_status *job)
{
    char user[PBS_MAXUSER + 1];
    struct job_show j;

    if (!q->arrays && !q->users && !qstat_options_states(q))
        return true;
    job_show_read(job, &j);
    if (q->arrays) {
        const char *bracket = strchr(job->name, '[');

        if (!bracket || (q->subjobs && bracket[1] == ']'))
            return false;
    }
    if (qstat_options_states(q) && j.state && !strchr(qstat_options_states(q), *j.state))
        return false;
    return !q->users || qstat_options_is_listed(q->users, job_show_user(j.owner, user, sizeof user));
}
