#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ifl.h>
#include <rpc/types.h>
#include <rpc/xdr.h>

#include "status_read.h"

enum { ROOM = 1 << 16 };
static char bytes[ROOM];

/* The generated structs have no const; encoders do not write. */
#define T(literal) ((char *)(uintptr_t)(literal))

static wire_attr attrs[] = {
    {.name = T("Job_Name"), .resource = T(""), .value = T("first")},
    {.name = T("Resource_List"), .resource = T("ncpus"), .value = T("4")},
    {.name = T("comment"), .resource = T(""), .value = T("")},
};

static u_int encode(const ifl_status_entry *entry)
{
    XDR x;

    xdrmem_create(&x, bytes, ROOM, XDR_ENCODE);
    assert_true(xdr_ifl_status_entry(&x, (ifl_status_entry *)(uintptr_t)entry));
    return xdr_getpos(&x);
}

static ifl_status_entry entry_of(const char *name, u_int n)
{
    return (ifl_status_entry){
        .name = T(name),
        .attrs = {.wire_attrs_len = n, .wire_attrs_val = attrs},
        .text = T(""),
    };
}

static void test_an_entry_becomes_a_batch_status(void **state)
{
    ifl_status_entry entry = entry_of("12.host", 3);
    u_int n = encode(&entry);
    struct batch_status *b;
    struct status_list l;
    XDR x;

    status_read_list_init(&l);
    xdrmem_create(&x, bytes, n, XDR_DECODE);
    assert_true(status_read_entry(&x, &l));
    b = status_read_list_take(&l);
    assert_string_equal(b->name, "12.host");
    assert_null(b->text);
    assert_null(b->next);
    assert_string_equal(b->attribs->name, "Job_Name");
    assert_null(b->attribs->resource);
    assert_string_equal(b->attribs->next->resource, "ncpus");
    assert_string_equal(b->attribs->next->value, "4");
    assert_string_equal(b->attribs->next->next->value, "");
    assert_null(b->attribs->next->next->next);
    pbs_statfree(b);
    status_read_list_fini(&l);
}

static void test_entries_are_linked_in_their_order(void **state)
{
    struct status_list l;
    int i = 0;

    status_read_list_init(&l);
    for (i = 0; i < 3; i++) {
        ifl_status_entry entry = entry_of(i == 0 ? "a" : i == 1 ? "b" : "c", (u_int)i);
        u_int n = encode(&entry);
        XDR x;

        xdrmem_create(&x, bytes, n, XDR_DECODE);
        assert_true(status_read_entry(&x, &l));
    }
    assert_int_equal(l.n, 3);
    i = 0;
    for (struct batch_status *b = l.head; b; b = b->next, i++) {
        assert_int_equal(b->name[0], 'a' + i);
        assert_int_equal(b->attribs != NULL, i > 0);
    }
    status_read_list_fini(&l);
}

/* Whatever is cut off, nothing is added and nothing leaks. */
static void test_a_truncated_entry_is_refused(void **state)
{
    ifl_status_entry entry = entry_of("12.host", 3);
    u_int n = encode(&entry);
    struct status_list l;

    status_read_list_init(&l);
    for (u_int cut = 0; cut < n; cut += 4) {
        XDR x;

        xdrmem_create(&x, bytes, cut, XDR_DECODE);
        assert_false(status_read_entry(&x, &l));
        assert_null(l.head);
    }
    status_read_list_fini(&l);
}

static void test_lengths_beyond_the_bounds_are_refused(void **state)
{
    static const u_int lies[] = {PBS_ID_MAX + 1, 0x7fffffff, 0xffffffff};
    struct status_list l;

    status_read_list_init(&l);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        u_int lie = lies[i];
        XDR x;

        xdrmem_create(&x, bytes, ROOM, XDR_ENCODE);
        assert_true(xdr_u_int(&x, &lie));
        xdrmem_create(&x, bytes, ROOM, XDR_DECODE);
        assert_false(status_read_entry(&x, &l));
    }
    status_read_list_fini(&l);
}

static void test_a_change_is_read_and_its_memory_used_again(void **state)
{
    struct status_change ch = {0};
    ifl_watch_entry entry = {
        .number = 77,
        .kind = IFL_KIND_NODE,
        .change = IFL_CHANGED,
        .name = T("n1"),
        .attrs = {.wire_attrs_len = 2, .wire_attrs_val = attrs},
    };

    for (int i = 0; i < 3; i++) {
        XDR x;

        entry.number = 77 + (u_quad_t)i;
        entry.attrs.wire_attrs_len = i == 2 ? 0 : 2;
        xdrmem_create(&x, bytes, ROOM, XDR_ENCODE);
        assert_true(xdr_ifl_watch_entry(&x, &entry));
        xdrmem_create(&x, bytes, ROOM, XDR_DECODE);
        assert_true(status_read_change(&x, &ch));
        assert_int_equal(ch.number, 77 + i);
        assert_int_equal(ch.kind, IFL_KIND_NODE);
        assert_string_equal(ch.name, "n1");
        assert_int_equal(ch.attribs == NULL, i == 2);
    }
    status_read_scratch_fini(&ch.scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_entry_becomes_a_batch_status),
        cmocka_unit_test(test_entries_are_linked_in_their_order),
        cmocka_unit_test(test_a_truncated_entry_is_refused),
        cmocka_unit_test(test_lengths_beyond_the_bounds_are_refused),
        cmocka_unit_test(test_a_change_is_read_and_its_memory_used_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
