/* Three kinds of days (weekday, saturday, sunday; a day of the week may have its own line, a holiday has no prime time at
 * all), each with an hour at which prime time begins and one at which it ends. The next change is looked for at the two hours
 * and the midnight of each day to come, a year and a day at most, and kept until it is past: a cycle asks every time.
 *
 * Days are counted by mktime, which knows of daylight saving; an hour that a day does not have is the one after it. */
#include "prime_calendar.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "mem.h"
#include "units.h"
#include "words.h"

/* YEAR_DAYS: of a leap year, counted from 1. LINE_MAX_LEN: what is longer is cut. */
enum {
    DAYS = 7,
    YEAR_MIN = 1970,
    YEAR_MAX = 9999,
    YEAR_DAYS = 367,
    LINE_MAX_LEN = 512,
    MINUTES = 1440,
    NEVER = -1,
    WHOLE_DAY = -2
};

struct day {        /* minutes after midnight, NEVER or WHOLE_DAY */
    int begin, end; /* of prime time */
};

struct period {
    int64_t begin_s, end_s;
};

struct prime_calendar {
    bool always;              /* it is prime time, whatever the days say */
    struct day days[DAYS];    /* Sunday first */
    bool holiday[YEAR_DAYS];  /* by day of the year, from 1 */
    struct period *dedicated; /* by begin */
    size_t n_dedicated;
    int64_t asked_s, changes_s; /* from asked_s on the next change is this; asked_s 0: not known */
};

struct prime_calendar *prime_calendar_create(void)
{
    struct prime_calendar *p = mem_new(1, sizeof *p);

    p->always = true;
    return p;
}

void prime_calendar_destroy(struct prime_calendar *p)
{
    if (!p)
        return;
    free(p->dedicated);
    free(p);
}

/* --- looking ------------------------------------------------------------------------------------------ */

/* Begin after end: prime time goes over midnight. */
static bool day_is_prime(const struct day *d, int minute)
{
    if (d->begin == NEVER || d->end == WHOLE_DAY)
        return false;
    if (d->begin == WHOLE_DAY || d->end == NEVER)
        return true;
    if (d->begin <= d->end)
        return minute >= d->begin && minute < d->end;
    return minute >= d->begin || minute < d->end;
}

bool prime_calendar_is_prime(const struct prime_calendar *p, int64_t t_s)
{
    time_t t = (time_t)t_s;
    struct tm tm;

    if (p->always || !localtime_r(&t, &tm))
        return true;
    if (p->holiday[tm.tm_yday + 1])
        return false;
    return day_is_prime(&p->days[tm.tm_wday], tm.tm_hour * 60 + tm.tm_min);
}

/* The time of that minute of the day, `days` days after `of`. mktime puts a day beyond the month's end
 * right. */
static int64_t moment(const struct tm *of, int days, int minute)
{
    struct tm tm = *of;

    tm.tm_mday += days;
    tm.tm_hour = 0;
    tm.tm_min = minute;
    tm.tm_sec = 0;
    tm.tm_isdst = -1;
    return (int64_t)mktime(&tm);
}

/* The first moment of that day, after t, at which prime time is no longer as `is` says; 0: there is none. */
static int64_t day_changes_s(const struct prime_calendar *p, const struct tm *of, int days, int64_t t_s,
                             bool is)
{
    const struct day *d = &p->days[(of->tm_wday + days) % DAYS];
    int at[] = {0, d->begin, d->end};
    int64_t first_s = 0;

    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        int64_t x_s = at[i] >= 0 ? moment(of, days, at[i]) : 0;
        if (x_s > t_s && prime_calendar_is_prime(p, x_s) != is && (first_s == 0 || x_s < first_s))
            first_s = x_s;
    }
    return first_s;
}

/* A holiday may hide a change, and a week may have none, but a year without one has none at all. */
static int64_t look_ahead(const struct prime_calendar *p, int64_t t_s)
{
    time_t t = (time_t)t_s;
    bool is = prime_calendar_is_prime(p, t_s);
    int64_t found_s = 0;
    struct tm tm;

    if (p->always || !localtime_r(&t, &tm))
        return 0;
    for (int days = 0; days < YEAR_DAYS && found_s == 0; days++)
        found_s = day_changes_s(p, &tm, days, t_s, is);
    return found_s;
}

