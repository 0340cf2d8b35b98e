#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "file.h"

static int set_up(void **state)
{
    char *dir = strdup("/tmp/file_test.XXXXXX");

    assert_non_null(mkdtemp(dir));
    assert_int_equal(chdir(dir), 0);
    umask(077);
    *state = dir;
    return 0;
}

static int tear_down(void **state)
{
    struct err e;

    assert_int_equal(chdir("/"), 0);
    assert_int_equal(file_remove_tree(AT_FDCWD, *state, &e), 0);
    assert_int_equal(access(*state, F_OK), -1);
    free(*state);
    return 0;
}

static mode_t mode_of(const char *name)
{
    struct stat st;

    assert_int_equal(stat(name, &st), 0);
    return st.st_mode & 07777;
}

static void writing_replaces_the_whole(void **state)
{
    struct err e;
    char *bytes;
    size_t n;

    assert_int_equal(file_write_atomic(AT_FDCWD, "a", "longer text", 11, 0644, &e), 0);
    assert_int_equal(file_write_atomic(AT_FDCWD, "a", "x\0y", 3, 0640, &e), 0);
    assert_int_equal(mode_of("a"), 0640);
    assert_int_equal(file_read(AT_FDCWD, "a", 3, &bytes, &n, &e), 0);
    assert_int_equal(n, 3);
    assert_memory_equal(bytes, "x\0y", 4);
    free(bytes);
    assert_int_equal(file_read(AT_FDCWD, "a", 2, &bytes, &n, &e), -1);
    assert_int_equal(e.code, EFBIG);
    assert_int_equal(file_write_quick(AT_FDCWD, "none/a", "x", 1, 0640, &e), -1);
    assert_int_equal(e.code, ENOENT);
    assert_int_equal(mkdir("d", 0700), 0);
    assert_int_equal(file_write_atomic(AT_FDCWD, "d", "x", 1, 0640, &e), -1);
    assert_int_equal(file_read(AT_FDCWD, "d", 10, &bytes, &n, &e), -1);
    assert_int_equal(e.code, EISDIR);
    assert_int_equal(system("test \"$(ls -A)\" = 'a\nd'"), 0); /* no temporary is left */
}

static void large_files_are_read_whole(void **state)
{
    size_t size = 1000000, n;
    char *text = malloc(size), *bytes;
    struct err e;

    for (size_t i = 0; i < size; i++)
        text[i] = (char)(i * 7 % 251);
    assert_int_equal(file_append(AT_FDCWD, "big", text, size / 2, 0600, &e), 0);
    assert_int_equal(file_append(AT_FDCWD, "big", text + size / 2, size / 2, 0600, &e), 0);
    assert_int_equal(file_read(AT_FDCWD, "big", size, &bytes, &n, &e), 0);
    assert_int_equal(n, size);
    assert_memory_equal(bytes, text, size);
    free(bytes);
    free(text);
}

static void links_are_not_followed(void **state)
{
    struct err e;
    int dir;

    assert_int_equal(file_make_dirs("x/y//z/", 0751, &e), 0);
    assert_int_equal(mode_of("x/y/z"), 0751);
    assert_int_equal(mode_of("x"), 0751);
    assert_int_equal(file_make_dirs("x/y", 0700, &e), 0);
    assert_int_equal(mode_of("x/y"), 0751);
    assert_int_equal(symlink("y", "x/link"), 0);
    assert_int_equal(file_open_nofollow(AT_FDCWD, "x/link/z", O_RDONLY, 0, &e), -1);
    assert_int_equal(e.code, ELOOP);
    dir = file_open_dir(AT_FDCWD, "x/y", &e);
    assert_true(dir >= 0);
    assert_int_equal(file_open_nofollow(dir, "../y", O_RDONLY, 0, &e), -1);
    assert_int_equal(e.code, EXDEV);
    int fd = file_open_nofollow(dir, "z/new", O_WRONLY | O_CREAT | O_EXCL, 0600, &e);
    assert_true(fd >= 0);
    close(fd);
    close(dir);
    assert_int_equal(file_write_quick(AT_FDCWD, "plain", "", 0, 0600, &e), 0);
    assert_int_equal(file_make_dirs("plain/sub", 0700, &e), -1);
    assert_int_equal(e.code, ENOTDIR);
}

