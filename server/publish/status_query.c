/* Queries: which objects, one after the other. See status.h.
 *
 * Three ways to walk. Names: a list made at the beginning, each looked up when its turn comes. All jobs: by key,
 * in memory, (with x) in pages of history, and (with t) indices of arrays that are not objects, merged; the cursor is
 * the last key. Jobs named one by one: as names, and what is not in memory is asked of history. Nothing here points to an object between two
 * calls.
 *
 * status_query_next is the whole interface to a walk. It says 1 and appends one entry; 0, the end; -1, history is being read and the wake
 * function follows; STATUS_PAUSE, enough was looked at for one call. An entry that was begun and cannot be completed is cut off the
 * answer again, so readers never see half of one. A name that is not found does not end the walk: the tail of the answer says which.
 *
 * status_query_reply binds a walk to a request: entries are produced as the client takes them, in the background, and the request ends
 * with the tail, or without one when the client has gone. The query is then destroyed, in either case once. */
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
#include "status.h"
#include "status_arrays.h"
#include "status_entry.h"
#include "status_history.h"
#include "status_names.h"
#include "status_past.h"
#include "status_state.h"

struct status_query {
    struct status_filter filter;
    struct status_tally tally;
    struct status_names names;
    struct status_history *history;
    struct status_past *past;
    struct status_arrays *arrays;
    struct rpc_request *request; /* of status_query_reply */
};

/* ---- the walks --------------------------------------------------------------------------------------- */

/* The subjob that is not an object and comes before both of these; ARRAY_NONE: none does. */
static int64_t next_index(const struct status_query *q, const struct job *array, const struct job *j,
                          const struct status_row *f)
{
    struct job_key key = {q->names.last.seq, (int32_t)status_arrays_next_index(q->arrays, array)};

    if (key.index == ARRAY_NONE || (j && !status_history_is_above(j->key, key)) ||
        (f && !status_history_is_above(f->key, key)))
        return ARRAY_NONE;
    return key.index;
}

/* One step: the lowest key above q->names.last of what is in memory, in the store, or only an index of an array. */
static int step_of_all(struct status_query *q, struct byte_buf *out, bool *is_end)
{
    const struct job *array = status_arrays_after(q->arrays, q->names.last);
    const struct status_row *f = NULL;
    struct job *j;
    int64_t index;
    int rc = status_history_next(q->history, q->names.last, &f);

    if (rc < 0)
        return -1;
    j = jobs_after(q->filter.ctx->jobs, q->names.last);
    index = next_index(q, array, j, f);
    *is_end = index == ARRAY_NONE && !j && !f;
    if (*is_end)
        return 0;
    if (index != ARRAY_NONE) {
        rc =
            array ? status_arrays_show(q->arrays, array, &index, out) : status_past_show(q->past, index, out);
        if (rc >= 0)
            q->names.last.index = (int32_t)index;
        return rc;
    }
    if (j && (!f || !status_history_is_above(j->key, f->key))) {
        q->names.last = j->key;
        if (!status_filter_wants(&q->filter, j))
            return 0;
        return status_entry_put(&q->filter, &j->obj, out) < 0 ? 0 : 1;
    }
    q->names.last = f->key;
    status_past_note(q->past, f);
    return status_history_show(&q->filter, f, out);
}

static int next_of_all(struct status_query *q, struct byte_buf *out)
{
    size_t before = out->len;
    bool is_end = false;
    int rc = 0;

    while (rc == 0 && !is_end) {
        byte_buf_cut(out, before);
        rc = status_names_may_look(&q->names) ? step_of_all(q, out, &is_end) : STATUS_PAUSE;
    }
    return rc;
}

/* The next name; but the subjobs of an array come first, where they are wanted too. */
static void go_on_behind(struct status_query *q, bool shown)
{
    if (shown && q->filter.subjobs && strstr(status_names_name(&q->names), "[]"))
        status_arrays_enter(q->arrays);
    else
        q->names.at++;
}

static void unknown(struct status_query *q, const char *name)
{
    status_names_unknown(&q->names, q->filter.of, name, &q->tally);
}

/* A subjob without a row may be one of an array that has one. */
static bool become_range(struct status_query *q)
{
    if (q->names.keys[q->names.at].index < 0)
        return false;
    q->names.keys[q->names.at].index = STATUS_RANGE; /* its text says which */
    status_history_drop(q->history);
    return true;
}

/* What history says of a job that is not in memory. An array there is one by its name. */
static int show_asked(struct status_query *q, const char *name, struct byte_buf *out)
{
    const struct status_row *row = status_history_first(q->history);
    int rc = 0;

    if (!row && become_range(q))
        return 0;
    if (row)
        status_past_note(q->past, row);
    if (!row || (strstr(name, "[]") != NULL) != (strstr(row->id, "[]") != NULL))
        unknown(q, name);
    else if (!q->filter.history && history_queue_is_elsewhere(row->queue)) /* its new server is to be asked */
        unknown(q, name);
    else if (!q->filter.history)
        status_tally_miss_finished(&q->tally, name);
    else
        rc = status_history_show(&q->filter, row, out);
    status_history_drop(q->history);
    go_on_behind(q, rc == 1);
    return rc;
}

