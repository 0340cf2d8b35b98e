/* Version 1 has a hierarchy for each controller, version 2 one for all, where a controller is switched on for
 * the groups below the root. Devices have no controller in version 2, only a program. A cpuset of version 1
 * is empty when it is made, and takes no process in before it has processors and memory nodes: it gets the memory
 * nodes of the group above, since memory is not bound. */
#include "confine_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "confine_devices.h"
#include "confine_group.h"
#include "confine_memory.h"
#include "file.h"

enum { FILE_PATH_MAX = 640, TEXT_MAX = 4096 };

static int confine_limits_set_memory(enum confine_kind kind, const char *dir, const char *bound,
                                     struct err *e)
{
    return confine_memory_limit(kind == CONFINE_V2 ? &confine_memory_v2 : &confine_memory_v1, dir,
                                strtoull(bound, NULL, 10), e);
}

static int confine_limits_set_pids(enum confine_kind kind, const char *dir, const char *bound, struct err *e)
{
    if (confine_group_write(dir, "pids.max", bound) < 0)
        return err_errno(e, errno, "cannot limit the processes of cgroup %s to %s", dir, bound);
    return 0;
}

static int copy_from_above(const char *dir, const char *file, struct err *e)
{
    char path[FILE_PATH_MAX], *text = NULL;
    int rc;

    snprintf(path, sizeof path, "%s/../%s", dir, file);
    if (file_read(AT_FDCWD, path, TEXT_MAX, &text, NULL, e) < 0)
        return -1;
    rc = confine_group_write(dir, file, text);
    free(text);
    return rc < 0 ? err_errno(e, errno, "cannot set %s of cgroup %s", file, dir) : 0;
}

static int confine_limits_set_cpuset(enum confine_kind kind, const char *dir, const char *bound,
                                     struct err *e)
{
    if (kind == CONFINE_V1 && copy_from_above(dir, "cpuset.mems", e) < 0)
        return -1;
    if (confine_group_write(dir, "cpuset.cpus", bound) < 0)
        return err_errno(e, errno, "cannot bind cgroup %s to processors %s", dir, bound);
    return 0;
}

static int confine_limits_set_devices(enum confine_kind kind, const char *dir, const char *bound,
                                      struct err *e)
{
    return kind == CONFINE_V2 ? confine_devices_set_v2(dir, bound, e) : confine_devices_set_v1(dir, bound, e);
}

static const struct {
    const char *name; /* of the controller */
    struct confine_group_where v2, v1;
    int (*set)(enum confine_kind kind, const char *dir, const char *bound, struct err *e);
} rows[CONFINE_LIMIT_COUNT] = {
    [CONFINE_MEMORY] = {"memory",
                        {.controller = "memory", .file = "memory.max"},
                        {.option = "memory", .file = "memory.limit_in_bytes"},
                        confine_limits_set_memory},
    [CONFINE_PIDS] = {"pids",
                      {.controller = "pids", .file = "pids.max"},
                      {.option = "pids", .file = "pids.max"},
                      confine_limits_set_pids},
    [CONFINE_CPUSET] = {"cpuset",
                        {.controller = "cpuset", .file = "cpuset.cpus"},
                        {.option = "cpuset", .file = "cpuset.cpus"},
                        confine_limits_set_cpuset},
    [CONFINE_DEVICES] = {"devices",
                         {.file = "cgroup.procs", .works = confine_devices_work_v2},
                         {.option = "devices", .file = "devices.deny"},
                         confine_limits_set_devices},
};

const char *confine_limit_name(enum confine_limit l)
{
    return rows[l].name;
}

static int confine_limits_find(struct confine_group_where where, const char *type, char *out, size_t max)
{
    where.type = type;
    return confine_group_seek(&where, out, max);
}

void confine_limits_probe(struct confine_seat seats[static CONFINE_LIMIT_COUNT])
{
    for (int i = 0; i < CONFINE_LIMIT_COUNT; i++) {
        struct confine_seat *s = &seats[i];

        *s = (struct confine_seat){.kind = CONFINE_SIGNALS};
        if (confine_limits_find(rows[i].v2, "cgroup2", s->dir, sizeof s->dir) == 0)
            s->kind = CONFINE_V2;
        else if (confine_limits_find(rows[i].v1, "cgroup", s->dir, sizeof s->dir) == 0)
            s->kind = CONFINE_V1;
        else
            s->dir[0] = '\0';
    }
}

int confine_limits_set(enum confine_limit l, enum confine_kind kind, const char *dir, const char *bound,
                       struct err *e)
{
    return rows[l].set(kind, dir, bound, e);
}

bool confine_limits_met_pids(const char *dir)
{
    char path[FILE_PATH_MAX], *text = NULL;
    bool met = false;

    snprintf(path, sizeof path, "%s/pids.events", dir);
    if (file_read(AT_FDCWD, path, TEXT_MAX, &text, NULL, NULL) == 0)
        met = strncmp(text, "max ", 4) == 0 && strtoul(text + 4, NULL, 10) > 0;
    free(text);
    return met;
}
