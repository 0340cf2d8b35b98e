/* A program that has a say in its preemption, with nothing but pmix.h: writes what it sees, a line each, to LOG.RANK.
 *
 *   pmix_talk LOG [query] [event | signal | shared | plain] [need=SECONDS] [hold=answer | hold=asked | hold=writing] [quiet] [ANSWER]
 *   ANSWER: ready, defer=SECONDS, partial=NODES, release=NODES, refuse, saved, die, late, flood
 *   RANK:WORD: a word for one rank alone; plain: it can be preempted, and does not say that it saves itself
 *   hold: until there is a file `go`, it does not answer; does not begin to save itself; has written half of its state
 *
 * It waits for alerts until it is killed, and answers each. The library's thread and the main one both write; each line is one write, so that
 * none comes between two halves of another. */
#include <fcntl.h>
#include <pmix.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 512 };

static pmix_proc_t me;
static int out = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static char id[TEXT], method[TEXT]; /* of the alert that was seen last */
static int alerts, checkpoints;     /* seen and not handled */
static bool busy;                   /* an answer was granted in part */
static const char *held = "";       /* at which point it waits for the file `go` */
static const char *how = "", *declaration = "";
static unsigned need_s;

struct line {
    char text[4 * TEXT];
    size_t n;
};

static void line_add(struct line *l, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(l->text + l->n, sizeof l->text - l->n, format, args);
    va_end(args);
    l->n = n < 0 || (size_t)n >= sizeof l->text - l->n ? sizeof l->text - 1 : l->n + (size_t)n;
}

static void line_write(const struct line *l)
{
    if (write(out, l->text, l->n) != (ssize_t)l->n)
        abort();
}

static const char *text_of(const pmix_info_t *i)
{
    return i->value.type == PMIX_STRING ? i->value.data.string : "";
}

static void on_alert(size_t n_handler, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t n, pmix_info_t *results, size_t n_results,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    struct line l = {.n = 0};

    (void)n_handler, (void)source, (void)results, (void)n_results;
    pthread_mutex_lock(&lock);
    if (status == PMIX_JCTRL_CHECKPOINT) {
        checkpoints++;
        line_add(&l, "checkpoint");
    } else {
        line_add(&l, "alert");
        for (size_t k = 0; k < n; k++) {
            if (PMIX_CHECK_KEY(&info[k], PMIX_JOB_CTRL_ID))
                snprintf(id, sizeof id, "%s", text_of(&info[k])), line_add(&l, " id=%s", id);
            else if (PMIX_CHECK_KEY(&info[k], "pbs.preempt.method"))
                snprintf(method, sizeof method, "%s", text_of(&info[k])), line_add(&l, " method=%s", method);
            else if (PMIX_CHECK_KEY(&info[k], "pbs.preempt.reclaim"))
                line_add(&l, " reclaim=%s", text_of(&info[k]));
            else if (PMIX_CHECK_KEY(&info[k], "pbs.preempt.by"))
                line_add(&l, " by=%s", text_of(&info[k]));
            else if (PMIX_CHECK_KEY(&info[k], "pbs.preempt.deadline"))
                line_add(&l, " deadline=%lld", (long long)info[k].value.data.int64);
            else if (PMIX_CHECK_KEY(&info[k], PMIX_EVENT_ACTION_TIMEOUT))
                line_add(&l, " timeout=%d", info[k].value.data.integer);
        }
        alerts++;
    }
    line_add(&l, "\n");
    line_write(&l);
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&lock);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* Asked for by the thread that waits for news, never by one of the library. */
static void tell_deadline(void)
{
    struct line l = {.n = 0};
    pmix_query_t q;
    pmix_info_t *found = NULL;
    size_t n = 0;
    pmix_status_t rc;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, "pbs.preempt.deadline");
    rc = PMIx_Query_info(&q, 1, &found, &n);
    line_add(&l, "deadline %s at=%lld\n", PMIx_Error_string(rc),
             rc == PMIX_SUCCESS && n ? (long long)found->value.data.int64 : 0);
    line_write(&l);
}

