#ifndef JOB_OPTIONS_H
#define JOB_OPTIONS_H
/* The options that qsub and qalter share: each letter becomes an attribute of the job.
 *
 * The settings of both begin with a struct job_options. The form of a value is checked here where old scripts rely on
 * the message of qsub; whether a value is allowed is decided by the server. */
#include "attrs.h"
#include "cmd.h"

struct job_options {
    struct cmd_args a;
    struct attrs attrs; /* in order; a later value of one name replaces the earlier one */
};

/* Rows of an options table: JOB_OPTION('N', "name", "the job's name"). */
#define JOB_OPTION(letter, value, help)                                                                      \
    {                                                                                                        \
        letter, NULL, OPTION_VALUE, value, help, job_options_take, 0                                         \
    }

/* Check and store a value. A bad value is reported ("qsub: illegal -N value") and counted in a.errors; always return
 * 0. */
int job_options_take(void *settings, const struct option_row *row, const char *value, struct err *e);

void job_options_fini(struct job_options *o);

/* Return true if job_options_take would store this value. Not for -l, -W and -v, which make several attributes, nor
 * for -e and -o. */
bool job_options_is_good(char letter, const char *value);

/* Put the working directory into `out`: $PWD if it is the present one, else what the kernel says. Return -1 after a
 * message. */
int job_options_cwd(const struct cmd_args *a, char *out, size_t size);

#endif
