/* Subjobs for status.
 *
 * A subjob is an object, a row of history, or nothing but an index; whichever it is, its reader sees a job. For an
 * index a "ghost" is made after its array: one object, renamed from index to index, that lives as long as the query
 * and the array as it is. Since all queued subjobs of an array are alike, the criteria are asked once.
 *
 * Two ways lead here. A walk over all jobs merges the indices of an array between its own key and the next job's
 * (status_arrays_after, status_arrays_next_index). A name that means several, "41[]" with t or "41[2-8]", is expanded while it is the
 * present name: status_arrays_expand is called until it says 0, and counts the name as missing when none of its indices was shown.
 *
 * Which indices a range means is known only when its array is: in memory, or in a row of history that may have to be read first. An
 * array that the reader may not see looks like one that is not there. */
#include "status_arrays.h"

#include <stdlib.h>

#include "array_map.h"
#include "idset.h"
#include "subjob.h"
#include "status_entry.h"
#include "status_history.h"
#include "status_past.h"

struct status_arrays {
    struct status_arrays_parts p;
    bool inside;           /* the present name is being expanded into subjobs */
    struct idset *chosen;  /* the indices that it means, once its array was found; NULL: all of them */
    int64_t index;         /* of the last one looked at */
    size_t expanded;       /* how many of them were shown */
    struct job *ghost;     /* a subjob that is not an object, as it would look; NULL: none was made */
    uint64_t ghost_change; /* of its array, when it was made */
    bool ghost_matches;    /* the criteria */
};

struct status_arrays *status_arrays_create(const struct status_arrays_parts *p)
{
    struct status_arrays *s = calloc(1, sizeof *s);

    if (s)
        s->p = *p;
    return s;
}

static void drop_ghost(struct status_arrays *s)
{
    job_unref(s->ghost);
    s->ghost = NULL;
}

void status_arrays_destroy(struct status_arrays *s)
{
    if (!s)
        return;
    drop_ghost(s);
    idset_destroy(s->chosen);
    free(s);
}

/* Made again where there is none, or it shows another array, another state, or what was before a change. */
static int need_ghost(struct status_arrays *s, const struct job *array, int64_t index, enum job_state state)
{
    if (s->ghost && s->ghost->key.seq == array->key.seq && s->ghost->state == state &&
        s->ghost_change == array->obj.change.number)
        return 0;
    drop_ghost(s);
    s->ghost = subjob_create(array, index);
    if (!s->ghost)
        return -1;
    s->ghost->state = state;
    s->ghost->intent = state == JOB_FINISHED ? INTENT_DELETE : INTENT_NONE;
    s->ghost_change = array->obj.change.number;
    s->ghost_matches = status_filter_matches(s->p.filter, s->ghost);
    return 0;
}

/* FINISHED: one that ended without a row, since it was deleted before it ran, or its history was purged. */
static int show_ghost(struct status_arrays *s, const struct job *array, int64_t index, enum job_state state,
                      struct byte_buf *out)
{
    if (need_ghost(s, array, index, state) < 0 || !s->ghost_matches || subjob_rename(s->ghost, index) < 0)
        return 0;
    return status_entry_put(s->p.filter, &s->ghost->obj, out) < 0 ? 0 : 1;
}

/* Where one is not wanted, none of those that follow it is. */
static int show_queued(struct status_arrays *s, const struct job *array, int64_t *index, struct byte_buf *out)
{
    int64_t other;

    if (show_ghost(s, array, *index, JOB_QUEUED, out) > 0)
        return 1;
    other = array_map_next_other(array->array, *index);
    *index = other == ARRAY_NONE ? INT32_MAX - 1 : other - 1;
    return 0;
}

int status_arrays_show(struct status_arrays *s, const struct job *array, int64_t *index, struct byte_buf *out)
{
    const struct job_key key = {array->key.seq, (int32_t)*index};
    const struct job_key after =
        s->p.filter->all_jobs ? s->p.names->last : (struct job_key){key.seq, key.index - 1};
    const struct job *j = jobs_find(s->p.filter->ctx->jobs, key);
    const struct status_row *row;
    int rc;

    if (!status_filter_opens(s->p.filter, array))
        return 0;
    if (j) {
        if (!status_filter_wants(s->p.filter, j))
            return 0;
        return status_entry_put(s->p.filter, &j->obj, out) < 0 ? 0 : 1;
    }
    if (array_map_get(array->array, *index) == ARRAY_QUEUED)
        return show_queued(s, array, index, out);
    rc = s->p.filter->all_jobs && s->p.filter->history
             ? 0
             : status_history_row(s->p.history, key, &row); /* of all, rows come by another way */
    if (rc == 1)
        return status_history_show(s->p.filter, row, out);
    if (rc < 0 || status_history_again(s->p.history, key, after))
        return -1;
    return show_ghost(s, array, *index, JOB_FINISHED, out);
}

const struct job *status_arrays_after(const struct status_arrays *s, struct job_key last)
{
    const struct job *j = NULL;

    if (s->p.filter->subjobs && !s->p.filter->only_objects && last.seq >= 0)
        j = jobs_find(s->p.filter->ctx->jobs, (struct job_key){last.seq, JOBID_NO_INDEX});
    return j && j->array && j->state != JOB_ARRIVING && status_filter_opens(s->p.filter, j) ? j : NULL;
}

int64_t status_arrays_next_index(const struct status_arrays *s, const struct job *array)
{
    const struct array_map *m = array ? array->array : NULL;

    if (!m && s->p.filter->subjobs && !s->p.filter->only_objects && s->p.filter->history)
        m = status_past_map(s->p.past, s->p.names->last.seq);
    return m ? array_map_next(m, (int64_t)s->p.names->last.index + 1) : ARRAY_NONE;
}

