/* Arrays and their subjobs. See arrays.h.
 *
 * Who speaks first: a run request makes an index appear, and the machine does the rest. We listen to it:
 *
 *   a subjob starts    its row is written whole; the array has begun
 *   a subjob ends      its index moves, and the page of the array that says so goes into the very batch that
 *                      removes the subjob's row: a server killed in between finds either both or neither. A page is
 *                      written once a batch, however many of its indices end
 *   the array is held, or waits for its time
 *                      its subjobs that wait are held with it (HOLD_ARRAY), which users do not see
 *
 * Invariants: an index is LIVE exactly while its job is in the tables and not over (it stays there until its row of
 * history can be read); n_running counts what assign counts. */
#include "arrays.h"

#include <stdlib.h>
#include <time.h>

#include "array_map.h"
#include "commit.h"
#include "hold_types.h"
#include "log.h"
#include "pbs_error.h"
#include "server_ctx.h"
#include "strbuf.h"
#include "subjob.h"
#include "limit_counts.h"

/* PBS's exit states of arrays. TEXT_LIMIT: a page of 4096 indices as ranges needs some 25 KB at most. */
enum { STATUS_WELL, STATUS_BADLY, STATUS_BROKEN, TEXT_LIMIT = 1 << 20 };

struct arrays {
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct commit *commit;
    struct job **owing; /* counted references: arrays whose pages the batch does not hold yet */
    size_t n_owing, cap_owing;
};

static void arrays_close_cb(void *arg);

struct arrays *arrays_create(struct server_ctx *s, struct job_fsm *f, struct commit *c)
{
    struct arrays *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    *a = (struct arrays){.ctx = s, .fsm = f, .commit = c};
    commit_on_close(c, arrays_close_cb, a);
    return a;
}

void arrays_destroy(struct arrays *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n_owing; i++)
        job_unref(a->owing[i]);
    free(a->owing);
    free(a);
}

static size_t max_size(const struct server_ctx *s, const struct queue *q)
{
    int64_t max = attr_list_number(&q->obj.attrs, QUEUE_ATTR_max_array_size, 0);

    return (size_t)(max > 0 ? max : attr_list_effective(&s->server->obj.attrs, SERVER_ATTR_max_array_size));
}

struct array_map *arrays_make(const struct server_ctx *s, const struct queue *q, const char *range,
                              struct err *e)
{
    return array_map_create(range, max_size(s, q), e);
}

/* --- appearing and folding -------------------------------------------------------------------------- */

static int check_index(const struct job *array, int64_t index, struct err *e)
{
    switch (array_map_get(array->array, index)) {
    case ARRAY_QUEUED:
        return 0;
    case ARRAY_LIVE:
        return err_set(e, PBSE_BADSTATE, "Request invalid for state of job");
    case ARRAY_ENDED:
    case ARRAY_FAILED:
        return err_set(e, PBSE_NOHISTARRAYSUBJOB, "Request invalid for finished array subjob");
    case ARRAY_NO_INDEX:
        break;
    }
    return err_set(e, PBSE_UNKJOBID, "Unknown Job Id %lld[%lld]", (long long)array->key.seq,
                   (long long)index);
}

struct job *arrays_appear(struct arrays *a, struct job *array, int64_t index, struct err *e)
{
    struct job *j;

    if (check_index(array, index, e) < 0)
        return NULL;
    j = subjob_create(array, index);
    if (!j || array_map_start(array->array, index) < 0) {
        job_unref(j);
        err_set(e, PBSE_SYSTEM, "no memory for a subjob of %s", array->obj.name);
        return NULL;
    }
    if (jobs_add(a->ctx->jobs, j, e) < 0) {
        array_map_back(array->array, index);
        job_unref(j);
        return NULL;
    }
    jobs_enter_queue(a->ctx->jobs, j, array->queue);
    limit_counts_review(a->ctx->limit_counts, array);
    return j;
}

void arrays_fold(struct arrays *a, struct job *sub)
{
    struct job *array = subjob_array(a->ctx->jobs, sub);

    limit_counts_forget(a->ctx->limit_counts, sub); /* counted when its limits were looked at */
    array_map_back(array->array, sub->key.index);
    jobs_remove(a->ctx->jobs, sub);
    limit_counts_review(a->ctx->limit_counts, array);
}

void arrays_keep(struct arrays *a, struct job *sub)
{
    struct job *array = subjob_array(a->ctx->jobs, sub);

    limit_counts_review(a->ctx->limit_counts, sub);
    jobs_touch(a->ctx->jobs, sub, PART_ALL);
    jobs_touch(a->ctx->jobs, array, PART_NONE);
}

void arrays_tell_limit(const struct job *array)
{
    if (attr_list_is_set(&array->obj.attrs, JOB_ATTR_max_run_subjobs))
        log_event(LOGC_JOB, LOGE_JOB, array->obj.name, "max_run_subjobs set to %lld",
                  (long long)attr_list_number(&array->obj.attrs, JOB_ATTR_max_run_subjobs, 0));
}

