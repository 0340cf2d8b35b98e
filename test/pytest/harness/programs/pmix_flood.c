/* A program that sends one kind of PMIx request again and again without waiting for answers, and counts those that come.
 *
 *   pmix_flood KIND COUNT
 *
 * Its last line in flood.RANK is "KIND asked=COUNT answered=COUNT refused=N", written when the last answer has come: refused are the calls
 * that the library has not taken, which have no answer. It waits as long as it takes: an answer that is lost is an end that does not come. */
#include <pmix.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static size_t answered;

static void count(void)
{
    pthread_mutex_lock(&lock);
    answered++;
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&lock);
}

static void on_info(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                    pmix_release_cbfunc_t release, void *release_arg)
{
    (void)status, (void)info, (void)n, (void)arg;
    count();
    if (release)
        release(release_arg);
}

static void on_op(pmix_status_t status, void *arg)
{
    (void)status, (void)arg;
    count();
}

static void on_lookup(pmix_status_t status, pmix_pdata_t data[], size_t n, void *arg)
{
    (void)status, (void)data, (void)n, (void)arg;
    count();
}

static void on_spawn(pmix_status_t status, pmix_nspace_t nspace, void *arg)
{
    (void)status, (void)nspace, (void)arg;
    count();
}

/* What the calls point to is read until their answers have come: made once, never freed. */
static pmix_info_t one[1], declaration[2], release[2];
static pmix_query_t policy, deadline;
static pmix_app_t app;
static pmix_proc_t strange[2];
static char *keys[] = {(char[]){"flood"}, NULL};

static void make(void)
{
    bool yes = true;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&one[0], "flood", "value", PMIX_STRING);
    PMIX_INFO_LOAD(&declaration[0], PMIX_JOB_CTRL_PREEMPTIBLE, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&declaration[1], PMIX_JOB_CTRL_CHECKPOINT_EVENT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&release[0], PMIX_ALLOC_REQ_ID, "none", PMIX_STRING);
    PMIX_INFO_LOAD(&release[1], PMIX_ALLOC_NODE_LIST, "n1", PMIX_STRING);
    PMIX_QUERY_CONSTRUCT(&policy);
    PMIX_ARGV_APPEND(rc, policy.keys, "pbs.preempt.policy");
    PMIX_QUERY_CONSTRUCT(&deadline);
    PMIX_ARGV_APPEND(rc, deadline.keys, "pbs.preempt.deadline");
    if (rc != PMIX_SUCCESS)
        abort();
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup("true");
    app.maxprocs = 1;
    strange[0] = me;
    PMIX_LOAD_PROCID(&strange[1], "no.such.job", 0);
}

static pmix_status_t ask(const char *kind)
{
    if (strcmp(kind, "policy") == 0)
        return PMIx_Query_info_nb(&policy, 1, on_info, NULL);
    if (strcmp(kind, "deadline") == 0)
        return PMIx_Query_info_nb(&deadline, 1, on_info, NULL);
    if (strcmp(kind, "declare") == 0)
        return PMIx_Job_control_nb(NULL, 0, declaration, 2, on_info, NULL);
    if (strcmp(kind, "release") == 0)
        return PMIx_Allocation_request_nb(PMIX_ALLOC_RELEASE, release, 2, on_info, NULL);
    if (strcmp(kind, "log") == 0)
        return PMIx_Log_nb(one, 1, NULL, 0, on_op, NULL);
    if (strcmp(kind, "publish") == 0)
        return PMIx_Publish_nb(one, 1, on_op, NULL);
    if (strcmp(kind, "lookup") == 0)
        return PMIx_Lookup_nb(keys, NULL, 0, on_lookup, NULL);
    if (strcmp(kind, "notify") == 0)
        return PMIx_Notify_event(PMIX_JCTRL_CHECKPOINT_COMPLETE, &me, PMIX_RANGE_NAMESPACE, one, 1, on_op,
                                 NULL);
    if (strcmp(kind, "report") == 0) { /* without a callback: version 4.2 never calls it for this range */
        pmix_status_t rc =
            PMIx_Notify_event(PMIX_JCTRL_CHECKPOINT_COMPLETE, &me, PMIX_RANGE_RM, one, 1, NULL, NULL);

        return rc == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : rc;
    }
    if (strcmp(kind, "monitor") == 0)
        return PMIx_Process_monitor_nb(one, PMIX_MONITOR_FILE_ALERT, NULL, 0, on_info, NULL);
    if (strcmp(kind, "fence") == 0)
        return PMIx_Fence_nb(strange, 2, NULL, 0, on_op, NULL);
    if (strcmp(kind, "spawn") == 0)
        return PMIx_Spawn_nb(NULL, 0, &app, 1, on_spawn, NULL);
    fprintf(stderr, "pmix_flood: %s is not a kind of request\n", kind);
    exit(2);
}

static void report(const char *kind, size_t asked, size_t refused)
{
    char path[64];
    FILE *f;

    snprintf(path, sizeof path, "flood.%u.new", me.rank);
    f = fopen(path, "w");
    if (!f)
        exit(1);
    fprintf(f, "%s asked=%zu answered=%zu refused=%zu\n", kind, asked, answered, refused);
    fclose(f);
}

int main(int argc, char *argv[])
{
    size_t asked = 0, refused = 0, wanted = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    char from[64], to[64];

    if (!wanted || PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    make();
    for (; asked < wanted; asked++) {
        pmix_status_t rc = ask(argv[1]);

        if (rc == PMIX_OPERATION_SUCCEEDED) /* done, and no answer comes */
            count();
        else if (rc != PMIX_SUCCESS)
            refused++;
    }
    report(argv[1], asked, refused);
    pthread_mutex_lock(&lock);
    while (answered + refused < asked)
        pthread_cond_wait(&news, &lock);
    pthread_mutex_unlock(&lock);
    report(argv[1], asked, refused);
    snprintf(from, sizeof from, "flood.%u.new", me.rank);
    snprintf(to, sizeof to, "flood.%u", me.rank);
    rename(from, to);
    pause();
    return 0;
}
