/* Played MOMs. See talk_mom.h. */
#include "talk_mom.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "job_run.h"
#include "jobid.h"
#include "pbs_error.h"
#include "talk.h"

enum { LIES_ONE_IN = 6, REFUSES_ONE_IN = 16, AT_ONCE = 4 };

static struct mom *of(struct talk *t, const struct caller *c)
{
    return &t->moms[c->who % TALK_MOMS];
}

static void send_call(struct caller *c, unsigned proc, xdrproc_t codec, const void *args)
{
    struct byte_buf b;

    byte_buf_init(&b);
    if (rpc_buf_encode(&b, codec, args) < 0)
        talk_fail("arguments cannot be encoded");
    caller_send(c, PBS_EXEC_PROG, proc, &b);
    byte_buf_fini(&b);
}

static char *word(const char *s)
{
    return (char *)(uintptr_t)s;
}

static struct mom_run *find(struct mom *m, int64_t job, int index, unsigned run)
{
    for (unsigned i = 0; i < m->n_runs; i++)
        if (m->runs[i].job == job && m->runs[i].index == index && m->runs[i].run == run)
            return &m->runs[i];
    return NULL;
}

static void forget(struct mom *m, struct mom_run *r)
{
    if (r)
        *r = m->runs[--m->n_runs];
}

/* --- HELLO */

static exec_run_state state_of(const struct mom_run *r)
{
    static const exec_run_state states[] = {EXEC_RUN_PREPARING, EXEC_RUN_PREPARING, EXEC_RUN_RUNNING,
                                            EXEC_RUN_ENDING, EXEC_RUN_RELEASED};

    return states[r->phase];
}

void mom_hello(struct talk *t, struct caller *c)
{
    struct chance *x = &t->chance;
    struct mom *m = of(t, c);
    const char *names[] = {"n1", "n2"}, *services[] = {"mom:n1", "mom:n2"};
    wire_attr attrs[] = {{word("resources_available"), word("ncpus"), word("4")},
                         {word("resources_available"), word("mem"), word("1gb")},
                         {word("resources_available"), word(chance_one_in(x, 20) ? "nothing" : "host"),
                          word(names[c->who % TALK_MOMS])}};
    exec_node node = {.name = word(chance_one_in(x, 20) ? "n3" : names[c->who % TALK_MOMS]),
                      .attrs = {3, attrs}};
    exec_held_run held[MOM_RUNS];
    exec_hello_args a = {.protocol = chance_one_in(x, 40) ? 9 : EXEC_VERSION,
                         .kind = EXEC_SERVICE_MOM,
                         .service = word(chance_one_in(x, 25) ? "mom:n9" : services[c->who % TALK_MOMS]),
                         .generation = m->generation,
                         .host = word("here"),
                         .address = word(":15002"),
                         .boot = word("boot"),
                         .instance = word(""),
                         .store = m->store,
                         .epoch = chance_one_in(x, 40) ? m->epoch + 5 : m->epoch,
                         .capabilities = EXEC_CAN_VIRTUAL | EXEC_CAN_FREEZE | EXEC_CAN_CHECKPOINT |
                                         EXEC_CAN_RELEASE | EXEC_CAN_NOTICE | EXEC_CAN_PEEK |
                                         EXEC_CAN_WITHDRAW,
                         .nodes = {1, &node},
                         .pbs_version = word("talk")};

    if (chance_one_in(x, LIES_ONE_IN) && m->n_runs)
        forget(m, &m->runs[chance_below(x, m->n_runs)]); /* it has lost one */
    for (unsigned i = 0; i < m->n_runs; i++)
        held[i] = (exec_held_run){.job = {m->runs[i].job, m->runs[i].index},
                                  .run = m->runs[i].run,
                                  .store = m->store,
                                  .state = state_of(&m->runs[i]),
                                  .last_seq = m->runs[i].said};
    a.runs.runs_len = m->n_runs;
    a.runs.runs_val = held;
    c->rude = true; /* another connection of this MOM is pushed out, or this one is by another */
    for (int i = 0; i < TALK_CALLERS; i++)
        if (t->callers[i].fd >= 0 && t->callers[i].kind == CALLER_MOM)
            t->callers[i].rude = true;
    send_call(c, EXEC_HELLO, (xdrproc_t)xdr_exec_hello_args, &a);
    talk_say(t, "mom %d: HELLO with %u runs", c->who, m->n_runs);
}

