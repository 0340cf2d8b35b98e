#ifndef SIM_RULES_H
#define SIM_RULES_H
/* What happens to simulated jobs and nodes: lines of a file, all optional, times in seconds (fractions allowed).
 *
 *     run PATTERN SECONDS [STATUS]      jobs whose name matches (as a shell pattern) take so long, or, where it says
 *                                       LEAST-MOST, something between; the first line that fits counts. A trace of a
 *                                       site is many such lines.
 *     crash PATTERN SECONDS             they disappear after so long, without a status
 *     checkpoint SECONDS [SECONDS]      jobs can be saved, which takes so long (suspended meanwhile), and restored, which
 *                                       takes so long
 *     fail N STATUS                     every Nth job ends with STATUS instead
 *     refuse N                          every Nth START is refused
 *     epilogue NODES SECONDS            these vnodes are released so long after the job's end; others at once
 *     lose NODES AT [FOR]               they are down from AT on (since the start of the simulator), with what runs there
 *
 * Pure, except for two counters. Times are milliseconds of the simulation.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct sim_rules;

struct sim_rules *sim_rules_create(void); /* without any rule; NULL: no memory */
void sim_rules_destroy(struct sim_rules *r);
/* Read the rules of a file. EINVAL: the text has file, line, and the right form. */
int sim_rules_read(struct sim_rules *r, const char *path, struct err *e);

/* Get what the job of this name does: *ms and *status are left alone where no line matches. The same `job`, a number,
 * has the same length each time it runs. */
void sim_rules_run(const struct sim_rules *r, const char *name, uint64_t job, int64_t *ms, int *status);
/* Return the time after which it crashes; -1: it does not. */
int64_t sim_rules_crash_ms(const struct sim_rules *r, const char *name);
/* Return false if jobs cannot be checkpointed. */
bool sim_rules_checkpoint(const struct sim_rules *r, int64_t *save_ms, int64_t *restart_ms);
/* Count a job; return true if it fails, with its status. Count a START; return true if it is refused. */
bool sim_rules_count_job(struct sim_rules *r, int *status);
bool sim_rules_count_start(struct sim_rules *r);
int64_t sim_rules_epilogue_ms(const struct sim_rules *r, const char *node);

struct sim_rules_loss {
    char **nodes;
    size_t n_nodes;
    int64_t at_ms, for_ms; /* for_ms 0: for ever */
};
const struct sim_rules_loss *sim_rules_losses(const struct sim_rules *r, size_t *n); /* borrow */

#endif
