/* Headings and columns are PBS's to the blank: scripts cut them. There are three sets of widths, and widths()
 * chooses; at a terminal it widens or narrows the names. The attributes asked for and those shown are listed in two
 * functions that must agree: an attribute that is not asked for is missing. Only -T needs the list as a whole, to
 * sort it. */
#include "qstat_alternative.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "term_out.h"

enum { HOSTS_COLUMN = 78, COMMENT_COLUMN = 80, WEEK_S = 7 * 86400 };

/* Widths of the columns up to memory; 0: no such column. */
struct qstat_alternative_widths {
    size_t id, user, queue, name, session, nds, tsk;
};

static const struct qstat_alternative_widths normal = {15, 8, 8, 10, 6, 3, 3},
                                             long_ids = {20, 8, 8, 10, 6, 3, 3},
                                             wide = {30, 15, 15, 15, 8, 4, 5};

enum { BEHIND = 20 }; /* width of memory, time, state, time */

static size_t before(const struct qstat_alternative_widths *w)
{
    const size_t columns[] = {w->id, w->user, w->queue, w->name, w->session, w->nds, w->tsk};
    size_t sum = 0;

    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        sum += columns[i] ? columns[i] + 1 : 0;
    return sum;
}

/* Widen or narrow the names to the room there is. Return true if the line fits. */
static bool share_width(const struct qstat_alternative *q, struct qstat_alternative_widths *w, size_t least)
{
    const struct term_out_column c[] = {
        {&w->name, least, 50}, {&w->id, 7, 32}, {&w->queue, least, 15}, {&w->user, least, 24}};

    term_out_share_width(before(w) + BEHIND, q->columns, c, w->user ? 4 : 3);
    return before(w) + BEHIND <= q->columns;
}

/* Widths in a pipe; at a terminal without -w the names share the room, and where that is too little, columns are
 * dropped. */
static struct qstat_alternative_widths widths(const struct qstat_alternative *q)
{
    struct qstat_alternative_widths w = q->wide ? wide : q->long_ids ? long_ids : normal;
    size_t *const gives_way[] = {NULL, &w.session, &w.nds, &w.tsk, &w.user};

    if (q->wide || !q->columns)
        return w;
    for (size_t i = 0; i < sizeof gives_way / sizeof gives_way[0]; i++) {
        if (gives_way[i])
            *gives_way[i] = 0;
        if (share_width(q, &w, 7))
            return w;
    }
    (void)share_width(q, &w, 4);
    return w;
}

/* The last column of lines of hosts and comments. */
static size_t last_column(const struct qstat_alternative *q, size_t usual)
{
    return q->columns > BEHIND ? q->columns - (COMMENT_COLUMN - usual) : usual;
}

