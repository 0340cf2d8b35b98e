/* Derived attributes: rows of functions, one table a kind. See derived_attribs.h.
 *
 * Rows are indexed by attribute, so that asking costs one look; those of jobs are in computed_job.c. The
 * struct holds one text and one list of amounts, in which a function may build its value: the next call
 * builds there again, which is why a value is borrowed only until then. */
#include "derived_attribs.h"

#include <stdlib.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "attr_list.h"
#include "computed_rows.h"
#include "job.h"
#include "job_saves.h"
#include "job_view.h"
#include "node.h"
#include "preempt_method.h"
#include "queue.h"
#include "sched_obj.h"
#include "server_obj.h"
#include "states.h"
#include "limit_counts.h"

#define TEXT_MAX ((size_t)1 << 20)

static const struct node *node_of(const struct object *o)
{
    return (const struct node *)(const void *)o;
}

static const struct queue *derived_attribs_queue_of(const struct object *o)
{
    return (const struct queue *)(const void *)o;
}

static bool text_made(struct derived_attribs *c, struct value *out)
{
    return strbuf_ok(&c->text) && computed_text(strbuf_str(&c->text), out);
}

/* ---- counts of jobs by state, for queues and the server ---------------------------------------------- */

static bool show_total(const struct derived_attribs *c, const struct queue *q, struct value *out)
{
    const int64_t *states = limit_counts_states(c->ctx->limit_counts, q);
    int64_t total = 0;

    for (int i = 0; i < LIMIT_COUNTS_STATES; i++)
        total += states[i];
    return computed_number(total, out);
}

static bool show_counts(struct derived_attribs *c, const struct queue *q, struct value *out)
{
    static const char letters[] = "TQHWREB";
    const int64_t *states = limit_counts_states(c->ctx->limit_counts, q);

    strbuf_reset(&c->text);
    for (const char *l = letters; *l; l++)
        strbuf_addf(&c->text, "%s:%lld ", states_count_word(*l), (long long)states[states_number(*l)]);
    return text_made(c, out);
}

/* ---- queues ------------------------------------------------------------------------------------------ */

static bool derived_attribs_queue_total(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return show_total(c, derived_attribs_queue_of(o), out);
}

static bool derived_attribs_queue_counts(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return show_counts(c, derived_attribs_queue_of(o), out);
}

static bool derived_attribs_queue_assigned(struct derived_attribs *c, const struct object *o,
                                           struct value *out)
{
    return computed_amounts(derived_attribs_queue_of(o)->assigned, out);
}

static bool derived_attribs_queue_has_nodes(struct derived_attribs *c, const struct object *o,
                                            struct value *out)
{
    return nodes_find_of_queue(c->ctx->nodes, o->name) && computed_number(1, out);
}

static computed_fn *const queue_rows[QUEUE_ATTR_COUNT] = {
    [QUEUE_ATTR_total_jobs] = derived_attribs_queue_total,
    [QUEUE_ATTR_state_count] = derived_attribs_queue_counts,
    [QUEUE_ATTR_resources_assigned] = derived_attribs_queue_assigned,
    [QUEUE_ATTR_hasnodes] = derived_attribs_queue_has_nodes,
};

/* ---- the server -------------------------------------------------------------------------------------- */

static bool derived_attribs_server_state(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return computed_text(states_server_word(server_obj_state(c->ctx->server)), out);
}

static bool derived_attribs_server_host(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return computed_text(c->host, out);
}

static bool derived_attribs_server_total(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return show_total(c, NULL, out);
}

static bool derived_attribs_server_counts(struct derived_attribs *c, const struct object *o,
                                          struct value *out)
{
    return show_counts(c, NULL, out);
}

static bool derived_attribs_server_assigned(struct derived_attribs *c, const struct object *o,
                                            struct value *out)
{
    return computed_amounts(c->ctx->server->assigned, out);
}

/* Cede has no licences; clients expect the counters. */
static bool derived_attribs_server_licenses(struct derived_attribs *c, const struct object *o,
                                            struct value *out)
{
    return computed_text(attr_def_get(OF_SERVER, SERVER_ATTR_license_count)->dflt, out);
}

static bool derived_attribs_server_version(struct derived_attribs *c, const struct object *o,
                                           struct value *out)
{
    const char *said = attr_list_text(&o->attrs, SERVER_ATTR_reported_version);

    return computed_text(said ? said : c->ctx->pbs_version, out);
}

