/* Four layers, merged by sorting: of one name the latest entry stays. The order of layers is the rule: the site may override
 * which remote shell MPI libraries use, a user may override the site, and neither overrides what the MOM computes. The computed entries are a list of their own until the
 * merge (about twenty, searched for each name); the layers of site and user may have as many entries as a message holds. */
#include "job_env.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "mom_home.h"
#include "mom_run.h"
#include "select.h"
#include "strbuf.h"

enum { ENTRY_MAX = 1 << 20 };

static int job_env_set(struct words *env, const char *name, const char *value, struct err *e)
{
    size_t n = strlen(name);
    struct strbuf b;
    char *entry;

    strbuf_init(&b, ENTRY_MAX);
    strbuf_addf(&b, "%s=%s", name, value);
    entry = strbuf_take(&b);
    if (!entry)
        return err_set(e, ENOMEM, "variable %s is too long", name);
    for (size_t i = 0; i < env->n; i++)
        if (strncmp(env->w[i], name, n) == 0 && env->w[i][n] == '=') {
            free(env->w[i]);
            env->w[i] = entry;
            return 0;
        }
    if (words_add(env, entry, e) < 0) {
        free(entry);
        return -1;
    }
    free(entry);
    return 0;
}

/* How the mpirun of each MPI library, called without a word about hosts, reaches the hosts of the job: by pbs_tmrsh, so that its
 * processes belong to the job. A library reads the variables of its own name and none of the others. The whole path: its
 * daemons look for the program on the other hosts too. */
static int add_launchers(struct words *env, const struct home *h, struct err *e)
{
    static const char *const resource_managers[] = {"HYDRA_RMK", "I_MPI_HYDRA_RMK"};
    static const char *const launchers[] = {"HYDRA_LAUNCHER", "I_MPI_HYDRA_BOOTSTRAP"};
    static const char *const programs[] = {
        "HYDRA_LAUNCHER_EXEC",                                  /* MPICH */
        "I_MPI_HYDRA_BOOTSTRAP_EXEC", "OMPI_MCA_plm_rsh_agent", /* Open MPI 4 */
        "PRTE_MCA_plm_ssh_agent",                               /* and 5 */
    };
    struct strbuf b;
    int rc = 0;

    strbuf_init(&b, ENTRY_MAX);
    strbuf_addf(&b, "%s/bin/pbs_tmrsh", conf_text(h->conf, CONF_PBS_EXEC));
    for (size_t i = 0; i < sizeof resource_managers / sizeof resource_managers[0] && rc == 0; i++)
        rc = job_env_set(env, resource_managers[i], "pbs", e);
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0] && rc == 0; i++)
        rc = job_env_set(env, launchers[i], "rsh", e);
    for (size_t i = 0; i < sizeof programs / sizeof programs[0] && rc == 0; i++)
        rc = job_env_set(env, programs[i], strbuf_str(&b), e);
    strbuf_fini(&b);
    return rc;
}

static int add_variable_list(struct words *env, const struct run *r, struct err *e)
{
    const char *text = run_attr(r, "Variable_List", "");

    /* Quotes are part of values here: only a backslash protects a comma (ifl/def/type_list.h). */
    if (text && words_parse(text, ",", WORDS_BACKSLASH, env, e) < 0)
        return err_prefix(e, "Variable_List of job %s", r->id);
    return 0;
}

static int set_array(struct words *env, const struct run *r, struct err *e)
{
    const char *open = strchr(r->id, '['), *close = open ? strchr(open, ']') : NULL;
    char index[16];
    struct strbuf parent;
    int rc;

    if (r->key.index < 0 || !close)
        return 0;
    snprintf(index, sizeof index, "%d", r->key.index);
    strbuf_init(&parent, ENTRY_MAX);
    strbuf_addf(&parent, "%.*s[]%s", (int)(open - r->id), r->id, close + 1);
    rc = job_env_set(env, "PBS_ARRAY_INDEX", index, e) < 0 ? -1
                                                           : job_env_set(env, "PBS_ARRAY_ID", parent.s, e);
    strbuf_fini(&parent);
    return rc;
}