/* --- a name that means several --------------------------------------------------------------------------- */

/* Which of the array's indices does names[at] mean? What cannot be known is told like an unknown name. */
static void choose(struct status_arrays *s, const struct array_map *map)
{
    const char *name = status_names_name(s->p.names);
    struct jobid id;
    struct err e;

    if (s->chosen || status_names_key(s->p.names).index != STATUS_RANGE)
        return;
    if (jobid_parse(name, &id, &e) == 0 && jobid_indices(&id, array_map_range(map), &s->chosen, &e) == 0)
        return;
    status_tally_miss(s->p.tally, &e);
    s->chosen = idset_create();
}

static int64_t next_chosen(const struct status_arrays *s, const struct array_map *map, int64_t from)
{
    return s->chosen ? idset_next(s->chosen, from) : array_map_next(map, from);
}

/* The next chosen index of these, as `show` shows it. 1 shown, 0 no more, -1 wait, STATUS_PAUSE. */
typedef int show_index_fn(struct status_arrays *s, const struct job *array, int64_t *index,
                          struct byte_buf *out);

static int expand(struct status_arrays *s, const struct array_map *map, const struct job *array,
                  show_index_fn *show, struct byte_buf *out)
{
    size_t before = out->len;
    int64_t i;

    choose(s, map);
    while ((i = next_chosen(s, map, s->index + 1)) >= 0) {
        int rc = status_names_may_look(s->p.names) ? show(s, array, &i, out) : STATUS_PAUSE;

        if (rc == STATUS_PAUSE)
            return rc;
        if (rc < 0)
            return -1;
        s->index = i;
        if (rc > 0)
            return 1;
        byte_buf_cut(out, before);
    }
    return 0;
}

/* The row of an array that only the store knows. 1 it is noted, 0 there is none, -1 wait. */
static int need_past(struct status_arrays *s, int64_t seq)
{
    if (status_past_map(s->p.past, seq))
        return 1;
    if (!status_history_is_answered(s->p.history) &&
        status_history_ask_job(s->p.history, (struct job_key){seq, JOBID_NO_INDEX}) < 0)
        return -1;
    if (status_history_first(s->p.history))
        status_past_note(s->p.past, status_history_first(s->p.history));
    status_history_drop(s->p.history);
    return status_past_map(s->p.past, seq) != NULL;
}

/* No array: it is the past one of names[at]. */
static int status_arrays_show_past(struct status_arrays *s, const struct job *array, int64_t *index,
                                   struct byte_buf *out)
{
    const struct job_key key = {status_names_key(s->p.names).seq, (int32_t)*index};
    const struct status_row *row;
    int rc = status_history_row(s->p.history, key, &row);

    if (rc == 1)
        return status_history_show(s->p.filter, row, out);
    return rc < 0 ? -1 : status_past_show(s->p.past, key.index, out);
}

static int expand_past(struct status_arrays *s, struct byte_buf *out)
{
    int64_t seq = status_names_key(s->p.names).seq;
    int rc = status_history_is_kept(s->p.history) ? need_past(s, seq) : 0;

    if (rc <= 0 || !s->p.filter->history)
        return rc < 0 ? -1 : 0;
    return expand(s, status_past_map(s->p.past, seq), NULL, status_arrays_show_past, out);
}

/* No subjob of names[at] was shown, but the name is valid: it names indices that a finished array had. */
static bool is_of_the_past(struct status_arrays *s, const struct job *array)
{
    const int64_t seq = status_names_key(s->p.names).seq;
    const struct array_map *m;

    if (s->p.filter->history || (array ? !job_is_over(array) : status_past_has_moved(s->p.past, seq)))
        return false;
    m = array ? array->array : status_past_map(s->p.past, seq);
    if (m)
        choose(s, m);
    return m && next_chosen(s, m, 0) >= 0;
}

/* An array that the client may not see is treated like one that has ended: none of its indices is examined. */
static int expand_array(struct status_arrays *s, const struct job *array, struct byte_buf *out)
{
    return status_filter_opens(s->p.filter, array) ? expand(s, array->array, array, status_arrays_show, out)
                                                   : 0;
}

void status_arrays_enter(struct status_arrays *s)
{
    s->inside = true;
    s->index = ARRAY_NONE;
    s->expanded = 1;
}

bool status_arrays_is_inside(const struct status_arrays *s)
{
    return s->inside;
}

int status_arrays_expand(struct status_arrays *s, struct byte_buf *out)
{
    const struct job_key key = {status_names_key(s->p.names).seq, JOBID_NO_INDEX};
    const struct job *array = jobs_find(s->p.filter->ctx->jobs, key);
    const char *name = status_names_name(s->p.names);
    bool past;
    int rc;

    if (!s->inside) { /* a range: its array itself is not shown */
        s->inside = true;
        s->index = ARRAY_NONE;
        s->expanded = 0;
    }
    rc = array && array->array ? expand_array(s, array, out) : expand_past(s, out);
    s->expanded += rc == 1;
    if (rc != 0)
        return rc;
    past = is_of_the_past(s, array);
    s->inside = false;
    idset_destroy(s->chosen);
    s->chosen = NULL;
    s->p.names->at++;
    status_history_drop(s->p.history);
    if (!s->expanded && past)
        status_tally_miss_finished(s->p.tally, name);
    else if (!s->expanded)
        status_names_unknown(s->p.names, OF_JOB, name, s->p.tally);
    return 0;
}
