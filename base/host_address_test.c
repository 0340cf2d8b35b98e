/* The own name of a host always has an address. */
#include "host_address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/wait.h>
#include <sched.h>
#include <unistd.h>

static void an_address_is_its_own_name(void **state)
{
    struct addrinfo *list = NULL;
    const struct sockaddr_in *a;

    assert_int_equal(host_address_find("127.0.0.9", "15001", AI_NUMERICSERV, &list), 0);
    a = (const struct sockaddr_in *)(const void *)list->ai_addr;
    assert_int_equal(ntohs(a->sin_port), 15001);
    assert_int_equal(ntohl(a->sin_addr.s_addr), 0x7f000009);
    freeaddrinfo(list);
}

static void names_are_ours_in_either_case_and_by_their_first_part(void **state)
{
    char own[256] = "";

    assert_int_equal(gethostname(own, sizeof own - 1), 0);
    assert_true(host_address_is_own_name(own));
    own[strcspn(own, ".")] = '\0';
    assert_true(host_address_is_own_name(own));
    assert_false(host_address_is_own_name(""));
    assert_false(host_address_is_own_name("not-this-host.invalid"));
}

static void a_name_that_is_not_ours_stays_unknown(void **state)
{
    struct addrinfo *list = NULL;

    assert_int_not_equal(host_address_find("not-this-host.invalid", NULL, 0, &list), 0);
    assert_null(list);
}

/* In a child with a name of its own; 77: the system gives us no such child. */
static int find_own_name_that_nobody_knows(void)
{
    static const char name[] = "nobody-knows.invalid";
    struct addrinfo *list = NULL;
    bool loopback = false;

    if (unshare(CLONE_NEWUTS) < 0 || sethostname(name, sizeof name - 1) < 0)
        return 77;
    if (host_address_find(name, "15001", AI_ADDRCONFIG, &list) != 0)
        return 1;
    for (const struct addrinfo *a = list; a && !loopback; a = a->ai_next)
        loopback =
            a->ai_family == AF_INET &&
            ntohl(((const struct sockaddr_in *)(const void *)a->ai_addr)->sin_addr.s_addr) == INADDR_LOOPBACK;
    freeaddrinfo(list);
    return loopback ? 0 : 2;
}

static void an_own_name_that_nobody_knows_is_loopback(void **state)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        _exit(find_own_name_that_nobody_knows());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void an_address_is_told_from_a_name(void **state)
{
    static const char *const addresses[] = {"10.77.0.2", "fd77::2", "::1", "::ffff:10.77.0.2"};
    static const char *const names[] = {"",     "n1",        "10.77.0", "10.77.0.2.example",
                                        "fd77", "localhost", "[::1]"};

    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++)
        assert_true(host_address_is_numeric(addresses[i]));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_false(host_address_is_numeric(names[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_told_from_a_name),
        cmocka_unit_test(an_address_is_its_own_name),
        cmocka_unit_test(names_are_ours_in_either_case_and_by_their_first_part),
        cmocka_unit_test(a_name_that_is_not_ours_stays_unknown),
        cmocka_unit_test(an_own_name_that_nobody_knows_is_loopback),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
