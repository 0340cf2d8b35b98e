/* What the hosts of a run have declared, as the declaration of the job. */
#include "job_saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>

#include "intern.h"

static struct run *make(size_t n)
{
    static const char *const names[] = {"mom:n1", "mom:n2", "mom:n3"};
    struct run *r = job_run_create(1, "(n1:ncpus=1)", "n1/0", n);

    assert_non_null(r);
    for (size_t i = 0; i < n; i++)
        r->hosts[i].service = intern_ref(names[i]);
    return r;
}

struct declared {
    const char *how;
    unsigned need_s;
};

static const struct row {
    struct declared host[3]; /* how NULL: it has said nothing */
    struct declared want;
} rows[] = {
    {{{NULL, 0}}, {NULL, 0}},
    {{{"pmix", 7}}, {"pmix", 7}},
    {{{NULL, 0}, {"handler", 0}}, {"handler", 0}},
    {{{"pmix", 7}, {"pmix", 30}, {"pmix", 8}}, {"pmix", 30}},
    {{{"pmix", 30}, {NULL, 0}, {"pmix", 7}}, {"pmix", 30}},
    {{{"pmix", 7}, {"handler", 0}, {"pmix", 0}}, {"handler", 7}},
    {{{"handler", 0}, {"pmix", 7}}, {"handler", 7}},
};

static void assert_joined(const struct run *r, const struct declared *want)
{
    if (want->how)
        assert_string_equal(r->declared, want->how);
    else
        assert_null(r->declared);
    assert_int_equal(r->need_s, want->need_s);
}

static void hosts_declare_the_weaker_evidence_and_the_longest_time(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct run *r = make(3);

        for (size_t k = 0; k < 3; k++)
            if (rows[i].host[k].how)
                job_saves_declare(&r->hosts[k], rows[i].host[k].how, rows[i].host[k].need_s);
        assert_int_equal(job_saves_join(r), rows[i].want.how != NULL);
        assert_joined(r, &rows[i].want);
        assert_false(job_saves_join(r));
        job_run_destroy(r);
    }
}

static void a_host_that_leaves_takes_its_declaration_along(void **state)
{
    struct run *r = make(3);

    job_saves_declare(&r->hosts[0], "pmix", 7);
    job_saves_declare(&r->hosts[1], "handler", 0);
    job_saves_declare(&r->hosts[2], "pmix", 30);
    assert_true(job_saves_join(r));
    r->hosts[1].state = RUN_HOST_LOST;
    assert_true(job_saves_join(r));
    assert_joined(r, &(struct declared){"pmix", 30});
    r->hosts[2].leaving = true;
    assert_true(job_saves_join(r));
    assert_joined(r, &(struct declared){"pmix", 7});
    job_saves_declare(&r->hosts[0], "", 0);
    assert_true(job_saves_join(r));
    assert_joined(r, &(struct declared){NULL, 0});
    job_run_destroy(r);
}

/* A row of version 0.1.0. */
static void what_a_store_of_before_says_of_the_run_is_that_of_its_first_host(void **state)
{
    struct run *r = make(2), *back;
    json_t *o;

    r->declared = intern_ref("pmix");
    r->need_s = 9;
    o = job_run_encode(r);
    back = job_run_decode(o);
    json_decref(o);
    assert_string_equal(back->hosts[0].declared, "pmix");
    assert_int_equal(back->hosts[0].need_s, 9);
    assert_null(back->hosts[1].declared);
    assert_false(job_saves_join(back));
    job_run_destroy(back);
    job_run_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_declare_the_weaker_evidence_and_the_longest_time),
        cmocka_unit_test(a_host_that_leaves_takes_its_declaration_along),
        cmocka_unit_test(what_a_store_of_before_says_of_the_run_is_that_of_its_first_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
