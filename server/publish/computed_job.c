/* Derived attributes of jobs: computed when they are asked for, never stored. See derived_attribs.h.
 *
 * Most are fields of struct job as they are: those are rows of offsets, with the kind of the field. The others are
 * functions: false, or no value, where the job does not have the attribute now. Texts that a function makes are in
 * c->text and live until the next call. */
#include <stddef.h>

#include "attr_list.h"
#include "computed_rows.h"
#include "job.h"
#include "clock.h"
#include "job_run.h"
#include "job_saves.h"
#include "job_view.h"
#include "server_obj.h"
#include "strbuf.h"
#include "subjob.h"
#include "depend_fact.h"

enum computed_job_form { FORM_NONE, FORM_TEXT, FORM_INT, FORM_UINT, FORM_INT64 };

struct computed_job_field {
    enum computed_job_form form;
    bool zero_is_unset;
    size_t offset;
};

#define TEXT(field)                                                                                          \
    {                                                                                                        \
        FORM_TEXT, true, offsetof(struct job, field)                                                         \
    }
#define TIME(field)                                                                                          \
    {                                                                                                        \
        FORM_INT64, true, offsetof(struct job, field)                                                        \
    }

static const struct computed_job_field fields[JOB_ATTR_COUNT] = {
    [JOB_ATTR_Job_Owner] = TEXT(owner),
    [JOB_ATTR_euser] = TEXT(euser),
    [JOB_ATTR_egroup] = TEXT(egroup),
    [JOB_ATTR_hashname] = TEXT(obj.name),
    [JOB_ATTR_Submit_Host] = TEXT(host),
    [JOB_ATTR_ctime] = TIME(ctime_s),
    [JOB_ATTR_mtime] = TIME(mtime_s),
    [JOB_ATTR_qtime] = TIME(qtime_s),
    [JOB_ATTR_etime] = TIME(etime_s),
    [JOB_ATTR_stime] = TIME(stime_s),
    [JOB_ATTR_obittime] = TIME(obittime_s),
    [JOB_ATTR_history_timestamp] = TIME(history_s),
    [JOB_ATTR_ptime] = TIME(ptime_s),
    [JOB_ATTR_preempted_by] = TEXT(preempted_by),
    [JOB_ATTR_preempt_time] = TIME(preempt_time_s),
    [JOB_ATTR_preempt_method] = {FORM_INT, true, offsetof(struct job, preempt_method)},
    [JOB_ATTR_preempt_failed] = TIME(preempt_failed_s),
    [JOB_ATTR_preempt_count] = {FORM_UINT, true, offsetof(struct job, preempt_count)},
    [JOB_ATTR_session_id] = {FORM_INT, true, offsetof(struct job, session)},
    [JOB_ATTR_run_count] = {FORM_UINT, false, offsetof(struct job, run_count)},
    [JOB_ATTR_run_version] = {FORM_UINT, true, offsetof(struct job, run_version)},
    [JOB_ATTR_queue_rank] = {FORM_INT64, false, offsetof(struct job, queue_rank)},
};

bool computed_job_has_field(int index)
{
    return fields[index].form != FORM_NONE;
}

bool computed_job_field(const struct object *o, int index, struct value *out)
{
    const struct computed_job_field *f = &fields[index];
    const void *at = (const char *)o + f->offset;
    int64_t n = 0;

    switch (f->form) {
    case FORM_NONE:
        return false;
    case FORM_TEXT:
        return computed_text(*(const char *const *)at, out);
    case FORM_INT:
        n = *(const int *)at;
        break;
    case FORM_UINT:
        n = *(const unsigned *)at;
        break;
    case FORM_INT64:
        n = *(const int64_t *)at;
        break;
    }
    return (n || !f->zero_is_unset) && computed_number(n, out);
}

/* ---- what is more than a field ----------------------------------------------------------------------- */

static const struct job *computed_job_of(const struct object *o)
{
    return (const struct job *)(const void *)o;
}

static bool computed_job_state(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return computed_number(job_view_letter(computed_job_of(o)), out);
}

static bool computed_job_substate(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return computed_number(job_view_substate(computed_job_of(o)), out);
}

static bool computed_job_queue(struct derived_attribs *c, const struct object *o, struct value *out)
{
    const struct job *j = computed_job_of(o);

    return computed_text(j->moved_to ? j->moved_to : j->queue_name, out);
}

static bool computed_job_resv(struct derived_attribs *c, const struct object *o, struct value *out)
{
    const struct job *j = (const struct job *)(const void *)o;
    const struct resv *r = j->queue ? j->queue->resv : NULL;

    return computed_text(r ? r->obj.name : j->resv_name, out);
}

