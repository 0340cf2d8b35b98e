/* An array of history, for status: which indices it had, and what a subjob looked like that never ran and so has no
 * row. That is told after the array's own row. */
#include "status_past.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_map.h"
#include "commit.h"
#include "json_read.h"
#include "pbs_ifl.h"
#include "status_state.h"
#include "status_history.h"

struct status_past {
    int64_t seq;
    char *id;      /* "41[].svr1" */
    json_t *ghost; /* the attributes of a subjob that never ran */
    bool matches;  /* the criteria */
    bool moved;    /* to another server, where it may be asked for */
    struct array_map *map;
};

void status_past_fini(struct status_query *q)
{
    struct status_past *p = q->past;

    if (!p)
        return;
    free(p->id);
    json_decref(p->ghost);
    array_map_destroy(p->map);
    free(p);
    q->past = NULL;
}

/* Out of the array's attributes go those that are of the array as a whole. */
static json_t *make_ghost(json_t *attrs, const char *id, bool moved)
{
    static const char *const of_the_array[] = {
        ATTR_array,   ATTR_array_state_count, ATTR_array_indices_submitted,
        ATTR_comment, ATTR_exit_status,       ATTR_array_indices_remaining,
        ATTR_stime,   ATTR_max_run_subjobs};
    json_t *ghost = json_copy(attrs);

    for (size_t i = 0; ghost && i < sizeof of_the_array / sizeof of_the_array[0]; i++)
        json_object_del(ghost, of_the_array[i]);
    if (ghost && json_object_set_new(ghost, ATTR_state, json_string(moved ? "M" : "X")) == 0 &&
        (moved || json_object_set_new(ghost, ATTR_exit_status, json_sprintf("%d", KILLED_STATUS)) == 0) &&
        json_object_set_new(ghost, ATTR_array_id, json_string(id)) == 0)
        return ghost;
    json_decref(ghost);
    return NULL;
}

static struct status_past *status_past_make(const struct found *f, json_t *attrs)
{
    const char *range = json_string_value(json_object_get(attrs, ATTR_array_indices_submitted));
    struct status_past *p = range ? calloc(1, sizeof *p) : NULL;
    struct err e;

    if (!p)
        return NULL;
    p->seq = f->key.seq;
    p->id = strdup(f->id);
    p->moved = history_queue_is_elsewhere(f->queue);
    p->ghost = make_ghost(attrs, f->id, p->moved);
    p->map = array_map_create(range, SIZE_MAX, &e);
    return p;
}

void status_past_note(struct status_query *q, const struct found *f)
{
    json_t *attrs;

    if (!strstr(f->id, "[]") || (q->past && q->past->seq == f->key.seq) ||
        (q->queue && strcmp(q->queue, f->queue) != 0) ||
        !status_may_see(q->st->ctx, q->reader.level, q->who, f->owner))
        return;
    status_past_fini(q);
    attrs = json_read_own(f->attrs);
    q->past = status_past_make(f, attrs);
    json_decref(attrs);
    if (q->past && (!q->past->id || !q->past->ghost || !q->past->map))
        status_past_fini(q);
    if (q->past)
        q->past->matches =
            !q->select_criteria || select_criteria_match_history(q->select_criteria, q->past->ghost);
}

const struct array_map *status_past_map(const struct status_query *q, int64_t seq)
{
    return q->past && q->past->seq == seq ? q->past->map : NULL;
}

bool status_past_has_moved(const struct status_query *q, int64_t seq)
{
    return status_past_map(q, seq) && q->past->moved;
}

int status_past_show(struct status_query *q, int64_t index, struct byte_buf *out)
{
    const struct status_past *p = q->past;
    const char *server = strchr(p->id, ']');
    char id[JOBID_TEXT_MAX], number[24];

    if (!p->matches)
        return 0;
    snprintf(number, sizeof number, "%lld", (long long)index);
    snprintf(id, sizeof id, "%lld[%s]%s", (long long)p->seq, number, server ? server + 1 : "");
    if (json_object_set_new(p->ghost, ATTR_array_index, json_string(number)) < 0)
        return 0;
    return status_history_put(q, id, p->ghost, out) < 0 ? 0 : 1;
}
