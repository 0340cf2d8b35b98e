/* The directory is the only record: there is no list of MOMs and no state. A MOM's pbs.conf is written last, since a
 * MOM exists when it has one. A MOM that was made in part only is a directory that is not counted; its name is used
 * up. */
#include "complex_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complex_ports.h"
#include "file.h"
#include "strbuf.h"

enum {
    CONF_TEXT_MAX = 16384,
    PG_PATH_MAX = 80, /* a socket address holds 107 bytes, and PostgreSQL adds a name */
};

const char *complex_dir_path(const struct complex_dir *d, char out[static PATH_MAX], const char *fmt, ...)
{
    size_t n = (size_t)snprintf(out, PATH_MAX, "%s/", d->root);
    int more = PATH_MAX;
    va_list ap;

    va_start(ap, fmt);
    if (n < PATH_MAX)
        more = vsnprintf(out + n, PATH_MAX - n, fmt, ap);
    va_end(ap);
    if (more < 0 || n + (size_t)more >= PATH_MAX)
        out[0] = '\0';
    return out;
}

/* --- finding ------------------------------------------------------------------------------------------------ */
static int find_exec(struct complex_dir *d, struct err *e)
{
    ssize_t n = readlink("/proc/self/exe", d->exec, sizeof d->exec - 1);

    if (n <= 0)
        return err_set(e, errno, "cannot find the directory of this program: %s", strerror(errno));
    d->exec[n] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(d->exec, '/');

        if (!slash || slash == d->exec)
            return err_set(e, ENOENT, "this program must be in the directory bin of PBS_EXEC");
        *slash = '\0';
    }
    return 0;
}

static bool is_complex(const char *root)
{
    char path[PATH_MAX + 16];

    (void)snprintf(path, sizeof path, "%s/home", root);
    if (access(path, F_OK) != 0)
        return false;
    (void)snprintf(path, sizeof path, "%s/mom", root);
    return access(path, F_OK) == 0;
}

static bool from_environment(char out[static PATH_MAX])
{
    const char *conf = getenv("PBS_CONF_FILE");
    char *slash;

    if (!conf || snprintf(out, PATH_MAX, "%s", conf) >= PATH_MAX)
        return false;
    slash = strrchr(out, '/');
    if (!slash || slash == out)
        return false;
    *slash = '\0';
    return is_complex(out);
}

int complex_dir_init(struct complex_dir *d, const char *dir, struct err *e)
{
    char cwd[PATH_MAX];

    if (find_exec(d, e) < 0)
        return -1;
    if (!dir && !is_complex("complex") && from_environment(d->root))
        return 0;
    dir = dir ? dir : "complex";
    if (*dir == '/') {
        if (snprintf(d->root, sizeof d->root, "%s", dir) >= (int)sizeof d->root)
            return err_set(e, ENAMETOOLONG, "the name of the directory is too long");
        return 0;
    }
    if (!getcwd(cwd, sizeof cwd))
        return err_set(e, errno, "cannot tell the current directory: %s", strerror(errno));
    if ((size_t)snprintf(d->root, sizeof d->root, "%s/%s", cwd, dir) >= sizeof d->root)
        return err_set(e, ENAMETOOLONG, "the name of the directory is too long");
    return 0;
}

bool complex_dir_exists(const struct complex_dir *d)
{
    return is_complex(d->root);
}

/* --- the files ---------------------------------------------------------------------------------------------- */
static int write_text(const char *path, struct strbuf *b, mode_t mode, struct err *e)
{
    int rc = -1;

    if (!strbuf_ok(b))
        (void)err_set(e, ENOMEM, "no memory for %s", path);
    else
        rc = file_write_quick(AT_FDCWD, path, b->s, b->len, mode, e);
    strbuf_fini(b);
    return rc;
}

int complex_dir_pg_socket(const struct complex_dir *d, char out[static PATH_MAX], struct err *e)
{
    char note[PATH_MAX], tmp[] = "/tmp/pbs_pgsql.XXXXXX", *text;

    (void)complex_dir_path(d, out, "pgsql/run");
    if (strlen(out) <= PG_PATH_MAX)
        return 0;
    (void)complex_dir_path(d, note, "pgsql/socket_directory");
    if (access(note, F_OK) == 0) {
        if (file_read(AT_FDCWD, note, PATH_MAX - 1, &text, NULL, e) < 0)
            return -1;
        (void)snprintf(out, PATH_MAX, "%s", text);
        free(text);
        return 0;
    }
    if (!mkdtemp(tmp))
        return err_set(e, errno, "cannot make %s: %s", tmp, strerror(errno));
    (void)snprintf(out, PATH_MAX, "%s", tmp);
    return file_write_quick(AT_FDCWD, note, tmp, strlen(tmp), 0644, e);
}

