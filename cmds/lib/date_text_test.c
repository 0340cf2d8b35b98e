#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "date_text.h"

/* All as seen from Wednesday 2026-11-18 12:00:00 UTC. */
enum { NOW = 1795003200 };

static void dates(void **state)
{
    static const struct {
        const char *text, *then; /* NULL: wrong */
    } rows[] = {
        {"1300", "2026-11-18 13:00:00"},
        {"1100", "2026-11-19 11:00:00"},
        {"1200.30", "2026-11-18 12:00:30"},
        {"201100", "2026-11-20 11:00:00"},
        {"171100", "2026-12-17 11:00:00"},
        {"311100", "2026-12-31 11:00:00"},
        {"12011100", "2026-12-01 11:00:00"},
        {"02011100", "2027-02-01 11:00:00"},
        {"02291100", "2028-02-29 11:00:00"},
        {"2702011100", "2027-02-01 11:00:00"},
        {"9902011100", "1999-02-01 11:00:00"},
        {"203002011100", "2030-02-01 11:00:00"},
        {"", NULL},
        {"1", NULL},
        {"12", NULL},
        {"2500", NULL},
        {"1260", NULL},
        {"12a0", NULL},
        {"1200.", NULL},
        {"1200.6", NULL},
        {"1200.99", NULL},
        {"203002301100", NULL},
        {"13011100", NULL},
        {"00011100", NULL},
        {"20300201110000", NULL},
        {"-100", NULL},
    };

    setenv("TZ", "UTC", 1);
    tzset();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t t = 0;
        int rc = date_text_parse(rows[i].text, NOW, &t);
        char shown[64];
        time_t tt = (time_t)t;
        struct tm tm;

        if ((rc == 0) != (rows[i].then != NULL))
            fail_msg("%s: %d", rows[i].text, rc);
        if (rc)
            continue;
        strftime(shown, sizeof shown, "%Y-%m-%d %H:%M:%S", gmtime_r(&tt, &tm));
        assert_string_equal(shown, rows[i].then);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dates)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
