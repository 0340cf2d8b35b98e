/* pbs_complex: a private complex below one directory, for tests, demonstrations and first steps.
 *
 * Each verb is a function. start_steps has the order of starting, in which each part needs those before it:
 * store, server, its nodes as objects, MOMs, scheduler; then it waits until every node is up. To stop, scheduler and
 * server end first; what is left (MOMs, shepherds, jobs) is found by its processes and killed, since jobs outlive
 * their MOM on purpose. */
#include "cmd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complex_daemons.h"
#include "complex_dir.h"
#include "complex_nodes.h"
#include "complex_pg.h"
#include "complex_procs.h"
#include "complex_spawn.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

/* Limits are for a host under heavy load; a complex of some nodes is up in about a second. */
enum { UP_LIMIT_MS = 30000, STOP_LIMIT_MS = 10000, ANSWER_LIMIT_MS = 10000, LOG_LINES = 40 };

struct pbs_complex_settings {
    struct cmd_args a;
    const char *dir, *nodes, *ncpus, *mem, *store, *lines;
    bool purge, pair;
    struct complex_dir d;
    struct complex_names moms, scheds; /* scheds: schedulers beside the default one */
    bool is_new;                       /* start: the directory was made by this call */
};

static const struct option_row rows[] = {
    {0, "dir", OPTION_VALUE, "directory", "where the complex is; default ./complex", cmd_take_text,
     (int)offsetof(struct pbs_complex_settings, dir)},
    {0, "nodes", OPTION_VALUE, "number", "start: how many nodes; default 1", cmd_take_text,
     (int)offsetof(struct pbs_complex_settings, nodes)},
    {0, "ncpus", OPTION_VALUE, "number", "start, add-node: cpus of a node; default what the hardware has",
     cmd_take_text, (int)offsetof(struct pbs_complex_settings, ncpus)},
    {0, "mem", OPTION_VALUE, "size", "start, add-node: memory of a node; default what the hardware has",
     cmd_take_text, (int)offsetof(struct pbs_complex_settings, mem)},
    {0, "store", OPTION_VALUE, "sqlite|postgres", "start: the server's store; default sqlite", cmd_take_text,
     (int)offsetof(struct pbs_complex_settings, store)},
    {0, "pair", OPTION_ALONE, NULL, "start: two servers, one of them a standby; with --store postgres",
     cmd_take_flag, (int)offsetof(struct pbs_complex_settings, pair)},
    {0, "purge", OPTION_ALONE, NULL, "stop: remove all files of the complex too", cmd_take_flag,
     (int)offsetof(struct pbs_complex_settings, purge)},
    {0, "lines", OPTION_VALUE, "number", "logs: how many lines of each; default 40", cmd_take_text,
     (int)offsetof(struct pbs_complex_settings, lines)},
};

static int pbs_complex_fail(struct pbs_complex_settings *s, const struct err *e)
{
    (void)cmd_error(&s->a, "%s", e->text);
    return 1;
}

/* --- values ------------------------------------------------------------------------------------------------- */
static int read_number(const char *text, int preset, int min, int max, const char *what, int *out,
                       struct err *e)
{
    char *end;
    long n;

    *out = preset;
    if (!text)
        return 0;
    n = strtol(text, &end, 10);
    if (*end || end == text || n < min || n > max)
        return err_set(e, EINVAL, "--%s %s: a number from %d to %d is wanted", what, text, min, max);
    *out = (int)n;
    return 0;
}

static int read_plan(const struct pbs_complex_settings *s, struct complex_plan *p, struct err *e)
{
    *p = (struct complex_plan){.mem = s->mem};
    if (read_number(s->nodes, 1, 0, COMPLEX_NODES_MAX, "nodes", &p->nodes, e) < 0 ||
        read_number(s->ncpus, 0, 1, 1 << 20, "ncpus", &p->ncpus, e) < 0)
        return -1;
    if (s->store && strcmp(s->store, "sqlite") != 0 && strcmp(s->store, "postgres") != 0)
        return err_set(e, EINVAL, "--store %s: sqlite or postgres is wanted", s->store);
    p->postgres = s->store && !strcmp(s->store, "postgres");
    p->pair = s->pair;
    if (p->pair && !p->postgres)
        return err_set(e, EINVAL, "--pair needs a store that two servers can share: --store postgres");
    return 0;
}

