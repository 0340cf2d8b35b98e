#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H
/* What pbs_mom is called with. Ports and homes go into the environment, where pbs.conf is overruled from. */
#include <stdbool.h>

#include "mom_home.h"

struct command_line {
    bool foreground, version;
    bool check;          /* look at the configuration, and end */
    bool keep, end_jobs; /* -p, -r */
    const char *log;     /* -L: one file instead of daily ones; or NULL */
    const char *verb;    /* of -s */
    char **operands;     /* of -s */
    int n;
    bool has_nice;
    int nice;
    struct home_options home;
};

/* -1: said, with the usage, on standard error. */
int command_line_parse(int argc, char *argv[], struct command_line *c);

#endif
