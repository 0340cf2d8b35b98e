#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "exec_vnode.h"
#include "pbs_error.h"
#include "strbuf.h"

static void good_lists(void **state)
{
    static const struct {
        const char *text, *back;
        size_t n, chunks;
    } rows[] = {
        {"(n1:ncpus=2:mem=1kb)", "(n1:ncpus=2:mem=1kb)", 1, 1},
        {"(n1:ncpus=2)+(n2:ncpus=1+n3:ncpus=1)+(n1:ncpus=1)",
         "(n1:ncpus=2)+(n2:ncpus=1+n3:ncpus=1)+(n1:ncpus=1)", 4, 3},
        {"n1+n2:ncpus=3", "(n1)+(n2:ncpus=3)", 2, 2},
        {"(n1[0].a:x=\"a:b\")", "(n1[0].a:x=\"a:b\")", 1, 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strbuf b;
        struct err e;
        struct exec_vnode *v = exec_vnode_parse(rows[i].text, &e);

        assert_non_null(v);
        assert_int_equal(v->n, rows[i].n);
        assert_int_equal(v->n_chunks, rows[i].chunks);
        assert_int_equal(v->part[v->n - 1].chunk, rows[i].chunks - 1);
        strbuf_init(&b, 1000);
        assert_int_equal(exec_vnode_format(v, &b), 0);
        assert_string_equal(b.s, rows[i].back);
        strbuf_fini(&b);
        exec_vnode_destroy(v);
    }
}

static void bad_lists(void **state)
{
    static const struct {
        const char *text;
        int code;
        const char *says;
    } rows[] = {
        {"", PBSE_BADATVAL, "vnode is expected (at character 1"},
        {"(n1:ncpus=2", PBSE_BADATVAL, "')' is expected"},
        {"(n1:ncpus=2)x", PBSE_BADATVAL, "'+' is expected (at character 13"},
        {"(n1:ncpus=2)+", PBSE_BADATVAL, "at character 14"},
        {"()", PBSE_BADATVAL, "at character 2"},
        {"(n1:)", PBSE_BADATVAL, "name of a resource"},
        {"(n1:ncpus=1:ncpus=1)", PBSE_DUPRESC, "ncpus"},
        {"n1 n2", PBSE_BADATVAL, "'+'"},
        {"((n1))", PBSE_BADATVAL, "at character 2"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e;

        assert_null(exec_vnode_parse(rows[i].text, &e));
        assert_int_equal(e.code, rows[i].code);
        if (!strstr(e.text, rows[i].says))
            fail_msg("%s: %s", rows[i].text, e.text);
    }
    assert_null(exec_vnode_parse("(", NULL));
}

static void built_by_hand(void **state)
{
    struct strbuf b;
    struct err e;
    struct exec_vnode *v = exec_vnode_create(&e);
    struct exec_vnode_part *p;

    for (size_t i = 0; i < 5; i++) {
        p = exec_vnode_add(v, "n", i / 2, &e);
        assert_non_null(p);
        assert_int_equal(amounts_text_add(&p->res, "ncpus", "1", &e), 0);
    }
    strbuf_init(&b, 1000);
    exec_vnode_format(v, &b);
    assert_string_equal(b.s, "(n:ncpus=1+n:ncpus=1)+(n:ncpus=1+n:ncpus=1)+(n:ncpus=1)");
    strbuf_fini(&b);
    exec_vnode_destroy(v);
}

static void a_part_is_copied_with_its_amounts_into_the_last_chunk_or_a_new_one(void **state)
{
    struct exec_vnode *from = exec_vnode_parse("(a:ncpus=1:mem=2kb+b:ncpus=3)+(c:ncpus=4)", NULL);
    struct exec_vnode *to = exec_vnode_create(NULL);
    struct strbuf b;

    for (size_t i = 0; i < from->n; i++)
        assert_int_equal(exec_vnode_copy_part(to, &from->part[i], i != 2, NULL), 0);
    strbuf_init(&b, 1000);
    exec_vnode_format(to, &b);
    assert_string_equal(b.s, "(a:ncpus=1:mem=2kb+b:ncpus=3)+(c:ncpus=4)");
    strbuf_fini(&b);
    exec_vnode_destroy(from);
    exec_vnode_destroy(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_lists),
        cmocka_unit_test(bad_lists),
        cmocka_unit_test(built_by_hand),
        cmocka_unit_test(a_part_is_copied_with_its_amounts_into_the_last_chunk_or_a_new_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
