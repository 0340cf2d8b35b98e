#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "options.h"
#include "strbuf.h"

enum { MAX_ARGS = 16 };

static int note(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct strbuf *b = context;

    if (value && !strcmp(value, "refused"))
        return err_set(e, ERANGE, "not that");
    strbuf_addf(b, "%c%s%s;", row->letter ? row->letter : (char)('0' + row->id), value ? "=" : "",
                value ? value : "");
    return 0;
}

static const struct option_row rows[] = {
    {.letter = 'a', .takes = OPTION_ALONE, .take = note, .help = "all of it"},
    {.letter = 'b', .name = "bold", .takes = OPTION_ALONE, .take = note},
    {.letter = 'o',
     .name = "output",
     .takes = OPTION_VALUE,
     .value = "file",
     .take = note,
     .help = "where to"},
    {.name = "version", .takes = OPTION_ALONE, .id = 1, .take = note, .help = "say which"},
    {.name = "long", .takes = OPTION_VALUE, .id = 2, .take = note},
};

static struct options options_for(enum options_order order)
{
    return (struct options){.program = "prog",
                            .operands = "[name ...]",
                            .rows = rows,
                            .n_rows = sizeof rows / sizeof *rows,
                            .order = order};
}

/* Parse a line of words; `b` gets the options taken, then "|" and the operands. */
static int parse(const char *line, enum options_order order, struct strbuf *b, struct err *e)
{
    struct options o = options_for(order);
    char text[200], *argv[MAX_ARGS] = {(char *)"prog"}, *save = NULL;
    int argc = 1, first = -1;

    snprintf(text, sizeof text, "%s", line);
    for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argv[argc++] = w;
    if (options_parse(&o, argc, argv, &first, b, e) < 0)
        return -1;
    strbuf_add(b, "|");
    for (; first < argc; first++)
        strbuf_addf(b, "%s ", argv[first]);
    return 0;
}

static void options_are_taken_in_order(void **state)
{
    static const struct {
        enum options_order order;
        const char *line, *want;
    } cases[] = {
        {OPTIONS_ANYWHERE, "", "|"},
        {OPTIONS_ANYWHERE, "-ab -ofile x", "a;b;o=file;|x "},
        {OPTIONS_ANYWHERE, "x -a y -o f z --bold", "a;o=f;b;|x y z "},
        {OPTIONS_FIRST, "-a x -b", "a;|x -b "},
        {OPTIONS_ANYWHERE, "x -- -a y", "|x -a y "},
        {OPTIONS_FIRST, "-a -- -b", "a;|-b "},
        {OPTIONS_ANYWHERE, "-", "|- "},
        {OPTIONS_ANYWHERE, "--output=a=b --output c --version --long=", "o=a=b;o=c;1;2=;|"},
        {OPTIONS_ANYWHERE, "-o -a", "o=-a;|"},
        {OPTIONS_ANYWHERE, "-abo x", "a;b;o=x;|"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf b;
        struct err e;

        strbuf_init(&b, 1000);
        if (parse(cases[i].line, cases[i].order, &b, &e) < 0)
            fail_msg("%s: %s", cases[i].line, e.text);
        assert_string_equal(strbuf_str(&b), cases[i].want);
        strbuf_fini(&b);
    }
}

static void mistakes_are_named(void **state)
{
    static const struct {
        const char *line, *text;
        int code;
    } cases[] = {
        {"-az", "there is no option -z", EINVAL},
        {"--nothing", "there is no option --nothing", EINVAL},
        {"--out=x", "there is no option --out", EINVAL},
        {"-o", "option -o needs a value", EINVAL},
        {"--output", "option --output needs a value", EINVAL},
        {"--bold=x", "option --bold takes no value", EINVAL},
        {"-orefused", "option -o: not that", ERANGE},
        {"--output=refused", "option --output: not that", ERANGE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf b;
        struct err e = {0};

        strbuf_init(&b, 1000);
        assert_int_equal(parse(cases[i].line, OPTIONS_ANYWHERE, &b, &e), -1);
        assert_string_equal(e.text, cases[i].text);
        assert_int_equal(e.code, cases[i].code);
        strbuf_fini(&b);
    }
}

static void text_holds_options_only(void **state)
{
    struct options o = options_for(OPTIONS_ANYWHERE);
    struct strbuf b;
    struct err e;

    strbuf_init(&b, 1000);
    assert_int_equal(options_parse_text(&o, " -a -o 'two words' --long=x\\ y ", &b, &e), 0);
    assert_string_equal(strbuf_str(&b), "a;o=two words;2=x y;");
    assert_int_equal(options_parse_text(&o, "-a word", &b, &e), -1);
    assert_string_equal(e.text, "\"word\" is not an option");
    assert_int_equal(options_parse_text(&o, "-o 'open", &b, &e), -1);
    strbuf_fini(&b);
}

static void usage_is_made_of_rows(void **state)
{
    struct options o = options_for(OPTIONS_ANYWHERE);
    struct strbuf b;

    strbuf_init(&b, 4000);
    assert_int_equal(options_usage(&o, &b), 0);
    assert_string_equal(strbuf_str(&b),
                        "usage: prog [-a] [-b] [-o file] [--version] [--long=value] [name ...]\n"
                        "  -a                        all of it\n"
                        "  -o file, --output         where to\n"
                        "  --version                 say which\n");
    strbuf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_taken_in_order),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(text_holds_options_only),
        cmocka_unit_test(usage_is_made_of_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
