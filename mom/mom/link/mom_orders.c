/* Orders are answered at once, taken or refused; what comes of them is an event. Only SIGNAL, MESSAGE and PEEK wait for the
 * shepherd's answer, because that is their only result. The server repeats an order whose answer was lost, so each may come twice:
 * the same START is taken again, another START for the same job and run is refused, an attempt at work is not begun again, PURGE of
 * a run that is not here is done. An order may also come late: where the run has ended, its end is on the way and is the answer.
 *
 * What belongs to an order (attempt, grace, why) is written into the run before the event is posted: the
 * machine's events carry nothing. An order of another store than the run's is refused, so that a server that
 * was restored from elsewhere kills no job. "Taken" is said before the event is posted, which may free the
 * run. */
#include "mom_orders.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <exec.h>

#include "ckpt.h"
#include "mom_config.h"
#include "config_forms.h"
#include "exec_service.h"
#include "hook_event.h"
#include "host_event.h"
#include "host_sync.h"
#include "images.h"
#include "requeue_output.h"
#include "log.h"
#include "nodefile.h"
#include "notice_order.h"
#include "mom.h"
#include "pbs_error.h"
#include "prepare.h"
#include "preterm_order.h"
#include "rpc_buf.h"
#include "rpc_conn.h"
#include "mom_run.h"
#include "shepherds.h"
#include "site_action.h"
#include "run_serialize.h"

/* The run an order is about, if it is here and of the same store; else the order is answered. */
static struct run *mom_orders_find(struct mom *m, const wire_job *job, unsigned run, const char *store,
                                   struct rpc_request *q)
{
    struct run *r = run_find(m->runs, job, run);
    char text[128];

    if (r && strcmp(r->start.store, store) == 0)
        return r;
    if (r) {
        log_event(LOGC_JOB, LOGE_ERROR, r->id, "order refused: the run is of store %s, the order of store %s",
                  r->start.store, store);
        exec_service_taken(q, PBSE_BADSTATE, "the run belongs to another store");
    } else {
        snprintf(text, sizeof text, "run %u of job %lld is not here", run, (long long)job->seq);
        exec_service_taken(q, PBSE_UNKJOBID, text);
    }
    return NULL;
}

/* ---- START */
static const char *wrong_with(const exec_start_args *a)
{
    if (a->hosts.hosts_len == 0 || a->my_host >= a->hosts.hosts_len)
        return "START names no host of ours";
    if (!a->id[0] || strchr(a->id, '/') || !a->user[0])
        return "START names no job or no user";
    if (a->script.script_len > a->script_length)
        return "START has a longer script than it announces";
    return NULL;
}

static void mom_orders_begin_run(struct mom *m, const exec_start_args *a, struct rpc_request *q)
{
    struct err e = {0};
    struct run *r = prepare_take(m->prepare, a, &e);

    if (r && log_is_on(LOGE_DEBUG3))
        log_event(LOGC_JOB, LOGE_DEBUG3, r->id, "run %u: taken", r->key.run);
    exec_service_taken(q, r ? 0 : e.code, r ? NULL : e.text);
    if (r)
        run_serialize_begin(m, r);
    else
        log_event(LOGC_JOB, LOGE_ERROR, a->id, "START refused: %s", e.text);
}

static void mom_orders_take_start(void *arg, const void *args, struct rpc_request *q)
{
    struct mom *m = arg;
    const exec_start_args *a = args;
    const struct run *held = run_find(m->runs, &a->job, a->run);
    const char *wrong = wrong_with(a);

    if (wrong) {
        exec_service_taken(q, PBSE_IVALREQ, wrong);
    } else if (held) {
        bool same = run_start_is_same(&held->start, a);

        exec_service_taken(q, same ? 0 : PBSE_JOBEXIST, same ? NULL : "another START had this job and run");
    } else {
        mom_orders_begin_run(m, a, q);
    }
}

static void mom_orders_on_piece(void *arg, const struct rpc_outcome *out);

struct piece { /* a piece of a script under way */
    struct mom *m;
    wire_job job;
    unsigned run;
};

