/* The conversation: CHECKPOINT goes to each of the job's hosts; "checkpointed" says that its image is whole and where.
 *
 * One host ends the job itself then: what is stored is the image and the wish to leave. On several, each stops it
 * with its image until all have one; then the images and the wish are stored and TERMINATE goes to all, which now may
 * kill. Where one host fails, the others drop what they have written and go on. A restarted server has forgotten who
 * has answered: it asks all of them again, and who has the image says so at once.
 *
 * After that come finish (-12) and release, as from any end, and the verdict sends the job back. A host that checkpoints
 * of its own accord (-c c=MINUTES) tells the same event with attempt 0: the image is noted, nothing else. For a job on
 * several hosts it is the server that sees that it is time (run_checkpoint_on_used), and no host ends it.
 *
 * What programs on several hosts have saved in their notice before the job was requeued is told by each host at its end, with attempt 0
 * too, and is stored host by host (run_host.kept): it is an image when all have told it.
 *
 * An image that moves (job_image.h) binds its job to no host: the host of the next run fetches it, and tells the same event
 * with attempt 0 before "start", or that it could not be had (run_checkpoint_on_no_image); then it goes from where it was.
 *
 * j->restart_from (job_image.h) outlives runs that were ended from outside, and is given up when a host that has a part
 * of it is lost, when a restart from it fails (-7), or when the job is over. A job that may not be rerun from its
 * beginning is then held, and so is one whose restarts fail, twice without one that has succeeded: it would lose what it does
 * each time. */
#include "run_checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt_interval.h"
#include "exec_send.h"
#include "exit_status.h"
#include "image_bind.h"
#include "intern.h"
#include "job_image.h"
#include "job_run.h"
#include "job_saves.h"
#include "log.h"
#include "type_words.h"
#include "pbs_error.h"
#include "services.h"
#include "server_ctx.h"
#include "strbuf.h"
#include "server_events.h"

enum {
    LIMIT_S = 1800,     /* a choice: half a TB at 300 MB/s; a preemption tries its next method then */
    TEXT_MAX = 1 << 20, /* as PBS_VALUE_MAX of ifl/protocol/types.x */
    COMMENT_MAX = 8192, /* with the host's words about a restart that has failed */
    RESTARTS_MAX = 2,   /* failures one after the other: by the second time it is not the host's fault */
    MS_PER_MINUTE = 60000,
    MS_PER_S = 1000,
    S_PER_MINUTE = 60,
    RUN_COUNTS_S =
        60, /* a shorter run that nothing ended is not counted: complexes of short jobs would write a row for each */
    LOSSES_MAX = 80,         /* the text of two numbers, "%.1f %.0f" */
    KB_A_SECOND = 100 * 1024 /* of a first image, whose cost is not known: what a disk writes */
};
/* As if one host had been lost in ten years of hosts, and one job of the queue in a day of jobs, before anything was seen. */
static const double HOST_PRIOR_S = 10 * 365 * 86400.0, QUEUE_PRIOR_S = 86400;

struct run_checkpoint {
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct exec_send *send;
    struct services *services;
};

static bool wants_none(const struct job *j)
{
    const char *when = attr_list_text(&j->obj.attrs, JOB_ATTR_Checkpoint);

    return when && strcmp(when, "n") == 0;
}

static enum run_saves host_saves(const struct run_checkpoint *c, const struct run_host *h)
{
    const struct service *s = services_find(c->services, h->service);

    if (!s)
        return RUN_SAVES_UNKNOWN;
    if (!(s->capabilities & EXEC_CAN_CHECKPOINT))
        return RUN_SAVES_NOTHING;
    return s->capabilities & EXEC_CKPT_ASKS ? RUN_SAVES_PROGRAMS : RUN_SAVES_ALL;
}

static bool can_save(const struct run_checkpoint *c, const struct run_host *h)
{
    return host_saves(c, h) >= RUN_SAVES_PROGRAMS;
}

/* Of the hosts that do not take part any more no image is needed. */
static bool needs_program(const struct run_checkpoint *c, const struct job *j)
{
    for (size_t i = 0; i < j->run->n_hosts; i++)
        if (job_run_host_stays(&j->run->hosts[i]) && host_saves(c, &j->run->hosts[i]) == RUN_SAVES_PROGRAMS)
            return true;
    return false;
}

