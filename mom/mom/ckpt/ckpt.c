/* The conversation: CHECKPOINT is taken at once where a script exists; the script's end is the outcome. Exit 0: the
 * image is whole and the job runs on; 3: it is whole and the tool has ended the job; anything else: nothing was saved
 * and the job runs on (4: this job cannot be saved at all, PBSE_NOSUP). The errand that runs the script looks whether that is so (mom/shepherd/files/action.c); what is not counts as
 * a failure, too. With "leave" the job is killed once its image is whole, so a crash in between loses nothing.
 *
 * A tool that ends the job itself makes the shepherd tell the end before the script's: the run waits, in ENDING, with
 * what it says (act_end.c). A MOM that dies ends the script too (by way of the errand); a note in the journal tells
 * the next one, which lets whatever was stopped go on. The server, which has heard nothing, asks again. */
#include "ckpt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <shep.h>

#include "mom_config.h"
#include "image_out.h"
#include "images.h"
#include "log.h"
#include "mom.h"
#include "pbs_error.h"
#include "rpc_buf.h"
#include "mom_run.h"
#include "notice_save.h"
#include "run_tasks.h"
#include "shepherds.h"
#include "site_action.h"
#include "strbuf.h"

enum { PATH_LEN_MAX = 8192, KB = 1024, MS_PER_MINUTE = 60000, SAVED = 0, SAVED_AND_GONE = 3, NOT_FOR_IT = 4 };

bool ckpt_is_offered(const struct config *c)
{
    return c->actions[ACTION_CHECKPOINT].argv.n || c->actions[ACTION_CHECKPOINT_ABORT].argv.n;
}

static bool job_allows(const struct run *r)
{
    const char *when = run_attr(r, "Checkpoint", "");

    return !when || strcmp(when, "n") != 0;
}

/* ---- restart */
static int plan_restart(const struct home *h, const struct run *r, struct shep_order *o, struct err *e)
{
    struct strbuf path;
    struct words argv;
    int rc;

    strbuf_init(&path, PATH_LEN_MAX);
    words_init(&argv);
    rc = images_find(h, r, &path, e);
    o->restart_session = rc == 0 ? images_session(path.s) : 0;
    /* A sister on which nothing ran has nothing to restart, and what has come is for the program alone. */
    if (rc == 0 && h->config->actions[ACTION_RESTART].argv.n && !images_is_from_elsewhere(r) &&
        (o->restart_session || !run_is_sister(r)))
        rc = site_action_argv(h->config, r, ACTION_RESTART, path.s, o->restart_session, &argv, e);
    if (rc == 0 && argv.n) {
        o->ext.wire_ext_len = (u_int)path.len;
        o->ext.wire_ext_val = strbuf_take(&path); /* ownership moves */
    }
    strbuf_fini(&path);
    if (rc < 0) {
        words_fini(&argv);
        return -1;
    }
    o->restart_argv.restart_argv_val = argv.w; /* ownership moves */
    o->restart_argv.restart_argv_len = (u_int)argv.n;
    o->restart_becomes_task = h->config->restart_becomes_task;
    o->restart_limit_s = (u_int)h->config->actions[ACTION_RESTART].limit_s;
    return 0;
}

int ckpt_plan(const struct home *h, const struct run *r, struct shep_order *o, struct err *e)
{
    struct strbuf dir;

    strbuf_init(&dir, PATH_LEN_MAX);
    if (images_is_restart(r) || (ckpt_is_offered(h->config) && job_allows(r)))
        images_dir(h, r->id, &dir);
    o->checkpoint_dir = strdup(strbuf_str(&dir));
    strbuf_fini(&dir);
    if (!o->checkpoint_dir)
        return err_set(e, PBSE_SYSTEM, "no memory for the order of job %s", r->id);
    return images_is_restart(r) ? plan_restart(h, r, o, e) : 0;
}

/* ---- an attempt */
static void ckpt_has_failed(struct run *r, int code, const char *text)
{
    r->attempt_code = code;
    snprintf(r->attempt_text, sizeof r->attempt_text, "%s", text);
}

