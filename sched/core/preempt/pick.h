#ifndef PICK_H
#define PICK_H
/* What the rules of picking victims share: stopping jobs in a trial, and asking whether the urgent one fits
 * then.
 *
 * pick_pbs.c and pick_least.c are the rules, gang.c picks turns, calendar.c times. All change two books
 * together: the trial, and the counters of limits (pick_count). Each function leaves both as it found them,
 * unless it says otherwise. */
#include "candidates.h"
#include "decisions.h"
#include "inside.h"
#include "psets.h"

/* The parts that a search works with, borrowed. A value; a copy with another log is common. */
struct picker {
    struct cluster *cl;
    struct trial *trial;
    struct placer *placer;
    struct buckets *buckets;
    struct inside *inside;
    struct decisions *log; /* may be NULL for pick_place and pick_prune */
};

/* The cluster without the limits' view of a victim (times -1), and with it again (1). */
void pick_count(const struct job *j, struct queue *server, int64_t times);

/* Place the urgent job as the trial is now, beside reservations of its span. true: `where` (empty before)
 * has its place and the trial has it taken; false: `why` says why not, and the trial is as before. Prime
 * time, shares and formula are not asked: attempt_room has done so. */
bool pick_place(const struct picker *k, const struct preemptor *p, struct allocation *where,
                struct reason *why);

/* Return false if pick_place certainly finds no place, by sums. */
bool pick_may_suffice(const struct picker *k, const struct preemptor *p);
/* The same beside others that need these parts of what is free; each vnode is listed once. */
bool pick_may_suffice_beside(const struct picker *k, const struct preemptor *p,
                             const struct allocation *others);
/* The resource that pick_place would name as lacking on all vnodes together, found without a look at any of them. RES_NONE: the
 * sums suffice, or do not say for certain that there is no place. */
res_id pick_lacks(const struct picker *k, const struct preemptor *p);
/* Do sums say it for this job, whatever they are? Not where reservations keep room, or run limits stop it. */
bool pick_sums_say_it(const struct picker *k, const struct preemptor *p);

/* The trial has all of `chosen` stopped, counters too, and the urgent job placed. Those whose place is still free are
 * released, the last chosen first; `victims` are the others. The counters are as if no job had been stopped. */
void pick_prune(const struct picker *k, const struct preemptor *p, const struct candidates *chosen,
                struct candidates *victims);

/* Find the urgent job's place with these jobs stopped, and undo that. Return false if there is none, or if one of them would rise
 * above the urgent job (pick_escalates). `where` may be NULL. */
bool pick_suffices(const struct picker *k, const struct preemptor *p, const struct candidates *stopped,
                   struct allocation *where);

/* Take out of `victims`, from the last to the first, each without which the urgent job has a place too, maybe another one, which is
 * in `where` then. The trial and the counters are as if no job had been stopped. More than PICK_THIN_MAX are left as they are: each
 * costs a placement. */
enum { PICK_THIN_MAX = 64 };
void pick_thin(const struct picker *k, const struct preemptor *p, struct candidates *victims,
               struct allocation *where);

/* Soft limits: return true if, with these gone, one of them would be no lower than the urgent job. */
bool pick_escalates(const struct picker *k, const struct preemptor *p, const struct candidates *chosen);

/* Return true if the urgent job would fit when every job has ended whose walltime is over by then. */
bool pick_can_wait(const struct picker *k, const struct preemptor *p, int64_t until_s);

#endif
