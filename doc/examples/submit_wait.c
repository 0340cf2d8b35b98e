/* submit_wait SCRIPT [RESOURCE=VALUE...]: submit a job, wait for its end, and end as it did.
 *
 *     cc submit_wait.c $(pkg-config --cflags --libs pbs) -o submit_wait
 *     ./submit_wait job.sh ncpus=4 walltime=1:00:00
 */
#include <pbs_error.h>
#include <pbs_ext.h>
#include <pbs_ifl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(int c, const char *what)
{
    const char *text = c < 0 ? NULL : pbs_geterrmsg(c);

    fprintf(stderr, "submit_wait: %s: %s (%d)\n", what, text ? text : "no answer", pbs_errno);
    return 1;
}

/* "ncpus=4" as an attribute before those of "list"; the words are cut in place and must outlive the list. */
static struct attropl *resources(int n, char *words[], struct attropl *items, struct attropl *list)
{
    for (int i = n - 1; i >= 0; i--) {
        char *value = strchr(words[i], '=');

        if (!value)
            continue;
        *value++ = '\0';
        items[i] =
            (struct attropl){.next = list, .name = ATTR_l, .resource = words[i], .value = value, .op = SET};
        list = &items[i];
    }
    return list;
}

int main(int argc, char *argv[])
{
    /* A short job may be over before it is waited for: the end of such a one is kept, also without history. */
    struct attropl waited = {.name = ATTR_block, .value = "1", .op = SET};
    struct attropl items[64];
    struct pbs_job_end end;
    char *job;
    int c;

    if (argc < 2 || argc > 64) {
        fprintf(stderr, "usage: submit_wait SCRIPT [RESOURCE=VALUE...]\n");
        return 2;
    }
    c = pbs_connect(NULL);
    if (c < 0)
        return fail(c, "cannot connect");
    job = pbs_submit(c, resources(argc - 2, argv + 2, items, &waited), argv[1], NULL, NULL);
    if (!job)
        return fail(c, argv[1]);
    printf("%s\n", job);
    fflush(stdout);
    if (pbs_waitjob(c, job, NULL, &end) != 0)
        return fail(c, job);
    if (!end.exited)
        fprintf(stderr, "submit_wait: %s was deleted before it ran\n", job);
    free(job);
    pbs_disconnect(c);
    return !end.exited ? 1 : end.exit_status < 0 ? 255 : end.exit_status & 255;
}
