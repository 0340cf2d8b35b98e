/* conversation [-s SEED] [-n STEPS] [-r ROUNDS | -t SECONDS] [-k STEPS] [-v]: rounds of talk with a server (talk.h).
 *
 * Each round is a process of its own, with the next seed. Where one fails, steps are left out as long as it continues
 * failing; what is left is told, with the command that plays it again. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "talk.h"

enum { ROUNDS = 20, STEPS = 300, STEPS_MAX = 100000, ROUND_S = 300, SHRINK_MS = 60000 };

extern char **environ;

struct plan {
    uint64_t seed;
    unsigned steps;
    bool kept[STEPS_MAX];
    bool is_told;
};

/* What rounds have done; shared with them. */
struct sums {
    uint64_t steps, calls, answers;
    unsigned at; /* the step under way */
};

static struct sums *sums;

/* --- one round -------------------------------------------------------------------------------------------- */

static void play(const struct plan *p, const char *dir)
{
    struct talk *t = calloc(1, sizeof *t);

    if (!t)
        talk_fail("no memory");
    t->is_told = p->is_told;
    talk_begin(t, dir);
    for (unsigned i = 0; i < p->steps; i++) {
        if (!p->kept[i])
            continue;
        sums->at = i;
        talk_step(t, p->seed, i);
        sums->steps++;
    }
    talk_end(t);
    sums->calls += t->calls;
    sums->answers += t->answers;
    free(t);
}

static void remove_dir(const char *dir)
{
    const char *const words[] = {"rm", "-rf", dir, NULL};
    pid_t pid;
    int status;

    if (posix_spawnp(&pid, "rm", NULL, NULL, (char *const *)(uintptr_t)words, environ) == 0)
        waitpid(pid, &status, 0);
}

static void show(const char *path)
{
    char line[4096];
    FILE *f = fopen(path, "r");

    while (f && fgets(line, sizeof line, f))
        fputs(line, stdout);
    if (f)
        fclose(f);
}

/* What is shown of a round. */
enum show { SHOW_NOTHING, SHOW_FAILURE, SHOW_ALL };

static void show_round(const struct plan *p, const char *said, int status)
{
    printf("seed %llu:\n", (unsigned long long)p->seed);
    show(said);
    printf("the round ended with %s %d at step %u\n", WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), sums->at);
}

/* In a process of its own. True: it has ended well. */
static bool run_round(const struct plan *p, enum show what)
{
    const char *top = getenv("TMPDIR");
    char dir[200], out[220];
    int status = 0, fd;
    pid_t pid;

    snprintf(dir, sizeof dir, "%.150s/talk-XXXXXX", top ? top : "/tmp");
    if (!mkdtemp(dir))
        talk_fail("cannot make %s: %s", dir, strerror(errno));
    snprintf(out, sizeof out, "%s/said", dir);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        fd = open(out, O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(fd, STDERR_FILENO);
        signal(SIGPIPE, SIG_IGN);
        alarm(ROUND_S);
        play(p, dir);
        exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        talk_fail("a round cannot be run: %s", strerror(errno));
    if (what == SHOW_ALL || (what == SHOW_FAILURE && status))
        show_round(p, out, status);
    remove_dir(dir);
    return status == 0;
}

/* --- fewer steps ------------------------------------------------------------------------------------------ */

static bool still_fails_without(struct plan *p, unsigned from, unsigned n)
{
    struct plan *less = malloc(sizeof *less);
    bool any = false, failed;

    if (!less)
        return false;
    *less = *p;
    for (unsigned i = from; i < from + n && i < p->steps; i++) {
        any |= less->kept[i];
        less->kept[i] = false;
    }
    failed = any && !run_round(less, SHOW_NOTHING);
    if (failed)
        *p = *less;
    free(less);
    return failed;
}

static void shrink(struct plan *p)
{
    int64_t end = clock_real_mono_ms() + SHRINK_MS;

    for (unsigned i = sums->at + 1; i < p->steps; i++)
        p->kept[i] = false;
    for (unsigned n = (p->steps + 1) / 2; n; n /= 2)
        for (unsigned from = p->steps; from > 0 && clock_real_mono_ms() < end;) {
            from = from > n ? from - n : 0;
            still_fails_without(p, from, n);
        }
}

static void print_kept(const struct plan *p)
{
    const char *comma = "";

    printf("to play it again: conversation -s %llu -n %u -v -k ", (unsigned long long)p->seed, p->steps);
    for (unsigned i = 0; i < p->steps; i++)
        if (p->kept[i]) {
            printf("%s%u", comma, i);
            comma = ",";
        }
    printf("\n");
}

static void tell_failure(struct plan *p)
{
    shrink(p);
    printf("\nwithout what can be left out:\n");
    p->is_told = true;
    run_round(p, SHOW_ALL);
    print_kept(p);
}

/* --- options ---------------------------------------------------------------------------------------------- */

static void keep_all(struct plan *p)
{
    for (unsigned i = 0; i < STEPS_MAX; i++)
        p->kept[i] = true;
}

/* "3,17,20" */
static void keep_only(struct plan *p, const char *list)
{
    memset(p->kept, 0, sizeof p->kept);
    while (*list) {
        char *end;
        unsigned long i = strtoul(list, &end, 10);

        if (end == list || i >= STEPS_MAX)
            break;
        p->kept[i] = true;
        list = *end ? end + 1 : end;
    }
}

int main(int argc, char *argv[])
{
    static struct plan plan = {.seed = 1, .steps = STEPS}, failed;
    unsigned long rounds = 0, most = ROUNDS, seconds = 0;
    int64_t begun = clock_real_mono_ms();
    bool one = false;
    int option;

    keep_all(&plan);
    while ((option = getopt(argc, argv, "s:n:r:t:k:v")) != -1)
        switch (option) {
        case 's':
            plan.seed = strtoull(optarg, NULL, 10);
            one = true;
            break;
        case 'n':
            plan.steps = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'r':
            most = strtoul(optarg, NULL, 10);
            break;
        case 't':
            seconds = strtoul(optarg, NULL, 10);
            break;
        case 'k':
            keep_only(&plan, optarg);
            break;
        case 'v':
            plan.is_told = true;
            break;
        default:
            return 2;
        }
    if (plan.steps > STEPS_MAX)
        return 2;
    sums = mmap(NULL, sizeof *sums, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sums == MAP_FAILED)
        return 2;
    if (plan.is_told)
        return run_round(&plan, SHOW_ALL) ? 0 : 1;
    most = one && most == ROUNDS ? 1 : most;
    for (; seconds ? clock_real_mono_ms() - begun < (int64_t)seconds * 1000 : rounds < most;
         rounds++, plan.seed++)
        if (!run_round(&plan, SHOW_FAILURE)) {
            failed = plan;
            tell_failure(&failed);
            return 1;
        }
    printf("%lu rounds, %llu steps, %llu calls, %llu answers\n", rounds, (unsigned long long)sums->steps,
           (unsigned long long)sums->calls, (unsigned long long)sums->answers);
    return 0;
}
