#ifndef SHEP_TITLE_H
#define SHEP_TITLE_H
/* What ps shows of a shepherd: `pbs_shepherd hold DIR`, and behind that `suspended` while its job is. The processes of a suspended
 * job look as before where they are frozen, so this is how an administrator at the host sees them: below such a shepherd. */

/* The memory from argv[1] on is what ps shows; it is written over from now on. Call once, first. */
void shep_title_keep(char *argv[]);
/* The run's directory and the state of its job ("": none). What does not fit is left out; nothing happens where nothing was kept. */
void shep_title_set(const char *path, const char *state);

#endif
