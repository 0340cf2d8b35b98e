/* What one query shows. See status_filter.h. */
#include "status_filter.h"

#include <string.h>

#include "intern.h"
#include "status.h"
#include "subjob.h"

void status_filter_fini(struct status_filter *f)
{
    intern_unref(f->queue);
    intern_unref(f->who);
    attr_select_fini(&f->want);
    select_criteria_destroy(f->select_criteria);
}

static bool may_see(const struct status_filter *f, const char *owner)
{
    return status_may_see(f->ctx, f->reader.level, f->who, owner);
}

static bool is_of_queue(const struct status_filter *f, const char *queue)
{
    return !f->queue || (queue && strcmp(f->queue, queue) == 0);
}

bool status_filter_is_there(const struct status_filter *f, const struct job *j)
{
    return j->state != JOB_ARRIVING || f->reader.level >= LEVEL_OPERATOR ||
           (f->who && strcmp(f->who, j->owner) == 0);
}

bool status_filter_is_history(const struct status_filter *f, const struct job *j)
{
    const struct job *array = job_is_subjob(j) ? subjob_array(f->ctx->jobs, j) : NULL;

    return job_is_over(array ? array : j);
}

bool status_filter_matches(const struct status_filter *f, const struct job *j)
{
    return !f->select_criteria ||
           select_criteria_match(f->select_criteria, attrib_render_computed(f->attrib_render), j);
}

bool status_filter_wants(const struct status_filter *f, const struct job *j)
{
    if (!status_filter_is_there(f, j) || (status_filter_is_history(f, j) && !f->history))
        return false;
    if (!is_of_queue(f, j->queue_name))
        return false;
    if (f->all_jobs && ((!f->subjobs && job_is_subjob(j)) || (f->no_arrays && j->array)))
        return false;
    return may_see(f, j->owner) && status_filter_matches(f, j);
}

bool status_filter_wants_row(const struct status_filter *f, const struct status_row *row)
{
    if (!is_of_queue(f, row->queue))
        return false;
    if (f->all_jobs && ((!f->subjobs && row->key.index >= 0) || (f->no_arrays && strstr(row->id, "[]"))))
        return false;
    return may_see(f, row->owner);
}

bool status_filter_opens(const struct status_filter *f, const struct job *array)
{
    if (job_is_over(array) && !f->history)
        return false;
    return is_of_queue(f, array->queue_name) && may_see(f, array->owner);
}

bool status_filter_opens_row(const struct status_filter *f, const struct status_row *array)
{
    return is_of_queue(f, array->queue) && may_see(f, array->owner);
}