/* The answer is kept while it lies ahead. */
int64_t prime_calendar_changes_s(struct prime_calendar *p, int64_t t_s)
{
    bool known = p->asked_s && t_s >= p->asked_s && p->changes_s && t_s < p->changes_s;

    if (p->always || known)
        return p->always ? 0 : p->changes_s;
    p->changes_s = look_ahead(p, t_s);
    p->asked_s = t_s;
    return p->changes_s;
}

bool prime_calendar_is_dedicated(const struct prime_calendar *p, int64_t t_s)
{
    for (size_t i = 0; i < p->n_dedicated; i++)
        if (t_s >= p->dedicated[i].begin_s && t_s < p->dedicated[i].end_s)
            return true;
    return false;
}

int64_t prime_calendar_dedicated_changes_s(const struct prime_calendar *p, int64_t t_s)
{
    int64_t first_s = 0;

    for (size_t i = 0; i < p->n_dedicated; i++) {
        const struct period *d = &p->dedicated[i];
        int64_t x_s = d->begin_s > t_s ? d->begin_s : d->end_s > t_s ? d->end_s : 0;
        if (x_s && (first_s == 0 || x_s < first_s))
            first_s = x_s;
    }
    return first_s;
}

bool prime_calendar_has_dedicated(const struct prime_calendar *p)
{
    return p->n_dedicated > 0;
}

/* --- holidays ----------------------------------------------------------------------------------------- */

struct prime_calendar_reading {
    struct prime_calendar *to;
    int line, year;
    bool said[DAYS];
    prime_calendar_say_fn *say;
    void *arg;
};

/* HHMM, all or none. */
static int parse_hour(const char *word, int *out)
{
    char *end;
    long n = strtol(word, &end, 10);

    if (strcasecmp(word, "all") == 0 || strcasecmp(word, "none") == 0) {
        *out = *word == 'a' || *word == 'A' ? WHOLE_DAY : NEVER;
        return 0;
    }
    if (!isdigit((unsigned char)*word) || *end || n > 2400 || n % 100 >= 60)
        return -1;
    *out = (int)(n / 100 * 60 + n % 100);
    return *out <= MINUTES ? 0 : -1;
}

/* PBS's words, where both columns say "all" or both say "none". */
static void say_odd(const struct prime_calendar_reading *r, const struct day *d)
{
    if (d->begin != d->end || d->begin >= 0)
        return;
    r->say(r->arg, d->begin == WHOLE_DAY
                       ? "Warning: both prime & non-prime starts are 'all'; assuming 24hr primetime"
                       : "Warning: both prime & non-prime starts are 'none'; assuming 24hr primetime");
}

/* A line of one day goes before "weekday", whichever comes first. */
static int read_day(struct prime_calendar_reading *r, const struct words *w)
{
    static const struct {
        const char *word;
        int first, last;
    } rows[] = {{"weekday", 1, 5},   {"sunday", 0, 0},   {"monday", 1, 1}, {"tuesday", 2, 2},
                {"wednesday", 3, 3}, {"thursday", 4, 4}, {"friday", 5, 5}, {"saturday", 6, 6}};
    struct day d;
    size_t i = 0;

    while (i < sizeof rows / sizeof *rows && strcasecmp(rows[i].word, w->w[0]) != 0)
        i++;
    if (i == sizeof rows / sizeof *rows || w->n < 3 || parse_hour(w->w[1], &d.begin) < 0 ||
        parse_hour(w->w[2], &d.end) < 0)
        return -1;
    say_odd(r, &d);
    if (d.begin == d.end && d.begin < 0)
        d = (struct day){WHOLE_DAY, NEVER};
    for (int day = rows[i].first; day <= rows[i].last; day++)
        if (rows[i].first == rows[i].last || !r->said[day]) {
            r->to->days[day] = d;
            r->said[day] = r->said[day] || rows[i].first == rows[i].last;
        }
    return 0;
}

/* Without a number, or with 0, it is always prime time. */
static int read_year(struct prime_calendar_reading *r, const struct words *w)
{
    int64_t year = 0;

    r->year = 0;
    if (w->n > 1 && units_parse_int(w->w[1], 0, YEAR_MAX, &year, NULL) < 0)
        return -1;
    r->year = (int)year;
    return 0;
}

