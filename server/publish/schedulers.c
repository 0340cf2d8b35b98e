/* Registered schedulers. See schedulers.h.
 *
 * A registered scheduler is one row: its object, its connection, the commands that wait as a set of bits,
 * and the questions it was asked. They leave with its next NEXT: watch.c asks `has` and `take`, and says
 * through `waits` when it begins and ends waiting, which is where the states idle and scheduling come
 * from. A question stays in the row after it was told, until the answer, the end of the connection or the
 * asker's end takes it out.
 *
 * Heartbeat times are of the real monotonic clock: a simulator may drive the other. */
#include "schedulers.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "intern.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "watch.h"

/* How often one that has nothing to do is asked whether it is there: a message a minute costs nothing, and finds one that hangs
 * long before the next person waits for it. */
enum { ASK_MS = 60000, MARGIN_S = 60 };

/* Before a scheduler is given up, read what it has sent: it may be this server that did not run. */
enum { SECOND_LOOK_MS = 1000 };

struct schedulers_question {
    unsigned number;
    enum sched_command what;
    const char *job;      /* interned */
    const char *asker;    /* interned, or NULL */
    struct job *unlisted; /* referenced, or NULL */
    bool told;            /* NEXT has taken it */
    schedulers_answer_fn *fn;
    void *arg;
    struct schedulers_question *next;
};

struct schedulers_entry {
    struct sched_obj *object; /* referenced */
    const void *owner;
    unsigned waiting; /* bit 1 << command */
    struct schedulers_question *questions;
    bool signs;       /* it gives signs of life */
    int64_t heard_ms; /* when it last asked for something, or was told something after having waited */
    int64_t look_ms;  /* when it is examined again, as its time is over; 0: it is not */
    struct schedulers_entry *next;
};

struct schedulers {
    struct server_ctx *ctx;
    struct watches *watches;
    struct schedulers_entry *list;
    unsigned last_question;
    struct loop_timer *guard; /* NULL: none is looked after */
    schedulers_waits_fn *waits_for_us;
};

static void schedulers_question_free(struct schedulers_question *q)
{
    intern_unref(q->job);
    intern_unref(q->asker);
    job_unref(q->unlisted);
    free(q);
}

static struct schedulers_entry *of_owner(const struct schedulers *sc, const void *owner)
{
    struct schedulers_entry *x = sc->list;

    while (x && x->owner != owner)
        x = x->next;
    return x;
}

static struct schedulers_entry *of_object(const struct schedulers *sc, const struct sched_obj *o)
{
    struct schedulers_entry *x = sc->list;

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
        sc->ctx->server->scheduling_cycle = state == SCHED_IS_SCHEDULING;
}

/* --- heartbeat ----------------------------------------------------------------------------------------- */

/* A scheduler that gives no signs of life is silent for a whole cycle, which may take sched_cycle_length. */
static int64_t patience_ms(const struct schedulers_entry *x)
{
    const struct attr_list *a = &x->object->obj.attrs;
    int64_t cycle_s = attr_list_effective(a, SCHED_ATTR_sched_cycle_length);

    return attr_list_number(a, SCHED_ATTR_heartbeat_timeout,
                            x->signs ? SCHEDULERS_SILENCE_S : cycle_s + MARGIN_S) *
           1000;
}

/* The scheduler has said something. The timer notices that by itself. */
static void schedulers_note(struct schedulers_entry *x)
{
    x->heard_ms = clock_real_mono_ms();
    x->look_ms = 0;
}

static bool schedulers_is_waiting(const struct schedulers *sc, const struct schedulers_entry *x)
{
    return x->object->state == SCHED_IS_IDLE && watches_is_waiting(sc->watches, x->owner);
}

/* How long it may be left alone. One that has registered and not asked for news yet cannot be told that there are none. */
static int64_t quiet_ms(const struct schedulers *sc, const struct schedulers_entry *x)
{
    int64_t most = schedulers_is_waiting(sc, x) ? ASK_MS
                   : x->questions               ? SCHEDULERS_SILENCE_S * 1000
                                                : INT64_MAX;
    int64_t patience = patience_ms(x);

    return patience > most ? most : patience;
}

