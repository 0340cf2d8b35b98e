/* The shepherd's loop. Who speaks first: the MOM by its order in the run's directory; then the shepherd writes
 * "started", later "ended", each before it says so. A MOM may come and go in between, or never.
 *
 * Invariants: the records are locked while we live; no program runs unrecorded; "ended" is on disk before
 * anybody hears it; after "ended" nothing of the job runs (or the record says that something could not be killed).
 */
#include "hold.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shep.h>

#include "clock.h"
#include "closing.h"
#include "confine.h"
#include "link.h"
#include "meter.h"
#include "pbs_error.h"
#include "polls.h"
#include "rundir.h"
#include "restart.h"
#include "shep_fsm.h"
#include "stopwatch.h"
#include "task.h"
#include "tm_server.h"

enum {
    EXIT_BUSY = 3, /* another shepherd holds the run */
    SUSPEND_LIMIT_MS = 5000,
    KILL_AGAIN_MS = 100, /* beside SIGCHLD, which mostly comes first */
    GIVE_UP_MS = 60000,
    SAY_MAX = 512,
    EXIT_SETUP = -1,   /* PBS exit status: failed before it began */
    EXIT_RESTART = -7, /* and: did not come back from its image */
    MS_PER_S = 1000,
    KB = 1024
};

struct hold {
    const char *path;
    struct shep_order order;
    int records, signals;
    struct link *link;
    struct tm_server *tm; /* NULL: its socket could not be made; the job runs without */
    struct polls polls;
    size_t memory_at; /* among them */
    struct confine *confine;
    struct task task;
    struct stopwatch watch;
    struct meter meter;
    enum shep_state state;
    bool prepared; /* for being suspended */
    bool main_ended;
    int status;
    bool leftovers;
    int64_t grace_mono_ms; /* when STOPPING or KILLING go on by themselves */
    int64_t give_up_mono_ms;
    unsigned grace_s;
    enum shep_end how;
    enum exec_reason reason;
    char say[SAY_MAX]; /* for the job's stderr */
    struct err why;    /* it was not set up */
    int setup_code;
    struct shep_close_args *closing;
    struct shep_close_result *closed;
};

/* Another host runs the script: we hold the run for what the program may start here. */
static bool is_sister(const struct hold *h)
{
    return !h->order.exec_path[0];
}

static void append_record(struct hold *h, const struct shep_record *r, bool sync)
{
    /* A full disk must not lose the end for the MOM that listens; one that comes later finds the job lost. */
    rundir_log_append(h->records, (xdrproc_t)xdr_shep_record, r, sync, NULL);
    if (h->link)
        link_tell(h->link, r);
}

static int64_t wall_ms(const struct hold *h)
{
    return stopwatch_read_ms(&h->watch, clock_real_mono_ms());
}

static void usage(struct hold *h, struct exec_usage *out)
{
    if (h->state == SHEP_RUNNING || h->state == SHEP_STOPPING || h->state == SHEP_KILLING)
        meter_sample(&h->meter, getpid(), confine_adopted(h->confine), wall_ms(h));
    meter_read(&h->meter, wall_ms(h), h->order.ncpus, out);
}

/* ---- actions */
static void act_started(struct hold *h)
{
    h->watch.limit_ms = (int64_t)h->order.walltime_ms;
    stopwatch_start(&h->watch, clock_real_mono_ms());
}

static void act_term(struct hold *h)
{
    if (h->say[0])
        task_say(&h->task, h->say);
    confine_signal(h->confine, SIGTERM);
    confine_resume(h->confine, NULL); /* a frozen process cannot leave in order */
    stopwatch_start(&h->watch, clock_real_mono_ms());
    h->grace_mono_ms = clock_real_mono_ms() + (int64_t)h->grace_s * MS_PER_S;
}

