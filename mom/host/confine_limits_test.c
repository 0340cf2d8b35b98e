/* Bounds of a group: files of both versions in a made-up directory, and what the kernel of this host does. */
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"
#include "confine_devices.h"
#include "file.h"

/* ---- a tree that only this test reads */
static char tree[] = "/tmp/confine_limits_test.XXXXXX";

static void put(const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", tree, name);
    assert_int_equal(file_write_quick(AT_FDCWD, path, text, strlen(text), 0600, NULL), 0);
}

static void expect(const char *name, const char *text)
{
    char path[256], *found = NULL;

    snprintf(path, sizeof path, "%s/%s", tree, name);
    assert_int_equal(file_read(AT_FDCWD, path, 4096, &found, NULL, NULL), 0);
    assert_string_equal(found, text);
    free(found);
}

static int make_tree(void **state)
{
    char group[256];

    if (!mkdtemp(tree))
        return -1;
    snprintf(group, sizeof group, "%s/g", tree);
    return mkdir(group, 0700);
}

static int remove_tree(void **state)
{
    char command[300];

    snprintf(command, sizeof command, "rm -r %s", tree);
    return system(command);
}

static int set(enum confine_limit l, enum confine_kind kind, const char *bound, struct err *e)
{
    char group[256];

    snprintf(group, sizeof group, "%s/g", tree);
    return confine_limits_set(l, kind, group, bound, e);
}

static void version_2_has_all_files_in_one_group(void **state)
{
    put("g/memory.max", "");
    put("g/memory.swap.max", "");
    put("g/memory.oom.group", "");
    put("g/pids.max", "");
    put("g/cpuset.cpus", "");
    assert_int_equal(set(CONFINE_MEMORY, CONFINE_V2, "1048576", NULL), 0);
    assert_int_equal(set(CONFINE_PIDS, CONFINE_V2, "70", NULL), 0);
    assert_int_equal(set(CONFINE_CPUSET, CONFINE_V2, "0-3,8", NULL), 0);
    expect("g/memory.max", "1048576");
    expect("g/memory.swap.max", "0");
    expect("g/memory.oom.group", "1");
    expect("g/pids.max", "70");
    expect("g/cpuset.cpus", "0-3,8");
}

static void version_1_binds_to_all_memory_nodes_and_refuses_devices_first(void **state)
{
    put("cpuset.mems", "0-1");
    put("g/cpuset.mems", "");
    put("g/cpuset.cpus", "");
    put("g/devices.deny", "");
    put("g/devices.allow", "");
    assert_int_equal(set(CONFINE_CPUSET, CONFINE_V1, "2", NULL), 0);
    expect("g/cpuset.mems", "0-1");
    expect("g/cpuset.cpus", "2");
    assert_int_equal(set(CONFINE_DEVICES, CONFINE_V1, "c 1:3 rwm\n", NULL), 0);
    expect("g/devices.deny", "a");
    expect("g/devices.allow", "c 1:3 rwm");
}

static void what_cannot_be_written_is_named(void **state)
{
    struct err e = {0};

    put("cpuset.mems", "0");
    assert_int_equal(set(CONFINE_PIDS, CONFINE_V1, "70", NULL), 0);
    remove_tree(NULL);
    assert_int_equal(set(CONFINE_PIDS, CONFINE_V1, "70", &e), -1);
    assert_non_null(strstr(e.text, "70"));
    memset(&e, 0, sizeof e);
    assert_int_equal(set(CONFINE_CPUSET, CONFINE_V1, "1", &e), -1);
    assert_int_equal(e.code, ENOENT);
    mkdir(tree, 0700);
}

/* ---- rules */
static void rules_of_devices_are_checked(void **state)
{
    static const char *const bad[] = {"",        "c",           "c 1 rw",        "x 1:3 rw",
                                      "c 1:3",   "c 1:3 x",     "c a:3 rw",      "/dev/no_such rw",
                                      "/tmp rw", "/dev/null q", "c 1:3 rw more", "c 1*:3 rw",
                                      "c -1:3 r"};
    char out[64];
    struct err e;

    assert_int_equal(confine_devices_parse("/dev/null", out, sizeof out, NULL), 0);
    assert_string_equal(out, "c 1:3 rw");
    assert_int_equal(confine_devices_parse("b 8:* r", out, sizeof out, NULL), 0);
    assert_string_equal(out, "b 8:* r");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memset(&e, 0, sizeof e);
        assert_int_equal(confine_devices_parse(bad[i], out, sizeof out, &e), -1);
        assert_int_equal(e.code, EINVAL);
        assert_true(strlen(e.text) > 10);
    }
}

/* ---- the kernel */
static struct confine *confined(enum confine_limit l, const char *bound)
{
    struct confine_place place;
    struct confine *c;

