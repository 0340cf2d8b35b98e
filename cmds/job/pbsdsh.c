/* pbsdsh: run a program on the nodes of a job, each as a task of it. All are spawned at once (with -s one after the
 * other's end); then pbsdsh waits for all ends. The output goes where the job's goes. */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "tm_nodefile.h"
#include "pbs_ext.h"
#include "tm_wait.h"

enum { EXIT_TM = 1 };

struct pbsdsh {
    struct cmd_args a;
    const char *copies, *node, *host;
    bool one_by_one, verbose, no_wait;
    int worst; /* the highest exit status of a task */
};

struct launch { /* one task */
    tm_node_id where;
    tm_task_id task;
    tm_event_t spawned, ended;
    int status;
};

static const struct option_row rows[] = {
    CMD_TEXT('c', struct pbsdsh, copies, "copies",
             "run this many copies, on the first nodes, round and round"),
    CMD_TEXT('n', struct pbsdsh, node, "node_index", "run one copy, on this line of the nodefile, from 0"),
    CMD_TEXT('h', struct pbsdsh, host, "hostname", "run one copy, on this host"),
    CMD_FLAG('s', struct pbsdsh, one_by_one, "one copy after the other"),
    CMD_FLAG('v', struct pbsdsh, verbose, "say what is done"),
    CMD_FLAG('o', struct pbsdsh, no_wait, "do not wait for the ends"),
};

/* Report an error; the other tasks are not affected. */
static void pbsdsh_complain(struct pbsdsh *p, const struct launch *l, const char *what, int code)
{
    const char *why = pbs_tm_reason();

    (void)cmd_error(&p->a, "error %d on %s, node %d: %s", code, what, l->where,
                    *why ? why : tm_wait_error_text(code));
    if (p->worst < EXIT_TM)
        p->worst = EXIT_TM;
}

static void pbsdsh_spawn(struct pbsdsh *p, struct launch *l, int n, char *program[])
{
    int code = tm_spawn(n, program, NULL, l->where, &l->task, &l->spawned);

    if (code != TM_SUCCESS) {
        l->spawned = TM_NULL_EVENT;
        pbsdsh_complain(p, l, "spawn", code);
    }
}

static void take_spawned(struct pbsdsh *p, struct launch *l, int code)
{
    l->spawned = TM_NULL_EVENT;
    if (code == TM_SUCCESS && p->verbose)
        (void)cmd_error(&p->a, "spawned task 0x%08X on logical node %d", l->task, l->where);
    if (code == TM_SUCCESS && !p->no_wait)
        code = tm_obit(l->task, &l->status, &l->ended);
    if (code != TM_SUCCESS)
        pbsdsh_complain(p, l, "spawn", code);
}

static void take_ended(struct pbsdsh *p, struct launch *l, int code)
{
    l->ended = TM_NULL_EVENT;
    if (code != TM_SUCCESS) {
        pbsdsh_complain(p, l, "obit", code);
        return;
    }
    if (p->verbose || l->status > p->worst)
        (void)(p->verbose ? cmd_error(&p->a, "task 0x%08X exit status %d", l->task, l->status) : 0);
    if (l->status > p->worst)
        p->worst = l->status;
}

/* Events are numbered in the order of the calls, so the launch of an event is near the one found last. */
static struct launch *pbsdsh_owner_of(struct launch *l, int n, tm_event_t event, int *near)
{
    for (int i = 0; i < n; i++) {
        int at = (*near + i) % n;

        if (l[at].spawned == event || l[at].ended == event) {
            *near = at;
            return &l[at];
        }
    }
    return NULL;
}

static bool pbsdsh_is_open(const struct launch *l, int n)
{
    for (int i = 0; i < n; i++)
        if (l[i].spawned != TM_NULL_EVENT || l[i].ended != TM_NULL_EVENT)
            return true;
    return false;
}

static int wait_for_ends(struct pbsdsh *p, struct launch *l, int n)
{
    int near = 0;

    while (pbsdsh_is_open(l, n)) {
        tm_event_t event;
        int code;
        struct launch *x;

        if (tm_wait_any(&event, &code) < 0)
            return cmd_error(&p->a, "error %d: %s", code, tm_wait_error_text(code));
        x = pbsdsh_owner_of(l, n, event, &near);
        if (x && x->spawned == event)
            take_spawned(p, x, code);
        else if (x)
            take_ended(p, x, code);
    }
    return 0;
}

static int run_all(struct pbsdsh *p, struct launch *l, int n, int argc, char *program[])
{
    for (int i = 0; i < n; i++) {
        pbsdsh_spawn(p, &l[i], argc, program);
        if (p->one_by_one && wait_for_ends(p, &l[i], 1) < 0)
            return -1;
    }
    return wait_for_ends(p, l, n);
}

static int pbsdsh_number(struct pbsdsh *p, const char *text, int from, int to)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (*text && !*end && n >= from && n <= to)
        return (int)n;
    return cmd_error(&p->a, "%s is not a number from %d to %d", text, from, to);
}

/* Return how many copies to start, and the first node; -1 after a message. */
static int plan(struct pbsdsh *p, int nodes, int *first)
{
    *first = 0;
    if (p->copies)
        return pbsdsh_number(p, p->copies, 1, 1000000);
    if (p->node) {
        *first = pbsdsh_number(p, p->node, 0, nodes - 1);
        return *first < 0 ? -1 : 1;
    }
    if (p->host) {
        *first = tm_nodefile_find(p->host);
        return *first < 0
                   ? cmd_error(&p->a, "host \"%s\" is not a node in job %s", p->host, getenv("PBS_JOBID"))
                   : 1;
    }
    return nodes;
}

static int run_in_job(struct pbsdsh *p, int nodes, int argc, char *program[])
{
    int first, n = plan(p, nodes, &first), rc = -1;
    struct launch *l = n > 0 ? calloc((size_t)n, sizeof *l) : NULL;

    if (!l)
        return EXIT_TM;
    for (int i = 0; i < n; i++)
        l[i].where = (first + i) % nodes;
    rc = run_all(p, l, n, argc, program);
    free(l);
    return rc < 0 ? EXIT_TM : p->worst;
}

static int pbsdsh_run(void *settings, int n, char *operands[])
{
    struct pbsdsh *p = settings;
    struct tm_roots roots;
    int code, rc;

    if (n == 0 || !!p->copies + !!p->node + !!p->host > 1)
        return cmd_usage(&p->a);
    if (!getenv("PBS_JOBID")) {
        (void)cmd_error(&p->a, "not executing under PBS");
        return EXIT_TM;
    }
    code = tm_init(NULL, &roots);
    if (code != TM_SUCCESS) {
        (void)cmd_error(&p->a, "tm_init failed, error %d: %s", code,
                        *pbs_tm_reason() ? pbs_tm_reason() : tm_wait_error_text(code));
        return EXIT_TM;
    }
    rc = run_in_job(p, roots.tm_nnodes, n, operands);
    (void)tm_finalize();
    return rc > 255 ? 128 + (rc & 127) : rc;
}

const struct cmd command = {
    .options = {.program = "pbsdsh", .operands = "program [args...]", CMD_ROWS(rows), .order = OPTIONS_FIRST},
    .usage = "Usage: pbsdsh [-c copies][-s][-v][-o] -- program [args...]\n"
             "       pbsdsh [-n node_index][-s][-v][-o] -- program [args...]\n"
             "       pbsdsh [-h hostname][-s][-v][-o] -- program [args...]\n",
    .usage_exit = 1,
    .size = sizeof(struct pbsdsh),
    .run = pbsdsh_run,
};
