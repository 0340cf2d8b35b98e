/* PostgreSQL's own programs do the work, one after the other, each waited for: initdb once, pg_ctl for status, start
 * and stop. No state is kept: pg_ctl says whether the cluster runs. All output goes to one log, which errors name. */
#include "complex_pg.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complex_spawn.h"
#include "file.h"

/* initdb and pg_ctl on a slow disk take some ten seconds. */
enum { LIMIT_MS = 60000, ARGS_MAX = 24 };

struct pg {
    char bin[PATH_MAX]; /* where initdb and pg_ctl are */
    char data[PATH_MAX], log[PATH_MAX], socket[PATH_MAX];
};

bool complex_pg_is_used(const struct complex_dir *d)
{
    char path[PATH_MAX];

    return access(complex_dir_path(d, path, "pgsql"), F_OK) == 0;
}

static int find_programs(struct pg *p, struct err *e)
{
    glob_t g = {0};
    int rc = -1;

    if (glob("/usr/lib/postgresql/*/bin", 0, NULL, &g) == 0 && g.gl_pathc > 0)
        rc = snprintf(p->bin, sizeof p->bin, "%s", g.gl_pathv[g.gl_pathc - 1]) > 0 ? 0 : -1;
    globfree(&g);
    return rc == 0 ? 0 : err_set(e, ENOENT, "--store postgres needs PostgreSQL: make deps installs it");
}

static int complex_pg_find(const struct complex_dir *d, struct pg *p, struct err *e)
{
    (void)complex_dir_path(d, p->data, "pgsql/data");
    (void)complex_dir_path(d, p->log, "pgsql/log");
    return find_programs(p, e) < 0 ? -1 : complex_dir_pg_socket(d, p->socket, e);
}

/* What root puts before a command line: PostgreSQL refuses to run as root. */
static const char *const as_postgres[] = {
    "/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--", NULL};

/* Run a program of PostgreSQL; as root by way of setpriv. args ends with NULL. */
static int complex_pg_run(const struct pg *p, const char *program, const char *const args[], struct err *e)
{
    const char *argv[ARGS_MAX] = {0};
    char path[PATH_MAX + 32];
    size_t n = 0;

    (void)snprintf(path, sizeof path, "%s/%s", p->bin, program);
    for (size_t i = 0; geteuid() == 0 && as_postgres[i]; i++)
        argv[n++] = as_postgres[i];
    argv[n++] = path;
    for (size_t i = 0; args[i] && n < ARGS_MAX - 1; i++)
        argv[n++] = args[i];
    if (complex_spawn(argv, NULL, p->log, LIMIT_MS, e) == 0)
        return 0;
    return err_prefix(e, "%s failed, see %s", program, p->log);
}

/* Can the user postgres enter this folder? */
static bool may_enter(const char *folder)
{
    const char *argv[ARGS_MAX] = {0};
    size_t n = 0;

    for (; as_postgres[n]; n++)
        argv[n] = as_postgres[n];
    argv[n++] = "/usr/bin/test";
    argv[n++] = "-x";
    argv[n] = folder;
    return complex_spawn(argv, NULL, "/dev/null", LIMIT_MS, NULL) == 0;
}

int complex_pg_check(const struct complex_dir *d, struct err *e)
{
    char folder[PATH_MAX];

    if (geteuid() != 0 || !getpwnam("postgres") || may_enter(d->root))
        return 0;
    for (size_t i = 1; d->root[i]; i++) {
        if (d->root[i] != '/')
            continue;
        (void)snprintf(folder, sizeof folder, "%.*s", (int)i, d->root);
        if (access(folder, F_OK) == 0 && !may_enter(folder))
            return err_set(e, EACCES,
                           "--store postgres: the cluster runs as user postgres, which cannot enter %s; "
                           "chmod o+x %s, or choose another --dir",
                           folder, folder);
    }
    return 0;
}

/* Make the directories and the log for the user who runs the cluster. */
static int make_dirs(const struct complex_dir *d, const struct pg *p, struct err *e)
{
    struct passwd *pw = geteuid() == 0 ? getpwnam("postgres") : NULL;
    char top[PATH_MAX];

    (void)complex_dir_path(d, top, "pgsql");
    if (geteuid() == 0 && !pw)
        return err_set(e, ENOENT, "--store postgres as root needs a user postgres: make deps makes it");
    if (file_make_dirs(p->socket, 0700, e) < 0)
        return -1;
    if (file_append(AT_FDCWD, p->log, "", 0, 0644, e) < 0) /* the cluster writes to it too */
        return -1;
    if (pw && (chown(top, pw->pw_uid, pw->pw_gid) < 0 || chown(p->socket, pw->pw_uid, pw->pw_gid) < 0 ||
               chown(p->log, pw->pw_uid, pw->pw_gid) < 0))
        return err_set(e, errno, "cannot give %s to postgres: %s", top, strerror(errno));
    return 0;
}

static int init(const struct complex_dir *d, const struct pg *p, struct err *e)
{
    struct passwd *me = getpwuid(geteuid());
    const char *args[] = {"-D", p->data, "-A",         "trust", "-U", me ? me->pw_name : "pbs",
                          "-E", "UTF8",  "--locale=C", NULL};

    return make_dirs(d, p, e) < 0 ? -1 : complex_pg_run(p, "initdb", args, e);
}

static bool is_running(const struct pg *p)
{
    const char *args[] = {"-D", p->data, "status", NULL};

    return complex_pg_run(p, "pg_ctl", args, NULL) == 0;
}

bool complex_pg_is_running(const struct complex_dir *d)
{
    struct pg p;

    return complex_pg_find(d, &p, NULL) == 0 && is_running(&p);
}

int complex_pg_start(const struct complex_dir *d, struct err *e)
{
    char options[PATH_MAX + 64];
    struct pg p;

    if (complex_pg_find(d, &p, e) < 0 || complex_pg_check(d, e) < 0 ||
        (access(p.data, F_OK) != 0 && init(d, &p, e) < 0))
        return -1;
    if (is_running(&p))
        return 0;
    (void)snprintf(options, sizeof options, "-c listen_addresses='' -p 5432 -k '%s'", p.socket);
    return complex_pg_run(
        &p, "pg_ctl", (const char *const[]){"-D", p.data, "-o", options, "-l", p.log, "-w", "start", NULL},
        e);
}

int complex_pg_stop(const struct complex_dir *d, struct err *e)
{
    struct pg p;

    if (complex_pg_find(d, &p, e) < 0)
        return -1;
    if (!is_running(&p))
        return 0;
    return complex_pg_run(&p, "pg_ctl", (const char *const[]){"-D", p.data, "-m", "fast", "-w", "stop", NULL},
                          e);
}
