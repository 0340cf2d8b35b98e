/* A MOM's certificate is renewed. See exec_renew.h.
 *
 * The MOM asks over the connection that its present certificate has opened, and gets another for the same name and the key in its
 * request; so a host can only have its own name signed. The list of what is revoked goes with every answer, also with one that
 * signs nothing: it is how hosts learn it. */
#include "exec_renew.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <exec.h>

#include "auth.h"
#include "ca.h"
#include "certs.h"
#include "clock.h"
#include "file.h"
#include "log.h"
#include "pbs_error.h"
#include "rpc_request.h"
#include "services.h"

/* AGAIN_MS, an hour, a choice: each certificate is a line of `issued`, which a host must not be able to
 * fill. */
enum { AGAIN_MS = 3600000 };

static int check_pace(const struct service *s, struct err *e)
{
    if (!s->renewed_real_ms || clock_real_mono_ms() - s->renewed_real_ms >= AGAIN_MS)
        return 0;
    return err_set(e, EAGAIN, "it was renewed less than %d minutes ago", AGAIN_MS / 60000);
}

/* pbs_keys revokes under the same lock: what it has taken back is in the list by the time we look. */
static int sign(const char *certs, const char *service, struct rpc_request *r, char **pem, size_t *n,
                struct err *e)
{
    const exec_certificate_args *a = rpc_request_args(r);
    int lock = certs_lock_now(certs, e), rc = -1;

    if (lock < 0)
        return -1;
    if (ca_check_serial(certs, rpc_request_peer(r)->serial, e) == 0)
        rc = ca_sign(certs, a->request.request_val, a->request.request_len, service, CA_SIGNED_DAYS, pem, n,
                     e);
    close(lock);
    return rc;
}

static int exec_renew(const char *certs, struct service *s, struct rpc_request *r, char **pem, size_t *n,
                      struct err *e)
{
    int rc = check_pace(s, e) < 0 ? -1 : sign(certs, s->name, r, pem, n, e);

    if (rc == 0)
        s->renewed_real_ms = clock_real_mono_ms();
    log_event(LOGC_NODE, LOGE_SECURITY | LOGE_ADMIN, s->name,
              rc < 0 ? "its certificate was not renewed: %s" : "its certificate was renewed%s",
              rc < 0 ? e->text : "");
    return rc;
}

void exec_renew_serve(const char *certs, struct service *s, struct rpc_request *r)
{
    const exec_certificate_args *a = rpc_request_args(r);
    char path[4352], *pem = NULL, *crl = NULL;
    size_t n_pem = 0, n_crl = 0;
    struct err e = {0};
    exec_certificate_result result = {.text = e.text};

    if (rpc_request_peer(r)->kind != AUTH_DAEMON) {
        err_set(&e, PBSE_PERM, "a connection without a certificate has none to renew");
        result.code = PBSE_PERM;
    } else if (a->request.request_len && exec_renew(certs, s, r, &pem, &n_pem, &e) < 0) {
        result.code = PBSE_SYSTEM;
    }
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
