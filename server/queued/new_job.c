/* A job made from a submission. See new_job.h.
 *
 * The number is taken first, since the identifier goes into the job's paths; one that is refused leaves a
 * gap. Then the order matters: attributes as they came; what they make it (interactive, an array); whose
 * it is; defaults, which may depend on the queue; and last whether the queue lets it in, which looks at
 * the completed request. */
#include "new_job.h"

#include <string.h>

#include "access.h"
#include "admit.h"
#include "array_map.h"
#include "arrays.h"
#include "defaults.h"
#include "attr_edit.h"
#include "hold_types.h"
#include "job_identity.h"
#include "intern.h"
#include "names.h"
#include "output_paths.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "server_ctx.h"
#include "strbuf.h"
#include "preempt_targets.h"
#include "variable_list.h"

/* --- attributes as they came ------------------------------------------------------------------------ */

/* What a submission may say and this server cannot do yet. A value that means "no" is let through. */
static const struct not_yet {
    const char *name, *harmless;
} not_yet[] = {
    {"cred", NULL},
};

static int refuse_not_yet(const wire_attrop *w, struct err *e)
{
    for (size_t i = 0; i < sizeof not_yet / sizeof not_yet[0]; i++) {
        if (strcmp(w->name, not_yet[i].name) != 0)
            continue;
        if (!*w->value || (not_yet[i].harmless && strcasecmp(w->value, not_yet[i].harmless) == 0))
            return 0;
        return err_set(e, PBSE_NOSUP,
                       "No support for requested service: %s is not supported by this server yet", w->name);
    }
    return 0;
}

static int take_attribute(struct server_ctx *s, struct job *j, const struct client *c, const wire_attrop *w,
                          struct err *e)
{
    struct attr_writer writer = {.level = client_level(c), .creating = true};
    int index = attr_def_need(OF_JOB, w->name, e);
    const struct attr_def *def;

    if (index < 0 || refuse_not_yet(w, e) < 0)
        return -1;
    def = attr_def_get(OF_JOB, index);
    if (def->flags & AF_CREATE)
        writer.level = LEVEL_SERVER; /* settable by the creator of the object */
    if (attr_def_check_write(def, &writer, e) < 0 ||
        resource_check_write(s->resources, w->resource, client_level(c), e) < 0)
        return -1;
    if (attr_list_change(&j->obj.attrs, s->resources, index, *w->resource ? w->resource : NULL, w->value, SET,
                         e) < 0)
        return -1;
    return attr_edit_check_nice(s, &j->obj.attrs, index, w->resource, client_level(c), e);
}

static int take_attributes(struct server_ctx *s, struct job *j, const struct new_job_ask *ask,
                           const wire_attrop **at, struct err *e)
{
    const wire_attrops *list = &ask->args->attrs;

    for (u_int i = 0; i < list->wire_attrops_len; i++) {
        if (ask->remaining && strcmp(list->wire_attrops_val[i].name, ATTR_array_indices_remaining) == 0)
            continue; /* for make_array */
        if (take_attribute(s, j, ask->client, &list->wire_attrops_val[i], e) < 0) {
            *at = &list->wire_attrops_val[i];
            return -1;
        }
    }
    return 0;
}

/* An interactive job cannot be rerun: its terminal cannot be restored. */
static int check_interactive(struct job *j, struct err *e)
{
    if (attr_list_number(&j->obj.attrs, JOB_ATTR_interactive, 0) == 0)
        return 0;
    if (!attr_list_text(&j->obj.attrs, JOB_ATTR_interactive_key))
        return err_set(e, PBSE_BADATVAL, "an interactive job needs interactive_key: 64 hexadecimal digits");
    return attr_list_set_number(&j->obj.attrs, JOB_ATTR_Rerunable, 0, e);
}

/* --- arrays ----------------------------------------------------------------------------------------- */

static const wire_attrop *attribute(const struct new_job_ask *ask, const char *name)
{
    const wire_attrops *list = &ask->args->attrs;

    for (u_int i = 0; i < list->wire_attrops_len; i++)
        if (strcasecmp(list->wire_attrops_val[i].name, name) == 0 && *list->wire_attrops_val[i].value)
            return &list->wire_attrops_val[i];
    return NULL;
}

/* Shrinking a job to fit would make each subjob another. */
static int refuse_shrinking(const struct server_ctx *s, const struct job *j, struct err *e)
{
    static const char *const names[] = {"min_walltime", "max_walltime"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct resource *r = resource_find(s->resources, names[i]);

        if (r && attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, r->id))
            return err_set(e, PBSE_NOSTF_JOBARRAY,
                           "\"min_walltime\" and \"max_walltime\" are not valid resources for a job array");
    }
    return 0;
}

