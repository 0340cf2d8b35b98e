/* In the order's environment the computed entries come last, from HOME on (mom/mom/start/job_env.h): only there is a name the MOM's.
 * An order that an older MOM has written may have them between the owner's; there the list of names is all that helps. */
#include "site_env.h"

#include <limits.h>
#include <string.h>

#include <shep.h>

#include "run_tasks.h"
#include "strbuf.h"
#include "words.h"

enum { SIDS_MAX = 1 << 17, SAID_MAX = 1 << 15 /* an owner's value: eleven of them fit any exec */ };

static const char *const computed[] = {"LOGNAME",
                                       "USER",
                                       "PBS_JOBNAME",
                                       "PBS_JOBID",
                                       "PBS_QUEUE",
                                       "PBS_JOBCOOKIE",
                                       "PBS_NODENUM",
                                       "PBS_TASKNUM",
                                       "PBS_MOMPORT",
                                       "PBS_NODEFILE",
                                       "PBS_TM_SOCKET",
                                       "PBS_PREEMPT_NOTICE",
                                       "PBS_PREEMPT_COUNT",
                                       "PBS_PREEMPTED",
                                       "PBS_PREEMPT_REASON",
                                       "PBS_ACCOUNT",
                                       "PBS_JOBDIR",
                                       "PBS_ENVIRONMENT",
                                       "PBS_ARRAY_INDEX",
                                       "PBS_ARRAY_ID",
                                       "OMP_NUM_THREADS",
                                       "NCPUS",
                                       "ENVIRONMENT"};
/* Names of the variables that qsub makes from its own environment. */
static const char *const said[] = {"PBS_O_HOME", "PBS_O_LANG",   "PBS_O_LOGNAME", "PBS_O_PATH",
                                   "PBS_O_MAIL", "PBS_O_SHELL",  "PBS_O_TZ",      "PBS_O_WORKDIR",
                                   "PBS_O_HOST", "PBS_O_SYSTEM", "PBS_O_QUEUE"};
/* Computed as well, but passed on by another name: programs of root would obey them. */
static const struct {
    const char *name, *as;
} renamed[] = {{"SHELL", "PBS_TASK_SHELL"}, {"TMPDIR", "PBS_TASK_TMPDIR"}};

static void site_env_add(struct words *out, const char *name, const char *value)
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
    site_env_add(out, name, digits);
}

/* The value, where the entry is of that name. */
static const char *site_env_value_of(const char *entry, const char *name)
{
    size_t n = strlen(name);

    return strncmp(entry, name, n) == 0 && entry[n] == '=' ? entry + n + 1 : NULL;
}

static void add_listed(const char *const *names, size_t n, const char *entry, struct words *out)
{
    for (size_t i = 0; i < n; i++)
        if (site_env_value_of(entry, names[i]))
            words_add(out, entry, NULL);
}

static u_int first_computed(const struct shep_order *o)
{
    u_int at = o->env.env_len;

    while (at > 0 && !site_env_value_of(o->env.env_val[at - 1], "HOME"))
        at--;
    return at;
}

static void add_from_order(const struct shep_order *o, struct words *out)
{
    u_int first = first_computed(o);

    for (u_int i = 0; i < first; i++)
        if (strlen(o->env.env_val[i]) < SAID_MAX)
            add_listed(said, sizeof said / sizeof said[0], o->env.env_val[i], out);
    for (u_int i = first; i < o->env.env_len; i++) {
        add_listed(computed, sizeof computed / sizeof computed[0], o->env.env_val[i], out);
        for (size_t k = 0; k < sizeof renamed / sizeof renamed[0]; k++)
            if (site_env_value_of(o->env.env_val[i], renamed[k].name))
                site_env_add(out, renamed[k].as, site_env_value_of(o->env.env_val[i], renamed[k].name));
    }
}

void site_env_make(const struct shep_order *o, int session, struct words *out)
{
    struct strbuf dir;

    site_env_add(out, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    site_env_add(out, "HOME", "/");
    site_env_add(out, "SHELL", "/bin/sh");
    add_from_order(o, out);
    add_number(out, "UID", o->uid);
    add_number(out, "GID", o->gid);
    if (session > 0) {
        add_number(out, "PBS_SID", session);
        add_number(out, "PBS_TASK_ROOT_PID", session);
    }
    add_number(out, "PBS_TASK_UID", o->uid);
    add_number(out, "PBS_TASK_GID", o->gid);
    site_env_add(out, "PBS_TASK_HOME", o->home);
    if (!o->checkpoint_dir[0])
        return;
    strbuf_init(&dir, PATH_MAX);
    strbuf_addf(&dir, "%s/app", o->checkpoint_dir);
    site_env_add(out, "PBS_CHECKPOINT_DIR", strbuf_str(&dir));
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
