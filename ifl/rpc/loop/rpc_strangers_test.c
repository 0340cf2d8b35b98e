/* Who gives way when all places of strangers are taken. Connections are only names here: nothing is done with them. */
#include "rpc_strangers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { PLACES = 16, FLOOD = 1, OTHER = 2, HOST = 1000 };

static char names[64];

static struct rpc_conn *conn(int i)
{
    return (struct rpc_conn *)(void *)&names[i];
}

static int setup(void **state)
{
    *state = rpc_strangers_create(PLACES);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    rpc_strangers_destroy(*state);
    return 0;
}

static void add(struct rpc_strangers *s, int from_name, int n, rpc_address_key from)
{
    for (int i = 0; i < n; i++) {
        assert_null(rpc_strangers_victim(s));
        rpc_strangers_add(s, conn(from_name + i), from);
    }
}

static void the_oldest_of_the_address_with_most_gives_way(void **state)
{
    struct rpc_strangers *s = *state;

    add(s, 0, 2, OTHER);
    add(s, 2, PLACES - 2, FLOOD);
    assert_ptr_equal(rpc_strangers_victim(s), conn(2));
    rpc_strangers_remove(s, conn(2));
    rpc_strangers_add(s, conn(50), OTHER);
    assert_ptr_equal(rpc_strangers_victim(s), conn(3));
}

static void of_many_addresses_the_oldest_gives_way(void **state)
{
    for (int i = 0; i < PLACES; i++)
        rpc_strangers_add(*state, conn(i), (rpc_address_key)(HOST + i));
    assert_ptr_equal(rpc_strangers_victim(*state), conn(0));
}

static void a_host_of_a_daemon_keeps_a_few_places(void **state)
{
    struct rpc_strangers *s = *state;

    add(s, 0, 8, HOST);
    rpc_strangers_trust(s, conn(0));
    for (int i = 8; i < PLACES; i++)
        rpc_strangers_add(s, conn(i), (rpc_address_key)(HOST + i));
    assert_ptr_equal(rpc_strangers_victim(s), conn(8));
}

static void a_host_of_a_daemon_keeps_its_places_when_all_it_had_are_gone(void **state)
{
    struct rpc_strangers *s = *state;

    add(s, 0, 2, HOST);
    rpc_strangers_trust(s, conn(1));
    rpc_strangers_remove(s, conn(0));
    rpc_strangers_remove(s, conn(1));
    add(s, 0, 8, HOST);
    add(s, 8, 6, OTHER);
    add(s, 14, 2, FLOOD);
    assert_ptr_equal(rpc_strangers_victim(s), conn(8));
    for (int i = 8; i < 13; i++)
        rpc_strangers_remove(s, conn(i));
    add(s, 30, 5, FLOOD); /* now 8 that do not count, 1, and 7 */
    assert_ptr_equal(rpc_strangers_victim(s), conn(14));
}

static void a_flood_from_a_host_of_a_daemon_gives_way(void **state)
{
    struct rpc_strangers *s = *state;

    add(s, 0, 2, OTHER);
    add(s, 2, PLACES - 2, HOST);
    rpc_strangers_trust(s, conn(2));
    assert_ptr_equal(rpc_strangers_victim(s), conn(2));
}

static void who_has_gone_leaves_its_place(void **state)
{
    struct rpc_strangers *s = *state;

    add(s, 0, PLACES, FLOOD);
    assert_non_null(rpc_strangers_victim(s));
    rpc_strangers_remove(s, conn(5));
    rpc_strangers_remove(s, conn(5));
    assert_int_equal(rpc_strangers_count(s), PLACES - 1);
    assert_null(rpc_strangers_victim(s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_oldest_of_the_address_with_most_gives_way, setup, teardown),
        cmocka_unit_test_setup_teardown(of_many_addresses_the_oldest_gives_way, setup, teardown),
        cmocka_unit_test_setup_teardown(a_host_of_a_daemon_keeps_a_few_places, setup, teardown),
        cmocka_unit_test_setup_teardown(a_host_of_a_daemon_keeps_its_places_when_all_it_had_are_gone, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_flood_from_a_host_of_a_daemon_gives_way, setup, teardown),
        cmocka_unit_test_setup_teardown(who_has_gone_leaves_its_place, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