void mom_answered(struct talk *t, struct caller *c, const char *bytes, unsigned n)
{
    struct mom *m = of(t, c);
    exec_hello_result r;

    memset(&r, 0, sizeof r);
    if (rpc_buf_decode(bytes, n, (xdrproc_t)xdr_exec_hello_result, &r) < 0)
        talk_fail("the answer to HELLO cannot be decoded");
    talk_say(t, "mom %d: verdict %d %s", c->who, r.verdict, r.reason);
    if (r.verdict == EXEC_ACCEPTED) {
        snprintf(m->store, sizeof m->store, "%s", r.store);
        m->epoch = r.epoch;
        for (u_int i = 0; i < r.runs.runs_len; i++)
            if (r.runs.runs_val[i].decision == EXEC_FORGET)
                forget(m, find(m, r.runs.runs_val[i].job.seq, r.runs.runs_val[i].job.index,
                               r.runs.runs_val[i].run));
    }
    m->accepted = r.verdict == EXEC_ACCEPTED;
    xdr_free((xdrproc_t)xdr_exec_hello_result, (char *)&r);
}

/* --- events */

static void next_event(struct mom_run *r, exec_event *ev, const char *node)
{
    static char *released[1];

    switch (r->phase) {
    case 0:
        ev->data.kind = EXEC_EVENT_READY;
        break;
    case 1:
        ev->data.kind = EXEC_EVENT_START;
        ev->data.exec_event_data_u.start =
            (exec_start_data){.session = 4711, .host = word("here"), .jobdir = word("/nowhere")};
        break;
    case 2:
        ev->data.kind = EXEC_EVENT_FINISH;
        ev->data.exec_event_data_u.finish.text = word("");
        break;
    default:
        released[0] = word(node);
        ev->data.kind = EXEC_EVENT_RELEASE;
        ev->data.exec_event_data_u.release =
            (exec_release_data){.nodes = {1, released}, .final = true, .note = word("")};
        break;
    }
    r->phase += r->phase < 4;
}

static void outcome_event(struct talk *t, struct mom_run *r, exec_event *ev)
{
    ev->data.kind = (exec_event_kind)r->outcome;
    if (chance_one_in(&t->chance, 4)) {
        ev->data.kind = EXEC_EVENT_FAILED;
        ev->data.exec_event_data_u.failed = (exec_failed_data){
            .attempt = r->attempt, .method = word("talk"), .code = PBSE_SYSTEM, .text = word("talk")};
    } else if (r->outcome == EXEC_EVENT_CHECKPOINTED) {
        ev->data.exec_event_data_u.checkpointed =
            (exec_checkpointed_data){.attempt = r->attempt, .id = word("image"), .bytes = 4096};
    } else if (r->outcome == EXEC_EVENT_NOTICE_REPLY) {
        ev->data.exec_event_data_u.notice =
            (exec_notice_data){.attempt = r->attempt,
                               .answer = (exec_notice_answer)(1 + chance_below(&t->chance, 6)),
                               .need_s = (unsigned)chance_below(&t->chance, 100),
                               .nodes = word(chance_one_in(&t->chance, 2) ? "n1" : "n2+n9")};
    } else {
        ev->data.exec_event_data_u.suspended.attempt = r->attempt;
    }
    r->outcome = 0;
}

