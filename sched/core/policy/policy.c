/* Attributes of the sched object by rows, each with its preset. A value that cannot be read puts the preset
 * in force, not what was there before. The settings of sched_config are plain fields that others write.
 */
#include "policy.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "intern.h"
#include "log.h"
#include "mem.h"
#include "pbs_error.h"
#include "prime_calendar.h"
#include "units.h"
#include "words.h"

static int bad(struct err *e, const char *name, const char *value)
{
    return err_set(e, PBSE_BADATVAL, "%s: %s is not a value that it can have", name, value);
}

/* ---- attributes of the sched object, a row each: `at` is the field's place, or 0 where the value is more than one field */
typedef int take_fn(void *at, const char *name, const char *value, struct err *e);

static int policy_take_order(void *settings, const char *name, const char *value, struct err *e)
{
    return preempt_rules_settings_order(settings, value) ? 0 : bad(e, name, value);
}

static int policy_take_prio(void *prio, const char *name, const char *value, struct err *e)
{
    return preempt_order_parse_prio(value, prio, e);
}

static int policy_take_bool(void *at, const char *name, const char *value, struct err *e)
{
    return units_parse_bool(value, at, NULL) < 0 ? bad(e, name, value) : 0;
}

static int policy_take_long(void *at, const char *name, const char *value, struct err *e)
{
    return units_parse_int(value, INT32_MIN, INT32_MAX, at, NULL) < 0 ? bad(e, name, value) : 0;
}

static int policy_take_bits(void *at, const char *name, const char *value, struct err *e)
{
    unsigned *bits = at;
    int64_t n;

    if (policy_take_long(&n, name, value, e) < 0)
        return -1;
    *bits = (unsigned)n;
    return 0;
}

static int policy_take_duration(void *at, const char *name, const char *value, struct err *e)
{
    return units_parse_duration_s(value, at, NULL) < 0 ? bad(e, name, value) : 0;
}

static int policy_take_real(void *at, const char *name, const char *value, struct err *e)
{
    double *x = at;

    (void)name, (void)e;
    *x = strtod(value, NULL);
    return 0;
}

/* An empty text is none. */
static void policy_put_text(char **out, const char *value)
{
    free(*out);
    *out = *value ? mem_text(value) : NULL;
}

static int policy_take_text(void *at, const char *name, const char *value, struct err *e)
{
    (void)name, (void)e;
    policy_put_text(at, value);
    return 0;
}

static int policy_take_partition(void *policy, const char *name, const char *value, struct err *e)
{
    struct policy *p = policy;

    if (strlen(value) >= sizeof p->partition)
        return bad(e, name, value);
    memcpy(p->partition, value, strlen(value) + 1);
    return 0;
}

/* Another number tells rating.c that the text has changed. */
static int policy_take_formula(void *policy, const char *name, const char *value, struct err *e)
{
    struct policy *p = policy;

    p->formula_number++;
    return policy_take_text(&p->formula, name, value, e);
}

static int policy_take_threshold(void *policy, const char *name, const char *value, struct err *e)
{
    struct policy *p = policy;

    p->has_threshold = *value != '\0';
    return policy_take_real(&p->formula_threshold, name, value, e);
}

static int policy_take_fuzzy(void *at, const char *name, const char *value, struct err *e)
{
    static const struct {
        const char *word;
        int64_t window_s;
    } words[] = {{"off", 0}, {"low", 60}, {"medium", 600}, {"high", 3600}};
    int64_t *window_s = at;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(words[i].word, value) == 0) {
            *window_s = words[i].window_s;
            return 0;
        }
    return bad(e, name, value);
}

static int policy_take_sort(void *at, const char *name, const char *value, struct err *e)
{
    return preempt_order_parse_sort(value, at) < 0 ? bad(e, name, value) : 0;
}

/* There is no difference between "none" and "runjob_hook" as long as the server has no such hook to ask. */
static int policy_take_run_wait(void *at, const char *name, const char *value, struct err *e)
{
    bool *waits = at;

    if (strcmp(value, "none") != 0 && strcmp(value, "runjob_hook") != 0 && strcmp(value, "execjob_hook") != 0)
        return bad(e, name, value);
    *waits = strcmp(value, "execjob_hook") == 0;
    return 0;
}

