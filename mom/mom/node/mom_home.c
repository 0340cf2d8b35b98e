/* Found once, in this order: paths from pbs.conf, names of this host, missing directories, the jobs'
 * environment, the MOM's own configuration, and at last the directory of images, which the configuration may
 * name. Configuration and vnode files are read as a pair: both are good, or both stay as they were.
 *
 * PBS_HOME may be shared with a server, and PBS_MOM_HOME is then ours; only the certificates and
 * pbs_environment are looked for in PBS_HOME in any case. */
#include "mom_home.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "mom_config.h"
#include "daemon.h"
#include "file.h"
#include "home_files.h"
#include "log.h"
#include "numa.h"
#include "procs.h"
#include "strbuf.h"
#include "vnodes.h"

enum {
    QUERY_S = 10,
    PATH_LEN_MAX = 8192,
    ENVIRONMENT_MAX = 1 << 20,
    HOST_LEN_MAX = 256,
    NUMBER_MAX = 64,
    PIDS_LEAST = 1024,
    PIDS_MOST = 32768
};

static char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *text(const char *fmt, ...)
{
    struct strbuf b;
    va_list ap;

    strbuf_init(&b, PATH_LEN_MAX);
    va_start(ap, fmt);
    strbuf_vaddf(&b, fmt, ap);
    va_end(ap);
    return strbuf_take(&b);
}

static int find_names(struct home *h, struct err *e)
{
    const char *node = conf_text(h->conf, CONF_PBS_MOM_NODE_NAME);
    char host[HOST_LEN_MAX] = "";

    if (gethostname(host, sizeof host - 1) < 0)
        return err_errno(e, errno, "cannot tell the host's name");
    h->host = strdup(host);
    if (node)
        h->node = strdup(node);
    else
        h->node = text("%.*s", (int)strcspn(host, "."), host);
    h->service = text("mom:%s", h->node);
    procs_numbers_id(h->numbers);
    return procs_boot_id(h->boot, e);
}

/* PBS_HOME may be shared with a second server; what belongs to this host is then elsewhere. */
static const char *home_of(const struct conf *conf)
{
    return conf_text(conf, conf_is_set(conf, CONF_PBS_MOM_HOME) ? CONF_PBS_MOM_HOME : CONF_PBS_HOME);
}

char *home_vnode_dir(const struct conf *conf)
{
    return text("%s/mom_priv/config.d", home_of(conf));
}

static void find_paths(struct home *h)
{
    const char *pbs_home = conf_text(h->conf, CONF_PBS_HOME), *home = home_of(h->conf);

    h->priv = text("%s/mom_priv", home);
    h->jobs = text("%s/mom_priv/jobs", home);
    h->logs = text("%s/mom_logs", home);
    h->spool = text("%s/spool", home);
    h->undelivered = text("%s/undelivered", home);
    h->aux = text("%s/aux", home);
    h->lock = text("%s/mom_priv/mom.lock", home);
    h->config_file = text("%s/mom_priv/config", home);
    h->vnode_dir = home_vnode_dir(h->conf);
    h->certs = text("%s/certs", pbs_home);
    h->terminal = text("%s/libexec/pbs_terminal", conf_text(h->conf, CONF_PBS_EXEC));
    h->shepherd = text("%s/libexec/pbs_shepherd", conf_text(h->conf, CONF_PBS_EXEC));
}

/* Another system, or an older MOM, has made it writable by all: then any user could take the name of a job's output. */
static int close_to_others(const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    struct stat st;

    if (fd < 0)
        return err_errno(e, errno, "cannot open %s", path);
    if (fstat(fd, &st) < 0 ||
        ((st.st_mode & 022) && st.st_uid == geteuid() && fchmod(fd, st.st_mode & 0755) < 0))
        rc = err_errno(e, errno, "cannot close %s to others", path);
    close(fd);
    return rc;
}

/* mom_priv is the site's as much as ours: prologue, epilogue and config lie in it. */
static int make_dirs(const struct home *h, struct err *e)
{
    static const struct home_dir dirs[] = {
        {"mom_priv", 0751}, {"mom_priv/jobs", 0751}, {"mom_priv/config.d", 0700},
        {"mom_logs", 0755}, {"spool", 0755},         {"undelivered", 01777},
        {"aux", 0755},      {"checkpoint", 0711}};

    if (home_files_make(home_of(h->conf), dirs, sizeof dirs / sizeof dirs[0], e) < 0)
        return -1;
    return close_to_others(h->spool, e);
}

