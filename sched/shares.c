/* The usage file, and what is due. See shares.h.
 *
 * Two programs change the file: the scheduler, in a thread that takes the lock and looks whether pbsfs has
 * been there since it was read, and pbsfs. If pbsfs was there the thread writes nothing, and the next tick
 * reads first. So neither undoes the other.
 *
 * One writing at a time: `saving` is its text; what is counted meanwhile is unsaved until the next one. The
 * thread touches nothing but `saving`, and the loop leaves that alone until shares_save_done. */
#include "shares.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fairshare_accrual.h"
#include "clock.h"
#include "file.h"
#include "sched_link.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "pbs_ext.h"
#include "pbs_ifl.h"
#include "policy.h"
#include "strbuf.h"
#include "usage_file.h"
#include "worker.h"
#include "cluster_change.h"

/* A crash loses what was counted in the last SAVE_EVERY_S. What running jobs have used is asked for every ASK_EVERY_S: a
 * list of all of them. */
enum { GROUP_MAX = 1 << 22, TEXT_MAX = 1 << 28, SAVE_EVERY_S = 2, ASK_EVERY_S = 30 };

struct saving {
    char dir[PATH_MAX];
    struct strbuf text;
    int64_t touched; /* as it was when we read */
    bool late;       /* pbsfs was there first */
    int code;
    struct err e;
};

struct shares {
    struct shares_parts p;
    struct worker *worker;
    struct saving *saving; /* under way; NULL: none */
    struct usage usage;
    char dir[PATH_MAX];
    int64_t touched, saved_s, asked_s;
    bool on, dirty, asking;
    bool unread; /* the file is to be read again */
};

struct shares *shares_create(const struct shares_parts *p, struct err *e)
{
    struct shares *s = mem_new(1, sizeof *s);

    s->p = *p;
    s->usage =
        (struct usage){.shares = accrual_shares(p->accrual), .counted = accrual_get_record(p->accrual)};
    s->worker = worker_create(p->loop, "usage", 1, e);
    if (s->worker)
        return s;
    free(s);
    return NULL;
}

/* --- the file ---------------------------------------------------------------------------------------- */

static void save_in_thread(void *arg)
{
    struct saving *v = arg;
    int lock = usage_file_lock(v->dir, &v->e);

    if (lock < 0) {
        v->late = true; /* it will have changed the file, or be gone, when we come again */
        return;
    }
    v->late = usage_file_touched(v->dir) != v->touched;
    if (!v->late)
        v->code = usage_file_write(v->dir, v->text.s, v->text.len, &v->e);
    (void)close(lock);
}

static void saving_free(struct saving *v)
{
    strbuf_fini(&v->text);
    free(v);
}

/* Whatever went wrong, what was counted is not lost: it is unsaved again, and `dirty` makes the next tick
 * try. */
static void shares_save_done(void *arg, bool ran)
{
    struct shares *s = arg;
    struct saving *v = s->saving;

    s->saving = NULL;
    fairshare_saved(s->usage.shares, ran && !v->late && v->code == 0);
    if (!ran || v->late) {
        s->dirty = true;
    } else if (v->code < 0) {
        log_event(LOGC_SCHED, LOGE_ERROR, "usage", "cannot write: %s", v->e.text);
        s->dirty = true;
    } else
        log_event(LOGC_SCHED, LOGE_DEBUG, "usage", "Usage Sync");
    saving_free(v);
}

static void shares_work(void *arg)
{
    const struct shares *s = arg;

    save_in_thread(s->saving);
}

/* The text as it is now, so that the thread needs no lock for the tree. */
static struct saving *saving_of(struct shares *s)
{
    struct saving *v = mem_new(1, sizeof *v);

    snprintf(v->dir, sizeof v->dir, "%s", s->dir);
    v->touched = s->touched;
    strbuf_init(&v->text, TEXT_MAX);
    usage_file_format(&s->usage, &v->text);
    return v;
}

static void save(struct shares *s, int64_t now_s)
{
    if (s->saving)
        return;
    accrual_sweep(s->p.accrual);
    s->saved_s = now_s;
    s->saving = saving_of(s);
    if (worker_submit(s->worker, shares_work, shares_save_done, s, NULL) < 0) {
        saving_free(s->saving);
        s->saving = NULL;
        return;
    }
    fairshare_saving(s->usage.shares);
    s->dirty = false;
}

/* Read it again, and add what only we know of. A job that was counted by us and by no file stays counted. */
static void read_usage(struct shares *s)
{
    struct err e;

    s->touched = usage_file_touched(s->dir);
    if (usage_file_read(s->dir, &s->usage, &e) == 0)
        return;
    log_event(LOGC_SCHED, LOGE_ERROR, "usage", "%s; it is kept as usage.bad, and usage begins again", e.text);
    if (e.code == EBADMSG && usage_file_put_aside(s->dir, &e) < 0)
        log_event(LOGC_SCHED, LOGE_ERROR, "usage", "%s", e.text);
}