/* The array that a subjob's name belongs to, where the subjob itself is not an object. */
static const struct job *array_of_name(const struct status_query *q)
{
    const struct job_key key = {q->names.keys[q->names.at].seq, JOBID_NO_INDEX};
    const struct job *j = q->names.keys[q->names.at].index < 0 ? NULL : jobs_find(q->filter.ctx->jobs, key);

    return j && j->array && j->state != JOB_ARRIVING ? j : NULL;
}

static int show_subjob(struct status_query *q, const struct job *array, struct byte_buf *out)
{
    const char *name = q->names.names[q->names.at];
    int64_t index = q->names.keys[q->names.at].index;
    bool is_none = array_map_get(array->array, index) == ARRAY_NO_INDEX;
    int rc = is_none ? 0 : status_arrays_show(q->arrays, array, &index, out);

    if (rc < 0)
        return -1;
    q->names.at++;
    status_history_drop(q->history);
    if (rc == 0 && !is_none && job_is_over(array) && !q->filter.history)
        status_tally_miss_finished(&q->tally, name);
    else if (rc == 0)
        unknown(q, name);
    return rc;
}

/* The job of names[at], as it is in memory; NULL: it is not there. */
static int show_in_memory(struct status_query *q, const struct job *j, struct byte_buf *out)
{
    const char *name = q->names.names[q->names.at];

    if (j && status_filter_wants(&q->filter, j)) {
        go_on_behind(q, true);
        return status_entry_put(&q->filter, &j->obj, out) < 0 ? 0 : 1;
    }
    q->names.at++;
    if (j && job_is_over(j) && !q->filter.history)
        status_tally_miss_finished(&q->tally, name);
    else
        unknown(q, name);
    return 0;
}

/* 1 shown, 0 not, -1 wait, STATUS_PAUSE. */
static int next_job(struct status_query *q, struct byte_buf *out)
{
    const struct job *array, *j;

    if (status_arrays_is_inside(q->arrays) || q->names.keys[q->names.at].index == STATUS_RANGE)
        return status_arrays_expand(q->arrays, out);
    j = jobs_find(q->filter.ctx->jobs, q->names.keys[q->names.at]);
    if (!j && (array = array_of_name(q)))
        return show_subjob(q, array, out);
    if (status_history_is_answered(q->history))
        return show_asked(q, q->names.names[q->names.at], out);
    if ((!j || !status_filter_is_there(&q->filter, j)) && status_history_is_kept(q->history) &&
        status_history_ask_job(q->history, q->names.keys[q->names.at]) < 0)
        return -1;
    return show_in_memory(q, j, out);
}

static int next_other(struct status_query *q, struct byte_buf *out)
{
    const char *name = q->names.names[q->names.at++];
    const struct resource *r =
        q->filter.of == OF_RESOURCE ? resource_find(q->filter.ctx->resources, name) : NULL;
    const struct object *o = status_names_find(&q->filter, name);

    if (r)
        return status_entry_put_resource(&q->filter, r, out) < 0 ? 0 : 1;
    if (o)
        return status_entry_put(&q->filter, o, out) < 0 ? 0 : 1;
    unknown(q, name);
    return 0;
}

/* How many objects, names or indices one call looks at: a millisecond's worth. Each criterion is a look of its own. */
static int looks_at_once(const struct status_query *q)
{
    enum { LOOKS = 2000 };

    return 1 + LOOKS / (1 + (q->filter.select_criteria ? (int)select_criteria_count(q->filter.select_criteria)
                                                       : 0));
}

/* Remove from the answer what could not be encoded whole. */
int status_query_next(struct status_query *q, struct byte_buf *out)
{
    size_t before = out->len;
    int rc = 0;

    if (status_history_is_asking(q->history))
        return -1;
    q->names.looks = looks_at_once(q);
    if (q->filter.all_jobs)
        rc = next_of_all(q, out);
    while (!q->filter.all_jobs && rc == 0 && q->names.at < q->names.n) {
        rc = !status_names_may_look(&q->names) ? STATUS_PAUSE
             : q->filter.of == OF_JOB          ? next_job(q, out)
                                               : next_other(q, out);
        if (rc != 1)
            byte_buf_cut(out, before);
    }
    if (rc != 1)
        byte_buf_cut(out, before);
    else
        q->tally.served++;
    return rc;
}

/* ---- life -------------------------------------------------------------------------------------------- */

/* A single unknown name is refused at once; of several names the answer reports it at its end. */
/* The job that the only name means, or the array that has it as an index; NULL: neither is in memory. */
static const struct job *only_job(const struct status_query *q, bool is_range)
{
    const struct job *array = array_of_name(q);
    struct job_key key = {q->names.keys[0].seq, is_range ? JOBID_NO_INDEX : q->names.keys[0].index};
    const struct job *j = jobs_find(q->filter.ctx->jobs, key);

    if (!j && array && array_map_get(array->array, q->names.keys[0].index) != ARRAY_NO_INDEX)
        return array;
    return j;
}

