#ifndef SCRIPT_H
#define SCRIPT_H
/* The site's prologue and epilogue around a job, as root, with the job's output files. */

/* `which` is "prologue" or "epilogue"; `file` its path; the rest of argv are its arguments. The exit code of
 * this process is what the script ended with: 0 to 255; 254 it may not be run (permissions), 253 killed, 252 the
 * job's files cannot be opened, which its own start will say. */
int script_run(const char *path, const char *which, const char *file, char *const args[]);

enum { SCRIPT_NO_FILES = 252, SCRIPT_KILLED = 253, SCRIPT_REFUSED = 254 };

#endif
