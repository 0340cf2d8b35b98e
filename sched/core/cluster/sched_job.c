/* A job as the scheduler has it: made, compared with what the stream says, read, and made for an index of an array.
 *
 * An object comes whole each time, so job_look hashes all of it first; a comment, which this scheduler has mostly written itself,
 * is taken at once. A new field of the server's part has two places here: job_forget, and job_of_array if a subjob has it from
 * its array.
 *
 * job_take begins from nothing: job_forget gives every field of the server's part its default, since an attribute that is not
 * sent has none. What each attribute means is a row at the end. Rows come in any order, so what depends on two of them is settled
 * when all are in. What a job is to the scheduler follows from state and substate in one function, sched_state_of. The cluster's
 * own fields (class, order, claim, ...) are left alone. */
#include "sched_job.h"

#include <stdlib.h>
#include <string.h>

#include "idset.h"
#include "intern.h"
#include "mem.h"
#include "pbs_ifl.h"
#include "strbuf.h"
#include "units.h"

struct job *job_create(const char *id)
{
    struct job *j = mem_new(1, sizeof *j);

    j->id = mem_intern(id);
    return j;
}

/* The texts that job_take sets, for forgetting them all. */
static const char **job_text_of(struct job *j, size_t i)
{
    const char **texts[] = {&j->queue_name, &j->user,     &j->group,     &j->project, &j->select, &j->place,
                            &j->exec_vnode, &j->released, &j->targets,   &j->resv,    &j->needs,  &j->asks,
                            &j->comment,    &j->array_id, &j->remaining, &j->account};

    return i < sizeof texts / sizeof *texts ? texts[i] : NULL;
}

static void job_set_text(const char **to, const char *text)
{
    const char *was = *to;

    *to = mem_intern(text);
    intern_unref(was);
}

