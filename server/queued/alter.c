/* Altering a job. See alter.h.
 *
 * First all changes are checked one by one, so that the one at fault can be named. Then they are written
 * into the job, completed and checked as a whole; if that fails, the copy made before goes back. Only
 * after that the fields follow which mirror attributes (holds, times, counts), since they post events and
 * cannot be taken back.
 *
 * The handler has looked up the user and the history of dependencies before it calls, so all of this is one turn. An attribute that has a
 * field in struct job too wants a branch in alter_follow(); one that must not be altered in some state, a check of its own. */
#include "alter.h"

#include <string.h>

#include "admit.h"
#include "arrays.h"
#include "defaults.h"
#include "depend.h"
#include "eligible_time.h"
#include "hold_types.h"
#include "hold_comment.h"
#include "intern.h"
#include "job_fsm.h"
#include "log.h"
#include "output_paths.h"
#include "pbs_error.h"
#include "queued_limits.h"
#include "server_ctx.h"
#include "server_events.h"
#include "start_time.h"
#include "limit_counts.h"
#include "preempt_targets.h"
#include "type_words.h"

static int alter_check_state(const struct job *j, struct err *e)
{
    switch (j->state) {
    case JOB_FINISHED:
    case JOB_GONE:
        return err_set(e, PBSE_HISTJOBID, "Job has finished");
    case JOB_EXITING:
    case JOB_ARRIVING:
        return err_set(e, PBSE_BADSTATE, "job %s is %s", j->obj.name, job_state_name(j->state));
    case JOB_QUEUED:
    case JOB_HELD:
    case JOB_WAITING:
    case JOB_STARTING:
    case JOB_RUNNING:
    case JOB_SUSPENDED:
    case JOB_STATE_COUNT:
        break;
    }
    return 0;
}

static bool alter_is_named(const struct attr_edit_change *c, const char *name)
{
    return strcasecmp(c->name, name) == 0;
}

/* A running job's limits: named resources only, and a user may only lower them. */
static int check_running(struct server_ctx *s, const struct job *j, const struct attr_edit_change *c,
                         enum level level, struct err *e)
{
    const struct resource *r;
    const struct value *old;
    struct value v;
    bool more;

    if (!job_is_placed(j) || !alter_is_named(c, "Resource_List") || !c->resource)
        return 0;
    r = resource_find(s->resources, c->resource);
    if (!r || !(r->flags & RESC_ALTER_RUN))
        return r ? err_set(e, PBSE_MODATRRUN, "Cannot modify attribute while job running  Resource_List.%s",
                           c->resource)
                 : err_set(e, PBSE_UNKRESC, "Unknown resource: %s", c->resource);
    old = attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, r->id);
    if (level >= LEVEL_OPERATOR || !old || r->type->parse(r->type, c->value, &v, e) < 0)
        return 0;
    more = r->type->compare && r->type->compare(r->type, &v, old) > 0;
    r->type->free(&v);
    return more ? err_set(
                      e, PBSE_PERM,
                      "Unauthorized Request : only an operator may raise Resource_List.%s of a running job",
                      c->resource)
                : 0;
}

static int check_holds(const struct attr_edit_change *c, const struct job *j, enum level level, struct err *e)
{
    int64_t bits = 0;

    if (!alter_is_named(c, "Hold_Types"))
        return 0;
    if (*c->value && words_hold_parse(c->value, &bits, e) < 0)
        return -1;
    return hold_types_may((unsigned)bits ^ j->hold, level, e);
}

static int check_run_count(const struct attr_edit_change *c, const struct job *j, const struct alter_ask *ask,
                           struct err *e)
{
    if (!alter_is_named(c, "run_count") || ask->level >= LEVEL_OPERATOR ||
        strtol(c->value, NULL, 10) >= (long)j->run_count)
        return 0;
    log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name,
              "regular user %s cannot decrease 'run_count' attribute value from %u to %s", ask->who,
              j->run_count, c->value);
    return err_set(e, PBSE_PERM, "Unauthorized Request : run_count");
}

static bool touches_resources(const struct alter_ask *ask)
{
    for (size_t i = 0; i < ask->n; i++)
        if (alter_is_named(&ask->changes[i], "Resource_List"))
            return true;
    return false;
}

