/* Orders to end that were refused, and the time of the next attempt. See term_resend.h.
 *
 * The protocol lets a host refuse TERMINATE, though our MOM takes it for every run that it holds. The host is asked again until the
 * run has finished, each time with the order that is in force then, so it is never asked for something that was overtaken.
 *
 * An entry is a run of a job, by key and number: it means nothing once the job has another run or none. Entries are in the
 * order of their times, unless the delay was altered between; then some are a little late. There are few, if any. */
#include "term_resend.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "clock.h"
#include "job_run.h"
#include "log.h"
#include "loop.h"
#include "run.h"
#include "server_ctx.h"

enum { LEAST_MS = 100 }; /* with a delay of 0 no host is asked without a pause */

struct term_resend_entry {
    struct job_key key;
    unsigned run;
    int64_t due_mono_ms;
};

struct term_resend {
    struct server_ctx *ctx;
    struct runs *runs;
    struct loop_timer *timer;
    struct term_resend_entry *list;
    size_t n, cap;
};

static bool term_resend_is_of(const struct term_resend_entry *x, const struct job *j)
{
    return x->key.seq == j->key.seq && x->key.index == j->key.index && x->run == j->run->version;
}

static void term_resend_again(struct term_resend *r, const struct term_resend_entry *x)
{
    struct job *j = jobs_find(r->ctx->jobs, x->key);

    if (!j || !j->run || !term_resend_is_of(x, j) || j->run->finished || !j->run->terminations)
        return;
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "its termination was refused, and is ordered again (run %u)",
              x->run);
    runs_renew(r->runs, j);
}

static void term_resend_due(void *arg)
{
    struct term_resend *r = arg;
    int64_t now = clock_mono_ms(r->ctx->clock);

    while (r->n && r->list[0].due_mono_ms <= now) {
        struct term_resend_entry x = r->list[0];

        memmove(r->list, r->list + 1, --r->n * sizeof *r->list);
        term_resend_again(r, &x);
    }
    if (r->n)
        loop_timer_set_at(r->timer, r->list[0].due_mono_ms);
}

static int64_t delay_ms(const struct term_resend *r)
{
    int64_t ms = attr_list_effective(&r->ctx->server->obj.attrs, SERVER_ATTR_resend_term_delay) * 1000;

    return ms > LEAST_MS ? ms : LEAST_MS;
}

static bool is_noted(const struct term_resend *r, const struct job *j)
{
    for (size_t i = 0; i < r->n; i++)
        if (term_resend_is_of(&r->list[i], j))
            return true;
    return false;
}

static bool term_resend_make_room(struct term_resend *r)
{
    size_t cap = r->cap ? 2 * r->cap : 16;
    struct term_resend_entry *more;

    if (r->n < r->cap)
        return true;
    more = realloc(r->list, cap * sizeof *more);
    if (!more)
        return false;
    r->list = more;
    r->cap = cap;
    return true;
}

void term_resend_on_refused(void *arg, const struct server_event *ev)
{
    struct term_resend *r = arg;
    const struct job *j = ev->job;

    if (ev->proc != EXEC_TERMINATE || !j->run || is_noted(r, j) || !term_resend_make_room(r))
        return;
    r->list[r->n++] =
        (struct term_resend_entry){j->key, j->run->version, clock_mono_ms(r->ctx->clock) + delay_ms(r)};
    if (!loop_timer_is_set(r->timer))
        loop_timer_set_at(r->timer, r->list[0].due_mono_ms);
}

struct term_resend *term_resend_create(struct loop *l, struct server_ctx *s, struct runs *runs)
{
    struct term_resend *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    *r = (struct term_resend){
        .ctx = s, .runs = runs, .timer = loop_timer_create(l, LOOP_CLOCK, term_resend_due, r)};
    if (r->timer)
        return r;
    free(r);
    return NULL;
}

void term_resend_destroy(struct term_resend *r)
{
    if (!r)
        return;
    loop_timer_destroy(r->timer);
    free(r->list);
    free(r);
}
