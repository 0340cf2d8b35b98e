/* pbs_eff: what jobs have used of what they asked for: processors, memory and time. A job of the history is shown like one
 * that runs; of an array each subjob is.
 *
 *   processors   cput / walltime used, of ncpus
 *   memory       mem used, of mem
 *   time         walltime used, of walltime
 *
 * What was not asked for, or is not known, has no number: "-" in the table, no member in JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "attrs.h"
#include "api_error.h"
#include "cmd.h"
#include "each_job.h"
#include "json_out.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "term_out.h"
#include "units.h"

enum { NOT_KNOWN = -1, PERCENT = 100, HUNDREDTHS = 100, KB_PER_MB = 1024 };

struct eff {
    struct cmd_args a;
    bool json;
    bool headed; /* the heading has been printed */
    struct json_out out;
};

static const struct option_row rows[] = {
    CMD_FORMAT(struct eff, json),
};

/* Of one job. NOT_KNOWN: not asked for, or never measured. */
struct eff_amounts {
    const char *state, *exit_status;   /* NULL: none */
    int64_t ncpus, mem_kb, walltime_s; /* asked for */
    int64_t used_cput_s, used_mem_kb, used_walltime_s;
    int64_t asked_cput_s; /* ncpus for the walltime used */
};

static int64_t number_of(const struct batch_status *job, const char *attribute, const char *name)
{
    const char *text = attrs_value(job->attribs, attribute, name);

    return text ? strtoll(text, NULL, 10) : NOT_KNOWN;
}

static int64_t seconds_of(const struct batch_status *job, const char *attribute, const char *name)
{
    const char *text = attrs_value(job->attribs, attribute, name);
    int64_t s;

    return text && units_parse_duration_s(text, &s, NULL) == 0 ? s : NOT_KNOWN;
}

static int64_t kb_of(const struct batch_status *job, const char *attribute, const char *name)
{
    const char *text = attrs_value(job->attribs, attribute, name);
    struct units_size size;

    return text && units_parse_size(text, &size, NULL) == 0 ? (int64_t)units_size_kb(size) : NOT_KNOWN;
}

static void eff_read(const struct batch_status *job, struct eff_amounts *out)
{
    *out = (struct eff_amounts){.state = attrs_value(job->attribs, ATTR_state, NULL),
                                .exit_status = attrs_value(job->attribs, ATTR_exit_status, NULL),
                                .ncpus = number_of(job, ATTR_l, "ncpus"),
                                .mem_kb = kb_of(job, ATTR_l, "mem"),
                                .walltime_s = seconds_of(job, ATTR_l, "walltime"),
                                .used_cput_s = seconds_of(job, ATTR_used, "cput"),
                                .used_mem_kb = kb_of(job, ATTR_used, "mem"),
                                .used_walltime_s = seconds_of(job, ATTR_used, "walltime"),
                                .asked_cput_s = NOT_KNOWN};
    if (out->ncpus > 0 && out->used_walltime_s > 0)
        out->asked_cput_s = out->ncpus * out->used_walltime_s;
}

/* NOT_KNOWN where either is not known, or nothing was asked for. */
static int64_t percent(int64_t used, int64_t asked)
{
    return used < 0 || asked <= 0 ? NOT_KNOWN : (int64_t)((double)used * PERCENT / (double)asked + 0.5);
}

/* --- the table -------------------------------------------------------------------------------------------- */

static const struct {
    const char *head;
    size_t width;
} columns[] = {{"CPUs used", 9}, {"asked", 6},      {"%", 5},      {"Mem used", 10}, {"asked", 10},
               {"%", 5},         {"Time used", 10}, {"asked", 10}, {"%", 5}};

enum { ID_WIDTH = 20, CELL = 32, N_COLUMNS = sizeof columns / sizeof columns[0] };

static void show_head(void)
{
    printf("%-*s S", ID_WIDTH, "Job ID");
    for (size_t i = 0; i < N_COLUMNS; i++)
        printf(" %*s", (int)columns[i].width, columns[i].head);
    putchar('\n');
    for (size_t i = 0; i < ID_WIDTH; i++)
        putchar('-');
    fputs(" -", stdout);
    for (size_t i = 0; i < N_COLUMNS; i++)
        printf(" %.*s", (int)columns[i].width, "--------------------");
    putchar('\n');
}

static void put_cell(size_t column, int64_t known, const char *text)
{
    putchar(' ');
    term_out_right(stdout, known < 0 ? "-" : text, columns[column].width);
}

static const char *whole(char out[static CELL], int64_t n)
{
    snprintf(out, CELL, "%" PRId64, n);
    return out;
}

/* Used and asked in the same unit, so that they can be compared at a glance. */
static const char *megabytes(char out[static CELL], int64_t kb)
{
    snprintf(out, CELL, "%" PRId64 "mb", (kb + KB_PER_MB - 1) / KB_PER_MB);
    return out;
}

static const char *cpus_used(char out[static CELL], const struct eff_amounts *s)
{
    snprintf(out, CELL, "%.2f", (double)s->used_cput_s / (double)s->used_walltime_s);
    return out;
}

