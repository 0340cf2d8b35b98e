/* What a cycle takes of one processor at the sizes for which there are aims: the scheduler's core alone, as it is installed. Prints
 *
 *     NODES JOBS CLASSES WHAT MILLISECONDS      WHAT of strict order, fairshare and a hundred top jobs begins with strict-
 *     NODES JOBS CLASSES mirror BYTES           of the heap a job, when the first cycle is over
 *
 * An argument --full adds the largest size. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "crowd.h"
#include "steps.h"

/* In place of steps (steps.h): microseconds of this process's processor time. */
uint64_t steps_count(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void say(const struct crowd *w, const char *what, uint64_t us)
{
    printf("%d %d %d %s%s %.1f\n", w->size.nodes, w->size.jobs, w->size.classes,
           w->size.strict ? "strict-" : "", what, (double)us / 1000);
    fflush(stdout);
}

static size_t heap_bytes(void)
{
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

/* The same vnodes with one job: what is left is what the jobs take. */
static size_t bytes_without_jobs(struct crowd_size size)
{
    size_t before = heap_bytes(), all;
    struct crowd *w;

    size.jobs = size.classes = 1;
    w = crowd_create(size);
    crowd_cycle(w);
    all = heap_bytes() - before;
    crowd_destroy(w);
    return all;
}

static void measure(struct crowd_size size)
{
    size_t empty = bytes_without_jobs(size), before = heap_bytes();
    struct crowd *w = crowd_create(size);

    say(w, "first", crowd_cycle(w));
    printf("%d %d %d mirror %.0f\n", size.nodes, size.jobs, size.classes,
           (double)(heap_bytes() - before - empty) / size.jobs);
    while (cycle_has_news(w->c, w->now_s))
        crowd_cycle(w);
    say(w, "asked", crowd_ask(w));
    say(w, "end", crowd_end_one(w));
    say(w, "urgent-1000", crowd_urge(w, 1000));
    if (size.nodes >= 10000)
        say(w, "urgent-10000", crowd_urge(w, 10000));
    say(w, "explain", crowd_explain(w));
    crowd_destroy(w);
}

int main(int argc, char **argv)
{
    for (int strict = 0; strict < 2; strict++)
        measure((struct crowd_size){.nodes = 10000, .jobs = 100000, .classes = 1000, .strict = strict});
    if (argc > 1 && strcmp(argv[1], "--full") == 0)
        for (int strict = 0; strict < 2; strict++)
            measure((struct crowd_size){.nodes = 50000, .jobs = 1000000, .classes = 1000, .strict = strict});
    return 0;
}
