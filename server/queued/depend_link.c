/* Remote dependencies in step with other servers. See depend_link.h.
 *
 * A remote dependency is found by its number when an answer comes: it may have gone meanwhile. What changes in one turn is said together
 * after it, and what is said while the same is under way is said when that is acknowledged. */
#include "depend_link.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include <ifl.h>

#include "depend_remote.h"
#include "depend.h"
#include "intern.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "peer_server.h"
#include "rpc_conn.h"
#include "strbuf.h"
#include "depend_fact.h"

/* Choices. A server that is started again is back in seconds; one that is away for longer is asked once a minute. A TRACK waits five
 * minutes at the other server, so an unchanged job costs a message in that time. TRACKS_MAX bounds what one server keeps for another.
 * LIST_MAX: two lists of DEPEND_TEXT_MAX, its own and that of its home. */
enum {
    RETRY_FIRST_MS = 1000,
    RETRY_MAX_MS = 60000,
    TRACK_WAIT_S = 300,
    TRACKS_MAX = 4096,
    LIST_MAX = 8 << 20
};

/* The requests to one server. */
struct depend_link {
    struct depend_link *next;
    struct depend_links *all;
    const char *server; /* interned */
    struct peer_server *peer_server;
    struct rpc_conn *conn;           /* while it is ready */
    struct loop_timer *timer, *slow; /* slow: what cannot be done at the moment is tried again */
    int64_t retry_ms;
    bool dialled, failing;
    struct depend_remote *remotes;
    struct link_call *calls; /* calls under way */
    size_t n_asked;
};

struct depend_links {
    struct loop *loop;
    struct peer_servers *peer_servers;
    struct depend_remotes *depend_remotes;
    struct depends *depends;
    struct depend_link *links;
};

/* A call under way. */
struct link_call {
    struct link_call *prev, *next;
    struct depend_link *link;
    struct job_key key;
};

static void link_call_free(struct link_call *x)
{
    DL_DELETE(x->link->calls, x);
    free(x);
}

static void depend_link_later(struct depend_link *l, const struct err *why)
{
    log_event(LOGC_SVR, LOGE_DEBUG, l->server, "dependencies cannot be told there (%s); again in %lld s",
              why->text, (long long)l->retry_ms / 1000);
    l->failing = true;
    loop_timer_set(l->timer, l->retry_ms);
    l->retry_ms = l->retry_ms * 2 < RETRY_MAX_MS ? l->retry_ms * 2 : RETRY_MAX_MS;
}

/* Send all of it again. */
static void hang_up(struct depend_link *l)
{
    struct depend_remote *a;

    peer_server_hang_up(l->peer_server);
    while (l->calls)
        link_call_free(l->calls);
    l->conn = NULL;
    l->dialled = false;
    l->n_asked = 0;
    DL_FOREACH2(l->remotes, a, link_next)
    {
        a->saying = a->asked = false;
        a->unsaid = true;
    }
}

/* --- what is said, and asked ------------------------------------------------------------------------------ */

static void pump_one(struct depend_link *l, struct depend_remote *a);
static void pump(struct depend_link *l);

static bool is_done(const struct depend_remote *a)
{
    return !a->depend && !a->home && !a->doomed && !a->from_elsewhere && !a->unsaid && !a->saying;
}

/* Not the connection's fault alone: nothing of this link can be answered at the moment. */
static void give_way(struct depend_link *l, const char *text)
{
    struct err e;

    err_set(&e, PBSE_SYSTEM, "%s", text);
    hang_up(l);
    depend_link_later(l, &e);
}

static void unknown(struct depend_link *l, struct depend_remote *a)
{
    depends_unknown(l->all->depends, a); /* it may be gone */
    loop_timer_set(l->slow, RETRY_MAX_MS);
}

static void depend_link_on_said(void *arg, const struct rpc_outcome *o)
{
    struct link_call *x = arg;
    struct depend_link *l = x->link;
    struct depend_remote *a = depend_remotes_find(l->all->depend_remotes, x->key);
    const ifl_result *r = o->result;

    link_call_free(x);
    if (o->status == RPC_ST_LOST)
        return;
    if (a)
        a->saying = false;
    if (o->status != RPC_ST_OK)
        give_way(l, o->why->text);
    else if (r->code != 0 && r->code != PBSE_UNKJOBID)
        give_way(l, r->text);
    else if (a && is_done(a))
        depend_remotes_remove(l->all->depend_remotes, a);
    else if (a && r->code)
        unknown(l, a);
    else if (a)
        pump_one(l, a);
}