/* Something that may be true of another run, of another time, of nothing at all. */
static void lie(struct talk *t, exec_event *ev, char *lied[3])
{
    struct chance *x = &t->chance;

    switch (chance_below(x, 8)) {
    case 0:
        ev->seq += chance_below(x, 3);
        break;
    case 1:
        ev->seq = chance_next(x);
        break;
    case 2:
        ev->run += (unsigned)chance_below(x, 3);
        break;
    case 3:
        ev->job.seq = (int64_t)chance_below(x, t->n_jobs + 3);
        break;
    case 4:
        ev->job.index = (int)chance_below(x, 4);
        break;
    case 5:
        memset(&ev->data, 0, sizeof ev->data);
        ev->data.kind = EXEC_EVENT_RELEASE;
        ev->data.exec_event_data_u.release = (exec_release_data){.nodes = {(u_int)chance_below(x, 4), lied},
                                                                 .final = chance_one_in(x, 2),
                                                                 .attention = chance_one_in(x, 4),
                                                                 .note = word("by hand")};
        break;
    case 6:
        memset(&ev->data, 0, sizeof ev->data);
        ev->data.kind = EXEC_EVENT_EXCEPTION;
        ev->data.exec_event_data_u.exception =
            (exec_exception_data){.severity = (unsigned)chance_below(x, 2),
                                  .type = word(chance_one_in(x, 2) ? "image" : "setup"),
                                  .note = word("by hand")};
        break;
    default:
        memset(&ev->data, 0, sizeof ev->data);
        ev->data.kind = EXEC_EVENT_FINISH;
        ev->data.exec_event_data_u.finish = (exec_finish_data){.status = (int)chance_below(x, 600) - 30,
                                                               .reason = (exec_reason)chance_below(x, 16),
                                                               .text = word("by hand")};
        break;
    }
}

void mom_events(struct talk *t, struct caller *c)
{
    struct chance *x = &t->chance;
    struct mom *m = of(t, c);
    char *lied[] = {word("n1"), word("n2"), word("n9")};
    exec_event events[AT_ONCE];
    exec_events_args a = {.events = {0, events}};
    size_t n = 1 + chance_below(x, AT_ONCE);

    memset(events, 0, sizeof events);
    for (size_t i = 0; i < n && m->n_runs; i++) {
        struct mom_run *r = &m->runs[chance_below(x, m->n_runs)];
        exec_event *ev = &events[a.events.events_len];

        if ((r->phase == 4 && !chance_one_in(x, 8)) || (r->phase == 2 && !r->outcome && !chance_one_in(x, 5)))
            continue; /* all is said, or it runs on */
        a.events.events_len++;
        *ev = (exec_event){.job = {r->job, r->index}, .run = r->run, .seq = r->said + 1};
        if (chance_one_in(x, LIES_ONE_IN)) {
            next_event(&(struct mom_run){.phase = (int)chance_below(x, 4)}, ev, "n1");
            lie(t, ev, lied);
        } else {
            if (r->outcome && !chance_one_in(x, 6))
                outcome_event(t, r, ev);
            else
                next_event(r, ev, c->who ? "n2" : "n1");
            r->said++;
        }
        talk_say(t, "mom %d: event %d of %lld[%d] run %u, number %llu", c->who, ev->data.kind,
                 (long long)ev->job.seq, ev->job.index, ev->run, (unsigned long long)ev->seq);
    }
    send_call(c, EXEC_EVENTS, (xdrproc_t)xdr_exec_events_args, &a);
}

/* --- the rest */

static void say_usage(struct talk *t, struct caller *c)
{
    struct mom *m = of(t, c);
    exec_run_usage runs[MOM_RUNS];
    exec_usage_args a = {.runs = {m->n_runs, runs}};

    memset(runs, 0, sizeof runs);
    for (unsigned i = 0; i < m->n_runs; i++)
        runs[i] = (exec_run_usage){.job = {m->runs[i].job, m->runs[i].index},
                                   .run = m->runs[i].run,
                                   .usage = {.cput_ms = chance_next(&t->chance),
                                             .walltime_ms = chance_below(&t->chance, 100000),
                                             .mem_kb = chance_next(&t->chance)}};
    send_call(c, EXEC_USAGE, (xdrproc_t)xdr_exec_usage_args, &a);
}

static void say_states(struct talk *t, struct caller *c)
{
    static const char *const states[] = {"free", "down", "busy", "", "free,down"};
    wire_attr attrs[] = {{word("state"), word(""), word(CHANCE_PICK(&t->chance, states))},
                         {word("resources_available"), word("ncpus"), word("4")}};
    exec_node node = {.name = word(chance_one_in(&t->chance, 2) ? "n1" : "n2"),
                      .attrs = {1 + (u_int)chance_below(&t->chance, 2), attrs}};
    exec_node_state_args a = {
        .nodes = {(u_int)chance_below(&t->chance, 2), &node}, .load_percent = 50, .note = word("")};

    send_call(c, EXEC_NODE_STATE, (xdrproc_t)xdr_exec_node_state_args, &a);
}

