/* pam_pbs: a PAM module that lets a user log in on this host only with a job there, and makes the login part of that job.
 *
 * sshd asks `account` once it knows who the user is, as root, in the process that will be the parent of all that the user starts; its
 * refusal is the only one that sshd obeys, so the session is attached there. `session` comes later, and only repeats it: modules in
 * between (pam_systemd) move the process into groups of their own.
 *
 * Each job here has a shepherd that listens in PBS_HOME/aux, with or without a MOM. They are asked one after the other, the newest job
 * first; the first that takes the login in has it. Nothing of the environment is looked at, every wait has a deadline, and what
 * cannot be found out refuses. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <security/pam_modules.h>
#include <security/pam_ext.h>
#include <security/pam_modutil.h>

#include "clock.h"
#include "conf.h"
#include "file.h"
#include "pam_ask.h"
#include "pam_jobs.h"
#include "pam_options.h"
#include "strbuf.h"

/* ALL_MS: well below LoginGraceTime (120 s) of sshd, and room for two shepherds that do not answer. */
enum { ALL_MS = 10000, PATH_LEN_MAX = 4096, HOST_MAX = 256 };

#define JOB_VARIABLE "PBS_JOBID"

struct login {
    pam_handle_t *pamh;
    struct pam_options options;
    bool silent;
    const char *user;
    uid_t uid;
    char host[HOST_MAX];
    char *aux;
    pid_t leader; /* of the session; 0: it is not attached */
    struct pam_jobs jobs;
};

