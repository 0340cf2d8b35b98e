#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "pbs_error.h"
#include "resv_recur.h"

/* A rule in a zone, of reservations of `lasts_s` from a moment of UTC on; the moments of UTC at which it begins: day of the month, hour and
 * minute, with blanks between them. */
static const struct row {
    const char *zone, *from, *rule;
    int lasts_s;
    const char *want;
} rows[] = {
    /* 2027-03-28 01:00 UTC: from +1 to +2 hours; 2027-10-31 01:00 UTC: back */
    {"Europe/Berlin", "20270327T080000", "FREQ=DAILY;COUNT=3", 3600, "27T0800 28T0700 29T0700"},
    {"Europe/Berlin", "20271030T070000", "FREQ=DAILY;COUNT=3", 3600, "30T0700 31T0800 01T0800"},
    {"Europe/Berlin", "20270322T080000", "FREQ=WEEKLY;BYDAY=MO;COUNT=2", 3600, "22T0800 29T0700"},
    {"Europe/Berlin", "20271025T070000", "FREQ=WEEKLY;BYDAY=MO;COUNT=2", 3600, "25T0700 01T0800"},
    {"Europe/Berlin", "20270327T080000", "FREQ=DAILY;BYHOUR=7,9;COUNT=4", 3600,
     "27T0800 28T0500 28T0700 29T0500"},
    /* an hour that is not there: the one before; and one that is there twice: the first */
    {"Europe/Berlin", "20270327T013000", "FREQ=DAILY;COUNT=3", 3600, "27T0130 28T0030 29T0030"},
    {"Europe/Berlin", "20271030T003000", "FREQ=DAILY;COUNT=3", 3600, "30T0030 31T0030 01T0130"},
    {"Europe/Berlin", "20270327T233000", "FREQ=HOURLY;COUNT=4", 3600, "27T2330 28T0030 28T0130 28T0230"},
    {"Europe/Berlin", "20271030T233000", "FREQ=HOURLY;COUNT=4", 3600, "30T2330 31T0030 31T0130 31T0230"},
    {"Europe/Berlin", "20270328T005900", "FREQ=MINUTELY;COUNT=3", 60, "28T0059 28T0100 28T0101"},
    {"Europe/Berlin", "20271031T005900", "FREQ=MINUTELY;COUNT=3", 60, "31T0059 31T0100 31T0101"},
    {"Europe/Berlin", "20270327T110000", "FREQ=HOURLY;BYHOUR=1,3;COUNT=4", 3600,
     "28T0000 28T0100 28T2300 29T0100"},
    {"America/New_York", "20270313T140000", "FREQ=DAILY;COUNT=3", 3600, "13T1400 14T1300 15T1300"},
    {"America/New_York", "20271106T130000", "FREQ=DAILY;COUNT=3", 3600, "06T1300 07T1400 08T1400"},
    {"Australia/Lord_Howe", "20270402T220000", "FREQ=DAILY;COUNT=2", 3600, "02T2200 03T2230"},
    {"UTC", "20270327T013000", "FREQ=DAILY;COUNT=3", 3600, "27T0130 28T0130 29T0130"},
    /* BYDAY and BYHOUR choose */
    {"UTC", "20270301T100000", "FREQ=HOURLY;BYDAY=WE,SU;BYHOUR=3,12;COUNT=5", 60,
     "03T0300 03T1200 07T0300 07T1200 10T0300"},
    {"UTC", "20270301T101700", "FREQ=HOURLY;INTERVAL=5;BYDAY=TU;COUNT=3", 60, "02T0117 02T0617 02T1117"},
    {"UTC", "20270301T100000", "FREQ=MINUTELY;INTERVAL=45;BYHOUR=12;COUNT=3", 60, "01T1215 02T1215 03T1215"},
    {"Asia/Kathmandu", "20270301T100000", "FREQ=MINUTELY;INTERVAL=15;BYHOUR=17;COUNT=3", 60,
     "01T1115 01T1130 01T1145"},
    {"UTC", "20270301T073000", "FREQ=DAILY;BYHOUR=9;COUNT=2", 60, "01T0930 02T0930"},
    /* UNTIL is of the zone; a day is over before it begins */
    {"UTC", "20270301T090000", "FREQ=DAILY;UNTIL=20270303", 60, "01T0900 02T0900"},
    {"UTC", "20270301T090000", "FREQ=DAILY;UNTIL=20270303T090000", 60, "01T0900 02T0900 03T0900"},
    {"UTC", "20270301T200000", "FREQ=HOURLY;UNTIL=20270302", 60, "01T2000 01T2100 01T2200 01T2300"},
    {"UTC", "20270301T090000", "FREQ=HOURLY;UNTIL=20270301T110000", 60, "01T0900 01T1000 01T1100"},
    {"America/New_York", "20270301T140000", "FREQ=DAILY;UNTIL=20270303T090000", 60,
     "01T1400 02T1400 03T1400"},
    {"America/New_York", "20270301T140000", "FREQ=HOURLY;UNTIL=20270301T110000", 60,
     "01T1400 01T1500 01T1600"},
    {"Asia/Tokyo", "20270301T000000", "FREQ=DAILY;UNTIL=20270303T085959", 60, "01T0000 02T0000"},
    {"Asia/Tokyo", "20270301T000000", "FREQ=DAILY;UNTIL=20270303T000000Z", 60, "01T0000 02T0000 03T0000"},
};

