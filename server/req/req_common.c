/* See req_common.h. */
#include "req_common.h"

#include <stdlib.h>
#include <string.h>

#include <ifl.h>

#include "commit.h"
#include "pbs_error.h"

struct job *req_find_any_job(struct parts *p, const char *id, struct err *e)
{
    struct jobid parsed;
    struct job *j;

    if (jobid_parse(id, &parsed, e) < 0)
        return NULL;
    if (parsed.form != JOBID_JOB) {
        err_set(e, PBSE_NOSUP,
                "No support for requested service: job arrays are not supported by this server yet: %s", id);
        return NULL;
    }
    j = site_is_named(p->site, parsed.server) ? jobs_find(p->site->jobs, parsed.key) : NULL;
    if (!j || j->state == JOB_ARRIVING)
        err_set(e, PBSE_UNKJOBID, "Unknown Job Id %s", id);
    return j && j->state != JOB_ARRIVING ? j : NULL;
}

struct job *req_find_job(struct parts *p, const struct request *r, const char *id, struct err *e)
{
    struct job *j = req_find_any_job(p, id, e);

    if (!j)
        return NULL;
    if (strcmp(j->user, request_user(r)) != 0 && req_level(r) < LEVEL_OPERATOR) {
        err_set(e, PBSE_PERM, "Unauthorized Request ");
        return NULL;
    }
    if (job_is_over(j)) {
        err_set(e, PBSE_HISTJOBID, "Job has finished");
        return NULL;
    }
    return j;
}

static void durable(void *arg)
{
    request_ok(arg);
    request_unref(arg);
}

void req_ok_when_durable(struct parts *p, struct request *r)
{
    commit_then(p->commit, durable, request_ref(r));
}

enum level req_level(const struct request *r)
{
    return client_sched(request_client(r)) ? LEVEL_SCHED : request_level(r);
}

struct edit_change *req_changes(const void *wire_attrops_list, size_t *n, bool unset)
{
    const wire_attrops *list = wire_attrops_list;
    struct edit_change *c = calloc(list->wire_attrops_len ? list->wire_attrops_len : 1, sizeof *c);

    for (u_int i = 0; c && i < list->wire_attrops_len; i++) {
        const wire_attrop *w = &list->wire_attrops_val[i];

        c[i] = (struct edit_change){w->name, w->resource, w->value, unset ? UNSET : (enum batch_op)w->op};
    }
    *n = list->wire_attrops_len;
    return c;
}