static bool is_on(const struct job *j, const char *service)
{
    for (size_t i = 0; j->run && i < j->run->n_hosts; i++)
        if (strcmp(j->run->hosts[i].service, service) == 0)
            return true;
    return false;
}

void mom_steal(struct talk *t, struct caller *c, const char *id)
{
    struct jobid parsed;
    struct err e;
    const struct job *j =
        jobid_parse(id, &parsed, &e) == 0 ? jobs_find(t->house.server->ctx.jobs, parsed.key) : NULL;
    exec_script_args a;

    if (!j || j->array || is_on(j, talk_name(c)))
        return;
    a = (exec_script_args){.job = {j->key.seq, j->key.index},
                           .run = j->run ? j->run->version : j->run_version};
    send_call(c, EXEC_GET_SCRIPT, (xdrproc_t)xdr_exec_script_args, &a);
    c->calls[c->n_calls - 1].foreign = true;
    talk_say(t, "mom %d: asks for the script of %s", c->who, id);
}

static void say_hook(struct talk *t, struct caller *c)
{
    static const char *const attrs[] = {"state",  "comment", "Mom", "resources_available",
                                        "nosuch", "sharing"};
    exec_hook_change change = {.object = word(chance_one_in(&t->chance, 4) ? "job" : "vnode"),
                               .name = word(chance_one_in(&t->chance, 3) ? "made" : talk_name(c)),
                               .attr = word(attrs[chance_below(&t->chance, 6)]),
                               .resource = word(chance_one_in(&t->chance, 2) ? "ncpus" : ""),
                               .is_set = !chance_one_in(&t->chance, 4),
                               .value = word(chance_one_in(&t->chance, 2) ? "3" : "offline")};
    exec_hook_data d = {.hook = word("h"),
                        .event = word("exechost_periodic"),
                        .user = word(chance_one_in(&t->chance, 3) ? "anna" : ""),
                        .wishes = (u_int)chance_below(&t->chance, 64),
                        .changes = {1, &change}};

    send_call(c, EXEC_HOOK_SAYS, (xdrproc_t)xdr_exec_hook_data, &d);
}

static void ask_as_hook(struct talk *t, struct caller *c)
{
    static const char *const queries[] = {"{\"kind\":\"job\",\"limit\":5}",
                                          "{\"kind\":\"vnode\",\"name\":\"n1\"}",
                                          "{\"kind\":\"server\"}",
                                          "{\"kind\":7,\"after\":\"x\"}",
                                          "[",
                                          "{}"};
    const char *q = queries[chance_below(&t->chance, 6)];

    send_call(c, EXEC_HOOK_QUERY, (xdrproc_t)xdr_exec_hook_query_args,
              &(exec_hook_query_args){.query = {(u_int)strlen(q), word(q)}});
}

void mom_other(struct talk *t, struct caller *c)
{
    struct mom *m = of(t, c);
    struct mom_run *r = m->n_runs ? &m->runs[chance_below(&t->chance, m->n_runs)] : NULL;
    exec_hook_piece_args piece = {.file = word(chance_one_in(&t->chance, 2) ? "resourcedef" : "h.PY"),
                                  .offset = chance_next(&t->chance)};
    exec_bye_args bye = {.reason = word("talk"), .back = chance_one_in(&t->chance, 2)};
    exec_script_args script = {.job = {r ? r->job : 1, r ? r->index : -1},
                               .run = r ? r->run : 1,
                               .offset = chance_one_in(&t->chance, 3) ? chance_next(&t->chance) : 0};

    switch (chance_below(&t->chance, 11)) {
    case 8:
        send_call(c, EXEC_GET_HOOK, (xdrproc_t)xdr_exec_hook_piece_args, &piece);
        break;
    case 9:
        say_hook(t, c);
        break;
    case 10:
        ask_as_hook(t, c);
        break;
    case 0:
        send_call(c, EXEC_BYE, (xdrproc_t)xdr_exec_bye_args, &bye);
        break;
    case 1:
    case 2:
        send_call(c, EXEC_GET_SCRIPT, (xdrproc_t)xdr_exec_script_args, &script);
        break;
    case 3:
    case 4:
        say_states(t, c);
        break;
    default:
        say_usage(t, c);
        break;
    }
}

/* --- orders */

