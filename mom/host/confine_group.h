#ifndef CONFINE_GROUP_H
#define CONFINE_GROUP_H
/* One cgroup of a freezer, version 1 or 2: the same four verbs over files of other names. */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "err.h"

struct confine_group_kind {
    const char *name;
    const char *control;       /* file that freezes */
    const char *freeze, *thaw; /* what is written to it */
    const char *state;         /* file that tells */
    const char *frozen;        /* what it says when all are stopped */
    bool tells;                /* a change of it wakes poll() */
};

extern const struct confine_group_kind confine_v1, confine_v2;

int confine_group_make(const char *dir, struct err *e);
int confine_group_remove(const char *dir, struct err *e);         /* EBUSY while processes are in it */
int confine_group_add(const char *dir, pid_t pid, struct err *e); /* 0 also when it has gone */
/* We ourselves, before we have a second thread. With version 1 this costs a tenth of a millisecond, where moving another
 * process waits for all processors (10 ms). */
int confine_group_enter(const char *dir, bool is_v1, struct err *e);
/* fork(), with the child born in this group of version 2; like fork() where the kernel cannot (`*inside` false then). */
pid_t confine_group_fork(const char *dir, bool *inside);
/* Who is in it, in rising order: an array to be freed, and how many. -1: it cannot be read. */
int confine_group_members(const char *dir, pid_t **out, size_t *n, struct err *e);
int confine_group_set(const struct confine_group_kind *k, const char *dir, bool frozen, struct err *e);
/* Are all in it stopped? Waits for at most `limit_ms`: version 2 tells when they do, version 1 is asked again. */
bool confine_group_is_frozen(const struct confine_group_kind *k, const char *dir, int limit_ms);

/* Write a control file of a group: 0, or -1 and errno. */
int confine_group_write(const char *dir, const char *file, const char *text);

/* Where systemd runs, all cgroups are its own but those below a unit with Delegate=yes. This one is for the groups of jobs, below
 * each mounted hierarchy that systemd manages; it has one process, so that systemd keeps it (site/pbs-jobs.service). */
#define CONFINE_DELEGATED "/pbs.slice/pbs-jobs.service"

/* A kind of cgroup directory. */
struct confine_group_where {
    const char *type;   /* of the file system */
    const char *option; /* version 1: the controller among the mount's options; NULL */
    const char
        *controller;  /* version 2: to be switched on for the groups below, where that is possible; NULL */
    const char *file; /* a new group there has it, and we may write it */
    bool (*works)(const char *group); /* asked of the group that was made on trial; NULL */
};

/* The first such hierarchy that is mounted and where we can make groups that take processes in: 0 and the path of its
 * CONFINE_DELEGATED, or of its root if there is none, in `out`; else -1, with no controller switched on. */
int confine_group_seek(const struct confine_group_where *w, char *out, size_t max);

/* A directory of that freezer where we can make groups: 0 and its path in `out`, else -1. */
int confine_group_find(const struct confine_group_kind *k, char *out, size_t max);

#endif
