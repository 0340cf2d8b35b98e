#ifndef SITE_ENV_H
#define SITE_ENV_H
/* The environment of a script of the site that acts on a job: prologue, epilogue, $action (doc/host-life.md).
 *
 * Such a script runs as root and the job is another user's. So it gets what the MOM says of the job, under names that the MOM
 * computes. What the owner chose comes under names that no program obeys: of the owner's variables those that qsub makes
 * (PBS_O_HOME, PBS_O_WORKDIR and so on), and SHELL, HOME and TMPDIR of the job as PBS_TASK_SHELL, PBS_TASK_HOME and
 * PBS_TASK_TMPDIR. SHELL is /bin/sh. */
struct shep_order;
struct words;

/* `session`: of the job, 0 where it has none. */
void site_env_make(const struct shep_order *o, int session, struct words *out);
/* PBS_SIDS: every session of the run in this directory, the script's first. */
void site_env_add_sessions(const char *path, struct words *out);

#endif
