#ifndef QSTAT_OPTIONS_H
#define QSTAT_OPTIONS_H
/* The options of qstat: which of them go together, and what they ask the server for. Pure, except for the message on
 * a wrong combination. */
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

/* Check that the options go together. Return 0, or the exit status after a message. */
int qstat_options_check(struct qstat *q);

enum qstat_object qstat_options_object(const struct qstat *q);
bool qstat_options_is_alternative(const struct qstat *q); /* jobs in the alternative listing */
const char *qstat_options_states(const struct qstat *q);  /* letters of the states asked for; NULL: all */
const char *qstat_options_extend(const struct qstat *q);  /* of the status request; NULL: nothing */

/* Return true if this job, which the server has sent, matches the options. Needs its owner and state. */
bool qstat_options_is_shown(const struct qstat *q, const struct batch_status *job);

#endif
