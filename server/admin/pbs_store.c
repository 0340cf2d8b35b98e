/* pbs_store: examine, save, fill and move the store of a server. doc/man/pbs_store.8.
 *
 * `check` and `dump` only read, one moment of the store, and may run beside the server. `restore` and `migrate` take the
 * store's lease, which a running server holds, so that neither can write while the other does. The order: files that
 * the caller named are opened as the caller, then root becomes the account that owns the store (a database file, its
 * journal and its lock must stay usable for a server that is not root), then the stores are opened. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf.h"
#include "daemon.h"
#include "dump.h"
#include "lease.h"
#include "options.h"
#include "schema.h"
#include "store_check.h"
#include "store_files.h"
#include "store_table.h"
#include "strbuf.h"
#include "units.h"

/* Exit codes that a monitor can distinguish. */
enum { EXIT_FINE = 0, EXIT_ERRORS = 1, EXIT_FAILED = 2 };
enum { OPT_STORE, OPT_FORCE, HOST_MAX = 256 };

/* A store as a person names it: "sqlite:PATH" or "postgresql:HOST[:PORT]". */
struct pbs_store_named {
    struct store_where where;
    char text[PATH_MAX + 64];
};

struct pbs_store {
    struct conf *conf;
    struct store_files files;
    struct pbs_store_named named; /* -s */
    bool is_named, force;
};

static int named_store_parse(struct pbs_store_named *n, const struct store_files *files, const char *text,
                             struct err *e)
{
    char *rest, *port, *end;

    if ((size_t)snprintf(n->text, sizeof n->text, "%s", text) >= sizeof n->text)
        return err_set(e, EINVAL, "the name of a store is longer than %zu characters", sizeof n->text - 1);
    rest = strchr(n->text, ':');
    if (!rest || !rest[1])
        return err_set(e, EINVAL, "\"%s\" names no store: sqlite:FILE or postgresql:HOST[:PORT]", text);
    *rest++ = '\0';
    if (strcmp(n->text, "sqlite") == 0) {
        n->where = (struct store_where){.path = rest};
        return 0;
    }
    if (strcmp(n->text, "postgresql") != 0)
        return err_set(e, EINVAL, "\"%s\" is not a kind of store: sqlite or postgresql", n->text);
    n->where = (struct store_where){.host = rest, .password_file = files->password};
    port = strrchr(rest, ':');
    if (port) {
        *port++ = '\0';
        n->where.port = (int)strtol(port, &end, 10);
        if (*end || end == port || n->where.port < 1 || n->where.port > UINT16_MAX)
            return err_set(e, EINVAL, "\"%s\" is not a port: 1 to %d", port, UINT16_MAX);
    }
    return 0;
}

static int pbs_store_take(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct pbs_store *p = context;

    switch (row->id) {
    case OPT_STORE:
        p->is_named = true;
        return named_store_parse(&p->named, &p->files, value, e);
    case OPT_FORCE:
        p->force = true;
        break;
    }
    return 0;
}

static const struct option_row rows[] = {
    {'s', "store", OPTION_VALUE, "store",
     "sqlite:FILE or postgresql:HOST[:PORT] instead of the store of pbs.conf", pbs_store_take, OPT_STORE},
    {0, "force", OPTION_ALONE, NULL, "replace what a store holds that is in use", pbs_store_take, OPT_FORCE},
};

static const struct options options = {.program = "pbs_store",
                                       .operands =
                                           "status | check | dump [file] | restore [file] | migrate store",
                                       .rows = rows,
                                       .n_rows = sizeof rows / sizeof rows[0]};

static struct store_where where_of(const struct pbs_store *p)
{
    return p->is_named ? p->named.where : store_files_where(&p->files, p->conf);
}

/* Root becomes the user of the server. If root still owns the folder of the store, or another user calls,
 * nothing changes. */
static int become_owner(const struct pbs_store *p, struct err *e)
{
    const char *user = conf_text(p->conf, CONF_PBS_DAEMON_SERVICE_USER);
    char folder[sizeof p->files.database];
    struct stat st;
    uid_t uid;
    gid_t gid;

    if (daemon_account(user, &uid, &gid, e) < 0)
        return -1;
    snprintf(folder, sizeof folder, "%s", p->files.database);
    *strrchr(folder, '/') = '\0';
    if (uid == geteuid() || (stat(folder, &st) == 0 && st.st_uid != uid))
        return 0;
    return daemon_become(user, e);
}

static struct store *open_source(const struct pbs_store *p, struct err *e)
{
    struct store_where where = where_of(p);

    return store_open_existing(&where, e);
}

/* Open a store, made if it is missing, and keep others from writing to it. */
static struct store *open_target(const struct store_where *where, struct err *e)
{
    struct store *s = store_open(where, e);

