#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"
#include "confine_group.h"
#include "file.h"
#include "procs.h"
#include "rundir.h"

static volatile long *counter;

static void wait_until_counting(void)
{
    long was = *counter;

    for (int i = 0; i < 2000 && *counter == was; i++)
        usleep(1000);
    assert_int_not_equal(*counter, was);
}

static pid_t start_counting(void)
{
    pid_t child = fork();

    if (child)
        return child;
    if (fork() == 0) { /* leaves the session, and its parent dies: only the subreaper still knows it */
        setsid();
        for (;;) {
            ++*counter;
            usleep(200);
        }
    }
    _exit(0);
}

static void suspend_and_resume(const struct confine_place *place, bool prepared)
{
    struct confine *c;
    struct err e = {0};
    long at;
    pid_t child;

    *counter = 0;
    child = start_counting();
    waitpid(child, NULL, 0);
    c = confine_create(place, "confine_test", getpid(), SIGSTOP, SIGCONT);
    wait_until_counting();
    if (prepared)
        confine_prepare(c);
    wait_until_counting();
    assert_int_equal(confine_suspend(c, 2000, &e), 0);
    assert_true(confine_is_suspended(c));
    at = *counter;
    usleep(30000);
    assert_int_equal(*counter, at);
    assert_int_equal(confine_resume(c, &e), 0);
    wait_until_counting();
    assert_int_equal(confine_suspend(c, 2000, &e), 0);
    assert_int_equal(confine_signal(c, SIGKILL), 1);
    assert_int_equal(confine_resume(c, &e), 0);
    assert_true(wait(NULL) > 0);
    assert_int_equal(confine_signal(c, 0), 0);
    confine_destroy(c);
}

static void signals_stop_and_continue_a_whole_job(void **state)
{
    struct confine_place place = {.kind = CONFINE_SIGNALS};

    suspend_and_resume(&place, false);
    suspend_and_resume(&place, true);
}

static void whatever_this_host_offers_does_too(void **state)
{
    struct confine_place place;

    confine_probe(&place);
    print_message("this host: %s %s\n", confine_name(place.kind), place.dir);
    suspend_and_resume(&place, false);
    suspend_and_resume(&place, true);
}

static void the_older_freezer_does_where_it_is_there(void **state)
{
    struct confine_place place = {.kind = CONFINE_V1};

    if (confine_group_find(&confine_v1, place.dir, sizeof place.dir) < 0)
        skip();
    suspend_and_resume(&place, false);
    suspend_and_resume(&place, true);
}

/* --- a process that had stopped itself */

static char state_of(pid_t pid)
{
    struct procs_entry x;

    return procs_read(pid, &x) == 0 ? x.state : '?';
}

static void stop_itself_and_stay(const struct confine_place *place)
{
    struct confine *c = confine_create(place, "confine_test", getpid(), SIGSTOP, SIGCONT);
    pid_t itself = fork(), other;
    struct err e = {0};
    char state;

    if (itself == 0) {
        raise(SIGSTOP);
        _exit(7);
    }
    assert_int_equal(waitpid(itself, NULL, WUNTRACED), itself);
    *counter = 0;
    other = fork();
    while (other == 0) {
        ++*counter;
        usleep(200);
    }
    wait_until_counting();
    assert_int_equal(confine_suspend(c, 2000, &e), 0);
    assert_int_equal(confine_resume(c, &e), 0);
    wait_until_counting();
    state = state_of(itself);
    kill(itself, SIGKILL);
    kill(other, SIGKILL);
    assert_true(waitpid(itself, NULL, 0) == itself && waitpid(other, NULL, 0) == other);
    confine_destroy(c);
    assert_int_equal(state, 'T');
}

static void what_had_stopped_itself_is_not_woken_when_the_job_goes_on(void **state)
{
    struct confine_place place = {.kind = CONFINE_SIGNALS};

    stop_itself_and_stay(&place);
    confine_probe(&place);
    stop_itself_and_stay(&place);
}

