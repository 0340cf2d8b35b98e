/* Addresses as text, and which of several is next. */
#include "names_address.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static void each_attempt_goes_to_the_next_address(void **state)
{
    struct sockaddr_storage two[2] = {{.ss_family = AF_INET6}, {.ss_family = AF_INET}};
    const struct names_host h = {.name = "both", .addresses = two, .n_addresses = 2};
    char text[INET6_ADDRSTRLEN];

    inet_pton(AF_INET6, "2001:db8::7", &((struct sockaddr_in6 *)&two[0])->sin6_addr);
    inet_pton(AF_INET, "192.0.2.7", &((struct sockaddr_in *)&two[1])->sin_addr);
    names_address_text(&h, 0, text);
    assert_string_equal(text, "2001:db8::7");
    names_address_text(&h, 1, text);
    assert_string_equal(text, "192.0.2.7");
    names_address_text(&h, 2, text);
    assert_string_equal(text, "2001:db8::7");
}

static void an_address_is_told_from_a_name(void **state)
{
    assert_true(names_address_is_one("192.0.2.7"));
    assert_true(names_address_is_one("::1"));
    assert_false(names_address_is_one("192.0.2"));
    assert_false(names_address_is_one("node7"));
    assert_false(names_address_is_one(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_attempt_goes_to_the_next_address),
        cmocka_unit_test(an_address_is_told_from_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
