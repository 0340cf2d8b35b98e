#ifndef ENFORCE_H
#define ENFORCE_H
/* Is a job over one of its limits? Pure; what it remembers is in the run. */
#include <stdbool.h>
#include <stddef.h>

#include <exec.h>

struct config;
struct run;

/* Let the moving average of cpu time (r->burst) follow a sample. Call it once for each sample, before enforce_is_over. */
void enforce_note(const struct config *c, struct run *r, const struct exec_usage *u);

/* The end of the text of EXEC_END_NCPUS where the moving average was over the limit. act_end.c looks for it, since that end
 * has an exit status of its own. */
#define ENFORCE_BURST "(burst)"

/* Return true, with the reason and with the text for log and stderr ("cput 11 exceeded limit 10"), if a limit is exceeded;
 * else leave both alone. */
bool enforce_is_over(const struct config *c, const struct run *r, const struct exec_usage *u,
                     exec_reason *reason, char *text, size_t max);

#endif
