/* What a job has used. See usage_sample.h.
 *
 * cput is what living processes have, what they have waited for, and what we have waited for. A process that is not waited for
 * until the end is missing from it until then. So one sample may show less than the one before it, when a process has ended
 * and its parent has not waited for it yet: each sum is the largest that was seen, and never falls.
 *
 * Memory is that of the sample, so a peak between two samples is missed, except that of a single process that has ended: the
 * kernel keeps its maximum (ru_maxrss). Adopted sessions are not children of ours, so what their processes
 * use is in a sample only while they live. */
#include "usage_sample.h"

#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <exec.h>

#include "procs.h"

/* WINDOW_MIN_MS: /proc counts in ticks of 10 ms; over less than a second cpupercent would be noise. A choice. */
enum { MS_PER_S = 1000, US_PER_MS = 1000, PERCENT = 100, WINDOW_MIN_MS = 1000 };

static uint64_t ms_of(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * MS_PER_S + (uint64_t)t->tv_usec / US_PER_MS;
}

static void raise_to(uint64_t *value, uint64_t seen)
{
    if (seen > *value)
        *value = seen;
}

static uint64_t reaped(struct usage_sample *m)
{
    struct rusage r;

    if (getrusage(RUSAGE_CHILDREN, &r) < 0)
        return 0;
    raise_to(&m->mem_kb, (uint64_t)r.ru_maxrss);
    return ms_of(&r.ru_utime) + ms_of(&r.ru_stime);
}

/* Percent of one cpu over the window since the last sample; the largest such window is shown. */
static void note_percent(struct usage_sample *m, int64_t wall_ms)
{
    int64_t window = wall_ms - m->last_wall_ms;
    uint64_t percent;

    if (window < WINDOW_MIN_MS)
        return;
    percent = (m->cput_ms - m->last_cput_ms) * PERCENT / (uint64_t)window;
    if (percent > m->cpupercent)
        m->cpupercent = (unsigned)percent;
    m->last_cput_ms = m->cput_ms;
    m->last_wall_ms = wall_ms;
}

/* Programs that start others and pass signals on to them, though these may have no handler and would die of it. */
static bool is_launcher(const char *name)
{
    static const char *const names[] = {"mpirun", "mpiexec", "orterun",       "orted",          "prterun",
                                        "prted",  "srun",    "mpiexec.hydra", "hydra_pmi_proxy"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static uint32_t handlers_of(const struct procs *p)
{
    uint32_t all = 0;

    for (size_t i = 0; i < p->n; i++)
        if (!is_launcher(p->list[i].name))
            all |= p->list[i].handlers;
    return all;
}

void usage_sample_take(struct usage_sample *m, pid_t root, const struct procs_sessions *also, int64_t wall_ms)
{
    struct procs p;
    struct procs_sum s;

    procs_init(&p);
    if (procs_of(&p, root, also, NULL) == 0) {
        s = procs_add_up(&p);
        raise_to(&m->cput_ms, s.cput_ms + reaped(m));
        raise_to(&m->mem_kb, s.mem_kb);
        raise_to(&m->vmem_kb, s.vmem_kb);
        note_percent(m, wall_ms);
        m->handlers = handlers_of(&p);
    }
    procs_fini(&p);
}

void usage_sample_finish(struct usage_sample *m, int64_t wall_ms)
{
    raise_to(&m->cput_ms, reaped(m));
    note_percent(m, wall_ms);
}

void usage_sample_read(const struct usage_sample *m, int64_t wall_ms, unsigned ncpus, struct exec_usage *out)
{
    *out = (struct exec_usage){.cput_ms = m->cput_ms,
                               .walltime_ms = (u_quad_t)wall_ms,
                               .mem_kb = m->mem_kb,
                               .vmem_kb = m->vmem_kb,
                               .ncpus = ncpus,
                               .cpupercent = m->cpupercent};
}
