/* A task's connection to the shepherd of its job. See tm_link.h.
 *
 * The socket's path is in the environment of every process of the job (PBS_TM_SOCKET); a program outside the job that
 * wants to attach looks into PBS_HOME/aux, where each job on this host has one, owned by its user.
 *
 * There is no thread and no loop: bytes move only while the program is inside a call (tm_link_turn). The
 * shepherd calls too, with the output of tasks that this program has spawned; it is written to our own
 * stdout and stderr. A link that broke stays broken: all calls under way are told. */
#include "tm_link.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "file.h"
#include "rpc_core.h"
#include "strbuf.h"

enum { RECORD_LIMIT = 16 << 20, PIECE = 65536, PATH_LEN_MAX = 8192 };

static const char suffix[] = ".tm";

struct tm_link {
    int fd;
    struct rpc_core *core;
    bool broken;
    void (*output)(void *arg, unsigned task, int is_error, const char *bytes, size_t n); /* NULL: ours */
    void *output_arg;
};

/* ---- the shepherd calls: output of a task that this program has spawned for itself */
static void take_output(struct tm_link *l, const struct rpc_call_hdr *h)
{
    struct tmx_output_args a = {0};

    if (rpc_buf_decode(h->args, h->n_args, (xdrproc_t)xdr_tmx_output_args, &a) < 0)
        ;
    else if (l->output)
        l->output(l->output_arg, a.task, a.stream == TMX_STDERR, a.bytes.bytes_val, a.bytes.bytes_len);
    else
        file_write_all(a.stream == TMX_STDERR ? STDERR_FILENO : STDOUT_FILENO, a.bytes.bytes_val,
                       a.bytes.bytes_len, NULL);
    xdr_free((xdrproc_t)xdr_tmx_output_args, (char *)&a);
    rpc_core_reply(l->core, h->xid, (xdrproc_t)rpc_buf_xdr_none, NULL, NULL);
}

static void tm_link_on_call(void *arg, const struct rpc_call_hdr *h)
{
    struct tm_link *l = arg;

    if (h->id.prog == PBS_TM_PROG && h->id.vers == PBS_TM_V1 && h->id.proc == TMX_OUTPUT)
        take_output(l, h);
    else
        rpc_core_reply_error(l->core, h->xid, RPC_ST_PROC_UNAVAIL, 0, 0, NULL);
}

/* ---- opening and closing */
static int tm_link_dial(const char *path, struct err *e)
{
    struct sockaddr_un at;
    socklen_t length;
    int dir = -1, fd;

    if (file_socket_address(path, &at, &length, &dir, e) < 0)
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&at, length) < 0) {
        err_errno(e, errno, "cannot reach the job's shepherd at %s", path);
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    if (dir >= 0)
        close(dir);
    if (fd >= 0)
        fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

struct tm_link *tm_link_open(const char *path, struct err *e)
{
    static const struct rpc_core_events events = {.call = tm_link_on_call};
    struct tm_link *l = calloc(1, sizeof *l);

    if (!l || !(l->core = rpc_core_create(&events, l, RECORD_LIMIT))) {
        err_set(e, ENOMEM, "no memory for a connection");
        free(l);
        return NULL;
    }
    l->fd = tm_link_dial(path, e);
    if (l->fd >= 0)
        return l;
    rpc_core_destroy(l->core);
    free(l);
    return NULL;
}

int tm_link_fd(const struct tm_link *l)
{
    return l->fd;
}

void tm_link_on_output(struct tm_link *l,
                       void (*fn)(void *arg, unsigned task, int is_error, const char *bytes, size_t n),
                       void *arg)
{
    l->output = fn;
    l->output_arg = arg;
}

void tm_link_close(struct tm_link *l)
{
    if (!l)
        return;
    rpc_core_fail(l->core, &(struct err){.code = ECONNRESET, .text = "the connection was closed"});
    close(l->fd);
    rpc_core_destroy(l->core);
    free(l);
}

static void tm_link_send_some(struct tm_link *l)
{
    struct byte_buf *out = rpc_core_output(l->core);

    while (out->len && !l->broken) {
        ssize_t n = send(l->fd, out->bytes, out->len, MSG_NOSIGNAL);

        if (n < 0) {
            l->broken = errno != EAGAIN && errno != EINTR;
            return;
        }
        byte_buf_drop(out, (size_t)n);
    }
}

int tm_link_ask(struct tm_link *l, struct rpc_pending *p, unsigned proc, xdrproc_t xargs, const void *args,
                struct err *e)
{
    const struct rpc_proc_id id = {PBS_TM_PROG, PBS_TM_V1, proc};

    if (l->broken)
        return err_set(e, ECONNRESET, "the job's shepherd has gone");
    if (rpc_core_call(l->core, p, &id, xargs, args, e) < 0)
        return -1;
    tm_link_send_some(l);
    return 0;
}

static void tm_link_receive(struct tm_link *l)
{
    char piece[PIECE];
    ssize_t n = read(l->fd, piece, sizeof piece);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || rpc_core_input(l->core, piece, (size_t)n, NULL) < 0)
        l->broken = true;
}

