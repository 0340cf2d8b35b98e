#ifndef RESV_OPTIONS_H
#define RESV_OPTIONS_H
/* What pbs_rsub and pbs_ralter share: options that become attributes of a reservation.
 *
 * The settings of both begin with a struct resv_options. */
#include <stdint.h>

#include "attrs.h"
#include "cmd.h"

struct resv_options {
    struct cmd_args a;
    struct attrs attrs;
    const char *start, *end; /* as they were typed; NULL: not given */
    int64_t start_s, end_s;
    const char *server; /* of -q @server; NULL: the default one */
    bool timed;         /* -R, -E or -D was given */
};

#define RESV_OPTION(letter, value, help)                                                                     \
    {                                                                                                        \
        letter, NULL, OPTION_VALUE, value, help, resv_options_take, 0                                        \
    }

/* Check and store a value; a bad one is reported and counted. Always 0. */
int resv_options_take(void *settings, const struct option_row *row, const char *value, struct err *e);
/* A start of the form hhmm and an end before it: the end is of the next day. Adds both to attrs. */
void resv_options_times(struct resv_options *o);
void resv_options_fini(struct resv_options *o);

#endif
