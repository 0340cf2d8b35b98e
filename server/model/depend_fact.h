#ifndef DEPEND_FACT_H
#define DEPEND_FACT_H
/* Facts about a job that others depend on, and dependency lists that another server keeps. No I/O, no state.
 *
 * A list is the text of a "depend" attribute; of a list of another server only the kinds are understood here,
 * its jobs are only names. */
#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"
#include "type_depend.h"

/* Facts only accumulate: what was true once continues to count, even when the job has returned to its queue. */
enum depend_fact {
    DEPEND_FACT_STARTED = 1, /* it has run, or runs */
    DEPEND_FACT_OVER = 2,
    DEPEND_FACT_OK = 4, /* it is over with exit status 0 */
    DEPEND_FACT_CUT = 8 /* it no longer waits for what its list at the other server says */
};

enum depend_fact_met { DEPEND_FACT_LATER, DEPEND_FACT_MET, DEPEND_FACT_NEVER };

/* State of a dependency of "after..." kind k on a job with these facts. */
enum depend_fact_met depend_fact_met(enum depend_kind k, unsigned facts);

/* Return true if the job that has this list must wait. */
bool depend_fact_list_blocks(const char *list);
bool depend_fact_list_has(const char *list, enum depend_kind k);

/* Append what is left of the list when the job no longer waits: the jobs that wait for it. -1: no memory. */
int depend_fact_list_cut(const char *list, struct strbuf *out);
/* Append two lists as one, by kind as PBS shows them. NULL: no list. -1: no memory. */
int depend_fact_list_join(const char *a, const char *b, struct strbuf *out);

/* Call `fn` with each job (as it is named) that the old list waits for and the new list does not. */
void depend_fact_list_released(const char *old, const char *now, void (*fn)(void *arg, const char *job),
                               void *arg);

#endif