static int make_array(const struct server_ctx *s, struct job *j, const struct new_job_ask *ask,
                      const wire_attrop **at, struct err *e)
{
    const char *range = attr_list_text(&j->obj.attrs, JOB_ATTR_array_indices_submitted);

    if (!range) {
        *at = attribute(ask, ATTR_max_run_subjobs);
        if (attr_list_is_set(&j->obj.attrs, JOB_ATTR_max_run_subjobs))
            return err_set(e, PBSE_NOTARRAY_ATTR, "Attribute has to be set on an array job");
        *at = NULL;
        return 0;
    }
    *at = attribute(ask, ATTR_J);
    j->array = arrays_make(s, ask->queue, range, e);
    if (!j->array)
        return -1;
    if (ask->remaining && array_map_keep(j->array, ask->remaining, e) < 0)
        return -1;
    *at = attribute(ask, ATTR_create_resv_from_job);
    if (attr_list_bool(&j->obj.attrs, JOB_ATTR_create_resv_from_job, false))
        return err_set(e, PBSE_RESV_FROM_ARRJOB, "Reservation may not be created from an array job");
    *at = NULL;
    return refuse_shrinking(s, j, e) < 0 ? -1 : attr_list_set_number(&j->obj.attrs, JOB_ATTR_array, 1, e);
}

/* --- identity --------------------------------------------------------------------------------------- */

static int set_identity(const struct server_ctx *s, struct job *j, const struct new_job_ask *ask,
                        struct err *e)
{
    const char *project = attr_list_text(&j->obj.attrs, JOB_ATTR_project);

    if (job_set_text(&j->owner, client_who(ask->client)) < 0 ||
        job_set_text(&j->user, client_user(ask->client)) < 0 ||
        job_set_text(&j->host, client_host(ask->client)) < 0 || job_set_text(&j->project, project) < 0)
        return err_set(e, PBSE_SYSTEM, "no memory for a job");
    return job_identity_set(s, j, ask->client, ask->user, e);
}

static int set_holds(struct job *j, const struct client *c, struct err *e)
{
    j->hold = (unsigned)attr_list_number(&j->obj.attrs, JOB_ATTR_Hold_Types, 0);
    return hold_types_may(j->hold, client_level(c), e);
}

/* --- what the server adds --------------------------------------------------------------------------- */

/* What qsub sends has the host and, where its environment has LOGNAME, the user. */
static bool lacks_user(const struct job *j)
{
    return variable_list_has(j, "PBS_O_HOST") && !variable_list_has(j, "PBS_O_LOGNAME");
}

static int add_texts(struct job *j, const struct new_job_ask *ask, struct err *e)
{
    if (!(ask->arrives && variable_list_has(j, "PBS_O_QUEUE")) &&
        variable_list_add(j, "PBS_O_QUEUE", ask->queue->obj.name, e) < 0)
        return -1;
    if (!ask->arrives && lacks_user(j) &&
        variable_list_add(j, "PBS_O_LOGNAME", client_user(ask->client), e) < 0)
        return -1;
    return output_paths_complete(j, e);
}

/* --- the whole -------------------------------------------------------------------------------------- */

static int new_job_fill(struct server_ctx *s, struct job *j, const struct new_job_ask *ask,
                        const wire_attrop **at, struct err *e)
{
    struct admit_ask admit = {
        .job = j, .owner = client_who(ask->client), .host = client_host(ask->client), .new_job = true};

    if (attr_list_set_defaults(&j->obj.attrs, e) < 0 || take_attributes(s, j, ask, at, e) < 0)
        return -1;
    if (check_interactive(j, e) < 0 || make_array(s, j, ask, at, e) < 0)
        return -1;
    if (preempt_targets_check(s, &j->obj.attrs, e) < 0 || set_identity(s, j, ask, e) < 0 ||
        set_holds(j, ask->client, e) < 0 || add_texts(j, ask, e) < 0)
        return -1;
    if (defaults_complete(s, &j->obj.attrs, ask->queue, e) < 0)
        return -1;
    return admit_check(s, ask->queue, &admit, e);
}

static void stamp(const struct server_ctx *s, struct job *j, const struct new_job_ask *ask)
{
    j->ctime_s = j->mtime_s = server_ctx_now_s(s);
    j->etime_s =
        j->hold || attr_list_number(&j->obj.attrs, JOB_ATTR_Execution_Time, 0) > j->ctime_s ? 0 : j->ctime_s;
    j->run_count = (unsigned)attr_list_number(&j->obj.attrs, JOB_ATTR_run_count, 0);
    j->script_bytes = ask->args->script_length;
    memcpy(j->token, ask->args->token, sizeof j->token);
}

/* Numbers come round again after max_job_sequence_id; a job that is still here keeps its own. */
static struct job_key take_key(struct server_ctx *s)
{
    struct job_key key = {.index = JOBID_NO_INDEX};

    do
        key.seq = server_obj_take_seq(s->server, s->change);
    while (jobs_find(s->jobs, key));
    return key;
}

struct job *new_job(struct server_ctx *s, const struct new_job_ask *ask, const wire_attrop **at,
                    struct err *e)
{
    struct job_key key = {.index = JOBID_NO_INDEX};
    char id[JOBID_TEXT_MAX];
    struct job *j;

    if (!ask->unlisted)
        key = take_key(s);
    j = job_create(key, jobid_format(id, key, attribute(ask, ATTR_J) != NULL, s->name));
    if (!j) {
        err_set(e, PBSE_SYSTEM, "no memory for a job");
        return NULL;
    }
    if (new_job_fill(s, j, ask, at, e) < 0) {
        job_unref(j);
        return NULL;
    }
    stamp(s, j, ask);
    return j;
}
