#ifndef PREEMPT_TARGETS_H
#define PREEMPT_TARGETS_H
/* Resource_List.preempt_targets: "NONE" alone, or queue=NAME and Resource_List.NAME=VALUE in any number. */
#include "attr_list.h"
#include "err.h"

struct site;

/* Is what the job asks for right? Nothing asked is. -1: PBSE_BADATVAL the grammar, NONE among others;
 * PBSE_UNKQUE, PBSE_UNKRESC. Rule: reference guide, "preempt_targets". */
int targets_check(const struct site *s, const struct attr_list *l, struct err *e);

#endif
