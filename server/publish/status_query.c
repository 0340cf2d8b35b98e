/* Queries: which objects, one after the other. See status.h.
 *
 * Three ways to walk. Names: a list made at the beginning, each looked up when its turn comes. All jobs: by key,
 * in memory, (with x) in pages of history, and (with t) indices of arrays that are not objects, merged; the cursor is
 * the last key. Jobs named one by one: as names, and what is not in memory is asked of history. Nothing here points to an object between two
 * calls. */
#include <stdlib.h>
#include <string.h>

#include "array_map.h"
#include "commit.h"
#include "idset.h"
#include "intern.h"
#include "pbs_error.h"
#include "rpc_request.h"
#include "server_obj.h"
#include "subjob.h"
#include "status_state.h"
#include "status_names.h"
#include "status_entry.h"
#include "status_history.h"
#include "status_past.h"
#include "status_arrays.h"

/* ---- the walks --------------------------------------------------------------------------------------- */

/* The subjob that is not an object and comes before both of these; ARRAY_NONE: none does. */
static int64_t next_index(const struct status_query *q, const struct job *array, const struct job *j,
                          const struct found *f)
{
    struct job_key key = {q->last.seq, (int32_t)status_arrays_next_index(q, array)};

    if (key.index == ARRAY_NONE || (j && !status_key_is_above(j->key, key)) ||
        (f && !status_key_is_above(f->key, key)))
        return ARRAY_NONE;
    return key.index;
}

/* One step: the lowest key above q->last of what is in memory, in the store, or only an index of an array. */
static int step_of_all(struct status_query *q, struct byte_buf *out, bool *is_end)
{
    const struct job *array = status_arrays_after(q, q->last);
    struct found *f = NULL;
    struct job *j;
    int64_t index;
    int rc = status_history_next(q, &f);

    if (rc < 0)
        return -1;
    j = jobs_after(q->st->ctx->jobs, q->last);
    index = next_index(q, array, j, f);
    *is_end = index == ARRAY_NONE && !j && !f;
    if (*is_end)
        return 0;
    if (index != ARRAY_NONE) {
        rc = array ? status_arrays_show(q, array, &index, out) : status_past_show(q, index, out);
        if (rc >= 0)
            q->last.index = (int32_t)index;
        return rc;
    }
    if (j && (!f || !status_key_is_above(j->key, f->key))) {
        q->last = j->key;
        if (!status_entry_wants(q, j))
            return 0;
        return status_entry_put(q, &j->obj, out) < 0 ? 0 : 1;
    }
    q->last = f->key;
    status_past_note(q, f);
    return status_history_show(q, f, out);
}

static int next_of_all(struct status_query *q, struct byte_buf *out)
{
    size_t before = out->len;
    bool is_end = false;
    int rc = 0;

    while (rc == 0 && !is_end) {
        byte_buf_cut(out, before);
        rc = status_may_look(q) ? step_of_all(q, out, &is_end) : STATUS_PAUSE;
    }
    return rc;
}

/* The next name; but the subjobs of an array come first, where they are wanted too. */
static void go_on_behind(struct status_query *q, bool shown)
{
    q->inside = shown && q->subjobs && strstr(q->names[q->at], "[]");
    q->index = ARRAY_NONE;
    q->expanded = 1;
    if (!q->inside)
        q->at++;
}

/* A subjob without a row may be one of an array that has one. */
static bool become_range(struct status_query *q)
{
    if (q->keys[q->at].index < 0)
        return false;
    q->keys[q->at].index = STATUS_RANGE; /* its text says which */
    status_history_drop(q);
    return true;
}

/* What history says of a job that is not in memory. An array there is one by its name. */
static int show_asked(struct status_query *q, const char *name, struct byte_buf *out)
{
    int rc = 0;

    if (q->n_page == 0 && become_range(q))
        return 0;
    if (q->n_page)
        status_past_note(q, &q->page[0]);
    if (q->n_page == 0 || (strstr(name, "[]") != NULL) != (strstr(q->page[0].id, "[]") != NULL))
        status_names_unknown(q, name);
    else if (!q->history && history_queue_is_elsewhere(q->page[0].queue)) /* its new server is to be asked */
        status_names_unknown(q, name);
    else if (!q->history)
        status_names_finished(q, name);
    else
        rc = status_history_show(q, &q->page[0], out);
    status_history_drop(q);
    go_on_behind(q, rc == 1);
    return rc;
}

/* The array that a subjob's name belongs to, where the subjob itself is not an object. */
static const struct job *array_of_name(const struct status_query *q)
{
    const struct job_key key = {q->keys[q->at].seq, JOBID_NO_INDEX};
    const struct job *j = q->keys[q->at].index < 0 ? NULL : jobs_find(q->st->ctx->jobs, key);

    return j && j->array && j->state != JOB_ARRIVING ? j : NULL;
}

