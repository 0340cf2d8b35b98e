/* START and the owner's entry, turned into the order that a shepherd obeys. One function for each group of
 * the order's fields; order_make calls them in turn, and the sequence matters where one needs another's
 * result: the environment names the temporary directory, the private directory and the nodefile, so
 * make_program comes after them.
 *
 * Whatever is said here is said for good: the order is written once and read by every shepherd and MOM that
 * follows. So START goes along, less what is large (script, environment): it is what a MOM that is started
 * again knows of the run. Each text is heap memory of the order, "" where there is nothing, because XDR has
 * no NULL. */
#include "order_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

#include <shep.h>

#include "cgroup_limits.h"
#include "ckpt.h"
#include "conf.h"
#include "mom_config.h"
#include "mom_home.h"
#include "job_argv.h"
#include "job_env.h"
#include "names.h"
#include "nodefile.h"
#include "outputs.h"
#include "pbs_error.h"
#include "rpc_buf.h"
#include "mom_run.h"
#include "strbuf.h"
#include "mom_terminal.h"
#include "units.h"

/* CPU_SPARE_S: between SIGXCPU and SIGKILL the job has that much processor time to end by itself. */
enum { PATH_LEN_MAX = 65536, UMASK_DEFAULT = 077, MS_PER_S = 1000, KB = 1024, CPU_SPARE_S = 5 };

/* Resources that the kernel enforces for each process. cput is not among them: it is a sum over processes, and may be
 * raised while the job runs, which no process of another user can be told of. */
static const struct {
    const char *resource;
    int limit;
    bool is_size;
} limits[] = {
    {"pcput", RLIMIT_CPU, false}, {"file", RLIMIT_FSIZE, true}, {"pmem", RLIMIT_RSS, true},
    {"vmem", RLIMIT_AS, true},    {"pvmem", RLIMIT_AS, true},   {"core", RLIMIT_CORE, true},
};

static int no_memory(const struct run *r, struct err *e)
{
    return err_set(e, PBSE_SYSTEM, "no memory for the order of job %s", r->id);
}

static int parse_limit(const char *text, bool is_size, u_quad_t *out, struct err *e)
{
    struct units_size size;
    int64_t seconds;

    if (is_size) {
        if (units_parse_size(text, &size, e) < 0)
            return -1;
        *out = units_size_bytes(size);
        return 0;
    }
    if (units_parse_duration_s(text, &seconds, e) < 0)
        return -1;
    *out = (u_quad_t)seconds;
    return 0;
}

/* Never set a limit above the hard limit that the owner has. */
static void limit_processes(const struct home *h, struct shep_order *o)
{
    uint64_t n = cgroup_limits_processes_of_user(h);
    struct rlimit now;

    if (n && getrlimit(RLIMIT_NPROC, &now) == 0 && now.rlim_max > n)
        o->limits.limits_val[o->limits.limits_len++] =
            (struct shep_limit){.resource = RLIMIT_NPROC, .soft = n, .hard = n};
}

static int make_limits(const struct home *h, const struct run *r, struct shep_order *o, struct err *e)
{
    size_t n = sizeof limits / sizeof limits[0];

    o->limits.limits_val = calloc(n + 2, sizeof(struct shep_limit));
    if (!o->limits.limits_val)
        return no_memory(r, e);
    o->limits.limits_val[o->limits.limits_len++] = (struct shep_limit){
        .resource = RLIMIT_NOFILE, .soft = h->job_files.rlim_cur, .hard = h->job_files.rlim_max};
    limit_processes(h, o);
    for (size_t i = 0; i < n; i++) {
        const char *text = run_attr(r, "Resource_List", limits[i].resource);
        struct shep_limit *l = &o->limits.limits_val[o->limits.limits_len];

        if (!text)
            continue;
        if (parse_limit(text, limits[i].is_size, &l->soft, e) < 0) {
            e->code = PBSE_BADATVAL;
            return err_prefix(e, "Resource_List.%s", limits[i].resource);
        }
        l->resource = limits[i].limit;
        l->hard = limits[i].limit == RLIMIT_CPU ? l->soft + CPU_SPARE_S : l->soft;
        o->limits.limits_len++;
    }
    return 0;
}

