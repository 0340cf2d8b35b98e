/* For each day and each place the file is read from its beginning. Memory is needed for the lines about one job, not for the logs. */
#include "trace_files.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "json_out.h"
#include "trace_log.h"

/* The directories of logs below a home: patterns, because schedulers have names, and a private complex keeps its
 * MOMs' homes beside the server's. */
static const struct trace_files_place {
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

static int trace_files_read_one(struct trace_files *f, const char *path, const struct trace_files_place *p,
                                struct trace_log *log, const struct jobid *id)
{
    FILE *in = fopen(path, "re");
    int rc;

    if (f->verbose)
        fprintf(f->verbose, "%s: %s\n", path, in ? "reading" : strerror(errno));
    if (!in) {
        f->n_kept++;
        return 0;
    }
    f->n_read++;
    rc = trace_log_read(log, in, p->kind, p->origin, id);
    fclose(in);
    return rc;
}

static int trace_files_read_place(struct trace_files *f, const char *day, const struct trace_files_place *p,
                                  struct trace_log *log, const struct jobid *id)
{
    char pattern[PATH_MAX];
    glob_t found;
    size_t i;
    int rc = 0;

    if ((size_t)snprintf(pattern, sizeof pattern, "%s/%s/%s", f->home, p->pattern, day) >= sizeof pattern ||
        glob(pattern, 0, NULL, &found) != 0)
        return 0;
    for (i = 0; i < found.gl_pathc && rc == 0; i++)
        rc = trace_files_read_one(f, found.gl_pathv[i], p, log, id);
    globfree(&found);
    return rc;
}

/* Format the day `ago` days before today as YYYYMMDD. */
static void trace_files_day(long ago, char out[static 16])
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

int trace_files_read(struct trace_files *f, struct trace_log *log, const struct jobid *id)
{
    char day[16];
    long ago;
    size_t i;

    for (ago = f->days - 1; ago >= 0; ago--) {
        trace_files_day(ago, day);
        for (i = 0; i < sizeof places / sizeof places[0]; i++)
            if (strchr(f->origins, places[i].origin) &&
                trace_files_read_place(f, day, &places[i], log, id) < 0)
                return -1;
    }
    trace_log_sort(log);
    return 0;
}

void trace_files_json(struct json_out *j, const char *name, const struct trace_log *log, size_t limit)
{
    static const struct {
        char origin;
        const char *word;
    } sources[] = {{'A', "accounting"}, {'S', "server"}, {'L', "scheduler"}, {'M', "mom"}};

    json_out_open(j, name, '[');
    for (size_t i = 0; i < log->n; i++) {
        if (limit && trace_log_is_excess(log, i, limit))
            continue;
        json_out_open(j, NULL, '{');
        json_out_string(j, "time", log->line[i].when);
        for (size_t k = 0; k < sizeof sources / sizeof sources[0]; k++)
            if (sources[k].origin == log->line[i].origin)
                json_out_string(j, "source", sources[k].word);
        json_out_string(j, "text", log->line[i].text);
        json_out_close(j, '}');
    }
    json_out_close(j, ']');
}
