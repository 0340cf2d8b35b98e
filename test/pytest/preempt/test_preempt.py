"""Preemption: what the scheduler decides, and what pbs_preempt_jobs promises."""
import os
import time

import pytest

from harness import api, faults
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=1, ncpus=4)


def express(cx, order="SCR"):
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", order)


def scheduler(cx):
    """Be the scheduler of a complex whose own one has been ended."""
    c = cx.connect()
    c.register("default")
    return c


def running(cx, n, text="sleep 600", **attrs):
    """n jobs that run on n1, started by hand."""
    jobs = [cx.submit(text, **attrs) for _ in range(n)]
    for job in jobs:
        cx.api.run(job, "(n1:ncpus=1)")
        cx.wait(job)
    return jobs


# --- decided by the scheduler
@pytest.mark.parametrize("order, state, count", [("R", "Q", 1), ("S", "S", 1)])
def test_an_urgent_job_takes_the_place_of_an_ordinary_one(cx, order, state, count):
    express(cx, order)
    victim = cx.submit(select="1:ncpus=4")
    cx.wait(victim)
    urgent = cx.submit("sleep 5", queue="express", select="1:ncpus=4")
    cx.wait(urgent)
    assert cx.state(victim) == state
    cx.wait_gone(urgent)
    assert cx.wait(victim).run_count == (2 if order == "R" else count)


@pytest.mark.complex(nodes=1, ncpus=4, history=True)
def test_an_urgent_job_deletes_an_ordinary_one(cx):
    express(cx, "D")
    victim = cx.submit(select="1:ncpus=4")
    cx.wait(victim)
    urgent = cx.submit("sleep 600", queue="express", select="1:ncpus=4")
    cx.wait(urgent)
    assert cx.state(victim) == "F"


def test_only_as_many_jobs_give_way_as_are_needed(cx):
    express(cx, "R")
    ordinary = [cx.submit(select="1:ncpus=1") for _ in range(4)]
    for job in ordinary:
        cx.wait(job)
    urgent = cx.submit(queue="express", select="1:ncpus=2")
    cx.wait(urgent)
    assert sorted(cx.state(j) for j in ordinary) == ["Q", "Q", "R", "R"]


def test_a_job_of_the_same_level_is_left_alone(cx):
    express(cx, "R")
    first = cx.submit(queue="express", select="1:ncpus=4")
    cx.wait(first)
    second = cx.submit(queue="express", select="1:ncpus=4")
    until(lambda: cx.stat(second).get("comment"), "a comment")
    assert cx.state(first) == "R" and cx.state(second) == "Q"


@pytest.mark.parametrize("order", ["X", "SS", "50 S", "SCR 80", "S 50 50 R", "s"])
def test_a_bad_preempt_order_is_refused(quiet, order):
    with pytest.raises(api.PbsError) as e:
        quiet.set_sched("preempt_order", order)
    assert e.value.code == 15014