/* Its dependencies on jobs of this server, and those that the server keeps from which it came. */
static bool computed_job_depend(struct derived_attribs *c, const struct object *o, struct value *out)
{
    const char *own = attr_list_text(&o->attrs, JOB_ATTR_depend);
    const char *home = attr_list_text(&o->attrs, JOB_ATTR_depend_home);

    if (!own || !home)
        return computed_text(own ? own : home, out);
    strbuf_reset(&c->text);
    return depend_fact_list_join(own, home, &c->text) == 0 && computed_text(strbuf_str(&c->text), out);
}

static bool computed_job_server(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return computed_text(c->ctx->name, out);
}

static bool computed_job_exit_status(struct derived_attribs *c, const struct object *o, struct value *out)
{
    const struct job *j = computed_job_of(o);

    if (j->exited)
        return computed_number(j->exit_status, out);
    return job_is_over(j) && !j->moved_to && computed_number(KILLED_STATUS, out);
}

static bool computed_job_holds(struct derived_attribs *c, const struct object *o, struct value *out)
{
    unsigned bits = computed_job_of(o)->hold;

    return computed_number(
        (bits & ~(unsigned)(HOLD_DEPEND | HOLD_ARRAY)) | (bits & HOLD_DEPEND ? HOLD_SYSTEM : 0), out);
}

static bool computed_job_room_held(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return computed_job_of(o)->room && computed_number(1, out);
}

static bool computed_job_paused(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return job_run_paused_s(computed_job_of(o)) > 0 &&
           computed_number(job_run_paused_s(computed_job_of(o)), out);
}

static bool computed_job_gives_way(struct derived_attribs *c, const struct object *o, struct value *out)
{
    const struct job *j = computed_job_of(o);

    return j->preempt && !job_run_is_withdrawing(j) && computed_number(1, out);
}

static bool computed_job_preempt_deadline(struct derived_attribs *c, const struct object *o,
                                          struct value *out)
{
    const struct preempt_record *m = computed_job_of(o)->preempt;

    return preempt_notice_is_given(m) && computed_number(m->notice.deadline_ms / 1000, out);
}

static bool computed_job_checkpoint_by(struct derived_attribs *c, const struct object *o, struct value *out)
{
    return computed_text(job_saves_by(computed_job_of(o)), out);
}

static bool computed_job_checkpoint_interval(struct derived_attribs *c, const struct object *o,
                                             struct value *out)
{
    const struct run *r = computed_job_of(o)->run;

    return r && r->interval_s && computed_number(r->interval_s, out);
}

static bool computed_job_queue_type(struct derived_attribs *c, const struct object *o, struct value *out)
{
    const struct queue *q = computed_job_of(o)->queue;

    return computed_number(q && queue_is_route(q) ? 'R' : 'E', out);
}

static bool computed_job_eligible(struct derived_attribs *c, const struct object *o, struct value *out)
{
    if (!attr_list_bool(&c->ctx->server->obj.attrs, SERVER_ATTR_eligible_time_enable, false))
        return false;
    return computed_number(job_eligible_s(computed_job_of(o), server_ctx_now_s(c->ctx)), out);
}

static bool computed_job_accrue(struct derived_attribs *c, const struct object *o, struct value *out)
{
    if (!attr_list_bool(&c->ctx->server->obj.attrs, SERVER_ATTR_eligible_time_enable, false))
        return false;
    return computed_number(computed_job_of(o)->accrue_type, out);
}

/* Of the present run; when that is over, what was noted with the attributes. */
static bool computed_job_exec_host(struct derived_attribs *c, const struct object *o, struct value *out)
{
    const struct run *r = computed_job_of(o)->run;

    return computed_text(r ? job_run_where(r) : attr_list_text(&o->attrs, JOB_ATTR_exec_host), out);
}

static bool computed_job_exec_vnode(struct derived_attribs *c, const struct object *o, struct value *out)
{
    const struct run *r = computed_job_of(o)->run;

    return computed_text(r ? job_run_vnodes(r) : attr_list_text(&o->attrs, JOB_ATTR_exec_vnode), out);
}

/* What a hook of a host has measured itself counts in place of what the host says. */
static int put_used_one(struct derived_attribs *c, const struct resc_list *stored, int id, struct value v)
{
    return stored && resc_find(stored, id) ? 0 : resc_put(&c->amounts, id, v, NULL);
}

