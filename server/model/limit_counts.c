/* Counts of jobs by user, group and project. See limit_counts.h.
 *
 * One hash of (scope, kind, name); an entity without jobs is forgotten. What a job was last counted as is in
 * the job itself (tallied, tallied_as, tallied_state, tallied_queue, tallied_amounts), and just that is taken
 * off again: so a review is a difference, may be repeated, and is right whatever has changed since. It costs
 * eight lookups. Names are interned and compared by address, so keys are plain bytes. */
#include "limit_counts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "job_view.h"
#include "server_ctx.h"
#include "uthash.h"

struct limit_counts_key { /* compared as bytes */
    const void *scope;    /* a queue, or NULL: the server */
    const char *name;     /* interned, or NULL */
    int64_t kind;
};

struct limit_counts_entity {
    struct limit_counts_key key;
    int64_t jobs[LIMIT_COUNTS_COUNT];
    int64_t states[LIMIT_COUNTS_STATES]; /* LIMIT_ALL only */
    struct resc_list *running;
    UT_hash_handle hh;
};

struct limit_counts {
    struct server_ctx *ctx;
    struct limit_counts_entity *all;
    bool amounts; /* amounts of running jobs are kept */
};

static const enum limit_kind kinds[] = {LIMIT_ALL, LIMIT_USER, LIMIT_GROUP, LIMIT_PROJECT};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

struct limit_counts *limit_counts_create(struct server_ctx *s)
{
    struct limit_counts *t = calloc(1, sizeof *t);

    if (t)
        t->ctx = s;
    return t;
}

static void limit_counts_drop(struct limit_counts *t, struct limit_counts_entity *e)
{
    HASH_DEL(t->all, e);
    intern_unref(e->key.name);
    resc_free(e->running);
    free(e);
}

void limit_counts_destroy(struct limit_counts *t)
{
    if (!t)
        return;
    for (struct limit_counts_entity *e = t->all, *next; e; e = next) {
        next = e->hh.next;
        limit_counts_drop(t, e);
    }
    free(t);
}

const char *limit_counts_entity(const struct job *j, enum limit_kind k)
{
    switch (k) {
    case LIMIT_USER:
        return j->euser;
    case LIMIT_GROUP:
        return j->egroup;
    case LIMIT_PROJECT:
        return j->project;
    case LIMIT_ALL:
        break;
    }
    return NULL;
}

static struct limit_counts_entity *limit_counts_find(const struct limit_counts *t, const struct queue *q,
                                                     enum limit_kind k, const char *name)
{
    struct limit_counts_key key = {q, name, k};
    struct limit_counts_entity *e;

    HASH_FIND(hh, t->all, &key, sizeof key, e);
    return e;
}

static struct limit_counts_entity *need(struct limit_counts *t, const struct queue *q, enum limit_kind k,
                                        const char *name)
{
    struct limit_counts_entity *e = limit_counts_find(t, q, k, name);

    if (e)
        return e;
    e = calloc(1, sizeof *e);
    if (!e)
        abort(); /* limits would be wrong from now on */
    e->key = (struct limit_counts_key){q, intern_again(name), k};
    HASH_ADD(hh, t->all, key, sizeof e->key, e);
    return e;
}

/* --- counting ------------------------------------------------------------------------------------------ */

static const struct resc_list *limit_counts_asked(const struct job *j)
{
    return attr_list_amounts(&j->obj.attrs, JOB_ATTR_Resource_List);
}

static void limit_counts_add_amounts(const struct limit_counts *t, struct limit_counts_entity *e,
                                     const struct job *j, int sign)
{
    int rc = sign > 0 ? resc_add(&e->running, j->tallied_amounts, t->ctx->resources, 0, NULL)
                      : resc_subtract(&e->running, j->tallied_amounts, t->ctx->resources, 0, NULL);

    if (rc < 0)
        abort(); /* as in need() */
}

static bool is_empty(const struct limit_counts_entity *e)
{
    for (int w = 0; w < LIMIT_COUNTS_COUNT; w++)
        if (e->jobs[w])
            return false;
    for (int i = 0; i < LIMIT_COUNTS_STATES;
         i++) /* of an array whose subjobs have all ended there is still the array */
        if (e->states[i])
            return false;
    return true;
}

/* Every entity that the job belongs to, in the server and in its queue: from one count to another. */
static void each(struct limit_counts *t, const struct job *j, unsigned from, unsigned to)
{
    int64_t n_from = (int64_t)j->tallied_as, n_to = (int64_t)job_count(j);
    int state = job_view_number(j);
    int runs = (int)(to >> LIMIT_COUNTS_RUNNING & 1) - (int)(from >> LIMIT_COUNTS_RUNNING & 1);

    for (size_t i = 0; i < 2 * N_KINDS; i++) {
        enum limit_kind k = kinds[i % N_KINDS];
        const struct queue *q = i < N_KINDS ? NULL : j->tallied_queue;
        const char *name = limit_counts_entity(j, k);
        struct limit_counts_entity *e;

        if ((i >= N_KINDS && !q) || (k != LIMIT_ALL && !name))
            continue;
        e = need(t, q, k, name);
        for (int w = 0; w < LIMIT_COUNTS_COUNT; w++)
            e->jobs[w] += (to >> w & 1 ? n_to : 0) - (from >> w & 1 ? n_from : 0);
        if (k == LIMIT_ALL) {
            e->states[j->tallied_state] -= from != 0;
            e->states[state] += to != 0;
        }
        if (runs && j->tallied_amounts)
            limit_counts_add_amounts(t, e, j, runs);
        if (is_empty(e))
            limit_counts_drop(t, e);
    }
}

