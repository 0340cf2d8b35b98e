#ifndef OPTION_PAIRS_H
#define OPTION_PAIRS_H
/* The lists behind -l and -W, cut into pairs. Which names there are is the server's to say. */
#include <stddef.h>

/* One pair, borrowed for the call. Nonzero stops. */
typedef int job_words_pair(void *context, const char *name, const char *value);

/* -l: "ncpus=2,mem=1gb,select=..." A comma ends a value unless quotes protect it or, for preempt_targets,
 * no new name= follows. Quotes stay, because a select has its own. An empty value is allowed (qalter).
 * 0, what `each` said, or -1 and *bad is where it is wrong. */
int job_words_resources(const char *text, job_words_pair *each, void *context, const char **bad);

/* -W: "depend=afterok:1,before:2,umask=022": a value goes on over commas until the next name=. A value in
 * quotes loses them. */
int job_words_attributes(const char *text, job_words_pair *each, void *context, const char **bad);

#endif