/* What a sandbox of systemd does to it (RestrictSUIDSGID=), and a kernel that has no such call. */
static void forbid_openat2(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof rules / sizeof *rules, .filter = rules};

    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
    assert_int_equal(syscall(SYS_openat2, AT_FDCWD, ".", NULL, 0), -1);
    assert_int_equal(errno, ENOSYS);
}

/* 0, else the error of opening this name. */
static int error_of(int dir, const char *name, int flags)
{
    struct err e = {0};
    int fd = file_open_nofollow(dir, name, flags, 0600, &e);

    if (fd >= 0)
        close(fd);
    return fd < 0 ? e.code : 0;
}

static void check_that_links_are_not_followed(int dir)
{
    static const struct {
        const char *name;
        int flags, outside, below;
    } cases[] = {
        {"y/z/plain", O_RDONLY, 0, 0},
        {"y//z///plain", O_RDWR, 0, 0},
        {"./y/./z/", O_RDONLY, 0, 0},
        {"y/z", O_RDONLY | O_DIRECTORY, 0, 0},
        {"y/z/plain", O_WRONLY | O_CREAT | O_EXCL, EEXIST, EEXIST},
        {"y/z/plain/", O_RDONLY, ENOTDIR, ENOTDIR},
        {"y/z/plain/x", O_RDONLY, ENOTDIR, ENOTDIR},
        {"y/z/none", O_RDONLY, ENOENT, ENOENT},
        {"", O_RDONLY, ENOENT, ENOENT},
        {"link/z/plain", O_RDONLY, ELOOP, ELOOP},
        {"link", O_RDONLY, ELOOP, ELOOP},
        {"link/", O_RDONLY, ELOOP, ELOOP},
        {"link", O_RDONLY | O_DIRECTORY, ENOTDIR, ENOTDIR},
        {"y/z/dangling", O_WRONLY | O_CREAT, ELOOP, ELOOP},
        {"../x/y", O_RDONLY, 0, EXDEV},
        {"y/../../x", O_RDONLY, 0, EXDEV},
        {"/", O_RDONLY, 0, EXDEV},
        {"//dev/null", O_RDWR, 0, EXDEV},
        {"/proc/self/cwd/y", O_RDONLY, ELOOP, EXDEV},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (error_of(AT_FDCWD, cases[i].name, cases[i].flags) != cases[i].outside)
            fail_msg("%s: error %d", cases[i].name, error_of(AT_FDCWD, cases[i].name, cases[i].flags));
        if (error_of(dir, cases[i].name, cases[i].flags) != cases[i].below)
            fail_msg("%s below: error %d", cases[i].name, error_of(dir, cases[i].name, cases[i].flags));
    }
    assert_int_equal(error_of(dir, "y/z/new", O_WRONLY | O_CREAT | O_EXCL), 0);
    assert_int_equal(mode_of("y/z/new"), 0600);
    assert_int_equal(unlink("y/z/new"), 0);
}

static void links_are_not_followed_where_the_kernel_does_not_help(void **state)
{
    struct err e;
    int dir, status;
    pid_t pid;

    assert_int_equal(file_make_dirs("x/y/z", 0700, &e), 0);
    assert_int_equal(chdir("x"), 0);
    assert_int_equal(file_write_quick(AT_FDCWD, "y/z/plain", "", 0, 0600, &e), 0);
    assert_int_equal(symlink("y", "link"), 0);
    assert_int_equal(symlink("nowhere", "y/z/dangling"), 0);
    dir = file_open_dir(AT_FDCWD, ".", &e);
    assert_true(dir >= 0);
    check_that_links_are_not_followed(dir);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        forbid_openat2();
        check_that_links_are_not_followed(dir);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(dir);
}