/* Threads of a process: ompthreads of the job's first chunk, else its cpus. */
static unsigned long threads(const struct run *r)
{
    const char *text = run_attr(r, "schedselect", "");
    struct select *sel = text ? select_parse(text, NULL, NULL, NULL) : NULL;
    const struct amounts_text *first = sel && sel->n ? &sel->chunk[0].res : NULL;
    const char *said = first ? amounts_text_find(first, "ompthreads") : NULL;
    unsigned long n;

    if (!said && first)
        said = amounts_text_find(first, "ncpus");
    n = said ? strtoul(said, NULL, 10) : 1;
    select_destroy(sel);
    return n ? n : 1;
}

static const char *attr_or(const struct run *r, const char *name, const char *otherwise)
{
    const char *v = run_attr(r, name, "");

    return v ? v : otherwise;
}

static int set_computed(struct words *env, const struct run *r, const struct job_env_facts *f, struct err *e)
{
    char port[16], nodenum[16], n_threads[24];
    const char *account = run_attr(r, "Account_Name", "");
    const struct {
        const char *name, *value;
    } rows[] = {
        {"HOME", f->home},
        {"LOGNAME", f->user},
        {"PBS_JOBNAME", attr_or(r, "Job_Name", "")},
        {"PBS_JOBID", r->id},
        {"PBS_QUEUE", attr_or(r, "queue", "")},
        {"SHELL", f->shell},
        {"USER", f->user},
        {"PBS_JOBCOOKIE", r->start.cookie},
        {"PBS_NODENUM", nodenum},
        {"PBS_TASKNUM", "1"},
        {"PBS_MOMPORT", port},
        {"PBS_NODEFILE", f->nodefile},
        {"OMPI_MCA_orte_default_hostfile", f->nodefile}, /* Open MPI 4 that was built without TM */
        {"PBS_TM_SOCKET", f->tm_socket},
        {"PBS_PREEMPT_NOTICE", f->notice},
        {"OMP_NUM_THREADS", n_threads},
        {"NCPUS", n_threads},
        {"PBS_ACCOUNT", account},
        {"PBS_JOBDIR", f->jobdir},
        {"TMPDIR", f->tmpdir},
        {"PBS_ENVIRONMENT", f->interactive ? "PBS_INTERACTIVE" : "PBS_BATCH"},
        {"ENVIRONMENT", f->interactive ? NULL : "BATCH"},
        {"PBS_PMIX", run_attr(r, "pmix", "") ? "1" : NULL}, /* for its shepherd */
    };

    snprintf(port, sizeof port, "%u", f->mom_port);
    snprintf(n_threads, sizeof n_threads, "%lu", threads(r));
    snprintf(nodenum, sizeof nodenum, "%u", r->start.my_host);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].value && job_env_set(env, rows[i].name, rows[i].value, e) < 0)
            return -1;
    return 0;
}

/* Of a job that has given way before: how often, and, when its last run ended so, that and for whom. */
static int set_preempted(struct words *env, const struct run *r, struct err *e)
{
    const char *count = run_attr(r, "preempt_count", ""), *how = run_attr(r, "preempted", "");
    struct strbuf why;
    int rc;

    if (!count)
        return 0;
    if (job_env_set(env, "PBS_PREEMPT_COUNT", count, e) < 0)
        return -1;
    if (!how)
        return 0;
    strbuf_init(&why, ENTRY_MAX);
    strbuf_addf(&why, "%s for %s", how, attr_or(r, "preempted_by", ""));
    rc = job_env_set(env, "PBS_PREEMPTED", "1", e) < 0
             ? -1
             : job_env_set(env, "PBS_PREEMPT_REASON", strbuf_str(&why), e);
    strbuf_fini(&why);
    return rc;
}

