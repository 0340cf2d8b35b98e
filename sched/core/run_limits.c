#include "run_limits.h"

/* Counted resources that are bounded here: what the job wants must be there. */
static bool covers(const struct universe *u, const struct queue *q, const struct job *j,
                   enum reason_code code, struct reason *why)
{
    for (uint32_t i = 0; i < q->available.n; i++) {
        res_id res = q->available.a[i].res;
        int64_t total = q->available.a[i].n, want = amounts_get(&j->want, res);
        int64_t have = total - amounts_get(&q->used, res);
        if (want <= 0 || want <= have)
            continue;
        reason_lack(why, code, universe_catalogue(u), res, want, have, total);
        why->never = want > total;
        return false;
    }
    return true;
}

static bool has_place(const struct queue *q)
{
    return q->max_running < 0 || q->n_running < q->max_running;
}

bool run_limits_allow(const struct universe *u, const struct job *j, struct reason *why)
{
    const struct queue *q = j->queue, *server = universe_server(u);

    if (!q->executes) {
        reason_set(why, REASON_QUEUE_NOT_EXEC, NULL, NULL);
        return false;
    }
    if (!j->urged && !q->started) {
        reason_set(why, REASON_QUEUE_NOT_STARTED, NULL, NULL);
        return false;
    }
    if (!j->urged && !has_place(q)) {
        reason_set(why, REASON_QUEUE_JOBS, q->name, NULL);
        return false;
    }
    if (!j->urged && !has_place(server)) {
        reason_set(why, REASON_SERVER_JOBS, NULL, NULL);
        return false;
    }
    return covers(u, q, j, REASON_LACK_QUEUE, why) && covers(u, server, j, REASON_LACK_SERVER, why);
}
