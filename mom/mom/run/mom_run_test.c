/* Which START is the one that was taken before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <exec.h>

#include "mom_run.h"

static char n1[] = "mom:n1", n2[] = "mom:n2", here[] = "10.0.0.1:15003", there[] = "10.0.0.2:15003";
static char id[] = "7.s", store[] = "abc", user[] = "anna", group[] = "", cookie[] = "0123", other[] = "x";

static struct exec_start_args make(struct exec_job_host hosts[2])
{
    struct exec_start_args a = {.id = id, .store = store, .user = user, .group = group, .cookie = cookie};

    hosts[0] = (struct exec_job_host){.service = n1, .address = here};
    hosts[1] = (struct exec_job_host){.service = n2, .address = here};
    a.hosts.hosts_val = hosts;
    a.hosts.hosts_len = 2;
    a.script_length = 12;
    return a;
}

static void said_again_it_is_the_same_also_when_a_host_has_moved(void **state)
{
    struct exec_job_host h[2], k[2];
    struct exec_start_args a = make(h), b = make(k);

    k[1].address = there;
    assert_true(run_start_is_same(&a, &b));
}

static void another_owner_host_key_or_script_is_another_start(void **state)
{
    struct exec_job_host h[2], k[2] = {0};
    struct exec_start_args a = make(h), b;
    char **texts[] = {&b.id, &b.store, &b.user, &b.group, &b.cookie, &k[1].service};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        b = make(k);
        *texts[i] = other;
        assert_false(run_start_is_same(&a, &b));
    }
    b = make(k);
    b.script_length = 13;
    assert_false(run_start_is_same(&a, &b));
    b = make(k);
    b.my_host = 1;
    assert_false(run_start_is_same(&a, &b));
    b = make(k);
    b.hosts.hosts_len = 1;
    assert_false(run_start_is_same(&a, &b));
    b = make(k);
    b.launch = true;
    assert_false(run_start_is_same(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(said_again_it_is_the_same_also_when_a_host_has_moved),
        cmocka_unit_test(another_owner_host_key_or_script_is_another_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
