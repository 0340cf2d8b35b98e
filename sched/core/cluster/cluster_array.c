/* Arrays in the mirror: one job with a set of indices; an index becomes a job only when it is to be run.
 *
 * The server sends what is queued as text with every change of the array. An index that has been ordered meanwhile is a job here by
 * name, so it is stepped over whatever the text says. An order that fails gives the index back by reading the text again, which may
 * have changed. */
#include "cluster_array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idset.h"
#include "cluster_gone.h"
#include "cluster_state.h"
#include "cluster_index.h"

bool cluster_array_is_open(struct cluster *cl, struct job *array)
{
    cluster_index_refresh(cl, array);
    return array->class != NULL;
}

/* --- subjobs to be run ------------------------------------------------------------------------------ */

/* The index leaves the set, and becomes a job by name. */
static struct job *spawn(struct cluster *cl, struct job *array, int64_t index, const char *id)
{
    struct job *j = job_of_array(array, id);

    HASH_ADD_KEYPTR(hh, cl->jobs, j->id, strlen(j->id), j);
    idset_remove(array->queued, (uint32_t)index); /* without memory it stays, and is stepped over */
    cluster_index_refresh(cl, array);
    return j;
}

struct job *cluster_array_spawn(struct cluster *cl, struct job *array)
{
    char id[CLUSTER_ID_MAX];
    int64_t index = cluster_index_next(cl, array, id);

    return index == IDSET_NONE ? NULL : spawn(cl, array, index, id);
}

/* "41[].svr1" of "41[7].svr1", and the 7; false: that is not a subjob's name. */
static bool split(const char *id, char array[CLUSTER_ID_MAX], int64_t *index)
{
    const char *open = strchr(id, '[');
    char *close;

    if (!open || open[1] < '0' || open[1] > '9' || strlen(id) >= CLUSTER_ID_MAX)
        return false;
    *index = strtoll(open + 1, &close, 10);
    if (*close != ']' || *index > INT32_MAX)
        return false;
    snprintf(array, CLUSTER_ID_MAX, "%.*s[%s", (int)(open - id), id, close);
    return true;
}

static struct job *array_with(const struct cluster *cl, const char *id, int64_t *index)
{
    char array_id[CLUSTER_ID_MAX];
    struct job *array;

    if (!split(id, array_id, index))
        return NULL;
    array = cluster_job(cl, array_id);
    if (!array || !array->queue || !array->queued || !idset_contains(array->queued, (uint32_t)*index))
        return NULL;
    return array;
}

struct job *cluster_array_named(const struct cluster *cl, const char *id)
{
    int64_t index;

    return array_with(cl, id, &index);
}

struct job *cluster_array_spawn_named(struct cluster *cl, const char *id)
{
    int64_t index;
    struct job *array = cluster_job(cl, id) ? NULL : array_with(cl, id, &index);

    return array ? spawn(cl, array, index, id) : NULL;
}

/* The job may have been removed with its array gone: then there is no index to give back. */
void cluster_array_unspawn(struct cluster *cl, struct job *sub)
{
    struct job *array = cluster_array(cl, sub);

    cluster_gone_job(cl, sub);
    if (!array)
        return;
    job_read_remaining(array);
    cluster_index_refresh(cl, array);
}
