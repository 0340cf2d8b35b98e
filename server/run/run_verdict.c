/* What becomes of a job whose run is over. See run_verdict.h.
 *
 * A wish to delete wins; then a wish to requeue; then what the host reported. A job that was given
 * notice of a requeue or a checkpoint and then ended badly goes back as well: its end is that of a job that could
 * not go on. By
 * the host's word alone a job that may not be rerun ends once its script has started; before that it may go
 * back, as nothing is done twice. */
#include "run_verdict.h"

/* Exit statuses by which a host asks for another try: -3 retry, -4 -5 -6 lost at its start, -7 bad restart,
 * -11 rerun, -12 checkpointed, -14 -20 lost hosts, -15 restart from image, -16 -18 -22 hooks. */
static bool host_wants_rerun(int status)
{
    switch (status) {
    case -3:
    case -4:
    case -5:
    case -6:
    case -7:
    case -11:
    case -12:
    case -14:
    case -15:
    case -16:
    case -18:
    case -20:
    case -22:
        return true;
    default:
        return false;
    }
}

enum run_verdict run_verdict_of(const struct run_verdict_facts *f)
{
    bool again;

    if (f->wants_delete)
        return RUN_VERDICT_END;
    if (f->wants_requeue || (f->noticed && f->finished && f->status != 0 && f->rerunable))
        return RUN_VERDICT_REQUEUE;
    if (f->finished)
        again = host_wants_rerun(f->status);
    else
        again = true; /* nothing is known of its end: lost, or refused before it began */
    if (!again || (f->started && !f->rerunable))
        return RUN_VERDICT_END;
    return f->run_count > f->max_runs ? RUN_VERDICT_REQUEUE_HELD : RUN_VERDICT_REQUEUE;
}
