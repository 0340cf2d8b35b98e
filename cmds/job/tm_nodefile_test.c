#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tm_nodefile.h"

static void write_file(const char *text)
{
    char path[] = "/tmp/nodefile.XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    setenv("PBS_NODEFILE", path, 1);
}

static void a_host_is_its_first_line(void **state)
{
    write_file("n1\nn10\nn1\nn2.site.org\n");
    assert_int_equal(tm_nodefile_find("n1"), 0);
    assert_int_equal(tm_nodefile_find("n10"), 1);
    assert_int_equal(tm_nodefile_find("N10"), 1);
    assert_int_equal(tm_nodefile_find("n"), -1);
    assert_int_equal(tm_nodefile_find(""), -1);
    unlink(getenv("PBS_NODEFILE"));
}

static void a_missing_domain_is_no_difference_another_one_is(void **state)
{
    write_file("n1.site.org\nn2\n");
    assert_int_equal(tm_nodefile_find("n1"), 0);
    assert_int_equal(tm_nodefile_find("n2.site.org"), 1);
    assert_int_equal(tm_nodefile_find("n1.elsewhere.org"), -1);
    unlink(getenv("PBS_NODEFILE"));
}

static void without_a_nodefile_there_is_no_host(void **state)
{
    unsetenv("PBS_NODEFILE");
    assert_int_equal(tm_nodefile_find("n1"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_is_its_first_line),
        cmocka_unit_test(a_missing_domain_is_no_difference_another_one_is),
        cmocka_unit_test(without_a_nodefile_there_is_no_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
