/* The machine: finds the row, changes the state, performs the action, tells the listeners. See job_fsm.h.
 *
 * One event at a time: what is posted meanwhile, by an action or a listener, waits in a list and is handled by the
 * outermost post. So an action never sees another transition happen under it, all listeners hear of one transition
 * before any hears of the next, and events of all jobs are handled in the order of posting.
 *
 * A job in the list is referenced: it may have left all tables (GONE) when its event comes up, and the event is then
 * one without a row. Nothing here is stored: events that were not handled before a crash are caused again by the entry
 * actions and by what hosts repeat. */
#include "job_fsm.h"

#include <assert.h>
#include <stdlib.h>

#include "log.h"

enum { MAX_LISTENERS = 32 }; /* assembly_events.c binds 24 */

struct job_fsm_posted {
    struct job *job; /* referenced */
    enum job_event event;
    struct job_fsm_posted *next;
};

struct job_fsm {
    struct {
        job_action_fn *fn;
        void *arg;
    } actions[ACT_COUNT];
    struct {
        job_listener_fn *fn;
        void *arg;
    } listeners[MAX_LISTENERS];
    size_t n_listeners;
    struct job_fsm_posted *first, **end;
    bool busy;
};

static const char *const event_names[EV_COUNT] = {
    [EV_SUBMIT] = "submit",
    [EV_REVIEW] = "review",
    [EV_RUN] = "run",
    [EV_STARTED] = "started",
    [EV_SUSPENDED] = "suspended",
    [EV_RESUMED] = "resumed",
    [EV_FINISH] = "finish",
    [EV_RUN_OVER] = "run over",
    [EV_DELETE] = "delete",
    [EV_REQUEUE] = "requeue",
    [EV_FORCE_DELETE] = "force delete",
    [EV_FORCE_REQUEUE] = "force requeue",
    [EV_EXPIRE] = "expire",
    [EV_ARRAY_BEGUN] = "array begun",
    [EV_ARRAY_OVER] = "array over",
};

static const char *const action_names[ACT_COUNT] = {
    [ACT_NONE] = "none",           [ACT_ENQUEUE] = "enqueue", [ACT_WAIT] = "wait",
    [ACT_WAIT_ON] = "wait on",     [ACT_START] = "start",     [ACT_STARTED] = "started",
    [ACT_SUSPENDED] = "suspended", [ACT_RESUMED] = "resumed", [ACT_FINISH] = "finish",
    [ACT_TERMINATE] = "terminate", [ACT_REQUEUE] = "requeue", [ACT_END] = "end",
    [ACT_DROP] = "drop",           [ACT_ABANDON] = "abandon", [ACT_ABANDON_REQUEUE] = "abandon and requeue",
    [ACT_FORGET] = "forget",
};

const char *job_event_name(enum job_event ev)
{
    return event_names[ev];
}

const char *job_action_name(enum job_action a)
{
    return action_names[a];
}

struct job_fsm *job_fsm_create(void)
{
    struct job_fsm *f = calloc(1, sizeof *f);

    if (f)
        f->end = &f->first;
    return f;
}

void job_fsm_destroy(struct job_fsm *f)
{
    if (!f)
        return;
    for (struct job_fsm_posted *p = f->first, *next; p; p = next) {
        next = p->next;
        job_unref(p->job);
        free(p);
    }
    free(f);
}

void job_fsm_bind(struct job_fsm *f, enum job_action a, job_action_fn *fn, void *arg)
{
    f->actions[a].fn = fn;
    f->actions[a].arg = arg;
}

void job_fsm_listen(struct job_fsm *f, job_listener_fn *fn, void *arg)
{
    assert(f->n_listeners < MAX_LISTENERS);
    f->listeners[f->n_listeners].fn = fn;
    f->listeners[f->n_listeners++].arg = arg;
}

/* Where several rows have one (state, event), their order decides: the first whose guard holds. A linear search over
 * about 80 rows: it costs less than the line that the audit writes. */
static const struct job_rule *find_rule(const struct job *j, enum job_event ev)
{
    for (size_t i = 0; i < job_rules_count; i++) {
        const struct job_rule *r = &job_rules[i];

        if (r->in == j->state && r->event == ev && (!r->when || r->when(j)))
            return r;
    }
    return NULL;
}

static void job_fsm_perform(struct job_fsm *f, struct job *j, enum job_action a)
{
    if (a == ACT_NONE)
        return;
    assert(f->actions[a].fn);
    f->actions[a].fn(f->actions[a].arg, j);
}

/* The state is changed before the action, so that the action sees where the job is going and whatever it
 * posts is judged there. */
static void job_fsm_handle(struct job_fsm *f, struct job *j, enum job_event ev)
{
    const struct job_rule *r = find_rule(j, ev);
    enum job_state from = j->state;

    if (!r) {
        unsigned mask = job_rule_is_late(from, ev) ? LOGE_DEBUG2 : LOGE_ERROR;

        log_event(LOGC_JOB, mask, j->obj.name, "event \"%s\" has no meaning for a job that is %s; ignored",
                  event_names[ev], job_state_name(from));
        return;
    }
    j->state = r->to;
    job_fsm_perform(f, j, r->act);
    /* Listeners come last, in the order of listening: they find what the action has done, and the later ones what the earlier
     * have: who waits for room finds that claims were given back. */
    for (size_t i = 0; i < f->n_listeners; i++)
        f->listeners[i].fn(f->listeners[i].arg, j, from, ev);
}

static void enqueue(struct job_fsm *f, struct job *j, enum job_event ev)
{
    struct job_fsm_posted *p = malloc(sizeof *p);

    if (!p)
        abort(); /* a lost event would be a lost job */
    *p = (struct job_fsm_posted){.job = job_ref(j), .event = ev};
    *f->end = p;
    f->end = &p->next;
}

/* In the order of posting, each in the state that the one before has left. */
static void job_fsm_drain(struct job_fsm *f)
{
    struct job_fsm_posted *p;

    while ((p = f->first)) {
        f->first = p->next;
        if (!f->first)
            f->end = &f->first;
        job_fsm_handle(f, p->job, p->event);
        job_unref(p->job);
        free(p);
    }
}

void job_fsm_post(struct job_fsm *f, struct job *j, enum job_event ev)
{
    if (f->busy) {
        enqueue(f, j, ev);
        return;
    }
    f->busy = true;
    job_ref(j); /* an action may take it out of every list, and it is spoken of until the end */
    job_fsm_handle(f, j, ev);
    job_fsm_drain(f);
    job_unref(j);
    f->busy = false;
}

/* It is not known whether the action that led to this state was done before the crash, or half, or not at all:
 * so actions bear being done again. Listeners hear nothing, since nothing has moved. */
void job_fsm_enter(struct job_fsm *f, struct job *j)
{
    assert(!f->busy);
    f->busy = true;
    job_ref(j);
    job_fsm_perform(f, j, job_entry_action[j->state]);
    job_fsm_drain(f);
    job_unref(j);
    f->busy = false;
}