static bool derived_attribs_server_cede_version(struct derived_attribs *c, const struct object *o,
                                                struct value *out)
{
    return computed_text(CEDE_VERSION, out);
}

static bool derived_attribs_server_time(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return computed_number(server_ctx_now_s(c->ctx), out);
}

static computed_fn *const server_rows[SERVER_ATTR_COUNT] = {
    [SERVER_ATTR_server_state] = derived_attribs_server_state,
    [SERVER_ATTR_server_host] = derived_attribs_server_host,
    [SERVER_ATTR_total_jobs] = derived_attribs_server_total,
    [SERVER_ATTR_state_count] = derived_attribs_server_counts,
    [SERVER_ATTR_resources_assigned] = derived_attribs_server_assigned,
    [SERVER_ATTR_license_count] = derived_attribs_server_licenses,
    [SERVER_ATTR_pbs_version] = derived_attribs_server_version,
    [SERVER_ATTR_cede_version] = derived_attribs_server_cede_version,
    [SERVER_ATTR_current_time] = derived_attribs_server_time,
};

/* ---- nodes ------------------------------------------------------------------------------------------- */

static bool derived_attribs_node_state(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return computed_number(node_of(o)->state, out);
}

/* Where the manager did not say which MOM serves it, that is the MOM of its host. */
static bool derived_attribs_node_mom(struct derived_attribs *c, const struct object *o, struct value *out)
{
    const char *said = attr_list_text(&o->attrs, NODE_ATTR_Mom);
    const char *host = value_text(attr_list_amount(&o->attrs, NODE_ATTR_resources_available, RESC_host));

    return computed_text(said ? said : host ? host : o->name, out);
}

static int64_t cpus_of(const struct node_use *u)
{
    int64_t n = value_number(resc_find(u->amounts, RESC_ncpus));

    return n > 0 ? n : 1;
}

/* "41.svr1/0, 41.svr1/1, 42.svr1/2": a slot for each cpu. */
static bool derived_attribs_node_jobs(struct derived_attribs *c, const struct object *o, struct value *out)
{
    int64_t next = 0;

    strbuf_reset(&c->text);
    for (const struct node_use *u = node_of(o)->uses; u; u = u->next)
        for (int64_t end = next + cpus_of(u); next < end; next++)
            strbuf_addf(&c->text, "%s%s/%lld", next ? ", " : "", u->job->obj.name, (long long)next);
    return next > 0 && text_made(c, out);
}

static bool derived_attribs_node_drain_left(struct derived_attribs *c, const struct object *o,
                                            struct value *out)
{
    int64_t n = 0;

    if (!attr_list_is_set(&o->attrs, NODE_ATTR_drain_begun))
        return false;
    for (const struct node_use *u = node_of(o)->uses; u; u = u->next)
        n++;
    return computed_number(n, out);
}

/* Why a letter of a drain does nothing for this job. NULL: that is not known beforehand. */
static const char *drain_obstacle(const struct job *j, enum method_id id)
{
    const char *by = job_saves_by(j);

    if (id == METHOD_REQUEUE && !attr_list_bool(&j->obj.attrs, JOB_ATTR_Rerunable, true))
        return "it is not rerunable";
    if (id != METHOD_CHECKPOINT || !by || strcmp(by, "none") != 0)
        return NULL;
    return job_saves_wanted(j) ? "its program does not save itself" : "it wants no checkpoint";
}

static void add_drain_obstacles(struct strbuf *b, const struct job *j, const struct preempt_methods *methods)
{
    const char *join = " (";

    for (size_t i = 0; i < methods->n; i++) {
        const char *why = drain_obstacle(j, methods->m[i]);
        if (why) {
            strbuf_addf(b, "%s%c: %s", join, preempt_method_row(methods->m[i])->letter, why);
            join = "; ";
        }
    }
    if (join[0] == ';')
        strbuf_add_char(b, ')');
}

/* "41.svr1 (C: its program does not save itself; R: it is not rerunable), 42.svr1" */
static bool derived_attribs_node_drain_stays(struct derived_attribs *c, const struct object *o,
                                             struct value *out)
{
    const char *letters = attr_list_text(&o->attrs, NODE_ATTR_drain), *join = "";
    struct preempt_methods methods;

