/* What each attribute of a job means, one row each.
 *
 * job_take begins from nothing: job_forget gives every field of the server's part its default, since an attribute that is not
 * sent has none. Rows come in any order, so what depends on two of them is settled when all are in. What a job is to the
 * scheduler follows from state and substate in one function, sched_state_of. The cluster's own fields (class, order, claim,
 * ...) are left alone. */
#include <stdlib.h>
#include <string.h>

#include "job_private.h"
#include "mem.h"
#include "pbs_ifl.h"
#include "strbuf.h"
#include "units.h"

enum { SUBSTATE_HELD = 20, SUBSTATE_SUSPENDED = 43, SUBSTATE_SCHED_SUSPENDED = 45, NEEDS_MAX = 65536 };

struct source {
    struct job *j;
    struct catalogue *c;
    const struct attrl *a;
    struct strbuf *needs, *asks;
    int64_t longest_s; /* max_walltime */
};

static int64_t number(const struct source *s)
{
    return strtoll(s->a->value, NULL, 10);
}

static int64_t seconds(const char *text)
{
    int64_t n;

    return units_parse_duration_s(text, &n, NULL) < 0 ? 0 : n;
}

static bool yes(const char *text, bool otherwise)
{
    bool b;

    return units_parse_bool(text, &b, NULL) < 0 ? otherwise : b;
}

static void take_state(struct source *s)
{
    s->j->state = s->a->value[0];
}
static void take_substate(struct source *s)
{
    s->j->substate = (int)number(s);
}
static void take_queue(struct source *s)
{
    job_set_text(&s->j->queue_name, s->a->value);
}
static void take_user(struct source *s)
{
    job_set_text(&s->j->user, s->a->value);
}
static void take_group(struct source *s)
{
    job_set_text(&s->j->group, s->a->value);
}
static void take_project(struct source *s)
{
    job_set_text(&s->j->project, s->a->value);
}
static void take_account(struct source *s)
{
    job_set_text(&s->j->account, s->a->value);
}
static void take_priority(struct source *s)
{
    s->j->priority = number(s);
}
static void take_rank(struct source *s)
{
    s->j->rank = number(s);
}
static void take_qtime(struct source *s)
{
    if (s->j->rank == 0)
        s->j->rank = number(s);
}
static void take_stime(struct source *s)
{
    s->j->start_s = number(s);
}
static void take_paused(struct source *s)
{
    s->j->paused_s = number(s);
}
static void take_ptime(struct source *s)
{
    s->j->preempted_s = number(s);
}
static void take_run_version(struct source *s)
{
    s->j->run_version = number(s);
}
static void take_select(struct source *s)
{
    job_set_text(&s->j->select, s->a->value);
}
static void take_exec(struct source *s)
{
    job_set_text(&s->j->exec_vnode, s->a->value);
}
static void take_released(struct source *s)
{
    job_set_text(&s->j->released, s->a->value);
}
static void take_resv(struct source *s)
{
    job_set_text(&s->j->resv, s->a->value);
}
static void take_comment(struct source *s)
{
    job_set_text(&s->j->comment, s->a->value);
}
static void take_array(struct source *s)
{
    s->j->is_array = yes(s->a->value, false);
}
static void take_array_id(struct source *s)
{
    job_set_text(&s->j->array_id, s->a->value);
}
static void take_remaining(struct source *s)
{
    job_set_text(&s->j->remaining, s->a->value);
}
static void take_max_subjobs(struct source *s)
{
    s->j->max_subjobs = number(s);
}
static void take_rerunable(struct source *s)
{
    s->j->rerunable = yes(s->a->value, true);
}
static void take_room_held(struct source *s)
{
    s->j->room_held = yes(s->a->value, false);
}
static void take_gives_way(struct source *s)
{
    s->j->gives_way = yes(s->a->value, false);
}
static void take_preempt_failed(struct source *s)
{
    s->j->preempt_failed_s = number(s);
}
static void take_eligible(struct source *s)
{
    s->j->eligible_s = seconds(s->a->value);
}
static void take_accrue_type(struct source *s)
{
    s->j->accrue_type = number(s);
}
static void take_methods(struct source *s)
{
    preempt_methods_parse(s->a->value, &s->j->wish);
}
static void take_preempt_count(struct source *s)
{
    s->j->preempt_count = number(s);
}
static void take_preempt_method(struct source *s)
{
    s->j->preempt_method = preempt_result_of_code(s->a->value);
}
static void take_checkpoint(struct source *s)
{
    s->j->can_checkpoint = strcmp(s->a->value, "n") != 0;
}

static void take_one_used(struct job *j, const struct catalogue *c, const struct attrl *a)
{
    res_id res = a->resource && a->value ? catalogue_find(c, a->resource) : RES_NONE;
    const struct resource *r = catalogue_get(c, res);

    if (!r || !res_is_numeric(r))
        return;
    amounts_set(&j->used, res, res_parse(r, a->value));
    if (strcmp(a->resource, "walltime") == 0)
        j->used_s = seconds(a->value);
    else if (strcmp(a->resource, "cput") == 0)
        j->cpu_used_s = seconds(a->value);
}

static void take_used(struct source *s)
{
    take_one_used(s->j, s->c, s->a);
}

void job_take_used(struct job *j, const struct catalogue *c, const struct attrl *attrs)
{
    for (; attrs; attrs = attrs->next)
        if (attrs->name && strcmp(attrs->name, "resources_used") == 0)
            take_one_used(j, c, attrs);
}