bool complex_dir_is_pair(const struct complex_dir *d)
{
    char path[PATH_MAX];

    return access(complex_dir_path(d, path, "second/pbs.conf"), F_OK) == 0;
}

static int add_server_keys(const struct complex_dir *d, struct strbuf *b, uint16_t port, bool postgres,
                           struct err *e)
{
    char host[256] = "", socket[PATH_MAX];

    if (gethostname(host, sizeof host - 1) < 0 || !*host)
        (void)snprintf(host, sizeof host, "complex");
    host[strcspn(host, ".:")] = '\0';
    (void)strbuf_addf(b, "PBS_EXEC=%s\nPBS_HOME=%s/home\nPBS_SERVER=%s\n", d->exec, d->root, host);
    (void)strbuf_addf(b, "PBS_SERVER_HOST_NAME=127.0.0.1\nPBS_BATCH_SERVICE_PORT=%u\n", port);
    (void)strbuf_add(b, "PBS_START_SERVER=1\nPBS_START_SCHED=1\nPBS_START_MOM=1\nPBS_HOSTS_JOIN=1\n"
                        "PBS_LOG_HIGHRES_TIMESTAMP=1\n");
    if (!postgres)
        return 0;
    if (complex_dir_pg_socket(d, socket, e) < 0)
        return -1;
    (void)strbuf_addf(b, "PBS_DATA_SERVICE_HOST=%s\nPBS_DATA_SERVICE_PORT=5432\n", socket);
    return 0;
}

static int make_dir(const struct complex_dir *d, const char *name, mode_t mode, struct err *e)
{
    char path[PATH_MAX];

    return file_make_dirs(complex_dir_path(d, path, "%s", name), mode, e);
}

/* The second server's pbs.conf is the complex's with another port at the end; both name the pair. */
static int make_second(const struct complex_dir *d, struct strbuf *b, uint16_t port, struct err *e)
{
    char path[PATH_MAX];
    struct strbuf own;
    uint16_t second;

    if (make_dir(d, "second", 0755, e) < 0 || complex_ports_claim(&complex_ports, d->root, &second, e) < 0)
        return -1;
    (void)strbuf_addf(b, "PBS_PRIMARY=127.0.0.1:%u\nPBS_SECONDARY=127.0.0.1:%u\n", port, second);
    strbuf_init(&own, CONF_TEXT_MAX);
    (void)strbuf_addf(&own, "%sPBS_BATCH_SERVICE_PORT=%u\n", strbuf_str(b), second);
    return write_text(complex_dir_path(d, path, "second/pbs.conf"), &own, 0644, e);
}

/* Jobs find the commands, and these the server, as a user's do after `pbs_complex env`. The profile of a login shell sets PATH, so that of the
 * environment does not last; bash reads BASH_ENV after the profile. BASH_ENV stays set: a script whose first line is
 * `#!/bin/bash -l` reads the profile a second time. */
static int write_job_environment(const struct complex_dir *d, struct err *e)
{
    char path[PATH_MAX], profile[PATH_MAX];
    struct strbuf b;

    strbuf_init(&b, CONF_TEXT_MAX);
    (void)strbuf_addf(&b, "case \":$PATH:\" in *:'%s/bin':*) ;; *) export PATH=\"$PATH:\"'%s/bin' ;; esac\n",
                      d->exec, d->exec);
    if (write_text(complex_dir_path(d, profile, "home/job_profile"), &b, 0644, e) < 0)
        return -1;
    strbuf_init(&b, CONF_TEXT_MAX);
    (void)strbuf_addf(&b, "PATH=/bin:/usr/bin:%s/bin\nBASH_ENV=%s\nPBS_CONF_FILE=%s/pbs.conf\n", d->exec,
                      profile, d->root);
    return write_text(complex_dir_path(d, path, "home/pbs_environment"), &b, 0644, e);
}

static int make_dirs(const struct complex_dir *d, const struct complex_plan *p, struct err *e)
{
    if (file_make_dirs(d->root, geteuid() == 0 ? 0755 : 0700, e) < 0 || make_dir(d, "home", 0755, e) < 0 ||
        make_dir(d, "mom", 0755, e) < 0)
        return -1;
    return p->postgres ? make_dir(d, "pgsql", 0755, e) : 0;
}

