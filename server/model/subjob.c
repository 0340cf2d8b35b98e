/* Subjobs made after their arrays. See subjob.h.
 *
 * Texts are interned, so a subjob costs little more than its struct and a list of values. What belongs to the
 * array as a whole is left out (set_own): an attribute of jobs that makes no sense for one subjob is added there.
 *
 * queued/arrays.c makes subjobs that start or are changed; publish/status_arrays.c makes one for a moment and renames it from index to
 * index, to show those that have no object. */
#include "subjob.h"

#include <stdio.h>

#include "array_map.h"
#include "idset.h"

static int set_index(struct attr_list *l, int64_t index)
{
    char number[24];

    snprintf(number, sizeof number, "%lld", (long long)index);
    return attr_list_set_text(l, JOB_ATTR_array_index, number, NULL);
}

/* Drop what belongs to the array alone; add what distinguishes the subjob. */
static int set_own(struct attr_list *l, const struct job *array, int64_t index)
{
    static const int of_the_array[] = {JOB_ATTR_array,           JOB_ATTR_array_indices_submitted,
                                       JOB_ATTR_max_run_subjobs, JOB_ATTR_depend,
                                       JOB_ATTR_depend_home,     JOB_ATTR_doomed_by,
                                       JOB_ATTR_tie_facts,       JOB_ATTR_origin,
                                       JOB_ATTR_comment,         JOB_ATTR_block,
                                       JOB_ATTR_estimated};

    for (size_t i = 0; i < sizeof of_the_array / sizeof of_the_array[0]; i++)
        attr_list_unset(l, of_the_array[i]);
    return attr_list_set_text(l, JOB_ATTR_array_id, array->obj.name, NULL) < 0 ? -1 : set_index(l, index);
}

static int copy_attrs(struct attr_list *out, const struct job *array, int64_t index)
{
    if (attr_list_dup(&array->obj.attrs, out) < 0)
        return -1;
    if (set_own(out, array, index) == 0)
        return 0;
    attr_list_fini(out);
    return -1;
}

static int copy_texts(struct job *j, const struct job *array)
{
    return job_set_text(&j->owner, array->owner) < 0 || job_set_text(&j->user, array->user) < 0 ||
                   job_set_text(&j->host, array->host) < 0 || job_set_text(&j->euser, array->euser) < 0 ||
                   job_set_text(&j->egroup, array->egroup) < 0 ||
                   job_set_text(&j->project, array->project) < 0 ||
                   job_set_text(&j->queue_name, array->queue_name) < 0
               ? -1
               : 0;
}

static void copy_numbers(struct job *j, const struct job *array)
{
    j->state = JOB_QUEUED;
    j->queue_rank = array->queue_rank;
    j->ctime_s = array->ctime_s;
    j->mtime_s = array->mtime_s;
    j->qtime_s = array->qtime_s;
    j->etime_s = array->etime_s;
    j->eligible_s = array->eligible_s;
    j->accrue_type = array->accrue_type;
    j->accrue_since_s = array->accrue_since_s;
    j->script_bytes = array->script_bytes;
    j->script_have = array->script_have;
}

/* "41[7].svr1" beside "41[].svr1", or beside another of its subjobs */
static void subjob_name_of(char *out, size_t size, const struct job *kin, int64_t index)
{
    const char *server = strchr(kin->obj.name, ']');

    snprintf(out, size, "%lld[%lld]%s", (long long)kin->key.seq, (long long)index, server ? server + 1 : "");
}

int subjob_rename(struct job *sub, int64_t index)
{
    char name[JOBID_TEXT_MAX];

    subjob_name_of(name, sizeof name, sub, index);
    sub->key.index = (int32_t)index;
    return job_set_text(&sub->obj.name, name) < 0 ? -1 : set_index(&sub->obj.attrs, index);
}

struct job *subjob_create(const struct job *array, int64_t index)
{
    char name[JOBID_TEXT_MAX];
    struct attr_list attrs;
    struct job *j;

    if (copy_attrs(&attrs, array, index) < 0)
        return NULL;
    subjob_name_of(name, sizeof name, array, index);
    j = job_create((struct job_key){array->key.seq, (int32_t)index}, name);
    if (!j) {
        attr_list_fini(&attrs);
        return NULL;
    }
    attr_list_fini(&j->obj.attrs);
    j->obj.attrs = attrs;
    copy_numbers(j, array);
    if (copy_texts(j, array) == 0)
        return j;
    job_unref(j);
    return NULL;
}

int subjob_refresh(struct job *sub, const struct job *array)
{
    struct attr_list attrs;

    if (copy_attrs(&attrs, array, sub->key.index) < 0)
        return -1;
    attr_list_set_text(&attrs, JOB_ATTR_comment, attr_list_text(&sub->obj.attrs, JOB_ATTR_comment), NULL);
    attr_list_fini(&sub->obj.attrs);
    sub->obj.attrs = attrs;
    return copy_texts(sub, array);
}

struct job *subjob_array(const struct jobs *js, const struct job *sub)
{
    struct job *j = jobs_find(js, (struct job_key){sub->key.seq, JOBID_NO_INDEX});

    return j && j->array ? j : NULL;
}

/* An object that has gone meanwhile costs a walk over those of the array. */
struct job *subjob_next(const struct jobs *js, const struct job *array, int64_t after)
{
    const struct job_key key = {array->key.seq, (int32_t)after};
    struct job *j = after == ARRAY_NONE ? NULL : jobs_find(js, key);

    for (j = j ? jobs_next(j) : jobs_next(array); j && j->key.seq == array->key.seq; j = jobs_next(j))
        if (j->key.index > after)
            return j;
    return NULL;
}

void subjob_count(const struct jobs *js, const struct job *array, struct subjob_counts *out)
{
    const struct job *sub;

    *out = (struct subjob_counts){.queued = array_map_count(array->array, ARRAY_QUEUED),
                                  .expired = array_map_count(array->array, ARRAY_ENDED) +
                                             array_map_count(array->array, ARRAY_FAILED)};
    for (int64_t at = ARRAY_NONE; (sub = subjob_next(js, array, at)); at = sub->key.index) {
        out->queued += job_is_waiting(sub);
        out->exiting += sub->state == JOB_EXITING;
        out->running += job_is_placed(sub) && sub->state != JOB_EXITING;
    }
}

int subjob_format_queued(const struct jobs *js, const struct job *array, struct strbuf *out)
{
    struct idset *again = idset_create();
    const struct job *sub;
    int rc = again ? 0 : -1;

    for (int64_t at = ARRAY_NONE; rc == 0 && (sub = subjob_next(js, array, at)); at = sub->key.index)
        if (job_is_waiting(sub))
            rc = idset_add(again, (uint32_t)sub->key.index);
    if (rc == 0)
        rc = array_map_format_queued(array->array, again, out);
    idset_destroy(again);
    return rc;
}
