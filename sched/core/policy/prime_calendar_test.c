#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "prime_calendar.h"

/* 2026: January 1 is a Thursday. */
static int64_t at(int month, int day, int hour, int minute)
{
    struct tm tm = {.tm_year = 126,
                    .tm_mon = month - 1,
                    .tm_mday = day,
                    .tm_hour = hour,
                    .tm_min = minute,
                    .tm_isdst = -1};

    return (int64_t)mktime(&tm);
}

struct said {
    char text[512];
    int n;
};

static void say(void *arg, const char *text)
{
    struct said *s = arg;

    snprintf(s->text, sizeof s->text, "%s", text);
    s->n++;
}

static struct prime_calendar *of(const char *holidays)
{
    struct prime_calendar *p = prime_calendar_create();
    struct said s = {.n = 0};

    prime_calendar_read_holidays(p, holidays, at(1, 1, 0, 0), say, &s);
    assert_int_equal(s.n, 0);
    return p;
}

static void hours_of_each_day(void **state)
{
    struct prime_calendar *p = of(
        "HOLIDAYFILE_VERSION1\n* a comment\nYEAR 2026\nweekday 0600 1730\nfriday 2200 0400\nsaturday none all\n"
        "sunday all none\n");
    const struct {
        int day, hour, minute; /* of January */
        bool is;
    } rows[] = {{5, 5, 59, false},  {5, 6, 0, true},  {5, 17, 29, true},  {5, 17, 30, false},
                {9, 3, 59, true},   {9, 4, 0, false}, {9, 21, 59, false}, {9, 22, 0, true},
                {10, 12, 0, false}, {11, 0, 0, true}, {11, 23, 59, true}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(prime_calendar_is_prime(p, at(1, rows[i].day, rows[i].hour, rows[i].minute)),
                         rows[i].is);
    prime_calendar_destroy(p);
}

static void a_holiday_has_no_prime_time(void **state)
{
    struct prime_calendar *p = of("YEAR 2026\nweekday 0600 1730\n  5  Jan 5  Some day\n");

    assert_false(prime_calendar_is_prime(p, at(1, 5, 12, 0)));
    assert_true(prime_calendar_is_prime(p, at(1, 6, 12, 0)));
    prime_calendar_destroy(p);
}

static void the_next_change_is_found_over_days_and_the_change_of_the_clock(void **state)
{
    struct prime_calendar *p =
        of("YEAR 2026\nweekday 0600 1730\nsaturday none all\nsunday none all\n89 Mar 30\n");

    assert_int_equal(prime_calendar_changes_s(p, at(1, 5, 3, 0)), at(1, 5, 6, 0));
    assert_int_equal(prime_calendar_changes_s(p, at(1, 5, 6, 0)), at(1, 5, 17, 30));
    assert_int_equal(prime_calendar_changes_s(p, at(1, 5, 17, 29)), at(1, 5, 17, 30));
    assert_int_equal(prime_calendar_changes_s(p, at(1, 9, 18, 0)), at(1, 12, 6, 0));
    /* back in time, as a clock may be */
    assert_int_equal(prime_calendar_changes_s(p, at(1, 5, 3, 0)), at(1, 5, 6, 0));
    /* over the last Sunday of March, and a holiday behind it */
    assert_int_equal(prime_calendar_changes_s(p, at(3, 27, 18, 0)), at(3, 31, 6, 0));
    prime_calendar_destroy(p);
}

static void without_a_year_it_is_always_prime_time(void **state)
{
    static const char *const texts[] = {"weekday 0600 1730\n", "*YEAR 2026\nweekday none all\n",
                                        "YEAR 0\nweekday none all\n", "YEAR 2026\n"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct prime_calendar *p = of(texts[i]);
        assert_true(prime_calendar_is_prime(p, at(1, 5, 3, 0)));
        assert_int_equal(prime_calendar_changes_s(p, at(1, 5, 3, 0)), 0);
        prime_calendar_destroy(p);
    }
}

static void what_is_wrong_is_said(void **state)
{
    const struct {
        const char *text, *said;
    } rows[] = {{"# of a site\nYEAR this\n", "Error on line 2, line started with: YEAR"},
                {"YEAR -1\n", "Error on line 1, line started with: YEAR"},
                {"YEAR 2026\nweekday 0660 1730\n", "Error on line 2, line started with: weekday"},
                {"YEAR 2026\n\nfunday 0600 1730\n", "Error on line 3, line started with: funday"},
                {"YEAR 2026\n400 Never\n", "Error on line 2, line started with: 400"},
                {"YEAR 2025\nweekday 0600 1730\n", "The holiday file is out of date; please update it."},
                {"YEAR 2026\nsunday all all\n",
                 "Warning: both prime & non-prime starts are 'all'; assuming 24hr primetime"},
                {NULL, "Warning: cannot open holidays file; assuming 24hr primetime"}};
    struct prime_calendar *p = prime_calendar_create();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct said s = {.n = 0};
        prime_calendar_read_holidays(p, rows[i].text, at(1, 1, 0, 0), say, &s);
        assert_int_equal(s.n, 1);
        assert_string_equal(s.text, rows[i].said);
    }
    assert_true(prime_calendar_is_prime(p, at(1, 4, 3, 0)));
    prime_calendar_destroy(p);
}

