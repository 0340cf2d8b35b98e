/* libauth_munge.so: a MUNGE credential for one TLS connection. See auth_munge.h.
 *
 * The payload is what that connection exports, which only its two ends know: a server that receives a credential
 * cannot present it to another server. munged may be slow, so the caller must be able to block. */
#include "auth_munge.h"

#include <errno.h>
#include <munge.h>
#include <stdlib.h>
#include <string.h>

/* A context that asks this munged; NULL: no memory, or a socket's name that MUNGE does not take. */
static munge_ctx_t context(const char *socket)
{
    munge_ctx_t ctx = munge_ctx_create();

    if (ctx && socket && *socket && munge_ctx_set(ctx, MUNGE_OPT_SOCKET, socket) != EMUNGE_SUCCESS) {
        munge_ctx_destroy(ctx);
        return NULL;
    }
    return ctx;
}

static int auth_munge_refused(munge_ctx_t ctx, munge_err_t code, const char *what, struct err *e)
{
    const char *text = ctx ? munge_ctx_strerror(ctx) : NULL;

    return err_set(e, EACCES, "MUNGE user-authentication on %s failed with `%s`%s", what,
                   text ? text : munge_strerror(code),
                   code == EMUNGE_CRED_EXPIRED || code == EMUNGE_CRED_REWOUND
                       ? ": the clocks of the two hosts are apart by more than its lifetime"
                       : "");
}

int auth_munge_make(const char *socket, const void *binding, size_t n, char **cred, struct err *e)
{
    munge_ctx_t ctx = context(socket);
    munge_err_t rc = ctx ? munge_encode(cred, ctx, binding, (int)n) : EMUNGE_NO_MEMORY;

    if (rc != EMUNGE_SUCCESS)
        auth_munge_refused(ctx, rc, "encode", e);
    munge_ctx_destroy(ctx);
    return rc == EMUNGE_SUCCESS ? 0 : -1;
}

int auth_munge_check(const char *socket, const char *cred, const void *binding, size_t n,
                     struct auth_munge_who *who, struct err *e)
{
    munge_ctx_t ctx = context(socket);
    void *payload = NULL;
    int len = 0;
    gid_t gid;
    munge_err_t code = ctx ? munge_decode(cred, ctx, &payload, &len, &who->uid, &gid) : EMUNGE_NO_MEMORY;
    int rc = 0;

    if (code != EMUNGE_SUCCESS)
        rc = auth_munge_refused(ctx, code, "decode", e);
    else if (len != (int)n || memcmp(payload, binding, n) != 0)
        rc = err_set(e, EACCES, "the MUNGE credential was made for another connection");
    else if (munge_ctx_get(ctx, MUNGE_OPT_ADDR4, &who->origin) != EMUNGE_SUCCESS)
        who->origin.s_addr = 0;
    free(payload);
    munge_ctx_destroy(ctx);
    return rc;
}
