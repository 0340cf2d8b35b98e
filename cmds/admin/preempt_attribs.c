/* Attributes of a reply as facts and settings. See preempt_attribs.h.
 *
 * Rules are those of ifl/spec (preempt_rules.h), which server and scheduler apply too; nothing is decided here. A value that is
 * not there, or cannot be read, counts as unset: the server has checked it. */
#include "preempt_attribs.h"

#include <stdlib.h>
#include <string.h>

#include "attrs.h"
#include "units.h"

static int64_t seconds(const struct attrl *l, const char *name, const char *resource, int64_t unset)
{
    const char *text = attrs_value(l, name, resource);
    int64_t n;

    return text && units_parse_duration_s(text, &n, NULL) == 0 ? n : unset;
}

static int64_t preempt_attribs_number(const struct attrl *l, const char *name, int64_t unset)
{
    const char *text = attrs_value(l, name, NULL);

    return text ? strtoll(text, NULL, 10) : unset;
}

struct preempt_facts preempt_attribs_facts(const struct attrl *job)
{
    const char *state = attrs_value(job, "job_state", NULL),
               *wish = attrs_value(job, "preempt_methods", NULL);
    struct preempt_facts f = {.soft_walltime_s = seconds(job, "Resource_List", "soft_walltime", 0),
                              .walltime_s = seconds(job, "Resource_List", "walltime", 0),
                              .cput_s = seconds(job, "Resource_List", "cput", 0),
                              .used_walltime_s = seconds(job, "resources_used", "walltime", 0),
                              .used_cput_s = seconds(job, "resources_used", "cput", 0),
                              .start_s = preempt_attribs_number(job, "stime", 0),
                              .paused_s = preempt_attribs_number(job, "paused_time", 0),
                              .suspended = !state || strcmp(state, "R") != 0,
                              .count = preempt_attribs_number(job, "preempt_count", 0)};

    if (wish)
        preempt_methods_parse(wish, &f.wish);
    return f;
}

void preempt_attribs_settings(const struct batch_status *b, enum preempt_attribs_kind kind,
                              struct preempt_settings *out)
{
    const struct attrl *l = b ? b->attribs : NULL;
    const char *order = attrs_value(l, "preempt_order", NULL),
               *budget = attrs_value(l, "preempt_budget", NULL);
    const char *enable = attrs_value(l, "preempt_methods_enable", NULL);

    preempt_rules_init_settings(out, kind == PREEMPT_ATTRIBS_QUEUE ? (b ? b->name : "") : NULL);
    if (order)
        preempt_rules_settings_order(out, order);
    out->exempt_s = seconds(l, "preempt_exempt_time", NULL, PREEMPT_UNSET);
    out->max_count = preempt_attribs_number(l, "preempt_max_count", PREEMPT_UNSET);
    out->budget = budget ? strtod(budget, NULL) : PREEMPT_UNSET;
    out->priority = kind == PREEMPT_ATTRIBS_QUEUE
                        ? preempt_attribs_number(l, "Priority", 0)
                        : preempt_attribs_number(l, "preempt_queue_prio", out->priority);
    out->preemptable_by = attrs_value(l, "preemptable_by", NULL);
    out->methods_enable = enable && strcmp(enable, "True") == 0;
}

static bool preempt_attribs_is_true(const struct attrl *l, const char *name)
{
    const char *text = attrs_value(l, name, NULL);

    return text && strcmp(text, "True") == 0;
}

/* Is the list enabled, and does it keep any user out? An empty list allows all, and so does a lone "+" at its end. */
static bool is_restricted(const struct attrl *l, const char *enable, const char *list)
{
    const char *text = attrs_value(l, list, NULL);
    size_t n = text ? strlen(text) : 0;

    return preempt_attribs_is_true(l, enable) && n && !(text[n - 1] == '+' && (n == 1 || text[n - 2] == ','));
}

bool preempt_attribs_is_open_express(const struct batch_status *queue, const struct batch_status *sched)
{
    const char *type = attrs_value(queue->attribs, ATTR_qtype, NULL);
    struct preempt_settings of_queue, of_sched;

    preempt_attribs_settings(queue, PREEMPT_ATTRIBS_QUEUE, &of_queue);
    preempt_attribs_settings(sched, PREEMPT_ATTRIBS_SCHED, &of_sched);
    return preempt_rules_is_express(&of_queue, &of_sched) && !(type && type[0] == 'R') &&
           !is_restricted(queue->attribs, ATTR_acluren, ATTR_acluser) &&
           !is_restricted(queue->attribs, ATTR_aclgren, ATTR_aclgroup) &&
           !preempt_attribs_is_true(queue->attribs, ATTR_fromroute);
}
