/* A job's first host that is away. See req_away.h. */
#include "req_away.h"

#include <stdlib.h>

#include "commit.h"
#include "job_run.h"
#include "pbs_error.h"
#include "services.h"

static bool waits_for_host(const struct job *j)
{
    return j->run && (j->run->hosts[0].state == RUN_HOST_SENT || j->run->hosts[0].state == RUN_HOST_READY);
}

int req_away_check(const struct parts *p, const struct job *j, struct err *e)
{
    const char *host = waits_for_host(j) ? j->run->hosts[0].service : NULL;

    if (!host || service_is_connected(services_find(p->services, host)))
        return 0;
    return err_set(e, PBSE_NORELYMOM, "Server could not connect to MOM");
}

struct req_away_answer {
    struct request *request; /* referenced */
    struct err why;
};

static void req_away_durable(void *arg)
{
    struct req_away_answer *a = arg;

    request_fail(a->request, &a->why);
    request_unref(a->request);
    free(a);
}

void req_away_fail_when_durable(struct parts *p, struct request *r, const struct err *e)
{
    struct req_away_answer *a = malloc(sizeof *a);

    if (!a) {
        request_fail(r, e); /* a failure promises nothing: it may leave before the batch */
        return;
    }
    *a = (struct req_away_answer){request_ref(r), *e};
    commit_then(p->commit, req_away_durable, a);
}