static bool sets_select(const struct alter_ask *ask)
{
    for (size_t i = 0; i < ask->n; i++) {
        const struct attr_edit_change *c = &ask->changes[i];

        if (alter_is_named(c, "Resource_List") && c->resource && !strcasecmp(c->resource, "select") &&
            c->op != UNSET && *c->value)
            return true;
    }
    return false;
}

static bool touches_output(const struct alter_ask *ask)
{
    for (size_t i = 0; i < ask->n; i++)
        if (alter_is_named(&ask->changes[i], "Output_Path") || alter_is_named(&ask->changes[i], "Error_Path"))
            return true;
    return false;
}

/* A job that is not a top job any more keeps its estimate, unless the site wants it gone. */
static void follow_topjob(const struct alter_parts *p, struct job *j)
{
    if (!attr_list_bool(&j->obj.attrs, JOB_ATTR_topjob, false) &&
        attr_list_bool(&p->ctx->server->obj.attrs, SERVER_ATTR_clear_topjob_estimates_enable, false))
        attr_list_unset(&j->obj.attrs, JOB_ATTR_estimated);
}

static void follow_holds(const struct alter_parts *p, struct job *j, const char *who)
{
    unsigned now = (unsigned)attr_list_number(&j->obj.attrs, JOB_ATTR_Hold_Types, 0), was = j->hold;

    hold_types_change(p->ctx, p->fsm, j, now, ~now & ~(unsigned)HOLD_DEPEND);
    if (now & ~was || !now)
        hold_comment(p->ctx, j, who, now != 0);
}

/* Attributes that are fields of the job, too. */
static void alter_follow(const struct alter_parts *p, struct job *j, const struct alter_ask *ask,
                         const char *old_depend)
{
    for (size_t i = 0; i < ask->n; i++) {
        const struct attr_edit_change *c = &ask->changes[i];

        if (alter_is_named(c, "Hold_Types")) {
            follow_holds(p, j, ask->who);
        } else if (alter_is_named(c, "Execution_Time")) {
            start_time_note(p->start_time, j);
            job_fsm_post(p->fsm, j, EV_REVIEW);
        } else if (alter_is_named(c, "run_count")) {
            j->run_count = (unsigned)attr_list_number(&j->obj.attrs, JOB_ATTR_run_count, 0);
        } else if (alter_is_named(c, "accrue_type")) {
            eligible_time_set(p->eligible_time, j,
                              (int)attr_list_number(&j->obj.attrs, JOB_ATTR_accrue_type, 2));
            attr_list_unset(&j->obj.attrs, JOB_ATTR_accrue_type); /* it lives in the job's fields */
        } else if (alter_is_named(c, "eligible_time")) {
            eligible_time_give(p->eligible_time, j,
                               attr_list_number(&j->obj.attrs, JOB_ATTR_eligible_time, 0));
            attr_list_unset(&j->obj.attrs, JOB_ATTR_eligible_time);
        } else if (alter_is_named(c, "topjob")) {
            follow_topjob(p, j);
        } else if (alter_is_named(c, "max_run_subjobs")) {
            arrays_tell_limit(j);
        } else if (alter_is_named(c, "depend")) {
            depends_altered(p->depends, j, old_depend, ask->past, ask->n_past);
        }
    }
}

const char *alter_depend(const struct alter_ask *ask)
{
    for (size_t i = 0; i < ask->n; i++)
        if (alter_is_named(&ask->changes[i], "depend") && ask->changes[i].op == SET && *ask->changes[i].value)
            return ask->changes[i].value;
    return NULL;
}

static int check_depend(const struct alter_parts *p, const struct job *j, const struct alter_ask *ask,
                        const struct attr_edit_change *c, struct err *e)
{
    if (!alter_is_named(c, "depend") || alter_depend(ask) != c->value)
        return 0;
    return depends_check(p->depends, j, c->value, ask->past, ask->n_past, e);
}

static bool is_eligible_time(const struct attr_edit_change *c)
{
    return alter_is_named(c, "accrue_type") || alter_is_named(c, "eligible_time");
}

static int check_all(const struct alter_parts *p, struct job *j, const struct alter_ask *ask, size_t *at,
                     struct err *e)
{
    for (*at = 0; *at < ask->n; ++*at) {
        const struct attr_edit_change *c = &ask->changes[*at];

        if (alter_is_named(c, "max_run_subjobs") && !j->array)
            return err_set(e, PBSE_NOTARRAY_ATTR, "Attribute has to be set on an array job");
        if (check_running(p->ctx, j, c, ask->level, e) < 0 || check_holds(c, j, ask->level, e) < 0 ||
            check_run_count(c, j, ask, e) < 0 || check_depend(p, j, ask, c, e) < 0)
            return -1;
    }
    return 0;
}

