/* The words of a scenario's `config` line. See scenario_config.h. */
#include "scenario_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "sort_keys.h"

static bool config_flag(struct policy *p, const char *name, bool is)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"fair_share", &p->fair_share},
                 {"by_queue", &p->by_queue},
                 {"round_robin", &p->round_robin},
                 {"smp_round_robin", &p->round_hosts},
                 {"strict_ordering", &p->strict_ordering},
                 {"strict_fifo", &p->strict_fifo},
                 {"backfill", &p->backfill},
                 {"resv_ignores_dedicated", &p->resv_ignores_dedicated},
                 {"backfill_prime", &p->backfill_prime},
                 {"prime_exempt_anytime_queues", &p->prime_exempt},
                 {"fairshare_enforce_no_shares", &p->share_enforce}};

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(flags[i].name, name) == 0) {
            *flags[i].flag = is;
            return true;
        }
    return false;
}

/* "ncpus,HIGH,unused": the first one of its kind drops what was there. */
static int config_keys(struct policy *p, bool of_jobs, char *value, struct err *e)
{
    for (char *c = value; (c = strchr(c, ',')) != NULL;)
        *c = ' ';
    if (!of_jobs && p->n_node_sort == 1 && p->node_sort[0].what == NODE_BY_PRIORITY)
        p->n_node_sort = 0;
    return of_jobs ? sort_keys_add_job(p, value, e) : sort_keys_add_node(p, value, e);
}

/* "licences:3": what a script would have said for the next cycle. */
static int config_dynamic(struct policy *p, char *value, struct err *e)
{
    char *amount = strchr(value, ':');
    size_t i = 0;

    if (!amount)
        return err_set(e, EINVAL, "%s: it is RESOURCE:AMOUNT", value);
    *amount++ = '\0';
    while (i < p->n_dynamic && strcmp(p->dynamic[i].resource, value) != 0)
        i++;
    if (i == p->n_dynamic) {
        p->dynamic = mem_grow(p->dynamic, ++p->n_dynamic, sizeof *p->dynamic);
        p->dynamic[i] = (struct policy_dynamic){.resource = mem_text(value)};
    }
    free(p->dynamic[i].available);
    p->dynamic[i].available = mem_text(amount);
    p->dynamic[i].taken = 0;
    return 0;
}

int scenario_config(struct policy *p, const char *name, char *value, struct err *e)
{
    if (strcmp(name, "job_sort_key") == 0 || strcmp(name, "node_sort_key") == 0)
        return config_keys(p, *name == 'j', value, e);
    if (strcmp(name, "dynamic") == 0)
        return config_dynamic(p, value, e);
    if (strcmp(name, "prime_spill") == 0) {
        p->prime_spill_s = strtoll(value, NULL, 10);
        return 0;
    }
    if (strcmp(name, "fairshare_usage_res") == 0) {
        free(p->share_usage);
        p->share_usage = mem_text(value);
        return 0;
    }
    return config_flag(p, name, strcmp(value, "true") == 0) ? 0
                                                            : err_set(e, EINVAL, "no option %s here", name);
}
