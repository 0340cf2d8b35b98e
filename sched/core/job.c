/* A job decoded, one row per attribute. An object comes whole each time, so job_look hashes all of it first,
 * and a comment, which we have mostly written ourselves, is taken without more ado.
 *
 * job_take begins from nothing: forget() gives every field of the server's part its default, since an
 * attribute that is not sent has none. A new field therefore has two more places: forget(), and job_of_array
 * if a subjob has it from its array. What a job is to the scheduler follows from state and substate in one
 * function, standing_of. The universe's own fields (class, order, claim, ...) are left alone. */
#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "idset.h"
#include "intern.h"
#include "memory.h"
#include "pbs_ifl.h"
#include "strbuf.h"
#include "units.h"

enum { SUBSTATE_HELD = 20, SUBSTATE_SUSPENDED = 43, SUBSTATE_SCHED_SUSPENDED = 45, NEEDS_MAX = 65536 };

struct job *job_create(const char *id)
{
    struct job *j = mem_new(1, sizeof *j);

    j->id = mem_intern(id);
    return j;
}

/* The texts that job_take sets, for forgetting them all. */
static const char **text_of(struct job *j, size_t i)
{
    const char **texts[] = {&j->queue_name, &j->user,     &j->group,    &j->project,   &j->select, &j->place,
                            &j->exec_vnode, &j->released, &j->methods,  &j->targets,   &j->resv,   &j->needs,
                            &j->asks,       &j->comment,  &j->array_id, &j->remaining, &j->account};

    return i < sizeof texts / sizeof *texts ? texts[i] : NULL;
}

static void set_text(const char **to, const char *text)
{
    const char *was = *to;

    *to = mem_intern(text);
    intern_unref(was);
}

static void forget(struct job *j)
{
    const char **text;

    for (size_t i = 0; (text = text_of(j, i)) != NULL; i++) {
        intern_unref(*text);
        *text = NULL;
    }
    amounts_clear(&j->want);
    amounts_clear(&j->used);
    idset_destroy(j->queued);
    j->queued = NULL;
    j->max_subjobs = 0;
    j->state = 'T';
    j->substate = 0;
    j->is_array = false;
    j->priority = j->rank = j->run_version = j->start_s = j->preempted_s = j->paused_s = 0;
    j->never_top = j->is_top = false;
    j->limit_s = j->most_s = j->least_s = j->cpu_limit_s = j->used_s = j->cpu_used_s = 0;
    j->room_held = j->gives_way = false;
    j->preempt_failed_s = 0;
    j->eligible_s = j->accrue_type = 0;
    j->preempt_method = 0;
    j->preempt_count = 0;
    j->rerunable = j->can_checkpoint = true;
}

void job_destroy(struct job *j)
{
    if (!j)
        return;
    forget(j);
    intern_unref(j->id);
    amounts_fini(&j->want);
    amounts_fini(&j->used);
    pieces_fini(&j->on);
    pieces_fini(&j->yields);
    pieces_fini(&j->claim);
    pieces_fini(&j->reserve);
    pieces_fini(&j->awaited);
    free(j);
}

static uint64_t hash_text(uint64_t h, const char *s)
{
    for (; s && *s; s++)
        h = (h ^ (unsigned char)*s) * 0x100000001B3ull;
    return (h ^ 0xff) * 0x100000001B3ull;
}

/* It is another each time it is asked for, or we have written it ourselves. */
static bool is_clock(const struct attrl *a)
{
    return a->name && (strcmp(a->name, "eligible_time") == 0 || strcmp(a->name, "topjob") == 0);
}

