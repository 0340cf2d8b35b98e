/* Jobs that wait for another one hang below it (first_follower, next_follower) until it ends; from then on they are in the list
 * `due`, in the order of their times. Jobs without predecessor come from the file in its order: `fresh` is the next one. One
 * timer leads to the first of both. */
#include "sim_feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ifl.h>

#include "clock.h"
#include "file.h"
#include "loop.h"
#include "rpc_conn.h"
#include "units.h"

/* FILE_BYTES_MAX: two million jobs. STUCK_MS: longer than the week after which prime time comes again. TOLD_MS: of real time,
 * between two lines of progress. UNDER_WAY_MAX: submissions; the server takes them in order, more would only wait there. */
enum { ATTRS_MAX = 32, UNDER_WAY_MAX = 64, TOLD_MS = 100 };
static const size_t FILE_BYTES_MAX = (size_t)1 << 30;
static const int64_t STUCK_MS = INT64_C(8) * 86400 * 1000;

struct feed_job {
    struct feed_job *next; /* in `due` */
    char *attrs;           /* of the line, cut at tabs when it is submitted */
    int64_t due_ms, think_ms, length_ms;
    uint32_t after, first_follower, next_follower; /* lines, from 1; 0: none */
    int status;
};

struct sim_feed {
    struct loop *loop;
    struct loop_timer *timer;
    struct rpc_conn *conn;
    char *text;
    struct feed_job *jobs, *due; /* jobs[0] is line 1 */
    uint32_t n, fresh, n_blocked, n_submitted, n_ended, under_way;
    bool begun;
    int64_t begun_ms, idle_since_ms, told_real_ms;
    struct err lost;
};

static int64_t sim_feed_now_ms(const struct sim_feed *f)
{
    return clock_mono_ms(loop_clock(f->loop)) - f->begun_ms;
}

static struct feed_job *feed_job(const struct sim_feed *f, uint32_t line)
{
    return &f->jobs[line - 1];
}

static uint32_t feed_line(const struct sim_feed *f, const struct feed_job *j)
{
    return (uint32_t)(j - f->jobs) + 1;
}

/* --- the file ----------------------------------------------------------------------------------------------- */

/* Cut the next field off *at, at its tab. */
static char *feed_field(char **at)
{
    char *field = *at, *tab = strchr(field, '\t');

    *at = tab ? tab + 1 : field + strlen(field);
    if (tab)
        *tab = '\0';
    return field;
}

static int feed_parse_line(struct sim_feed *f, char *line, uint32_t number, struct err *e)
{
    struct feed_job *j = feed_job(f, number);
    int64_t after, status;

    if (units_parse_int(feed_field(&line), 0, INT64_MAX / 4, &j->due_ms, e) < 0 ||
        units_parse_int(feed_field(&line), 0, number - 1, &after, e) < 0 ||
        units_parse_int(feed_field(&line), 0, INT64_MAX / 4, &j->think_ms, e) < 0 ||
        units_parse_int(feed_field(&line), 0, INT64_MAX / 4, &j->length_ms, e) < 0 ||
        units_parse_int(feed_field(&line), -1000, 1000, &status, e) < 0)
        return -1;
    j->after = (uint32_t)after;
    j->status = (int)status;
    j->attrs = line;
    if (after) {
        j->next_follower = feed_job(f, j->after)->first_follower;
        feed_job(f, j->after)->first_follower = number;
        f->n_blocked++;
    }
    return 0;
}

static int sim_feed_read(struct sim_feed *f, const char *path, struct err *e)
{
    uint32_t n_lines = 1;

    if (file_read(AT_FDCWD, path, FILE_BYTES_MAX, &f->text, NULL, e) < 0)
        return err_prefix(e, "%s", path);
    for (const char *c = f->text; *c; c++)
        n_lines += *c == '\n';
    f->jobs = calloc(n_lines, sizeof *f->jobs);
    if (!f->jobs)
        return err_no_memory(e);
    for (char *line = f->text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        f->n++;
        if (feed_parse_line(f, line, f->n, e) < 0)
            return err_prefix(e, "%s, line %u", path, f->n);
    }
    return 0;
}

/* --- submission --------------------------------------------------------------------------------------------- */

static void feed_tell(struct sim_feed *f, const char *word)
{
    printf("%s %lld %u %u\n", word, (long long)sim_feed_now_ms(f), f->n_submitted, f->n_ended);
    fflush(stdout);
    f->told_real_ms = clock_real_mono_ms();
}

static void feed_set_timer(struct sim_feed *f);

