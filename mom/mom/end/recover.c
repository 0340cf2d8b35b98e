/* Three passes. Each directory with a whole order becomes a run, in the state that its journal tells; one
 * without is removed, or set aside where it holds an order that cannot be read, unless a shepherd holds it. Then groups that
 * dead shepherds have left are swept. Only then does each run continue: what one run does may ask about the others.
 *
 * The last action of each state is done again (style: actions are idempotent); records are read by the same
 * function as live, and what they tell is posted as if it had just happened. A job that was never begun is
 * begun now; one that was, and that no shepherd holds, is lost. */
#include "recover.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <shep.h>

#include "act_end.h"
#include "act_running.h"
#include "images.h"
#include "log.h"
#include "mom.h"
#include "rpc_buf.h"
#include "mom_run.h"
#include "rundir.h"
#include "shepherds.h"
#include "strbuf.h"
#include "usage.h"

/* A directory of one name is set aside at most SAME_NAME_MAX times. By then no person has looked for long, and the next
 * one stays among the jobs. */
enum { PATH_LEN_MAX = 8192, SAME_NAME_MAX = 1000 };

static char *bound_cpus(const struct shep_order *o)
{
    for (u_int i = 0; i < o->groups.groups_len; i++)
        if (o->groups.groups_val[i].limit == CONFINE_CPUSET)
            return strdup(o->groups.groups_val[i].bound);
    return NULL;
}

static struct run *make_run(struct mom *m, const char *path, struct shep_order *o, struct err *e)
{
    struct run_key key = {.seq = o->job.seq, .index = o->job.index, .run = o->run};
    struct run *r = run_add(m->runs, &key, o->id, path);

    if (!r) {
        err_set(e, EEXIST, "%s: run %u of job %s is here twice", path, o->run, o->id);
        return NULL;
    }
    r->has_start = true;
    r->ncpus = o->ncpus;
    r->cpus = bound_cpus(o);
    r->other_boot = !home_is_this_boot(&m->home, o->boot);
    r->before_boot = r->other_boot;
    r->foreign_pids = !home_has_those_pids(&m->home, o->boot);
    r->owner_home = strdup(o->home);
    r->jobdir = o->cwd[0] ? strdup(o->cwd) : NULL;
    run_set_owner(r, o->uid, o->gid);
    if (rpc_buf_decode(o->start.start_val, o->start.start_len, (xdrproc_t)xdr_exec_start_args, &r->start) <
        0) {
        err_set(e, EBADMSG, "%s: START cannot be read", path);
        run_drop(m->runs, r);
        return NULL;
    }
    return r;
}

/* A sister says "ready" where the first host says "start". */
static enum run_state state_of(const struct run *r, const struct journal_past *past)
{
    if (past->release)
        return RUN_RELEASED;
    if (past->finish)
        return RUN_ENDING;
    if (past->start || (run_is_sister(r) && r->ready_said))
        return past->suspended ? RUN_SUSPENDED : RUN_RUNNING;
    return RUN_LAUNCHING;
}

static void restore_failure(struct run *r)
{
    for (const struct run_event_node *x = r->first; x; x = x->next)
        if (x->event.data.kind == EXEC_EVENT_FINISH) {
            r->failure.status = x->event.data.exec_event_data_u.finish.status;
            r->failure.reason = x->event.data.exec_event_data_u.finish.reason;
        }
}

/* No shepherd holds it and no end is recorded: was it ever begun? A job that was being brought back from an image may have
 * processes that are not recorded. */
static void go_on_alone(struct mom *m, struct run *r)
{
    if (r->slot.state == RUN_LAUNCHING && !r->started && !r->other_boot && !images_is_restart(r)) {
        r->slot.state = r->ready_said ? RUN_READY : RUN_PREPARING;
        if (!r->ready_said)
            mom_post(m, r, RUN_EV_PREPARED);
    } else if (run_is_active(r) && !r->ended) {
        mom_post(m, r, RUN_EV_SHEPHERD_LOST);
    }
}

static void recover_resume(struct mom *m, struct run *r)
{
    enum run_state before = r->slot.state;
    bool held;

    if (before == RUN_RELEASED) {
        if (r->purge_wanted)
            mom_post(m, r, RUN_EV_PURGE);
        return;
    }
    held = shepherds_find(m->shepherds, r);
    if (before == RUN_ENDING)
        act_end_again(m, r);
    else if (!held)
        go_on_alone(m, r);
    else if (run_is_active(r))
        usage_begin(m, r);
    if (held && before == RUN_SUSPENDED)
        act_running_suspended_again(m, r);
    /* A run that was ENDING purges itself when it is released. */
    if (r->purge_wanted && before != RUN_ENDING)
        mom_post(m, r, RUN_EV_PURGE);
}

