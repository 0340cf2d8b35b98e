/* qstat: show jobs, queues and servers.
 *
 * qstat_run has the steps in order. Options are checked by qstat_options; every operand becomes a target of qstat_fetch,
 * whose objects are fetched in one call and shown by one of the listings (qstat_default, qstat_alternative,
 * qstat_objects, status_out). Only attributes that are shown are asked for. Jobs are shown as they come in, so a full
 * listing of any number of them takes no memory here; only a listing in another order (-T) needs them all. */
#include <strings.h>
#include <unistd.h>

#include "attrs.h"
#include "cmd.h"
#include "operand.h"
#include "jobid_set.h"
#include "json_out.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "qstat_options.h"
#include "qstat_fetch.h"
#include "qstat_objects.h"
#include "qstat_default.h"
#include "qstat_alternative.h"
#include "api_error.h"
#include "conn_pool.h"
#include "status_out.h"
#include "strbuf.h"
#include "term_out.h"

/* -W of POSIX: letters of options that take no value. */
static int qstat_take_letters(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    const struct options *o = &command.options;
    size_t i;

    for (; *value; value++) {
        for (i = 0; i < o->n_rows && o->rows[i].letter != *value; i++)
            ;
        if (i == o->n_rows || o->rows[i].takes != OPTION_ALONE)
            return cmd_bad_value(settings, row);
        o->rows[i].take(settings, &o->rows[i], NULL, e);
    }
    return 0;
}

static int qstat_take_format(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qstat *q = settings;

    q->format_text = value;
    return status_out_format(value, &q->format) < 0 ? cmd_bad_value(&q->a, row) : 0;
}

static const struct option_row rows[] = {
    CMD_FLAG('a', struct qstat, all, "all jobs, in the alternative listing"),
    CMD_FLAG('B', struct qstat, servers, "servers"),
    CMD_TEXT('D', struct qstat, delimiter, "delimiter", "between the fields of -F dsv"),
    CMD_FLAG('E', struct qstat, express, "job identifiers in one request"),
    CMD_FLAG('f', struct qstat, full, "all attributes"),
    {'F', NULL, OPTION_VALUE, "format", "with -f: json, dsv or default", qstat_take_format, 0},
    CMD_FLAG('G', struct qstat, gigabytes, "memory in GB"),
    CMD_FLAG('H', struct qstat, finished, "finished and moved jobs"),
    CMD_FLAG('i', struct qstat, idle, "jobs that do not run"),
    CMD_FLAG('J', struct qstat, arrays, "only arrays; with -t only subjobs"),
    CMD_FLAG('M', struct qstat, megawords, "memory in megawords"),
    CMD_FLAG('n', struct qstat, hosts, "with the hosts of each job"),
    CMD_FLAG('p', struct qstat, percent, "how much of it is done"),
    CMD_FLAG('q', struct qstat, limits, "limits of queues"),
    CMD_FLAG('Q', struct qstat, queues, "queues"),
    CMD_FLAG('r', struct qstat, running, "running and suspended jobs"),
    CMD_FLAG('s', struct qstat, comments, "with the comment of each job"),
    CMD_FLAG('t', struct qstat, subjobs, "subjobs too"),
    CMD_FLAG('T', struct qstat, estimates, "when each will start"),
    CMD_TEXT('u', struct qstat, users, "user_list", "jobs of user[@host],..."),
    CMD_FLAG('w', struct qstat, wide, "wider columns; with -f: lines are not folded"),
    {'W', NULL, OPTION_VALUE, "letters", "these options together", qstat_take_letters, 0},
    CMD_FLAG('x', struct qstat, history, "finished and moved jobs too"),
    CMD_FLAG('1', struct qstat, same_line, "hosts and comment in the same line"),
};

struct qstat_show {
    const struct qstat *q;
    struct conn_pool *pool;
    struct attrs wants;
    size_t fold; /* of -f; 0: as usual */
    struct qstat_default brief;
    struct qstat_alternative wide;
    struct qstat_objects_limits limits;
    struct json_out json;
    bool json_open, headed;
    char server[PBS_MAXHOSTNAME + PBS_MAXPORTNUM + 2]; /* the server asked last */
    struct batch_status *status;                       /* attributes of that server; NULL: not asked for */
    struct jobid_set *seen;                            /* -E: the jobs that came; NULL: not needed */
};

/* --- the steps ---------------------------------------------------------------------------------------------- */

static void qstat_prepare(struct qstat_show *s, const struct qstat *q);
static int qstat_show_all(struct qstat_show *s, int n, char *operands[]);
static void qstat_finish(struct qstat_show *s);

