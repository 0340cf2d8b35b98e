#ifndef LAUNCH_RUN_H
#define LAUNCH_RUN_H
/* A launch from its first rank to its last: the helpers of all hosts are told, then the ranks are started, then their ends are
 * waited for. */
#include <stdbool.h>

#include <launch.h>

#include "launch_plan.h"

struct cmd_args;

struct launch_run_wish {
    const struct cmd_args *a; /* for messages */
    struct launch_plan *plan;
    char **argv;
    int argc;
    enum launch_bind bind;
    bool label;
    bool keep_others;       /* a rank that fails does not end the others */
    bool quit_on_interrupt; /* by the first one */
};

/* In a program that has called tm_init. Return the exit status: the highest of a rank, 128 and the signal for one that a signal has
 * ended; 127 where the program is not there, 1 where the launch failed otherwise. */
int launch_run(const struct launch_run_wish *w);

#endif