static int show_subjob(struct status_query *q, const struct job *array, struct byte_buf *out)
{
    const char *name = q->names[q->at];
    int64_t index = q->keys[q->at].index;
    bool is_none = array_map_get(array->array, index) == ARRAY_NO_INDEX;
    int rc = is_none ? 0 : status_arrays_show(q, array, &index, out);

    if (rc < 0)
        return -1;
    q->at++;
    status_history_drop(q);
    if (rc == 0 && !is_none && job_is_over(array) && !q->history)
        status_names_finished(q, name);
    else if (rc == 0)
        status_names_unknown(q, name);
    return rc;
}

/* The job of names[at], as it is in memory; NULL: it is not there. */
static int show_in_memory(struct status_query *q, const struct job *j, struct byte_buf *out)
{
    const char *name = q->names[q->at];

    if (j && status_entry_wants(q, j)) {
        go_on_behind(q, true);
        return status_entry_put(q, &j->obj, out) < 0 ? 0 : 1;
    }
    q->at++;
    if (j && job_is_over(j) && !q->history)
        status_names_finished(q, name);
    else
        status_names_unknown(q, name);
    return 0;
}

/* 1 shown, 0 not, -1 wait, STATUS_PAUSE. */
static int next_job(struct status_query *q, struct byte_buf *out)
{
    const struct job *array, *j;

    if (q->inside || q->keys[q->at].index == STATUS_RANGE)
        return status_arrays_expand(q, out);
    j = jobs_find(q->st->ctx->jobs, q->keys[q->at]);
    if (!j && (array = array_of_name(q)))
        return show_subjob(q, array, out);
    if (q->page_is_there)
        return show_asked(q, q->names[q->at], out);
    if ((!j || !status_entry_is_there(q, j)) && status_history_is_kept(q) &&
        status_history_ask_job(q, q->keys[q->at]) < 0)
        return -1;
    return show_in_memory(q, j, out);
}

static int next_other(struct status_query *q, struct byte_buf *out)
{
    const char *name = q->names[q->at++];
    const struct resource *r = q->of == OF_RESOURCE ? resource_find(q->st->ctx->resources, name) : NULL;
    const struct object *o = status_names_find(q, name);

    if (r)
        return status_entry_put_resource(q, r, out) < 0 ? 0 : 1;
    if (o)
        return status_entry_put(q, o, out) < 0 ? 0 : 1;
    status_names_unknown(q, name);
    return 0;
}

/* How many objects, names or indices one call looks at: a millisecond's worth. Each criterion is a look of its own. */
static int looks_at_once(const struct status_query *q)
{
    enum { LOOKS = 2000 };

    return 1 + LOOKS / (1 + (q->select_criteria ? (int)select_criteria_count(q->select_criteria) : 0));
}

/* Remove from the answer what could not be encoded whole. */
int status_query_next(struct status_query *q, struct byte_buf *out)
{
    size_t before = out->len;
    int rc = 0;

    if (q->asking)
        return -1;
    q->looks = looks_at_once(q);
    if (q->all_jobs)
        rc = next_of_all(q, out);
    while (!q->all_jobs && rc == 0 && q->at < q->n) {
        rc = !status_may_look(q) ? STATUS_PAUSE : q->of == OF_JOB ? next_job(q, out) : next_other(q, out);
        if (rc != 1)
            byte_buf_cut(out, before);
    }
    if (rc != 1)
        byte_buf_cut(out, before);
    return rc;
}

static void status_query_free(struct status_query *q)
{
    status_history_drop(q);
    for (size_t i = 0; i < q->n; i++)
        intern_unref(q->names[i]);
    free(q->names);
    free(q->keys);
    idset_destroy(q->chosen);
    status_arrays_fini(q);
    intern_unref(q->queue);
    intern_unref(q->who);
    attr_select_fini(&q->want);
    select_criteria_destroy(q->select_criteria);
    free(q);
}

/* ---- life -------------------------------------------------------------------------------------------- */

/* A single unknown name is refused at once; of several names the answer reports it at its end. */
/* The job that the only name means, or the array that has it as an index; NULL: neither is in memory. */
static const struct job *only_job(const struct status_query *q, bool is_range)
{
    const struct job *array = array_of_name(q);
    struct job_key key = {q->keys[0].seq, is_range ? JOBID_NO_INDEX : q->keys[0].index};
    const struct job *j = jobs_find(q->st->ctx->jobs, key);

    if (!j && array && array_map_get(array->array, q->keys[0].index) != ARRAY_NO_INDEX)
        return array;
    return j;
}

/* Return true if the walk will answer for the only job that is asked for; of a range each of its subjobs is looked at then. */
static bool only_job_is_known(const struct status_query *q, const struct job *j, bool is_range)
{
    if (!j)
        return status_history_is_kept(q);
    return is_range || (status_entry_is_there(q, j) && (q->history || !status_entry_is_history(q, j)));
}

