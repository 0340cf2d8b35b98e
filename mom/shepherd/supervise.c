/* The shepherd's loop. Who speaks first: the MOM by its order in the run's directory; then the shepherd writes
 * "started", later "ended", each before it says so. A MOM may come and go in between, or never.
 *
 * Invariants: the records are locked while we live; no program runs unrecorded; "ended" is on disk before
 * the MOM hears it; after "ended" nothing of the job runs (or the record says that something could not be killed).
 */
#include "supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "confine.h"
#include "display.h"
#include "supervise_private.h"
#include "procs.h"
#include "rundir.h"
#include "restart.h"
#include "task_env.h"
#include "tm_helper.h"
#include "tm_server.h"
#include "words.h"

enum {
    EXIT_BUSY = 3,     /* another shepherd holds the run */
    EXIT_SETUP = -1,   /* EXIT_STATUS_SETUP of ifl/def/exit_status.def */
    EXIT_AGAIN = -3,   /* EXIT_STATUS_RETRY */
    EXIT_RESTART = -7, /* and EXIT_STATUS_BAD_RESTART */
    STAND_STILL_MS = 100,
    MS_PER_S = 1000
};

static void supervise_reap(struct supervise *h)
{
    int status;
    pid_t pid;
    bool none;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (h->tm)
            tm_server_reaped(h->tm, pid, status);
        if (pid == h->task.pid) {
            h->main_ended = true;
            h->status = status;
            if (h->state == SHEP_RUNNING) /* else it is we who end it, and `how` says why */
                h->how = SHEP_END_ITSELF;
        }
    }
    none = pid < 0 && errno == ECHILD;
    if (h->tm && (h->main_ended || (supervise_is_sister(h) && !supervise_waits_for_tasks(h))))
        tm_helper_end(h->tm);
    /* No child is left. A sister may have none and wait for tasks; processes that were attached are not our children. */
    if (none && !supervise_waits_for_tasks(h) && !confine_has_adopted(h->confine))
        supervise_post(h, SHEP_EV_ALL_ENDED);
    else if (h->main_ended)
        supervise_post(h, SHEP_EV_MAIN_ENDED);
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

/* A job that has lived this long will live on, and may be suspended: not all of a host at the same moment. */
static int64_t prepare_ms(void)
{
    return 300 + getpid() % 256;
}

static int wait_ms(const struct supervise *h)
{
    int64_t now = clock_real_mono_ms(), left = -1;

    if (h->state == SHEP_RUNNING)
        left = stopwatch_left_ms(&h->watch, now);
    if (h->state == SHEP_RUNNING && !h->prepared)
        left = sooner(left, supervise_wall_ms(h) < prepare_ms() ? prepare_ms() - supervise_wall_ms(h) : 0);
    if (h->state == SHEP_STOPPING || h->state == SHEP_WITHDRAWN || h->state == SHEP_KILLING)
        left = sooner(left, h->grace_mono_ms > now ? h->grace_mono_ms - now : 0);
    if (h->n_unsaved)
        left = sooner(left, h->save_mono_ms > now ? h->save_mono_ms - now : 0);
    return left > INT32_MAX ? INT32_MAX : (int)left;
}

/* Something is left after SIGKILL: kill again, or say that it cannot be killed. */
static void look_at_killing(struct supervise *h, int64_t now)
{
    if (now >= h->give_up_mono_ms) {
        h->leftovers = true;
        supervise_post(h, SHEP_EV_GIVE_UP);
    } else if (now >= h->grace_mono_ms) {
        /* A job that forks faster than it can be found is stopped first; if that fails, it is killed all the same. */
        confine_suspend(h->confine, STAND_STILL_MS, NULL);
        supervise_kill(h);
    }
}

