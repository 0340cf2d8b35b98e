/* The zygote is a matter of speed only: each failure here returns -1, and the caller starts the shepherd as a program of its own.
 * So nothing waits: a packet that the zygote cannot take at once is not sent. The zygote answers nothing; a shepherd that it forked
 * speaks for itself, and one that never began is seen by its closed socket (shepherds_check, then zygote_link_distrust).
 *
 * A zygote that could not be started, or has ended, or whose forks fail, is not used for AGAIN_MS, so that a broken one does not
 * slow down every job. Its shepherds stay when it ends. */
#include "zygote_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mom_home.h"
#include "log.h"
#include "loop.h"
#include "rundir.h"
#include "spawn.h"

/* AGAIN_MS: a choice; what ended one zygote (no memory, no process) may end the next, and shepherds are started without it
 * meanwhile. TITLE_ROOM: bytes for the command line that a shepherd shows in ps; a longer one is cut. */
enum { TITLE_ROOM = 1024, AGAIN_MS = 10000 };

struct zygote_link {
    struct loop *loop;
    const struct home *home;
    struct spawn *process;
    int fd;     /* -1: there is none */
    bool tired; /* it failed less than AGAIN_MS ago: not used */
    struct loop_timer *again;
};

static void zygote_link_on_retry(void *arg)
{
    struct zygote_link *n = arg;

    n->tired = false;
}

struct zygote_link *zygote_link_create(struct loop *l, const struct home *h)
{
    struct zygote_link *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    *n = (struct zygote_link){.loop = l, .home = h, .fd = -1};
    n->again = loop_timer_create(l, LOOP_REAL, zygote_link_on_retry, n);
    if (n->again)
        return n;
    free(n);
    return NULL;
}

static void hang_up(struct zygote_link *n)
{
    if (n->fd >= 0)
        close(n->fd);
    n->fd = -1;
}

void zygote_link_destroy(struct zygote_link *n)
{
    if (!n)
        return;
    hang_up(n);
    spawn_leave(n->process);
    loop_timer_destroy(n->again);
    free(n);
}

static void rest(struct zygote_link *n)
{
    n->tired = true;
    loop_timer_set(n->again, AGAIN_MS);
}

static void zygote_link_on_end(void *arg, int status)
{
    struct zygote_link *n = arg;

    log_event(LOGC_SVR, LOGE_SYSTEM, "zygote", "ended with wait status %d; started again when it is needed",
              status);
    spawn_destroy(n->process);
    n->process = NULL;
    hang_up(n);
    rest(n);
}

void zygote_link_distrust(struct zygote_link *n)
{
    if (n->fd < 0)
        return;
    log_event(LOGC_SVR, LOGE_SYSTEM, "zygote",
              "a shepherd that it forked did not begin; shepherds are started without it for %d s",
              AGAIN_MS / 1000);
    hang_up(n);
    rest(n);
}

/* A long last argument, blanks that ps does not show, is room for the command lines of shepherds. */
static int zygote_link_start(struct zygote_link *n, int theirs, struct err *e)
{
    char verb[] = "zygote", fd[] = "3", room[TITLE_ROOM];
    char *argv[] = {n->home->shepherd, verb, fd, n->home->jobs, room, NULL};
    const int fds[] = {-1, -1, -1, theirs};
    const struct spawn_options o = spawn_own(argv, fds, 4);

    memset(room, ' ', sizeof room - 1);
    room[sizeof room - 1] = '\0';
    n->process = spawn_start(n->loop, &o, zygote_link_on_end, n, e);
    return n->process ? 0 : -1;
}

static int ensure(struct zygote_link *n)
{
    int pair[2];
    struct err e = {0};

    if (n->fd >= 0)
        return 0;
    if (n->tired || n->process || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    if (zygote_link_start(n, pair[1], &e) == 0) {
        n->fd = pair[0];
    } else {
        log_err(LOGC_SVR, "zygote", &e, "it cannot be started; shepherds are started without it for %d s",
                AGAIN_MS / 1000);
        close(pair[0]);
        rest(n);
    }
    close(pair[1]);
    return n->fd < 0 ? -1 : 0;
}

int zygote_link_ask(struct zygote_link *n, const char *path, int socket)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {.bytes = {0}};
    struct iovec iov = {.iov_base = (void *)path, .iov_len = strlen(path)};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    if (iov.iov_len > RUNDIR_PATH_MAX || ensure(n) < 0)
        return -1;
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof socket);
    memcpy(CMSG_DATA(c), &socket, sizeof socket);
    return sendmsg(n->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1 : 0;
}