static void set_image(struct run_host *h, const char *id)
{
    const char *old = h->image;

    h->image = id ? intern_ref(id) : NULL;
    intern_unref(old);
}

int run_checkpoint_may(struct run_checkpoint *c, const struct job *j, struct err *e)
{
    if ((j->state != JOB_RUNNING && j->state != JOB_SUSPENDED) || j->intent != INTENT_NONE)
        return err_set(e, PBSE_BADSTATE, "job %s is %s", j->obj.name,
                       j->intent ? "about to end" : job_state_name(j->state));
    if (j->run->checkpointing || j->run->suspending || j->run->resuming)
        return err_set(e, PBSE_CKPBSY, "job %s is being checkpointed, suspended or resumed", j->obj.name);
    if (wants_none(j))
        return err_set(e, PBSE_NOSUP, "job %s wants no checkpoint (-c n)", j->obj.name);
    for (size_t i = 0; i < j->run->n_hosts; i++)
        if (job_run_host_stays(&j->run->hosts[i]) && !can_save(c, &j->run->hosts[i]))
            return err_set(e, PBSE_NOSUP, "the host of job %s has no $action checkpoint (%s)", j->obj.name,
                           j->run->hosts[i].service);
    return 0;
}

static void run_checkpoint_begin_host(struct run_checkpoint *c, struct job *j, bool staying)
{
    j->run->attempt++;
    j->run->checkpointing = true;
    j->run->staying = staying;
    for (size_t i = 0; i < j->run->n_hosts; i++)
        set_image(&j->run->hosts[i], NULL);
    jobs_touch(c->ctx->jobs, j, PART_HOT);
    exec_send_checkpoint(c->send, j);
}

int run_checkpoint_begin(struct run_checkpoint *c, struct job *j, struct err *e)
{
    if (run_checkpoint_may(c, j, e) < 0)
        return -1;
    run_checkpoint_begin_host(c, j, false);
    return 0;
}

/* --- can it be saved? ---------------------------------------------------------------------------------- */

static void look_at_hosts(const struct run_checkpoint *c, struct job *j)
{
    for (size_t i = 0; i < j->run->n_hosts; i++)
        job_saves_note(j->run, &j->run->hosts[i], host_saves(c, &j->run->hosts[i]));
}

void run_checkpoint_on_kept(void *arg, const struct server_event *ev)
{
    struct run_checkpoint *c = arg;
    struct run *r = ev->job->run;
    struct run_host *h = job_run_host(r, ev->service);

    if (h && job_saves_note(r, h, host_saves(c, h)))
        jobs_touch(c->ctx->jobs, ev->job, PART_HOT);
}

/* Its hosts, or what they have declared, are other than before. */
static void join_declared(struct run_checkpoint *c, struct job *j)
{
    bool was_savable = j->run->declared != NULL;

    if (job_saves_join(j->run))
        jobs_touch(c->ctx->jobs, j, PART_HOT);
    if (j->run->declared && !was_savable)
        server_events_tell(c->ctx->events, &(struct server_event){.kind = EVENT_RUN_SAVABLE, .job = j});
}

static bool is_handler(const char *how)
{
    return how && strcmp(how, "handler") == 0;
}

static void set_declared(struct run_checkpoint *c, struct job *j, struct run_host *h, const char *how,
                         unsigned need_s)
{
    const char *name = job_run_host_name(h->service);

    if (strcmp(how, h->declared ? h->declared : "") == 0 && h->need_s == need_s)
        return;
    job_saves_declare(h, how, need_s);
    jobs_touch(c->ctx->jobs, j, PART_HOT);
    if (*how)
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "its programs on %s save themselves (%s)", name, how);
    else
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "its programs on %s do not save themselves any more",
                  name);
    join_declared(c, j);
}

/* What a program says itself counts more than what was seen of it, and it takes back no more than it has said. */
void run_checkpoint_on_declared(void *arg, const struct server_event *ev)
{
    const struct run *r = ev->job->run;
    struct run_host *h = job_run_host(ev->job->run, ev->service);
    const char *how = ev->declared->how;

    if (is_handler(how) && (h->declared || r->mistrusted))
        return;
    if (!*how && is_handler(h->declared))
        return;
    set_declared(arg, ev->job, h, how, ev->declared->need_s);
}

