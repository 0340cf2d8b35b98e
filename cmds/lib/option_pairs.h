#ifndef OPTION_PAIRS_H
#define OPTION_PAIRS_H
/* The lists behind -l and -W, cut into pairs. Which names there are is the server's to say. */
#include <stddef.h>

/* One pair, borrowed for the call. Nonzero stops. */
typedef int option_pairs_fn(void *context, const char *name, const char *value);

/* -l: "ncpus=2,mem=1gb,select=..." A comma ends a value unless quotes protect it or, for preempt_targets,
 * no new name= follows. Quotes stay, because a select has its own. An empty value is allowed (qalter).
 * 0, what `each` said, or -1 and *bad is where it is wrong. */
int option_pairs_resources(const char *text, option_pairs_fn *each, void *context, const char **bad);

/* -W: "depend=afterok:1,before:2,umask=022": a value goes on over commas until the next name=. A value in
 * quotes loses them. */
int option_pairs_attributes(const char *text, option_pairs_fn *each, void *context, const char **bad);

#endif
