/* Rules of recurrence. See resv_recur.h.
 *
 * First the rule is compared with what PBS takes. The starts of days and longer periods are libical's, in the zone of the user, so that a
 * start keeps its hour when clocks change. Those of hours and shorter ones are so many seconds apart, whatever clocks do: by local time one
 * hour would be there twice and another one never. The list is made once, when the reservation is submitted, and stored as text; later
 * functions only take the first start off it. */
#include "resv_recur.h"

#include <ctype.h>
#include <libical/ical.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "resv_times.h"
#include "strbuf.h"

/* LOOKS_MAX: moments of a rule that are compared with its BYDAY and BYHOUR, 50 ms of them. Those that one of seven days and one of 24
 * hours is wanted of need five for each occurrence. */
enum { DAY_S = 24 * 3600, HOUR_S = 3600, WEEK_H = 7 * 24, RULE_MAX = 256, LOOKS_MAX = 10 * RESV_RECUR_MAX };

/* --- is it one that PBS takes? ------------------------------------------------------------------------ */

static bool is_plain_days(const char *value)
{
    for (const char *p = value; *p; p++)
        if (!isalpha((unsigned char)*p) && *p != ',')
            return false; /* +1MO */
    return true;
}

/* Digits alone, and no more than `most`: libical takes what is behind a number for nothing, and cuts off what its type does not hold. */
static bool resv_recur_is_number(const char *value, long most)
{
    return *value && !value[strspn(value, "0123456789")] && strlen(value) < 18 &&
           strtol(value, NULL, 10) <= most;
}

static int resv_recur_check_part(const char *name, const char *value, int *ends, struct err *e)
{
    static const char *const names[] = {"FREQ", "COUNT", "UNTIL", "BYDAY", "BYHOUR", "INTERVAL"};

    *ends += strcmp(name, "COUNT") == 0 || strcmp(name, "UNTIL") == 0;
    if ((strcmp(name, "BYDAY") == 0 && !is_plain_days(value)) ||
        (strcmp(name, "COUNT") == 0 && !resv_recur_is_number(value, INT_MAX)) ||
        (strcmp(name, "INTERVAL") == 0 && !resv_recur_is_number(value, SHRT_MAX)))
        return err_set(e, PBSE_BAD_RRULE_SYNTAX, "Undefined iCalendar syntax");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return 0;
    return err_set(e, PBSE_BAD_RRULE_SYNTAX, "Undefined iCalendar syntax");
}

static int resv_recur_check(const char *rule, struct err *e)
{
    char copy[RULE_MAX], *save = NULL;
    int ends = 0;

    snprintf(copy, sizeof copy, "%s", rule);
    for (char *part = strtok_r(copy, ";", &save); part; part = strtok_r(NULL, ";", &save)) {
        char *value = strchr(part, '=');

        if (!value)
            return err_set(e, PBSE_BAD_RRULE_SYNTAX, "Undefined iCalendar syntax");
        *value++ = '\0';
        if (resv_recur_check_part(part, value, &ends, e) < 0)
            return -1;
    }
    if (ends != 1)
        return err_set(e, PBSE_BAD_RRULE_SYNTAX2,
                       "Undefined iCalendar syntax. A valid COUNT or UNTIL is required");
    return 0;
}

static int check_period(icalrecurrencetype_frequency freq, int64_t duration_s, struct err *e)
{
    static const struct {
        icalrecurrencetype_frequency freq;
        int64_t most_s;
        int code;
        const char *text;
    } rows[] = {
        {ICAL_YEARLY_RECURRENCE, 366 * DAY_S, PBSE_BAD_RRULE_YEARLY,
         "YEARLY recurrence duration cannot exceed 1 year"},
        {ICAL_MONTHLY_RECURRENCE, 30 * DAY_S, PBSE_BAD_RRULE_MONTHLY,
         "MONTHLY recurrence duration cannot exceed 1 month"},
        {ICAL_WEEKLY_RECURRENCE, 7 * DAY_S, PBSE_BAD_RRULE_WEEKLY,
         "WEEKLY recurrence duration cannot exceed 1 week"},
        {ICAL_DAILY_RECURRENCE, DAY_S, PBSE_BAD_RRULE_DAILY,
         "DAILY recurrence duration cannot exceed 24 hours"},
        {ICAL_HOURLY_RECURRENCE, 3600, PBSE_BAD_RRULE_HOURLY,
         "HOURLY recurrence duration cannot exceed 1 hour"},
        {ICAL_MINUTELY_RECURRENCE, 60, PBSE_BAD_RRULE_MINUTELY,
         "MINUTELY recurrence duration cannot exceed 1 minute"},
        {ICAL_SECONDLY_RECURRENCE, 1, PBSE_BAD_RRULE_SECONDLY,
         "SECONDLY recurrence duration cannot exceed 1 second"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].freq == freq)
            return duration_s <= rows[i].most_s ? 0 : err_set(e, rows[i].code, "%s", rows[i].text);
    return err_set(e, PBSE_BAD_RRULE_SYNTAX, "Undefined iCalendar syntax");
}

