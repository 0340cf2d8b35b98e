/* The server gives a node's jobs as one text with an entry for each slot, so a job may be listed many times: jobs are
 * counted and shown once, by looking back over the text. What is free is total less assigned, computed here; the
 * server does not send it. Titles, widths and order of columns are PBS's, since scripts cut them by column. */
#include "node_show.h"

#include <stdlib.h>
#include <string.h>

#include "jobid_set.h"
#include "job_show.h"
#include "json_out.h"
#include "status_out.h"
#include "term_out.h"
#include "units.h"

enum { CELL = 128 };

void node_show_record(FILE *f, const struct batch_status *node)
{
    static const struct status_full how = {.head = "", .indent = "     ", .unfolded = true};

    status_out_full(f, &how, node);
}

void node_show_dsv(FILE *f, const char *delimiter, const struct batch_status *node)
{
    status_out_dsv(f, "Name=", delimiter, node);
}

static const char *node_show_value(const struct batch_status *n, const char *name, const char *resource)
{
    return attrs_value(n->attribs, name, resource);
}

/* --- jobs on it --------------------------------------------------------------------------------------------- */

/* Return the next job of "41.svr1/0, 42.svr1/1": its name without slot, of *n bytes; NULL: the end. */
static const char *next_job(const char **at, size_t *n)
{
    const char *s = *at ? *at + strspn(*at, ", ") : "";
    size_t len = strcspn(s, ",");

    if (!*s)
        return NULL;
    *n = strcspn(s, "/,");
    *at = s + len;
    return s;
}

/* Return true if the list names the same job before `job`. A job has one entry for each slot. */
static bool is_repeated(const char *list, const char *job, size_t n)
{
    const char *at = list, *other;
    size_t len;

    while ((other = next_job(&at, &len)) && other < job)
        if (len == n && !strncmp(other, job, n))
            return true;
    return false;
}

static long count_jobs(const char *list)
{
    const char *at = list, *job;
    long count = 0;
    size_t n;

    while ((job = next_job(&at, &n)))
        count += !is_repeated(list, job, n);
    return count;
}

/* Format the job names, each once, with commas; "--" if there are none. */
static const char *job_names(const char *list, char *out, size_t size)
{
    const char *at = list, *job;
    size_t len = 0, n;

    out[0] = '\0';
    while ((job = next_job(&at, &n)) && len + n + 2 < size)
        if (!is_repeated(list, job, n))
            len += (size_t)snprintf(out + len, size - len, "%s%.*s", len ? "," : "", (int)n, job);
    return len ? out : "--";
}

/* --- JSON --------------------------------------------------------------------------------------------------- */

/* An assigned amount of 0 is left out. `jobs` is written separately, as an array. */
static bool node_show_omit(const struct attrl *a)
{
    if (!strcmp(a->name, ATTR_NODE_jobs))
        return true;
    if (strcmp(a->name, ATTR_rescassn) != 0 || !a->value)
        return false;
    return !strcmp(a->value, "0") || !strcmp(a->value, "0kb") || !strcmp(a->value, "0b");
}

static void json_jobs(struct json_out *j, const char *list)
{
    const char *at = list, *job;
    char name[PBS_MAXSVRJOBID + 1];
    size_t n;

    json_out_open(j, "jobs", '[');
    while ((job = next_job(&at, &n)))
        if (!is_repeated(list, job, n)) {
            snprintf(name, sizeof name, "%.*s", (int)n, job);
            json_out_string(j, NULL, name);
        }
    json_out_close(j, ']');
}

void node_show_json(struct json_out *j, const struct batch_status *node)
{
    const char *jobs = node_show_value(node, ATTR_NODE_jobs, NULL);

    status_out_json_open(j, node, node_show_omit);
    if (jobs && *jobs)
        json_jobs(j, jobs);
    json_out_close(j, '}');
}

/* --- down --------------------------------------------------------------------------------------------------- */

bool node_show_is_down(const struct batch_status *node)
{
    const char *state = node_show_value(node, ATTR_NODE_state, NULL);

    return state && (strstr(state, "down") || strstr(state, "offline"));
}

void node_show_down(FILE *f, const struct batch_status *node)
{
    const char *comment = node_show_value(node, ATTR_comment, NULL);

    term_out_whole_left(f, node->name, 20);
    fprintf(f, " %s ", node_show_value(node, ATTR_NODE_state, NULL));
    term_out_text(f, comment ? comment : "");
    putc('\n', f);
}