/* --- starting ----------------------------------------------------------------------------------------------- */
static int pbs_complex_connect_to(const struct pbs_complex_settings *s, struct err *e)
{
    char conf[PATH_MAX];
    int c;

    (void)setenv("PBS_CONF_FILE", complex_dir_path(&s->d, conf, "pbs.conf"), 1);
    c = pbs_connect(NULL);
    if (c > 0)
        return c;
    return err_set(e, pbs_errno, "the server does not answer: %s",
                   pbs_geterrmsg(-1) ? pbs_geterrmsg(-1) : "");
}

/* Unset the variables that would override the complex's pbs.conf. */
static void forget_environment(void)
{
    for (size_t i = 0; environ[i];) {
        char name[256];
        size_t n = strcspn(environ[i], "=");

        if (strncmp(environ[i], "PBS_", 4) != 0 || n >= sizeof name) {
            i++;
            continue;
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)n, environ[i]);
        (void)unsetenv(name);
    }
}

static int start_one(const struct pbs_complex_settings *s, const char *name, struct err *e)
{
    struct complex_daemon dm;

    return complex_daemon_find(&s->d, name, &dm, e) < 0 ? -1 : complex_daemon_start(&dm, e);
}

static int start_list(const struct pbs_complex_settings *s, const struct complex_names *names, struct err *e)
{
    for (int i = 0; i < names->n; i++)
        if (start_one(s, names->name[i], e) < 0)
            return -1;
    return 0;
}

static int read_directory(struct pbs_complex_settings *s, struct err *e)
{
    return complex_dir_moms(&s->d, &s->moms, e) < 0 ? -1 : complex_dir_scheds(&s->d, &s->scheds, e);
}

static int start_store(struct pbs_complex_settings *s, struct err *e)
{
    return complex_pg_is_used(&s->d) ? complex_pg_start(&s->d, e) : 0;
}

static int start_server(struct pbs_complex_settings *s, struct err *e)
{
    return start_one(s, "server", e);
}

static int set_up_server(struct pbs_complex_settings *s, struct err *e)
{
    int rc, c = s->is_new ? pbs_complex_connect_to(s, e) : 0;

    if (!s->is_new)
        return 0;
    if (c < 0)
        return -1;
    rc = complex_nodes_create(c, &s->moms, e);
    if (rc == 0)
        rc = complex_nodes_set_up(c, e);
    (void)pbs_disconnect(c);
    return rc;
}

static int start_second(struct pbs_complex_settings *s, struct err *e)
{
    return complex_dir_is_pair(&s->d) ? start_one(s, "second", e) : 0;
}

static int start_moms(struct pbs_complex_settings *s, struct err *e)
{
    return start_list(s, &s->moms, e);
}

static int start_scheds(struct pbs_complex_settings *s, struct err *e)
{
    return start_one(s, "sched", e) < 0 ? -1 : start_list(s, &s->scheds, e);
}

static int wait_for_nodes(struct pbs_complex_settings *s, struct err *e)
{
    int rc, c = pbs_complex_connect_to(s, e);

    if (c < 0)
        return -1;
    rc = complex_nodes_wait(c, &s->moms, UP_LIMIT_MS, e);
    (void)pbs_disconnect(c);
    return rc;
}

/* The order of starting. Each step needs those before it, and does nothing for what runs already. */
static int (*const start_steps[])(struct pbs_complex_settings *s, struct err *e) = {
    read_directory, /* the names of MOMs and schedulers */
    start_store,    /* PostgreSQL, where the server keeps its rows there */
    start_server,   /* the server that will be active */
    set_up_server,  /* in a new complex: nodes, so that MOMs are expected, and settings */
    start_second,   /* of a pair; it finds an active server and waits */
    start_moms,     /* one for each node */
    start_scheds,   /* the default one, then the others */
    wait_for_nodes, /* until each node is up */
};

static const char differs_remedy[] =
    "pbs_complex add-node adds one, stop --purge removes the complex, --dir starts another";

