/* The digits are read pair by pair from the right, over the present time: what is left out stays as it is now. When
 * the result has passed already, the smallest unit that was left out is raised until the time lies ahead. A day that
 * a month does not have is skipped: mktime would change it, so its result is compared with what was asked. */
#include "date_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

static int two_digits(const char *s)
{
    return (s[0] - '0') * 10 + (s[1] - '0');
}

/* Read fields from the right; what is missing stays as it is in *tm. Return the number of pairs of digits, or -1 for
 * a bad text. */
static int take_pairs(const char *text, size_t n, struct tm *tm)
{
    int *const fields[] = {&tm->tm_min, &tm->tm_hour, &tm->tm_mday, &tm->tm_mon, &tm->tm_year};
    size_t pairs = n / 2, i;

    if (n % 2 || pairs < 2 || pairs > 6)
        return -1;
    for (i = 0; i < n; i++)
        if (!isdigit((unsigned char)text[i]))
            return -1;
    for (i = 0; i < pairs && i < 5; i++)
        *fields[i] = two_digits(text + n - 2 * (i + 1));
    if (pairs >= 4)
        tm->tm_mon--;
    if (pairs == 6)
        tm->tm_year += two_digits(text) * 100 - 1900;
    else if (pairs == 5)
        tm->tm_year += tm->tm_year < 69 ? 100 : 0;
    return (int)pairs;
}

/* mktime puts 31 April on 1 May; that is not what was typed. */
static bool exists(const struct tm *want, time_t *out)
{
    struct tm tm = *want;

    tm.tm_isdst = -1;
    *out = mktime(&tm);
    return *out != -1 && tm.tm_mday == want->tm_mday && tm.tm_mon == want->tm_mon &&
           tm.tm_min == want->tm_min;
}

/* Find the next match: one day, month or year later, whichever was left out; a month may lack the day. */
static bool next_match(struct tm *tm, int pairs, time_t now, time_t *out)
{
    int *step = pairs == 2 ? &tm->tm_mday : pairs == 3 ? &tm->tm_mon : pairs == 4 ? &tm->tm_year : NULL;
    int tries;

    for (tries = 0; tries < 12; tries++) {
        struct tm want = *tm;

        if (pairs == 3) { /* month 12 is January */
            want.tm_year += want.tm_mon / 12;
            want.tm_mon %= 12;
        }
        if (pairs == 2) {
            want.tm_isdst = -1;
            *out = mktime(&want);
            if (*out > now)
                return true;
        } else if (exists(&want, out) && (!step || *out > now)) {
            return true;
        }
        if (!step)
            return false;
        (*step)++;
    }
    return false;
}

static bool in_range(const struct tm *tm)
{
    return tm->tm_min < 60 && tm->tm_hour < 24 && tm->tm_sec < 62 && tm->tm_mday >= 1 && tm->tm_mday <= 31 &&
           tm->tm_mon >= 0 && tm->tm_mon < 12;
}

int date_text_parse(const char *text, int64_t now_s, int64_t *out_s)
{
    const char *dot = strchrnul(text, '.');
    time_t now = (time_t)now_s, t;
    struct tm tm;
    int pairs;

    if (!localtime_r(&now, &tm))
        return -1;
    tm.tm_sec = 0;
    tm.tm_isdst = -1;
    if (*dot) {
        if (strlen(dot) != 3 || !isdigit((unsigned char)dot[1]) || !isdigit((unsigned char)dot[2]))
            return -1;
        tm.tm_sec = two_digits(dot + 1);
    }
    pairs = take_pairs(text, (size_t)(dot - text), &tm);
    if (pairs < 0 || !in_range(&tm) || !next_match(&tm, pairs, now, &t))
        return -1;
    *out_s = (int64_t)t;
    return 0;
}
