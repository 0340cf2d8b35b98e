/* One rank of an MPI program, as its manual would have it written: says hello, sends a number round the ring of all ranks, and adds
 * up what all have. Built by the compiler wrapper of the MPI library that the test is about. Ends with the first argument as
 * exit status in the rank that the second one names, where there are two. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
    int rank, size, token = 0, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("hello from %d of %d\n", rank, size);
    if (size > 1 && rank > 0)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    token++;
    if (size > 1)
        MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    if (size > 1 && rank == 0)
        MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("ring %d\n", token);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("sum at %d is %d\n", rank, sum);
    fflush(stdout);
    if (argc > 2 && atoi(argv[2]) == rank)
        _exit(atoi(argv[1]));
    MPI_Finalize();
    return 0;
}
