/* The table of jobs. See jobs.h.
 *
 * Three orders: an index by key, one by client token, and a list by number. The list is kept sorted by
 * walking from its end: a new job nearly always has the highest number. Beside them each queue has its jobs by rank; a job of
 * a table is in at most one queue. The table has one reference; jobs_remove() drops it, and is the end of every job (act_forget), of
 * a subjob that is only an index again (arrays.c), and of a stored job that a start cannot take (restore.c). */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "job_index.h"
#include "pbs_error.h"

struct jobs {
    struct change *change;
    struct clock *clock;
    struct job_index by_key, by_token;
    struct job *first, *last;
    int64_t last_rank;
    uint64_t n_removed;
};

struct jobs *jobs_create(struct change *c, struct clock *clock)
{
    struct jobs *js = calloc(1, sizeof *js);

    if (js) {
        js->change = c;
        js->clock = clock;
        job_index_init(&js->by_key, JOB_BY_KEY);
        job_index_init(&js->by_token, JOB_BY_TOKEN);
    }
    return js;
}

void jobs_destroy(struct jobs *js)
{
    if (!js)
        return;
    while (js->first)
        jobs_remove(js, js->first);
    job_index_fini(&js->by_key);
    job_index_fini(&js->by_token);
    free(js);
}

static bool key_is_above(struct job_key a, struct job_key b)
{
    return a.seq != b.seq ? a.seq > b.seq : a.index > b.index;
}

/* The job that `j` follows in the list. A subjob's place is near its array, which may be an old one. */
static struct job *find_before(const struct jobs *js, const struct job *j)
{
    const struct job_key left = {j->key.seq, j->key.index - 1}, array = {j->key.seq, JOBID_NO_INDEX};
    struct job *before = job_is_subjob(j) ? jobs_find(js, left) : NULL;

    if (job_is_subjob(j) && !before && (before = jobs_find(js, array)))
        while (before->all_next && key_is_above(j->key, before->all_next->key))
            before = before->all_next;
    if (before)
        return before;
    for (before = js->last; before && key_is_above(before->key, j->key); before = before->all_prev)
        ;
    return before;
}

static void link_by_number(struct jobs *js, struct job *j)
{
    struct job *before = find_before(js, j);

    j->all_prev = before;
    j->all_next = before ? before->all_next : js->first;
    *(before ? &before->all_next : &js->first) = j;
    *(j->all_next ? &j->all_next->all_prev : &js->last) = j;
}

static void unlink_by_number(struct jobs *js, struct job *j)
{
    *(j->all_prev ? &j->all_prev->all_next : &js->first) = j->all_next;
    *(j->all_next ? &j->all_next->all_prev : &js->last) = j->all_prev;
    j->all_prev = j->all_next = NULL;
}

static bool is_zero(const unsigned char *token)
{
    static const unsigned char zero[JOB_TOKEN_SIZE];

    return memcmp(token, zero, JOB_TOKEN_SIZE) == 0;
}

/* A token is that of one job: the server's own answers see to that. Of jobs that share one, which only a dump made by hand holds, the
 * first has it: a chain of all of them would cost each removal a walk over the others. */
static void own_token(const struct jobs *js, struct job *j)
{
    if (!is_zero(j->token) && jobs_find_token(js, j->token))
        memset(j->token, 0, sizeof j->token);
}

int jobs_add(struct jobs *js, struct job *j, struct err *e)
{
    if (jobs_find(js, j->key))
        return err_set(e, PBSE_JOBEXIST, "job %s exists already", j->obj.name);
    if (job_index_add(&js->by_key, j) < 0)
        return err_set(e, PBSE_SYSTEM, "no memory for job %s", j->obj.name);
    own_token(js, j);
    if (!is_zero(j->token) && job_index_add(&js->by_token, j) < 0) {
        job_index_remove(&js->by_key, j);
        return err_set(e, PBSE_SYSTEM, "no memory for job %s", j->obj.name);
    }
    link_by_number(js, j);
    return 0;
}

void jobs_remove(struct jobs *js, struct job *j)
{
    jobs_leave_queue(j);
    unlink_by_number(js, j);
    change_gone(js->change, &j->obj.change, j->obj.name);
    job_index_remove(&js->by_key, j);
    if (!is_zero(j->token))
        job_index_remove(&js->by_token, j);
    j->obj.gone = true;
    js->n_removed++;
    job_unref(j);
}

uint64_t jobs_removed(const struct jobs *js)
{
    return js->n_removed;
}

struct job *jobs_find(const struct jobs *js, struct job_key key)
{
    return job_index_find_key(&js->by_key, key);
}

struct job *jobs_find_named(const struct jobs *js, const struct jobid *id)
{
    struct job *j = id->form == JOBID_RANGE ? NULL : jobs_find(js, id->key);

    return j && (id->form == JOBID_ARRAY) == (j->array != NULL) ? j : NULL;
}

struct job *jobs_find_token(const struct jobs *js, const unsigned char *token)
{
    return job_index_find_token(&js->by_token, token);
}

struct job *jobs_first(const struct jobs *js)
{
    return js->first;
}

struct job *jobs_next(const struct job *j)
{
    return j->all_next;
}

/* The job itself, where it still is, is the quick way; a job that has gone costs a walk. */
struct job *jobs_after(const struct jobs *js, struct job_key key)
{
    struct job *j = jobs_find(js, key);

    if (j)
        return j->all_next;
    for (j = js->first; j && !key_is_above(j->key, key); j = j->all_next)
        ;
    return j;
}

size_t jobs_count(const struct jobs *js)
{
    return js->by_key.n_jobs;
}

static struct job *find_before_in_queue(const struct jobs *js, const struct job *j, const struct queue *q)
{
    struct job *array = job_is_subjob(j) ? jobs_find(js, (struct job_key){j->key.seq, JOBID_NO_INDEX}) : NULL;
    struct job *before = q->last;

    if (array && array->queue == q && array->queue_rank == j->queue_rank)
        return array;
    while (before && before->queue_rank > j->queue_rank)
        before = before->queue_prev;
    return before;
}

void jobs_enter_queue(struct jobs *js, struct job *j, struct queue *q)
{
    struct job *before;

    if (!j->queue_rank) {
        int64_t now = clock_wall_ns(js->clock) / 1000;

        js->last_rank = now > js->last_rank ? now : js->last_rank + 1;
        j->queue_rank = js->last_rank;
    }
    before = find_before_in_queue(js, j, q);
    j->queue = q;
    j->queue_prev = before;
    j->queue_next = before ? before->queue_next : q->first;
    *(before ? &before->queue_next : &q->first) = j;
    *(j->queue_next ? &j->queue_next->queue_prev : &q->last) = j;
    q->n_jobs++;
    job_set_text(&j->queue_name, q->obj.name);
}

void jobs_leave_queue(struct job *j)
{
    struct queue *q = j->queue;

    if (!q)
        return;
    *(j->queue_prev ? &j->queue_prev->queue_next : &q->first) = j->queue_next;
    *(j->queue_next ? &j->queue_next->queue_prev : &q->last) = j->queue_prev;
    j->queue_prev = j->queue_next = NULL;
    j->queue = NULL;
    q->n_jobs--;
}

void jobs_touch(struct jobs *js, struct job *j, unsigned parts)
{
    if (j->state == JOB_ARRIVING) {
        change_store_only(js->change, &j->obj.change, parts);
        return;
    }
    j->mtime_s = clock_wall_s(js->clock);
    change_touch(js->change, &j->obj.change, parts);
}
