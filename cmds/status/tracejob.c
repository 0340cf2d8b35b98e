/* tracejob: show what the daemons wrote about jobs, in one order. It reads files of this host and asks no server.
 *
 * For each day and each place the file is read from its beginning, and lines about the job are kept; then all are
 * sorted and shown. Memory is needed for the lines about one job, not for the logs. A message that repeats itself is
 * shown a limited number of times. */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <unistd.h>

#include "cmd.h"
#include "conf.h"
#include "json_out.h"
#include "operand.h"
#include "term_out.h"
#include "trace_log.h"

enum { DEFAULT_LIMIT = 15, PLAIN_TIME = 20, LONG_TIME = 27 };

struct tracejob {
    struct cmd_args a;
    bool no_accounting, no_sched, no_mom, no_server, verbose, unlimited, json;
    struct json_out out; /* of -F json */
    unsigned hidden;
    long days, limit, columns;
    const char *home;
};

static int tracejob_take_number(void *settings, const struct option_row *row, const char *value,
                                struct err *e)
{
    struct tracejob *t = settings;
    char *end;
    long n;

    errno = 0;
    n = strtol(value, &end, 10);
    if (errno || end == value || *end || n < 1 || n > 100000)
        return cmd_bad_value(&t->a, row);
    *(long *)((char *)settings + row->id) = n;
    return 0;
}

static int tracejob_take_filter(void *settings, const struct option_row *row, const char *value,
                                struct err *e)
{
    struct tracejob *t = settings;
    unsigned bits = trace_log_events(value);

    t->hidden |= bits;
    return bits ? 0 : cmd_bad_value(&t->a, row);
}

#define NUMBER(letter, field, value, help)                                                                   \
    {                                                                                                        \
        letter, NULL, OPTION_VALUE, value, help, tracejob_take_number, (int)offsetof(struct tracejob, field) \
    }

static const struct option_row rows[] = {
    CMD_FLAG('a', struct tracejob, no_accounting, "without the accounting file"),
    NUMBER('c', limit, "count", "how often one message is shown; 15"),
    {'f', NULL, OPTION_VALUE, "filter",
     "without these events: error, system, admin, job, job_usage, ... or hex", tracejob_take_filter, 0},
    CMD_FORMAT(struct tracejob, json),
    CMD_FLAG('l', struct tracejob, no_sched, "without the scheduler's log"),
    CMD_FLAG('m', struct tracejob, no_mom, "without the MOM's log"),
    NUMBER('n', days, "days", "how many days back; 1"),
    CMD_TEXT('p', struct tracejob, home, "path", "PBS_HOME"),
    CMD_FLAG('s', struct tracejob, no_server, "without the server's log"),
    CMD_FLAG('v', struct tracejob, verbose, "say which files are read"),
    NUMBER('w', columns, "columns", "width of the output"),
    CMD_FLAG('z', struct tracejob, unlimited, "show every message, however often it occurs"),
};

/* --- files -------------------------------------------------------------------------------------------------- */

/* The directories of logs below a home: patterns, because schedulers have names, and a private complex keeps its
 * MOMs' homes beside the server's. */
static const struct tracejob_place {
    const char *pattern;
    char origin;
    enum trace_kind kind;
} places[] = {
    {"server_priv/accounting", 'A', TRACE_ACCOUNTING},
    {"server_logs", 'S', TRACE_LOG},
    {"sched_logs*", 'L', TRACE_LOG},
    {"mom_logs", 'M', TRACE_LOG},
    {"../mom/*/mom_logs", 'M', TRACE_LOG},
};

static bool is_wanted(const struct tracejob *t, char origin)
{
    switch (origin) {
    case 'A':
        return !t->no_accounting;
    case 'S':
        return !t->no_server;
    case 'L':
        return !t->no_sched;
    default:
        return !t->no_mom;
    }
}

static int read_file(const struct tracejob *t, const char *path, const struct tracejob_place *p,
                     struct trace_log *log, const struct jobid *id)
{
    FILE *in = fopen(path, "re");
    int rc;

    if (t->verbose)
        fprintf(stderr, "%s: %s\n", path, in ? "reading" : strerror(errno));
    if (!in)
        return 0;
    rc = trace_log_read(log, in, p->kind, p->origin, id);
    fclose(in);
    return rc;
}

static int read_place(const struct tracejob *t, const char *home, const char *day,
                      const struct tracejob_place *p, struct trace_log *log, const struct jobid *id)
{
    char pattern[PATH_MAX];
    glob_t found;
    size_t i;
    int rc = 0;

    if ((size_t)snprintf(pattern, sizeof pattern, "%s/%s/%s", home, p->pattern, day) >= sizeof pattern ||
        glob(pattern, 0, NULL, &found) != 0)
        return 0;
    for (i = 0; i < found.gl_pathc && rc == 0; i++)
        rc = read_file(t, found.gl_pathv[i], p, log, id);
    globfree(&found);
    return rc;
}

/* Format the day `ago` days before today as YYYYMMDD. */
static void day_name(long ago, char out[static 16])
{
    time_t now = time(NULL);
    struct tm tm;

    out[0] = '\0';
    if (!localtime_r(&now, &tm))
        return;
    tm.tm_mday -= (int)ago;
    tm.tm_hour = 12; /* far from any change to or from summer time */
    tm.tm_isdst = -1;
    mktime(&tm);
    strftime(out, 16, "%Y%m%d", &tm);
}

