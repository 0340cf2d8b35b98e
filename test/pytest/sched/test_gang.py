"""Time slices: jobs of queues with gang take turns on the same vnodes."""
import pytest

from harness import api, faults
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)

MIB = 1024


def shared(cx, name="shared", slice_s=1, **attrs):
    cx.make_queue(name, gang="True", gang_timeslice=str(slice_s), **attrs)


def up(cx, job):
    until(lambda: (cx.stat(job) or {}).get("substate") == "42", lambda: f"{job} to be up: {cx.describe(job)}")


def states(cx, *jobs):
    """All at one moment: a turn may be over at the next."""
    now = {j.name: j.state for j in cx.api.stat("job")}
    return [now.get(j) for j in jobs]


def wait_states(cx, jobs, letters):
    until(lambda: states(cx, *jobs) == letters, lambda: f"{jobs} to be {letters}; they are {states(cx, *jobs)}")


def order_of_turns(cx):
    """For whom others were suspended, one after the other."""
    lines = cx.log("sched").splitlines()
    return [line.split()[-1] for line in lines if ";Turn is over: suspended for job " in line]


def turns(cx, job):
    """How often the job was suspended at the end of a turn."""
    return cx.log("sched").count(f";{job};Turn is over: suspended for job ")


def kb(cx, name="mem", node="s1"):
    return int(cx.node(node)["resources_assigned"][name].removesuffix("kb"))


@pytest.fixture
def sim(cx):
    with Simulator(cx, nodes=1, ncpus=1, mem="4gb") as s:
        yield s


def test_two_jobs_take_turns_and_both_finish(cx, sim):
    shared(cx)
    jobs = [sim.job(ms=3500, queue="shared", select="1:ncpus=1:mem=1gb") for _ in range(2)]
    for job in jobs:
        cx.wait_gone(job)
    assert turns(cx, jobs[0]) >= 1 and turns(cx, jobs[1]) >= 1
    assert kb(cx, "ncpus") == 0 and kb(cx) == 0


def test_the_comment_says_that_a_job_waits_for_its_turn(cx, sim):
    shared(cx, slice_s=1000)
    up(cx, sim.job(queue="shared"))
    waits = sim.job(queue="shared")
    until(lambda: cx.stat(waits).get("comment") ==
          "Not Running: time slice: waits for its turn, turns last 1000 seconds", "the comment")


def test_the_scheduler_says_how_long_a_turn_is_where_the_queue_does_not(cx, sim):
    cx.make_queue("shared", gang="True")
    up(cx, sim.job(queue="shared"))
    waits = sim.job(queue="shared")
    until(lambda: "last 30 seconds" in cx.stat(waits).get("comment", ""), "the default")
    cx.set_sched("gang_timeslice", "1")
    cx.wait(waits, "R")


def test_of_several_each_has_its_turn_in_order(cx, sim):
    shared(cx)
    cx.set_sched("scheduling", "False")  # turns begin when all four are there
    jobs = [sim.job(queue="shared") for _ in range(4)]
    cx.set_sched("scheduling", "True")

    def turned():
        assert states(cx, *jobs).count("R") <= 1
        return len(order_of_turns(cx)) >= 6
    until(turned, "six turns")
    assert order_of_turns(cx)[:6] == (jobs + jobs)[1:7]


def test_memory_of_suspended_jobs_is_counted_and_no_job_is_stopped_where_it_would_not_fit(cx, sim):
    shared(cx)
    jobs = [sim.job(queue="shared", select="1:ncpus=1:mem=2gb") for _ in range(2)]
    cx.wait(jobs[1], "R")
    assert kb(cx) == 4 * MIB * MIB
    third = sim.job(queue="shared", select="1:ncpus=1:mem=1gb")
    until(lambda: cx.stat(third).get("comment", "").startswith("Not Running: "), "a reason")
    cx.wait(jobs[0], "R")
    cx.wait(jobs[1], "R")
    assert cx.stat(third).run_count == 0
    cx.api.delete(jobs[0])
    cx.wait(third, "R")


