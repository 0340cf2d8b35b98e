"""An urgent job and those who give way: decided by the scheduler, carried out by the server; simulated nodes."""
import pytest

from harness import faults
from harness.mom_priv import configure, script
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)


def express(cx, order):
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", order)


def up(cx, job):
    until(lambda: (cx.stat(job) or {}).get("substate") == "42", "the job to be up")


def used(cx, node="s1"):
    return int(cx.node(node)["resources_assigned"]["ncpus"])


def sched_log(cx):
    return cx.log("sched")


@pytest.fixture
def sim(cx):
    with Simulator(cx, nodes=1, ncpus=2) as s:
        yield s


@pytest.mark.parametrize("order, state, said", [
    ("S", "S", "Job preempted by suspension"),
    ("R", "Q", "Job preempted by requeuing"),
    ("D", None, "Job preempted by deletion"),
    ("CR", "Q", "Job preempted by requeuing"),
])
def test_the_latest_start_gives_way_by_the_first_method_that_works(cx, sim, order, state, said):
    express(cx, order)
    old, new = sim.job(), sim.job()
    for job in (old, new):
        until(lambda: (cx.stat(job) or {}).get("substate") == "42", "the job to be up")
    urgent = sim.job(queue="express")
    cx.wait(urgent, "R")
    assert [cx.state(old), cx.state(new)] == ["R", state]
    until(lambda: f"{new};{said}" in sched_log(cx), said)


def test_a_suspended_job_resumes_when_the_urgent_job_ends(cx, sim):
    express(cx, "S")
    low = sim.job(select="1:ncpus=2")
    cx.wait(low, "R")
    urgent = sim.job(queue="express", select="1:ncpus=2")
    cx.wait(urgent, "R")
    later = sim.job(select="1:ncpus=2")
    assert cx.state(low) == "S"
    until(lambda: cx.stat(later).get("comment", "").startswith("Not Running: "), "the comments of the cycle")
    assert cx.stat(low)["comment"] == f"Suspended for {urgent}"
    cx.api.delete(urgent)
    cx.wait(low, "R")
    assert cx.stat(low)["comment"].startswith("Job run at ")
    assert cx.state(later) == "Q"


@pytest.mark.parametrize("array", [False, True])
def test_a_job_that_is_moved_to_an_urgent_queue_preempts(cx, sim, array):
    express(cx, "S")
    low = sim.job(select="1:ncpus=2")
    up(cx, low)
    job = sim.job(select="1:ncpus=2", **({"array_indices_submitted": "1-3"} if array else {}))
    until(lambda: cx.stat(job).get("comment"), "the reason why it waits")
    assert cx.state(low) == "R"
    cx.api.move(job, "express")
    cx.wait(low, "S")
    cx.wait(job, "B" if array else "R")


def test_equal_jobs_do_not_preempt_each_other(cx, sim):
    express(cx, "D")
    first = sim.job(queue="express", select="1:ncpus=2")
    cx.wait(first, "R")
    second = sim.job(queue="express", select="1:ncpus=2")
    assert faults.stays(lambda: cx.state(second) == "Q" and cx.state(first) == "R", 0.5)


def test_no_job_is_preempted_when_that_would_not_be_enough(cx, sim):
    express(cx, "D")
    low = sim.job()
    cx.wait(low, "R")
    cx.wait(sim.job(queue="express"), "R")
    large = sim.job(queue="express", select="1:ncpus=2")
    assert faults.stays(lambda: cx.state(low) == "R" and cx.state(large) == "Q", 0.5)


def test_while_victims_die_other_jobs_start_and_their_room_is_kept(cx):
    with Simulator(cx, nodes=2, ncpus=2) as sim:
        express(cx, "D")
        victim = sim.job(select="1:ncpus=2:host=s1")
        other = sim.job(select="1:ncpus=2:host=s2")
        cx.wait(victim, "R")
        cx.wait(other, "R")
        with faults.frozen(sim.process.pid):  # so the victim is dying until the test has seen enough
            urgent = sim.job(queue="express", select="1:ncpus=2:host=s1")
            fillers = [sim.job(select="1:ncpus=1") for _ in range(2)]
            until(lambda: "Type 202 request" in cx.log("server"), "the preemption")
            cx.api.delete(other, "force")
            for job in fillers:  # they start beside the dying victim, not on its vnode
                assert cx.wait(job, "R", begun=False)["exec_vnode"] == "(s2:ncpus=1)"
            assert cx.state(urgent) == "Q"
        assert cx.wait(urgent, "R")["exec_vnode"] == "(s1:ncpus=2)"
        assert cx.state(victim) is None


