/* Task management, tm.h. One connection to the shepherd; an event is a question under way, and becomes "done" when its
 * answer is in, in whatever order; tm_poll hands the done ones out, the oldest first.
 *
 * The interface has no handle, so the one connection of this program is in a static variable. */
#include "tm.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tm.h>
#include <uthash.h>

#include "pbs_ext.h"
#include "strbuf.h"
#include "tm_link.h"

enum { REASON_MAX = 512 };

struct event {
    struct rpc_pending pending;
    UT_hash_handle hh;  /* those under way */
    struct event *next; /* those done */
    tm_event_t id;
    tmx_kind kind;
    int code;
    tm_node_id node; /* of a spawn */
    /* the caller's places, by kind */
    tm_task_id *tid, *list;
    int *number; /* obitval, ntasks, amount */
    char *bytes; /* resource, info */
    int len;
    char **info; /* heap, the caller's */
    size_t *n_info;
};

struct tm_place { /* where a task is that we know of */
    UT_hash_handle hh;
    tm_task_id task;
    tm_node_id node;
};

static struct {
    struct tm_link *link; /* NULL: not initialised */
    unsigned n_nodes;
    tm_event_t last_event;
    struct event *under_way;
    struct event *done, **done_end;
    struct tm_place *places;
    char reason[REASON_MAX];
} me;

static int fail_with(int code, const struct err *e)
{
    (void)snprintf(me.reason, sizeof me.reason, "%s", e->text);
    return code;
}

const char *pbs_tm_reason(void)
{
    return me.reason;
}

/* The caller names no place where what it asks for can be written, or no bytes. */
static int tm_no_place(const char *what)
{
    if (!me.link)
        return TM_BADINIT;
    (void)snprintf(me.reason, sizeof me.reason, "%s is NULL", what);
    return TM_ESYSTEM;
}

/* ---- answers: what the caller has no place for is not written */
static void note_place(tm_task_id task, tm_node_id node)
{
    struct tm_place *p;

    HASH_FIND(hh, me.places, &task, sizeof task, p);
    if (p || !(p = calloc(1, sizeof *p)))
        return;
    p->task = task;
    p->node = node;
    HASH_ADD(hh, me.places, task, sizeof p->task, p);
}

static void become_done(struct event *ev, int code)
{
    ev->code = code;
    HASH_DELETE(hh, me.under_way, ev);
    ev->next = NULL;
    *me.done_end = ev;
    me.done_end = &ev->next;
}

static int smaller(size_t a, int b)
{
    return b < 0 ? 0 : a < (size_t)b ? (int)a : b;
}

static void tm_take_list(const struct event *ev, const struct tmx_answer *a)
{
    int n = ev->list ? smaller(a->tasks.tasks_len, ev->len) : 0;

    for (int i = 0; i < n; i++) {
        ev->list[i] = a->tasks.tasks_val[i];
        note_place(ev->list[i], ev->node);
    }
    if (ev->number)
        *ev->number = (int)a->tasks.tasks_len;
}

static void tm_take_task(const struct event *ev, const struct tmx_answer *a)
{
    if (ev->tid)
        *ev->tid = a->task;
    note_place(a->task, ev->node);
}

static void tm_take_status(const struct event *ev, const struct tmx_answer *a)
{
    if (ev->number)
        *ev->number = a->status;
}

static void tm_take_text(const struct event *ev, const struct tmx_answer *a)
{
    if (ev->bytes && ev->len > 0)
        (void)snprintf(ev->bytes, (size_t)ev->len, "%s", a->text);
}

/* As much as there is room for; the number is of all, so that the caller knows. */
static void tm_take_info(const struct event *ev, const struct tmx_answer *a)
{
    if (ev->bytes && a->info.info_len)
        memcpy(ev->bytes, a->info.info_val, (size_t)smaller(a->info.info_len, ev->len));
    if (ev->number)
        *ev->number = (int)a->info.info_len;
}

/* On the heap, the caller's; NULL: no memory. */
static void tm_take_bytes(const struct event *ev, const struct tmx_answer *a)
{
    *ev->info = malloc(a->info.info_len + 1);
    *ev->n_info = *ev->info ? a->info.info_len : 0;
    if (*ev->info && a->info.info_len)
        memcpy(*ev->info, a->info.info_val, a->info.info_len);
}

/* The task may be of no interest to the caller, and is on no node that it asked about. */
static void tm_take_attached(const struct event *ev, const struct tmx_answer *a)
{
    if (ev->tid)
        *ev->tid = a->task;
}

