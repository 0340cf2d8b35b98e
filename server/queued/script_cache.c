/* Small scripts at hand. See script_cache.h.
 *
 * Filled by a submission, read by each START of the job, emptied at its end; after a restart it is empty, and hosts ask for scripts
 * (GET_SCRIPT).
 *
 * A hash that keeps the order of insertion, which is the order in which scripts make room. One that would
 * take more than a quarter of it all is not kept: it would drive out too many others. */
#include "script_cache.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "uthash.h"

struct script_cache_key {
    int64_t seq, index;
};

struct script {
    struct script_cache_key key;
    size_t n;
    UT_hash_handle hh; /* uthash keeps the order of insertion */
    char bytes[];
};

struct script_cache {
    struct script *table;
    size_t bytes, max_bytes;
};

struct script_cache *script_cache_create(size_t max_bytes)
{
    struct script_cache *s = calloc(1, sizeof *s);

    if (s)
        s->max_bytes = max_bytes;
    return s;
}

/* memory of an entry: most scripts are smaller than their entry */
static size_t size_of(size_t n)
{
    return sizeof(struct script) + n;
}

static void script_cache_take_out(struct script_cache *s, struct script *x)
{
    HASH_DEL(s->table, x);
    s->bytes -= size_of(x->n);
    free(x);
}

void script_cache_destroy(struct script_cache *s)
{
    if (!s)
        return;
    while (s->table)
        script_cache_take_out(s, s->table);
    free(s);
}

static struct script *script_cache_find_row(const struct script_cache *s, struct job_key key)
{
    struct script_cache_key k = {key.seq, key.index};
    struct script *x;

    HASH_FIND(hh, s->table, &k, sizeof k, x);
    return x;
}

static void script_cache_drop(struct script_cache *s, struct job_key key)
{
    struct script *x = script_cache_find_row(s, key);

    if (x)
        script_cache_take_out(s, x);
}

void script_cache_keep(struct script_cache *s, struct job_key key, const void *bytes, size_t n)
{
    struct script *x;

    script_cache_drop(s, key);
    if (!n || size_of(n) > s->max_bytes / 4 || !(x = malloc(size_of(n))))
        return;
    while (s->bytes + size_of(n) > s->max_bytes)
        script_cache_take_out(s, s->table);
    x->key = (struct script_cache_key){key.seq, key.index};
    x->n = n;
    memcpy(x->bytes, bytes, n);
    HASH_ADD(hh, s->table, key, sizeof x->key, x);
    s->bytes += size_of(n);
}

const void *script_cache_find(const struct script_cache *s, struct job_key key, size_t *n)
{
    const struct script *x = script_cache_find_row(s, key);

    if (x)
        *n = x->n;
    return x ? x->bytes : NULL;
}

const void *script_cache_of_job(void *arg, const struct job *j, size_t *n)
{
    return script_cache_find(arg, (struct job_key){j->key.seq, JOBID_NO_INDEX}, n);
}

void script_cache_on_ended(void *arg, const struct server_event *ev)
{
    script_cache_drop(arg, ev->job->key);
}
