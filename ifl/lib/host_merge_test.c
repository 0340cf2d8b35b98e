#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "attrl.h"
#include "host_merge.h"
#include "status_read.h"

static struct batch_status *vnode(const char *name, const char *host, const char *ncpus, const char *mem,
                                  const char *state)
{
    struct attropl *a = NULL;
    struct batch_status *b;

    assert_int_equal(attrl_append(&a, "state", NULL, state, SET), 0);
    if (host)
        assert_int_equal(attrl_append(&a, "resources_available", "host", host, SET), 0);
    assert_int_equal(attrl_append(&a, "resources_available", "ncpus", ncpus, SET), 0);
    assert_int_equal(attrl_append(&a, "resources_available", "mem", mem, SET), 0);
    b = status_read_node_create(name, a);
    attrl_free(a);
    assert_non_null(b);
    return b;
}

static const char *value(const struct batch_status *b, const char *name, const char *resource)
{
    const struct attropl *a = attrl_find(attrl_of(b->attribs), name, resource);

    return a ? a->value : NULL;
}

static void test_vnodes_of_one_host_are_summed(void **state)
{
    struct batch_status *all = vnode("h[0]", "h", "4", "1gb", "free"), *out;

    all->next = vnode("other", NULL, "1", "1kb", "free");
    all->next->next = vnode("h[1]", "h", "8", "1024kb", "job-busy");
    assert_int_equal(host_merge(all, NULL, NULL, &out), 0);
    assert_string_equal(out->name, "h");
    assert_string_equal(value(out, "resources_available", "ncpus"), "12");
    assert_string_equal(value(out, "resources_available", "mem"), "1049600kb");
    assert_string_equal(value(out, "resources_available", "host"), "h");
    assert_string_equal(value(out, "state", NULL), "<various>");
    assert_string_equal(out->next->name, "other");
    assert_string_equal(value(out->next, "resources_available", "mem"), "1kb");
    assert_null(out->next->next);
    pbs_statfree(out);
    pbs_statfree(all);
}

static void test_one_host_and_some_attributes_may_be_asked_for(void **state)
{
    struct batch_status *all = vnode("a", NULL, "4", "1gb", "free"), *out;
    char name[] = "resources_available", resource[] = "ncpus";
    struct attrl want = {.name = name, .resource = resource};

    all->next = vnode("b", NULL, "2", "1gb", "free");
    assert_int_equal(host_merge(all, "b", &want, &out), 0);
    assert_string_equal(out->name, "b");
    assert_null(out->next);
    assert_string_equal(out->attribs->value, "2");
    assert_null(out->attribs->next);
    pbs_statfree(out);
    assert_int_equal(host_merge(all, "nowhere", NULL, &out), 0);
    assert_null(out);
    pbs_statfree(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vnodes_of_one_host_are_summed),
        cmocka_unit_test(test_one_host_and_some_attributes_may_be_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