static void removing_does_not_leave_the_tree(void **state)
{
    struct err e;

    assert_int_equal(file_make_dirs("outside", 0700, &e), 0);
    assert_int_equal(file_write_quick(AT_FDCWD, "outside/keep", "", 0, 0600, &e), 0);
    assert_int_equal(file_make_dirs("tree/a/b", 0700, &e), 0);
    assert_int_equal(symlink("../../outside", "tree/a/link"), 0);
    assert_int_equal(file_remove_tree(AT_FDCWD, "tree", &e), 0);
    assert_int_equal(access("tree", F_OK), -1);
    assert_int_equal(access("outside/keep", F_OK), 0);
    assert_int_equal(file_remove_tree(AT_FDCWD, "tree", &e), 0);
}

/* A chain of directories with a file in each, deeper than any path can say; with names in the way of what is lifted. */
static void make_deep(int levels)
{
    char top[PATH_MAX];
    struct err e;

    assert_non_null(getcwd(top, sizeof top));
    assert_int_equal(file_make_dirs("deep/.lifted.1/full", 0700, &e), 0);
    assert_int_equal(file_write_quick(AT_FDCWD, "deep/.lifted.2", "", 0, 0600, &e), 0);
    assert_int_equal(chdir("deep"), 0);
    for (int i = 0; i < levels; i++) {
        assert_int_equal(mkdir("directory", 0700), 0);
        assert_int_equal(file_write_quick(AT_FDCWD, "file", "", 0, 0600, &e), 0);
        assert_int_equal(chdir("directory"), 0);
    }
    assert_int_equal(chdir(top), 0);
}

static void a_tree_is_removed_however_deep_it_is(void **state)
{
    struct err e = {0};

    make_deep(1000);
    if (file_remove_tree(AT_FDCWD, "deep", &e) < 0)
        fail_msg("%s", e.text);
    assert_int_equal(access("deep", F_OK), -1);
}