void run_checkpoint_on_fewer_hosts(void *arg, const struct server_event *ev)
{
    if (ev->job->run && job_run_is_wanted(ev->job))
        join_declared(arg, ev->job);
}

/* An attempt has failed. Its handler for SIGUSR1 was for something else, as it seems: the next preemption does not lose time with it. */
static void mistrust_handler(struct run_checkpoint *c, struct job *j)
{
    if (!is_handler(j->run->declared))
        return;
    j->run->mistrusted = true;
    for (size_t i = 0; i < j->run->n_hosts; i++)
        if (is_handler(j->run->hosts[i].declared))
            set_declared(c, j, &j->run->hosts[i], "", 0);
}

static int run_checkpoint_method_may(void *arg, const struct job *j, struct err *e)
{
    if (run_checkpoint_may(arg, j, e) < 0)
        return -1;
    if (needs_program(arg, j) && !job_saves_declared(j))
        return err_set(
            e, PBSE_NOSUP,
            "job %s has not said that its program saves itself (-c, preempt_methods, a handler for SIGUSR1, PMIx)",
            j->obj.name);
    return 0;
}

/* --- what the host says ----------------------------------------------------------------------------- */

/* What all hosts have said, or the one that has saved itself. The one before goes from where the job was then. */
static void note_images(struct run_checkpoint *c, struct job *j)
{
    struct strbuf b;

    exec_send_purge_moved(c->send, j);
    strbuf_init(&b, TEXT_MAX);
    for (size_t i = 0; i < j->run->n_hosts; i++) {
        const struct run_host *h = &j->run->hosts[i];

        job_image_add(&b, h->service, h->image ? h->image : JOB_IMAGE_NONE);
    }
    job_set_text(&j->restart_from, strbuf_str(&b));
    strbuf_fini(&b);
    jobs_touch(c->ctx->jobs, j, PART_HOT);
}

static bool all_saved(const struct run *r)
{
    for (size_t i = 0; i < r->n_hosts; i++)
        if (job_run_host_stays(&r->hosts[i]) && !r->hosts[i].image)
            return false;
    return true;
}

/* Hosts that have stopped it let it continue. A job that was suspended before stays so; what was written goes at the next attempt. */
static void undo(struct run_checkpoint *c, struct job *j)
{
    if (j->run->n_hosts == 1 || j->run->terminations || j->run->suspending || j->state != JOB_RUNNING)
        return;
    j->run->attempt++;
    jobs_touch(c->ctx->jobs, j, PART_HOT);
    exec_send_undo(c->send, j);
}

static void run_checkpoint_leave(struct run_checkpoint *c, struct job *j)
{
    if (j->intent == INTENT_NONE || j->intent == INTENT_REQUEUE)
        j->intent = INTENT_CHECKPOINT;
    server_events_tell(c->ctx->events, &(struct server_event){.kind = EVENT_RUN_IMAGE, .job = j});
    if (j->run->n_hosts == 1 || j->run->terminations)
        return;
    j->run->attempt++;
    j->run->terminations++;
    exec_send_terminate(c->send, j, EXEC_WHY_CHECKPOINT, 0);
}

void run_checkpoint_look_saved(struct run_checkpoint *c, struct job *j)
{
    if (!j->run->checkpointing || !all_saved(j->run))
        return;
    note_images(c, j);
    j->run->checkpointing = false;
    if (!j->run->staying)
        run_checkpoint_leave(c, j);
}

static bool all_kept(const struct run *r)
{
    for (size_t i = 0; i < r->n_hosts; i++)
        if (!r->hosts[i].leaving && !r->hosts[i].kept)
            return false;
    return true;
}

/* A host that ends says that its programs had saved themselves in their notice. That is an image when all hosts say so; a checkpoint
 * that is under way, or has ended the run, is newer. */
static void keep_saved(struct run_checkpoint *c, struct job *j, struct run_host *h, const char *id)
{
    if (j->state == JOB_STARTING || j->run->checkpointing || j->intent == INTENT_CHECKPOINT || h->leaving)
        return;
    intern_unref(h->kept);
    h->kept = intern_ref(id);
    jobs_touch(c->ctx->jobs, j, PART_HOT);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "saved by its programs on %s in their notice",
              job_run_host_name(h->service));
    if (!all_kept(j->run))
        return;
    for (size_t i = 0; i < j->run->n_hosts; i++)
        set_image(&j->run->hosts[i], j->run->hosts[i].kept);
    note_images(c, j);
}