/* --- its occurrences ------------------------------------------------------------------------------------ */

static int resv_recur_bad_times(struct err *e)
{
    return err_set(e, PBSE_BADTSPEC, "Bad time specification(s)");
}

struct resv_recur_walk {
    const struct resv_recur_ask *ask;
    struct strbuf starts;
    size_t n;
    int64_t last_s;
};

static int resv_recur_add(struct resv_recur_walk *w, int64_t at_s, struct err *e)
{
    if (at_s < w->ask->now_s)
        return 0;
    if (at_s > RESV_TIMES_LAST_S - w->ask->duration_s)
        return resv_recur_bad_times(e);
    if (w->n && at_s - w->last_s < w->ask->duration_s)
        return resv_recur_bad_times(e);
    if (w->n == RESV_RECUR_MAX)
        return err_set(e, PBSE_BAD_RRULE_SYNTAX, "Undefined iCalendar syntax: more than %d occurrences",
                       RESV_RECUR_MAX);
    strbuf_add_sep(&w->starts, ",");
    strbuf_addf(&w->starts, "%lld", (long long)at_s);
    w->last_s = at_s;
    w->n++;
    return 0;
}

/* A rule that asks for more occurrences than there are until the end of time asks for something else than it would get. */
static int resv_recur_check_count(const struct icalrecurrencetype *rule, int n, struct err *e)
{
    return rule->count && n < rule->count ? resv_recur_bad_times(e) : 0;
}

static int resv_recur_walk(struct resv_recur_walk *w, struct icalrecurrencetype rule, icaltimezone *zone,
                           struct err *e)
{
    struct icaltimetype at = icaltime_from_timet_with_zone((time_t)w->ask->start_s, 0, zone);
    icalrecur_iterator *it = icalrecur_iterator_new(rule, at);
    int rc = it ? 0 : err_set(e, PBSE_BAD_RRULE_SYNTAX, "Undefined iCalendar syntax");

    for (int n = 0; rc == 0; n++) {
        at = icalrecur_iterator_next(it);
        if (icaltime_is_null_time(at)) {
            rc = resv_recur_check_count(&rule, n, e);
            break;
        }
        rc = resv_recur_add(w, (int64_t)icaltime_as_timet_with_zone(at, zone), e);
    }
    if (it)
        icalrecur_iterator_free(it);
    return rc;
}

/* --- every so many seconds ------------------------------------------------------------------------------ */

struct resv_recur_every {
    const struct resv_recur_ask *ask;
    icaltimezone *zone;
    int64_t step_s, last_s;
    bool wanted[WEEK_H]; /* hours of the week, from Sunday */
    int64_t at_s;
    unsigned looks;
};

static int resv_recur_unit_s(icalrecurrencetype_frequency freq)
{
    return freq == ICAL_HOURLY_RECURRENCE     ? HOUR_S
           : freq == ICAL_MINUTELY_RECURRENCE ? 60
           : freq == ICAL_SECONDLY_RECURRENCE ? 1
                                              : 0;
}

/* Is the number in this list of a rule, or has the rule no such list? */
static bool resv_recur_is_listed(const short *list, size_t size, int n)
{
    for (size_t i = 0; i < size && list[i] != ICAL_RECURRENCE_ARRAY_MAX; i++)
        if (list[i] == n)
            return true;
    return list[0] == ICAL_RECURRENCE_ARRAY_MAX;
}

static struct icaltimetype resv_recur_local(const struct resv_recur_every *x, int64_t at_s)
{
    return icaltime_from_timet_with_zone((time_t)at_s, 0, x->zone);
}

