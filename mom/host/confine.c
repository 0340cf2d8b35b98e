/* What holds the processes of a job together. See confine.h.
 *
 *   confine_create      names only; nothing is made
 *   confine_limit       makes the group of a limit, before the first process
 *   confine_fork/_enter each process of the job goes in before it executes anything
 *   confine_prepare     makes the freezer's group and moves the job in; confine_suspend does it where that is still to be done
 *   confine_destroy     removes groups; one that is not empty yet stays, for confine_sweep
 *
 * A group is called pbs_OWNER_RUN.PID. With version 2 one directory is the group of the freezer and of all limits; with version 1
 * each controller has a hierarchy of its own, and the group is made in each. `suspended` is set before all processes are stopped: what
 * fails then is undone by confine_resume, which does nothing for a job that is not suspended.
 *
 * Suspending a job. With a freezer: make the group and move the job in, one pass after the other until a pass finds
 * no new process; what is frozen cannot fork, and what is forked in the group is in it, so the passes end. With signals:
 * the same passes, and each process must be seen stopped.
 *
 * The kernel takes some 10 ms to move a process, because it waits until no processor forks or ends one; so the job is moved
 * before, unfrozen, and being suspended is writing one word and waiting until all are stopped. */
#include "confine.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "confine_group.h"
#include "confine_memory.h"
#include "procs.h"
#include "rundir.h"

/* A process that forks while it is signalled is found at the next look; LOOKS_MAX is far above what it takes. PAUSE_US is
 * between two looks whether processes have stopped. */
enum { PAUSE_US = 500, LOOKS_MAX = 16, GROUP_MAX = 320 };

struct confine {
    const struct confine_group_kind *group; /* NULL: signals */
    char dir[CONFINE_DIR_MAX + GROUP_MAX];  /* of the job's own group */
    bool made, suspended;
    struct {
        enum confine_kind kind;
        char dir[CONFINE_DIR_MAX + GROUP_MAX]; /* with version 2 the same for all, and for the freezer */
        bool set;
    } limit[CONFINE_LIMIT_COUNT];
    bool inside; /* in a child: born in the group of version 2 */
    int memory_fd;
    pid_t root;
    struct procs_sessions adopted;
    int stop_signal, continue_signal;
    struct
    { /* by our signal: what had stopped itself before is not woken; a process that has ended stays in the list */
        pid_t *list;
        size_t n;
    } stopped;
};

static const struct confine_group_kind *confine_kind_of(enum confine_kind k)
{
    switch (k) {
    case CONFINE_SIGNALS:
        return NULL;
    case CONFINE_V1:
        return &confine_v1;
    case CONFINE_V2:
        return &confine_v2;
    }
    return NULL;
}

static const struct confine_memory_kind *memory_of(const struct confine *c)
{
    return c->limit[CONFINE_MEMORY].kind == CONFINE_V2 ? &confine_memory_v2 : &confine_memory_v1;
}

void confine_probe(struct confine_place *out)
{
    *out = (struct confine_place){0};
    confine_limits_probe(out->limit);
    if (confine_group_find(&confine_v2, out->dir, sizeof out->dir) == 0)
        out->kind = CONFINE_V2;
    else if (confine_group_find(&confine_v1, out->dir, sizeof out->dir) == 0)
        out->kind = CONFINE_V1;
    else
        out->dir[0] = '\0';
}

const char *confine_name(enum confine_kind k)
{
    switch (k) {
    case CONFINE_SIGNALS:
        return "signals";
    case CONFINE_V1:
        return "cgroup v1";
    case CONFINE_V2:
        return "cgroup v2";
    }
    return "?";
}