static int64_t moment(const char *text)
{
    struct tm tm = {0};

    assert_non_null(strptime(text, "%Y%m%dT%H%M%S", &tm));
    return timegm(&tm);
}

static int expand(const char *zone, const char *from, const char *rule, int lasts_s, char **starts, size_t *n,
                  struct err *e)
{
    const struct resv_recur_ask ask = {
        .rule = rule, .zone = zone, .start_s = moment(from), .duration_s = lasts_s, .now_s = moment(from)};

    return resv_recur_expand(&ask, starts, n, e);
}

static void show(const char *starts, char *out)
{
    *out = '\0';
    for (const char *at = starts; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        time_t s = strtoll(at, NULL, 10);

        out += strftime(out, 16, at == starts ? "%dT%H%M" : " %dT%H%M", gmtime(&s));
    }
}

static void test_starts_keep_their_hour_when_clocks_change(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *starts = NULL, shown[256];
        size_t n = 0;
        struct err e = {0};

        if (expand(rows[i].zone, rows[i].from, rows[i].rule, rows[i].lasts_s, &starts, &n, &e) < 0)
            fail_msg("%s %s: %s", rows[i].zone, rows[i].rule, e.text);
        show(starts, shown);
        if (strcmp(shown, rows[i].want) != 0)
            fail_msg("%s %s: %s, not %s", rows[i].zone, rows[i].rule, shown, rows[i].want);
        free(starts);
    }
}

/* What is listed is bounded, and so is the time that it takes. */
static const struct {
    const char *rule;
    int code; /* 0: it is listed */
    size_t n;
} bombs[] = {
    {"FREQ=SECONDLY;COUNT=1000000000", PBSE_BAD_RRULE_SYNTAX, 0},
    {"FREQ=SECONDLY;UNTIL=99991231", PBSE_BAD_RRULE_SYNTAX, 0},
    {"FREQ=SECONDLY;COUNT=10000", 0, 10000},
    {"FREQ=SECONDLY;BYDAY=MO;BYHOUR=3;COUNT=10000", 0, 10000},
    {"FREQ=MINUTELY;INTERVAL=7;BYDAY=MO;BYHOUR=3;COUNT=10000", 0, 10000},
    {"FREQ=HOURLY;BYDAY=MO;BYHOUR=3;COUNT=10000", 0, 10000},
    {"FREQ=HOURLY;INTERVAL=24;BYHOUR=3;COUNT=2", PBSE_BAD_RRULE_SYNTAX, 0},
    {"FREQ=SECONDLY;INTERVAL=86400;BYHOUR=3;COUNT=2", PBSE_BAD_RRULE_SYNTAX, 0},
    {"FREQ=HOURLY;INTERVAL=32767;COUNT=10000", PBSE_BADTSPEC, 0},
    {"FREQ=HOURLY;INTERVAL=32768;COUNT=2", PBSE_BAD_RRULE_SYNTAX, 0},
    {"FREQ=YEARLY;COUNT=10000", PBSE_BADTSPEC, 0},
    {"FREQ=DAILY;BYDAY=MO;COUNT=10000", 0, 10000},
    {"FREQ=SECONDLY;INTERVAL=0;COUNT=2", PBSE_BAD_RRULE_SYNTAX, 0},
    {"FREQ=SECONDLY;INTERVAL=-1;COUNT=2", PBSE_BAD_RRULE_SYNTAX, 0},
    {"FREQ=DAILY;COUNT=3x", PBSE_BAD_RRULE_SYNTAX, 0},
    {"FREQ=DAILY;COUNT= 3", PBSE_BAD_RRULE_SYNTAX, 0},
    {"FREQ=DAILY;COUNT=0", PBSE_BAD_RRULE_SYNTAX, 0},
    {"FREQ=DAILY;COUNT=99999999999999999999", PBSE_BAD_RRULE_SYNTAX, 0},
    {"FREQ=DAILY;UNTIL=garbage", PBSE_BAD_RRULE_SYNTAX, 0},
    {"FREQ=HOURLY;UNTIL=20200101", PBSE_BADTSPEC, 0},
};

static void test_what_a_rule_lists_is_bounded(void **state)
{
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        char *starts = NULL;
        size_t n = 0;
        struct err e = {0};
        int rc = expand("UTC", "20270301T100000", bombs[i].rule, 1, &starts, &n, &e);

        if ((rc < 0 ? e.code : 0) != bombs[i].code)
            fail_msg("%s: %d %s, not %d", bombs[i].rule, rc < 0 ? e.code : 0, e.text, bombs[i].code);
        if (rc == 0)
            assert_int_equal(n, bombs[i].n);
        free(starts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_starts_keep_their_hour_when_clocks_change),
                                       cmocka_unit_test(test_what_a_rule_lists_is_bounded)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
