/* Notices. See preempt_notice.h.
 *
 * The server speaks first (give); each host of the job may answer any number of times until the deadline, and gets
 * an order back that says what came of its answer. notice_hosts.c says when all that take part are ready. An answer to an earlier notice, or after the deadline, is logged and changes nothing. A
 * deadline only moves later, and never beyond grace_max. A host that comes back is sent what is in force (on_kept), a
 * withdrawal too.
 *
 * In the record: `method` is set while a notice is in force, `given_ms` once one was given, `over` once none is to be given any more.
 *
 * Every order carries the whole notice, so one that is repeated (a new deadline, an answer, a host that came back) makes
 * the notice file what it is to be; only the attempt's number tells a shepherd that it is a new one. A host that
 * cannot tell its job is not a reason to wait: then there is no notice. */
#include "preempt_notice.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <exec.h>

#include "exec_send.h"
#include "exec_vnode.h"
#include "earmark.h"
#include "intern.h"
#include "job_audit.h"
#include "job_run.h"
#include "log.h"
#include "notice_hosts.h"
#include "ranks.h"
#include "server_ctx.h"
#include "strbuf.h"

/* TEXT_LIMIT: below the bound of the texts of NOTICE in ifl/protocol/exec.x. */
enum { TEXT_LIMIT = 60000, MS_PER_S = 1000 };

struct preempt_notices {
    struct server_ctx *ctx;
    struct exec_send *send;
    struct job_audit *log;
    const char *of;       /* interned name of the earmark whose vnodes are in `wanted`; NULL: none */
    struct ranks *wanted; /* vnodes by their address, which is compared and never followed */
    struct preempt_notice_counts counts;
};

const struct preempt_notice_counts *preempt_notices_counts(const struct preempt_notices *n)
{
    return &n->counts;
}

struct preempt_notices *preempt_notices_create(struct server_ctx *s, struct exec_send *x, struct job_audit *l)
{
    struct preempt_notices *n = calloc(1, sizeof *n);

    if (n)
        *n = (struct preempt_notices){.ctx = s, .send = x, .log = l};
    return n;
}

void preempt_notices_destroy(struct preempt_notices *n)
{
    if (!n)
        return;
    intern_unref(n->of);
    ranks_destroy(n->wanted);
    free(n);
}

int64_t preempt_notices_grace_ms(const struct preempt_ask *a, const struct job *j, int64_t *max_ms)
{
    int64_t grace =
        preempt_policy_number(a, j, QUEUE_ATTR_preempt_grace, SCHED_ATTR_preempt_grace) * MS_PER_S;

    *max_ms =
        preempt_policy_number(a, j, QUEUE_ATTR_preempt_grace_max, SCHED_ATTR_preempt_grace_max) * MS_PER_S;
    /* A program that has said how long it needs to save itself need not ask for it then. */
    if (grace && j->run && (int64_t)j->run->need_s * MS_PER_S > grace && *max_ms > grace) {
        int64_t need = (int64_t)j->run->need_s * MS_PER_S;

        grace = need < *max_ms ? need : *max_ms;
    }
    return grace;
}

/* For people: "ready", "defer", "partial", "refuse", "decline", "saved", or "none". */
const char *preempt_notices_answer_name(int reply)
{
    switch (reply) {
    case EXEC_NOTICE_READY:
        return "ready";
    case EXEC_NOTICE_DEFER:
        return "defer";
    case EXEC_NOTICE_PARTIAL:
        return "partial";
    case EXEC_NOTICE_REFUSE:
        return "refuse";
    case EXEC_NOTICE_DECLINE:
        return "decline";
    case EXEC_NOTICE_SAVED:
        return "saved";
    default:
        return "none";
    }
}

/* --- what people and the job read ---------------------------------------------------------------------- */

/* The vnodes of this earmark, found once for all its victims: a plan may have 10,000 of them and 50,000 chunks. */
static int know_wanted(struct preempt_notices *n, const struct earmark_obj *h)
{
    const char *text = attr_list_text(&h->obj.attrs, HOLD_ATTR_exec_vnode);
    struct exec_vnode *where;

    if (n->of && strcmp(n->of, h->obj.name) == 0)
        return 0;
    ranks_destroy(n->wanted);
    intern_unref(n->of);
    n->of = NULL;
    n->wanted = ranks_create();
    where = n->wanted && text ? exec_vnode_parse(text, NULL) : NULL;
    for (size_t i = 0; where && i < where->n; i++) {
        const struct node *node = nodes_find(n->ctx->nodes, where->part[i].vnode);

        if (node)
            (void)ranks_add(n->wanted, node); /* without memory the notice names fewer */
    }
    if (where)
        n->of = intern_ref(h->obj.name);
    exec_vnode_destroy(where);
    return n->wanted ? 0 : -1;
}

