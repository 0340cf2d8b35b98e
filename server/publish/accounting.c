/* Which transition makes which record, and what each says.
 *
 * A listener of job_fsm sees most of it; the rest is told by those who alone know. Each record is one line, made
 * at once and handed to acct_files.h, which carries it into the batch and then into its file. The fields of a job
 * that several records share are acct_fields.h. */
#include "accounting.h"

#include <errno.h>
#include <stdlib.h>

#include <exec.h>

#include "acct_fields.h"
#include "acct_files.h"
#include "acct_line.h"
#include "clock.h"
#include "exit_status.h"
#include "job_run.h"
#include "job_view.h"
#include "log.h"

enum { LINE_MAX_BYTES = 4 << 20 };

struct accounting {
    struct server_ctx *ctx;
    struct acct_files *files;
    struct derived_attribs *derived_attribs;
    struct strbuf altered;
};

/* "MM/DD/YYYY HH:MM:SS;T;id;text" */
static void accounting_begin(struct accounting *a, struct strbuf *line, const struct job *j, char type)
{
    strbuf_init(line, LINE_MAX_BYTES);
    acct_line_begin(line, server_ctx_now_s(a->ctx), type, j->obj.name);
}

static void accounting_finish(struct accounting *a, struct strbuf *line)
{
    acct_files_add(a->files, server_ctx_now_s(a->ctx), line);
    strbuf_fini(line);
}

/* --- transitions ----------------------------------------------------------------------------------------- */

static void queued(struct accounting *a, const struct job *j)
{
    struct strbuf line, text;

    accounting_begin(a, &line, j, 'Q');
    strbuf_init(&text, LINE_MAX_BYTES);
    acct_fields_queued(&text, a->ctx, j);
    strbuf_add(&line, strbuf_str(&text));
    strbuf_fini(&text);
    accounting_finish(a, &line);
}

static void started(struct accounting *a, const struct job *j)
{
    struct strbuf line, text;

    accounting_begin(a, &line, j, 'S');
    strbuf_init(&text, LINE_MAX_BYTES);
    acct_fields_started(&text, a->ctx, j);
    strbuf_add(&line, strbuf_str(&text));
    strbuf_fini(&text);
    accounting_finish(a, &line);
}

/* The exit status of a script that was killed for a requeue says nothing about the job; the reason why a host
 * gave it up does. */
static int status_of(const struct job *j, char type)
{
    return type == 'R' && j->exit_status >= 0 ? EXIT_STATUS_RERUN : j->exit_status;
}

static void ended(struct accounting *a, const struct job *j, char type)
{
    struct strbuf line, text;

    accounting_begin(a, &line, j, type);
    strbuf_init(&text, LINE_MAX_BYTES);
    acct_fields_ended(&text, a->ctx, a->derived_attribs, j, status_of(j, type));
    strbuf_add(&line, strbuf_str(&text));
    strbuf_fini(&text);
    accounting_finish(a, &line);
}

/* The server's log says it too, with the usage where that is wanted. */
static void log_end(struct accounting *a, const struct job *j)
{
    struct strbuf text;

    strbuf_init(&text, LINE_MAX_BYTES);
    strbuf_addf(&text, "Exit_status=%d", j->exit_status);
    if (log_is_on(LOGE_JOB_USAGE)) {
        strbuf_add(&text, " ");
        acct_fields_used(&text, a->ctx, a->derived_attribs, j);
    }
    log_event(LOGC_JOB, log_is_on(LOGE_JOB_USAGE) ? LOGE_JOB_USAGE : LOGE_JOB, j->obj.name, "%s",
              strbuf_str(&text));
    strbuf_fini(&text);
}

static void plain(struct accounting *a, const struct job *j, char type, const char *text)
{
    struct strbuf line;

    accounting_begin(a, &line, j, type);
    strbuf_add(&line, text);
    accounting_finish(a, &line);
}

static void suspended(struct accounting *a, const struct job *j)
{
    const char *released = attr_list_text(&j->obj.attrs, JOB_ATTR_resources_released);
    struct strbuf text;

    strbuf_init(&text, LINE_MAX_BYTES);
    acct_fields_used(&text, a->ctx, a->derived_attribs, j);
    if (released)
        acct_fields_add(&text, "resources_released", released);
    plain(a, j, 'z', strbuf_str(&text));
    strbuf_fini(&text);
}

typedef int phase_fields(struct strbuf *out, const struct server_ctx *s, const struct job *j);

static void phase(struct accounting *a, const struct job *j, char type, phase_fields *fields)
{
    struct strbuf text;

    strbuf_init(&text, LINE_MAX_BYTES);
    fields(&text, a->ctx, j);
    plain(a, j, type, strbuf_str(&text));
    strbuf_fini(&text);
}

