/* See qstat_options.h. */
#include "qstat_options.h"

#include <string.h>

#include "job_show.h"

bool qstat_options_is_alternative(const struct qstat *q)
{
    return q->all || q->idle || q->running || q->finished || q->estimates || q->hosts || q->comments ||
           q->users || q->gigabytes || q->megawords;
}

static bool conflicts(const struct qstat *q)
{
    const bool alternative = qstat_options_is_alternative(q) && !q->limits;
    const int kinds = q->queues + q->servers + q->limits;

    if (kinds > 1 || q->idle + q->running + q->finished + q->all + q->estimates > 1)
        return true;
    if (kinds && (alternative || q->arrays || q->subjobs || q->history || q->percent || q->express))
        return true;
    if (q->full && (alternative || q->limits))
        return true;
    if ((q->gigabytes && q->megawords) || (alternative && q->percent))
        return true;
    return (q->same_line && !q->hosts && !q->comments) || ((q->format_text || q->delimiter) && !q->full) ||
           (q->delimiter && q->format != STATUS_DSV);
}

int qstat_options_check(struct qstat *q)
{
    if (q->delimiter && !*q->delimiter) {
        cmd_error(&q->a, "illegal -D value");
        cmd_hint("a delimiter has at least one character");
        return cmd_usage(&q->a);
    }
    if (q->full && q->wide && q->format_text && q->format != STATUS_FULL) {
        cmd_error(&q->a, "option w cannot be used with -F");
        return cmd_usage(&q->a);
    }
    if (!conflicts(q))
        return 0;
    cmd_error(&q->a, "conflicting options.");
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
