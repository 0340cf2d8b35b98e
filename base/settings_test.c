#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "settings.h"

static int check_even(const char *value, struct err *e)
{
    return strlen(value) % 2 ? err_set(e, EINVAL, "odd length") : 0;
}

enum { ROW_EVENT, ROW_LOAD, ROW_ON, ROW_WAIT, ROW_MEM, ROW_COPY, ROW_NAME, ROW_COUNT };

static const struct settings_row rows[ROW_COUNT] = {
    [ROW_EVENT] = {.name = "logevent",
                   .type = SETTINGS_INT,
                   .min = 0,
                   .max = 4095,
                   .preset = "975",
                   .flags = SETTINGS_LIVE},
    [ROW_LOAD] = {.name = "max_load", .type = SETTINGS_REAL},
    [ROW_ON] = {.name = "round_robin", .type = SETTINGS_BOOL, .preset = "false", .flags = SETTINGS_LIVE},
    [ROW_WAIT] =
        {.name = "wait", .type = SETTINGS_DURATION, .unit = "s", .min = 1, .max = 3600, .preset = "60"},
    [ROW_MEM] = {.name = "mem", .type = SETTINGS_SIZE},
    [ROW_COPY] = {.name = "usecp", .flags = SETTINGS_REPEAT},
    [ROW_NAME] = {.name = "name", .check = check_even},
};

static const struct settings_schema dollar = {.style = SETTINGS_DOLLAR, .rows = rows, .n_rows = ROW_COUNT};
static const struct settings_schema equals = {.style = SETTINGS_EQUALS, .rows = rows, .n_rows = ROW_COUNT};
static const char *const prime[] = {"prime", "non_prime", "all", NULL};
static const struct settings_schema colon = {
    .style = SETTINGS_COLON, .rows = rows, .n_rows = ROW_COUNT, .qualifiers = prime};

static struct settings *parse(const struct settings_schema *s, const char *text)
{
    struct err e;
    struct settings *v = settings_parse(s, text, "config", &e);

    if (!v)
        fail_msg("%s", e.text);
    return v;
}

static void values_have_their_types(void **state)
{
    struct settings *v =
        parse(&dollar, "# comment\n\n$logevent 0x1ff\n $max_load  1.5 # high\n$wait 1:30\r\n$mem 2mb\n"
                       "$usecp a:/x /y\n$usecp b:/x#1 /z\n$name \"a  b #cd\"\n$wait 120");

    assert_int_equal(settings_int(v, ROW_EVENT), 511);
    assert_true(settings_real(v, ROW_LOAD) == 1.5);
    assert_false(settings_bool(v, ROW_ON));
    assert_false(settings_has(v, ROW_ON));
    assert_int_equal(settings_duration_s(v, ROW_WAIT), 120);
    assert_string_equal(settings_item(v, ROW_COPY, 0)->value, "a:/x /y");
    assert_string_equal(settings_item(v, ROW_COPY, 1)->value, "b:/x#1 /z");
    assert_int_equal(settings_item(v, ROW_COPY, 1)->line, 8);
    assert_null(settings_item(v, ROW_COPY, 2));
    assert_string_equal(settings_text(v, ROW_NAME), "a  b #cd");
    settings_destroy(v);
    v = settings_presets(&dollar, NULL);
    assert_int_equal(settings_int(v, ROW_EVENT), 975);
    assert_null(settings_text(v, ROW_NAME));
    settings_destroy(v);
}

static void a_row_may_stand_once_for_each_qualifier(void **state)
{
    struct settings *v =
        parse(&colon, "round_robin: True prime\nround_robin :False\tnon_prime\nwait 90 all\nwait: 30 ALL\n");

    assert_string_equal(settings_item(v, ROW_ON, 0)->qualifier, "prime");
    assert_string_equal(settings_item(v, ROW_ON, 0)->value, "True");
    assert_string_equal(settings_item(v, ROW_ON, 1)->qualifier, "non_prime");
    assert_int_equal(settings_duration_s(v, ROW_WAIT), 30);
    assert_null(settings_item(v, ROW_WAIT, 1));
    settings_destroy(v);
}

