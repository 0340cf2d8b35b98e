#ifndef HOST_END_H
#define HOST_END_H
/* The host's end of an interactive job: `pbs_terminal serve DIR`, DIR being the run's directory. Connects to the waiting
 * qsub, makes a terminal, notes its name in the run's directory (RUNDIR_TTY; before it
 * RUNDIR_DISPLAY, if X11 is wanted), and returns 0 then; what continues is a process
 * of its own, as the job's owner, until the job or qsub is gone. The exit code for main; the reason is on stderr. */
int host_end_run(const char *path);

#endif
