/* Certificates while the server runs. See cert_watch.h.
 *
 * One timer. The list is looked at with a stat; whether a renewal is due, each hour. pbs_keys changes both from outside, under the lock
 * of the directory; where it holds the lock the renewal is tried at each look, and said once an hour. TLS refuses new connections of a
 * revoked certificate by itself (revoked.h); only those that are open are closed here. */
#include "cert_watch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "certs.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "revoked.h"
#include "rpc_server.h"

/* A revoked certificate works for no longer than this; one stat in five seconds costs nothing that could be measured. */
enum { LOOK_MS = 5000, LOOKS_OF_HOUR = 720 };

struct cert_watch {
    struct ssl_ctx_st *tls;
    struct rpc_server *server;
    const char *certs;
    struct loop_timer *timer;
    unsigned lists, looks;
    bool renews; /* the hour has come; it waits for the lock while another program is at work there */
};

static void cert_watch_end_revoked(void *arg, struct rpc_conn *c)
{
    const struct cert_watch *w = arg;
    const struct auth_peer *p = rpc_conn_peer(c);
    struct err why;

    if (p->kind != AUTH_DAEMON || !revoked_has(revoked_of(w->tls), p->serial))
        return;
    err_set(&why, PBSE_PERM, "the certificate of %s (serial %s) has been revoked", p->role, p->serial);
    log_event(LOGC_NODE, LOGE_SECURITY | LOGE_ADMIN, p->role, "%s: the connection from %s is closed",
              why.text, p->from);
    rpc_conn_close(c, &why);
}

/* false: another program is at work on the CA, which the loop does not wait for. */
static bool cert_watch_renew(struct cert_watch *w)
{
    struct err e = {0};

    if (!certs_is_due(w->certs, "server"))
        return true;
    if (certs_ensure_now(w->certs, "server", &e) < 0 && e.code == EWOULDBLOCK) {
        if (w->looks % LOOKS_OF_HOUR == 0)
            log_err(LOGC_SVR, "certs", &e, "the server's certificate is not renewed yet");
        return false;
    }
    if (e.code || certs_reload(w->tls, w->certs, "server", &e) < 0)
        log_err(LOGC_SVR, "certs", &e, "the server's certificate cannot be renewed");
    else
        log_event(LOGC_SVR, LOGE_ADMIN, "certs", "the server's certificate was renewed");
    return true;
}

static void cert_watch_look(void *arg)
{
    struct cert_watch *w = arg;
    unsigned lists = revoked_look(revoked_of(w->tls));
    struct err e = {0};

    if (lists != w->lists)
        rpc_server_each(w->server, cert_watch_end_revoked, w);
    w->lists = lists;
    if (revoked_fault(revoked_of(w->tls), &e))
        log_err(LOGC_SVR, "certs", &e, "the earlier list of revoked certificates stays in force");
    w->renews |= ++w->looks % LOOKS_OF_HOUR == 0;
    if (w->renews)
        w->renews = !cert_watch_renew(w);
    loop_timer_set(w->timer, LOOK_MS);
}

struct cert_watch *cert_watch_create(struct loop *l, struct ssl_ctx_st *tls, struct rpc_server *server,
                                     const char *certs, struct err *e)
{
    struct cert_watch *w = calloc(1, sizeof *w);

    if (w) {
        *w = (struct cert_watch){
            .tls = tls, .server = server, .certs = certs, .lists = revoked_look(revoked_of(tls))};
        w->timer = loop_timer_create(l, LOOP_REAL, cert_watch_look, w);
    }
    if (w && w->timer) {
        loop_timer_set(w->timer, LOOK_MS);
        return w;
    }
    free(w);
    err_no_memory(e);
    return NULL;
}

void cert_watch_destroy(struct cert_watch *w)
{
    if (!w)
        return;
    loop_timer_destroy(w->timer);
    free(w);
}