static void take_top(struct source *s)
{
    s->j->is_top = yes(s->a->value, false);
}
static void take_never_top(struct source *s)
{
    s->j->never_top = yes(s->a->value, false);
}

static void take_limit(struct source *s, const char *name, const char *value)
{
    struct job *j = s->j;

    if (strcmp(name, "walltime") == 0)
        j->most_s = seconds(value);
    if (strcmp(name, "soft_walltime") == 0)
        j->limit_s = seconds(value);
    else if (strcmp(name, "walltime") == 0 && j->limit_s == 0)
        j->limit_s = seconds(value);
    else if (strcmp(name, "min_walltime") == 0)
        j->least_s = seconds(value);
    else if (strcmp(name, "max_walltime") == 0)
        s->longest_s = seconds(value);
    else if (strcmp(name, "cput") == 0)
        j->cpu_limit_s = seconds(value);
}

static void take_resource(struct source *s)
{
    const char *name = s->a->resource, *value = s->a->value;
    res_id res = name ? catalogue_expect(s->c, name) : RES_NONE;
    const struct resource *r = catalogue_get(s->c, res);

    if (!name)
        return;
    strbuf_addf(s->asks, "%s=%s;", name, value);
    if (strcmp(name, "place") == 0)
        job_set_text(&s->j->place, value);
    else if (strcmp(name, "select") == 0 && !s->j->select)
        job_set_text(&s->j->select, value);
    else if (strcmp(name, "preempt_targets") == 0)
        job_set_text(&s->j->targets, value);
    else
        take_limit(s, name, value);
    if (!r || !(r->flags & RES_SERVER) || !res_is_numeric(r))
        return;
    amounts_set(&s->j->want, res, res_parse(r, value));
    strbuf_addf(s->needs, "%s=%s:", name, value);
}

static const struct {
    const char *name;
    void (*take)(struct source *s);
} rows[] = {
    {"job_state", take_state},
    {"substate", take_substate},
    {"queue", take_queue},
    {"euser", take_user},
    {"egroup", take_group},
    {"project", take_project},
    {"Account_Name", take_account},
    {"Priority", take_priority},
    {"queue_rank", take_rank},
    {"qtime", take_qtime},
    {"stime", take_stime},
    {"ptime", take_ptime},
    {"paused_time", take_paused},
    {"run_version", take_run_version},
    {"schedselect", take_select},
    {"exec_vnode", take_exec},
    {"resources_released", take_released},
    {"reserve_ID", take_resv},
    {"comment", take_comment},
    {"array", take_array},
    {"array_id", take_array_id},
    {"array_indices_remaining", take_remaining},
    {"max_run_subjobs", take_max_subjobs},
    {"Rerunable", take_rerunable},
    {"room_held", take_room_held},
    {"gives_way", take_gives_way},
    {"preempt_failed", take_preempt_failed},
    {"eligible_time", take_eligible},
    {"accrue_type", take_accrue_type},
    {"preempt_method", take_preempt_method},
    {"preempt_count", take_preempt_count},
    {"preempt_methods", take_methods},
    {"Checkpoint", take_checkpoint},
    {"topjob", take_top},
    {"topjob_ineligible", take_never_top},
    {"resources_used", take_used},
    {"Resource_List", take_resource},
};

static enum sched_state sched_state_of(const struct job *j)
{
    if (j->is_array)
        return j->queued && (j->state == 'Q' || j->state == 'B') ? SCHED_STATE_WAITING : SCHED_STATE_OTHER;
    if (j->array_id && j->substate == SUBSTATE_HELD) /* with its array; people see Q */
        return SCHED_STATE_OTHER;
    if (j->substate == SUBSTATE_SCHED_SUSPENDED)
        return SCHED_STATE_SUSPENDED;
    if (j->substate == SUBSTATE_SUSPENDED)
        return SCHED_STATE_STOPPED;
    switch (j->state) {
    case 'Q':
        return j->room_held ? SCHED_STATE_AWAITING_ROOM : SCHED_STATE_WAITING;
    case 'R':
    case 'U':
        return SCHED_STATE_RUNNING;
    case 'S':
        return SCHED_STATE_STOPPED;
    case 'E':
        return SCHED_STATE_ENDING;
    default:
        return SCHED_STATE_OTHER;
    }
}

void job_take(struct job *j, struct catalogue *c, const struct attrl *attrs)
{
    struct strbuf needs, asks;
    struct source s = {.j = j, .c = c, .needs = &needs, .asks = &asks};

    strbuf_init(&needs, NEEDS_MAX);
    strbuf_init(&asks, NEEDS_MAX);
    strbuf_add_char(&asks, ';');
    job_forget(j);
    for (s.a = attrs; s.a; s.a = s.a->next)
        for (size_t i = 0; s.a->name && s.a->value && i < sizeof rows / sizeof *rows; i++)
            if (strcmp(s.a->name, rows[i].name) == 0)
                rows[i].take(&s);
    if (needs.len > 0)
        job_set_text(&j->needs, strbuf_str(&needs));
    job_set_text(&j->asks, strbuf_str(&asks));
    strbuf_fini(&needs);
    strbuf_fini(&asks);
    if (j->is_array)
        job_read_remaining(j);
    j->sched_state = sched_state_of(j);
    if (job_holds_nodes(j) || j->sched_state == SCHED_STATE_SUSPENDED)
        j->short_s = 0; /* its walltime says it */
    else if (j->least_s && s.longest_s)
        j->limit_s = s.longest_s;
    else if (j->least_s > j->limit_s && j->limit_s)
        j->limit_s = j->least_s;
}