static void resv_recur_every_init(struct resv_recur_every *x, const struct icalrecurrencetype *rule)
{
    x->step_s = (int64_t)rule->interval * resv_recur_unit_s(rule->freq);
    x->at_s = x->ask->start_s;
    x->last_s = icaltime_is_null_time(rule->until)
                    ? RESV_TIMES_LAST_S
                    : (int64_t)icaltime_as_timet_with_zone(rule->until, x->zone) - (rule->until.is_date != 0);
    for (int i = 0; i < WEEK_H; i++)
        x->wanted[i] = resv_recur_is_listed(rule->by_day, ICAL_BY_DAY_SIZE, i / 24 + 1) &&
                       resv_recur_is_listed(rule->by_hour, ICAL_BY_HOUR_SIZE, i % 24);
}

/* Of an hour that is not wanted: at least how long it is until one that may be. Far ahead clocks may have changed by then. */
static int64_t resv_recur_idle_s(const struct resv_recur_every *x, const struct icaltimetype *local, int hour)
{
    int64_t this_s = HOUR_S - local->minute * 60 - local->second;
    int i;

    for (i = 1; i < WEEK_H && !x->wanted[(hour + i) % WEEK_H]; i++)
        ;
    return i > 3 ? this_s + (i - 3) * (int64_t)HOUR_S : this_s;
}

/* Go to the first moment from at_s on that the rule wants. false: there is none, or it is too far to be looked for. */
static bool resv_recur_seek(struct resv_recur_every *x)
{
    while (x->at_s <= x->last_s && ++x->looks <= LOOKS_MAX) {
        struct icaltimetype local = resv_recur_local(x, x->at_s);
        int hour = (icaltime_day_of_week(local) - 1) * 24 + local.hour;

        if (x->wanted[hour])
            return true;
        x->at_s += (resv_recur_idle_s(x, &local, hour) + x->step_s - 1) / x->step_s * x->step_s;
    }
    return false;
}

static int resv_recur_walk_every(struct resv_recur_walk *w, const struct icalrecurrencetype *rule,
                                 icaltimezone *zone, struct err *e)
{
    struct resv_recur_every x = {.ask = w->ask, .zone = zone};
    int n;

    resv_recur_every_init(&x, rule);
    for (n = 0; (!rule->count || n < rule->count) && resv_recur_seek(&x); n++) {
        if (resv_recur_add(w, x.at_s, e) < 0)
            return -1;
        x.at_s += x.step_s;
    }
    return x.looks > LOOKS_MAX ? err_set(e, PBSE_BAD_RRULE_SYNTAX,
                                         "Undefined iCalendar syntax: its occurrences are too far apart")
                               : resv_recur_check_count(rule, n, e);
}

/* UNTIL has the fields of the zone, as the times have that libical compares it with, although these say that they are of UTC. */
static void resv_recur_set_zone(struct icaltimetype *until, icaltimezone *zone)
{
    if (icaltime_is_null_time(*until) || until->is_date)
        return;
    if (icaltime_is_utc(*until))
        *until = icaltime_convert_to_zone(*until, zone);
    until->zone = icaltimezone_get_utc_timezone();
}

/* The rule that PBS takes, in letters of any case; its UNTIL is of the zone. */
static int resv_recur_read(const struct resv_recur_ask *ask, icaltimezone *zone,
                           struct icalrecurrencetype *rule, struct err *e)
{
    char text[RULE_MAX];
    size_t i;

    for (i = 0; i < sizeof text - 1 && ask->rule[i]; i++)
        text[i] = (char)toupper((unsigned char)ask->rule[i]);
    text[i] = '\0';
    if (ask->rule[i])
        return err_set(e, PBSE_BAD_RRULE_SYNTAX, "Undefined iCalendar syntax");
    if (!zone)
        return err_set(e, PBSE_BAD_ICAL_TZ, "Unrecognized PBS_TZID environment variable");
    if (resv_recur_check(text, e) < 0)
        return -1;
    *rule = icalrecurrencetype_from_string(text);
    if (rule->freq == ICAL_NO_RECURRENCE)
        return err_set(e, PBSE_BAD_RRULE_SYNTAX, "Undefined iCalendar syntax");
    if (check_period(rule->freq, ask->duration_s, e) < 0)
        return -1;
    resv_recur_set_zone(&rule->until, zone);
    return 0;
}

