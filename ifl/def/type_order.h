#ifndef TYPE_ORDER_H
#define TYPE_ORDER_H
/* Types of the attributes that make up the policy of preemption. Their values are texts, checked by the parsers of
 * ifl/spec/preempt_order.h. */
#include "value.h"

extern const struct value_type type_preempt_order;
extern const struct value_type type_preempt_prio;
extern const struct value_type type_queue_order;     /* "none", or as preempt_order */
extern const struct value_type type_preempt_methods; /* one group of letters */
extern const struct value_type type_drain;           /* "none", or one group of letters without S */
extern const struct value_type type_preempt_signal;  /* a signal by name or number, or that and ":all" */
extern const struct value_type type_preempt_sort;    /* min_time_since_start, least_lost_work, fewest_jobs */

#endif