/* Of the vnodes that the urgent job is to have, those that this job uses; as many as a notice holds. */
static void add_wanted(struct preempt_notices *n, const struct job *j, struct strbuf *out)
{
    const struct earmark_obj *h = j->gives_way_to;

    if (!h || know_wanted(n, h) < 0)
        return;
    for (const struct node_use *u = j->uses; u; u = u->next_of_job) {
        const char *name = u->node->obj.name;

        if (u->lent || ranks_find(n->wanted, u->node) == RANKS_NONE)
            continue;
        if (out->len + strlen(name) + 1 >= TEXT_LIMIT)
            return;
        strbuf_add_sep(out, "+");
        strbuf_add(out, name);
    }
}

static void set_comment(struct preempt_notices *n, struct job *j, const char *text)
{
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, text, NULL);
    jobs_touch(n->ctx->jobs, j, PART_HOT | PART_ATTRS);
}

/* Write for which job the notice is given, and at whose request. */
static void add_reason(const struct job *j, struct strbuf *out)
{
    const struct preempt_record *m = j->preempt;

    if (m->urgent)
        strbuf_addf(out, "to make room for job %s", m->urgent);
    else
        strbuf_addf(out, "at request of %s", m->by);
}

/* The method that comes next. */
static const struct preempt_method_row *next_method(const struct job *j)
{
    enum method_id m = preempt_methods_first(&j->preempt->left);

    return preempt_method_row(m == METHOD_NONE ? METHOD_DELETE : m);
}

static void comment(struct preempt_notices *n, struct job *j)
{
    time_t at = (time_t)(j->preempt->notice.deadline_ms / MS_PER_S);
    struct strbuf b;
    struct tm tm;
    char when[64];

    localtime_r(&at, &tm);
    strftime(when, sizeof when, "%a %b %d at %H:%M:%S", &tm);
    strbuf_init(&b, TEXT_LIMIT);
    strbuf_addf(&b, "Notice: will be %s on %s ", next_method(j)->done, when);
    add_reason(j, &b);
    set_comment(n, j, strbuf_str(&b));
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "%s", strbuf_str(&b));
    job_audit_note(n->log, j, "notice: %s deadline_ms=%lld", next_method(j)->name,
                   (long long)j->preempt->notice.deadline_ms);
    strbuf_fini(&b);
}

/* --- orders -------------------------------------------------------------------------------------------- */

/* What the job has asked for: "USR1:all" */
static void take_signal(const struct job *j, char out[32], exec_target *target)
{
    const char *wish = attr_list_text(&j->obj.attrs, JOB_ATTR_preempt_signal);

    snprintf(out, 32, "%.*s", wish ? (int)strcspn(wish, ":") : 0, wish ? wish : "");
    *target = wish && strchr(wish, ':') ? EXEC_TARGET_ALL : EXEC_TARGET_SCRIPT;
}

/* Which hosts an order is for: all, with an answer to one of them, or that one alone. */
struct notice_to {
    const char *service; /* NULL: no host has answered */
    const char *answer;
    bool alone;
};

static void send_it(struct preempt_notices *n, struct job *j, struct notice_to to)
{
    const struct preempt_record *m = j->preempt;
    struct strbuf wanted, why;
    char signal[32];
    exec_notice_args a = {.attempt = m->notice.attempt,
                          .method = (char *)next_method(j)->name,
                          .deadline_ms = m->notice.deadline_ms,
                          .latest_ms = m->notice.given_ms + m->notice.grace_max_ms,
                          .urgent = (char *)(m->urgent ? m->urgent : ""),
                          .by = (char *)m->by,
                          .answer = (char *)to.answer,
                          .signal = signal};

    strbuf_init(&wanted, TEXT_LIMIT);
    strbuf_init(&why, TEXT_LIMIT);
    add_wanted(n, j, &wanted);
    add_reason(j, &why);
    a.wanted = (char *)strbuf_str(&wanted);
    a.why = (char *)strbuf_str(&why);
    if (a.latest_ms < a.deadline_ms)
        a.latest_ms = a.deadline_ms;
    take_signal(j, signal, &a.target);
    if (to.alone)
        exec_send_notice_to(n->send, j, to.service, &a);
    else
        exec_send_notice(n->send, j, &a, to.service);
    strbuf_fini(&wanted);
    strbuf_fini(&why);
}