static void act_walltime(struct hold *h)
{
    h->how = SHEP_END_WALLTIME;
    h->reason = EXEC_END_WALLTIME;
    h->grace_s = h->order.kill_delay_s;
    snprintf(h->say, sizeof h->say, "job killed: walltime %lld exceeded limit %lld",
             (long long)(wall_ms(h) + MS_PER_S - 1) / MS_PER_S, (long long)h->watch.limit_ms / MS_PER_S);
    act_term(h);
}

static void act_kill(struct hold *h)
{
    int64_t now = clock_real_mono_ms();

    if (!h->give_up_mono_ms) {
        h->give_up_mono_ms = now + GIVE_UP_MS;
        if (!h->main_ended && h->say[0] && h->state == SHEP_RUNNING)
            task_say(&h->task, h->say);
    }
    confine_signal(h->confine, SIGKILL);
    confine_resume(h->confine, NULL); /* SIGKILL reaches a frozen process when it thaws */
    h->grace_mono_ms = now + KILL_AGAIN_MS;
}

static void note_memory(struct hold *h)
{
    h->reason = EXEC_END_MEM;
    snprintf(h->say, sizeof h->say, "job killed: mem exceeded limit %llukb",
             (unsigned long long)h->order.memory_bytes / KB);
}

static void act_record(struct hold *h)
{
    struct shep_record r = {.kind = SHEP_RECORD_ENDED};
    struct shep_ended *end = &r.shep_record_u.ended;

    if (h->how == SHEP_END_ITSELF && confine_has_run_out(h->confine)) {
        note_memory(h); /* the news of it came behind the end */
        task_say(&h->task, h->say);
    }
    stopwatch_stop(&h->watch, clock_real_mono_ms());
    meter_finish(&h->meter, wall_ms(h));
    end->how = h->how;
    end->status = h->status;
    end->code = h->how == SHEP_END_SETUP ? h->setup_code : 0;
    end->reason = h->reason;
    end->text = h->how == SHEP_END_SETUP ? h->why.text : h->say;
    meter_read(&h->meter, wall_ms(h), h->order.ncpus, &end->usage);
    end->wall_ms = clock_wall_ms(clock_real());
    end->leftovers = h->leftovers;
    append_record(h, &r, true);
}

static void post(struct hold *h, enum shep_event ev)
{
    const struct shep_row *row = shep_fsm_find(h->state, ev);

    if (!row)
        return;
    switch (row->action) {
    case SHEP_ACT_NONE:
    case SHEP_ACTION_COUNT:
        break;
    case SHEP_ACT_STARTED:
        act_started(h);
        break;
    case SHEP_ACT_TERM:
        act_term(h);
        break;
    case SHEP_ACT_WALLTIME:
        act_walltime(h);
        break;
    case SHEP_ACT_KILL:
        act_kill(h);
        break;
    case SHEP_ACT_RECORD:
        act_record(h);
        break;
    case SHEP_ACT_CLOSE:
        closing_do(h->path, &h->order, h->closing, h->closed);
        break;
    }
    h->state = row->next;
}

/* ---- calls of the MOM */
static void done(struct hold *h, struct shep_done *r, int code, const char *text)
{
    r->code = code;
    r->text = strdup(text);
    usage(h, &r->usage);
}

static void call_hello(void *arg, const void *args, void *res)
{
    struct hold *h = arg;
    struct shep_hello_result *r = res;

    (void)args;
    r->protocol = SHEP_VERSION;
    r->pid = getpid();
    r->started = h->state != SHEP_BEGIN;
    r->suspended = confine_is_suspended(h->confine);
    r->ended = h->state >= SHEP_ENDED;
    usage(h, &r->usage);
}