/* Compare only what the command line names, with the first node: all were made alike. */
static int check_same_nodes(struct pbs_complex_settings *s, const struct complex_plan *p, struct err *e)
{
    struct complex_plan is;
    char mem[COMPLEX_MEM_MAX];

    if (complex_dir_moms(&s->d, &s->moms, e) < 0 || complex_dir_first_plan(&s->d, &is, mem, e) < 0)
        return -1;
    if (s->nodes && p->nodes != s->moms.n)
        return err_set(e, EEXIST, "the complex in %s has %d nodes, not %d; %s", s->d.root, s->moms.n,
                       p->nodes, differs_remedy);
    if (s->ncpus && p->ncpus != is.ncpus)
        return err_set(e, EEXIST, "the nodes of the complex in %s have ncpus %d, not %d; %s", s->d.root,
                       is.ncpus, p->ncpus, differs_remedy);
    if (s->mem && strcasecmp(p->mem, is.mem ? is.mem : "") != 0)
        return err_set(e, EEXIST, "the nodes of the complex in %s have memory %s, not %s; %s", s->d.root,
                       is.mem ? is.mem : "of the hardware", p->mem, differs_remedy);
    return 0;
}

/* Refuse options that differ from the existing complex: a script would run on other nodes than it asks for. */
static int check_same(struct pbs_complex_settings *s, const struct complex_plan *p, struct err *e)
{
    if (check_same_nodes(s, p, e) < 0)
        return -1;
    if ((s->store && p->postgres != complex_pg_is_used(&s->d)) || (s->pair && !complex_dir_is_pair(&s->d)))
        return err_set(e, EEXIST, "the complex in %s has another store, or one server; %s", s->d.root,
                       differs_remedy);
    return 0;
}

static int pbs_complex_start(struct pbs_complex_settings *s, const char *operand, struct err *e)
{
    struct complex_plan p;

    s->is_new = !complex_dir_exists(&s->d);
    if (read_plan(s, &p, e) < 0 || (p.postgres && complex_pg_check(&s->d, e) < 0))
        return -1;
    if ((s->is_new ? complex_dir_make(&s->d, &p, e) : check_same(s, &p, e)) < 0)
        return -1;
    for (size_t i = 0; i < sizeof start_steps / sizeof start_steps[0]; i++)
        if (start_steps[i](s, e) < 0)
            return -1;
    printf("The complex in %s is up: %d node%s.\n", s->d.root, s->moms.n, s->moms.n == 1 ? "" : "s");
    printf("To use it:  eval \"$(%s/bin/pbs_complex env --dir %s)\"\n", s->d.exec, s->d.root);
    return 0;
}

/* --- looking ------------------------------------------------------------------------------------------------ */
static int pbs_complex_env(struct pbs_complex_settings *s, const char *operand, struct err *e)
{
    (void)operand, (void)e;
    printf("export PBS_CONF_FILE='%s/pbs.conf'\n", s->d.root);
    printf("export PATH='%s/bin:%s/sbin':\"$PATH\"\n", s->d.exec, s->d.exec);
    return 0;
}

/* A server that is stopped, or whose disk is, takes connections and answers nothing: a program that is waited for asks first. */
static int status_connect(const struct pbs_complex_settings *s, struct err *why)
{
    char conf[PATH_MAX], qstat[PATH_MAX + sizeof "/bin/qstat"];

    (void)snprintf(qstat, sizeof qstat, "%s/bin/qstat", s->d.exec);
    if (complex_spawn((const char *const[]){qstat, "-B", NULL}, complex_dir_path(&s->d, conf, "pbs.conf"),
                      "/dev/null", ANSWER_LIMIT_MS, why) < 0)
        return -1;
    return pbs_complex_connect_to(s, why);
}

static bool show_store(const struct pbs_complex_settings *s)
{
    bool runs;

    if (!complex_pg_is_used(&s->d))
        return true;
    runs = complex_pg_is_running(&s->d);
    printf("%-12s %s\n", "database", runs ? "runs" : "does not run");
    return runs;
}