/* What came of its answer, to the host that has given it: another one might take it for that to an answer of its own. */
static void send_answer(struct preempt_notices *n, struct job *j, const char *service, const char *answer)
{
    send_it(n, j, (struct notice_to){service, answer, .alone = true});
}

/* To one host, or (NULL) to all. */
static void send_withdrawn(struct preempt_notices *n, struct job *j, const char *service, const char *why)
{
    char none[1] = "";
    exec_notice_args a = {.attempt = j->run->notices,
                          .withdrawn = true,
                          .method = none,
                          .urgent = none,
                          .by = none,
                          .wanted = none,
                          .why = (char *)why,
                          .answer = none,
                          .signal = none,
                          .target = EXEC_TARGET_SCRIPT};

    if (service)
        exec_send_notice_to(n->send, j, service, &a);
    else
        exec_send_notice(n->send, j, &a, NULL);
}

/* --- its life ------------------------------------------------------------------------------------------ */

bool preempt_notices_give(struct preempt_notices *n, struct job *j, const struct stop_method *m)
{
    struct preempt_notice *x = &j->preempt->notice;
    struct err e;

    if (!x->grace_ms || x->over || !preempt_method_ends_run(m->id) || j->state != JOB_RUNNING ||
        j->intent != INTENT_NONE || m->can(m->arg, j, &e) < 0 || !exec_send_can_notice(n->send, j))
        return false;
    x->given_ms = clock_wall_ms(n->ctx->clock);
    x->deadline_ms = x->given_ms + x->grace_ms;
    x->attempt = ++j->run->notices;
    x->method = m->id;
    j->preempt->method = METHOD_NONE;
    n->counts.given++;
    notice_hosts_begin(j->run);
    x->reply = 0;
    comment(n, j);
    send_it(n, j, (struct notice_to){.answer = ""});
    return true;
}

/* true: the deadline is another one, which all hosts must know. */
static bool stretch(struct preempt_notices *n, struct job *j, const char *service, unsigned need_s)
{
    struct preempt_notice *x = &j->preempt->notice;
    int64_t latest = x->given_ms + (x->grace_max_ms > x->grace_ms ? x->grace_max_ms : x->grace_ms);
    int64_t wanted = clock_wall_ms(n->ctx->clock) + (int64_t)need_s * MS_PER_S;
    bool enough = wanted <= latest, later;

    if (!enough)
        wanted = latest;
    later = wanted > x->deadline_ms;
    if (later) {
        x->deadline_ms = wanted;
        comment(n, j);
    }
    send_it(n, j,
            (struct notice_to){service, enough ? "granted" : "no more time than this is granted",
                               .alone = !later});
    return later;
}

/* Note what the host has said, for the job as well. */
static void note_answer(struct preempt_notices *n, struct job *j, const char *service,
                        const exec_notice_data *d)
{
    const char *name = preempt_notices_answer_name((int)d->answer);

    job_run_host(j->run, service)->answer = (int)d->answer;
    j->preempt->notice.reply = notice_hosts_answer(j->run);
    n->counts.answers[(unsigned)d->answer % PREEMPT_NOTICE_ANSWERS]++;
    jobs_touch(n->ctx->jobs, j, PART_HOT);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "answers its notice on %s: %s %s", job_run_host_name(service),
              name, d->nodes);
    job_audit_note(n->log, j, "notice-reply: %s host=%s need_s=%u nodes=%s", name, job_run_host_name(service),
                   d->need_s, d->nodes);
}

