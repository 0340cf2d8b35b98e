/* Events of task management are numbered from 1 in the order of the calls: a table says what each of them belongs to. Signals come
 * through a descriptor, so that the loop waits for both.
 *
 * The order at the beginning: every host has registered the launch before the first rank starts, since a rank talks at once to the
 * helper of its host, and that to the others. At the end the helpers forget it; a launcher that is killed leaves it to the end of
 * the job. */
#include "launch_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "launch_output.h"
#include "pbs_ext.h"
#include "rpc_buf.h"
#include "tm.h"
#include "words.h"

extern char **environ;

/* KILL_AFTER_MS: ranks that are told to end may write what they have; srun waits as long. AGAIN_MS: a second interrupt within this
 * time is meant. */
enum {
    EXIT_FAILED = 1,
    EXIT_NOT_FOUND = 127,
    SIGNALLED = 256,
    SHELL_SIGNALLED = 128,
    KILL_AFTER_MS = 5000,
    AGAIN_MS = 1000,
    NAME_SIZE = 256
};

enum launch_event { EVENT_NONE, EVENT_BEGUN, EVENT_SPAWNED, EVENT_ENDED, EVENT_OTHER };

struct launch_run_rank {
    tm_task_id task;
    int status;
    bool started, over;
    uint64_t owed; /* signals that came before it was known to run: bit N of signal N */
    const char *cpus;
    char **env; /* its own; borrowed from its host's answer */
    unsigned n_env;
};

struct launch_run_host {
    char *bytes; /* of its answer */
    size_t n;
    struct launch_answer answer;
};

struct launch_run {
    const struct launch_run_wish *w;
    char nspace[NAME_SIZE];
    struct launch_run_rank *ranks;
    struct launch_run_host *hosts;
    struct launch_output *output;
    struct {
        enum launch_event kind;
        unsigned index;
    } * events; /* by number */
    size_t n_events, cap_events;
    unsigned open;   /* ranks that are not over */
    unsigned owed;   /* answers of hosts */
    int worst;       /* exit status */
    bool failed;     /* the launch, for a reason that has been said */
    bool ending;     /* the ranks were told to end */
    int64_t kill_ms; /* when they are killed; 0: not */
    int64_t interrupt_ms;
    int signals;
};

static int64_t launch_run_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static const char *launch_run_host(const struct launch_run *l, unsigned rank)
{
    return l->w->plan->hosts[l->w->plan->host[rank]].name;
}

/* ---- events */
static void launch_run_expect(struct launch_run *l, tm_event_t event, enum launch_event kind, unsigned index)
{
    size_t at = (size_t)event;

    if (at >= l->cap_events) {
        size_t cap = at * 2 + 64;
        void *more = realloc(l->events, cap * sizeof *l->events);

        if (!more)
            return; /* its end is not seen: the launch ends with the job */
        l->events = more;
        memset(l->events + l->cap_events, 0, (cap - l->cap_events) * sizeof *l->events);
        l->cap_events = cap;
    }
    l->events[at].kind = kind;
    l->events[at].index = index;
}

static void launch_run_signal_one(struct launch_run *l, unsigned rank, int signo)
{
    tm_event_t event;

    if (tm_kill(l->ranks[rank].task, signo, &event) == TM_SUCCESS)
        launch_run_expect(l, event, EVENT_OTHER, rank);
}

/* A rank runs before we hear of it: it gets the signal then. */
static void launch_run_signal(struct launch_run *l, int signo)
{
    for (unsigned r = 0; r < l->w->plan->n_ranks; r++)
        if (!l->ranks[r].started)
            l->ranks[r].owed |= UINT64_C(1) << signo;
        else if (!l->ranks[r].over)
            launch_run_signal_one(l, r, signo);
}

static void launch_run_signal_owed(struct launch_run *l, unsigned rank)
{
    for (int signo = 1; signo < NSIG && signo < 64; signo++)
        if (l->ranks[rank].owed >> signo & 1)
            launch_run_signal_one(l, rank, signo);
}

static void launch_run_end_all(struct launch_run *l, int signo)
{
    if (!l->ending)
        l->kill_ms = launch_run_now() + KILL_AFTER_MS;
    l->ending = true;
    launch_run_signal(l, signo);
}

static void launch_run_complain(struct launch_run *l, const char *host, int code)
{
    const char *why = pbs_tm_reason();

    if (!l->failed)
        (void)cmd_error(l->w->a, "%s: %s", host, *why ? why : "the host cannot be reached");
    l->failed = true;
    if (l->worst < EXIT_FAILED || code == TM_ENOTFOUND)
        l->worst = code == TM_ENOTFOUND ? EXIT_NOT_FOUND : EXIT_FAILED;
}

