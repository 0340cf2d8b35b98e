#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "escape.h"

enum { CTRL_C = 3, CTRL_Z = 26 };

static const struct {
    const char *typed; /* in pieces, cut at | */
    const char *passed_on;
    enum escape_wish wish; /* of the last piece */
} rows[] = {
    {"ls\r", "ls\r", ESCAPE_NOTHING},
    {"~.", "", ESCAPE_LEAVE},
    {"ls\r~.more", "ls\r", ESCAPE_LEAVE},
    {"ls\r|~|.", "ls\r", ESCAPE_LEAVE},
    {"ls ~.\r", "ls ~.\r", ESCAPE_NOTHING},
    {"~~.\r", "~.\r", ESCAPE_NOTHING},
    {"~~~.", "~~.", ESCAPE_NOTHING},
    {"~user\r", "~user\r", ESCAPE_NOTHING},
    {"~|user\r", "~user\r", ESCAPE_NOTHING},
    {"~\r~.", "~\r", ESCAPE_LEAVE},
    {"half\x03~.", "half\x03", ESCAPE_LEAVE},
    {"\n~\x1a"
     "ls",
     "\nls", ESCAPE_SUSPEND},
    {"\n~|\x1a|~.", "\n", ESCAPE_LEAVE},
    {"a~\x1a", "a~\x1a", ESCAPE_NOTHING},
};

static void a_tilde_means_something_only_where_a_line_begins(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct escape x = {.suspend = CTRL_Z, .enders = {CTRL_C, CTRL_Z}};
        enum escape_wish wish = ESCAPE_NOTHING;
        char got[64] = "";

        for (const char *at = rows[i].typed; *at; at += strspn(at, "|")) {
            unsigned char piece[32];
            size_t n = strcspn(at, "|"), out;

            memcpy(piece, at, n);
            at += n;
            out = escape_read(&x, piece, n, &wish);
            memcpy(got + strlen(got), piece, out);
        }
        print_message("row %zu\n", i);
        assert_string_equal(got, rows[i].passed_on);
        assert_int_equal(wish, rows[i].wish);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tilde_means_something_only_where_a_line_begins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
