/* A host whose wall clock is set: to be preloaded. CLOCK_JUMP names a file that begins with the seconds (eight bytes, in the
 * order of this machine) by which it is wrong; whoever writes them sets the clock of all that have preloaded this. Monotonic
 * time is left alone, as the kernel does. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *ahead_s;

static void __attribute__((constructor)) begin(void)
{
    const char *path = getenv("CLOCK_JUMP");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *ahead_s, PROT_READ, MAP_SHARED, fd, 0);

    if (at != MAP_FAILED)
        ahead_s = at;
    if (fd >= 0)
        close(fd);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t);

    if (rc == 0 && ahead_s && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        t->tv_sec += *ahead_s;
    return rc;
}

time_t time(time_t *out)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    if (out)
        *out = t.tv_sec;
    return t.tv_sec;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}