/* Return true if the walk will answer for the only job that is asked for; of a range each of its subjobs is looked at then. */
static bool only_job_is_known(const struct status_query *q, const struct job *j, bool is_range)
{
    if (!j)
        return status_history_is_kept(q->history);
    return is_range || (status_filter_is_there(&q->filter, j) &&
                        (q->filter.history || !status_filter_is_history(&q->filter, j)));
}

static bool only_object_is_known(const struct status_query *q)
{
    return status_names_find(&q->filter, q->names.names[0]) ||
           (q->filter.of == OF_RESOURCE && resource_find(q->filter.ctx->resources, q->names.names[0]));
}

static int check_only_name(struct status_query *q, struct err *e)
{
    const struct job *j = NULL;

    if (q->filter.all_jobs || q->names.n != 1)
        return 0;
    if (q->filter.of == OF_JOB) {
        bool is_range = q->names.keys[0].index == STATUS_RANGE;
        j = only_job(q, is_range);
        if (only_job_is_known(q, j, is_range))
            return 0;
    } else if (only_object_is_known(q)) {
        return 0;
    }
    if (j && job_is_over(j))
        return err_set(e, PBSE_HISTJOBID,
                       "Job has finished, use -x or -H to obtain historical job information");
    unknown(q, q->names.names[0]);
    *e = q->tally.first;
    return -1;
}

static int check_history(const struct status_query *q, struct err *e)
{
    if (!q->filter.history || server_obj_history(q->filter.ctx->server))
        return 0;
    return err_set(e, PBSE_JOBHISTNOTSET, "PBS is not configured to maintain job history");
}

/* What the letters of `extend` ask for. */
static void read_extend(struct status_filter *f, const struct status_ask *ask)
{
    const char *extend = ask->extend ? ask->extend : "";

    f->only_objects = strchr(extend, 'S') != NULL;
    f->subjobs = f->only_objects || strchr(extend, 't') || strchr(extend, 'T');
    f->no_arrays = f->subjobs && (ask->names_only || strchr(extend, 'T'));
    f->history = strchr(extend, 'x') != NULL;
    f->reader.presets = !strchr(extend, 'p');
}

static int make_filter(struct status_filter *f, const struct status *st, const struct status_ask *ask,
                       struct err *e)
{
    f->ctx = st->ctx;
    f->attrib_render = st->attrib_render;
    f->of = ask->of;
    f->names_only = ask->names_only;
    f->who = intern_ref(ask->who);
    f->reader = status_reader(st->ctx, ask->level, f->who);
    read_extend(f, ask);
    if (status_want(st->ctx, ask->of, ask->wanted, ask->n_wanted, &f->want, e) == 0)
        return 0;
    attr_select_init(&f->want, ask->of);
    return -1;
}

static int make_parts(struct status_query *q, struct store_reader *r)
{
    q->history = status_history_create(&q->filter, &q->tally, r);
    q->past = status_past_create(&q->filter);
    q->arrays = status_arrays_create(
        &(struct status_arrays_parts){&q->filter, &q->names, q->history, q->past, &q->tally});
    return q->history && q->past && q->arrays ? 0 : -1;
}

int status_query_create(struct status *st, const struct status_ask *ask, struct status_query **out,
                        struct err *e)
{
    struct status_query *q = calloc(1, sizeof *q);

    if (!q)
        return err_set(e, PBSE_SYSTEM, "no memory for a status");
    if (make_filter(&q->filter, st, ask, e) < 0)
        goto fail;
    if (make_parts(q, st->store_reader) < 0) {
        err_set(e, PBSE_SYSTEM, "no memory for a status");
        goto fail;
    }
    if (check_history(q, e) < 0 || status_names_choose(&q->names, &q->filter, ask->ids, e) < 0 ||
        check_only_name(q, e) < 0)
        goto fail;
    q->filter.select_criteria = ask->select_criteria;
    *out = q;
    return 0;
fail:
    status_query_destroy(q);
    return -1;
}

void status_query_destroy(struct status_query *q)
{
    if (!q)
        return;
    status_arrays_destroy(q->arrays);
    status_past_destroy(q->past);
    status_history_destroy(q->history);
    status_names_fini(&q->names);
    status_filter_fini(&q->filter);
    free(q);
}

void status_query_result(const struct status_query *q, struct err *out)
{
    status_tally_result(&q->tally, out);
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
    status_query_destroy(q);
}

void status_query_reply(struct rpc_request *r, struct status_query *q)
{
    static const struct rpc_producer producer = {.more = status_query_more, .end = status_query_end};
    char nothing[1] = "";
    const ifl_result head = {.code = 0, .text = nothing};

    q->request = rpc_request_ref(r);
    status_history_on_wake(q->history, status_query_wake_request, q);
    rpc_reply_entries(r, (xdrproc_t)xdr_ifl_result, &head, &producer, q);
}