static void on_answer(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                      pmix_release_cbfunc_t release, void *release_arg)
{
    struct line l = {.n = 0};

    pthread_mutex_lock(&lock);
    line_add(&l, "%s %s", (const char *)arg, PMIx_Error_string(status));
    for (size_t k = 0; k < n; k++)
        if (PMIX_CHECK_KEY(&info[k], PMIX_EVENT_ACTION_TIMEOUT))
            line_add(&l, " timeout=%d", info[k].value.data.integer);
    line_add(&l, "\n");
    line_write(&l);
    busy |= status == PMIX_ERR_RESOURCE_BUSY;
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&lock);
    if (release)
        release(release_arg);
}

static void control(const char *what, pmix_info_t *info, size_t n)
{
    pmix_status_t rc = PMIx_Job_control_nb(NULL, 0, info, n, on_answer, (void *)what);

    if (rc != PMIX_SUCCESS)
        on_answer(rc, NULL, 0, (void *)what, NULL, NULL);
}

static void query(void)
{
    struct line l = {.n = 0};
    pmix_query_t q;
    pmix_info_t *found = NULL;
    size_t n = 0;
    pmix_status_t rc;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, "pbs.preempt.policy");
    rc = PMIx_Query_info(&q, 1, &found, &n);
    line_add(&l, "policy %s", PMIx_Error_string(rc));
    if (rc == PMIX_SUCCESS && n && found->value.type == PMIX_DATA_ARRAY) {
        pmix_info_t *i = found->value.data.darray->array;

        for (size_t k = 0; k < found->value.data.darray->size; k++)
            if (strcmp(i[k].key, "document") != 0 && i[k].value.type == PMIX_STRING)
                line_add(&l, " %s=%s", i[k].key, i[k].value.data.string);
            else if (i[k].value.type == PMIX_UINT32)
                line_add(&l, " %s=%u", i[k].key, i[k].value.data.uint32);
            else if (i[k].value.type == PMIX_BOOL)
                line_add(&l, " %s=%d", i[k].key, i[k].value.data.flag);
    }
    line_add(&l, "\n");
    line_write(&l);
}

static void declare(void)
{
    static pmix_info_t info[4]; /* read until the answer has come */
    bool yes = true;
    int usr1 = SIGUSR1, seconds = (int)need_s;
    size_t n = 0;

    PMIX_INFO_LOAD(&info[n], PMIX_JOB_CTRL_PREEMPTIBLE, &yes, PMIX_BOOL);
    n++;
    if (strcmp(declaration, "signal") != 0 && strcmp(declaration, "plain") != 0) {
        PMIX_INFO_LOAD(&info[n], PMIX_JOB_CTRL_CHECKPOINT_EVENT, &yes, PMIX_BOOL);
        n++;
    }
    if (strcmp(declaration, "signal") == 0)
        PMIX_INFO_LOAD(&info[n], PMIX_JOB_CTRL_CHECKPOINT_SIGNAL, &usr1, PMIX_INT);
    else if (strcmp(declaration, "shared") == 0)
        PMIX_INFO_LOAD(&info[n], PMIX_JOB_CTRL_CHECKPOINT_TIMEOUT, &seconds, PMIX_INT);
    else
        PMIX_INFO_LOAD(&info[n], "pbs.preempt.need_s", &need_s, PMIX_UINT32);
    n++;
    control("declared", info, n);
}

static void hold(const char *where)
{
    if (strcmp(held, where) == 0)
        while (access("go", F_OK) < 0)
            usleep(20000);
}

static void save(void)
{
    char path[2 * TEXT], new[3 * TEXT];
    const char *dir = getenv("PBS_CHECKPOINT_DIR");
    FILE *f;

    snprintf(path, sizeof path, "%s/state.%u", dir ? dir : ".", me.rank);
    snprintf(new, sizeof new, "%s.new", path);
    hold("asked");
    f = fopen(new, "w");
    if (!f)
        return;
    fprintf(f, "st");
    fflush(f);
    hold("writing");
    fprintf(f, "ate\n");
    fclose(f);
    rename(new, path);
}