void accounting_on_phase_over(void *arg, const struct server_event *ev)
{
    phase(arg, ev->job, 'u', acct_fields_phase_over);
}

void accounting_on_phase_begun(void *arg, const struct server_event *ev)
{
    phase(arg, ev->job, ev->letter, ev->letter == 's' ? acct_fields_started : acct_fields_phase_begun);
}

/* A run whose vnodes were given back step by step: its last step, before the record of the whole. */
static void ended_run(struct accounting *a, const struct job *j, char type)
{
    if (j->run && j->run->now_vnode)
        phase(a, j, 'e', acct_fields_phase_over);
    ended(a, j, type);
}

static bool had_run(enum job_state from)
{
    return from == JOB_STARTING || from == JOB_RUNNING || from == JOB_SUSPENDED || from == JOB_EXITING;
}

/* A run is over, or an array; so is the job, or it is back in its queue. */
static void ended_or_requeued(struct accounting *a, struct job *j)
{
    if (job_is_waiting(j) && j->stime_s)
        ended_run(a, j, 'R');
    if (j->state == JOB_FINISHED) {
        log_end(a, j);
        ended_run(a, j, 'E');
    }
}

void accounting_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct accounting *a = arg;

    if (ev == EV_SUBMIT)
        queued(a, j);
    else if (ev == EV_ARRAY_BEGUN || (from == JOB_STARTING && j->state == JOB_RUNNING))
        started(a, j);
    else if (from == JOB_RUNNING && j->state == JOB_SUSPENDED)
        suspended(a, j);
    else if (from == JOB_SUSPENDED && j->state == JOB_RUNNING)
        plain(a, j, 'r', "");
    else if (had_run(from) || ev == EV_ARRAY_OVER)
        ended_or_requeued(a, j);
}

void accounting_moved_in(struct accounting *a, const struct job *j)
{
    queued(a, j);
}

void accounting_on_moved(void *arg, const struct server_event *ev)
{
    queued(arg, ev->job);
}

void accounting_deleted(struct accounting *a, const struct job *j, const char *who)
{
    struct strbuf text;

    strbuf_init(&text, 1024);
    acct_fields_add(&text, "requestor", who);
    plain(a, j, 'D', strbuf_str(&text));
    strbuf_fini(&text);
}

void accounting_on_preempting(void *arg, const struct server_event *ev)
{
    if (ev->result == PREEMPT_DELETED && !job_is_over(ev->job))
        accounting_deleted(arg, ev->job, ev->by);
}

void accounting_on_resv_job(void *arg, const struct server_event *ev)
{
    accounting_deleted(arg, ev->job, ev->by);
}

void accounting_on_resv_record(void *arg, const struct server_event *ev)
{
    struct accounting *a = arg;
    struct strbuf line;

    strbuf_init(&line, LINE_MAX_BYTES);
    acct_line_begin(&line, server_ctx_now_s(a->ctx), ev->letter, ev->resv->obj.name);
    strbuf_add(&line, ev->text);
    accounting_finish(a, &line);
}

void accounting_on_unwanted(void *arg, const struct server_event *ev)
{
    plain(arg, ev->job, 'A', ev->text);
}

void accounting_on_left(void *arg, const struct server_event *ev)
{
    struct strbuf text;

    strbuf_init(&text, 1024);
    acct_fields_add(&text, "destination", ev->to);
    plain(arg, ev->job, 'M', strbuf_str(&text));
    strbuf_fini(&text);
}

void accounting_checkpointed(struct accounting *a, const struct job *j)
{
    plain(a, j, 'C', "");
}

void accounting_restarted(struct accounting *a, const struct job *j)
{
    plain(a, j, 'T', "");
}

void accounting_on_image(void *arg, const struct server_event *ev)
{
    if (ev->kind == EVENT_RUN_IMAGE)
        accounting_checkpointed(arg, ev->job);
    else
        accounting_restarted(arg, ev->job);
}

void accounting_altered(struct accounting *a, const struct job *j, const char *name, const char *resource,
                        const char *value)
{
    int index = attr_def_find(OF_JOB, name);
    const struct resource *r = resource ? resource_find(a->ctx->resources, resource) : NULL;
    const struct value *stored = index < 0   ? NULL
                                 : !resource ? attr_list_find(&j->obj.attrs, index)
                                 : r         ? attr_list_amount(&j->obj.attrs, index, r->id)
                                             : NULL;
    const char *text = NULL;
    struct strbuf scratch;

    strbuf_init(&scratch, 1 << 20);
    if (value && stored)
        text = value_show(r ? r->type : attr_def_type(attr_def_get(OF_JOB, index)), stored, &scratch);
    acct_line_add(&a->altered, name, resource, text ? text : value ? value : "UNSET");
    strbuf_fini(&scratch);
}

