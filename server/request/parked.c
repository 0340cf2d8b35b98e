/* Requests that wait on a job. See parked.h.
 *
 * A handler posts an event and parks its request; hosts do what they were told; a transition of the job settles the
 * requests (handlers/settle_parked.c). An entry ends in one of four ways, whichever comes first: it is settled, its
 * client disconnects, its time is over, or the job leaves its state for good, which settles all. The operation
 * itself continues in each case: only the answer is bound to the entry. Nothing is stored: a restarted server has no
 * clients that wait.
 *
 * A list in the job. Each entry has a reference to both, so neither a client that disconnects nor a job that
 * ends leaves a pointer behind. A client that disconnects removes its own entry; an answer that settles one
 * takes the callback away. */
#include "parked.h"

#include <stdlib.h>

#include "loop.h"
#include "pbs_error.h"

struct parked {
    struct parked *next;
    struct job *job;         /* referenced */
    struct request *request; /* referenced */
    enum parked_for what;
    struct loop_timer *timer;
    struct err late;        /* the answer when the timer is due */
    parked_again_fn *again; /* PARKED_START: what the job's start lets it do, with `arg` */
    void *arg;
};

/* How long hosts may take, a row for each kind; `name` is the word that is used for it in the answer. A host that is silent for 120 s
 * (exec_orders.h) is taken for lost; one that is heard of, and does not do what it is told, is waited for no longer. RUN: files are
 * staged in before a run, for up to two hours. HOLD: an image has half an hour (run_checkpoint.c) and is then copied. REQUEUE: the
 * job's end has its kill_delay, and files are staged out. Choices but for the first: a client that waits longer has mostly gone. */
static const struct {
    const char *name;
    int64_t most_s;
} rows[PARKED_COUNT] = {[PARKED_START] = {"start", 120},        [PARKED_RUN] = {"run", 2 * 3600},
                        [PARKED_SUSPEND] = {"suspend", 120},    [PARKED_RESUME] = {"resume", 120},
                        [PARKED_REQUEUE] = {"rerun", 3 * 3600}, [PARKED_HOLD] = {"hold", 3600}};

/* A job has one or two entries, so the list is short. */
static void unlink_one(struct parked *p)
{
    struct parked **at = &p->job->parked;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
}

static void parked_drop(struct parked *p)
{
    loop_timer_destroy(p->timer);
    request_on_dead(p->request, NULL, NULL);
    request_unref(p->request);
    job_unref(p->job);
    free(p);
}

static void parked_client_died(void *arg, struct request *r)
{
    struct parked *p = arg;

    unlink_one(p);
    parked_drop(p);
}

static void parked_too_late(void *arg)
{
    struct parked *p = arg;

    unlink_one(p);
    request_fail(p->request, &p->late);
    parked_drop(p);
}

static int no_memory(const struct job *j, struct err *e)
{
    return err_set(e, PBSE_SYSTEM, "no memory to wait for job %s", j->obj.name);
}

static int park(struct job *j, struct request *r, enum parked_for what, struct err *e)
{
    struct parked *p = calloc(1, sizeof *p);

    if (!p)
        return no_memory(j, e);
    p->job = job_ref(j);
    p->request = request_ref(r);
    p->what = what;
    p->next = j->parked;
    j->parked = p;
    request_on_dead(r, parked_client_died, p);
    return 0;
}

int parked_add_for(struct job *j, struct request *r, enum parked_for what, struct loop *l, int64_t most_s,
                   const struct err *late, struct err *e)
{
    if (park(j, r, what, e) < 0)
        return -1;
    j->parked->late = *late;
    j->parked->timer = loop_timer_create(l, LOOP_CLOCK, parked_too_late, j->parked);
    if (!j->parked->timer) {
        parked_client_died(j->parked, r);
        return no_memory(j, e);
    }
    loop_timer_set(j->parked->timer, most_s * 1000);
    return 0;
}

int parked_add(struct job *j, struct request *r, enum parked_for what, struct loop *l, struct err *e)
{
    struct err late;

    err_set(
        &late, PBSE_INTERNAL,
        "Response timed out. Job %s request still in progress for %s: its hosts have not done it in %lld s",
        rows[what].name, j->obj.name, (long long)rows[what].most_s);
    return parked_add_for(j, r, what, l, rows[what].most_s, &late, e);
}

int parked_add_start(struct job *j, struct request *r, struct loop *l, parked_again_fn *again, void *arg,
                     struct err *e)
{
    int64_t most_s = rows[PARKED_START].most_s;
    struct err late;

    err_set(&late, PBSE_BADSTATE,
            "Request invalid for state of job: %s is starting; its hosts have not begun it in %lld s",
            j->obj.name, (long long)most_s);
    if (parked_add_for(j, r, PARKED_START, l, most_s, &late, e) < 0)
        return -1;
    j->parked->again = again;
    j->parked->arg = arg;
    return 0;
}

/* The entry is dropped first: `again` may park the request once more. */
static void parked_answer(struct parked *p, const struct err *why)
{
    struct request *r = request_ref(p->request);
    parked_again_fn *again = p->again;
    void *arg = p->arg;

    if (why)
        request_fail(r, why);
    else if (!again)
        request_ok(r);
    parked_drop(p);
    if (!why && again)
        again(arg, r);
    request_unref(r);
}

/* `what`: one kind, or -1 for all. An answer changes this job's list only by `again`, which may put an entry of another
 * kind at its front. */
static void parked_settle_kind(struct job *j, int what, const struct err *why)
{
    struct parked **at = &j->parked;

    while (*at) {
        struct parked *p = *at;

        if (what >= 0 && p->what != (enum parked_for)what) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        parked_answer(p, why);
    }
}

void parked_settle(struct job *j, enum parked_for what, const struct err *why)
{
    parked_settle_kind(j, (int)what, why);
}

void parked_settle_all(struct job *j, const struct err *why)
{
    parked_settle_kind(j, -1, why);
}
