/* How the cost of a cycle grows: one size doubled step by step, the others as they are. Prints a line for each point,
 *
 *     AXIS SIZE WHAT STEPS MILLISECONDS
 *
 * Steps are those of the core (steps.h), the same on any machine; milliseconds are of this processor, of a core that also counts.
 * An argument says how often each size is doubled. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "crowd.h"

enum { DOUBLED = 3 };

static const struct crowd_size base = {
    .nodes = 500, .jobs = 20000, .classes = 100, .ncpus = 1, .resvs = 0, .strict = false};

struct axis {
    const char *name;
    int first;
    int *(*size)(struct crowd_size *x);
};

static int *size_nodes(struct crowd_size *x)
{
    return &x->nodes;
}
static int *size_jobs(struct crowd_size *x)
{
    return &x->jobs;
}
static int *size_classes(struct crowd_size *x)
{
    return &x->classes;
}
static int *size_running(struct crowd_size *x)
{
    return &x->ncpus;
}
static int *size_resvs(struct crowd_size *x)
{
    return &x->resvs;
}

static const struct axis axes[] = {{"nodes", 500, size_nodes},
                                   {"jobs", 10000, size_jobs},
                                   {"classes", 50, size_classes},
                                   {"running", 1, size_running},
                                   {"reservations", 25, size_resvs}};

typedef uint64_t curve_fn(struct crowd *w);

static uint64_t curve_first(struct crowd *w)
{
    return crowd_cycle(w);
}

static uint64_t curve_urge(struct crowd *w)
{
    return crowd_urge(w, w->n_running / 10);
}

static const struct {
    const char *name;
    curve_fn *fn;
} curves[] = {{"first", curve_first}, {"asked", crowd_ask}, {"end", crowd_end_one}, {"urgent", curve_urge}};

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void measure(const struct axis *x, struct crowd_size size, int n)
{
    struct crowd *w = crowd_create(size);

    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
        double begin = now_ms();
        uint64_t steps = curves[i].fn(w);
        printf("%s%s %d %s %llu %.1f\n", size.strict ? "strict-" : "", x->name, n, curves[i].name,
               (unsigned long long)steps, now_ms() - begin);
        fflush(stdout);
        if (curves[i].fn == curve_first)
            while (cycle_has_news(w->c, w->now_s))
                crowd_cycle(w);
    }
    crowd_destroy(w);
}

int main(int argc, char **argv)
{
    int doubled = argc > 1 ? atoi(argv[1]) : DOUBLED;

    for (int strict = 0; strict < 2; strict++)
        for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
            for (int k = 0; k <= doubled; k++) {
                struct crowd_size size = base;
                int *n = axes[i].size(&size);
                *n = axes[i].first << k;
                size.strict = strict;
                measure(&axes[i], size, *n * (axes[i].size == size_running ? base.nodes : 1));
            }
    return 0;
}
