/* One request of a client. See request.h.
 *
 * A thin layer over the RPC request: the client, and the row that says how the answer is encoded. The
 * answer's shape differs by row, but each begins with an ifl_result, so refusals are made here for all of
 * them, and each is logged once, as PBS logs it (req_reject).
 *
 * dispatch.c holds the first reference, for the handler's call; each part that answers later holds one. A request
 * whose last reference goes without an answer is our mistake, and is answered as such: no client waits for ever. The
 * exception is one that was taken over (request_rpc), as streams of answers are. */
#include "request.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <ifl.h>

#include "errors.h"
#include "job.h"
#include "log.h"
#include "pbs_error.h"

/* Show at most this much of a refused value: it may be a megabyte, and the asker knows what it was. */
enum { SHOWN_MAX = 4096 };

struct request {
    unsigned refs;
    struct rpc_request *rpc;
    const struct request_row *row;
    struct client *client;
    void (*dead)(void *arg, struct request *r);
    void *dead_arg;
    bool handed; /* other code answers, maybe after this request is freed */
};

struct request *request_create(struct rpc_request *rpc, const struct request_row *row, struct client *c)
{
    struct request *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->refs = 1;
    r->rpc = rpc_request_ref(rpc);
    r->row = row;
    r->client = client_ref(c);
    client_count_request(c, 1);
    return r;
}

struct request *request_ref(struct request *r)
{
    r->refs++;
    return r;
}

void request_unref(struct request *r)
{
    if (!r || --r->refs)
        return;
    if (!rpc_request_is_answered(r->rpc) && !r->handed)
        request_failf(r, PBSE_INTERNAL, "PBS server internal error: request %s was dropped without an answer",
                      r->row->name);
    rpc_request_on_dead(r->rpc, NULL, NULL);
    rpc_request_unref(r->rpc);
    client_count_request(r->client, -1);
    client_unref(r->client);
    free(r);
}

void *request_args(struct request *r)
{
    return rpc_request_args(r->rpc);
}

const struct request_row *request_row(const struct request *r)
{
    return r->row;
}

struct client *request_client(const struct request *r)
{
    return r->client;
}

const char *request_who(const struct request *r)
{
    return client_who(r->client);
}

const char *request_user(const struct request *r)
{
    return client_user(r->client);
}

enum level request_level(const struct request *r)
{
    return client_level(r->client);
}

bool request_owns(const struct request *r, const struct job *j)
{
    if (strcmp(j->user, client_user(r->client)) != 0)
        return false;
    return !client_is_distant(r->client) || (j->owner && strcmp(j->owner, client_who(r->client)) == 0);
}

void request_reply(struct request *r, const void *result)
{
    rpc_reply(r->rpc, r->row->xresult, result);
}

struct rpc_request *request_rpc(struct request *r)
{
    r->handed = true;
    return r->rpc;
}

/* Every result struct begins with an ifl_result; the rest of a plain or failed answer is zero, but XDR wants strings
 * that are not NULL: those two kinds that have one beside the ifl_result get an empty one (empty_result). Add a member
 * for each new result struct of the table; the assertion finds one that is larger than all. */
union any_result {
    ifl_result plain;
    ifl_submit_result submit;
    ifl_text_result text;
    ifl_delete_list_result list;
    ifl_preempt_result preempt;
    ifl_watch_result watch;
    ifl_next_head next;
    ifl_script_result script;
    ifl_peek_result peek;
};

static void empty_result(const struct request *r, union any_result *u, char *nothing)
{
    assert(r->row->result_size <= sizeof *u); /* else the encoder would read behind it */
    memset(u, 0, sizeof *u);
    u->plain.text = nothing;
    if (r->row->xresult == (xdrproc_t)xdr_ifl_submit_result)
        u->submit.job = nothing;
    else if (r->row->xresult == (xdrproc_t)xdr_ifl_text_result)
        u->text.text = nothing;
}

static void reply_result(struct request *r, const ifl_result *head)
{
    union any_result u;
    char nothing[1] = "";

    empty_result(r, &u, nothing);
    u.plain = *head;
    rpc_reply(r->rpc, r->row->xresult, &u);
}

void request_ok(struct request *r)
{
    union any_result u;
    char nothing[1] = "";

    empty_result(r, &u, nothing);
    rpc_reply(r->rpc, r->row->xresult, &u);
}

void request_log_unauthorized(const struct request *r, const char *kind, const char *name)
{
    log_event(LOGC_REQ, LOGE_SECURITY, "",
              "Unauthorized Request, request type: %u, Object: %s, Name: %s, request from: %s", r->row->proc,
              kind, name, client_who(r->client));
}

static void log_reject(const struct request *r, const struct err *why)
{
    log_event(LOGC_REQ, LOGE_DEBUG, "req_reject", "Reject reply code=%d, aux=0, type=%u, from %s: %s",
              why->code, r->row->proc, client_who(r->client), why->text);
}

void request_fail(struct request *r, const struct err *why)
{
    struct err copy = *why;
    ifl_result head = {.code = copy.code ? copy.code : PBSE_INTERNAL, .text = copy.text};

    errors_complete(&copy);
    log_reject(r, &copy);
    reply_result(r, &head);
}

int request_failf(struct request *r, int code, const char *fmt, ...)
{
    struct err e;
    va_list ap;

    va_start(ap, fmt);
    err_vset(&e, code, fmt, ap);
    va_end(ap);
    request_fail(r, &e);
    return -1;
}

/* Return the copy that is shown, to be freed, or NULL: it is short enough, or there is no memory to cut it. */
static char *shorten(ifl_attr_error *x)
{
    char *shown = strlen(x->value) > SHOWN_MAX ? strndup(x->value, SHOWN_MAX) : NULL;

    if (shown)
        x->value = shown;
    return shown;
}

void request_fail_attrs(struct request *r, const struct err *why, ifl_attr_error *list, size_t n)
{
    struct err copy = *why;
    ifl_result head = {.code = copy.code, .text = copy.text, .errors = {(u_int)n, list}};
    char **shown = calloc(n ? n : 1, sizeof *shown);

    errors_complete(&copy);
    log_reject(r, &copy);
    for (size_t i = 0; shown && i < n; i++)
        shown[i] = shorten(&list[i]);
    if (!shown)
        head.errors.errors_len = 0;
    reply_result(r, &head);
    for (size_t i = 0; shown && i < n; i++)
        free(shown[i]);
    free(shown);
}

void request_fail_attr(struct request *r, const struct err *why, const char *name, const char *resource,
                       const char *value)
{
    struct err copy = *why;
    char nothing[1] = "";
    ifl_attr_error at = {.name = (char *)(name ? name : nothing),
                         .resource = (char *)(resource ? resource : nothing),
                         .value = (char *)(value ? value : nothing),
                         .code = copy.code,
                         .text = copy.text};

    request_fail_attrs(r, &copy, &at, 1);
}

static void request_rpc_died(void *arg, struct rpc_request *rpc)
{
    struct request *r = arg;

    if (r->dead)
        r->dead(r->dead_arg, r);
}

void request_on_dead(struct request *r, void (*dead)(void *arg, struct request *r), void *arg)
{
    r->dead = dead;
    r->dead_arg = arg;
    rpc_request_on_dead(r->rpc, dead ? request_rpc_died : NULL, dead ? r : NULL);
}