static void take_start(struct mom *m, const char *bytes, size_t n)
{
    exec_start_args a;

    memset(&a, 0, sizeof a);
    if (rpc_buf_decode(bytes, n, (xdrproc_t)xdr_exec_start_args, &a) < 0)
        talk_fail("START cannot be decoded");
    if (m->n_runs < MOM_RUNS && !find(m, a.job.seq, a.job.index, a.run))
        m->runs[m->n_runs++] = (struct mom_run){.job = a.job.seq, .index = a.job.index, .run = a.run};
    xdr_free((xdrproc_t)xdr_exec_start_args, (char *)&a);
}

/* Job and run are the first of every order but STOP. */
static struct mom_run *run_of(struct mom *m, const char *bytes, size_t n)
{
    if (n < 16)
        return NULL;
    return find(m, (int64_t)((uint64_t)rpc_buf_get_u32(bytes) << 32 | rpc_buf_get_u32(bytes + 4)),
                (int)rpc_buf_get_u32(bytes + 8), rpc_buf_get_u32(bytes + 12));
}

/* Behind the run come epoch and store, and then the attempt. */
static unsigned attempt_of(const char *bytes, size_t n)
{
    size_t at = n >= 28 ? 28 + (rpc_buf_get_u32(bytes + 24) + 3) / 4 * 4 : n;

    return at + 4 <= n ? rpc_buf_get_u32(bytes + at) : 0;
}

static void take_order(struct mom *m, const struct rpc_call_hdr *h)
{
    static const int outcomes[] = {[EXEC_SUSPEND] = EXEC_EVENT_SUSPENDED,
                                   [EXEC_RESUME] = EXEC_EVENT_RESUMED,
                                   [EXEC_WITHDRAW] = EXEC_EVENT_RESUMED,
                                   [EXEC_CHECKPOINT] = EXEC_EVENT_CHECKPOINTED,
                                   [EXEC_NOTICE] = EXEC_EVENT_NOTICE_REPLY};
    struct mom_run *r = h->id.proc == EXEC_STOP ? NULL : run_of(m, h->args, h->n_args);

    if (h->id.proc == EXEC_START) {
        take_start(m, h->args, h->n_args);
    } else if (r && h->id.proc == EXEC_PURGE) {
        forget(m, r);
    } else if (r && h->id.proc == EXEC_TERMINATE) {
        r->phase = r->phase < 2 ? 2 : r->phase;
    } else if (r && h->id.proc < sizeof outcomes / sizeof outcomes[0] && outcomes[h->id.proc]) {
        r->outcome = outcomes[h->id.proc];
        r->attempt = attempt_of(h->args, h->n_args);
    }
}

/* Mostly a piece of output, else a torn one. */
static void put_peeked(struct talk *t, exec_taken *taken, char *room, u_int size)
{
    char bytes[] = "written";
    exec_peeked p = {.offset = 3, .size = 10, .bytes = {sizeof bytes - 1, bytes}};
    XDR x;

    xdrmem_create(&x, room, size, XDR_ENCODE);
    xdr_exec_peeked(&x, &p);
    taken->ext.wire_ext_val = room;
    taken->ext.wire_ext_len = xdr_getpos(&x) - (chance_one_in(&t->chance, 5) ? 4 : 0);
    xdr_destroy(&x);
}

void mom_called(struct talk *t, struct caller *c, const struct rpc_call_hdr *h)
{
    char text[] = "by hand", nothing[] = "";
    exec_taken taken = {.text = nothing};
    char peeked[64];

    if (h->id.prog != PBS_EXEC_PROG)
        talk_fail("the server calls program %x of a MOM", h->id.prog);
    if (h->id.proc == 0) {
        caller_answer(c, h->xid, (xdrproc_t)rpc_buf_xdr_none, NULL);
        return;
    }
    if (chance_one_in(&t->chance, REFUSES_ONE_IN)) {
        taken.code = PBSE_SYSTEM;
        taken.text = text;
    } else {
        take_order(of(t, c), h);
    }
    if (h->id.proc == EXEC_PEEK && !taken.code)
        put_peeked(t, &taken, peeked, sizeof peeked);
    talk_say(t, "mom %d: order %u, answered %d", c->who, h->id.proc, taken.code);
    caller_answer(c, h->xid, (xdrproc_t)xdr_exec_taken, &taken);
}
