/* sched [NAME]: a scheduler in a hundred lines: first come, first served, one chunk a job, first node that has room.
 *
 *     cc sched.c $(pkg-config --cflags --libs pbs) -o sched
 *     qmgr -c "set sched default scheduling = true" and no pbs_sched running; then ./sched
 *
 * It has no back door: it follows the stream of changes and sends run requests, as any program may that registers. The
 * server checks each request against what is really free, so a mistake here is refused and breaks nothing. */
#include <pbs_error.h>
#include <pbs_ext.h>
#include <pbs_ifl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 1000 };

struct thing {
    char name[PBS_MAXSVRJOBID + 1];
    char state[64];
    long ncpus; /* wanted by a job; free on a node */
};

static struct thing jobs[MANY], nodes[MANY];
static int n_jobs, n_nodes;

static struct thing *find(struct thing *list, int *n, const char *name)
{
    for (int i = 0; i < *n; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    if (*n == MANY)
        return NULL;
    list[*n] = (struct thing){.state = ""};
    snprintf(list[*n].name, sizeof list[*n].name, "%s", name);
    return &list[(*n)++];
}

static void take(const struct pbs_change *ch, void *arg)
{
    struct thing *t =
        ch->kind == PBS_KIND_JOB ? find(jobs, &n_jobs, ch->name) : find(nodes, &n_nodes, ch->name);

    (void)arg;
    if (!t)
        return;
    t->ncpus = 0;
    snprintf(t->state, sizeof t->state, "%s", ch->gone ? "gone" : "");
    for (const struct attrl *a = ch->attribs; a; a = a->next)
        if (!a->resource)
            snprintf(t->state, sizeof t->state, "%s", a->value);
        else if (strcmp(a->name, ATTR_rescassn) == 0)
            t->ncpus -= atol(a->value);
        else
            t->ncpus += atol(a->value);
}

static void start_over(void *arg)
{
    (void)arg;
    n_jobs = n_nodes = 0;
}

/* The first node with room; the server has the last word. */
static void place(int c, const struct thing *job)
{
    char where[PBS_MAXHOSTNAME + 64];

    for (int i = 0; i < n_nodes; i++) {
        if (strcmp(nodes[i].state, "free") != 0 || nodes[i].ncpus < job->ncpus)
            continue;
        snprintf(where, sizeof where, "(%.255s:ncpus=%ld)", nodes[i].name, job->ncpus);
        if (pbs_asyrunjob(c, job->name, where, NULL) == 0) {
            nodes[i].ncpus -= job->ncpus;
            printf("%s runs on %s\n", job->name, where);
            fflush(stdout);
        }
        return;
    }
}

int main(int argc, char *argv[])
{
    struct attrl ncpus = {.name = ATTR_l, .resource = "ncpus"},
                 job_state = {.next = &ncpus, .name = ATTR_state};
    struct attrl used = {.name = ATTR_rescassn, .resource = "ncpus"},
                 there = {.next = &used, .name = ATTR_rescavail, .resource = "ncpus"},
                 node_state = {.next = &there, .name = ATTR_NODE_state};
    const struct pbs_watch_want want[] = {{PBS_KIND_JOB, &job_state}, {PBS_KIND_NODE, &node_state}};
    const struct pbs_watch_reader reader = {.restart = start_over, .change = take};
    struct pbs_news news = {.cursor = {0, 0}};
    unsigned watch;
    int c = pbs_connect(NULL);

    if (c < 0 || pbs_register_sched(argc > 1 ? argv[1] : NULL, c, -1) != 0 ||
        pbs_watch(c, want, 2, NULL, &watch) != 0) {
        fprintf(stderr, "sched: cannot be a scheduler: %s (%d)\n", c < 0 ? "no server" : pbs_geterrmsg(c),
                pbs_errno);
        return 1;
    }
    while (pbs_watch_next(c, watch, news.cursor, &reader, &news) == 0)
        for (int i = 0; news.caught_up && i < n_jobs; i++)
            if (strcmp(jobs[i].state, "Q") == 0)
                place(c, &jobs[i]);
    fprintf(stderr, "sched: %s\n", pbs_geterrmsg(c));
    return 1;
}
