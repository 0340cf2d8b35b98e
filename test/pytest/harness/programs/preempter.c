/* A scheduler of its own: registers under the name it is given, and preempts the jobs that follow. Prints the reply, an
 * entry a line: its job, and all bytes of its order in hexadecimal. */
#include <pbs_error.h>
#include <pbs_ifl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(int c, const char *what)
{
    const char *text = pbs_geterrmsg(c);

    printf("%s: %d %s\n", what, pbs_errno, text ? text : "");
    return 1;
}

int main(int argc, char *argv[])
{
    int c = pbs_connect(NULL);

    if (c < 0 || argc < 3)
        return complain(c, "connect");
    if (strcmp(argv[1], "-") != 0 && pbs_register_sched(argv[1], c, c) != 0)
        return complain(c, "register");
    preempt_job_info *reply = pbs_preempt_jobs(c, argv + 2);
    if (!reply)
        return complain(c, "preempt");
    for (int i = 0; i < argc - 2; i++) {
        printf("%s", reply[i].job_id);
        for (size_t k = 0; k < sizeof reply[i].order; k++)
            printf(" %02x", (unsigned char)reply[i].order[k]);
        printf("\n");
    }
    free(reply);
    return pbs_disconnect(c);
}
