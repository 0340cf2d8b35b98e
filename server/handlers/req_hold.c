/* Holds set and released.
 *
 * A hold keeps a job from starting; of a running job it counts when it comes back. If such a job can be
 * checkpointed it is sent back now: the request is then parked until it is in its queue again, or the
 * checkpoint has failed. The hold itself is set in either case, before that is tried. */
#include "handlers.h"

#include <ifl.h>

#include "run_checkpoint.h"
#include "hold_types.h"
#include "hold_comment.h"
#include "log.h"
#include "parked.h"
#include "req_away.h"
#include "req_common.h"
#include "req_history.h"
#include "type_words.h"

/* A running job gives its hosts back when its state can be saved; else the hold counts when it comes back. A host that is away
 * does it when it is connected again, and the request does not wait for that. */
static bool hold_by_checkpoint(struct parts *p, struct request *r, struct job *j)
{
    struct err e, away;

    if (!job_is_placed(j) || run_checkpoint_may(p->run_checkpoint, j, &e) < 0)
        return false;
    if (req_away_check(p, j, &away) < 0) {
        (void)run_checkpoint_begin(p->run_checkpoint, j, &e);
        req_away_fail_when_durable(p, r, &away);
        return true;
    }
    if (parked_add(j, r, PARKED_HOLD, p->loop, &e) < 0)
        return false;
    if (run_checkpoint_begin(p->run_checkpoint, j, &e) < 0)
        parked_settle(j, PARKED_HOLD, &e);
    return true;
}

static void req_hold_change(struct parts *p, struct request *r, bool set)
{
    const ifl_job_text_args *a = request_args(r);
    const char *letters = *a->text ? a->text : "u";
    struct err e;
    struct job *j = req_find_whole(p, r, a->job, &e);
    int64_t bits;

    if (!j) {
        req_history_fail(p, r, a->job, &e);
        return;
    }
    if (words_hold_parse(letters, &bits, &e) < 0 || hold_types_may((unsigned)bits, req_level(r), &e) < 0) {
        request_fail(r, &e);
        return;
    }
    if (!set && (bits & HOLD_SYSTEM))
        bits |= HOLD_DEPEND; /* who may release it need not wait for other jobs */
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name,
              set ? "Holds %s set at request of %s" : "Holds %s released at request of %s", letters,
              request_who(r));
    hold_types_change(p->ctx, p->fsm, j, set ? (unsigned)bits : 0, set ? 0 : (unsigned)bits);
    hold_comment(p->ctx, j, request_user(r), set);
    if (!set || !hold_by_checkpoint(p, r, j))
        req_ok_when_durable(p, r);
}

void req_hold(void *parts, struct request *r)
{
    req_hold_change(parts, r, true);
}

void req_release(void *parts, struct request *r)
{
    req_hold_change(parts, r, false);
}