/* ---- the helpers are told */
static int launch_run_say(struct launch_run *l, unsigned host, const struct launch_ask *ask,
                          enum launch_event kind)
{
    struct launch_run_host *h = &l->hosts[host];
    struct byte_buf b;
    tm_event_t event;
    int code = TM_ESYSTEM;

    byte_buf_init(&b);
    if (rpc_buf_encode(&b, (xdrproc_t)xdr_launch_ask, ask) == 0)
        code = pbs_tm_helper(l->w->plan->hosts[host].node, b.bytes, b.len, &h->bytes, &h->n, &event);
    byte_buf_fini(&b);
    if (code != TM_SUCCESS) {
        launch_run_complain(l, l->w->plan->hosts[host].name, code);
        return -1;
    }
    launch_run_expect(l, event, kind, host);
    l->owed++;
    return 0;
}

static void launch_run_begin(struct launch_run *l)
{
    const struct launch_plan *p = l->w->plan;
    struct launch_host *hosts = calloc(p->n_hosts, sizeof *hosts);
    struct launch_ask ask = {.kind = LAUNCH_BEGIN};
    struct launch_begin_args *a = &ask.launch_ask_u.begin;

    if (!hosts) {
        launch_run_complain(l, "memory", TM_ESYSTEM);
        return;
    }
    for (unsigned i = 0; i < p->n_hosts; i++)
        hosts[i] = (struct launch_host){.name = p->hosts[i].name, .node = (u_int)p->hosts[i].node};
    a->nspace = l->nspace;
    a->hosts.hosts_val = hosts;
    a->hosts.hosts_len = p->n_hosts;
    a->at.at_val = p->host;
    a->at.at_len = p->n_ranks;
    a->bind = l->w->bind;
    for (unsigned i = 0; i < p->n_hosts && !l->failed; i++) {
        a->mine = i;
        (void)launch_run_say(l, i, &ask, EVENT_BEGUN);
    }
    free(hosts);
}

static void launch_run_forget(struct launch_run *l)
{
    struct launch_ask ask = {.kind = LAUNCH_END, .launch_ask_u.end = {.nspace = l->nspace}};

    for (unsigned i = 0; i < l->w->plan->n_hosts; i++) {
        free(l->hosts[i].bytes);
        l->hosts[i].bytes = NULL;
        (void)launch_run_say(l, i, &ask, EVENT_BEGUN);
    }
}

static void launch_run_take_host(struct launch_run *l, unsigned host, int code)
{
    struct launch_run_host *h = &l->hosts[host];

    l->owed--;
    if (code != TM_SUCCESS) {
        launch_run_complain(l, l->w->plan->hosts[host].name, TM_ESYSTEM);
        return;
    }
    xdr_free((xdrproc_t)xdr_launch_answer, (char *)&h->answer);
    memset(&h->answer, 0, sizeof h->answer);
    if (rpc_buf_decode(h->bytes, h->n, (xdrproc_t)xdr_launch_answer, &h->answer) < 0 || h->answer.status) {
        if (!l->failed)
            (void)cmd_error(l->w->a, "%s: %s", l->w->plan->hosts[host].name,
                            h->answer.text && h->answer.text[0] ? h->answer.text
                                                                : "the PMIx helper cannot be understood");
        l->failed = true;
        l->worst = l->worst < EXIT_FAILED ? EXIT_FAILED : l->worst;
        return;
    }
    for (u_int i = 0; i < h->answer.ranks.ranks_len; i++) {
        const struct launch_rank *from = &h->answer.ranks.ranks_val[i];

        if (from->rank < l->w->plan->n_ranks && l->w->plan->host[from->rank] == host)
            l->ranks[from->rank] = (struct launch_run_rank){.owed = l->ranks[from->rank].owed,
                                                            .cpus = from->cpus,
                                                            .env = from->env.env_val,
                                                            .n_env = from->env.env_len};
    }
}

/* ---- ranks */
static int launch_run_env(const struct launch_run *l, unsigned rank, struct words *out)
{
    const struct launch_answer *common = &l->hosts[l->w->plan->host[rank]].answer;
    int rc = 0;

    for (char **at = environ; *at && rc == 0; at++)
        rc = words_add(out, *at, NULL);
    for (u_int i = 0; i < common->env.env_len && rc == 0; i++)
        rc = words_add(out, common->env.env_val[i], NULL);
    for (unsigned i = 0; i < l->ranks[rank].n_env && rc == 0; i++)
        rc = words_add(out, l->ranks[rank].env[i], NULL);
    return rc;
}

