/* Questions about this host, one function each, as rows.
 *
 * A spawn that comes while the job is suspended is held back: what is born then would run. A letter that asks for a
 * task and comes again (a MOM on its way has died) gets the task that the first one got. */
#include "tm_asks.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shep.h>

#include "confine.h"
#include "rpc_buf.h"
#include "rundir.h"
#include "strbuf.h"
#include "task.h"
#include "task_env.h"
#include "tm_.h"
#include "tm_login.h"
#include "tm_helper.h"
#include "tm_parts.h"
#include "tm_reply.h"
#include "tm_hooks.h"
#include "tm_output.h"

/* SIGNALS_KEPT, a choice: a letter is repeated when a MOM on its way has died, and few signals are on their way then. */
enum { RESOURCES_MAX = 65000, SIGNALS_KEPT = 64 };

struct tm_asks {
    struct tm_reply *held_first, **held_end; /* until the job runs again */
    struct {
        unsigned from;
        uint64_t number;
    } signals[SIGNALS_KEPT]; /* letters with signals that were obeyed, the last ones */
    unsigned next_signal;
};

struct tm_asks *tm_asks_create(void)
{
    struct tm_asks *s = calloc(1, sizeof *s);

    if (s)
        s->held_end = &s->held_first;
    return s;
}

void tm_asks_destroy(struct tm_asks *s)
{
    while (s && s->held_first) {
        struct tm_reply *r = s->held_first;

        s->held_first = r->next;
        tm_reply_refuse(r, TM_ESYSTEM, "the job has ended");
    }
    free(s);
}

static void good(struct tm_reply *r, unsigned task)
{
    struct tmx_answer a = {.code = TM_SUCCESS, .task = task};

    tm_reply_answer(r, &a);
}

void tm_asks_record(const struct tm_server *t, const struct shep_task_news *n)
{
    struct shep_record rec = {.kind = SHEP_RECORD_TASK};

    rec.shep_record_u.task = (struct shep_task){.id = n->id, .session = n->session};
    rundir_log_append(t->place.records, (xdrproc_t)xdr_shep_record, &rec, false, NULL);
    if (t->place.mom_link)
        mom_link_tell_task(t->place.mom_link, n);
}

void tm_asks_record_end(const struct tm_server *t, unsigned id)
{
    char none[1] = "";

    tm_asks_record(t, &(struct shep_task_news){.id = id, .text = none});
}

/* ---- spawn */
static bool is_sister(const struct tm_server *t)
{
    return !t->place.order->exec_path[0];
}

/* The output of a task goes to the job's files through descriptors of this process, or through a relay. */
static int open_output(struct tm_server *t, const struct tmx_spawn_args *a, const struct tm_reply *r,
                       unsigned id, struct task *birth, struct task_relay **relay, struct err *e)
{
    const struct output_relay_target to = {.task = id, .relay = a->relay, .host = a->relay ? r->from : 0};

    if (!a->relay && !is_sister(t)) {
        birth->out = dup(t->place.first->out);
        birth->err = dup(t->place.first->err);
        return birth->out < 0 || birth->err < 0 ? err_errno(e, errno, "cannot give a task the job's output")
                                                : 0;
    }
    *relay = output_relay_create(t->output_relays, &to, &birth->out, &birth->err, e);
    return *relay ? 0 : -1;
}

/* `whole`: its environment is in `a` as hooks have left it. */
static int give_birth(struct tm_server *t, const struct tmx_spawn_args *a, bool whole, unsigned id,
                      struct task *birth, struct err *e)
{
    const struct shep_order *o = t->place.order;
    const struct task_env_facts f = {.job = whole ? a->env.env_val : o->env.env_val,
                                     .n_job = whole ? a->env.env_len : o->env.env_len,
                                     .given = a->env.env_val,
                                     .n_given = whole ? 0 : a->env.env_len,
                                     .task = id,
                                     .node = a->node};
    struct tmx_spawn_more more = {0};
    struct words env;
    int rc = -1;

    words_init(&env);
    if (a->ext.wire_ext_len &&
        rpc_buf_decode(a->ext.wire_ext_val, a->ext.wire_ext_len, (xdrproc_t)xdr_tmx_spawn_more, &more) < 0)
        err_set(e, EBADMSG, "the wishes for a task cannot be read");
    else if (task_env_make(&f, &env, e) == 0) {
        const struct task_program p = {.path = a->argv.argv_val[0],
                                       .argv = a->argv.argv_val,
                                       .n_argv = a->argv.argv_len,
                                       .env = env.w,
                                       .n_env = (unsigned)env.n,
                                       .input = "",
                                       .cpus = more.cpus,
                                       .cwd = more.cwd};

        birth->confine = t->place.confine;
        rc = task_fork_program(birth, o, &p, e);
    }
    xdr_free((xdrproc_t)xdr_tmx_spawn_more, (char *)&more);
    words_fini(&env);
    return rc;
}

