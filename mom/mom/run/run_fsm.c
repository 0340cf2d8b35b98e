/* The machine itself; its rows are run_rules.c, its actions end/actions.c, and main.c binds the two.
 *
 * An event that is posted during an action waits in the run's own short queue and is applied after it; so an action may post,
 * even to its own run, and is never called from inside itself. The state is set before the action: code that reads it then sees
 * the new one. When an event has ended in GONE, `changed` may have freed the run, and nothing of it is touched any more, not even
 * `busy`.
 *
 * An event without a row changes nothing, and `odd` logs it for debugging: it has come too late or twice, which does no harm. */
#include "run_fsm.h"

#include <assert.h>

const struct run_row *run_fsm_find(const struct run_row *rows, size_t n, enum run_state s, enum run_event ev)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].state == s && rows[i].event == ev)
            return &rows[i];
    return NULL;
}

/* false: the run is gone, and perhaps freed by `changed`. */
static bool run_fsm_apply(const struct run_machine *m, struct run *r, struct run_slot *s, enum run_event ev)
{
    const struct run_row *row = run_fsm_find(m->rows, m->n_rows, s->state, ev);
    enum run_state before = s->state;

    if (!row) {
        m->odd(m->ctx, r, ev);
        return true;
    }
    s->state = row->next;
    if (row->action != RUN_ACT_NONE)
        m->act[row->action](m->ctx, r);
    m->changed(m->ctx, r, before, ev);
    return row->next != RUN_GONE;
}

void run_fsm_post(const struct run_machine *m, struct run *r, struct run_slot *s, enum run_event ev)
{
    assert(s->n_waiting < RUN_QUEUE_MAX);
    s->waiting[s->n_waiting++] = ev;
    if (s->busy)
        return;
    s->busy = true;
    while (s->n_waiting > 0) {
        enum run_event first = s->waiting[0];

        s->n_waiting--;
        for (size_t i = 0; i < s->n_waiting; i++)
            s->waiting[i] = s->waiting[i + 1];
        if (!run_fsm_apply(m, r, s, first))
            return; /* `s` is part of the run */
    }
    s->busy = false;
}

const char *run_fsm_state_name(enum run_state s)
{
    static const char *const names[] = {"preparing", "ready",  "launching", "running",
                                        "suspended", "ending", "released",  "gone"};

    _Static_assert(sizeof names / sizeof names[0] == RUN_STATE_COUNT, "a name for each state");
    return s < RUN_STATE_COUNT ? names[s] : "?";
}

const char *run_fsm_event_name(enum run_event ev)
{
    static const char *const names[] = {
        "prepared",  "failed",    "launch", "prologue-ok", "started",    "ended",        "shepherd-lost",
        "suspend",   "suspended", "resume", "resumed",     "checkpoint", "checkpointed", "attempt-failed",
        "terminate", "withdraw",  "stayed", "epilogue-ok", "closed",     "purge"};

    _Static_assert(sizeof names / sizeof names[0] == RUN_EVENT_COUNT, "a name for each event");
    return ev < RUN_EVENT_COUNT ? names[ev] : "?";
}