/* What an answer brings, by kind of question; of a kind without a row it is done, and that is all. */
static const struct {
    tmx_kind kind;
    void (*take)(const struct event *ev, const struct tmx_answer *a);
} take_rows[] = {{TMX_ASK_SPAWN, tm_take_task},     {TMX_ASK_OBIT, tm_take_status},
                 {TMX_ASK_TASKS, tm_take_list},     {TMX_ASK_RESOURCES, tm_take_text},
                 {TMX_ASK_GET, tm_take_info},       {TMX_ASK_PMIX, tm_take_bytes},
                 {TMX_ASK_ATTACH, tm_take_attached}};

/* Write what was asked for to the caller's places. */
static void tm_take(const struct event *ev, const struct tmx_answer *a)
{
    for (size_t i = 0; i < sizeof take_rows / sizeof *take_rows; i++)
        if (take_rows[i].kind == ev->kind)
            take_rows[i].take(ev, a);
}

static void tm_on_reply(struct rpc_pending *p, const struct rpc_reply_hdr *h)
{
    struct event *ev = (struct event *)((char *)p - offsetof(struct event, pending));
    struct tmx_answer a = {0};

    if (h->status != RPC_ST_OK || rpc_buf_decode(h->result, h->n_result, (xdrproc_t)xdr_tmx_answer, &a) < 0) {
        become_done(ev, TM_EUNKNOWNCMD);
    } else {
        if (a.code == TM_SUCCESS)
            tm_take(ev, &a);
        else
            (void)snprintf(me.reason, sizeof me.reason, "%s", a.text);
        become_done(ev, a.code);
    }
    xdr_free((xdrproc_t)xdr_tmx_answer, (char *)&a);
}

static void tm_on_lost(struct rpc_pending *p, const struct err *why)
{
    (void)fail_with(0, why);
    become_done((struct event *)((char *)p - offsetof(struct event, pending)), TM_ENOTCONNECTED);
}

/* ---- questions */
/* `model` is copied into a new event, whose number goes to *event. */
static int tm_ask(const struct event *model, const struct tmx_ask *question, tm_event_t *event)
{
    static const struct rpc_pending_ops ops = {.reply = tm_on_reply, .lost = tm_on_lost};
    struct event *ev;
    struct err e = {0};

    if (!me.link || !event)
        return tm_no_place("event");
    ev = malloc(sizeof *ev);
    if (!ev)
        return TM_ESYSTEM;
    *ev = *model;
    ev->kind = question->kind;
    ev->pending.ops = &ops;
    ev->id = me.last_event = me.last_event < INT32_MAX ? me.last_event + 1 : 1;
    if (tm_link_ask(me.link, &ev->pending, TMX_ASK, (xdrproc_t)xdr_tmx_ask, question, &e) < 0) {
        free(ev);
        return fail_with(e.code == EINVAL ? TM_ESYSTEM : TM_ENOTCONNECTED, &e);
    }
    HASH_ADD(hh, me.under_way, id, sizeof ev->id, ev);
    *event = ev->id;
    return TM_SUCCESS;
}

static u_int tm_count(char *const *vector)
{
    u_int n = 0;

    while (vector && vector[n])
        n++;
    return n;
}

/* Are these n texts, of which the first names a program? */
static bool is_command(int n, char *const *argv)
{
    for (int i = 0; i < n && argv; i++)
        if (!argv[i])
            return false;
    return n > 0 && argv && argv[0][0];
}

static int tm_spawn_call(int argc, char *argv[], char *envp[], tm_node_id where, tm_task_id *tid,
                         tm_event_t *event, bool relay, const struct byte_buf *more)
{
    const struct event model = {.tid = tid, .node = where};
    struct tmx_ask q = {.kind = TMX_ASK_SPAWN};
    struct tmx_spawn_args *a = &q.tmx_ask_u.spawn;

    if (!me.link)
        return TM_BADINIT;
    if (!is_command(argc, argv))
        return TM_ENOTFOUND;
    if (where < 0 || (unsigned)where >= me.n_nodes)
        return TM_ENOTFOUND;
    a->node = (u_int)where;
    a->relay = relay;
    a->argv.argv_val = argv;
    a->argv.argv_len = (u_int)argc;
    a->env.env_val = envp;
    a->env.env_len = tm_count(envp);
    a->ext.wire_ext_val = more ? more->bytes : NULL;
    a->ext.wire_ext_len = more ? (u_int)more->len : 0;
    return tm_ask(&model, &q, event);
}