    if (!attr_list_is_set(&o->attrs, NODE_ATTR_drain_begun) || !letters ||
        !preempt_methods_parse(letters, &methods))
        return false;
    strbuf_reset(&c->text);
    for (const struct node_use *u = node_of(o)->uses; u; u = u->next)
        if (!u->job->victim && u->job->state != JOB_EXITING) {
            strbuf_addf(&c->text, "%s%s", join, u->job->obj.name);
            add_drain_obstacles(&c->text, u->job, &methods);
            join = ", ";
        }
    return *join && text_made(c, out);
}

/* What can be summed is shown from the beginning, as 0. */
static bool derived_attribs_node_assigned(struct derived_attribs *c, const struct object *o,
                                          struct value *out)
{
    static const int numbers[] = {RESC_ncpus, RESC_naccelerators};
    static const int sizes[] = {RESC_mem, RESC_vmem, RESC_hbmem, RESC_accelerator_memory};
    const struct resc_list *now = node_of(o)->assigned;

    computed_begin_amounts(c);
    if (now && resc_dup(now, &c->amounts) < 0)
        return false;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!resc_find(now, numbers[i]) && resc_put(&c->amounts, numbers[i], value_of_number(0), NULL) < 0)
            return false;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (!resc_find(now, sizes[i]) && resc_put(&c->amounts, sizes[i], value_of_kb(0), NULL) < 0)
            return false;
    return computed_amounts(c->amounts, out);
}

static bool derived_attribs_node_held(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return computed_amounts(node_of(o)->held, out);
}

static bool derived_attribs_node_jobs_held(struct derived_attribs *c, const struct object *o,
                                           struct value *out)
{
    strbuf_reset(&c->text);
    for (const struct earmark_part *p = node_of(o)->parts; p; p = p->next) {
        strbuf_add_sep(&c->text, ",");
        strbuf_add(&c->text, p->earmark->obj.name);
    }
    return node_of(o)->parts && text_made(c, out);
}

static bool derived_attribs_node_held_alone(struct derived_attribs *c, const struct object *o,
                                            struct value *out)
{
    for (const struct earmark_part *p = node_of(o)->parts; p; p = p->next)
        if (p->alone)
            return computed_number(1, out);
    return false;
}

/* "R5.svr1, S6.svr1" */
static bool derived_attribs_node_resv(struct derived_attribs *c, const struct object *o, struct value *out)
{
    strbuf_reset(&c->text);
    for (const struct resv_share *x = node_of(o)->shares; x; x = x->next) {
        strbuf_add_sep(&c->text, ", ");
        strbuf_add(&c->text, x->resv->obj.name);
    }
    return node_of(o)->shares && text_made(c, out);
}

static bool derived_attribs_node_license(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return computed_number('l', out);
}

static bool derived_attribs_node_state_time(struct derived_attribs *c, const struct object *o,
                                            struct value *out)
{
    return node_of(o)->last_state_s && computed_number(node_of(o)->last_state_s, out);
}

static bool derived_attribs_node_used_time(struct derived_attribs *c, const struct object *o,
                                           struct value *out)
{
    return node_of(o)->last_used_s && computed_number(node_of(o)->last_used_s, out);
}

static computed_fn *const node_rows[NODE_ATTR_COUNT] = {
    [NODE_ATTR_Mom] = derived_attribs_node_mom,
    [NODE_ATTR_state] = derived_attribs_node_state,
    [NODE_ATTR_jobs] = derived_attribs_node_jobs,
    [NODE_ATTR_drain_left] = derived_attribs_node_drain_left,
    [NODE_ATTR_drain_stays] = derived_attribs_node_drain_stays,
    [NODE_ATTR_resv] = derived_attribs_node_resv,
    [NODE_ATTR_resources_assigned] = derived_attribs_node_assigned,
    [NODE_ATTR_resources_held] = derived_attribs_node_held,
    [NODE_ATTR_jobs_held] = derived_attribs_node_jobs_held,
    [NODE_ATTR_held_alone] = derived_attribs_node_held_alone,
    [NODE_ATTR_license] = derived_attribs_node_license,
    [NODE_ATTR_last_state_change_time] = derived_attribs_node_state_time,
    [NODE_ATTR_last_used_time] = derived_attribs_node_used_time,
};

/* ---- schedulers -------------------------------------------------------------------------------------- */

static bool derived_attribs_sched_state(struct derived_attribs *c, const struct object *o, struct value *out)
{
    const struct sched_obj *s = (const struct sched_obj *)(const void *)o;

    switch (s->state) {
    case SCHED_IS_DOWN:
        return computed_text("down", out);
    case SCHED_IS_IDLE:
        return computed_text("idle", out);
    case SCHED_IS_SCHEDULING:
        return computed_text("scheduling", out);
    }
    return false;
}

