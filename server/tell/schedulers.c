/* Registered schedulers. See schedulers.h.
 *
 * A registered scheduler is one row: its object, its connection, the commands that wait as a set of bits,
 * and the questions it was asked. They leave with its next NEXT: watch.c asks `has` and `take`, and says
 * through `waits` when it begins and ends waiting, which is where the states idle and scheduling come
 * from. A question stays in the row after it was told, until the answer, the end of the connection or the
 * asker's end takes it out. */
#include "schedulers.h"

#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "log.h"
#include "pbs_error.h"
#include "watch.h"

struct question {
    unsigned number;
    enum sched_command what;
    const char *job; /* interned */
    bool told;       /* NEXT has taken it */
    schedulers_answer_fn *fn;
    void *arg;
    struct question *next;
};

struct scheduler {
    struct sched_obj *object; /* referenced */
    const void *owner;
    unsigned waiting; /* bit 1 << command */
    struct question *questions;
    struct scheduler *next;
};

struct schedulers {
    struct site *site;
    struct watches *watches;
    struct scheduler *list;
    unsigned last_question;
};

static struct scheduler *of_owner(const struct schedulers *sc, const void *owner)
{
    struct scheduler *x = sc->list;

    while (x && x->owner != owner)
        x = x->next;
    return x;
}

static struct scheduler *of_object(const struct schedulers *sc, const struct sched_obj *o)
{
    struct scheduler *x = sc->list;

    while (x && x->object != o)
        x = x->next;
    return x;
}

static void set_state(struct schedulers *sc, struct sched_obj *o, enum sched_state state)
{
    if (o->state == state)
        return;
    o->state = state;
    if (!o->obj.gone && strcmp(o->obj.name, "default") == 0)
        sc->site->server->scheduling_cycle = state == SCHED_IS_SCHEDULING;
}

/* --- wake-ups on their way out (struct watch_wakes) --------------------------------------------------- */

static bool has(void *arg, const void *owner)
{
    const struct scheduler *x = of_owner(arg, owner);

    if (!x)
        return false;
    for (const struct question *q = x->questions; q; q = q->next)
        if (!q->told)
            return true;
    return x->waiting != 0;
}

static void tell_command(const struct scheduler *x, int command)
{
    log_event(LOGC_SVR, LOGE_SCHED, x->object->obj.name, "Scheduler sent command %d", command);
}

static size_t take(void *arg, const void *owner, ifl_wake *out, size_t max)
{
    static char nothing[1];
    struct scheduler *x = of_owner(arg, owner);
    size_t n = 0;

    if (!x)
        return 0;
    for (int c = 0; c < 32 && n < max; c++) {
        if (!(x->waiting & (1u << c)))
            continue;
        x->waiting &= ~(1u << c);
        tell_command(x, c);
        out[n++] = (ifl_wake){.command = c, .job = nothing};
    }
    for (struct question *q = x->questions; q && n < max; q = q->next) {
        if (q->told)
            continue;
        q->told = true;
        tell_command(x, (int)q->what);
        out[n++] = (ifl_wake){.command = (int)q->what, .job = (char *)q->job, .answer = q->number};
    }
    return n;
}

static void waits(void *arg, const void *owner, bool waiting)
{
    struct schedulers *sc = arg;
    struct scheduler *x = of_owner(sc, owner);

    if (x)
        set_state(sc, x->object, waiting ? SCHED_IS_IDLE : SCHED_IS_SCHEDULING);
}

struct schedulers *schedulers_create(struct site *s, struct watches *ws)
{
    static const struct watch_wakes wakes = {has, take, waits};
    struct schedulers *sc = calloc(1, sizeof *sc);

    if (!sc)
        return NULL;
    *sc = (struct schedulers){.site = s, .watches = ws};
    watches_on_wakes(ws, &wakes, sc);
    return sc;
}

/* --- coming and going --------------------------------------------------------------------------------- */

static void fail_questions(struct scheduler *x)
{
    struct question *q;

    while ((q = x->questions)) {
        x->questions = q->next;
        q->fn(q->arg, PBSE_NOSCHEDULER, "Could not contact Scheduler", NULL);
        intern_unref(q->job);
        free(q);
    }
}

static void take_out(struct schedulers *sc, struct scheduler *x)
{
    struct scheduler **at = &sc->list;

    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    set_state(sc, x->object, SCHED_IS_DOWN);
    if (!x->object->obj.gone)
        change_touch(sc->site->change, &x->object->obj.change, PART_NONE);
    fail_questions(x); /* out of the list by now: an asker may ask anew, and is told that nobody is there */
    object_unref(&x->object->obj);
    free(x);
}

void schedulers_destroy(struct schedulers *sc)
{
    if (!sc)
        return;
    while (sc->list)
        take_out(sc, sc->list);
    free(sc);
}

int schedulers_register(struct schedulers *sc, const char *name, const void *owner, struct err *e)
{
    struct sched_obj *o = scheds_find(sc->site->scheds, name);
    struct scheduler *x;

    if (!o)
        return err_set(e, PBSE_UNKSCHED, "Unknown Scheduler %s", name);
    x = of_owner(sc, owner);
    if (x && x->object == o)
        return 0;
    if (x || of_object(sc, o))
        return err_set(e, PBSE_SCHEDCONNECTED, "Scheduler already connected: %s",
                       x ? x->object->obj.name : name);
    x = calloc(1, sizeof *x);
    if (!x)
        return err_set(e, PBSE_SYSTEM, "no memory for a scheduler");
    object_ref(&o->obj);
    *x = (struct scheduler){.object = o, .owner = owner, .next = sc->list};
    sc->list = x;
    set_state(sc, o, SCHED_IS_IDLE);
    change_touch(sc->site->change, &o->obj.change, PART_NONE);
    schedulers_wake(sc, o, SCHED_CMD_FIRST);
    return 0;
}

