#ifndef SCRATCH_PG_TEST_H
#define SCRATCH_PG_TEST_H
/* A PostgreSQL cluster for tests: in a directory of its own, reached by a unix socket there only. As root it runs
 * as user postgres, which initdb wants. */
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file.h"
#include "strbuf.h"

struct scratch_pg {
    char dir[64];
    char bin[200];
};

static inline const char *scratch_pg_dir(const struct scratch_pg *p)
{
    return p->dir;
}

/* Run a command line as the cluster's user; its exit code. */
static inline int scratch_pg_run(const struct scratch_pg *p, const char *form, const char *dir)
{
    struct strbuf line;
    int status;
    pid_t pid;

    strbuf_init(&line, 4000);
    strbuf_addf(&line, "PATH=%s:$PATH; cd %s; ", p->bin, dir);
    strbuf_add(&line, form);
    pid = fork();
    if (pid == 0) {
        const struct passwd *pw = getuid() == 0 ? getpwnam("postgres") : NULL;

        if (pw && (setgid(pw->pw_gid) < 0 || setuid(pw->pw_uid) < 0))
            _exit(126);
        execl("/bin/sh", "sh", "-c", strbuf_str(&line), (char *)NULL);
        _exit(127);
    }
    strbuf_fini(&line);
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline int scratch_pg_find_bin(struct scratch_pg *p)
{
    DIR *d = opendir("/usr/lib/postgresql");
    struct dirent *entry;
    struct strbuf path;

    strbuf_init(&path, sizeof p->bin - 1);
    while (d && (entry = readdir(d))) {
        struct stat st;

        strbuf_reset(&path);
        strbuf_addf(&path, "/usr/lib/postgresql/%s/bin/initdb", entry->d_name);
        if (entry->d_name[0] != '.' && stat(strbuf_str(&path), &st) == 0) {
            strbuf_cut(&path, path.len - strlen("/initdb"));
            memcpy(p->bin, strbuf_str(&path), path.len + 1);
        }
    }
    if (d)
        closedir(d);
    strbuf_fini(&path);
    return p->bin[0] ? 0 : -1;
}

static inline void scratch_pg_stop(struct scratch_pg *p)
{
    if (!p)
        return;
    scratch_pg_run(p, "pg_ctl -D data -m immediate -w stop >/dev/null 2>&1", p->dir);
    file_remove_tree(AT_FDCWD, p->dir, NULL);
    free(p);
}

/* NULL, with a line on stderr: there is no PostgreSQL here, or it does not start. */
static inline struct scratch_pg *scratch_pg_start(void)
{
    struct scratch_pg *p = calloc(1, sizeof *p);
    const char form[] = "/tmp/cede-pg-XXXXXX";
    const struct passwd *pw = getpwnam("postgres");

    memcpy(p->dir, form, sizeof form);
    if (scratch_pg_find_bin(p) < 0 || !mkdtemp(p->dir)) {
        fprintf(stderr, "no PostgreSQL server programs under /usr/lib/postgresql\n");
        free(p);
        return NULL;
    }
    if (getuid() == 0 && pw && chown(p->dir, pw->pw_uid, pw->pw_gid) < 0)
        fprintf(stderr, "cannot give %s to postgres\n", p->dir);
    if (scratch_pg_run(
            p,
            "initdb -D data -A trust -U postgres --no-sync >initdb.log 2>&1 && pg_ctl -D data -w -l "
            "log -o \"-k $PWD -c listen_addresses=''\" start >ctl.log 2>&1",
            p->dir) != 0) {
        scratch_pg_run(p, "cat initdb.log ctl.log log >&2", p->dir);
        scratch_pg_stop(p);
        return NULL;
    }
    return p;
}

#endif
