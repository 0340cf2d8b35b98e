#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "formula.h"

/* a is 3, b is 4, zero is 0. */
static double value(void *arg, size_t index)
{
    const char *const *names = *(const char *const **)arg;

    return strcmp(names[index], "a") == 0 ? 3 : strcmp(names[index], "b") == 0 ? 4 : 0;
}

static int eval(const char *text, double *out, struct err *e)
{
    struct formula *f = formula_parse(text, e);
    const char *const *names;
    int rc = -1;

    if (!f)
        return -1;
    formula_names(f, &names);
    rc = formula_eval(f, value, &names, out, e);
    formula_destroy(f);
    return rc;
}

static void expressions_are_worth_what_python_says(void **state)
{
    static const struct {
        const char *text;
        double worth;
    } rows[] = {
        {"1", 1},
        {" 2.5e3 ", 2500},
        {".5", 0.5},
        {"1+2*3", 7},
        {"(1+2)*3", 9},
        {"10-4-3", 3},
        {"7/2", 3.5},
        {"7//2", 3},
        {"-7//2", -4},
        {"-7 % 3", 2},
        {"2**3**2", 512},
        {"-2**2", -4},
        {"2**-1", 0.5},
        {"a*b", 12},
        {"5*(a/b)", 3.75},
        {"a < b", 1},
        {"a > b", 0},
        {"1 < a < b", 1},
        {"1 < b < a", 0},
        {"a == 3 and b", 4},
        {"zero or b", 4},
        {"not zero", 1},
        {"not a == 3", 0},
        {"b if zero else a", 3},
        {"1 if zero else 2 if a else 3", 2},
        {"1/zero if zero else 5", 5},
        {"zero and 1/zero", 0},
        {"sqrt(16) + pow(2, 3)", 12},
        {"max(1, a, 2) - min(a, b)", 0},
        {"round(2.5)", 2},
        {"round(1.26, 1)", 1.3},
        {"log(8, 2)", 3},
        {"ceil(1.2) + floor(1.8) + int(-1.5)", 2},
        {"True + pi - pi", 1},
        {"abs(-a)", 3},
        {"--a", 3},
        {"android + orbit", 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        double x = -1;
        if (eval(rows[i].text, &x, &e) < 0)
            fail_msg("%s: %s", rows[i].text, e.text);
        if (fabs(x - rows[i].worth) > 1e-9)
            fail_msg("%s is %g", rows[i].text, x);
    }
}

static void what_is_no_expression_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {{"", "character 1"},
                {"1 +", "character 4"},
                {"(1", "a ) is missing"},
                {"1 2", "it should end"},
                {"a b", "it should end"},
                {"frob(1)", "no such function"},
                {"sqrt(1, 2)", "too few or too many arguments"},
                {"1 if 2", "an else is missing"},
                {"3x", "a number is malformed"},
                {"1 and", "a value is missing"},
                {"and", "a value is missing"},
                {"__import__('os')", "no such function"},
                {"a.b", "it should end"},
                {"1e999", "a number is malformed"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        double x;
        if (eval(rows[i].text, &x, &e) == 0 || e.code != EINVAL || !strstr(e.text, rows[i].says))
            fail_msg("%s: %s", rows[i].text, e.text);
    }
}

static void what_has_no_value_says_why(void **state)
{
    static const char *const rows[][2] = {{"1/zero", "division by zero"},
                                          {"a % zero", "division by zero"},
                                          {"sqrt(-1)", "math domain error"},
                                          {"log(zero)", "math domain error"},
                                          {"10**999", "Result too large"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        double x;
        if (eval(rows[i][0], &x, &e) == 0 || e.code != EDOM || strcmp(e.text, rows[i][1]) != 0)
            fail_msg("%s: %s", rows[i][0], e.text);
    }
}

static void no_depth_overflows_the_stack(void **state)
{
    char text[FORMULA_TEXT_MAX + 2];
    static const char *const openers[] = {"(", "-", "not ", "2**", "abs("};
    struct err e = {0};
    double x;

    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) {
        size_t n = strlen(openers[i]), at = 0;
        for (; at + n < FORMULA_TEXT_MAX; at += n)
            memcpy(text + at, openers[i], n);
        text[at] = '\0';
        assert_int_equal(eval(text, &x, &e), -1);
    }
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(eval(text, &x, &e), -1);
    assert_int_equal(e.code, E2BIG);
}

static void names_are_listed_once(void **state)
{
    struct err e;
    struct formula *f = formula_parse("b * a + b", &e);
    const char *const *names;

    assert_int_equal(formula_names(f, &names), 2);
    assert_string_equal(names[0], "b");
    assert_string_equal(names[1], "a");
    formula_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_are_worth_what_python_says),
        cmocka_unit_test(what_is_no_expression_is_refused_with_its_place),
        cmocka_unit_test(what_has_no_value_says_why),
        cmocka_unit_test(no_depth_overflows_the_stack),
        cmocka_unit_test(names_are_listed_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