int tm_spawn(int argc, char *argv[], char *envp[], tm_node_id where, tm_task_id *tid, tm_event_t *event)
{
    return tm_spawn_call(argc, argv, envp, where, tid, event, false, NULL);
}

int pbs_tm_spawn_relay(int argc, char *argv[], char *envp[], tm_node_id where, tm_task_id *tid,
                       tm_event_t *event)
{
    return tm_spawn_call(argc, argv, envp, where, tid, event, true, NULL);
}

int pbs_tm_spawn_in(int argc, char *argv[], char *envp[], tm_node_id where, const struct pbs_tm_place *place,
                    tm_task_id *tid, tm_event_t *event)
{
    const char *none = "";
    const struct tmx_spawn_more m = {.cpus = (char *)(place->cpus ? place->cpus : none),
                                     .cwd = (char *)(place->cwd ? place->cwd : none)};
    struct byte_buf b;
    int code = TM_ESYSTEM;

    byte_buf_init(&b);
    if (rpc_buf_encode(&b, (xdrproc_t)xdr_tmx_spawn_more, &m) == 0)
        code = tm_spawn_call(argc, argv, envp, where, tid, event, true, &b);
    byte_buf_fini(&b);
    return code;
}

int pbs_tm_helper(tm_node_id where, const void *bytes, size_t n, char **answer, size_t *n_answer,
                  tm_event_t *event)
{
    const struct event model = {.info = answer, .n_info = n_answer};
    struct tmx_ask q = {.kind = TMX_ASK_PMIX, .tmx_ask_u.pmix = {.node = (u_int)where}};

    q.tmx_ask_u.pmix.bytes.bytes_val = (char *)bytes;
    q.tmx_ask_u.pmix.bytes.bytes_len = (u_int)n;
    return tm_ask(&model, &q, event);
}

int pbs_tm_fd(void)
{
    return me.link ? tm_link_fd(me.link) : -1;
}

void pbs_tm_on_output(pbs_tm_output_fn *fn, void *arg)
{
    if (me.link)
        tm_link_on_output(me.link, fn, arg);
}

int tm_kill(tm_task_id tid, int sig, tm_event_t *event)
{
    const struct event model = {0};
    const struct tmx_ask q = {.kind = TMX_ASK_SIGNAL, .tmx_ask_u.signal = {.task = tid, .signo = sig}};

    return tm_ask(&model, &q, event);
}

int tm_obit(tm_task_id tid, int *obitval, tm_event_t *event)
{
    const struct event model = {.number = obitval};
    const struct tmx_ask q = {.kind = TMX_ASK_OBIT, .tmx_ask_u.obit = {.task = tid}};

    return tm_ask(&model, &q, event);
}

int tm_taskinfo(tm_node_id node, tm_task_id *list, int lsize, int *ntasks, tm_event_t *event)
{
    const struct event model = {.list = list, .len = lsize, .number = ntasks, .node = node};
    const struct tmx_ask q = {.kind = TMX_ASK_TASKS, .tmx_ask_u.tasks = {.node = (u_int)node}};

    return tm_ask(&model, &q, event);
}

int tm_rescinfo(tm_node_id node, char *resource, int len, tm_event_t *event)
{
    const struct event model = {.bytes = resource, .len = len};
    const struct tmx_ask q = {.kind = TMX_ASK_RESOURCES, .tmx_ask_u.resources = {.node = (u_int)node}};

    return tm_ask(&model, &q, event);
}

int tm_publish(char *name, void *info, int nbytes, tm_event_t *event)
{
    const struct event model = {0};
    struct tmx_ask q = {.kind = TMX_ASK_POST, .tmx_ask_u.post = {.name = name}};

    if (!name || (!info && nbytes > 0))
        return tm_no_place(name ? "info" : "name");
    q.tmx_ask_u.post.info.info_val = info;
    q.tmx_ask_u.post.info.info_len = (u_int)(nbytes < 0 ? 0 : nbytes);
    return tm_ask(&model, &q, event);
}

int tm_subscribe(tm_task_id tid, char *name, void *info, int len, int *amount, tm_event_t *event)
{
    const struct event model = {.bytes = info, .len = len, .number = amount};
    const struct tmx_ask q = {.kind = TMX_ASK_GET, .tmx_ask_u.get = {.task = tid, .name = name}};

    return !name ? tm_no_place("name") : tm_ask(&model, &q, event);
}