static void ckpt_say_failed(struct mom *m, struct run *r)
{
    if (!r->ckpt.attempt)
        log_event(LOGC_JOB, LOGE_ERROR, r->id, "Checkpoint failed, error %d: %s", r->attempt_code,
                  r->attempt_text);
    if (r->ckpt.attempt || r->ckpt.end_waits)
        mom_post(m, r, RUN_EV_ATTEMPT_FAILED);
}

static void ckpt_fail(struct mom *m, struct run *r, int code, const char *text)
{
    ckpt_has_failed(r, code, text);
    ckpt_say_failed(m, r);
}

/* The script may have failed because the job has just ended. Then that end is all there is to say. */
static void ckpt_on_resumed(void *arg, struct run *r, const struct shep_done *d)
{
    if (run_is_active(r) && d->code != PBSE_BADSTATE)
        ckpt_say_failed(arg, r);
}

static void ckpt_on_suspended(void *arg, struct run *r, const struct shep_done *d)
{
    struct mom *m = arg;

    if (d->code) {
        ckpt_fail(m, r, d->code, d->text);
        return;
    }
    mom_post(m, r, RUN_EV_SUSPENDED);
    mom_post(m, r, RUN_EV_CHECKPOINTED);
}

/* The image is there. Where other hosts have to save too, the job is suspended until all have; what was suspended before
 * stays so. */
static void saved(struct mom *m, struct run *r)
{
    if (images_are_joint(r) && r->ckpt.leave && r->slot.state == RUN_RUNNING)
        shepherds_suspend(r, ckpt_on_suspended, m);
    else
        mom_post(m, r, RUN_EV_CHECKPOINTED);
}

static void ckpt_on_end(void *arg, struct run *r, const struct site_action_end *end)
{
    struct mom *m = arg;

    mom_note(r, SHEP_NOTE_CHECKPOINT_OVER);
    if (end->code == SAVED || end->code == SAVED_AND_GONE) {
        r->ckpt.leave |= end->code == SAVED_AND_GONE;
        r->ckpt.bytes = end->bytes;
        r->ckpt.took_ms = end->took_ms;
        saved(m, r);
        return;
    }
    images_drop_new(&m->home, r); /* a script that was killed has left it */
    log_event(LOGC_JOB, LOGE_JOB, r->id, "checkpoint failed: errno=%d", end->code);
    ckpt_has_failed(r, end->code == NOT_FOR_IT ? PBSE_NOSUP : PBSE_CKPSHORT,
                    end->text[0] ? end->text : "the script of $action has failed");
    if (r->slot.state == RUN_RUNNING) /* the tool may have stopped it */
        shepherds_continue(r, ckpt_on_resumed, m);
    else
        ckpt_say_failed(m, r);
}

/* Of the script, or of any task where that runs elsewhere; 0: nothing runs here. */
static int session_of(const struct run *r)
{
    struct run_tasks tasks;
    int session = r->started_record.pid;

    run_tasks_read(&tasks, r->path);
    if (!session && tasks.sessions.n)
        session = (int)tasks.sessions.list[0];
    run_tasks_fini(&tasks);
    return session;
}

static unsigned long long kb_free(const struct home *h)
{
    struct statvfs v;

    return statvfs(h->checkpoint, &v) < 0 ? ULLONG_MAX : (unsigned long long)v.f_bavail * v.f_frsize / KB;
}

/* What ckpt-app has saved is a file of the program's own, of whatever size: the program finds out whether there is room for it. */
static bool is_ckpt_app(const struct words *argv)
{
    const char *slash = strrchr(argv->w[0], '/');

    return strcmp(slash ? slash + 1 : argv->w[0], "ckpt-app") == 0;
}

/* A full disk would cost the old image too. Room is more than one before it to fall back on. */
static int check_space(const struct home *h, const struct run *r, const struct words *argv, struct err *e)
{
    unsigned long long needs = is_ckpt_app(argv) ? 0 : r->usage.mem_kb;

    if (kb_free(h) >= needs || (images_drop_previous(h, r) && kb_free(h) >= needs))
        return 0;
    return err_set(e, ENOSPC, "%s has %llu kb free, the job uses %llu kb", h->checkpoint, kb_free(h), needs);
}

