"""Somebody dies while a job is being preempted: no hang, no double start, no node given out twice, no lost reply."""
import contextlib
import os
import random
import time

import pytest

from harness import api, faults, work
from harness.shepherds import shepherd
from harness.wait import until

IGNORES_TERM = "trap '' TERM; while [ ! -f go ]; do sleep 0.05; done"


@contextlib.contextmanager
def scheduler(cx, order):
    cx.set_sched("preempt_order", order)
    c = cx.connect()
    try:
        c.register()
        yield c
    finally:
        c.close()


def running(cx, text="sleep 600", name="job"):
    job = work.submit(cx, text, name)
    cx.api.run(job, "(n1:ncpus=1)")
    until(lambda: work.pid(cx, name), f"the script of {job}")
    cx.wait(job, "R")
    return job


def settled(cx, job, code):
    """What this reply promises of the job."""
    return cx.state(job) == {"S": "S", "Q": "Q", "D": None}[code]


METHODS = pytest.mark.parametrize("order, code", [("S", "S"), ("R", "Q"), ("D", "D")])
alone = pytest.mark.complex(nodes=1, ncpus=2, sched=False)


# --- the MOM ----------------------------------------------------------------------------------------------

@alone
@METHODS
def test_a_mom_that_dies_before_it_hears_of_a_preemption_does_it_when_it_is_back(cx, order, code):
    job = running(cx)
    pid = work.pid(cx)
    with scheduler(cx, order) as s:
        with faults.daemon_frozen(cx, "n1"):
            ticket = s.preempt_send([job])
            assert faults.stays(lambda: not s.ready(ticket), 0.2)
            cx.kill("n1")
        assert faults.stays(lambda: not s.ready(ticket), 0.2) and faults.is_alive(pid)
        cx.restart("n1")
        assert s.preempt_recv(ticket) == [(job, code)]
    assert settled(cx, job, code) and work.starts(cx) == 1
    assert faults.is_alive(pid) == (code == "S")


@alone
@pytest.mark.parametrize("order, code", [("R", "Q"), ("D", "D")])
def test_a_mom_that_dies_while_its_job_dies(cx, order, code):
    cx.set_queue("workq", "kill_delay", "1")
    job = running(cx, IGNORES_TERM)
    with scheduler(cx, order) as s:
        ticket = s.preempt_send([job])
        assert faults.stays(lambda: not s.ready(ticket), 0.3)
        cx.kill("n1")
        until(lambda: not faults.is_alive(work.pid(cx)), "the end of the job, whose shepherd lives")
        assert not s.ready(ticket)
        cx.restart("n1")
        assert s.preempt_recv(ticket) == [(job, code)]
    assert settled(cx, job, code) and work.starts(cx) == 1


@alone
@pytest.mark.parametrize("order, code", [("S", "Q"), ("R", "Q"), ("D", "D")])
def test_a_mom_that_stays_away_is_given_up_and_the_answer_comes(cx, order, code):
    """After node_fail_requeue the run is lost. When the MOM is back it ends what it still holds."""
    cx.set_server("node_fail_requeue", "1")
    job = running(cx)
    pid = work.pid(cx)
    with scheduler(cx, order) as s:
        cx.kill("n1")
        assert s.preempt([job]) == [(job, code)]
    assert settled(cx, job, code)
    cx.restart("n1")
    until(lambda: not faults.is_alive(pid), "the end of the run that was given up")
    until(lambda: cx.node()["state"] == "free", "the node is up")
    assert settled(cx, job, code) and work.starts(cx) == 1


# --- scheduler and server, an urgent job waiting ----------------------------------------------------------

WHO = pytest.mark.parametrize("order, state", [("S", "S"), ("R", "Q"), ("D", None)])
full = pytest.mark.complex(nodes=1, ncpus=2)


def contend(cx, order):
    """Two stubborn jobs fill the node; an urgent one wants all of it. (victims, urgent)"""
    cx.make_queue("express", Priority="200")
    cx.set_queue("workq", "kill_delay", "1")
    cx.set_sched("preempt_order", order)
    low = [work.submit(cx, IGNORES_TERM, name) for name in ("low0", "low1")]
    for name in ("low0", "low1"):
        until(lambda: work.pid(cx, name), f"the script of {name}")  # noqa: B023
    for job in low:
        cx.wait(job, "R")
    text = ("for p in $(cat low?.pid); do kill -0 $p 2>/dev/null && echo $p; done > alive; echo . > looked\n"
            "while [ ! -f enough ]; do sleep 0.02; done")
    return low, work.submit(cx, text, "urgent", "express", "1:ncpus=2")


