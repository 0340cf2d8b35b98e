/* Entries of a query's answer: whether an object is one of them, and its bytes. Nothing is kept between two entries
 * but the query's own counts. */
#include "status_entry.h"

#include <string.h>

#include "server_obj.h"
#include "subjob.h"
#include "status_state.h"

/* An ifl_status_entry: name, attributes, text. */
int status_entry_end(struct status_query *q, struct byte_buf *out, struct attrib_render_attrs *a)
{
    attrib_render_end(a);
    q->served++;
    return attrib_render_text(out, "", 0);
}

int status_entry_begin(struct byte_buf *out, const char *name, struct attrib_render_attrs *a)
{
    return attrib_render_text(out, name, strlen(name)) < 0 ? -1 : attrib_render_begin(a, out);
}

int status_entry_put(struct status_query *q, const struct object *o, struct byte_buf *out)
{
    struct attrib_render_attrs a;

    if (status_entry_begin(out, o->name, &a) < 0)
        return -1;
    if (!q->names_only &&
        attrib_render_walk(q->st->attrib_render, o, &q->want, &q->reader, attrib_render_triple, &a) < 0)
        return -1;
    return status_entry_end(q, out, &a);
}

int status_entry_put_resource(struct status_query *q, const struct resource *r, struct byte_buf *out)
{
    struct attrib_render_attrs a;

    if (status_entry_begin(out, r->name, &a) < 0 ||
        attrib_render_walk_resource(q->st->attrib_render, r, &q->want, &q->reader, attrib_render_triple, &a) <
            0)
        return -1;
    return status_entry_end(q, out, &a);
}

bool status_entry_is_history(const struct status_query *q, const struct job *j)
{
    const struct job *array = job_is_subjob(j) ? subjob_array(q->st->ctx->jobs, j) : NULL;

    return job_is_over(array ? array : j);
}

/* A job whose script has not arrived is shown to its owner and to operators only. */
bool status_entry_is_there(const struct status_query *q, const struct job *j)
{
    return j->state != JOB_ARRIVING || q->reader.level >= LEVEL_OPERATOR ||
           (q->who && strcmp(q->who, j->owner) == 0);
}

bool status_entry_wants(const struct status_query *q, const struct job *j)
{
    if (!status_entry_is_there(q, j) || (status_entry_is_history(q, j) && !q->history))
        return false;
    if (q->queue && (!j->queue_name || strcmp(q->queue, j->queue_name) != 0))
        return false;
    if (q->all_jobs && ((!q->subjobs && job_is_subjob(j)) || (q->no_arrays && j->array)))
        return false;
    return status_may_see(q->st->ctx, q->reader.level, q->who, j->owner) &&
           (!q->select_criteria ||
            select_criteria_match(q->select_criteria, attrib_render_computed(q->st->attrib_render), j));
}
