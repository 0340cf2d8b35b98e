/* pbs_release_nodes: a running job gives back hosts that it does not need any more. They are named, or all but the
 * first (-a), or all but those to keep (-k): one of the three is required. Inside a job the default job is the one in
 * the environment. */
#include <stdlib.h>

#include "each_job.h"
#include "strbuf.h"

enum { LIST_MAX = 1 << 20 };

struct release {
    struct cmd_args a;
    const char *job, *keep;
    bool all;
    struct strbuf vnodes, extend;
};

static const struct option_row rows[] = {
    CMD_FLAG('a', struct release, all, "all hosts but the first"),
    CMD_TEXT('j', struct release, job, "job_identifier", "the job; default $PBS_JOBID"),
    CMD_TEXT('k', struct release, keep, "select | number", "what is kept beside the first host"),
};

static int pbs_release_nodes_job_cb(int c, const char *id, void *settings)
{
    struct release *r = settings;

    return pbs_relnodesjob(c, id, r->vnodes.len ? strbuf_str(&r->vnodes) : NULL,
                           r->keep ? strbuf_str(&r->extend) : NULL);
}

/* Return 0, or the exit code of an unclear command line. */
static int pbs_release_nodes_check(const struct release *r, int n)
{
    if (!r->job || !*r->job) {
        cmd_error(&r->a, "No jobid given");
        return cmd_usage(&r->a);
    }
    if (r->all + (r->keep != NULL) + (n > 0) == 1)
        return 0;
    if (r->all + (r->keep != NULL) + (n > 0) > 1)
        cmd_error(&r->a, "-a, -k and vnodes exclude each other");
    return cmd_usage(&r->a);
}

static int pbs_release_nodes_run(void *settings, int n, char *operands[])
{
    struct release *r = settings;
    char *job[2] = {NULL, NULL};
    int rc;

    if (!r->job)
        r->job = getenv("PBS_JOBID");
    rc = pbs_release_nodes_check(r, n);
    if (rc)
        return rc;
    strbuf_init(&r->vnodes, LIST_MAX);
    strbuf_init(&r->extend, LIST_MAX);
    for (int i = 0; i < n; i++) {
        strbuf_add_sep(&r->vnodes, "+");
        strbuf_add(&r->vnodes, operands[i]);
    }
    if (r->keep)
        strbuf_addf(&r->extend, "keep_select=%s", r->keep);
    job[0] = (char *)(uintptr_t)r->job;
    rc = each_job(&r->a, 1, job, pbs_release_nodes_job_cb, r);
    strbuf_fini(&r->vnodes);
    strbuf_fini(&r->extend);
    return rc;
}

const struct cmd command = {
    .options = {.program = "pbs_release_nodes", .operands = "[vnode ...]", CMD_ROWS(rows)},
    .usage = "usage: pbs_release_nodes [-j job_identifier] vnode [vnode ...]\n"
             "       pbs_release_nodes [-j job_identifier] -a\n"
             "       pbs_release_nodes [-j job_identifier] -k select | number\n",
    .usage_exit = 2,
    .size = sizeof(struct release),
    .run = pbs_release_nodes_run,
};
