/* In rounds: as many calls as may be open, and the next round when the last of them is answered. A round
 * begins after a short quiet without starts, or when a job has waited for long; rounds that follow one
 * another at once are one telling, and between two of these attr_update_period passes. Which job is told
 * what is the cycle's to say, which also remembers which have been told; nothing about jobs is kept here. */
#include "comments.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "classes.h"
#include "clock.h"
#include "cycle.h"
#include "sched_link.h"
#include "loop.h"
#include "mem.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "sched_cluster.h"

enum {
    QUIET_MS = 100,     /* without a start, before anything is told */
    LONGEST_MS = 5000,  /* in a storm of starts some are told all the same */
    OPEN_MAX = 100,     /* calls under way */
    LOOK_AGAIN_MS = 500 /* has attr_update_period passed? It may be altered meanwhile */
};

struct comments {
    struct sched_link *link;
    struct cycle *cycle;
    struct loop_timer *timer;
    int64_t busy_ms, since_ms; /* last start; when there was first something to tell */
    int64_t begun_ms; /* when a job was first told in the last telling, for attr_update_period; 0: never */
    bool telling;     /* that telling continues, round by round, until there is nothing left to tell */
    size_t n_open;
};

static void comments_tell(struct comments *m);

static void comments_told(void *arg, int c, int ticket)
{
    struct comments *m = arg;

    pbs_recv(c, ticket); /* a job may have gone meanwhile, which is not an error */
    if (--m->n_open == 0)
        comments_tell(m);
}

/* Return true if running jobs of the same user, group or project stop it, not the site: that time is not eligible time. */
static bool is_own_fault(const struct job *j)
{
    const struct reason *why = j->class ? &j->class->why : NULL;

    return why && ((why->entity && why->entity != LIMIT_OF_ALL) || why->code == REASON_FORMULA);
}

/* Return false if no job has a new comment, or there is no connection. */
static bool tell_one(struct comments *m)
{
    int c = sched_link_connection(m->link);
    const char *text = NULL;
    const struct job *j = c < 0 ? NULL : cycle_next_comment(m->cycle, &text);
    struct attrl accrue = {.name = (char *)(uintptr_t)ATTR_accrue_type,
                           .value = (char *)(uintptr_t)(j && is_own_fault(j) ? "1" : "2")};
    struct attrl comment = {.name = (char *)(uintptr_t)ATTR_comment, .value = (char *)(uintptr_t)text};

    if (cluster_server(cycle_cluster(m->cycle))->eligible_time)
        comment.next = &accrue;

    if (!j || sched_link_await(m->link, pbs_asyalterjob_send(c, j->id, &comment, NULL), comments_told, m) < 0)
        return false;
    m->n_open++;
    return true;
}

static bool is_period_over(const struct comments *m, int64_t now_ms)
{
    int64_t period_ms = cluster_policy(cycle_cluster(m->cycle))->update_period_s * 1000;

    return m->begun_ms == 0 || now_ms - m->begun_ms >= period_ms;
}

/* A round, if it is time for one; else the timer asks again. */
static void comments_tell(struct comments *m)
{
    int64_t now = clock_real_mono_ms();

    if (now - m->busy_ms < QUIET_MS && now - m->since_ms < LONGEST_MS) {
        loop_timer_set(m->timer, QUIET_MS);
        return;
    }
    if (!m->telling && !is_period_over(m, now)) {
        loop_timer_set(m->timer, LOOK_AGAIN_MS);
        return;
    }
    while (m->n_open < OPEN_MAX && tell_one(m))
        ;
    if (m->n_open && !m->telling)
        m->begun_ms = now;
    m->telling = m->n_open > 0;
    m->since_ms = m->n_open ? now : 0;
}

static void comments_due(void *arg)
{
    struct comments *m = arg;

    if (m->n_open == 0)
        comments_tell(m);
}

struct comments *comments_create(struct loop *l, struct sched_link *k, struct cycle *c, struct err *e)
{
    struct comments *m = mem_new(1, sizeof *m);

    m->link = k;
    m->cycle = c;
    m->timer = loop_timer_create(l, LOOP_REAL, comments_due, m);
    if (m->timer)
        return m;
    err_set(e, PBSE_SYSTEM, "no memory for a timer");
    free(m);
    return NULL;
}

void comments_destroy(struct comments *m)
{
    if (!m)
        return;
    loop_timer_destroy(m->timer);
    free(m);
}

/* since_ms is when there was first something to tell, so that a storm of starts cannot put it off for ever. */
void comments_poke(struct comments *m)
{
    if (loop_timer_is_set(m->timer))
        return;
    if (m->since_ms == 0)
        m->since_ms = clock_real_mono_ms();
    loop_timer_set(m->timer, QUIET_MS / 2);
}

void comments_busy(struct comments *m)
{
    m->busy_ms = clock_real_mono_ms();
}

void comments_forget(struct comments *m)
{
    m->n_open = 0;
    m->telling = false;
    loop_timer_cancel(m->timer);
}
