/* An outside scheduler that does what it is told: it registers under the name given, and each line of its input is an order
 * or "next". Each order is answered by a line: its code and the server's text. All by public calls.
 *
 *   comment JOB TEXT          hold JOB | release JOB
 *   run JOB EXEC_VNODE        delete JOB | signal JOB NAME
 *   preempt JOB ...           prints JOB=LETTERS for each
 *   plan JOB EXEC_VNODE VICTIM RUN_VERSION METHODS
 *   reply CODE                to the last wake that wants an answer
 *   next                      changes as "job NAME STATE" or "gone NAME", wakes as "wake COMMAND JOB", then "now SECONDS"
 */
#include <pbs_error.h>
#include <pbs_ext.h>
#include <pbs_ifl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 16 };

static int c;
static unsigned watch;
static struct pbs_news news;
static struct pbs_wake asked;

static void answer(int code)
{
    const char *text = code ? pbs_geterrmsg(c) : NULL;

    printf("%d %s\n", code, text ? text : "");
}

static void change(const struct pbs_change *ch, void *arg)
{
    const char *state = "";

    for (const struct attrl *a = ch->attribs; a; a = a->next)
        if (strcmp(a->name, ATTR_state) == 0)
            state = a->value;
    if (ch->gone)
        printf("gone %s\n", ch->name);
    else
        printf("job %s %s\n", ch->name, state);
}

static void next(void)
{
    static const struct pbs_watch_reader reader = {.change = change};
    int code;

    do {
        code = pbs_watch_next(c, watch, news.cursor, &reader, &news);
        for (size_t i = 0; code == 0 && i < news.n_wakes; i++) {
            printf("wake %d %s\n", news.wakes[i].command, news.wakes[i].job);
            if (news.wakes[i].answer)
                asked = news.wakes[i];
        }
    } while (code == 0 && !news.caught_up);
    if (code)
        answer(code);
    else
        printf("now %lld\n", (long long)(news.now_ns / 1000000000));
}

static void preempt(char *w[], int n)
{
    char *jobs[WORDS] = {0};
    preempt_job_info *reply;

    for (int i = 1; i < n; i++)
        jobs[i - 1] = w[i];
    reply = pbs_preempt_jobs(c, jobs);
    if (!reply) {
        answer(pbs_errno);
        return;
    }
    for (int i = 0; i < n - 1; i++)
        printf("%s%s=%s", i ? " " : "", reply[i].job_id, reply[i].order);
    printf("\n");
    free(reply);
}

static void comment(const char *job, char *text)
{
    struct attrl a = {.name = ATTR_comment, .value = text};

    answer(pbs_alterjob(c, job, &a, NULL));
}

static void obey(char *w[], int n)
{
    if (strcmp(w[0], "next") == 0)
        next();
    else if (strcmp(w[0], "comment") == 0)
        comment(w[1], w[2]);
    else if (strcmp(w[0], "run") == 0)
        answer(pbs_runjob(c, w[1], w[2], NULL));
    else if (strcmp(w[0], "hold") == 0)
        answer(pbs_holdjob(c, w[1], SYSTEM_HOLD, NULL));
    else if (strcmp(w[0], "release") == 0)
        answer(pbs_rlsjob(c, w[1], SYSTEM_HOLD, NULL));
    else if (strcmp(w[0], "delete") == 0)
        answer(pbs_deljob(c, w[1], NULL));
    else if (strcmp(w[0], "signal") == 0)
        answer(pbs_sigjob(c, w[1], w[2], NULL));
    else if (strcmp(w[0], "preempt") == 0)
        preempt(w, n);
    else if (strcmp(w[0], "plan") == 0)
        answer(pbs_preempt_run(c, w[1], w[2], &(struct pbs_victim){w[3], atoi(w[4]), w[5]}, 1, NULL));
    else if (strcmp(w[0], "reply") == 0)
        answer(pbs_sched_reply(c, asked.answer, asked.job, atoi(w[1]), "the outside scheduler says no"));
}

int main(int argc, char *argv[])
{
    struct attrl state = {.name = ATTR_state};
    const struct pbs_watch_want want = {PBS_KIND_JOB, &state};
    char line[4096];

    setvbuf(stdout, NULL, _IOLBF, 0);
    c = pbs_connect(NULL);
    if (c < 0 || pbs_register_sched(argc > 1 ? argv[1] : NULL, c, -1) != 0 ||
        pbs_watch(c, &want, 1, NULL, &watch) != 0) {
        answer(pbs_errno);
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        char *w[WORDS] = {0}, *save = NULL;
        int n = 0;
        for (char *t = strtok_r(line, " \n", &save); t && n < WORDS; t = strtok_r(NULL, " \n", &save))
            w[n++] = t;
        if (n > 0)
            obey(w, n);
    }
    return pbs_disconnect(c);
}