static void call_signal(void *arg, const void *args, void *res)
{
    struct hold *h = arg;
    const struct shep_signal_args *a = args;

    if (h->state >= SHEP_ENDED)
        done(h, res, PBSE_BADSTATE, "the job has ended");
    else if (is_sister(h) && confine_signal(h->confine, a->signo) == 0)
        done(h, res, 0, ""); /* nothing runs here now */
    else if (a->target == EXEC_TARGET_SCRIPT && !is_sister(h) && !h->main_ended &&
             kill(h->task.pid, a->signo) < 0)
        done(h, res, PBSE_SYSTEM, strerror(errno));
    else if (!is_sister(h) && a->target != EXEC_TARGET_SCRIPT && confine_signal(h->confine, a->signo) == 0)
        done(h, res, PBSE_BADSTATE, "no process of the job is left");
    else
        done(h, res, 0, "");
}

static void call_suspend(void *arg, const void *args, void *res)
{
    struct hold *h = arg;
    struct err e = {0};

    (void)args;
    if (h->state != SHEP_RUNNING) {
        done(h, res, PBSE_BADSTATE, "the job is ending");
    } else if (confine_suspend(h->confine, SUSPEND_LIMIT_MS, &e) < 0) {
        done(h, res, PBSE_SYSTEM, e.text);
    } else {
        stopwatch_stop(&h->watch, clock_real_mono_ms());
        done(h, res, 0, "");
    }
}

static void call_resume(void *arg, const void *args, void *res)
{
    struct hold *h = arg;
    struct err e = {0};

    (void)args;
    if (h->state != SHEP_RUNNING) {
        done(h, res, PBSE_BADSTATE, "the job is ending");
    } else if (confine_resume(h->confine, &e) < 0) {
        done(h, res, PBSE_SYSTEM, e.text);
    } else {
        stopwatch_start(&h->watch, clock_real_mono_ms());
        if (h->tm)
            tm_server_resumed(h->tm);
        done(h, res, 0, "");
    }
}

static void call_terminate(void *arg, const void *args, void *res)
{
    struct hold *h = arg;
    const struct shep_terminate_args *a = args;

    if (h->state == SHEP_RUNNING) {
        h->how = SHEP_END_TOLD;
        h->reason = a->reason;
        h->grace_s = a->grace_s;
        snprintf(h->say, sizeof h->say, "%s", a->text);
    }
    post(h, a->grace_s ? SHEP_EV_TERMINATE : SHEP_EV_KILL);
    done(h, res, 0, "");
}

static void call_update(void *arg, const void *args, void *res)
{
    struct hold *h = arg;
    const struct shep_update_args *a = args;

    h->watch.limit_ms = (int64_t)a->walltime_ms;
    done(h, res, 0, "");
}

static void call_message(void *arg, const void *args, void *res)
{
    struct hold *h = arg;
    const struct shep_message_args *a = args;

    if (h->state != SHEP_RUNNING) {
        done(h, res, PBSE_BADSTATE, "the job is ending");
        return;
    }
    task_message(&h->task, a->files, a->text);
    done(h, res, 0, "");
}

static void call_usage(void *arg, const void *args, void *res)
{
    (void)args;
    done(arg, res, 0, "");
}

static void call_close(void *arg, const void *args, void *res)
{
    struct hold *h = arg;
    struct shep_close_result *r = res;

    if (h->state != SHEP_ENDED) {
        r->failed = -1;
        r->text = strdup("the job has not ended");
        return;
    }
    h->closing = (struct shep_close_args *)args;
    h->closed = r;
    post(h, SHEP_EV_CLOSE);
}

static void call_letter(void *arg, const void *args, const struct link_ticket *from)
{
    struct hold *h = arg;
    char text[] = "the job's shepherd here serves no tasks", none[1] = "";
    struct shep_letter_result res = {
        .code = PBSE_IVALREQ, .text = text, .bytes = {0, none}, .ext = {0, none}};

    if (h->tm)
        tm_server_letter(h->tm, args, from);
    else
        link_answer(h->link, from, (xdrproc_t)xdr_shep_letter_result, &res);
}

#define ROW(proc, args, res, fn)                                                                             \
    {                                                                                                        \
        proc, (xdrproc_t)xdr_##args, (xdrproc_t)xdr_##res, sizeof(struct args), sizeof(struct res), fn, NULL \
    }
