/* The conversation: CHECKPOINT goes to the job's host; "checkpointed" stores where the image is and makes the wish to
 * leave durable; then come finish (-12) and release, as from any end, and the verdict sends the job back. A host that
 * checkpoints of its own accord (-c c=MINUTES) tells the same event with attempt 0: the image is noted, nothing else.
 *
 * j->restart_from is "SERVICE IMAGE" of the last good image. It outlives runs that were ended from outside, and is given
 * up when the host that has it is lost, when a restart from it fails (-7), or when the job is over. A job that may not
 * be rerun from its beginning is then held. */
#include "checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "exec_send.h"
#include "intern.h"
#include "job_run.h"
#include "log.h"
#include "type_words.h"
#include "pbs_error.h"
#include "select.h"
#include "services.h"
#include "site.h"
#include "strbuf.h"

enum { LIMIT_S = 1800, TEXT_MAX = 1 << 20, STATUS_BAD_RESTART = -7 };

struct checkpoint {
    struct site *site;
    struct job_fsm *fsm;
    struct exec_send *send;
    struct services *services;
    struct methods *methods;
    struct checkpoint_hooks hooks;
};

static bool wants_none(const struct job *j)
{
    const char *when = attr_list_text(&j->obj.attrs, JOB_ATTR_Checkpoint);

    return when && strcmp(when, "n") == 0;
}

int checkpoint_may(struct checkpoint *c, const struct job *j, struct err *e)
{
    const struct service *s;

    if ((j->state != JOB_RUNNING && j->state != JOB_SUSPENDED) || j->intent != INTENT_NONE)
        return err_set(e, PBSE_BADSTATE, "job %s is %s", j->obj.name,
                       j->intent ? "about to end" : job_state_name(j->state));
    if (j->run->checkpointing || j->run->suspending || j->run->resuming)
        return err_set(e, PBSE_CKPBSY, "job %s is being checkpointed, suspended or resumed", j->obj.name);
    if (wants_none(j))
        return err_set(e, PBSE_NOSUP, "job %s wants no checkpoint (-c n)", j->obj.name);
    if (j->run->n_hosts != 1)
        return err_set(e, PBSE_NOSUP, "job %s runs on several hosts, whose images would not fit together",
                       j->obj.name);
    s = services_find(c->services, j->run->hosts[0].service);
    if (!s || !(s->capabilities & EXEC_CAN_CHECKPOINT))
        return err_set(e, PBSE_NOSUP, "the host of job %s has no $action checkpoint", j->obj.name);
    return 0;
}

int checkpoint_begin(struct checkpoint *c, struct job *j, struct err *e)
{
    if (checkpoint_may(c, j, e) < 0)
        return -1;
    j->run->attempt++;
    j->run->checkpointing = true;
    jobs_touch(c->site->jobs, j, PART_HOT);
    exec_send_checkpoint(c->send, j);
    return 0;
}

/* --- what the host says ----------------------------------------------------------------------------- */

static void note_image(struct checkpoint *c, struct job *j, const char *service, const char *id)
{
    struct strbuf b;

    strbuf_init(&b, TEXT_MAX);
    strbuf_addf(&b, "%s %s", service, id);
    job_set_text(&j->restart_from, strbuf_str(&b));
    strbuf_fini(&b);
    jobs_touch(c->site->jobs, j, PART_HOT);
}

void checkpoint_taken(struct checkpoint *c, struct job *j, const char *service,
                      const exec_checkpointed_data *d)
{
    note_image(c, j, service, d->id);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "checkpointed on %s: %s, %llu bytes in %u ms", service, d->id,
              (unsigned long long)d->bytes, d->frozen_ms);
    if (!j->run->checkpointing || d->attempt != j->run->attempt)
        return;
    j->run->checkpointing = false;
    if (j->intent == INTENT_NONE || j->intent == INTENT_REQUEUE)
        j->intent = INTENT_CHECKPOINT;
    c->hooks.taken(c->hooks.arg, j);
}

void checkpoint_failed(struct checkpoint *c, struct job *j, int code, const char *text)
{
    struct err why;

    if (!j->run->checkpointing)
        return;
    j->run->checkpointing = false;
    jobs_touch(c->site->jobs, j, PART_HOT);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "checkpoint failed: %s (%d)", text, code);
    err_set(&why, code, "checkpoint of job %s failed, it runs on: %s", j->obj.name, text);
    c->hooks.failed(c->hooks.arg, j, &why);
    method_failed(c->methods, j, 'C', code, text);
}

/* --- bound to the image ------------------------------------------------------------------------------ */

static bool is_shared(const struct job *j)
{
    const char *id = strchr(j->restart_from, ' ');

    return id && strncmp(id + 1, "shared:", 7) == 0;
}

