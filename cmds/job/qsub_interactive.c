/* Two processes: the helper has the socket, the key, and the terminal once the job has connected; qsub watches the
 * helper and the job, and handles ^C and ^Z until then.
 *
 * The socket listens before the job is submitted, since its port is sent with the job; the key goes to the helper
 * through a pipe, appears in no command line, and is then erased here. What ends first decides: the helper (the
 * session is over), the user, or a job that no server knows any more; a job that moved is looked for where it went.
 * In every case qsub waits for the helper, because it restores the terminal. */
#include "qsub_interactive.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pbs_error.h"
#include "pbs_ifl.h"

#include "conf.h"
#include "strbuf.h"

enum {
    FIRST_FD = 3,
    LOOK_MS = 200,
    LOOKS_BETWEEN_ASKING = 15,
    PATH_LEN_MAX = 4096,
    EXIT_GONE = 3,
    HELPER_LEFT = 4, /* the user has typed ~. */
    N_KEY_BYTES = 32
};

static int make_key(struct qsub_interactive *t)
{
    unsigned char bytes[N_KEY_BYTES];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return -1;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(t->key + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

/* Return a socket at a free port of all addresses, of both families where the kernel has IPv6; -1 with errno. */
static int listen_anywhere(unsigned *port)
{
    const struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    const struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_ANY)}};
    struct sockaddr_in6 got = {0};
    socklen_t n = sizeof got;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), off = 0, rc;

    if (fd >= 0 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0)
        rc = bind(fd, (const struct sockaddr *)&v6, sizeof v6);
    else if (fd < 0 && (fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) >= 0)
        rc = bind(fd, (const struct sockaddr *)&v4, sizeof v4);
    else
        rc = -1;
    if (rc < 0 || listen(fd, 4) < 0 || getsockname(fd, (struct sockaddr *)&got, &n) < 0) {
        rc = errno;
        if (fd >= 0)
            close(fd);
        errno = rc;
        return -1;
    }
    *port = ntohs(got.sin6_port); /* at the same place in both families */
    return fd;
}

int qsub_interactive_listen(struct qsub_interactive *t, bool x11, const struct cmd_args *a)
{

    t->x11 = x11;
    if (x11 && qsub_x11_find(t->cookie, a) < 0)
        return -1;
    t->listening = listen_anywhere(&t->port);
    if (t->listening < 0 || make_key(t) < 0) {
        cmd_error(a, "cannot wait for the job's terminal: %s", strerror(errno));
        return -1;
    }
    return 0;
}

/* ---- the helper
 * Our handler must not take the SIGTERM that is meant to end it: so none comes before it has let go of that. */
static void block_term(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(how, &set, NULL);
}

static void exec_helper(const char *program, const char *id, int listening, int key)
{
    char fd[16];

    /* qsub asks what is wanted; an early key would end a helper that has not said so yet */
    signal(SIGINT, SIG_IGN);
    signal(SIGTSTP, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    block_term(SIG_UNBLOCK);
    /* Move the descriptors out of the way first, then to their numbers. */
    listening = fcntl(listening, F_DUPFD, FIRST_FD + 2);
    key = fcntl(key, F_DUPFD, FIRST_FD + 2);
    if (dup2(listening, FIRST_FD) < 0 || dup2(key, FIRST_FD + 1) < 0)
        _exit(1);
    close(listening);
    close(key);
    snprintf(fd, sizeof fd, "%d", FIRST_FD);
    execl(program, "pbs_terminal", "client", id, fd, (char *)NULL);
    fprintf(stderr, "qsub: %s: %s\n", program, strerror(errno));
    _exit(1);
}

static pid_t start_helper(struct qsub_interactive *t, const char *id)
{
    const struct conf *conf = conf_shared(false, NULL);
    struct strbuf program;
    int key[2];
    pid_t pid = -1;

    strbuf_init(&program, PATH_LEN_MAX);
    strbuf_addf(&program, "%s/libexec/pbs_terminal", conf ? conf_text(conf, CONF_PBS_EXEC) : "");
    fflush(stdout);
    if (pipe2(key, O_CLOEXEC) == 0) {
        block_term(SIG_BLOCK);
        pid = dprintf(key[1], "%s%s%s", t->key, t->x11 ? "X" : "", t->cookie) > 0 ? fork() : -1;
        if (pid == 0)
            exec_helper(strbuf_str(&program), id, t->listening, key[0]);
        block_term(SIG_UNBLOCK);
        close(key[0]);
        close(key[1]);
    }
    explicit_bzero(t->key, sizeof t->key);
    explicit_bzero(t->cookie, sizeof t->cookie);
    close(t->listening);
    t->listening = -1;
    strbuf_fini(&program);
    return pid;
}

/* ---- the user */
/* Written by the signal handlers alone. */
static volatile sig_atomic_t interrupted, stopped;

static void qsub_interactive_on_signal(int signo)
{
    if (signo == SIGTSTP)
        stopped = 1;
    else
        interrupted = 1;
}

static void catch_signals(void)
{
    const struct sigaction act = {.sa_handler = qsub_interactive_on_signal};

    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGTSTP, &act, NULL);
}

