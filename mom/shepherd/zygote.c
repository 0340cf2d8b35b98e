/* One packet, one fork. See zygote.h.
 *
 *   MOM -> zygote     path of a run's directory + a socket; nothing comes back on this way
 *   zygote -> child   setsid, then supervise_run, as `pbs_shepherd hold` does
 *   child -> MOM      on its own socket from here on (tm/mom_link.c)
 *
 * The zygote never allocates, waits for no process, and holds no descriptor but its socket: what it held or had locked would
 * be in every shepherd that it forks. A packet without a socket starts nothing. A fork that fails shows at the MOM as the end
 * of the run's socket, as a shepherd that dies at once does. */
#include "zygote.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shep_title.h"
#include "supervise.h"
#include "rundir.h"

struct packet {
    char path[RUNDIR_PATH_MAX + 1];
    int socket; /* -1: none came */
};

/* Bytes received; 0 when the MOM has gone. */
static ssize_t zygote_receive(int mom, struct packet *p)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = {.iov_base = p->path, .iov_len = RUNDIR_PATH_MAX};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    const struct cmsghdr *c;
    ssize_t n;

    p->socket = -1;
    do
        n = recvmsg(mom, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return n;
    p->path[n] = '\0';
    c = CMSG_FIRSTHDR(&m);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(&p->socket, CMSG_DATA(c), sizeof p->socket);
    return n;
}

static int zygote_become_shepherd(int mom, const struct packet *p)
{
    signal(SIGCHLD, SIG_DFL); /* the zygote ignores it, and a shepherd must wait for its job's processes */
    close(mom);
    setsid();
    shep_title_set(p->path, "");
    return supervise_run(p->path, p->socket);
}

int zygote_run(int mom, char *argv[])
{
    struct packet p;

    shep_title_keep(argv);
    signal(SIGCHLD, SIG_IGN); /* shepherds are not waited for here */
    while (zygote_receive(mom, &p) > 0) {
        if (p.socket < 0)
            continue;
        if (fork() == 0)
            return zygote_become_shepherd(mom, &p);
        close(p.socket); /* if there was no fork, the MOM sees its socket closed */
    }
    return 0;
}