/* Every field of the server's part to what it is when its attribute is not sent. */
static void job_forget(struct job *j)
{
    const char **text;

    for (size_t i = 0; (text = job_text_of(j, i)) != NULL; i++) {
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
    j->preempt_method = PREEMPT_OPEN;
    j->wish.n = 0;
    j->preempt_count = 0;
    j->rerunable = j->can_checkpoint = true;
}

void job_destroy(struct job *j)
{
    if (!j)
        return;
    job_forget(j);
    intern_unref(j->id);
    amounts_fini(&j->want);
    amounts_fini(&j->used);
    allocation_fini(&j->on);
    allocation_fini(&j->freed);
    allocation_fini(&j->claim);
    allocation_fini(&j->reserve);
    allocation_fini(&j->awaited);
    free(j);
}

static uint64_t hash_text(uint64_t h, const char *s)
{
    for (; s && *s; s++)
        h = (h ^ (unsigned char)*s) * 0x100000001B3ull;
    return (h ^ 0xff) * 0x100000001B3ull;
}

/* Return true for an attribute that changes each time it is read, or that this scheduler has written itself. */
static bool is_clock(const struct attrl *a)
{
    return a->name && (strcmp(a->name, "eligible_time") == 0 || strcmp(a->name, "topjob") == 0);
}

static bool is_comment(const struct attrl *a)
{
    return a->name && strcmp(a->name, "comment") == 0;
}

static bool job_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

enum job_news job_look(struct job *j, const struct attrl *attrs)
{
    uint64_t h = 0xcbf29ce484222325ull, left = 0;
    const char *comment = NULL;

    for (const struct attrl *a = attrs; a; a = a->next)
        if (is_comment(a))
            comment = a->value;
        else if (strcmp(a->name, ATTR_array_indices_remaining) == 0)
            left = hash_text(0xcbf29ce484222325ull, a->value);
        else if (!is_clock(a))
            h = hash_text(hash_text(hash_text(h, a->name), a->resource), a->value);
    j->rest_look = h;
    h ^= left * 0x9E3779B97F4A7C15ull;
    if (h != j->look) {
        j->look = h;
        return JOB_CHANGED;
    }
    if (job_same_text(comment, j->comment))
        return JOB_SAME;
    job_set_text(&j->comment, comment);
    return JOB_COMMENT;
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

/* What a subjob has from its array. The cast takes const away for a walk over places only; nothing is
 * written there. */
struct job *job_of_array(const struct job *array, const char *id)
{
    struct job *j = job_create(id);
    const char **from, **to;

    for (size_t i = 0; (to = job_text_of(j, i)) && (from = job_text_of((struct job *)(uintptr_t)array, i));
         i++)
        *to = intern_again(*from);
    job_set_text(&j->array_id, array->id);
    job_set_text(&j->remaining, NULL);
    job_set_text(&j->comment, NULL);
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
    j->within = array->within;
    j->share = array->share;
    j->never_top = array->never_top;
    j->rating = array->rating;
    j->eligible_s = array->eligible_s;
    j->accrue_type = array->accrue_type;
    j->sched_state = SCHED_STATE_WAITING;
    j->is_provisional = true;
    return j;
}

/* --- attributes -------------------------------------------------------------------------------- */

/* Substates of PBS. NEEDS_MAX: bytes of Resource_List that are kept as text; what does not fit is left out. */
enum { SUBSTATE_HELD = 20, SUBSTATE_SUSPENDED = 43, SUBSTATE_SCHED_SUSPENDED = 45, NEEDS_MAX = 65536 };

struct job_take_source {
    struct job *j;
    struct catalogue *c;
    const struct attrl *a;
    struct strbuf *needs, *asks;
    int64_t longest_s; /* max_walltime */
};

static int64_t job_take_number(const struct job_take_source *s)
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

static void job_take_state(struct job_take_source *s)
{
    s->j->state = s->a->value[0];
}
static void job_take_substate(struct job_take_source *s)
{
    s->j->substate = (int)job_take_number(s);
}
static void job_take_queue(struct job_take_source *s)
{
    job_set_text(&s->j->queue_name, s->a->value);
}
static void job_take_user(struct job_take_source *s)
{
    job_set_text(&s->j->user, s->a->value);
}
static void job_take_group(struct job_take_source *s)
{
    job_set_text(&s->j->group, s->a->value);
}
static void job_take_project(struct job_take_source *s)
{
    job_set_text(&s->j->project, s->a->value);
}
static void job_take_account(struct job_take_source *s)
{
    job_set_text(&s->j->account, s->a->value);
}
static void job_take_priority(struct job_take_source *s)
{
    s->j->priority = job_take_number(s);
}
static void job_take_rank(struct job_take_source *s)
{
    s->j->rank = job_take_number(s);
}
/* queue_rank is finer and goes first, whichever row comes first: it is not 0. */
static void job_take_qtime(struct job_take_source *s)
{
    if (s->j->rank == 0)
        s->j->rank = job_take_number(s);
}
static void job_take_stime(struct job_take_source *s)
{
    s->j->start_s = job_take_number(s);
}
static void job_take_paused(struct job_take_source *s)
{
    s->j->paused_s = job_take_number(s);
}
static void job_take_ptime(struct job_take_source *s)
{
    s->j->preempted_s = job_take_number(s);
}
static void job_take_run_version(struct job_take_source *s)
{
    s->j->run_version = job_take_number(s);
}
static void job_take_select(struct job_take_source *s)
{
    job_set_text(&s->j->select, s->a->value);
}
static void job_take_exec(struct job_take_source *s)
{
    job_set_text(&s->j->exec_vnode, s->a->value);
}
static void job_take_released(struct job_take_source *s)
{
    job_set_text(&s->j->released, s->a->value);
}
static void job_take_resv(struct job_take_source *s)
{
    job_set_text(&s->j->resv, s->a->value);
}
static void job_take_comment(struct job_take_source *s)
{
    job_set_text(&s->j->comment, s->a->value);
}
static void job_take_array(struct job_take_source *s)
{
    s->j->is_array = yes(s->a->value, false);
}
static void job_take_array_id(struct job_take_source *s)
{
    job_set_text(&s->j->array_id, s->a->value);
}
static void job_take_remaining(struct job_take_source *s)
{
    job_set_text(&s->j->remaining, s->a->value);
}
static void job_take_max_subjobs(struct job_take_source *s)
{
    s->j->max_subjobs = job_take_number(s);
}
static void job_take_rerunable(struct job_take_source *s)
{
    s->j->rerunable = yes(s->a->value, true);
}
static void job_take_room_held(struct job_take_source *s)
{
    s->j->room_held = yes(s->a->value, false);
}
static void job_take_gives_way(struct job_take_source *s)
{
    s->j->gives_way = yes(s->a->value, false);
}
static void job_take_preempt_failed(struct job_take_source *s)
{
    s->j->preempt_failed_s = job_take_number(s);
}
static void job_take_eligible(struct job_take_source *s)
{
    s->j->eligible_s = seconds(s->a->value);
}
static void job_take_accrue_type(struct job_take_source *s)
{
    s->j->accrue_type = job_take_number(s);
}
static void job_take_methods(struct job_take_source *s)
{
    preempt_methods_parse(s->a->value, &s->j->wish);
}
static void job_take_preempt_count(struct job_take_source *s)
{
    s->j->preempt_count = job_take_number(s);
}
static void job_take_preempt_method(struct job_take_source *s)
{
    s->j->preempt_method = preempt_method_result_of_code(s->a->value);
}
static void job_take_checkpoint(struct job_take_source *s)
{
    s->j->can_checkpoint = s->j->can_checkpoint && strcmp(s->a->value, "n") != 0;
}

/* The rows are taken in any order: each can only forbid it. */
static void job_take_checkpoint_by(struct job_take_source *s)
{
    s->j->can_checkpoint = s->j->can_checkpoint && strcmp(s->a->value, "none") != 0;
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

static void job_take_used_attr(struct job_take_source *s)
{
    take_one_used(s->j, s->c, s->a);
}

void job_take_used(struct job *j, const struct catalogue *c, const struct attrl *attrs)
{
    for (; attrs; attrs = attrs->next)
        if (attrs->name && strcmp(attrs->name, "resources_used") == 0)
            take_one_used(j, c, attrs);
}

static void job_take_top(struct job_take_source *s)
{
    s->j->is_top = yes(s->a->value, false);
}
static void job_take_never_top(struct job_take_source *s)
{
    s->j->never_top = yes(s->a->value, false);
}

/* soft_walltime goes before walltime as the expected length, whichever row comes first. */
static void take_limit(struct job_take_source *s, const char *name, const char *value)
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

/* One item of Resource_List: into `asks` in any case, and into the field or the amounts that it means. */
static void job_take_resource(struct job_take_source *s)
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
    void (*take)(struct job_take_source *s);
} rows[] = {
    {"job_state", job_take_state},
    {"substate", job_take_substate},
    {"queue", job_take_queue},
    {"euser", job_take_user},
    {"egroup", job_take_group},
    {"project", job_take_project},
    {"Account_Name", job_take_account},
    {"Priority", job_take_priority},
    {"queue_rank", job_take_rank},
    {"qtime", job_take_qtime},
    {"stime", job_take_stime},
    {"ptime", job_take_ptime},
    {"paused_time", job_take_paused},
    {"run_version", job_take_run_version},
    {"schedselect", job_take_select},
    {"exec_vnode", job_take_exec},
    {"resources_released", job_take_released},
    {"reserve_ID", job_take_resv},
    {"comment", job_take_comment},
    {"array", job_take_array},
    {"array_id", job_take_array_id},
    {"array_indices_remaining", job_take_remaining},
    {"max_run_subjobs", job_take_max_subjobs},
    {"Rerunable", job_take_rerunable},
    {"room_held", job_take_room_held},
    {"gives_way", job_take_gives_way},
    {"preempt_failed", job_take_preempt_failed},
    {"eligible_time", job_take_eligible},
    {"accrue_type", job_take_accrue_type},
    {"preempt_method", job_take_preempt_method},
    {"preempt_count", job_take_preempt_count},
    {"preempt_methods", job_take_methods},
    {"Checkpoint", job_take_checkpoint},
    {"checkpoint_by", job_take_checkpoint_by},
    {"topjob", job_take_top},
    {"topjob_ineligible", job_take_never_top},
    {"resources_used", job_take_used_attr},
    {"Resource_List", job_take_resource},
};

/* By PBS's letter; and of a job that a request asks for, which runs though it is held or before its time. */
static const struct {
    char letter;
    enum sched_state state, urged;
} state_rows[] = {
    {'Q', SCHED_STATE_WAITING, SCHED_STATE_WAITING}, {'R', SCHED_STATE_RUNNING, SCHED_STATE_RUNNING},
    {'U', SCHED_STATE_RUNNING, SCHED_STATE_RUNNING}, /* cycle harvesting has stopped it */
    {'S', SCHED_STATE_STOPPED, SCHED_STATE_STOPPED}, {'E', SCHED_STATE_ENDING, SCHED_STATE_ENDING},
    {'H', SCHED_STATE_OTHER, SCHED_STATE_WAITING},   {'W', SCHED_STATE_OTHER, SCHED_STATE_WAITING}};

static enum sched_state state_of_letter(char letter, bool urged)
{
    for (size_t i = 0; i < sizeof state_rows / sizeof *state_rows; i++)
        if (state_rows[i].letter == letter)
            return urged ? state_rows[i].urged : state_rows[i].state;
    return SCHED_STATE_OTHER;
}

/* What a job is to the scheduler. Where the substate says more than PBS's letter it goes first: whether a scheduler or a
 * person has suspended the job, and that a subjob is held with its array. */
static enum sched_state sched_state_of(const struct job *j)
{
    if (j->is_array)
        return j->queued && (j->state == 'Q' || j->state == 'B') ? SCHED_STATE_WAITING : SCHED_STATE_OTHER;
    if (j->array_id && j->substate == SUBSTATE_HELD) /* people see Q */
        return SCHED_STATE_OTHER;
    if (j->substate == SUBSTATE_SCHED_SUSPENDED)
        return SCHED_STATE_SUSPENDED;
    if (j->substate == SUBSTATE_SUSPENDED)
        return SCHED_STATE_STOPPED;
    if (j->state == 'Q' && j->room_held)
        return SCHED_STATE_AWAITING_ROOM;
    return state_of_letter(j->state, j->urged);
}

/* The state follows from it: a held job that is asked for counts as waiting. */
void job_urge(struct job *j, bool urged)
{
    j->urged = urged;
    j->sched_state = sched_state_of(j);
}

/* limit_s last, since it depends on rows that come in any order: a waiting job with min_walltime may run
 * for max_walltime. */
/* Another failure is seen by its time. A new run is another program, and qalter takes the time back. */
static void count_failures(struct job *j, int64_t failed_s, int64_t run_version)
{
    if (j->run_version != run_version || j->preempt_failed_s == 0)
        j->preempt_failures = 0;
    if (j->preempt_failed_s != 0 && (j->preempt_failed_s != failed_s || j->preempt_failures == 0))
        j->preempt_failures++;
}

void job_take(struct job *j, struct catalogue *c, const struct attrl *attrs)
{
    int64_t failed_s = j->preempt_failed_s, run_version = j->run_version;
    struct strbuf needs, asks;
    struct job_take_source s = {.j = j, .c = c, .needs = &needs, .asks = &asks};

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
    count_failures(j, failed_s, run_version);
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
