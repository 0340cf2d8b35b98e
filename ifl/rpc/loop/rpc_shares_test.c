/* Which peers have a share, and with whom they have it in common. No connection is made. */
#include "rpc_shares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "auth.h"

static const struct rpc_share_limits each = {.connections = 2};

static struct rpc_share *share(struct rpc_shares *s, enum auth_kind kind, uid_t uid, const char *from)
{
    struct auth_peer p = {.kind = kind, .uid = uid};
    bool ok;
    struct rpc_share *u;

    snprintf(p.from, sizeof p.from, "%s", from);
    u = rpc_shares_get(s, &p, &ok);
    assert_true(ok);
    return u;
}

static void root_of_this_host_alone_is_exempt(void **state)
{
    struct rpc_shares *s = rpc_shares_create(NULL, &each);
    struct rpc_share *a, *again, *b;

    assert_null(share(s, AUTH_LOCAL, 0, "pid 1 uid 0"));
    assert_null(share(s, AUTH_LOCAL, geteuid(), "pid 1 uid 0"));
    a = share(s, AUTH_USER, 0, "10.0.0.5:4711");
    again = share(s, AUTH_USER, 0, "10.0.0.5:4712");
    b = share(s, AUTH_USER, 0, "10.0.0.6:4711");
    assert_non_null(a);
    assert_ptr_equal(a, again);
    assert_ptr_not_equal(a, b); /* root of another host is another user */
    rpc_share_unref(a);
    rpc_share_unref(again);
    rpc_share_unref(b);
    rpc_shares_destroy(s);
}

static void a_user_has_one_share_from_all_hosts(void **state)
{
    struct rpc_shares *s = rpc_shares_create(NULL, &each);
    struct rpc_share *a = share(s, AUTH_LOCAL, 4711, "pid 1 uid 4711"),
                     *b = share(s, AUTH_USER, 4711, "10.0.0.5:1");

    assert_non_null(a);
    assert_ptr_equal(a, b);
    rpc_share_unref(a);
    rpc_share_unref(b);
    rpc_shares_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(root_of_this_host_alone_is_exempt),
        cmocka_unit_test(a_user_has_one_share_from_all_hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