struct feed_call {
    struct sim_feed *feed;
    uint32_t line;
};

static void feed_submitted_cb(void *arg, const struct rpc_outcome *out)
{
    struct feed_call call = *(struct feed_call *)arg;
    struct sim_feed *f = call.feed;
    const ifl_submit_result *r = out->result;

    free(arg);
    f->under_way--;
    if (out->status != RPC_ST_OK)
        return; /* `closed` has it */
    if (r->result.code) {
        printf("refused %u %s\n", call.line, r->result.text);
        sim_feed_ended(f, call.line);
    }
    feed_set_timer(f);
}

/* The attributes of the line, and what the simulator is to know of the job. Return their number. */
static u_int feed_attrs(const struct sim_feed *f, const struct feed_job *j, wire_attrop *out,
                        const char **queue, char variables[static 128])
{
    static char none[1], list[] = "Variable_List";
    char *at = j->attrs;
    u_int n = 0;

    snprintf(variables, 128, "PBS_O_WORKDIR=/,EXECSIM_MS=%lld,EXECSIM_STATUS=%d,EXECSIM_LINE=%u",
             (long long)j->length_ms, j->status, feed_line(f, j));
    out[n++] = (wire_attrop){.name = list, .resource = none, .value = variables};
    while (*at && n < ATTRS_MAX) {
        char *name = feed_field(&at), *value = name + strcspn(name, "="), *dot;

        if (*value)
            *value++ = '\0';
        if (strcmp(name, "queue") == 0) {
            *queue = value;
            continue;
        }
        dot = strchr(name, '.');
        if (dot)
            *dot++ = '\0';
        out[n++] = (wire_attrop){.name = name, .resource = dot ? dot : none, .value = value};
    }
    return n;
}

static void feed_submit(struct sim_feed *f, struct feed_job *j)
{
    static char script[] = "true\n", none[1];
    wire_attrop attrs[ATTRS_MAX];
    char variables[128];
    const char *queue = none;
    ifl_submit_args a = {.script_length = sizeof script - 1,
                         .script = {sizeof script - 1, script},
                         .extend = none,
                         .attrs = {0, attrs}};
    const struct rpc_call_spec spec = {.id = {PBS_IFL_PROG, PBS_IFL_V1, IFL_SUBMIT},
                                       .xargs = (xdrproc_t)xdr_ifl_submit_args,
                                       .args = &a,
                                       .xres = (xdrproc_t)xdr_ifl_submit_result,
                                       .res_size = sizeof(ifl_submit_result)};
    struct feed_call *call = malloc(sizeof *call);

    if (!call)
        abort(); /* a job would be missing in all figures */
    *call = (struct feed_call){f, feed_line(f, j)};
    memcpy(a.token, &call->line, sizeof call->line);
    a.attrs.wire_attrops_len = feed_attrs(f, j, attrs, &queue, variables);
    a.destination = (char *)(uintptr_t)queue;
    if (rpc_conn_call(f->conn, &spec, feed_submitted_cb, call, &f->lost) < 0) {
        free(call);
        return;
    }
    f->under_way++;
    f->n_submitted++;
}

/* --- when --------------------------------------------------------------------------------------------------- */

/* The job that is submitted next, or NULL. Of two at the same time the one that follows another job goes first. */
static struct feed_job *feed_next(struct sim_feed *f)
{
    struct feed_job *fresh;

    while (f->fresh < f->n && f->jobs[f->fresh].after)
        f->fresh++;
    fresh = f->fresh < f->n ? &f->jobs[f->fresh] : NULL;
    return f->due && (!fresh || f->due->due_ms <= fresh->due_ms) ? f->due : fresh;
}

static void feed_set_timer(struct sim_feed *f)
{
    const struct feed_job *j = f->begun ? feed_next(f) : NULL;

    if (j && j->due_ms > sim_feed_now_ms(f))
        loop_timer_set_at(f->timer, f->begun_ms + j->due_ms);
}

/* It leads time to the next job; sim_advance.c has it submitted. */
static void feed_timer_cb(void *arg)
{
}

bool sim_feed_submit_due(struct sim_feed *f)
{
    uint32_t before = f->n_submitted;
    struct feed_job *j;

    if (!f->begun)
        return false;
    while (f->under_way < UNDER_WAY_MAX && !f->lost.code && (j = feed_next(f)) &&
           j->due_ms <= sim_feed_now_ms(f)) {
        if (j == f->due)
            f->due = j->next;
        else
            f->fresh++;
        feed_submit(f, j);
    }
    feed_set_timer(f);
    return f->n_submitted != before;
}

