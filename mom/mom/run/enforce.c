/* Compare a sample of usage with the limits of the job. ckpt/usage.c calls it for each sample of a run: enforce_note first,
 * then enforce_is_over, and posts TERMINATE where a limit is exceeded.
 *
 * The first row that is exceeded gives the reason. cput and vmem are always compared, the others where $enforce says so.
 * walltime is not here: the shepherd counts it, so that it holds while there is no MOM. A limit that cannot be parsed does
 * not limit.
 *
 * ncpus is compared with cpu time per wall time: the average over the life of the job ("sum"), and a moving average that
 * follows the samples by the weights of $enforce, by default up faster than down ("burst"). Each host of a job sees its own
 * part; the server compares the sum of all hosts (server/run/job_limits.c).
 *
 * To add a limit, write one function that fills in the text, and a row with the reason that EXEC has for it. */
#include "enforce.h"

#include <stdint.h>
#include <stdio.h>

#include "mom_config.h"
#include "mom_run.h"
#include "units.h"

/* WINDOW_MIN_MS: two samples that are closer than this give no rate. Cpu time is counted in ticks of 10 ms, which would be
 * more than 2 % of a shorter window. */
enum { MS_PER_S = 1000, WINDOW_MIN_MS = 500 };

static const double percent = 100;

struct enforce_asked {
    const struct enforce_rules *rules;
    const struct run *run;
    const struct exec_usage *used;
};

static bool over_size(const struct run *r, const char *name, uint64_t kb, uint64_t *limit_kb)
{
    const char *limit = run_attr(r, "Resource_List", name);
    struct units_size size;

    if (!limit || units_parse_size(limit, &size, NULL) < 0)
        return false;
    *limit_kb = units_size_kb(size);
    return kb > *limit_kb;
}

static bool enforce_over_cput(const struct enforce_asked *a, char *text, size_t max)
{
    const char *limit = run_attr(a->run, "Resource_List", "cput");
    uint64_t ms = a->used->cput_ms;
    int64_t limit_ms;

    if (!limit || units_parse_duration_ms(limit, &limit_ms, NULL) < 0 || ms <= (uint64_t)limit_ms)
        return false;
    snprintf(text, max, "cput %llu exceeded limit %lld", (unsigned long long)(ms + MS_PER_S - 1) / MS_PER_S,
             (long long)limit_ms / MS_PER_S);
    return true;
}

static bool enforce_over_vmem(const struct enforce_asked *a, char *text, size_t max)
{
    uint64_t limit;

    if (!over_size(a->run, "vmem", a->used->vmem_kb, &limit))
        return false;
    snprintf(text, max, "vmem %llukb exceeded limit %llukb", (unsigned long long)a->used->vmem_kb,
             (unsigned long long)limit);
    return true;
}

static bool enforce_over_mem(const struct enforce_asked *a, char *text, size_t max)
{
    uint64_t limit;

    if (!a->rules->mem || !over_size(a->run, "mem", a->used->mem_kb, &limit))
        return false;
    snprintf(text, max, "mem %llukb exceeded limit %llukb", (unsigned long long)a->used->mem_kb,
             (unsigned long long)limit);
    return true;
}

static bool enforce_over_complexmem(const struct enforce_asked *a, char *text, size_t max)
{
    uint64_t limit;

    if (!a->rules->complexmem || !over_size(a->run, "mem", a->used->mem_kb, &limit))
        return false;
    snprintf(text, max, "mem job total %llu kb exceeded limit %llu kb", (unsigned long long)a->used->mem_kb,
             (unsigned long long)limit);
    return true;
}

static bool enforce_over_average(const struct enforce_asked *a, char *text, size_t max)
{
    const struct enforce_rules *e = a->rules;
    double wall_s = (double)a->used->walltime_ms / MS_PER_S, cpus;

    if (!e->cpuaverage || wall_s <= e->average_trialperiod || wall_s <= 0)
        return false;
    cpus = (double)a->used->cput_ms / MS_PER_S / wall_s;
    if (cpus * percent <= a->run->ncpus * e->average_cpufactor * percent + e->average_percent_over)
        return false;
    snprintf(text, max, "ncpus %.2f exceeded limit %u (sum)", cpus, a->run->ncpus);
    return true;
}

static bool enforce_over_burst(const struct enforce_asked *a, char *text, size_t max)
{
    const struct enforce_rules *e = a->rules;

    if (!e->cpuburst ||
        a->run->burst.percent <= a->run->ncpus * e->delta_cpufactor * percent + e->delta_percent_over)
        return false;
    snprintf(text, max, "ncpus %.1f exceeded limit %u " ENFORCE_BURST, a->run->burst.percent / percent,
             a->run->ncpus);
    return true;
}

static const struct {
    exec_reason reason;
    bool (*is_over)(const struct enforce_asked *a, char *text, size_t max);
} rows[] = {
    {EXEC_END_CPUT, enforce_over_cput},     {EXEC_END_VMEM, enforce_over_vmem},
    {EXEC_END_MEM, enforce_over_mem},       {EXEC_END_MEM, enforce_over_complexmem},
    {EXEC_END_NCPUS, enforce_over_average}, {EXEC_END_NCPUS, enforce_over_burst},
};

void enforce_note(const struct config *c, struct run *r, const struct exec_usage *u)
{
    uint64_t wall_ms = u->walltime_ms - r->burst.wall_ms, cput_ms = u->cput_ms - r->burst.cput_ms;
    double now, weight;

    if (u->walltime_ms < r->burst.wall_ms + WINDOW_MIN_MS || u->cput_ms < r->burst.cput_ms)
        return;
    now = (double)cput_ms * percent / (double)wall_ms;
    weight = now > r->burst.percent ? c->enforce.delta_weightup : c->enforce.delta_weightdown;
    r->burst.percent += (now - r->burst.percent) * weight;
    r->burst.wall_ms = u->walltime_ms;
    r->burst.cput_ms = u->cput_ms;
}

bool enforce_is_over(const struct config *c, const struct run *r, const struct exec_usage *u,
                     exec_reason *reason, char *text, size_t max)
{
    const struct enforce_asked a = {&c->enforce, r, u};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].is_over(&a, text, max)) {
            *reason = rows[i].reason;
            return true;
        }
    return false;
}