static void say_saved(const char *which)
{
    struct line l = {.n = 0};
    pmix_info_t info[2];
    bool yes = true;
    pmix_status_t rc;

    save();
    line_add(&l, "reports\n"); /* before: the job may be ended for it, this program with it */
    line_write(&l);
    PMIX_INFO_LOAD(&info[0], PMIX_JOB_CTRL_ID, which, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    rc = PMIx_Notify_event(PMIX_JCTRL_CHECKPOINT_COMPLETE, &me, PMIX_RANGE_RM, info, 2, NULL, NULL);
    l.n = 0;
    line_add(&l, "reported %s\n", PMIx_Error_string(rc));
    line_write(&l);
}

static void reply(const char *word, uint32_t need_s, const char *nodes)
{
    static pmix_info_t info[4];
    size_t n = 2;

    PMIX_INFO_LOAD(&info[0], PMIX_JOB_CTRL_ID, id, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], "pbs.preempt.reply", word, PMIX_STRING);
    if (need_s) {
        PMIX_INFO_LOAD(&info[n], "pbs.preempt.need_s", &need_s, PMIX_UINT32);
        n++;
    }
    if (nodes) {
        PMIX_INFO_LOAD(&info[n], PMIX_ALLOC_NODE_LIST, nodes, PMIX_STRING);
        n++;
    }
    control("answered", info, n);
}

static void give_back(const char *nodes)
{
    static pmix_info_t info[2];
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info[0], PMIX_ALLOC_REQ_ID, id, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_ALLOC_NODE_LIST, nodes, PMIX_STRING);
    rc = PMIx_Allocation_request_nb(PMIX_ALLOC_RELEASE, info, 2, on_answer, (void *)"answered");
    if (rc != PMIX_SUCCESS)
        on_answer(rc, NULL, 0, (void *)"answered", NULL, NULL);
}

static void answer(void)
{
    const char *value = strchr(how, '=');

    value = value ? value + 1 : "";
    hold("answer");
    if (strncmp(how, "defer", 5) == 0)
        reply("defer", (uint32_t)atoi(value), NULL);
    else if (strncmp(how, "partial", 7) == 0)
        reply("partial", 0, value);
    else if (strncmp(how, "release", 7) == 0)
        give_back(value);
    else if (strcmp(how, "saved") == 0)
        say_saved(id);
    else if (strcmp(how, "die") == 0)
        raise(SIGKILL);
    else if (strcmp(how, "late") == 0) {
        id[0] = id[0] == (char)48 ? 49 : 48;
        reply("ready", 0, NULL);
    } else if (strcmp(how, "flood") == 0) {
        for (int i = 0; i < 50000; i++)
            PMIx_Job_control_nb(NULL, 0, NULL, 0, NULL, NULL);
        reply("ready", 0, NULL);
    } else if (how[0])
        reply(how, 0, NULL);
}

static void wait_for_news(void)
{
    for (;;) {
        bool b;
        int a, c;

        pthread_mutex_lock(&lock);
        while (!alerts && !checkpoints && !busy)
            pthread_cond_wait(&news, &lock);
        a = alerts;
        c = checkpoints;
        b = busy;
        alerts = checkpoints = 0;
        busy = false;
        pthread_mutex_unlock(&lock);
        if (b)
            tell_deadline();
        if (c)
            say_saved("");
        if (a && strcmp(method, "none") != 0)
            answer();
    }
}

/* "RANK:WORD" is for that rank alone: the others have "quiet". */
static const char *mine(const char *word)
{
    if (word[0] < '0' || word[0] > '9')
        return word;
    return (unsigned)atoi(word) == me.rank ? strchr(word, ':') + 1 : "quiet";
}

static void take_word(const char *word)
{
    if (strcmp(word, "query") == 0)
        query();
    else if (strcmp(word, "event") == 0 || strcmp(word, "signal") == 0 || strcmp(word, "shared") == 0 ||
             strcmp(word, "plain") == 0)
        declaration = word;
    else if (strncmp(word, "need=", 5) == 0)
        need_s = (unsigned)atoi(word + 5);
    else if (strncmp(word, "hold=", 5) == 0)
        held = word + 5;
    else if (strcmp(word, "quiet") != 0)
        how = word;
}

int main(int argc, char *argv[])
{
    static pmix_status_t codes[] = {PMIX_JCTRL_PREEMPT_ALERT, PMIX_JCTRL_CHECKPOINT};
    struct line l = {.n = 0};
    char path[TEXT];

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    snprintf(path, sizeof path, "%s.%u", argv[1], me.rank);
    out = open(path, O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (out < 0)
        return 1;
    PMIx_Register_event_handler(codes, 2, NULL, 0, on_alert, NULL, NULL);
    for (int i = 2; i < argc; i++)
        take_word(mine(argv[i]));
    if (declaration[0])
        declare();
    line_add(&l, "up\n");
    line_write(&l);
    wait_for_news();
    return 0;
}