static bool ran(const struct eff_amounts *s)
{
    return s->used_cput_s >= 0 && s->used_walltime_s > 0;
}

static void show_row(const char *id, const struct eff_amounts *s)
{
    int64_t cpu = percent(s->used_cput_s, s->asked_cput_s), mem = percent(s->used_mem_kb, s->mem_kb),
            time = percent(s->used_walltime_s, s->walltime_s);
    char text[CELL], duration[UNITS_TEXT_MAX];

    term_out_left(stdout, id, ID_WIDTH);
    printf(" %.1s", s->state ? s->state : "-");
    put_cell(0, ran(s) ? 0 : NOT_KNOWN, ran(s) ? cpus_used(text, s) : "");
    put_cell(1, s->ncpus, whole(text, s->ncpus));
    put_cell(2, cpu, whole(text, cpu));
    put_cell(3, s->used_mem_kb, megabytes(text, s->used_mem_kb));
    put_cell(4, s->mem_kb, megabytes(text, s->mem_kb));
    put_cell(5, mem, whole(text, mem));
    put_cell(6, s->used_walltime_s,
             s->used_walltime_s < 0 ? "" : units_format_duration(duration, s->used_walltime_s));
    put_cell(7, s->walltime_s, s->walltime_s < 0 ? "" : units_format_duration(duration, s->walltime_s));
    put_cell(8, time, whole(text, time));
    putchar('\n');
}

/* --- JSON ------------------------------------------------------------------------------------------------- */

static void put_number(struct json_out *j, const char *key, int64_t n)
{
    if (n >= 0)
        json_out_number(j, key, n);
}

static void show_object(struct json_out *j, const char *id, const struct eff_amounts *s)
{
    char text[CELL];

    json_out_open(j, id, '{');
    if (s->state)
        json_out_string(j, "state", s->state);
    if (s->exit_status)
        json_out_any(j, "exit_status", s->exit_status);
    json_out_open(j, "cpus", '{');
    if (ran(s))
        json_out_any(j, "used", cpus_used(text, s));
    put_number(j, "asked", s->ncpus);
    put_number(j, "percent", percent(s->used_cput_s, s->asked_cput_s));
    put_number(j, "used_cput_s", s->used_cput_s);
    json_out_close(j, '}');
    json_out_open(j, "memory", '{');
    put_number(j, "used_kb", s->used_mem_kb);
    put_number(j, "asked_kb", s->mem_kb);
    put_number(j, "percent", percent(s->used_mem_kb, s->mem_kb));
    json_out_close(j, '}');
    json_out_open(j, "time", '{');
    put_number(j, "used_s", s->used_walltime_s);
    put_number(j, "asked_s", s->walltime_s);
    put_number(j, "percent", percent(s->used_walltime_s, s->walltime_s));
    json_out_close(j, '}');
    json_out_close(j, '}');
}

/* ---------------------------------------------------------------------------------------------------------- */

static void show_job(struct eff *q, const struct batch_status *job)
{
    struct eff_amounts s;

    eff_read(job, &s);
    if (q->json) {
        show_object(&q->out, job->name, &s);
        return;
    }
    if (!q->headed)
        show_head();
    q->headed = true;
    show_row(job->name, &s);
}

/* The entry of an array does not say what its subjobs have used. */
static bool is_array(const struct batch_status *job)
{
    return attrs_value(job->attribs, ATTR_array, NULL) != NULL;
}

/* extend of pbs_statjob: "t" lists the subjobs of an array behind it, "x" asks the history too, where there is one. */
static struct batch_status *fetch(int c, const char *id)
{
    struct batch_status *found;

    pbs_errno = 0;
    found = pbs_statjob(c, id, NULL, "tx");
    if (found || pbs_errno != PBSE_JOBHISTNOTSET)
        return found;
    pbs_errno = 0;
    return pbs_statjob(c, id, NULL, "t");
}

static int eff_show(int c, const char *id, void *arg)
{
    struct batch_status *found = fetch(c, id);

    if (!found)
        return pbs_errno ? -1 : 0;
    for (const struct batch_status *job = found; job; job = job->next)
        if (!is_array(job))
            show_job(arg, job);
    pbs_statfree(found);
    return 0;
}

static int pbs_eff_run(void *settings, int n, char *operands[])
{
    struct eff *q = settings;
    int rc;

    if (!n)
        return cmd_usage(&q->a);
    if (q->json) {
        json_out_begin(&q->out, stdout);
        json_out_open(&q->out, "jobs", '{');
    }
    rc = each_job(&q->a, n, operands, eff_show, q);
    if (q->json) {
        json_out_close(&q->out, '}');
        json_out_end(&q->out);
    }
    return rc;
}

const struct cmd command = {
    .options = {.program = "pbs_eff", .operands = "job_identifier...", CMD_ROWS(rows)},
    .usage = "usage:\n\tpbs_eff [-F json|default] job_identifier...\n",
    .usage_exit = 2,
    .size = sizeof(struct eff),
    .run = pbs_eff_run,
};
