#ifndef FILES_H
#define FILES_H
/* The scheduler's files: sched_config, and those beside it in sched_priv.
 *
 * sched_config.def lists the options. All of PBS's names are known; the log names an option that does nothing, unless it has its
 * default, so that no site relies on it.
 */
#include <stdint.h>

#include "err.h"

struct policy;
struct settings;
struct strbuf;

/* Who is told of lines that are passed over, in the words of the log: files_log, or another function with its argument. */
struct files_listener {
    void (*say)(void *arg, const char *text);
    void *arg;
};
extern const struct files_listener files_log;

/* Read this file; written with all defaults when it is missing. The caller frees it by settings_destroy.
 * NULL: the file cannot be read, or the value of a line is not of its option's type (the text names it). A line with another
 * fault is said, with its number, and passed over: an unknown name, a sort key or script that has not the right form, a word
 * that the option does not have. */
struct settings *files_load_config(const char *path, const struct files_listener *to, struct err *e);

/* What it says into the policy: lines for prime time, or those for other hours, as policy->is_prime says. */
void files_apply_config(const struct settings *v, struct policy *p);

/* Both at once, with nothing kept. -1: the policy is as it was. */
int files_read_config(const char *path, struct policy *p, const struct files_listener *to, struct err *e);

/* holidays and dedicated_time in this directory into policy->times; what is wrong with them is logged. */
void files_read_times(const char *priv, int64_t now_s, struct policy *p);

/* sched_config as it is when nothing was changed: every option with its sentence. */
void files_add_presets(struct strbuf *out);

/* resource_group, holidays and dedicated_time, from PBS_EXEC/etc into sched_priv, where they are missing. */
int files_put_pristine(const char *exec, const char *priv, struct err *e);

#endif
