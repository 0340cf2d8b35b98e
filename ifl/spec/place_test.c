#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pbs_error.h"
#include "place.h"
#include "strbuf.h"

static void good_places(void **state)
{
    static const struct {
        const char *text;
        enum place_arrangement arrangement;
        enum place_sharing sharing;
        const char *group;
    } rows[] = {
        {"free", PLACE_FREE, PLACE_UNSAID, ""},
        {"excl", PLACE_FREE, PLACE_EXCL, ""},
        {"pack:exclhost", PLACE_PACK, PLACE_EXCLHOST, ""},
        {"group=rack:shared:scatter", PLACE_SCATTER, PLACE_SHARED, "rack"},
        {"VSCATTER", PLACE_VSCATTER, PLACE_UNSAID, ""},
        {"group=x", PLACE_FREE, PLACE_UNSAID, "x"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct place p;
        struct err e;

        assert_int_equal(place_parse(rows[i].text, &p, &e), 0);
        assert_int_equal(p.arrangement, rows[i].arrangement);
        assert_int_equal(p.sharing, rows[i].sharing);
        assert_string_equal(p.group, rows[i].group);
    }
}

static void bad_places(void **state)
{
    static const char *const rows[] = {"",          "packed",       "pack:",    ":pack",
                                       "pack:free", "excl:shared",  "group=",   "group=a:group=b",
                                       "pack:pack", "pack scatter", "pack,excl"};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct place p;
        struct err e;

        assert_int_equal(place_parse(rows[i], &p, &e), -1);
        assert_int_equal(e.code, PBSE_BADATVAL);
        assert_non_null(strstr(e.text, rows[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(good_places), cmocka_unit_test(bad_places)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
