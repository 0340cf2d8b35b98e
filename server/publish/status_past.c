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
#include "status_history.h"

struct status_past {
    const struct status_filter *filter;
    int64_t seq;   /* -1: of no array */
    char *id;      /* "41[].svr1" */
    json_t *ghost; /* the attributes of a subjob that never ran */
    bool matches;  /* the criteria */
    bool moved;    /* to another server, where it may be asked for */
    struct array_map *map;
};

static void forget(struct status_past *p)
{
    free(p->id);
    json_decref(p->ghost);
    array_map_destroy(p->map);
    *p = (struct status_past){.filter = p->filter, .seq = -1};
}

struct status_past *status_past_create(const struct status_filter *f)
{
    struct status_past *p = calloc(1, sizeof *p);

    if (p)
        *p = (struct status_past){.filter = f, .seq = -1};
    return p;
}

void status_past_destroy(struct status_past *p)
{
    if (p)
        forget(p);
    free(p);
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

static void note_array(struct status_past *p, const struct status_row *row, json_t *attrs)
{
    const char *range = json_string_value(json_object_get(attrs, ATTR_array_indices_submitted));
    const struct select_criteria *criteria = p->filter->select_criteria;
    struct err e;

    if (!range)
        return;
    p->seq = row->key.seq;
    p->id = strdup(row->id);
    p->moved = history_queue_is_elsewhere(row->queue);
    p->ghost = make_ghost(attrs, row->id, p->moved);
    p->map = array_map_create(range, SIZE_MAX, &e);
    if (!p->id || !p->ghost || !p->map)
        forget(p);
    else
        p->matches = !criteria || select_criteria_match_history(criteria, p->ghost);
}

void status_past_note(struct status_past *p, const struct status_row *row)
{
    json_t *attrs;

    if (!strstr(row->id, "[]") || p->seq == row->key.seq || !status_filter_opens_row(p->filter, row))
        return;
    forget(p);
    attrs = json_read_own(row->attrs);
    note_array(p, row, attrs);
    json_decref(attrs);
}

const struct array_map *status_past_map(const struct status_past *p, int64_t seq)
{
    return p->seq == seq ? p->map : NULL;
}

bool status_past_has_moved(const struct status_past *p, int64_t seq)
{
    return status_past_map(p, seq) && p->moved;
}

int status_past_show(struct status_past *p, int64_t index, struct byte_buf *out)
{
    const char *server = strchr(p->id, ']');
    char id[JOBID_TEXT_MAX], number[24];

    if (!p->matches)
        return 0;
    snprintf(number, sizeof number, "%lld", (long long)index);
    snprintf(id, sizeof id, "%lld[%s]%s", (long long)p->seq, number, server ? server + 1 : "");
    if (json_object_set_new(p->ghost, ATTR_array_index, json_string(number)) < 0)
        return 0;
    return status_history_put(p->filter, id, p->ghost, out) < 0 ? 0 : 1;
}
