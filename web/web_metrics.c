/* One row of text for each number. Names of queues are written by people, so every label is escaped. Four questions to the server
 * (queues, nodes, reservations, what it has counted), whose cost does not depend on the number of jobs. */
#include "web_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "attrs.h"
#include "clock.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "units.h"
#include "web_call.h"
#include "web_pbs.h"
#include "web_watch.h"

enum { CLASSES = 6, SECONDS_BOUNDS = 8 };

/* --- requests of this service ------------------------------------------------------------------------------------- */

static const double bounds_s[SECONDS_BOUNDS] = {0.001, 0.005, 0.02, 0.1, 0.3, 1, 5, 30};
static struct {
    uint64_t by_class[CLASSES];            /* 2: 200 to 299 */
    uint64_t took[SECONDS_BOUNDS + 1], us; /* a histogram of seconds, and their sum */
} answered;                                /* of the process: every thread adds to it, atomically */

void web_metrics_answered(unsigned status, int64_t us)
{
    int i = 0;

    while (i < SECONDS_BOUNDS && (double)us / 1e6 > bounds_s[i])
        i++;
    __atomic_fetch_add(&answered.by_class[status / 100 % CLASSES], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&answered.took[i], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&answered.us, (uint64_t)us, __ATOMIC_RELAXED);
}

/* --- text ---------------------------------------------------------------------------------------------------------- */

static void web_metrics_family(FILE *f, const char *name, const char *type, const char *help)
{
    fprintf(f, "# TYPE %s %s\n# HELP %s %s\n", name, type, name, help);
}