static int64_t due_ms(const struct schedulers *sc, const struct schedulers_entry *x)
{
    return x->look_ms ? x->look_ms : x->heard_ms + quiet_ms(sc, x);
}

static void guard_arm(struct schedulers *sc)
{
    int64_t now = clock_real_mono_ms(), next = INT64_MAX;

    if (!sc->guard)
        return;
    for (const struct schedulers_entry *x = sc->list; x; x = x->next)
        if (due_ms(sc, x) < next)
            next = due_ms(sc, x);
    if (next == INT64_MAX)
        loop_timer_cancel(sc->guard);
    else
        loop_timer_set(sc->guard, next > now ? next - now : 0);
}

void schedulers_on_heard(void *arg, const struct server_event *ev)
{
    struct schedulers_entry *x = of_owner(arg, ev->client);

    if (x)
        schedulers_note(x);
}

int schedulers_sign(struct schedulers *sc, const void *owner, struct err *e)
{
    struct schedulers_entry *x = of_owner(sc, owner);

    if (!x)
        return err_set(e, PBSE_IVALREQ, "a sign of life from one that is not a registered scheduler");
    schedulers_note(x);
    if (!x->signs) {
        x->signs = true;
        guard_arm(sc); /* it has less time now */
    }
    return 0;
}

/* --- wake-ups on their way out (struct watch_wakes) --------------------------------------------------- */

static bool schedulers_has(void *arg, const void *owner)
{
    const struct schedulers_entry *x = of_owner(arg, owner);

    if (!x)
        return false;
    for (const struct schedulers_question *q = x->questions; q; q = q->next)
        if (!q->told)
            return true;
    return x->waiting != 0;
}

static void tell_command(const struct schedulers_entry *x, int command)
{
    if (command == SCHED_CMD_NULL)
        return;
    log_event(LOGC_SVR, LOGE_SCHED, x->object->obj.name, "Scheduler sent command %d", command);
}

static size_t schedulers_take(void *arg, const void *owner, ifl_wake *out, size_t max)
{
    static char nothing[1];
    struct schedulers_entry *x = of_owner(arg, owner);
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
    for (struct schedulers_question *q = x->questions; q && n < max; q = q->next) {
        if (q->told)
            continue;
        q->told = true;
        tell_command(x, (int)q->what);
        out[n++] = (ifl_wake){.command = (int)q->what, .job = (char *)q->job, .answer = q->number};
    }
    return n;
}

static struct job *schedulers_unlisted(void *arg, const void *owner, unsigned answer)
{
    const struct schedulers_entry *x = of_owner(arg, owner);

    for (const struct schedulers_question *q = x ? x->questions : NULL; q; q = q->next)
        if (q->number == answer)
            return q->unlisted;
    return NULL;
}

static void schedulers_waits(void *arg, const void *owner, bool waiting)
{
    struct schedulers *sc = arg;
    struct schedulers_entry *x = of_owner(sc, owner);

    if (!x)
        return;
    schedulers_note(x);
    set_state(sc, x->object, waiting ? SCHED_IS_IDLE : SCHED_IS_SCHEDULING);
    guard_arm(sc);
}

struct schedulers *schedulers_create(struct server_ctx *s, struct watches *ws)
{
    static const struct watch_wakes wakes = {schedulers_has, schedulers_take, schedulers_unlisted,
                                             schedulers_waits};
    struct schedulers *sc = calloc(1, sizeof *sc);

    if (!sc)
        return NULL;
    *sc = (struct schedulers){.ctx = s, .watches = ws};
    watches_on_wakes(ws, &wakes, sc);
    return sc;
}

/* --- coming and going --------------------------------------------------------------------------------- */

static void fail_questions(struct schedulers_entry *x, const char *why)
{
    struct schedulers_question *q;
    size_t n = 0;

    for (q = x->questions; q; q = q->next)
        n++;
    for (; n > 0 && (q = x->questions);
         n--) { /* not questions that are asked meanwhile: they are added at the end */
        x->questions = q->next;
        q->fn(q->arg, PBSE_NOSCHEDULER, why, NULL);
        schedulers_question_free(q);
    }
}

