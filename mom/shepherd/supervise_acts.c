/* What the state machine of a shepherd does. Signals go to all processes below us, again and again until
 * nothing does; a frozen job is thawed, or nothing would reach it. The end is recorded once, with what is
 * known of why.
 *
 * The signal comes before the thaw: a process that wakes finds it waiting. A record is written before it is
 * told, and the end is synced; the MOM may hear of it twice, and that is harmless. The state changes after
 * its action, unlike the MOM's: nothing here posts from within. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "closing.h"
#include "confine.h"
#include "shep_title.h"
#include "pbs_error.h"
#include "procs.h"
#include "supervise_private.h"
#include "rundir.h"

static const char helper_name[] = "pbs_pmix";

enum {
    KILL_AGAIN_MS = 100, /* beside SIGCHLD, which mostly comes first */
    GIVE_UP_MS = 60000,
    SAVE_AGAIN_MS = 1000,
    MS_PER_S = 1000,
    KB = 1024
};

bool supervise_is_sister(const struct supervise *h)
{
    return !h->order.exec_path[0];
}

bool supervise_waits_for_tasks(const struct supervise *h)
{
    return supervise_is_sister(h) && (h->state == SHEP_RUNNING || h->state == SHEP_WITHDRAWN ||
                                      (h->state == SHEP_STOPPING && h->may_withdraw));
}

/* A full disk must lose no record: the MOM that listens hears it, and one that comes later reads it. */
static void keep_record(struct supervise *h, const struct shep_record *r)
{
    if (h->n_unsaved < SUPERVISE_RECORDS)
        h->unsaved[h->n_unsaved++] = *r;
    h->save_mono_ms = clock_real_mono_ms() + SAVE_AGAIN_MS;
}

void supervise_append_record(struct supervise *h, const struct shep_record *r, bool sync)
{
    if (h->n_unsaved || rundir_log_append(h->records, (xdrproc_t)xdr_shep_record, r, sync, NULL) < 0)
        keep_record(h, r);
    if (h->mom_link)
        mom_link_tell(h->mom_link, r);
}

void supervise_save_records(struct supervise *h)
{
    unsigned done = 0;

    while (done < h->n_unsaved &&
           rundir_log_append(h->records, (xdrproc_t)xdr_shep_record, &h->unsaved[done], true, NULL) == 0)
        done++;
    for (unsigned i = 0; i < h->n_unsaved; i++)
        mom_link_tell(h->mom_link, &h->unsaved[i]);
    h->n_unsaved -= done;
    memmove(h->unsaved, h->unsaved + done, h->n_unsaved * sizeof h->unsaved[0]);
    h->save_mono_ms = clock_real_mono_ms() + SAVE_AGAIN_MS;
}

int64_t supervise_wall_ms(const struct supervise *h)
{
    return stopwatch_read_ms(&h->watch, clock_real_mono_ms());
}

void supervise_usage(struct supervise *h, struct exec_usage *out)
{
    if (h->state > SHEP_BEGIN && h->state < SHEP_ENDED)
        usage_sample_take(&h->usage_sample, getpid(), confine_adopted(h->confine), supervise_wall_ms(h));
    usage_sample_read(&h->usage_sample, supervise_wall_ms(h), h->order.ncpus, out);
}

static void act_started(struct supervise *h)
{
    h->watch.limit_ms = (int64_t)h->order.walltime_ms;
    stopwatch_start(&h->watch, clock_real_mono_ms());
}

/* Does the login shell run what it has read, the job's script? */
static bool shell_has_child(const struct supervise *h, const struct procs *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->list[i].parent == h->task.pid && p->list[i].state != 'Z')
            return true;
    return false;
}

/* SIGTERM of an order that may be withdrawn spares two processes, which a script that handles the signal needs to run on: the login shell
 * that has read its path, and the PMIx helper. They end with the script. -1: the processes are not known. */
static int term_work(const struct supervise *h)
{
    struct procs p;
    bool spared;

    procs_init(&p);
    if (procs_of(&p, getpid(), confine_adopted(h->confine), NULL) < 0) {
        procs_fini(&p);
        return -1;
    }
    spared = h->order.script[0] && shell_has_child(h, &p);
    for (size_t i = 0; i < p.n; i++) {
        const struct procs_entry *x = &p.list[i];

        if (x->state != 'Z' && !(spared && x->pid == h->task.pid) && strcmp(x->name, helper_name) != 0)
            kill(x->pid, SIGTERM);
    }
    procs_fini(&p);
    return 0;
}

static void act_term(struct supervise *h)
{
    supervise_answer_withdraw(h, PBSE_BADSTATE, "the job was ordered to end again");
    if (h->say[0])
        task_say(&h->task, h->say);
    if (!h->may_withdraw || term_work(h) < 0)
        confine_signal(h->confine, SIGTERM);
    confine_resume(h->confine, NULL); /* a frozen process could not handle the signal */
    stopwatch_start(&h->watch, clock_real_mono_ms());
    shep_title_set(h->path, "");
    h->grace_mono_ms = clock_real_mono_ms() + (int64_t)h->grace_s * MS_PER_S;
}

