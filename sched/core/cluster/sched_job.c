/* A job as the scheduler has it: made, compared with what the stream says, made anew for an index of an array.
 *
 * An object comes whole each time, so job_look hashes all of it first, and a comment, which we have mostly written ourselves,
 * is taken without more ado. What the attributes mean: job_take.c. A new field of the server's part has two places here:
 * job_forget, and job_of_array if a subjob has it from its array. */
#include "job_private.h"

#include <stdlib.h>
#include <string.h>

#include "idset.h"
#include "intern.h"
#include "mem.h"
#include "pbs_ifl.h"

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

void job_set_text(const char **to, const char *text)
{
    const char *was = *to;

    *to = mem_intern(text);
    intern_unref(was);
}

void job_forget(struct job *j)
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

/* It is another each time it is asked for, or we have written it ourselves. */
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
    j->share = array->share;
    j->never_top = array->never_top;
    j->rating = array->rating;
    j->eligible_s = array->eligible_s;
    j->accrue_type = array->accrue_type;
    j->sched_state = SCHED_STATE_WAITING;
    j->is_provisional = true;
    return j;
}
