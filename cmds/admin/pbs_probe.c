/* pbs_probe: check that the directories and files of PBS_HOME and PBS_EXEC exist, with the owners and modes that
 * daemons and users need. It reports differences; with -f it corrects owners and modes and makes missing directories.
 * All below PBS_HOME belongs to its owner, except what server and scheduler write where PBS_DAEMON_SERVICE_USER is
 * another user.
 *
 * Only what this host runs is checked: folders of a daemon that has never run here (a MOM's on a server's host) may
 * be missing; where its lock file is, they are required. */
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "conf.h"

struct probe {
    struct cmd_args a;
    bool fix, verbose;
    int problems;
    bool knows_owners;    /* PBS_HOME exists */
    uid_t owner, service; /* of what is below PBS_HOME; of what server and scheduler write */
};

static const struct option_row rows[] = {
    CMD_FLAG('f', struct probe, fix, "correct what is wrong"),
    CMD_FLAG('v', struct probe, verbose, "name what is right, too"),
};

enum pbs_probe_kind { DIRECTORY, PLAIN };
#define ALWAYS   NULL /* it is required */
#define IF_THERE ""   /* it may exist or not */
#define SERVER   "server_priv/server.lock"
#define SCHED    "sched_priv/sched.lock"
#define MOM      "mom_priv/mom.lock"

/* `with`: required where this file exists. `may`: bits of the mode that the site may choose. */
static const struct pbs_probe_row {
    enum conf_key root;
    const char *path;
    enum pbs_probe_kind kind;
    const char *with;
    mode_t mode, may;
} wanted[] = {
    {CONF_PBS_EXEC, "bin", DIRECTORY, ALWAYS, 0755, 0},
    {CONF_PBS_EXEC, "sbin", DIRECTORY, ALWAYS, 0755, 0},
    {CONF_PBS_EXEC, "lib", DIRECTORY, ALWAYS, 0755, 0},
    {CONF_PBS_EXEC, "libexec", DIRECTORY, IF_THERE, 0755, 0},
    {CONF_PBS_HOME, "", DIRECTORY, ALWAYS, 0755, 0},
    {CONF_PBS_HOME, "server_logs", DIRECTORY, SERVER, 0755, 0},
    {CONF_PBS_HOME, "server_priv", DIRECTORY, IF_THERE, 0750, 0},
    {CONF_PBS_HOME, "server_priv/accounting", DIRECTORY, SERVER, 0755, 0},
    {CONF_PBS_HOME, "server_priv/jobs", DIRECTORY, SERVER, 0750, 0},
    {CONF_PBS_HOME, "server_priv/users", DIRECTORY, SERVER, 0750, 0},
    {CONF_PBS_HOME, "server_priv/hooks", DIRECTORY, SERVER, 0750, 0},
    {CONF_PBS_HOME, "server_priv/hooks/tmp", DIRECTORY, SERVER, 0750, 0},
    {CONF_PBS_HOME, "server_priv/cede.db", PLAIN, IF_THERE, 0600, 0044},
    {CONF_PBS_HOME, "server_priv/db_password", PLAIN, IF_THERE, 0600, 0},
    {CONF_PBS_HOME, "server_priv/resourcedef", PLAIN, IF_THERE, 0644, 0044},
    {CONF_PBS_HOME, "pbs_environment", PLAIN, IF_THERE, 0644, 0},
    {CONF_PBS_HOME, "pbs_version", PLAIN, IF_THERE, 0644, 0},
    {CONF_PBS_HOME, "sched_logs", DIRECTORY, SCHED, 0755, 0},
    {CONF_PBS_HOME, "sched_priv", DIRECTORY, IF_THERE, 0750, 0},
    {CONF_PBS_HOME, "sched_priv/sched_config", PLAIN, IF_THERE, 0644, 0044},
    {CONF_PBS_HOME, "sched_priv/resource_group", PLAIN, IF_THERE, 0644, 0044},
    {CONF_PBS_HOME, "sched_priv/holidays", PLAIN, IF_THERE, 0644, 0044},
    {CONF_PBS_HOME, "sched_priv/dedicated_time", PLAIN, IF_THERE, 0644, 0044},
    {CONF_PBS_HOME, "sched_priv/usage", PLAIN, IF_THERE, 0644, 0044},
    {CONF_PBS_HOME, "mom_logs", DIRECTORY, MOM, 0755, 0},
    {CONF_PBS_HOME, "mom_priv", DIRECTORY, IF_THERE, 0751, 0},
    {CONF_PBS_HOME, "mom_priv/jobs", DIRECTORY, MOM, 0751, 0},
    {CONF_PBS_HOME, "mom_priv/config", PLAIN, IF_THERE, 0644, 0044},
    {CONF_PBS_HOME, "mom_priv/config.d", DIRECTORY, MOM, 0700, 0},
    {CONF_PBS_HOME, "spool", DIRECTORY, MOM, 0755, 0},
    {CONF_PBS_HOME, "undelivered", DIRECTORY, MOM, 01777, 0},
    {CONF_PBS_HOME, "aux", DIRECTORY, MOM, 0755, 0},
    {CONF_PBS_HOME, "checkpoint", DIRECTORY, MOM, 0711, 0011},
    {CONF_PBS_HOME, "certs", DIRECTORY, IF_THERE, 0755, 0},
    {CONF_PBS_HOME, "certs/ca.key", PLAIN, IF_THERE, 0600, 0},
};

static void pbs_probe_complain(struct probe *q, const char *path, const char *what, bool mended)
{
    printf("%s: %s%s\n", path, what, mended ? ", mended" : "");
    if (!mended)
        q->problems++;
}

