/* For each operand: call the server in its name, or the default one. When that server does not know the job, ask the
 * default server once where it has gone, and call that server (which knows a moved job by its old name). If that does
 * not help, the first error is reported. The last error is the result of the command. */
#include "each_job.h"

#include <stdio.h>

#include "pbs_error.h"
#include "api_error.h"
#include "conn_pool.h"

struct each_job_walk {
    const struct cmd_args *a;
    struct conn_pool *s;
    each_job_call *act;
    void *context;
    bool not_found; /* the command has its own words for an unknown job */
};

/* Ask the default server where the job is, and call there. Nonzero: report the first error. */
static int try_elsewhere(const struct each_job_walk *w, const struct operand_job *job)
{
    int c = conn_pool_connect(w->s, ""), rc = -1;
    char *where = c < 0 ? NULL : pbs_locjob(c, job->shown, NULL);

    if (where && strcmp(where, job->server) != 0) {
        c = conn_pool_connect(w->s, where);
        rc = c < 0 ? -1 : w->act(c, job->shown, w->context); /* a bare number would be one of that server's */
    }
    free(where);
    return rc;
}

static int each_job_call_one(const struct each_job_walk *w, const char *operand)
{
    struct operand_job job;
    int c, code;
    char *text;

    if (operand_job(w->a, operand, &job) < 0)
        return 1;
    c = conn_pool_connect(w->s, job.server);
    if (c < 0)
        return pbs_errno;
    if (w->act(c, job.id, w->context) == 0)
        return 0;
    code = pbs_errno ? pbs_errno : PBSE_INTERNAL;
    text = pbs_geterrmsg(c) ? strdup(pbs_geterrmsg(c)) : NULL;
    if (code == PBSE_UNKJOBID && try_elsewhere(w, &job) == 0)
        code = 0;
    pbs_errno = code;
    if (code == PBSE_UNKJOBID && w->not_found) {
        fprintf(stderr, "Job %s not found\n", job.shown);
        code = 1;
    } else if (code) {
        api_error_report_text(w->a, text, job.shown);
        api_error_report_attribs(w->a, c, job.shown);
    }
    free(text);
    return code;
}

static int walk_all(struct each_job_walk *w, int n, char *operands[])
{
    int i, rc = 0;

    if (!w->s)
        return 1;
    for (i = 0; i < n; i++) {
        int code = each_job_call_one(w, operands[i]);

        rc = code ? code : rc;
    }
    conn_pool_destroy(w->s);
    return rc;
}

int each_job(const struct cmd_args *a, int n, char *operands[], each_job_call *act, void *context)
{
    return walk_all(&(struct each_job_walk){a, conn_pool_create(a), act, context, false}, n, operands);
}

int each_job_found(const struct cmd_args *a, int n, char *operands[], each_job_call *act, void *context)
{
    return walk_all(&(struct each_job_walk){a, conn_pool_create(a), act, context, true}, n, operands);
}