static bool sched_place(struct derived_attribs *c, const struct object *o, int index, struct value *out)
{
    char place[PATH_MAX];

    if (!c->ctx->home)
        return false;
    sched_obj_preset(o, index, c->ctx->home, place);
    strbuf_reset(&c->text);
    strbuf_add(&c->text, place);
    return text_made(c, out);
}

static bool derived_attribs_sched_priv_preset(struct derived_attribs *c, const struct object *o,
                                              struct value *out)
{
    return sched_place(c, o, SCHED_ATTR_sched_priv, out);
}

static bool derived_attribs_sched_log_preset(struct derived_attribs *c, const struct object *o,
                                             struct value *out)
{
    return sched_place(c, o, SCHED_ATTR_sched_log, out);
}

static bool derived_attribs_sched_partition_preset(struct derived_attribs *c, const struct object *o,
                                                   struct value *out)
{
    return strcmp(o->name, "default") == 0 && computed_text("pbs-default", out);
}

static computed_fn *const sched_presets[SCHED_ATTR_COUNT] = {
    [SCHED_ATTR_sched_host] = derived_attribs_server_host,
    [SCHED_ATTR_partition] = derived_attribs_sched_partition_preset,
    [SCHED_ATTR_sched_priv] = derived_attribs_sched_priv_preset,
    [SCHED_ATTR_sched_log] = derived_attribs_sched_log_preset,
};

static computed_fn *const sched_rows[SCHED_ATTR_COUNT] = {[SCHED_ATTR_state] = derived_attribs_sched_state};

/* ---- holds ------------------------------------------------------------------------------------------- */

static bool derived_attribs_hold_left(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return computed_number((int64_t)((const struct earmark_obj *)(const void *)o)->n_victims, out);
}

static computed_fn *const hold_rows[HOLD_ATTR_COUNT] = {[HOLD_ATTR_victims_left] = derived_attribs_hold_left};

/* ---- the way in -------------------------------------------------------------------------------------- */

static computed_fn *row_of(enum attr_of of, int index)
{
    switch (of) {
    case OF_SERVER:
        return server_rows[index];
    case OF_QUEUE:
        return queue_rows[index];
    case OF_JOB:
        return computed_job_rows[index];
    case OF_NODE:
        return node_rows[index];
    case OF_SCHED:
        return sched_rows[index];
    case OF_HOLD:
        return hold_rows[index];
    case OF_RESV:
    case OF_HOOK:
    case OF_RESOURCE:
    case OF_COUNT:
        break;
    }
    return NULL;
}

bool derived_attribs_preset(struct derived_attribs *c, const struct object *o, int index, struct value *out)
{
    computed_fn *fn = o->kind->attrs == OF_SCHED ? sched_presets[index] : NULL;

    return fn && fn(c, o, out);
}

struct derived_attribs *derived_attribs_create(const struct server_ctx *s)
{
    struct derived_attribs *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->ctx = s;
    strbuf_init(&c->text, TEXT_MAX);
    if (gethostname(c->host, sizeof c->host - 1) < 0)
        c->host[0] = '\0';
    return c;
}

void derived_attribs_destroy(struct derived_attribs *c)
{
    if (!c)
        return;
    strbuf_fini(&c->text);
    resc_free(c->amounts);
    free(c);
}

/* Has this attribute a row here? */
static bool derived_attribs_has(enum attr_of of, int index)
{
    return row_of(of, index) != NULL || (of == OF_JOB && computed_job_has_field(index));
}

/* The attribute's value now; `out` borrows from the object or from `c` until the next call. false: not set. */
static bool derived_attribs_value(struct derived_attribs *c, const struct object *o, int index,
                                  struct value *out)
{
    computed_fn *fn = row_of(o->kind->attrs, index);

    if (!fn && o->kind->attrs == OF_JOB)
        return computed_job_field(o, index, out);
    return fn && fn(c, o, out);
}

const struct value *derived_attribs_get(struct derived_attribs *c, const struct object *o, int index,
                                        struct value *room)
{
    if (derived_attribs_has(o->kind->attrs, index))
        return derived_attribs_value(c, o, index, room) ? room : NULL;
    return attr_list_find(&o->attrs, index);
}