static void dedicated_time_begins_and_ends(void **state)
{
    struct prime_calendar *p = prime_calendar_create();
    struct err e;

    assert_int_equal(prime_calendar_read_dedicated(p, "# none yet\n\n", &e), 0);
    assert_false(prime_calendar_has_dedicated(p));
    assert_int_equal(prime_calendar_read_dedicated(
                         p, "02/01/2026 10:00 02/01/2026 12:00\n01/05/2026 00:00\t01/06/2026 06:30\n", &e),
                     0);
    assert_true(prime_calendar_has_dedicated(p));
    assert_int_equal(prime_calendar_dedicated_changes_s(p, at(1, 1, 0, 0)), at(1, 5, 0, 0));
    assert_false(prime_calendar_is_dedicated(p, at(1, 4, 23, 59)));
    assert_true(prime_calendar_is_dedicated(p, at(1, 5, 0, 0)));
    assert_int_equal(prime_calendar_dedicated_changes_s(p, at(1, 5, 0, 0)), at(1, 6, 6, 30));
    assert_false(prime_calendar_is_dedicated(p, at(1, 6, 6, 30)));
    assert_int_equal(prime_calendar_dedicated_changes_s(p, at(1, 6, 6, 30)), at(2, 1, 10, 0));
    assert_int_equal(prime_calendar_dedicated_changes_s(p, at(2, 1, 12, 0)), 0);
    /* a line that is wrong changes nothing */
    assert_int_equal(prime_calendar_read_dedicated(p, "02/01/2026 10:00 02/01/2026\n", &e), -1);
    assert_non_null(strstr(e.text, "line 1"));
    assert_int_equal(prime_calendar_read_dedicated(p, "02/01/2026 12:00 02/01/2026 10:00\n", &e), -1);
    assert_int_equal(prime_calendar_read_dedicated(p, "02/01/26 10:00 02/01/26 12:00\n", &e), -1);
    assert_int_equal(prime_calendar_read_dedicated(p, "02/30/2026 10:00 03/04/2026 12:00\n", &e), -1);
    assert_true(prime_calendar_is_dedicated(p, at(1, 5, 0, 0)));
    prime_calendar_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hours_of_each_day),
        cmocka_unit_test(a_holiday_has_no_prime_time),
        cmocka_unit_test(the_next_change_is_found_over_days_and_the_change_of_the_clock),
        cmocka_unit_test(without_a_year_it_is_always_prime_time),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(dedicated_time_begins_and_ends)};

    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1); /* a zone with two clocks */
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