static void web_metrics_label(FILE *f, const char *text)
{
    for (; *text; text++)
        if (*text == '\\' || *text == '"')
            fprintf(f, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", f);
        else
            fputc(*text, f);
}

static void web_metrics_histogram(FILE *f, const char *name, const double *bounds, const uint64_t *in,
                                  size_t n, double sum)
{
    uint64_t count = 0;

    for (size_t i = 0; i <= n; i++) {
        count += in[i];
        if (i < n)
            fprintf(f, "%s_bucket{le=\"%g\"} %llu\n", name, bounds[i], (unsigned long long)count);
        else
            fprintf(f, "%s_bucket{le=\"+Inf\"} %llu\n", name, (unsigned long long)count);
    }
    fprintf(f, "%s_sum %.6g\n%s_count %llu\n", name, sum, name, (unsigned long long)count);
}

/* --- what there is now ----------------------------------------------------------------------------------------------- */

struct web_metrics_now {
    struct batch_status *queues, *nodes, *resvs;
    struct batch_status *counts; /* NULL: the server is of a version that does not count */
    int64_t took_us;
};

static struct batch_status *
web_metrics_stat(int c, struct batch_status *(*stat)(int, const char *, struct attrl *, const char *),
                 const char *const names[][2], bool *failed)
{
    struct attrs wanted = {0};
    struct batch_status *found;

    for (; (*names)[0]; names++)
        attrs_add(&wanted, (*names)[0], (*names)[1], "", SET);
    found = stat(c, NULL, attrs_attrl(&wanted), NULL);
    *failed = *failed || (!found && pbs_errno);
    attrs_fini(&wanted);
    return found;
}

static void web_metrics_free(struct web_metrics_now *now)
{
    pbs_statfree(now->queues);
    pbs_statfree(now->nodes);
    pbs_statfree(now->resvs);
    pbs_statfree(now->counts);
    *now = (struct web_metrics_now){0};
}

/* False: the server is away; there is nothing to be shown of it. */
static bool web_metrics_ask(struct web_call *w, struct web_metrics_now *now)
{
    static const char *const of_queue[][2] = {{ATTR_count, NULL}, {NULL, NULL}};
    static const char *const of_node[][2] = {{ATTR_NODE_state, NULL}, {ATTR_rescavail, "ncpus"},
                                             {ATTR_rescavail, "mem"}, {ATTR_rescassn, "ncpus"},
                                             {ATTR_rescassn, "mem"},  {NULL, NULL}};
    static const char *const of_resv[][2] = {{ATTR_resv_state, NULL}, {NULL, NULL}};

    for (int tries = 0; tries < 2; tries++) {
        int64_t begun = clock_real_mono_us();
        int c = web_pbs_connect(w);
        bool failed = c < 0;

        if (!failed)
            now->queues = web_metrics_stat(c, pbs_statque, of_queue, &failed);
        if (!failed)
            now->nodes = web_metrics_stat(c, pbs_statvnode, of_node, &failed);
        if (failed && pbs_errno == PBSE_NONODES)
            failed = false;
        if (!failed)
            now->resvs = web_metrics_stat(c, pbs_statresv, of_resv, &failed);
        if (!failed && !(now->counts = pbs_statcounts(c, NULL)))
            web_pbs_lost(); /* the next question gets a connection that is whole */
        now->took_us = clock_real_mono_us() - begun;
        if (!failed)
            return true;
        web_metrics_free(now);
        if (c < 0 || !web_pbs_lost())
            return false;
    }
    return false;
}

/* "Transit:0 Queued:3 Held:1 ..." */
static void web_metrics_jobs(FILE *f, const struct batch_status *queues)
{
    web_metrics_family(f, "pbs_jobs", "gauge", "Jobs by queue and state.");
    for (; queues; queues = queues->next) {
        const char *at = attrs_value(queues->attribs, ATTR_count, NULL);
        char state[32];
        unsigned long n;
        int used;

        while (at && sscanf(at, " %31[A-Za-z]:%lu%n", state, &n, &used) == 2) {
            fputs("pbs_jobs{queue=\"", f);
            web_metrics_label(f, queues->name);
            fprintf(f, "\",state=\"%s\"} %lu\n", state, n);
            at += used;
        }
    }
}

/* "4" or "8gb". */
static int64_t web_metrics_size(const struct attrl *a, const char *name, const char *resource)
{
    const char *text = attrs_value(a, name, resource);
    struct units_size size;

    return text && units_parse_size(text, &size, NULL) == 0 ? (int64_t)units_size_bytes(size) : 0;
}

struct web_metrics_room {
    int64_t total, used, away; /* away: of hosts that take no job */
};

static void web_metrics_add(struct web_metrics_room *r, const struct attrl *a, const char *resource,
                            bool is_up)
{
    int64_t has = web_metrics_size(a, ATTR_rescavail, resource),
            used = web_metrics_size(a, ATTR_rescassn, resource);

    r->total += has;
    r->used += used;
    if (!is_up)
        r->away += has > used ? has - used : 0;
}

static void web_metrics_room(FILE *f, const char *name, const char *help, const struct web_metrics_room *r)
{
    web_metrics_family(f, name, "gauge", help);
    fprintf(f, "%s{state=\"total\"} %lld\n%s{state=\"used\"} %lld\n", name, (long long)r->total, name,
            (long long)r->used);
    fprintf(f, "%s{state=\"free\"} %lld\n%s{state=\"unavailable\"} %lld\n", name,
            (long long)(r->total - r->used - r->away), name, (long long)r->away);
}

static void web_metrics_nodes(FILE *f, const struct batch_status *nodes)
{
    struct web_metrics_room cpus = {0}, memory = {0};
    unsigned long up = 0, down = 0, offline = 0;

    for (; nodes; nodes = nodes->next) {
        const char *state = attrs_value(nodes->attribs, ATTR_NODE_state, NULL);
        bool is_down = state && (strstr(state, "down") || strstr(state, "unknown") || strstr(state, "stale"));
        bool is_offline = state && (strstr(state, "offline") || strstr(state, "maintenance"));

        down += is_down;
        offline += !is_down && is_offline;
        up += !is_down && !is_offline;
        web_metrics_add(&cpus, nodes->attribs, "ncpus", !is_down && !is_offline);
        web_metrics_add(&memory, nodes->attribs, "mem", !is_down && !is_offline);
    }
    web_metrics_family(f, "pbs_nodes", "gauge", "Vnodes by what their MOM and the site say of them.");
    fprintf(f,
            "pbs_nodes{state=\"up\"} %lu\npbs_nodes{state=\"down\"} %lu\npbs_nodes{state=\"offline\"} %lu\n",
            up, down, offline);
    web_metrics_room(f, "pbs_cpus", "Processors of all vnodes.", &cpus);
    web_metrics_room(f, "pbs_memory_bytes", "Memory of all vnodes.", &memory);
}

static void web_metrics_resvs(FILE *f, const struct batch_status *resvs)
{
    static const char *const names[] = {"NONE",        "UNCONFIRMED",   "CONFIRMED", "WAIT",
                                        "TIME_TO_RUN", "RUNNING",       "FINISHED",  "BEING_DELETED",
                                        "DELETED",     "DELETING_JOBS", "DEGRADED",  "BEING_ALTERED",
                                        "IN_CONFLICT"};
    enum { N = sizeof names / sizeof *names };
    unsigned long n[N] = {0};

    for (; resvs; resvs = resvs->next) {
        const char *state = attrs_value(resvs->attribs, ATTR_resv_state, NULL);
        long i = state ? strtol(state, NULL, 10) : 0;

        if (i >= 0 && i < N)
            n[i]++;
    }
    web_metrics_family(f, "pbs_reservations", "gauge", "Reservations by state.");
    for (int i = 1; i < N; i++)
        if (n[i] || i == RESV_CONFIRMED || i == RESV_RUNNING)
            fprintf(f, "pbs_reservations{state=\"%s\"} %lu\n", names[i], n[i]);
}

/* --- what the server has counted --------------------------------------------------------------------------------------- */

/* What an entry is named by, and the label that the rest of its name is; a family that has none is one entry. */
struct web_metrics_series {
    const char *entry, *label;
};

/* What the label says of this entry, "" where there is none; NULL: it is of another series. */
static const char *web_metrics_of_entry(const struct batch_status *b, const struct web_metrics_series *s)
{
    size_t n = strlen(s->entry);

    if (strncmp(b->name, s->entry, n) != 0 || b->name[n] != (s->label ? ':' : '\0'))
        return NULL;
    return b->name + n + (s->label ? 1 : 0);
}

/* NAME{LABEL="...",key="..."} value */
static void web_metrics_sample(FILE *f, const char *name, const struct web_metrics_series *s, const char *of,
                               const char *key, const struct attrl *a)
{
    fprintf(f, "%s%s", name, s->label || key ? "{" : "");
    if (s->label) {
        fprintf(f, "%s=\"", s->label);
        web_metrics_label(f, of);
        fputs(key ? "\"," : "\"", f);
    }
    if (key)
        fprintf(f, "%s=\"%s\"", key, a->resource);
    fprintf(f, "%s %s\n", s->label || key ? "}" : "", a->value);
}

/* Each attribute of this name, of each entry of the series. key: the label that its resource is; NULL: it has none. */
static void web_metrics_samples(FILE *f, const char *name, const struct batch_status *b,
                                const struct web_metrics_series *s, const char *attribute, const char *key)
{
    for (; b; b = b->next) {
        const char *of = web_metrics_of_entry(b, s);

        for (const struct attrl *a = of ? b->attribs : NULL; a; a = a->next)
            if (strcmp(a->name, attribute) == 0)
                web_metrics_sample(f, name, s, of, key, a);
    }
}

static void web_metrics_took(FILE *f, const char *family, const char *help, const struct batch_status *counts,
                             const struct web_metrics_series *s)
{
    static const char *const parts[][3] = {
        {"bucket", "took", "le"}, {"sum", "seconds", NULL}, {"count", "count", NULL}};
    char name[64];

    web_metrics_family(f, family, "histogram", help);
    for (; counts; counts = counts->next) {
        struct batch_status one = *counts;

        one.next = NULL; /* all numbers of a series together */
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            snprintf(name, sizeof name, "%s_%s", family, parts[i][0]);
            web_metrics_samples(f, name, &one, s, parts[i][1], parts[i][2]);
        }
    }
}