def touch(cx, name):
    open(os.path.join(cx.work, name), "w", encoding="ascii").close()


def concluded(cx, order, state, low, urgent):
    """The urgent job runs, alone; then the others go on as their method says."""
    until(lambda: work.starts(cx, "urgent") == 1, lambda: f"the urgent job: {cx.describe(urgent)}")
    assert cx.state(urgent) == "R" and [cx.state(j) for j in low] == [state, state]
    until(lambda: cx.file("looked"), "the urgent job has looked who is alive")
    assert order == "S" or not cx.file("alive").split()
    touch(cx, "go")
    touch(cx, "enough")
    for job in [urgent, *low]:
        cx.wait_gone(job)
    assert work.starts(cx, "urgent") == 1
    runs = {"S": 1, "R": 2, "D": 1}[order]
    assert [work.starts(cx, name) for name in ("low0", "low1")] == [runs, runs]


@full
@WHO
def test_a_new_scheduler_continues_the_preemption_of_one_that_died(cx, order, state):
    with work.NodeWatch(cx):
        low, urgent = contend(cx, order)
        until(lambda: "Type 202 request" in cx.log("server"), "the preemption has begun")
        cx.kill("sched")
        until(lambda: [cx.state(j) for j in low] == [state, state], "the server has done it alone")
        cx.restart("sched")
        concluded(cx, order, state, low, urgent)


@full
@WHO
@pytest.mark.parametrize("seed", [1, 2])
def test_a_server_that_dies_in_a_preemption_carries_it_on(cx, order, state, seed):
    with work.NodeWatch(cx):
        low, urgent = contend(cx, order)
        time.sleep(random.Random(f"{order}{seed}").uniform(0, 0.05))  # the moment is the input of this test
        for _ in range(2):
            cx.kill("server")
            cx.restart("server")
            cx.again()
        concluded(cx, order, state, low, urgent)


@alone
@METHODS
def test_a_preemption_is_completed_after_the_caller_has_gone(cx, order, code):
    """The server is killed between asking the host and hearing from it; only the stored victim knows."""
    job = running(cx)
    with scheduler(cx, order) as s:
        with faults.daemon_frozen(cx, "n1"):
            ticket = s.preempt_send([job])
            until(lambda: "Type 93 request" in cx.log("server"), "the request has come")
            assert cx.api.stat("server")  # a later answer on the same loop: the order is on its way
            cx.kill("server")
            with pytest.raises(api.PbsError):
                s.preempt_recv(ticket)
            cx.restart("server")
            cx.again()
    until(lambda: settled(cx, job, code), lambda: f"the end of the preemption: {cx.describe(job)}")
    assert work.starts(cx) == 1


@pytest.mark.complex(nodes=2, ncpus=2, sched=False)
def test_a_suspended_job_that_is_ending_has_its_room_given_back_also_after_a_restart(cx):
    """One of its hosts has not told of its end yet when the server is killed."""
    job = work.submit(cx, select="2:ncpus=2")
    cx.api.run(job, "(n1:ncpus=2)+(n2:ncpus=2)")
    until(lambda: work.pid(cx), "its script")
    with scheduler(cx, "S") as s:
        assert s.preempt([job]) == [(job, "S")]
    other = work.submit(cx, name="other", select="1:ncpus=2")
    cx.api.run(other, "(n2:ncpus=2)")
    until(lambda: work.pid(cx, "other"), "the script of the other")
    with faults.daemon_frozen(cx, "n2"):
        cx.api.delete(job)
        cx.wait(job, "E")
        cx.kill("server")
        cx.restart("server")
        assert cx.again().stat("vnode", "n2")[0]["resources_assigned"]["ncpus"] == "2"
    cx.wait_gone(job)


@alone
@pytest.mark.parametrize("what", ["suspend", "resume"])
def test_an_attempt_that_fails_at_the_host_is_answered_as_failed(cx, what):
    """The shepherd stands still when it is asked, and dies before it has answered."""
    job = running(cx)
    if what == "resume":
        cx.api.signal(job, "suspend")
    pid = shepherd(cx, job, "n1")
    asker = cx.connect()
    with faults.frozen(pid):
        ticket = asker.call_send("sigjob_send", job, what, None)
        until(lambda: f"{job};signal job with {what}" in cx.log("n1"), "the order at the host")
        assert not asker.ready(ticket)
        os.kill(pid, 9)
        with pytest.raises(api.PbsError) as e:
            asker.recv(ticket)
    assert f"could not be {what.rstrip('e')}ed" in e.value.text
    asker.close()
