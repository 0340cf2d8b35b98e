/* pbs_pmix JOB DIR NODE RUN: the PMIx server of one job on one host.
 *
 * Started by the job's shepherd as the job's owner: whatever a program of the job makes it do, it has no more rights than that
 * program. It speaks to the shepherd over the socket that is its standard output when it begins, and ends when that closes. A fault
 * in it, or in the library, is the job's alone.
 *
 * No signal ends it: the job is signalled as a whole, and its programs need PMIx to save themselves. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "helper.h"
#include "helper_fence.h"
#include "helper_launch.h"
#include "helper_link.h"
#include "helper_modex.h"
#include "helper_policy.h"
#include "helper_queue.h"
#include "helper_talk.h"
#include "helper_upcalls.h"
#include "words.h"

enum { EXIT_USAGE = 2, SERVER_INFO = 5 };

static void main_on_ask(void *arg, uint32_t xid, const struct launch_ask *a)
{
    struct helper *h = arg;

    switch (a->kind) {
    case LAUNCH_BEGIN:
        helper_launch_begin(h, xid, &a->launch_ask_u.begin);
        break;
    case LAUNCH_END:
        helper_launch_end(h, xid, &a->launch_ask_u.end);
        break;
    case LAUNCH_PUT:
        helper_fence_put(h, xid, &a->launch_ask_u.put);
        break;
    case LAUNCH_GET:
        helper_fence_get(h, xid, &a->launch_ask_u.get);
        break;
    case LAUNCH_MODEX:
        helper_modex_serve(h, xid, &a->launch_ask_u.modex);
        break;
    }
}

static void main_on_told(void *arg, const struct tmx_told_args *a)
{
    helper_talk_told(arg, a);
}

/* What saves jobs on this host (ckpt-app) signals every program that has a handler for it: ours hands it on as an event. It is there
 * from the first program on that wants that. */
static volatile sig_atomic_t checkpoint_wanted; /* written by a handler, which has no argument of ours */

static void main_on_signal(int signo)
{
    checkpoint_wanted = 1;
}

static void catch_checkpoint(const struct helper *h, sigset_t *mask)
{
    struct sigaction a = {.sa_handler = main_on_signal};

    if (!sigismember(mask, SIGUSR1) || !helper_talk_has_event(h))
        return;
    sigaction(SIGUSR1, &a, NULL);
    sigdelset(mask, SIGUSR1); /* while we wait, and not else */
}

/* The socket moves away, so that what a library prints goes to the job's errors. */
static int take_socket(void)
{
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    if (fd >= 0)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    return fd;
}

/* As the nodefile calls us: its line `node`. */
static void find_host(struct helper *h, const char *node)
{
    const char *path = getenv("PBS_NODEFILE");
    FILE *f = path ? fopen(path, "re") : NULL;
    char line[sizeof h->host];

    gethostname(h->host, sizeof h->host - 1);
    for (long i = strtol(node, NULL, 10); f && i >= 0 && fgets(line, sizeof line, f); i--) {
        line[strcspn(line, "\n")] = '\0';
        if (i == 0 && line[0])
            snprintf(h->host, sizeof h->host, "%s", line);
    }
    if (f)
        fclose(f);
}

static int make_dir(struct helper *h, const char *tmpdir, struct err *e)
{
    char path[sizeof h->dir];

    snprintf(path, sizeof path, "%s/pmix.%d", tmpdir, (int)getpid());
    if (mkdir(path, 0700) < 0)
        return err_errno(e, errno, "cannot make %s", path);
    snprintf(h->dir, sizeof h->dir, "%s", path);
    return 0;
}

/* The library leaves Nagle's algorithm on: an alert that follows another message to the same program would wait for its acknowledgement,
 * which Linux delays by 40 ms. Connections have the options of the socket that has accepted them, so those that listen are enough. */
static void send_at_once(void)
{
    const int yes = 1;
    DIR *d = opendir("/proc/self/fd");
    const struct dirent *x;

    while (d && (x = readdir(d))) {
        int fd = (int)strtol(x->d_name, NULL, 10), listens = 0;
        socklen_t n = sizeof listens;

        if (x->d_name[0] != '.' && getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) == 0 && listens)
            (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes); /* fails for others than TCP */
    }
    if (d)
        closedir(d);
}

