#ifndef CYCLE_PREEMPT_H
#define CYCLE_PREEMPT_H
/* The room of running jobs: for a job that finds none free, by turns or by preemption; and the explanation of it. */
#include "cycle.h"
#include "pick.h"

struct class;
struct explanation;
struct reason;

struct preemptor cycle_preemptor(struct cycle *c, const struct class *k, const struct job *j);
/* The first of this class finds no room that is free. true: others are to make room, by turns or by preemption; it is decided.
 * `why` is the obstacle, and what is said of it after. For an array it is the next subjob. */
bool cycle_preempt_for_class(struct cycle *c, struct class *k, struct reason *why);

/* The same for this job, before others are considered; it is in a class. */
bool cycle_preempt_for(struct cycle *c, struct job *j);

/* Run jobs that await room where other room has come free meanwhile, if their level is at least `highest`. */
void cycle_preempt_elsewhere(struct cycle *c, int highest);

/* The parts that a cycle picks with. */
struct picker cycle_preempt_picker(const struct cycle *c);

/* Explain a job with a queue (explain.h), between cycles, as the next cycle would decide about it. *out is the caller's,
 * until explain_fini(). */
void cycle_preempt_explain(struct cycle *c, const struct job *j, int64_t now_s, struct explanation *out);

#endif
