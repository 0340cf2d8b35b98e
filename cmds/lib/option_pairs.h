#ifndef OPTION_PAIRS_H
#define OPTION_PAIRS_H
/* The lists of -l and -W, cut into pairs. The server decides which names exist. */
#include <stddef.h>

/* One pair, borrowed for the call. Nonzero stops. */
typedef int option_pairs_fn(void *context, const char *name, const char *value);

/* Read the list of -l: "ncpus=2,mem=1gb,select=..." A comma ends a value unless quotes protect it or, for
 * preempt_targets, no new name= follows. Quotes stay, because a select has its own. An empty value is allowed
 * (qalter). Return 0, what `each` returned, or -1 with *bad at the error. */
int option_pairs_resources(const char *text, option_pairs_fn *each, void *context, const char **bad);

/* Read the list of -W: "depend=afterok:1,before:2,umask=022". A value continues over commas until the next name=. A
 * value in quotes loses them. */
int option_pairs_attributes(const char *text, option_pairs_fn *each, void *context, const char **bad);

#endif
