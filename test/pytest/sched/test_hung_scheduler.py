"""A scheduler that hangs is noticed, said and replaced; one that only has nothing to do is left alone."""
import contextlib
import os
import signal

import pytest

from harness import faults
from harness.wait import until

PATIENCE_S = 3


@pytest.fixture
def cx(cx):
    cx.set_sched("heartbeat_timeout", str(PATIENCE_S))
    return cx


def sched_state(cx):
    return cx.api.stat("sched")[0]["state"]


def until_noticed(cx):
    until(lambda: sched_state(cx) == "down", "the server to notice that the scheduler hangs")
    cx.wait_log("server", "the scheduler hangs")


def test_a_scheduler_that_hangs_with_work_is_noticed_and_continues_where_it_was_not_replaced(cx):
    with faults.daemon_frozen(cx, "sched"):
        job = cx.submit()
        until_noticed(cx)
        assert cx.state(job) == "Q"
    cx.wait(job)
    until(lambda: sched_state(cx) == "idle", "the scheduler to have nothing to do")


def test_a_scheduler_that_hangs_without_work_is_noticed(cx):
    with faults.daemon_frozen(cx, "sched"):
        until_noticed(cx)


def test_qrun_is_answered_when_the_scheduler_hangs(cx):
    cx.set_server("scheduling", "False")
    job = cx.submit()
    with faults.daemon_frozen(cx, "sched"):
        done = cx.command("qrun", job, check=False)
        assert done.returncode and "hangs" in done.stderr, done.stderr


def test_another_scheduler_takes_the_place_of_one_that_hangs(cx):
    pid = cx.pid("sched")
    os.kill(pid, signal.SIGSTOP)
    c = cx.connect()
    try:
        until_noticed(cx)
        c.register()
        os.kill(pid, signal.SIGCONT)
        until(lambda: "already connected" in cx.log("sched"), "the first scheduler to see that it was replaced")
        assert cx.pid("sched") == pid
    finally:
        os.kill(pid, signal.SIGCONT)
        c.close()
    job = cx.submit()
    cx.wait(job)


def test_a_scheduler_that_has_nothing_to_do_stays(cx):
    before = cx.log("server").count("scheduler connected")
    seen = []

    def asked():
        if cx.log("sched").count("received command 0") >= 3:
            return True
        seen.append(sched_state(cx))
        return False
    cx.set_sched("log_events", "4095")
    until(asked, "the scheduler to be asked three times whether it is there")
    assert set(seen) <= {"idle", "scheduling"} and cx.log("server").count("scheduler connected") == before


def test_a_scheduler_that_waits_for_the_servers_answer_does_not_hang(cx):
    """Its order is answered when the host has begun the job, which stands still here for longer than the scheduler may be silent."""
    cx.set_sched("job_run_wait", "execjob_hook")
    with faults.daemon_frozen(cx, "n1"):
        job = cx.submit()
        until(lambda: cx.stat(job)["substate"] == "41", "the order to run")
        assert faults.stays(lambda: sched_state(cx) == "scheduling", 2 * PATIENCE_S)
    cx.wait(job)
    assert "the scheduler hangs" not in cx.log("server")


@pytest.fixture
def by_default(cx):
    cx.qmgr("unset sched default heartbeat_timeout")
    return cx


def silent_run(cx, job):
    done = cx.command("qrun", job, check=False, limit_s=90)
    assert done.returncode and "default" in done.stderr and "said nothing for 30 seconds" in done.stderr, done.stderr


def test_qrun_is_answered_soon_whatever_the_length_of_a_cycle(by_default):
    """pbs_sched gives signs of life, so its silence has a meaning."""
    cx = by_default
    cx.set_server("scheduling", "False")
    cx.set_sched("sched_cycle_length", "10:00:00")
    job = cx.submit()
    with faults.daemon_frozen(cx, "sched"):
        silent_run(cx, job)
        assert sched_state(cx) == "down"
        with contextlib.closing(cx.connect()) as c:
            c.register()


def test_a_question_that_a_scheduler_without_signs_leaves_open_fails_and_the_scheduler_stays(by_default):
    """It may be at work in a long cycle: nobody waits for it, and nobody takes its place."""
    cx = by_default
    cx.kill("sched")
    until(lambda: sched_state(cx) == "down", "the server to see that the scheduler is gone")
    with contextlib.closing(cx.connect()) as c:
        c.register()
        silent_run(cx, cx.submit())
        assert sched_state(cx) != "down"


def test_a_scheduler_that_gives_signs_may_take_as_long_as_it_likes(cx):
    cx.kill("sched")
    until(lambda: sched_state(cx) == "down", "the server to see that the scheduler is gone")
    with contextlib.closing(cx.connect()) as c:
        c.register()

        def signs():
            c.sched_alive()
            return sched_state(cx) != "down"
        assert faults.stays(signs, 3 * PATIENCE_S)
        until_noticed(cx)