static void name_user(uid_t uid, char out[static 64])
{
    const struct passwd *pw = getpwuid(uid);

    if (pw)
        snprintf(out, 64, "%s", pw->pw_name);
    else
        snprintf(out, 64, "%u", (unsigned)uid);
}

static bool is_of_service(const struct pbs_probe_row *r)
{
    static const char *const of[] = {"sched_", "server_", "certs"};

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        if (strncmp(r->path, of[i], strlen(of[i])) == 0)
            return true;
    return false;
}

static uid_t pbs_probe_owner_of(const struct probe *q, const struct pbs_probe_row *r)
{
    return is_of_service(r) ? q->service : q->owner;
}

/* A daemon takes over a folder and what is in it at its next start, as long as the folder is root's. */
static bool is_to_be_given(const struct probe *q, const char *path, uid_t uid)
{
    char above[4400];
    struct stat st;

    snprintf(above, sizeof above, "%.*s", (int)(strrchr(path, '/') - path), path);
    return uid == q->owner && stat(above, &st) == 0 && st.st_uid == q->owner;
}

/* Create it with the owner that pbs_probe_check_owner asks for. */
static bool pbs_probe_make(const struct probe *q, const struct pbs_probe_row *r, const char *path)
{
    return mkdir(path, r->mode) == 0 && chmod(path, r->mode) == 0 &&
           (!q->knows_owners || lchown(path, pbs_probe_owner_of(q, r), (gid_t)-1) == 0);
}

static void pbs_probe_missing(struct probe *q, const struct pbs_probe_row *r, const char *root,
                              const char *path)
{
    char with[4300];
    struct stat st;

    snprintf(with, sizeof with, "%s/%s", root, r->with ? r->with : "");
    if (r->with && (!*r->with || stat(with, &st) < 0))
        return;
    pbs_probe_complain(q, path, "is missing", q->fix && r->kind == DIRECTORY && pbs_probe_make(q, r, path));
}

/* Check the owner. */
static void pbs_probe_check_owner(struct probe *q, const struct pbs_probe_row *r, const char *path, uid_t uid)
{
    const uid_t want = pbs_probe_owner_of(q, r);
    char is[64], should[64], what[200];

    if (!q->knows_owners || r->root != CONF_PBS_HOME || uid == want || is_to_be_given(q, path, uid))
        return;
    name_user(uid, is);
    name_user(want, should);
    snprintf(what, sizeof what, "its owner is %s and should be %s", is, should);
    pbs_probe_complain(q, path, what, q->fix && lchown(path, want, (gid_t)-1) == 0);
}

static void find_owners(struct probe *q, const struct conf *conf)
{
    const char *home = conf_text(conf, CONF_PBS_HOME), *user = conf_text(conf, CONF_PBS_DAEMON_SERVICE_USER);
    const struct passwd *pw;
    struct stat st;

    q->knows_owners = stat(home, &st) == 0;
    if (!q->knows_owners)
        return;
    q->owner = q->service = st.st_uid;
    if (st.st_uid == 0 && user && (pw = getpwnam(user)))
        q->service = pw->pw_uid;
}

static void check_mode(struct probe *q, const struct pbs_probe_row *r, const char *path, mode_t mode)
{
    char what[64];

    if (((mode ^ r->mode) & 07777 & ~r->may) == 0) {
        if (q->verbose)
            printf("%s: right\n", path);
        return;
    }
    snprintf(what, sizeof what, "its mode is %04o and should be %04o", (unsigned)(mode & 07777),
             (unsigned)r->mode);
    pbs_probe_complain(q, path, what, q->fix && chmod(path, r->mode) == 0);
}

static void pbs_probe_check(struct probe *q, const struct pbs_probe_row *r, const char *root)
{
    char path[4300];
    struct stat st;

    snprintf(path, sizeof path, "%s%s%s", root, *r->path ? "/" : "", r->path);
    if (lstat(path, &st) < 0 && errno == ENOENT)
        pbs_probe_missing(q, r, root, path);
    else if (errno && lstat(path, &st) < 0)
        pbs_probe_complain(q, path, strerror(errno), false);
    else if (S_ISLNK(st.st_mode))
        pbs_probe_complain(q, path, "is a symbolic link", false);
    else if ((r->kind == DIRECTORY) != (bool)S_ISDIR(st.st_mode))
        pbs_probe_complain(q, path, r->kind == DIRECTORY ? "is not a directory" : "is not a file", false);
    else {
        pbs_probe_check_owner(q, r, path, st.st_uid);
        check_mode(q, r, path, st.st_mode);
    }
}

static int pbs_probe_run(void *settings, int n, char *operands[])
{
    struct probe *q = settings;
    struct conf *conf;
    struct err e;

    if (n)
        return cmd_usage(&q->a);
    if (q->fix && geteuid() != 0) {
        cmd_error(&q->a, "-f is for root");
        return 1;
    }
    conf = conf_load(&e);
    if (!conf) {
        cmd_error(&q->a, "%s", e.text);
        return 1;
    }
    find_owners(q, conf);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        errno = 0;
        pbs_probe_check(q, &wanted[i], conf_text(conf, wanted[i].root));
    }
    conf_destroy(conf);
    return q->problems ? 1 : 0;
}

const struct cmd command = {
    .options = {.program = "pbs_probe", CMD_ROWS(rows)},
    .usage = "usage: pbs_probe [-f|-v]\n",
    .usage_exit = 1,
    .size = sizeof(struct probe),
    .run = pbs_probe_run,
};
