/* Shutting down. The request is answered before anything ends, since the client's connection goes with the server; what
 * each manner means for jobs, and what an order to the other server of a pair does, is shutdown.c's. */
#include "handlers.h"

#include <ifl.h>

#include "log.h"
#include "pbs_error.h"
#include "req_common.h"
#include "shutdown.h"

void req_shutdown(void *parts, struct request *r)
{
    static const char *const names[] = {"Immediate", "Delayed", "Quick"};
    struct parts *p = parts;
    const ifl_shutdown_args *a = request_args(r);
    int manner = a->manner & 0x0f;

    if (manner != SHUT_IMMEDIATE && manner != SHUT_DELAY && manner != SHUT_QUICK) {
        request_failf(r, PBSE_IVALREQ, "manner of shutdown %d is unknown", a->manner);
        return;
    }
    if (shutdown_is_for_other(p, a->manner) && !p->of_pair) {
        request_failf(r, PBSE_IVALREQ,
                      "there is no secondary server: PBS_PRIMARY and PBS_SECONDARY are not set for this one");
        return;
    }
    log_event(LOGC_SVR, LOGE_SYSTEM, p->ctx->name, "Shutdown request from %s ", request_who(r));
    if (shutdown_is_for_other(p, a->manner)) {
        shutdown_begin(p->shutdown, a->manner);
        request_ok(r);
        return;
    }
    log_event(LOGC_SVR, LOGE_SYSTEM, p->ctx->name, "Starting to shutdown the server, type is %s",
              names[manner]);
    request_ok(r);
    shutdown_begin(p->shutdown, a->manner);
}
