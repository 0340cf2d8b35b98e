/* Subjobs for status.
 *
 * A subjob is an object, a row of history, or nothing but an index; whichever it is, its reader sees a job. For an
 * index a "ghost" is made after its array: one object, renamed from index to index, that lives as long as the query
 * and the array as it is. Since all queued subjobs of an array are alike, the criteria are asked once. */
#include "status_arrays.h"

#include <stdlib.h>

#include "array_map.h"
#include "idset.h"
#include "subjob.h"
#include "status_state.h"
#include "status_names.h"
#include "status_entry.h"
#include "status_history.h"
#include "status_past.h"

static void drop_ghost(struct status_query *q)
{
    job_unref(q->ghost);
    q->ghost = NULL;
}

void status_arrays_fini(struct status_query *q)
{
    drop_ghost(q);
    status_past_fini(q);
}

/* Made again where there is none, or it shows another array, another state, or what was before a change. */
static int need_ghost(struct status_query *q, const struct job *array, int64_t index, enum job_state state)
{
    if (q->ghost && q->ghost->key.seq == array->key.seq && q->ghost->state == state &&
        q->ghost_change == array->obj.change.number)
        return 0;
    drop_ghost(q);
    q->ghost = subjob_create(array, index);
    if (!q->ghost)
        return -1;
    q->ghost->state = state;
    q->ghost->intent = state == JOB_FINISHED ? INTENT_DELETE : INTENT_NONE;
    q->ghost_change = array->obj.change.number;
    q->ghost_matches =
        !q->select_criteria ||
        select_criteria_match(q->select_criteria, attrib_render_computed(q->st->attrib_render), q->ghost);
    return 0;
}

/* FINISHED: one that ended without a row, since it was deleted before it ran, or its history was purged. */
static int show_ghost(struct status_query *q, const struct job *array, int64_t index, enum job_state state,
                      struct byte_buf *out)
{
    if (need_ghost(q, array, index, state) < 0 || !q->ghost_matches || subjob_rename(q->ghost, index) < 0)
        return 0;
    return status_entry_put(q, &q->ghost->obj, out) < 0 ? 0 : 1;
}

/* Where one is not wanted, none of those that follow it is. */
static int show_queued(struct status_query *q, const struct job *array, int64_t *index, struct byte_buf *out)
{
    int64_t other;

    if (show_ghost(q, array, *index, JOB_QUEUED, out) > 0)
        return 1;
    other = array_map_next_other(array->array, *index);
    *index = other == ARRAY_NONE ? INT32_MAX - 1 : other - 1;
    return 0;
}

/* Return true if the client may see anything of this array. */
static bool is_open(const struct status_query *q, const struct job *array)
{
    if (job_is_over(array) && !q->history)
        return false;
    if (q->queue && (!array->queue_name || strcmp(q->queue, array->queue_name) != 0))
        return false;
    return status_may_see(q->st->ctx, q->reader.level, q->who, array->owner);
}

int status_arrays_show(struct status_query *q, const struct job *array, int64_t *index, struct byte_buf *out)
{
    const struct job_key key = {array->key.seq, (int32_t)*index};
    const struct job *j = jobs_find(q->st->ctx->jobs, key);
    struct found *f;
    int rc;

    if (!is_open(q, array))
        return 0;
    if (j) {
        if (!status_entry_wants(q, j))
            return 0;
        return status_entry_put(q, &j->obj, out) < 0 ? 0 : 1;
    }
    if (array_map_get(array->array, *index) == ARRAY_QUEUED)
        return show_queued(q, array, index, out);
    rc =
        q->all_jobs && q->history ? 0 : status_history_row(q, key, &f); /* of all, rows come by another way */
    if (rc == 1)
        return status_history_show(q, f, out);
    if (rc < 0 || status_history_again(q, key))
        return -1;
    return show_ghost(q, array, *index, JOB_FINISHED, out);
}

const struct job *status_arrays_after(const struct status_query *q, struct job_key last)
{
    const struct job *j = NULL;

    if (q->subjobs && !q->only_objects && last.seq >= 0)
        j = jobs_find(q->st->ctx->jobs, (struct job_key){last.seq, JOBID_NO_INDEX});
    return j && j->array && j->state != JOB_ARRIVING && is_open(q, j) ? j : NULL;
}

int64_t status_arrays_next_index(const struct status_query *q, const struct job *array)
{
    const struct array_map *m = array ? array->array : NULL;

    if (!m && q->subjobs && !q->only_objects && q->history)
        m = status_past_map(q, q->last.seq);
    return m ? array_map_next(m, (int64_t)q->last.index + 1) : ARRAY_NONE;
}

/* --- a name that means several --------------------------------------------------------------------------- */

