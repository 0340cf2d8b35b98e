#ifndef CONFIRM_KEPT_H
#define CONFIRM_KEPT_H
/* What a reservation that runs keeps of its vnodes when it is placed again, and what is still to be placed. See confirm.h. */
#include "match.h"
#include "trial.h"

struct confirm_kept {
    struct request rest; /* of its select, what is not kept; `chunks` is its own, what they point to is not */
    struct allocation where; /* all its chunks, as they are now */
    bool *is_kept;           /* beside `where` */
};

/* Its vnodes are given back in the trial. Those on which its jobs are must be kept, others are if `others`. Takes what is kept.
 * false: `why` says why what must be kept cannot be. confirm_kept_fini in any case. */
bool confirm_kept_take(struct confirm_kept *k, struct trial *t, const struct asker *a, const struct resv *r,
                       bool others, struct reason *why);
/* Its place: what is kept, and `found` where something was lost, or behind it. */
void confirm_kept_join(const struct confirm_kept *k, const struct allocation *found, struct allocation *out);
void confirm_kept_fini(struct confirm_kept *k);

#endif
