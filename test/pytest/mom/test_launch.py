"""pbs_launch: ranks over the hosts of a job, which find each other through the PMIx helpers of its hosts."""
import contextlib
import os
import shutil
import signal

import pytest

from harness.build import mpi_program, pmix_program
from harness.faults import daemon_frozen
from harness.tasks import is_gone, output_of, run, running, start
from harness.wait import until

needs_open_mpi = pytest.mark.skipif(not shutil.which("mpicc.openmpi"), reason="there is no compiler of Open MPI")

# All hosts are one here, which Open MPI's shared memory does not understand: TCP on the loopback instead.
ONE_HOST = "export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo\n"


def place(n_hosts, each=2):
    return {"select": f"{n_hosts}:ncpus={each}:mpiprocs={each}", "l_place": "scatter"}


def talk(n):
    return sorted([f"hello from {i} of {n}" for i in range(n)] + [f"ring {n}"] +
                  [f"sum at {i} is {n * (n - 1) // 2}" for i in range(n)])


@needs_open_mpi
@pytest.mark.complex(nodes=4)
@pytest.mark.parametrize("n_hosts", [1, 2, 4])
def test_ranks_of_open_mpi_find_each_other_over_the_hosts(cx, n_hosts):
    mpi_program(cx, "mpi_talk", "openmpi")
    out = run(cx, f"{ONE_HOST if n_hosts > 1 else ''}pbs_launch ./mpi_talk.openmpi 2> errors; echo exit $?", **place(n_hosts))
    lines = out.splitlines()
    assert lines[-1] == "exit 0"
    assert sorted(lines[:-1]) == talk(2 * n_hosts), cx.file("errors")


# More than one piece of a fence for each host, and of the whole; each rank alone fits into an answer.
@pytest.mark.complex(nodes=4)
@pytest.mark.parametrize("how", ["", "direct"])
@pytest.mark.parametrize("size", [1, 700000])
def test_values_that_ranks_publish_are_read_on_all_hosts(cx, size, how):
    pmix_program(cx, "pmix_data")
    out = run(cx, f"pbs_launch ./pmix_data {size} {how}; echo exit $?", **place(4)).splitlines()
    assert sorted(out) == ["exit 0"] + [f"rank {i} of 8 read 36" for i in range(8)]


@pytest.mark.complex(nodes=2)
def test_lines_are_labelled_with_their_rank_and_come_whole(cx):
    out = run(cx, "pbs_launch -l sh -c 'printf a$PMIX_RANK; printf \"b\\n\\n\"; echo err >&2; printf end'", **place(2)).splitlines()
    assert sorted(out) == sorted(line for i in range(4) for line in (f"{i}: a{i}b", f"{i}: ", f"{i}: err", f"{i}: end"))


@pytest.mark.complex(nodes=2)
def test_ranks_begin_where_the_launcher_stands_with_its_environment(cx):
    out = run(cx, "mkdir sub; cd sub; export MINE=yes; pbs_launch sh -c 'echo $PWD $MINE $PBS_NODENUM'", **place(2, 1)).splitlines()
    assert sorted(out) == [f"{cx.work}/sub yes 0", f"{cx.work}/sub yes 1"]


@pytest.mark.complex(nodes=2)
def test_the_exit_status_is_the_highest_or_of_the_signal(cx):
    out = run(cx, "pbs_launch -K 0 sh -c 'exit $((PMIX_RANK + 3))'; echo status $?\n"
                  "pbs_launch sh -c 'test $PMIX_RANK = 1 && kill -SEGV $$; sleep 600'; echo status $?\n"
                  "pbs_launch ./nothing; echo status $?\n"
                  "pbs_launch -n 5 true; echo status $?\n"
                  "pbs_launch -n 5 -O true; echo status $?\n"
                  "pbs_launch -n 0 true; echo status $?\n"
                  "pbs_launch --bind=moon true; echo status $?\n"
                  "pbs_launch; echo status $?", **place(2)).splitlines()
    assert [line for line in out if line.startswith("status")] == ["status 6", "status 139", "status 127", "status 1", "status 0",
                                                                   "status 2", "status 2", "status 2"]
    assert "pbs_launch: n1: rank 1: Segmentation fault" in out
    assert "pbs_launch: 5 ranks do not fit on the 4 lines of the nodefile; --overcommit puts more on a line" in out
    assert len([line for line in out if line.startswith("pbs_launch") and "nothing" in line]) == 1


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one processor")
@pytest.mark.complex
def test_ranks_are_bound_to_processors_of_their_own_on_request(cx):
    show = "sh -c 'taskset -pc $$ | sed s/.*:.//'"
    out = run(cx, f"pbs_launch --bind=core {show}; pbs_launch -O -n 99 --bind=core true; echo $?; pbs_launch --bind=none {show}",
              **place(1)).splitlines()
    one, two, status, three, four = out
    assert one != two and {one, two}.isdisjoint({three}) and three == four and status == "0"


@needs_open_mpi
@pytest.mark.complex(nodes=2)
def test_a_rank_that_aborts_ends_the_others(cx):
    mpi_program(cx, "mpi_abort", "openmpi")
    out = run(cx, f"{ONE_HOST}pbs_launch ./mpi_abort.openmpi; echo exit $?", **place(2)).splitlines()
    assert out[-1].endswith("exit 7")  # what Open MPI says of a lost peer may come before it, without a newline
    assert "pbs_launch: n1: rank 1: exited with exit code 7" in out


