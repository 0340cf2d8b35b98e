/* A host gets its certificate. See join_request.h.
 *
 * pbs_keys on the server's host has made the token and keeps its checksum (join_token.h); an administrator has
 * carried the token to the host, whose MOM or pbs_keys sends this request as a guest. The CA's directory is locked
 * meanwhile, since pbs_keys may write there; where that is at work, the host is told to try again (PBSE_TRYAGAIN).
 *
 * A host of users names no host and shows no token: it is sent the CA alone, which is public and which it compares with the
 * fingerprint that its administrator has given it.
 *
 * The token is used up before the certificate is made: of two hosts that show the same one, one gets it. If making it
 * fails after that, a new token is needed; the other order would give one token to two hosts. */
#include "join_request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <ifl.h>

#include "auth.h"
#include "ca.h"
#include "certs.h"
#include "file.h"
#include "join_token.h"
#include "log.h"
#include "pbs_error.h"
#include "rpc_request.h"

enum { AUTHORITY_MAX = IFL_PEM_MAX };

struct join_request_wait {
    char *certificate, *authority;
    size_t n_certificate, n_authority;
};

static int join_request_read_ca(const char *certs, struct join_request_wait *out, struct err *e)
{
    char path[4352];

    snprintf(path, sizeof path, "%s/ca.crt", certs);
    return file_read(AT_FDCWD, path, AUTHORITY_MAX, &out->authority, &out->n_authority, e);
}

static int join_request_make(const char *certs, const ifl_join_args *a, struct join_request_wait *out,
                             struct err *e)
{
    char role[AUTH_ROLE_MAX + 8];
    int lock = certs_lock_now(certs, e), rc = -1;

    if (lock < 0)
        return -1;
    snprintf(role, sizeof role, "mom:%.250s", a->host);
    if (join_token_use(certs, a->host, a->secret, e) == 0 && join_request_read_ca(certs, out, e) == 0)
        rc = ca_sign(certs, a->request.request_val, a->request.request_len, role, CA_SIGNED_DAYS,
                     &out->certificate, &out->n_certificate, e);
    close(lock);
    return rc;
}

void join_request_serve(const char *certs, struct rpc_request *rpc)
{
    const ifl_join_args *a = rpc_request_args(rpc);
    const char *from = rpc_request_peer(rpc)->from;
    struct join_request_wait j = {0};
    struct err e = {0};
    ifl_join_result result = {.text = e.text};

    if ((a->host[0] ? join_request_make(certs, a, &j, &e) : join_request_read_ca(certs, &j, &e)) < 0) {
        log_event(LOGC_NODE, LOGE_SECURITY | LOGE_ERROR, a->host, "may not join, from %s: %s", from, e.text);
        result.code = e.code == EACCES        ? PBSE_PERM
                      : e.code == EINVAL      ? PBSE_IVALREQ
                      : e.code == EWOULDBLOCK ? PBSE_TRYAGAIN
                                              : PBSE_SYSTEM;
        if (result.code == PBSE_SYSTEM)
            err_set(&e, PBSE_SYSTEM, "the server cannot make a certificate; its log says why");
    } else {
        if (a->host[0])
            log_event(LOGC_NODE, LOGE_SECURITY | LOGE_ADMIN, a->host,
                      "has joined from %s: certificate of mom:%s", from, a->host);
        result.certificate.certificate_val = j.certificate;
        result.certificate.certificate_len = (u_int)j.n_certificate;
        result.authority.authority_val = j.authority;
        result.authority.authority_len = (u_int)j.n_authority;
    }
    rpc_reply(rpc, (xdrproc_t)xdr_ifl_join_result, &result);
    free(j.certificate);
    free(j.authority);
}