/* What the state waits for, at most one thing. */
static void look_at_state(struct supervise *h, int64_t now)
{
    if (h->state == SHEP_RUNNING && stopwatch_left_ms(&h->watch, now) == 0)
        supervise_post(h, SHEP_EV_WALLTIME);
    else if ((h->state == SHEP_STOPPING || h->state == SHEP_WITHDRAWN) && now >= h->grace_mono_ms)
        supervise_post(h, SHEP_EV_GRACE_OVER);
    else if (h->state == SHEP_KILLING)
        look_at_killing(h, now);
}

static void look_at_time(struct supervise *h)
{
    int64_t now = clock_real_mono_ms();

    if (h->state == SHEP_RUNNING && !h->prepared && supervise_wall_ms(h) >= prepare_ms()) {
        confine_prepare(h->confine);
        h->prepared = true;
    }
    if (h->n_unsaved && now >= h->save_mono_ms)
        supervise_save_records(h);
    look_at_state(h, now);
}

/* The kernel has killed one process or all of them for lack of memory: kill those that are left. */
static void look_at_memory(struct supervise *h)
{
    if (!confine_memory_event(h->confine) || h->state != SHEP_RUNNING)
        return;
    h->how = SHEP_END_TOLD;
    supervise_note_memory(h);
    supervise_post(h, SHEP_EV_KILL);
}

