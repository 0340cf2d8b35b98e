#ifndef RUN_VERDICT_H
#define RUN_VERDICT_H
/* What becomes of a job whose run is over: from how it ended and what was wanted. Pure.
 * Source: exit_status.def, and doc/host-life.md for what a prologue ends with. */
#include <stdbool.h>

enum run_verdict { RUN_VERDICT_END, RUN_VERDICT_REQUEUE, RUN_VERDICT_REQUEUE_HELD };

struct run_verdict_facts {
    bool wants_delete, wants_requeue;
    bool rejected; /* by an epilogue hook, or by job.delete() of a hook: it does not run again */
    bool noticed;  /* it knew that it was to go back (by R or C), and ended by itself */
    bool finished; /* a finish event came; else every host was lost or refused */
    int status;    /* PBS exit status, negative for failures of the host */
    bool rerunable;
    bool started; /* the script ran */
    unsigned run_count;
    unsigned max_runs; /* hold after so many starts (20) */
};

enum run_verdict run_verdict_of(const struct run_verdict_facts *f);

#endif