void accounting_altered_end(struct accounting *a, const struct job *j)
{
    if (a->altered.len)
        plain(a, j, 'a', strbuf_str(&a->altered));
    strbuf_reset(&a->altered);
}

/* Add whether the job had a notice, how long before, and what it answered. */
static void add_notice(struct accounting *a, const struct job *j, struct strbuf *text)
{
    const struct preempt_notice *n = &j->preempt->notice;
    int64_t now_ms = clock_wall_ms(a->ctx->clock);
    const char *reply = n->reply == EXEC_NOTICE_READY     ? "ready"
                        : n->reply == EXEC_NOTICE_DEFER   ? "defer"
                        : n->reply == EXEC_NOTICE_PARTIAL ? "partial"
                        : n->reply == EXEC_NOTICE_REFUSE  ? "refuse"
                        : n->reply == EXEC_NOTICE_DECLINE ? "decline"
                        : n->reply == EXEC_NOTICE_SAVED   ? "saved"
                                                          : "none";

    if (!n->given_ms)
        return;
    strbuf_addf(text, " notice=%.1f reply=%s",
                (double)((now_ms < n->deadline_ms ? now_ms : n->deadline_ms) - n->given_ms) / 1000,
                n->over ? reply : "ended");
}

static void add_if_set(struct strbuf *text, const char *name, const char *value)
{
    if (value)
        acct_fields_add(text, name, value);
}

/* Add who has the job preempted, for which job, and what allows it. */
static void add_cause(struct strbuf *text, const struct job *j, const char *by)
{
    static const struct preempt_record none;
    const struct preempt_record *m = j->preempt ? j->preempt : &none;

    acct_fields_add(text, "requestor", by ? by : "");
    add_if_set(text, "scheduler", m->scheduler);
    add_if_set(text, "preempted_by", j->preempted_by);
    add_if_set(text, "policy", m->policy);
    add_if_set(text, "authority", m->authority);
}

/* Add whose job it is. */
static void add_owner(struct strbuf *text, const struct job *j)
{
    acct_fields_add(text, "user", j->euser ? j->euser : j->user);
    acct_fields_add(text, "queue", j->queue_name ? j->queue_name : "");
    acct_fields_add(text, "project", j->project ? j->project : "");
}

/* Add which methods were tried and how long that took. */
static void add_methods(struct accounting *a, const struct job *j, struct strbuf *text)
{
    char tried[PREEMPT_LETTERS_MAX];

    strbuf_addf(text, " tried=%s took=%.3f", preempt_methods_format(&j->preempt->tried, tried),
                (double)(clock_wall_ms(a->ctx->clock) - j->preempt->since_ms) / 1000);
}

void accounting_on_preempted(void *arg, const struct server_event *ev)
{
    struct accounting *a = arg;
    const struct job *j = ev->job;
    const char letter = preempt_method_result_letter(ev->result);
    bool loses = preempt_method_row(preempt_result_method(ev->result))->loses_work;
    struct strbuf text;

    if (!letter)
        return;
    strbuf_init(&text, 1024);
    strbuf_addf(&text, "method=%c", letter);
    add_cause(&text, j, ev->by);
    add_owner(&text, j);
    strbuf_addf(&text, " preempt_count=%u", j->preempt_count);
    if (j->preempt) {
        add_methods(a, j, &text);
        add_notice(a, j, &text);
    }
    strbuf_addf(&text, " lost_core_seconds=%.1f lost_cpu_seconds=%.1f", ev->lost_core_s,
                loses ? (double)j->usage.cput_ms / 1000 : 0);
    plain(a, j, 'v', strbuf_str(&text));
    strbuf_fini(&text);
}

/* --- life ------------------------------------------------------------------------------------------------- */

struct accounting *accounting_create(struct loop *l, struct server_ctx *s, struct commit *c, const char *home,
                                     struct err *e)
{
    struct accounting *a = calloc(1, sizeof *a);

    if (!a) {
        err_set(e, ENOMEM, "no memory for accounting");
        return NULL;
    }
    a->ctx = s;
    strbuf_init(&a->altered, LINE_MAX_BYTES);
    a->derived_attribs = derived_attribs_create(s);
    if (a->derived_attribs)
        a->files = acct_files_create(l, c, home, e);
    if (!a->files) {
        accounting_destroy(a);
        return NULL;
    }
    return a;
}

void accounting_destroy(struct accounting *a)
{
    if (!a)
        return;
    acct_files_destroy(a->files);
    derived_attribs_destroy(a->derived_attribs);
    strbuf_fini(&a->altered);
    free(a);
}

int accounting_restore(struct accounting *a, struct store *from, struct err *e)
{
    return acct_files_restore(a->files, from, e);
}