/* A file that is wrong leaves the tree as it was. None is a tree without shares. */
static void read_group(struct shares *s)
{
    char path[PATH_MAX], *text = NULL;
    struct err e;
    int rc = 0;

    if (snprintf(path, sizeof path, "%s/resource_group", s->dir) >= (int)sizeof path)
        return;
    if (access(path, F_OK) == 0)
        rc = file_read(AT_FDCWD, path, GROUP_MAX, &text, NULL, &e);
    if (rc == 0)
        rc = fairshare_plant(s->usage.shares, text ? text : "", s->p.policy->unknown_shares, &e);
    if (rc < 0)
        log_event(LOGC_FIL, LOGE_ERROR, "resource_group", "%s", e.text);
    free(text);
}

void shares_read(struct shares *s, const char *priv)
{
    struct err e;

    snprintf(s->dir, sizeof s->dir, "%s", priv);
    if (accrual_configure(s->p.accrual, &e) < 0)
        log_event(LOGC_FIL, LOGE_ERROR, "sched_config", "%s", e.text);
    read_group(s);
    if (!s->on)
        read_usage(s);
    s->on = true;
    s->unread = true; /* HUP: read what pbsfs changed before the next cycle, whatever the file's time is */
}

/* The usage that pbsfs wrote is taken. How much of each job is counted already is taken from memory: the file
 * may be older. */
static bool read_again(struct shares *s)
{
    struct usage theirs = s->usage;
    struct err e;
    int64_t touched = usage_file_touched(s->dir);

    if (s->saving || (touched == s->touched && !s->unread))
        return false;
    s->unread = false;
    theirs.counted = accrual_record_create();
    int rc = usage_file_read(s->dir, &theirs, &e);
    accrual_record_destroy(theirs.counted);
    s->touched = touched;
    if (rc < 0)
        log_event(LOGC_SCHED, LOGE_ERROR, "usage", "%s", e.text);
    fairshare_add_unsaved(s->usage.shares);
    log_event(LOGC_SCHED, LOGE_DEBUG, "usage", "read again");
    return true;
}

/* --- what is due ------------------------------------------------------------------------------------- */

/* As many times as the period has passed since it was done last, also before this scheduler was started. */
static bool decay(struct shares *s, int64_t now_s)
{
    int64_t every = s->p.policy->share_decay_s;

    if (s->usage.decayed_s == 0 || s->usage.decayed_s > now_s) {
        s->usage.decayed_s = now_s;
        s->dirty = true;
    }
    if (every <= 0 || now_s < s->usage.decayed_s + every)
        return false;
    for (; now_s >= s->usage.decayed_s + every; s->usage.decayed_s += every) {
        log_event(LOGC_SCHED, LOGE_DEBUG, "usage", "Decaying Fairshare Tree");
        fairshare_decay(s->usage.shares, s->p.policy->share_decay);
    }
    s->dirty = true;
    return true;
}

bool shares_refresh(struct shares *s)
{
    return s->on && read_again(s);
}

/* In the order in which one makes another necessary: reading, decay, counting, asking, writing. */
bool shares_tick(struct shares *s, int64_t now_s)
{
    bool changed;

    if (!s->on || !policy_counts_use(s->p.policy))
        return false;
    changed = shares_refresh(s);
    changed = decay(s, now_s) || changed;
    if (accrual_take_news(s->p.accrual)) {
        s->dirty = true;
        changed = true;
    }
    if (now_s >= s->asked_s + ASK_EVERY_S) {
        s->asked_s = now_s;
        shares_ask(s);
    }
    if (s->dirty && (now_s >= s->saved_s + SAVE_EVERY_S || now_s < s->saved_s))
        save(s, now_s);
    return changed;
}

/* --- what running jobs use --------------------------------------------------------------------------- */

static int shares_one_job(const struct batch_status *job, void *arg)
{
    struct shares *s = arg;

    cluster_change_used(s->p.cluster, job->name, job->attribs);
    return 0;
}

static void shares_answered(void *arg, int c, int ticket)
{
    struct shares *s = arg;

    s->asking = false;
    pbs_selstat_each_recv(c, ticket, shares_one_job, s);
}

void shares_ask(struct shares *s)
{
    static char used_name[] = ATTR_used, state_name[] = ATTR_state, nothing[] = "", running[] = "R";
    struct attrl used = {.name = used_name, .resource = nothing, .value = nothing};
    struct attropl state = {.name = state_name, .value = running, .op = EQ};
    int c = sched_link_connection(s->p.link);

    if (!s->on || !policy_counts_use(s->p.policy) || s->asking || c < 0)
        return;
    if (sched_link_await(s->p.link, pbs_selstat_each_send(c, &state, &used, "t"), shares_answered, s) == 0)
        s->asking = true;
}

void shares_lost(struct shares *s)
{
    s->asking = false;
}

/* Nothing else can write any more, so the last writing is made here. */
void shares_destroy(struct shares *s)
{
    if (!s)
        return;
    worker_destroy(s->worker);
    if (s->on && s->dirty) {
        struct saving *v = saving_of(s);
        save_in_thread(v);
        if (v->code < 0)
            log_event(LOGC_SCHED, LOGE_ERROR, "usage", "cannot write: %s", v->e.text);
        saving_free(v);
    }
    free(s);
}