    if (s && lease_hold(s, e) == 0)
        return s;
    if (s && e->code == EWOULDBLOCK)
        err_set(e, EBUSY, "a server, or another pbs_store, uses the store: stop it first (qterm); %s",
                e->text);
    store_close(s);
    return NULL;
}

/* ---- the commands ------------------------------------------------------------------------------------ */

static int pbs_store_do_check(struct pbs_store *p, const char *operand, struct err *e)
{
    struct store *s = NULL;
    struct store_check found;
    int rc = -1;

    if (become_owner(p, e) == 0 && (s = open_source(p, e)))
        rc = store_check_run(s, stdout, &found, e);
    store_close(s);
    if (rc < 0)
        return EXIT_FAILED;
    printf("%zu jobs, %zu finished jobs, %zu nodes, %zu queues, %zu resources: %zu faults\n",
           found.counts.jobs, found.history, found.counts.nodes, found.counts.queues, found.counts.resources,
           found.errors);
    return found.errors ? EXIT_ERRORS : EXIT_FINE;
}

/* For monitoring: nothing is read but what the store says of itself. */
static int pbs_store_do_status(struct pbs_store *p, const char *operand, struct err *e)
{
    char schema[32] = "", identity[64] = "", epoch[32] = "";
    struct store *s = NULL;
    bool held = false;
    int rc = -1;

    if (become_owner(p, e) == 0 && (s = open_source(p, e)) &&
        store_table_meta(s, "schema", schema, sizeof schema, e) == 0 &&
        store_table_meta(s, "identity", identity, sizeof identity, e) == 0 &&
        store_table_meta(s, "epoch", epoch, sizeof epoch, e) == 0)
        rc = s->class->held(s, &held, e);
    if (rc == 0 && atoi(schema) > schema_version)
        rc = err_set(e, EINVAL,
                     "the store has tables of version %s, this host's programs know %d: upgrade them", schema,
                     schema_version);
    if (rc == 0)
        printf("%s, tables of version %s, identity %s, epoch %s, %s\n", store_name(s), schema, identity,
               epoch, held ? "in use" : "not in use");
    store_close(s);
    return rc < 0 ? EXIT_FAILED : EXIT_FINE;
}

static void pbs_store_tell(const char *what, const struct dump_counts *c)
{
    fprintf(stderr, "%s %llu rows, %llu of them jobs\n", what, (unsigned long long)c->rows,
            (unsigned long long)c->jobs);
}

/* The rows of the store, by who may read it. */
static int dump_store(struct pbs_store *p, FILE *to, struct err *e)
{
    struct dump_counts c = {0};
    struct store *s = NULL;
    int rc = -1;

    if (become_owner(p, e) == 0 && (s = open_source(p, e)))
        rc = dump_write(s, to, &c, e);
    store_close(s);
    if (rc == 0 && to != stdout && fsync(fileno(to)) < 0)
        rc = err_errno(e, errno, "the dump cannot be written");
    if (rc == 0)
        pbs_store_tell("dumped", &c);
    return rc;
}

/* A process of its own becomes the owner of the store: this one still has to give the file its name. */
static int dump_in_child(struct pbs_store *p, FILE *to, struct err *e)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        int rc = dump_store(p, to, e);

        if (rc < 0)
            fprintf(stderr, "pbs_store: %s\n", e->text);
        _exit(rc < 0 ? EXIT_FAILED : EXIT_FINE);
    }
    if (pid < 0)
        return err_errno(e, errno, "no process for the dump");
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FINE ? 0 : err_set(e, EIO, "nothing was dumped");
}

/* Whole under its own name, or not there: written beside it, for its owner only (it holds environments of jobs and the
 * secret of the store), then renamed. */
static int dump_file(struct pbs_store *p, const char *path, struct err *e)
{
    char beside[PATH_MAX];
    int fd, rc;
    FILE *to;

    if ((size_t)snprintf(beside, sizeof beside, "%s.part", path) >= sizeof beside)
        return err_set(e, ENAMETOOLONG, "the name of the dump is longer than %zu characters",
                       sizeof beside - 1);
    unlink(beside);
    fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    to = fd < 0 ? NULL : fdopen(fd, "w");
    if (!to)
        return err_errno(e, errno, "the dump %s", beside);
    rc = dump_in_child(p, to, e);
    fclose(to);
    if (rc == 0 && rename(beside, path) < 0)
        rc = err_errno(e, errno, "the dump %s", path);
    if (rc < 0)
        unlink(beside);
    return rc;
}

