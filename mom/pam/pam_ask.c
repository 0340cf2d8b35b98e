/* The shepherd knows by the kernel that root asks, and we know by the kernel that root listens. The connection is closed when the time
 * is over: a shepherd takes in no session of a login whose program has hung up. */
#include "pam_ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <tm.h>

#include "byte_buf.h"
#include "clock.h"
#include "rpc_buf.h"
#include "rpc_sync.h"
#include "strbuf.h"
#include "tm_.h"

enum { PATH_LEN_MAX = 8192 };

static int pam_ask_code(int code)
{
    switch (code) {
    case ECONNREFUSED:
    case ENOENT:
        return ENOENT;
    case ETIMEDOUT:
        return ETIMEDOUT;
    default:
        return ECONNRESET;
    }
}

static bool is_roots(struct rpc_sync *s)
{
    struct ucred who;
    socklen_t n = sizeof who;

    return getsockopt(rpc_sync_fd(s), SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && who.uid == 0;
}

static struct rpc_sync *pam_ask_dial(const struct pam_ask *a, int64_t limit_ms, struct err *e)
{
    struct rpc_sync *s = NULL;
    struct strbuf path;

    strbuf_init(&path, PATH_LEN_MAX);
    if (strbuf_addf(&path, "%s/%s.tm", a->aux, a->job) < 0)
        err_set(e, ENOMEM, "no memory for the name of a socket");
    else
        s = rpc_sync_connect_unix(path.s, limit_ms, e);
    strbuf_fini(&path);
    if (s && !is_roots(s)) {
        rpc_sync_destroy(s);
        err_set(e, EPERM, "what listens at its socket is not a shepherd of root");
        return NULL;
    }
    return s;
}

static int pam_ask_call(const struct pam_ask *a, struct rpc_sync *s, int64_t limit_ms, struct tmx_answer *out,
                        struct err *e)
{
    static const struct rpc_proc_id id = {PBS_TM_PROG, PBS_TM_V1, TMX_ASK};
    struct tmx_login login = {.uid = a->uid, .only_ask = !a->attach};
    struct tmx_ask ask = {.kind = TMX_ASK_ATTACH};
    struct byte_buf b;
    int rc = -1;

    byte_buf_init(&b);
    if (rpc_buf_encode(&b, (xdrproc_t)xdr_tmx_login, &login) < 0) {
        err_set(e, ENOMEM, "no memory for a question");
    } else {
        ask.tmx_ask_u.attach =
            (struct tmx_attach_args){.job = (char *)a->job,
                                     .pid = a->pid,
                                     .ext = {.wire_ext_len = (u_int)b.len, .wire_ext_val = b.bytes}};
        rc = rpc_sync_call(s, &id, (xdrproc_t)xdr_tmx_ask, &ask, (xdrproc_t)xdr_tmx_answer, out, limit_ms, e);
    }
    byte_buf_fini(&b);
    return rc;
}

int pam_ask(const struct pam_ask *a, int64_t limit_ms, struct err *e)
{
    int64_t until_mono_ms = clock_real_mono_ms() + limit_ms;
    struct tmx_answer answer = {0};
    struct rpc_sync *s = pam_ask_dial(a, limit_ms, e);
    int64_t left_ms = until_mono_ms - clock_real_mono_ms();
    int rc = 0;

    if (!s)
        return e->code == EPERM ? EPERM : pam_ask_code(e->code);
    if (pam_ask_call(a, s, left_ms > 0 ? left_ms : 0, &answer, e) < 0) {
        rc = e->code == ETIMEDOUT ? ETIMEDOUT : ECONNRESET;
    } else if (answer.code != TM_SUCCESS) {
        rc = EACCES;
        err_set(e, rc, "%s", answer.text && answer.text[0] ? answer.text : "it gives no reason");
    }
    xdr_free((xdrproc_t)xdr_tmx_answer, (char *)&answer);
    rpc_sync_destroy(s);
    return rc;
}