static void heard(struct depend_link *l, struct job_key key, unsigned facts)
{
    struct depend_remote *a = depend_remotes_find(l->all->depend_remotes, key);

    if (a)
        depends_heard(l->all->depends, a, facts);
    a = depend_remotes_find(l->all->depend_remotes, key);
    if (a)
        pump_one(l, a);
}

static void depend_link_on_heard(void *arg, const struct rpc_outcome *o)
{
    struct link_call *x = arg;
    struct depend_link *l = x->link;
    struct job_key key = x->key;
    struct depend_remote *a = depend_remotes_find(l->all->depend_remotes, key);
    const ifl_track_result *r = o->result;
    bool others_wait = l->n_asked >= TRACKS_MAX;

    link_call_free(x);
    if (o->status == RPC_ST_LOST)
        return;
    l->n_asked -= l->n_asked > 0;
    if (a) {
        a->asked = false;
        DL_DELETE2(l->remotes, a, link_prev, link_next); /* the others come first */
        DL_APPEND2(l->remotes, a, link_prev, link_next);
    }
    if (others_wait)
        pump(l);
    if (o->status != RPC_ST_OK)
        give_way(l, o->why->text);
    else if (r->result.code == 0)
        heard(l, key, r->facts);
    else if (r->result.code != PBSE_UNKJOBID)
        give_way(l, r->result.text);
    else if (a)
        unknown(l, a);
}

static void link_call_make(struct depend_remote *a, const struct rpc_call_spec *spec, rpc_outcome_fn *fn,
                           bool *flag)
{
    struct link_call *x = malloc(sizeof *x);
    struct err e;

    if (!x)
        return;
    *x = (struct link_call){.link = a->link, .key = a->key};
    DL_APPEND(a->link->calls, x);
    *flag = rpc_conn_call(a->link->conn, spec, fn, x, &e) == 0;
    if (*flag)
        return;
    link_call_free(x);
    log_event(LOGC_JOB, LOGE_DEBUG, a->name, "its dependencies cannot be told to %s at the moment: %s",
              a->server, e.text);
    loop_timer_set(a->link->slow, RETRY_FIRST_MS);
}

static char *text_or_nothing(const char *text)
{
    static char nothing[1];

    return text ? (char *)(uintptr_t)text : nothing;
}

static void depend_link_say(struct depend_remote *a)
{
    struct strbuf list;
    ifl_regist_dep_args args = {.job = text_or_nothing(a->as),
                                .from = text_or_nothing(a->name),
                                .doomed = text_or_nothing(a->doomed)};
    const struct rpc_call_spec spec = {.id = {PBS_IFL_PROG, PBS_IFL_V1, IFL_REGIST_DEP},
                                       .xargs = (xdrproc_t)xdr_ifl_regist_dep_args,
                                       .args = &args,
                                       .xres = (xdrproc_t)xdr_ifl_result,
                                       .res_size = sizeof(ifl_result)};

    strbuf_init(&list, LIST_MAX);
    if (depend_fact_list_join(a->depend, a->home, &list) == 0) {
        args.depend = text_or_nothing(strbuf_str(&list));
        link_call_make(a, &spec, depend_link_on_said, &a->saying);
        a->unsaid = !a->saying;
    }
    strbuf_fini(&list);
    log_event(LOGC_JOB, LOGE_DEBUG, a->name, "sending dependency request to remote server %s", a->server);
}

static void depend_link_ask(struct depend_remote *a)
{
    ifl_track_args args = {.job = text_or_nothing(a->as),
                           .from = text_or_nothing(a->name),
                           .known = a->known ? a->facts : 0,
                           .wait_s = a->known ? TRACK_WAIT_S : 0};
    const struct rpc_call_spec spec = {.id = {PBS_IFL_PROG, PBS_IFL_V1, IFL_TRACK},
                                       .xargs = (xdrproc_t)xdr_ifl_track_args,
                                       .args = &args,
                                       .xres = (xdrproc_t)xdr_ifl_track_result,
                                       .res_size = sizeof(ifl_track_result)};

    link_call_make(a, &spec, depend_link_on_heard, &a->asked);
    a->link->n_asked += a->asked;
}