static void schedulers_take_out(struct schedulers *sc, struct schedulers_entry *x, const char *why)
{
    struct schedulers_entry **at = &sc->list;

    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    set_state(sc, x->object, SCHED_IS_DOWN);
    if (!x->object->obj.gone)
        change_touch(sc->ctx->change, &x->object->obj.change, PART_NONE);
    fail_questions(x, why); /* it has left the list: an asker that asks again is told that there is none */
    object_unref(&x->object->obj);
    free(x);
}

/* The words of PBS. */
static const char gone_text[] = "Could not contact Scheduler";

static void schedulers_give_up(struct schedulers *sc, struct schedulers_entry *x)
{
    const void *owner = x->owner;
    char why[200];

    snprintf(why, sizeof why, "Could not contact Scheduler: %s hangs, it has said nothing for %lld seconds",
             x->object->obj.name, (long long)(patience_ms(x) / 1000));
    log_event(
        LOGC_SCHED, LOGE_ERROR, x->object->obj.name,
        "the scheduler hangs: it has said nothing for %lld seconds (heartbeat_timeout); another may register",
        (long long)(patience_ms(x) / 1000));
    schedulers_take_out(sc, x, why);
    server_events_tell(sc->ctx->events, &(struct server_event){.kind = EVENT_SCHED_HUNG, .client = owner});
}

/* A scheduler in a long cycle that gives no signs of life stays registered, but requests do not wait for it that
 * long. */
static void refuse_questions(struct schedulers_entry *x)
{
    char why[200];

    snprintf(why, sizeof why,
             "Could not contact Scheduler: %s does not answer, it has said nothing for %d seconds",
             x->object->obj.name, SCHEDULERS_SILENCE_S);
    log_event(LOGC_SCHED, LOGE_SYSTEM, x->object->obj.name,
              "the scheduler does not answer: questions fail after %d seconds", SCHEDULERS_SILENCE_S);
    x->look_ms = 0;
    fail_questions(x, why);
}

/* A scheduler that waits for changes is told that there are none. One whose time is over and that waits for no
 * answer of this server hangs. */
static void guard_one(struct schedulers *sc, struct schedulers_entry *x)
{
    if (clock_real_mono_ms() < due_ms(sc, x))
        return;
    if (schedulers_is_waiting(sc, x)) {
        schedulers_note(x);
        x->waiting |= 1u << SCHED_CMD_NULL;
        watches_look(sc->watches);
    } else if (!x->signs && sc->waits_for_us(x->owner)) {
        schedulers_note(x);
    } else if (!x->look_ms) {
        x->look_ms = clock_real_mono_ms() + SECOND_LOOK_MS;
    } else if (clock_real_mono_ms() < x->heard_ms + patience_ms(x)) {
        refuse_questions(x);
    } else {
        schedulers_give_up(sc, x);
    }
}

static void schedulers_guard_cb(void *arg)
{
    struct schedulers *sc = arg;

    for (struct schedulers_entry *x = sc->list, *next; x; x = next) {
        next = x->next;
        guard_one(sc, x);
    }
    guard_arm(sc);
}

int schedulers_guard(struct schedulers *sc, struct loop *l, schedulers_waits_fn *waits_for_us)
{
    sc->waits_for_us = waits_for_us;
    sc->guard = loop_timer_create(l, LOOP_REAL, schedulers_guard_cb, sc);
    return sc->guard ? 0 : -1;
}

void schedulers_destroy(struct schedulers *sc)
{
    if (!sc)
        return;
    while (sc->list)
        schedulers_take_out(sc, sc->list, gone_text);
    loop_timer_destroy(sc->guard);
    free(sc);
}

