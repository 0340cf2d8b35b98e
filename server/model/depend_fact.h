#ifndef DEPEND_FACT_H
#define DEPEND_FACT_H
/* What is known of a job that others are tied to, and lists of ties that another server keeps. No I/O, no state.
 *
 * A list is the text of a "depend" attribute; of one that comes from another server only the kinds are understood here, its
 * jobs are names. */
#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"
#include "type_depend.h"

/* Facts only ever add up: what was true once, though the job has gone back into its queue since, goes on counting. */
enum tie_fact {
    DEPEND_FACT_STARTED = 1, /* it has run, or runs */
    DEPEND_FACT_OVER = 2,
    DEPEND_FACT_OK = 4, /* it is over with exit status 0 */
    DEPEND_FACT_CUT = 8 /* it does not want what its list at the other server says that it waits for */
};

enum depend_fact_met { DEPEND_FACT_LATER, DEPEND_FACT_MET, DEPEND_FACT_NEVER };

/* What waits for a job by "after..." kind k: is that satisfied by these facts? */
enum depend_fact_met depend_fact_met(enum depend_kind k, unsigned facts);

/* Does the job that has this list have to wait? */
bool depend_fact_list_blocks(const char *list);
bool depend_fact_list_has(const char *list, enum depend_kind k);

/* Append what of the list stays when the job gives up to wait: the jobs that wait for it. -1: no memory. */
int depend_fact_list_cut(const char *list, struct strbuf *out);
/* Append two lists as one, by kind as PBS shows them. NULL is none. -1: no memory. */
int depend_fact_list_join(const char *a, const char *b, struct strbuf *out);

/* Each job (as it is named) that the old list waits for, and the new one not any more. */
void depend_fact_list_released(const char *old, const char *now, void (*fn)(void *arg, const char *job),
                               void *arg);

#endif