static int qstat_run(void *settings, int n, char *operands[])
{
    struct qstat *q = settings;
    struct qstat_show s = {0};
    int rc = qstat_options_check(q); /* which options go together */

    if (rc)
        return rc;
    s.pool = conn_pool_create(&q->a);
    if (!s.pool)
        return 1;
    term_out_buffer(stdout);
    qstat_prepare(&s, q);                 /* choose the listing and the attributes that it needs */
    rc = qstat_show_all(&s, n, operands); /* each operand: connect, fetch, show; the last error counts */
    qstat_finish(&s);                     /* totals, end of the JSON document, disconnect */
    return rc;
}

/* --- the server of a target --------------------------------------------------------------------------------- */

/* Get the server's own attributes, asked for once a server and only where they are shown. */
static const struct batch_status *server_status(struct qstat_show *s, int c, const struct qstat_target *t)
{
    struct attrs wants = {0};

    if (s->status && !strcmp(s->server, t->server))
        return s->status;
    pbs_statfree(s->status);
    attrs_add(&wants, ATTR_max_job_sequence_id, NULL, "", SET);
    attrs_add(&wants, ATTR_comment, NULL, "", SET);
    attrs_add(&wants, ATTR_version, NULL, "", SET);
    s->status = pbs_statserver(c, attrs_attrl(&wants), NULL);
    attrs_fini(&wants);
    memcpy(s->server, t->server, sizeof s->server);
    return s->status;
}

/* --- showing ------------------------------------------------------------------------------------------------ */

static void open_json(struct qstat_show *s, int c, const struct qstat_target *t)
{
    static const char *const keys[] = {"Jobs", "Queue", "Server"};

    if (s->json_open)
        return;
    status_out_json_head(&s->json, stdout, server_status(s, c, t));
    json_out_open(&s->json, keys[qstat_options_object(s->q)], '{');
    s->json_open = true;
}

static void show_full(struct qstat_show *s, int c, const struct qstat_target *t, const struct batch_status *o)
{
    static const char *const heads[] = {"Job Id: ", "Queue: ", "Server: "};
    const enum qstat_object kind = qstat_options_object(s->q);
    const struct status_full how = {
        .head = heads[kind], .indent = "    ", .unfolded = s->q->wide, .fold = s->fold};

    switch (s->q->format) {
    case STATUS_FULL:
        status_out_full(stdout, &how, o);
        return;
    case STATUS_DSV:
        status_out_dsv(stdout, heads[kind], s->q->delimiter ? s->q->delimiter : "|", o);
        return;
    case STATUS_JSON:
        break;
    }
    open_json(s, c, t);
    status_out_json(&s->json, o, NULL);
}

static bool has_long_ids(const struct batch_status *server)
{
    const char *max = server ? attrs_value(server->attribs, ATTR_max_job_sequence_id, NULL) : NULL;

    return max && atoll(max) > PBS_DFLT_MAX_JOB_SEQUENCE_ID;
}

static void show_job(struct qstat_show *s, int c, const struct qstat_target *t, const struct batch_status *o)
{
    const struct batch_status *server = s->headed ? NULL : server_status(s, c, t);

    if (!s->headed)
        s->brief.long_ids = s->wide.long_ids = has_long_ids(server);
    if (!qstat_options_is_alternative(s->q)) {
        s->headed = true;
        qstat_default_job(stdout, &s->brief, o);
        return;
    }
    if (!s->headed)
        qstat_alternative_heading(stdout, &s->wide, server ? server->name : pbs_server,
                                  server ? attrs_value(server->attribs, ATTR_comment, NULL) : NULL);
    s->headed = true;
    qstat_alternative_job(stdout, &s->wide, o);
}

static void show_queue(struct qstat_show *s, int c, const struct qstat_target *t,
                       const struct batch_status *o)
{
    if (s->q->limits) {
        const struct batch_status *server = s->headed ? NULL : server_status(s, c, t);

        if (!s->headed)
            qstat_objects_limits_heading(stdout, &s->limits, server ? server->name : pbs_server);
        qstat_objects_limits(stdout, &s->limits, o);
    } else {
        if (!s->headed)
            qstat_objects_queue_heading(stdout, s->limits.columns);
        qstat_objects_queue(stdout, s->limits.columns, o);
    }
    s->headed = true;
}

static void show_one(struct qstat_show *s, int c, const struct qstat_target *t, const struct batch_status *o)
{
    if (s->q->full) {
        show_full(s, c, t, o);
        return;
    }
    switch (qstat_options_object(s->q)) {
    case QSTAT_JOBS:
        show_job(s, c, t, o);
        return;
    case QSTAT_QUEUES:
        show_queue(s, c, t, o);
        return;
    case QSTAT_SERVERS:
        break;
    }
    if (!s->headed)
        qstat_objects_server_heading(stdout, s->limits.columns);
    s->headed = true;
    qstat_objects_server(stdout, s->limits.columns, o);
}