void run_checkpoint_on_taken(void *arg, const struct server_event *ev)
{
    struct run_checkpoint *c = arg;
    struct job *j = ev->job;
    const exec_checkpointed_data *d = ev->image;
    const char *service = ev->service;
    bool asked = j->run->checkpointing && d->attempt == j->run->attempt;

    if (j->state == JOB_STARTING)
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "its checkpoint has come to %s: %s", service, d->id);
    else
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "checkpointed on %s: %s, %llu bytes in %u ms", service,
                  d->id, (unsigned long long)d->bytes, d->frozen_ms);
    if (d->attempt || d->frozen_ms)
        j->ckpt_cost_ms = j->ckpt_cost_ms ? (j->ckpt_cost_ms + d->frozen_ms) / 2 : d->frozen_ms;
    if (!asked && !d->attempt && j->run->n_hosts > 1) {
        keep_saved(c, j, job_run_host(j->run, service), d->id);
        return;
    }
    if (!asked && j->run->n_hosts > 1) {
        undo(c, j); /* it comes late: that attempt has failed elsewhere */
        return;
    }
    set_image(job_run_host(j->run, service), d->id);
    if (asked)
        run_checkpoint_look_saved(c, j);
    else
        note_images(c, j);
}

static void run_checkpoint_failed(struct run_checkpoint *c, struct job *j, int code, const char *text)
{
    struct err why;

    if (!j->run->checkpointing)
        return;
    j->run->checkpointing = false;
    jobs_touch(c->ctx->jobs, j, PART_HOT);
    undo(c, j);
    mistrust_handler(c, j);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "checkpoint failed: %s (%d)", text, code);
    if (j->run->staying)
        return;
    err_set(&why, code, "checkpoint of job %s failed, it runs on: %s", j->obj.name, text);
    server_events_tell(c->ctx->events,
                       &(struct server_event){.kind = EVENT_RUN_NOT_CHECKPOINTED, .job = j, .why = &why});
    server_events_tell(c->ctx->events,
                       &(struct server_event){
                           .kind = EVENT_RUN_METHOD_FAILED, .job = j, .id = METHOD_CHECKPOINT, .code = code});
}

void run_checkpoint_on_failed(void *arg, const struct server_event *ev)
{
    if (ev->kind == EVENT_RUN_FAILED ? strcmp(ev->method, "checkpoint") == 0 : ev->proc == EXEC_CHECKPOINT)
        run_checkpoint_failed(arg, ev->job, ev->code, ev->text);
}

/* --- as the job asks for it -------------------------------------------------------------------------- */

/* "c=5", "w=5" are minutes; "c" and "w" take the queue's least. 0: it asks for none. */
static int64_t period_ms(const struct job *j, const char *when)
{
    int64_t min = j->queue ? attr_list_number(&j->queue->obj.attrs, QUEUE_ATTR_checkpoint_min, 0) : 0;
    int64_t minutes = 0;

    if (when[0] != 'c' && when[0] != 'w')
        return 0;
    if (when[1] == '=')
        minutes = strtol(when + 2, NULL, 10);
    return (minutes > min ? minutes : min) * MS_PER_MINUTE;
}

static void read_losses(const struct attr_list *l, int index, struct ckpt_losses *out)
{
    const char *text = attr_list_text(l, index);

    if (!text || sscanf(text, "%lf %lf", &out->lost, &out->seconds) != 2 || !(out->lost >= 0) ||
        !(out->seconds >= 0))
        *out = (struct ckpt_losses){0};
}

static void add_losses(struct run_checkpoint *c, struct object *o, int index, double lost, double seconds)
{
    struct ckpt_losses now;
    char text[LOSSES_MAX];

    read_losses(&o->attrs, index, &now);
    ckpt_losses_add(&now, lost, seconds);
    snprintf(text, sizeof text, "%.1f %.0f", now.lost, now.seconds);
    if (attr_list_set_text(&o->attrs, index, text, NULL) == 0)
        change_touch(c->ctx->change, &o->change, PART_ATTRS);
}

