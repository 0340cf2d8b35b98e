#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "rundir.h"
#include "rundir_pool.h"

static char root[64];
static struct rundir_pool *pool;

static int make_root(void **state)
{
    snprintf(root, sizeof root, "/tmp/rundir_pool.XXXXXX");
    if (!mkdtemp(root))
        return -1;
    pool = rundir_pool_create(root);
    return pool ? 0 : -1;
}

static int drop_root(void **state)
{
    rundir_pool_destroy(pool);
    return file_remove_tree(AT_FDCWD, root, NULL);
}

static const char *at(const char *name)
{
    static char path[2][256];
    static int which;

    which = !which;
    snprintf(path[which], sizeof path[which], "%s/%s", root, name);
    return path[which];
}

static void put(const char *name, const char *text)
{
    assert_int_equal(file_write_quick(AT_FDCWD, at(name), text, strlen(text), 0700, NULL), 0);
}

static off_t size_of(const char *name)
{
    struct stat st;

    return lstat(at(name), &st) < 0 ? -1 : st.st_size;
}

static ino_t inode_of(const char *name)
{
    struct stat st;

    return lstat(at(name), &st) < 0 ? 0 : st.st_ino;
}

/* A run "1.s.1" of ann's, as it is when it is over. */
static void end_a_run(void)
{
    assert_int_equal(rundir_pool_take(pool, at("1.s.1"), "ann", "1.s.SC", NULL), 0);
    put("1.s.1/run", "an order");
    put("1.s.1/1.s.SC", "a script");
    put("1.s.1/journal", "events");
}

static unsigned entries(void)
{
    DIR *dir = opendir(root);
    const struct dirent *d;
    unsigned n = 0;

    assert_non_null(dir);
    while ((d = readdir(dir)))
        n += strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
    closedir(dir);
    return n;
}

static void a_run_without_descriptors_is_gone_and_its_files_go_later(void **state)
{
    struct rlimit usual, none;

    end_a_run();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = (struct rlimit){0, usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(rundir_pool_give(pool, at("1.s.1"), "ann", NULL), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_int_equal(size_of("1.s.1"), -1);
    assert_int_equal(entries(), 1);
    end_a_run();
    assert_int_equal(entries(), 2);
    assert_int_equal(rundir_pool_give(pool, at("1.s.1"), "ann", NULL), 0);
    assert_int_equal(entries(), 1);
    assert_true(size_of(".spare.2/run") <= 1);
}

static void a_spare_serves_the_same_user_without_what_it_held(void **state)
{
    ino_t run, script, journal;

    end_a_run();
    run = inode_of("1.s.1/run");
    journal = inode_of("1.s.1/journal");
    script = inode_of("1.s.1/1.s.SC");
    assert_int_equal(rundir_pool_give(pool, at("1.s.1"), "ann", NULL), 0);
    assert_int_equal(size_of("1.s.1"), -1);
    assert_int_equal(rundir_pool_take(pool, at("2.s.1"), "ann", "2.s.SC", NULL), 0);
    assert_int_equal(inode_of("2.s.1/run"), run);
    assert_int_equal(inode_of("2.s.1/2.s.SC"), script);
    assert_int_equal(size_of("2.s.1/run"), 1);
    assert_int_equal(size_of("2.s.1/2.s.SC"), 1);
    assert_int_equal(inode_of("2.s.1/journal"), journal);
    assert_int_equal(size_of("2.s.1/journal"), 0);
    assert_int_equal(size_of("2.s.1/1.s.SC"), -1);
}

static void another_user_gets_a_new_directory(void **state)
{
    end_a_run();
    assert_int_equal(rundir_pool_give(pool, at("1.s.1"), "ann", NULL), 0);
    assert_int_equal(rundir_pool_take(pool, at("2.s.1"), "bob", "2.s.SC", NULL), 0);
    assert_int_equal(size_of("2.s.1/run"), -1);
    assert_int_equal(size_of("2.s.1/2.s.SC"), -1);
}

static void a_script_with_a_second_name_is_left_to_its_owner(void **state)
{
    end_a_run();
    assert_int_equal(link(at("1.s.1/1.s.SC"), at("copy")), 0);
    assert_int_equal(rundir_pool_give(pool, at("1.s.1"), "ann", NULL), 0);
    assert_int_equal(size_of("copy"), 8);
    assert_int_equal(rundir_pool_take(pool, at("2.s.1"), "ann", "2.s.SC", NULL), 0);
    assert_int_equal(size_of("2.s.1/2.s.SC"), -1);
    assert_int_equal(size_of("2.s.1/run"), 1);
}

static void a_run_whose_shepherd_is_still_there_is_removed(void **state)
{
    int fd;

    end_a_run();
    fd = open(at("1.s.1/run"), O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(rundir_pool_give(pool, at("1.s.1"), "ann", NULL), 0);
    assert_int_equal(size_of("1.s.1"), -1);
    assert_int_equal(rundir_pool_take(pool, at("2.s.1"), "ann", "2.s.SC", NULL), 0);
    assert_int_equal(size_of("2.s.1/run"), -1);
    close(fd);
}

static void the_next_mom_removes_them(void **state)
{
    struct rundir_pool *next;

    end_a_run();
    assert_int_equal(rundir_pool_give(pool, at("1.s.1"), "ann", NULL), 0);
    next = rundir_pool_create(root);
    assert_int_equal(rundir_pool_take(next, at("2.s.1"), "ann", "2.s.SC", NULL), 0);
    assert_int_equal(size_of("2.s.1/run"), -1);
    assert_int_equal(rundir_remove(at("2.s.1"), NULL), 0);
    rundir_pool_destroy(next);
    assert_int_equal(rmdir(root), 0); /* nothing is left */
    assert_int_equal(mkdir(root, 0700), 0);
}

static void more_than_enough_of_them_are_removed(void **state)
{
    char name[32];
    DIR *dir;
    int n = 0;

    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "%d.s.1", i);
        assert_int_equal(rundir_create(at(name), NULL), 0);
        snprintf(name, sizeof name, "%d.s.1/run", i);
        put(name, "an order");
        snprintf(name, sizeof name, "%d.s.1", i);
        assert_int_equal(rundir_pool_give(pool, at(name), "ann", NULL), 0);
    }
    dir = opendir(root);
    for (const struct dirent *d; (d = readdir(dir));)
        n += d->d_name[0] == '.' && strlen(d->d_name) > 2;
    closedir(dir);
    assert_int_equal(n, 256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_without_descriptors_is_gone_and_its_files_go_later, make_root,
                                        drop_root),
        cmocka_unit_test_setup_teardown(a_spare_serves_the_same_user_without_what_it_held, make_root,
                                        drop_root),
        cmocka_unit_test_setup_teardown(another_user_gets_a_new_directory, make_root, drop_root),
        cmocka_unit_test_setup_teardown(a_script_with_a_second_name_is_left_to_its_owner, make_root,
                                        drop_root),
        cmocka_unit_test_setup_teardown(a_run_whose_shepherd_is_still_there_is_removed, make_root, drop_root),
        cmocka_unit_test_setup_teardown(the_next_mom_removes_them, make_root, drop_root),
        cmocka_unit_test_setup_teardown(more_than_enough_of_them_are_removed, make_root, drop_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
