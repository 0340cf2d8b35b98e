/* One packet, one fork. The zygote never allocates, waits for no process, and holds no descriptor but its socket. */
#include "zygote.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* "hold", the path and zeros over our arguments, as if we had been started so. */
static void set_title(char *argv[], const char *path)
{
    char *last = argv[1], *first = argv[1];
    size_t room, n;

    for (size_t i = 1; argv[i]; i++)
        last = argv[i] + strlen(argv[i]);
    room = (size_t)(last - first);
    if (room < sizeof "hold")
        return;
    memset(first, 0, room);
    memcpy(first, "hold", 4);
    n = strlen(path);
    if (n > room - sizeof "hold")
        n = room - sizeof "hold";
    memcpy(first + sizeof "hold", path, n);
}

static int become_shepherd(int mom, char *argv[], const struct packet *p)
{
    signal(SIGCHLD, SIG_DFL);
    close(mom);
    setsid();
    set_title(argv, p->path);
    return supervise_run(p->path, p->socket);
}

int zygote_run(int mom, char *argv[])
{
    struct packet p;

    signal(SIGCHLD, SIG_IGN); /* shepherds are not waited for here */
    while (zygote_receive(mom, &p) > 0) {
        if (p.socket < 0)
            continue;
        if (fork() == 0)
            return become_shepherd(mom, argv, &p);
        close(p.socket); /* if there was no fork, the MOM sees its socket closed */
    }
    return 0;
}