static void pump_one(struct depend_link *l, struct depend_remote *a)
{
    if (l->conn && a->unsaid && !a->saying)
        depend_link_say(a);
    if (l->conn && !a->asked && l->n_asked < TRACKS_MAX)
        depend_link_ask(a);
}

static void pump(struct depend_link *l)
{
    struct depend_remote *a;

    DL_FOREACH2(l->remotes, a, link_next)
    pump_one(l, a);
}

/* --- links ------------------------------------------------------------------------------------------------ */

static void depend_link_on_ready(void *arg, struct rpc_conn *c)
{
    struct depend_link *l = arg;

    l->conn = c;
    l->failing = false;
    l->retry_ms = RETRY_FIRST_MS;
    pump(l);
}

static void depend_link_on_failed(void *arg, const struct err *why)
{
    struct depend_link *l = arg;

    hang_up(l);
    depend_link_later(l, why);
}

static const struct peer_server_events events = {.ready = depend_link_on_ready,
                                                 .failed = depend_link_on_failed};

static void line_free(struct depend_link *l)
{
    while (l->calls)
        link_call_free(l->calls);
    peer_server_destroy(l->peer_server);
    loop_timer_destroy(l->timer);
    loop_timer_destroy(l->slow);
    intern_unref(l->server);
    free(l);
}

/* No record is left: the connection is closed, in a later iteration. */
static void depend_link_due(void *arg)
{
    struct depend_link *l = arg;

    if (l->remotes && !l->dialled) {
        l->dialled = true;
        peer_server_dial(l->peer_server);
    } else if (!l->remotes) {
        LL_DELETE(l->all->links, l);
        line_free(l);
    } else {
        pump(l);
    }
}

static void depend_link_pump_again(void *arg)
{
    pump(arg);
}

static struct depend_link *link_of(struct depend_links *s, const char *server)
{
    struct depend_link *l;
    struct err e = {.text = "no memory"};

    LL_FOREACH(s->links, l)
    {
        if (strcmp(l->server, server) == 0)
            return l;
    }
    l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    *l = (struct depend_link){.all = s, .server = intern_ref(server), .retry_ms = RETRY_FIRST_MS};
    l->timer = loop_timer_create(s->loop, LOOP_REAL, depend_link_due, l);
    l->slow = loop_timer_create(s->loop, LOOP_REAL, depend_link_pump_again, l);
    l->peer_server = peer_server_create(s->peer_servers, server, &events, l, &e);
    if (!l->server || !l->timer || !l->slow || !l->peer_server) {
        log_event(LOGC_SVR, LOGE_ERROR, server, "dependencies of jobs cannot be told to that server: %s",
                  e.text);
        line_free(l);
        return NULL;
    }
    LL_PREPEND(s->links, l);
    return l;
}

static void depend_link_note(struct depend_links *s, struct depend_remote *a)
{
    if (!a->link) {
        a->link = link_of(s, a->server);
        if (!a->link)
            return;
        DL_PREPEND2(a->link->remotes, a, link_prev, link_next);
    }
    if (a->link->conn || !(a->link->dialled || a->link->failing))
        loop_timer_set(a->link->timer, 0);
}

void depend_links_on_changed(void *arg, const struct server_event *ev)
{
    depend_link_note(arg, ev->remote);
}

void depend_links_on_going(void *arg, const struct server_event *ev)
{
    struct depend_remote *a = ev->remote;
    struct depend_link *l = a->link;

    if (!l)
        return;
    DL_DELETE2(l->remotes, a, link_prev, link_next);
    a->link = NULL;
    if (!l->remotes)
        loop_timer_set(l->timer, 0);
}

struct depend_links *depend_links_create(struct loop *l, struct peer_servers *p, struct depend_remotes *a,
                                         struct depends *d)
{
    struct depend_links *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    *s = (struct depend_links){.loop = l, .peer_servers = p, .depend_remotes = a, .depends = d};
    return s;
}

void depend_links_destroy(struct depend_links *s)
{
    struct depend_link *l, *next;

    if (!s)
        return;
    LL_FOREACH_SAFE(s->links, l, next)
    line_free(l);
    free(s);
}

void depend_links_start(struct depend_links *s)
{
    for (struct depend_remote *a = depend_remotes_first(s->depend_remotes); a; a = depend_remotes_next(a))
        depend_link_note(s, a);
}