static int qstat_report(const struct qstat_show *s, int c, const struct qstat_target *t)
{
    switch (pbs_errno) {
    case PBSE_NONE:
        return 0;
    case PBSE_HISTJOBID:
        cmd_error(&s->q->a, "%s Job has finished, use -x or -H to obtain historical job information",
                  t->shown);
        return PBSE_HISTJOBID;
    case PBSE_JOBHISTNOTSET:
        api_error_report(&s->q->a, c, "");
        return 0;
    }
    return api_error_report(&s->q->a, c, t->shown);
}

/* The jobs of one target, shown as they come in. */
struct qstat_jobs {
    struct qstat_show *s;
    const struct qstat_target *t;
    int connection;
    size_t n;
};

static int qstat_show_job_cb(const struct batch_status *job, void *arg)
{
    struct qstat_jobs *to = arg;

    to->n++;
    if (to->s->seen)
        jobid_set_add(to->s->seen, job->name);
    if (qstat_options_is_shown(to->s->q, job))
        show_one(to->s, to->connection, to->t, job);
    return 0;
}

/* The attributes for the heading are asked for before the jobs: after the first job, the answer would come behind all
 * others, which libpbs would have to keep until then. */
static int show_jobs(struct qstat_show *s, int c, const struct qstat_target *t)
{
    const struct qstat_fetch from = {s->q, t, attrs_attrl(&s->wants), c};
    struct qstat_jobs to = {.s = s, .t = t, .connection = c};

    if (!s->q->full && !s->headed)
        server_status(s, c, t);
    pbs_errno = 0;
    qstat_fetch_jobs_each(&from, qstat_show_job_cb, &to);
    if (to.n || (s->seen && (pbs_errno == PBSE_UNKJOBID || pbs_errno == PBSE_HISTJOBID)))
        return 0; /* missing jobs are asked for one by one */
    return qstat_report(s, c, t);
}

static int show_list(struct qstat_show *s, int c, const struct qstat_target *t)
{
    const bool jobs = qstat_options_object(s->q) == QSTAT_JOBS;
    const struct qstat_fetch from = {s->q, t, attrs_attrl(&s->wants), c};
    struct batch_status *list;

    pbs_errno = 0;
    list = jobs ? qstat_fetch_jobs(&from) : qstat_fetch_objects(&from);
    if (!list)
        return qstat_report(s, c, t);
    if (jobs)
        list = qstat_alternative_sort(list);
    for (const struct batch_status *o = list; o; o = o->next)
        if (!jobs || qstat_options_is_shown(s->q, o))
            show_one(s, c, t, o);
    pbs_statfree(list);
    return 0;
}

static int show_target(struct qstat_show *s, const struct qstat_target *t)
{
    int c = conn_pool_connect(s->pool, t->server);

    if (c < 0)
        return pbs_errno;
    if (s->q->full && s->q->format == STATUS_JSON)
        open_json(s, c, t); /* JSON is a whole document, with or without objects */
    if (s->headed && qstat_options_object(s->q) == QSTAT_JOBS && strcmp(s->server, t->server) != 0)
        s->headed = s->brief.headed = false;
    if (qstat_options_object(s->q) != QSTAT_JOBS || s->q->estimates)
        return show_list(s, c, t);
    return show_jobs(s, c, t);
}

static bool is_range(const char *id)
{
    return strcspn(id, "-,") < strcspn(id, ".");
}

/* Ask for each job that the server left out of the list, to get the error. */
static int report_missing(struct qstat_show *s, const struct qstat_target *all, const struct jobid_set *asked)
{
    struct attrs nothing = {0};
    int c = conn_pool_connect(s->pool, all->server), rc = 0;

    jobid_set_sort(s->seen);
    attrs_add(&nothing, ATTR_state, NULL, "", SET);
    for (size_t i = 0; c >= 0 && i < asked->n; i++) {
        struct qstat_target one = {0};
        struct batch_status *job;
        struct operand_job id;

        if (jobid_set_has(s->seen, asked->name[i]) || operand_job(&s->q->a, asked->name[i], &id) < 0)
            continue;
        memcpy(one.shown, id.shown, sizeof one.shown);
        pbs_errno = 0;
        job = pbs_statjob(c, id.id, attrs_attrl(&nothing), qstat_options_extend(s->q));
        rc = job ? rc : qstat_report(s, c, &one);
        pbs_statfree(job);
    }
    attrs_fini(&nothing);
    return rc;
}

/* Show the jobs of one server in one request, and an error for each that does not exist. A range may exist in part. */
static int show_batch(struct qstat_show *s, const struct qstat_target *all, struct jobid_set *asked)
{
    struct jobid_set seen = {0};
    int rc;

    s->seen = &seen;
    rc = show_target(s, all);
    if (!rc)
        rc = report_missing(s, all, asked);
    s->seen = NULL;
    jobid_set_fini(&seen);
    jobid_set_fini(asked);
    return rc;
}

