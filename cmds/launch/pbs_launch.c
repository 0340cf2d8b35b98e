/* pbs_launch: start the ranks of a program over the hosts of the job that it is called in, as srun and mpirun do. Each rank is a task of
 * the job, and a client of the PMIx helper of its host: an MPI library needs nothing else. */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "launch_plan.h"
#include "launch_run.h"
#include "pbs_ext.h"
#include "tm.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct pbs_launch {
    struct cmd_args a;
    const char *ranks, *bind, *kill;
    bool label, crowd, quit;
};

static const struct option_row rows[] = {
    {'n', "ntasks", OPTION_VALUE, "ranks", "how many ranks; default: one for each line of the nodefile",
     cmd_take_text, offsetof(struct pbs_launch, ranks)},
    {'l', "label", OPTION_ALONE, NULL, "put the number of its rank before each line", cmd_take_flag,
     offsetof(struct pbs_launch, label)},
    {'O', "overcommit", OPTION_ALONE, NULL, "allow more ranks than lines", cmd_take_flag,
     offsetof(struct pbs_launch, crowd)},
    {'K', "kill-on-bad-exit", OPTION_VALUE, "0|1", "1, the default: a rank that fails ends the others",
     cmd_take_text, offsetof(struct pbs_launch, kill)},
    {'q', "quit-on-interrupt", OPTION_ALONE, NULL, "the first interrupt ends the ranks", cmd_take_flag,
     offsetof(struct pbs_launch, quit)},
    {0, "bind", OPTION_VALUE, "auto|none|core|numa|socket", "to what each rank is bound; default: auto",
     cmd_take_text, offsetof(struct pbs_launch, bind)},
};

static int pbs_launch_bind(const struct pbs_launch *p, enum launch_bind *out)
{
    static const struct {
        const char *name;
        enum launch_bind bind;
    } words[] = {{"auto", LAUNCH_BIND_AUTO},
                 {"none", LAUNCH_BIND_NONE},
                 {"core", LAUNCH_BIND_CORE},
                 {"numa", LAUNCH_BIND_NUMA},
                 {"socket", LAUNCH_BIND_SOCKET}};

    *out = LAUNCH_BIND_AUTO;
    for (size_t i = 0; p->bind && i < sizeof words / sizeof words[0]; i++)
        if (strcmp(p->bind, words[i].name) == 0) {
            *out = words[i].bind;
            return 0;
        }
    return p->bind ? cmd_error(&p->a, "--bind is auto, none, core, numa or socket, not %s", p->bind) : 0;
}

static int pbs_launch_ranks(const struct pbs_launch *p, unsigned *out)
{
    char *end;
    unsigned long n = p->ranks ? strtoul(p->ranks, &end, 10) : 0;

    *out = (unsigned)n;
    if (!p->ranks || (*p->ranks >= '1' && *p->ranks <= '9' && !*end && n <= 1000000))
        return 0;
    return cmd_error(&p->a, "%s is not a number of ranks", p->ranks);
}

static int pbs_launch_in_job(const struct pbs_launch *p, struct launch_run_wish *w)
{
    int rc, code = tm_init(NULL, NULL);

    if (code != TM_SUCCESS) {
        (void)cmd_error(&p->a, "the job's shepherd cannot be spoken to: %s",
                        *pbs_tm_reason() ? pbs_tm_reason() : "tm_init failed");
        return EXIT_FAILED;
    }
    rc = launch_run(w);
    (void)tm_finalize();
    return rc;
}

static int pbs_launch_run(void *settings, int n, char *operands[])
{
    struct pbs_launch *p = settings;
    struct launch_plan plan;
    struct launch_run_wish w = {.a = &p->a,
                                .plan = &plan,
                                .argv = operands,
                                .argc = n,
                                .label = p->label,
                                .keep_others = p->kill && strcmp(p->kill, "0") == 0,
                                .quit_on_interrupt = p->quit};
    struct err e = {0};
    unsigned ranks;
    int rc;

    if (n == 0)
        return cmd_usage(&p->a);
    if (p->kill && strcmp(p->kill, "0") != 0 && strcmp(p->kill, "1") != 0) {
        (void)cmd_error(&p->a, "--kill-on-bad-exit is 0 or 1, not %s", p->kill);
        return EXIT_USAGE;
    }
    if (pbs_launch_bind(p, &w.bind) < 0 || pbs_launch_ranks(p, &ranks) < 0)
        return EXIT_USAGE;
    if (!getenv("PBS_JOBID")) {
        (void)cmd_error(&p->a, "not executing under PBS");
        return EXIT_FAILED;
    }
    if (launch_plan_make(&plan, getenv("PBS_NODEFILE"), ranks, p->crowd, &e) < 0) {
        (void)cmd_error(&p->a, "%s", e.text);
        return EXIT_FAILED;
    }
    rc = pbs_launch_in_job(p, &w);
    launch_plan_fini(&plan);
    return rc;
}

const struct cmd command = {
    .options = {.program = "pbs_launch",
                .operands = "program [args...]",
                CMD_ROWS(rows),
                .order = OPTIONS_FIRST},
    .usage = "usage: pbs_launch [-n ranks] [-l] [-O] [-K 0|1] [-q] [--bind=what] program [args...]\n",
    .usage_exit = EXIT_USAGE,
    .size = sizeof(struct pbs_launch),
    .run = pbs_launch_run,
};