/* ---- who it is */
static bool is_in_group(const struct login *l)
{
    const char *list = l->options.groups;
    char name[LOGIN_NAME_MAX];

    while (list && *list) {
        size_t n = strcspn(list, ",");

        if (n && n < sizeof name && snprintf(name, sizeof name, "%.*s", (int)n, list) > 0 &&
            pam_modutil_user_in_group_nam_nam(l->pamh, l->user, name))
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

/* PAM_IGNORE: this module has nothing to say about the login. */
static int login_of_whom(struct login *l)
{
    const char *service = NULL;
    const struct passwd *p;

    if (pam_get_user(l->pamh, &l->user, NULL) != PAM_SUCCESS || !l->user || !l->user[0])
        return PAM_USER_UNKNOWN;
    pam_get_item(l->pamh, PAM_SERVICE, (const void **)&service);
    if (l->options.services && !pam_options_has(l->options.services, service ? service : ""))
        return PAM_IGNORE;
    p = pam_modutil_getpwnam(l->pamh, l->user);
    if (!p)
        return PAM_USER_UNKNOWN;
    l->uid = p->pw_uid;
    if ((l->uid == 0 && !l->options.refuse_root) || pam_options_has(l->options.users, l->user) ||
        is_in_group(l))
        return PAM_IGNORE;
    return PAM_SUCCESS;
}

/* ---- where the jobs are */
static const char *no_environment(const char *name)
{
    return NULL;
}

static int login_find_aux(struct login *l, struct err *e)
{
    const char *path = l->options.conf ? l->options.conf : CONF_PATH, *home;
    struct conf *c = NULL;
    char *text = NULL;
    struct strbuf b;

    if (file_read(AT_FDCWD, path, CONF_FILE_MAX, &text, NULL, e) < 0)
        return -1;
    c = conf_parse(text, no_environment, e);
    free(text);
    if (!c)
        return -1;
    home = conf_text(c, conf_is_set(c, CONF_PBS_MOM_HOME) ? CONF_PBS_MOM_HOME : CONF_PBS_HOME);
    strbuf_init(&b, PATH_LEN_MAX);
    if (strbuf_addf(&b, "%s/aux", home) == 0)
        l->aux = strbuf_take(&b);
    strbuf_fini(&b);
    conf_destroy(c);
    return l->aux ? 0 : err_set(e, ENOMEM, "no memory for the name of a directory");
}

/* ---- what is attached */

/* The whole session becomes part of the job, so it must be the login's own: begun by this program. That of su(1) is its caller's. */
static int login_find_session(struct login *l, struct err *e)
{
    pid_t leader = getsid(0);
    struct stat ours, its;
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/exe", (int)leader);
    if (leader <= 1 || stat("/proc/self/exe", &ours) < 0 || stat(path, &its) < 0 ||
        ours.st_dev != its.st_dev || ours.st_ino != its.st_ino)
        return err_set(e, EINVAL, "the program of this login has made no session of its own");
    l->leader = leader;
    return 0;
}

/* ---- the shepherds are asked */
static void login_debug(const struct login *l, const char *job, int rc, const struct err *e)
{
    if (l->options.debug)
        pam_syslog(l->pamh, LOG_DEBUG, "user %s, job %s: %s", l->user, job, rc ? e->text : "let in");
}

/* The first job that has no objection; NULL: none, with the objection of the newest job that is running in `why` and its name in
 * `whose`, if there is one. */
static const struct pam_jobs_entry *login_choose(const struct login *l, const struct pam_jobs_entry **whose,
                                                 struct err *why)
{
    int64_t until_mono_ms = clock_real_mono_ms() + ALL_MS;

    *whose = NULL;
    for (size_t i = 0; i < l->jobs.n; i++) {
        const struct pam_jobs_entry *j = &l->jobs.list[i];
        struct pam_ask a = {
            .aux = l->aux, .job = j->name, .uid = l->uid, .pid = l->leader, .attach = l->leader > 0};
        int64_t left_ms = until_mono_ms - clock_real_mono_ms();
        struct err e = {0};
        int rc;

        if (left_ms <= 0)
            break;
        rc = pam_ask(&a, left_ms < PAM_ASK_MS ? left_ms : PAM_ASK_MS, &e);
        login_debug(l, j->name, rc, &e);
        if (rc == 0)
            return j;
        if (rc != ENOENT && !*whose) {
            *whose = j;
            *why = e;
        }
    }
    return NULL;
}

/* ---- the answer */
static int login_deny(const struct login *l, const char *reason)
{
    pam_syslog(l->pamh, LOG_NOTICE, "access denied: %s", reason);
    if (!l->silent)
        pam_error(l->pamh, "Access denied by pam_pbs: %s", reason);
    return PAM_PERM_DENIED;
}

static int login_cannot(const struct login *l, const struct err *e)
{
    char reason[HOST_MAX + 64];

    pam_syslog(l->pamh, LOG_ERR, "%s", e->text);
    snprintf(reason, sizeof reason, "the jobs on %s cannot be looked up", l->host);
    return login_deny(l, reason);
}

static int login_refuse(const struct login *l, const struct pam_jobs_entry *whose, const struct err *why)
{
    char reason[ERR_TEXT_MAX + LOGIN_NAME_MAX + HOST_MAX + PAM_JOBS_NAME_MAX + 64];

    if (!whose)
        snprintf(reason, sizeof reason, "%s has no running job on %s", l->user, l->host);
    else if (why->code == ETIMEDOUT)
        snprintf(reason, sizeof reason, "job %s of %s on %s does not answer", whose->name, l->user, l->host);
    else
        snprintf(reason, sizeof reason, "job %s of %s on %s: %s", whose->name, l->user, l->host, why->text);
    return login_deny(l, reason);
}

static int login_accept(const struct login *l, const struct pam_jobs_entry *j)
{
    char variable[sizeof JOB_VARIABLE + PAM_JOBS_NAME_MAX + 1];

    if (!l->leader)
        return PAM_SUCCESS;
    pam_syslog(l->pamh, LOG_INFO, "user %s: session %d is attached to job %s", l->user, (int)l->leader,
               j->name);
    snprintf(variable, sizeof variable, JOB_VARIABLE "=%s", j->name);
    return pam_putenv(l->pamh, variable) == PAM_SUCCESS ? PAM_SUCCESS : PAM_BUF_ERR;
}

/* ---- life of a login */
static int login_init(struct login *l, pam_handle_t *pamh, int flags, int argc, const char **argv)
{
    const char *bad;

    *l = (struct login){.pamh = pamh, .silent = flags & PAM_SILENT};
    bad = pam_options_parse(&l->options, argc, argv);
    if (bad)
        pam_syslog(pamh, LOG_ERR, "\"%s\" is not an option, and is left out", bad);
    if (gethostname(l->host, sizeof l->host) < 0)
        l->host[0] = '\0';
    l->host[sizeof l->host - 1] = '\0';
    return login_of_whom(l);
}

static void login_fini(struct login *l)
{
    pam_jobs_fini(&l->jobs);
    free(l->aux);
}

static int login_find_jobs(struct login *l, struct err *e)
{
    return login_find_aux(l, e) < 0 ? -1 : pam_jobs_find(&l->jobs, l->aux, l->uid, e);
}

int pam_sm_acct_mgmt(pam_handle_t *pamh, int flags, int argc, const char **argv)
{
    const struct pam_jobs_entry *chosen, *whose;
    struct err e = {0};
    struct login l;
    int rc = login_init(&l, pamh, flags, argc, argv);

    if (rc != PAM_SUCCESS)
        return rc;
    if (login_find_jobs(&l, &e) < 0) {
        rc = login_cannot(&l, &e);
    } else if (l.jobs.n && !l.options.no_attach && login_find_session(&l, &e) < 0) {
        rc = login_deny(&l, e.text);
    } else {
        chosen = login_choose(&l, &whose, &e);
        rc = chosen ? login_accept(&l, chosen) : login_refuse(&l, whose, &e);
    }
    login_fini(&l);
    return rc;
}

/* The job that `account` has chosen, if it still is a job of this user here. */
static const struct pam_jobs_entry *login_chosen_before(const struct login *l, const char *job)
{
    for (size_t i = 0; i < l->jobs.n; i++)
        if (strcmp(l->jobs.list[i].name, job) == 0)
            return &l->jobs.list[i];
    return NULL;
}

static int login_attach_again(struct login *l, const char *job, struct err *e)
{
    struct pam_ask a = {.job = job, .uid = l->uid, .attach = true};

    if (login_find_jobs(l, e) < 0 || login_find_session(l, e) < 0)
        return -1;
    if (!login_chosen_before(l, job))
        return err_set(e, ENOENT, "the job has ended");
    a.aux = l->aux;
    a.pid = l->leader;
    return pam_ask(&a, PAM_ASK_MS, e) == 0 ? 0 : -1;
}

int pam_sm_open_session(pam_handle_t *pamh, int flags, int argc, const char **argv)
{
    struct err e = {0};
    struct login l;
    int rc = login_init(&l, pamh, flags, argc, argv);
    const char *job = pam_getenv(pamh, JOB_VARIABLE);

    if (rc != PAM_SUCCESS || !job || l.options.no_attach)
        return rc == PAM_SUCCESS ? PAM_IGNORE : rc;
    if (login_attach_again(&l, job, &e) < 0) {
        pam_syslog(pamh, LOG_ERR, "user %s, job %s: %s", l.user, job, e.text);
        rc = PAM_SESSION_ERR;
    }
    login_fini(&l);
    return rc;
}

/* The end of a session is seen by the shepherd. */
int pam_sm_close_session(pam_handle_t *pamh, int flags, int argc, const char **argv)
{
    return PAM_SUCCESS;
}