/* --- tables ------------------------------------------------------------------------------------------------- */

static const char *or_dashes(const char *text)
{
    return text && *text ? text : "--";
}

/* Format "free/total" of one resource: "6/8"; amounts of memory in a short unit. */
static const char *free_of_total(const struct batch_status *n, const char *resource, char out[static CELL])
{
    const char *total = node_show_value(n, ATTR_rescavail, resource),
               *used = node_show_value(n, ATTR_rescassn, resource);
    struct units_size t, u = {0};
    char left[JOB_SHOW_TEXT], all[JOB_SHOW_TEXT], text[UNITS_TEXT_MAX];
    uint64_t kb;

    if (!total)
        return "0/0";
    if (strcmp(resource, "mem") != 0) {
        snprintf(out, CELL, "%lld/%s", atoll(total) - (used ? atoll(used) : 0), total);
        return out;
    }
    if (units_parse_size(total, &t, NULL) < 0 || (used && units_parse_size(used, &u, NULL) < 0))
        return "--";
    kb = units_size_kb(t) > units_size_kb(u) ? units_size_kb(t) - units_size_kb(u) : 0;
    units_format_size(text, units_size_of_kb(kb));
    snprintf(out, CELL, "%s/%s", job_show_memory(text, JOB_SHOW_OWN, left),
             job_show_memory(total, JOB_SHOW_OWN, all));
    return out;
}

/* One column: title, width, source. */
struct node_show_column {
    const char *title, *key; /* title of the table; key of JSON */
    const char *name, *resource;
    int width; /* negative: left; 0: the last one, of any width */
};

static const struct node_show_column plain[] = {
    {"OS", "OS", ATTR_rescavail, "OS", -8},         {"hardware", "hardware", ATTR_rescavail, "hardware", -8},
    {"host", "host", ATTR_rescavail, "host", -15},  {"queue", "queue", ATTR_queue, NULL, -10},
    {"mem", "Memory", ATTR_rescavail, "mem", 8},    {"ncpus", "ncpus", ATTR_rescavail, "ncpus", 7},
    {"nmics", "nmics", ATTR_rescavail, "nmics", 7}, {"ngpus", "ngpus", ATTR_rescavail, "ngpus", 7},
    {"comment", "comment", ATTR_comment, NULL, 0},
};

enum { N_PLAIN = sizeof plain / sizeof plain[0] };

void node_show_heading(FILE *f, bool jobs)
{
    if (jobs)
        fputs(
            "                                                        mem       ncpus   nmics   ngpus\n"
            "vnode           state           njobs   run   susp      f/t        f/t     f/t     f/t   jobs\n"
            "--------------- --------------- ------ ----- ------ ------------ ------- ------- ------- -------\n",
            f);
    else
        fputs(
            "vnode           state           OS       hardware host            queue        mem     ncpus   nmics   "
            "ngpus  comment\n"
            "--------------- --------------- -------- -------- --------------- ---------- -------- ------- ------- "
            "------- ---------\n",
            f);
}

static const char *cell(const struct batch_status *n, const struct node_show_column *c, char out[static CELL])
{
    const char *v = node_show_value(n, c->name, c->resource);

    if (v && c->resource && !strcmp(c->resource, "mem"))
        return or_dashes(job_show_memory(v, JOB_SHOW_OWN, out));
    if (!v && c->resource && c->width > 0 && strcmp(c->resource, "ncpus") != 0)
        return "0";
    return or_dashes(v);
}

static void node_show_put_left(FILE *f, const char *text, size_t width, bool whole)
{
    if (whole)
        term_out_whole_left(f, text, width);
    else
        term_out_left(f, text, width);
    putc(' ', f);
}

static void node_show_put_right(FILE *f, const char *text, size_t width)
{
    if (strlen(text) > width)
        term_out_text(f, text);
    else
        term_out_right(f, text, width);
    putc(' ', f);
}

static void put_names(FILE *f, const struct batch_status *n, bool whole)
{
    const char *state = or_dashes(node_show_value(n, ATTR_NODE_state, NULL));
    char first[CELL];

    node_show_put_left(f, n->name, 15, whole);
    snprintf(first, sizeof first, "%.*s", (int)strcspn(state, ","), state);
    node_show_put_left(f, whole ? state : first, 15, whole);
}