/* What it asked for when it was counted is what is taken off again, whatever is altered meanwhile. */
static void keep_amounts(struct job *j)
{
    if (resc_dup(limit_counts_asked(j), &j->tallied_amounts) < 0)
        abort(); /* as in need() */
}

static void limit_counts_count(struct limit_counts *t, struct job *j, unsigned mask)
{
    bool runs = mask >> LIMIT_COUNTS_RUNNING & 1;

    if (runs && t->amounts && !j->tallied_amounts)
        keep_amounts(j);
    each(t, j, j->tallied, mask);
    j->tallied = (unsigned char)mask;
    j->tallied_as = job_count(j);
    j->tallied_state = (unsigned char)job_view_number(j);
    if (runs)
        return;
    resc_free(j->tallied_amounts);
    j->tallied_amounts = NULL;
}

void limit_counts_forget(struct limit_counts *t, struct job *j)
{
    if (j->tallied)
        limit_counts_count(t, j, 0);
    j->tallied_queue = NULL;
}

/* A job whose script arrives counts where it will be, so that limits hold for submissions in pieces. */
static struct queue *counted_in(const struct limit_counts *t, const struct job *j)
{
    return j->state == JOB_ARRIVING && j->queue_name ? queues_find(t->ctx->queues, j->queue_name) : j->queue;
}

static unsigned mask_of(const struct job *j)
{
    if (job_is_over(j))
        return 0;
    return 1u << LIMIT_COUNTS_LIVE | (j->state == JOB_QUEUED ? 1u << LIMIT_COUNTS_QUEUED : 0) |
           ((j->shares && j->state != JOB_SUSPENDED) || j->room ? 1u << LIMIT_COUNTS_RUNNING : 0);
}

void limit_counts_review(struct limit_counts *t, struct job *j)
{
    unsigned mask = mask_of(j);
    struct queue *q = counted_in(t, j);

    if (mask == j->tallied && q == j->tallied_queue &&
        (!mask || (job_count(j) == j->tallied_as && job_view_number(j) == j->tallied_state)))
        return;
    if (q != j->tallied_queue || !mask)
        limit_counts_forget(t, j);
    if (!mask)
        return;
    j->tallied_queue = q;
    limit_counts_count(t, j, mask);
}

/* --- questions ------------------------------------------------------------------------------------------ */

int64_t limit_counts_jobs(const struct limit_counts *t, const struct queue *q, enum limit_kind k,
                          const char *name, enum limit_counts_what what)
{
    const struct limit_counts_entity *e = limit_counts_find(t, q, k, name);

    return e ? e->jobs[what] : 0;
}

#ifdef CEDE_FAULTS
static void recount(const struct limit_counts *t, const struct queue *q,
                    const int64_t states[LIMIT_COUNTS_STATES])
{
    int64_t found[LIMIT_COUNTS_STATES] = {0};

    for (const struct job *j = jobs_first(t->ctx->jobs); j; j = jobs_next(j))
        if (mask_of(j) && (!q || counted_in(t, j) == q))
            found[job_view_number(j)]++;
    assert(memcmp(found, states, sizeof found) == 0);
}
#endif

const int64_t *limit_counts_states(const struct limit_counts *t, const struct queue *q)
{
    static const int64_t none[LIMIT_COUNTS_STATES];
    const struct limit_counts_entity *e = limit_counts_find(t, q, LIMIT_ALL, NULL);
    const int64_t *states = e ? e->states : none;

#ifdef CEDE_FAULTS
    recount(t, q, states);
#endif
    return states;
}

/* Amounts are counted only from the first question on. */
static void begin_amounts(struct limit_counts *t)
{
    t->amounts = true;
    for (struct job *j = jobs_first(t->ctx->jobs); j; j = jobs_next(j)) {
        unsigned mask = j->tallied;

        if (!(mask & (1u << LIMIT_COUNTS_RUNNING)))
            continue;
        /* off and on again: only a change of the mask moves amounts */
        limit_counts_count(t, j, mask & ~(1u << LIMIT_COUNTS_RUNNING));
        limit_counts_count(t, j, mask);
    }
}

const struct value *limit_counts_running(struct limit_counts *t, const struct queue *q, enum limit_kind k,
                                         const char *name, int resource)
{
    const struct limit_counts_entity *e;

    if (!t->amounts)
        begin_amounts(t);
    e = limit_counts_find(t, q, k, name);
    return e ? resc_find(e->running, resource) : NULL;
}