/* Where a program that saves itself keeps its state (doc/host-life.md). */
static int set_checkpoint(struct words *env, const struct job_env_facts *f, struct err *e)
{
    struct strbuf b;
    int rc;

    if (!f->checkpoint_dir || !f->checkpoint_dir[0])
        return 0;
    strbuf_init(&b, ENTRY_MAX);
    strbuf_addf(&b, "%s/app", f->checkpoint_dir);
    rc = job_env_set(env, "PBS_CHECKPOINT_DIR", strbuf_str(&b), e);
    strbuf_fini(&b);
    return rc;
}

/* All that the MOM computes; job_env.h says what relies on its beginning. */
static int set_all_computed(struct words *env, const struct run *r, const struct job_env_facts *f,
                            struct err *e)
{
    if (set_computed(env, r, f, e) < 0 || set_preempted(env, r, e) < 0)
        return -1;
    return set_checkpoint(env, f, e) < 0 ? -1 : set_array(env, r, e);
}

/* ---- the merge */
struct job_env_entry {
    const char *text;
    size_t name;  /* length of its name */
    size_t place; /* the highest of one name stays */
};

static int job_env_by_name_and_place(const void *a, const void *b)
{
    const struct job_env_entry *x = a, *y = b;
    size_t n = x->name < y->name ? x->name : y->name;
    int c = memcmp(x->text, y->text, n);

    if (c == 0 && x->name != y->name)
        c = x->name < y->name ? -1 : 1;
    if (c)
        return c;
    return x->place < y->place ? -1 : 1;
}

static int job_env_by_place(const void *a, const void *b)
{
    const struct job_env_entry *x = a, *y = b;

    return x->place < y->place ? -1 : 1;
}

/* An entry without name or "=" says nothing. */
static size_t job_env_collect(struct job_env_entry *out, size_t n, const struct words *layer)
{
    for (size_t i = 0; i < layer->n; i++) {
        const char *eq = strchr(layer->w[i], '=');

        if (eq && eq > layer->w[i]) {
            out[n] = (struct job_env_entry){layer->w[i], (size_t)(eq - layer->w[i]), n};
            n++;
        }
    }
    return n;
}

static size_t keep_latest(struct job_env_entry *all, size_t n)
{
    size_t kept = 0;

    qsort(all, n, sizeof *all, job_env_by_name_and_place);
    for (size_t i = 0; i < n; i++) {
        bool later = i + 1 < n && all[i + 1].name == all[i].name &&
                     memcmp(all[i + 1].text, all[i].text, all[i].name) == 0;

        if (!later)
            all[kept++] = all[i];
    }
    qsort(all, kept, sizeof *all, job_env_by_place);
    return kept;
}

int job_env_merge(const struct words *const layers[], size_t n_layers, struct words *out, struct err *e)
{
    struct job_env_entry *all;
    size_t n = 0;
    int rc = 0;

    for (size_t i = 0; i < n_layers; i++)
        n += layers[i]->n;
    all = calloc(n + 1, sizeof *all);
    if (!all)
        return err_set(e, ENOMEM, "no memory for the environment of a job");
    n = 0;
    for (size_t i = 0; i < n_layers; i++)
        n = job_env_collect(all, n, layers[i]);
    n = keep_latest(all, n);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = words_add(out, all[i].text, e);
    free(all);
    return rc;
}

int job_env_make(const struct home *h, const struct run *r, const struct job_env_facts *f, struct words *out,
                 struct err *e)
{
    struct words launchers, owner, computed;
    const struct words *const layers[] = {&launchers, &h->environment, &owner, &computed};
    int rc = -1;

    words_init(&launchers);
    words_init(&owner);
    words_init(&computed);
    if (add_launchers(&launchers, h, e) == 0 && add_variable_list(&owner, r, e) == 0 &&
        set_all_computed(&computed, r, f, e) == 0)
        rc = job_env_merge(layers, sizeof layers / sizeof layers[0], out, e);
    words_fini(&launchers);
    words_fini(&owner);
    words_fini(&computed);
    return rc;
}