# --- what the call promises
@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
@pytest.mark.parametrize("order, letter", [("S", "S"), ("R", "Q"), ("D", "D")])
def test_each_method_answers_with_its_letter(cx, order, letter):
    cx.set_sched("preempt_order", order)
    job, = running(cx, 1)
    c = scheduler(cx)
    assert c.preempt([job]) == [(job, letter)]
    assert cx.state(job) == {"S": "S", "R": "Q", "D": None}[order]


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
def test_a_method_that_fails_is_followed_by_the_next(cx):
    cx.set_sched("preempt_order", "CRD")
    job, = running(cx, 1, Rerunable="False")
    assert scheduler(cx).preempt([job]) == [(job, "D")]


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
def test_without_a_method_left_the_answer_is_000_and_the_job_runs(cx):
    cx.set_sched("preempt_order", "R")
    job, = running(cx, 1, Rerunable="False")
    assert scheduler(cx).preempt([job]) == [(job, "000")]
    assert cx.state(job) == "R"


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
def test_jobs_that_are_gone_or_queued_are_out_of_the_way(cx):
    waiting = cx.submit()
    gone = cx.submit()
    cx.api.delete(gone)
    assert sorted(scheduler(cx).preempt([waiting, gone])) == sorted([(waiting, "Q"), (gone, "D")])


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
@pytest.mark.parametrize("order, letter", [("R", "Q"), ("D", "D")])
def test_the_answer_waits_for_the_end_of_the_job(cx, order, letter):
    """A MOM that stands still holds the obit back: no answer, and no room, until it goes on."""
    cx.set_sched("preempt_order", order)
    job, = running(cx, 1)
    c = scheduler(cx)
    with faults.daemon_frozen(cx, "n1"):
        ticket = c.preempt_send([job])
        assert faults.stays(lambda: not c.ready(ticket), 0.5)
        assert cx.state(job) in "RE"
    assert c.preempt_recv(ticket) == [(job, letter)]
    assert cx.node().get("resources_assigned", {}).get("ncpus", "0") == "0"


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
@pytest.mark.parametrize("order, letter", [("S", "S"), ("R", "Q"), ("D", "D")])
def test_a_job_that_is_only_just_being_started(cx, order, letter):
    """The first job of its owner on a MOM: START waits for a lookup, and the next order must not overtake it."""
    cx.set_sched("preempt_order", order)
    c = scheduler(cx)
    for _ in range(10):
        job = cx.submit()
        cx.api.run_async(job, "(n1:ncpus=1)")
        assert c.preempt([job]) == [(job, letter)]
        if order != "D":
            cx.api.delete(job)


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
def test_deletion_of_a_job_that_ignores_sigterm(cx):
    cx.set_sched("preempt_order", "D")
    cx.set_queue("workq", "kill_delay", "1")
    job, = running(cx, 1, "trap '' TERM; echo > $PBS_O_WORKDIR/ready; while :; do sleep 1; done")
    until(lambda: cx.file("ready"), "the trap")
    begin = time.monotonic()
    assert scheduler(cx).preempt([job]) == [(job, "D")]
    assert time.monotonic() - begin >= 0.9
    assert cx.state(job) is None


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
def test_deletion_of_a_job_that_its_owner_deletes_at_that_moment(cx):
    cx.set_sched("preempt_order", "D")
    job, = running(cx, 1)
    c = scheduler(cx)
    with faults.daemon_frozen(cx, "n1"):
        ticket = c.preempt_send([job])
        cx.api.call_send("deljob_send", job, None)
    assert c.preempt_recv(ticket) == [(job, "D")]
    assert cx.state(job) is None


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
def test_deletion_of_a_job_that_ends_by_itself_at_that_moment(cx):
    cx.set_sched("preempt_order", "D")
    flag = os.path.join(cx.work, "end")
    job, = running(cx, 1, f"while [ ! -e {flag} ]; do sleep 0.02; done")
    c = scheduler(cx)
    with faults.daemon_frozen(cx, "n1"):
        open(flag, "w", encoding="ascii").close()
        ticket = c.preempt_send([job])
    assert c.preempt_recv(ticket) == [(job, "D")]
    assert cx.state(job) is None


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
def test_deletion_continues_when_the_mom_is_killed(cx):
    cx.set_sched("preempt_order", "D")
    job, = running(cx, 1)
    c = scheduler(cx)
    with faults.daemon_frozen(cx, "n1"):
        ticket = c.preempt_send([job])
        cx.kill("n1")
    assert not c.ready(ticket)
    cx.restart("n1")
    assert c.preempt_recv(ticket) == [(job, "D")]
    assert cx.state(job) is None


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
def test_deletion_continues_when_the_scheduler_is_lost(cx):
    cx.set_sched("preempt_order", "D")
    job, = running(cx, 1)
    c = scheduler(cx)
    with faults.daemon_frozen(cx, "n1"):
        c.preempt_send([job])
        c.close()
    cx.wait_gone(job)
    assert cx.node()["state"] == "free"


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
def test_deletion_continues_when_the_server_is_killed(cx):
    cx.set_sched("preempt_order", "D")
    job, = running(cx, 1)
    other, = running(cx, 1)
    c = scheduler(cx)
    with faults.daemon_frozen(cx, "n1"):
        c.preempt_send([job])
        cx.crash_server()
        assert cx.state(job) in "RE"
    cx.wait_gone(job)
    assert cx.wait(other).run_count == 1


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
def test_many_jobs_each_have_their_own_answer(cx):
    cx.set_sched("preempt_order", "RD")
    again = running(cx, 2)
    once = running(cx, 2, Rerunable="False")
    answer = dict(scheduler(cx).preempt([*again, *once]))
    assert answer == {**dict.fromkeys(again, "Q"), **dict.fromkeys(once, "D")}


def test_a_stranger_may_not_preempt(quiet):
    c = quiet.connect()
    with pytest.raises(api.PbsError):
        c.preempt([quiet.submit()])
    c.close()


# --- whom it costs least
@pytest.mark.complex(nodes=3, ncpus=1)
def test_a_job_that_has_just_begun_is_preempted_before_one_that_has_run_long(cx):
    """Three nodes are wanted, one is free: one of two jobs goes, and it is the one that loses less."""
    express(cx, "R")
    cx.set_sched("preempt_sort", "least_lost_work")
    first = cx.submit(select="1:ncpus=1")
    cx.wait(first)
    time.sleep(1.1)  # start times are whole seconds, and their difference is what is tested
    second = cx.submit(select="1:ncpus=1")
    cx.wait(second)
    urgent = cx.submit(queue="express", select="2:ncpus=1", l_place="scatter")
    cx.wait(urgent)
    assert [cx.state(first), cx.state(second)] == ["R", "Q"]


@pytest.mark.complex(nodes=1, ncpus=1)
def test_no_job_is_preempted_where_enough_jobs_end_in_time(cx):
    express(cx, "R")
    cx.set_sched("preempt_wait", "60")
    low = cx.submit("sleep 600", select="1:ncpus=1", l_walltime="6")
    cx.wait(low)
    urgent = cx.submit(queue="express", select="1:ncpus=1")
    cx.wait(urgent)
    assert cx.stat(low) is None or cx.stat(low).run_count == 1


@pytest.mark.parametrize("value", ["latest", "least_lost_work,fewest_jobs", "min_time"])
def test_a_bad_preempt_sort_is_refused(quiet, value):
    with pytest.raises(api.PbsError) as e:
        quiet.set_sched("preempt_sort", value)
    assert e.value.code == 15014