/* It exists and waits. From here the table has it, so its end is seen whatever comes. */
static int let_it_go(struct tm_server *t, const struct tmx_spawn_args *a, const struct tm_reply *r,
                     unsigned id, struct task *birth, struct task_relay *relay, struct err *e)
{
    struct tasks_entry *x = tasks_add(t->tasks, id, birth->pid);

    if (!x) {
        kill(birth->pid, SIGKILL);
        return err_set(e, ENOMEM, "no memory for a task");
    }
    x->parent = a->parent;
    x->relay = relay;
    x->from = r->from;
    x->number = r->number;
    tm_asks_record(
        t, &(struct shep_task_news){
               .id = id, .pid = (int)birth->pid, .session = (int)birth->pid, .text = a->argv.argv_val[0]});
    return task_go(birth, t->place.order, e);
}

static int spawn(struct tm_server *t, const struct tmx_spawn_args *a, struct tm_reply *r, unsigned id,
                 struct err *e)
{
    struct task birth;
    struct task_relay *relay = NULL;
    int rc = -1;

    task_init(&birth);
    if (open_output(t, a, r, id, &birth, &relay, e) == 0 && give_birth(t, a, r->asked, id, &birth, e) == 0)
        rc = let_it_go(t, a, r, id, &birth, relay, e);
    task_fini(&birth);
    if (rc < 0 && relay && !tasks_find(t->tasks, id))
        output_relay_destroy(relay);
    return rc;
}

void tm_asks_hold_back(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    if (!tm_reply_may_wait(r))
        return;
    if (tm_reply_keep_ask(ask, r) < 0) {
        tm_reply_refuse(r, TM_ESYSTEM, "no memory to hold a task back");
        return;
    }
    *t->asks->held_end = r;
    t->asks->held_end = &r->next;
}

/* Output may come as soon as the task lives, so its reader is known before that. */
static void spawn_new(struct tm_server *t, const struct tmx_spawn_args *a, struct tm_reply *r)
{
    unsigned id = tasks_number(t->tasks);
    struct err e = {0};

    if (r->relay && id)
        tm_output_expect(t, id, r->client);
    if (!id || spawn(t, a, r, id, &e) < 0)
        tm_reply_refuse(r, e.code == ENOENT ? TM_ENOTFOUND : TM_ESYSTEM, id ? e.text : "too many tasks");
    else
        good(r, id);
}

static void tm_ask_spawn(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    const struct tmx_spawn_args *a = &ask->tmx_ask_u.spawn;
    const struct tasks_entry *before = r->is_letter ? tasks_find_letter(t->tasks, r->from, r->number) : NULL;

    if (before) {
        good(r, before->id);
        return;
    }
    if (!t->place.is_running(t->place.arg) || !a->argv.argv_len) {
        tm_reply_refuse(r, a->argv.argv_len ? TM_ESYSTEM : TM_ENOTFOUND,
                        a->argv.argv_len ? "the job is ending" : "no program is named");
        return;
    }
    if (confine_is_suspended(t->place.confine)) {
        tm_asks_hold_back(t, ask, r);
        return;
    }
    if (!tm_hooks_ask(t, ask, r, tm_ask_here))
        spawn_new(t, a, r);
}

void tm_asks_do_held(struct tm_server *t)
{
    struct tm_reply *r = t->asks->held_first;

    t->asks->held_first = NULL;
    t->asks->held_end = &t->asks->held_first;
    while (r) {
        struct tm_reply *next = r->next;
        struct tmx_ask *ask = r->ask;

        r->next = NULL;
        r->ask = NULL;
        tm_ask_here(t, ask, r);
        xdr_free((xdrproc_t)xdr_tmx_ask, ask);
        free(ask);
        r = next;
    }
}

/* ---- tasks that are there */
static struct tasks_entry *tm_ask_find(struct tm_server *t, unsigned id, struct tm_reply *r)
{
    struct tasks_entry *x = tasks_find(t->tasks, id);

    if (!x)
        tm_reply_refuse(r, TM_ENOTFOUND, "the job has no such task");
    return x;
}

static bool was_obeyed(struct tm_server *t, const struct tm_reply *r)
{
    if (!r->is_letter)
        return false;
    for (int i = 0; i < SIGNALS_KEPT; i++)
        if (t->asks->signals[i].number == r->number && t->asks->signals[i].from == r->from)
            return true;
    t->asks->signals[t->asks->next_signal].number = r->number;
    t->asks->signals[t->asks->next_signal].from = r->from;
    t->asks->next_signal = (t->asks->next_signal + 1) % SIGNALS_KEPT;
    return false;
}

/* All of the task's session that is in its process group, as PBS signals it. */
static void tm_ask_signal(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    const struct tmx_signal_args *a = &ask->tmx_ask_u.signal;
    const struct tasks_entry *x = tm_ask_find(t, a->task, r);

    if (!x)
        return;
    if (was_obeyed(t, r))
        good(r, x->id);
    else if (x->ended)
        tm_reply_refuse(r, TM_ENOTFOUND, "the task has ended");
    else if (kill(-x->pid, a->signo) < 0 && kill(x->pid, a->signo) < 0)
        tm_reply_refuse(r, errno == EINVAL ? TM_EUNKNOWNCMD : TM_ESYSTEM, strerror(errno));
    else
        good(r, x->id);
}

