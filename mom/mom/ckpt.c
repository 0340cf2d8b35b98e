/* The conversation: CHECKPOINT is taken at once where a script exists; the script's end is the outcome. Exit 0: the
 * image is whole and the job runs on; 3: it is whole and the tool has ended the job; anything else: nothing was saved
 * and the job runs on. With "leave" the job is killed once its image is whole, so a crash in between loses nothing.
 *
 * A tool that ends the job itself makes the shepherd tell the end before the script's: the run waits, in ENDING, with
 * what it says (actions.c). A MOM that dies takes the script along (the errand sees to it); a note in the journal tells
 * the next one, which lets whatever was stopped go on. The server, which has heard nothing, asks again. */
#include "ckpt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <shep.h>

#include "config.h"
#include "file.h"
#include "log.h"
#include "parts.h"
#include "pbs_error.h"
#include "run.h"
#include "shepherds.h"
#include "site_action.h"
#include "strbuf.h"

enum { PATH_LEN_MAX = 8192, KB = 1024, MS_PER_MINUTE = 60000, SAVED = 0, SAVED_AND_GONE = 3 };

#define TASK "00000001"

bool ckpt_is_offered(const struct config *c)
{
    return c->actions[ACTION_CHECKPOINT].argv.n || c->actions[ACTION_CHECKPOINT_ABORT].argv.n;
}

static bool job_allows(const struct run *r)
{
    const char *when = run_attr(r, "Checkpoint", "");

    return !when || strcmp(when, "n") != 0;
}

void ckpt_dir(const struct home *h, const char *id, struct strbuf *out)
{
    strbuf_addf(out, "%s/%s.CK", h->checkpoint, id);
}

static void image_path(const struct home *h, const char *id, struct strbuf *out)
{
    ckpt_dir(h, id, out);
    strbuf_add(out, "/" TASK);
}

/* ---- restart */
/* The image, or the one before it where a crash has left only that. */
static int find_image(const struct home *h, const struct run *r, struct strbuf *path, struct err *e)
{
    image_path(h, r->id, path);
    if (access(path->s, F_OK) == 0)
        return 0;
    strbuf_add(path, ".old");
    if (access(path->s, F_OK) == 0)
        return 0;
    return err_set(e, PBSE_CKPSHORT, "restart of task " TASK " from file %s failed: it is not on this host",
                   r->start.restart_from);
}

static int session_of(const struct home *h, const struct run *r)
{
    struct strbuf path;
    char *bytes = NULL;
    int session = 0;

    strbuf_init(&path, PATH_LEN_MAX);
    image_path(h, r->id, &path);
    strbuf_add(&path, ".sid");
    if (file_read(AT_FDCWD, path.s, 64, &bytes, NULL, NULL) == 0)
        session = atoi(bytes);
    free(bytes);
    strbuf_fini(&path);
    return session;
}

static int plan_restart(const struct home *h, const struct run *r, struct shep_order *o, struct err *e)
{
    struct strbuf path;
    struct words argv;
    int rc;

    strbuf_init(&path, PATH_LEN_MAX);
    words_init(&argv);
    o->restart_session = session_of(h, r);
    rc = find_image(h, r, &path, e);
    if (rc == 0 && h->config->actions[ACTION_RESTART].argv.n)
        rc = site_action_argv(h->config, r, ACTION_RESTART, path.s, o->restart_session, &argv, e);
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
    if (r->start.restart_from[0] || (ckpt_is_offered(h->config) && job_allows(r)))
        ckpt_dir(h, r->id, &dir);
    o->checkpoint_dir = strdup(strbuf_str(&dir));
    strbuf_fini(&dir);
    if (!o->checkpoint_dir)
        return err_set(e, PBSE_SYSTEM, "no memory for the order of job %s", r->id);
    return r->start.restart_from[0] ? plan_restart(h, r, o, e) : 0;
}

