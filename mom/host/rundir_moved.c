/* The order is written once and never changed, so a directory that got another name is a file beside it with that name. It is
 * noted by what makes the directory (mom/shepherd/files: stage.c, job_dirs.c), and applied by every program that reads the order. Only the three variables that
 * the MOM computes from the directories are changed in the environment, and only where their value begins with the old name: a user
 * may have set one of them to something else. */
#include "rundir_moved.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <shep.h>

#include "file.h"
#include "strbuf.h"

static const char *const files[RUNDIR_MOVED_COUNT] = {
    [RUNDIR_MOVED_TMPDIR] = "tmpdir.name", [RUNDIR_MOVED_JOBDIR] = "jobdir.name"};

static bool note_path(char out[static PATH_MAX], const char *path, enum rundir_moved which)
{
    return snprintf(out, PATH_MAX, "%s/%s", path, files[which]) < PATH_MAX;
}

static char **field_of(struct shep_order *o, enum rundir_moved which)
{
    return which == RUNDIR_MOVED_TMPDIR ? &o->tmpdir : &o->cwd;
}

/* The part behind `old`, where the entry is of this name and its value is `old` or a path in it. */
static const char *rest_of(const char *entry, const char *name, const char *old)
{
    size_t n = strlen(name), m = strlen(old);

    if (strncmp(entry, name, n) != 0 || entry[n] != '=' || strncmp(entry + n + 1, old, m) != 0)
        return NULL;
    entry += n + 1 + m;
    return *entry == '\0' || *entry == '/' ? entry : NULL;
}

static int change_entry(char **entry, const char *old, const char *new)
{
    static const char *const names[] = {"TMPDIR", "PBS_JOBDIR", "PBS_PREEMPT_NOTICE"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *rest = rest_of(*entry, names[i], old);
        struct strbuf b;

        if (!rest)
            continue;
        strbuf_init(&b, PATH_MAX);
        if (strbuf_addf(&b, "%s=%s%s", names[i], new, rest) < 0) {
            strbuf_fini(&b);
            return -1;
        }
        free(*entry);
        *entry = strbuf_take(&b);
        return *entry ? 0 : -1;
    }
    return 0;
}

static int rundir_moved_change(struct shep_order *o, enum rundir_moved which, const char *new, struct err *e)
{
    char **field = field_of(o, which), *copy = strdup(new);
    int rc = copy ? 0 : -1;

    for (u_int i = 0; rc == 0 && i < o->env.env_len; i++)
        rc = change_entry(&o->env.env_val[i], *field, new);
    if (rc < 0) {
        free(copy);
        return err_set(e, ENOMEM, "no memory for the order of job %s", o->id);
    }
    free(*field);
    *field = copy;
    return 0;
}

int rundir_moved_note(const char *path, enum rundir_moved which, const char *name, struct shep_order *o,
                      struct err *e)
{
    char file[PATH_MAX];

    if (!note_path(file, path, which))
        return err_set(e, ENAMETOOLONG, "path too long: %s", path);
    return file_write_quick(AT_FDCWD, file, name, strlen(name), 0600, e) < 0
               ? -1
               : rundir_moved_change(o, which, name, e);
}

char *rundir_moved_find(const char *path, enum rundir_moved which)
{
    char file[PATH_MAX], *name = NULL;

    if (!note_path(file, path, which) || file_read(AT_FDCWD, file, PATH_MAX, &name, NULL, NULL) < 0)
        return NULL;
    return name;
}

int rundir_moved_apply(const char *path, struct shep_order *o, struct err *e)
{
    for (int k = 0; k < RUNDIR_MOVED_COUNT; k++) {
        char *name = rundir_moved_find(path, (enum rundir_moved)k);
        int rc = name ? rundir_moved_change(o, (enum rundir_moved)k, name, e) : 0;

        free(name);
        if (rc < 0)
            return -1;
    }
    return 0;
}