#define FIELD(name) offsetof(struct policy, name)
static const struct attribute {
    const char *name, *preset;
    take_fn *take;
    size_t at;
} attributes[] = {
    {"preempt_order", "SCR", policy_take_order, FIELD(preempt)},
    {"preempt_prio", "express_queue, normal_jobs", policy_take_prio, FIELD(prio)},
    {"preempt_queue_prio", "150", policy_take_long, FIELD(preempt.priority)},
    {"preempt_targets_enable", "True", policy_take_bool, FIELD(preempt_targets)},
    {"scheduling", "True", policy_take_bool, FIELD(scheduling)},
    {"scheduler_iteration", "600", policy_take_long, FIELD(iteration_s)},
    {"sched_cycle_length", "00:20:00", policy_take_duration, FIELD(cycle_length_s)},
    {"attr_update_period", "0", policy_take_long, FIELD(update_period_s)},
    {"job_run_wait", "runjob_hook", policy_take_run_wait, FIELD(waits_for_hosts)},
    {"log_events", "767", policy_take_bits, FIELD(log_mask)},
    {"partition", "", policy_take_partition, 0},
    {"preempt_sort", "min_time_since_start", policy_take_sort, FIELD(preempt_sort)},
    {"preempt_for_resv", "False", policy_take_bool, FIELD(preempt_for_resv)},
    {"preempt_wait", "0", policy_take_duration, FIELD(preempt_wait_s)},
    {"preempt_exempt_time", "0", policy_take_duration, FIELD(preempt.exempt_s)},
    {"preempt_max_count", "-1", policy_take_long, FIELD(preempt.max_count)},
    {"preempt_budget", "-1", policy_take_real, FIELD(preempt.budget)},
    {"sched_priv", "", policy_take_text, FIELD(sched_priv)},
    {"sched_log", "", policy_take_text, FIELD(sched_log)},
    {"job_sort_formula", "", policy_take_formula, 0},
    {"job_sort_formula_threshold", "", policy_take_threshold, 0},
    {"opt_backfill_fuzzy", "low", policy_take_fuzzy, FIELD(fuzzy_s)},
    {"gang_timeslice", "30", policy_take_duration, FIELD(timeslice_s)},
    {"server_dyn_res_alarm", "30", policy_take_long, FIELD(dynamic_alarm_s)},
    {"do_not_span_psets", "False", policy_take_bool, FIELD(no_spanning)},
    {"only_explicit_psets", "False", policy_take_bool, FIELD(explicit_sets)},
    {"sched_preempt_enforce_resumption", "False", policy_take_bool, FIELD(enforce_resumption)},
};
enum { N_ATTRIBUTES = sizeof attributes / sizeof *attributes };

static int take_attribute(struct policy *p, const struct attribute *a, const char *value, struct err *e)
{
    return a->take((char *)p + a->at, a->name, value, e);
}

/* Presets come from the rows of this file and are always valid: no error is reported. */
static void take_preset(struct policy *p, const struct attribute *a)
{
    (void)take_attribute(p, a, a->preset, NULL);
}

const char *policy_formula(const struct policy *p)
{
    return p->formula ? p->formula : p->server_formula;
}

void policy_server_formula(struct policy *p, const char *text)
{
    policy_put_text(&p->server_formula, text ? text : "");
    p->formula_number++;
}

const char *policy_attribute_name(size_t i)
{
    return i < N_ATTRIBUTES ? attributes[i].name : NULL;
}

int policy_attribute(struct policy *p, const char *name, const char *value, struct err *e)
{
    for (int i = 0; i < N_ATTRIBUTES; i++) {
        if (strcmp(name, attributes[i].name) != 0)
            continue;
        if (value && take_attribute(p, &attributes[i], value, e) == 0)
            return 0;
        take_preset(p, &attributes[i]);
        return value ? -1 : 0;
    }
    return 0;
}

