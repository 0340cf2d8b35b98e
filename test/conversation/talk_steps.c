/* A round, step by step. See talk.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <exec.h>
#include <ifl.h>

#include "clock.h"
#include "pbs_ifl.h"
#include "talk.h"

enum {
    SETTLE_MS = 10000,
    QUIET_TURNS = 3,
    WEEK_S = 7 * 24 * 3600,
    DAY_S = 24 * 3600,
    BURST = 6,
    WORKER_TURNS = 50,
    MOM_PLACE = 6,
    LEFT_OPEN = 32
};

const char *const talk_users[TALK_USERS] = {"daemon", "bin", "sys"};
const uid_t talk_uids[TALK_USERS] = {1, 2, 3};
static const char *const roles[TALK_MOMS] = {"mom:n1", "mom:n2"};

/* Who sits at which place. */
static const struct {
    enum caller_kind kind;
    int who;
} places[TALK_CALLERS] = {
    {CALLER_MANAGER, TALK_NOBODY},
    {CALLER_USER, 0},
    {CALLER_USER, 0},
    {CALLER_USER, 1},
    {CALLER_USER, 1},
    {CALLER_USER, 2},
    {CALLER_MOM, 0},
    {CALLER_MOM, 1},
    {CALLER_MOM, 0},
    {CALLER_SCHED, TALK_NOBODY},
    {CALLER_SCHED, TALK_NOBODY},
    {CALLER_FOREIGN, TALK_ANYBODY},
};

