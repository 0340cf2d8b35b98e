/* Servers that wait for news of jobs. See track_request.h.
 *
 * The other end of depend_link.c. A call is answered once: at once where more is known than it says, by an event of its job, or after its
 * time. The asking server then asks again. One that disconnects is dropped.
 *
 * Calls are in a hash by the number of the job, of which several servers' calls, or one's repeated, make a list. */
#include "track_request.h"

#include <stdlib.h>
#include <uthash.h>
#include <utlist.h>

#include <ifl.h>

#include "commit.h"
#include "loop.h"
#include "pbs_error.h"

/* A choice. The asking server names the wait (TRACK_WAIT_S of depend_link.c); one that is gone must not cost memory for longer than
 * WAIT_MAX_S. */
enum { WAIT_MAX_S = 3600 };

struct track { /* one call */
    struct track *prev, *next;
    struct track_request *all;
    struct request *request; /* counted */
    struct loop_timer *timer;
    int64_t seq;
    unsigned facts; /* the answer */
};

struct track_request_job { /* one job */
    int64_t seq;
    struct track *calls;
    UT_hash_handle hh;
};

struct track_request {
    struct loop *loop;
    struct depends *depends;
    struct commit *commit;
    struct track_request_job *jobs;
};

struct track_request *track_request_create(struct loop *l, struct depends *d, struct commit *c)
{
    struct track_request *t = calloc(1, sizeof *t);

    if (t)
        *t = (struct track_request){.loop = l, .depends = d, .commit = c};
    return t;
}

static struct track_request_job *track_request_find(const struct track_request *t, int64_t seq)
{
    struct track_request_job *x;

    HASH_FIND(hh, t->jobs, &seq, sizeof seq, x);
    return x;
}

static void track_request_take_out(struct track *x)
{
    struct track_request_job *of = track_request_find(x->all, x->seq);

    DL_DELETE(of->calls, x);
    if (!of->calls) {
        HASH_DEL(x->all->jobs, of);
        free(of);
    }
    request_on_dead(x->request, NULL, NULL);
    loop_timer_destroy(x->timer);
    x->timer = NULL;
}

static void track_free(struct track *x)
{
    request_unref(x->request);
    free(x);
}

void track_request_destroy(struct track_request *t)
{
    while (t && t->jobs) {
        struct track *x = t->jobs->calls;

        track_request_take_out(x);
        track_free(x);
    }
    free(t);
}

/* What is told is durable: the other server may act on it at once, and forget it. */
static void track_request_answer(void *arg)
{
    struct track *x = arg;
    char nothing[1] = "";
    ifl_track_result result = {.result = {.text = nothing}, .facts = x->facts};

    request_reply(x->request, &result);
    track_free(x);
}

static void track_request_client_died(void *arg, struct request *r)
{
    track_request_take_out(arg);
    track_free(arg);
}

static void track_request_waited(void *arg)
{
    struct track *x = arg;

    track_request_take_out(x);
    track_request_answer(x);
}

static int park(struct track_request *t, struct track *x, unsigned wait_s)
{
    struct track_request_job *of = track_request_find(t, x->seq);

    x->timer = loop_timer_create(t->loop, LOOP_REAL, track_request_waited, x);
    if (!x->timer)
        return -1;
    if (!of) {
        of = calloc(1, sizeof *of);
        if (!of) {
            loop_timer_destroy(x->timer);
            return -1;
        }
        of->seq = x->seq;
        HASH_ADD(hh, t->jobs, seq, sizeof of->seq, of);
    }
    DL_APPEND(of->calls, x);
    request_on_dead(x->request, track_request_client_died, x);
    loop_timer_set(x->timer, 1000 * (int64_t)(wait_s < WAIT_MAX_S ? wait_s : WAIT_MAX_S));
    return 0;
}

void track_request_serve(struct track_request *t, struct request *r)
{
    const ifl_track_args *a = request_args(r);
    struct job_key key;
    struct track *x;
    unsigned facts;
    struct err e;

    if (depends_facts(t->depends, &(struct depend_peer_job){a->job, a->from}, &key, &facts, &e) < 0) {
        request_fail(r, &e);
        return;
    }
    x = calloc(1, sizeof *x);
    if (!x) {
        request_failf(r, PBSE_SYSTEM, "no memory to track a job");
        return;
    }
    *x = (struct track){.all = t, .request = request_ref(r), .seq = key.seq, .facts = facts};
    if (facts & ~a->known || !a->wait_s) {
        commit_then(t->commit, track_request_answer, x);
    } else if (park(t, x, a->wait_s) < 0) {
        request_failf(r, PBSE_SYSTEM, "no memory to track a job");
        track_free(x);
    }
}

static bool is_news(struct track *x)
{
    const ifl_track_args *a = request_args(x->request);
    struct job_key key;
    struct err ignored;

    return depends_facts(x->all->depends, &(struct depend_peer_job){a->job, a->from}, &key, &x->facts,
                         &ignored) == 0 &&
           (x->facts & ~a->known);
}

void track_request_on_facts(void *arg, const struct server_event *ev)
{
    struct track_request *t = arg;
    struct track_request_job *of = track_request_find(t, ev->key.seq);
    struct track *x, *next;

    for (x = of ? of->calls : NULL; x; x = next) {
        next = x->next;
        if (!is_news(x))
            continue;
        track_request_take_out(x);
        commit_then(t->commit, track_request_answer, x);
    }
}