const char *alter_user(const struct job *j, const struct alter_ask *ask, char buf[JOB_IDENTITY_NAME_MAX])
{
    const char *name = NULL;

    for (size_t i = 0; i < ask->n; i++) {
        const struct attr_edit_change *c = &ask->changes[i];

        if (alter_is_named(c, "User_List"))
            return job_identity_name(c->op == UNSET ? NULL : c->value, j->user, buf);
        if (alter_is_named(c, "group_list"))
            name = j->euser;
    }
    return name;
}

/* Does the change give the job to another user, group or project? Then it is counted there. */
static bool changes_entity(const struct alter_ask *ask)
{
    for (size_t i = 0; i < ask->n; i++)
        if (alter_is_named(&ask->changes[i], "User_List") || alter_is_named(&ask->changes[i], "group_list") ||
            alter_is_named(&ask->changes[i], "project"))
            return true;
    return false;
}

/* Does a change touch the part that is stored separately, since it hardly ever changes? Then it has to be written as
 * well. */
static bool touches_fixed(const struct alter_ask *ask)
{
    for (size_t i = 0; i < ask->n; i++) {
        int index = attr_def_find(OF_JOB, ask->changes[i].name);

        if (index >= 0 && attr_def_get(OF_JOB, index)->flags & AF_FIXED)
            return true;
    }
    return false;
}

/* What follows from other resources: defaults, sums, and the bounds of the queue unless a manager asks. */
static int complete_resources(const struct alter_parts *p, struct job *j, const struct alter_ask *ask,
                              struct err *e)
{
    if (!touches_resources(ask))
        return 0;
    if (preempt_targets_check(p->ctx, &j->obj.attrs, e) < 0)
        return -1;
    if (job_is_placed(j))
        return 0;
    if (defaults_complete(p->ctx, &j->obj.attrs, j->queue, e) < 0)
        return -1;
    return ask->level < LEVEL_MANAGER ? admit_check_bounds(p->ctx, j->queue, j, e) : 0;
}

/* What follows from another user, group or project. */
static int complete_entity(const struct alter_parts *p, struct job *j, const struct alter_ask *ask,
                           struct err *e)
{
    char buf[JOB_IDENTITY_NAME_MAX];

    if (alter_user(j, ask, buf) && job_identity_set(p->ctx, j, ask->client, ask->user, e) < 0)
        return -1;
    if (changes_entity(ask) && job_set_text(&j->project, attr_list_text(&j->obj.attrs, JOB_ATTR_project)) < 0)
        return err_set(e, PBSE_SYSTEM, "no memory for the project of %s", j->obj.name);
    return 0;
}

/* Apply the effects of the new attributes. */
static int complete(const struct alter_parts *p, struct job *j, const struct alter_ask *ask, struct err *e)
{
    for (size_t i = 0; i < ask->n; i++)
        if (is_eligible_time(&ask->changes[i]) && eligible_time_check(p->ctx, e) < 0)
            return -1;
    if ((touches_output(ask) || !attr_list_is_set(&j->obj.attrs, JOB_ATTR_Job_Name)) &&
        output_paths_complete(j, e) < 0)
        return -1;
    return complete_resources(p, j, ask, e) < 0 ? -1 : complete_entity(p, j, ask, e);
}

/* Is it within the limits of queued jobs of its present user, group and project? A manager may exceed that. */
static int alter_check_limits(const struct alter_parts *p, const struct job *j, const struct alter_ask *ask,
                              const struct attr_list *before, const struct queued_was *was, struct err *e)
{
    struct queued_was asked = *was;

    if (ask->level >= LEVEL_MANAGER || job_is_placed(j) || (!touches_resources(ask) && !changes_entity(ask)))
        return 0;
    asked.asked = attr_list_amounts(before, JOB_ATTR_Resource_List);
    return queued_limits_check_altered(p->ctx, j, &asked, e);
}

static struct queued_was whose_it_is(const struct job *j)
{
    return (struct queued_was){.euser = intern_again(j->euser),
                               .egroup = intern_again(j->egroup),
                               .project = intern_again(j->project)};
}

static void forget_whose(const struct queued_was *was)
{
    intern_unref(was->euser);
    intern_unref(was->egroup);
    intern_unref(was->project);
}