#define ROW_NO_ARGS(proc, fn)                                                                                \
    {                                                                                                        \
        proc, NULL, (xdrproc_t)xdr_shep_done, 0, sizeof(struct shep_done), fn, NULL                          \
    }

static const struct link_row calls[] = {
    ROW(SHEP_HELLO, shep_hello_args, shep_hello_result, call_hello),
    ROW(SHEP_SIGNAL, shep_signal_args, shep_done, call_signal),
    ROW_NO_ARGS(SHEP_SUSPEND, call_suspend),
    ROW_NO_ARGS(SHEP_RESUME, call_resume),
    ROW(SHEP_TERMINATE, shep_terminate_args, shep_done, call_terminate),
    ROW(SHEP_UPDATE, shep_update_args, shep_done, call_update),
    ROW(SHEP_MESSAGE, shep_message_args, shep_done, call_message),
    ROW_NO_ARGS(SHEP_USAGE, call_usage),
    ROW(SHEP_CLOSE, shep_close_args, shep_close_result, call_close),
    {SHEP_LETTER, (xdrproc_t)xdr_shep_letter_args, (xdrproc_t)xdr_shep_letter_result,
     sizeof(struct shep_letter_args), sizeof(struct shep_letter_result), NULL, call_letter},
};

/* ---- the loop */
static void reap(struct hold *h)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (h->tm)
            tm_server_reaped(h->tm, pid, status);
        if (pid == h->task.pid) {
            h->main_ended = true;
            h->status = status;
            if (h->state == SHEP_RUNNING)
                h->how = SHEP_END_ITSELF;
        }
    }
    if (pid < 0 && errno == ECHILD && !(is_sister(h) && h->state == SHEP_RUNNING) &&
        !confine_has_adopted(h->confine))
        post(h, SHEP_EV_ALL_ENDED);
    else if (h->main_ended)
        post(h, SHEP_EV_MAIN_ENDED);
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

static int wait_ms(const struct hold *h)
{
    int64_t now = clock_real_mono_ms(), left = -1;

    if (h->state == SHEP_RUNNING)
        left = stopwatch_left_ms(&h->watch, now);
    if (h->state == SHEP_RUNNING && !h->prepared)
        left = sooner(left, wall_ms(h) < prepare_ms() ? prepare_ms() - wall_ms(h) : 0);
    if (h->state == SHEP_STOPPING || h->state == SHEP_KILLING)
        left = sooner(left, h->grace_mono_ms > now ? h->grace_mono_ms - now : 0);
    return left > INT32_MAX ? INT32_MAX : (int)left;
}

static void look_at_time(struct hold *h)
{
    int64_t now = clock_real_mono_ms();

    if (h->state == SHEP_RUNNING && !h->prepared && wall_ms(h) >= prepare_ms()) {
        confine_prepare(h->confine);
        h->prepared = true;
    }

    if (h->state == SHEP_RUNNING && stopwatch_left_ms(&h->watch, now) == 0)
        post(h, SHEP_EV_WALLTIME);
    else if (h->state == SHEP_STOPPING && now >= h->grace_mono_ms)
        post(h, SHEP_EV_GRACE_OVER);
    else if (h->state == SHEP_KILLING && now >= h->give_up_mono_ms) {
        h->leftovers = true;
        post(h, SHEP_EV_GIVE_UP);
    } else if (h->state == SHEP_KILLING && now >= h->grace_mono_ms)
        act_kill(h);
}

/* The kernel has killed one process, or all: none is left behind. */
static void look_at_memory(struct hold *h)
{
    if (!confine_memory_event(h->confine) || h->state != SHEP_RUNNING)
        return;
    h->how = SHEP_END_TOLD;
    note_memory(h);
    post(h, SHEP_EV_KILL);
}