static int ckpt_start(struct mom *m, struct run *r, struct err *e)
{
    const struct config *c = m->home.config;
    bool ends = r->ckpt.leave &&
                !images_are_joint(r); /* with images of other hosts the job may have to continue here */
    enum config_event ev = ends ? ACTION_CHECKPOINT_ABORT : ACTION_CHECKPOINT;
    struct strbuf path;
    int rc;

    if (!c->actions[ev].argv.n) /* only the other script is there; the MOM ends the job afterwards itself */
        ev = ends ? ACTION_CHECKPOINT : ACTION_CHECKPOINT_ABORT;
    if (check_space(&m->home, r, &c->actions[ev].argv, e) < 0)
        return -1;
    strbuf_init(&path, PATH_LEN_MAX);
    images_path(&m->home, r, &path);
    rc = site_action_run(m->loop, &m->home, r, ev, path.s, session_of(r), ckpt_on_end, m, e);
    strbuf_fini(&path);
    return rc;
}

void ckpt_begin(struct mom *m, struct run *r)
{
    struct err e = {0};

    r->ckpt.bytes = 0;
    r->ckpt.took_ms = 0;
    if (images_are_joint(r) && images_has(&m->home, r)) { /* asked again */
        saved(m, r);
        return;
    }
    if (!session_of(r)) {
        if (images_make_empty(&m->home, r, &e) == 0)
            saved(m, r);
        else
            ckpt_fail(m, r, PBSE_CKPSHORT, e.text);
        return;
    }
    mom_note(r, SHEP_NOTE_CHECKPOINTING);
    log_event(LOGC_JOB, LOGE_JOB, r->id, "req_holdjob: Checkpoint initiated.");
    if (ckpt_start(m, r, &e) == 0)
        return;
    mom_note(r, SHEP_NOTE_CHECKPOINT_OVER);
    ckpt_fail(m, r, e.code == PBSE_NOSUP ? PBSE_NOSUP : PBSE_CKPSHORT, e.text);
}

void ckpt_say(struct mom *m, struct run *r)
{
    struct exec_event_data data = {.kind = EXEC_EVENT_CHECKPOINTED};
    struct strbuf id;

    strbuf_init(&id, PATH_LEN_MAX);
    if (m->home.config->checkpoint_shared)
        strbuf_add(&id, "shared:");
    else if (image_out_offer(&m->home, r))
        strbuf_add(&id, "moves:");
    images_path(&m->home, r, &id);
    log_event(LOGC_JOB, LOGE_JOB, r->id, "checkpointed to %s, %llu bytes", id.s,
              (unsigned long long)r->ckpt.bytes);
    data.exec_event_data_u.checkpointed = (struct exec_checkpointed_data){
        .attempt = r->ckpt.attempt, .id = id.s, .bytes = r->ckpt.bytes, .frozen_ms = r->ckpt.took_ms};
    mom_say(m, r, &data);
    strbuf_fini(&id);
}

/* A restart script of the site needs an image of its own. Where a checkpoint has written one there is nothing to add. */
static bool may_have_saved(const struct mom *m, const struct run *r)
{
    return (r->started || run_is_sister(r)) && !m->home.config->actions[ACTION_RESTART].argv.n &&
           !images_has(&m->home, r);
}

static bool has_run_here(const struct run *r)
{
    struct run_tasks tasks;
    bool any;

    run_tasks_read(&tasks, r->path);
    any = tasks.any;
    run_tasks_fini(&tasks);
    return any;
}

/* Of a job on several hosts each says what is on it; it counts when all have said so. What has crashed there is not known here, so what
 * was written counts nowhere without the word of the program that it is whole. */
static bool has_saved_part(const struct mom *m, const struct run *r)
{
    if (!run_is_sister(r) && r->failure.reason == EXEC_END_ITSELF && !r->failure.status)
        return false;
    return has_run_here(r) ? notice_save_is_whole(&m->home, r) : notice_save_is_noticed(&m->home, r);
}

