/* The conversation: the server sends NOTICE, or withdraws it; the shepherd writes the notice file and signals the job; the job may
 * answer, once or more often, and each answer becomes an event. A shepherd of a version without notices is answered for, as if the
 * job had refused, so that the server does not wait for the deadline; of a job on several hosts only the first one does that.
 *
 * The text of the notice file is made here, so that shepherds of any version write what this MOM knows. Nothing is stored but a mark
 * beside what the job may save (ckpt/notice_save.h): after a restart of the MOM the server repeats the notice. The shepherd's part
 * is mom/shepherd/job_notice.c. */
#include "notice_order.h"

#include <stdio.h>
#include <string.h>

#include <shep.h>

#include "mom_config.h"
#include "config_forms.h"
#include "log.h"
#include "mom.h"
#include "pbs_error.h"
#include "mom_run.h"
#include "notice_save.h"
#include "shepherds.h"
#include "strbuf.h"

/* TEXT_LIMIT: below the 64 KiB that a text of the protocol may have; what is longer is cut. */
enum { TEXT_LIMIT = 60000, MS_PER_S = 1000 };

static void notice_order_say(struct mom *m, struct run *r, const struct exec_notice_data *d)
{
    struct exec_event_data data = {.kind = EXEC_EVENT_NOTICE_REPLY};

    data.exec_event_data_u.notice = *d;
    mom_say(m, r, &data);
}

void notice_order_reply(void *mom, struct run *r, const struct shep_notice_reply *a)
{
    const struct exec_notice_data d = {
        .attempt = a->attempt, .answer = a->answer, .need_s = a->need_s, .nodes = a->nodes};
    struct mom *m = mom;

    log_event(LOGC_JOB, LOGE_JOB, r->id, "the job answers notice %u: answer %d, needs %u s", a->attempt,
              (int)a->answer, (unsigned)a->need_s);
    if (a->answer == EXEC_NOTICE_SAVED)
        notice_save_said(&m->home, r, a->attempt);
    notice_order_say(m, r, &d);
}

static void notice_order_on_taken(void *arg, struct run *r, const struct shep_done *d)
{
    char none[1] = "";
    const struct exec_notice_data refuse = {
        .attempt = r->notice_attempt, .answer = EXEC_NOTICE_REFUSE, .nodes = none};

    if (!d->code)
        return;
    log_event(LOGC_JOB, LOGE_ERROR, r->id, "the job could not be given notice: %s (%d)", d->text, d->code);
    if (d->code == PBSE_NOSUP && !run_is_sister(r))
        notice_order_say(arg, r, &refuse);
}

/* "name=value" on a line of its own, where there is a value. */
static void add_line(struct strbuf *b, const char *name, const char *value)
{
    if (!*value)
        return;
    strbuf_addf(b, "%s=", name);
    for (; *value; value++)
        strbuf_add_char(b, *value == '\n' ? ' ' : *value);
    strbuf_add_char(b, '\n');
}

static void add_time(struct strbuf *b, const char *name, int64_t ms)
{
    if (ms)
        strbuf_addf(b, "%s=%lld.%03lld\n", name, (long long)(ms / MS_PER_S), (long long)(ms % MS_PER_S));
}

static void write_lines(const exec_notice_args *a, struct strbuf *b)
{
    add_line(b, "method", a->method);
    add_time(b, "deadline", a->deadline_ms);
    add_time(b, "latest", a->latest_ms);
    add_line(b, "for", a->urgent);
    add_line(b, "by", a->by);
    add_line(b, "wanted", a->wanted);
    add_line(b, "why", a->why);
    add_line(b, "answer", a->answer);
}

void notice_order_take(struct mom *m, struct run *r, const exec_notice_args *a)
{
    struct shep_notice_args s = {.attempt = a->attempt, .withdrawn = a->withdrawn, .target = a->target};
    struct strbuf text;

    log_event(LOGC_JOB, LOGE_JOB, r->id, a->withdrawn ? "notice %u is withdrawn: %s" : "notice %u: %s",
              a->attempt, a->why);
    strbuf_init(&text, TEXT_LIMIT);
    write_lines(a, &text);
    s.text = (char *)strbuf_str(&text);
    if (*a->signal && !a->withdrawn)
        s.signo = config_form_signal(a->signal, NULL);
    r->notice_attempt = a->attempt;
    if (a->withdrawn)
        notice_save_withdrawn(&m->home, r);
    else
        notice_save_begin(&m->home, r, a->attempt);
    shepherds_notice(r, &s, notice_order_on_taken, m);
    strbuf_fini(&text);
}