static void web_metrics_counts(FILE *f, const struct batch_status *counts)
{
    static const struct web_metrics_series request = {"request", "request"}, cycle = {"cycle", "scheduler"},
                                           store = {"store", NULL}, moms = {"moms", NULL},
                                           notices = {"notices", NULL};
    static const struct {
        const char *family, *help;
        const struct web_metrics_series *of;
        const char *attribute, *key;
    } sums[] = {
        {"pbs_scheduler_jobs", "Jobs that cycles have looked at.", &cycle, "jobs", NULL},
        {"pbs_store_rows", "Rows that were written.", &store, "rows", NULL},
        {"pbs_store_bytes", "Bytes of these rows.", &store, "bytes", NULL},
        {"pbs_store_failures", "Batches that could not be written, and were tried again.", &store, "failures",
         NULL},
        {"pbs_preemption_notices", "Jobs that were given notice.", &notices, "given", NULL},
        {"pbs_preemption_notices_withdrawn", "Notices that were taken back.", &notices, "withdrawn", NULL},
        {"pbs_preemption_notice_answers", "Answers of jobs that came in time.", &notices, "answers",
         "answer"},
    };
    char name[64];

    web_metrics_took(
        f, "pbs_server_request_seconds",
        "From a request to the beginning of its answer, waiting for others and for what it asks for "
        "included.",
        counts, &request);
    web_metrics_took(f, "pbs_scheduler_cycle_seconds", "Cycles of schedulers: to decide, not to carry out.",
                     counts, &cycle);
    web_metrics_took(f, "pbs_store_batch_seconds",
                     "Batches of changes, from their beginning until they are on disk.", counts, &store);
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        web_metrics_family(f, sums[i].family, "counter", sums[i].help);
        snprintf(name, sizeof name, "%s_total", sums[i].family);
        web_metrics_samples(f, name, counts, sums[i].of, sums[i].attribute, sums[i].key);
    }
    web_metrics_family(f, "pbs_moms", "gauge", "MOMs that are connected, and those that are not.");
    for (; counts; counts = counts->next) {
        const char *of = web_metrics_of_entry(counts, &moms);

        for (const struct attrl *a = of ? counts->attribs : NULL; a; a = a->next)
            fprintf(f, "pbs_moms{state=\"%s\"} %s\n", a->name, a->value);
    }
}

