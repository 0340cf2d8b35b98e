/* What becomes of a job whose run is over. See run_verdict.h.
 *
 * A wish to delete wins, and so does a hook that rejects its epilogue or deletes it; then a wish to requeue; then what
 * the host reported. A job that was given notice of a requeue or a checkpoint and then ended badly goes back as well:
 * its end is that of a job that could not go on. By the host's word alone a job that may not be rerun ends once its
 * script has started; before that it may go back, as nothing is done twice. */
#include "run_verdict.h"

#include "exit_status.h"

enum run_verdict run_verdict_of(const struct run_verdict_facts *f)
{
    bool again;

    if (f->wants_delete || f->rejected)
        return RUN_VERDICT_END;
    if (f->wants_requeue || (f->noticed && f->finished && f->status != 0 && f->rerunable))
        return RUN_VERDICT_REQUEUE;
    if (f->finished)
        again = exit_status_is_again(f->status);
    else
        again = true; /* nothing is known of its end: lost, or refused before it began */
    if (!again || (f->started && !f->rerunable))
        return RUN_VERDICT_END;
    return f->run_count > f->max_runs ? RUN_VERDICT_REQUEUE_HELD : RUN_VERDICT_REQUEUE;
}