/* NAME=value, or NAME to take ours. */
static void take_environment_line(struct home *h, char *line)
{
    char *trimmed = words_trim(line);

    if (!trimmed[0] || trimmed[0] == '#')
        return;
    if (strchr(trimmed, '=')) {
        words_add(&h->environment, trimmed, NULL);
    } else if (getenv(trimmed)) {
        char *both = text("%s=%s", trimmed, getenv(trimmed));

        if (both)
            words_add(&h->environment, both, NULL);
        free(both);
    }
}

static int read_environment(struct home *h, struct err *e)
{
    char *path = conf_is_set(h->conf, CONF_PBS_ENVIRONMENT)
                     ? strdup(conf_text(h->conf, CONF_PBS_ENVIRONMENT))
                     : text("%s/pbs_environment", conf_text(h->conf, CONF_PBS_HOME));
    char *bytes = NULL, *rest, *line;
    struct err why = {0};
    int rc = 0;

    words_init(&h->environment);
    if (!path || file_read(AT_FDCWD, path, ENVIRONMENT_MAX, &bytes, NULL, &why) < 0) {
        if (why.code == ENOENT)
            words_add(&h->environment, "PATH=/bin:/usr/bin", NULL);
        else
            rc = err_set(e, why.code, "%s", why.text);
    }
    rest = bytes;
    while (rest && (line = strsep(&rest, "\n")))
        take_environment_line(h, line);
    free(bytes);
    free(path);
    return rc;
}

/* At the start there is no earlier configuration to compare with. */
static void say_fixed(const struct home *h, const struct config *now)
{
    const char *name;
    size_t at = 0;

    while (h->config && (name = config_next_fixed(h->config, now, &at)))
        log_event(LOGC_SVR, LOGE_SYSTEM | LOGE_ADMIN, "config",
                  "$%s has changed: restart pbs_mom to apply it", name);
}

int home_load_config(struct home *h, struct err *e)
{
    struct config *c = config_load(h->config_file, e);
    char *own = !c ? NULL : c->vnode_per_numa_node ? numa_lines(h->node, e) : strdup("");
    struct vnodes *v = own ? vnodes_load(h->vnode_dir, own, e) : NULL;

    free(own);
    if (!v) {
        config_destroy(c);
        return -1;
    }
    vnodes_destroy(h->vnodes);
    h->vnodes = v;
    for (size_t i = 0; i < v->n_faults; i++)
        log_event(LOGC_NODE, LOGE_SYSTEM | LOGE_ADMIN, h->node, "%s", v->errors[i]);
    say_fixed(h, c);
    config_destroy(h->config);
    h->config = c;
    h->our_names[0] = h->host;
    h->our_names[1] = h->node;
    h->our_names[2] = c->momname;
    return 0;
}

/* Open a directory that another system has made for root alone: programs that save themselves must reach their own below
 * it. */
static int open_to_pass(const char *path, struct err *e)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return err_errno(e, errno, "cannot look at %s", path);
    if ((st.st_mode & 011) == 011 || st.st_uid != geteuid())
        return 0;
    return chmod(path, (st.st_mode & 07777) | 011) < 0 ? err_errno(e, errno, "cannot open %s", path) : 0;
}

/* The environment says it before the configuration does. What a job's programs keep lies below, so that others may
 * pass through but not look around. */
static char *choose_checkpoint_dir(struct home *h, const char *said, const char *home)
{
    const char *env = getenv("PBS_CHECKPOINT_PATH");

    h->checkpoint_from = said                         ? "checkpoint path from command line"
                         : env && env[0] == '/'       ? "checkpoint path from environment"
                         : h->config->checkpoint_path ? "checkpoint path from config file"
                                                      : "default checkpoint path";
    if (said || (env && env[0] == '/'))
        return strdup(said ? said : env);
    return h->config->checkpoint_path ? strdup(h->config->checkpoint_path) : text("%s/checkpoint", home);
}

static int find_checkpoint_dir(struct home *h, const char *said, struct err *e)
{
    if (said && said[0] != '/')
        return err_set(e, EINVAL, "-C %s: not an absolute path", said);
    h->checkpoint = choose_checkpoint_dir(h, said, home_of(h->conf));
    if (!h->checkpoint)
        return err_no_memory(e);
    if (file_make_dirs(h->checkpoint, 0711, e) < 0)
        return -1;
    return open_to_pass(h->checkpoint, e);
}

