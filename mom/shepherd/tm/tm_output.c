/* Where the output of tasks goes. From a task here: to a client here, or as a letter to the first host (the job's
 * files are there) or to the host of the client that asked for it. From another host: into the job's files, or to the
 * client. The sender of a piece waits until it has arrived, so pieces stay in order and a slow reader is felt by
 * the task; a letter that comes twice is written once, since each piece says its place in the stream. */
#include "tm_output.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "file.h"
#include "rpc_core.h"
#include "task.h"
#include "tm_.h"
#include "tm_parts.h"
#include "tm_reply.h"

/* A piece for a client that is not known yet: the answer to its spawn comes on another way. */
struct tm_early {
    struct tm_reply *reply; /* NULL: none */
    char *bytes;
    size_t n;
};

/* Output of a task that is not written by the task itself: what of it has arrived, and who wants it. */
struct tm_inflow {
    UT_hash_handle hh;
    unsigned task;
    uint64_t next[2];
    bool known;      /* who wants it; */
    uint64_t client; /* 0: has gone, or the job's files */
    struct tm_early early[2];
};

/* One piece on its way to a client; a relay here waits for it, or a call of another host. */
struct tm_output_delivery {
    struct rpc_pending pending;
    struct task_relay *relay;
    int stream;
    struct tm_reply *reply;
};

static void delivered(struct tm_output_delivery *d)
{
    struct tmx_answer a = {.code = TM_SUCCESS};

    if (d->relay)
        output_relay_done(d->relay, d->stream);
    if (d->reply)
        tm_reply_answer(d->reply, &a);
    free(d);
}

static void tm_output_on_reply(struct rpc_pending *p, const struct rpc_reply_hdr *h)
{
    delivered((struct tm_output_delivery *)((char *)p - offsetof(struct tm_output_delivery, pending)));
}

/* The client has gone: the piece is dropped, which counts as delivered. */
static void tm_output_on_lost(struct rpc_pending *p, const struct err *why)
{
    delivered((struct tm_output_delivery *)((char *)p - offsetof(struct tm_output_delivery, pending)));
}

static void to_client(struct tm_server *t, uint64_t client, const struct tmx_output_args *args,
                      struct task_relay *relay, struct tm_reply *r)
{
    static const struct rpc_pending_ops ops = {.reply = tm_output_on_reply, .lost = tm_output_on_lost};
    static const struct rpc_proc_id id = {PBS_TM_PROG, PBS_TM_V1, TMX_OUTPUT};
    struct tm_client *g = client ? tm_listener_find(t->listener, client) : NULL;
    struct tm_output_delivery *d = calloc(1, sizeof *d);
    struct tm_output_delivery none = {.relay = relay, .stream = args->stream, .reply = r};
    struct tmx_answer a = {.code = TM_SUCCESS};

    if (d)
        *d = none;
    if (d && g) {
        d->pending.ops = &ops;
        if (rpc_core_call(g->core, &d->pending, &id, (xdrproc_t)xdr_tmx_output_args, args, NULL) == 0)
            return;
    }
    free(d);
    if (relay)
        output_relay_done(relay, args->stream);
    if (r)
        tm_reply_answer(r, &a);
}

/* ---- from here */
struct sent { /* a letter under way */
    struct tm_server *tm;
    struct task_relay *relay;
    int stream;
};

static void tm_output_on_answer(void *arg, const struct tmx_answer *a)
{
    struct sent s = *(struct sent *)arg;

    (void)a; /* what cannot be handed on is lost: the first host is, or the client */
    free(arg);
    output_relay_done(s.relay, s.stream);
}

static struct tm_inflow *inflow_find(const struct tm_server *t, unsigned task)
{
    struct tm_inflow *f;

    HASH_FIND(hh, t->inflows, &task, sizeof task, f);
    return f;
}

void tm_output_send(void *arg, struct task_relay *p, const struct tmx_output_args *args)
{
    struct tm_server *t = arg;
    const struct output_relay_target *to = output_relay_target(p);
    struct tmx_ask ask = {.kind = TMX_ASK_OUTPUT};
    struct sent *s;

    if (to->host == t->nodes.mine) {
        const struct tm_inflow *f = inflow_find(t, to->task);

        to_client(t, f ? f->client : 0, args, p, NULL);
        return;
    }
    s = malloc(sizeof *s);
    if (!s) {
        output_relay_done(p, args->stream);
        return;
    }
    *s = (struct sent){t, p, args->stream};
    ask.tmx_ask_u.output = *args;
    peer_rpc_send(t->peer_rpc, to->host, &ask, tm_output_on_answer, s);
}

