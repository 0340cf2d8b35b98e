/* pbs_rstat: show reservations as a table (-S), by name only (-B) or with all attributes (-f, -F; -F json: one JSON
 * object). Without reservations nothing is printed, but in JSON. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api_error.h"
#include "attrs.h"
#include "cmd.h"
#include "conn_pool.h"
#include "json_out.h"
#include "operand.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "status_out.h"
#include "term_out.h"

enum { STATES = 13, MANY_JOBS = 9999999, TIME_TEXT = 32 };

struct rstat {
    struct cmd_args a;
    char form;   /* f, F, B, S: the last one given */
    bool wide;   /* identifiers may be long */
    bool headed; /* the heading has been printed */
    bool as_json;
    struct json_out json;
};

static int pbs_rstat_take(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    ((struct rstat *)settings)->form = row->letter;
    return 0;
}

static const struct option_row rows[] = {
    {'f', NULL, OPTION_ALONE, NULL, "all attributes", pbs_rstat_take, 0},
    {'F', NULL, OPTION_ALONE, NULL, "all attributes", pbs_rstat_take, 0},
    {'B', NULL, OPTION_ALONE, NULL, "identifiers", pbs_rstat_take, 0},
    {'S', NULL, OPTION_ALONE, NULL, "a table (the default)", pbs_rstat_take, 0},
};

/* Days from a Sunday long ago. */
static long day_of(const struct tm *t)
{
    struct tm noon = *t;

    noon.tm_hour = 12;
    noon.tm_min = noon.tm_sec = 0;
    noon.tm_isdst = -1;
    return (long)((mktime(&noon) + 4 * 86400L) / 86400);
}

/* "Today 16:00", "Wed 16:00" of this week (from Sunday), "Wed Mar 04 16:00", with the year where it is another one. */
static const char *show_time(const char *text, char out[TIME_TEXT])
{
    time_t when = text ? (time_t)strtoll(text, NULL, 10) : 0, now = time(NULL);
    struct tm at, today;

    if (!text)
        return "--";
    if (!localtime_r(&when, &at) || !localtime_r(&now, &today))
        return text;
    if (at.tm_year == today.tm_year && at.tm_yday == today.tm_yday)
        strftime(out, TIME_TEXT, "Today %H:%M", &at);
    else if (day_of(&at) - at.tm_wday == day_of(&today) - today.tm_wday)
        strftime(out, TIME_TEXT, "%a %H:%M", &at);
    else if (at.tm_year == today.tm_year)
        strftime(out, TIME_TEXT, "%a %b %d %H:%M", &at);
    else
        strftime(out, TIME_TEXT, "%a %b %d %Y %H:%M", &at);
    return out;
}

static const struct {
    const char *letters, *word;
} states[STATES] = {
    {"NO", "RESV_NONE"},          {"UN", "RESV_UNCONFIRMED"},   {"CO", "RESV_CONFIRMED"},
    {"WT", "RESV_WAIT"},          {"TR", "RESV_TIME_TO_RUN"},   {"RN", "RESV_RUNNING"},
    {"FN", "RESV_FINISHED"},      {"BD", "RESV_BEING_DELETED"}, {"DE", "RESV_DELETED"},
    {"DJ", "RESV_DELETING_JOBS"}, {"DG", "RESV_DEGRADED"},      {"AL", "RESV_BEING_ALTERED"},
    {"IC", "RESV_IN_CONFLICT"},
};

static long state_of(const char *number)
{
    long n = number ? strtol(number, NULL, 10) : 0;

    return n >= 0 && n < STATES ? n : 0;
}

static const char *or_dashes(const struct batch_status *r, const char *name)
{
    const char *value = attrs_value(r->attribs, name, NULL);

    return value ? value : "--";
}

static void show_row(struct rstat *q, const struct batch_status *r)
{
    char start[TIME_TEXT], end[TIME_TEXT];

    if (!q->headed && q->wide)
        puts("Resv ID         Queue         User     State             Start / Duration / End              \n"
             "-------------------------------------------------------------------------------");
    else if (!q->headed)
        puts("Resv ID    Queue    User     State             Start / Duration / End              \n"
             "---------------------------------------------------------------------");
    q->headed = true;
    printf(q->wide ? "%-15.15s %-13.13s " : "%-10.10s %-8.8s ", r->name, or_dashes(r, "queue"));
    printf("%-8.8s %-5.5s %17.17s / %s / %-17.17s\n", or_dashes(r, "Authorized_Users"),
           states[state_of(attrs_value(r->attribs, "reserve_state", NULL))].letters,
           show_time(attrs_value(r->attribs, "reserve_start", NULL), start), or_dashes(r, "reserve_duration"),
           show_time(attrs_value(r->attribs, "reserve_end", NULL), end));
}

