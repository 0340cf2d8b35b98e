/* A program that saves itself when its job is to give way, and says so: doc/pmix.md.
 *
 *   cc -o saves_itself saves_itself.c $(pkg-config --cflags --libs pmix)
 *   qsub -l select=1:ncpus=1 -- /opt/pbs/bin/pbs_launch $PWD/saves_itself 1000000
 *
 * It counts. Its state is one number, in PBS_CHECKPOINT_DIR; the next run continues from there. */
#include <pmix.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;
static atomic_bool wanted; /* save yourself */
static char alert[256];    /* the id of the alert; written before `wanted` */

/* Called by a thread of the library: only remember. */
static void on_event(size_t handler, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t n, pmix_info_t *results, size_t n_results,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    bool over = false;

    (void)handler, (void)status, (void)source, (void)results, (void)n_results;
    for (size_t i = 0; i < n; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_JOB_CTRL_ID))
            snprintf(alert, sizeof alert, "%s", info[i].value.data.string);
        if (PMIX_CHECK_KEY(&info[i], "pbs.preempt.method"))
            over = strcmp(info[i].value.data.string, "none") == 0; /* withdrawn */
    }
    if (!over)
        atomic_store(&wanted, true);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* I can be preempted; an event makes me save myself, which takes five seconds at most. */
static void declare(void)
{
    pmix_info_t info[3];
    bool yes = true;
    uint32_t need_s = 5;
    pmix_info_t *results;
    size_t n;

    PMIX_INFO_LOAD(&info[0], PMIX_JOB_CTRL_PREEMPTIBLE, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_JOB_CTRL_CHECKPOINT_EVENT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[2], "pbs.preempt.need_s", &need_s, PMIX_UINT32);
    if (PMIx_Job_control(NULL, 0, info, 3, &results, &n) != PMIX_SUCCESS)
        fprintf(stderr, "nothing heard the declaration: the program runs without\n");
}

static void path(char out[static 4096], const char *name)
{
    const char *dir = getenv("PBS_CHECKPOINT_DIR");

    snprintf(out, 4096, "%s/%s", dir ? dir : ".", name);
}

static long load(void)
{
    char from[4096];
    long n = 0;
    FILE *f;

    path(from, "count");
    f = fopen(from, "r");
    if (f && fscanf(f, "%ld", &n) != 1)
        n = 0;
    if (f)
        fclose(f);
    return n;
}

/* A new file, on the disk, then its name: there is always a whole one. */
static bool save(long n)
{
    char new[4096], to[4096];
    FILE *f;

    path(new, "count.new");
    path(to, "count");
    f = fopen(new, "w");
    if (!f)
        return false;
    fprintf(f, "%ld\n", n);
    if (fflush(f) != 0 || fsync(fileno(f)) < 0 || fclose(f) != 0)
        return false;
    return rename(new, to) == 0;
}

static void report(void)
{
    pmix_info_t info[2];
    bool yes = true;

    PMIX_INFO_LOAD(&info[0], PMIX_JOB_CTRL_ID, alert, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    PMIx_Notify_event(PMIX_JCTRL_CHECKPOINT_COMPLETE, &me, PMIX_RANGE_RM, info, 2, NULL, NULL);
}

int main(int argc, char *argv[])
{
    static pmix_status_t codes[] = {PMIX_JCTRL_PREEMPT_ALERT, PMIX_JCTRL_CHECKPOINT};
    long n, last = argc > 1 ? atol(argv[1]) : 100;

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    PMIx_Register_event_handler(codes, 2, NULL, 0, on_event, NULL,
                                NULL); /* before declare(): an alert may be under way */
    declare();
    for (n = load(); n < last; n++) {
        usleep(10000); /* the work */
        if (atomic_exchange(&wanted, false) && save(n))
            report();
    }
    printf("counted to %ld\n", n);
    PMIx_Finalize(NULL, 0);
    return 0;
}
