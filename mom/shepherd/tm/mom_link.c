/* The shepherd's end of its conversation with MOMs. See mom_link.h.
 *
 * The MOM that starts a shepherd gives it a connected socket. When that MOM ends, the shepherd listens in the run's directory, and the
 * next MOM connects and says HELLO. NEWS go to peers that have greeted and are not repeated: they only say sooner what the records
 * of the run say too. Several peers at once are a MOM that was killed and the next one; a question of ours goes to the newest, and is
 * lost with it.
 *
 * Few connections, small messages: each peer is an rpc_core, read and written when poll says so. A peer that
 * fails is marked and dropped at the end of the turn only, because its core may be the one that is calling
 * us.
 *
 * A late answer names its peer by place and serial number: the place may belong to another MOM by then. The
 * socket in the directory is made only when no MOM speaks to us; a shepherd whose MOM stays never needs it,
 * and one that cannot make it (a full disk) tries again each second, or no MOM would ever find it. */
#include "mom_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <shep.h>

#include "clock.h"
#include "file.h"
#include "rpc_core.h"
#include "rundir.h"
#include "strbuf.h"

/* RECORD_LIMIT: a letter (SHEP_LETTER_MAX, 4 MB) and what is around it. */
enum { PEERS_MAX = MOM_LINK_FDS_MAX - 1, RECORD_LIMIT = 5 << 20, PIECE = 65536, AGAIN_MS = 1000 };

struct peer {
    int fd; /* -1: free */
    bool greeted;
    bool broken;     /* dropped at the end of the turn, since its core may be at work now */
    uint64_t serial; /* counts all connections so far */
    struct rpc_core *core;
    struct mom_link *mom_link;
};

struct mom_link {
    const char *path;
    int listener; /* -1: none yet */
    const struct mom_link_row *rows;
    size_t n_rows;
    void *arg;
    uint64_t last_serial;
    struct peer peers[PEERS_MAX];
};

static void mom_link_drop(struct peer *p)
{
    if (p->fd < 0)
        return;
    close(p->fd);
    rpc_core_fail(p->core, &(struct err){.code = ECONNRESET, .text = "the MOM has gone"});
    rpc_core_destroy(p->core);
    p->fd = -1;
    p->core = NULL;
}

static void mom_link_take(struct peer *p, const struct mom_link_row *row, uint32_t xid, const void *args,
                          void *res)
{
    const struct mom_link_ticket t = {(unsigned)(p - p->mom_link->peers), p->serial, xid};

    if (row->late) {
        row->late(p->mom_link->arg, args, &t);
        return;
    }
    row->call(p->mom_link->arg, args, res);
    rpc_core_reply(p->core, xid, row->xres ? row->xres : (xdrproc_t)rpc_buf_xdr_none, res, NULL);
}

static void mom_link_answer_call(struct peer *p, const struct mom_link_row *row, const struct rpc_call_hdr *h)
{
    void *args = calloc(1, row->args_size + 1), *res = calloc(1, row->res_size + 1);

    if (!args || !res) {
        rpc_core_reply_error(p->core, h->xid, RPC_ST_SYSTEM_ERR, 0, 0, NULL);
    } else if (row->xargs && rpc_buf_decode(h->args, h->n_args, row->xargs, args) < 0) {
        rpc_core_reply_error(p->core, h->xid, RPC_ST_GARBAGE_ARGS, 0, 0, NULL);
    } else {
        mom_link_take(p, row, h->xid, args, res);
    }
    if (args && row->xargs)
        xdr_free(row->xargs, args);
    if (res && row->xres)
        xdr_free(row->xres, res);
    free(args);
    free(res);
}

static void mom_link_on_call(void *arg, const struct rpc_call_hdr *h)
{
    struct peer *p = arg;

    if (h->id.prog != PBS_SHEP_PROG) {
        rpc_core_reply_error(p->core, h->xid, RPC_ST_PROG_UNAVAIL, 0, 0, NULL);
        return;
    }
    if (h->id.vers != PBS_SHEP_V1) {
        rpc_core_reply_error(p->core, h->xid, RPC_ST_PROG_MISMATCH, PBS_SHEP_V1, PBS_SHEP_V1, NULL);
        return;
    }
    if (h->id.proc == SHEP_NULL) {
        rpc_core_reply(p->core, h->xid, (xdrproc_t)rpc_buf_xdr_none, NULL, NULL);
        return;
    }
    p->greeted |= h->id.proc == SHEP_HELLO;
    for (size_t i = 0; i < p->mom_link->n_rows; i++)
        if (p->mom_link->rows[i].proc == h->id.proc) {
            mom_link_answer_call(p, &p->mom_link->rows[i], h);
            return;
        }
    rpc_core_reply_error(p->core, h->xid, RPC_ST_PROC_UNAVAIL, 0, 0, NULL);
}