/* YEAR, a day of the year that is a holiday, or hours of a day. */
static int read_holiday_line(struct prime_calendar_reading *r, const struct words *w)
{
    char *end;
    long day = strtol(w->w[0], &end, 10);

    if (strcasecmp(w->w[0], "HOLIDAYFILE_VERSION1") == 0)
        return 0;
    if (strcasecmp(w->w[0], "YEAR") == 0)
        return read_year(r, w);
    if (*end || !isdigit((unsigned char)*w->w[0]))
        return read_day(r, w);
    if (day < 1 || day >= YEAR_DAYS)
        return -1;
    r->to->holiday[day] = true;
    return 0;
}

static void prime_calendar_read_line(struct prime_calendar_reading *r, const char *text, size_t n)
{
    char line[LINE_MAX_LEN];
    struct words w;

    r->line++;
    snprintf(line, sizeof line, "%.*s", (int)n, text);
    words_init(&w);
    words_parse(line, " \t\r", WORDS_PLAIN, &w, NULL);
    if (w.n > 0 && *w.w[0] != '*' && *w.w[0] != '#' && read_holiday_line(r, &w) < 0) {
        char said[LINE_MAX_LEN + 64];
        snprintf(said, sizeof said, "Error on line %d, line started with: %s", r->line, w.w[0]);
        r->say(r->arg, said);
    }
    words_fini(&w);
}

void prime_calendar_read_holidays(struct prime_calendar *p, const char *text, int64_t now_s,
                                  prime_calendar_say_fn *say, void *arg)
{
    struct prime_calendar_reading r = {.to = p, .say = say, .arg = arg};
    time_t now = (time_t)now_s;
    struct tm tm;

    p->always = true;
    p->asked_s = 0;
    memset(p->holiday, 0, sizeof p->holiday);
    for (int i = 0; i < DAYS; i++)
        p->days[i] = (struct day){WHOLE_DAY, NEVER};
    if (!text) {
        say(arg, "Warning: cannot open holidays file; assuming 24hr primetime");
        return;
    }
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n");
        prime_calendar_read_line(&r, at, n);
        at += n + (at[n] == '\n');
    }
    p->always = r.year == 0;
    if (r.year && localtime_r(&now, &tm) && tm.tm_year + 1900 > r.year)
        say(arg, "The holiday file is out of date; please update it.");
}

/* --- dedicated time ----------------------------------------------------------------------------------- */

/* A day that its month does not have, and a year of two digits, is an error. */
static int parse_moment(const char *date, const char *hour, int64_t *out)
{
    struct tm tm = {.tm_isdst = -1};
    const char *a = strptime(date, "%m/%d/%Y", &tm), *b = strptime(hour, "%H:%M", &tm);
    int day = tm.tm_mday;

    if (!a || *a || !b || *b || tm.tm_year < YEAR_MIN - 1900)
        return -1;
    *out = (int64_t)mktime(&tm);
    return tm.tm_mday == day ? 0 : -1;
}

/* 1: a period; 0: the line is empty; -1: an error. */
static int parse_period(const char *text, size_t n, struct period *out)
{
    char line[LINE_MAX_LEN];
    struct words w;
    int rc = 0;

    snprintf(line, sizeof line, "%.*s", (int)n, text);
    words_init(&w);
    words_parse(line, " \t\r", WORDS_PLAIN, &w, NULL);
    if (w.n > 0 && *w.w[0] != '#') {
        bool good = w.n == 4 && parse_moment(w.w[0], w.w[1], &out->begin_s) == 0 &&
                    parse_moment(w.w[2], w.w[3], &out->end_s) == 0 && out->begin_s < out->end_s;
        rc = good ? 1 : -1;
    }
    words_fini(&w);
    return rc;
}

int prime_calendar_read_dedicated(struct prime_calendar *p, const char *text, struct err *e)
{
    struct period *all = NULL, one;
    size_t used = 0, cap = 0;
    int line = 0;

    for (const char *at = text ? text : ""; *at;) {
        size_t n = strcspn(at, "\n");
        int rc = parse_period(at, n, &one);
        line++;
        if (rc < 0) {
            free(all);
            return err_set(e, EINVAL,
                           "Error on line %d: it is MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM, begin and end", line);
        }
        if (rc > 0) {
            all = mem_room(all, used, &cap, sizeof *all);
            all[used++] = one;
        }
        at += n + (at[n] == '\n');
    }
    free(p->dedicated);
    p->dedicated = all;
    p->n_dedicated = used;
    return 0;
}
