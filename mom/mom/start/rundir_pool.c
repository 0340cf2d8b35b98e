/* The pool is small and searched from its youngest end: what was used last is still in the caches. A crash at any moment
 * leaves a directory that is a run (its order is whole), or one that is not a run and is removed at the next start. */
#include "rundir_pool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "rundir.h"
#include "strbuf.h"

/* SPARES_MAX: as many as runs of one user that start together on a host; a spare costs an empty directory. */
enum { SPARES_MAX = 256, PATH_LEN_MAX = 8192 };

#define PREFIX ".spare."

struct spare {
    unsigned long number;
    char *user;
    char *script; /* its name; NULL: it has none */
};

struct rundir_pool {
    const char *jobs_dir;
    unsigned long last; /* number given */
    bool has_leftovers; /* directories with the name of a spare that are none: they could not be removed */
    size_t n;
    struct spare list[SPARES_MAX]; /* the oldest first */
};

static void spare_path(struct strbuf *out, const struct rundir_pool *s, unsigned long number)
{
    strbuf_init(out, PATH_LEN_MAX);
    strbuf_addf(out, "%s/" PREFIX "%lu", s->jobs_dir, number);
}

static void rundir_pool_forget(struct rundir_pool *s, size_t i)
{
    free(s->list[i].user);
    free(s->list[i].script);
    s->n--;
    memmove(&s->list[i], &s->list[i + 1], (s->n - i) * sizeof s->list[0]);
}

static bool is_leftover(const struct rundir_pool *s, const char *name)
{
    unsigned long number;

    if (strncmp(name, PREFIX, sizeof PREFIX - 1) != 0)
        return false;
    number = strtoul(name + sizeof PREFIX - 1, NULL, 10);
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].number == number)
            return false;
    return true;
}

static void remove_leftovers(struct rundir_pool *s)
{
    DIR *dir = opendir(s->jobs_dir);
    const struct dirent *d;

    if (!dir)
        return;
    s->has_leftovers = false;
    while ((d = readdir(dir)))
        if (is_leftover(s, d->d_name) && file_remove_tree(dirfd(dir), d->d_name, NULL) < 0)
            s->has_leftovers = true;
    closedir(dir);
}

struct rundir_pool *rundir_pool_create(const char *jobs_dir)
{
    struct rundir_pool *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->jobs_dir = jobs_dir;
    s->has_leftovers = true;
    remove_leftovers(s);
    return s;
}

void rundir_pool_destroy(struct rundir_pool *s)
{
    while (s && s->n)
        rundir_pool_forget(s, s->n - 1);
    free(s);
}

/* ---- out of the pool */
static int rename_script(const char *path, const struct spare *x, const char *script)
{
    struct strbuf from, to;
    int rc;

    if (!x->script)
        return 0;
    strbuf_init(&from, PATH_LEN_MAX);
    strbuf_init(&to, PATH_LEN_MAX);
    rc = strbuf_addf(&from, "%s/%s", path, x->script) < 0 || strbuf_addf(&to, "%s/%s", path, script) < 0 ||
                 rename(from.s, to.s) < 0
             ? -1
             : 0;
    strbuf_fini(&from);
    strbuf_fini(&to);
    return rc;
}

static int use(struct rundir_pool *s, size_t i, const char *path, const char *script)
{
    struct strbuf from;
    int rc;

    spare_path(&from, s, s->list[i].number);
    rc = rename(from.s, path);
    if (rc == 0 && rename_script(path, &s->list[i], script) < 0) {
        rundir_remove(path, NULL);
        rc = -1;
    }
    strbuf_fini(&from);
    rundir_pool_forget(s, i);
    return rc;
}

int rundir_pool_take(struct rundir_pool *s, const char *path, const char *user, const char *script,
                     struct err *e)
{
    for (size_t i = s->n; i-- > 0;)
        if (strcmp(s->list[i].user, user) == 0) {
            if (use(s, i, path, script) == 0)
                return 0;
            break;
        }
    return rundir_create(path, e);
}

/* ---- into the pool */
static bool is_kept(const char *name)
{
    static const char *const names[] = {".",          "..",       RUNDIR_RUN,       RUNDIR_JOURNAL,
                                        RUNDIR_NODES, RUNDIR_TMP, RUNDIR_CHECKPOINT};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_script(const char *name)
{
    size_t n = strlen(name);

    return n > 3 && strcmp(name + n - 3, ".SC") == 0;
}

/* Empty the file but for one byte, which keeps its block. -1: another process may have it open, or runs it. */
static int void_script(int dirfd, const char *name)
{
    int fd = openat(dirfd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc = -1;
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1)
        rc = ftruncate(fd, 1);
    close(fd);
    return rc;
}

/* Remove what the next run must not find. -1: this directory cannot be used again. */
static int tidy(const char *path, char **script)
{
    DIR *dir = opendir(path);
    const struct dirent *d;
    int rc = 0;

    if (!dir)
        return -1;
    while (rc == 0 && (d = readdir(dir)))
        if (is_script(d->d_name) && !*script && void_script(dirfd(dir), d->d_name) == 0)
            *script = strdup(d->d_name);
        else if (!is_kept(d->d_name))
            rc = file_remove_tree(dirfd(dir), d->d_name, NULL);
    closedir(dir);
    return rc;
}

static void rundir_pool_make_room(struct rundir_pool *s)
{
    struct strbuf oldest;

    if (s->n < SPARES_MAX)
        return;
    spare_path(&oldest, s, s->list[0].number);
    rundir_remove(oldest.s, NULL);
    strbuf_fini(&oldest);
    rundir_pool_forget(s, 0);
}

/* The order goes first: from then on recovery does not take this for a run. */
static int rundir_pool_keep(struct rundir_pool *s, const char *path, struct spare *x)
{
    struct strbuf to;
    int rc;

    if (!x->user || rundir_void(path) < 0 || rundir_log_void(path, RUNDIR_JOURNAL) < 0 ||
        tidy(path, &x->script) < 0)
        return -1;
    rundir_pool_make_room(s);
    x->number = ++s->last;
    spare_path(&to, s, x->number);
    rc = rename(path, to.s);
    strbuf_fini(&to);
    if (rc == 0)
        s->list[s->n++] = *x;
    return rc;
}

/* Removing needs descriptors, and there may be none. A new name needs nothing, and is not that of a run. */
static int rundir_pool_remove_later(struct rundir_pool *s, const char *path)
{
    struct strbuf to;
    int rc;

    spare_path(&to, s, ++s->last);
    rc = rename(path, to.s);
    strbuf_fini(&to);
    s->has_leftovers |= rc == 0;
    return rc;
}

int rundir_pool_give(struct rundir_pool *s, const char *path, const char *user, struct err *e)
{
    struct spare x = {.user = strdup(user)};

    if (s->has_leftovers)
        remove_leftovers(s);
    if (rundir_pool_keep(s, path, &x) == 0)
        return 0;
    free(x.user);
    free(x.script);
    return rundir_remove(path, e) == 0 || rundir_pool_remove_later(s, path) == 0 ? 0 : -1;
}