/* False: there is no run in it. */
static bool recover_one(struct mom *m, const char *path, struct err *e)
{
    struct shep_order o = {0};
    struct journal_past past;
    struct run *r = NULL;

    if (rundir_read_order(path, &o, e) == 0)
        r = make_run(m, path, &o, e);
    xdr_free((xdrproc_t)xdr_shep_order, &o);
    if (!r)
        return false;
    if (journal_restore(r, &past, e) < 0)
        log_err(LOGC_JOB, r->id, e, "run %u: its journal cannot be read to the end", r->key.run);
    r->slot.state = state_of(r, &past);
    restore_failure(r);
    log_event(LOGC_JOB, LOGE_JOB, r->id, "run %u found again, %s", r->key.run,
              run_fsm_state_name(r->slot.state));
    return true;
}

static void recover_resume_each(void *arg, struct run *r)
{
    recover_resume(arg, r);
}

/* What a MOM has left that was killed while it rewrote a nodefile. Shepherds write none in this way. */
static void sweep_nodefiles(const char *aux)
{
    DIR *dir = opendir(aux);
    const struct dirent *d;

    while (dir && (d = readdir(dir))) {
        size_t n = strlen(d->d_name);

        if (d->d_name[0] == '.' && n > 4 && strcmp(d->d_name + n - 4, ".tmp") == 0)
            unlinkat(dirfd(dir), d->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

/* To the first of DIR/NAME, DIR/NAME.1, ... that is free; `to` is that path. 0, or -1 with errno. */
static int move_to_free(const char *path, const char *dir, const char *name, struct strbuf *to)
{
    for (unsigned i = 0; i < SAME_NAME_MAX; i++) {
        strbuf_reset(to);
        strbuf_addf(to, "%s/%s", dir, name);
        if (i)
            strbuf_addf(to, ".%u", i);
        if (rename(path, strbuf_str(to)) == 0) /* it replaces nothing but an empty directory */
            return 0;
        if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
            return -1;
    }
    return -1;
}

/* Move the directory to mom_priv/set_aside/NAME for an administrator: it may tell how a job ended. What cannot
 * be moved stays where it is. */
static void set_aside(const struct mom *m, const char *path, const char *name)
{
    struct strbuf dir, to;

    strbuf_init(&dir, PATH_LEN_MAX);
    strbuf_init(&to, PATH_LEN_MAX);
    strbuf_addf(&dir, "%s/../set_aside", m->home.jobs);
    if ((mkdir(strbuf_str(&dir), 0700) < 0 && errno != EEXIST) ||
        move_to_free(path, strbuf_str(&dir), name, &to) < 0)
        log_event(LOGC_JOB, LOGE_ERROR, name, "its directory %s cannot be moved to %s, and stays: %s", path,
                  strbuf_str(&dir), strerror(errno));
    else
        log_event(LOGC_JOB, LOGE_ERROR, name, "its directory is set aside: %s", strbuf_str(&to));
    strbuf_fini(&dir);
    strbuf_fini(&to);
}

/* A void order is one byte, or none (rundir_void). */
static bool has_order(const char *path)
{
    struct strbuf file;
    struct stat st;
    bool has;

    strbuf_init(&file, PATH_LEN_MAX);
    strbuf_addf(&file, "%s/%s", path, RUNDIR_RUN);
    has = stat(strbuf_str(&file), &st) == 0 ? st.st_size > 1 : errno != ENOENT;
    strbuf_fini(&file);
    return has;
}

static void drop_directory(const struct mom *m, const char *path, const char *name, const struct err *why)
{
    bool has = has_order(path);

    log_event(LOGC_JOB, has ? LOGE_ERROR : LOGE_DEBUG, name, "no run is in its directory: %s", why->text);
    if (has)
        set_aside(m, path, name);
    else
        rundir_remove(path, NULL);
}

int recover_runs(struct mom *m, struct err *e)
{
    DIR *dir = opendir(m->home.jobs);
    const struct dirent *d;

    if (!dir)
        return err_errno(e, errno, "cannot read %s", m->home.jobs);
    while ((d = readdir(dir))) {
        struct strbuf path;
        struct err why = {0};

        if (d->d_name[0] == '.')
            continue;
        strbuf_init(&path, PATH_LEN_MAX);
        strbuf_addf(&path, "%s/%s", m->home.jobs, d->d_name);
        if (!recover_one(m, path.s, &why) && !rundir_is_held(path.s))
            drop_directory(m, path.s, d->d_name, &why);
        strbuf_fini(&path);
    }
    closedir(dir);
    sweep_nodefiles(m->home.aux);
    confine_sweep(&m->home.freezer);
    runs_each(m->runs, recover_resume_each, m);
    return 0;
}
