/* ifl_load: load on a server through libpbs, and how long each call took.
 *
 *   ifl_load submit [-c CONNECTIONS] [-w UNDER_WAY] -n COUNT SCRIPT [ATTRIBUTE=VALUE ...]
 *   ifl_load poll   [-c CONNECTIONS] [-p PAUSE_MS] -t SECONDS [JOB...]
 *
 * Each connection has a thread. `submit`: COUNT jobs over all connections, each with UNDER_WAY calls open at a time
 * (1: pbs_submit, more: its two halves). `poll`: for so long each asks for one of the jobs (none named: for all there are), rests, asks again.
 * Printed is one line: calls, seconds, and the median, 99th percentile and maximum of a call in microseconds. It
 * prints numbers and judges nothing; the server is what PBS_CONF_FILE names. A call that fails ends the program. */
#include "pbs_error.h"
#include "pbs_ext.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { UNDER_WAY_MAX = 1024, ATTRIBUTES_MAX = 32 };

struct options {
    int connections, under_way, count, pause_ms;
    double seconds;
    char **operands;
    int n_operands;
    struct attropl attributes[ATTRIBUTES_MAX];
};

struct client { /* a thread with its connection, and what it measured */
    const struct options *o;
    int number, connection;
    size_t n, room;
    double *took_us;
    pthread_t thread;
};

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void fail(const struct client *c, const char *what)
{
    const char *text = pbs_geterrmsg(c->connection);

    fprintf(stderr, "ifl_load: %s: %s (%d)\n", what, text ? text : "no text", pbs_errno);
    exit(1);
}

static void note(struct client *c, double began_us)
{
    if (c->n == c->room) {
        c->room = c->room ? c->room * 2 : 1024;
        c->took_us = realloc(c->took_us, c->room * sizeof *c->took_us);
        if (!c->took_us)
            abort();
    }
    c->took_us[c->n++] = now_us() - began_us;
}

/* --- submission ------------------------------------------------------------------------------------- */

static struct attropl *attributes(struct client *c)
{
    return c->o->n_operands > 1 ? (struct attropl *)(void *)c->o->attributes : NULL;
}

static void submit_one_by_one(struct client *c, int count)
{
    for (int i = 0; i < count; i++) {
        double began = now_us();
        char *job = pbs_submit(c->connection, attributes(c), c->o->operands[0], NULL, NULL);

        if (!job)
            fail(c, "pbs_submit");
        free(job);
        note(c, began);
    }
}

/* A ring of calls that are open: the oldest is received before a new one is sent. */
static void submit_overlapped(struct client *c, int count)
{
    int ticket[UNDER_WAY_MAX], depth = c->o->under_way;
    double began[UNDER_WAY_MAX];

    for (int i = 0; i < count + depth; i++) {
        int slot = i % depth;

        if (i >= depth) {
            char *job = pbs_submit_recv(c->connection, ticket[slot]);

            if (!job)
                fail(c, "pbs_submit_recv");
            free(job);
            note(c, began[slot]);
        }
        if (i < count) {
            began[slot] = now_us();
            ticket[slot] = pbs_submit_send(c->connection, attributes(c), c->o->operands[0], NULL, NULL);
            if (ticket[slot] < 0)
                fail(c, "pbs_submit_send");
        }
    }
}

static void *submit(void *arg)
{
    struct client *c = arg;
    const struct options *o = c->o;
    int count = o->count / o->connections + (c->number < o->count % o->connections);

    if (o->under_way > 1 && count >= o->under_way)
        submit_overlapped(c, count);
    else
        submit_one_by_one(c, count);
    return NULL;
}

/* --- polling ---------------------------------------------------------------------------------------- */