int confine_own(struct confine_place *place, const char *runs, struct err *e)
{
    struct stat st;

    if (stat(runs, &st) < 0)
        return err_errno(e, errno, "cannot look at %s", runs);
    place->owner.runs = runs;
    snprintf(place->owner.name, sizeof place->owner.name, "%llx-%llx", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    return 0;
}

/* The run of a group "pbs_OWNER_RUN.PID", and how long its name is; NULL: it is not one of ours. */
static const char *run_of(const struct confine_owner *owner, const char *group, size_t *n)
{
    char prefix[CONFINE_OWNER_MAX + 8];
    const char *dot = strrchr(group, '.');
    int len = snprintf(prefix, sizeof prefix, "pbs_%s_", owner->name);

    if (!owner->runs || !dot || strncmp(group, prefix, (size_t)len) != 0 || dot <= group + len)
        return NULL;
    *n = (size_t)(dot - group) - (size_t)len;
    return group + len;
}

/* Is the group ours, of a run that no shepherd holds, and is that this run (NULL: any)? */
static bool is_left(const struct confine_owner *owner, const char *group, const char *name)
{
    size_t n = 0;
    const char *run = run_of(owner, group, &n);
    char path[RUNDIR_PATH_MAX];

    if (!run || (name && (strlen(name) != n || strncmp(run, name, n) != 0)))
        return false;
    return snprintf(path, sizeof path, "%s/%.*s", owner->runs, (int)n, run) < (int)sizeof path &&
           !rundir_is_held(path);
}

static size_t kill_members(const char *path)
{
    pid_t *members = NULL;
    size_t n = 0, killed = 0;

    if (confine_group_members(path, &members, &n, NULL) == 0)
        for (size_t i = 0; i < n; i++)
            killed += members[i] > 0 && kill(members[i], SIGKILL) == 0;
    free(members);
    return killed;
}

/* `k`: NULL where there is nothing to thaw. `name`: of the run whose processes are killed; NULL: none are. */
static size_t sweep_dir(const struct confine_place *place, const struct confine_group_kind *k,
                        const char *dir, const char *name)
{
    char path[CONFINE_DIR_MAX + NAME_MAX + 2];
    DIR *d = dir[0] ? opendir(dir) : NULL;
    const struct dirent *x;
    size_t killed = 0;

    while (d && (x = readdir(d))) {
        if (!is_left(&place->owner, x->d_name, name))
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, x->d_name);
        if (name)
            killed += kill_members(path);
        if (k)
            confine_group_set(k, path, false, NULL);
        confine_group_remove(path, NULL);
    }
    if (d)
        closedir(d);
    return killed;
}

/* Groups that were made before the unit that delegates was started are in the root of the hierarchy. */
static size_t sweep_hierarchy(const struct confine_place *place, const struct confine_group_kind *k,
                              const char *dir, const char *name)
{
    const size_t len = strlen(dir), n = sizeof CONFINE_DELEGATED - 1;
    char root[CONFINE_DIR_MAX];
    size_t killed = sweep_dir(place, k, dir, name);

    if (len > n && strcmp(dir + len - n, CONFINE_DELEGATED) == 0) {
        snprintf(root, sizeof root, "%.*s", (int)(len - n), dir);
        killed += sweep_dir(place, k, root, name);
    }
    return killed;
}

static size_t sweep(const struct confine_place *place, const char *name)
{
    size_t killed = sweep_hierarchy(place, confine_kind_of(place->kind), place->dir, name);

    for (int i = 0; i < CONFINE_LIMIT_COUNT; i++)
        if (strcmp(place->dir, place->limit[i].dir) != 0)
            killed += sweep_hierarchy(place, NULL, place->limit[i].dir, name);
    return killed;
}

void confine_sweep(const struct confine_place *place)
{
    sweep(place, NULL);
}

size_t confine_kill_left(const struct confine_place *place, const char *name)
{
    return sweep(place, name);
}

struct confine *confine_create(const struct confine_place *place, const char *name, pid_t root,
                               int stop_signal, int continue_signal)
{
    struct confine *c = calloc(1, sizeof *c);
    char group[GROUP_MAX];

    if (!c)
        return NULL;
    c->group = confine_kind_of(place->kind);
    c->root = root;
    c->stop_signal = stop_signal;
    c->continue_signal = continue_signal;
    snprintf(group, sizeof group, "pbs_%s_%.255s.%d", place->owner.name, name, (int)root);
    snprintf(c->dir, sizeof c->dir, "%s/%s", place->dir, group);
    for (int i = 0; i < CONFINE_LIMIT_COUNT; i++) {
        c->limit[i].kind = place->limit[i].kind;
        snprintf(c->limit[i].dir, sizeof c->limit[i].dir, "%s/%s", place->limit[i].dir, group);
    }
    c->memory_fd = -1;
    return c;
}