static int begin_pmix(struct helper *h, struct err *e)
{
    pmix_info_t *i;
    pmix_nspace_t mine = "";
    pmix_rank_t rank = 0;
    pmix_status_t rc;

    snprintf(mine, sizeof mine, "pbs_pmix.%s", h->job);
    PMIX_INFO_CREATE(i, SERVER_INFO);
    PMIX_INFO_LOAD(&i[0], PMIX_SERVER_NSPACE, mine, PMIX_STRING);
    PMIX_INFO_LOAD(&i[1], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&i[2], PMIX_SERVER_TMPDIR, h->dir, PMIX_STRING);
    PMIX_INFO_LOAD(&i[3], PMIX_SYSTEM_TMPDIR, h->dir, PMIX_STRING);
    PMIX_INFO_LOAD(&i[4], PMIX_HOSTNAME, h->host, PMIX_STRING);
    rc = PMIx_server_init(helper_upcalls_table(h->queue), i, SERVER_INFO);
    PMIX_INFO_FREE(i, SERVER_INFO);
    return rc == PMIX_SUCCESS ? 0 : err_set(e, rc, "cannot begin PMIx: %s", PMIx_Error_string(rc));
}

static int main_begin(struct helper *h, struct err *e)
{
    struct words env;
    int rc = -1;

    words_init(&env);
    if (begin_pmix(h, e) == 0 && helper_launch_job(h, &env, e) == 0) {
        send_at_once();
        helper_upcalls_listen();
        helper_link_ready(h->link, env.w, (unsigned)env.n);
        rc = 0;
    }
    words_fini(&env);
    return rc;
}

static void main_loop(struct helper *h)
{
    enum { LINK, QUEUE, POLICY, N };
    struct pollfd fds[N] = {{.fd = helper_link_fd(h->link)},
                            {.fd = helper_queue_fd(h->queue), .events = POLLIN},
                            {.events = POLLIN}};
    sigset_t mask;

    sigfillset(&mask);
    for (;;) {
        fds[LINK].events = helper_link_events(h->link);
        fds[POLICY].fd = helper_policy_fd(h);
        catch_checkpoint(h, &mask);
        if (ppoll(fds, N, NULL, &mask) < 0)
            for (int i = 0; i < N; i++)
                fds[i].revents = 0;
        if (checkpoint_wanted) {
            checkpoint_wanted = 0;
            helper_talk_checkpoint(h);
        }
        if (fds[QUEUE].revents)
            helper_queue_turn(h->queue, h);
        if (fds[POLICY].revents && fds[POLICY].fd >= 0)
            helper_policy_turn(h);
        if (!helper_link_turn(h->link))
            return;
    }
}

static void block_signals(void)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL); /* before the library makes threads, which inherit it */
}

int main(int argc, char *argv[])
{
    static const struct helper_link_hooks hooks = {.ask = main_on_ask, .told = main_on_told};
    struct helper h = {0};
    struct err e = {0};
    int fd;

    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("pbs_version = %s\n", CEDE_VERSION);
        return 0;
    }
    if (argc != 5) {
        fprintf(stderr, "usage: pbs_pmix JOB DIR NODE RUN\n(started by pbs_shepherd)\n");
        return EXIT_USAGE;
    }
    block_signals();
    h.job = argv[1];
    fd = take_socket();
    h.link = fd < 0 ? NULL : helper_link_create(fd, &hooks, &h);
    h.queue = h.link ? helper_queue_create(&e) : NULL;
    h.talk = helper_talk_create((unsigned)strtoul(argv[4], NULL, 10));
    find_host(&h, argv[3]);
    if (!h.queue || !h.talk || make_dir(&h, argv[2], &e) < 0 || main_begin(&h, &e) < 0) {
        fprintf(stderr, "=>> PBS: PMIx helper: %s\n", e.text);
        return 1;
    }
    main_loop(&h);
    _exit(0); /* what the library leaves behind lies in the job's directory, which goes with the job */
}