void schedulers_gone(struct schedulers *sc, const void *owner)
{
    struct scheduler *x = of_owner(sc, owner);

    if (!x)
        return;
    log_event(LOGC_SCHED, LOGE_SYSTEM, x->object->obj.name, "scheduler disconnected");
    take_out(sc, x);
}

struct sched_obj *schedulers_object(const struct schedulers *sc, const void *owner)
{
    const struct scheduler *x = of_owner(sc, owner);

    return x ? x->object : NULL;
}

bool schedulers_is_connected(const struct schedulers *sc, const struct sched_obj *o)
{
    return of_object(sc, o) != NULL;
}

/* --- reasons ------------------------------------------------------------------------------------------ */

static bool passes_always(enum sched_command why)
{
    return why == SCHED_CMD_CONFIGURE || why == SCHED_CMD_QUIT || why == SCHED_CMD_RUN_JOB;
}

void schedulers_wake(struct schedulers *sc, struct sched_obj *o, enum sched_command why)
{
    struct scheduler *x = of_object(sc, o);

    if (!x || (!passes_always(why) && !attr_list_bool(&o->obj.attrs, SCHED_ATTR_scheduling, true)))
        return;
    x->waiting |= 1u << why;
    watches_look(sc->watches);
}

bool schedulers_all_wait(const struct schedulers *sc)
{
    for (const struct scheduler *x = sc->list; x; x = x->next)
        if (!watches_is_waiting(sc->watches, x->owner))
            return false;
    return sc->list;
}

void schedulers_wake_all(struct schedulers *sc, enum sched_command why)
{
    for (struct scheduler *x = sc->list; x; x = x->next)
        schedulers_wake(sc, x->object, why);
}

/* The scheduler that serves a partition; queues without one belong to the default scheduler. */
struct sched_obj *schedulers_of_queue(const struct schedulers *sc, const struct queue *q)
{
    const char *partition = q ? attr_list_text(&q->obj.attrs, QUEUE_ATTR_partition) : NULL;

    for (struct sched_obj *o = partition ? scheds_first(sc->site->scheds) : NULL; o; o = scheds_next(o)) {
        const char *served = attr_list_text(&o->obj.attrs, SCHED_ATTR_partition);

        if (served && strcmp(served, partition) == 0)
            return o;
    }
    return scheds_find(sc->site->scheds, "default");
}

struct sched_obj *schedulers_of_job(const struct schedulers *sc, const struct job *j)
{
    return schedulers_of_queue(sc, j->queue);
}

/* --- questions ---------------------------------------------------------------------------------------- */

static size_t count(const struct scheduler *x, enum sched_command what)
{
    size_t n = 0;

    for (const struct question *q = x->questions; q; q = q->next)
        n += q->what == what;
    return n;
}

int schedulers_ask(struct schedulers *sc, struct sched_obj *o, const struct sched_question *ask,
                   schedulers_answer_fn *fn, void *arg, struct err *e)
{
    struct scheduler *x = of_object(sc, o);
    struct question *q, **end;

    if (!x)
        return err_set(e, PBSE_NOSCHEDULER, "Could not contact Scheduler");
    if (ask->what == SCHED_CMD_EXPLAIN && count(x, ask->what) >= SCHEDULERS_EXPLAIN_MAX)
        return err_set(e, PBSE_TOOMANY, "scheduler %s has %d jobs to explain already, try again", o->obj.name,
                       SCHEDULERS_EXPLAIN_MAX);
    q = calloc(1, sizeof *q);
    if (!q)
        return err_set(e, PBSE_SYSTEM, "no memory to ask the scheduler");
    if (++sc->last_question == 0)
        sc->last_question = 1; /* 0 is "nobody waits" */
    *q = (struct question){
        .number = sc->last_question, .what = ask->what, .job = intern_ref(ask->job), .fn = fn, .arg = arg};
    for (end = &x->questions; *end; end = &(*end)->next)
        ; /* they are told in the order in which they were asked; few wait */
    *end = q;
    watches_look(sc->watches);
    return 0;
}

bool schedulers_is_asked(const struct schedulers *sc, const struct job *j)
{
    for (const struct scheduler *x = sc->list; x; x = x->next)
        for (const struct question *q = x->questions; q; q = q->next)
            if (q->what == SCHED_CMD_RUN_JOB && q->job == j->obj.name) /* interned */
                return true;
    return false;
}

void schedulers_forget(struct schedulers *sc, void *arg)
{
    for (struct scheduler *x = sc->list; x; x = x->next)
        for (struct question **at = &x->questions; *at;) {
            struct question *q = *at;

            if (q->arg != arg) {
                at = &q->next;
                continue;
            }
            *at = q->next;
            intern_unref(q->job);
            free(q);
        }
}

int schedulers_answer(struct schedulers *sc, const void *owner, const struct sched_answer *a, struct err *e)
{
    struct scheduler *x = of_owner(sc, owner);

    for (struct question **at = x ? &x->questions : NULL; at && *at; at = &(*at)->next) {
        struct question *q = *at;

        if (q->number != a->number || (a->found && q->what != SCHED_CMD_EXPLAIN))
            continue;
        *at = q->next;
        q->fn(q->arg, a->code, a->text, a->found);
        intern_unref(q->job);
        free(q);
        return 0;
    }
    return err_set(e, PBSE_IVALREQ, "question %u was not asked, or is answered", a->number);
}