def test_the_urgent_job_never_starts_before_its_victims_have_stopped(cx):
    with Simulator(cx, nodes=1, ncpus=4, die_ms=400) as sim:
        express(cx, "R")
        low = [sim.job() for _ in range(4)]
        for job in low:
            cx.wait(job, "R")
        urgent = sim.job(queue="express", select="1:ncpus=4")
        until(lambda: used(cx) <= 4 and cx.state(urgent) == "R", "the urgent job")
        assert used(cx) == 4
        assert [cx.state(job) for job in low] == ["Q"] * 4


def test_a_victim_that_its_owner_deletes_counts_as_deleted(cx):
    with Simulator(cx, nodes=1, ncpus=1, die_ms=1000) as sim:
        express(cx, "R")
        victim = sim.job()
        cx.wait(victim, "R")
        urgent = sim.job(queue="express")
        until(lambda: "Type 202 request" in cx.log("server"), "the preemption")
        cx.api.delete(victim)
        cx.wait(urgent, "R")
        assert cx.state(victim) is None


def test_an_urgent_job_that_goes_away_leaves_the_room_to_others(cx):
    with Simulator(cx, nodes=1, ncpus=1, die_ms=700) as sim:
        express(cx, "D")
        victim = sim.job()
        cx.wait(victim, "R")
        waits = sim.job()
        urgent = sim.job(queue="express")
        until(lambda: "Type 202 request" in cx.log("server"), "the preemption")
        cx.api.delete(urgent)
        cx.wait(waits, "R")


@pytest.mark.parametrize("daemon", ["sched", "server"])
@pytest.mark.parametrize("order", ["S", "R", "D"])
def test_a_preemption_survives_the_death_of_a_daemon(cx, order, daemon):
    with Simulator(cx, nodes=1, ncpus=2, die_ms=800) as sim:
        express(cx, order)
        low = [sim.job(ms=3000) for _ in range(2)]
        for job in low:
            cx.wait(job, "R")
        urgent = sim.job(ms=1, queue="express", select="1:ncpus=2")
        until(lambda: "Type 202 request" in cx.log("server"), "the preemption")
        cx.kill(daemon)
        cx.restart(daemon)
        cx.again()
        for job in (urgent, *low):
            cx.wait_gone(job)
        assert used(cx) == 0


def test_qrun_stops_whom_it_must(cx, sim):
    express(cx, "R")
    running = sim.job(queue="express", select="1:ncpus=2")
    cx.wait(running, "R")
    low = sim.job(select="1:ncpus=2")
    cx.api.run(low)
    # there is room for one; the express job may come back at the very next cycle
    until(lambda: cx.stat(low).run_count == 1, "the start of the job asked for")


def test_preempt_targets_limit_whom_a_job_may_stop(cx, sim):
    express(cx, "D")
    cx.make_queue("spare")
    spare = sim.job(queue="spare")
    cx.wait(spare, "R")
    low = sim.job()
    cx.wait(low, "R")
    cx.wait(sim.job(queue="express", l_preempt_targets="queue=spare"), "R")
    assert [cx.state(spare), cx.state(low)] == [None, "R"]
    never = sim.job(queue="express", l_preempt_targets="NONE")
    assert faults.stays(lambda: cx.state(never) == "Q" and cx.state(low) == "R", 0.4)