static void a_lock_has_one_holder(void **state)
{
    struct err e;
    char want[32];
    int fd = file_lock("lock", 0600, &e), status;
    pid_t child;

    assert_true(fd >= 0);
    assert_int_equal(file_lock_holder("lock", &e), getpid());
    child = fork();
    if (child == 0) {
        int second = file_lock("lock", 0600, &e);
        snprintf(want, sizeof want, "process %ld", (long)getppid());
        _exit(second < 0 && e.code == EWOULDBLOCK && strstr(e.text, want) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(fd);
    assert_int_equal(file_lock_holder("lock", &e), 0);
    assert_int_equal(file_lock_holder("nolock", &e), 0);
}

static void sockets_may_have_long_paths(void **state)
{
    char path[400];
    struct sockaddr_un address;
    socklen_t length;
    struct err e;
    int dir, s = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0);

    memset(path, 'd', sizeof path);
    path[100] = path[200] = path[300] = '\0';
    path[100] = path[200] = '/';
    assert_int_equal(file_make_dirs(path, 0700, &e), 0);
    snprintf(path + 300, sizeof path - 300, "/sock");
    assert_int_equal(file_socket_address(path, &address, &length, &dir, &e), 0);
    assert_true(dir >= 0);
    assert_int_equal(bind(s, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(s, 1), 0);
    close(dir);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(file_socket_address(path, &address, &length, &dir, &e), 0);
    assert_int_equal(connect(c, (struct sockaddr *)&address, length), 0);
    close(dir);
    close(c);
    close(s);
    assert_int_equal(file_socket_address("short", &address, &length, &dir, &e), 0);
    assert_int_equal(dir, -1);
    assert_string_equal(address.sun_path, "short");
}

static void who_asks_for_the_holder_keeps_nobody_from_the_lock(void **state)
{
    struct err e = {0};
    int status;
    pid_t child;

    file_unlock(file_lock("lock", 0600, &e));
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* where the test fails */
        for (;;)
            (void)file_lock_holder("lock", NULL);
    }
    for (int i = 0; i < 100; i++) { /* stopped at any moment of its asking */
        int fd;

        assert_int_equal(kill(child, SIGSTOP), 0);
        assert_int_equal(waitpid(child, &status, WUNTRACED), child);
        fd = file_lock_within("lock", 0600, 0, &e);
        assert_true(fd >= 0);
        file_unlock(fd);
        assert_int_equal(kill(child, SIGCONT), 0);
    }
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
}

static void a_lock_that_is_given_back_is_free_whatever_children_have_of_it(void **state)
{
    struct err e = {0};
    int fd = file_lock("lock", 0600, &e);
    pid_t child;

    assert_true(fd >= 0);
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    file_unlock(fd);
    fd = file_lock_within("lock", 0600, 0, &e);
    assert_true(fd >= 0);
    file_unlock(fd);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* The child of a daemon that was killed ends only when it is told to, which is after another process has begun to wait for the lock. */
static void a_lock_that_a_killed_process_has_left_to_a_child_is_waited_for(void **state)
{
    struct err e = {0};
    int fd = file_lock("lock", 0600, &e);
    pid_t child;

    assert_true(fd >= 0);
    assert_int_equal(file_lock_set_pid(fd, 999999999, &e), 0); /* of a process that is gone */
    child = fork();
    if (child == 0) {
        usleep(300000);
        _exit(0);
    }
    close(fd);
    fd = file_lock_within("lock", 0600, 60000, &e);
    assert_true(fd >= 0);
    file_unlock(fd);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static uid_t owner_of(const char *name)
{
    struct stat st;

    assert_int_equal(lstat(name, &st), 0);
    return st.st_uid;
}

static void what_is_handed_over_is_below_the_directory_by_no_link(void **state)
{
    enum { SOMEBODY = 60001 };
    struct err e;
    int home;

    if (geteuid() != 0)
        skip();
    assert_int_equal(file_make_dirs("home/priv/hooks/tmp", 0700, &e), 0);
    assert_int_equal(file_make_dirs("else/tmp/roots", 0700, &e), 0);
    home = file_open_dir(AT_FDCWD, "home", &e);
    assert_int_equal(file_hand_over(home, "priv/hooks/tmp", SOMEBODY, SOMEBODY, &e), 0);
    assert_int_equal(file_hand_over(home, "priv", SOMEBODY, SOMEBODY, &e), 0);
    assert_int_equal(owner_of("home/priv/hooks"), SOMEBODY);
    assert_int_equal(owner_of("home/priv/hooks/tmp"), SOMEBODY);
    assert_int_equal(rename("home/priv/hooks", "home/priv/old"), 0); /* what that user may do there */
    assert_int_equal(symlink("../../else", "home/priv/hooks"), 0);
    assert_int_equal(file_hand_over(home, "priv/hooks/tmp", SOMEBODY, SOMEBODY, &e), -1);
    assert_int_equal(e.code, ELOOP);
    assert_int_equal(owner_of("else/tmp"), 0);
    assert_int_equal(owner_of("else/tmp/roots"), 0);
    assert_int_equal(symlink("../else/tmp", "home/tmp"), 0);
    assert_int_equal(file_hand_over(home, "tmp", SOMEBODY, SOMEBODY, &e), -1);
    close(home);
    assert_int_equal(file_hand_over(AT_FDCWD, "home/tmp", SOMEBODY, SOMEBODY, &e), -1);
    assert_int_equal(owner_of("else/tmp/roots"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(writing_replaces_the_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_files_are_read_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links_are_not_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links_are_not_followed_where_the_kernel_does_not_help, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(removing_does_not_leave_the_tree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_tree_is_removed_however_deep_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lock_has_one_holder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_asks_for_the_holder_keeps_nobody_from_the_lock, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_lock_that_is_given_back_is_free_whatever_children_have_of_it,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lock_that_a_killed_process_has_left_to_a_child_is_waited_for,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(sockets_may_have_long_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_handed_over_is_below_the_directory_by_no_link, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
