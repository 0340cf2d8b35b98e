/* Jobs for which others are giving way: room may come free elsewhere before these have gone, by their notice or since they
 * are slow to stop. Then the job is run there; the server undoes the plan, and whoever was not touched yet stays. See
 * cycle_private.h.
 *
 * Such a job counts as running and is in no class. It is looked at before those that wait, unless one of them is of a
 * higher level: that one may want the same room. Where the server refuses, it saw more than we do: not again for a while. */
#include "attempt.h"
#include "cycle_private.h"
#include "preempt_level.h"
#include "log.h"

enum { AGAIN_S = 10 /* after the server has refused */ };

static bool finds_room(struct cycle *c, const struct preemptor *p, struct allocation *where)
{
    struct picker picker = cycle_picker(c);
    struct reason ignored;

    pick_count(p->job, cluster_server(c->cl), -1);
    bool fits = attempt_room(&picker, p, where, &ignored);
    pick_count(p->job, cluster_server(c->cl), 1);
    return fits;
}

static void try(struct cycle *c, struct job *j, int level)
{
    struct request *request = request_parse(cluster_catalogue(c->cl), j->select, j->place);
    struct preemptor p = {.cl = c->cl, .job = j, .request = request, .level = level, .now_s = c->now_s};
    struct allocation where = {0};

    if (finds_room(c, &p, &where)) {
        decisions_log(c->d, LOGE_DEBUG, j->id, "There is room elsewhere: nobody need give way any more");
        cycle_decide_run(c, j, &where);
        j->moved_s = c->now_s;
    }
    allocation_fini(&where);
    request_destroy(request);
}

void cycle_try_elsewhere(struct cycle *c, int highest)
{
    size_t n;
    struct job *const *awaiting = cluster_awaiting(c->cl, &n);

    for (size_t i = 0; i < n; i++) {
        struct job *j = awaiting[i];
        int level = preempt_level_of(c->cl, j);
        bool was_refused = j->moved_s && c->now_s < j->moved_s + AGAIN_S;
        if (j->order == ORDER_NONE && !was_refused && level >= highest && j->queue &&
            cluster_serves(c->cl, j->queue))
            try(c, j, level);
    }
}
