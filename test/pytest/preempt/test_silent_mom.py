"""A host that stands still: its MOM and its shepherds neither answer nor go away, and what that does to a preemption.

Its connection stays open, so nothing but time tells: the limit of a method, then the silence of the connection, then
`node_fail_requeue`. The server's time is made to pass.
"""
import contextlib
import os
import subprocess

import pytest

from harness import faults, work
from harness.build import is_sanitized
from harness.clock import Clock
from harness.complex import Complex
from harness.mom_priv import configure, script
from harness.shepherds import shepherds
from harness.work import URGENT, VICTIM
from harness.wait import until

LIMIT_S = 60
SUSPEND_LIMIT_S, SILENCE_S, ANSWER_S = 60, 60, 120
pytestmark = pytest.mark.skipif(is_sanitized(), reason="the sanitizer wants to be loaded first")


@pytest.fixture
def cx(monkeypatch):
    c = Complex(nodes=2, ncpus=3, history=True)
    c.clock = Clock(c, monkeypatch, "pbs_server")
    try:
        c.start()
        c.make_queue("express", Priority="200")
        c.set_server("node_fail_requeue", "1")
        configure(c, f"$action checkpoint_abort 600 !{script(c, 'save', 'sleep 600')} %path")
        yield c
    finally:
        c.stop()


def submit(cx, text, **attrs):
    return cx.submit(f"cd {cx.work}\n{text}", Keep_Files="oed", **attrs)


def begun(cx, job):
    return (cx.file("begun") or "").split().count(job)


def touch(cx, name):
    with open(os.path.join(cx.work, name), "w", encoding="ascii"):
        pass


def pass_time(cx, seconds):
    """All whose hosts are awake have been heard of since, when this returns."""
    cx.clock.leap(seconds)
    alive = cx.submit("true", select="1:ncpus=1:vnode=n2")
    until(lambda: cx.state(alive) == "F", lambda: cx.describe(alive), LIMIT_S)


@contextlib.contextmanager
def host_frozen(cx):
    """The MOM n1 and all its shepherds."""
    with faults.frozen(cx.pid("n1"), *shepherds(cx)):
        yield


@pytest.mark.parametrize("method", "SCRD")
def test_a_host_that_hangs_is_given_up_and_the_urgent_job_runs_on_another(cx, method):
    """S ends at its limit and the victim runs on; the others last until the host is taken for lost."""
    cx.set_sched("preempt_order", method)
    victim = submit(cx, VICTIM, select="1:ncpus=2:vnode=n1")
    filler = submit(cx, "until test -e free; do sleep 0.05; done", queue="express", select="1:ncpus=2:vnode=n2")
    cx.wait(filler)
    cx.wait(victim)
    until(lambda: begun(cx, victim), "the victim's script", LIMIT_S)
    with work.NodeWatch(cx, pause_s=0.05):
        with host_frozen(cx):
            urgent = submit(cx, URGENT, queue="express", select="1:ncpus=2")
            until(lambda: cx.stat(victim).get("gives_way") == "True", lambda: cx.describe(victim), LIMIT_S)
            pass_time(cx, max(SUSPEND_LIMIT_S, SILENCE_S) + 1)
            if method != "S":
                assert cx.stat(victim).get("gives_way") == "True"
                pass_time(cx, SILENCE_S + 1)
                until(lambda: "down" in cx.node("n1")["state"], "the host to be taken for lost", LIMIT_S)
                pass_time(cx, 2)
            until(lambda: not cx.stat(victim).get("gives_way"), lambda: cx.describe(victim), LIMIT_S)
            assert cx.state(victim) == {"S": "R", "C": "Q", "R": "Q", "D": "F"}[method]
            assert not begun(cx, urgent)
            touch(cx, "free")
            until(lambda: begun(cx, urgent), lambda: cx.describe(urgent), LIMIT_S)
            assert cx.stat(urgent)["exec_vnode"].startswith("(n2:")
        touch(cx, "go")
        until(lambda: not cx.api.select(), "the end of all jobs", LIMIT_S)
    assert cx.api.stat("hold") == [] and cx.file("twice") is None
    assert cx.node("n1")["resources_assigned"]["ncpus"] == "0"
    assert method == "D" or cx.stat(victim)["Exit_status"] == "0"


@pytest.mark.parametrize("command, kind", [(["qmsg", "-E", "a text"], 10), (["qsig", "-s", "USR1"], 18),
                                           (["qsig", "-s", "suspend"], 18)])
def test_a_request_to_a_host_that_hangs_fails_and_says_so(cx, command, kind):
    job = submit(cx, VICTIM, select="1:ncpus=2:vnode=n1")
    until(lambda: begun(cx, job), lambda: cx.describe(job), LIMIT_S)
    with host_frozen(cx):
        before = cx.log("server").count(f"Type {kind} request")
        with subprocess.Popen([*command, job], env=cx.env, stderr=subprocess.PIPE, text=True) as asked:
            until(lambda: cx.log("server").count(f"Type {kind} request") > before, lambda: cx.logs("server"), LIMIT_S)
            pass_time(cx, ANSWER_S // 2)  # the real time that this takes counts too
            assert asked.poll() is None
            pass_time(cx, ANSWER_S // 2 + 1)
            said = asked.communicate(timeout=LIMIT_S)[1]
    assert asked.returncode and f" {ANSWER_S} s" in said, (asked.returncode, said)
    touch(cx, "go")
    until(lambda: cx.state(job) in "FS", lambda: cx.describe(job), LIMIT_S)