/* What is waited for: signals, the MOMs, the job's own processes. -1: again. */
static int wait_for_all(struct hold *h, struct pollfd link[static LINK_FDS_MAX], size_t n)
{
    int64_t limit = sooner(wait_ms(h), link_wait_ms(h->link));

    polls_clear(&h->polls);
    polls_add(&h->polls, h->signals, POLLIN);
    for (size_t i = 0; i < n; i++)
        polls_add(&h->polls, link[i].fd, link[i].events);
    h->memory_at = polls_add(&h->polls, confine_memory_fd(h->confine), POLLIN | POLLPRI);
    if (h->tm) {
        tm_server_poll(h->tm, &h->polls);
        limit = sooner(limit, tm_server_wait_ms(h->tm));
    }
    if (poll(h->polls.fds, h->polls.n, (int)limit) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        link[i].revents = polls_got(&h->polls, i + 1, link[i].fd);
    return 0;
}

static void turn(struct hold *h)
{
    struct pollfd fds[LINK_FDS_MAX];
    struct signalfd_siginfo info;
    size_t n = link_fds(h->link, fds);

    if (wait_for_all(h, fds, n) < 0)
        return;
    if (polls_got(&h->polls, 0, h->signals)) {
        while (read(h->signals, &info, sizeof info) > 0)
            ;
        reap(h);
    }
    if (polls_got(&h->polls, h->memory_at, confine_memory_fd(h->confine)))
        look_at_memory(h);
    link_turn(h->link, fds, n);
    if (h->tm)
        tm_server_turn(h->tm, &h->polls);
    if (h->state == SHEP_STOPPING || h->state == SHEP_KILLING)
        reap(h); /* a sister may have had no child that could end */
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

static bool is_running(void *arg)
{
    const struct hold *h = arg;

    return h->state == SHEP_RUNNING;
}

/* Without it a job runs all the same; whoever asks for tasks is told by the missing socket, the job's stderr says why. */
static void serve_tasks(struct hold *h)
{
    const struct tm_place place = {.order = &h->order,
                                   .first = &h->task,
                                   .confine = h->confine,
                                   .link = h->link,
                                   .records = h->records,
                                   .is_running = is_running,
                                   .arg = h};
    struct err e = {0};

    h->tm = tm_server_create(&place, &e);
    if (!h->tm)
        task_say(&h->task, e.text);
}

/* A job runs without a limit rather than not at all, and its owner is told. */
static void limit_memory(struct hold *h)
{
    struct err e = {0};

    if (confine_limit_memory(h->confine, h->order.memory_bytes, &e) < 0)
        task_say(&h->task, e.text);
    h->task.confine = h->confine;
}

static int begin(struct hold *h, int mom, struct err *e)
{
    struct confine_place place = {.kind = (enum confine_kind)h->order.freezer,
                                  .memory = (enum confine_kind)h->order.memory};

    snprintf(place.dir, sizeof place.dir, "%s", h->order.freezer_dir);
    snprintf(place.memory_dir, sizeof place.memory_dir, "%s", h->order.memory_dir);
    h->confine = confine_create(&place, strrchr(h->path, '/') ? strrchr(h->path, '/') + 1 : h->path, getpid(),
                                h->order.suspend_signal, h->order.resume_signal);
    if (!h->confine)
        return err_set(e, ENOMEM, "no memory for job %s", h->order.id);
    h->signals = open_signals(e);
    h->link = h->signals < 0 ? NULL : link_create(h->path, mom, calls, sizeof calls / sizeof calls[0], h, e);
    return h->link ? 0 : -1;
}

static void record_started(struct hold *h)
{
    struct shep_record r = {.kind = SHEP_RECORD_STARTED};

    r.shep_record_u.started.pid = (int)h->task.pid;
    r.shep_record_u.started.wall_ms = clock_wall_ms(clock_real());
    append_record(h, &r, false);
}

static void launch_sister(struct hold *h)
{
    if (task_prepare(&h->task, h->path, &h->order, &h->why) == 0) {
        serve_tasks(h);
        limit_memory(h);
        record_started(h);
        post(h, SHEP_EV_LAUNCHED);
        return;
    }
    h->how = SHEP_END_SETUP;
    h->setup_code = EXIT_SETUP;
    h->reason = EXEC_END_SETUP;
    post(h, SHEP_EV_SETUP_FAILED);
}

/* Before anybody hears that the job has started. */
static void serve_first(struct hold *h)
{
    serve_tasks(h);
    if (h->tm)
        tm_server_first(h->tm, h->task.pid);
}

/* Back from an image. What a script leaves that has failed goes too. */
static bool launch_again(struct hold *h)
{
    if (task_prepare(&h->task, h->path, &h->order, &h->why) == 0 &&
        restart_job(&h->order, &h->task, &h->task.pid, &h->why) == 0) {
        serve_first(h);
        record_started(h);
        post(h, SHEP_EV_LAUNCHED);
        return true;
    }
    confine_signal(h->confine, SIGKILL);
    h->setup_code = EXIT_RESTART;
    return false;
}

static bool launch_first(struct hold *h)
{
    h->setup_code = EXIT_SETUP;
    if (task_prepare(&h->task, h->path, &h->order, &h->why) < 0)
        return false;
    limit_memory(h);
    if (task_fork(&h->task, &h->order, &h->why) < 0)
        return false;
    serve_first(h);
    record_started(h);
    if (h->order.say[0])
        task_say(&h->task, h->order.say);
    if (task_go(&h->task, &h->order, &h->why) == 0) {
        post(h, SHEP_EV_LAUNCHED);
        return true;
    }
    waitpid(h->task.pid, NULL, 0);
    return false;
}

static void launch(struct hold *h)
{
    if (h->order.restart_argv.restart_argv_len ? launch_again(h) : launch_first(h))
        return;
    h->how = SHEP_END_SETUP;
    h->reason = EXEC_END_SETUP;
    task_say(&h->task, h->why.text);
    post(h, SHEP_EV_SETUP_FAILED);
}

static int hold_order(struct hold *h, int mom)
{
    struct err e = {0};

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_NAME, "pbs_shepherd");
    if (rundir_read_order(h->path, &h->order, &e) < 0 || begin(h, mom, &e) < 0) {
        fprintf(stderr, "pbs_shepherd: %s\n", e.text);
        return 1;
    }
    if (is_sister(h))
        launch_sister(h);
    else
        launch(h);
    while (h->state != SHEP_CLOSED)
        turn(h);
    link_flush(h->link, MS_PER_S);
    return 0;
}

/* A late twin (its MOM was killed, the next one started another): the job has had its shepherd. */
static void see_record(void *arg, void *item)
{
    (void)item;
    *(bool *)arg = true;
}

static int refuse_second(const char *path, struct err *e)
{
    bool any = false;

    if (rundir_records_read(path, (xdrproc_t)xdr_shep_record, sizeof(struct shep_record), see_record, &any,
                            e) < 0)
        return -1;
    return any ? err_set(e, EEXIST, "the run has been held before") : 0;
}

int hold_run(const char *path, int mom)
{
    struct hold h = {.path = path, .signals = -1, .state = SHEP_BEGIN};
    struct err e = {0};
    int rc;

    task_init(&h.task);
    h.records = rundir_log_open(path, RUNDIR_RUN, &e);
    if (h.records < 0 || rundir_hold(h.records, &e) < 0 || refuse_second(path, &e) < 0) {
        fprintf(stderr, "pbs_shepherd: %s\n", e.text);
        return EXIT_BUSY;
    }
    rc = hold_order(&h, mom);
    link_destroy(h.link);
    tm_server_destroy(h.tm);
    polls_fini(&h.polls);
    confine_destroy(h.confine);
    task_fini(&h.task);
    xdr_free((xdrproc_t)xdr_shep_order, &h.order);
    return rc;
}