static void mom_link_adopt(struct mom_link *l, int fd, bool greeted)
{
    static const struct rpc_core_events events = {.call = mom_link_on_call};

    for (int i = 0; i < PEERS_MAX; i++) {
        struct peer *p = &l->peers[i];

        if (p->fd >= 0)
            continue;
        p->core = rpc_core_create(&events, p, RECORD_LIMIT);
        if (!p->core)
            break;
        fcntl(fd, F_SETFL, O_NONBLOCK);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        p->fd = fd;
        p->mom_link = l;
        p->greeted = greeted;
        p->broken = false;
        p->serial = ++l->last_serial;
        return;
    }
    close(fd);
}

static int listen_in(const char *path, struct err *e)
{
    struct sockaddr_un at;
    socklen_t length;
    struct strbuf full;
    int dir = -1, fd = -1, rc = -1;

    strbuf_init(&full, 65536);
    strbuf_addf(&full, "%s/" RUNDIR_SOCKET, path);
    unlink(full.s);
    if (file_socket_address(full.s, &at, &length, &dir, e) < 0)
        goto out;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&at, length) < 0 || listen(fd, PEERS_MAX) < 0) {
        err_errno(e, errno, "cannot listen on %s", full.s);
        if (fd >= 0)
            close(fd);
        goto out;
    }
    rc = fd;
out:
    if (dir >= 0)
        close(dir);
    strbuf_fini(&full);
    return rc;
}

struct mom_link *mom_link_create(const char *path, int first, const struct mom_link_row *rows, size_t n_rows,
                                 void *arg, struct err *e)
{
    struct mom_link *l = calloc(1, sizeof *l);

    if (!l) {
        err_set(e, ENOMEM, "no memory for a link");
        return NULL;
    }
    *l = (struct mom_link){.path = path, .listener = -1, .rows = rows, .n_rows = n_rows, .arg = arg};
    for (int i = 0; i < PEERS_MAX; i++)
        l->peers[i].fd = -1;
    if (first >= 0)
        mom_link_adopt(l, first, true);
    else if ((l->listener = listen_in(path, e)) < 0) {
        free(l);
        return NULL;
    }
    return l;
}

void mom_link_destroy(struct mom_link *l)
{
    if (!l)
        return;
    for (int i = 0; i < PEERS_MAX; i++)
        mom_link_drop(&l->peers[i]);
    if (l->listener >= 0)
        close(l->listener);
    free(l);
}

size_t mom_link_fds(const struct mom_link *l, struct pollfd out[static MOM_LINK_FDS_MAX])
{
    size_t n = 0;

    if (l->listener >= 0)
        out[n++] = (struct pollfd){.fd = l->listener, .events = POLLIN};
    for (int i = 0; i < PEERS_MAX; i++) {
        const struct peer *p = &l->peers[i];

        if (p->fd >= 0)
            out[n++] = (struct pollfd){
                .fd = p->fd, .events = (short)(POLLIN | (rpc_core_output(p->core)->len ? POLLOUT : 0))};
    }
    return n;
}

static void send_some(struct peer *p)
{
    struct byte_buf *out = rpc_core_output(p->core);

    while (out->len) {
        ssize_t n = send(p->fd, out->bytes, out->len, MSG_NOSIGNAL);

        if (n < 0) {
            p->broken = errno != EAGAIN && errno != EINTR;
            return;
        }
        byte_buf_drop(out, (size_t)n);
    }
}

static void mom_link_receive(struct peer *p)
{
    char piece[PIECE];
    ssize_t n = read(p->fd, piece, sizeof piece);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || rpc_core_input(p->core, piece, (size_t)n, NULL) < 0)
        p->broken = true;
}

/* Root, or the user whom we run as: what the kernel says of those who connect, whatever the directory lets in. */
static bool is_mom(int fd)
{
    struct ucred who;
    socklen_t n = sizeof who;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && (who.uid == 0 || who.uid == geteuid());
}

static bool is_deaf(const struct mom_link *l)
{
    bool any = l->listener >= 0;

    for (int i = 0; i < PEERS_MAX; i++)
        any |= l->peers[i].fd >= 0;
    return !any;
}