@pytest.mark.complex(nodes=2)
def test_signals_of_the_launcher_go_to_the_ranks(cx):
    job = start(cx, "pbs_launch -l sh -c 'trap \"echo yes > usr1.$PMIX_RANK\" USR1; trap \"echo term; exit 3\" TERM; echo $$ > rank.$PMIX_RANK; "
                    "while :; do sleep 0.05; done' &\necho $! > launcher\nwait\nwait $!; echo exit $?", **place(2, 1))
    until(lambda: cx.file("rank.0") and cx.file("rank.1"), "both ranks")
    launcher = int(until(lambda: cx.file("launcher"), "the launcher's number"))
    os.kill(launcher, signal.SIGUSR1)
    until(lambda: cx.file("usr1.0") and cx.file("usr1.1"), "the signal")
    os.kill(launcher, signal.SIGTERM)
    out = output_of(cx, job)
    assert out.splitlines()[-1] == "exit 3"
    assert out.count("term") == 2


def signals(pid, kind):
    """A set of signals of a process, as a number: SigBlk, ShdPnd."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1], 16) for line in f if line.startswith(kind + ":"))


@pytest.mark.complex(nodes=2)
def test_a_signal_that_comes_before_the_ranks_goes_to_them(cx):
    job = start(cx, "echo > begun; until test -e go; do sleep 0.02; done\n"
                    "pbs_launch sleep 600 &\necho $! > launcher\nwait $!; echo exit $?", **place(2, 1))
    until(lambda: cx.file("begun"), "the script")
    usr1 = 1 << (signal.SIGUSR1 - 1)
    with daemon_frozen(cx, "n2"):  # its helper is not reached, so that no rank is started
        with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
            pass
        launcher = int(until(lambda: cx.file("launcher"), "the launcher's number"))
        until(lambda: signals(launcher, "SigBlk") & usr1, "its taking of signals")
        os.kill(launcher, signal.SIGUSR1)
        until(lambda: not signals(launcher, "ShdPnd") & usr1, "its reading of the signal")
    assert output_of(cx, job).splitlines()[-1] == f"exit {128 + signal.SIGUSR1}"


@pytest.mark.complex(nodes=2)
def test_a_deleted_job_leaves_neither_ranks_nor_helpers_nor_files(cx):
    job = start(cx, "pbs_launch sh -c 'echo $$ > rank.$PMIX_RANK; exec sleep 600'", **place(2, 1))
    pids = [int(until(lambda f=f: cx.file(f), f)) for f in ("rank.0", "rank.1")]
    assert len(helpers(cx)) == 2
    directories = [d for n in ("n1", "n2") for d in pmix_directories(cx, n)]
    assert len(directories) == 2
    cx.api.delete(job)
    cx.wait_gone(job)
    until(lambda: all(is_gone(p) for p in pids) and not helpers(cx), "the end of all")
    until(lambda: not any(os.path.exists(d) for d in directories), "the end of their directories")


def pmix_directories(cx, node):
    return [os.path.join(at, d) for at, ds, _ in os.walk(os.path.join(os.path.dirname(cx.work), "complex", "mom", node))
            for d in ds if d.startswith("pmix.")]


def helpers(cx):
    """The processes of helpers of the complex: their directory is in it."""
    found = []
    for p in os.listdir("/proc"):
        try:
            with open(f"/proc/{p}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
        except (OSError, ValueError):
            continue
        if words[0].endswith(b"/pbs_pmix") and len(words) > 2 and os.path.dirname(cx.work).encode() in words[2]:
            found.append(int(p))
    return found


@pytest.mark.complex(nodes=2)
def test_a_job_that_does_not_ask_has_no_helper(cx):
    running(cx, select="1:ncpus=1")
    assert not helpers(cx)


@pytest.mark.complex(nodes=2)
def test_a_helper_that_is_killed_fails_its_launch_and_the_next_one_works(cx):
    pmix_program(cx, "pmix_data")
    job = start(cx, "pbs_launch sh -c 'echo $$ > rank.$PMIX_RANK; exec sleep 600' & wait %1\n"
                    "pbs_launch ./pmix_data 10; echo exit $?", **place(2, 1))
    pids = [int(until(lambda f=f: cx.file(f), f)) for f in ("rank.0", "rank.1")]
    for p in helpers(cx) + pids:  # a rank may be gone with its helper
        with contextlib.suppress(ProcessLookupError):
            os.kill(p, signal.SIGKILL)
    out = output_of(cx, job).splitlines()
    assert sorted(out[-3:]) == ["exit 0", "rank 0 of 2 read 3", "rank 1 of 2 read 3"]


@needs_open_mpi
@pytest.mark.complex(nodes=2)
def test_a_launch_goes_on_while_moms_and_the_server_are_killed(cx):
    pmix_program(cx, "pmix_data")
    job = start(cx, "pbs_launch sh -c 'echo > rank.$PMIX_RANK; while ! test -e go; do sleep 0.02; done; exec ./pmix_data 300000'; "
                    "echo exit $?", **place(2))
    until(lambda: all(cx.file(f"rank.{i}") for i in range(4)), "all ranks")
    for daemon in ("n1", "n2", "server"):
        cx.kill(daemon)
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    for daemon in ("server", "n1", "n2"):
        cx.restart(daemon)
    cx.again()
    cx.wait(job)
    out = output_of(cx, job).splitlines()
    assert sorted(out) == ["exit 0"] + [f"rank {i} of 4 read 10" for i in range(4)]
