#ifndef PREEMPT_POLICY_SHOW_H
#define PREEMPT_POLICY_SHOW_H
/* The policy of preemption, read from the attributes of sched objects and queues: the rules that are set, and of each queue
 * what they come to. */
#include <stdbool.h>

#include "pbs_ifl.h"

struct cmd_args;
struct json_out;

/* Print the policy of all queues, or of the one named, in words or as JSON. Return 0, or an error's number after a
 * message. */
int preempt_policy_show(const struct cmd_args *a, int c, const char *queue, bool json);

/* Write the policy of all queues into an object that is open. */
void preempt_policy_show_json(struct json_out *j, const struct batch_status *scheds,
                              const struct batch_status *queues);

/* Return the scheduler that has the queue's partition; the one without a partition where the queue has none. NULL: no
 * scheduler serves the queue. Borrowed. */
const struct batch_status *preempt_policy_show_sched_of(const struct batch_status *scheds,
                                                        const struct batch_status *queue);

#endif
