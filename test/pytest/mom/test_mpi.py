"""MPI as Debian has it, over the MOMs of a private complex, with pbs_tmrsh as its remote shell."""
import os
import shutil

import pytest

from harness.build import PROGRAMS, mpi_program
from harness.tasks import is_gone, output_of, run, start
from harness.wait import until

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


# As Debian installs them, with nothing but what is in the job's environment. Open MPI and MPICH's -rmk pbs read PBS_NODEFILE.
INSTALLED = {"mpirun": ("openmpi", "mpirun.openmpi {program}"),
             "mpiexec": ("mpich", "mpiexec.mpich {program}"),
             "mpiexec.hydra": ("mpich", "/usr/bin/mpiexec.hydra -rmk pbs {program}")}


@pytest.mark.complex(nodes=4)
@pytest.mark.parametrize("n_hosts", [1, 2, 4])
@pytest.mark.parametrize("launch", [pytest.param(launch, marks=pytest.mark.skipif(
    not shutil.which(f"mpicc.{which}"), reason=f"there is no compiler of {which}")) for launch, (which, _) in INSTALLED.items()])
def test_the_mpirun_of_a_library_as_installed_finds_the_hosts_and_starts_ranks_there(cx, launch, n_hosts):
    which, line = INSTALLED[launch]
    n = 2 * n_hosts
    one_host = "export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo\n" if n_hosts > 1 else ""
    # A job without our commands in its PATH.
    job = cx.submit(f"PATH=/usr/bin:/bin\ncd {cx.work}\n{one_host}"
                    f"{line.format(program=mpi_program(cx, 'mpi_talk', which))}\necho exit $?", **place(n_hosts))
    # Standard output alone: on standard error the library may warn of things that are not its program's.
    assert sorted(output_of(cx, job).splitlines()) == talk(n) + ["sum at %d is %d" % (i, n * (n - 1) // 2) for i in range(n)], cx.file("err")


def talk(n):
    return ["exit 0"] + [f"hello from {i} of {n}" for i in range(n)] + [f"ring {n}"]


@pytest.mark.complex
def test_a_user_may_choose_another_launcher(cx):
    text = run(cx, "env | grep -E '^(HYDRA|I_MPI|OMPI|PRTE)_' | sort; echo $PBS_NODEFILE",
               Variable_List="HYDRA_LAUNCHER=ssh,OMPI_MCA_orte_default_hostfile=/of/another/job").splitlines()
    agent = os.path.join(cx.build, "bin", "pbs_tmrsh")
    assert text[:-1] == ["HYDRA_LAUNCHER=ssh", f"HYDRA_LAUNCHER_EXEC={agent}", "HYDRA_RMK=pbs", "I_MPI_HYDRA_BOOTSTRAP=rsh",
                         f"I_MPI_HYDRA_BOOTSTRAP_EXEC={agent}", "I_MPI_HYDRA_RMK=pbs",
                         f"OMPI_MCA_orte_default_hostfile={text[-1]}", f"OMPI_MCA_plm_rsh_agent={agent}",
                         f"PRTE_MCA_plm_ssh_agent={agent}"]


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