    confine_probe(&place);
    print_message("%s here: %s %s\n", confine_limit_name(l), confine_name(place.limit[l].kind),
                  place.limit[l].dir);
    if (place.limit[l].kind == CONFINE_SIGNALS)
        skip();
    c = confine_create(&place, "confine_limits_test", getpid(), SIGSTOP, SIGCONT);
    assert_non_null(c);
    assert_int_equal(confine_limit(c, l, bound, NULL), 0);
    return c;
}

/* What `fn` gives in a process of the job. */
static int inside(struct confine *c, int (*fn)(void))
{
    pid_t child = confine_fork(c);
    int status;

    if (child == 0)
        _exit(confine_enter(c, NULL) < 0 ? 99 : fn());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int count_forks(void)
{
    int n = 0;
    pid_t all[64];

    while (n < 64 && (all[n] = fork()) > 0)
        n++;
    if (n < 64 && all[n] == 0) {
        pause();
        _exit(0);
    }
    for (int i = 0; i < n; i++)
        kill(all[i], SIGKILL);
    for (int i = 0; i < n; i++)
        waitpid(all[i], NULL, 0);
    return n;
}

static void no_more_processes_than_the_limit_can_be_made(void **state)
{
    struct confine *c = confined(CONFINE_PIDS, "7");

    assert_int_equal(inside(c, count_forks), 6);
    assert_true(confine_has_met_pids(c));
    confine_destroy(c);
    c = confined(CONFINE_PIDS, "100");
    assert_int_equal(inside(c, count_forks), 64);
    assert_false(confine_has_met_pids(c));
    confine_destroy(c);
}

static int count_processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 98;
}

static void a_job_runs_on_its_processors_only(void **state)
{
    struct confine *c = confined(CONFINE_CPUSET, "0");

    assert_int_equal(inside(c, count_processors), 1);
    confine_destroy(c);
}

static int open_devices(void)
{
    int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDONLY),
        random = open("/dev/urandom", O_RDONLY);

    return (null >= 0) + 2 * (zero >= 0) + 4 * (random >= 0);
}

static int write_zero(void)
{
    return open("/dev/zero", O_WRONLY) >= 0;
}

static void devices(enum confine_kind kind)
{
    struct confine_place place = {.kind = CONFINE_SIGNALS};
    struct confine *c;

    confine_probe(&place);
    if (kind == CONFINE_V1) {
        if (access("/sys/fs/cgroup/devices/devices.deny", W_OK) < 0 &&
            access("/sys/fs/cgroup/devices/tasks", W_OK) < 0)
            skip();
        place.limit[CONFINE_DEVICES] = (struct confine_seat){CONFINE_V1, "/sys/fs/cgroup/devices"};
    }
    if (place.limit[CONFINE_DEVICES].kind != kind)
        skip();
    c = confine_create(&place, "confine_devices_test", getpid(), SIGSTOP, SIGCONT);
    assert_int_equal(confine_limit(c, CONFINE_DEVICES, "c 1:3 rw\nb 8:* r\nc 1:5 r\n", NULL), 0);
    assert_int_equal(inside(c, open_devices), 1 + 2);
    assert_int_equal(inside(c, write_zero), 0);
    confine_destroy(c);
    c = confine_create(&place, "confine_devices_test", getpid(), SIGSTOP, SIGCONT);
    assert_int_equal(confine_limit(c, CONFINE_DEVICES, confine_devices_usual, NULL), 0);
    assert_int_equal(inside(c, open_devices), 1 + 2 + 4);
    confine_destroy(c);
}

static void devices_that_no_rule_names_cannot_be_opened(void **state)
{
    devices(CONFINE_V2);
}

static void nor_with_version_1(void **state)
{
    devices(CONFINE_V1);
}

static void several_bounds_hold_together(void **state)
{
    struct confine *c = confined(CONFINE_PIDS, "5");

    assert_int_equal(confine_limit(c, CONFINE_DEVICES, "c 1:3 rw\n", NULL), 0);
    assert_int_equal(confine_limit(c, CONFINE_MEMORY, "100000000", NULL), 0);
    assert_int_equal(inside(c, count_forks), 4);
    assert_true(inside(c, open_devices) == 1 || inside(c, open_devices) == 7);
    confine_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_2_has_all_files_in_one_group),
        cmocka_unit_test(version_1_binds_to_all_memory_nodes_and_refuses_devices_first),
        cmocka_unit_test(what_cannot_be_written_is_named),
        cmocka_unit_test(rules_of_devices_are_checked),
        cmocka_unit_test(no_more_processes_than_the_limit_can_be_made),
        cmocka_unit_test(a_job_runs_on_its_processors_only),
        cmocka_unit_test(devices_that_no_rule_names_cannot_be_opened),
        cmocka_unit_test(nor_with_version_1),
        cmocka_unit_test(several_bounds_hold_together),
    };

    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