void confine_destroy(struct confine *c)
{
    if (c && c->memory_fd >= 0)
        close(c->memory_fd);
    if (c && c->made)
        confine_group_remove(c->dir, NULL);
    for (int i = 0; c && i < CONFINE_LIMIT_COUNT; i++)
        if (c->limit[i].set)
            confine_group_remove(c->limit[i].dir, NULL);
    if (c) {
        free(c->adopted.list);
        free(c->stopped.list);
    }
    free(c);
}

static void limit_process(const struct confine *c, pid_t pid)
{
    for (int i = 0; i < CONFINE_LIMIT_COUNT; i++)
        if (c->limit[i].set)
            confine_group_add(c->limit[i].dir, pid, NULL);
}

/* Is there any limit? Without one no process has to be moved. */
static bool is_limited(const struct confine *c)
{
    bool any = false;

    for (int i = 0; i < CONFINE_LIMIT_COUNT; i++)
        any |= c->limit[i].set;
    return any;
}

const struct procs_sessions *confine_adopted(const struct confine *c)
{
    return &c->adopted;
}

static bool is_alive(const struct procs *p, pid_t session)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->list[i].session == session && p->list[i].state != 'Z')
            return true;
    return false;
}

static bool has_living(const struct procs *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->list[i].state != 'Z')
            return true;
    return false;
}

/* The number of an empty session may be reused by a stranger, so it is removed from the list. */
bool confine_has_adopted(struct confine *c)
{
    struct procs all;
    size_t kept = 0;
    bool left = c->adopted.group;

    if (!c->adopted.n && !c->adopted.group)
        return false;
    procs_init(&all);
    if (procs_of(&all, c->root, &c->adopted, NULL) == 0) {
        for (size_t i = 0; i < c->adopted.n; i++)
            if (is_alive(&all, c->adopted.list[i]))
                c->adopted.list[kept++] = c->adopted.list[i];
        c->adopted.n = kept;
        left = c->adopted.group && has_living(&all);
    }
    procs_fini(&all);
    return left || c->adopted.n > 0;
}

int confine_limit(struct confine *c, enum confine_limit l, const char *bound, struct err *e)
{
    const char *dir = c->limit[l].dir;

    if (c->limit[l].kind == CONFINE_SIGNALS)
        return 0;
    if (confine_group_make(dir, e) < 0)
        return -1;
    if (confine_limits_set(l, c->limit[l].kind, dir, bound, e) < 0 ||
        (l == CONFINE_MEMORY && (c->memory_fd = confine_memory_watch(memory_of(c), dir, e)) < 0)) {
        confine_group_remove(dir, NULL);
        return -1;
    }
    c->limit[l].set = true;
    c->made |= strcmp(c->dir, dir) == 0;
    return 0;
}

pid_t confine_fork(struct confine *c)
{
    bool inside;
    pid_t pid;

    for (int i = 0; i < CONFINE_LIMIT_COUNT; i++)
        if (c->limit[i].set && c->limit[i].kind == CONFINE_V2) {
            pid = confine_group_fork(c->limit[i].dir, &inside);
            c->inside = pid == 0 && inside;
            return pid;
        }
    return fork();
}

int confine_enter(const struct confine *c, struct err *e)
{
    for (int i = 0; i < CONFINE_LIMIT_COUNT; i++) {
        bool is_v1 = c->limit[i].kind == CONFINE_V1;

        if (c->limit[i].set && !(c->inside && !is_v1) && confine_group_enter(c->limit[i].dir, is_v1, e) < 0)
            return -1;
    }
    return 0;
}

void confine_take_in(struct confine *c)
{
    struct procs p;

    procs_init(&p);
    if (is_limited(c) && procs_below(&p, c->root, NULL) == 0)
        for (size_t i = 0; i < p.n; i++)
            limit_process(c, p.list[i].pid);
    procs_fini(&p);
}

bool confine_has_met_pids(const struct confine *c)
{
    return c->limit[CONFINE_PIDS].set && confine_limits_met_pids(c->limit[CONFINE_PIDS].dir);
}

int confine_memory_fd(const struct confine *c)
{
    return c->memory_fd;
}

bool confine_memory_event(const struct confine *c)
{
    return c->limit[CONFINE_MEMORY].set &&
           confine_memory_take(memory_of(c), c->limit[CONFINE_MEMORY].dir, c->memory_fd);
}

bool confine_has_run_out(const struct confine *c)
{
    return c->limit[CONFINE_MEMORY].set && confine_memory_ran_out(memory_of(c), c->limit[CONFINE_MEMORY].dir);
}

