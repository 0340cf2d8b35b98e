#ifndef CONFINE_H
#define CONFINE_H
/* Stopping, signalling and limiting everything a job has started, whatever sessions and groups it has made.
 *
 * With a cgroup freezer (version 2, or version 1) a suspended job cannot notice that it is stopped. Its group
 * is made when it is first suspended, or before by confine_prepare, so that short jobs pay nothing. Without one, each process
 * gets a stop signal until all are stopped; a job can see that. What belongs to the job is always: all that
 * is below `root`, a subreaper, and the sessions that it has adopted.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "confine_limits.h"
#include "err.h"

/* Hosts share one kernel's groups with other complexes, and with containers whose processes have numbers of their own. So a
 * group is ours by two proofs that hold there: its name has the device and inode number of the directory of our runs, which no two
 * directories of one kernel share; and its shepherd is gone when no process holds the lock on that run's records. */
enum { CONFINE_OWNER_MAX = 40 };

struct confine_owner {
    const char *runs;             /* their directory; borrowed, NULL: none */
    char name[CONFINE_OWNER_MAX]; /* "DEVICE-INODE" */
};

struct confine_place {
    enum confine_kind kind;    /* of the freezer */
    char dir[CONFINE_DIR_MAX]; /* where groups can be made; "" with SIGNALS */
    struct confine_seat limit[CONFINE_LIMIT_COUNT];
    struct confine_owner owner; /* of groups that are made there */
};

struct confine;
struct procs_sessions;

/* What this host offers to us, tried out by making and removing a group. Never fails: there are always signals. */
void confine_probe(struct confine_place *out);
const char *confine_name(enum confine_kind k); /* "cgroup v2" or "signals" */

/* Groups made at `place` belong to the runs below this directory, whose name must live as long. -1: it cannot be looked at. */
int confine_own(struct confine_place *place, const char *runs, struct err *e);

/* Groups of our runs whose shepherd is gone (it was killed): thawed, so that SIGKILL is obeyed in them, and removed once
 * they are empty. Groups that may be another's are left alone. */
void confine_sweep(const struct confine_place *place);
/* The same for the groups of the run `name`, whose processes get SIGKILL. How many there were, each counted in every group. */
size_t confine_kill_left(const struct confine_place *place, const char *name);

/* For the processes below `root`. The group is named for the owner of the place, the run `name`, and root. NULL: no memory. */
struct confine *confine_create(const struct confine_place *place, const char *name, pid_t root,
                               int stop_signal, int continue_signal);
void confine_destroy(struct confine *c); /* removes the group, which must be empty by then */

/* A session that was begun elsewhere belongs to the job from now on, with all that it starts where there is a freezer: else
 * what leaves the session leaves the job. -1: no memory, and it does not. */
int confine_adopt(struct confine *c, pid_t session);
/* An adopted session that another program has moved into groups of its own comes back into those of the job. -1: /proc cannot be
 * read. */
int confine_group_again(struct confine *c, pid_t session);
const struct procs_sessions *confine_adopted(const struct confine *c);
/* Forget adopted sessions of which nothing is left; true: something is, of one, or of what they have started (then also while
 * the job itself lives). */
bool confine_has_adopted(struct confine *c);

/* Make the group now and move the job into it: that takes milliseconds that a suspension should not wait for. Does nothing
 * with signals, or when it is there; what fails is tried again, and told, by confine_suspend. */
void confine_prepare(struct confine *c);

/* Every process is stopped when this returns 0. -1: it could not be made so within `limit_ms`, and what was
 * stopped runs again. Blocks for at most that long. */
int confine_suspend(struct confine *c, int limit_ms, struct err *e);
int confine_resume(struct confine *c, struct err *e);
bool confine_is_suspended(const struct confine *c);

/* Hold all processes together within a bound (as text, see confine_limits_set): a group is made now, which each process of
 * the job enters before it executes anything. 0 also where the host has no such groups. -1: it could not be made, there is
 * no such limit. Before the first confine_fork. */
int confine_limit(struct confine *c, enum confine_limit l, const char *bound, struct err *e);
/* As fork(); the child calls confine_enter while it has our rights. -1 from that: it must not go on. */
pid_t confine_fork(struct confine *c);
int confine_enter(const struct confine *c, struct err *e);
void confine_take_in(struct confine *c); /* all that is there already, which did not enter */
bool confine_has_met_pids(
    const struct confine *c); /* a process could not be made, for the limit of their number */
int confine_memory_fd(const struct confine *c); /* for poll(), POLLIN | POLLPRI: take it then. -1: no limit */
bool confine_memory_event(const struct confine *c); /* takes it: has memory run out? */
bool confine_has_run_out(const struct confine *c);  /* has the kernel killed a process for it? */

/* Send to every process of the job. How many it reached; 0: there is none; -1: they cannot be listed now, and not all got
 * it. Of a signal that can be handled whatever its handlers start is left alone. */
ssize_t confine_signal(const struct confine *c, int signo);

#endif
