/* Requests that name subjobs. See req_subjobs.h.
 *
 * A name is a set of indices that the array has, of which few are objects: the walk goes over those, by index, and may be
 * gone on with after jobs have come or gone. What only waits is the caller's to do, on the array's own
 * sets. Rights are those to the array. */
#include "req_subjobs.h"

#include "array_map.h"
#include "arrays.h"
#include "idset.h"
#include "jobid.h"
#include "pbs_error.h"
#include "req_common.h"
#include "subjob.h"

/* Is there anything among the chosen that has not ended? A range may name more than the array has. */
static int check_chosen(const struct req_subjobs *s, const char *id, struct err *e)
{
    if (array_map_has_open(s->array->array, s->chosen))
        return 0;
    return idset_count(s->chosen)
               ? err_set(e, PBSE_NOHISTARRAYSUBJOB, "Request invalid for finished array subjob")
               : err_set(e, PBSE_UNKJOBID, "Unknown Job Id %s", id);
}

/* An index that the array never had is unknown to every user, whatever has become of the array. */
static int check_rights(const struct req_subjobs *s, const struct request *r, const char *id, struct err *e)
{
    int chosen = s->chosen ? check_chosen(s, id, e) : 0;
    struct err other;

    if (chosen < 0 && e->code == PBSE_UNKJOBID)
        return -1;
    if (req_may_act(r, s->array, &other) == 0)
        return chosen;
    *e = other;
    return -1;
}

static struct job *find_array(struct parts *p, const struct jobid *id, const char *text, struct err *e)
{
    const struct job_key key = {id->key.seq, JOBID_NO_INDEX};
    struct job *j = server_ctx_is_asked(p->ctx, id) ? jobs_find(p->ctx->jobs, key) : NULL;

    if (j && j->array && j->state != JOB_ARRIVING)
        return j;
    if (j && j->array)
        err_set(e, PBSE_BADSTATE, "Request invalid for state of job: its script has not arrived");
    else
        err_set(e, PBSE_UNKJOBID, "Unknown Job Id %s", text);
    return NULL;
}

int req_subjobs_find(struct parts *p, const struct request *r, const char *id, struct req_subjobs *out,
                     struct err *e)
{
    struct jobid parsed;
    struct job *array;

    if (jobid_parse(id, &parsed, e) < 0)
        return -1;
    if (parsed.form == JOBID_JOB)
        return 0;
    array = find_array(p, &parsed, id, e);
    if (!array)
        return -1;
    *out = (struct req_subjobs){.parts = p, .array = array, .at = ARRAY_NONE};
    if ((parsed.form != JOBID_ARRAY &&
         jobid_indices(&parsed, array_map_range(array->array), &out->chosen, e) < 0) ||
        check_rights(out, r, id, e) < 0) {
        idset_destroy(out->chosen);
        return -1;
    }
    out->few_chosen = out->chosen && idset_count(out->chosen) <= array_map_count(array->array, ARRAY_LIVE);
    job_ref(array);
    return 1;
}

void req_subjobs_end(struct req_subjobs *s)
{
    job_unref(s->array);
    idset_destroy(s->chosen);
}

static struct job *next_chosen(struct req_subjobs *s)
{
    struct job *j = NULL;
    int64_t i = s->at;

    while (!j && (i = idset_next(s->chosen, i + 1)) >= 0)
        j = jobs_find(s->parts->ctx->jobs, (struct job_key){s->array->key.seq, (int32_t)i});
    return j;
}

static struct job *next_object(struct req_subjobs *s)
{
    struct job *j = subjob_next(s->parts->ctx->jobs, s->array, s->at);

    while (j && s->chosen && !idset_contains(s->chosen, (uint32_t)j->key.index))
        j = subjob_next(s->parts->ctx->jobs, s->array, j->key.index);
    return j;
}

struct job *req_subjobs_next(struct req_subjobs *s)
{
    struct job *j;

    do {
        j = s->few_chosen ? next_chosen(s) : next_object(s);
        if (j)
            s->at = j->key.index;
    } while (j && job_is_over(j));
    return j;
}

struct job *req_subjobs_need_job(struct parts *p, const struct request *r, const char *id, bool *fresh,
                                 struct err *e)
{
    struct jobid parsed;
    struct job *array, *j = req_find_job(p, r, id, e);

    *fresh = false;
    if (j || e->code != PBSE_BADSTATE || jobid_parse(id, &parsed, e) < 0 || parsed.form != JOBID_SUBJOB)
        return j;
    array = find_array(p, &parsed, id, e);
    if (!array || req_may_act(r, array, e) < 0 || arrays_may_start(array, e) < 0)
        return NULL;
    j = arrays_appear(p->arrays, array, parsed.key.index, e);
    *fresh = j != NULL;
    return j;
}