/* What is waited for: signals, the MOMs, the job's own processes. -1: again. */
static int wait_for_all(struct supervise *h, struct pollfd link[static MOM_LINK_FDS_MAX], size_t n)
{
    int64_t limit = sooner(sooner(wait_ms(h), mom_link_wait_ms(h->mom_link)),
                           sooner(job_notice_wait_ms(h->job_notice), job_declared_wait_ms(h->job_declared)));

    poll_set_clear(&h->poll_set);
    poll_set_add(&h->poll_set, h->signals, POLLIN);
    for (size_t i = 0; i < n; i++)
        poll_set_add(&h->poll_set, link[i].fd, link[i].events);
    h->memory_at = poll_set_add(&h->poll_set, confine_memory_fd(h->confine), POLLIN | POLLPRI);
    if (h->tm) {
        tm_server_poll(h->tm, &h->poll_set);
        limit = sooner(limit, tm_server_wait_ms(h->tm));
    }
    if (poll(h->poll_set.fds, h->poll_set.n, (int)limit) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        link[i].revents = poll_set_got(&h->poll_set, i + 1, link[i].fd);
    return 0;
}

static void supervise_turn(struct supervise *h)
{
    struct pollfd fds[MOM_LINK_FDS_MAX];
    struct signalfd_siginfo info;
    size_t n = mom_link_fds(h->mom_link, fds);

    if (wait_for_all(h, fds, n) < 0)
        return;
    if (poll_set_got(&h->poll_set, 0, h->signals)) {
        while (read(h->signals, &info, sizeof info) > 0)
            ; /* one SIGCHLD may mean many ends: look for all */
        supervise_reap(h);
    }
    if (poll_set_got(&h->poll_set, h->memory_at, confine_memory_fd(h->confine)))
        look_at_memory(h);
    mom_link_turn(h->mom_link, fds, n);
    job_notice_turn(h->job_notice);
    job_declared_turn(h->job_declared);
    if (h->tm)
        tm_server_turn(h->tm, &h->poll_set);
    if (h->state == SHEP_STOPPING || h->state == SHEP_KILLING)
        supervise_reap(h); /* a sister may have had no child that could end */
    look_at_time(h);
}

static int open_signals(struct err *e)
{
    sigset_t set;
    int fd;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return fd < 0 ? err_errno(e, errno, "cannot wait for children") : fd;
}

static bool supervise_is_running(void *arg)
{
    const struct supervise *h = arg;

    return h->state == SHEP_RUNNING || h->state == SHEP_WITHDRAWN;
}

static int supervise_answer_notice(void *arg, const struct tmx_notice_args *a, struct err *e)
{
    const struct supervise *h = arg;

    return job_notice_answer(h->job_notice, a, e);
}

static int supervise_declare(void *arg, const struct tmx_declare_args *a, struct err *e)
{
    const struct supervise *h = arg;

    return job_declared_take(h->job_declared, a, e);
}

/* Without it a job runs all the same; a program that asks for tasks finds no socket, and the job's stderr says why. */
static void serve_tasks(struct supervise *h)
{
    const struct tm_place place = {.order = &h->order,
                                   .first = &h->task,
                                   .dir = h->path,
                                   .confine = h->confine,
                                   .mom_link = h->mom_link,
                                   .records = h->records,
                                   .is_running = supervise_is_running,
                                   .answer_notice = supervise_answer_notice,
                                   .declare = supervise_declare,
                                   .arg = h};
    struct err e = {0};

    h->tm = tm_server_create(&place, &e);
    if (!h->tm)
        task_say(&h->task, e.text);
}

/* A job whose limit cannot be set runs without it, and its owner is told. Limits on devices are the exception: without
 * them the job does not run. */
static int limit_all(struct supervise *h, struct err *e)
{
    for (u_int i = 0; i < h->order.groups.groups_len; i++) {
        const struct shep_group *g = &h->order.groups.groups_val[i];
        struct err why = {0};

        if (g->limit < 0 || g->limit >= CONFINE_LIMIT_COUNT ||
            confine_limit(h->confine, (enum confine_limit)g->limit, g->bound, &why) == 0)
            continue;
        if (g->limit == CONFINE_DEVICES)
            return err_set(e, why.code, "%s", why.text);
        task_say(&h->task, why.text);
    }
    h->task.confine = h->confine;
    return 0;
}

static void supervise_find_places(const struct shep_order *o, struct confine_place *place)
{
    *place = (struct confine_place){.kind = (enum confine_kind)o->freezer};
    snprintf(place->dir, sizeof place->dir, "%s", o->freezer_dir);
    for (u_int i = 0; i < o->groups.groups_len; i++) {
        const struct shep_group *g = &o->groups.groups_val[i];

        if (g->limit < 0 || g->limit >= CONFINE_LIMIT_COUNT)
            continue;
        place->limit[g->limit].kind = (enum confine_kind)g->kind;
        snprintf(place->limit[g->limit].dir, sizeof place->limit[g->limit].dir, "%s", g->dir);
    }
}

/* The login shell that reads the script's path ignores no signal, and would die of one that the script handles. So the
 * signal goes to its children, which are the script. */
static void supervise_signal_job(void *arg, int signo, bool all)
{
    const struct supervise *h = arg;
    struct procs p;
    struct err e = {0};

    procs_init(&p);
    if (procs_of(&p, getpid(), confine_adopted(h->confine), &e) < 0)
        task_say(&h->task, e.text); /* its owner counts on this signal */
    else
        for (size_t i = 0; i < p.n; i++) {
            const struct procs_entry *x = &p.list[i];
            bool is_script = h->order.script[0] ? x->parent == h->task.pid : x->pid == h->task.pid;

            if (is_script || (all && (x->pid != h->task.pid || !h->order.script[0])))
                kill(x->pid, signo);
        }
    procs_fini(&p);
}

static void supervise_tell_helper(void *arg, unsigned attempt, const char *text)
{
    const struct supervise *h = arg;

    if (h->tm)
        tm_helper_tell(h->tm, attempt, text);
}

static int begin_notice(struct supervise *h, struct err *e)
{
    const struct job_notice_place place = {.order = &h->order,
                                           .mom_link = h->mom_link,
                                           .signal_job = supervise_signal_job,
                                           .tell = supervise_tell_helper,
                                           .arg = h};

    h->job_notice = job_notice_create(&place);
    h->job_declared = job_declared_create(h->mom_link);
    return h->job_notice && h->job_declared ? 0 : err_set(e, ENOMEM, "no memory for job %s", h->order.id);
}

static int supervise_begin(struct supervise *h, int mom, struct err *e)
{
    struct confine_place place;
    char runs[RUNDIR_PATH_MAX];
    const char *name = strrchr(h->path, '/');

    supervise_find_places(&h->order, &place);
    snprintf(runs, sizeof runs, "%.*s", name ? (int)(name - h->path) : 1, name ? h->path : ".");
    if (confine_own(&place, runs, e) < 0)
        return -1;
    h->confine = confine_create(&place, name ? name + 1 : h->path, getpid(), h->order.suspend_signal,
                                h->order.resume_signal);
    if (!h->confine)
        return err_set(e, ENOMEM, "no memory for job %s", h->order.id);
    h->signals = open_signals(e);
    h->mom_link = h->signals < 0 ? NULL : mom_link_create(h->path, mom, hold_calls, hold_calls_n, h, e);
    return h->mom_link ? begin_notice(h, e) : -1;
}

static void supervise_record_started(struct supervise *h)
{
    struct shep_record r = {.kind = SHEP_RECORD_STARTED};

    r.shep_record_u.started.pid = (int)h->task.pid;
    r.shep_record_u.started.wall_ms = clock_wall_ms(clock_real());
    supervise_append_record(h, &r, false);
}

/* What ran here when the image was written; it has no first process. */
static int restart_tasks(struct supervise *h)
{
    pid_t any;

    if (!h->order.restart_argv.restart_argv_len)
        return 0;
    if (restart_job(&h->order, &h->task, &any, &h->why) == 0) {
        confine_take_in(h->confine);
        return 0;
    }
    confine_signal(h->confine, SIGKILL);
    h->setup_code = h->why.code == RESTART_PREVIOUS ? EXIT_AGAIN : EXIT_RESTART;
    return -1;
}

static void supervise_launch_sister(struct supervise *h)
{
    h->setup_code = EXIT_SETUP;
    if (task_prepare(&h->task, h->path, &h->order, &h->why) == 0 && limit_all(h, &h->why) == 0 &&
        restart_tasks(h) == 0) {
        serve_tasks(h);
        supervise_record_started(h);
        supervise_post(h, SHEP_EV_LAUNCHED);
        return;
    }
    h->how = SHEP_END_SETUP;
    h->reason = EXEC_END_SETUP;
    supervise_post(h, SHEP_EV_SETUP_FAILED);
}

static void supervise_name_first(struct supervise *h)
{
    if (h->tm)
        tm_server_first(h->tm, h->task.pid);
}

/* Back from an image. What a script leaves that has failed goes too. */
static bool supervise_launch_again(struct supervise *h)
{
    if (task_prepare(&h->task, h->path, &h->order, &h->why) == 0 &&
        restart_job(&h->order, &h->task, &h->task.pid, &h->why) == 0 && limit_all(h, &h->why) == 0) {
        confine_take_in(h->confine);
        serve_tasks(h);
        supervise_name_first(h);
        supervise_record_started(h);
        supervise_post(h, SHEP_EV_LAUNCHED);
        return true;
    }
    confine_signal(h->confine, SIGKILL);
    h->setup_code = h->why.code == RESTART_PREVIOUS ? EXIT_AGAIN : EXIT_RESTART;
    return false;
}

/* The job asks for PMIx: its first process is a client, if it wants to be. Without the helper it runs all the same. */
static void supervise_add_pmix(struct supervise *h)
{
    struct shep_order *o = &h->order;
    struct words more;
    struct err e = {0};
    char **env;

    if (!h->tm || !task_env_find(o->env.env_val, o->env.env_len, "PBS_PMIX"))
        return;
    words_init(&more);
    if (tm_server_begin_helper(h->tm, &more, &e) < 0) {
        task_say(&h->task, e.text);
    } else if ((env = realloc(o->env.env_val, (o->env.env_len + more.n + 1) * sizeof *env))) {
        o->env.env_val = env;
        memcpy(env + o->env.env_len, more.w, more.n * sizeof *env); /* the texts are the order's now */
        o->env.env_len += (u_int)more.n;
        more.n = 0;
    }
    words_fini(&more);
}

/* Forked and waiting, the process is recorded and its tasks can be served before it executes anything. Should we die in
 * between, its end of `go` closes, and it ends without having run a line of the owner's. */
static bool supervise_launch_first(struct supervise *h)
{
    h->setup_code = EXIT_SETUP;
    if (task_prepare(&h->task, h->path, &h->order, &h->why) < 0 ||
        display_give(h->path, &h->order, &h->why) < 0 || limit_all(h, &h->why) < 0)
        return false;
    serve_tasks(h);
    supervise_add_pmix(h);
    if (task_fork(&h->task, &h->order, &h->why) < 0)
        return false;
    supervise_name_first(h);
    supervise_record_started(h);
    if (h->order.say[0])
        task_say(&h->task, h->order.say);
    if (task_go(&h->task, &h->order, &h->why) == 0) {
        supervise_post(h, SHEP_EV_LAUNCHED);
        return true;
    }
    waitpid(h->task.pid, NULL, 0);
    return false;
}

static void supervise_launch(struct supervise *h)
{
    if (h->order.restart_argv.restart_argv_len ? supervise_launch_again(h) : supervise_launch_first(h))
        return;
    h->how = SHEP_END_SETUP;
    h->reason = EXEC_END_SETUP;
    task_say(&h->task, h->why.text);
    supervise_post(h, SHEP_EV_SETUP_FAILED);
}

static int supervise_hold_order(struct supervise *h, int mom)
{
    struct err e = {0};

    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what the job leaves behind becomes ours, so its end can be seen */
    prctl(PR_SET_NAME, "pbs_shepherd");
    if (rundir_read_order(h->path, &h->order, &e) < 0 || supervise_begin(h, mom, &e) < 0) {
        fprintf(stderr, "pbs_shepherd: %s\n", e.text);
        return 1;
    }
    if (supervise_is_sister(h))
        supervise_launch_sister(h);
    else
        supervise_launch(h);
    while (h->state != SHEP_CLOSED)
        supervise_turn(h);
    mom_link_flush(h->mom_link, MS_PER_S);
    return 0;
}

/* A second shepherd for this run: its MOM was killed, and the next MOM started another. The job has had its shepherd. */
static void supervise_see_record(void *arg, void *item)
{
    *(bool *)arg = true;
}

static int refuse_second(const char *path, struct err *e)
{
    bool any = false;

    if (rundir_records_read(path, (xdrproc_t)xdr_shep_record, sizeof(struct shep_record),
                            supervise_see_record, &any, e) < 0)
        return -1;
    return any ? err_set(e, EEXIST, "the run has been held before") : 0;
}

int supervise_run(const char *path, int mom)
{
    struct supervise h = {.path = path, .signals = -1, .state = SHEP_BEGIN};
    struct err e = {0};
    int rc;

    task_init(&h.task);
    /* Take the lock before anything else: a second shepherd for the same run must not even look at the job. */
    h.records = rundir_log_open(path, RUNDIR_RUN, &e);
    if (h.records < 0 || rundir_hold(h.records, &e) < 0 || refuse_second(path, &e) < 0) {
        fprintf(stderr, "pbs_shepherd: %s\n", e.text);
        return EXIT_BUSY;
    }
    rc = supervise_hold_order(&h, mom);
    mom_link_destroy(h.mom_link);
    tm_server_destroy(h.tm);
    job_notice_destroy(h.job_notice);
    job_declared_destroy(h.job_declared);
    poll_set_fini(&h.poll_set);
    confine_destroy(h.confine);
    task_fini(&h.task);
    xdr_free((xdrproc_t)xdr_shep_order, &h.order);
    return rc;
}