/* Which of the array's indices does names[at] mean? What cannot be known is told like an unknown name. */
static void choose(struct status_query *q, const struct array_map *map)
{
    const char *name = q->names[q->at];
    struct jobid id;
    struct err e;

    if (q->chosen || q->keys[q->at].index != STATUS_RANGE)
        return;
    if (jobid_parse(name, &id, &e) == 0 && jobid_indices(&id, array_map_range(map), &q->chosen, &e) == 0)
        return;
    if (!q->missing++)
        q->first = e;
    q->chosen = idset_create();
}

static int64_t next_chosen(const struct status_query *q, const struct array_map *map, int64_t from)
{
    return q->chosen ? idset_next(q->chosen, from) : array_map_next(map, from);
}

/* The next chosen index of these, as `show` shows it. 1 shown, 0 no more, -1 wait, STATUS_PAUSE. */
typedef int show_index_fn(struct status_query *q, const struct job *array, int64_t *index,
                          struct byte_buf *out);

static int expand(struct status_query *q, const struct array_map *map, const struct job *array,
                  show_index_fn *show, struct byte_buf *out)
{
    size_t before = out->len;
    int64_t i;

    choose(q, map);
    while ((i = next_chosen(q, map, q->index + 1)) >= 0) {
        int rc = status_may_look(q) ? show(q, array, &i, out) : STATUS_PAUSE;

        if (rc == STATUS_PAUSE)
            return rc;
        if (rc < 0)
            return -1;
        q->index = i;
        if (rc > 0)
            return 1;
        byte_buf_cut(out, before);
    }
    return 0;
}

/* The row of an array that only the store knows. 1 it is noted, 0 there is none, -1 wait. */
static int need_past(struct status_query *q, int64_t seq)
{
    if (status_past_map(q, seq))
        return 1;
    if (!q->page_is_there && status_history_ask_job(q, (struct job_key){seq, JOBID_NO_INDEX}) < 0)
        return -1;
    if (q->n_page)
        status_past_note(q, &q->page[0]);
    status_history_drop(q);
    return status_past_map(q, seq) != NULL;
}

/* No array: it is the past one of names[at]. */
static int status_arrays_show_past(struct status_query *q, const struct job *array, int64_t *index,
                                   struct byte_buf *out)
{
    const struct job_key key = {q->keys[q->at].seq, (int32_t)*index};
    struct found *f;
    int rc = status_history_row(q, key, &f);

    if (rc == 1)
        return status_history_show(q, f, out);
    return rc < 0 ? -1 : status_past_show(q, key.index, out);
}

static int expand_past(struct status_query *q, struct byte_buf *out)
{
    int64_t seq = q->keys[q->at].seq;
    int rc = status_history_is_kept(q) ? need_past(q, seq) : 0;

    if (rc <= 0 || !q->history)
        return rc < 0 ? -1 : 0;
    return expand(q, status_past_map(q, seq), NULL, status_arrays_show_past, out);
}

/* No subjob of names[at] was shown, but the name is valid: it names indices that a finished array had. */
static bool is_of_the_past(struct status_query *q, const struct job *array)
{
    const int64_t seq = q->keys[q->at].seq;
    const struct array_map *m;

    if (q->history || (array ? !job_is_over(array) : status_past_has_moved(q, seq)))
        return false;
    m = array ? array->array : status_past_map(q, seq);
    if (m)
        choose(q, m);
    return m && next_chosen(q, m, 0) >= 0;
}

/* An array that the client may not see is treated like one that has ended: none of its indices is examined. */
static int expand_array(struct status_query *q, const struct job *array, struct byte_buf *out)
{
    return is_open(q, array) ? expand(q, array->array, array, status_arrays_show, out) : 0;
}

int status_arrays_expand(struct status_query *q, struct byte_buf *out)
{
    const struct job_key key = {q->keys[q->at].seq, JOBID_NO_INDEX};
    const struct job *array = jobs_find(q->st->ctx->jobs, key);
    const char *name = q->names[q->at];
    bool past;
    int rc;

    if (!q->inside) { /* a range: its array itself is not shown */
        q->inside = true;
        q->index = ARRAY_NONE;
        q->expanded = 0;
    }
    rc = array && array->array ? expand_array(q, array, out) : expand_past(q, out);
    q->expanded += rc == 1;
    if (rc != 0)
        return rc;
    past = is_of_the_past(q, array);
    q->inside = false;
    idset_destroy(q->chosen);
    q->chosen = NULL;
    q->at++;
    status_history_drop(q);
    if (!q->expanded && past)
        status_names_finished(q, name);
    else if (!q->expanded)
        status_names_unknown(q, name);
    return 0;
}
