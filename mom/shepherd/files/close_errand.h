#ifndef CLOSE_ERRAND_H
#define CLOSE_ERRAND_H
/* Closing a run whose shepherd is gone: arguments on stdin, result on stdout, both XDR. The exit code for main. */
int close_errand(const char *path);

#endif
