/* The values of the job's environment that the MOM has computed have overridden what the owner gave; so they may be
 * taken from there by name. */
#include "site_env.h"

#include <limits.h>
#include <string.h>

#include <shep.h>

#include "run_tasks.h"
#include "strbuf.h"
#include "words.h"

enum { SIDS_MAX = 1 << 17 };

static const char *const ours[] = {"LOGNAME",     "USER",        "PBS_JOBNAME",   "PBS_JOBID",
                                   "PBS_QUEUE",   "SHELL",       "PBS_JOBCOOKIE", "PBS_NODENUM",
                                   "PBS_TASKNUM", "PBS_MOMPORT", "PBS_NODEFILE",  "PBS_JOBDIR"};

static void add(struct words *out, const char *name, const char *value)
{
    struct strbuf b;

    strbuf_init(&b, PATH_MAX);
    if (strbuf_addf(&b, "%s=%s", name, value) == 0)
        words_add(out, b.s, NULL);
    strbuf_fini(&b);
}

static void add_number(struct words *out, const char *name, long long n)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%lld", n);
    add(out, name, digits);
}

static void add_ours(const struct shep_order *o, struct words *out)
{
    for (u_int i = 0; i < o->env.env_len; i++)
        for (size_t k = 0; k < sizeof ours / sizeof ours[0]; k++) {
            size_t n = strlen(ours[k]);

            if (strncmp(o->env.env_val[i], ours[k], n) == 0 && o->env.env_val[i][n] == '=')
                words_add(out, o->env.env_val[i], NULL);
        }
}

void site_env_make(const struct shep_order *o, int session, struct words *out)
{
    struct strbuf dir;

    add(out, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    add(out, "HOME", "/");
    add_ours(o, out);
    add_number(out, "UID", o->uid);
    add_number(out, "GID", o->gid);
    add_number(out, "PBS_SID", session);
    add_number(out, "PBS_TASK_ROOT_PID", session);
    add_number(out, "PBS_TASK_UID", o->uid);
    add_number(out, "PBS_TASK_GID", o->gid);
    add(out, "PBS_TASK_HOME", o->home);
    if (!o->checkpoint_dir[0])
        return;
    strbuf_init(&dir, PATH_MAX);
    strbuf_addf(&dir, "%s/app", o->checkpoint_dir);
    add(out, "PBS_CHECKPOINT_DIR", strbuf_str(&dir));
    strbuf_fini(&dir);
}

void site_env_add_sessions(const char *path, struct words *out)
{
    struct run_tasks tasks;
    struct strbuf list;

    run_tasks_read(&tasks, path);
    strbuf_init(&list, SIDS_MAX);
    strbuf_add(&list, "PBS_SIDS=");
    for (size_t i = 0; i < tasks.sessions.n; i++)
        strbuf_addf(&list, "%s%d", i ? " " : "", (int)tasks.sessions.list[i]);
    if (strbuf_ok(&list))
        words_add(out, list.s, NULL);
    strbuf_fini(&list);
    run_tasks_fini(&tasks);
}
