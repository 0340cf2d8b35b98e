/* The conversation: the MOM asks the server on each new connection and each minute (EXEC_CERTIFICATE); the answer has the CA's list
 * of revoked certificates, and a new certificate where the request asked for one. A lost call is made again with the
 * next connection or minute. A server that does not know the call answers with an error, and nothing changes.
 *
 * The list is written to ca.crl in the directory of certificates and read back by revoked_look, which checks who has signed it: on
 * the server's own host the file is the server's, and changes without a call. A list that is refused leaves the earlier one in
 * force. When the list has changed, connections of sisters whose certificate is on it are closed.
 *
 * The key is never replaced: so a host that is killed between any two steps has a key and a certificate that fit. */
#include "cert_renew.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "certs.h"
#include "exec_service.h"
#include "file.h"
#include "mom_home.h"
#include "log.h"
#include "loop.h"
#include "mom.h"
#include "pbs_error.h"
#include "revoked.h"
#include "rpc_server.h"
#include "sisters.h"

/* LOOK_MS: a choice; the list on disk is read at this pace, and a new connection is noticed. The server is asked at each twelfth
 * look, once a minute, which is what cert_renew.h promises. */
enum { LOOK_MS = 5000, LOOKS_OF_MINUTE = 12, PATH_LEN_MAX = 4352 };

struct cert_renew {
    struct mom *m;
    struct ssl_ctx_st *out, *in;
    struct loop_timer *timer;
    const void
        *asked; /* the connection on which we asked last; only compared, since it may have been freed */
    unsigned lists, looks;
};

static void list_path(const struct cert_renew *c, char out[PATH_LEN_MAX])
{
    snprintf(out, PATH_LEN_MAX, "%s/ca.crl", c->m->home.certs);
}

/* Write it only when it differs: revoked_look reads the file when that has changed. */
static void cert_renew_take_list(struct cert_renew *c, const char *bytes, size_t n)
{
    char path[PATH_LEN_MAX], *old = NULL;
    size_t n_old = 0;
    struct err e = {0};

    list_path(c, path);
    if (n &&
        (file_read(AT_FDCWD, path, EXEC_CRL_MAX, &old, &n_old, NULL) < 0 || n_old != n ||
         memcmp(old, bytes, n)) &&
        file_write_atomic(AT_FDCWD, path, bytes, n, 0644, &e) < 0)
        log_err(LOGC_NODE, c->m->home.node, &e,
                "the list of revoked certificates (%zu bytes) cannot be written", n);
    free(old);
}

static void take_certificate(struct cert_renew *c, const exec_certificate_result *r)
{
    const struct home *h = &c->m->home;
    struct err e = {0};

    if (certs_take(h->certs, h->service, r->certificate.certificate_val, r->certificate.certificate_len, &e) <
            0 ||
        certs_reload(c->out, h->certs, h->service, &e) < 0 ||
        certs_reload(c->in, h->certs, h->service, &e) < 0)
        log_err(LOGC_NODE, h->node, &e, "the renewed certificate is refused");
    else
        log_event(LOGC_NODE, LOGE_ADMIN, h->node, "the certificate was renewed");
}

static void cert_renew_end_revoked(void *arg, struct rpc_conn *conn)
{
    const struct cert_renew *c = arg;
    const struct auth_peer *p = rpc_conn_peer(conn);
    struct err why;

    if (p->kind != AUTH_DAEMON || !revoked_has(revoked_of(c->in), p->serial))
        return;
    err_set(&why, PBSE_PERM, "the certificate of %s has been revoked", p->role);
    log_event(LOGC_NODE, LOGE_SECURITY | LOGE_ADMIN, p->role, "%s", why.text);
    rpc_conn_close(conn, &why);
}

static void obey_list(struct cert_renew *c)
{
    unsigned lists = revoked_look(revoked_of(c->in));
    struct err e = {0};

    revoked_look(revoked_of(c->out)); /* sis_fetch.c asks it */
    if (revoked_fault(revoked_of(c->in), &e))
        log_err(LOGC_NODE, c->m->home.node, &e, "the earlier list of revoked certificates stays in force");
    if (lists != c->lists)
        sisters_each_conn(c->m->sisters, cert_renew_end_revoked, c);
    c->lists = lists;
}

static void cert_renew_answered(void *arg, const struct rpc_outcome *o)
{
    struct cert_renew *c = arg;
    const exec_certificate_result *r = o->result;

    if (o->status != RPC_ST_OK)
        return; /* lost, or the server does not know this call */
    if (r->code)
        log_event(LOGC_NODE, LOGE_ERROR, c->m->home.node, "the certificate is not renewed: %s", r->text);
    else if (r->certificate.certificate_len)
        take_certificate(c, r);
    cert_renew_take_list(c, r->revoked.revoked_val, r->revoked.revoked_len);
    obey_list(c);
}

static void cert_renew_ask(struct cert_renew *c, struct rpc_conn *conn)
{
    const struct home *h = &c->m->home;
    char request[CERTS_REQUEST_MAX];
    size_t n = sizeof request;
    exec_certificate_args a = {.request = {0, request}};
    const struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, EXEC_CERTIFICATE},
                                       .xargs = (xdrproc_t)xdr_exec_certificate_args,
                                       .args = &a,
                                       .xres = (xdrproc_t)xdr_exec_certificate_result,
                                       .res_size = sizeof(exec_certificate_result)};
    struct err e = {0};

    if (certs_is_due(h->certs, h->service)) {
        if (certs_request(h->certs, h->service, request, &n, &e) == 0)
            a.request.request_len = (u_int)n;
        else
            log_err(LOGC_NODE, h->node, &e, "the certificate is not renewed");
    }
    if (rpc_conn_call(conn, &spec, cert_renew_answered, c, &e) < 0)
        log_err(LOGC_NODE, h->node, &e, "the server cannot be asked for revoked certificates");
}

static void cert_renew_check(void *arg)
{
    struct cert_renew *c = arg;
    struct rpc_conn *conn = c->m->service ? exec_service_conn(c->m->service) : NULL;

    if (conn && (conn != c->asked || c->looks % LOOKS_OF_MINUTE == 0))
        cert_renew_ask(c, conn);
    c->asked = conn;
    c->looks++;
    obey_list(c);
    loop_timer_set(c->timer, LOOK_MS);
}

struct cert_renew *cert_renew_create(struct mom *m, struct ssl_ctx_st *out, struct ssl_ctx_st *in,
                                     struct err *e)
{
    struct cert_renew *c = calloc(1, sizeof *c);

    if (c) {
        *c = (struct cert_renew){.m = m, .out = out, .in = in, .lists = revoked_look(revoked_of(in))};
        c->timer = loop_timer_create(m->loop, LOOP_REAL, cert_renew_check, c);
    }
    if (c && c->timer) {
        loop_timer_set(c->timer, LOOK_MS);
        return c;
    }
    free(c);
    err_no_memory(e);
    return NULL;
}

void cert_renew_destroy(struct cert_renew *c)
{
    if (!c)
        return;
    loop_timer_destroy(c->timer);
    free(c);
}
