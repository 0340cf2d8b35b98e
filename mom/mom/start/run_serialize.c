/* A run that waits is RUN_PREPARING without an order: whatever ends such a run ends this one, a MOM that dies forgets it,
 * and the server sends START again. What it waits for is not kept but looked up each time: runs of the same job and store
 * with a lower number that are not released. Their output stays in the spool, where the later one continues it. */
#include "run_serialize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <shep.h>

#include "journal.h"
#include "log.h"
#include "loop.h"
#include "mom.h"
#include "prepare.h"
#include "mom_run.h"

/* LIMIT_MS: what an earlier run leaves is killed and swept in well under a second; a run that cannot be ended must not
 * keep its job from starting. */
enum { LIMIT_MS = 5000 };

struct run_serialize {
    struct mom *m;
    struct run *run;
    struct loop_timer *timer;
};

struct run_serialize_search {
    struct mom *m;
    const struct run *later;
    size_t n;
};

static bool is_same_job(const struct run *a, const struct run *b)
{
    return a->key.seq == b->key.seq && a->key.index == b->key.index;
}

/* A run of another store is not of this job, and must not be ended for it. */
static bool is_in_the_way(const struct run *x, const struct run *later)
{
    return is_same_job(x, later) && x->key.run < later->key.run && x->slot.state < RUN_RELEASED &&
           strcmp(x->start.store, later->start.store) == 0;
}

static void keep_output(struct run *r)
{
    if (r->keep_output || r->slot.state >= RUN_ENDING)
        return;
    r->keep_output = true;
    mom_note(r, SHEP_NOTE_KEEP_OUTPUT);
}

static void run_serialize_end_one(void *arg, struct run *x)
{
    struct run_serialize_search *s = arg;

    if (!is_in_the_way(x, s->later) || x->purge_wanted)
        return;
    log_event(LOGC_JOB, LOGE_JOB, x->id, "run %u is here while run %u is started; it is killed", x->key.run,
              s->later->key.run);
    keep_output(x);
    mom_post(s->m, x, RUN_EV_PURGE); /* kills first where something is alive */
}

static void run_serialize_count_one(void *arg, struct run *x)
{
    struct run_serialize_search *s = arg;

    s->n += is_in_the_way(x, s->later);
}

static size_t run_serialize_count(struct mom *m, const struct run *later)
{
    struct run_serialize_search s = {.m = m, .later = later};

    runs_each(m->runs, run_serialize_count_one, &s);
    return s.n;
}

void run_serialize_stop(struct run *r)
{
    struct run_serialize *w = r->run_serialize;

    if (!w)
        return;
    r->run_serialize = NULL;
    loop_timer_destroy(w->timer);
    free(w);
}

static void run_serialize_proceed(struct mom *m, struct run *r)
{
    run_serialize_stop(r);
    if (r->slot.state == RUN_PREPARING)
        prepare_begin(m->prepare, r);
}

static void run_serialize_on_limit(void *arg)
{
    struct run_serialize *w = arg;
    struct run *r = w->run;
    struct mom *m = w->m;

    log_event(LOGC_JOB, LOGE_ERROR, r->id,
              "an earlier run has not ended in %d s; run %u begins beside what is left of it",
              LIMIT_MS / 1000, r->key.run);
    run_serialize_proceed(m, r);
}

static int wait_for_others(struct mom *m, struct run *r, struct err *e)
{
    struct run_serialize *w = calloc(1, sizeof *w);

    if (!w)
        return err_set(e, ENOMEM, "no memory to wait for the end of run %u", r->key.run - 1);
    *w = (struct run_serialize){
        .m = m, .run = r, .timer = loop_timer_create(m->loop, LOOP_REAL, run_serialize_on_limit, w)};
    if (!w->timer) {
        free(w);
        return err_set(e, ENOMEM, "no timer for the end of run %u", r->key.run - 1);
    }
    r->run_serialize = w;
    loop_timer_set(w->timer, LIMIT_MS);
    return 0;
}

void run_serialize_begin(struct mom *m, struct run *r)
{
    struct run_serialize_search s = {.m = m, .later = r};
    struct err e = {0};

    runs_each(m->runs, run_serialize_end_one, &s);
    if (run_serialize_count(m, r) && wait_for_others(m, r, &e) == 0) {
        log_event(LOGC_JOB, LOGE_DEBUG, r->id, "run %u waits for the end of an earlier one", r->key.run);
        return;
    }
    if (e.code)
        log_err(LOGC_JOB, r->id, &e,
                "run %u begins beside %u earlier ones of its job: it cannot wait for them", r->key.run,
                (unsigned)run_serialize_count(m, r));
    run_serialize_proceed(m, r);
}

static void run_serialize_wake(void *arg, struct run *x)
{
    struct run_serialize_search *s = arg;

    if (x->run_serialize && is_same_job(x, s->later) && run_serialize_count(s->m, x) == 0)
        run_serialize_proceed(s->m, x);
}

void run_serialize_released(struct mom *m, const struct run *r)
{
    struct run_serialize_search s = {.m = m, .later = r};

    runs_each(m->runs, run_serialize_wake, &s);
}
