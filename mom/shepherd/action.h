#ifndef ACTION_H
#define ACTION_H
/* A script of $action for the run in `path`: argv is the script and its arguments. Where `image` is not "" it writes
 * <image>.new, which takes the place of <image> when it exits 0 or 3; the size goes to standard output. The exit code of
 * this process is the script's; 254: it may not be run, or its image could not be kept. */
int action_run(const char *path, const char *event, int session, const char *image, char *const argv[]);

#endif