int arrays_may_start(const struct job *array, struct err *e)
{
    if (array->state != JOB_QUEUED)
        return err_set(e, PBSE_BADSTATE, "job %s is %s", array->obj.name, job_state_name(array->state));
    return 0;
}

int arrays_may_start_more(const struct job *array, struct err *e)
{
    int64_t most = attr_list_number(&array->obj.attrs, JOB_ATTR_max_run_subjobs, 0);

    if (most > 0 && array->n_running >= (uint64_t)most)
        return err_set(e, PBSE_RESCUNAV, "Number of concurrent running subjobs limit reached: %lld of %s",
                       (long long)most, array->obj.name);
    return 0;
}

/* --- the array's own life --------------------------------------------------------------------------- */

void arrays_write(struct commit *c, const struct job *array)
{
    struct strbuf remaining, failed;
    int64_t page;

    strbuf_init(&remaining, TEXT_LIMIT);
    strbuf_init(&failed, TEXT_LIMIT);
    while ((page = array_map_take_dirty(array->array)) != ARRAY_NONE) {
        strbuf_reset(&remaining);
        strbuf_reset(&failed);
        if (array_map_format_page(array->array, page, &remaining, &failed) < 0)
            abort(); /* an end that is not stored would be a second run */
        commit_put_array_page(c, array->key.seq, page, strbuf_str(&remaining), strbuf_str(&failed));
    }
    strbuf_fini(&remaining);
    strbuf_fini(&failed);
}

/* The batch closes: write the pages. The rows of an array that has gone meanwhile are removed already. */
static void arrays_close_cb(void *arg)
{
    struct arrays *a = arg;

    for (size_t i = 0; i < a->n_owing; i++) {
        struct job *array = a->owing[i];

        if (jobs_find(a->ctx->jobs, array->key) == array)
            arrays_write(a->commit, array);
        job_unref(array);
    }
    a->n_owing = 0;
}

/* Indices of it have ended. `before`: it had pages to write already, and is in the list. */
static void owe_pages(struct arrays *a, struct job *array, bool before)
{
    if (before || !array_map_is_dirty(array->array))
        return;
    if (a->n_owing == a->cap_owing) {
        size_t cap = a->cap_owing ? 2 * a->cap_owing : 16;
        struct job **v = realloc(a->owing, cap * sizeof *v);

        if (!v)
            abort(); /* an end that is not stored would be a second run */
        a->owing = v;
        a->cap_owing = cap;
    }
    a->owing[a->n_owing++] = job_ref(array);
    commit_owe(a->commit);
}

/* No subjob is left: the array ends, with a result made of those of its subjobs. An array that never began was deleted. */
static void maybe_over(struct arrays *a, struct job *array)
{
    if (!array_map_is_over(array->array) || !job_is_waiting(array))
        return;
    if (!array->begun) {
        array->intent = INTENT_DELETE;
        job_fsm_post(a->fsm, array, EV_DELETE);
        return;
    }
    array->exited = true;
    array->exit_status = array->broken                                     ? STATUS_BROKEN
                         : array_map_count(array->array, ARRAY_FAILED) > 0 ? STATUS_BADLY
                                                                           : STATUS_WELL;
    job_fsm_post(a->fsm, array, EV_ARRAY_OVER);
}

void arrays_comment(struct job *array)
{
    time_t then = (time_t)array->stime_s;
    char text[100];
    struct tm tm;

    localtime_r(&then, &tm);
    strftime(text, sizeof text, "Job Array Began at %a %b %d at %H:%M", &tm);
    attr_list_set_text(&array->obj.attrs, JOB_ATTR_comment, text, NULL);
}

static void arrays_begin(struct arrays *a, struct job *array)
{
    array->begun = true;
    array->stime_s = server_ctx_now_s(a->ctx);
    arrays_comment(array);
    jobs_touch(a->ctx->jobs, array, PART_HOT | PART_ATTRS);
    job_fsm_post(a->fsm, array, EV_ARRAY_BEGUN);
}

int64_t arrays_delete_queued(struct arrays *a, struct job *array, const struct idset *these)
{
    bool owed = array_map_is_dirty(array->array);
    int64_t n = array_map_end_queued(array->array, these);

    if (n < 0)
        abort(); /* half of the subjobs would exist again after a restart */
    owe_pages(a, array, owed);
    if (n == 0)
        return 0;
    limit_counts_review(a->ctx->limit_counts, array);
    jobs_touch(a->ctx->jobs, array, PART_NONE);
    maybe_over(a, array);
    return n;
}

/* --- what subjobs do ---------------------------------------------------------------------------------- */

static bool counts_as_running(enum job_state s)
{
    return s == JOB_STARTING || s == JOB_RUNNING || s == JOB_EXITING;
}