/* ---- an attempt */
static void note(struct run *r, enum shep_note what)
{
    struct err e = {0};

    if (journal_note(r, what, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "journal");
}

static void fail(struct parts *m, struct run *r, int code, const char *text)
{
    r->attempt_code = code;
    snprintf(r->attempt_text, sizeof r->attempt_text, "%s", text);
    if (r->ckpt.attempt) {
        parts_post(m, r, RUN_EV_ATTEMPT_FAILED);
        return;
    }
    log_event(LOGC_JOB, LOGE_ERROR, r->id, "Checkpoint failed, error %d: %s", code, text);
    if (r->ckpt.end_waits)
        parts_post(m, r, RUN_EV_ATTEMPT_FAILED);
}

static void on_end(void *arg, struct run *r, const struct site_action_end *end)
{
    struct parts *m = arg;

    note(r, SHEP_NOTE_CHECKPOINT_OVER);
    if (end->code == SAVED || end->code == SAVED_AND_GONE) {
        r->ckpt.leave |= end->code == SAVED_AND_GONE;
        r->ckpt.bytes = end->bytes;
        r->ckpt.took_ms = end->took_ms;
        parts_post(m, r, RUN_EV_CHECKPOINTED);
        return;
    }
    log_event(LOGC_JOB, LOGE_JOB, r->id, "checkpoint failed: errno=%d", end->code);
    if (r->slot.state == RUN_RUNNING) /* the tool may have stopped it */
        shepherds_signal(r, SIGCONT, EXEC_TARGET_ALL, NULL, NULL);
    fail(m, r, PBSE_CKPSHORT, end->text[0] ? end->text : "the script of $action has failed");
}

/* A full disk would cost the old image too. */
static int check_space(const struct home *h, const struct run *r, struct err *e)
{
    struct statvfs v;

    if (statvfs(h->checkpoint, &v) < 0 || (v.f_bavail * v.f_frsize) / KB >= r->usage.mem_kb)
        return 0;
    return err_set(e, ENOSPC, "%s has %llu kb free, the job uses %llu kb", h->checkpoint,
                   (unsigned long long)(v.f_bavail * v.f_frsize) / KB, (unsigned long long)r->usage.mem_kb);
}

static int begin(struct parts *m, struct run *r, struct err *e)
{
    const struct config *c = m->home.config;
    enum config_event ev = r->ckpt.leave ? ACTION_CHECKPOINT_ABORT : ACTION_CHECKPOINT;
    struct strbuf path;
    int rc;

    if (r->ckpt.leave && !c->actions[ev].argv.n)
        ev = ACTION_CHECKPOINT; /* we end it ourselves afterwards */
    if (check_space(&m->home, r, e) < 0)
        return -1;
    strbuf_init(&path, PATH_LEN_MAX);
    image_path(&m->home, r->id, &path);
    rc = site_action_run(m->loop, &m->home, r, ev, path.s, r->started_record.pid, on_end, m, e);
    strbuf_fini(&path);
    return rc;
}

void ckpt_begin(struct parts *m, struct run *r)
{
    struct err e = {0};

    note(r, SHEP_NOTE_CHECKPOINTING);
    log_event(LOGC_JOB, LOGE_JOB, r->id, "req_holdjob: Checkpoint initiated.");
    if (begin(m, r, &e) == 0)
        return;
    note(r, SHEP_NOTE_CHECKPOINT_OVER);
    fail(m, r, e.code == PBSE_NOSUP ? PBSE_NOSUP : PBSE_CKPSHORT, e.text);
}

void ckpt_say(struct parts *m, struct run *r)
{
    struct exec_event_data data = {.kind = EXEC_EVENT_CHECKPOINTED};
    struct strbuf id;
    struct err e = {0};

    strbuf_init(&id, PATH_LEN_MAX);
    if (m->home.config->checkpoint_shared)
        strbuf_add(&id, "shared:");
    image_path(&m->home, r->id, &id);
    log_event(LOGC_JOB, LOGE_JOB, r->id, "checkpointed to %s, %llu bytes", id.s,
              (unsigned long long)r->ckpt.bytes);
    data.exec_event_data_u.checkpointed = (struct exec_checkpointed_data){
        .attempt = r->ckpt.attempt, .id = id.s, .bytes = r->ckpt.bytes, .frozen_ms = r->ckpt.took_ms};
    if (journal_say(r, &data, &m->outbox, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "journal");
    strbuf_fini(&id);
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

void ckpt_look(struct parts *m, struct run *r, const struct exec_usage *used)
{
    unsigned long long period = period_ms(r), now;

    if (!period || r->slot.state != RUN_RUNNING || !m->home.config->actions[ACTION_CHECKPOINT].argv.n)
        return;
    now = run_attr(r, "Checkpoint", "")[0] == 'c' ? used->cput_ms : used->walltime_ms;
    if (!r->ckpt.due_ms)
        r->ckpt.due_ms = now - now % period + period;
    if (now < r->ckpt.due_ms || site_action_is_active(r))
        return;
    r->ckpt.due_ms = now + period;
    r->ckpt.attempt = 0;
    r->ckpt.leave = false;
    parts_post(m, r, RUN_EV_CHECKPOINT);
}

/* ---- what is left */
static void remove_dir(const char *path)
{
    struct err e = {0};

    if (file_remove_tree(AT_FDCWD, path, &e) < 0)
        log_err(LOGC_FIL, "checkpoint", &e, "cannot remove");
}

void ckpt_forget(const struct home *h, const struct run *r)
{
    struct strbuf path, old;

    strbuf_init(&path, PATH_LEN_MAX);
    strbuf_init(&old, PATH_LEN_MAX);
    image_path(h, r->id, &path);
    strbuf_addf(&old, "%s.old", path.s);
    if (!r->keep_output && access(path.s, F_OK) < 0 && access(old.s, F_OK) < 0) {
        strbuf_reset(&path);
        ckpt_dir(h, r->id, &path);
        if (access(path.s, F_OK) == 0)
            remove_dir(path.s);
    }
    strbuf_fini(&path);
    strbuf_fini(&old);
}

void ckpt_remove(const struct home *h, long long seq, int index)
{
    char prefix[64];
    DIR *dir = opendir(h->checkpoint);
    const struct dirent *d;

    if (index >= 0)
        snprintf(prefix, sizeof prefix, "%lld[%d].", seq, index);
    else
        snprintf(prefix, sizeof prefix, "%lld.", seq);
    while (dir && (d = readdir(dir))) {
        size_t n = strlen(d->d_name);
        struct strbuf path;

        if (strncmp(d->d_name, prefix, strlen(prefix)) != 0 || n < 3 || strcmp(d->d_name + n - 3, ".CK") != 0)
            continue;
        strbuf_init(&path, PATH_LEN_MAX);
        strbuf_addf(&path, "%s/%s", h->checkpoint, d->d_name);
        remove_dir(path.s);
        strbuf_fini(&path);
    }
    if (dir)
        closedir(dir);
}