/* --- what has happened ------------------------------------------------------------------------------------------------- */

static void web_metrics_preemptions(FILE *f, const struct web_watch_counts *c)
{
    web_metrics_family(
        f, "pbs_preemptions", "counter",
        "Jobs that were preempted, by method: S suspended, C checkpointed, Q requeued, D deleted, P made smaller.");
    for (int i = 0; i < WEB_WATCH_METHODS; i++)
        fprintf(f, "pbs_preemptions_total{method=\"%c\"} %llu\n", web_watch_letters[i],
                (unsigned long long)c->preemptions[i]);
    web_metrics_family(f, "pbs_preemption_lost_core_seconds", "counter",
                       "Work that these preemptions have destroyed.");
    for (int i = 0; i < WEB_WATCH_METHODS; i++)
        fprintf(f, "pbs_preemption_lost_core_seconds_total{method=\"%c\"} %.6g\n", web_watch_letters[i],
                c->lost_core_s[i]);
}

static void web_metrics_past(FILE *f, const struct web_watch_counts *c)
{
    web_metrics_family(f, "pbs_job_wait_seconds", "histogram",
                       "From eligible to started, of jobs that were started.");
    web_metrics_histogram(f, "pbs_job_wait_seconds", web_watch_bounds, c->waits, WEB_WATCH_BUCKETS,
                          c->waits_sum_s);
    web_metrics_preemptions(f, c);
    web_metrics_family(f, "pbs_web_changes", "counter", "Changes that the server has told this service.");
    fprintf(f, "pbs_web_changes_total %llu\n", (unsigned long long)c->changes);
}

static void web_metrics_own(FILE *f)
{
    web_metrics_family(f, "pbs_web_requests", "counter",
                       "Requests that this service has answered, by class of status.");
    for (int i = 2; i < CLASSES; i++)
        fprintf(f, "pbs_web_requests_total{class=\"%dxx\"} %llu\n", i,
                (unsigned long long)__atomic_load_n(&answered.by_class[i], __ATOMIC_RELAXED));
    web_metrics_family(f, "pbs_web_request_seconds", "histogram", "From the request to its answer.");
    web_metrics_histogram(f, "pbs_web_request_seconds", bounds_s, answered.took, SECONDS_BOUNDS,
                          (double)answered.us / 1e6);
}

void web_metrics_show(struct web_call *w)
{
    struct web_metrics_now now = {0};
    struct web_watch_counts counts;
    bool up = web_metrics_ask(w, &now);

    if (!web_call_open(w, "application/openmetrics-text; version=1.0.0; charset=utf-8"))
        goto out;
    web_watch_counts(w->watch, &counts);
    web_metrics_family(w->f, "pbs_server_up", "gauge", "1 when the server has answered.");
    fprintf(w->f, "pbs_server_up %d\n", up);
    if (up) {
        web_metrics_family(w->f, "pbs_server_answer_seconds", "gauge",
                           "What its answers for this page have taken together.");
        fprintf(w->f, "pbs_server_answer_seconds %.6f\n", (double)now.took_us / 1e6);
        web_metrics_jobs(w->f, now.queues);
        web_metrics_nodes(w->f, now.nodes);
        web_metrics_resvs(w->f, now.resvs);
        web_metrics_counts(w->f, now.counts);
    }
    web_metrics_past(w->f, &counts);
    web_metrics_own(w->f);
    fputs("# EOF\n", w->f);
    web_call_end(w, 200);
out:
    web_metrics_free(&now);
}
