#ifndef QSTAT_OPTIONS_H
#define QSTAT_OPTIONS_H
/* What a call of qstat asks for: its options, which of them go together, and what they come to. Pure, but that a wrong
 * combination is said. */
#include <stdbool.h>

#include "cmd.h"
#include "pbs_ifl.h"
#include "status_out.h"

enum qstat_object { QSTAT_JOBS, QSTAT_QUEUES, QSTAT_SERVERS };

struct qstat {
    struct cmd_args a;
    bool full, arrays, percent, subjobs, history, express, wide;
    bool all, idle, running, finished, estimates, hosts, comments, same_line, gigabytes, megawords;
    bool queues, limits, servers;
    const char *users, *format_text, *delimiter;
    enum status_format format;
};

/* 0, or the exit status after it has been said what does not go together. */
int qstat_options_check(struct qstat *q);

enum qstat_object qstat_options_object(const struct qstat *q);
bool qstat_options_is_alternative(const struct qstat *q); /* jobs in the other listing, of two lines a job */
const char *qstat_options_states(const struct qstat *q);  /* letters of the states asked for; NULL: all */
const char *qstat_options_extend(const struct qstat *q);  /* of the status request; NULL: nothing */

/* Does this job, which the server has sent, belong to what was asked for? Needs its owner and state. */
bool qstat_options_is_shown(const struct qstat *q, const struct batch_status *job);

#endif
