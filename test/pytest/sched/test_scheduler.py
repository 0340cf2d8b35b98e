"""Who runs, where, and what those who wait are told; on simulated nodes."""
import pytest

from harness import api, faults
from harness.ask import comment
from harness.exec_peer import START, Peer
from harness.sim import Simulator, starts_of
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)


@pytest.fixture
def sim(cx):
    with Simulator(cx, nodes=1, ncpus=4) as s:
        yield s


def wait_comment(cx, job, text):
    until(lambda: comment(cx, job) == text, lambda: f"comment {text!r}; it is {comment(cx, job)!r}")


def scheduling(cx, on):
    cx.set_sched("scheduling", "True" if on else "False")


def test_a_job_runs_where_there_is_room(cx, sim):
    job = sim.job(select="1:ncpus=2")
    assert cx.wait(job, "R")["exec_vnode"] == "(s1:ncpus=2)"


def test_a_waiting_job_says_why_in_the_words_of_pbs(cx, sim):
    cx.wait(sim.job(select="1:ncpus=3"), "R")
    waits = sim.job(select="1:ncpus=4")
    wait_comment(cx, waits, "Not Running: Insufficient amount of resource: ncpus (R: 4 A: 1 T: 4)")


def test_waiting_jobs_are_told_no_oftener_than_attr_update_period(cx, sim):
    cx.wait(sim.job(select="1:ncpus=3"), "R")
    cx.set_sched("attr_update_period", "3600")
    first = sim.job(select="1:ncpus=2")
    until(lambda: comment(cx, first), "a first telling")
    # A comment is shown before the scheduler has its answer, and until then the telling lasts. This request is answered when all that
    # went before is stored, and the scheduler reads answers and this question in their order.
    cx.set_server("comment", "stored")
    cx.api.explain(first)
    later = sim.job(select="1:ncpus=3")
    until(lambda: f"{later};Insufficient amount of resource: ncpus (R: 3 A: 1 T: 4)" in cx.log("sched"), "a decision")
    assert faults.stays(lambda: not comment(cx, later), 1)
    cx.set_sched("attr_update_period", "0")
    wait_comment(cx, later, "Not Running: Insufficient amount of resource: ncpus (R: 3 A: 1 T: 4)")


def test_job_run_wait_says_whether_a_scheduler_waits_for_hosts(cx):
    with Peer(cx, "s1") as peer:
        peer.hello()
        jobs = [cx.submit("true", select="1:ncpus=1")]
        peer.begin(events=0)
        jobs.append(cx.submit("true", select="1:ncpus=1"))
        peer.begin(events=0)  # the first has not begun yet
        cx.set_sched("job_run_wait", "execjob_hook")
        jobs.append(cx.submit("true", select="1:ncpus=1"))
        slow = peer.order(START).run
        jobs.append(cx.submit("true", select="1:ncpus=1"))
        assert faults.stays(lambda: peer.pump() and not [o for o in peer.orders if o.proc == START], 1)
        peer.say(peer.ready(slow), peer.started(slow))
        assert peer.order(START).id == jobs[-1]


def test_a_job_that_can_never_run_says_so(cx, sim):
    wait_comment(cx, sim.job(select="1:ncpus=9"),
                 "Can Never Run: Insufficient amount of resource: ncpus (R: 9 A: 4 T: 4)")


def test_a_job_starts_when_another_ends(cx, sim):
    first = sim.job(select="1:ncpus=4")
    second = sim.job(select="1:ncpus=4")
    cx.wait(first, "R")
    cx.api.delete(first)
    cx.wait(second, "R")


def test_queue_priority_then_job_priority_then_time(cx, sim):
    cx.make_queue("high", Priority="10")
    scheduling(cx, False)
    low = [sim.job(ms=1, select="1:ncpus=4") for _ in range(2)]
    high = [sim.job(ms=1, select="1:ncpus=4", queue="high") for _ in range(2)]
    urgent = sim.job(ms=1, select="1:ncpus=4", queue="high", Priority="5")
    scheduling(cx, True)
    assert starts_of(cx, low + high + [urgent]) == [urgent, *high, *low]


def test_nothing_starts_while_scheduling_is_off(cx, sim):
    scheduling(cx, False)
    job = sim.job()
    assert faults.stays(lambda: cx.state(job) == "Q", 0.5)
    scheduling(cx, True)
    cx.wait(job, "R")


def test_nothing_starts_from_a_queue_that_is_stopped(cx, sim):
    cx.set_queue("workq", "started", "False")
    job = sim.job()
    wait_comment(cx, job, "Not Running: Queue not started.")
    cx.set_queue("workq", "started", "True")
    cx.wait(job, "R")


def test_nothing_starts_on_a_node_that_is_offline(cx, sim):
    cx.api.manager(api.MSET, api.NODE, "s1", [("state", None, "offline")])
    job = sim.job()
    until(lambda: comment(cx, job).startswith("Not Running: "), "a reason")
    cx.api.manager(api.MUNSET, api.NODE, "s1", [("state", None, "offline")])
    cx.wait(job, "R")


