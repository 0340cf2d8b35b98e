/* pbs_rstat: show reservations as a table (-S), by name only (-B) or with all attributes (-f, -F). Without
 * reservations nothing is printed. */
#include <time.h>

#include "attrs.h"
#include "cmd.h"
#include "errors.h"
#include "api_error.h"
#include "conn_pool.h"
#include "status_out.h"
#include "term_out.h"

struct rstat {
    struct cmd_args a;
    bool full, brief, table;
    bool headed; /* the heading has been printed */
};

static const struct option_row rows[] = {
    CMD_FLAG('f', struct rstat, full, "all attributes"),
    CMD_FLAG('F', struct rstat, full, "all attributes"),
    CMD_FLAG('B', struct rstat, brief, "identifiers"),
    CMD_FLAG('S', struct rstat, table, "a table (the default)"),
};

/* Format a time: "Today 16:00", "Wed 16:00" this week, "Wed Mar 04 16:00", with the year where it is another one. */
static const char *show_time(const char *text, char out[32])
{
    time_t when = text ? (time_t)strtoll(text, NULL, 10) : 0, now = time(NULL);
    struct tm at, today;

    if (!text)
        return "--";
    localtime_r(&when, &at);
    localtime_r(&now, &today);
    if (at.tm_year == today.tm_year && at.tm_yday == today.tm_yday)
        strftime(out, 32, "Today %H:%M", &at);
    else if (when > now && when - now < 7 * 24 * 3600)
        strftime(out, 32, "%a %H:%M", &at);
    else if (at.tm_year == today.tm_year)
        strftime(out, 32, "%a %b %d %H:%M", &at);
    else
        strftime(out, 32, "%a %b %d %Y %H:%M", &at);
    return out;
}

static const char *state_letters(const char *number)
{
    static const char *const letters[] = {"NO", "UN", "CO", "WT", "TR", "RN", "FN",
                                          "BD", "DE", "DJ", "DG", "AL", "IC"};
    long n = number ? strtol(number, NULL, 10) : 0;

    return n >= 0 && (size_t)n < sizeof letters / sizeof letters[0] ? letters[n] : "??";
}

static void show_row(struct rstat *q, const struct batch_status *r)
{
    const char *id = r->name, *queue = attrs_value(r->attribs, "queue", NULL);
    const char *owner = attrs_value(r->attribs, "Reserve_Owner", NULL);
    const char *lasts = attrs_value(r->attribs, "reserve_duration", NULL);
    char start[32], end[32];

    if (!q->headed)
        puts("Resv ID    Queue    User     State             Start / Duration / End              \n"
             "---------------------------------------------------------------------");
    q->headed = true;
    printf("%-10.10s %-8.8s %-8.8s %-5.5s %17s / %s / %s\n", id, queue ? queue : "--", owner ? owner : "--",
           state_letters(attrs_value(r->attribs, "reserve_state", NULL)),
           show_time(attrs_value(r->attribs, "reserve_start", NULL), start), lasts ? lasts : "--",
           show_time(attrs_value(r->attribs, "reserve_end", NULL), end));
}

static void pbs_rstat_show(struct rstat *q, const struct batch_status *r)
{
    static const struct status_full full = {.head = "Resv ID: ", .indent = ""};

    for (; r; r = r->next)
        if (q->brief)
            printf("Resv ID: %s\n", r->name);
        else if (q->full)
            status_out_full(stdout, &full, r);
        else
            show_row(q, r);
}

/* Ask for the reservation, or for all without a name. */
static int pbs_rstat_ask(struct rstat *q, int c, const char *name)
{
    struct batch_status *r;

    pbs_errno = 0;
    r = pbs_statresv(c, name, NULL, NULL);
    if (!r && pbs_errno)
        return api_error_report(&q->a, c, name ? name : "");
    pbs_rstat_show(q, r);
    pbs_statfree(r);
    return 0;
}

static int pbs_rstat_run(void *settings, int n, char *operands[])
{
    struct rstat *q = settings;
    struct conn_pool *s = conn_pool_create(&q->a);
    int c = s ? conn_pool_connect(s, NULL) : -1, rc = 0;

    if (c < 0)
        rc = s ? pbs_errno : 1;
    else if (!n)
        rc = pbs_rstat_ask(q, c, NULL);
    for (int i = 0; c >= 0 && i < n; i++) {
        int code = pbs_rstat_ask(q, c, operands[i]);

        rc = code ? code : rc;
    }
    conn_pool_destroy(s);
    return rc;
}

const struct cmd command = {
    .options = {.program = "pbs_rstat", .operands = "[reservation-id...]", CMD_ROWS(rows)},
    .usage = "Usage:\n\tpbs_rstat [-fFBS] [reservation-id]\n",
    .usage_exit = 1,
    .size = sizeof(struct rstat),
    .run = pbs_rstat_run,
};