def test_jobs_of_other_queues_neither_stop_nor_are_stopped(cx, sim):
    shared(cx)
    other = sim.job()
    up(cx, other)
    waits = sim.job(queue="shared")
    assert faults.stays(lambda: cx.state(other) == "R" and cx.state(waits) == "Q", 1.5)


def test_a_higher_queue_stops_lower_ones_at_once_and_until_it_is_done(cx, sim):
    shared(cx, "low")
    shared(cx, "high", Priority="20")
    low = sim.job(queue="low")
    up(cx, low)
    cx.set_queue("low", "gang_timeslice", "1000")
    high = sim.job(queue="high")
    cx.wait(high, "R")
    until(lambda: "waits for jobs of queue high" in cx.stat(low).get("comment", ""), "the shadow")
    assert faults.stays(lambda: cx.state(low) == "S" and cx.state(high) == "R", 1.5)
    assert "preempted_by" not in cx.stat(low)
    cx.api.delete(high)
    cx.wait(low, "R")


def test_jobs_that_want_a_vnode_alone_take_turns_too(cx):
    with Simulator(cx, nodes=1, ncpus=4) as sim:
        shared(cx)
        jobs = [sim.job(queue="shared", select="1:ncpus=1", l_place="excl") for _ in range(2)]
        for _ in range(2):
            wait_states(cx, jobs, ["R", "S"])
            until(lambda: cx.node("s1").state == "job-exclusive", "the vnode to be in exclusive use")
            wait_states(cx, jobs, ["S", "R"])


def test_a_job_on_several_hosts_takes_turns_with_small_ones(cx):
    with Simulator(cx, nodes=2, ncpus=1) as sim:
        shared(cx)
        wide = sim.job(queue="shared", select="2:ncpus=1")
        up(cx, wide)
        small = [sim.job(queue="shared") for _ in range(2)]
        wait_states(cx, [wide, *small], ["S", "R", "R"])
        wait_states(cx, [wide, *small], ["R", "S", "S"])


def test_an_urgent_job_preempts_the_job_whose_turn_it_is_and_all_resume_afterwards(cx, sim):
    shared(cx)
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", "S")
    jobs = [sim.job(queue="shared") for _ in range(2)]
    cx.wait(jobs[1], "R")
    up(cx, jobs[1])
    urgent = sim.job(queue="express")
    cx.wait(urgent, "R")
    assert faults.stays(lambda: states(cx, urgent, *jobs) == ["R", "S", "S"], 1.5)
    assert [("preempted_by" in cx.stat(j)) for j in jobs].count(True) == 1
    cx.api.delete(urgent)
    for job in jobs + jobs:
        cx.wait(job, "R")


@pytest.mark.parametrize("daemon", ["sched", "server"])
def test_turns_continue_after_the_death_of_a_daemon(cx, sim, daemon):
    shared(cx)
    jobs = [sim.job(queue="shared", select="1:ncpus=1:mem=1gb") for _ in range(2)]
    cx.wait(jobs[1], "R")
    cx.kill(daemon)
    cx.restart(daemon)
    cx.again()
    assert kb(cx) == 2 * MIB * MIB and int(cx.node("s1")["resources_assigned"]["ncpus"]) <= 1
    for _ in range(2):
        wait_states(cx, jobs, ["R", "S"])
        wait_states(cx, jobs, ["S", "R"])


def test_no_turn_begins_before_the_other_job_is_stopped(cx):
    """No vnode has more than it can give at any instant, while turns, ends and urgent jobs come as they like."""
    with Simulator(cx, nodes=3, ncpus=2) as sim:
        shared(cx)
        shared(cx, "high", Priority="20")
        cx.make_queue("express", Priority="200")
        jobs = [sim.job(ms=500 + 90 * i, queue=("shared", "high")[i % 3 == 0], select=f"{1 + i % 2}:ncpus={1 + i % 2}")
                for i in range(12)]
        jobs += [sim.job(ms=300, queue="express", select="1:ncpus=2") for _ in range(2)]

        def over():
            for n in cx.api.stat("vnode"):
                assert int(n["resources_assigned"]["ncpus"]) <= 2
            return not cx.api.select()
        until(over, "the end of all jobs")


