/* The first limit that is exceeded wins: cput, vmem, and mem only where the configuration says so. walltime
 * is not among them; the shepherd counts it, so that it holds without a MOM too. What cannot be read as a
 * limit is none. */
#include "enforce.h"

#include <stdint.h>
#include <stdio.h>

#include "config.h"
#include "run.h"
#include "units.h"

enum { MS_PER_S = 1000 };

static bool over_size(const struct run *r, const char *name, uint64_t kb, char *text, size_t max)
{
    const char *limit = run_attr(r, "Resource_List", name);
    struct units_size size;

    if (!limit || units_parse_size(limit, &size, NULL) < 0 || kb <= units_size_kb(size))
        return false;
    snprintf(text, max, "%s %llukb exceeded limit %llukb", name, (unsigned long long)kb,
             (unsigned long long)units_size_kb(size));
    return true;
}

static bool over_cput(const struct run *r, uint64_t ms, char *text, size_t max)
{
    const char *limit = run_attr(r, "Resource_List", "cput");
    int64_t limit_ms;

    if (!limit || units_parse_duration_ms(limit, &limit_ms, NULL) < 0 || ms <= (uint64_t)limit_ms)
        return false;
    snprintf(text, max, "cput %llu exceeded limit %lld", (unsigned long long)(ms + MS_PER_S - 1) / MS_PER_S,
             (long long)limit_ms / MS_PER_S);
    return true;
}

bool enforce_is_over(const struct config *c, const struct run *r, const struct exec_usage *u,
                     exec_reason *reason, char *text, size_t max)
{
    *reason = EXEC_END_CPUT;
    if (over_cput(r, u->cput_ms, text, max))
        return true;
    *reason = EXEC_END_VMEM;
    if (over_size(r, "vmem", u->vmem_kb, text, max))
        return true;
    *reason = EXEC_END_MEM;
    return c->enforce_mem && over_size(r, "mem", u->mem_kb, text, max);
}
