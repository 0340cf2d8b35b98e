/* Eight threads on one connection, on which a ninth has a call parked: pbs_preempt_jobs of the job named, which the main
 * thread runs before. Each thread asks for things that are there and things that are not, and finds its own error and text.
 * Prints "ok" a thread, then the reply. */
#include <pbs_error.h>
#include <pbs_ext.h>
#include <pbs_ifl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 200 };

static int c;
static char *jobs[2];

static int ask(int number, int round)
{
    char name[32], id[64];
    struct batch_status *b;
    char *text;

    if ((number + round) % 2) { /* there */
        b = pbs_statserver(c, NULL, NULL);
        pbs_statfree(b);
        return b != NULL;
    }
    if (number % 2) { /* not there: a queue, or a job */
        snprintf(name, sizeof name, "no%d", number);
        b = pbs_statque(c, name, NULL, NULL);
        return !b && pbs_errno == PBSE_UNKQUE;
    }
    snprintf(id, sizeof id, "%d", 990000 + number);
    b = pbs_statjob(c, id, NULL, NULL);
    text = pbs_geterrmsg(c);
    return !b && pbs_errno == PBSE_UNKJOBID && text && strstr(text, "Unknown Job Id");
}

static void *work(void *arg)
{
    int number = (int)(long)arg, good = 1;

    for (int i = 0; good && i < ROUNDS; i++)
        good = ask(number, i);
    return (void *)(long)good;
}

static void *preempt(void *arg)
{
    return pbs_preempt_jobs(c, jobs);
}

int main(int argc, char *argv[])
{
    pthread_t threads[THREADS], ninth;
    void *result;

    c = pbs_connect(NULL);
    if (argc < 2 || c < 0 || pbs_register_sched(NULL, c, -1) != 0 ||
        pbs_runjob(c, argv[1], "(s1:ncpus=1)", NULL) != 0) {
        printf("%d %s\n", pbs_errno, pbs_geterrmsg(c));
        return 1;
    }
    jobs[0] = argv[1];
    pthread_create(&ninth, NULL, preempt, NULL);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        printf("%s\n", result ? "ok" : "wrong");
    }
    pthread_join(ninth, &result);
    if (result)
        printf("%s=%s\n", ((preempt_job_info *)result)->job_id, ((preempt_job_info *)result)->order);
    free(result);
    return pbs_disconnect(c);
}
