#ifndef PREEMPT_ATTRIBS_H
#define PREEMPT_ATTRIBS_H
/* The facts and settings that preempt_rules.h asks about, read from the attributes of a status reply. */
#include "pbs_ifl.h"
#include "preempt_rules.h"

/* Read the facts of a job; times are those of the reply. */
struct preempt_facts preempt_attribs_facts(const struct attrl *job);

/* Read the settings of a queue or a scheduler. Texts are borrowed from `b`. b NULL: nothing is set. */
enum preempt_attribs_kind { PREEMPT_ATTRIBS_QUEUE, PREEMPT_ATTRIBS_SCHED };
void preempt_attribs_settings(const struct batch_status *b, enum preempt_attribs_kind kind,
                              struct preempt_settings *out);

/* Return true for an express queue that takes jobs of every user, so that each of them may preempt others. */
bool preempt_attribs_is_open_express(const struct batch_status *queue, const struct batch_status *sched);

#endif