void mom_orders_fetch_script(void *arg, struct run *r, uint64_t offset)
{
    struct mom *m = arg;
    struct piece *p = malloc(sizeof *p);
    exec_script_args a = {.job = run_job(r), .run = r->key.run, .offset = offset};
    struct err e = {0};

    if (p)
        *p = (struct piece){m, run_job(r), r->key.run};
    /* Without a server it is asked again when there is one (prepare_again). */
    if (!p || exec_service_get_script(m->service, &a, mom_orders_on_piece, p, &e) < 0)
        free(p);
}

static void mom_orders_on_piece(void *arg, const struct rpc_outcome *out)
{
    struct piece p = *(struct piece *)arg;
    struct run *r = run_find(p.m->runs, &p.job, p.run);
    const exec_script_result *res = out->result;

    free(arg);
    if (!r || out->status == RPC_ST_LOST)
        return;
    if (out->status != RPC_ST_OK || res->code)
        prepare_piece(p.m->prepare, r, NULL, 0);
    else
        prepare_piece(p.m->prepare, r, res->data.data_val, res->data.data_len);
}

static void mom_orders_take_launch(void *arg, const void *args, struct rpc_request *q)
{
    const exec_order_args *a = args;
    struct run *r = mom_orders_find(arg, &a->job, a->run, a->store, q);

    if (!r)
        return;
    exec_service_taken(q, 0, NULL);
    if (a->ext.wire_ext_len && !r->lost_hosts)
        r->lost_hosts = strndup(a->ext.wire_ext_val, a->ext.wire_ext_len);
    mom_post(arg, r, RUN_EV_LAUNCH);
}

/* ---- signals */
static void mom_orders_answer(struct rpc_request *q, const struct shep_done *d)
{
    exec_service_taken(q, d->code, d->code ? d->text : NULL);
    rpc_request_unref(q);
}

/* The job cannot take it in its state: the text names the state for people, and the number for those who search logs. */
static void mom_orders_refuse(const struct run *r, struct rpc_request *q, const char *what, const char *text)
{
    log_event(LOGC_JOB, LOGE_JOB, r->id, "%s, job substate = %d", what, run_substate(r));
    exec_service_taken(q, PBSE_BADSTATE, text);
}

/* No process of it is left: its end is on its way, or was told in the meantime; the signal was taken while it ran. */
static void mom_orders_on_signalled(void *arg, struct run *r, const struct shep_done *d)
{
    struct rpc_request *q = arg;

    if (d->code == PBSE_BADSTATE)
        log_event(LOGC_JOB, LOGE_JOB, r->id, "Job recycled into exiting on signal from substate %d",
                  run_is_active(r) ? run_substate(r) : 42);
    mom_orders_answer(q, d);
}

static void mom_orders_on_said(void *arg, struct run *r, const struct shep_done *d)
{
    mom_orders_answer(arg, d);
}

static void mom_orders_take_signal(void *arg, const void *args, struct rpc_request *q)
{
    const exec_signal_args *a = args;
    struct run *r = mom_orders_find(arg, &a->job, a->run, a->store, q);
    struct err e = {0};
    char text[64];
    int signo;

    if (!r)
        return;
    if (strcmp(a->signal, PRETERM_SIGNAL) == 0) {
        preterm_order_take(arg, r, q);
        return;
    }
    log_event(LOGC_JOB, LOGE_JOB, r->id, "signal job with %s", a->signal);
    signo = config_form_signal(a->signal, &e);
    snprintf(text, sizeof text, "cannot signal job, it is %s", run_fsm_state_name(r->slot.state));
    if (signo < 0)
        exec_service_taken(q, PBSE_UNKSIG, e.text);
    else if (r->slot.state != RUN_RUNNING &&
             r->slot.state != RUN_LAUNCHING && /* it may run before we hear of it */
             !(r->slot.state == RUN_SUSPENDED && signo == SIGKILL))
        mom_orders_refuse(r, q, "cannot signal job", text);
    else
        shepherds_signal(r, signo, a->target, mom_orders_on_signalled, rpc_request_ref(q));
}

static void mom_orders_take_message(void *arg, const void *args, struct rpc_request *q)
{
    const exec_message_args *a = args;
    struct run *r = mom_orders_find(arg, &a->job, a->run, a->store, q);

    if (!r)
        return;
    if (run_is_active(r))
        shepherds_message(r, a->files, a->text, mom_orders_on_said, rpc_request_ref(q));
    else
        exec_service_taken(q, PBSE_BADSTATE, "the job does not run");
}