static int tracejob_read_all(const struct tracejob *t, const char *home, struct trace_log *log,
                             const struct jobid *id)
{
    char day[16];
    long ago;
    size_t i;

    for (ago = t->days - 1; ago >= 0; ago--) {
        day_name(ago, day);
        for (i = 0; i < sizeof places / sizeof places[0]; i++)
            if (is_wanted(t, places[i].origin) && read_place(t, home, day, &places[i], log, id) < 0)
                return -1;
    }
    trace_log_sort(log);
    return 0;
}

/* --- output ------------------------------------------------------------------------------------------------- */

static long columns(const struct tracejob *t)
{
    return t->columns ? t->columns : (long)term_out_width(STDOUT_FILENO);
}

/* Write the text from column `indent` on, broken at blanks where it would pass the width (0: never). */
static void put_wrapped(const char *text, size_t indent, long width)
{
    const size_t room = width > (long)indent + 20 ? (size_t)width - indent : 0;

    while (room && strlen(text) > room) {
        size_t n = room;

        while (n && text[n] != ' ')
            n--;
        n = n ? n : room;
        term_out_text_n(stdout, text, n);
        putchar('\n');
        term_out_blanks(stdout, indent);
        text += n + (text[n] == ' ');
    }
    term_out_text(stdout, text);
    putchar('\n');
}

static void tracejob_show(const struct tracejob *t, const struct trace_log *log, const char *id)
{
    const size_t limit = (size_t)t->limit;
    int time_width = PLAIN_TIME;
    size_t i;

    for (i = 0; i < log->n; i++)
        if (strchr(log->line[i].when, '.'))
            time_width = LONG_TIME;
    printf("\nJob: %s\n\n", id);
    for (i = 0; i < log->n; i++) {
        if (!t->unlimited && trace_log_is_excess(log, i, limit))
            continue;
        printf("%-*s %-5c", time_width, log->line[i].when, log->line[i].origin);
        put_wrapped(log->line[i].text, (size_t)time_width + 6, columns(t));
    }
}

/* An array of lines under the job's identifier: the source as a word, its time and text as in the file. */
static void tracejob_show_json(struct tracejob *t, const struct trace_log *log, const char *id)
{
    static const struct {
        char origin;
        const char *word;
    } sources[] = {{'A', "accounting"}, {'S', "server"}, {'L', "scheduler"}, {'M', "mom"}};

    json_out_open(&t->out, id, '[');
    for (size_t i = 0; i < log->n; i++) {
        if (!t->unlimited && trace_log_is_excess(log, i, (size_t)t->limit))
            continue;
        json_out_open(&t->out, NULL, '{');
        json_out_string(&t->out, "time", log->line[i].when);
        for (size_t k = 0; k < sizeof sources / sizeof sources[0]; k++)
            if (sources[k].origin == log->line[i].origin)
                json_out_string(&t->out, "source", sources[k].word);
        json_out_string(&t->out, "text", log->line[i].text);
        json_out_close(&t->out, '}');
    }
    json_out_close(&t->out, ']');
}

static int trace(struct tracejob *t, const char *home, const char *operand)
{
    struct trace_log log = {.hidden = t->hidden};
    struct operand_job job;
    struct jobid id;
    int rc = 1;

    if (operand_job(&t->a, operand, &job) < 0 || jobid_parse(operand, &id, NULL) < 0)
        return 1;
    if (tracejob_read_all(t, home, &log, &id) < 0)
        cmd_error(&t->a, "no memory");
    else if (!log.n)
        cmd_error(&t->a, "Couldn't find Job Id %s in logs of past %ld day%s", job.shown, t->days,
                  t->days == 1 ? "" : "s");
    else
        rc = 0;
    if (rc == 0 && t->json)
        tracejob_show_json(t, &log, job.shown);
    else if (rc == 0)
        tracejob_show(t, &log, job.shown);
    trace_log_fini(&log);
    return rc;
}

static int tracejob_run(void *settings, int n, char *operands[])
{
    struct tracejob *t = settings;
    struct conf *conf = NULL;
    struct err e;
    int i, rc = 0;

    if (!n)
        return cmd_usage(&t->a);
    t->days = t->days ? t->days : 1;
    t->limit = t->limit ? t->limit : DEFAULT_LIMIT;
    if (!t->home) {
        conf = conf_load(&e);
        if (!conf)
            return -cmd_error(&t->a, "%s", e.text);
    }
    if (t->json) {
        json_out_begin(&t->out, stdout);
        json_out_open(&t->out, "jobs", '{');
    }
    for (i = 0; i < n; i++)
        rc |= trace(t, t->home ? t->home : conf_text(conf, CONF_PBS_HOME), operands[i]);
    if (t->json) {
        json_out_close(&t->out, '}');
        json_out_end(&t->out);
    }
    conf_destroy(conf);
    return rc;
}

const struct cmd command = {
    .options = {.program = "tracejob", .operands = "job_identifier...", CMD_ROWS(rows)},
    .usage =
        "usage: tracejob [-a|s|l|m|v] [-w size] [-p path] [-n days] [-f filter_type] job_identifier...\n",
    .usage_exit = 1,
    .size = sizeof(struct tracejob),
    .run = tracejob_run,
};