static int pbs_store_do_dump(struct pbs_store *p, const char *path, struct err *e)
{
    int rc;

    if (path)
        rc = dump_file(p, path, e);
    else if (isatty(STDOUT_FILENO))
        rc = err_set(e, EINVAL, "a dump holds secrets and does not go to a terminal: name a file");
    else
        rc = dump_store(p, stdout, e);
    return rc < 0 ? EXIT_FAILED : EXIT_FINE;
}

static int pbs_store_do_restore(struct pbs_store *p, const char *path, struct err *e)
{
    struct store_where where = where_of(p);
    struct dump_counts c = {0};
    struct store *s = NULL;
    FILE *from = path ? fopen(path, "re") : stdin;
    int rc = -1;

    if (!from)
        err_errno(e, errno, "the dump %s", path);
    else if (become_owner(p, e) == 0 && (s = open_target(&where, e)))
        rc = dump_read(s, from, p->force, &c, e);
    if (rc < 0 && e->code == EEXIST)
        err_set(e, EEXIST, "%s: --force replaces all that it holds", e->text);
    store_close(s);
    if (from && path)
        fclose(from);
    if (rc < 0)
        return EXIT_FAILED;
    pbs_store_tell("restored", &c);
    return EXIT_FINE;
}

static void tell_conf(const struct store_where *to)
{
    if (to->path)
        fprintf(stderr, "next: take PBS_DATA_SERVICE_HOST out of pbs.conf, and start the server\n");
    else
        fprintf(
            stderr,
            "next: put PBS_DATA_SERVICE_HOST=%s and PBS_DATA_SERVICE_PORT=%d into pbs.conf, and start the "
            "server\n",
            to->host, to->port ? to->port : 15007);
}

static int pbs_store_do_migrate(struct pbs_store *p, const char *name, struct err *e)
{
    struct store_where from_where = where_of(p);
    struct dump_counts c = {0};
    struct pbs_store_named to_name;
    struct store *from = NULL, *to = NULL;
    int rc = -1;

    if (!name)
        err_set(e, EINVAL, "name the store that is to be filled: sqlite:FILE or postgresql:HOST[:PORT]");
    else if (named_store_parse(&to_name, &p->files, name, e) == 0 && become_owner(p, e) == 0) {
        from_where.existing = true;
        if ((from = open_target(&from_where, e)) && (to = open_target(&to_name.where, e)))
            rc = dump_copy(to, from, p->force, &c, e);
    }
    if (rc < 0 && e->code == EEXIST)
        err_set(e, EEXIST, "%s: --force replaces all that it holds", e->text);
    store_close(to);
    store_close(from);
    if (rc < 0)
        return EXIT_FAILED;
    pbs_store_tell("copied", &c);
    tell_conf(&to_name.where);
    return EXIT_FINE;
}

static const struct {
    const char *name;
    int (*run)(struct pbs_store *p, const char *operand, struct err *e);
    int operands; /* at most */
} commands[] = {{"status", pbs_store_do_status, 0},
                {"check", pbs_store_do_check, 0},
                {"dump", pbs_store_do_dump, 1},
                {"restore", pbs_store_do_restore, 1},
                {"migrate", pbs_store_do_migrate, 1}};

static int pbs_store_run(struct pbs_store *p, int n, char *operands[], struct err *e)
{
    for (size_t i = 0; n && i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, operands[0]) == 0) {
            if (n - 1 > commands[i].operands)
                err_set(e, EINVAL, "%s is one operand too many", operands[1 + commands[i].operands]);
            else
                return commands[i].run(p, n > 1 ? operands[1] : NULL, e);
            return EXIT_FAILED;
        }
    err_set(e, EINVAL, "say what to do: status, check, dump, restore or migrate");
    return EXIT_FAILED;
}

static int print_help(void)
{
    struct strbuf text;

    strbuf_init(&text, 1 << 16);
    options_usage(&options, &text);
    fputs(strbuf_str(&text), stdout);
    strbuf_fini(&text);
    return EXIT_FINE;
}

int main(int argc, char *argv[])
{
    struct pbs_store p = {0};
    struct err e = {0};
    int first, code = EXIT_FAILED;

    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return print_help();
    umask(077);
    if (argc == 2 && strcasecmp(argv[1], "--version") == 0)
        return conf_print_version();
    p.conf = conf_load(&e);
    if (p.conf)
        store_files_name(&p.files, conf_text(p.conf, CONF_PBS_HOME));
    if (!e.code && options_parse(&options, argc, argv, &first, &p, &e) == 0) {
        code = pbs_store_run(&p, argc - first, argv + first, &e);
    }
    if (e.code && code == EXIT_FAILED)
        fprintf(stderr, "pbs_store: %s\n", e.text);
    conf_destroy(p.conf);
    return fflush(stdout) == 0 ? code : EXIT_FAILED;
}