/* The job as it was. */
static void take_back(struct job *j, struct attr_list *before, const struct queued_was *was)
{
    attr_list_fini(&j->obj.attrs);
    j->obj.attrs = *before;
    job_set_text(&j->euser, was->euser); /* interned already: cannot fail */
    job_set_text(&j->egroup, was->egroup);
    job_set_text(&j->project, was->project);
}

/* A job that is bound to the hosts of its images stays so while it asks for the same chunks. Another select is
 * bound to nothing: elsewhere the job starts again from its beginning, which is refused for a job that may not
 * be rerun. The last step, as take_back knows nothing of it. */
static int keep_bound(struct job *j, const struct attr_list *before, struct err *e)
{
    const char *now = attr_list_text(&j->obj.attrs, JOB_ATTR_schedselect);
    const char *bound = attr_list_text(before, JOB_ATTR_schedselect);

    if (!j->unbound || !now || !bound || strcmp(now, bound) == 0)
        return 0;
    if (strcmp(now, j->unbound) == 0)
        return attr_list_set_text(&j->obj.attrs, JOB_ATTR_schedselect, bound, e);
    if (!attr_list_bool(&j->obj.attrs, JOB_ATTR_Rerunable, true))
        return err_set(
            e, PBSE_BADSTATE,
            "the select of %s cannot be altered: its checkpoint is for the old one, and the job may not be started again",
            j->obj.name);
    job_set_text(&j->unbound, NULL);
    return 0;
}

/* Set the attributes and see whether the job may be so. -1: some of it may have been done, take_back undoes that. */
static int try_changes(const struct alter_parts *p, struct job *j, const struct alter_ask *ask,
                       const struct attr_list *before, const struct queued_was *was, size_t *at,
                       struct err *e)
{
    struct attr_edit_ask edit = {
        .changes = ask->changes, .n = ask->n, .writer = {.level = ask->level, .running = job_is_placed(j)}};

    if (sets_select(ask) && !job_is_placed(j))
        defaults_make_way(p->ctx, &j->obj.attrs);
    if (attr_edit_apply(p->ctx, &j->obj, &edit, at, e) < 0)
        return -1;
    *at = ask->n;
    if (complete(p, j, ask, e) < 0 || alter_check_limits(p, j, ask, before, was, e) < 0)
        return -1;
    return keep_bound(j, before, e);
}

/* All who depend on what the job asks for are told. */
static void announce(const struct alter_parts *p, struct job *j, const struct alter_ask *ask,
                     const struct attr_list *before)
{
    alter_follow(p, j, ask, attr_list_text(before, JOB_ATTR_depend));
    j->preempt_failed_s = 0; /* what prevented its preemption may be gone */
    jobs_touch(p->ctx->jobs, j, ask->user || touches_fixed(ask) ? PART_ALL : PART_HOT | PART_ATTRS);
    if ((touches_resources(ask) || touches_output(ask)) && job_is_placed(j))
        server_events_tell(p->ctx->events, &(struct server_event){.kind = EVENT_RUN_LIMITS, .job = j});
    if (j->array)
        arrays_follow(p->arrays, j);
}

static int alter(const struct alter_parts *p, struct job *j, const struct alter_ask *ask, size_t *at,
                 struct err *e)
{
    struct attr_list before;
    struct queued_was was;
    int rc;

    *at = ask->n;
    if (alter_check_state(j, e) < 0 || check_all(p, j, ask, at, e) < 0)
        return -1;
    if (attr_list_dup(&j->obj.attrs, &before) < 0)
        return err_set(e, PBSE_SYSTEM, "no memory to alter %s", j->obj.name);
    was = whose_it_is(j);
    rc = try_changes(p, j, ask, &before, &was, at, e);
    if (rc < 0) {
        take_back(j, &before, &was);
    } else {
        announce(p, j, ask, &before);
        attr_list_fini(&before);
    }
    forget_whose(&was);
    return rc;
}

int alter_job(const struct alter_parts *p, struct job *j, const struct alter_ask *ask, size_t *at,
              struct err *e)
{
    bool moves = changes_entity(ask);
    int rc;

    if (moves)
        limit_counts_forget(p->ctx->limit_counts, j);
    rc = alter(p, j, ask, at, e);
    if (moves)
        limit_counts_review(p->ctx->limit_counts, j);
    return rc;
}