int tm_link_turn(struct tm_link *l, bool wait)
{
    struct pollfd f = {.fd = l->fd, .events = POLLIN};

    tm_link_send_some(l);
    if (rpc_core_output(l->core)->len)
        f.events |= POLLOUT;
    if (poll(&f, 1, wait ? -1 : 0) > 0 && (f.revents & ~POLLOUT))
        tm_link_receive(l);
    tm_link_send_some(l);
    if (!l->broken)
        return 0;
    rpc_core_fail(l->core, &(struct err){.code = ECONNRESET, .text = "the job's shepherd has gone"});
    return -1;
}

/* ---- finding it */
static void add_aux(struct strbuf *b, struct err *e)
{
    struct conf *c = conf_load(e);

    if (!c)
        return;
    strbuf_addf(b, "%s/aux",
                conf_is_set(c, CONF_PBS_MOM_HOME) ? conf_text(c, CONF_PBS_MOM_HOME)
                                                  : conf_text(c, CONF_PBS_HOME));
    conf_destroy(c);
}

/* The sockets there that are ours, of `job` or of any ("12" is also 12.server). The last one found; how many. */
static size_t search(const char *aux, const char *job, char found[static 256])
{
    DIR *dir = opendir(aux);
    const struct dirent *d;
    size_t n = 0;

    while (dir && (d = readdir(dir))) {
        size_t len = strlen(d->d_name), end = sizeof suffix - 1, want = job ? strlen(job) : 0;
        struct stat st;

        if (len <= end || strcmp(d->d_name + len - end, suffix) != 0)
            continue;
        if (job && (strncmp(d->d_name, job, want) != 0 || (d->d_name[want] != '.')))
            continue;
        if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISSOCK(st.st_mode) ||
            (st.st_uid != geteuid() && geteuid() != 0))
            continue;
        snprintf(found, 256, "%s", d->d_name);
        n++;
    }
    if (dir)
        closedir(dir);
    return n;
}

char *tm_link_find(const char *job, struct err *e)
{
    const char *own = getenv("PBS_TM_SOCKET"), *own_job = getenv("PBS_JOBID");
    char name[256] = "", *path = NULL;
    struct strbuf b;
    size_t n;

    if (own && own[0] && (!job || (own_job && strcmp(job, own_job) == 0)))
        return strdup(own);
    strbuf_init(&b, PATH_LEN_MAX);
    add_aux(&b, e);
    n = b.len ? search(b.s, job ? job : own_job, name) : 0;
    if (n == 1 && strbuf_addf(&b, "/%s", name) == 0)
        path = strbuf_take(&b);
    else if (n > 1)
        err_set(e, ENOTUNIQ, "several jobs of yours run on this host: name one");
    else
        err_set(e, ENOENT, "no job %s of yours runs on this host", job ? job : "");
    strbuf_fini(&b);
    return path;
}