/* A host without free descriptors: the job is still suspended then, and resumed when it is asked for again. */
static void a_resumption_that_cannot_find_the_processes_says_so_and_can_be_repeated(void **state)
{
    struct confine_place place = {.kind = CONFINE_SIGNALS};
    struct confine *c = confine_create(&place, "confine_test", getpid(), SIGSTOP, SIGCONT);
    struct rlimit before, none;
    struct err e = {0};
    pid_t child;

    *counter = 0;
    child = start_counting();
    waitpid(child, NULL, 0);
    wait_until_counting();
    assert_int_equal(confine_suspend(c, 2000, &e), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(confine_resume(c, &e), -1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(e.code, EMFILE);
    assert_true(confine_is_suspended(c));
    assert_int_equal(confine_resume(c, &e), 0);
    wait_until_counting();
    assert_int_equal(confine_signal(c, SIGKILL), 1);
    assert_true(wait(NULL) > 0);
    confine_destroy(c);
}

/* --- whose groups they are */

enum { PATH_LEN = 128 };

static void path_in(char out[static PATH_LEN], const char *dir, const char *name)
{
    assert_true(snprintf(out, PATH_LEN, "%s/%s", dir, name) < PATH_LEN);
}

/* Plain directories do: a group is told by its name and by the run's lock. The pids are of no process here, as those of
 * another container. */
static void groups_are_removed_only_of_our_own_runs_that_no_shepherd_holds(void **state)
{
    char top[] = "/tmp/confine.XXXXXX", runs[PATH_LEN], held[PATH_LEN], path[PATH_LEN];
    struct confine_place place = {.kind = CONFINE_SIGNALS};
    char ours_left[PATH_LEN], ours_held[PATH_LEN];
    const char *const others[] = {"pbs_1.svr.1.99999999", "pbs_ffff-1_1.svr.1.99999999", "pbs_probe.99999999",
                                  "pbs_", "pbs_a_b.99999999"};
    int fd;

    assert_non_null(mkdtemp(top));
    path_in(runs, top, "jobs");
    path_in(held, runs, "2.svr.1");
    path_in(path, held, "run");
    assert_int_equal(mkdir(runs, 0700), 0);
    assert_int_equal(mkdir(held, 0700), 0);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(rundir_hold(fd, NULL), 0);
    assert_int_equal(confine_own(&place, runs, NULL), 0);
    snprintf(place.limit[0].dir, sizeof place.limit[0].dir, "%s", top);
    snprintf(ours_left, sizeof ours_left, "%s/pbs_%s_1.svr.1.99999999", top, place.owner.name);
    snprintf(ours_held, sizeof ours_held, "%s/pbs_%s_2.svr.1.99999999", top, place.owner.name);
    assert_int_equal(mkdir(ours_left, 0700) | mkdir(ours_held, 0700), 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        path_in(path, top, others[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    confine_sweep(&place);
    assert_int_equal(access(ours_left, F_OK), -1);
    assert_int_equal(access(ours_held, F_OK), 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        path_in(path, top, others[i]);
        assert_int_equal(access(path, F_OK), 0);
    }
    close(fd);
    confine_sweep(&place);
    assert_int_equal(access(ours_held, F_OK), -1);
    file_remove_tree(AT_FDCWD, top, NULL);
}

/* --- a host whose root of version 2 has processes of its own, as in a container */

enum { HOLDS = 0, WRONG = 1, CANNOT = 77 };

static int see_own_root(const char *mount_point, const char *group)
{
    if (confine_group_make(group, NULL) < 0 || confine_group_add(group, getpid(), NULL) < 0 ||
        unshare(CLONE_NEWNS | CLONE_NEWCGROUP) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        umount2(mount_point, MNT_DETACH) < 0)
        return -1;
    return mount("cgroup2", mount_point, "cgroup2", 0, NULL);
}

/* A threaded group beside them makes all new ones invalid, as a controller that is switched on does. */
static int look_inside(const char *mount_point, const char *group)
{
    char threaded[600], found[CONFINE_DIR_MAX];

    if (see_own_root(mount_point, group) < 0 || confine_group_find(&confine_v2, found, sizeof found) < 0)
        return CANNOT;
    snprintf(threaded, sizeof threaded, "%s/t", mount_point);
    if (confine_group_make(threaded, NULL) < 0 ||
        confine_group_write(threaded, "cgroup.type", "threaded") < 0)
        return CANNOT;
    return confine_group_find(&confine_v2, found, sizeof found) < 0 || strcmp(found, mount_point) != 0
               ? HOLDS
               : WRONG;
}

static void groups_that_would_take_nobody_in_are_not_used(void **state)
{
    char top[CONFINE_DIR_MAX], group[CONFINE_DIR_MAX + 64], threaded[CONFINE_DIR_MAX + 70];
    pid_t child;
    int status;

    if (confine_group_find(&confine_v2, top, sizeof top) < 0)
        skip();
    snprintf(group, sizeof group, "%s/confine_test.%d", top, (int)getpid());
    snprintf(threaded, sizeof threaded, "%s/t", group);
    child = fork();
    if (child == 0)
        _exit(look_inside(top, group));
    assert_int_equal(waitpid(child, &status, 0), child);
    confine_group_remove(threaded, NULL);
    confine_group_remove(group, NULL);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT)
        skip();
    assert_int_equal(WEXITSTATUS(status), HOLDS);
}

/* The first controller that this file of a group names. */
static bool first_controller(const char *group, const char *file, char out[32])
{
    char path[CONFINE_DIR_MAX + 32];
    FILE *f;
    bool found;

    snprintf(path, sizeof path, "%s/%s", group, file);
    f = fopen(path, "re");
    found = f && fscanf(f, "%31s", out) == 1;
    if (f)
        fclose(f);
    return found;
}

/* The unit's own process is in the way of controllers until it is in a group of its own. */
static int look_in_delegated(const char *mount_point, const char *group)
{
    const char *parts[] = {"/pbs.slice", CONFINE_DELEGATED};
    char dir[CONFINE_DIR_MAX + 128], found[CONFINE_DIR_MAX + 128], controller[32], control[64];
    const struct confine_group_where where = {
        .type = "cgroup2", .controller = controller, .file = "cgroup.procs"};
    pid_t *members = NULL;
    size_t n = 0;

    /* What no hierarchy of version 1 has. */
    if (!first_controller(mount_point, "cgroup.controllers", controller))
        return CANNOT;
    snprintf(control, sizeof control, "+%s", controller);
    if (confine_group_write(mount_point, "cgroup.subtree_control", control) < 0 ||
        see_own_root(mount_point, group) < 0)
        return CANNOT;
    for (size_t i = 0; i < 2; i++) {
        snprintf(dir, sizeof dir, "%s%s", mount_point, parts[i]);
        if (confine_group_make(dir, NULL) < 0)
            return CANNOT;
    }
    if (confine_group_add(dir, getpid(), NULL) < 0)
        return CANNOT;
    snprintf(found, sizeof found, "%s%s", mount_point, parts[0]);
    if (confine_group_write(mount_point, "cgroup.subtree_control", control) < 0 ||
        confine_group_write(found, "cgroup.subtree_control", control) < 0)
        return CANNOT;
    if (confine_group_seek(&where, found, CONFINE_DIR_MAX) < 0 || strcmp(found, dir) != 0)
        return WRONG;
    return confine_group_members(dir, &members, &n, NULL) == 0 && n == 0 ? HOLDS : WRONG;
}

static void groups_are_made_in_the_unit_that_systemd_has_given_for_them(void **state)
{
    const char *parts[] = {CONFINE_DELEGATED "/keeper", CONFINE_DELEGATED, "/pbs.slice", ""};
    char top[CONFINE_DIR_MAX], group[CONFINE_DIR_MAX + 64], path[CONFINE_DIR_MAX + 128], on[34] = "-";
    pid_t child;
    int status;
    bool was_on;

    if (confine_group_find(&confine_v2, top, sizeof top) < 0)
        skip();
    was_on = first_controller(top, "cgroup.subtree_control", on + 1);
    snprintf(group, sizeof group, "%s/confine_test.%d", top, (int)getpid());
    child = fork();
    if (child == 0)
        _exit(look_in_delegated(top, group));
    assert_int_equal(waitpid(child, &status, 0), child);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        snprintf(path, sizeof path, "%s%s", group, parts[i]);
        confine_group_remove(path, NULL);
    }
    if (!was_on && first_controller(top, "cgroup.subtree_control", on + 1))
        confine_group_write(top, "cgroup.subtree_control", on);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT)
        skip();
    assert_int_equal(WEXITSTATUS(status), HOLDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_stop_and_continue_a_whole_job),
        cmocka_unit_test(whatever_this_host_offers_does_too),
        cmocka_unit_test(the_older_freezer_does_where_it_is_there),
        cmocka_unit_test(what_had_stopped_itself_is_not_woken_when_the_job_goes_on),
        cmocka_unit_test(a_resumption_that_cannot_find_the_processes_says_so_and_can_be_repeated),
        cmocka_unit_test(groups_are_removed_only_of_our_own_runs_that_no_shepherd_holds),
        cmocka_unit_test(groups_that_would_take_nobody_in_are_not_used),
        cmocka_unit_test(groups_are_made_in_the_unit_that_systemd_has_given_for_them),
    };

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    counter = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