enum preempt_notice_effect preempt_notices_answer(struct preempt_notices *n, struct job *j,
                                                  const char *service, const exec_notice_data *d)
{
    const struct preempt_record *m = j->preempt;

    if (!preempt_notice_is_given(m) || d->attempt != m->notice.attempt) {
        log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name,
                  "an answer to notice %u is ignored: that notice is not in force", d->attempt);
        return PREEMPT_NOTICE_NOTHING;
    }
    note_answer(n, j, service, d);
    switch (d->answer) {
    case EXEC_NOTICE_DEFER:
        return stretch(n, j, service, d->need_s) ? PREEMPT_NOTICE_LATER : PREEMPT_NOTICE_NOTHING;
    case EXEC_NOTICE_PARTIAL:
        return PREEMPT_NOTICE_OFFER;
    case EXEC_NOTICE_DECLINE:
        send_answer(n, j, service, "recorded: the deadline remains");
        return PREEMPT_NOTICE_NOTHING;
    case EXEC_NOTICE_READY:
    case EXEC_NOTICE_REFUSE:
    case EXEC_NOTICE_SAVED:
        return notice_hosts_are_ready(j->run) ? PREEMPT_NOTICE_NOW : PREEMPT_NOTICE_NOTHING;
    }
    return PREEMPT_NOTICE_NOTHING;
}

bool preempt_notices_review(struct preempt_notices *n, struct job *j)
{
    int reply;

    if (!preempt_notice_is_given(j->preempt))
        return false;
    reply = notice_hosts_answer(j->run);
    if (reply != j->preempt->notice.reply) {
        j->preempt->notice.reply = reply;
        jobs_touch(n->ctx->jobs, j, PART_HOT);
    }
    return notice_hosts_are_ready(j->run);
}

void preempt_notices_refuse_offer(struct preempt_notices *n, struct job *j, const char *service,
                                  const char *why)
{
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "its offer is not accepted: %s", why);
    send_answer(n, j, service, why);
}

void preempt_notices_close(struct preempt_notices *n, struct job *j)
{
    j->preempt->notice.over = true;
    jobs_touch(n->ctx->jobs, j, PART_HOT);
}

/* What has happened goes to the job's comment, and to the job: its notice file and what its hosts were told go. */
static void say_withdrawn(struct preempt_notices *n, struct job *j, const char *what, const char *why)
{
    struct strbuf b;

    strbuf_init(&b, TEXT_LIMIT);
    strbuf_addf(&b, "%s withdrawn: %s", what, why);
    set_comment(n, j, strbuf_str(&b));
    strbuf_fini(&b);
    send_withdrawn(n, j, NULL, why);
}

/* Remove the notice file, and the text that announced an end to users. */
static void take_back(struct preempt_notices *n, struct job *j, const char *why)
{
    j->preempt->notice.method = METHOD_NONE;
    preempt_notices_close(n, j);
    if (!j->run || j->state == JOB_EXITING)
        return;
    n->counts.withdrawn++;
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "the notice is withdrawn: %s", why);
    job_audit_note(n->log, j, "notice-withdrawn: %s", why);
    say_withdrawn(n, j, "Notice", why);
}

void preempt_notices_withdraw(struct preempt_notices *n, struct job *j, const char *why)
{
    if (preempt_notice_is_given(j->preempt))
        take_back(n, j, why);
}

void preempt_notices_withdraw_end(struct preempt_notices *n, struct job *j, const char *why)
{
    j->preempt->notice.method = METHOD_NONE;
    n->counts.withdrawn += j->preempt->notice.given_ms != 0;
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "the preemption is withdrawn, it may run on: %s", why);
    job_audit_note(n->log, j, "withdrawn: %s", why);
    say_withdrawn(n, j, "Preemption", why);
}

static void came_true(struct preempt_notices *n, struct job *j)
{
    struct strbuf b;

    strbuf_init(&b, TEXT_LIMIT);
    strbuf_add(&b, "Queued again ");
    add_reason(j, &b);
    set_comment(n, j, strbuf_str(&b));
    strbuf_fini(&b);
}

void preempt_notices_settled(struct preempt_notices *n, struct job *j, enum preempt_result r)
{
    const struct preempt_notice *x = &j->preempt->notice;

    if (!x->given_ms)
        return;
    if (job_is_waiting(j))
        came_true(n, j);
    else if (x->method && r == PREEMPT_SUSPENDED)
        take_back(n, j, "the job is suspended instead");
    else if (x->method && r == PREEMPT_FAILED)
        take_back(n, j, "no method could be applied");
}

void preempt_notices_on_kept(void *arg, const struct server_event *ev)
{
    struct preempt_notices *n = arg;
    struct job *j = ev->job;

    if (!j->run || !j->run->notices || j->run->finished)
        return;
    if (preempt_notice_is_given(j->preempt))
        send_answer(n, j, ev->service, "");
    else if (!j->preempt || job_run_is_withdrawing(j))
        send_withdrawn(n, j, ev->service, "it was withdrawn before");
}
