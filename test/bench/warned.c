/* warned: a victim that does nothing, and says when TERM came and for when its notice had announced it.
 *
 *   warned FILE      FILE.ready is made when it waits; FILE holds the two times when TERM has come, in seconds since 1970
 *
 * It costs next to nothing to run, so that a hundred of them at once do not keep each other waiting for a processor: what
 * is measured is the time of the signal's sender. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATH_MAX_ = 4096, LINE = 1024 };

/* The `deadline=` of the notice file; 0: there is none. */
static double announced(void)
{
    const char *path = getenv("PBS_PREEMPT_NOTICE");
    FILE *in = path ? fopen(path, "re") : NULL;
    char line[LINE];
    double at = 0;

    while (in && fgets(line, sizeof line, in))
        if (strncmp(line, "deadline=", 9) == 0)
            at = strtod(line + 9, NULL);
    if (in)
        fclose(in);
    return at;
}

int main(int argc, char *argv[])
{
    char ready[PATH_MAX_];
    struct timespec now;
    sigset_t term;
    FILE *out;

    if (argc != 2)
        return 2;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    snprintf(ready, sizeof ready, "%s.ready", argv[1]);
    out = fopen(ready, "we");
    if (!out || fclose(out) != 0)
        return 1;
    sigwaitinfo(&term, NULL);
    clock_gettime(CLOCK_REALTIME, &now);
    out = fopen(argv[1], "we");
    if (!out)
        return 1;
    fprintf(out, "%.6f %.6f\n", (double)now.tv_sec + (double)now.tv_nsec / 1e9, announced());
    return fclose(out) != 0;
}