int mom_link_wait_ms(const struct mom_link *l)
{
    return is_deaf(l) ? AGAIN_MS : -1;
}

void mom_link_turn(struct mom_link *l, const struct pollfd *fds, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (!fds[k].revents)
            continue;
        if (fds[k].fd == l->listener) {
            int fd = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

            if (fd >= 0 && is_mom(fd))
                mom_link_adopt(l, fd, false);
            else if (fd >= 0)
                close(fd);
            continue;
        }
        for (int i = 0; i < PEERS_MAX; i++)
            if (l->peers[i].fd == fds[k].fd) {
                mom_link_receive(&l->peers[i]);
                break;
            }
    }
    for (int i = 0; i < PEERS_MAX; i++)
        if (l->peers[i].fd >= 0) {
            if (!l->peers[i].broken)
                send_some(&l->peers[i]);
            if (l->peers[i].broken)
                mom_link_drop(&l->peers[i]);
        }
    if (is_deaf(l)) /* the disk may be full: the record is tried again */
        l->listener = listen_in(l->path, NULL);
}

/* The answer to NEWS says nothing; the call is freed by it, or with the connection. */
static void mom_link_told(struct rpc_pending *p, const struct rpc_reply_hdr *r)
{
    free(p);
}

static void mom_link_not_told(struct rpc_pending *p, const struct err *why)
{
    free(p);
}

static void mom_link_tell_one(struct mom_link *l, unsigned proc, xdrproc_t xargs, const void *args)
{
    static const struct rpc_pending_ops ops = {.reply = mom_link_told, .lost = mom_link_not_told};
    const struct rpc_proc_id id = {PBS_SHEP_PROG, PBS_SHEP_V1, proc};

    for (int i = 0; i < PEERS_MAX; i++) {
        struct peer *p = &l->peers[i];
        struct rpc_pending *call;

        if (p->fd < 0 || !p->greeted)
            continue;
        call = calloc(1, sizeof *call);
        if (!call)
            continue;
        call->ops = &ops;
        if (rpc_core_call(p->core, call, &id, xargs, args, NULL) < 0) {
            free(call);
            continue;
        }
        send_some(p);
    }
}

void mom_link_tell(struct mom_link *l, const struct shep_record *r)
{
    mom_link_tell_one(l, SHEP_NEWS, (xdrproc_t)xdr_shep_record, r);
}

void mom_link_tell_task(struct mom_link *l, const struct shep_task_news *n)
{
    mom_link_tell_one(l, SHEP_TASK_NEWS, (xdrproc_t)xdr_shep_task_news, n);
}

void mom_link_answer(struct mom_link *l, const struct mom_link_ticket *t, xdrproc_t xres, const void *res)
{
    struct peer *p = &l->peers[t->peer];

    if (p->fd < 0 || p->broken || p->serial != t->serial)
        return;
    rpc_core_reply(p->core, t->xid, xres, res, NULL);
    send_some(p);
}

/* The newest peer: an older one may be a MOM that was killed and whose end has not been seen yet. */
int mom_link_ask(struct mom_link *l, unsigned proc, xdrproc_t xargs, const void *args, struct rpc_pending *p)
{
    const struct rpc_proc_id id = {PBS_SHEP_PROG, PBS_SHEP_V1, proc};
    struct peer *newest = NULL;

    for (int i = 0; i < PEERS_MAX; i++) {
        struct peer *x = &l->peers[i];

        if (x->fd >= 0 && x->greeted && !x->broken && (!newest || x->serial > newest->serial))
            newest = x;
    }
    if (!newest || rpc_core_call(newest->core, p, &id, xargs, args, NULL) < 0)
        return -1;
    send_some(newest);
    return 0;
}

size_t mom_link_owes(const struct mom_link *l)
{
    size_t n = 0;

    for (size_t i = 0; i < PEERS_MAX; i++)
        n += l->peers[i].core ? rpc_core_output(l->peers[i].core)->len : 0;
    return n;
}

void mom_link_flush(struct mom_link *l, int limit_ms)
{
    int64_t until = clock_real_mono_ms() + limit_ms;

    for (int i = 0; i < PEERS_MAX; i++)
        while (l->peers[i].fd >= 0 && !l->peers[i].broken && rpc_core_output(l->peers[i].core)->len &&
               clock_real_mono_ms() < until) {
            struct pollfd f = {.fd = l->peers[i].fd, .events = POLLOUT};

            send_some(&l->peers[i]);
            poll(&f, 1, 10);
        }
}
