/* An environment may have thousands of entries and a job thousands of tasks: merged by sorting, not by searching. */
#include "task_env.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not for the spawner to give: they are about this host, or how the task's own TM calls are believed. */
static const char *const bound[] = {
    "PBS_JOBID", "PBS_JOBCOOKIE", "PBS_MOMPORT",     "PBS_NODEFILE",       "PBS_TM_SOCKET",
    "TMPDIR",    "PBS_JOBDIR",    "PBS_ENVIRONMENT", "PBS_PREEMPT_NOTICE", "PBS_CHECKPOINT_DIR"};

struct task_env_entry {
    const char *text;
    size_t name;   /* length of its name */
    unsigned rank; /* the highest of one name stays */
};

enum { RANK_JOB = 0, RANK_GIVEN = 1, RANK_BOUND = 2 };

static int task_env_by_name_and_rank(const void *a, const void *b)
{
    const struct task_env_entry *x = a, *y = b;
    size_t n = x->name < y->name ? x->name : y->name;
    int c = memcmp(x->text, y->text, n);

    if (c == 0 && x->name != y->name)
        c = x->name < y->name ? -1 : 1;
    return c ? c : (int)x->rank - (int)y->rank;
}

static bool is_bound(const char *text, size_t name)
{
    for (size_t i = 0; i < sizeof bound / sizeof bound[0]; i++)
        if (strlen(bound[i]) == name && memcmp(bound[i], text, name) == 0)
            return true;
    return false;
}

static size_t task_env_collect(struct task_env_entry *out, char *const *env, unsigned n, unsigned rank)
{
    size_t kept = 0;

    for (unsigned i = 0; i < n; i++) {
        const char *eq = strchr(env[i], '=');
        size_t name = eq ? (size_t)(eq - env[i]) : 0;

        if (name)
            out[kept++] = (struct task_env_entry){
                env[i], name, rank == RANK_JOB && is_bound(env[i], name) ? RANK_BOUND : rank};
    }
    return kept;
}

int task_env_make(const struct task_env_facts *f, struct words *out, struct err *e)
{
    char node[32], task[32];
    char *own[] = {node, task};
    struct task_env_entry *all = calloc((size_t)f->n_job + f->n_given + 2, sizeof *all);
    size_t n;
    int rc = 0;

    if (!all)
        return err_set(e, ENOMEM, "no memory for the environment of a task");
    snprintf(node, sizeof node, "PBS_NODENUM=%u", f->node);
    snprintf(task, sizeof task, "PBS_TASKNUM=%u", f->task);
    n = task_env_collect(all, f->job, f->n_job, RANK_JOB);
    n += task_env_collect(all + n, f->given, f->n_given, RANK_GIVEN);
    n += task_env_collect(all + n, own, 2, RANK_BOUND + 1);
    qsort(all, n, sizeof *all, task_env_by_name_and_rank);
    for (size_t i = 0; i < n && rc == 0; i++) {
        bool later = i + 1 < n && all[i + 1].name == all[i].name &&
                     memcmp(all[i + 1].text, all[i].text, all[i].name) == 0;

        if (!later)
            rc = words_add(out, all[i].text, e);
    }
    free(all);
    return rc;
}

const char *task_env_find(char *const *env, unsigned n, const char *name)
{
    size_t len = strlen(name);

    for (unsigned i = 0; i < n; i++)
        if (strncmp(env[i], name, len) == 0 && env[i][len] == '=')
            return env[i] + len + 1;
    return NULL;
}