static void feed_make_due(struct sim_feed *f, struct feed_job *j)
{
    struct feed_job **at = &f->due;

    f->n_blocked--;
    j->after = 0;
    j->due_ms = sim_feed_now_ms(f) + j->think_ms;
    while (*at && ((*at)->due_ms < j->due_ms || ((*at)->due_ms == j->due_ms && *at < j)))
        at = &(*at)->next;
    j->next = *at;
    *at = j;
}

void sim_feed_ended(struct sim_feed *f, uint32_t line)
{
    if (line == 0 || line > f->n)
        return;
    f->n_ended++;
    for (uint32_t k = feed_job(f, line)->first_follower, next; k; k = next) {
        next = feed_job(f, k)->next_follower;
        feed_make_due(f, feed_job(f, k));
    }
    feed_job(f, line)->first_follower = 0;
    feed_set_timer(f);
}

void sim_feed_begin(struct sim_feed *f)
{
    if (f->begun || !rpc_conn_is_open(f->conn))
        return;
    f->begun = true;
    f->begun_ms = clock_mono_ms(loop_clock(f->loop));
    f->idle_since_ms = -1;
    feed_set_timer(f);
}

bool sim_feed_has_begun(const struct sim_feed *f)
{
    return f->begun;
}

uint64_t sim_feed_n_submitted(const struct sim_feed *f)
{
    return f->n_submitted;
}

bool sim_feed_is_quiet(const struct sim_feed *f)
{
    return f->under_way == 0;
}

bool sim_feed_has_more(const struct sim_feed *f)
{
    return f->due || f->fresh < f->n || f->n_blocked;
}

/* Followers of jobs that did not end by themselves (deleted by preemption) come all the same. */
static void feed_unblock(struct sim_feed *f)
{
    for (uint32_t i = 0; i < f->n && f->n_blocked; i++)
        if (f->jobs[i].after)
            feed_make_due(f, &f->jobs[i]);
    feed_set_timer(f);
}

bool sim_feed_is_over(struct sim_feed *f, unsigned jobs, size_t n_runs)
{
    if (!f->begun)
        return false;
    if (clock_real_mono_ms() - f->told_real_ms >= TOLD_MS)
        feed_tell(f, "at");
    if (jobs == 0 && n_runs == 0 && !feed_next(f) && f->n_blocked)
        feed_unblock(f);
    if (feed_next(f) || n_runs) {
        f->idle_since_ms = -1;
        return false;
    }
    if (jobs == 0) {
        feed_tell(f, "over");
        return true;
    }
    if (f->idle_since_ms < 0)
        f->idle_since_ms = sim_feed_now_ms(f);
    if (sim_feed_now_ms(f) - f->idle_since_ms < STUCK_MS)
        return false;
    feed_tell(f, "stuck");
    return true;
}

int sim_feed_check(const struct sim_feed *f, struct err *e)
{
    return f->lost.code ? err_set(e, f->lost.code, "the connection to the server is lost: %s", f->lost.text)
                        : 0;
}

/* --- creation ----------------------------------------------------------------------------------------------- */

static void feed_closed(void *arg, struct rpc_conn *c, const struct err *why)
{
    struct sim_feed *f = arg;

    f->lost = *why;
    if (!f->lost.code)
        f->lost.code = ENOTCONN;
}

struct sim_feed *sim_feed_create(struct loop *l, const char *path, const char *socket_path, struct err *e)
{
    static const struct rpc_conn_events events = {.closed = feed_closed};
    const struct rpc_conn_target target = {.unix_path = socket_path};
    struct rpc_conn_options o = {
        .ping_prog = PBS_IFL_PROG, .ping_vers = PBS_IFL_V1, .keepalive_ms = -1, .events = &events};
    struct sim_feed *f = calloc(1, sizeof *f);

    o.arg = f;
    if (!f)
        err_no_memory(e);
    else if (sim_feed_read(f, path, e) == 0 &&
             (f->timer = loop_timer_create(l, LOOP_CLOCK, feed_timer_cb, f)) &&
             (f->conn = rpc_conn_connect(l, &target, &o, e))) {
        f->loop = l;
        return f;
    }
    sim_feed_destroy(f);
    return NULL;
}

void sim_feed_destroy(struct sim_feed *f)
{
    if (!f)
        return;
    rpc_conn_destroy(f->conn);
    loop_timer_destroy(f->timer);
    free(f->jobs);
    free(f->text);
    free(f);
}