int pbs_tm_notice(enum pbs_tm_answer answer, unsigned need_s, const char *nodes, tm_event_t *event)
{
    const struct event model = {0};
    struct tmx_ask q = {.kind = TMX_ASK_NOTICE};
    struct tmx_notice_args *a = &q.tmx_ask_u.notice;

    a->answer = (tmx_notice_answer)answer; /* the same numbers */
    a->need_s = need_s;
    a->nodes = (char *)(nodes ? nodes : "");
    return tm_ask(&model, &q, event);
}

/* ---- what is local */
int tm_nodeinfo(tm_node_id **list, int *nnodes)
{
    tm_node_id *out;

    if (!me.link || !list || !nnodes)
        return tm_no_place("list or nnodes");
    out = calloc(me.n_nodes + 1, sizeof *out);
    if (!out)
        return TM_ESYSTEM;
    for (unsigned i = 0; i < me.n_nodes; i++)
        out[i] = (tm_node_id)i;
    *list = out;
    *nnodes = (int)me.n_nodes;
    return TM_SUCCESS;
}

int tm_atnode(tm_task_id tid, tm_node_id *node)
{
    const struct tm_place *p;

    if (!me.link || !node)
        return tm_no_place("node");
    HASH_FIND(hh, me.places, &tid, sizeof tid, p);
    if (!p)
        return TM_ENOTFOUND;
    *node = p->node;
    return TM_SUCCESS;
}

int tm_poll(tm_event_t poll, tm_event_t *result, int wait, int *tm_errno)
{
    struct event *ev;

    if (!me.link || !result)
        return tm_no_place("result");
    if (poll != TM_NULL_EVENT)
        return TM_ENOTIMPLEMENTED;
    *result = TM_NULL_EVENT;
    if (!me.done && wait && !me.under_way)
        return TM_ENOEVENT;
    if (!me.done)
        do
            (void)tm_link_turn(me.link, wait); /* a lost connection makes all events done */
        while (!me.done && wait);
    ev = me.done;
    if (!ev)
        return TM_SUCCESS;
    me.done = ev->next;
    if (!me.done)
        me.done_end = &me.done;
    *result = ev->id;
    if (tm_errno)
        *tm_errno = ev->code;
    free(ev);
    return TM_SUCCESS;
}

/* ---- beginning and end */
struct init { /* the answer that tm_init waits for */
    struct rpc_pending pending;
    struct tmx_init_result res;
    bool over;
};

static void tm_on_init(struct rpc_pending *p, const struct rpc_reply_hdr *h)
{
    struct init *i = (struct init *)((char *)p - offsetof(struct init, pending));

    i->over = true;
    i->res.code = TM_ESYSTEM;
    if (h->status == RPC_ST_OK &&
        rpc_buf_decode(h->result, h->n_result, (xdrproc_t)xdr_tmx_init_result, &i->res) < 0)
        i->res.code = TM_ESYSTEM;
}

static void tm_on_init_lost(struct rpc_pending *p, const struct err *why)
{
    struct init *i = (struct init *)((char *)p - offsetof(struct init, pending));

    (void)fail_with(0, why);
    i->over = true;
    i->res.code = TM_ENOTCONNECTED;
}

static int say_init(struct tm_link *l, struct init *i)
{
    static const struct rpc_pending_ops ops = {.reply = tm_on_init, .lost = tm_on_init_lost};
    const struct tmx_init_args a = {.job = getenv("PBS_JOBID"),
                                    .cookie = getenv("PBS_JOBCOOKIE"),
                                    .task = (u_int)strtoul(getenv("PBS_TASKNUM"), NULL, 10)};
    struct err e = {0};

    i->pending.ops = &ops;
    if (tm_link_ask(l, &i->pending, TMX_INIT, (xdrproc_t)xdr_tmx_init_args, &a, &e) < 0)
        return fail_with(TM_ENOTCONNECTED, &e);
    while (!i->over && tm_link_turn(l, true) == 0)
        ;
    if (i->res.code == TM_EBADENVIRONMENT)
        (void)snprintf(me.reason, sizeof me.reason,
                       "PBS_JOBID and PBS_JOBCOOKIE are not those of the job here");
    return i->res.code;
}

static bool is_in_a_job(void)
{
    static const char *const needed[] = {"PBS_JOBID", "PBS_JOBCOOKIE", "PBS_NODENUM", "PBS_TASKNUM",
                                         "PBS_MOMPORT"};

    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!getenv(needed[i])) {
            (void)snprintf(me.reason, sizeof me.reason, "%s is not in the environment", needed[i]);
            return false;
        }
    return true;
}

