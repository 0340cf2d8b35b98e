#ifndef PREEMPT_TARGETS_H
#define PREEMPT_TARGETS_H
/* Resource_List.preempt_targets: "NONE" alone, or queue=NAME and Resource_List.NAME=VALUE in any number. */
#include "attr_list.h"
#include "err.h"

struct server_ctx;

/* Check preempt_targets of a job; none is valid. -1: PBSE_BADATVAL the grammar, NONE among others;
 * PBSE_UNKQUE, PBSE_UNKRESC. Rule: reference guide, "preempt_targets". */
int preempt_targets_check(const struct server_ctx *s, const struct attr_list *l, struct err *e);

#endif