static void mom_orders_on_peeked(void *arg, const struct shep_peek_result *res)
{
    char gone[] = "the job's shepherd is not there";
    exec_taken t = {.code = res ? res->code : PBSE_SYSTEM, .text = res ? res->text : gone};
    struct byte_buf piece;

    byte_buf_init(&piece);
    if (!t.code && rpc_buf_encode(&piece, (xdrproc_t)xdr_exec_peeked, &res->piece) < 0)
        t.code = PBSE_SYSTEM;
    t.ext.wire_ext_len = (u_int)piece.len;
    t.ext.wire_ext_val = (char *)piece.bytes;
    exec_service_answer(arg, &t);
    byte_buf_fini(&piece);
    rpc_request_unref(arg);
}

static void mom_orders_take_peek(void *arg, const void *args, struct rpc_request *q)
{
    const exec_peek_args *a = args;
    struct run *r = mom_orders_find(arg, &a->job, a->run, a->store, q);

    if (!r)
        return;
    if (run_is_active(r))
        shepherds_peek(r, a->file, a->offset, mom_orders_on_peeked, rpc_request_ref(q));
    else
        exec_service_taken(q, PBSE_BADSTATE, "the job does not run");
}

static void mom_orders_take_notice(void *arg, const void *args, struct rpc_request *q)
{
    const exec_notice_args *a = args;
    struct run *r = mom_orders_find(arg, &a->job, a->run, a->store, q);

    if (!r)
        return;
    if (r->slot.state >= RUN_ENDING || !r->shepherd) {
        exec_service_taken(q, PBSE_BADSTATE, "the job does not run");
        return;
    }
    exec_service_taken(q, 0, NULL);
    notice_order_take(arg, r, a);
}

/* The job is over here: its end is under way to the server and answers whatever is asked of it. A refusal that
 * overtook it would have the server try something else. */
static bool is_answered_by_its_end(const struct run *r)
{
    return r->slot.state >= RUN_ENDING && !run_is_sister(r);
}

