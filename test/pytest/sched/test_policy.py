"""What a site writes into sched_config and its neighbours, and placement sets: obeyed by the real scheduler."""
import time

import pytest

from harness.ask import comment
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)


@pytest.fixture
def sim(cx):
    with Simulator(cx, nodes=3, ncpus=4) as s:
        yield s


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


def test_a_vnode_takes_no_more_jobs_than_it_may(cx, sim):
    for node, limit in (("s1", "max_running = 1"), ("s2", "max_user_run = 1"), ("s3", "max_group_run = 1")):
        cx.qmgr(f"set node {node} {limit}")
    jobs = [sim.job(select="1:ncpus=1") for _ in range(4)]
    assert [place(cx, job) for job in jobs[:3]] == ["(s1:ncpus=1)", "(s2:ncpus=1)", "(s3:ncpus=1)"]
    wait_comment(cx, jobs[3], "Not Running: Node has reached ")  # which of the three is named is not said
    cx.api.delete(jobs[1])
    assert place(cx, jobs[3]) == "(s2:ncpus=1)"


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


def test_a_job_that_waits_for_prime_time_runs_when_the_files_say_so(cx, sim):
    never = "YEAR 2999\nweekday none all\nsaturday none all\nsunday none all\n"
    cx.make_queue("p_day")
    cx.make_queue("np_night")
    cx.configure_sched("", holidays=never)
    day, night = sim.job(select="1:ncpus=1", queue="p_day"), sim.job(select="1:ncpus=1", queue="np_night")
    cx.wait(night, "R")
    wait_comment(cx, day, "Not Running: Job will run in primetime only")
    cx.configure_sched("", holidays="")
    cx.wait(day, "R")


@pytest.fixture
def licences(cx, tmp_path):
    """A resource of which a script says how much there is, and the file that it reads."""
    amount, script = tmp_path / "amount", tmp_path / "script"
    script.write_text(f"#!/bin/sh\ncat {amount}\n")
    script.chmod(0o700)
    amount.write_text("0\n")
    cx.qmgr("create resource lic type=long")
    cx.configure_sched(f'server_dyn_res: "lic !{script} some words"\n')
    # The cycle that begins with the new files is over its questions, so what a test changes is for the next one.
    until(lambda: "lic = 0 (" in cx.log("sched"), "the first answer of the script")
    return amount


def cycle(cx):
    cx.set_sched("scheduling", "True")


def test_a_script_says_how_much_there_is(cx, sim, licences):
    job = sim.job(select="1:ncpus=1", l_lic="3")
    wait_comment(cx, job, "Can Never Run: Insufficient amount of server resource: lic (R: 3 A: 0 T: 0)")
    cx.wait(sim.job(select="1:ncpus=1"), "R")
    licences.write_text("5\nnobody reads this\n")
    cycle(cx)
    cx.wait(job, "R")


def test_a_script_that_fails_gives_no_value_and_delays_no_job(cx, sim, licences):
    licences.write_text("many\n")
    job = sim.job(select="1:ncpus=1", l_lic="1")
    wait_comment(cx, job, "Can Never Run: Insufficient amount of server resource: lic")
    until(lambda: "returned bad output" in cx.log("sched"), "bad output in the log")
    script = licences.parent / "script"
    script.write_text("#!/bin/sh\nsleep 600\n")
    cx.set_sched("server_dyn_res_alarm", "1")
    cx.wait(sim.job(select="1:ncpus=1"), "R")
    until(lambda: "timed out" in cx.log("sched"), "a time-out in the log")
    script.write_text("#!/bin/sh\necho 1\n")
    cycle(cx)
    cx.wait(job, "R")


@pytest.mark.parametrize("spoil", ["script", "."])
def test_a_script_that_others_may_write_to_or_replace_is_not_run(cx, sim, licences, spoil):
    licences.write_text("5\n")
    mode = (licences.parent / spoil).stat().st_mode
    (licences.parent / spoil).chmod(0o777)
    job = sim.job(select="1:ncpus=1", l_lic="1")
    wait_comment(cx, job, "Can Never Run: Insufficient amount of server resource: lic")
    cx.wait_log("sched", "non-secure file access")
    (licences.parent / spoil).chmod(mode)
    cycle(cx)
    cx.wait(job, "R")


def test_options_are_those_of_the_hours(cx, sim):
    cx.qmgr("set node s2 Priority = 10")
    text = 'node_sort_key: "sort_priority HIGH" prime\nnode_sort_key: "sort_priority LOW" non_prime\n'
    cx.configure_sched(text, holidays="YEAR 2999\nweekday all none\nsaturday all none\nsunday all none\n")
    assert place(cx, sim.job(select="1:ncpus=4")) == "(s2:ncpus=4)"
    cx.configure_sched(text, holidays="YEAR 2999\nweekday none all\nsaturday none all\nsunday none all\n")
    assert place(cx, sim.job(select="1:ncpus=1")) == "(s1:ncpus=1)"


def test_an_option_for_what_cede_does_not_have_says_so(cx):
    cx.configure_sched('peer_queue: "workq workq@elsewhere"\n')
    until(lambda: "peer_queue does nothing: jobs of other servers come by their route queues and qmove" in
          cx.log("sched"), "the scheduler's word on peer_queue")