int schedulers_register(struct schedulers *sc, const char *name, const void *owner, struct err *e)
{
    struct sched_obj *o = scheds_find(sc->ctx->scheds, name);
    struct schedulers_entry *x;

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
    *x = (struct schedulers_entry){
        .object = o, .owner = owner, .heard_ms = clock_real_mono_ms(), .next = sc->list};
    sc->list = x;
    set_state(sc, o, SCHED_IS_IDLE);
    change_touch(sc->ctx->change, &o->obj.change, PART_NONE);
    guard_arm(sc);
    schedulers_wake(sc, o, SCHED_CMD_FIRST);
    return 0;
}

void schedulers_on_gone(void *arg, const struct server_event *ev)
{
    struct schedulers *sc = arg;
    struct schedulers_entry *x = of_owner(sc, ev->client);

    if (!x)
        return;
    log_event(LOGC_SCHED, LOGE_SYSTEM, x->object->obj.name, "scheduler disconnected");
    schedulers_take_out(sc, x, gone_text);
}

struct sched_obj *schedulers_object(const struct schedulers *sc, const void *owner)
{
    const struct schedulers_entry *x = of_owner(sc, owner);

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
    struct schedulers_entry *x = of_object(sc, o);

    if (!x || (!passes_always(why) && !attr_list_bool(&o->obj.attrs, SCHED_ATTR_scheduling, true)))
        return;
    x->waiting |= 1u << why;
    watches_look(sc->watches);
}

bool schedulers_all_wait(const void *schedulers)
{
    const struct schedulers *sc = schedulers;
    for (const struct schedulers_entry *x = sc->list; x; x = x->next)
        if (!watches_is_waiting(sc->watches, x->owner))
            return false;
    return sc->list;
}

bool schedulers_any_schedules(const void *schedulers)
{
    const struct schedulers *sc = schedulers;

    for (const struct schedulers_entry *x = sc->list; x; x = x->next)
        if (attr_list_bool(&x->object->obj.attrs, SCHED_ATTR_scheduling, true))
            return true;
    return false;
}

static bool schedulers_is_named(const char *names, const char *name)
{
    const size_t n = strlen(name);

    for (const char *at = names; *at; at += strcspn(at, ",") + 1)
        if (strncmp(at, name, n) == 0 && at[n] == ',')
            return true;
    return false;
}

bool schedulers_any_other(const void *schedulers, const char *names)
{
    const struct schedulers *sc = schedulers;

    for (const struct schedulers_entry *x = sc->list; x; x = x->next) {
        const struct object *o = &x->object->obj;

        if (attr_list_bool(&o->attrs, SCHED_ATTR_scheduling, true) && !schedulers_is_named(names, o->name) &&
            (strcmp(o->name, "default") == 0 || attr_list_is_set(&o->attrs, SCHED_ATTR_partition)))
            return true;
    }
    return false;
}

void schedulers_on_reason(void *arg, const struct server_event *ev)
{
    static const enum sched_command reasons[SERVER_EVENT_COUNT] = {
        [EVENT_JOB_MOVED] = SCHED_CMD_MOVED,           [EVENT_RESV_SUBMITTED] = SCHED_CMD_NEW,
        [EVENT_RESV_STARTED] = SCHED_CMD_RESV_STARTED, [EVENT_RESV_ENDED] = SCHED_CMD_TERM,
        [EVENT_RESV_UNFIT] = SCHED_CMD_RECONFIRM,      [EVENT_SCHED_TIME] = SCHED_CMD_TIME,
    };

    schedulers_wake_all(arg, reasons[ev->kind]);
}

void schedulers_wake_all(struct schedulers *sc, enum sched_command why)
{
    for (struct schedulers_entry *x = sc->list; x; x = x->next)
        schedulers_wake(sc, x->object, why);
}

struct sched_obj *schedulers_of_queue(const struct schedulers *sc, const struct queue *q)
{
    const char *partition = q ? attr_list_text(&q->obj.attrs, QUEUE_ATTR_partition) : NULL;

    for (struct sched_obj *o = partition ? scheds_first(sc->ctx->scheds) : NULL; o; o = scheds_next(o)) {
        const char *served = attr_list_text(&o->obj.attrs, SCHED_ATTR_partition);

        if (served && strcmp(served, partition) == 0)
            return o;
    }
    return scheds_find(sc->ctx->scheds, "default");
}

