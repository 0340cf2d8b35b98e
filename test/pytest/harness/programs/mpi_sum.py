"""One rank of an MPI program, by the library named (mpich or openmpi): all ranks add their numbers up.

The shared libraries are called directly, so that no compiler wrapper is needed. Prints the rank, the number of ranks, the sum,
and the process number of the shepherd that it stands under.
"""
import ctypes
import os
import sys
import time


def mpich():
    lib = ctypes.CDLL("libmpich.so.12", mode=ctypes.RTLD_GLOBAL)
    # MPI_COMM_WORLD, MPI_INT, MPI_SUM of the MPICH ABI
    return lib, ctypes.c_int(0x44000000), ctypes.c_int(0x4C000405), ctypes.c_int(0x58000003)


def openmpi():
    lib = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)

    def at(name):
        return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(lib, name)))

    return lib, at("ompi_mpi_comm_world"), at("ompi_mpi_int"), at("ompi_mpi_op_sum")


def shepherd():
    pid = os.getpid()
    while pid > 1:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            name, rest = f.read().split("(", 1)[1].rsplit(")", 1)
        if name.startswith("pbs_shepherd"):
            return pid
        pid = int(rest.split()[1])
    return 0


def main():
    lib, world, integer, add = {"mpich": mpich, "openmpi": openmpi}[sys.argv[1]]()

    def sum_up(value):
        mine, total = ctypes.c_int(value), ctypes.c_int()
        lib.MPI_Allreduce(ctypes.byref(mine), ctypes.byref(total), 1, integer, add, world)
        return total.value

    rank, size = ctypes.c_int(), ctypes.c_int()
    assert lib.MPI_Init(None, None) == 0
    lib.MPI_Comm_rank(world, ctypes.byref(rank))
    lib.MPI_Comm_size(world, ctypes.byref(size))
    print(f"rank {rank.value} of {size.value} sum {sum_up(rank.value)} under {shepherd()}", flush=True)
    # Go on until all see the file that says stop.
    while len(sys.argv) > 2 and sum_up(os.path.exists(sys.argv[2])) < size.value:
        time.sleep(0.05)
    lib.MPI_Finalize()


main()