void policy_init(struct policy *p)
{
    *p = (struct policy){.preemptive = true,
                         .by_queue = true,
                         .update_comments = true,
                         .backfill = true,
                         .node_sort = {{.what = NODE_BY_PRIORITY, .high = true}},
                         .n_node_sort = 1,
                         .unknown_shares = 10,
                         .share_decay_s = 86400,
                         .share_decay = 0.5,
                         .share_enforce = true,
                         .times = prime_calendar_create(),
                         .is_prime = true,
                         .prime_prefix = mem_text("p_"),
                         .nonprime_prefix = mem_text("np_"),
                         .dedicated_prefix = mem_text("ded")};
    preempt_rules_init_settings(&p->preempt, NULL);
    for (int i = 0; i < N_ATTRIBUTES; i++)
        take_preset(p, &attributes[i]);
}

void policy_forget_keys(struct policy *p)
{
    for (size_t i = 0; i < p->n_job_sort; i++)
        intern_unref(p->job_sort[i].resource);
    for (size_t i = 0; i < p->n_node_sort; i++)
        intern_unref(p->node_sort[i].resource);
    p->n_job_sort = p->n_node_sort = 0;
}

void policy_forget_dynamic(struct policy *p)
{
    for (size_t i = 0; i < p->n_dynamic; i++) {
        free(p->dynamic[i].resource);
        free(p->dynamic[i].command);
        free(p->dynamic[i].available);
    }
    free(p->dynamic);
    p->dynamic = NULL;
    p->n_dynamic = 0;
}

void policy_fini(struct policy *p)
{
    policy_forget_dynamic(p);
    free(p->suspend_frees);
    policy_forget_keys(p);
    prime_calendar_destroy(p->times);
    free(p->prime_prefix);
    free(p->nonprime_prefix);
    free(p->dedicated_prefix);
    free(p->resources);
    free(p->unset_infinite);
    free(p->share_usage);
    free(p->sched_priv);
    free(p->sched_log);
    free(p->formula);
    free(p->server_formula);
    *p = (struct policy){0};
}

bool policy_orders_by_share(const struct policy *p)
{
    bool sorts = false;

    for (size_t i = 0; i < p->n_job_sort; i++)
        sorts = sorts || p->job_sort[i].what == SORT_SHARE;
    return sorts || p->fair_share;
}

/* The words of a formula that need usage begin with fairshare_. */
bool policy_counts_use(const struct policy *p)
{
    const char *formula = policy_formula(p);

    return p->fair_share || (formula && strstr(formula, "fairshare_"));
}

bool policy_sorts_by_use(const struct policy *p)
{
    bool sorts = false;

    for (size_t i = 0; i < p->n_node_sort; i++)
        sorts = sorts || p->node_sort[i].what == NODE_BY_ASSIGNED || p->node_sort[i].what == NODE_BY_UNUSED;
    return sorts;
}

/* Words are divided by commas and blanks; a part of a word does not count. */
bool policy_lists(const char *list, const char *name, bool otherwise)
{
    size_t n = strlen(name);

    if (!list)
        return otherwise;
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += n) {
        bool begins = at == list || strchr(", \t", at[-1]);
        bool ends = !at[n] || strchr(", \t", at[n]);
        if (begins && ends)
            return true;
    }
    return false;
}

bool policy_is_strict(const struct policy *p)
{
    return p->strict_ordering || p->strict_fifo;
}

unsigned policy_moving_levels(const struct policy *p)
{
    unsigned listed = 0;

    for (size_t i = 0; i < p->prio.n; i++)
        listed |= p->prio.level[i];
    return listed & (PRIO_QUEUE_SOFTLIMIT | PRIO_SERVER_SOFTLIMIT | (p->fair_share ? PRIO_FAIRSHARE : 0u));
}

bool policy_is_memory(const char *resource)
{
    static const char *const memory[] = {"mem", "vmem", "hbmem", "accelerator_memory"};

    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        if (strcmp(memory[i], resource) == 0)
            return true;
    return false;
}

bool policy_suspend_frees(const struct policy *p, const char *resource)
{
    return p->suspend_frees ? policy_lists(p->suspend_frees, resource, false) : !policy_is_memory(resource);
}
