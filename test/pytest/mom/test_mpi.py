"""MPI as Debian has it, over the MOMs of a private complex, with pbs_tmrsh as its remote shell."""
import os
import shutil

import pytest

from cede.build import PROGRAMS
from cede.tasks import is_gone, run, start
from cede.wait import until

RANKS = 6  # on three hosts

MPICH = "mpiexec.mpich -rmk pbs -launcher rsh -launcher-exec pbs_tmrsh python3 {program} mpich"
# All hosts are one here, which Open MPI's shared memory does not understand: TCP on the loopback instead.
OPENMPI = ("OMPI_MCA_plm_rsh_agent=$(command -v pbs_tmrsh) OMPI_MCA_orte_default_hostfile=$PBS_NODEFILE "
           "OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo "
           "mpirun.openmpi -n {ranks} python3 {program} openmpi")


# Whichever of them is "mpirun" on this host, here it is this one.
WRAPPED = ("mkdir mpi; printf '#!/bin/sh\\nexec mpirun.{which} \"$@\"\\n' | tee mpi/mpirun > mpi/mpiexec; chmod +x mpi/*; "
           "wrapper=$(dirname $(command -v pbs_mpirun))/{wrapper}; "
           "export PATH=$PWD/mpi:$PATH OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo\n"
           f"$wrapper -n {RANKS} python3 {{program}} {{which}}")


def launcher(which, line=None):
    line = line or {"mpich": MPICH, "openmpi": OPENMPI}[which]
    return pytest.param(line, id=which, marks=pytest.mark.skipif(
        not shutil.which({"mpich": "mpiexec.mpich", "openmpi": "mpirun.openmpi"}[which]),
        reason=f"{which} is not installed"))


def program(cx):
    path = os.path.join(cx.work, "mpi_sum.py")
    shutil.copy(os.path.join(PROGRAMS, "mpi_sum.py"), path)
    return path


def place(n_hosts):
    return {"select": f"{n_hosts}:ncpus=2:mpiprocs=2", "l_place": "scatter"}


def ranks(text, n=RANKS):
    """{rank: shepherd}, each line checked."""
    found = {}
    for line in (text or "").splitlines():
        words = line.split()
        if words[:1] == ["rank"]:
            assert words[2:6] == ["of", str(n), "sum", str(n * (n - 1) // 2)]
            found[int(words[1])] = int(words[7])
    return found


@pytest.mark.complex(nodes=4)
@pytest.mark.parametrize("n_hosts", [2, 3, 4])
@pytest.mark.parametrize("line", [launcher("mpich"), launcher("openmpi")])
def test_ranks_are_children_of_the_shepherd_of_their_host(cx, line, n_hosts):
    out = run(cx, line.format(program=program(cx), ranks=2 * n_hosts) + "\necho exit $?", **place(n_hosts))
    assert out.splitlines()[-1] == "exit 0"
    found = ranks(out, 2 * n_hosts)
    assert sorted(found) == list(range(2 * n_hosts))
    assert len(set(found.values())) == n_hosts and 0 not in found.values()


@pytest.mark.complex(nodes=3)
@pytest.mark.parametrize("wrapper", ["pbs_mpirun", "mpiexec"])
@pytest.mark.parametrize("which", [launcher("mpich", "mpich"), launcher("openmpi", "openmpi")])
def test_pbs_mpirun_is_the_mpirun_of_the_path_on_the_hosts_of_the_job(cx, which, wrapper):
    out = run(cx, WRAPPED.format(program=program(cx), which=which, wrapper=wrapper) + "\necho exit $?", **place(RANKS // 2))
    assert out.splitlines()[-1] == "exit 0"
    found = ranks(out)
    assert sorted(found) == list(range(RANKS))
    assert len(set(found.values())) == 3 and 0 not in found.values()


@pytest.mark.complex(nodes=3)
@pytest.mark.parametrize("line", [launcher("mpich"), launcher("openmpi")])
def test_an_mpi_program_outlives_moms_and_the_server(cx, line):
    stop = os.path.join(cx.work, "stop")
    job = start(cx, f"{line.format(program=program(cx), ranks=RANKS)} {stop} > ranks.txt 2>&1; echo exit $?", **place(3))
    until(lambda: len(ranks(cx.file("ranks.txt"))) == RANKS, "all ranks")
    for daemon in ("n1", "n2", "n3", "server"):
        cx.kill(daemon)
    for daemon in ("server", "n1", "n2", "n3"):
        cx.restart(daemon)
    cx.again()
    cx.wait(job)
    with open(stop, "w", encoding="ascii"):
        pass
    cx.wait_gone(job)
    assert until(lambda: cx.file("out"), "the output") == "exit 0\n"


@pytest.mark.complex(nodes=3)
@pytest.mark.parametrize("line", [launcher("mpich"), launcher("openmpi")])
def test_a_deleted_mpi_job_leaves_no_rank_behind(cx, line):
    job = start(cx, f"{line.format(program=program(cx), ranks=RANKS)} /never > ranks.txt 2>&1", **place(3))
    shepherds = until(lambda: len(ranks(cx.file("ranks.txt"))) == RANKS and ranks(cx.file("ranks.txt")), "all ranks")
    cx.api.delete(job)
    cx.wait_gone(job)
    until(lambda: all(is_gone(s) for s in shepherds.values()), "the end of the shepherds")
    assert not [p for p in os.listdir("/proc") if p.isdigit() and "mpi_sum" in cmdline(p) and cx.work in cmdline(p)]


def cmdline(pid):
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""