/* A run is over: what it tells about the site. */
static void count_losses(struct run_checkpoint *c, struct job *j)
{
    const struct run *r = j->run;
    double ran_s = (double)(j->usage.walltime_ms / MS_PER_S);
    bool host = r->lost != 0;
    bool preempted = j->preempt && j->preempt->method && preempt_method_row(j->preempt->method)->loses_work;

    if (!r->started || (ran_s < RUN_COUNTS_S && !host && !preempted))
        return;
    add_losses(c, &c->ctx->server->obj, SERVER_ATTR_checkpoint_losses, host, ran_s * (double)r->n_hosts);
    if (j->queue)
        add_losses(c, &j->queue->obj, QUEUE_ATTR_checkpoint_losses, preempted, ran_s);
}

static double loss_rate(const struct run_checkpoint *c, const struct job *j)
{
    struct ckpt_losses of_hosts, of_queue = {0};

    read_losses(&c->ctx->server->obj.attrs, SERVER_ATTR_checkpoint_losses, &of_hosts);
    if (j->queue)
        read_losses(&j->queue->obj.attrs, QUEUE_ATTR_checkpoint_losses, &of_queue);
    return ckpt_losses_rate(&of_hosts, HOST_PRIOR_S) * (double)j->run->n_hosts +
           ckpt_losses_rate(&of_queue, QUEUE_PRIOR_S);
}

static double cost_s(const struct job *j)
{
    double s = j->ckpt_cost_ms ? (double)j->ckpt_cost_ms / MS_PER_S : (double)j->usage.mem_kb / KB_A_SECOND;

    return s > 0.001 ? s : 0.001; /* an image that took no time is a matter of the clock */
}

/* -c auto: what was measured since the last one counts at once. */
static void look_at_auto(struct run_checkpoint *c, struct job *j)
{
    int64_t least_s =
        j->queue ? attr_list_number(&j->queue->obj.attrs, QUEUE_ATTR_checkpoint_min, 0) * S_PER_MINUTE : 0;
    int64_t interval_s = ckpt_interval_s(cost_s(j), loss_rate(c, j), least_s), now = j->usage.walltime_ms;

    if (interval_s < 1)
        interval_s = 1;
    if (interval_s != j->run->interval_s) {
        j->run->interval_s = interval_s;
        jobs_touch(c->ctx->jobs, j, PART_HOT);
    }
    if (now < j->run->due_ms + interval_s * MS_PER_S || run_checkpoint_method_may(c, j, NULL) < 0)
        return;
    j->run->due_ms = now;
    run_checkpoint_begin_host(c, j, true);
}

void run_checkpoint_on_used(void *arg, const struct server_event *ev)
{
    struct run_checkpoint *c = arg;
    struct job *j = ev->job;
    const char *when = attr_list_text(&j->obj.attrs, JOB_ATTR_Checkpoint);
    int64_t period = when && j->run->n_hosts > 1 ? period_ms(j, when) : 0, now;

    if (when && strcmp(when, "auto") == 0 && j->state == JOB_RUNNING)
        look_at_auto(c, j);
    if (!period || j->state != JOB_RUNNING)
        return;
    now = when[0] == 'c' ? j->usage.cput_ms : j->usage.walltime_ms;
    if (!j->run->due_ms)
        j->run->due_ms = now - now % period + period;
    if (now < j->run->due_ms || run_checkpoint_may(c, j, NULL) < 0)
        return;
    j->run->due_ms = now + period;
    run_checkpoint_begin_host(c, j, true);
}

/* --- bound to the images ----------------------------------------------------------------------------- */

static void forget_images(struct run_checkpoint *c, struct job *j)
{
    job_set_text(&j->restart_from, NULL);
    jobs_touch(c->ctx->jobs, j, PART_HOT);
    image_unbind(c->ctx, j);
}

static void hold_for_person(struct run_checkpoint *c, struct job *j, const char *why)
{
    struct strbuf b;

    strbuf_init(&b, COMMENT_MAX);
    strbuf_addf(&b, "Job held, %s: release it to start from the beginning", why);
    j->hold |= HOLD_SYSTEM;
    j->restarts_failed = 0;
    attr_list_set_number(&j->obj.attrs, JOB_ATTR_Hold_Types, j->hold & ~(unsigned)HOLD_DEPEND, NULL);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, strbuf_str(&b), NULL);
    strbuf_fini(&b);
    job_fsm_post(c->fsm, j, EV_REVIEW);
}

