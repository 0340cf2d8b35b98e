/* Submissions in pieces that are not complete. See submit_pieces.h.
 *
 * A queue by the time at which each is given up, whose entries lie in the jobs (j->due, which belongs to start_time.c
 * from the job's entry into its queue on), one timer for its first, and a count for each user. Times are monotonic: a
 * clock that is set neither ends a submission nor prolongs it. */
#include "submit_pieces.h"

#include <stdlib.h>

#include "clock.h"
#include "intern.h"
#include "job_fsm.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "server_ctx.h"
#include "limit_counts.h"
#include "uthash.h"

/* Most qsubs with long scripts that one user has under way at once: a script of the largest size takes seconds, so this is
 * far above what a loop of submissions reaches, and a flood of half ones stays small. */
enum { PER_USER_MAX = 64 };

struct submit_pieces_user {
    const char *name; /* interned, the key by its address */
    size_t n;
    UT_hash_handle hh;
};

struct submit_pieces {
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct loop_timer *timer;
    struct pqueue queue; /* by monotonic milliseconds */
    struct submit_pieces_user *users;
};

static struct submit_pieces_user *find_user(const struct submit_pieces *a, const char *name)
{
    struct submit_pieces_user *u;

    HASH_FIND_PTR(a->users, &name, u);
    return u;
}

static void count_user(struct submit_pieces *a, const char *name)
{
    struct submit_pieces_user *u = find_user(a, name);

    if (!u) {
        u = calloc(1, sizeof *u);
        if (!u)
            abort(); /* the job is in the table already, and the limit would be wrong from now on; a restart counts again */
        u->name = intern_again(name);
        HASH_ADD_PTR(a->users, name, u);
    }
    u->n++;
}

static void discount_user(struct submit_pieces *a, const char *name)
{
    struct submit_pieces_user *u = find_user(a, name);

    if (!u || --u->n > 0)
        return;
    HASH_DEL(a->users, u);
    intern_unref(u->name);
    free(u);
}

static void submit_pieces_arm(struct submit_pieces *a)
{
    struct pqueue_entry *first = pqueue_first(&a->queue);

    if (first)
        loop_timer_set(a->timer, first->key - clock_mono_ms(a->ctx->clock));
    else
        loop_timer_cancel(a->timer);
}

void submit_pieces_end(struct submit_pieces *a, struct job *j)
{
    if (!pqueue_has(&j->due))
        return;
    pqueue_remove(&a->queue, &j->due);
    discount_user(a, j->user);
    submit_pieces_arm(a);
}

void submit_pieces_drop(struct submit_pieces *a, struct job *j, const char *why)
{
    log_event(LOGC_JOB, LOGE_ADMIN | LOGE_JOB, j->obj.name,
              "the submission of %s is given up with %llu of %llu bytes of its script: %s", j->owner,
              (unsigned long long)j->script_have, (unsigned long long)j->script_bytes, why);
    job_fsm_post(a->fsm, j, EV_DELETE);
}

static void submit_pieces_expire_cb(void *arg)
{
    struct submit_pieces *a = arg;
    struct pqueue_entry *first;

    while ((first = pqueue_first(&a->queue)) && first->key <= clock_mono_ms(a->ctx->clock))
        submit_pieces_drop(a, PQUEUE_OWNER(first, struct job, due), "submission_timeout is over");
    submit_pieces_arm(a);
}

void submit_pieces_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    if (from == JOB_ARRIVING && j->state == JOB_GONE)
        submit_pieces_end(arg, j);
}

static int64_t life_ms(const struct submit_pieces *a)
{
    return attr_list_effective(&a->ctx->server->obj.attrs, SERVER_ATTR_submission_timeout) * 1000;
}

static void submit_pieces_enter(struct submit_pieces *a, struct job *j, int64_t left_ms)
{
    if (pqueue_push(&a->queue, &j->due, clock_mono_ms(a->ctx->clock) + left_ms) < 0)
        abort(); /* it would never end */
    count_user(a, j->user);
    submit_pieces_arm(a);
}

int submit_pieces_check(const struct submit_pieces *a, const char *user, struct err *e)
{
    const struct submit_pieces_user *u = find_user(a, user);

    if (!u || u->n < PER_USER_MAX)
        return 0;
    return err_set(
        e, PBSE_ENTLIMCT,
        "user %s has %zu submissions whose scripts have not arrived, and %d is the limit: let them "
        "finish, or delete them",
        user, u->n, PER_USER_MAX);
}

void submit_pieces_begin(struct submit_pieces *a, struct job *j)
{
    submit_pieces_enter(a, j, life_ms(a));
    limit_counts_review(a->ctx->limit_counts, j);
}

/* The wall clock may have been set meanwhile: what is left is never more than a whole life. */
void submit_pieces_restore(struct submit_pieces *a)
{
    int64_t life = life_ms(a);

    for (struct job *j = jobs_first(a->ctx->jobs); j; j = jobs_next(j)) {
        int64_t left = j->ctime_s * 1000 + life - server_ctx_now_s(a->ctx) * 1000;

        if (j->state == JOB_ARRIVING)
            submit_pieces_enter(a, j, left < 0 ? 0 : left > life ? life : left);
    }
}

struct submit_pieces *submit_pieces_create(struct loop *l, struct server_ctx *s, struct job_fsm *f)
{
    struct submit_pieces *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->ctx = s;
    a->fsm = f;
    pqueue_init(&a->queue);
    a->timer = loop_timer_create(l, LOOP_CLOCK, submit_pieces_expire_cb, a);
    if (!a->timer) {
        free(a);
        return NULL;
    }
    return a;
}

void submit_pieces_destroy(struct submit_pieces *a)
{
    if (!a)
        return;
    for (struct submit_pieces_user *u = a->users, *next; u; u = next) {
        next = u->hh.next;
        HASH_DEL(a->users, u);
        intern_unref(u->name);
        free(u);
    }
    loop_timer_destroy(a->timer);
    pqueue_fini(&a->queue);
    free(a);
}
