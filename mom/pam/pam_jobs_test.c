#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "file.h"
#include "pam_jobs.h"

static char dir[] = "/tmp/pam_jobs_test.XXXXXX";

static int make_dir(void **state)
{
    return mkdtemp(dir) && chmod(dir, 0755) == 0 ? 0 : -1;
}

static int remove_dir(void **state)
{
    return file_remove_tree(AT_FDCWD, dir, NULL);
}

/* The socket of a job that began at this second. */
static void make_socket(const char *name, time_t began_s)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct timespec times[2] = {{.tv_sec = began_s}, {.tv_sec = began_s}};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(a.sun_path, sizeof a.sun_path, "%s/%s", dir, name);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    close(fd);
    assert_int_equal(utimensat(AT_FDCWD, a.sun_path, times, 0), 0);
}

static void make_file(const char *name)
{
    char path[128];
    int fd;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void the_newest_job_comes_first(void **state)
{
    static const char *const want[] = {"4.x", "7.x", "5[3].x", "1.x"};
    struct pam_jobs j;
    struct err e = {0};

    make_socket("1.x.tm", 100);
    make_socket("7.x.tm", 300);
    make_socket("5[3].x.tm", 300);
    make_socket("4.x.tm", 400);
    make_socket("9.x", 900);
    make_socket(".tm", 900);
    make_file("8.x.tm");
    assert_int_equal(pam_jobs_find(&j, dir, geteuid(), &e), 0);
    assert_int_equal(j.n, 4);
    for (size_t i = 0; i < j.n; i++)
        assert_string_equal(j.list[i].name, want[i]);
    pam_jobs_fini(&j);
    assert_int_equal(pam_jobs_find(&j, dir, geteuid() + 1, &e), 0);
    assert_int_equal(j.n, 0);
    pam_jobs_fini(&j);
}

static void a_directory_that_is_not_there_has_no_jobs(void **state)
{
    struct pam_jobs j;
    struct err e = {0};

    assert_int_equal(pam_jobs_find(&j, "/absent/aux", geteuid(), &e), 0);
    assert_int_equal(j.n, 0);
    pam_jobs_fini(&j);
}

static void a_directory_that_others_can_change_is_not_believed(void **state)
{
    struct pam_jobs j;
    struct err e = {0};

    assert_int_equal(chmod(dir, 01777), 0);
    assert_int_equal(pam_jobs_find(&j, dir, geteuid(), &e), -1);
    assert_int_equal(e.code, EACCES);
    assert_int_equal(chmod(dir, 0755), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_job_comes_first),
        cmocka_unit_test(a_directory_that_is_not_there_has_no_jobs),
        cmocka_unit_test(a_directory_that_others_can_change_is_not_believed),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
