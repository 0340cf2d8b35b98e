/* What a program does, as a number: each basic block of its own code that the first thread enters is a step.
 *
 * A server built with -fsanitize-coverage=trace-pc calls __sanitizer_cov_trace_pc at each block; this file is linked to it
 * and is compiled without. The count lies in the file that COST_STEPS names, where a test reads it at any time. Other
 * threads are not counted: what they do costs no other user's time, and how much is chance.
 *
 * The count of the same request on the same objects is the same, on any machine and under any load. Blocks of libraries
 * are not counted, so a copy or comparison of a long text is one step. A program that counts itself asks steps_count. */
#include "steps.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void __sanitizer_cov_trace_pc(void);

static uint64_t others;
static _Thread_local uint64_t *steps;

__attribute__((constructor)) static void steps_open(void)
{
    const char *path = getenv("COST_STEPS");
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;
    void *at = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, sizeof *steps) == 0)
        at = mmap(NULL, sizeof *steps, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    steps = at == MAP_FAILED ? &others : at;
}

void __sanitizer_cov_trace_pc(void)
{
    uint64_t *mine = steps;

    if (mine)
        ++*mine;
}

uint64_t steps_count(void)
{
    return steps ? *steps : 0;
}
