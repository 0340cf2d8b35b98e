/* PBS_HOME as the server needs it. See server_home.h. */
#include "server_home.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon.h"
#include "file.h"
#include "home_files.h"

/* A parent comes before its children. */
static const struct home_dir dirs[] = {
    {"server_logs", 0755},          {"server_priv", 0750},       {"server_priv/accounting", 0755},
    {"server_priv/jobs", 0750},     {"server_priv/users", 0750}, {"server_priv/hooks", 0750},
    {"server_priv/hooks/tmp", 0750}};

/* Only where the server is not root. */
static const struct home_dir own_dirs[] = {{"certs", 0755}, {"server_sock", 0755}};
static const char in_home[] = "server_sock/pbs_server.sock";

enum { N_DIRS = sizeof dirs / sizeof dirs[0], N_OWN = sizeof own_dirs / sizeof own_dirs[0] };

int server_home_make(const struct server_settings *s, struct err *e)
{
    return home_files_make(s->home, dirs, N_DIRS, e);
}

/* A folder is given with what lies in it, and only while it is root's: so those deeper down come first. What lies above
 * one may belong to the service user since an earlier start: no link of that user leads this process elsewhere. */
static int server_home_give(int home, const struct home_dir *list, int n, uid_t uid, gid_t gid, struct err *e)
{
    for (int i = n - 1; i >= 0; i--)
        if (file_hand_over(home, list[i].name, uid, gid, e) < 0)
            return -1;
    return 0;
}

static int give_all(const char *path, uid_t uid, gid_t gid, struct err *e)
{
    int home = file_open_dir(AT_FDCWD, path, e), rc;

    if (home < 0)
        return -1;
    rc = server_home_give(home, own_dirs, N_OWN, uid, gid, e) < 0
             ? -1
             : server_home_give(home, dirs, N_DIRS, uid, gid, e);
    close(home);
    return rc;
}

static int link_socket(const struct server_settings *s, struct err *e)
{
    char now[sizeof in_home + 1] = "";

    if (readlink(s->socket, now, sizeof now - 1) > 0 && strcmp(now, in_home) == 0)
        return 0;
    if ((unlink(s->socket) < 0 && errno != ENOENT) || symlink(in_home, s->socket) < 0)
        return err_errno(e, errno, "cannot make %.300s a link to %s", s->socket, in_home);
    return 0;
}

int server_home_settle(struct server_settings *s, struct err *e)
{
    const char *user = conf_text(s->conf, CONF_PBS_DAEMON_SERVICE_USER);
    uid_t uid;
    gid_t gid;

    if (daemon_account(user, &uid, &gid, e) < 0)
        return -1;
    if (uid == geteuid())
        return 0;
    if (home_files_make(s->home, own_dirs, N_OWN, e) < 0 || give_all(s->home, uid, gid, e) < 0 ||
        link_socket(s, e) < 0 || daemon_become(user, e) < 0)
        return -1;
    snprintf(s->socket, sizeof s->socket, "%s/%s", s->home, in_home);
    return 0;
}