def test_a_resource_that_is_made_later_is_counted(cx, sim):
    cx.api.manager(api.CREATE, api.RESOURCE, "tape", [("type", None, "long"), ("flag", None, "nh")])
    cx.api.manager(api.MSET, api.NODE, "s1", [("resources_available", "tape", "1")])
    first, second = (sim.job(select="1:ncpus=1:tape=1") for _ in range(2))
    cx.wait(first, "R")
    wait_comment(cx, second, "Not Running: Insufficient amount of resource: tape (R: 1 A: 0 T: 1)")


def test_chunks_are_scattered_over_hosts(cx):
    with Simulator(cx, nodes=3, ncpus=4) as sim:
        job = sim.job(select="2:ncpus=1", l_place="scatter")
        assert cx.wait(job, "R")["exec_vnode"] == "(s1:ncpus=1)+(s2:ncpus=1)"
        alone = sim.job(select="1:ncpus=1", l_place="excl")
        assert cx.wait(alone, "R")["exec_vnode"] == "(s3:ncpus=1)"
        assert "job-exclusive" in cx.node("s3").state
        shared = sim.job(select="1:ncpus=4")
        assert faults.stays(lambda: cx.state(shared) == "Q", 0.3)


def test_qrun_asks_the_scheduler_and_is_answered(cx, sim):
    scheduling(cx, False)
    job = sim.job(select="1:ncpus=1")
    cx.api.run(job)
    cx.wait(job, "R")
    large = sim.job(select="1:ncpus=9")
    with pytest.raises(api.PbsError) as e:
        cx.api.run(large)
    assert "Insufficient amount of resource: ncpus" in e.value.text


def test_qrun_runs_a_held_job_and_one_that_waits_for_its_time_as_if_they_were_queued(cx, sim):
    jobs = [sim.job(select="1:ncpus=1", Hold_Types="u"), sim.job(select="1:ncpus=1", Execution_Time="4102444800")]
    for job in jobs:
        cx.api.run(job)
        cx.wait(job, "R")
    assert cx.stat(jobs[0])["Hold_Types"] == "u"
    large = sim.job(select="1:ncpus=9", Hold_Types="u")
    with pytest.raises(api.PbsError) as e:
        cx.api.run(large)
    assert "Insufficient amount of resource: ncpus" in e.value.text and cx.state(large) == "H"
    assert faults.stays(lambda: cx.state(large) == "H", 0.2)


def test_a_new_scheduler_continues_where_the_killed_one_was(cx, sim):
    cx.wait(sim.job(select="1:ncpus=4"), "R")
    waits = sim.job(select="1:ncpus=1")
    cx.kill("sched")
    cx.restart("sched")
    wait_comment(cx, waits, "Not Running: Insufficient amount of resource: ncpus (R: 1 A: 0 T: 4)")


def test_the_scheduler_finds_a_restarted_server(cx, sim):
    cx.kill("server")
    cx.restart("server")
    cx.again()
    until(lambda: cx.node("s1").state == "free", "the simulated node")
    cx.wait(sim.job(), "R")


def test_ten_thousand_waiting_jobs_delay_no_request(cx):
    with Simulator(cx, nodes=1, ncpus=8) as sim:
        busy = [sim.job() for _ in range(8)]
        for job in busy:
            cx.wait(job, "R")
        attrs = [("Resource_List", "select", "1:ncpus=8"), ("Output_Path", None, "/tmp/o"),
                 ("Error_Path", None, "/tmp/e"), ("Variable_List", None, "PBS_O_WORKDIR=/,EXECSIM_MS=1")]
        tickets = [cx.api.submit_send(attrs, cx.script("true")) for _ in range(2000)]
        for ticket in tickets:
            cx.api.submit_recv(ticket)
        small = sim.job(select="1:ncpus=1")
        cx.api.delete(busy[0])
        cx.wait(small, "R")


def test_a_client_that_asked_to_run_a_job_is_answered_when_that_is_deleted(cx):
    with Simulator(cx, nodes=1, ncpus=1, die_ms=1500) as sim:
        cx.make_queue("express", Priority="200")
        cx.set_sched("preempt_order", "D")
        cx.wait(sim.job(queue="express"), "R")
        job = sim.job()
        asker = cx.connect()
        ticket = asker.call_send("runjob_send", job, None, None)
        until(lambda: "Type 202 request" in cx.log("server"), "the preemption")
        cx.api.delete(job)
        until(lambda: asker.ready(ticket), "the answer")
        with pytest.raises(api.PbsError):
            asker.recv(ticket)
        asker.close()


@pytest.mark.complex(nodes=1, ncpus=4)
def test_starts_alone_give_no_reason_for_another_cycle(cx):
    cx.set_server("scheduling", "False")
    jobs = [cx.submit("exec sleep 600", select="1:ncpus=4") for _ in range(3)]

    def cycles():
        return cx.log("sched").count("Starting Scheduling Cycle")
    before = cycles()
    cx.set_server("scheduling", "True")
    until(lambda: cx.stat(jobs[0])["substate"] == "42" and "Not Running" in cx.stat(jobs[2]).get("comment", ""), lambda: cx.describe(jobs[2]))
    after = cycles()
    assert after > before and faults.stays(lambda: cycles() == after, 1.5)
    assert after - before <= 2  # one of them may be that of the last submission
    cx.api.delete(jobs[0])
    until(lambda: cx.stat(jobs[1])["substate"] == "42", lambda: cx.describe(jobs[1]))
    assert cycles() == after + 1  # that it is ending frees nothing
