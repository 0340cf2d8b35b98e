#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "pbs_error.h"
#include "release_plan.h"
#include "strbuf.h"

/* Four hosts: h0 has one chunk, h1 one, h2 two, h3 a chunk on two vnodes. */
static const char where[] = "(a:ncpus=2)+(b:ncpus=2)+(c:ncpus=2)+(c:ncpus=4)+(d0:ncpus=1+d1:ncpus=1)";
static const size_t host_of[] = {0, 1, 2, 2, 3, 3};
static const char asked[] = "1:ncpus=2+2:ncpus=2+1:ncpus=4+1:ncpus=2:mem=1gb";

struct bench {
    struct resource_table *resources;
    struct release_plan s;
    struct release_plan_host hosts[4];
    bool gone[6];
    struct err e;
};

static void begin(struct bench *b, bool parts)
{
    memset(b, 0, sizeof *b);
    for (size_t i = 0; i < 4; i++)
        b->hosts[i] = (struct release_plan_host){"host", parts};
    b->resources = resource_table_create();
    assert_non_null(b->resources);
    b->s = (struct release_plan){exec_vnode_parse(where, &b->e), host_of, b->hosts, 4, b->gone};
    assert_non_null(b->s.where);
}

/* One character a part: x goes, - stays. */
static void expect(struct bench *b, const char *want)
{
    char got[7] = "";

    for (size_t i = 0; i < 6; i++)
        got[i] = b->gone[i] ? 'x' : '-';
    assert_string_equal(got, want);
    exec_vnode_destroy((struct exec_vnode *)(uintptr_t)b->s.where);
    resource_table_destroy(b->resources);
}

static void all_but_the_first_host_go(void **state)
{
    struct bench b;

    begin(&b, false);
    release_plan_all(&b.s);
    expect(&b, "-xxxxx");
}

static void named_vnodes_go_with_their_host_or_not_at_all(void **state)
{
    static const struct {
        const char *vnodes, *gone;
        bool parts, good;
    } rows[] = {
        {"b", "-x----", false, true},       {"c", "--xx--", false, true}, {"d0+d1", "----xx", false, true},
        {"b+d1+d0", "-x--xx", false, true}, {"d0", NULL, false, false},   {"d0", NULL, true, false},
        {"a", NULL, false, false},          {"a", NULL, true, false},     {"z", NULL, false, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bench b;
        int rc;

        begin(&b, rows[i].parts);
        rc = release_plan_named(&b.s, rows[i].vnodes, &b.e);
        assert_int_equal(rc == 0, rows[i].good);
        if (rc < 0)
            assert_int_equal(b.e.code, PBSE_IVALREQ);
        if (rows[i].gone) {
            expect(&b, rows[i].gone);
            continue;
        }
        exec_vnode_destroy((struct exec_vnode *)(uintptr_t)b.s.where);
        resource_table_destroy(b.resources);
    }
}

static void a_number_of_hosts_is_kept_beside_the_first(void **state)
{
    static const char *const want[] = {"-xxxxx", "--xxxx", "----xx", "------"};

    for (size_t i = 0; i < 4; i++) {
        struct bench b;

        begin(&b, false);
        release_plan_to_count(&b.s, i);
        assert_int_equal(release_plan_is_nothing(&b.s), i == 3);
        expect(&b, want[i]);
    }
}

static void chunks_that_satisfy_a_select_are_kept(void **state)
{
    static const struct {
        const char *keep, *gone;
        bool parts;
    } rows[] = {
        {"1:ncpus=1", "--xxxx", false},   {"1:ncpus=4", "-x--xx", false}, /* its host stays whole */
        {"1:ncpus=4", "-x--xx", true},                                    /* and so does its vnode */
        {"1:mem=512mb", "-xxx--", false}, {"2:ncpus=2", "----xx", false},
        {"1:ncpus=8", NULL, false},       {"1:mem=2gb", NULL, false},
        {"5:ncpus=1", NULL, false},       {"1:ncpus=4+1:ncpus=2", "----xx", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct select *has = select_parse(asked, NULL, NULL, NULL);
        struct select *keep = select_parse(rows[i].keep, NULL, NULL, NULL);
        struct bench b;
        int rc;

        begin(&b, rows[i].parts);
        rc = release_plan_to_select(&b.s, has, keep, b.resources, &b.e);
        assert_int_equal(rc == 0, rows[i].gone != NULL);
        select_destroy(has);
        select_destroy(keep);
        if (rows[i].gone) {
            expect(&b, rows[i].gone);
            continue;
        }
        exec_vnode_destroy((struct exec_vnode *)(uintptr_t)b.s.where);
        resource_table_destroy(b.resources);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_but_the_first_host_go),
        cmocka_unit_test(named_vnodes_go_with_their_host_or_not_at_all),
        cmocka_unit_test(a_number_of_hosts_is_kept_beside_the_first),
        cmocka_unit_test(chunks_that_satisfy_a_select_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
