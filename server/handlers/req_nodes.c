/* A running job gives vnodes back: those that are named, or all but what `keep_select` describes.
 *
 * A job whose hosts have not begun it yet cannot: the request is parked and begins again from the top when they have.
 * The answer says that the wish is durable; the hosts give up their parts after that (run/release_nodes.c). */
#include "handlers.h"

#include <string.h>

#include <ifl.h>

#include "pbs_error.h"
#include "req_common.h"
#include "req_history.h"
#include "release_nodes.h"

static const char KEEP[] = "keep_select=";

void req_release_nodes(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_job_text_args *a = request_args(r);
    struct release_nodes_ask ask = {.vnodes = a->text, .by = request_who(r)};
    struct err e;
    struct job *j = req_find_job(p, r, a->job, &e);

    if (strncmp(a->extend, KEEP, sizeof KEEP - 1) == 0)
        ask.keep = a->extend + sizeof KEEP - 1;
    if (!j)
        req_history_fail(p, r, a->job, &e);
    else if (ask.keep && *a->text)
        request_failf(r, PBSE_IVALREQ, "either vnodes to release are named, or what is kept");
    else if (req_wait_for_start(p, r, j, req_release_nodes))
        return;
    else if (release_nodes_release(p->release_nodes, j, &ask, &e) < 0)
        request_fail(r, &e);
    else
        req_ok_when_durable(p, r);
}