static void act_walltime(struct supervise *h)
{
    h->how = SHEP_END_WALLTIME;
    h->reason = EXEC_END_WALLTIME;
    h->grace_s = h->order.kill_delay_s;
    snprintf(h->say, sizeof h->say, "job killed: walltime %lld exceeded limit %lld",
             (long long)(supervise_wall_ms(h) + MS_PER_S - 1) / MS_PER_S,
             (long long)h->watch.limit_ms / MS_PER_S);
    act_term(h);
}

void supervise_kill(struct supervise *h)
{
    int64_t now = clock_real_mono_ms();

    if (!h->give_up_mono_ms) {
        h->give_up_mono_ms = now + GIVE_UP_MS;
        if (!h->main_ended && h->say[0] && h->state == SHEP_RUNNING)
            task_say(&h->task, h->say);
    }
    confine_signal(h->confine, SIGKILL);
    confine_resume(h->confine, NULL); /* SIGKILL reaches a frozen process when it thaws */
    h->grace_mono_ms = now + KILL_AGAIN_MS;
}

void supervise_answer_withdraw(struct supervise *h, int code, const char *text)
{
    char none[1] = "";
    struct shep_done r = {.code = code, .text = (char *)(uintptr_t)text, .ext = {0, none}};

    if (!h->withdraw_waits)
        return;
    h->withdraw_waits = false;
    supervise_usage(h, &r.usage);
    mom_link_answer(h->mom_link, &h->withdraw, (xdrproc_t)xdr_shep_done, &r);
}

/* The grace of an order that was withdrawn is over. From here on it ends as if nothing had been ordered. */
static void act_stay(struct supervise *h)
{
    h->how = SHEP_END_ITSELF;
    h->reason = EXEC_END_ITSELF;
    h->may_withdraw = false;
    h->say[0] = '\0';
    supervise_answer_withdraw(h, 0, "");
}

static const char *bound_of(const struct supervise *h, enum confine_limit l)
{
    for (u_int i = 0; i < h->order.groups.groups_len; i++)
        if (h->order.groups.groups_val[i].limit == (int)l)
            return h->order.groups.groups_val[i].bound;
    return "";
}

void supervise_note_memory(struct supervise *h)
{
    h->reason = EXEC_END_MEM;
    snprintf(h->say, sizeof h->say, "job killed: mem exceeded limit %llukb",
             strtoull(bound_of(h, CONFINE_MEMORY), NULL, 10) / KB);
}

/* The login shell that was spared says what its script has made of SIGTERM; the job ends by that signal all the same. */
static int status_of_order(const struct supervise *h)
{
    bool spared = h->may_withdraw && h->how == SHEP_END_TOLD && h->order.script[0];

    return spared ? SIGTERM : h->status;
}

static void act_record(struct supervise *h)
{
    struct shep_record r = {.kind = SHEP_RECORD_ENDED};
    struct shep_ended *end = &r.shep_record_u.ended;

    if (h->how == SHEP_END_ITSELF && confine_has_run_out(h->confine)) {
        supervise_note_memory(h); /* the report of it came after that of the end */
        task_say(&h->task, h->say);
    }
    if (confine_has_met_pids(h->confine)) {
        char text[SUPERVISE_SAY_MAX];

        snprintf(text, sizeof text,
                 "the job could not make more than %s processes and threads ($pids_max of this host)",
                 bound_of(h, CONFINE_PIDS));
        task_say(&h->task, text);
    }
    job_notice_over(h->job_notice);
    stopwatch_stop(&h->watch, clock_real_mono_ms());
    usage_sample_finish(&h->usage_sample, supervise_wall_ms(h));
    end->how = h->how;
    end->status = status_of_order(h);
    end->code = h->how == SHEP_END_SETUP ? h->setup_code : 0;
    end->reason = h->reason;
    end->text = h->how == SHEP_END_SETUP ? h->why.text : h->say;
    usage_sample_read(&h->usage_sample, supervise_wall_ms(h), h->order.ncpus, &end->usage);
    end->wall_ms = clock_wall_ms(clock_real());
    end->leftovers = h->leftovers;
    supervise_append_record(h, &r, true);
    supervise_answer_withdraw(h, PBSE_BADSTATE, "the job has ended");
}

void supervise_post(struct supervise *h, enum shep_event ev)
{
    const struct shep_row *row = shep_fsm_find(h->state, ev);

    if (!row)
        return;
    switch (row->action) {
    case SHEP_ACT_NONE:
    case SHEP_ACTION_COUNT:
        break;
    case SHEP_ACT_STARTED:
        act_started(h);
        break;
    case SHEP_ACT_TERM:
        act_term(h);
        break;
    case SHEP_ACT_WALLTIME:
        act_walltime(h);
        break;
    case SHEP_ACT_STAY:
        act_stay(h);
        break;
    case SHEP_ACT_KILL:
        supervise_kill(h);
        break;
    case SHEP_ACT_RECORD:
        act_record(h);
        break;
    case SHEP_ACT_CLOSE:
        closing_do(h->path, &h->order, h->closing, h->closed);
        break;
    }
    h->state = row->next;
}
