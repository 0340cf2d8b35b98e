/* What servers of other complexes ask of jobs that went between us: where one is now (TRACK), and that one depends on
 * another (REGIST_DEP). Either may come again, since a server repeats what was not answered; both parts take that.
 * ARRIVE is with submission. */
#include <ifl.h>

#include "depend.h"
#include "handlers.h"
#include "req_common.h"
#include "track_request.h"

void req_track(void *parts, struct request *r)
{
    track_request_serve(((struct parts *)parts)->track_request, r);
}

void req_regist_dep(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_regist_dep_args *a = request_args(r);
    const struct depend_peer_job of = {a->job, a->from};
    struct err e;

    if (depends_told(p->alter.depends, &of, a->depend, a->doomed, &e) < 0)
        request_fail(r, &e);
    else
        req_ok_when_durable(p, r);
}
