#ifndef SUPERVISE_H
#define SUPERVISE_H
/* Holding a job: from its first process to the moment when nothing of it is left and a MOM has said CLOSE.
 * Needs no MOM in between: the end is recorded, limits of time and graces are kept, without one. */

/* The run in the directory `path`; `mom` is a socket to the MOM, or -1. The exit code for main. */
int supervise_run(const char *path, int mom);

#endif
