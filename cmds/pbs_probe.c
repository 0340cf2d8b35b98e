/* pbs_probe: are the directories and files of PBS_HOME and PBS_EXEC there, with the owners and modes that daemons and users need?
 * Says what is otherwise; with -f it mends owners and modes and makes directories that are missing. All below PBS_HOME is
 * its owner's, but what server and scheduler write where PBS_DAEMON_SERVICE_USER is another one.
 *
 * Only what this host runs is asked for: a folder that no daemon here has made yet (a MOM's on a server's host) is
 * nobody's mistake as long as its parent is not there either. */
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
    bool knows_owners;    /* PBS_HOME is there */
    uid_t owner, service; /* of what lies below it; of what server and scheduler write */
};

static const struct option_row rows[] = {
    CMD_FLAG('f', struct probe, fix, "mend what is wrong"),
    CMD_FLAG('v', struct probe, verbose, "name what is right, too"),
};

/* `may`: bits that may be missing or there as the site likes. `if_there`: not asked for where it is missing. */
static const struct row {
    enum conf_key root;
    const char *path;
    bool dir, if_there;
    mode_t mode, may;
} wanted[] = {
    {CONF_PBS_EXEC, "bin", true, false, 0755, 0},
    {CONF_PBS_EXEC, "sbin", true, false, 0755, 0},
    {CONF_PBS_EXEC, "lib", true, false, 0755, 0},
    {CONF_PBS_EXEC, "libexec", true, true, 0755, 0},
    {CONF_PBS_HOME, "", true, false, 0755, 0},
    {CONF_PBS_HOME, "server_logs", true, true, 0755, 0},
    {CONF_PBS_HOME, "server_priv", true, true, 0750, 0},
    {CONF_PBS_HOME, "server_priv/accounting", true, true, 0755, 0},
    {CONF_PBS_HOME, "server_priv/jobs", true, true, 0750, 0},
    {CONF_PBS_HOME, "server_priv/users", true, true, 0750, 0},
    {CONF_PBS_HOME, "server_priv/hooks", true, true, 0750, 0},
    {CONF_PBS_HOME, "server_priv/hooks/tmp", true, true, 0750, 0},
    {CONF_PBS_HOME, "server_priv/cede.db", false, true, 0600, 0044},
    {CONF_PBS_HOME, "server_priv/db_password", false, true, 0600, 0},
    {CONF_PBS_HOME, "sched_logs", true, true, 0755, 0},
    {CONF_PBS_HOME, "sched_priv", true, true, 0750, 0},
    {CONF_PBS_HOME, "mom_logs", true, true, 0755, 0},
    {CONF_PBS_HOME, "mom_priv", true, true, 0751, 0},
    {CONF_PBS_HOME, "mom_priv/jobs", true, true, 0751, 0},
    {CONF_PBS_HOME, "mom_priv/config", false, true, 0644, 0044},
    {CONF_PBS_HOME, "mom_priv/config.d", true, true, 0700, 0},
    {CONF_PBS_HOME, "spool", true, true, 01777, 0},
    {CONF_PBS_HOME, "undelivered", true, true, 01777, 0},
    {CONF_PBS_HOME, "aux", true, true, 0755, 0},
    {CONF_PBS_HOME, "checkpoint", true, true, 0711, 0011},
    {CONF_PBS_HOME, "certs", true, true, 0700, 0055},
    {CONF_PBS_HOME, "certs/ca.key", false, true, 0600, 0},
};

static void complain(struct probe *q, const char *path, const char *what, bool mended)
{
    printf("%s: %s%s\n", path, what, mended ? ", mended" : "");
    if (!mended)
        q->problems++;
}

static void missing(struct probe *q, const struct row *r, const char *path)
{
    if (r->if_there)
        return;
    complain(q, path, "is missing",
             q->fix && r->dir && mkdir(path, r->mode) == 0 && chmod(path, r->mode) == 0);
}

static void name_user(uid_t uid, char out[static 64])
{
    const struct passwd *pw = getpwuid(uid);

    if (pw)
        snprintf(out, 64, "%s", pw->pw_name);
    else
        snprintf(out, 64, "%u", (unsigned)uid);
}

static bool is_of_service(const struct row *r)
{
    static const char *const of[] = {"sched_", "server_", "certs"};

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        if (strncmp(r->path, of[i], strlen(of[i])) == 0)
            return true;
    return false;
}

/* A daemon takes a folder and what is in it at its next start, as long as the folder is root's. */
static bool is_to_be_given(const struct probe *q, const char *path, uid_t uid)
{
    char above[4400];
    struct stat st;

    snprintf(above, sizeof above, "%.*s", (int)(strrchr(path, '/') - path), path);
    return uid == q->owner && stat(above, &st) == 0 && st.st_uid == q->owner;
}

/* Whose is it? */
static void check_owner(struct probe *q, const struct row *r, const char *path, uid_t uid)
{
    const uid_t want = is_of_service(r) ? q->service : q->owner;
    char is[64], should[64], what[200];

    if (!q->knows_owners || r->root != CONF_PBS_HOME || uid == want || is_to_be_given(q, path, uid))
        return;
    name_user(uid, is);
    name_user(want, should);
    snprintf(what, sizeof what, "its owner is %s and should be %s", is, should);
    complain(q, path, what, q->fix && lchown(path, want, (gid_t)-1) == 0);
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

static void check_mode(struct probe *q, const struct row *r, const char *path, mode_t mode)
{
    char what[64];

    if (((mode ^ r->mode) & 07777 & ~r->may) == 0) {
        if (q->verbose)
            printf("%s: right\n", path);
        return;
    }
    snprintf(what, sizeof what, "its mode is %04o and should be %04o", (unsigned)(mode & 07777),
             (unsigned)r->mode);
    complain(q, path, what, q->fix && chmod(path, r->mode) == 0);
}

static void check(struct probe *q, const struct row *r, const char *root)
{
    char path[4300];
    struct stat st;

    snprintf(path, sizeof path, "%s%s%s", root, *r->path ? "/" : "", r->path);
    if (lstat(path, &st) < 0 && errno == ENOENT)
        missing(q, r, path);
    else if (errno && lstat(path, &st) < 0)
        complain(q, path, strerror(errno), false);
    else if (S_ISLNK(st.st_mode))
        complain(q, path, "is a symbolic link", false);
    else if (r->dir != (bool)S_ISDIR(st.st_mode))
        complain(q, path, r->dir ? "is no directory" : "is no file", false);
    else {
        check_owner(q, r, path, st.st_uid);
        check_mode(q, r, path, st.st_mode);
    }
}

static int run(void *settings, int n, char *operands[])
{
    struct probe *q = settings;
    struct conf *conf;
    struct err e;

    (void)operands;
    if (n)
        return cmd_usage(&q->a);
    if (q->fix && geteuid() != 0) {
        cmd_say(&q->a, "-f is for root");
        return 1;
    }
    conf = conf_load(&e);
    if (!conf) {
        cmd_say(&q->a, "%s", e.text);
        return 1;
    }
    find_owners(q, conf);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        errno = 0;
        check(q, &wanted[i], conf_text(conf, wanted[i].root));
    }
    conf_destroy(conf);
    return q->problems ? 1 : 0;
}

const struct cmd command = {
    .options = {.program = "pbs_probe", CMD_ROWS(rows)},
    .usage = "usage: pbs_probe [-f|-v]\n",
    .usage_exit = 1,
    .size = sizeof(struct probe),
    .run = run,
};