/* One that was stopped in the middle, or lost with its shepherd, may have left half a state: it must have said that it is whole. */
static bool has_saved(const struct mom *m, const struct run *r)
{
    if (!may_have_saved(m, r))
        return false;
    if (images_are_joint(r))
        return has_saved_part(m, r);
    if (r->failure.reason == EXEC_END_ITSELF)
        return r->failure.status && notice_save_is_noticed(&m->home, r) && images_app_has_files(&m->home, r);
    return notice_save_is_whole(&m->home, r);
}

void ckpt_keep_saved(struct mom *m, struct run *r)
{
    struct err e = {0};

    if (!has_saved(m, r))
        return;
    r->ckpt.attempt = 0; /* which is part of the name of an image of several hosts */
    if (images_make_empty(&m->home, r, &e) < 0) {
        log_err(LOGC_JOB, r->id, &e, "run %u: what its program has saved is not kept", r->key.run);
        return;
    }
    r->ckpt.bytes = 0;
    r->ckpt.took_ms = 0;
    ckpt_say(m, r);
}

/* ---- as its program shows or says */
static void ckpt_say_party(struct mom *m, struct run *r, const wire_ext *party)
{
    struct exec_event_data data = {.kind = EXEC_EVENT_PARTY};

    if (!party->wire_ext_len)
        return;
    data.exec_event_data_u.party = *party;
    mom_say(m, r, &data);
}

static bool ckpt_say_declared(struct mom *m, struct run *r, const struct exec_declared *d)
{
    struct exec_event_data data = {.kind = EXEC_EVENT_DECLARED};
    struct byte_buf b;
    bool said;

    byte_buf_init(&b);
    said = rpc_buf_encode(&b, (xdrproc_t)xdr_exec_declared, d) == 0;
    if (said) {
        data.exec_event_data_u.declared = (wire_ext){(u_int)b.len, b.bytes};
        mom_say(m, r, &data);
    }
    byte_buf_fini(&b);
    return said;
}

void ckpt_declared(void *mom, struct run *r, const struct shep_declared *a)
{
    const struct exec_declared d = {.how = a->how, .need_s = a->need_s};

    ckpt_say_party(mom, r, &a->ext);
    r->ckpt.declared |= ckpt_say_declared(mom, r, &d) && *a->how;
}

bool ckpt_wants_handlers(const struct mom *m, const struct run *r)
{
    return !r->ckpt.declared && m->home.config->actions_ask_program && job_allows(r);
}

void ckpt_saw_handlers(struct mom *m, struct run *r, unsigned handlers)
{
    static char how[] = "handler";
    const struct exec_declared d = {.how = how};

    if (!(handlers & 1u << (SIGUSR1 - 1)) || !ckpt_wants_handlers(m, r))
        return;
    r->ckpt.declared = ckpt_say_declared(m, r, &d);
}

/* ---- as the job asked for */
/* "c=5", "w=5"; "c" and "w" take the queue's least. Minutes, 0: none. */
static unsigned long long period_ms(const struct run *r)
{
    const char *when = run_attr(r, "Checkpoint", ""), *least = run_attr(r, "checkpoint_min", "");
    unsigned long minutes = 0, min = least ? strtoul(least, NULL, 10) : 0;

    if (!when || (when[0] != 'c' && when[0] != 'w'))
        return 0;
    if (when[1] == '=')
        minutes = strtoul(when + 2, NULL, 10);
    return (unsigned long long)(minutes > min ? minutes : min) * MS_PER_MINUTE;
}

void ckpt_look(struct mom *m, struct run *r, const struct exec_usage *used)
{
    unsigned long long period = period_ms(r), now;

    if (!period || images_are_joint(r) || r->slot.state != RUN_RUNNING ||
        !m->home.config->actions[ACTION_CHECKPOINT].argv.n)
        return;
    now = run_attr(r, "Checkpoint", "")[0] == 'c' ? used->cput_ms : used->walltime_ms;
    if (!r->ckpt.due_ms)
        r->ckpt.due_ms = now - now % period + period;
    if (now < r->ckpt.due_ms || site_action_is_active(r))
        return;
    r->ckpt.due_ms = now + period;
    r->ckpt.attempt = 0;
    r->ckpt.leave = false;
    mom_post(m, r, RUN_EV_CHECKPOINT);
}