/* Count the jobs on a node, and those that run; the others are suspended. */
static void job_counts(const struct batch_status *n, const struct jobid_set *suspended, long *all,
                       long *running)
{
    const char *list = node_show_value(n, ATTR_NODE_jobs, NULL), *at = list, *job;
    char id[PBS_MAXSVRJOBID + 1];
    size_t len;

    *all = *running = count_jobs(list);
    while ((job = next_job(&at, &len))) {
        snprintf(id, sizeof id, "%.*s", (int)len, job);
        *running -= !is_repeated(list, job, len) && jobid_set_has(suspended, id);
    }
}

/* The resources of -Sj, and their keys in DSV and JSON. */
static const char *const keys[] = {"mem f/t", "ncpus f/t", "nmics f/t", "ngpus f/t"};
static const char *const resources[] = {"mem", "ncpus", "nmics", "ngpus"};

static void row_of_jobs(FILE *f, const struct batch_status *n, const struct jobid_set *suspended)
{
    char text[CELL], jobs[4096];
    long all, running;
    int i;

    job_counts(n, suspended, &all, &running);
    fprintf(f, "%6ld %5ld %6ld ", all, running, all - running);
    for (i = 0; i < 4; i++)
        node_show_put_right(f, free_of_total(n, resources[i], text), i ? 7 : 12);
    term_out_text(f, job_names(node_show_value(n, ATTR_NODE_jobs, NULL), jobs, sizeof jobs));
    putc('\n', f);
}

void node_show_row(FILE *f, const struct batch_status *node, const struct jobid_set *suspended, bool whole)
{
    char text[CELL];
    int i;

    put_names(f, node, whole);
    if (suspended) {
        row_of_jobs(f, node, suspended);
        return;
    }
    for (i = 0; i < N_PLAIN - 1; i++)
        if (plain[i].width < 0)
            node_show_put_left(f, cell(node, &plain[i], text), (size_t)-plain[i].width, whole);
        else
            node_show_put_right(f, cell(node, &plain[i], text), (size_t)plain[i].width);
    term_out_text(f, cell(node, &plain[N_PLAIN - 1], text));
    putc('\n', f);
}

static void dsv_jobs(FILE *f, const char *delimiter, const struct batch_status *node,
                     const struct jobid_set *suspended)
{
    char text[CELL], jobs[4096];
    long all, running;
    int i;

    job_counts(node, suspended, &all, &running);
    fprintf(f, "%sTotal Jobs=%ld%sRunning Jobs=%ld%sSuspended Jobs=%ld", delimiter, all, delimiter, running,
            delimiter, all - running);
    for (i = 0; i < 4; i++) {
        fprintf(f, "%s%s=", delimiter, keys[i]);
        status_out_dsv_value(f, free_of_total(node, resources[i], text), delimiter);
    }
    fprintf(f, "%sjobs=", delimiter);
    status_out_dsv_value(f, job_names(node_show_value(node, ATTR_NODE_jobs, NULL), jobs, sizeof jobs),
                         delimiter);
}

void node_show_row_dsv(FILE *f, const char *delimiter, const struct batch_status *node,
                       const struct jobid_set *suspended)
{
    char text[CELL];
    int i;

    fprintf(f, "Name=%s%sState=", node->name, delimiter);
    status_out_dsv_value(f, or_dashes(node_show_value(node, ATTR_NODE_state, NULL)), delimiter);
    for (i = 0; !suspended && i < N_PLAIN; i++) {
        fprintf(f, "%s%s=", delimiter, plain[i].key);
        status_out_dsv_value(f, cell(node, &plain[i], text), delimiter);
    }
    if (suspended)
        dsv_jobs(f, delimiter, node, suspended);
    putc('\n', f);
}

void node_show_row_json(struct json_out *j, const struct batch_status *node,
                        const struct jobid_set *suspended)
{
    char text[CELL];
    long all, running;
    int i;

    json_out_open(j, node->name, '{');
    json_out_string(j, "State", or_dashes(node_show_value(node, ATTR_NODE_state, NULL)));
    if (suspended) {
        job_counts(node, suspended, &all, &running);
        json_out_number(j, "Total Jobs", all);
        json_out_number(j, "Running Jobs", running);
        json_out_number(j, "Suspended Jobs", all - running);
        for (i = 0; i < 4; i++)
            json_out_string(j, keys[i], free_of_total(node, resources[i], text));
        json_jobs(j, node_show_value(node, ATTR_NODE_jobs, NULL));
    } else {
        for (i = 0; i < N_PLAIN; i++)
            json_out_any(j, plain[i].key, cell(node, &plain[i], text));
    }
    json_out_close(j, '}');
}