static uint64_t kernel_number(const char *path)
{
    char *text = NULL;
    uint64_t n = 0;

    if (file_read(AT_FDCWD, path, NUMBER_MAX, &text, NULL, NULL) == 0)
        n = strtoull(text, NULL, 10);
    free(text);
    return n;
}

/* One job may have a quarter of what the kernel can hold: the host, its daemons and other jobs live on. */
static void find_pids_max(struct home *h)
{
    uint64_t pids = kernel_number("/proc/sys/kernel/pid_max"),
             threads = kernel_number("/proc/sys/kernel/threads-max");

    h->pids_max = (pids < threads ? pids : threads) / 4;
    if (h->pids_max < PIDS_LEAST)
        h->pids_max = PIDS_LEAST;
    if (h->pids_max > PIDS_MOST)
        h->pids_max = PIDS_MOST;
}

/* The default file may be missing; a file that was named may not. */
static int take_config_file(struct home *h, const char *said, struct err *e)
{
    if (!said)
        return 0;
    free(h->config_file);
    h->config_file = said[0] == '/' ? strdup(said) : text("%s/%s", h->priv, said);
    if (!h->config_file)
        return err_no_memory(e);
    return access(h->config_file, R_OK) < 0 ? err_errno(e, errno, "cannot read %s", h->config_file) : 0;
}

int home_open(struct home *h, const struct conf *conf, const struct home_options *o, struct err *e)
{
    *h = (struct home){.conf = conf, .query_s = o->query_s ? o->query_s : QUERY_S};
    find_paths(h);
    if (find_names(h, e) < 0 || make_dirs(h, e) < 0 || read_environment(h, e) < 0 ||
        take_config_file(h, o->config, e) < 0 || home_load_config(h, e) < 0 ||
        find_checkpoint_dir(h, o->checkpoint, e) < 0) {
        home_close(h);
        return -1;
    }
    if (cpus_look(&h->cpus, e) < 0) {
        home_close(h);
        return -1;
    }
    confine_probe(&h->freezer);
    if (confine_own(&h->freezer, h->jobs, e) < 0) {
        home_close(h);
        return -1;
    }
    find_pids_max(h);
    return 0;
}

int home_check(const struct conf *conf, const struct home_options *o, struct err *e)
{
    struct home h = {.conf = conf};
    int rc;

    find_paths(&h);
    rc = find_names(&h, e) < 0 || take_config_file(&h, o->config, e) < 0 || home_load_config(&h, e) < 0 ? -1
                                                                                                        : 0;
    if (rc == 0 && h.vnodes->n_faults) /* the MOM starts with it, but not as its author meant it */
        rc = err_set(e, EINVAL, "%s", h.vnodes->errors[0]);
    home_close(&h);
    return rc;
}

int home_raise_limits(struct home *h, struct err *e)
{
    if (getrlimit(RLIMIT_NOFILE, &h->job_files) < 0)
        return err_errno(e, errno, "cannot read our limit of open files");
    return daemon_set_limits(conf_core_bytes(h->conf), e);
}

char *home_epoch_of_pids(const struct home *h)
{
    return text("%s %s", h->boot, h->numbers);
}

bool home_is_this_boot(const struct home *h, const char *record)
{
    size_t n = strcspn(record, " ");

    return n == strlen(h->boot) && strncmp(record, h->boot, n) == 0;
}

bool home_has_those_pids(const struct home *h, const char *record)
{
    const char *numbers = strchr(record, ' ');

    return home_is_this_boot(h, record) && h->numbers[0] && numbers && strcmp(numbers + 1, h->numbers) == 0;
}

void home_close(struct home *h)
{
    char *const texts[] = {h->node,        h->service,    h->host,     h->priv,     h->jobs,     h->spool,
                           h->undelivered, h->aux,        h->logs,     h->certs,    h->shepherd, h->lock,
                           h->config_file, h->checkpoint, h->terminal, h->vnode_dir};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]);
    words_fini(&h->environment);
    config_destroy(h->config);
    vnodes_destroy(h->vnodes);
    cpus_fini(&h->cpus);
    *h = (struct home){0};
}