static void set_schedselect(struct checkpoint *c, struct job *j, const char *text)
{
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_schedselect, text, NULL);
    jobs_touch(c->site->jobs, j, PART_HOT | PART_ATTRS);
}

static const char *host_of(const struct checkpoint *c, const struct job *j)
{
    size_t n = strcspn(j->restart_from, " ");

    for (struct node *v = nodes_first(c->site->nodes); v; v = nodes_next(v))
        if (v->service_name && strlen(v->service_name) == n &&
            strncmp(v->service_name, j->restart_from, n) == 0)
            return v->host;
    return NULL;
}

/* Every chunk asks for the host: the scheduler needs to know nothing of images, and qstat -f shows why it waits. */
static void bind_to_host(struct checkpoint *c, struct job *j)
{
    const char *old = attr_list_text(&j->obj.attrs, JOB_ATTR_schedselect), *host = host_of(c, j);
    struct select *sel = old && host ? select_parse(old, NULL, NULL, NULL) : NULL;
    struct strbuf b;

    if (!sel || j->unbound || is_shared(j)) {
        select_destroy(sel);
        return;
    }
    strbuf_init(&b, TEXT_MAX);
    if (select_complete(sel, "host", host, NULL) == 0 && select_format(sel, &b) == 0) {
        job_set_text(&j->unbound, old);
        set_schedselect(c, j, strbuf_str(&b));
    }
    strbuf_fini(&b);
    select_destroy(sel);
}

static void unbind(struct checkpoint *c, struct job *j)
{
    job_set_text(&j->restart_from, NULL);
    if (!j->unbound)
        return;
    set_schedselect(c, j, j->unbound);
    job_set_text(&j->unbound, NULL);
}

/* Nothing is left of what it had done. One that may not be run twice waits for a person. */
static void give_up_image(struct checkpoint *c, struct job *j, const char *why)
{
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "its image %s is given up: %s", j->restart_from, why);
    unbind(c, j);
    if (attr_list_bool(&j->obj.attrs, JOB_ATTR_Rerunable, true))
        return;
    j->hold |= HOLD_SYSTEM;
    attr_list_set_number(&j->obj.attrs, JOB_ATTR_Hold_Types, j->hold & ~(unsigned)HOLD_DEPEND, NULL);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment,
                       "Job held, its checkpoint is lost and it is not rerunnable: release it to begin anew",
                       NULL);
    job_fsm_post(c->fsm, j, EV_REVIEW);
}

static void came_back(struct checkpoint *c, struct job *j)
{
    bool lost = j->run->hosts[0].state == RUN_HOST_LOST && j->run->started;

    if (j->run->finished && j->run->status == STATUS_BAD_RESTART)
        give_up_image(c, j, "the restart has failed");
    else if (lost && !is_shared(j))
        give_up_image(c, j, "its host is lost");
    else
        bind_to_host(c, j);
}

static void drop_image(struct checkpoint *c, struct job *j)
{
    exec_send_purge_images(c->send, j, j->restart_from);
    unbind(c, j);
}

/* Put on another host by hand, it began anew. */
static void has_started(struct checkpoint *c, struct job *j)
{
    if (job_run_image(j))
        c->hooks.restarted(c->hooks.arg, j);
    else
        drop_image(c, j);
}

void checkpoint_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct checkpoint *c = arg;

    if (!j->restart_from)
        return;
    if (ev == EV_STARTED && from == JOB_STARTING)
        has_started(c, j);
    else if (job_is_waiting(j) && j->run)
        came_back(c, j);
    else if (j->state == JOB_FINISHED)
        drop_image(c, j);
}

/* --- the row of preemption ---------------------------------------------------------------------------- */

static int method_may(void *arg, const struct job *j, struct err *e)
{
    return checkpoint_may(arg, j, e);
}

static int method_start(void *arg, struct job *j, struct err *e)
{
    return checkpoint_begin(arg, j, e);
}

static bool is_settled(void *arg, const struct job *j)
{
    (void)arg;
    return job_is_waiting(j);
}

static int64_t limit_s(void *arg, const struct job *j)
{
    (void)arg;
    (void)j;
    return LIMIT_S;
}

struct checkpoint *checkpoint_create(struct site *s, struct job_fsm *f, struct exec_send *x,
                                     struct services *sv, struct methods *m,
                                     const struct checkpoint_hooks *hooks)
{
    struct checkpoint *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    *c = (struct checkpoint){s, f, x, sv, m, *hooks};
    methods_add(m,
                &(struct method){'C', "checkpoint", "C", method_may, method_start, is_settled, limit_s, c});
    return c;
}

void checkpoint_destroy(struct checkpoint *c)
{
    free(c);
}