/* "SUSPEND" for "suspend": what a sister is told has the name of a message in PBS. */
static void log_order(const struct run *r, const char *method)
{
    char name[16];

    if (!run_is_sister(r)) {
        log_event(LOGC_JOB, LOGE_JOB, r->id, "signal job with %s", method);
        return;
    }
    snprintf(name, sizeof name, "%s", method);
    for (char *p = name; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    log_event(LOGC_JOB, LOGE_JOB, r->id, "%s received", name);
}

static void take_attempt(struct mom *m, const exec_attempt_args *a, struct rpc_request *q, const char *method,
                         enum run_event ev)
{
    struct run *r = mom_orders_find(m, &a->job, a->run, a->store, q);
    char what[32], text[80];

    if (!r)
        return;
    log_order(r, method);
    if (is_answered_by_its_end(r)) {
        exec_service_taken(q, 0, NULL);
        return;
    }
    if (!run_is_active(r)) {
        snprintf(what, sizeof what, "%s failed", method);
        snprintf(text, sizeof text, "%s, the job is %s", what, run_fsm_state_name(r->slot.state));
        mom_orders_refuse(r, q, what, text);
        return;
    }
    if (site_action_is_active(r) && !(ev == RUN_EV_SUSPEND && r->slot.state == RUN_SUSPENDED)) {
        exec_service_taken(q, PBSE_MOMREJECT, "a script of $action is at work on the job");
        return;
    }
    exec_service_taken(q, 0, NULL);
    r->attempt = a->attempt;
    r->attempt_method = method;
    mom_post(m, r, ev);
}

/* Remove the images of attempts that did not succeed on all hosts. */
static void keep_image(struct mom *m, const struct run *r, const wire_ext *name)
{
    char *text = strndup(name->wire_ext_val ? name->wire_ext_val : "", name->wire_ext_len);

    if (text)
        images_keep_only(&m->home, r, text);
    free(text);
}

/* A repeated order finds the attempt at work and changes nothing. */
static void begin_checkpoint(struct mom *m, struct run *r, const exec_checkpoint_args *a)
{
    if (run_is_sister(r))
        log_event(LOGC_JOB, LOGE_JOB, r->id, "CHECKPOINT%s received", a->leave ? "_ABORT" : "");
    r->attempt = r->ckpt.attempt = a->attempt;
    r->attempt_method = "checkpoint";
    r->ckpt.leave = a->leave;
    if (images_are_joint(r) && !images_has(&m->home, r))
        keep_image(m, r, &a->ext);
    mom_post(m, r, RUN_EV_CHECKPOINT);
}

static void mom_orders_take_checkpoint(void *arg, const void *args, struct rpc_request *q)
{
    struct mom *m = arg;
    const exec_checkpoint_args *a = args;
    struct run *r = mom_orders_find(m, &a->job, a->run, a->store, q);

    if (!r)
        return;
    if (is_answered_by_its_end(r) && !site_action_is_active(r)) {
        exec_service_taken(q, 0, NULL);
        return;
    }
    if (site_action_is_active(r)) {
        bool same = r->ckpt.attempt == a->attempt && !r->terminating;

        exec_service_taken(q, same ? 0 : PBSE_BADSTATE,
                           same ? NULL : "req_holdjob failed: Checkpoint active.");
    } else if (r->slot.state != RUN_RUNNING && r->slot.state != RUN_SUSPENDED) {
        exec_service_taken(q, PBSE_BADSTATE, "req_holdjob failed: Job not running or suspended.");
    } else if (!ckpt_is_offered(m->home.config)) {
        exec_service_taken(q, PBSE_NOSUP, "this host has no $action checkpoint");
    } else {
        exec_service_taken(q, 0, NULL);
        begin_checkpoint(m, r, a);
    }
}

static void mom_orders_take_suspend(void *arg, const void *args, struct rpc_request *q)
{
    take_attempt(arg, args, q, "suspend", RUN_EV_SUSPEND);
}

static void mom_orders_take_resume(void *arg, const void *args, struct rpc_request *q)
{
    struct mom *m = arg;
    const exec_attempt_args *a = args;
    struct run *r = a->ext.wire_ext_len ? run_find(m->runs, &a->job, a->run) : NULL;

    if (r && strcmp(r->start.store, a->store) == 0 && !site_action_is_active(r) && images_are_joint(r))
        images_drop(&m->home, r);
    take_attempt(arg, args, q, "resume", RUN_EV_RESUME);
}

/* ---- the end */
/* The whole job exceeds a limit that no single host can see. It ends here as if this host had seen it. */
static void take_limit(struct run *r, const exec_terminate_args *a)
{
    exec_over_limit over = {0};

    if (rpc_buf_decode(a->ext.wire_ext_val, a->ext.wire_ext_len, (xdrproc_t)xdr_exec_over_limit, &over) ==
        0) {
        log_event(LOGC_JOB, LOGE_JOB, r->id, "%s", over.text);
        r->stop_reason = over.reason == EXEC_END_MEM ? EXEC_END_MEM : EXEC_END_CPUT;
        snprintf(r->stop_text, sizeof r->stop_text, "job killed: %.100s", over.text);
    }
    xdr_free((xdrproc_t)xdr_exec_over_limit, &over);
}

static void keep_output(struct run *r, bool keep)
{
    if (r->keep_output != keep)
        mom_note(r, keep ? SHEP_NOTE_KEEP_OUTPUT : SHEP_NOTE_GIVE_OUTPUT);
    r->keep_output = keep;
}

static bool may_withdraw(const exec_terminate_args *a)
{
    return (a->why == EXEC_WHY_DELETE || a->why == EXEC_WHY_REQUEUE) &&
           a->ext.wire_ext_len == strlen(EXEC_MAY_WITHDRAW) &&
           memcmp(a->ext.wire_ext_val, EXEC_MAY_WITHDRAW, a->ext.wire_ext_len) == 0;
}

/* What kind of end the order asks for; an earlier order to end, or to withdraw one, is replaced. */
static void note_end(const struct mom *m, struct run *r, const exec_terminate_args *a)
{
    r->grace_s = a->why == EXEC_WHY_FORCE || a->why == EXEC_WHY_CHECKPOINT
                     ? 0
                     : config_grace_s(m->home.config, a->grace_s);
    r->stop_reason = a->why == EXEC_WHY_CHECKPOINT ? EXEC_END_CHECKPOINTED : EXEC_END_TERMINATED;
    r->stop_text[0] = '\0';
    r->withdrawing = false;
    r->may_withdraw = may_withdraw(a);
    if (a->why == EXEC_WHY_LIMIT)
        take_limit(r, a);
}

static void mom_orders_take_terminate(void *arg, const void *args, struct rpc_request *q)
{
    struct mom *m = arg;
    const exec_terminate_args *a = args;
    struct run *r = mom_orders_find(m, &a->job, a->run, a->store, q);

    if (!r)
        return;
    exec_service_taken(q, 0, NULL);
    if (run_is_sister(r))
        log_event(LOGC_JOB, LOGE_JOB, r->id, "KILL_JOB received");
    else
        log_event(LOGC_JOB, LOGE_JOB, r->id, "signal job with %s",
                  a->why == EXEC_WHY_REQUEUE ? "Rerun" : "TermJob");
    if (a->why == EXEC_WHY_DELETE)
        keep_output(r, false); /* an earlier order was to requeue it; now it is deleted */
    if (r->slot.state >= RUN_ENDING)
        return;
    if (a->why == EXEC_WHY_REQUEUE || a->why == EXEC_WHY_CHECKPOINT)
        keep_output(r, true);
    note_end(m, r, a);
    if (a->why == EXEC_WHY_DELETE && run_is_sister(r) && preterm_order_wait(m, r))
        return;
    r->preterm_waits = false; /* this end is harder than the one that waits for hooks */
    mom_post(m, r, RUN_EV_TERMINATE);
}

/* A script or hooks of the site that are at work on the end know nothing of a withdrawal. */
static void mom_orders_take_withdraw(void *arg, const void *args, struct rpc_request *q)
{
    const exec_attempt_args *a = args;
    struct run *r = mom_orders_find(arg, &a->job, a->run, a->store, q);

    if (!r)
        return;
    log_order(r, "withdraw");
    if (is_answered_by_its_end(r)) {
        exec_service_taken(q, 0, NULL);
        return;
    }
    if (r->slot.state != RUN_RUNNING || r->terminating || r->preterm_waits || site_action_is_active(r)) {
        mom_orders_refuse(r, q, "withdraw failed", "the end of the job cannot be withdrawn any more");
        return;
    }
    exec_service_taken(q, 0, NULL);
    r->attempt = a->attempt;
    r->attempt_method = "withdraw";
    r->withdrawing = true;
    mom_post(arg, r, RUN_EV_WITHDRAW);
}

/* Images that no run needs any more, and what earlier runs have written. A run of the job that is here continues. */
static void remove_left(struct mom *m, const exec_order_args *a)
{
    const struct run *r = run_find_any(m->runs, &a->job);

    if (r) {
        images_keep_only(&m->home, r, "");
        return;
    }
    images_remove(&m->home, a->job.seq, a->job.index);
    if (a->ext.wire_ext_len == strlen(EXEC_PURGE_IMAGE) &&
        memcmp(a->ext.wire_ext_val, EXEC_PURGE_IMAGE, a->ext.wire_ext_len) == 0)
        return;
    requeue_output_remove(&m->home, a->job.seq, a->job.index);
}

static void mom_orders_take_purge(void *arg, const void *args, struct rpc_request *q)
{
    struct mom *m = arg;
    const exec_order_args *a = args;
    struct run *r = run_find(m->runs, &a->job, a->run);

    if (!r) {
        if (a->ext.wire_ext_len)
            remove_left(m, a);
        exec_service_taken(q, 0, NULL);
        return;
    }
    if (!mom_orders_find(m, &a->job, a->run, a->store, q))
        return;
    log_event(LOGC_JOB, LOGE_DEBUG, r->id,
              run_is_sister(r) ? "DELETE_JOB received" : "delete job request received");
    exec_service_taken(q, 0, NULL);
    mom_post(m, r, RUN_EV_PURGE);
}

/* ---- UPDATE */
/* How many of the vnodes that the job has here it gives back. */
static u_int count_given_up(const exec_job_host *h, const exec_update_args *a)
{
    u_int n = 0;

    for (u_int i = 0; i < h->chunks.chunks_len; i++)
        n += nodefile_gives_up(a, h->chunks.chunks_val[i].vnode);
    return n;
}

static void leave_job(struct mom *m, struct run *r)
{
    log_event(LOGC_JOB, LOGE_JOB, r->id, "DELETE_JOB2 received");
    r->given_up = true;
    r->grace_s = config_grace_s(m->home.config, r->start.kill_delay_s);
    r->stop_reason = EXEC_END_TERMINATED;
    r->stop_text[0] = '\0';
    mom_post(m, r, RUN_EV_TERMINATE);
}

static void mom_orders_on_resize_hooks(void *arg, struct run *r, const struct host_verdict *v)
{
    if (r && !v->accepted)
        log_event(LOGC_JOB, LOGE_JOB, r->id, "execjob_resize hook rejected request: %s",
                  v->message ? v->message : "");
}

static void mom_orders_alter(struct run *r, const exec_update_args *a)
{
    struct err e;

    run_alter(r, &a->attrs);
    if (journal_attrs(r, &a->attrs, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "run %u: %u altered attributes are not in the journal", r->key.run,
                a->attrs.wire_attrs_len);
}

/* The job has given vnodes back, and keeps this host: its tasks are shown which hosts are left, then hooks are. */
static void mom_orders_resize(struct mom *m, struct run *r, const exec_update_args *a)
{
    struct err e;

    if (nodefile_replace(&m->home, r, a, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "run %u: its node file still has the vnodes that were given back",
                r->key.run);
    if (a->give_up.give_up_len <= r->n_given_up)
        return; /* the order was repeated */
    r->n_given_up = a->give_up.give_up_len;
    if (a->attrs.wire_attrs_len)
        mom_orders_alter(r, a);
    (void)host_event_ask(m, r, HOOK_EVENT_execjob_resize, NULL, mom_orders_on_resize_hooks, NULL);
}

/* A host can only be given back as a whole, since it is not known which vnode a process uses. One that stays shows its tasks which
 * hosts are left. A run that is ending already takes the order and changes nothing. */
static void mom_orders_give_up(struct mom *m, struct run *r, const exec_update_args *a, struct rpc_request *q)
{
    const exec_job_host *h = &r->start.hosts.hosts_val[r->start.my_host];
    u_int n = count_given_up(h, a);

    if (n && (n < h->chunks.chunks_len || !run_is_sister(r))) {
        exec_service_taken(q, PBSE_NOSUP, "a host can only be given up whole, and not the first one");
        return;
    }
    exec_service_taken(q, 0, NULL);
    if (r->slot.state >= RUN_ENDING || r->given_up)
        return;
    if (n)
        leave_job(m, r);
    else
        mom_orders_resize(m, r, a);
}

static void mom_orders_take_update(void *arg, const void *args, struct rpc_request *q)
{
    const exec_update_args *a = args;
    struct run *r = mom_orders_find(arg, &a->job, a->run, a->store, q);

    if (!r)
        return;
    if (a->give_up.give_up_len) {
        mom_orders_give_up(arg, r, a, q);
        return;
    }
    mom_orders_alter(r, a);
    exec_service_taken(q, 0, NULL);
    shepherds_update(r);
}

/* qterm -m: the signal comes after the answer has been sent, and is handled like one from an administrator. */
static void mom_orders_take_stop(void *arg, const void *args, struct rpc_request *q)
{
    log_event(LOGC_SVR, LOGE_SYSTEM, "pbs_mom", "told to end by the server");
    exec_service_taken(q, 0, NULL);
    kill(getpid(), SIGTERM);
}

/* An order that is added needs its procedure in ifl/protocol/exec.x and a row here; the exec service decodes its arguments and
 * refuses it from a server that was not accepted. */
const struct exec_service_order orders[] = {
    {EXEC_START, mom_orders_take_start},
    {EXEC_LAUNCH, mom_orders_take_launch},
    {EXEC_SIGNAL, mom_orders_take_signal},
    {EXEC_SUSPEND, mom_orders_take_suspend},
    {EXEC_RESUME, mom_orders_take_resume},
    {EXEC_UPDATE, mom_orders_take_update},
    {EXEC_CHECKPOINT, mom_orders_take_checkpoint},
    {EXEC_TERMINATE, mom_orders_take_terminate},
    {EXEC_PURGE, mom_orders_take_purge},
    {EXEC_MESSAGE, mom_orders_take_message},
    {EXEC_NOTICE, mom_orders_take_notice},
    {EXEC_STOP, mom_orders_take_stop},
    {EXEC_PEEK, mom_orders_take_peek},
    {EXEC_HOOKS, host_sync_take},
    {EXEC_WITHDRAW, mom_orders_take_withdraw},
};
const size_t orders_n = sizeof orders / sizeof orders[0];