static bool put_used(struct derived_attribs *c, const struct job *j, const struct resc_list *stored)
{
    const struct job_usage *u = &j->usage;
    int64_t walltime_ms = job_run_walltime_ms(j, server_ctx_now_s(c->ctx), clock_mono_ms(c->ctx->clock));

    return put_used_one(c, stored, RESC_cpupercent, value_of_number(u->cpupercent)) == 0 &&
           put_used_one(c, stored, RESC_cput, value_of_number(u->cput_ms / 1000)) == 0 &&
           put_used_one(c, stored, RESC_mem, value_of_kb((uint64_t)u->mem_kb)) == 0 &&
           put_used_one(c, stored, RESC_ncpus, value_of_number(u->ncpus)) == 0 &&
           put_used_one(c, stored, RESC_vmem, value_of_kb((uint64_t)u->vmem_kb)) == 0 &&
           resc_put(&c->amounts, RESC_walltime, value_of_number(walltime_ms / 1000), NULL) == 0;
}

/* What hooks have set lies with the attributes. */
static bool computed_job_used(struct derived_attribs *c, const struct object *o, struct value *out)
{
    const struct job *j = computed_job_of(o);
    const struct resc_list *stored = attr_list_amounts(&o->attrs, JOB_ATTR_resources_used);

    if (j->array || (!j->stime_s && !j->exited && !stored))
        return false;
    computed_begin_amounts(c);
    if (stored && resc_dup(stored, &c->amounts) < 0)
        return false;
    return put_used(c, j, stored) && computed_amounts(c->amounts, out);
}

enum { REMAINING_MAX = (1 << 20) - 1, RAGGED_MAX = 128 << 20 };

/* ---- arrays ------------------------------------------------------------------------------------------ */

static bool computed_job_array_states(struct derived_attribs *c, const struct object *o, struct value *out)
{
    struct subjob_counts n;

    if (!computed_job_of(o)->array)
        return false;
    subjob_count(c->ctx->jobs, computed_job_of(o), &n);
    strbuf_reset(&c->text);
    strbuf_addf(&c->text, "Queued:%zu Running:%zu Exiting:%zu Expired:%zu ", n.queued, n.running, n.exiting,
                n.expired);
    return computed_text(strbuf_str(&c->text), out);
}

/* A set so ragged that it is not a value any more is shown as far as it goes: its lowest indices are what a scheduler
 * needs. */
static bool computed_job_array_remaining(struct derived_attribs *c, const struct object *o, struct value *out)
{
    struct strbuf all;
    size_t n = REMAINING_MAX;

    if (!computed_job_of(o)->array)
        return false;
    strbuf_init(&all, RAGGED_MAX);
    strbuf_reset(&c->text);
    if (subjob_format_queued(c->ctx->jobs, computed_job_of(o), &all) == 0) {
        while (all.len > REMAINING_MAX && all.s[n] != ',')
            n--;
        strbuf_cut(&all, n);
        strbuf_add(&c->text, strbuf_str(&all));
    }
    strbuf_fini(&all);
    return computed_text(strbuf_str(&c->text), out);
}

computed_fn *const computed_job_rows[JOB_ATTR_COUNT] = {
    [JOB_ATTR_resources_used] = computed_job_used,
    [JOB_ATTR_job_state] = computed_job_state,
    [JOB_ATTR_queue] = computed_job_queue,
    [JOB_ATTR_reserve_ID] = computed_job_resv,
    [JOB_ATTR_depend] = computed_job_depend,
    [JOB_ATTR_server] = computed_job_server,
    [JOB_ATTR_exec_host] = computed_job_exec_host,
    [JOB_ATTR_exec_vnode] = computed_job_exec_vnode,
    [JOB_ATTR_Hold_Types] = computed_job_holds,
    [JOB_ATTR_substate] = computed_job_substate,
    [JOB_ATTR_queue_type] = computed_job_queue_type,
    [JOB_ATTR_eligible_time] = computed_job_eligible,
    [JOB_ATTR_accrue_type] = computed_job_accrue,
    [JOB_ATTR_Exit_status] = computed_job_exit_status,
    [JOB_ATTR_array_state_count] = computed_job_array_states,
    [JOB_ATTR_array_indices_remaining] = computed_job_array_remaining,
    [JOB_ATTR_room_held] = computed_job_room_held,
    [JOB_ATTR_paused_time] = computed_job_paused,
    [JOB_ATTR_checkpoint_interval] = computed_job_checkpoint_interval,
    [JOB_ATTR_checkpoint_by] = computed_job_checkpoint_by,
    [JOB_ATTR_gives_way] = computed_job_gives_way,
    [JOB_ATTR_preempt_deadline] = computed_job_preempt_deadline,
};
