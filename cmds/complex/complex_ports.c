/* A claim is made by symlink(2), which fails if there is one: of two complexes that want a port at the same moment
 * one gets it. The claim is made first; then the port is tested for another program that listens there.
 *
 * Claims are removed by complex_ports_sweep only, under a lock on the directory: between a look at a claim and its
 * removal another complex could claim the port. The directory is like /tmp, open to all and sticky: other users can
 * neither remove our claims nor move them, and their links are read, never followed. */
#include "complex_ports.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Another command holds the lock for milliseconds: LOCK_TRIES pauses are five seconds. A host whose ports are nearly all
 * taken is found out after TRIES. */
enum { TRIES = 200, LOCK_TRIES = 250, PAUSE_MS = 20, NAME_SIZE = 8 };

/* The range lies below the ports that the kernel gives to clients. */
const struct complex_ports complex_ports = {"/tmp/pbs_complex_ports", 10000, 20000};

/* Open the directory. -1: claims cannot be made here; a directory that is not sticky is not trusted. */
static int open_dir(const struct complex_ports *p)
{
    bool is_new = mkdir(p->dir, 01777) == 0;
    int fd = open(p->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd >= 0 && is_new)
        (void)fchmod(fd, 01777);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_mode & S_ISVTX)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

static bool is_free(uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool free_now = fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0;

    if (fd >= 0)
        (void)close(fd);
    return free_now;
}

/* Any error except "a claim exists" leaves the port usable. */
static bool complex_ports_take(int dir, uint16_t port, const char *root)
{
    char name[NAME_SIZE];
    bool claimed;

    (void)snprintf(name, sizeof name, "%u", port);
    claimed = dir >= 0 && symlinkat(root, dir, name) == 0;
    if (dir >= 0 && !claimed && errno == EEXIST)
        return false;
    if (is_free(port))
        return true;
    if (claimed)
        (void)unlinkat(dir, name, 0);
    return false;
}

int complex_ports_claim(const struct complex_ports *p, const char *root, uint16_t *out, struct err *e)
{
    int dir = open_dir(p);
    bool found = false;
    uint32_t r;

    for (int i = 0; !found && i < TRIES && getrandom(&r, sizeof r, 0) == sizeof r; i++) {
        *out = (uint16_t)(p->first + r % p->count);
        found = complex_ports_take(dir, *out, root);
    }
    if (dir >= 0)
        (void)close(dir);
    return found
               ? 0
               : err_set(e, EADDRINUSE, "no free port between %d and %d", p->first, p->first + p->count - 1);
}

/* --- forgetting --------------------------------------------------------------------------------------------- */

/* Lock the directory, with a deadline: any user could hold the lock. */
static bool lock(int dir)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(dir, LOCK_EX | LOCK_NB) == 0)
            return true;
        (void)poll(NULL, 0, PAUSE_MS);
    }
    return false;
}

static bool complex_ports_is_over(int dir, const char *name, const char *root)
{
    char of[PATH_MAX];
    ssize_t n = readlinkat(dir, name, of, sizeof of - 1);
    struct stat st;

    if (n <= 0)
        return false;
    of[n] = '\0';
    if (root && strcmp(of, root) == 0)
        return true;
    return lstat(of, &st) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

void complex_ports_sweep(const struct complex_ports *p, const char *root)
{
    int fd = open_dir(p);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;

    if (list && lock(fd))
        while ((entry = readdir(list)))
            if (*entry->d_name != '.' && complex_ports_is_over(fd, entry->d_name, root))
                (void)unlinkat(fd, entry->d_name, 0);
    if (list)
        (void)closedir(list); /* and releases the lock */
    else if (fd >= 0)
        (void)close(fd);
}