static bool show_daemon(const struct pbs_complex_settings *s, const char *name, int c)
{
    struct complex_daemon dm;
    char state[256] = "";
    pid_t pid = 0;

    if (complex_daemon_find(&s->d, name, &dm, NULL) == 0)
        pid = complex_daemon_pid(&dm);
    if (pid <= 0) {
        printf("%-12s does not run\n", name);
        return false;
    }
    if (c > 0 && strcmp(name, "server") != 0 && strcmp(name, "second") != 0 && strncmp(name, "sched", 5) != 0)
        complex_nodes_state(c, name, state, sizeof state);
    printf("%-12s runs, pid %-8d%s%s\n", name, (int)pid, *state ? "  " : "", state);
    return true;
}

static int pbs_complex_status(struct pbs_complex_settings *s, const char *operand, struct err *e)
{
    struct err why;
    int c = status_connect(s, &why);
    bool all;

    (void)operand, (void)e;
    all = show_store(s);
    all = show_daemon(s, "server", c) && all;
    if (c < 0)
        printf("%-12s does not answer\n", "server");
    if (complex_dir_is_pair(&s->d))
        all = show_daemon(s, "second", c) && all;
    all = show_daemon(s, "sched", c) && all;
    for (int i = 0; i < s->scheds.n; i++)
        all = show_daemon(s, s->scheds.name[i], c) && all;
    for (int i = 0; i < s->moms.n; i++)
        all = show_daemon(s, s->moms.name[i], c) && all;
    if (c > 0)
        (void)pbs_disconnect(c);
    if (!all)
        printf("pbs_complex start --dir %s starts what does not run.\n", s->d.root);
    return all && c > 0 ? 0 : 1;
}

static void print_log(const struct pbs_complex_settings *s, const char *name, int lines)
{
    struct complex_daemon dm;
    char path[PATH_MAX], *text = NULL;

    if (complex_daemon_find(&s->d, name, &dm, NULL) == 0)
        text = complex_daemon_log(&dm, lines, path);
    if (text)
        printf("==> %s <==\n%s\n", path, text);
    else
        printf("==> %s has written no log <==\n\n", name);
    free(text);
}

static int pbs_complex_logs(struct pbs_complex_settings *s, const char *operand, struct err *e)
{
    struct complex_daemon dm;
    int lines;

    if (read_number(s->lines, LOG_LINES, 1, 100000, "lines", &lines, e) < 0)
        return -1;
    if (operand && complex_daemon_find(&s->d, operand, &dm, e) < 0)
        return -1;
    if (operand) {
        print_log(s, operand, lines);
        return 0;
    }
    print_log(s, "server", lines);
    print_log(s, "sched", lines);
    for (int i = 0; i < s->scheds.n; i++)
        print_log(s, s->scheds.name[i], lines);
    for (int i = 0; i < s->moms.n; i++)
        print_log(s, s->moms.name[i], lines);
    return 0;
}

/* --- ending ------------------------------------------------------------------------------------------------- */
static int stop_one(const struct pbs_complex_settings *s, const char *name, int signal, struct err *e)
{
    struct complex_daemon dm;

    if (complex_daemon_find(&s->d, name, &dm, e) < 0)
        return -1;
    return complex_daemon_stop(&dm, signal, STOP_LIMIT_MS, e);
}

static int pbs_complex_stop(struct pbs_complex_settings *s, const char *operand, struct err *e)
{
    int left, rc = 0;

    for (int i = 0; i < s->scheds.n; i++)
        if (stop_one(s, s->scheds.name[i], SIGTERM, e) < 0)
            rc = -1;
    if (stop_one(s, "sched", SIGTERM, e) < 0 ||
        (complex_dir_is_pair(&s->d) && stop_one(s, "second", SIGTERM, e) < 0) ||
        stop_one(s, "server", SIGTERM, e) < 0)
        rc = -1;
    left = complex_procs_kill(&s->d, STOP_LIMIT_MS); /* MOMs, shepherds, jobs */
    if (complex_pg_is_used(&s->d) && complex_pg_stop(&s->d, e) < 0)
        rc = -1;
    if (left > 0)
        return err_set(e, ETIMEDOUT, "%d processes of the complex do not end", left);
    if (rc == 0 && s->purge)
        rc = complex_dir_remove(&s->d, e);
    return rc;
}

static int pbs_complex_kill(struct pbs_complex_settings *s, const char *operand, struct err *e)
{
    return stop_one(s, operand, SIGKILL, e);
}