int resv_recur_expand(const struct resv_recur_ask *ask, char **starts, size_t *n, struct err *e)
{
    struct resv_recur_walk w = {.ask = ask};
    struct icalrecurrencetype rule;
    icaltimezone *zone = ask->zone && *ask->zone ? icaltimezone_get_builtin_timezone(ask->zone) : NULL;
    int rc;

    if (resv_recur_read(ask, zone, &rule, e) < 0)
        return -1;
    strbuf_init(&w.starts, (size_t)1 << 20);
    rc = resv_recur_unit_s(rule.freq) ? resv_recur_walk_every(&w, &rule, zone, e)
                                      : resv_recur_walk(&w, rule, zone, e);
    if (rc == 0 && !w.n)
        rc = resv_recur_bad_times(e);
    *n = w.n;
    *starts = rc == 0 ? strbuf_take(&w.starts) : NULL;
    strbuf_fini(&w.starts);
    return rc == 0 && !*starts ? err_no_memory(e) : rc;
}

int64_t resv_recur_second(const struct resv *r)
{
    const char *starts = attr_list_text(&r->obj.attrs, RESV_ATTR_reserve_starts);
    const char *comma = starts ? strchr(starts, ',') : NULL;

    return comma ? strtoll(comma + 1, NULL, 10) : INT64_MAX;
}

int64_t resv_recur_drop_first(struct resv *r)
{
    const char *starts = attr_list_text(&r->obj.attrs, RESV_ATTR_reserve_starts);
    const char *comma = starts ? strchr(starts, ',') : NULL;
    char *rest = comma ? strdup(comma + 1) : NULL;
    int64_t first;

    if (!rest)
        return 0;
    first = strtoll(rest, NULL, 10);
    if (attr_list_set_text(&r->obj.attrs, RESV_ATTR_reserve_starts, rest, NULL) < 0)
        abort(); /* occurrences would be lost */
    free(rest);
    return first;
}

/* --- sequences of exec_vnodes --------------------------------------------------------------------------- */

/* "3" or "0-3" at *at: from, to; *at behind it and behind a comma and blanks. false: malformed. */
static bool resv_recur_range(const char **at, unsigned long *from, unsigned long *to)
{
    char *rest;

    *from = *to = strtoul(*at, &rest, 10);
    if (!isdigit((unsigned char)**at))
        return false;
    if (*rest == '-') {
        if (!isdigit((unsigned char)rest[1]))
            return false;
        *to = strtoul(rest + 1, &rest, 10);
    }
    *at = rest + strspn(rest, ", ");
    return *to >= *from && *to - *from <= RESV_RECUR_MAX;
}

/* "{0-3,5}": does it hold the index? *end behind it; NULL: malformed. Counts what it holds. */
static bool resv_recur_holds(const char *brace, size_t index, size_t *count, const char **end)
{
    const char *at = brace + 1;
    bool found = false;

    *end = NULL;
    while (*at != '}') {
        unsigned long from, to;

        if (!resv_recur_range(&at, &from, &to))
            return false;
        found = found || (index >= from && index <= to);
        *count += to - from + 1;
    }
    *end = at + 1;
    return found;
}

char *resv_recur_execvnode(const char *text, size_t index, size_t *n)
{
    const char *hash = strchr(text, '#'), *at;
    char *found = NULL;
    size_t count = 0;

    if (n)
        *n = 1;
    if (!hash)
        return index == 0 && *text ? strdup(text) : NULL;
    for (at = hash + 1; *at;) {
        const char *brace = strchr(at, '{'), *end = NULL;

        if (!brace || brace == at)
            break;
        if (resv_recur_holds(brace, index, &count, &end) && !found)
            found = strndup(at, (size_t)(brace - at));
        if (!end)
            break;
        at = end;
    }
    if (n)
        *n = *at || count != strtoul(text, NULL, 10) ? 0 : count;
    return found;
}

const char *resv_recur_next(const char *at, struct resv_recur_group *g)
{
    const char *brace = strchr(at, '{'), *end = NULL;
    size_t count = 0;

    if (!brace || brace == at)
        return NULL;
    resv_recur_holds(brace, 0, &count, &end);
    if (!end)
        return NULL;
    *g = (struct resv_recur_group){.set = brace, .exec_vnode = strndup(at, (size_t)(brace - at))};
    if (!g->exec_vnode)
        abort(); /* a vnode that is lost would not be seen */
    for (const char *number = brace + 1; number < end; number += strcspn(number, "-,}") + 1) {
        size_t n = strtoul(number, NULL, 10);

        g->last = n > g->last ? n : g->last;
    }
    return end;
}

void resv_recur_group_fini(struct resv_recur_group *g)
{
    free(g->exec_vnode);
}

bool resv_recur_has(const char *set, size_t index)
{
    const char *end;
    size_t count = 0;

    return resv_recur_holds(set, index, &count, &end);
}