static bool is_comment(const struct attrl *a)
{
    return a->name && strcmp(a->name, "comment") == 0;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

enum job_news job_look(struct job *j, const struct attrl *attrs)
{
    uint64_t h = 0xcbf29ce484222325ull;
    const char *comment = NULL;

    for (const struct attrl *a = attrs; a; a = a->next)
        if (is_comment(a))
            comment = a->value;
        else if (!is_clock(a))
            h = hash_text(hash_text(hash_text(h, a->name), a->resource), a->value);
    if (h != j->look) {
        j->look = h;
        return JOB_CHANGED;
    }
    if (same_text(comment, j->comment))
        return JOB_SAME;
    set_text(&j->comment, comment);
    return JOB_COMMENT;
}

/* --- attributes, one row each ------------------------------------------------------------------- */

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
    set_text(&s->j->queue_name, s->a->value);
}
static void take_user(struct source *s)
{
    set_text(&s->j->user, s->a->value);
}
static void take_group(struct source *s)
{
    set_text(&s->j->group, s->a->value);
}
static void take_project(struct source *s)
{
    set_text(&s->j->project, s->a->value);
}
static void take_account(struct source *s)
{
    set_text(&s->j->account, s->a->value);
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
    set_text(&s->j->select, s->a->value);
}
static void take_exec(struct source *s)
{
    set_text(&s->j->exec_vnode, s->a->value);
}
static void take_released(struct source *s)
{
    set_text(&s->j->released, s->a->value);
}
static void take_resv(struct source *s)
{
    set_text(&s->j->resv, s->a->value);
}
static void take_comment(struct source *s)
{
    set_text(&s->j->comment, s->a->value);
}
static void take_array(struct source *s)
{
    s->j->is_array = yes(s->a->value, false);
}
static void take_array_id(struct source *s)
{
    set_text(&s->j->array_id, s->a->value);
}
static void take_remaining(struct source *s)
{
    set_text(&s->j->remaining, s->a->value);
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
    set_text(&s->j->methods, s->a->value);
}
static void take_preempt_count(struct source *s)
{
    s->j->preempt_count = number(s);
}
static void take_preempt_method(struct source *s)
{
    s->j->preempt_method = s->a->value[0];
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
        set_text(&s->j->place, value);
    else if (strcmp(name, "select") == 0 && !s->j->select)
        set_text(&s->j->select, value);
    else if (strcmp(name, "preempt_targets") == 0)
        set_text(&s->j->targets, value);
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

static enum standing standing_of(const struct job *j)
{
    if (j->is_array)
        return j->queued && (j->state == 'Q' || j->state == 'B') ? STANDING_WAITS : STANDING_OTHER;
    if (j->array_id && j->substate == SUBSTATE_HELD) /* with its array; people see Q */
        return STANDING_OTHER;
    if (j->substate == SUBSTATE_SCHED_SUSPENDED)
        return STANDING_SUSPENDED;
    if (j->substate == SUBSTATE_SUSPENDED)
        return STANDING_STOPPED;
    switch (j->state) {
    case 'Q':
        return j->room_held ? STANDING_AWAITS : STANDING_WAITS;
    case 'R':
    case 'U':
        return STANDING_RUNS;
    case 'S':
        return STANDING_STOPPED;
    case 'E':
        return STANDING_ENDS;
    default:
        return STANDING_OTHER;
    }
}

void job_take(struct job *j, struct catalogue *c, const struct attrl *attrs)
{
    struct strbuf needs, asks;
    struct source s = {.j = j, .c = c, .needs = &needs, .asks = &asks};

    strbuf_init(&needs, NEEDS_MAX);
    strbuf_init(&asks, NEEDS_MAX);
    strbuf_add_char(&asks, ';');
    forget(j);
    for (s.a = attrs; s.a; s.a = s.a->next)
        for (size_t i = 0; s.a->name && s.a->value && i < sizeof rows / sizeof *rows; i++)
            if (strcmp(s.a->name, rows[i].name) == 0)
                rows[i].take(&s);
    if (needs.len > 0)
        set_text(&j->needs, strbuf_str(&needs));
    set_text(&j->asks, strbuf_str(&asks));
    strbuf_fini(&needs);
    strbuf_fini(&asks);
    if (j->is_array)
        job_read_remaining(j);
    j->standing = standing_of(j);
    if (job_holds_nodes(j) || j->standing == STANDING_SUSPENDED)
        j->short_s = 0; /* its walltime says it */
    else if (j->least_s && s.longest_s)
        j->limit_s = s.longest_s;
    else if (j->least_s > j->limit_s && j->limit_s)
        j->limit_s = j->least_s;
}

void job_read_remaining(struct job *array)
{
    struct idset *set = NULL;

    idset_destroy(array->queued);
    array->queued = NULL;
    if (!array->remaining || idset_parse(array->remaining, INT32_MAX, SIZE_MAX, &set, NULL) < 0)
        return;
    if (idset_count(set))
        array->queued = set;
    else
        idset_destroy(set);
}

struct job *job_of_array(const struct job *array, const char *id)
{
    struct job *j = job_create(id);
    const char **from, **to;

    for (size_t i = 0; (to = text_of(j, i)) && (from = text_of((struct job *)(uintptr_t)array, i)); i++)
        *to = intern_again(*from);
    set_text(&j->array_id, array->id);
    set_text(&j->remaining, NULL);
    set_text(&j->comment, NULL);
    amounts_copy(&j->want, &array->want);
    j->state = 'Q';
    j->substate = 10;
    j->priority = array->priority;
    j->rank = array->rank;
    j->limit_s = array->limit_s;
    j->most_s = array->most_s;
    j->cpu_limit_s = array->cpu_limit_s;
    j->rerunable = array->rerunable;
    j->can_checkpoint = array->can_checkpoint;
    j->queue = array->queue;
    j->share = array->share;
    j->never_top = array->never_top;
    j->rating = array->rating;
    j->eligible_s = array->eligible_s;
    j->accrue_type = array->accrue_type;
    j->standing = STANDING_WAITS;
    j->is_provisional = true;
    return j;
}
