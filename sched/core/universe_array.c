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
#include "memory.h"
#include "universe_private.h"

enum { ID_MAX = 512 };

/* Kept apart from the array's job, since subjobs may be seen before it. */
struct array_count {
    const char *id; /* interned: of the array */
    int64_t n_running;
    UT_hash_handle hh;
};

/* "41[7].svr1" of "41[].svr1"; false: that is no array's name. */
static bool name_of(char out[ID_MAX], const char *array, int64_t index)
{
    const char *open = strchr(array, '[');

    if (!open || open[1] != ']')
        return false;
    snprintf(out, ID_MAX, "%.*s[%lld]%s", (int)(open - array), array, (long long)index, open + 2);
    return true;
}

struct job *universe_array(const struct universe *u, const struct job *sub)
{
    return sub->array_id ? universe_job(u, sub->array_id) : NULL;
}

/* --- who waits ------------------------------------------------------------------------------------- */

/* The lowest index that is no job here; those that are one go from the set. */
static int64_t next_index(const struct universe *u, const struct job *array, char id[ID_MAX])
{
    int64_t i;

    while (array->queued && (i = idset_next(array->queued, 0)) >= 0) {
        if (!name_of(id, array->id, i))
            return IDSET_NONE;
        if (!universe_job(u, id))
            return i;
        if (idset_remove(array->queued, (uint32_t)i) < 0)
            return IDSET_NONE;
    }
    return IDSET_NONE;
}

static struct array_count *count_of(const struct universe *u, const char *array_id)
{
    struct array_count *c;

    HASH_FIND_STR(u->arrays, array_id, c);
    return c;
}

bool universe_array_waits(const struct universe *u, const struct job *array)
{
    const struct array_count *c = array->max_subjobs > 0 ? count_of(u, array->id) : NULL;
    char id[ID_MAX];

    if (c && c->n_running >= array->max_subjobs)
        return false;
    return next_index(u, array, id) != IDSET_NONE;
}

/* In or out of its class where that is no longer right. */
static void refresh(struct universe *u, struct job *array)
{
    bool waits;

    if (array->dirty)
        return; /* settling will see to it */
    waits = universe_may_wait(u, array);
    if ((array->class != NULL) != waits)
        universe_rejoin(u, array);
}

void universe_count_subjob(struct universe *u, const struct job *sub, int64_t times)
{
    struct array_count *c = count_of(u, sub->array_id);
    struct job *array = universe_array(u, sub);

    if (!c) {
        c = mem_new(1, sizeof *c);
        c->id = intern_again(sub->array_id);
        HASH_ADD_KEYPTR(hh, u->arrays, c->id, strlen(c->id), c);
    }
    c->n_running += times;
    if (c->n_running == 0) {
        HASH_DEL(u->arrays, c);
        intern_unref(c->id);
        free(c);
    }
    if (array && array->max_subjobs > 0)
        refresh(u, array);
}

bool universe_array_is_open(struct universe *u, struct job *array)
{
    refresh(u, array);
    return array->class != NULL;
}

/* --- subjobs to be run ------------------------------------------------------------------------------ */

static struct job *spawn(struct universe *u, struct job *array, int64_t index, const char *id)
{
    struct job *j = job_of_array(array, id);

    HASH_ADD_KEYPTR(hh, u->jobs, j->id, strlen(j->id), j);
    idset_remove(array->queued, (uint32_t)index); /* without memory it stays, and is stepped over */
    refresh(u, array);
    return j;
}

struct job *universe_spawn(struct universe *u, struct job *array)
{
    char id[ID_MAX];
    int64_t index = next_index(u, array, id);

    return index == IDSET_NONE ? NULL : spawn(u, array, index, id);
}

/* "41[].svr1" of "41[7].svr1", and the 7; false: that is no subjob's name. */
static bool split(const char *id, char array[ID_MAX], int64_t *index)
{
    const char *open = strchr(id, '[');
    char *close;

    if (!open || open[1] < '0' || open[1] > '9' || strlen(id) >= ID_MAX)
        return false;
    *index = strtoll(open + 1, &close, 10);
    if (*close != ']' || *index > INT32_MAX)
        return false;
    snprintf(array, ID_MAX, "%.*s[%s", (int)(open - id), id, close);
    return true;
}

static struct job *array_with(const struct universe *u, const char *id, int64_t *index)
{
    char array_id[ID_MAX];
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
    refresh(u, array);
}
