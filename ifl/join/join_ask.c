/* One question to the server, by a host that has no certificate yet, or needs none. See join_ask.h.
 *
 *   token = FINGERPRINT-SECRET    connect by TLS, only to a server whose CA has that fingerprint
 *   IFL_JOIN host, secret, request  ->  certificate and CA, or a code with its text
 *   IFL_JOIN "", "", nothing        ->  the CA alone
 *
 * The secret is sent only after the server has shown the certificate that the token names: a wrong server learns nothing.
 * An answer that is lost costs the token, since the server has used it; the next try needs a new one. Checks and files
 * are rpc/tls/join_host.c's, and nothing is on the disk before they all hold. */
#include "join_ask.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <ifl.h>

#include "join_host.h"
#include "join_token.h"
#include "module_path.h"
#include "pbs_error.h"
#include "rpc_sync.h"
#include "rpc_transport.h"

/* A person waits at the terminal; the server answers in milliseconds unless its directory of users is slow. */
enum { LIMIT_MS = 30000 };

static int refuse(const ifl_join_result *r, struct err *e)
{
    bool later = r->code == PBSE_TRYAGAIN || r->code == PBSE_SYSTEM;

    return err_set(e, later ? EAGAIN : EACCES, "%s", r->text ? r->text : "");
}

/* Connect by TLS to the server that has a CA of this fingerprint, and ask it. The result is the caller's to free, also after -1. */
static int join_ask_server(const struct join_ask *a, const char *print, const ifl_join_args *args,
                           ifl_join_result *r, struct err *e)
{
    const struct rpc_proc_id id = {.prog = PBS_IFL_PROG, .vers = PBS_IFL_V1, .proc = IFL_JOIN};
    char module[PATH_MAX], expect[CA_FINGERPRINT + 16];
    const struct rpc_sync_tls tls = {
        .module = module, .certs = a->certs, .expect = expect, .prog = PBS_IFL_PROG, .vers = PBS_IFL_V1};
    struct rpc_sync *s;
    int rc = -1;

    snprintf(expect, sizeof expect, AUTH_TLS_PIN "%s:server", print);
    module_path(module, sizeof module, "libauth_tls.so");
    s = rpc_sync_connect_tcp(a->server, a->port, &tls, LIMIT_MS, e);
    if (s)
        rc = rpc_sync_call(s, &id, (xdrproc_t)xdr_ifl_join_args, args, (xdrproc_t)xdr_ifl_join_result, r,
                           LIMIT_MS, e);
    rpc_sync_destroy(s);
    return rc == 0 && r->code != 0 ? refuse(r, e) : rc;
}

int join_ask(const struct join_ask *a, struct err *e)
{
    char print[CA_FINGERPRINT + 1], request[IFL_REQUEST_MAX];
    size_t n = sizeof request;
    ifl_join_args args = {.host = (char *)a->host, .secret = (char *)a->token + CA_FINGERPRINT + 1};
    ifl_join_result r = {0};
    struct join_host *j;
    int rc;

    if (strlen(a->token) != JOIN_TOKEN || a->token[CA_FINGERPRINT] != '-')
        return err_set(e, EINVAL, "it is not a whole token: %d characters", JOIN_TOKEN);
    snprintf(print, sizeof print, "%.*s", CA_FINGERPRINT, a->token);
    j = join_host_begin(a->certs, a->host, print, request, &n, e);
    if (!j)
        return -1;
    args.request.request_val = request;
    args.request.request_len = (u_int)n;
    rc = join_ask_server(a, print, &args, &r, e);
    if (rc == 0)
        rc = join_host_finish(j, r.certificate.certificate_val, r.certificate.certificate_len,
                              r.authority.authority_val, r.authority.authority_len, e);
    xdr_free((xdrproc_t)xdr_ifl_join_result, (char *)&r);
    join_host_destroy(j);
    return rc;
}

int join_ask_authority(const struct join_ask *a, const char *print, struct err *e)
{
    ifl_join_args args = {.host = (char *)"", .secret = (char *)""};
    ifl_join_result r = {0};
    int rc;

    if (strlen(print) != CA_FINGERPRINT || strspn(print, "0123456789abcdefABCDEF") != CA_FINGERPRINT)
        return err_set(e, EINVAL, "it is not a whole fingerprint: %d hexadecimal digits", CA_FINGERPRINT);
    rc = join_ask_server(a, print, &args, &r, e);
    if (rc == 0)
        rc = join_host_trust(a->certs, print, r.authority.authority_val, r.authority.authority_len, e);
    xdr_free((xdrproc_t)xdr_ifl_join_result, (char *)&r);
    return rc;
}