bool confine_is_suspended(const struct confine *c)
{
    return c->suspended;
}

static bool was_there(const struct procs *before, pid_t pid)
{
    for (size_t i = 0; i < before->n; i++)
        if (before->list[i].pid == pid)
            return true;
    return false;
}

/* A handler's own processes do what it is for, such as saving: they must not get the signal that it answers. */
static bool may_be_handled(const struct confine *c, int signo)
{
    return signo != SIGKILL && signo != SIGSTOP && signo != c->stop_signal && signo != c->continue_signal;
}

/* A process that forks while we look is seen at the next look: a process that was signalled cannot fork unseen twice, so the
 * looks end. Each process gets the signal once. One that may be handled goes to those that one look has seen. */
ssize_t confine_signal(const struct confine *c, int signo)
{
    int looks = may_be_handled(c, signo) ? 1 : LOOKS_MAX;
    struct procs lists[2];
    ssize_t n = 0, found = 1;
    int which = 0;

    procs_init(&lists[0]);
    procs_init(&lists[1]);
    for (int look = 0; look < looks && found; look++, which = !which) {
        const struct procs *now = &lists[which], *before = &lists[!which];

        found = 0;
        if (procs_of(&lists[which], c->root, &c->adopted, NULL) < 0) {
            n = -1;
            break;
        }
        for (size_t i = 0; i < now->n; i++)
            if (now->list[i].state != 'Z' && !was_there(before, now->list[i].pid) &&
                kill(now->list[i].pid, signo) == 0)
                found++;
        n += found;
    }
    procs_fini(&lists[0]);
    procs_fini(&lists[1]);
    return n;
}