static void launch_run_spawn(struct launch_run *l, unsigned rank, const char *cwd)
{
    struct launch_run_rank *r = &l->ranks[rank];
    const struct pbs_tm_place place = {.cpus = r->cpus, .cwd = cwd};
    struct words env;
    tm_event_t event;
    int code = TM_ESYSTEM;

    words_init(&env);
    if (launch_run_env(l, rank, &env) == 0)
        code =
            pbs_tm_spawn_in(l->w->argc, l->w->argv, env.w, l->w->plan->node[rank], &place, &r->task, &event);
    words_fini(&env);
    if (code == TM_SUCCESS) {
        launch_run_expect(l, event, EVENT_SPAWNED, rank);
        l->open++;
    } else {
        r->over = true;
        launch_run_complain(l, launch_run_host(l, rank), code);
    }
}

static void launch_run_spawn_all(struct launch_run *l)
{
    char *cwd = getcwd(NULL, 0);

    for (unsigned r = 0; r < l->w->plan->n_ranks && !l->failed; r++)
        launch_run_spawn(l, r, cwd);
    free(cwd);
}

static void launch_run_over(struct launch_run *l, unsigned rank)
{
    if (!l->ranks[rank].over)
        l->open--;
    l->ranks[rank].over = true;
}

static void launch_run_spawned(struct launch_run *l, unsigned rank, int code)
{
    struct launch_run_rank *r = &l->ranks[rank];
    tm_event_t event;

    if (code == TM_SUCCESS) {
        r->started = true;
        code = tm_obit(r->task, &r->status, &event);
        if (code == TM_SUCCESS)
            launch_run_expect(l, event, EVENT_ENDED, rank);
        if (code == TM_SUCCESS)
            launch_run_signal_owed(l, rank);
    }
    if (code == TM_SUCCESS)
        return;
    launch_run_over(l, rank);
    launch_run_complain(l, launch_run_host(l, rank), code);
    launch_run_end_all(l, SIGTERM);
}

/* A rank that ends badly takes the others with it: those of MPI would wait for it for ever. */
static void launch_run_ended(struct launch_run *l, unsigned rank, int code)
{
    struct launch_run_rank *r = &l->ranks[rank];
    int status = r->status >= SIGNALLED ? SHELL_SIGNALLED + (r->status - SIGNALLED) : r->status;

    launch_run_over(l, rank);
    if (code != TM_SUCCESS) { /* its host is lost, or was given back */
        launch_run_complain(l, launch_run_host(l, rank), TM_ESYSTEM);
        if (!l->w->keep_others)
            launch_run_end_all(l, SIGTERM);
        return;
    }
    if (status && !l->ending) {
        if (r->status >= SIGNALLED)
            (void)cmd_error(l->w->a, "%s: rank %u: %s", launch_run_host(l, rank), rank,
                            strsignal(r->status - SIGNALLED));
        else
            (void)cmd_error(l->w->a, "%s: rank %u: exited with exit code %d", launch_run_host(l, rank), rank,
                            status);
    }
    /* Of those that we have ended ourselves the first cause is what counts. */
    if (status > l->worst && !(l->ending && l->worst))
        l->worst = status;
    if (status && !l->w->keep_others && !l->ending)
        launch_run_end_all(l, SIGTERM);
}

static void launch_run_take(struct launch_run *l, tm_event_t event, int code)
{
    size_t at = (size_t)event;
    enum launch_event kind = at < l->cap_events ? l->events[at].kind : EVENT_NONE;

    if (kind == EVENT_BEGUN)
        launch_run_take_host(l, l->events[at].index, code);
    else if (kind == EVENT_SPAWNED)
        launch_run_spawned(l, l->events[at].index, code);
    else if (kind == EVENT_ENDED)
        launch_run_ended(l, l->events[at].index, code);
}

/* ---- output and signals */
/* The task of the output, by its number: ranks of one host are numbered in their order, so the search begins where the last one was
 * found. */
static void launch_run_on_output(void *arg, unsigned task, int is_error, const char *bytes, size_t n)
{
    static unsigned near; /* of this one launch */
    struct launch_run *l = arg;
    unsigned n_ranks = l->w->plan->n_ranks, found = n_ranks;

    for (unsigned i = 0; i < n_ranks && found == n_ranks && l->w->label; i++)
        if (l->ranks[(near + i) % n_ranks].task == task)
            found = near = (near + i) % n_ranks;
    launch_output_take(l->output, found, is_error, bytes, n);
}

