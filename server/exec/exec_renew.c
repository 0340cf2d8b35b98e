/* See exec_renew.h. */
#include "exec_renew.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <exec.h>

#include "auth.h"
#include "ca.h"
#include "certs.h"
#include "file.h"
#include "log.h"
#include "pbs_error.h"
#include "rpc_request.h"

enum { DAYS = 365 };

static int renew(const char *certs, const char *service, const exec_certificate_args *a, char **pem,
                 size_t *n, struct err *e)
{
    int lock = certs_lock_now(certs, e);
    int rc = lock < 0
                 ? -1
                 : ca_sign(certs, a->request.request_val, a->request.request_len, service, DAYS, pem, n, e);

    if (lock >= 0)
        close(lock);
    log_event(LOGC_NODE, LOGE_SECURITY | LOGE_ADMIN, service,
              rc < 0 ? "its certificate was not renewed: %s" : "its certificate was renewed%s",
              rc < 0 ? e->text : "");
    return rc;
}

void exec_renew_serve(const char *certs, const char *service, struct rpc_request *r)
{
    const exec_certificate_args *a = rpc_request_args(r);
    char path[4352], *pem = NULL, *crl = NULL;
    size_t n_pem = 0, n_crl = 0;
    struct err e = {0};
    exec_certificate_result result = {.text = e.text};

    if (rpc_request_peer(r)->kind != AUTH_DAEMON)
        result.code =
            err_set(&e, PBSE_PERM, "who comes without a certificate has none to renew") ? PBSE_PERM : 0;
    else if (a->request.request_len && renew(certs, service, a, &pem, &n_pem, &e) < 0)
        result.code = PBSE_SYSTEM;
    snprintf(path, sizeof path, "%s/ca.crl", certs);
    if (file_read(AT_FDCWD, path, EXEC_CRL_MAX, &crl, &n_crl, NULL) == 0) {
        result.revoked.revoked_val = crl;
        result.revoked.revoked_len = (u_int)n_crl;
    }
    result.certificate.certificate_val = pem;
    result.certificate.certificate_len = (u_int)n_pem;
    rpc_reply(r, (xdrproc_t)xdr_exec_certificate_result, &result);
    free(pem);
    free(crl);
}