static bool confirm_exit(void)
{
    char answer[64];

    interrupted = 0;
    printf("Do you wish to terminate the job and exit (y|[n])? ");
    fflush(stdout);
    if (!fgets(answer, sizeof answer, stdin))
        return true; /* no terminal to ask at */
    return answer[0] == 'y' || answer[0] == 'Y';
}

/* ---- the job */
struct job_location { /* a job, and the server that has it now */
    int c;
    char id[PBS_MAXCLTJOBID + 1];
    const char *was; /* the identifier that the user reads */
};

/* The connection that qsub passed stays its own. */
static void qsub_interactive_locate(struct job_location *s, int c, const char *id, int given)
{
    if (s->c != given)
        pbs_disconnect(s->c);
    s->c = c;
    snprintf(s->id, sizeof s->id, "%s", id);
}

static bool qsub_interactive_is_of(const char *id, const char *server)
{
    const char *dot = strchr(id, '.');

    return !dot || strcmp(dot + 1, server) == 0;
}

/* Find out whether the job has moved to another server, which knows it by its old name. Where that server cannot be
 * asked, the job is taken to be there, and is asked for again later. */
static bool has_job_moved(struct job_location *s, int given)
{
    char *where = pbs_locjob(s->c, s->id, NULL);
    struct batch_status *now;
    bool moved = where && !qsub_interactive_is_of(s->id, where);
    int c = moved ? pbs_connect(where) : -1;

    free(where);
    if (c < 0)
        return moved;
    now = pbs_statjob(c, s->id, NULL, NULL);
    if (now)
        qsub_interactive_locate(s, c, now->name, given);
    else
        pbs_disconnect(c);
    pbs_statfree(now);
    return now;
}

static bool is_job_gone(struct job_location *at, int given)
{
    struct batch_status *s = pbs_statjob(at->c, at->id, NULL, NULL);
    bool gone = !s && !has_job_moved(at, given);

    for (const struct attrl *x = s ? s->attribs : NULL; x; x = x->next)
        if (strcmp(x->name, ATTR_state) == 0)
            gone = x->value[0] == 'F' || x->value[0] == 'X';
    pbs_statfree(s);
    return gone;
}

/* End the helper, if there is one; it restores the terminal first. */
static void end_helper(pid_t pid)
{
    kill(pid, SIGTERM);
    if (waitpid(pid, NULL, 0) < 0)
        return;
}

static int delete_job(struct job_location *at, int given)
{
    if (pbs_deljob(at->c, at->id, NULL) == PBSE_UNKJOBID && has_job_moved(at, given))
        pbs_deljob(at->c, at->id, NULL);
    printf("Job %s is being deleted\n", at->was);
    return 0;
}

static int qsub_interactive_leave(struct job_location *at, pid_t pid, int given)
{
    end_helper(pid);
    return delete_job(at, given);
}

/* Report what the helper has ended with. */
static int qsub_interactive_complete(struct job_location *at, int status, int given)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == HELPER_LEFT) {
        putchar('\n');
        return delete_job(at, given);
    }
    printf("\nqsub: job %s completed\n", at->was);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

static int qsub_interactive_watch(struct job_location *at, pid_t pid, int given)
{
    int status, looks = 0;

    for (;;) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return qsub_interactive_complete(at, status, given);
        if (stopped) {
            stopped = 0;
            puts("Sorry, you cannot suspend qsub until the job is started");
        }
        if (interrupted && confirm_exit())
            return qsub_interactive_leave(at, pid, given);
        poll(NULL, 0, LOOK_MS);
        if (++looks % LOOKS_BETWEEN_ASKING == 0 && is_job_gone(at, given)) {
            poll(NULL, 0, LOOK_MS); /* its last output may be on the way */
            if (waitpid(pid, &status, WNOHANG) == pid) {
                printf("\nqsub: job %s completed\n", at->was);
                return 0;
            }
            end_helper(pid);
            fprintf(stderr, "qsub: job %s apparently deleted\n", at->was);
            return EXIT_GONE;
        }
    }
}

int qsub_interactive_run(struct qsub_interactive *t, const struct cmd_args *a, int c, const char *id)
{
    struct job_location at = {.c = c, .was = id};
    pid_t pid;
    int code;

    qsub_interactive_locate(&at, c, id, c);
    catch_signals();
    printf("qsub: waiting for job %s to start\n", id);
    pid = start_helper(t, id);
    if (pid < 0) {
        cmd_error(a, "cannot start the helper for the job's terminal: %s", strerror(errno));
        pbs_deljob(c, id, NULL);
        return 1;
    }
    code = qsub_interactive_watch(&at, pid, c);
    if (at.c != c)
        pbs_disconnect(at.c);
    return code;
}
