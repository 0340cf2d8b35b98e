/* Arrays in the mirror: one job with a set of indices, of which each becomes a job only when it is to be run.
 *
 * The server's word on what is queued comes as text with every change of the array; what has been ordered
 * meanwhile is a job here by name, so it is stepped over whatever the text says. An order that fails gives the
 * index back by reading the text again: it may have moved on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idset.h"
#include "intern.h"
#include "mem.h"
#include "cluster_private.h"

bool universe_array_is_open(struct universe *u, struct job *array)
{
    universe_refresh(u, array);
    return array->class != NULL;
}

/* --- subjobs to be run ------------------------------------------------------------------------------ */

static struct job *spawn(struct universe *u, struct job *array, int64_t index, const char *id)
{
    struct job *j = job_of_array(array, id);

    HASH_ADD_KEYPTR(hh, u->jobs, j->id, strlen(j->id), j);
    idset_remove(array->queued, (uint32_t)index); /* without memory it stays, and is stepped over */
    universe_refresh(u, array);
    return j;
}

struct job *universe_spawn(struct universe *u, struct job *array)
{
    char id[UNIVERSE_ID_MAX];
    int64_t index = universe_next_index(u, array, id);

    return index == IDSET_NONE ? NULL : spawn(u, array, index, id);
}

/* "41[].svr1" of "41[7].svr1", and the 7; false: that is no subjob's name. */
static bool split(const char *id, char array[UNIVERSE_ID_MAX], int64_t *index)
{
    const char *open = strchr(id, '[');
    char *close;

    if (!open || open[1] < '0' || open[1] > '9' || strlen(id) >= UNIVERSE_ID_MAX)
        return false;
    *index = strtoll(open + 1, &close, 10);
    if (*close != ']' || *index > INT32_MAX)
        return false;
    snprintf(array, UNIVERSE_ID_MAX, "%.*s[%s", (int)(open - id), id, close);
    return true;
}

static struct job *array_with(const struct universe *u, const char *id, int64_t *index)
{
    char array_id[UNIVERSE_ID_MAX];
    struct job *array;

    if (!split(id, array_id, index))
        return NULL;
    array = universe_job(u, array_id);
    if (!array || !array->queue || !array->queued || !idset_contains(array->queued, (uint32_t)*index))
        return NULL;
    return array;
}

struct job *universe_array_named(const struct universe *u, const char *id)
{
    int64_t index;

    return array_with(u, id, &index);
}

struct job *universe_spawn_named(struct universe *u, const char *id)
{
    int64_t index;
    struct job *array = universe_job(u, id) ? NULL : array_with(u, id, &index);

    return array ? spawn(u, array, index, id) : NULL;
}

void universe_unspawn(struct universe *u, struct job *sub)
{
    struct job *array = universe_array(u, sub);

    universe_drop_job(u, sub);
    if (!array)
        return;
    job_read_remaining(array);
    universe_refresh(u, array);
}