def test_no_node_is_ever_oversubscribed(cx):
    """Many urgent and ordinary jobs at once, all methods: what is assigned never exceeds what there is."""
    with Simulator(cx, nodes=4, ncpus=4, die_ms=20) as sim:
        express(cx, "SCRD 50 R")
        cx.make_queue("higher", Priority="300")
        for i in range(60):
            sim.job(ms=150 + 7 * i, select=f"1:ncpus={1 + i % 4}")
            if i % 3 == 0:
                sim.job(ms=60, queue="express", select=f"{1 + i % 2}:ncpus={1 + i % 3}")
            if i % 7 == 0:
                sim.job(ms=30, queue="higher", select="4:ncpus=4", l_place="scatter")
            for n in cx.api.stat("vnode"):
                assert int(n["resources_assigned"]["ncpus"]) <= 4
        until(lambda: not cx.api.select(), "the end of all jobs")
        for n in cx.api.stat("vnode"):
            assert int(n["resources_assigned"]["ncpus"]) == 0


@pytest.mark.complex(nodes=1, ncpus=2, history=True)
def test_history_tells_a_job_deleted_by_preemption_from_a_killed_one(cx):
    """Also when only the store knows the job any more."""
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", "D")
    victim = cx.submit("sleep 600", select="1:ncpus=2")
    cx.wait(victim)
    urgent = cx.submit("sleep 600", queue="express", select="1:ncpus=2")
    cx.wait(urgent)
    for _ in range(2):
        s = cx.stat(victim, "x")
        assert (s["preempt_method"], s["preempted_by"], s["preempt_count"]) == ("D", urgent, "1")
        cx.crash_server()


def test_a_filler_that_would_keep_a_preempted_job_waiting_does_not_start(cx):
    """Only one that ends before the preempted job could go on; with the attribute off any one does."""
    with Simulator(cx, nodes=1, ncpus=3) as sim:
        express(cx, "S")
        cx.set_sched("sched_preempt_enforce_resumption", "True")
        low = sim.job(select="1:ncpus=3", l_walltime="5:00")
        up(cx, low)
        urgent = sim.job(queue="express", select="1:ncpus=1", l_walltime="100")
        cx.wait(urgent, "R")
        long, endless = sim.job(l_walltime="200"), sim.job()
        for job in (long, endless):
            until(lambda: cx.stat(job).get("comment") ==
                  "Not Running: Job would conflict with reservation or top job", lambda: cx.describe(job))
        cx.wait_gone(sim.job(ms=1, l_walltime="50"))
        cx.api.delete(urgent)
        cx.wait(low, "R")
        assert cx.state(long) == "Q"
        cx.api.delete(low)
        cx.wait(long, "R")


@pytest.mark.complex(nodes=2, ncpus=1)
def test_an_urgent_job_goes_where_room_comes_free_before_its_victim_has_gone(cx):
    """Told and not yet requeued, the victim runs on; the room is the urgent job's before others in the queue."""
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", "R")
    cx.set_sched("preempt_grace", "3600")
    jobs = [cx.submit(), cx.submit()]
    for job in jobs:
        up(cx, job)
    waits, urgent = cx.submit(), cx.submit(queue="express")
    victim = until(lambda: [j for j in jobs if "preempt_deadline" in cx.stat(j)], "the notice", 60)[0]
    other = jobs[1 - jobs.index(victim)]
    cx.api.delete(other)
    cx.wait(urgent, "R")
    until(lambda: not {"gives_way", "preempt_deadline"} & set(cx.stat(victim)), lambda: cx.describe(victim))
    assert cx.state(victim) == "R" and cx.stat(victim)["run_count"] == "1"
    assert "preempt_count" not in cx.stat(victim) and cx.state(waits) == "Q"


@pytest.mark.complex(nodes=1, ncpus=2)
def test_a_job_that_could_not_be_preempted_is_tried_again_once_it_is_altered(cx):
    tool = script(cx, "save", "exit 1")
    configure(cx, f"$action checkpoint_abort 30 !{tool}")
    express(cx, "CR")
    old = cx.submit(Rerunable="False")
    up(cx, old)
    new = cx.submit(Rerunable="False")
    up(cx, new)
    urgent = cx.submit(queue="express")
    for job in (new, old):
        until(lambda: f"{job};Job failed to be preempted" in sched_log(cx), lambda: cx.describe(job))
    assert [cx.state(j) for j in (old, new, urgent)] == ["R", "R", "Q"]
    cx.api.alter(new, [("Rerunable", "True")])
    cx.wait(urgent, "R")
    assert [cx.state(j) for j in (old, new)] == ["R", "Q"]