static int make_times(const struct home *h, const struct run *r, struct shep_order *o, struct err *e)
{
    const char *walltime = run_attr(r, "Resource_List", "walltime"),
               *nice = run_attr(r, "Resource_List", "nice");
    int64_t ms = 0;

    /* The job's time is that of its script: the first host counts it. */
    if (walltime && !run_is_sister(r) && units_parse_duration_ms(walltime, &ms, e) < 0) {
        e->code = PBSE_BADATVAL;
        return err_prefix(e, "Resource_List.walltime");
    }
    o->walltime_ms = (u_quad_t)ms;
    o->nice = nice ? atoi(nice) : 0;
    o->kill_delay_s = config_grace_s(h->config, r->start.kill_delay_s);
    return 0;
}

static int find_group(const struct run *r, const struct names_user *u, struct shep_order *o, struct err *e)
{
    const char *wanted = r->start.group;

    o->gid = u->gid;
    for (size_t i = 0; wanted[0] && i < u->n_groups; i++)
        if (strcmp(u->groups[i], wanted) == 0) {
            o->gid = u->gids[i];
            o->group = strdup(wanted);
            return o->group ? 0 : no_memory(r, e);
        }
    if (wanted[0] && strcmp(wanted, u->group) != 0)
        return err_set(e, PBSE_BADGRP, "No Group Entry for Group %s", wanted);
    o->group = strdup(u->group);
    return o->group ? 0 : no_memory(r, e);
}

static int make_identity(const struct run *r, const struct names_user *u, struct shep_order *o, struct err *e)
{
    o->user = strdup(u->name);
    o->uid = u->uid;
    o->change_user = geteuid() == 0;
    o->home = strdup(u->home);
    o->gids.gids_val = calloc(u->n_groups ? u->n_groups : 1, sizeof(u_int));
    if (!o->user || !o->home || !o->gids.gids_val)
        return no_memory(r, e);
    for (size_t i = 0; i < u->n_groups; i++)
        o->gids.gids_val[o->gids.gids_len++] = u->gids[i];
    return find_group(r, u, o, e);
}

/* The entry of Shell_Path_List for this host, else the one without host, else the login shell. */
static char *find_shell(const struct home *h, const struct run *r, const struct names_user *u)
{
    const char *list = run_attr(r, "Shell_Path_List", "");
    struct words w;
    char *found = NULL;

    words_init(&w);
    if (list && words_parse_commas(list, &w, NULL) == 0)
        for (size_t i = 0; i < w.n; i++) {
            char *at = strchr(w.w[i], '@');

            if (at && strcasecmp(at + 1, h->host) != 0 && strcasecmp(at + 1, h->node) != 0)
                continue;
            if (!at && found)
                continue;
            free(found);
            found = at ? strndup(w.w[i], (size_t)(at - w.w[i])) : strdup(w.w[i]);
        }
    words_fini(&w);
    return found ? found : strdup(u->shell[0] ? u->shell : "/bin/sh");
}

static char *order_make_path_of(const char *dir, const char *name, const char *suffix)
{
    struct strbuf b;

    strbuf_init(&b, PATH_LEN_MAX);
    strbuf_addf(&b, "%s/%s%s", dir, name, suffix);
    return strbuf_take(&b);
}

/* A login shell reads the script's path as its one command; the kernel then obeys the script's first line. */
static int make_shell_job(const struct run *r, const char *shell, struct shep_order *o, struct err *e)
{
    const char *base = strrchr(shell, '/');
    struct strbuf b;

    o->exec_path = strdup(shell);
    o->script = order_make_path_of(r->path, r->id, ".SC");
    o->argv.argv_val = calloc(1, sizeof(char *));
    strbuf_init(&b, PATH_LEN_MAX);
    strbuf_addf(&b, "-%s", base ? base + 1 : shell);
    if (o->argv.argv_val) {
        o->argv.argv_val[0] = strbuf_take(&b);
        o->argv.argv_len = o->argv.argv_val[0] ? 1 : 0;
    }
    strbuf_addf(&b, "'%s'\n", o->script ? o->script : "");
    o->input = strbuf_take(&b);
    return o->exec_path && o->script && o->argv.argv_len && o->input ? 0 : no_memory(r, e);
}

/* A login shell on the terminal that qsub offers; a host that is ours is reached by itself. */
/* Where the waiting qsub listens, and the key that it expects. -1: no memory. */
static int make_terminal(const struct home *h, const struct run *r, struct shep_order *o)
{
    const char *host = run_attr(r, "Submit_Host", ""), *key = run_attr(r, "interactive_key", "");

    for (size_t i = 0; h->our_names[i]; i++)
        if (host && strcasecmp(host, h->our_names[i]) == 0)
            host = "localhost"; /* of either family */
    free(o->tty_host);
    free(o->tty_port);
    free(o->tty_key);
    o->tty_host = strdup(host ? host : "");
    o->tty_port = strdup(run_attr(r, "interactive", ""));
    o->tty_key = strdup(key ? key : "");
    return o->tty_host && o->tty_port && o->tty_key ? 0 : -1;
}

