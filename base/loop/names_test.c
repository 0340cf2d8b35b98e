#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "loop.h"
#include "names.h"

struct seen {
    struct loop *l;
    struct names *n;
    int calls, found, unknown, rounds;
    uid_t uid;
    char group[64];
};

static void user_cb(void *arg, const struct names_user *u, const struct err *why)
{
    struct seen *s = arg;

    s->calls++;
    assert_true(!u == !!why);
    if (u) {
        s->found++;
        s->uid = u->uid;
        snprintf(s->group, sizeof s->group, "%s", u->group);
        assert_true(u->n_groups >= 1);
        for (size_t i = 0; i < u->n_groups; i++)
            assert_true(u->groups[i][0]);
    } else {
        assert_int_equal(why->code, ENOENT);
        s->unknown++;
    }
}

static int set_up(void **state)
{
    struct seen *s = calloc(1, sizeof *s);

    s->l = loop_create(NULL, NULL);
    s->n = names_create(s->l, 60000, NULL);
    assert_non_null(s->n);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct seen *s = *state;

    names_destroy(s->n);
    loop_destroy(s->l);
    free(s);
    return 0;
}

static void wait_for(struct seen *s, int calls)
{
    while (s->calls < calls)
        assert_int_equal(loop_turn(s->l, 10000, NULL), 0);
    assert_int_equal(s->calls, calls);
}

static void users_are_found_and_kept(void **state)
{
    struct seen *s = *state;

    assert_null(names_find_user(s->n, "root"));
    for (int i = 0; i < 3; i++)
        names_ask_user(s->n, "root", user_cb, s);
    assert_int_equal(s->calls, 0); /* never inside the asking call */
    wait_for(s, 3);
    assert_int_equal(s->uid, 0);
    assert_string_equal(s->group, "root");
    assert_non_null(names_find_user(s->n, "root"));
    names_ask_user(s->n, "root", user_cb, s);
    assert_int_equal(s->calls, 3);
    assert_int_equal(loop_turn(s->l, 0, NULL), 0);
    assert_int_equal(s->calls, 4); /* known: at the end of this turn */
    names_forget(s->n);
    assert_null(names_find_user(s->n, "root"));
    names_ask_uid(s->n, 0, user_cb, s);
    wait_for(s, 5);
    assert_string_equal(names_find_uid(s->n, 0)->name, "root");
}

static void unknown_users_are_told_so(void **state)
{
    struct seen *s = *state;

    names_ask_user(s->n, "no-such-user-here", user_cb, s);
    names_ask_uid(s->n, 4000000000u, user_cb, s);
    names_ask_user(s->n, "", user_cb, s);
    wait_for(s, 3);
    assert_int_equal(s->unknown, 3);
}

static void ask_again_cb(void *arg, const struct names_user *u, const struct err *why)
{
    struct seen *s = arg;

    (void)u, (void)why;
    s->calls++;
    if (++s->rounds < 5)
        names_ask_user(s->n, "root", ask_again_cb, s);
    if (s->rounds == 3)
        names_forget(s->n);
}

static void a_callback_may_ask_and_forget(void **state)
{
    struct seen *s = *state;

    names_ask_user(s->n, "root", ask_again_cb, s);
    wait_for(s, 5);
}

static void host_cb(void *arg, const struct names_host *h, const struct err *why)
{
    struct seen *s = arg;

    s->calls++;
    assert_null(why);
    for (size_t i = 0; i < h->n_addresses; i++) {
        const struct sockaddr_in *a = (const void *)&h->addresses[i];

        s->found += a->sin_family == AF_INET && a->sin_addr.s_addr == htonl(INADDR_LOOPBACK);
    }
}

static void hosts_have_addresses(void **state)
{
    struct seen *s = *state;

    names_ask_host(s->n, "127.0.0.1", host_cb, s);
    wait_for(s, 1);
    assert_int_equal(s->found, 1);
}

static void an_address_has_the_name_that_leads_back_to_it(void **state)
{
    struct seen *s = *state;

    names_ask_address(s->n, "127.0.0.1", host_cb, s);
    wait_for(s, 1);
    assert_int_equal(s->found, 1);
    assert_non_null(names_find_address(s->n, "127.0.0.1"));
    assert_string_not_equal(names_find_address(s->n, "127.0.0.1")->name, "127.0.0.1");
}

static void destroying_drops_the_callbacks(void **state)
{
    struct seen *s = *state;

    for (int i = 0; i < 10; i++)
        names_ask_uid(s->n, (uid_t)i, user_cb, s);
    names_destroy(s->n);
    s->n = NULL;
    assert_int_equal(loop_turn(s->l, 0, NULL), 0);
    assert_int_equal(s->calls, 0);
}

static int refused;

static void count_cb(void *arg, const struct names_user *u, const struct err *why)
{
    struct seen *s = arg;

    s->calls++;
    refused += !u && why->code == EAGAIN;
}

static void too_many_questions_are_refused_not_lost(void **state)
{
    struct seen *s = *state;

    for (int i = 0; i < 3000; i++)
        names_ask_uid(s->n, (uid_t)(3000000 + i), count_cb, s);
    wait_for(s, 3000);
    assert_true(refused > 0);
}

static void stop_cb(void *arg, const struct names_user *u, const struct err *why)
{
    struct seen *s = arg;

    s->calls++;
    if (u)
        s->found++;
    else
        s->unknown += why->code == ECANCELED;
    if (s->calls == 1) /* what is asked now is answered, too */
        names_ask_user(s->n, "another-user-here", stop_cb, s);
}

static void stopping_makes_the_callbacks_that_are_missing(void **state)
{
    struct seen *s = *state;

    for (int i = 0; i < 20; i++) {
        char name[32];

        snprintf(name, sizeof name, "user-%d", i);
        names_ask_user(s->n, name, stop_cb, s);
    }
    names_stop(s->n);
    assert_int_equal(s->calls, 21);
    assert_int_equal(s->found, 0);
    assert_true(s->unknown >= 1); /* some had been looked up by then: ENOENT */
    names_stop(s->n);
    assert_int_equal(s->calls, 21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(users_are_found_and_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_users_are_told_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_callback_may_ask_and_forget, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hosts_have_addresses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_address_has_the_name_that_leads_back_to_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(destroying_drops_the_callbacks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stopping_makes_the_callbacks_that_are_missing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_questions_are_refused_not_lost, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
