/* The server in this process. See talk_house.h. */
#include "talk_house.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assembly.h"
#include "clock.h"
#include "commit.h"
#include "log.h"
#include "loop.h"
#include "rpc_conn.h"
#include "rpc_frame.h"
#include "server_home.h"
#include "talk.h"

enum { BEGIN_S = 1700000000, ACCEPT_TURNS = 1000 };

extern char **environ;

/* --- files */

static void write_conf(const struct house *h)
{
    char path[400];
    FILE *f;

    snprintf(path, sizeof path, "%s/pbs.conf", h->dir);
    f = fopen(path, "w");
    if (!f)
        talk_fail("cannot write %s: %s", path, strerror(errno));
    fprintf(f, "PBS_EXEC=%s\nPBS_HOME=%s\nPBS_SERVER=talk\n", h->dir, h->home);
    fclose(f);
    setenv("PBS_CONF_FILE", path, 1);
}

void house_prepare(struct house *h, const char *dir)
{
    memset(h, 0, sizeof *h);
    snprintf(h->dir, sizeof h->dir, "%s", dir);
    snprintf(h->home, sizeof h->home, "%s/home", dir);
    h->now_ns = (int64_t)BEGIN_S * 1000000000;
    if (mkdir(h->home, 0755) < 0)
        talk_fail("cannot make %s: %s", h->home, strerror(errno));
    write_conf(h);
}

static void run(const char *const words[])
{
    pid_t pid;
    int status = 0;

    if (posix_spawnp(&pid, words[0], NULL, NULL, (char *const *)(uintptr_t)words, environ) != 0 ||
        waitpid(pid, &status, 0) < 0 || status != 0)
        talk_fail("%s %s failed", words[0], words[1]);
}

/* --- life */

static int start(struct server *s, struct err *e)
{
    struct restore_counts counts = {0};
    bool is_new = false;

    s->loop = loop_create(s->clock, e);
    if (!s->loop || assembly_create(s, &is_new, &counts, e) < 0)
        return -1;
    if (server_recover(s, is_new, &counts, e) < 0 || server_listen(s, e) < 0)
        return -1;
    server_announce(s);
    return 0;
}

static void open_log(const struct house *h)
{
    char path[400];
    struct err e;

    snprintf(path, sizeof path, "%s/log", h->dir);
    if (log_open(&(struct log_options){.path = path, .daemon = "talk", .mask = LOG_MASK_SERVER}, &e) < 0)
        talk_fail("%s", e.text);
}

void house_start(struct house *h)
{
    char name[] = "pbs_server", *argv[] = {name, NULL};
    struct server *s = calloc(1, sizeof *s);
    struct err e;

    if (!s)
        talk_fail("no memory");
    open_log(h);
    if (server_settings_read(&s->set, 1, argv, &e) < 0 || server_home_make(&s->set, &e) < 0)
        talk_fail("%s", e.text);
    s->set.port = 0; /* any */
    s->set.serves_all = true;
    s->clock = clock_create_driven(h->now_ns);
    if (!s->clock || start(s, &e) < 0)
        talk_fail("the server does not start: %s", e.text);
    h->server = s;
}

void house_end(struct house *h)
{
    struct server *s = h->server;

    h->now_ns = clock_wall_ns(s->clock);
    h->server = NULL;
    if (s->lost)
        talk_fail("the server has lost its store");
    server_stop(s);
    server_settings_free(&s->set);
    free(s);
    log_close();
}

/* A copy of everything is made by another process, since closing a file of a database drops the locks of the whole process, while
 * all threads of this one are stopped, so the files are those of one moment. */
void house_crash(struct house *h)
{
    char kept[320];
    const char *const copy[] = {
        "sh",
        "-c",
        "kill -STOP $PPID\n"
        "while grep -L '^State:.T' /proc/$PPID/task/*/status | grep -q .; do :; done\n"
        "cp -a \"$0\" \"$1\"; rc=$?; kill -CONT $PPID; exit $rc",
        h->home,
        kept,
        NULL};
    const char *const drop[] = {"rm", "-rf", h->home, NULL};

    snprintf(kept, sizeof kept, "%s.kept", h->home);
    run(copy);
    house_end(h);
    run(drop);
    if (rename(kept, h->home) < 0)
        talk_fail("cannot rename %s: %s", kept, strerror(errno));
}

/* --- turning */

void house_turn(struct house *h, int wait_ms)
{
    struct err e;

    if (loop_turn(h->server->loop, wait_ms, &e) < 0)
        talk_fail("the loop has ended: %s", e.text);
}

bool house_is_quiet(const struct house *h)
{
    return commit_is_idle(h->server->parts.commit) && !loop_is_busy(h->server->loop);
}

void house_advance(struct house *h, int64_t seconds)
{
    clock_advance(h->server->clock, seconds * 1000000000);
}

int64_t house_now_s(const struct house *h)
{
    return clock_wall_s(h->server->clock);
}

/* --- callers */

static void find_newest(void *arg, struct rpc_conn *c)
{
    struct rpc_conn **found = arg;

    if (!*found)
        *found = c; /* the list begins with it */
}

/* Before its first call: what follows from who it is has not been asked yet. */
static void become(struct rpc_conn *c, const struct house_peer *who)
{
    struct auth_peer *p = rpc_conn_peer(c);
    struct err e;

    p->uid = who->uid;
    rpc_conn_set_limit(c, RPC_LIMIT_CLIENT);
    if (!who->role)
        return;
    if (auth_peer_set_role(p, who->role, &e) < 0)
        talk_fail("%s", e.text);
    snprintf(p->from, sizeof p->from, "127.0.0.1:1"); /* as it would be over TCP */
    rpc_conn_set_limit(c, RPC_LIMIT_DAEMON);
}

int house_connect(struct house *h, const struct house_peer *who)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    uint64_t before = rpc_server_get_counts(h->server->rpc).accepted;
    struct rpc_conn *c = NULL;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(a.sun_path, sizeof a.sun_path, "%.107s", h->server->set.socket);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
        talk_fail("cannot connect to %s: %s", a.sun_path, strerror(errno));
    for (int i = 0; rpc_server_get_counts(h->server->rpc).accepted == before; i++) {
        if (i == ACCEPT_TURNS)
            talk_fail("a connection is not accepted");
        house_turn(h, 10);
    }
    rpc_server_each(h->server->rpc, find_newest, &c);
    if (!c) {
        close(fd);
        return -1;
    }
    become(c, who);
    return fd;
}

size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

size_t house_allocated(void)
{
    if (__sanitizer_get_current_allocated_bytes)
        return __sanitizer_get_current_allocated_bytes();
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}