/* -E: show the operands of one server in one request. They must all be jobs. */
static int show_express(struct qstat_show *s, int n, char *operands[])
{
    struct qstat_target all, one;
    struct jobid_set asked = {0};
    int i, rc = 0, code;

    qstat_fetch_target(s->q, NULL, &all);
    for (i = 0; i < n; i++) {
        if (!jobid_is_jobid(operands[i])) {
            cmd_error(&s->q->a, "Express option can only be used with job ids");
            rc = 2;
            goto out;
        }
        if (qstat_fetch_target(s->q, operands[i], &one) < 0) {
            rc = 1;
            continue;
        }
        if (all.ids.len && strcmp(all.server, one.server) != 0) {
            code = show_batch(s, &all, &asked);
            rc = code ? code : rc;
            strbuf_reset(&all.ids);
        }
        memcpy(all.server, one.server, sizeof all.server);
        strbuf_add_sep(&all.ids, ",");
        strbuf_add(&all.ids, one.ids.s);
        if (!is_range(one.ids.s))
            jobid_set_add(&asked, one.shown);
        memcpy(all.shown, one.shown, sizeof all.shown);
        strbuf_fini(&one.ids);
    }
    code = all.ids.len ? show_batch(s, &all, &asked) : 0;
    rc = code ? code : rc;
out:
    jobid_set_fini(&asked);
    strbuf_fini(&all.ids);
    return rc;
}

static int show_operand(struct qstat_show *s, const char *operand)
{
    struct qstat_target t;
    int rc = qstat_fetch_target(s->q, operand, &t) < 0 ? 1 : show_target(s, &t);

    strbuf_fini(&t.ids);
    return rc;
}

static int qstat_show_all(struct qstat_show *s, int n, char *operands[])
{
    int i, rc = 0;

    if (s->q->express && n)
        return show_express(s, n, operands);
    if (!n)
        return show_operand(s, NULL);
    for (i = 0; i < n; i++) {
        int code = show_operand(s, operands[i]);

        rc = code ? code : rc;
    }
    return rc;
}

/* --- prepare and finish ------------------------------------------------------------------------------------------ */

static void qstat_prepare(struct qstat_show *s, const struct qstat *q)
{
    const enum job_show_unit unit = q->gigabytes ? JOB_SHOW_GB : q->megawords ? JOB_SHOW_MW : JOB_SHOW_OWN;
    const size_t columns = term_out_width(STDOUT_FILENO);

    s->q = q;
    s->fold = columns > 40 ? columns - 2 : 0;
    s->brief = (struct qstat_default){.wide = q->wide, .percent = q->percent, .columns = columns};
    s->wide = (struct qstat_alternative){.wide = q->wide,
                                         .hosts = q->hosts,
                                         .comments = q->comments,
                                         .same_line = q->same_line,
                                         .estimates = q->estimates,
                                         .memory = unit,
                                         .now_s = (int64_t)time(NULL),
                                         .columns = columns};
    s->limits.memory = unit;
    s->limits.columns = q->wide ? 0 : columns;
    if (q->full || qstat_options_object(q) != QSTAT_JOBS)
        return;
    if (qstat_options_is_alternative(q))
        qstat_alternative_attribs(&s->wide, &s->wants);
    else
        qstat_default_attribs(&s->brief, &s->wants);
}

static void qstat_finish(struct qstat_show *s)
{
    if (s->q->limits && s->headed)
        qstat_objects_limits_totals(stdout, &s->limits);
    if (s->json_open) {
        json_out_close(&s->json, '}');
        json_out_end(&s->json);
    }
    attrs_fini(&s->wants);
    pbs_statfree(s->status);
    conn_pool_destroy(s->pool);
}

const struct cmd command = {
    .options = {.program = "qstat",
                .operands = "[job_identifier | destination | server ...]",
                CMD_ROWS(rows)},
    .usage =
        "usage: \n"
        "qstat [-f] [-J] [-p] [-t] [-x] [-E] [-F format] [-D delim] [ job_identifier... | destination... ]\n"
        "qstat [-a|-i|-r|-H|-T] [-J] [-t] [-u user] [-n] [-s] [-G|-M] [-1] [-w]\n"
        "\t[ job_identifier... | destination... ]\n"
        "qstat -Q [-f] [-F format] [-D delim] [ destination... ]\n"
        "qstat -q [-G|-M] [ destination... ]\n"
        "qstat -B [-f] [-F format] [-D delim] [ server_name... ]\n",
    .usage_exit = 2,
    .size = sizeof(struct qstat),
    .run = qstat_run,
};
