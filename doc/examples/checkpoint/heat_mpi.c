/* heat_mpi STEPS MICROSECONDS: heat that spreads along a ring, a piece of it on each rank, as a job that saves itself.
 *
 *     mpicc heat_mpi.c -o heat_mpi
 *     echo "mpirun $PWD/heat_mpi 100000 1000" | qsub -l select=2:ncpus=2:mpiprocs=2 -W preempt_methods=CR
 *
 * Each rank catches SIGUSR1, at a step of its own; that one of them was asked goes along with the sum that every step forms in any case, so
 * all save after the same step. What is saved is a file a rank, in the directory of its host, and then, when all ranks have
 * theirs on disk, the name of the step. Hosts that were stopped in between have different last steps: the least of them counts, so the
 * files of the step before are kept.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 64, PATH_LEN = 4096 };

static volatile sig_atomic_t asked;
static int rank, ranks, first_here; /* is it the first rank on its host? */

static void ask(int signo)
{
    (void)signo;
    asked = 1;
}

static void name_of(char out[PATH_LEN], const char *what, long step)
{
    const char *dir = getenv("PBS_CHECKPOINT_DIR");

    if (step < 0)
        snprintf(out, PATH_LEN, "%s/%s", dir ? dir : ".", what);
    else
        snprintf(out, PATH_LEN, "%s/%s.%d.%ld", dir ? dir : ".", what, rank, step);
}

static int write_file(const char *path, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), good;

    if (fd < 0)
        return 0;
    good = write(fd, bytes, n) == (ssize_t)n && fsync(fd) == 0;
    close(fd);
    return good;
}

static int name_step(long step)
{
    char new[PATH_LEN], path[PATH_LEN], done[PATH_LEN], text[32];
    int n = snprintf(text, sizeof text, "%ld\n", step);

    name_of(new, "step.new", -1);
    name_of(path, "step", -1);
    name_of(done, "done", -1);
    return write_file(new, text, (size_t)n) && rename(new, path) == 0 && write_file(done, "", 0);
}

static long saved_step(void)
{
    char path[PATH_LEN];
    long step = 0;
    FILE *f;

    name_of(path, "step", -1);
    f = fopen(path, "r");
    if (f) {
        if (fscanf(f, "%ld", &step) != 1)
            step = 0;
        fclose(f);
    }
    MPI_Allreduce(MPI_IN_PLACE, &step, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
    return step;
}

/* All ranks call it, after the same step. A rank that cannot write makes all of them keep what they had. */
static void save(const double *cell, long step, long *before)
{
    char path[PATH_LEN];
    int good;

    name_of(path, "cells", step);
    good = write_file(path, cell, CELLS * sizeof *cell);
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (good && first_here && !name_step(step))
        fprintf(stderr, "heat_mpi: step %ld cannot be named\n", step);
    if (!good) {
        unlink(path);
        return;
    }
    if (before[0] > 0 && before[0] != step) {
        name_of(path, "cells", before[0]);
        unlink(path);
    }
    before[0] = before[1];
    before[1] = step;
}

static void load(double *cell, long step)
{
    char path[PATH_LEN];
    FILE *f;

    if (step == 0) {
        for (int i = 0; i < CELLS; i++)
            cell[i] = (rank * CELLS + i) % 7;
        return;
    }
    name_of(path, "cells", step);
    f = fopen(path, "r");
    if (!f || fread(cell, sizeof *cell, CELLS, f) != CELLS) {
        fprintf(stderr, "heat_mpi: %s is missing or damaged\n", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fclose(f);
}

static void spread(double *cell)
{
    double old[CELLS + 2];
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;

    memcpy(old + 1, cell, CELLS * sizeof *cell);
    MPI_Sendrecv(&cell[CELLS - 1], 1, MPI_DOUBLE, right, 0, &old[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&cell[0], 1, MPI_DOUBLE, left, 1, &old[CELLS + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < CELLS; i++)
        cell[i] = old[i + 1] + 0.25 * (old[i] - 2 * old[i + 1] + old[i + 2]);
}

static void find_first_here(void)
{
    MPI_Comm host;
    int here;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &here);
    first_here = here == 0;
    MPI_Comm_free(&host);
}

int main(int argc, char **argv)
{
    struct sigaction a = {.sa_handler = ask, .sa_flags = SA_RESTART};
    long last = argc > 1 ? atol(argv[1]) : 100, step, before[2] = {0, 0};
    useconds_t pause_us = argc > 2 ? (useconds_t)atol(argv[2]) : 0;
    double cell[CELLS], sum[2] = {0, 0};

    sigaction(SIGUSR1, &a, NULL);
    MPI_Init(&argc, &argv);
    sigaction(SIGUSR1, &a, NULL); /* in case MPI has one of its own */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    find_first_here();
    step = before[1] = saved_step();
    for (load(cell, step); step < last; usleep(pause_us)) {
        spread(cell);
        step++;
        sum[0] = asked;
        asked = 0;
        sum[1] = cell[0];
        MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (sum[0] > 0)
            save(cell, step, before);
    }
    if (rank == 0)
        printf("%.17g\n", sum[1]);
    MPI_Finalize();
    return 0;
}