/* pbs.conf of the first server. With a second one, its address is in both. */
static int make_server(const struct complex_dir *d, const struct complex_plan *p, uint16_t port,
                       struct err *e)
{
    char path[PATH_MAX];
    struct strbuf b;

    strbuf_init(&b, CONF_TEXT_MAX);
    if (add_server_keys(d, &b, port, p->postgres, e) < 0 || (p->pair && make_second(d, &b, port, e) < 0)) {
        strbuf_fini(&b);
        return -1;
    }
    return write_text(complex_dir_path(d, path, "pbs.conf"), &b, 0644, e);
}

int complex_dir_make(const struct complex_dir *d, const struct complex_plan *p, struct err *e)
{
    char name[COMPLEX_NAME_MAX];
    uint16_t port;

    complex_ports_sweep(&complex_ports,
                        d->root); /* of a complex in this directory that was removed by hand */
    if (make_dirs(d, p, e) < 0 || complex_ports_claim(&complex_ports, d->root, &port, e) < 0 ||
        make_server(d, p, port, e) < 0 || write_job_environment(d, e) < 0)
        return -1;
    for (int i = 0; i < p->nodes; i++)
        if (complex_dir_add_mom(d, NULL, p, name, e) < 0)
            return -1;
    return 0;
}

/* --- MOMs --------------------------------------------------------------------------------------------------- */
static int complex_dir_by_number(const void *a, const void *b)
{
    const char *x = a, *y = b;
    size_t n = strlen(x), m = strlen(y);

    return n != m ? (n > m) - (n < m) : strcmp(x, y);
}

int complex_dir_moms(const struct complex_dir *d, struct complex_names *out, struct err *e)
{
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *dir = opendir(complex_dir_path(d, path, "mom"));

    if (!dir)
        return err_set(e, errno, "%s holds no complex: %s", d->root, strerror(errno));
    out->n = 0;
    while ((entry = readdir(dir)) && out->n < COMPLEX_NODES_MAX) {
        size_t n = strlen(entry->d_name);

        if (*entry->d_name == '.' || n >= COMPLEX_NAME_MAX)
            continue;
        if (access(complex_dir_path(d, path, "mom/%s/pbs.conf", entry->d_name), F_OK) == 0)
            memcpy(out->name[out->n++], entry->d_name, n + 1);
    }
    (void)closedir(dir);
    qsort(out->name, (size_t)out->n, sizeof out->name[0], complex_dir_by_number);
    return out->n;
}

int complex_dir_scheds(const struct complex_dir *d, struct complex_names *out, struct err *e)
{
    static const char prefix[] = "sched_priv_";
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *dir = opendir(complex_dir_path(d, path, "home"));

    if (!dir)
        return err_set(e, errno, "%s holds no complex: %s", d->root, strerror(errno));
    out->n = 0;
    while ((entry = readdir(dir)) && out->n < COMPLEX_NODES_MAX) {
        const char *name = entry->d_name + sizeof prefix - 1;

        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0 && *name &&
            strlen(name) + sizeof "sched_" <= COMPLEX_NAME_MAX)
            (void)snprintf(out->name[out->n++], COMPLEX_NAME_MAX, "sched_%s", name);
    }
    (void)closedir(dir);
    qsort(out->name, (size_t)out->n, sizeof out->name[0], complex_dir_by_number);
    return out->n;
}

static bool is_good_name(const char *name)
{
    static const char *const daemons[] = {"server", "second", "sched"};

    for (size_t i = 0; i < sizeof daemons / sizeof daemons[0]; i++)
        if (strcmp(name, daemons[i]) == 0)
            return false;
    return *name && strlen(name) < COMPLEX_NAME_MAX && *name != '.' && *name != '-' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == strlen(name);
}

static int next_name(const struct complex_dir *d, char out[static COMPLEX_NAME_MAX], struct err *e)
{
    char path[PATH_MAX];

    for (int i = 1; i <= COMPLEX_NODES_MAX; i++) {
        (void)snprintf(out, COMPLEX_NAME_MAX, "n%d", i);
        if (access(complex_dir_path(d, path, "mom/%s", out), F_OK) != 0)
            return 0;
    }
    return err_set(e, EINVAL, "a private complex has at most %d nodes", COMPLEX_NODES_MAX);
}

static int write_mom_config(const struct complex_dir *d, const char *name, const struct complex_plan *p,
                            struct err *e)
{
    char path[PATH_MAX];
    struct strbuf b;