struct sched_obj *schedulers_of_job(const struct schedulers *sc, const struct job *j)
{
    return schedulers_of_queue(sc, j->queue);
}

/* --- questions ---------------------------------------------------------------------------------------- */

static bool is_foresight(enum sched_command what)
{
    return what == SCHED_CMD_EXPLAIN || what == SCHED_CMD_WHEN;
}

static size_t schedulers_count(const struct schedulers_entry *x)
{
    size_t n = 0;

    for (const struct schedulers_question *q = x->questions; q; q = q->next)
        n += is_foresight(q->what);
    return n;
}

static size_t schedulers_count_of(const struct schedulers_entry *x, const char *asker)
{
    size_t n = 0;

    for (const struct schedulers_question *q = x->questions; asker && q; q = q->next)
        n += q->asker && strcmp(q->asker, asker) == 0;
    return n;
}

int schedulers_ask(struct schedulers *sc, struct sched_obj *o, const struct sched_question *ask,
                   schedulers_answer_fn *fn, void *arg, struct err *e)
{
    struct schedulers_entry *x = of_object(sc, o);
    struct schedulers_question *q, **end;

    if (!x)
        return err_set(e, PBSE_NOSCHEDULER, "Could not contact Scheduler");
    if (is_foresight(ask->what) && schedulers_count(x) >= SCHEDULERS_EXPLAIN_MAX)
        return err_set(e, PBSE_TOOMANY, "scheduler %s has %d jobs to explain already, try again", o->obj.name,
                       SCHEDULERS_EXPLAIN_MAX);
    if (schedulers_count_of(x, ask->asker) >= SCHEDULERS_EXPLAIN_USER_MAX)
        return err_set(e, PBSE_TOOMANY, "scheduler %s has %d jobs to explain to you already, try again",
                       o->obj.name, SCHEDULERS_EXPLAIN_USER_MAX);
    q = calloc(1, sizeof *q);
    if (!q)
        return err_set(e, PBSE_SYSTEM, "no memory to ask the scheduler");
    if (++sc->last_question == 0)
        sc->last_question = 1; /* 0 is "nobody waits" */
    *q = (struct schedulers_question){.number = sc->last_question,
                                      .what = ask->what,
                                      .job = intern_ref(ask->job),
                                      .asker = intern_ref(ask->asker),
                                      .unlisted = ask->unlisted ? job_ref(ask->unlisted) : NULL,
                                      .fn = fn,
                                      .arg = arg};
    for (end = &x->questions; *end; end = &(*end)->next)
        ; /* they are told in the order in which they were asked; few wait */
    *end = q;
    guard_arm(sc);
    watches_look(sc->watches);
    return 0;
}

bool schedulers_is_asked(const struct schedulers *sc, const struct job *j)
{
    for (const struct schedulers_entry *x = sc->list; x; x = x->next)
        for (const struct schedulers_question *q = x->questions; q; q = q->next)
            if (q->what == SCHED_CMD_RUN_JOB && q->job == j->obj.name) /* interned */
                return true;
    return false;
}

void schedulers_forget(struct schedulers *sc, void *arg)
{
    for (struct schedulers_entry *x = sc->list; x; x = x->next)
        for (struct schedulers_question **at = &x->questions; *at;) {
            struct schedulers_question *q = *at;

            if (q->arg != arg) {
                at = &q->next;
                continue;
            }
            *at = q->next;
            schedulers_question_free(q);
        }
}

int schedulers_answer(struct schedulers *sc, const void *owner, const struct sched_answer *a, struct err *e)
{
    struct schedulers_entry *x = of_owner(sc, owner);

    for (struct schedulers_question **at = x ? &x->questions : NULL; at && *at; at = &(*at)->next) {
        struct schedulers_question *q = *at;

        if (q->number != a->number || (a->found && !is_foresight(q->what)))
            continue;
        *at = q->next;
        q->fn(q->arg, a->code, a->text, a->found);
        schedulers_question_free(q);
        return 0;
    }
    return err_set(e, PBSE_IVALREQ, "question %u was not asked, or is answered", a->number);
}