/* As people know it from srun: the first interrupt tells, the second goes to the ranks, the third ends them. */
static void launch_run_interrupted(struct launch_run *l)
{
    int64_t now = launch_run_now();

    if (l->ending) {
        launch_run_signal(l, SIGKILL);
    } else if (l->w->quit_on_interrupt || (l->interrupt_ms && now - l->interrupt_ms < AGAIN_MS)) {
        l->worst = l->worst ? l->worst : SHELL_SIGNALLED + SIGINT;
        launch_run_end_all(l, SIGINT);
    } else {
        (void)cmd_error(l->w->a, "interrupt (one more within 1 sec to abort); %u of %u ranks are running",
                        l->open, l->w->plan->n_ranks);
    }
    l->interrupt_ms = now;
}

static void launch_run_on_signals(struct launch_run *l)
{
    struct signalfd_siginfo info;

    while (read(l->signals, &info, sizeof info) == sizeof info)
        if (info.ssi_signo == SIGINT)
            launch_run_interrupted(l);
        else if (info.ssi_signo == SIGTERM)
            launch_run_end_all(l, SIGTERM);
        else
            launch_run_signal(l, (int)info.ssi_signo);
}

static int launch_run_open_signals(void)
{
    static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGALRM};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        sigaddset(&set, taken[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* ---- the loop */
static bool launch_run_drain(struct launch_run *l)
{
    for (;;) {
        tm_event_t event = TM_NULL_EVENT;
        int code = TM_SUCCESS, rc = tm_poll(TM_NULL_EVENT, &event, 0, &code);

        if (rc != TM_SUCCESS)
            return false;
        if (event == TM_NULL_EVENT)
            return true;
        launch_run_take(l, event, code);
    }
}

static void launch_run_turn(struct launch_run *l)
{
    struct pollfd fds[2] = {{.fd = pbs_tm_fd(), .events = POLLIN}, {.fd = l->signals, .events = POLLIN}};
    int64_t left = l->kill_ms ? l->kill_ms - launch_run_now() : -1;

    (void)poll(fds, 2, l->kill_ms ? (left > 0 ? (int)left : 0) : -1);
    if (fds[1].revents)
        launch_run_on_signals(l);
    if (l->kill_ms && launch_run_now() >= l->kill_ms) {
        launch_run_signal(l, SIGKILL);
        l->kill_ms = launch_run_now() + KILL_AFTER_MS;
    }
    (void)launch_run_drain(l);
}

static void launch_run_all(struct launch_run *l)
{
    launch_run_begin(l);
    while (l->owed && launch_run_drain(l))
        if (l->owed)
            launch_run_turn(l);
    if (!l->failed)
        launch_run_spawn_all(l);
    if (l->failed)
        launch_run_end_all(l, SIGTERM);
    while (launch_run_drain(l) && l->open)
        launch_run_turn(l);
    l->kill_ms = 0;
    launch_run_forget(l);
    while (l->owed && launch_run_drain(l))
        if (l->owed)
            launch_run_turn(l);
}

static void launch_run_fini(struct launch_run *l)
{
    for (unsigned i = 0; l->hosts && i < l->w->plan->n_hosts; i++) {
        xdr_free((xdrproc_t)xdr_launch_answer, (char *)&l->hosts[i].answer);
        free(l->hosts[i].bytes);
    }
    free(l->hosts);
    free(l->ranks);
    free(l->events);
    launch_output_destroy(l->output);
    if (l->signals >= 0)
        close(l->signals);
}

int launch_run(const struct launch_run_wish *w)
{
    struct launch_run l = {.w = w};
    const char *job = getenv("PBS_JOBID"), *node = getenv("PBS_NODENUM");
    int rc;

    snprintf(l.nspace, sizeof l.nspace, "%.200s.%s.%d", job ? job : "", node ? node : "0", (int)getpid());
    l.ranks = calloc(w->plan->n_ranks, sizeof *l.ranks);
    l.hosts = calloc(w->plan->n_hosts, sizeof *l.hosts);
    l.output = launch_output_create(w->plan->n_ranks, w->label);
    l.signals = launch_run_open_signals();
    if (!l.ranks || !l.hosts || !l.output || l.signals < 0) {
        (void)cmd_error(w->a, "no memory, or no descriptor, for %u ranks", w->plan->n_ranks);
        launch_run_fini(&l);
        return EXIT_FAILED;
    }
    pbs_tm_on_output(launch_run_on_output, &l);
    launch_run_all(&l);
    rc = l.worst;
    pbs_tm_on_output(NULL, NULL);
    launch_run_fini(&l);
    return rc;
}
