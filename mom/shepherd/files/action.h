#ifndef ACTION_H
#define ACTION_H
/* A script of $action for the run in `path`: argv is the script and its arguments. Where `image` is not "" it writes
 * <image>.new, which takes the place of <image> when it exits 0 or 3 and what it says is so: there is an image (image.h), and
 * with 3 the job is gone. The size goes to standard output. The exit code of this process is the script's; 254, and the reason
 * as last line on standard error: it may not be run, what it says is not so, or its image could not be kept. */
int action_run(const char *path, int session, const char *image, char *const argv[]);

#endif
