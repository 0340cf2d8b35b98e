/* tracejob: show what the daemons wrote about jobs, in one order. It reads files of this host and asks no server.
 *
 * The lines about the job are collected from all files (trace_files.c), and shown. A message that repeats itself is shown a limited
 * number of times. */
#include <errno.h>
#include <unistd.h>

#include "cmd.h"
#include "conf.h"
#include "json_out.h"
#include "operand.h"
#include "term_out.h"
#include "trace_files.h"
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

/* Letters of the sources that are wanted. */
static const char *tracejob_origins(const struct tracejob *t, char out[static 8])
{
    snprintf(out, 8, "%s%s%s%s", t->no_accounting ? "" : "A", t->no_server ? "" : "S", t->no_sched ? "" : "L",
             t->no_mom ? "" : "M");
    return out;
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

static int trace(struct tracejob *t, const char *home, const char *operand)
{
    struct trace_log log = {.hidden = t->hidden};
    char origins[8];
    struct trace_files files = {.home = home,
                                .origins = tracejob_origins(t, origins),
                                .days = t->days,
                                .verbose = t->verbose ? stderr : NULL};
    struct operand_job job;
    struct jobid id;
    int rc = 1;

    if (operand_job(&t->a, operand, &job) < 0 || jobid_parse(operand, &id, NULL) < 0)
        return 1;
    if (trace_files_read(&files, &log, &id) < 0)
        cmd_error(&t->a, "no memory");
    else if (!log.n)
        cmd_error(&t->a, "Couldn't find Job Id %s in logs of past %ld day%s", job.shown, t->days,
                  t->days == 1 ? "" : "s");
    else
        rc = 0;
    if (rc == 0 && t->json)
        trace_files_json(&t->out, job.shown, &log, t->unlimited ? 0 : (size_t)t->limit);
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