static bool only_object_is_known(const struct status_query *q)
{
    return status_names_find(q, q->names[0]) ||
           (q->of == OF_RESOURCE && resource_find(q->st->ctx->resources, q->names[0]));
}

static int check_only_name(struct status_query *q, struct err *e)
{
    const struct job *j = NULL;

    if (q->all_jobs || q->n != 1)
        return 0;
    if (q->of == OF_JOB) {
        bool is_range = q->keys[0].index == STATUS_RANGE;
        j = only_job(q, is_range);
        if (only_job_is_known(q, j, is_range))
            return 0;
    } else if (only_object_is_known(q)) {
        return 0;
    }
    if (j && job_is_over(j))
        return err_set(e, PBSE_HISTJOBID,
                       "Job has finished, use -x or -H to obtain historical job information");
    status_names_unknown(q, q->names[0]);
    *e = q->first;
    return -1;
}

static int check_history(const struct status_query *q, struct err *e)
{
    if (!q->history || server_obj_history(q->st->ctx->server))
        return 0;
    return err_set(e, PBSE_JOBHISTNOTSET, "PBS is not configured to maintain job history");
}

int status_query_create(struct status *st, const struct status_ask *ask, struct status_query **out,
                        struct err *e)
{
    const char *extend = ask->extend ? ask->extend : "";
    struct status_query *q = calloc(1, sizeof *q);

    if (!q)
        return err_set(e, PBSE_SYSTEM, "no memory for a status");
    q->st = st;
    q->free = status_query_free;
    q->page_lacks.seq = -1; /* none */
    q->of = ask->of;
    q->names_only = ask->names_only;
    q->only_objects = strchr(extend, 'S') != NULL;
    q->subjobs = q->only_objects || strchr(extend, 't') || strchr(extend, 'T');
    q->no_arrays = q->subjobs && (ask->names_only || strchr(extend, 'T'));
    q->history = strchr(extend, 'x') != NULL;
    q->who = intern_ref(ask->who);
    q->reader = status_reader(st->ctx, ask->level, q->who);
    q->reader.presets = !strchr(extend, 'p');
    if (status_want(st->ctx, ask->of, ask->wanted, ask->n_wanted, &q->want, e) < 0) {
        attr_select_init(&q->want, ask->of);
        goto fail;
    }
    if (check_history(q, e) < 0 || status_names_choose(q, ask->ids, e) < 0 || check_only_name(q, e) < 0)
        goto fail;
    q->select_criteria = ask->select_criteria;
    *out = q;
    return 0;
fail:
    status_query_free(q);
    return -1;
}

void status_query_destroy(struct status_query *q)
{
    if (!q)
        return;
    if (q->asking)
        q->dead = true;
    else
        status_query_free(q);
}

static void status_query_on_wake(struct status_query *q, void (*wake)(void *arg), void *arg)
{
    q->wake = wake;
    q->wake_arg = arg;
}

void status_query_result(const struct status_query *q, struct err *out)
{
    err_clear(out);
    if (!q->missing)
        return;
    *out = q->first;
    if (q->served)
        out->code = 1;
}

/* ---- the whole answer -------------------------------------------------------------------------------- */

static int put_tail(struct status_query *q, struct rpc_entries *out)
{
    struct err e;
    ifl_result tail = {.code = 0};

    status_query_result(q, &e);
    tail.code = e.code;
    tail.text = e.text;
    return rpc_entries_tail(out, (xdrproc_t)xdr_ifl_result, &tail);
}

static enum rpc_more status_query_more(void *arg, struct rpc_entries *out)
{
    struct status_query *q = arg;
    struct byte_buf entry;
    int rc = 1;

    byte_buf_init(&entry);
    while (!rpc_entries_is_full(out) && (rc = status_query_next(q, &entry)) == 1) {
        rpc_entries_add_bytes(out, entry.bytes, entry.len);
        byte_buf_cut(&entry, 0);
    }
    byte_buf_fini(&entry);
    if (rc == 0)
        put_tail(q, out);
    return rc > 0 ? RPC_MORE : rc == 0 ? RPC_DONE : RPC_LATER;
}

static void status_query_wake_request(void *arg)
{
    struct status_query *q = arg;

    rpc_reply_wake(q->request);
}

static void status_query_end(void *arg)
{
    struct status_query *q = arg;

    rpc_request_unref(q->request);
    q->request = NULL;
    q->wake = NULL;
    status_query_destroy(q);
}

void status_query_reply(struct rpc_request *r, struct status_query *q)
{
    static const struct rpc_producer producer = {.more = status_query_more, .end = status_query_end};
    char nothing[1] = "";
    const ifl_result head = {.code = 0, .text = nothing};

    q->request = rpc_request_ref(r);
    status_query_on_wake(q, status_query_wake_request, q);
    rpc_reply_entries(r, (xdrproc_t)xdr_ifl_result, &head, &producer, q);
}