/* ---- from another host */
static struct tm_inflow *inflow_get(struct tm_server *t, unsigned task)
{
    struct tm_inflow *f = inflow_find(t, task);

    if (f || !(f = calloc(1, sizeof *f)))
        return f;
    f->task = task;
    HASH_ADD(hh, t->inflows, task, sizeof f->task, f);
    return f;
}

static void to_files(struct tm_server *t, const struct tmx_output_args *a, size_t skip, struct tm_reply *r)
{
    int fd = a->stream == TMX_STDERR ? t->place.first->err : t->place.first->out;
    struct tmx_answer done = {.code = TM_SUCCESS};

    if (fd >= 0 && file_write_all(fd, a->bytes.bytes_val + skip, a->bytes.bytes_len - skip, NULL) < 0)
        tm_reply_refuse(r, TM_ESYSTEM, "the job's output cannot be written");
    else
        tm_reply_answer(r, &done);
}

/* The piece waits for tm_output_expect. Said again (a MOM has died on the way), it waits for the later letter. */
static void keep_early(struct tm_early *k, const char *bytes, size_t n, struct tm_reply *r)
{
    char *copy;

    if (!tm_reply_may_wait(r))
        return;
    copy = malloc(n + 1);
    if (k->reply)
        tm_reply_refuse(k->reply, TM_ENOEVENT, "said again");
    free(k->bytes);
    *k = (struct tm_early){0};
    if (!copy) {
        tm_reply_refuse(r, TM_ESYSTEM, "no memory for output");
        return;
    }
    memcpy(copy, bytes, n);
    *k = (struct tm_early){r, copy, n};
}

void tm_output_take(struct tm_server *t, const struct tmx_output_args *a, struct tm_reply *r)
{
    int i = a->stream == TMX_STDERR;
    struct tm_inflow *f = inflow_get(t, a->task);
    struct tmx_output_args rest = *a;
    uint64_t end = a->offset + a->bytes.bytes_len;
    size_t skip = 0;

    if (!f) {
        tm_reply_refuse(r, TM_ESYSTEM, "no memory for output");
        return;
    }
    if (a->relay && !f->known) {
        keep_early(&f->early[i], a->bytes.bytes_val, a->bytes.bytes_len, r);
        return;
    }
    if (f->next[i] > a->offset)
        skip = f->next[i] < end ? (size_t)(f->next[i] - a->offset) : a->bytes.bytes_len;
    if (end > f->next[i])
        f->next[i] = end;
    if (!a->relay) {
        to_files(t, a, skip, r);
        return;
    }
    rest.bytes.bytes_val += skip;
    rest.bytes.bytes_len -= (u_int)skip;
    to_client(t, f->client, &rest, NULL, r);
}

/* It can only be the first piece of its stream. */
static void send_early(struct tm_server *t, struct tm_inflow *f, int i)
{
    struct tm_early k = f->early[i];
    struct tmx_output_args a = {.task = f->task, .stream = i ? TMX_STDERR : TMX_STDOUT, .relay = TRUE};

    if (!k.reply)
        return;
    f->early[i] = (struct tm_early){0};
    f->next[i] = k.n;
    a.bytes.bytes_val = k.bytes;
    a.bytes.bytes_len = (u_int)k.n;
    to_client(t, f->client, &a, NULL, k.reply);
    free(k.bytes);
}

int tm_output_expect(struct tm_server *t, unsigned task, uint64_t client)
{
    struct tm_inflow *f = inflow_get(t, task);

    if (!f)
        return -1;
    f->known = true;
    f->client = client;
    send_early(t, f, 0);
    send_early(t, f, 1);
    return 0;
}

void tm_output_client_gone(struct tm_server *t, uint64_t client)
{
    for (struct tm_inflow *f = t->inflows; f; f = f->hh.next)
        if (f->client == client)
            f->client = 0;
}

void tm_output_forget(struct tm_server *t)
{
    struct tm_inflow *f, *next;

    HASH_ITER(hh, t->inflows, f, next)
    {
        HASH_DELETE(hh, t->inflows, f);
        for (int i = 0; i < 2; i++) {
            free(f->early[i].reply);
            free(f->early[i].bytes);
        }
        free(f);
    }
}
