#ifndef CONFINE_LIMITS_H
#define CONFINE_LIMITS_H
/* The controllers of cgroups that hold a job within bounds on its host, as rows: what a group has to have, in which version,
 * and how a bound is written to it.
 */
#include <stdbool.h>
#include <stddef.h>

#include "err.h"

enum confine_kind { CONFINE_SIGNALS = 0, CONFINE_V1 = 1, CONFINE_V2 = 2 };

enum confine_limit { CONFINE_MEMORY, CONFINE_PIDS, CONFINE_CPUSET, CONFINE_DEVICES, CONFINE_LIMIT_COUNT };

enum { CONFINE_DIR_MAX = 256 };

struct confine_seat {
    enum confine_kind kind;    /* SIGNALS: this host cannot limit it, or not we */
    char dir[CONFINE_DIR_MAX]; /* where groups can be made; "" with SIGNALS */
};

const char *confine_limit_name(enum confine_limit l); /* "memory", "pids", "cpuset", "devices" */

/* Version 2 before version 1; tried out by making and removing a group. */
void confine_limits_probe(struct confine_seat seats[static CONFINE_LIMIT_COUNT]);

/* Before a process is in the group. The bound as text: memory bytes, pids a number (threads count), cpuset a list of
 * processors ("0-3,8"), devices lines of rules (confine_devices.h). -1: e. */
int confine_limits_set(enum confine_limit l, enum confine_kind kind, const char *dir, const char *bound,
                       struct err *e);

/* Has the group of `pids` had its limit, so that a process or thread could not be made? */
bool confine_limits_met_pids(const char *dir);

#endif