static bool is_member(const pid_t *members, size_t n, pid_t pid)
{
    size_t low = 0;

    while (n > 0) {
        size_t half = n / 2;

        if (members[low + half] == pid)
            return true;
        if (members[low + half] < pid) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return false;
}

/* Move in the processes that are not in the group. Return how many; -1: e. */
static int pass_group(const struct confine *c, const struct procs *now, struct err *e)
{
    pid_t *members = NULL;
    size_t n = 0;
    int moved = 0;

    if (confine_group_members(c->dir, &members, &n, e) < 0)
        return -1;
    for (size_t i = 0; moved >= 0 && i < now->n; i++) {
        if (now->list[i].state == 'Z' || is_member(members, n, now->list[i].pid))
            continue;
        moved = confine_group_add(c->dir, now->list[i].pid, e) < 0 ? -1 : moved + 1;
    }
    free(members);
    return moved;
}

static bool confine_is_ours(const struct confine *c, pid_t pid)
{
    for (size_t i = 0; i < c->stopped.n; i++)
        if (c->stopped.list[i] == pid)
            return true;
    return false;
}

/* Without memory it is stopped all the same, and noted at the next pass or never: then it stays stopped, as can be seen. */
static void note_stopped(struct confine *c, pid_t pid)
{
    pid_t *list =
        confine_is_ours(c, pid) ? NULL : realloc(c->stopped.list, (c->stopped.n + 1) * sizeof *list);

    if (!list)
        return;
    c->stopped.list = list;
    list[c->stopped.n++] = pid;
}

static int continue_stopped(struct confine *c, struct err *e)
{
    struct procs p;
    int rc;

    procs_init(&p);
    rc = procs_of(&p, c->root, &c->adopted, e);
    for (size_t i = 0; rc == 0 && i < p.n; i++)
        if (confine_is_ours(c, p.list[i].pid))
            kill(p.list[i].pid, c->continue_signal);
    procs_fini(&p);
    if (rc == 0)
        c->stopped.n = 0;
    return rc;
}

/* Stop the processes that are not stopped yet. Return how many those were. */
static int pass_signals(struct confine *c, const struct procs *now)
{
    int moving = 0;

    for (size_t i = 0; i < now->n; i++) {
        if (now->list[i].state == 'Z' || now->list[i].state == 'T' || now->list[i].state == 't')
            continue;
        note_stopped(c, now->list[i].pid);
        kill(now->list[i].pid, c->stop_signal);
        moving++;
    }
    return moving;
}

static int stopped_by_signals(struct confine *c, struct procs *p, int64_t deadline_ms, struct err *e)
{
    int moving = 1;

    while (clock_real_mono_ms() < deadline_ms) {
        if (procs_of(p, c->root, &c->adopted, e) < 0)
            return -1;
        moving = pass_signals(c, p);
        if (moving == 0)
            return 0;
        usleep(PAUSE_US);
    }
    return err_set(e, ETIMEDOUT, "the job cannot be suspended; %d processes still run", moving);
}

/* One pass may miss a child whose parent dies while we look; when all known processes are stopped, another pass cannot. */
static int stopped_by_group(const struct confine *c, struct procs *p, int64_t deadline_ms, struct err *e)
{
    int moved = 1, clean = 0;
    int64_t left;

    while ((left = deadline_ms - clock_real_mono_ms()) > 0) {
        if (procs_of(p, c->root, &c->adopted, e) < 0)
            return -1;
        moved = pass_group(c, p, e);
        if (moved < 0)
            return -1;
        clean = moved ? 0 : clean + 1;
        if (clean && confine_group_is_frozen(c->group, c->dir, (int)left) && clean > 1)
            return 0;
    }
    return err_set(e, ETIMEDOUT, "the job cannot be suspended; %d processes still run", moved);
}

static int stand_still(struct confine *c, int64_t deadline_ms, struct err *e)
{
    struct procs p;
    int rc;

    procs_init(&p);
    rc = c->group ? stopped_by_group(c, &p, deadline_ms, e) : stopped_by_signals(c, &p, deadline_ms, e);
    procs_fini(&p);
    return rc;
}

void confine_prepare(struct confine *c)
{
    struct procs p;

    if (!c->group || c->made || confine_group_make(c->dir, NULL) < 0)
        return;
    c->made = true;
    procs_init(&p);
    for (int look = 0; look < LOOKS_MAX; look++)
        if (procs_below(&p, c->root, NULL) < 0 || pass_group(c, &p, NULL) <= 0)
            break;
    procs_fini(&p);
}

/* What it does from now on counts; whom it starts comes along. */
static int limit_session(const struct confine *c, pid_t session)
{
    struct procs all;
    int rc;

    procs_init(&all);
    rc = procs_of(&all, c->root, &c->adopted, NULL);
    for (size_t i = 0; rc == 0 && i < all.n; i++)
        if (all.list[i].session == session)
            limit_process(c, all.list[i].pid);
    procs_fini(&all);
    return rc;
}

/* From now on the freezer's group has it and whatever it starts, also what leaves the session. Where the group cannot be made the
 * session is all that is known. */
static void group_adopted(struct confine *c)
{
    struct procs p;

    confine_prepare(c);
    if (!c->made)
        return;
    procs_init(&p);
    for (int look = 0; look < LOOKS_MAX; look++)
        if (procs_of(&p, c->root, &c->adopted, NULL) < 0 || pass_group(c, &p, NULL) <= 0)
            break;
    procs_fini(&p);
    c->adopted.group = c->dir;
}

int confine_group_again(struct confine *c, pid_t session)
{
    if (is_limited(c) && limit_session(c, session) < 0)
        return -1;
    group_adopted(c);
    return 0;
}

int confine_adopt(struct confine *c, pid_t session)
{
    pid_t *list = realloc(c->adopted.list, (c->adopted.n + 1) * sizeof *list);

    if (!list)
        return -1;
    c->adopted.list = list;
    list[c->adopted.n++] = session;
    if (confine_group_again(c, session) == 0)
        return 0;
    c->adopted.n--;
    return -1;
}

int confine_suspend(struct confine *c, int limit_ms, struct err *e)
{
    if (c->suspended)
        return 0;
    if (c->group) {
        if (!c->made && confine_group_make(c->dir, e) < 0)
            return -1;
        c->made = true;
        if (confine_group_set(c->group, c->dir, true, e) < 0)
            return -1;
    }
    c->suspended = true;
    if (stand_still(c, clock_real_mono_ms() + limit_ms, e) < 0) {
        confine_resume(c, NULL);
        return -1;
    }
    return 0;
}

int confine_resume(struct confine *c, struct err *e)
{
    if (!c->suspended)
        return 0;
    if (c->group && confine_group_set(c->group, c->dir, false, e) < 0)
        return -1;
    if (!c->group && continue_stopped(c, e) < 0)
        return -1;
    c->suspended = false;
    return 0;
}