/* The owner's shell as a login shell: its name has a "-" before it, and there is neither script nor input. */
static int make_interactive_job(const struct home *h, const struct run *r, const char *shell,
                                struct shep_order *o, struct err *e)
{
    const char *base = strrchr(shell, '/');
    struct strbuf b;

    o->exec_path = strdup(shell);
    o->script = strdup("");
    o->input = strdup("");
    o->argv.argv_val = calloc(1, sizeof(char *));
    strbuf_init(&b, PATH_LEN_MAX);
    strbuf_addf(&b, "-%s", base ? base + 1 : shell);
    if (o->argv.argv_val) {
        o->argv.argv_val[0] = strbuf_take(&b);
        o->argv.argv_len = o->argv.argv_val[0] ? 1 : 0;
    }
    if (make_terminal(h, r, o) < 0 || !o->exec_path || !o->script || !o->input || !o->argv.argv_len)
        return no_memory(r, e);
    return 0;
}

static int make_executable_job(const struct run *r, const char *executable, struct shep_order *o,
                               struct err *e)
{
    struct words argv;

    words_init(&argv);
    if (job_argv_parse(executable, run_attr(r, "argument_list", ""), &argv, e) < 0) {
        words_fini(&argv);
        return -1;
    }
    o->exec_path = strdup(argv.w[0]);
    o->argv.argv_val = argv.w; /* ownership moves: a vector of heap strings in both */
    o->argv.argv_len = (u_int)argv.n;
    o->script = strdup("");
    o->input = strdup("");
    return o->exec_path && o->script && o->input ? 0 : no_memory(r, e);
}

/* A sister starts nothing of its own. */
static int make_no_job(const struct run *r, struct shep_order *o, struct err *e)
{
    o->exec_path = strdup("");
    o->script = strdup("");
    o->input = strdup("");
    return o->exec_path && o->script && o->input ? 0 : no_memory(r, e);
}

static int make_nodefile(const struct home *h, const struct run *r, struct shep_order *o, struct err *e)
{
    o->nodefile_text = nodefile_make(r, NULL, e);
    if (!o->nodefile_text)
        return -1;
    o->nodefile = order_make_path_of(h->aux, r->id, "");
    return o->nodefile ? 0 : no_memory(r, e);
}

static int make_env(const struct home *h, const struct run *r, const struct names_user *u, const char *shell,
                    struct shep_order *o, struct err *e)
{
    char *tm_socket = order_make_path_of(h->aux, r->id, ".tm"); /* JOB_DIRS_TM_SUFFIX of the shepherd */
    char *notice =
        order_make_path_of(o->cwd[0] && !run_is_sister(r) ? o->cwd : o->tmpdir, "pbs_preempt_notice", "");
    const struct job_env_facts f = {.user = o->user,
                                    .home = u->home,
                                    .shell = shell,
                                    .nodefile = o->nodefile,
                                    .tmpdir = o->tmpdir,
                                    .jobdir = o->cwd[0] ? o->cwd : u->home,
                                    .notice = notice,
                                    .tm_socket = tm_socket,
                                    .checkpoint_dir = o->checkpoint_dir,
                                    .interactive = terminal_is_interactive(r),
                                    .mom_port = (unsigned)conf_int(h->conf, CONF_PBS_MANAGER_SERVICE_PORT)};
    struct words env;
    int rc;

    words_init(&env);
    rc = tm_socket && notice ? job_env_make(h, r, &f, &env, e) : no_memory(r, e);
    free(tm_socket);
    free(notice);
    if (rc < 0) {
        words_fini(&env);
        return -1;
    }
    o->env.env_val = env.w;
    o->env.env_len = (u_int)env.n;
    return 0;
}