static int pbs_complex_restart(struct pbs_complex_settings *s, const char *operand, struct err *e)
{
    if (stop_one(s, operand, SIGTERM, e) < 0)
        return -1;
    return start_one(s, operand, e);
}

static int pbs_complex_add_node(struct pbs_complex_settings *s, const char *operand, struct err *e)
{
    struct complex_names *one = &s->moms;
    struct complex_plan p;
    int rc, c;

    if (read_plan(s, &p, e) < 0 || (c = pbs_complex_connect_to(s, e)) < 0)
        return -1;
    one->n = 1;
    rc = complex_dir_add_mom(&s->d, operand, &p, one->name[0], e);
    if (rc == 0)
        rc = complex_nodes_create(c, one, e);
    if (rc == 0)
        rc = start_one(s, one->name[0], e);
    if (rc == 0)
        rc = complex_nodes_wait(c, one, UP_LIMIT_MS, e);
    (void)pbs_disconnect(c);
    if (rc == 0)
        printf("%s\n", one->name[0]);
    return rc;
}

/* --- the verbs ---------------------------------------------------------------------------------------------- */
enum operand { NONE, MAY, MUST };

static const struct pbs_complex_verb {
    const char *name;
    enum operand operand;
    bool is_new; /* there may be no complex yet */
    int (*run)(struct pbs_complex_settings *s, const char *operand, struct err *e);
} verbs[] = {
    {"start", NONE, true, pbs_complex_start},      {"env", NONE, false, pbs_complex_env},
    {"status", NONE, false, pbs_complex_status},   {"stop", NONE, false, pbs_complex_stop},
    {"restart", MUST, false, pbs_complex_restart}, {"kill", MUST, false, pbs_complex_kill},
    {"logs", MAY, false, pbs_complex_logs},        {"add-node", MAY, false, pbs_complex_add_node},
};

static const struct pbs_complex_verb *find_verb(int n, char *operands[])
{
    for (size_t i = 0; n > 0 && i < sizeof verbs / sizeof verbs[0]; i++) {
        const struct pbs_complex_verb *v = &verbs[i];

        if (strcmp(v->name, operands[0]) != 0)
            continue;
        return n > 2 || (n == 2 && v->operand == NONE) || (n == 1 && v->operand == MUST) ? NULL : v;
    }
    return NULL;
}

static int pbs_complex_run(void *settings, int n, char *operands[])
{
    struct pbs_complex_settings *s = settings;
    const struct pbs_complex_verb *v = find_verb(n, operands);
    struct err e = {0};
    int rc;

    if (!v)
        return cmd_usage(&s->a);
    if (complex_dir_init(&s->d, s->dir, &e) < 0)
        return pbs_complex_fail(s, &e);
    if (!v->is_new &&
        (complex_dir_moms(&s->d, &s->moms, &e) < 0 || complex_dir_scheds(&s->d, &s->scheds, &e) < 0))
        return pbs_complex_fail(s, &e);
    forget_environment();
    (void)umask(022);
    rc = v->run(s, n > 1 ? operands[1] : NULL, &e);
    return rc < 0 ? pbs_complex_fail(s, &e) : rc;
}

const struct cmd command = {
    .options = {.program = "pbs_complex",
                .operands = "start|env|status|stop|restart|kill|logs|add-node [daemon]",
                CMD_ROWS(rows)},
    .usage =
        "usage: pbs_complex start [--nodes N] [--ncpus N] [--mem SIZE] [--store sqlite|postgres] [--pair]\n"
        "                         [--dir DIR]\n"
        "       pbs_complex stop [--purge] [--dir DIR]\n"
        "       pbs_complex env | status [--dir DIR]\n"
        "       pbs_complex restart DAEMON | kill DAEMON | logs [DAEMON] [--lines N] [--dir DIR]\n"
        "       pbs_complex add-node [NAME] [--ncpus N] [--mem SIZE] [--dir DIR]\n"
        "       a DAEMON is server, second (of a pair), sched, sched_NAME (another one), or the name of a node\n",
    .usage_exit = 2,
    .admin = true,
    .size = sizeof(struct pbs_complex_settings),
    .run = pbs_complex_run,
};
