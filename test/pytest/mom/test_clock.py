"""The wall clock of server, scheduler and MOM is set by hours, forward and back, while jobs run and wait."""
import os
import time

import pytest

from harness.build import is_sanitized
from harness.clock import Clock
from harness.complex import Complex
from harness.faults import stays
from harness.wait import until

HOURS = 3600
pytestmark = pytest.mark.skipif(is_sanitized(), reason="the sanitizer wants to be loaded first")


@pytest.fixture
def host(monkeypatch):
    """A complex and its clock."""
    cx = Complex(history=True)
    clock = Clock(cx, monkeypatch)
    try:
        cx.start()
        cx.clock = clock
        yield cx
    finally:
        cx.stop()


def jump(cx, ahead_s):
    """The server has seen it when this returns."""
    before = cx.log("server").count("the clock of this host was set")
    cx.clock.set(ahead_s)
    until(lambda: cx.log("server").count("the clock of this host was set") > before, "the server's notice of it")


def accounted(cx, job, kind):
    """The record of this kind in the file of the new day, or None."""
    day = time.strftime("%Y%m%d", time.localtime(cx.clock.now()))
    try:
        with open(os.path.join(cx.home, "server_priv", "accounting", day), encoding="ascii") as f:
            return next((line for line in f if f";{kind};{job};" in line and line.endswith("\n")), None)
    except FileNotFoundError:
        return None


JUMPS = pytest.mark.parametrize("ahead_s", [5 * HOURS, -5 * HOURS])


@JUMPS
def test_a_job_runs_as_long_as_its_walltime_says(host, ahead_s):
    cx = host
    begun = time.monotonic()
    job = cx.submit("while :; do sleep 0.1; done", l_walltime="5")
    other = cx.submit("sleep 600", l_walltime="1:00:00")
    cx.wait(job)
    cx.wait(other)
    jump(cx, ahead_s)
    assert cx.state(job) == "R" or time.monotonic() - begun > 5
    cx.wait_gone(job)
    s = cx.stat(job)
    assert s["Exit_status"] == "-29" and "00:00:05" <= s["resources_used"]["walltime"] < "00:01:00"
    assert time.monotonic() - begun >= 5
    assert cx.state(other) == "R" and cx.stat(other)["resources_used"]["walltime"] < "00:01:00"


@JUMPS
def test_times_of_jobs_move_along_with_the_clock(host, ahead_s):
    cx = host
    cx.set_server("eligible_time_enable", "True")
    running = cx.submit()
    cx.wait(running)
    cx.set_server("scheduling", "False")
    waiting = cx.submit()
    jump(cx, ahead_s)
    for job, name in ((running, "stime"), (running, "ctime"), (waiting, "qtime")):
        assert abs(int(cx.stat(job)[name]) - cx.clock.now()) < 60, name
    assert cx.stat(waiting).get("eligible_time", "00:00:00") < "00:01:00"
    cx.api.delete(running)
    cx.wait_gone(running)
    end = until(lambda: accounted(cx, running, "E"), "the record of its end")
    fields = dict(word.partition("=")[::2] for word in end.split())
    assert 0 <= int(fields["end"]) - int(fields["start"]) < 60
    after = cx.submit()
    cx.set_server("scheduling", "True")
    cx.wait(after)


@JUMPS
def test_exempt_times_and_holds_of_a_preemption_are_not_cut_or_stretched(host, ahead_s):
    cx = host
    cx.set_sched("preempt_exempt_time", "3600")
    victim = cx.submit("sleep 600", select="1:ncpus=4")
    cx.wait(victim)
    cx.make_queue("express", Priority="200")
    urgent = cx.submit("sleep 600", queue="express", select="1:ncpus=4")
    jump(cx, ahead_s)
    assert stays(lambda: cx.state(victim) == "R" and cx.state(urgent) == "Q", 0.5)
    cx.set_sched("preempt_exempt_time", "0")
    cx.wait(urgent)
    assert cx.state(victim) in "SQ"


def test_a_start_time_that_the_new_clock_has_reached_is_reached(host):
    cx = host
    at = time.localtime(time.time() + 2 * HOURS)
    job = cx.submit("exit 3", Execution_Time=str(int(time.mktime(at))))
    cx.wait(job, state="W")
    jump(cx, HOURS)
    assert cx.state(job) == "W"
    jump(cx, 3 * HOURS)
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "3"


def test_grace_of_a_job_that_is_ended_is_kept_through_jumps(host):
    cx = host
    cx.set_queue("workq", "kill_delay", "30")
    job = cx.submit("trap 'echo told > $PBS_O_WORKDIR/told; sleep 2; echo saved > $PBS_O_WORKDIR/saved; exit 0' TERM\n"
                    "touch $PBS_O_WORKDIR/ready\nwhile :; do sleep 0.05; done")
    until(lambda: cx.file("ready") is not None, "the trap")
    cx.api.delete(job)
    until(lambda: cx.file("told"), "SIGTERM")
    jump(cx, 5 * HOURS)
    cx.clock.set(-5 * HOURS)
    cx.wait_gone(job)
    assert cx.file("saved") == "saved\n"


def test_logs_show_the_new_time_and_a_restarted_server_serves(host):
    cx = host
    job = cx.submit()
    cx.wait(job)
    jump(cx, -5 * HOURS)
    cx.restart("n1")
    cx.restart("server")
    cx.again()
    until(lambda: cx.node()["state"] in ("free", "job-busy"), "the node")
    assert cx.state(job) == "R" and cx.stat(job)["run_count"] == "1"
    cx.api.delete(job)
    cx.wait_gone(job)
