/* The answer is flushed before the next line is read: a program that waits for it knows that the step was taken. */
#include "sim_commands.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "execsim.h"
#include "loop.h"
#include "units.h"

enum { LINE_BYTES = 1024, STATUS_LEAST = -1000, STATUS_MOST = 1000 };

struct sim_commands {
    struct loop_watch *watch;
    struct execsim *sim;
    char line[LINE_BYTES];
    size_t n;
};

static int parse_step(const char *word, const char *number, enum sim_job_step *step, int *status,
                      struct err *e)
{
    int64_t n = 0;

    if (strcmp(word, "start") == 0 && !number[0])
        *step = SIM_JOB_START;
    else if (strcmp(word, "fail") == 0 && !number[0])
        *step = SIM_JOB_FAIL;
    else if (strcmp(word, "finish") == 0)
        *step = SIM_JOB_FINISH;
    else
        return err_set(e, EINVAL, "the steps are: start, finish STATUS, fail");
    if (*step == SIM_JOB_FINISH && units_parse_int(number, STATUS_LEAST, STATUS_MOST, &n, e) < 0)
        return -1;
    *status = (int)n;
    return 0;
}

static void sim_commands_read_line(struct sim_commands *b, const char *line)
{
    char job[LINE_BYTES] = "", word[LINE_BYTES] = "", number[LINE_BYTES] = "";
    enum sim_job_step step;
    int status;
    struct err e = {0};

    if (sscanf(line, "%1023s %1023s %1023s", job, word, number) < 2)
        err_set(&e, EINVAL, "a line is JOB STEP");
    else if (parse_step(word, number, &step, &status, &e) == 0)
        execsim_step(b->sim, job, step, status, &e);
    printf("%s %s: %s\n", job, word, e.code ? e.text : "done");
    fflush(stdout);
}

static void take_lines(struct sim_commands *b)
{
    char *end;

    while ((end = memchr(b->line, '\n', b->n))) {
        size_t used = (size_t)(end - b->line) + 1;

        *end = '\0';
        sim_commands_read_line(b, b->line);
        b->n -= used;
        memmove(b->line, b->line + used, b->n);
    }
    if (b->n == sizeof b->line)
        b->n = 0; /* no step is that long */
}

static void sim_commands_read_cb(void *arg, unsigned ready)
{
    struct sim_commands *b = arg;
    ssize_t n = read(STDIN_FILENO, b->line + b->n, sizeof b->line - b->n);

    if (n <= 0) {
        loop_watch_set(b->watch, 0);
        return;
    }
    b->n += (size_t)n;
    take_lines(b);
}

struct sim_commands *sim_commands_create(struct loop *l, struct execsim *s, struct err *e)
{
    struct sim_commands *b = calloc(1, sizeof *b);

    if (!b) {
        err_set(e, ENOMEM, "no memory");
        return NULL;
    }
    b->sim = s;
    b->watch = loop_watch_create(l, STDIN_FILENO, LOOP_READ, sim_commands_read_cb, b, e);
    if (b->watch)
        return b;
    free(b);
    return NULL;
}

void sim_commands_destroy(struct sim_commands *b)
{
    if (!b)
        return;
    loop_watch_destroy(b->watch);
    free(b);
}
