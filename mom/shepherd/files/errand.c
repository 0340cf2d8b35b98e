/* What programs of the site and errands have in common. See errand.h.
 *
 * An errand is a pbs_shepherd that does one thing for the MOM and ends. The MOM gives arguments as XDR on standard input, and reads the
 * answer from standard output; the order is in the run's directory. What is wrong is a line on standard error, and exit status 1. */

/* A script of the site that outlived its MOM would run beside the one that the next MOM starts. The kernel tells us when
 * the MOM is gone; our group is the script's. */
#include "errand.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>

#include "file.h"
#include "rundir.h"
#include "trusted.h"

static void errand_end_group(int signo)
{
    kill(0, SIGKILL);
}

void errand_end_with_parent(void)
{
    signal(SIGTERM, errand_end_group);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

int errand_check(const char *file, struct err *e)
{
    char real[PATH_MAX];
    struct err why = {0};
    struct stat st;

    if (stat(file, &st) < 0)
        return err_errno(e, errno, "script %s cannot be read", file);
    /* It runs with our rights, so no other user may be able to write it: neither the file, nor a directory on the way to it. */
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 0500) != 0500 || (st.st_mode & 022))
        return err_set(e, EACCES, "script %s cannot be executed due to permissions (Permission Error)", file);
    if (trusted_program(file, real, &why) < 0)
        return err_set(e, EACCES, "script %s cannot be executed due to permissions (Permission Error): %s",
                       file, why.text);
    return 0;
}

int errand_with_order(const char *path, size_t max, errand_fn *fn)
{
    struct shep_order o = {0};
    struct err e = {0};
    char *bytes = NULL;
    size_t n = 0;
    int rc = -1;

    if (rundir_read_order(path, &o, &e) == 0 && file_read_fd(STDIN_FILENO, max, &bytes, &n, &e) == 0)
        rc = fn(path, &o, bytes, n, &e);
    if (rc < 0)
        fprintf(stderr, "pbs_shepherd: %s\n", e.text);
    free(bytes);
    xdr_free((xdrproc_t)xdr_shep_order, &o);
    return rc < 0 ? 1 : 0;
}
