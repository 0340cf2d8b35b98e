#ifndef ENFORCE_H
#define ENFORCE_H
/* Is a job over one of its limits? Pure; what it remembers is in the run. */
#include <stdbool.h>
#include <stddef.h>

#include <exec.h>

struct config;
struct run;

/* A sample of usage has come: the moving average of cpu time (r->burst) follows it. */
void enforce_note(const struct config *c, struct run *r, const struct exec_usage *u);

#define ENFORCE_BURST                                                                                        \
    "(burst)" /* the end of the text of EXEC_END_NCPUS, where it was for a moment that too many were used */

/* True with the reason and the text for log and stderr ("cput 11 exceeded limit 10"). */
bool enforce_is_over(const struct config *c, const struct run *r, const struct exec_usage *u,
                     exec_reason *reason, char *text, size_t max);

#endif