/* A subjob that a user ended says nothing about the work. */
static void ended(struct arrays *a, struct job *array, struct job *sub)
{
    bool deleted = sub->intent == INTENT_DELETE || !sub->exited;
    bool owed = array_map_is_dirty(array->array);

    if (!deleted && sub->exit_status < 0 && !array->broken) {
        array->broken = true;
        jobs_touch(a->ctx->jobs, array, PART_HOT);
    }
    if (array_map_end(array->array, sub->key.index, !deleted && sub->exit_status != 0) < 0)
        abort(); /* as above */
    owe_pages(a, array, owed);
    maybe_over(a, array);
}

static void hold_with(struct arrays *a, struct job *sub, const struct job *array)
{
    bool held = array->state != JOB_QUEUED;

    if (job_is_over(sub))
        return;
    hold_types_change(a->ctx, a->fsm, sub, held ? HOLD_ARRAY : 0, held ? 0 : HOLD_ARRAY);
}

static void subjob_moved(struct arrays *a, struct job *array, struct job *sub, enum job_state from)
{
    if (counts_as_running(sub->state) && !counts_as_running(from))
        array->n_running++;
    if (!counts_as_running(sub->state) && counts_as_running(from))
        array->n_running--;
    if (sub->state == JOB_GONE || sub->state == from)
        return;
    jobs_touch(a->ctx->jobs, array, PART_NONE); /* its counts are others */
    if (sub->state == JOB_STARTING) {
        jobs_touch(a->ctx->jobs, sub, PART_ALL); /* its first row, or once more */
        if (!array->begun)
            arrays_begin(a, array);
    } else if (sub->state == JOB_FINISHED) {
        ended(a, array, sub);
    } else if (job_is_waiting(sub) && counts_as_running(from)) {
        hold_with(a, sub, array);
    }
}

static void array_moved(struct arrays *a, struct job *array, enum job_state from)
{
    struct job *sub = NULL;

    if (array->state == from || !job_is_waiting(array))
        return;
    for (int64_t at = ARRAY_NONE; (sub = subjob_next(a->ctx->jobs, array, at)); at = sub->key.index)
        hold_with(a, sub, array);
}

void arrays_follow(struct arrays *a, struct job *array)
{
    struct job *sub;

    for (int64_t at = ARRAY_NONE; (sub = subjob_next(a->ctx->jobs, array, at)); at = sub->key.index) {
        if (!job_is_waiting(sub))
            continue;
        limit_counts_forget(a->ctx->limit_counts, sub); /* its user, group or project may be another */
        if (subjob_refresh(sub, array) == 0)
            jobs_touch(a->ctx->jobs, sub, PART_ALL);
        limit_counts_review(a->ctx->limit_counts, sub);
    }
}

int arrays_may_leave(const struct job *array, struct err *e)
{
    if (!array->begun && array_map_count(array->array, ARRAY_LIVE) == 0)
        return 0;
    return err_set(
        e, PBSE_BADSTATE, "Request invalid for state of job: %s has %s, which another server would not know",
        array->obj.name, array->begun ? "begun, and has subjobs" : "subjobs that are jobs of their own");
}

int arrays_may_move(const struct server_ctx *s, const struct job *array, const struct queue *q, struct err *e)
{
    const struct job *sub;

    for (int64_t at = ARRAY_NONE; (sub = subjob_next(s->jobs, array, at)); at = sub->key.index)
        if (job_is_placed(sub))
            return err_set(e, PBSE_BADSTATE, "Request invalid for state of job");
    if (queue_is_route(q) || array_map_size(array->array) <= max_size(s, q))
        return 0;
    return err_set(e, PBSE_MaxArraySize,
                   "Array job exceeds server or queue size limit: %zu subjobs, %zu allowed",
                   array_map_size(array->array), max_size(s, q));
}

void arrays_moved(struct server_ctx *s, struct job *array)
{
    struct job *sub;

    for (int64_t at = ARRAY_NONE; (sub = subjob_next(s->jobs, array, at)); at = sub->key.index) {
        if (job_is_over(sub))
            continue;
        jobs_leave_queue(sub);
        sub->queue_rank = array->queue_rank;
        sub->qtime_s = array->qtime_s;
        jobs_enter_queue(s->jobs, sub, array->queue);
        subjob_refresh(sub, array); /* without memory it stays what it was */
        limit_counts_review(s->limit_counts, sub);
        jobs_touch(s->jobs, sub, PART_ALL);
    }
}

void arrays_restore(struct arrays *a)
{
    struct job_key key = {.seq = -1, .index = JOBID_NO_INDEX};
    struct job *j;

    for (j = jobs_first(a->ctx->jobs); j; j = jobs_next(j)) {
        struct job *array = job_is_subjob(j) ? subjob_array(a->ctx->jobs, j) : NULL;

        if (array && counts_as_running(j->state))
            array->n_running++;
    }
    while ((j = jobs_after(a->ctx->jobs, key))) {
        key = j->key;
        if (j->array && !job_is_over(j))
            maybe_over(a, j);
    }
}

void arrays_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct arrays *a = arg;
    struct job *array;

    if (j->array)
        array_moved(a, j, from);
    if (!job_is_subjob(j))
        return;
    array = subjob_array(a->ctx->jobs, j);
    if (array)
        subjob_moved(a, array, j, from);
}
