"""A function of this file for each number, each call a job: pbs_python pool.py 8"""
import sys

import cede


def is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, int(n ** 0.5) + 1))


if __name__ == "__main__":
    numbers = range(int(sys.argv[1]))
    with cede.Executor(select="1:ncpus=1", walltime=60) as pool:
        print([n for n, prime in zip(numbers, pool.map(is_prime, numbers)) if prime])
