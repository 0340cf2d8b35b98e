/* The two versions differ in names of files, and in how they tell: version 1 through an eventfd that is
 * registered with the group, version 2 by a file that changes. What is told is only a reason to look: the
 * kernel's count of kills decides, and with version 1 it may come a little later than the news.
 *
 * Without swap accounting only memory is limited; that is not an error. */
#include "confine_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "confine_group.h"

/* The kernel counts an end for lack of memory shortly after the process has ended: it is looked for at most LOOKS_MAX
 * times LOOK_US. */
enum { FILE_PATH_MAX = 640, TEXT_MAX = 512, LOOKS_MAX = 20, LOOK_US = 1000 };

const struct confine_memory_kind confine_memory_v1 = {.name = "cgroup",
                                                      .limit = "memory.limit_in_bytes",
                                                      .swap = "memory.memsw.limit_in_bytes",
                                                      .counts = "memory.oom_control"};
const struct confine_memory_kind confine_memory_v2 = {.name = "cgroup2",
                                                      .limit = "memory.max",
                                                      .swap = "memory.swap.max",
                                                      .swap_value = "0",
                                                      .counts = "memory.events"};

static int open_file(const char *dir, const char *file, int flags)
{
    char path[FILE_PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", dir, file);
    return open(path, flags | O_CLOEXEC);
}

static void read_file(const char *dir, const char *file, char text[static TEXT_MAX])
{
    int fd = open_file(dir, file, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT_MAX - 1);

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
}

int confine_memory_limit(const struct confine_memory_kind *k, const char *dir, uint64_t bytes, struct err *e)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, bytes);
    if (confine_group_write(dir, k->limit, text) < 0)
        return err_errno(e, errno, "cannot limit the memory of cgroup %s", dir);
    confine_group_write(dir, k->swap,
                        k->swap_value ? k->swap_value : text); /* a host may have no swap, or not count it */
    if (k == &confine_memory_v2)
        confine_group_write(dir, "memory.oom.group", "1");
    return 0;
}

/* "<eventfd> <fd of oom_control>" into cgroup.event_control. */
static int watch_v1(const char *dir)
{
    int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
        control = open_file(dir, "memory.oom_control", O_RDONLY);
    char text[64];
    int rc = -1;

    if (event >= 0 && control >= 0) {
        snprintf(text, sizeof text, "%d %d", event, control);
        rc = confine_group_write(dir, "cgroup.event_control", text);
    }
    if (control >= 0)
        close(control);
    if (rc < 0 && event >= 0) {
        close(event);
        event = -1;
    }
    return event;
}

int confine_memory_watch(const struct confine_memory_kind *k, const char *dir, struct err *e)
{
    int fd = k == &confine_memory_v1 ? watch_v1(dir) : open_file(dir, k->counts, O_RDONLY | O_NONBLOCK);

    return fd < 0 ? err_errno(e, errno, "cannot watch the memory of cgroup %s", dir) : fd;
}

/* Version 1 tells it just before it kills, and tells it to groups below one that has run out as well: the count decides. */
bool confine_memory_take(const struct confine_memory_kind *k, const char *dir, int fd)
{
    char text[TEXT_MAX];
    bool ran_out;

    if (k == &confine_memory_v2) {
        (void)!pread(fd, text, sizeof text, 0);
        return confine_memory_ran_out(k, dir);
    }
    if (read(fd, text, sizeof(uint64_t)) < 0)
        return false;
    for (int look = 0; !(ran_out = confine_memory_ran_out(k, dir)) && look < LOOKS_MAX; look++)
        usleep(LOOK_US);
    return ran_out;
}

bool confine_memory_ran_out(const struct confine_memory_kind *k, const char *dir)
{
    char text[TEXT_MAX], *at;

    read_file(dir, k->counts, text);
    at = strstr(text, "oom_kill ");
    return at && strtoul(at + sizeof "oom_kill " - 1, NULL, 10) > 0;
}
