"""Complexes that share a kernel, also across containers: what a MOM touches there is its own."""
import contextlib
import os
import signal
import subprocess
import sys

import pytest

from harness.complex import Complex
from harness.shepherds import confinement, groups, shepherd
from harness.faults import is_alive, processes_called, stays
from harness.wait import until

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="groups and namespaces are root's")


@contextlib.contextmanager
def another(**kinds):
    c = Complex(history=True, **kinds)
    try:
        yield c.start()
    finally:
        c.stop()


def log_of(cx):
    return cx.log("n1")


APART = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]


def mom_as_started(cx):
    """Program with arguments, and environment, of the MOM n1."""
    pid = cx.pid("n1")
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        words = [w.decode() for w in f.read().split(b"\0")[:-1]]
    with open(f"/proc/{pid}/environ", "rb") as f:
        env = dict(w.decode().split("=", 1) for w in f.read().split(b"\0")[:-1])
    return [os.readlink(f"/proc/{pid}/exe"), "-N", *words[1:]], env  # one in the background would be a second process, and end the first


@contextlib.contextmanager
def mom_in_a_namespace(cx):
    """The MOM n1 of this complex, stopped before and started as in a container: it sees no process of anyone else."""
    words, env = mom_as_started(cx)
    cx.stop_daemon("n1")
    ready = log_of(cx).count("accepted by server")
    inside = subprocess.Popen([*APART, *words], env=env, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: inside.poll() is not None or log_of(cx).count("accepted by server") > ready, "the MOM inside")
        if inside.poll() is not None:
            why = inside.stderr.read().strip()
            assert "Operation not permitted" in why, why
            pytest.skip(f"no namespace can be made here: {why}")
        yield inside
    finally:
        inside.kill()
        inside.wait()
        inside.stderr.close()


def is_frozen(group):
    for name, word in (("cgroup.freeze", "1"), ("freezer.state", "FROZEN")):
        with contextlib.suppress(FileNotFoundError), open(os.path.join(group, name), encoding="ascii") as f:
            return f.read().strip() == word
    return False


def groups_with(pid):
    """Groups of jobs that hold this process."""
    found = set()
    for group in groups():
        with contextlib.suppress(OSError), open(os.path.join(group, "cgroup.procs"), encoding="ascii") as f:
            if str(pid) in f.read().split():
                found.add(group)
    return found


def suspended(cx, text):
    """A suspended job: its identifier, its first process, the groups that hold that."""
    if confinement(cx)["suspend"] == "signals":
        pytest.skip("this host has no freezer that we may use")
    job = cx.submit(text)
    cx.wait(job)
    pid = int(until(lambda: cx.stat(job).get("session_id"), "its first process"))
    cx.api.signal(job, "suspend")
    cx.wait(job, "S")
    mine = groups_with(pid)
    assert [g for g in mine if is_frozen(g)]
    return job, pid, mine


@as_root
def test_a_mom_in_a_container_leaves_the_suspended_jobs_of_others_alone(cx):
    """It finds the groups of all, and no process of others."""
    job, pid, mine = suspended(cx, f"n=0; while :; do n=$((n+1)); echo $n > {cx.work}/now; sleep 0.01; done")
    with another() as other:
        with mom_in_a_namespace(other):
            at = cx.file("now")
            assert groups_with(pid) == mine and [g for g in mine if is_frozen(g)]
            assert stays(lambda: cx.file("now") == at, 0.3)
    cx.api.signal(job, "resume")
    until(lambda: cx.file("now") != at, "the job going on")


@as_root
def test_a_mom_clears_away_the_groups_of_its_own_runs_whose_shepherd_was_killed(cx):
    job, pid, mine = suspended(cx, "sleep 600")
    holder = shepherd(cx, job, "n1")
    cx.kill("n1")
    os.kill(holder, signal.SIGKILL)
    cx.restart("n1")
    until(lambda: not is_alive(pid), "the end of the suspended process")
    until(lambda: not [g for g in mine if os.path.exists(g)], "the end of its groups")


# The first process of a container: sessions of strangers with each small number, and, when told, a MOM.
STRANGERS = """
import os, signal, sys
for _ in range(300):
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 3)
        signal.pause()
print("ready", flush=True)
sys.stdin.readline()
if os.fork() == 0:
    os.execv(sys.argv[2], sys.argv[2:])
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.pause()
"""


@as_root
def test_a_mom_that_moves_to_another_container_kills_no_session_of_the_same_number_there(cx):
    words, env = mom_as_started(cx)
    mark = "strangers of " + cx.top
    with mom_in_a_namespace(cx):  # begins before the strangers do, so that the processes of its job are the younger ones
        container = subprocess.Popen([*APART, sys.executable, "-c", STRANGERS, mark, *words], env=env, cwd="/",
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert container.stdout.readline() == "ready\n"
            strangers = set(processes_called(mark))
            assert len(strangers) > 300
            job = cx.submit("sleep 600")
            cx.wait(job)
            number = int(until(lambda: cx.stat(job).get("session_id"), "its first process"))
            assert 1 < number < 300
        except BaseException:
            container.kill()
            raise
    try:
        before = log_of(cx).count("accepted by server")
        container.stdin.write("go\n")
        container.stdin.flush()
        until(lambda: log_of(cx).count("accepted by server") > before, "the MOM in the other container")
        until(lambda: cx.state(job) != "R" or int(cx.stat(job)["run_count"]) > 1, "the end of the run whose shepherd is gone")
        assert strangers <= set(processes_called(mark))
    finally:
        container.kill()
        container.wait()
        container.stdin.close()
        container.stdout.close()