/* Nothing is left of what it had done. One that may not be run twice is held, until its owner or an operator releases it. */
static void give_up_image(struct run_checkpoint *c, struct job *j, const char *why)
{
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "its image %s is given up: %s", j->restart_from, why);
    exec_send_purge_images(c->send, j);
    forget_images(c, j);
    if (!attr_list_bool(&j->obj.attrs, JOB_ATTR_Rerunable, true))
        hold_for_person(c, j, "its checkpoint is lost and it is not rerunnable");
}

static void on_bad_restart(struct run_checkpoint *c, struct job *j)
{
    struct strbuf why;

    j->restarts_failed++;
    give_up_image(c, j, "the restart has failed");
    if (j->restarts_failed < RESTARTS_MAX)
        return;
    strbuf_init(&why, COMMENT_MAX);
    strbuf_addf(&why, "its restart has failed twice (%s)",
                j->run->note ? j->run->note : "its host says no more");
    hold_for_person(c, j, strbuf_str(&why));
    strbuf_fini(&why);
}

/* Is a host lost that has a part of it which no other host has? */
static bool part_is_lost(const struct job *j)
{
    struct job_image m;

    for (size_t i = 0; j->run->started && job_image_at(j->restart_from, i, &m); i++)
        for (size_t k = 0; k < j->run->n_hosts && !m.shared && !m.none; k++)
            if (j->run->hosts[k].state == RUN_HOST_LOST && job_image_is_at(&m, j->run->hosts[k].service))
                return true;
    return false;
}

static void came_back(struct run_checkpoint *c, struct job *j)
{
    if (j->run->status == EXIT_STATUS_BAD_RESTART && (j->run->finished || j->run->lost))
        on_bad_restart(c, j);
    else if (part_is_lost(j))
        give_up_image(c, j, "its host is lost");
    else
        image_bind(c->ctx, j);
}

static void drop_image(struct run_checkpoint *c, struct job *j)
{
    exec_send_purge_images(c->send, j);
    forget_images(c, j);
}

void run_checkpoint_on_no_image(void *arg, const struct server_event *ev)
{
    struct run_checkpoint *c = arg;
    struct job *j = ev->job;

    if (!j->restart_from)
        return;
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "it starts from the beginning: %s", ev->text);
    exec_send_purge_moved(c->send, j);
    forget_images(c, j);
    if (!j->run->no_image_why)
        j->run->no_image_why = intern_ref(ev->text);
}

/* A job that was put on other hosts by hand (qrun -H) began from its start, and its images are dropped. */
static void has_started(struct run_checkpoint *c, struct job *j)
{
    if (!job_images_fit(j)) {
        drop_image(c, j);
        return;
    }
    j->restarts_failed = 0;
    server_events_tell(c->ctx->events, &(struct server_event){.kind = EVENT_RUN_RESTARTED, .job = j});
}

void run_checkpoint_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct run_checkpoint *c = arg;

    if (ev == EV_STARTED && j->run)
        look_at_hosts(c, j);
    if (j->run && (job_is_waiting(j) || j->state == JOB_FINISHED))
        count_losses(c, j);
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

static int run_checkpoint_method_start(void *arg, struct job *j, struct err *e)
{
    return run_checkpoint_begin(arg, j, e);
}

static bool run_checkpoint_is_settled(void *arg, const struct job *j)
{
    return job_is_waiting(j) && j->restart_from; /* without an image it has gone back some other way */
}

static int64_t run_checkpoint_limit_s(const struct job *j)
{
    return LIMIT_S;
}

struct run_checkpoint *run_checkpoint_create(struct server_ctx *s, struct job_fsm *f, struct exec_send *x,
                                             struct services *sv, struct stop_methods *m)
{
    struct run_checkpoint *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    *c = (struct run_checkpoint){s, f, x, sv};
    stop_methods_add(m, &(struct stop_method){METHOD_CHECKPOINT, run_checkpoint_method_may,
                                              run_checkpoint_method_start, run_checkpoint_is_settled,
                                              run_checkpoint_limit_s, c});
    return c;
}

void run_checkpoint_destroy(struct run_checkpoint *c)
{
    free(c);
}