/* What the MOM must find again after a restart: START without script and environment. */
static int keep_start(const struct run *r, struct shep_order *o, struct err *e)
{
    struct exec_start_args small = r->start;
    struct wire_attr *attrs = calloc(small.attrs.wire_attrs_len + 1, sizeof *attrs);
    struct byte_buf b;
    u_int n = 0;
    int rc;

    if (!attrs)
        return no_memory(r, e);
    for (u_int i = 0; i < small.attrs.wire_attrs_len; i++)
        if (strcmp(small.attrs.wire_attrs_val[i].name, "Variable_List") != 0)
            attrs[n++] = small.attrs.wire_attrs_val[i];
    small.attrs.wire_attrs_val = attrs;
    small.attrs.wire_attrs_len = n;
    small.script.script_len = 0;
    byte_buf_init(&b);
    rc = rpc_buf_encode(&b, (xdrproc_t)xdr_exec_start_args, &small);
    free(attrs);
    if (rc < 0) {
        byte_buf_fini(&b);
        return no_memory(r, e);
    }
    o->start.start_val = b.bytes; /* ownership moves */
    o->start.start_len = (u_int)b.len;
    return 0;
}

static unsigned umask_of(const struct run *r)
{
    const char *text = run_attr(r, "umask", "");

    return text ? (unsigned)strtoul(text, NULL, 8) & 0777 : UMASK_DEFAULT;
}

static int make_rest(const struct home *h, const struct run *r, struct shep_order *o, struct err *e)
{
    o->id = strdup(r->id);
    o->boot = home_epoch_of_pids(h);
    o->tty_host = strdup("");
    o->tty_port = strdup("");
    o->tty_key = strdup("");
    o->freezer_dir = strdup(h->freezer.dir);
    o->freezer = (shep_freezer)h->freezer.kind;
    o->suspend_signal = h->config->suspend_signal;
    o->resume_signal = h->config->resume_signal;
    o->no_attach = !h->config->attach_allow;
    o->umask = umask_of(r);
    o->ncpus = r->ncpus;
    return o->id && o->boot && o->freezer_dir && o->tty_host && o->tty_port && o->tty_key ? 0
                                                                                          : no_memory(r, e);
}

static int make_tmpdir(const struct home *h, const struct run *r, struct shep_order *o, struct err *e)
{
    struct strbuf b;

    strbuf_init(&b, PATH_LEN_MAX);
    strbuf_addf(&b, "%s/pbs.%s", h->config->tmpdir, r->id);
    o->tmpdir = strbuf_take(&b);
    return o->tmpdir ? 0 : no_memory(r, e);
}

/* sandbox=PRIVATE: a directory of the job's own, below the host's parent for them or the owner's home. */
static int make_jobdir(const struct home *h, const struct run *r, struct shep_order *o, struct err *e)
{
    const char *sandbox = run_attr(r, "sandbox", "");
    struct strbuf b;

    strbuf_init(&b, PATH_LEN_MAX);
    if (sandbox && strcasecmp(sandbox, "PRIVATE") == 0)
        strbuf_addf(&b, "%s/pbs.%s.x8z", h->config->jobdir_root ? h->config->jobdir_root : o->home, r->id);
    o->cwd = strdup(strbuf_str(&b));
    strbuf_fini(&b);
    return o->cwd ? 0 : no_memory(r, e);
}

static int make_program(const struct home *h, const struct run *r, const struct names_user *u,
                        struct shep_order *o, struct err *e)
{
    const char *executable = run_attr(r, "executable", "");
    char *shell = find_shell(h, r, u);
    int rc = -1;

    if (!shell)
        return no_memory(r, e);
    if (run_is_sister(r))
        rc = make_no_job(r, o, e) < 0 ? -1 : make_env(h, r, u, shell, o, e);
    else if (terminal_is_interactive(r))
        rc = make_interactive_job(h, r, shell, o, e) < 0 ? -1 : make_env(h, r, u, shell, o, e);
    else if (executable && executable[0] ? make_executable_job(r, executable, o, e) == 0
                                         : make_shell_job(r, shell, o, e) == 0)
        rc = make_env(h, r, u, shell, o, e);
    free(shell);
    return rc;
}

int order_make(const struct home *h, const struct run *r, const struct names_user *u, struct shep_order *o,
               struct err *e)
{
    o->protocol = SHEP_VERSION;
    o->job = run_job(r);
    o->run = r->key.run;
    if (make_rest(h, r, o, e) < 0 || cgroup_limits_make(h, r, o, e) < 0 || ckpt_plan(h, r, o, e) < 0 ||
        make_identity(r, u, o, e) < 0 || make_tmpdir(h, r, o, e) < 0 || make_jobdir(h, r, o, e) < 0 ||
        make_nodefile(h, r, o, e) < 0 || make_program(h, r, u, o, e) < 0 || make_limits(h, r, o, e) < 0 ||
        make_times(h, r, o, e) < 0)
        return -1;
    if (outputs_plan(h, r, u->home, o, e) < 0)
        return -1;
    return keep_start(r, o, e);
}