static struct tm_link *open_link(const char *job, struct err *e)
{
    char *path = tm_link_find(job, e);
    struct tm_link *l = path ? tm_link_open(path, e) : NULL;

    free(path);
    return l;
}

int tm_init(void *info, struct tm_roots *roots)
{
    struct init i = {0};
    struct err e = {0};
    struct tm_link *l;
    int code;

    if (me.link)
        return TM_BADINIT;
    if (!is_in_a_job())
        return TM_EBADENVIRONMENT;
    l = open_link(NULL, &e);
    if (!l)
        return fail_with(TM_ESYSTEM, &e);
    code = say_init(l, &i);
    if (code != TM_SUCCESS) {
        tm_link_close(l);
        return code;
    }
    me.link = l;
    me.n_nodes = i.res.nodes;
    me.done_end = &me.done;
    if (roots)
        *roots = (struct tm_roots){
            .tm_me = i.res.me, .tm_parent = i.res.parent, .tm_nnodes = (int)i.res.nodes, .tm_taskpoolid = -1};
    return TM_SUCCESS;
}

int tm_finalize(void)
{
    struct tm_place *p, *next;

    if (!me.link)
        return TM_BADINIT;
    tm_link_close(me.link); /* makes every event done */
    me.link = NULL;
    while (me.done) {
        struct event *ev = me.done;

        me.done = ev->next;
        free(ev);
    }
    me.done_end = &me.done;
    HASH_ITER(hh, me.places, p, next)
    {
        HASH_DELETE(hh, me.places, p);
        free(p);
    }
    return TM_SUCCESS;
}

/* ---- a process that runs already. It has a connection of its own, since the caller need not be a task. */
struct tm_attach {
    struct rpc_pending pending;
    bool over;
    int code;
    tm_task_id task;
};

static void tm_on_attached(struct rpc_pending *p, const struct rpc_reply_hdr *h)
{
    struct tm_attach *at = (struct tm_attach *)((char *)p - offsetof(struct tm_attach, pending));
    struct tmx_answer a = {0};

    at->over = true;
    at->code = TM_ESYSTEM;
    if (h->status == RPC_ST_OK &&
        rpc_buf_decode(h->result, h->n_result, (xdrproc_t)xdr_tmx_answer, &a) == 0) {
        at->code = a.code;
        at->task = a.task;
        (void)snprintf(me.reason, sizeof me.reason, "%s", a.text);
    }
    xdr_free((xdrproc_t)xdr_tmx_answer, (char *)&a);
}

static void tm_on_attach_lost(struct rpc_pending *p, const struct err *why)
{
    struct tm_attach *at = (struct tm_attach *)((char *)p - offsetof(struct tm_attach, pending));

    at->over = true;
    at->code = fail_with(TM_ENOTCONNECTED, why);
}

static int tm_attach_call(struct tm_link *l, pid_t pid, tm_task_id *tid)
{
    static const struct rpc_pending_ops ops = {.reply = tm_on_attached, .lost = tm_on_attach_lost};
    char none[1] = "";
    const struct tmx_ask q = {.kind = TMX_ASK_ATTACH, .tmx_ask_u.attach = {.job = none, .pid = (int)pid}};
    struct tm_attach at = {.pending.ops = &ops};
    struct err e = {0};

    if (tm_link_ask(l, &at.pending, TMX_ASK, (xdrproc_t)xdr_tmx_ask, &q, &e) < 0)
        return fail_with(TM_ENOTCONNECTED, &e);
    while (!at.over && tm_link_turn(l, true) == 0)
        ;
    if (at.code == TM_SUCCESS && tid)
        *tid = at.task;
    return at.code;
}

int tm_attach(char *jobid, char *cookie, pid_t pid, tm_task_id *tid, char *host, int port)
{
    struct err e = {0};
    struct tm_link *l;
    int code;

    (void)port; /* of a MOM; the job's shepherd is found without it */
    if (cookie)
        return TM_ENOTIMPLEMENTED;
    if (host && host[0] && strcmp(host, "localhost") != 0)
        return TM_ENOTIMPLEMENTED;
    if (pid <= 0)
        return TM_ENOPROC;
    l = open_link(jobid, &e);
    if (!l)
        return fail_with(e.code == ENOENT || e.code == ENOTUNIQ ? TM_ENOTFOUND : TM_ESYSTEM, &e);
    code = tm_attach_call(l, pid, tid);
    tm_link_close(l);
    return code;
}
