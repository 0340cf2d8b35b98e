/* Requests on jobs that only the store knows. See req_history.h.
 *
 * It is asked last, when memory has said that the job is unknown: most jobs that people name are there.
 * The first error is kept until the store has answered, and told if that knows nothing better. */
#include "req_history.h"

#include <stdlib.h>
#include <string.h>

#include <ifl.h>
#include <jansson.h>

#include "array_map.h"
#include "commit.h"
#include "idset.h"
#include "jobid.h"
#include "json_read.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "store_reader.h"
#include "req_common.h"

struct req_history_question {
    struct parts *parts;
    struct request *request;
    struct job_key key;
    bool remove;
    bool of_array; /* the array's row is asked for: a range has none, nor a subjob that never ran */
    char *range;   /* the name of a range; what it means is known when its array is */
    req_history_fn *fn;
    void *arg;
};

static void question_free(struct req_history_question *q)
{
    request_unref(q->request);
    free(q->range);
    free(q);
}

static bool is_owner(const struct req_history_question *q, const char *owner)
{
    const char *user = request_user(q->request);
    size_t n = strlen(user);

    if (client_is_distant(request_client(q->request)))
        return strcmp(owner, request_who(q->request)) == 0;
    return strncmp(owner, user, n) == 0 && owner[n] == '@';
}

static bool had_any(const struct array_map *m, const char *range)
{
    struct idset *chosen = NULL;
    struct jobid id;
    struct err e;
    bool any = jobid_parse(range, &id, &e) == 0 && jobid_indices(&id, array_map_range(m), &chosen, &e) == 0 &&
               idset_count(chosen) > 0;

    idset_destroy(chosen);
    return any;
}

/* Had the array of this row such indices? */
static bool had_index(const struct req_history_question *q, const struct history_row *array)
{
    json_t *attrs = json_read_own(array->attrs);
    const char *range = json_string_value(json_object_get(attrs, ATTR_array_indices_submitted));
    struct err e;
    struct array_map *m = range ? array_map_create(range, SIZE_MAX, &e) : NULL;
    bool had = false;

    if (m)
        had = q->range ? had_any(m, q->range) : array_map_get(m, q->key.index) != ARRAY_NO_INDEX;

    array_map_destroy(m);
    json_decref(attrs);
    return had;
}

static int req_history_judge(const struct req_history_question *q, const struct history_row *rows, size_t n)
{
    if (!n || (!q->remove && history_row_is_moved(rows)))
        return PBSE_UNKJOBID;
    if (q->of_array)
        return had_index(q, rows) ? PBSE_HISTJOBID : PBSE_UNKJOBID;
    if (!q->remove)
        return PBSE_HISTJOBID;
    if (!is_owner(q, rows->owner) && req_level(q->request) < LEVEL_OPERATOR)
        return PBSE_PERM;
    commit_remove_history(q->parts->commit, rows->key);
    if (strstr(rows->id, "[]"))
        commit_remove_subjob_history(q->parts->commit, rows->key.seq);
    return 0;
}

static void req_history_answered(void *arg, const struct history_row *rows, size_t n, const struct err *why);

/* A subjob that never ran has no row of its own. */
static bool ask_array(struct req_history_question *q)
{
    const struct job_key array = {q->key.seq, JOBID_NO_INDEX};
    struct err e;

    if (q->of_array || q->key.index < 0)
        return false;
    q->of_array = true;
    return store_reader_history_job(q->parts->store_reader, array, req_history_answered, q, &e) == 0;
}

static void req_history_answered(void *arg, const struct history_row *rows, size_t n, const struct err *why)
{
    struct req_history_question *q = arg;

    if (!why && !n && ask_array(q))
        return;
    q->fn(q->arg, why ? PBSE_SYSTEM : req_history_judge(q, rows, n));
    question_free(q);
}

int req_history_ask(struct parts *p, struct request *r, const char *id, bool remove, req_history_fn *fn,
                    void *arg, struct err *e)
{
    struct jobid parsed;
    struct req_history_question *q;

    if (jobid_parse(id, &parsed, e) < 0)
        return -1;
    if (!p->store_reader || !server_ctx_is_asked(p->ctx, &parsed) || !server_obj_history(p->ctx->server))
        return err_set(e, PBSE_UNKJOBID, "Unknown Job Id %s", id);
    if (jobid_check_indices(&parsed, e) < 0)
        return -1;
    q = malloc(sizeof *q);
    if (!q)
        return err_set(e, PBSE_SYSTEM, "no memory to ask for the history of %s", id);
    *q = (struct req_history_question){.parts = p,
                                       .request = request_ref(r),
                                       .key = parsed.key,
                                       .remove = remove,
                                       .of_array = parsed.form == JOBID_RANGE,
                                       .fn = fn,
                                       .arg = arg};
    if (q->of_array && !(q->range = strdup(id))) {
        question_free(q);
        return err_set(e, PBSE_SYSTEM, "no memory to ask for the history of %s", id);
    }
    if (store_reader_history_job(p->store_reader, parsed.key, req_history_answered, q, e) == 0)
        return 0;
    question_free(q);
    return err_set(e, PBSE_SYSTEM, "the history of %s cannot be asked for now", id);
}

struct req_history_failure {
    struct request *request;
    struct err e;
};

static void req_history_tell(void *arg, int code)
{
    struct req_history_failure *f = arg;

    if (code == PBSE_HISTJOBID)
        request_failf(f->request, PBSE_HISTJOBID, "Job has finished");
    else
        request_fail(f->request, &f->e);
    request_unref(f->request);
    free(f);
}

void req_history_fail(struct parts *p, struct request *r, const char *id, const struct err *e)
{
    struct req_history_failure *f = e->code == PBSE_UNKJOBID ? malloc(sizeof *f) : NULL;
    struct err ignored;

    if (!f) {
        request_fail(r, e);
        return;
    }
    *f = (struct req_history_failure){request_ref(r), *e};
    if (req_history_ask(p, r, id, false, req_history_tell, f, &ignored) < 0)
        req_history_tell(f, PBSE_UNKJOBID);
}

/* "workq@far:15001" */
static void req_history_locate_cb(void *arg, const struct history_row *rows, size_t n, const struct err *why)
{
    static char nothing[1];
    struct req_history_failure *f = arg;
    ifl_text_result result = {.result = {.text = nothing}};

    if (n && history_row_is_moved(rows)) {
        result.text = (char *)(uintptr_t)(strchr(rows->queue, '@') + 1);
        request_reply(f->request, &result);
    } else {
        request_fail(f->request, &f->e);
    }
    request_unref(f->request);
    free(f);
}

void req_history_locate(struct parts *p, struct request *r, const char *id, const struct err *e)
{
    struct req_history_failure *f = e->code == PBSE_UNKJOBID ? malloc(sizeof *f) : NULL;
    struct jobid parsed;
    struct err ignored;

    if (f)
        *f = (struct req_history_failure){request_ref(r), *e};
    if (f && p->store_reader && jobid_parse(id, &parsed, &ignored) == 0 &&
        server_ctx_is_asked(p->ctx, &parsed) && parsed.form != JOBID_RANGE &&
        store_reader_history_job(p->store_reader, parsed.key, req_history_locate_cb, f, &ignored) == 0)
        return;
    request_fail(r, e);
    if (f)
        request_unref(r);
    free(f);
}