    /* Complexes of a host may have equal job identifiers: each node needs temporary directories of its own. */
    if (file_make_dirs(complex_dir_path(d, path, "mom/%s/tmp", name), 01777, e) < 0)
        return -1;
    strbuf_init(&b, CONF_TEXT_MAX);
    /* Nodes share the processors of one host without knowing of one another: none binds its jobs. */
    (void)strbuf_addf(&b, "$usecp *:/ /\n$tmpdir %s\n$cpuset false\n", path);
    if (p->ncpus > 0)
        (void)strbuf_addf(&b, "ncpus %d\n", p->ncpus);
    if (p->mem)
        (void)strbuf_addf(&b, "mem %s\n", p->mem);
    return write_text(complex_dir_path(d, path, "mom/%s/mom_priv/config", name), &b, 0644, e);
}

int complex_dir_first_plan(const struct complex_dir *d, struct complex_plan *out,
                           char mem[static COMPLEX_MEM_MAX], struct err *e)
{
    char path[PATH_MAX], line[PATH_MAX];
    FILE *in;

    *out = (struct complex_plan){0};
    in = fopen(complex_dir_path(d, path, "mom/n1/mom_priv/config"), "re");
    if (!in)
        return errno == ENOENT ? 0 : err_errno(e, errno, "%s", path);
    while (fgets(line, sizeof line, in)) {
        sscanf(line, "ncpus %d", &out->ncpus);
        if (sscanf(line, "mem %63s", mem) == 1)
            out->mem = mem;
    }
    (void)fclose(in);
    return 0;
}

/* A MOM's pbs.conf is the complex's with its own keys at the end: of two lines with one key the later one counts. */
static int write_mom_conf(const struct complex_dir *d, const char *name, struct err *e)
{
    char path[PATH_MAX], *text;
    uint16_t batch, manager;
    struct strbuf b;
    int rc;

    if (complex_ports_claim(&complex_ports, d->root, &batch, e) < 0 ||
        complex_ports_claim(&complex_ports, d->root, &manager, e) < 0 ||
        file_read(AT_FDCWD, complex_dir_path(d, path, "pbs.conf"), CONF_TEXT_MAX, &text, NULL, e) < 0)
        return -1;
    strbuf_init(&b, 2 * CONF_TEXT_MAX);
    (void)strbuf_addf(&b, "%sPBS_MOM_HOME=%s/mom/%s\nPBS_MOM_NODE_NAME=%s\n", text, d->root, name, name);
    (void)strbuf_addf(&b, "PBS_MOM_SERVICE_PORT=%u\nPBS_MANAGER_SERVICE_PORT=%u\n", batch, manager);
    free(text);
    rc = write_text(complex_dir_path(d, path, "mom/%s/pbs.conf", name), &b, 0644, e);
    return rc;
}

int complex_dir_add_mom(const struct complex_dir *d, const char *name, const struct complex_plan *p,
                        char out[static COMPLEX_NAME_MAX], struct err *e)
{
    char path[PATH_MAX], part[COMPLEX_NAME_MAX + 16];

    if (name && !is_good_name(name))
        return err_set(
            e, EINVAL,
            "%s is not a name for a node: letters, digits, dots, dashes, and not that of another daemon",
            name);
    if (name)
        (void)snprintf(out, COMPLEX_NAME_MAX, "%s", name);
    else if (next_name(d, out, e) < 0)
        return -1;
    if (access(complex_dir_path(d, path, "mom/%s", out), F_OK) == 0)
        return err_set(e, EEXIST, "there is a node %s already", out);
    (void)snprintf(part, sizeof part, "mom/%s", out);
    if (make_dir(d, part, 0755, e) < 0)
        return -1;
    (void)snprintf(part, sizeof part, "mom/%s/mom_priv", out);
    if (make_dir(d, part, 0751, e) < 0 || write_mom_config(d, out, p, e) < 0)
        return -1;
    return write_mom_conf(d, out, e);
}

int complex_dir_remove(const struct complex_dir *d, struct err *e)
{
    char note[PATH_MAX], *socket;

    if (file_read(AT_FDCWD, complex_dir_path(d, note, "pgsql/socket_directory"), PATH_MAX - 1, &socket, NULL,
                  NULL) == 0) {
        (void)file_remove_tree(AT_FDCWD, socket, NULL);
        free(socket);
    }
    if (file_remove_tree(AT_FDCWD, d->root, e) < 0)
        return -1;
    complex_ports_sweep(&complex_ports, d->root);
    return 0;
}