static void shell_style_drops_quotes_and_keeps_hashes(void **state)
{
    struct settings *v = parse(&equals, "name=\"two words!\"\nusecp = a #b\nusecp='x'\n");

    assert_string_equal(settings_text(v, ROW_NAME), "two words!");
    assert_string_equal(settings_item(v, ROW_COPY, 0)->value, "a #b");
    assert_string_equal(settings_item(v, ROW_COPY, 1)->value, "x");
    settings_destroy(v);
}

static void errors_name_file_line_and_remedy(void **state)
{
    static const struct {
        const struct settings_schema *s;
        const char *text, *want;
        int code;
    } cases[] = {
        {&dollar, "\n$logevent 5000\n", "config line 2: logevent: logevent must be between 0 and 4095",
         ERANGE},
        {&dollar, "$wait 2:00:00", "config line 1: wait: wait must be between 1 and 3600 s", ERANGE},
        {&dollar, "$logevnt 5", "config line 1: there is no setting \"$logevnt\"; is \"$logevent\" meant?",
         EINVAL},
        {&dollar, "$zzzzzzzz 5", "config line 1: there is no setting \"$zzzzzzzz\"", EINVAL},
        {&dollar, "$max_load many", "config line 1: max_load: \"many\" is not a number", EINVAL},
        {&dollar, "logevent 5", "config line 1: there is no setting \"logevent\"; is \"$logevent\" meant?",
         EINVAL},
        {&equals, "wait 5", "config line 1: \"wait 5\" does not have the form NAME=value", EINVAL},
        {&equals, "=5", "config line 1: there is no name, or one that is too long", EINVAL},
        {&dollar, "$name abc", "config line 1: name: odd length", EINVAL},
        {&colon, "round_robin: maybe",
         "config: Error reading line 1: Config line invalid: round_robin: \"maybe\" is neither True nor False",
         EINVAL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};

        assert_null(settings_parse(cases[i].s, cases[i].text, "config", &e));
        assert_string_equal(e.text, cases[i].want);
        assert_int_equal(e.code, cases[i].code);
    }
}

static int take_other(void *context, const char *name, const char *value, int line, struct err *e)
{
    if (!strcmp(name, "bad"))
        return err_set(e, EINVAL, "no such thing");
    snprintf(context, 40, "%d|%s|%s", line, name, value);
    return 0;
}

static void other_lines_go_to_the_caller(void **state)
{
    char seen[40] = "";
    struct settings_schema s = dollar;
    struct err e;

    s.other = take_other;
    s.context = seen;
    settings_destroy(parse(&s, "\nscratch !/bin/script one"));
    assert_string_equal(seen, "2|scratch|!/bin/script one");
    assert_null(settings_parse(&s, "bad thing", "config", &e));
    assert_string_equal(e.text, "config line 1: no such thing");
}

static void what_needs_a_restart_is_found(void **state)
{
    struct settings *a = parse(&dollar, "$wait 60\n"), *b = parse(&dollar, "$logevent 1\n$usecp x y\n");

    assert_int_equal(settings_next_fixed(a, b, 0), ROW_COPY); /* wait 60 is its preset; logevent is live */
    assert_int_equal(settings_next_fixed(a, b, ROW_COPY + 1), ROW_COUNT);
    settings_destroy(a);
    settings_destroy(b);
}

static void files_are_loaded_whole(void **state)
{
    char path[] = "/tmp/settings_test.XXXXXX";
    struct settings *v;
    struct err e = {0};
    int fd = mkstemp(path);

    assert_int_equal(write(fd, "$wait 5\n", 8), 8);
    v = settings_load(&dollar, path, &e);
    assert_int_equal(settings_duration_s(v, ROW_WAIT), 5);
    settings_destroy(v);
    assert_int_equal(write(fd, "\0", 1), 1);
    assert_null(settings_load(&dollar, path, &e));
    assert_int_equal(e.code, EINVAL);
    close(fd);
    unlink(path);
    assert_null(settings_load(&dollar, path, &e));
    assert_int_equal(e.code, ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_their_types),
        cmocka_unit_test(a_row_may_stand_once_for_each_qualifier),
        cmocka_unit_test(shell_style_drops_quotes_and_keeps_hashes),
        cmocka_unit_test(errors_name_file_line_and_remedy),
        cmocka_unit_test(other_lines_go_to_the_caller),
        cmocka_unit_test(what_needs_a_restart_is_found),
        cmocka_unit_test(files_are_loaded_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
