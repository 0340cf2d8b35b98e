#include "systemd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A socket that systemd would listen at, and its name in the environment. */
static int listen_at(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    memcpy(at.sun_path, name, strlen(name));
    if (*name == '@')
        at.sun_path[0] = '\0';
    assert_int_equal(
        bind(fd, (struct sockaddr *)&at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
        0);
    assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
    return fd;
}

static void is_told_once(const char *name)
{
    struct systemd_socket s;
    int fd = listen_at(name);
    char got[16];

    assert_true(systemd_take_socket(&s));
    assert_null(getenv("NOTIFY_SOCKET"));
    systemd_tell_ready(&s);
    systemd_tell_ready(&s);
    assert_int_equal(recv(fd, got, sizeof got, 0), 7);
    assert_memory_equal(got, "READY=1", 7);
    assert_int_equal(recv(fd, got, sizeof got, 0), -1);
    close(fd);
}

static void systemd_is_told_once_by_a_path_or_an_abstract_name(void **state)
{
    char folder[] = "/tmp/systemd_test.XXXXXX", name[64];

    assert_non_null(mkdtemp(folder));
    snprintf(name, sizeof name, "%s/notify", folder);
    is_told_once(name);
    unlink(name);
    rmdir(folder);
    snprintf(name, sizeof name, "@cede/systemd_test/%d", (int)getpid());
    is_told_once(name);
}

static void without_a_usable_name_nothing_is_said(void **state)
{
    struct systemd_socket s;
    char longest[512];

    unsetenv("NOTIFY_SOCKET");
    assert_false(systemd_take_socket(&s));
    systemd_tell_ready(&s);
    setenv("NOTIFY_SOCKET", "vsock:2:1", 1);
    assert_false(systemd_take_socket(&s));
    memset(longest, '/', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    setenv("NOTIFY_SOCKET", longest, 1);
    assert_false(systemd_take_socket(&s));
    assert_null(getenv("NOTIFY_SOCKET"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(systemd_is_told_once_by_a_path_or_an_abstract_name),
        cmocka_unit_test(without_a_usable_name_nothing_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
