#ifndef JOB_OPTIONS_H
#define JOB_OPTIONS_H
/* The options that qsub and qalter share: each letter becomes an attribute of the job.
 *
 * The settings of both begin with a struct job_options. Values are checked for form here where an old
 * script relies on the message of qsub; whether they are allowed is the server's to say.
 */
#include "attrs.h"
#include "cmd.h"

struct job_options {
    struct cmd_args a;
    struct attrs attrs; /* what has been said, in order; the later word of one name counts */
};

/* Rows of an options table: JOB_OPTION('N', "name", "the job's name"). */
#define JOB_OPTION(letter, value, help)                                                                      \
    {                                                                                                        \
        letter, NULL, OPTION_VALUE, value, help, job_options_take, 0                                         \
    }

/* Check and store. A bad value is reported ("qsub: illegal -N value") and counted in a.errors; always 0. */
int job_options_take(void *settings, const struct option_row *row, const char *value, struct err *e);

void job_options_fini(struct job_options *o);

/* Would job_options_take store this? For -l, -W, -v, which are more than one attribute, and -e, -o: not
 * asked. */
bool job_options_is_good(char letter, const char *value);

/* The working directory as people know it: $PWD if it is the present one, else what the kernel says; into
 * `out`. -1: it has been said why not. */
int job_options_cwd(const struct cmd_args *a, char *out, size_t size);

#endif
