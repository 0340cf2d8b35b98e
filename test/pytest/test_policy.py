"""What a site writes into sched_config and its neighbours, and placement sets: obeyed by the real scheduler."""
import time

import pytest

from cede.sim import Simulator
from cede.wait import until

pytestmark = pytest.mark.complex(nodes=0)


@pytest.fixture
def sim(cx):
    with Simulator(cx, nodes=3, ncpus=4) as s:
        yield s


def comment(cx, job):
    return (cx.stat(job) or {}).get("comment", "")


def wait_comment(cx, job, text):
    until(lambda: text in comment(cx, job), lambda: f"comment {text!r}; it is {comment(cx, job)!r}")


def place(cx, job):
    return cx.wait(job, "R")["exec_vnode"]


def test_jobs_stay_within_a_placement_set(cx, sim):
    cx.qmgr("create resource rack type=string,flag=h", "set node s1 resources_available.rack = A",
            "set node s2 resources_available.rack = B", "set node s3 resources_available.rack = B",
            "set server node_group_key = rack", "set server node_group_enable = True")
    assert place(cx, sim.job(select="2:ncpus=4")) == "(s2:ncpus=4)+(s3:ncpus=4)"
    cx.set_sched("do_not_span_psets", "True")
    wait_comment(cx, sim.job(select="3:ncpus=4"),
                 "Can Never Run: can't fit in the largest placement set, and can't span psets")
    assert place(cx, sim.job(select="1:ncpus=4")) == "(s1:ncpus=4)"


def test_vnodes_are_filled_as_node_sort_key_says(cx, sim):
    cx.configure_sched('node_sort_key: "ncpus HIGH unused"\n')
    assert [place(cx, sim.job(select="1:ncpus=1")) for _ in range(4)] == [
        "(s1:ncpus=1)", "(s2:ncpus=1)", "(s3:ncpus=1)", "(s1:ncpus=1)"]


def test_jobs_go_round_the_hosts(cx, sim):
    cx.configure_sched("smp_cluster_dist: round_robin\n")
    assert [place(cx, sim.job(select="1:ncpus=1")) for _ in range(4)] == [
        "(s1:ncpus=1)", "(s2:ncpus=1)", "(s3:ncpus=1)", "(s1:ncpus=1)"]


def test_queues_take_turns(cx, sim):
    cx.configure_sched("round_robin: true\n")
    cx.make_queue("other")
    cx.set_sched("scheduling", "False")
    jobs = [sim.job(select="1:ncpus=4", queue=q) for q in ("workq", "workq", "workq", "other", "other")]
    cx.set_sched("scheduling", "True")
    running = lambda: {j for j in jobs if cx.state(j) == "R"}
    until(lambda: len(running()) == 3, "three jobs run")
    assert running() == {jobs[0], jobs[3], jobs[4]}


def hours(begin_s, end_s):
    """A line of dedicated_time."""
    return " ".join(time.strftime("%m/%d/%Y %H:%M", time.localtime(t)) for t in (begin_s, end_s)) + "\n"


def test_in_dedicated_time_only_its_queues_run(cx, sim):
    cx.make_queue("ded_work")
    now = time.time()
    cx.configure_sched("", dedicated_time=hours(now - 3600, now + 36000))
    wait_comment(cx, sim.job(select="1:ncpus=1"), "Not Running: Dedicated time conflict")
    cx.wait(sim.job(select="1:ncpus=1", queue="ded_work", l_walltime="60"), "R")
    wait_comment(cx, sim.job(select="1:ncpus=1", queue="ded_work", l_walltime="100:00:00"),
                 "Not Running: Job would cross dedicated time boundary")


def test_what_waits_for_its_hours_runs_when_the_files_say_so(cx, sim):
    never = "YEAR 2999\nweekday none all\nsaturday none all\nsunday none all\n"
    cx.make_queue("p_day")
    cx.make_queue("np_night")
    cx.configure_sched("", holidays=never)
    day, night = sim.job(select="1:ncpus=1", queue="p_day"), sim.job(select="1:ncpus=1", queue="np_night")
    cx.wait(night, "R")
    wait_comment(cx, day, "Not Running: Job will run in primetime only")
    cx.configure_sched("", holidays="")
    cx.wait(day, "R")


def test_options_are_those_of_the_hours(cx, sim):
    cx.qmgr("set node s2 Priority = 10")
    text = 'node_sort_key: "sort_priority HIGH" prime\nnode_sort_key: "sort_priority LOW" non_prime\n'
    cx.configure_sched(text, holidays="YEAR 2999\nweekday all none\nsaturday all none\nsunday all none\n")
    assert place(cx, sim.job(select="1:ncpus=4")) == "(s2:ncpus=4)"
    cx.configure_sched(text, holidays="YEAR 2999\nweekday none all\nsaturday none all\nsunday none all\n")
    assert place(cx, sim.job(select="1:ncpus=1")) == "(s1:ncpus=1)"