@pytest.mark.parametrize("name, value", [("gang_timeslice", "0"), ("gang_timeslice", "soon"), ("gang", "perhaps")])
def test_bad_values_are_refused(quiet, name, value):
    with pytest.raises(api.PbsError) as e:
        quiet.set_queue("workq", name, value)
    assert e.value.code == 15014


# --- real processes
@pytest.mark.complex(nodes=1, ncpus=1)
def test_processes_of_two_jobs_never_run_at_the_same_time(cx):
    shared(cx)
    busy = "while :; do date +%s.%N >>{}; sleep 0.01; done"
    jobs = [cx.submit(busy.format(f"{cx.work}/{name}"), queue="shared") for name in ("a", "b")]
    for name in ("a", "b"):
        until(lambda n=name: cx.file(n), f"the first stamp of {name}")
    for job in jobs + jobs:
        cx.wait(job, "R")
    for job in jobs:
        cx.api.delete(job)
    for job in jobs:
        cx.wait_gone(job)
    stamps = sorted((float(t), name) for name in ("a", "b") for t in cx.file(name).split())
    changes = sum(x[1] != y[1] for x, y in zip(stamps, stamps[1:]))
    assert 3 <= changes <= turns(cx, jobs[0]) + turns(cx, jobs[1]) + 1


@pytest.mark.complex(nodes=1, ncpus=1)
def test_a_turn_survives_the_death_of_the_mom(cx):
    shared(cx)
    jobs = [cx.submit(queue="shared") for _ in range(2)]
    cx.wait(jobs[1], "R")
    cx.kill("n1")
    cx.restart("n1")
    for job in (jobs[0], jobs[1]):
        cx.wait(job, "R")


@pytest.mark.complex(nodes=1, ncpus=1)
@pytest.mark.parametrize("daemon", ["sched", "server", None])
def test_no_job_is_lost_when_a_daemon_dies_during_a_change_of_turns(cx, daemon):
    """One is being suspended for the other; the MOM stands still at that moment. Without a death the other one goes."""
    shared(cx, slice_s=2)
    first = cx.submit(queue="shared")
    up(cx, first)
    with faults.daemon_frozen(cx, "n1"):
        second = cx.submit(queue="shared")
        until(lambda: f"{first};suspend job by " in cx.log("server"), "the end of the turn")
        if daemon:
            cx.kill(daemon)
            cx.restart(daemon)
            cx.again()
        else:
            cx.api.delete(second)
            cx.wait_gone(second)
    if not daemon:
        second = cx.submit(queue="shared")
    for job in (first, second, first):
        cx.wait(job, "R")
    assert cx.node("n1")["resources_assigned"]["ncpus"] == "1"


def test_subjobs_take_turns_with_each_other(cx, sim):
    shared(cx)
    array = sim.job(queue="shared", ms=2500, array_indices_submitted="0-2")
    cx.wait_gone(array)
    assert sum(turns(cx, array.replace("[]", f"[{i}]")) for i in range(3)) >= 2


def test_a_suspended_job_that_is_held_or_rerun_gives_its_memory_back(cx, sim):
    shared(cx)
    jobs = [sim.job(queue="shared", select="1:ncpus=1:mem=2gb") for _ in range(2)]
    cx.wait(jobs[1], "R")
    cx.api.hold(jobs[0], "u")
    cx.api.rerun(jobs[0])
    cx.wait(jobs[0], "H")
    until(lambda: kb(cx) == 2 * MIB * MIB, "the memory")
    cx.wait(jobs[1], "R")
    cx.api.release(jobs[0], "u")
    cx.wait(jobs[0], "R")


def test_a_queue_that_is_shared_no_more_lets_everybody_end(cx, sim):
    shared(cx)
    jobs = [sim.job(queue="shared", ms=4000) for _ in range(2)]
    wait_states(cx, jobs, ["S", "R"])
    cx.set_queue("shared", "gang", "False")
    for job in jobs:
        cx.wait_gone(job)