static void rest(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

static int ignore(const struct batch_status *job, void *arg)
{
    (void)job, (void)arg;
    return 0;
}

static void *poll_jobs(void *arg)
{
    struct client *c = arg;
    const struct options *o = c->o;
    double end = now_us() + o->seconds * 1e6;
    const char *job = o->n_operands ? o->operands[c->number % o->n_operands] : NULL;

    /* not all at the same moment: people are not in step either */
    rest(o->pause_ms * c->number / o->connections);
    while (now_us() < end) {
        double began = now_us();

        if (pbs_statjob_each(c->connection, job, NULL, NULL, ignore, NULL) != 0)
            fail(c, "pbs_statjob_each");
        note(c, began);
        rest(o->pause_ms);
    }
    return NULL;
}

/* --- the whole -------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void print(const struct client *all, int n_clients, double seconds)
{
    size_t n = 0, at = 0;
    double *took;

    for (int i = 0; i < n_clients; i++)
        n += all[i].n;
    took = calloc(n + 1, sizeof *took);
    if (!took)
        abort();
    for (int i = 0; i < n_clients; i++)
        for (size_t k = 0; k < all[i].n; k++)
            took[at++] = all[i].took_us[k];
    qsort(took, n, sizeof *took, by_size);
    printf("%zu %.3f %.0f %.0f %.0f\n", n, seconds, took[n / 2], took[n * 99 / 100], took[n ? n - 1 : 0]);
    free(took);
}

static void run(const struct options *o, void *(*work)(void *))
{
    struct client *all = calloc((size_t)o->connections, sizeof *all);
    double began;

    if (!all)
        abort();
    for (int i = 0; i < o->connections; i++) {
        all[i] = (struct client){.o = o, .number = i, .connection = pbs_connect(NULL)};
        if (all[i].connection < 0)
            fail(&all[i], "pbs_connect");
    }
    began = now_us();
    for (int i = 0; i < o->connections; i++)
        if (pthread_create(&all[i].thread, NULL, work, &all[i]))
            abort();
    for (int i = 0; i < o->connections; i++)
        pthread_join(all[i].thread, NULL);
    print(all, o->connections, (now_us() - began) / 1e6);
    for (int i = 0; i < o->connections; i++) {
        pbs_disconnect(all[i].connection);
        free(all[i].took_us);
    }
    free(all);
}

static void usage(void)
{
    fprintf(stderr,
            "usage: ifl_load submit [-c CONNECTIONS] [-w UNDER_WAY] -n COUNT SCRIPT [ATTRIBUTE=VALUE ...]\n"
            "       ifl_load poll [-c CONNECTIONS] [-p PAUSE_MS] -t SECONDS [JOB...]\n");
    exit(2);
}

/* NAME=VALUE operands behind the script become the attributes of each job. */
static void take_attributes(struct options *o)
{
    for (int i = 1; i < o->n_operands; i++) {
        char *equals = strchr(o->operands[i], '=');

        if (!equals || i > ATTRIBUTES_MAX)
            usage();
        *equals = '\0';
        o->attributes[i - 1] = (struct attropl){.next = i + 1 < o->n_operands ? &o->attributes[i] : NULL,
                                                .name = o->operands[i],
                                                .value = equals + 1};
    }
}

static void take_options(struct options *o, int argc, char **argv)
{
    int letter;

    *o = (struct options){.connections = 1, .under_way = 1};
    while ((letter = getopt(argc, argv, "c:w:n:p:t:")) != -1) {
        int n = letter == '?' || letter == 't' ? 0 : atoi(optarg);

        switch (letter) {
        case 'c':
            o->connections = n;
            break;
        case 'w':
            o->under_way = n;
            break;
        case 'n':
            o->count = n;
            break;
        case 'p':
            o->pause_ms = n;
            break;
        case 't':
            o->seconds = strtod(optarg, NULL);
            break;
        default:
            usage();
        }
    }
    o->operands = argv + optind;
    o->n_operands = argc - optind;
    if (o->connections < 1 || o->under_way < 1 || o->under_way > UNDER_WAY_MAX)
        usage();
}

int main(int argc, char **argv)
{
    struct options o;

    if (argc < 2)
        usage();
    take_options(&o, argc - 1, argv + 1);
    if (strcmp(argv[1], "submit") == 0 && o.n_operands > 0) {
        take_attributes(&o);
        run(&o, submit);
    } else if (strcmp(argv[1], "poll") == 0) {
        run(&o, poll_jobs);
    } else {
        usage();
    }
    return 0;
}
