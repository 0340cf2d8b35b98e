#ifndef CONFINE_DEVICES_H
#define CONFINE_DEVICES_H
/* Which devices the processes of a group may open: a list of rules, all else is refused.
 *
 * A rule is a line "c 1:3 rwm": b or c, major and minor number or *, and what is allowed (read, write, make the node).
 * Version 1 has a controller for it; with version 2 it is a small program that the kernel asks (BPF), which only root
 * may give it.
 */
#include <stdbool.h>

#include "err.h"

enum { CONFINE_DEVICES_MAX = 128 }; /* rules */

/* What every program needs: null, zero, full, random, urandom, tty, ptmx and terminals. Lines of rules. */
extern const char confine_devices_usual[];

/* "c 1:3 rwm", or "/dev/fuse rw" of a device that is there, as a rule in `out`. -1: EINVAL, with what would be right. */
int confine_devices_parse(const char *text, char *out, size_t max, struct err *e);

/* To the group from now on: lines of rules, as confine_devices_parse makes them. -1: nothing has changed. */
int confine_devices_set_v1(const char *dir, const char *rules, struct err *e);
int confine_devices_set_v2(const char *dir, const char *rules, struct err *e);

bool confine_devices_work_v2(const char *dir); /* on trial */

#endif
