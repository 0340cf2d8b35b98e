#ifndef FILES_H
#define FILES_H
/* The scheduler's files: sched_config, and those that stand beside it in sched_priv.
 *
 * reference/scheduler.md section 2 lists the options. All names are known; one that does nothing yet is named in
 * the log unless it is at its default, so that nobody believes in it.
 */
#include "err.h"

struct policy;
struct strbuf;

/* Read this file into the policy; written with all defaults when it is missing. -1: the file cannot be
 * read or a line is wrong (the text names it); the policy is as it was. */
int files_read_config(const char *path, struct policy *p, struct err *e);

/* sched_config as it is when nothing was changed: every option with its sentence. */
void files_add_presets(struct strbuf *out);

/* resource_group, holidays and dedicated_time, from PBS_EXEC/etc into sched_priv, where they are missing. */
int files_put_pristine(const char *exec, const char *priv, struct err *e);

#endif
