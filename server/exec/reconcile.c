/* What to do with a run. See reconcile.h for the table.
 *
 * No pointers and no state: the caller has looked up all facts, and a test can walk every combination. */
#include "reconcile.h"

enum reconcile_decision reconcile_run(const struct reconcile_facts *f)
{
    if (!f->ours)
        return RECONCILE_KEEP;
    if (f->held) {
        if (!f->known)
            return RECONCILE_KILL;
        return f->over_here ? RECONCILE_FORGET : RECONCILE_KEEP;
    }
    if (!f->known || f->over_here)
        return RECONCILE_FORGET;
    return f->started ? RECONCILE_LOST : RECONCILE_START;
}