static void tm_ask_on_end(struct tasks_waiter *w, const struct tasks_entry *x)
{
    struct tm_reply *r = (struct tm_reply *)((char *)w - offsetof(struct tm_reply, waiter));
    struct tmx_answer a = {.code = TM_SUCCESS, .task = x->id, .status = x->status};

    tm_reply_answer(r, &a);
}

static void tm_ask_obit(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    struct tasks_entry *x = tm_ask_find(t, ask->tmx_ask_u.obit.task, r);

    if (!x || (!x->over && !tm_reply_may_wait(r)))
        return;
    r->waiter.ended = tm_ask_on_end;
    tasks_wait(x, &r->waiter);
}

static void tm_ask_list_one(void *arg, struct tasks_entry *x)
{
    struct tmx_answer *a = arg;

    if (!x->ended)
        a->tasks.tasks_val[a->tasks.tasks_len++] = x->id;
}

static void tm_ask_tasks(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    struct tmx_answer a = {.code = TM_SUCCESS};

    a.tasks.tasks_val = calloc(tasks_alive(t->tasks) + 1, sizeof(u_int));
    if (a.tasks.tasks_val)
        tasks_each(t->tasks, tm_ask_list_one, &a);
    tm_reply_answer(r, &a);
    free(a.tasks.tasks_val);
}

static void tm_ask_resources(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    struct tmx_answer a = {.code = TM_SUCCESS};
    struct utsname u;
    struct strbuf b;

    uname(&u);
    strbuf_init(&b, RESOURCES_MAX);
    strbuf_addf(&b, "%s %s %s %s %s:%s", u.sysname, u.nodename, u.release, u.version, u.machine,
                t->nodes.resources);
    a.text = (char *)strbuf_str(&b);
    tm_reply_answer(r, &a);
    strbuf_fini(&b);
}

/* ---- published data */
static void tm_ask_post(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    const struct tmx_post_args *a = &ask->tmx_ask_u.post;
    struct tasks_entry *x = tm_ask_find(t, a->task, r);
    struct err e = {0};

    if (!x)
        return;
    if (tasks_publish(t->tasks, x, a->name, a->info.info_val, a->info.info_len, &e) < 0)
        tm_reply_refuse(r, TM_ESYSTEM, e.text);
    else
        good(r, x->id);
}

static void tm_ask_get(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    const struct tmx_get_args *a = &ask->tmx_ask_u.get;
    const struct tasks_entry *x = tm_ask_find(t, a->task, r);
    const struct tasks_info *i = x ? tasks_info(x, a->name) : NULL;
    struct tmx_answer res = {.code = TM_SUCCESS};

    if (!x)
        return;
    if (!i) {
        tm_reply_refuse(r, TM_ENOTFOUND, "the task has published nothing of that name");
        return;
    }
    res.info.info_val = i->bytes;
    res.info.info_len = (u_int)i->n;
    tm_reply_answer(r, &res);
}

static void tm_ask_output(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    tm_output_take(t, &ask->tmx_ask_u.output, r);
}

/* It is kept here, whichever host this is. */
static void tm_ask_notice(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    struct tmx_answer good = {.code = TM_SUCCESS};
    struct err e = {0};

    if (r->is_letter)
        tm_reply_refuse(r, TM_EUNKNOWNCMD, "not for other hosts to ask");
    else if (t->place.answer_notice(t->place.arg, &ask->tmx_ask_u.notice, &e) < 0)
        tm_reply_refuse(r, e.code, e.text);
    else
        tm_reply_answer(r, &good);
}

static const struct {
    tmx_kind kind;
    void (*fn)(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r);
} rows[] = {
    {TMX_ASK_SPAWN, tm_ask_spawn},         {TMX_ASK_SIGNAL, tm_ask_signal},
    {TMX_ASK_OBIT, tm_ask_obit},           {TMX_ASK_TASKS, tm_ask_tasks},
    {TMX_ASK_POST, tm_ask_post},           {TMX_ASK_GET, tm_ask_get},
    {TMX_ASK_RESOURCES, tm_ask_resources}, {TMX_ASK_ATTACH, tm_login_ask},
    {TMX_ASK_OUTPUT, tm_ask_output},       {TMX_ASK_NOTICE, tm_ask_notice},
    {TMX_ASK_PMIX, tm_helper_ask},         {TMX_ASK_DECLARE, tm_helper_declare},
};

void tm_ask_here(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].kind == ask->kind) {
            rows[i].fn(t, ask, r);
            return;
        }
    tm_reply_refuse(r, TM_EUNKNOWNCMD, "no such question");
}