void qstat_alternative_attribs(const struct qstat_alternative *q, struct attrs *out)
{
    static const struct {
        const char *name, *resource;
    } rows[] = {{ATTR_name, NULL},    {ATTR_owner, NULL},   {ATTR_state, NULL},  {ATTR_queue, NULL},
                {ATTR_session, NULL}, {ATTR_array, NULL},   {ATTR_used, "cput"}, {ATTR_used, "walltime"},
                {ATTR_l, "cput"},     {ATTR_l, "walltime"}, {ATTR_l, "nodect"},  {ATTR_l, "ncpus"},
                {ATTR_l, "mem"}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
        attrs_add(out, rows[i].name, rows[i].resource, "", SET);
    if (q->hosts)
        attrs_add(out, ATTR_exechost, NULL, "", SET);
    if (q->comments || q->estimates)
        job_show_why_attribs(out);
    if (q->estimates) {
        attrs_add(out, ATTR_stime, NULL, "", SET);
        attrs_add(out, ATTR_estimated, "start_time", "", SET);
    }
}

static void dashes(FILE *f, size_t n)
{
    if (!n)
        return;
    while (n--)
        putc_unlocked('-', f);
    putc_unlocked(' ', f);
}

static void head(FILE *f, const char *title, size_t width)
{
    if (width)
        fprintf(f, "%-*.*s ", (int)width, (int)width, title);
}

void qstat_alternative_heading(FILE *f, const struct qstat_alternative *q, const char *server,
                               const char *comment)
{
    const struct qstat_alternative_widths share = widths(q), *w = &share;

    fprintf(f, "\n%s: %s\n", server, comment ? comment : "");
    fprintf(f, "%*sReq'd  Req'd   %s\n", (int)before(w), "", q->estimates ? "Est" : "Elap");
    head(f, "Job ID", w->id);
    head(f, "Username", w->user);
    head(f, "Queue", w->queue);
    head(f, "Jobname", w->name);
    head(f, "SessID", w->session);
    head(f, "NDS", w->nds);
    head(f, "TSK", w->tsk);
    fprintf(f, "Memory Time  S %s\n", q->estimates ? "Start" : "Time");
    dashes(f, w->id);
    dashes(f, w->user);
    dashes(f, w->queue);
    dashes(f, w->name);
    dashes(f, w->session);
    dashes(f, w->nds);
    dashes(f, w->tsk);
    fputs("------ ----- - -----\n", f);
}

/* Write a missing value as " --" and, where there is room, a blank. */
static void put_right(FILE *f, const char *text, size_t width)
{
    term_out_right(f, text ? text : width > 3 ? "-- " : " --", width);
}

/* Write the same and a blank; nothing, where there is no such column. */
static void put_right_column(FILE *f, const char *text, size_t width)
{
    if (!width)
        return;
    put_right(f, text, width);
    putc_unlocked(' ', f);
}

static void qstat_alternative_put_left(FILE *f, const char *text, size_t width)
{
    if (!width)
        return;
    term_out_left(f, text ? text : "", width);
    term_out_blanks(f, 1);
}

/* Write a time in five columns: longer ones lose their end. */
static void put_time(FILE *f, const char *text)
{
    char cut[6];

    if (text && strlen(text) > 5) {
        snprintf(cut, sizeof cut, "%.5s", text);
        text = cut;
    }
    put_right(f, text, 5);
}

/* --- estimates ---------------------------------------------------------------------------------------------- */

static const char *far_estimate(const struct tm *then, const struct tm *now, char *out)
{
    if (then->tm_year == now->tm_year)
        strftime(out, JOB_SHOW_TEXT, "%b", then);
    else if (then->tm_year - now->tm_year <= 5)
        strftime(out, JOB_SHOW_TEXT, "%Y", then);
    else
        return ">5yrs";
    return out;
}

const char *qstat_alternative_estimate(const char *start, int64_t now_s, char out[static JOB_SHOW_TEXT])
{
    time_t t = start ? (time_t)strtoll(start, NULL, 10) : 0, now = (time_t)now_s;
    struct tm then, today;
    char day[8];

    if (!start)
        return "--";
    if (!t || !localtime_r(&t, &then) || !localtime_r(&now, &today))
        return "?";
    if (then.tm_year == today.tm_year && then.tm_yday == today.tm_yday) {
        strftime(out, JOB_SHOW_TEXT, "%H:%M", &then);
        return out;
    }
    if (t > now && t - now < WEEK_S) {
        strftime(day, sizeof day, "%a", &then);
        snprintf(out, JOB_SHOW_TEXT, "%.2s %02d", day, then.tm_hour);
        return out;
    }
    return far_estimate(&then, &today, out);
}

struct sortable {
    struct batch_status *job;
    int rank; /* running first, then estimated, then the rest */
    long long time;
    size_t at; /* the order of arrival, kept among equals */
};

static int qstat_alternative_compare(const void *va, const void *vb)
{
    const struct sortable *a = va, *b = vb;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

static struct sortable sort_key(struct batch_status *job, size_t at)
{
    struct sortable s = {job, 2, 0, at};
    struct job_show j;

    job_show_read(job, &j);
    if (j.state && *j.state == 'R' && j.stime) {
        s.rank = 0;
        s.time = strtoll(j.stime, NULL, 10);
    } else if (j.estimated) {
        s.rank = 1;
        s.time = strtoll(j.estimated, NULL, 10);
    }
    return s;
}

struct batch_status *qstat_alternative_sort(struct batch_status *list)
{
    struct batch_status *j, **tail = &list;
    struct sortable *s;
    size_t n = 0, i;

    for (j = list; j; j = j->next)
        n++;
    s = calloc(n + 1, sizeof *s);
    if (!s)
        return list;
    for (i = 0, j = list; j; j = j->next, i++)
        s[i] = sort_key(j, i);
    qsort(s, n, sizeof *s, qstat_alternative_compare);
    for (i = 0; i < n; i++) {
        *tail = s[i].job;
        tail = &s[i].job->next;
    }
    *tail = NULL;
    free(s);
    return list;
}

/* --- a job -------------------------------------------------------------------------------------------------- */

static void last_time(FILE *f, const struct qstat_alternative *q, const struct job_show *j)
{
    char text[JOB_SHOW_TEXT];

    bool has_started = j->state && strchr("RSUEXF", *j->state);

    if (q->estimates)
        put_time(f, qstat_alternative_estimate(has_started ? NULL : j->estimated, q->now_s, text));
    else
        put_time(f, job_show_hhmm(j->want_cput ? j->used_cput : j->used_walltime, text));
}

static void record(FILE *f, const struct qstat_alternative *q, const struct batch_status *job,
                   const struct job_show *j)
{
    const struct qstat_alternative_widths share = widths(q), *w = &share;
    char id[PBS_MAXCLTJOBID + 1], user[PBS_MAXUSER + 1], text[JOB_SHOW_TEXT];

    qstat_alternative_put_left(f, job_show_id(job->name, id, sizeof id), w->id);
    qstat_alternative_put_left(f, job_show_user(j->owner, user, sizeof user), w->user);
    qstat_alternative_put_left(f, j->queue, w->queue);
    qstat_alternative_put_left(f, j->name, w->name);
    put_right_column(f, j->session, w->session);
    put_right_column(f, j->nodect, w->nds);
    put_right_column(f, j->ncpus, w->tsk);
    put_right_column(f, job_show_memory(j->mem, q->memory, text), 6);
    put_time(f, job_show_hhmm(j->want_cput ? j->want_cput : j->want_walltime, text));
    fprintf(f, " %s ", j->state ? j->state : " ");
    last_time(f, q, j);
}

/* Format "node07.cluster/0*4" with the host's short name; `n` bytes of it, and its + if one follows. */
static size_t short_host(const char *part, size_t n, char *out, size_t size)
{
    size_t slash = strcspn(part, "/+"), dot = strcspn(part, "./+");
    int len;

    slash = slash < n ? slash : n;
    dot = dot < slash ? dot : slash;
    len =
        snprintf(out, size, "%.*s%.*s%s", (int)dot, part, (int)(n - slash), part + slash, part[n] ? "+" : "");
    return len < 0 ? 0 : (size_t)len < size ? (size_t)len : size - 1;
}

static void hosts(FILE *f, const struct qstat_alternative *q, const char *exec_host)
{
    size_t column = 3;
    char part[300];

    fputs(q->same_line ? " " : "\n   ", f);
    if (!exec_host) {
        fputs("--", f);
        return;
    }
    while (*exec_host) {
        size_t n = strcspn(exec_host, "+"), len = short_host(exec_host, n, part, sizeof part);

        if (!q->same_line && column > 3 && column + len > last_column(q, HOSTS_COLUMN)) {
            fputs("\n   ", f);
            column = 3;
        }
        term_out_text_n(f, part, len);
        column += len;
        exec_host += n + (exec_host[n] != '\0');
    }
}

static void qstat_alternative_comment(FILE *f, const struct qstat_alternative *q, const char *text)
{
    const size_t room = last_column(q, COMMENT_COLUMN) - 3;

    fputs(q->same_line ? " " : "\n   ", f);
    if (!text)
        text = "--";
    if (!q->wide && !q->same_line && strlen(text) > room) {
        term_out_text_n(f, text, room - 3);
        fputs("...", f);
    } else {
        term_out_text(f, text);
    }
}

void qstat_alternative_job(FILE *f, const struct qstat_alternative *q, const struct batch_status *job)
{
    struct job_show j;
    char why[JOB_SHOW_WHY];

    job_show_read(job, &j);
    record(f, q, job, &j);
    if (q->hosts)
        hosts(f, q, j.exec_host);
    /* A job without an estimated start shows why. */
    if (q->comments || (q->estimates && !j.estimated && j.state && strchr("QHWT", *j.state)))
        qstat_alternative_comment(f, q, job_show_why(job, why));
    putc_unlocked('\n', f);
}
