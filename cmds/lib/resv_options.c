/* Options of pbs_rsub and pbs_ralter. See resv_options.h.
 *
 * Most values go to the server as they are: `plain` has their attributes. The others are checked here: times (-R, -E; PBS's dates, which become
 * seconds), the wait (-I), lists (-l, -W), the name, and the server of -q. A bad value is counted, and parsing continues, so that all are
 * reported at once. Times are added last (resv_options_times), since what an end means depends on the start. */
#include "resv_options.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "date_text.h"
#include "errors.h"
#include "job_options.h"
#include "option_pairs.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

enum { DAY_S = 24 * 3600, NUMBER_TEXT = 24 };

/* Letters whose value is an attribute as it is. */
static const struct {
    char letter;
    const char *attribute;
} plain[] = {
    {'m', "Mail_Points"},      {'M', "Mail_Users"},       {'u', "User_List"},
    {'g', "group_list"},       {'U', "Authorized_Users"}, {'G', "Authorized_Groups"},
    {'H', "Authorized_Hosts"}, {'D', "reserve_duration"}, {'r', "reserve_rrule"},
};

static int resv_options_add_resource(void *arg, const char *name, const char *value)
{
    attrs_set(arg, "Resource_List", name, value);
    return 0;
}

static int resv_options_add_attribute(void *arg, const char *name, const char *value)
{
    attrs_set(arg, name, NULL, value);
    return 0;
}

static int resv_options_bad_time(struct resv_options *o, char letter)
{
    o->a.errors++;
    cmd_error(&o->a, "illegal -%c time value", letter);
    return 0;
}

static int resv_options_take_time(struct resv_options *o, char letter, const char *value)
{
    bool start = letter == 'R';

    o->timed = true;
    *(start ? &o->start : &o->end) = value;
    return date_text_parse(value, (int64_t)time(NULL), start ? &o->start_s : &o->end_s) < 0
               ? resv_options_bad_time(o, letter)
               : 0;
}

static int resv_options_take_wait(struct resv_options *o, const char *value)
{
    char *end;
    long n = strtol(value, &end, 10);
    char text[NUMBER_TEXT];

    if (*end)
        return resv_options_bad_time(o, 'I');
    snprintf(text, sizeof text, "%ld", n);
    attrs_set(&o->attrs, "interactive", NULL, text);
    return 0;
}

static int resv_options_take_list(struct resv_options *o, const struct option_row *row, const char *value)
{
    const char *bad;
    int rc = row->letter == 'l' ? option_pairs_resources(value, resv_options_add_resource, &o->attrs, &bad)
                                : option_pairs_attributes(value, resv_options_add_attribute, &o->attrs, &bad);

    return rc < 0 ? cmd_bad_value(&o->a, row) : 0;
}

static int resv_options_take_server(struct resv_options *o, const char *value)
{
    if (value[0] == '@' && value[1]) {
        o->server = value + 1;
        return 0;
    }
    o->a.errors++;
    cmd_error(&o->a, "illegal -q value: format \"@server\"");
    return 0;
}

/* As a job's; one that is too long has words of its own. */
static int resv_options_take_name(struct resv_options *o, const struct option_row *row, const char *value)
{
    if (strlen(value) > PBS_MAXJOBNAME) {
        o->a.errors++;
        cmd_error(&o->a, "Reservation %s ", errors_text(PBSE_JOBNBIG));
        return 0;
    }
    if (!job_options_is_good('N', value))
        return cmd_bad_value(&o->a, row);
    attrs_set(&o->attrs, "Reserve_Name", NULL, value);
    return 0;
}

/* Letters of the events of a reservation that are mailed, or n. */
static bool resv_options_is_mail(const char *v)
{
    return strcmp(v, "n") == 0 || !v[strspn(v, "abce")];
}

int resv_options_take(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct resv_options *o = settings;

    switch (row->letter) {
    case 'R':
    case 'E':
        return resv_options_take_time(o, row->letter, value);
    case 'I':
        return resv_options_take_wait(o, value);
    case 'l':
    case 'W':
        return resv_options_take_list(o, row, value);
    case 'N':
        return resv_options_take_name(o, row, value);
    case 'q':
        return resv_options_take_server(o, value);
    case 'D':
        o->timed = true;
        break;
    default:
        break;
    }
    if (!*value || (row->letter == 'm' && !resv_options_is_mail(value)))
        return cmd_bad_value(&o->a, row);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i].letter == row->letter)
            attrs_set(&o->attrs, plain[i].attribute, NULL, value);
    return 0;
}

static void resv_options_set_time(struct resv_options *o, const char *name, int64_t at_s)
{
    char text[NUMBER_TEXT];

    snprintf(text, sizeof text, "%lld", (long long)at_s);
    attrs_set(&o->attrs, name, NULL, text);
}

void resv_options_times(struct resv_options *o)
{
    if (o->start && o->end && strcspn(o->start, ".") == 4 && o->end_s < o->start_s)
        o->end_s += DAY_S;
    if (o->start)
        resv_options_set_time(o, "reserve_start", o->start_s);
    if (o->end)
        resv_options_set_time(o, "reserve_end", o->end_s);
}

void resv_options_fini(struct resv_options *o)
{
    attrs_fini(&o->attrs);
}