void talk_fail(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fputs("conversation: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    _exit(TALK_FAILED);
}

void talk_say(const struct talk *t, const char *fmt, ...)
{
    va_list ap;

    if (!t->is_told)
        return;
    va_start(ap, fmt);
    fprintf(stderr, "%5u  ", t->step);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

const char *talk_name(const struct caller *c)
{
    static const char *const kinds[] = {
        [CALLER_MANAGER] = "manager", [CALLER_SCHED] = "scheduler", [CALLER_FOREIGN] = "other server"};

    return c->kind == CALLER_USER  ? talk_users[c->who]
           : c->kind == CALLER_MOM ? roles[c->who]
                                   : kinds[c->kind];
}

/* --- hearing ---------------------------------------------------------------------------------------------- */

static bool pump_all(struct talk *t)
{
    bool moved = false;

    for (int i = 0; i < TALK_CALLERS; i++)
        moved |= caller_pump(t, &t->callers[i]);
    return moved;
}

static size_t awaited(const struct talk *t)
{
    size_t n = 0;

    for (int i = 0; i < TALK_CALLERS; i++)
        n += caller_awaits(&t->callers[i], house_now_s(&t->house));
    return n;
}

static _Noreturn void fail_waiting(const struct talk *t)
{
    for (int i = 0; i < TALK_CALLERS; i++)
        for (size_t k = 0; caller_awaits(&t->callers[i], house_now_s(&t->house)) && k < t->callers[i].n_calls;
             k++)
            if (caller_call_is_due(&t->callers[i].calls[k], house_now_s(&t->house)))
                talk_fail("call %u (%s of program %x) of %s is not answered", t->callers[i].calls[k].proc,
                          words_proc_name(t->callers[i].calls[k].proc), t->callers[i].calls[k].prog,
                          talk_name(&t->callers[i]));
    talk_fail("the server does not become quiet");
}

void talk_settle(struct talk *t)
{
    int64_t end = clock_real_mono_ms() + SETTLE_MS;
    int quiet = 0;

    while (quiet < QUIET_TURNS) {
        bool moved = pump_all(t);

        house_turn(&t->house, moved || quiet || house_is_quiet(&t->house) == (awaited(t) == 0) ? 0 : 5);
        quiet = !moved && !awaited(t) && house_is_quiet(&t->house) ? quiet + 1 : 0;
        if (clock_real_mono_ms() > end)
            fail_waiting(t);
    }
}

static void add_job(struct talk *t, const struct caller *c, const struct caller_call *call, const char *id)
{
    int owner = c->kind == CALLER_USER ? c->who : c->kind == CALLER_FOREIGN ? TALK_ANYBODY : TALK_NOBODY;
    struct talk_job *j = &t->jobs[t->n_jobs];

    for (size_t i = 0; i < t->n_jobs; i++)
        if (strcmp(t->jobs[i].id, id) == 0) {
            if (t->jobs[i].owner != owner && t->jobs[i].owner != TALK_ANYBODY && owner != TALK_ANYBODY)
                talk_fail("%s was promised to two users", id);
            return; /* the same submission, told again */
        }
    if (t->n_jobs == TALK_JOBS)
        return;
    *j = (struct talk_job){.owner = owner, .may_vanish = call->in_pieces || c->kind == CALLER_FOREIGN};
    snprintf(j->id, sizeof j->id, "%s", id);
    t->n_jobs++;
    talk_say(t, "       it is %s", id);
}

static void take_submitted(struct talk *t, const struct caller *c, const struct caller_call *call,
                           const struct rpc_reply_hdr *r)
{
    ifl_submit_result result;

    memset(&result, 0, sizeof result);
    if (rpc_buf_decode(r->result, r->n_result, (xdrproc_t)xdr_ifl_submit_result, &result) < 0)
        talk_fail("the answer to a submission cannot be decoded");
    if (!result.result.code)
        add_job(t, c, call, result.job);
    xdr_free((xdrproc_t)xdr_ifl_submit_result, (char *)&result);
}

/* The cursor is in the tail, 52 bytes long where no wake is in it. */
static void take_news(struct talk *t, const struct rpc_reply_hdr *r)
{
    const char *tail = r->result + r->n_result - 52;

    if (r->n_result < 60)
        return;
    t->epoch = (uint64_t)rpc_buf_get_u32(tail + 16) << 32 | rpc_buf_get_u32(tail + 20);
    t->number = (uint64_t)rpc_buf_get_u32(tail + 24) << 32 | rpc_buf_get_u32(tail + 28);
}

/* A list is served in part; what was refused is named. */
static bool has_failures(const struct caller_call *call, const struct rpc_reply_hdr *r)
{
    ifl_delete_list_result result;
    bool has;

    if (call->proc != IFL_DELETE_LIST)
        return false;
    memset(&result, 0, sizeof result);
    has = rpc_buf_decode(r->result, r->n_result, (xdrproc_t)xdr_ifl_delete_list_result, &result) == 0 &&
          result.failures.failures_len > 0;
    xdr_free((xdrproc_t)xdr_ifl_delete_list_result, (char *)&result);
    return has;
}

static void take_ifl(struct talk *t, struct caller *c, const struct caller_call *call,
                     const struct rpc_reply_hdr *r)
{
    int code = r->n_result >= 4 ? (int)rpc_buf_get_u32(r->result) : -1;

    truth_look(c, r->result, r->n_result);
    talk_say(t, "       %s: %s is answered %d", talk_name(c), words_proc_name(call->proc), code);
    if (call->foreign && code == 0 && !has_failures(call, r))
        talk_fail("%s of %s does something to another user's job", words_proc_name(call->proc), talk_name(c));
    if (call->proc == IFL_SUBMIT || call->proc == IFL_ARRIVE)
        take_submitted(t, c, call, r);
    if (call->proc == IFL_WATCH && code == 0)
        t->watch = rpc_buf_get_u32(r->result + 16);
    if (call->proc == IFL_WATCH_NEXT && code == 0)
        take_news(t, r);
    if (call->counts)
        truth_counted(t, c);
}

void talk_answered(struct talk *t, struct caller *c, const struct caller_call *call,
                   const struct rpc_reply_hdr *r)
{
    t->answers++;
    if (r->status == RPC_ST_SYSTEM_ERR)
        talk_fail("%s of %s is dropped without an answer", words_proc_name(call->proc), talk_name(c));
    if (r->status != RPC_ST_OK) {
        talk_say(t, "       %s: call %u has status %d", talk_name(c), call->proc, (int)r->status);
        return;
    }
    if (call->prog == PBS_IFL_PROG)
        take_ifl(t, c, call, r);
    else if (call->foreign && memmem(r->result, r->n_result, "SECRET-", 7))
        talk_fail("%s is given the script of a job that is not there", talk_name(c));
    else if (call->prog == PBS_EXEC_PROG && call->proc == EXEC_HELLO && c->kind == CALLER_MOM)
        mom_answered(t, c, r->result, (unsigned)r->n_result);
}

void talk_called(struct talk *t, struct caller *c, const struct rpc_call_hdr *h)
{
    if (c->kind == CALLER_MOM)
        mom_called(t, c, h);
    else if (!c->rude)
        talk_fail("the server gives an order to %s", talk_name(c));
}

void talk_gone(struct talk *t, const struct caller *c)
{
    talk_say(t, "       %s: the connection is closed", talk_name(c));
    if (c->kind == CALLER_MOM)
        t->moms[c->who].accepted = false;
}

/* --- connections ------------------------------------------------------------------------------------------ */

static void sit_down(struct talk *t, int place)
{
    struct house_peer who = {.uid = geteuid()};
    int fd;

    if (t->callers[place].fd >= 0)
        return;
    if (places[place].kind == CALLER_USER)
        who.uid = talk_uids[places[place].who];
    if (places[place].kind == CALLER_MOM)
        who.role = roles[places[place].who];
    if (places[place].kind == CALLER_FOREIGN)
        who.role = AUTH_FOREIGN_SERVER;
    fd = house_connect(&t->house, &who);
    if (fd >= 0)
        caller_open(&t->callers[place], fd, places[place].kind, places[place].who);
}

static int find_place(struct talk *t, enum caller_kind kind)
{
    int n = (int)chance_below(&t->chance, TALK_CALLERS);

    if (kind == CALLER_MOM && !chance_one_in(&t->chance, 20))
        n = MOM_PLACE + n % TALK_MOMS; /* it has seldom two connections */

    for (int i = 0; i < TALK_CALLERS; i++)
        if (places[(n + i) % TALK_CALLERS].kind == kind)
            return (n + i) % TALK_CALLERS;
    talk_fail("no place for kind %d", kind);
}

/* One of that kind, who is there now. */
static struct caller *one(struct talk *t, enum caller_kind kind)
{
    int place = find_place(t, kind);

    sit_down(t, place);
    return t->callers[place].fd >= 0 && !t->callers[place].deaf ? &t->callers[place] : NULL;
}

/* Mostly users; managers seldom, others too. */
static struct caller *anybody(struct talk *t)
{
    static const enum caller_kind kinds[] = {CALLER_USER,    CALLER_USER,   CALLER_USER,  CALLER_USER,
                                             CALLER_USER,    CALLER_USER,   CALLER_SCHED, CALLER_MANAGER,
                                             CALLER_MANAGER, CALLER_FOREIGN};

    return one(t, CHANCE_PICK(&t->chance, kinds));
}

/* --- setting up ------------------------------------------------------------------------------------------- */

static void manage(struct talk *t, int command, int kind, const char *name, const char *attr,
                   const char *value)
{
    wire_attrop op = {(char *)(uintptr_t)attr, (char[]){""}, (char *)(uintptr_t)value, SET};
    char nothing[] = "";
    ifl_manager_args a = {.command = command,
                          .objtype = kind,
                          .objname = (char *)(uintptr_t)name,
                          .attrs = {1, &op},
                          .extend = nothing};
    struct byte_buf b;

    byte_buf_init(&b);
    if (rpc_buf_encode(&b, (xdrproc_t)xdr_ifl_manager_args, &a) < 0)
        talk_fail("arguments cannot be encoded");
    sit_down(t, 0);
    caller_send(&t->callers[0], PBS_IFL_PROG, IFL_MANAGER, &b);
    byte_buf_fini(&b);
    talk_settle(t);
}

static void leave_all(struct talk *t)
{
    for (int i = 0; i < TALK_CALLERS; i++)
        caller_close(&t->callers[i]);
}

static void set_up(struct talk *t)
{
    manage(t, MGR_CMD_CREATE, MGR_OBJ_QUEUE, "workq", "queue_type", "Execution");
    manage(t, MGR_CMD_SET, MGR_OBJ_QUEUE, "workq", "enabled", "True");
    manage(t, MGR_CMD_SET, MGR_OBJ_QUEUE, "workq", "started", "True");
    manage(t, MGR_CMD_SET, MGR_OBJ_SERVER, "", "default_queue", "workq");
    manage(t, MGR_CMD_SET, MGR_OBJ_SERVER, "", "job_history_enable", "True");
    manage(t, MGR_CMD_SET, MGR_OBJ_SERVER, "", "mailer", "/bin/true");
    leave_all(t);
    talk_settle(t);
}

void talk_begin(struct talk *t, const char *dir)
{
    for (int i = 0; i < TALK_CALLERS; i++)
        t->callers[i].fd = -1;
    for (int i = 0; i < TALK_MOMS; i++)
        t->moms[i].generation = 1;
    house_prepare(&t->house, dir);
    house_start(&t->house);
    set_up(t);
    t->begun_s = house_now_s(&t->house);
    t->allocated = house_allocated();
}

/* --- steps ------------------------------------------------------------------------------------------------ */

static void step_call(struct talk *t)
{
    for (size_t n = chance_one_in(&t->chance, 4) ? chance_below(&t->chance, BURST) : 1; n; n--) {
        struct caller *c = anybody(t);

        if (c && words_call(t, c, words_proc(t)))
            t->calls++;
    }
}

static void step_submit(struct talk *t)
{
    struct caller *c = one(t, CALLER_USER);

    if (c && words_call(t, c, IFL_SUBMIT))
        t->calls++;
}

/* What operators do to jobs. */
static void step_run(struct talk *t)
{
    static const int procs[] = {IFL_RUN_ASYNC, IFL_RUN_ASYNC, IFL_RUN_ASYNC, IFL_RUN_ASYNC, IFL_RUN,
                                IFL_SIGNAL,    IFL_SIGNAL,    IFL_SIGNAL,    IFL_RERUN,     IFL_HOLD,
                                IFL_RELEASE,   IFL_MODIFY,    IFL_MOVE};
    struct caller *c = one(t, chance_one_in(&t->chance, 2) ? CALLER_SCHED : CALLER_MANAGER);

    if (c && words_call(t, c, CHANCE_PICK(&t->chance, procs)))
        t->calls++;
}

static void step_sched(struct talk *t)
{
    static const int procs[] = {IFL_REGISTER_SCHED, IFL_WATCH,         IFL_WATCH_NEXT,
                                IFL_WATCH_NEXT,     IFL_PREEMPT_RUN,   IFL_PREEMPT_JOBS,
                                IFL_SCHED_REPLY,    IFL_EXPLAIN_REPLY, IFL_RUN_ASYNC};
    struct caller *c = one(t, CALLER_SCHED);

    if (c && words_call(t, c, CHANCE_PICK(&t->chance, procs)))
        t->calls++;
}

static void step_mom(struct talk *t)
{
    struct caller *c = one(t, CALLER_MOM);

    if (!c || !caller_has_room(c))
        return;
    t->calls++;
    if (!t->moms[c->who].accepted || chance_one_in(&t->chance, 25))
        mom_hello(t, c);
    else if (chance_one_in(&t->chance, 5))
        mom_other(t, c);
    else
        mom_events(t, c);
}

/* Bytes of another program, of another version, or of none. */
static void step_wrong(struct talk *t)
{
    static const uint32_t programs[] = {PBS_EXEC_PROG, PBS_EXEC_PROG, PBS_IFL_PROG, 0x20000052, 100000};
    struct caller *c = chance_one_in(&t->chance, 3) ? one(t, CALLER_MOM) : anybody(t);
    struct caller_call *call;
    struct byte_buf b;
    char bytes[64];

    if (!c || !caller_has_room(c))
        return;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = chance_one_in(&t->chance, 4) ? (char)chance_next(&t->chance) : 0;
    c->rude = true;
    talk_say(t, "%s: bytes of another program", talk_name(c));
    if (chance_one_in(&t->chance, 4)) {
        c->broken = true;
        caller_send_bytes(c, bytes, chance_below(&t->chance, sizeof bytes));
        return;
    }
    byte_buf_init(&b);
    if (byte_buf_add(&b, bytes, chance_below(&t->chance, sizeof bytes / 4) * 4) < 0)
        talk_fail("no memory");
    call = caller_send(c, CHANCE_PICK(&t->chance, programs), (uint32_t)chance_below(&t->chance, 8), &b);
    call->may_wait = true;
    byte_buf_fini(&b);
}

static void step_leave(struct talk *t)
{
    struct caller *c = &t->callers[chance_below(&t->chance, TALK_CALLERS)];

    if (c->fd < 0)
        return;
    talk_say(t, "%s leaves", talk_name(c));
    if (chance_one_in(&t->chance, 3))
        caller_send_bytes(c, "\x80\x00\x01\x00half", 8);
    pump_all(t);
    if (c->fd < 0)
        return;
    talk_gone(t, c);
    caller_close(c);
}

static void step_deaf(struct talk *t)
{
    struct caller *c = &t->callers[chance_below(&t->chance, TALK_CALLERS)];

    c->deaf = !c->deaf && c->fd >= 0;
    talk_say(t, "place %d is %s", (int)(c - t->callers), c->deaf ? "deaf" : "not deaf");
}

static void step_time(struct talk *t)
{
    int64_t by = (int64_t)chance_below(&t->chance, chance_one_in(&t->chance, 8) ? DAY_S : 400);

    talk_say(t, "%lld s pass", (long long)by);
    house_advance(&t->house, by);
}

static void begin_again(struct talk *t, bool crash)
{
    struct truth *was;

    for (int i = 0; i < TALK_CALLERS; i++) {
        t->callers[i].rude = true;
        t->callers[i].deaf = false;
    }
    talk_settle(t);
    for (int i = 0; i < WORKER_TURNS; i++) { /* names and history that are asked of threads arrive */
        house_turn(&t->house, 1);
        pump_all(t);
    }
    talk_settle(t);
    truth_check(t);
    was = truth_remember(t);
    if (crash)
        house_crash(&t->house);
    else
        house_end(&t->house);
    pump_all(t);
    leave_all(t);
    for (int i = 0; i < TALK_MOMS; i++)
        t->moms[i].accepted = false;
    house_start(&t->house);
    truth_compare(t, was);
}

static void step_restart(struct talk *t)
{
    bool crash = chance_one_in(&t->chance, 2);

    talk_say(t, "the server %s", crash ? "crashes" : "is restarted");
    begin_again(t, crash);
}

/* What was answered is there again, wherever the writer of the store was. */
static void step_crash_in_batch(struct talk *t)
{
    size_t turns;

    talk_say(t, "the server crashes in the middle of a batch");
    for (int i = 0; i < BURST; i++)
        step_submit(t);
    step_run(t);
    pump_all(t);
    for (turns = chance_below(&t->chance, 6); turns; turns--) {
        house_turn(&t->house, 0);
        pump_all(t);
    }
    leave_all(t); /* what is answered from now on is not heard: those files do not have it */
    house_crash(&t->house);
    for (int i = 0; i < TALK_MOMS; i++)
        t->moms[i].accepted = false;
    house_start(&t->house);
}

/* Another host's scripts are not for this one. Everything is quiet, so the job stays where it is. */
static void step_steal(struct talk *t)
{
    struct caller *c;

    talk_settle(t);
    c = one(t, CALLER_MOM);
    if (!c || !caller_has_room(c) || !t->n_jobs || !t->moms[c->who].accepted)
        return;
    mom_steal(t, c, t->jobs[chance_below(&t->chance, t->n_jobs)].id);
    t->calls++;
    talk_settle(t);
}

static void step_mom_restart(struct talk *t)
{
    int who = (int)chance_below(&t->chance, TALK_MOMS);

    talk_say(t, "mom %d is restarted", who);
    t->moms[who].generation++;
    t->moms[who].accepted = false;
    for (int i = 0; i < TALK_CALLERS; i++)
        if (places[i].kind == CALLER_MOM && places[i].who == who)
            caller_close(&t->callers[i]);
}

static const struct {
    unsigned weight;
    void (*act)(struct talk *t);
} steps[] = {{50, step_call}, {20, step_submit}, {30, step_run},        {14, step_sched},
             {50, step_mom},  {3, step_wrong},   {4, step_leave},       {2, step_deaf},
             {7, step_time},  {1, step_restart}, {2, step_mom_restart}, {1, step_crash_in_batch},
             {6, step_steal}};

void talk_step(struct talk *t, uint64_t seed, unsigned step)
{
    size_t sum = 0, n, i;

    t->step = step;
    chance_begin(&t->chance, seed, step);
    for (i = 0; i < sizeof steps / sizeof steps[0]; i++)
        sum += steps[i].weight;
    n = chance_below(&t->chance, sum);
    for (i = 0; n >= steps[i].weight; i++)
        n -= steps[i].weight;
    steps[i].act(t);
    if (chance_one_in(&t->chance, 5)) { /* the next one comes before this one is answered */
        pump_all(t);
        return;
    }
    talk_settle(t);
    truth_check(t);
}

/* --- the end ---------------------------------------------------------------------------------------------- */

static void send_all_jobs(struct talk *t, unsigned proc)
{
    char nothing[] = "", extend[] = "xt";
    ifl_status_args a = {.ids = nothing, .extend = extend};
    struct byte_buf b;

    byte_buf_init(&b);
    if (rpc_buf_encode(&b, (xdrproc_t)xdr_ifl_status_args, &a) < 0)
        talk_fail("arguments cannot be encoded");
    caller_send(&t->callers[0], PBS_IFL_PROG, proc, &b)->counts = true;
    byte_buf_fini(&b);
}

static void delete_all(struct talk *t)
{
    char extend[] = "force";

    for (size_t i = 0; i < t->n_jobs; i++) {
        ifl_job_args a = {.job = t->jobs[i].id, .extend = extend};
        struct byte_buf b;

        byte_buf_init(&b);
        if (rpc_buf_encode(&b, (xdrproc_t)xdr_ifl_job_args, &a) < 0)
            talk_fail("arguments cannot be encoded");
        if (!caller_has_room(&t->callers[0]))
            talk_settle(t);
        caller_send(&t->callers[0], PBS_IFL_PROG, IFL_DELETE, &b);
        byte_buf_fini(&b);
    }
    talk_settle(t);
}

/* The server ends while it asks its threads: for what ended jobs were, and who a stranger is. */
static void leave_open(struct talk *t)
{
    static const struct house_peer stranger = {.uid = 4};
    char extend[] = "deletehist", *ids[LEFT_OPEN];
    ifl_delete_list_args a = {.jobs = {0, ids}, .extend = extend};
    struct byte_buf b;

    while (a.jobs.jobs_len < LEFT_OPEN && a.jobs.jobs_len < t->n_jobs) {
        ids[a.jobs.jobs_len] = t->jobs[a.jobs.jobs_len].id;
        a.jobs.jobs_len++;
    }
    sit_down(t, 0);
    caller_open(&t->callers[1], house_connect(&t->house, &stranger), CALLER_USER, 0);
    byte_buf_init(&b);
    if (rpc_buf_encode(&b, (xdrproc_t)xdr_ifl_delete_list_args, &a) < 0)
        talk_fail("arguments cannot be encoded");
    caller_send(&t->callers[0], PBS_IFL_PROG, IFL_DELETE_LIST, &b);
    caller_send(&t->callers[1], PBS_IFL_PROG, IFL_DELETE_LIST, &b);
    byte_buf_fini(&b);
    while (pump_all(t))
        house_turn(&t->house, 0);
    house_turn(&t->house, 0);
}

void talk_end(struct talk *t)
{
    talk_settle(t);
    leave_all(t);
    sit_down(t, 0);
    if (house_now_s(&t->house) - t->begun_s < WEEK_S) /* history is kept for two */
        send_all_jobs(t, IFL_STATUS_JOB);
    talk_settle(t);
    delete_all(t);
    truth_check(t);
    leave_all(t);
    talk_settle(t);
    truth_weigh(t);
    leave_open(t);
    house_end(&t->house);
    leave_all(t);
}