static bool pbs_rstat_is_hidden(const char *name)
{
    static const char *const names[] = {"reserve_execvnodes", "reserve_standing", "reserve_timezone",
                                        "reserve_starts",     "reserve_first",    "reserve_standing_revert"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void show_value(const struct attrl *a)
{
    static char scratch[STATUS_SCRATCH];
    bool state = strcmp(a->name, "reserve_state") == 0;
    bool date = strcmp(a->name, "reserve_retry") == 0;
    time_t t;
    struct tm tm;

    printf("%s%s%s = ", a->name, a->resource ? "." : "", a->resource ? a->resource : "");
    if (date) {
        t = (time_t)strtoll(a->value, NULL, 10);
        strftime(scratch, sizeof scratch, "%a %b %d %H:%M:%S %Y", localtime_r(&t, &tm));
    }
    term_out_text(stdout, state  ? states[state_of(a->value)].word
                          : date ? scratch
                                 : status_out_value(a, scratch));
    putchar('\n');
}

static void show_full(const struct batch_status *r)
{
    printf("Resv ID: %s\n", r->name);
    for (const struct attrl *a = r->attribs; a; a = a->next)
        if (!pbs_rstat_is_hidden(a->name))
            show_value(a);
    putchar('\n');
}

static bool pbs_rstat_omits(const struct attrl *a)
{
    return pbs_rstat_is_hidden(a->name);
}

static void pbs_rstat_show(struct rstat *q, const struct batch_status *r)
{
    for (; r; r = r->next)
        if (q->as_json)
            status_out_json(&q->json, r, pbs_rstat_omits);
        else if (q->form == 'B')
            printf("Resv ID: %s\n", r->name);
        else if (q->form == 'f' || q->form == 'F')
            show_full(r);
        else
            show_row(q, r);
}

/* Ask for the reservation, or for all without a name. One that there is not is not a failure of the command. */
static int pbs_rstat_ask(struct rstat *q, int c, const char *name)
{
    struct batch_status *r;

    pbs_errno = 0;
    r = pbs_statresv(c, name, NULL, NULL);
    if (!r && pbs_errno == PBSE_UNKRESVID)
        return cmd_error(&q->a, "Unknown Reservation Id"), 0;
    if (!r && pbs_errno)
        return api_error_report(&q->a, c, name ? name : "");
    pbs_rstat_show(q, r);
    pbs_statfree(r);
    return 0;
}

static bool has_long_identifiers(int c)
{
    struct attrl want = {.name = (char *)"max_job_sequence_id", .value = (char *)""};
    struct batch_status *s = pbs_statserver(c, &want, NULL);
    const char *most = s ? attrs_value(s->attribs, want.name, NULL) : NULL;
    bool wide = most && strtoll(most, NULL, 10) > MANY_JOBS;

    pbs_statfree(s);
    return wide;
}

static void pbs_rstat_open_json(struct rstat *q, int c)
{
    struct batch_status *server = pbs_statserver(c, NULL, NULL);

    status_out_json_head(&q->json, stdout, server);
    json_out_open(&q->json, "resvs", '{');
    pbs_statfree(server);
}

static void pbs_rstat_close_json(struct rstat *q)
{
    json_out_close(&q->json, '}');
    json_out_end(&q->json);
}

/* All of them, or those named. */
static int pbs_rstat_ask_all(struct rstat *q, int c, int n, char *operands[])
{
    int rc = n ? 0 : pbs_rstat_ask(q, c, NULL);

    for (int i = 0; i < n; i++) {
        char id[OPERAND_RESV_MAX];
        int code = operand_resv(&q->a, operands[i], id) < 0 ? 1 : pbs_rstat_ask(q, c, id);

        rc = code ? code : rc;
    }
    return rc;
}

static int pbs_rstat_run(void *settings, int n, char *operands[])
{
    struct rstat *q = settings;
    char id[OPERAND_RESV_MAX];
    struct conn_pool *s;
    int c, rc;

    q->as_json = q->form == 'F' && n && strcmp(operands[0], "json") == 0;
    n -= q->as_json;
    operands += q->as_json;
    for (int i = 0; i < n; i++)
        if (operand_resv(&q->a, operands[i], id) < 0)
            return 1;
    s = conn_pool_create(&q->a);
    c = s ? conn_pool_connect(s, NULL) : -1;
    q->wide = c >= 0 && has_long_identifiers(c);
    if (c >= 0 && q->as_json)
        pbs_rstat_open_json(q, c);
    rc = c >= 0 ? pbs_rstat_ask_all(q, c, n, operands) : s ? pbs_errno : 1;
    if (c >= 0 && q->as_json)
        pbs_rstat_close_json(q);
    conn_pool_destroy(s);
    return rc;
}

const struct cmd command = {
    .options = {.program = "pbs_rstat", .operands = "[reservation-id...]", CMD_ROWS(rows)},
    .usage = "Usage:\n\tpbs_rstat [-fFBS] [reservation-id]\n\tpbs_rstat -F json [reservation-id]\n",
    .usage_exit = 1,
    .size = sizeof(struct rstat),
    .run = pbs_rstat_run,
};
