#ifndef SITE_ENV_H
#define SITE_ENV_H
/* The environment of a script of the site that acts on a job ($action): what we say of the job, nothing of what its
 * owner says (mom.md section 8, checkpoint.md section 3). HOME is not the owner's, since programs of root obey files
 * there; that is PBS_TASK_HOME. */
struct shep_order;
struct words;

void site_env_make(const struct shep_order *o, int session, struct words *out);
/* PBS_SIDS: every session of the run in this directory, the script's first. */
void site_env_add_sessions(const char *path, struct words *out);

#endif
