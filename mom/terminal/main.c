/* pbs_terminal: the two ends of an interactive job's terminal.
 *
 *   pbs_terminal serve DIR         on the host of the job, started by pbs_mom
 *   pbs_terminal client JOB FD     beside the waiting qsub, started by it
 *
 * A program of its own, since it alone needs TLS where qsub and the shepherd do not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_end.h"
#include "host_end.h"

enum { EXIT_USAGE = 2 };

int main(int argc, char *argv[])
{
    if (argc == 3 && strcmp(argv[1], "serve") == 0)
        return host_end_run(argv[2]);
    if (argc == 4 && strcmp(argv[1], "client") == 0)
        return client_end_run(argv[2], atoi(argv[3]));
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("pbs_version = %s\n", CEDE_VERSION);
        return 0;
    }
    fprintf(stderr, "usage: pbs_terminal serve DIR | client JOB FD\n(started by pbs_mom and qsub)\n");
    return EXIT_USAGE;
}
