"""pbs_preempt_jobs on real jobs: the reply says what is true, and not before it is (doc/preemption.md)."""
import contextlib
import os
import signal

import pytest

from harness import api, faults, work
from harness.complex import Complex
from harness.wait import until

IGNORES_TERM = "trap '' TERM; while :; do sleep 0.1; done"
GONE = 15001  # PBSE_UNKJOBID


@pytest.fixture(scope="module")
def idle():
    """Two nodes and no scheduler: the tests register as it, run and preempt themselves."""
    c = Complex(nodes=2, ncpus=4, sched=False)
    try:
        c.start()
        c.api.manager(api.MSET, api.QUEUE, "workq", [("kill_delay", None, "1")])
        yield c
    finally:
        c.stop()


@pytest.fixture
def pre(idle):
    idle.clean()
    for name in os.listdir(idle.work):
        if name.endswith((".log", ".pid")):
            os.unlink(os.path.join(idle.work, name))
    return idle


@contextlib.contextmanager
def scheduler(cx, order):
    """A connection that is the scheduler "default", with this preempt_order."""
    cx.api.manager(api.MSET, api.SCHED, "default", [("preempt_order", None, order)])
    c = cx.connect()
    try:
        c.register()
        yield c
    finally:
        c.close()


def running(cx, text="sleep 600", name="job", where="(n1:ncpus=1)", **kw):
    """A job whose script has begun."""
    job = work.submit(cx, text, name, **kw)
    cx.api.run(job, where)
    cx.wait(job, "R")
    until(lambda: work.pid(cx, name), f"the script of {job}")
    return job


def used(cx, node="n1"):
    return int(cx.node(node).get("resources_assigned", {}).get("ncpus", 0))


def unknown(cx, job):
    """Neither a job nor history."""
    with pytest.raises(api.PbsError) as e:
        cx.api.stat("job", job)
    return e.value.code == GONE


# --- the three methods ------------------------------------------------------------------------------------

def test_a_suspended_job_is_stopped_and_its_cpus_are_free_when_S_is_answered(pre):
    job = running(pre, "while :; do echo . >> tick.log; sleep 0.02; done")
    until(lambda: pre.file("tick.log"), "the first tick")
    with scheduler(pre, "S") as s:
        assert s.preempt([job]) == [(job, "S")]
        assert pre.state(job) == "S" and pre.stat(job)["substate"] == "45" and used(pre) == 0
        ticks = pre.file("tick.log")
        assert faults.stays(lambda: pre.file("tick.log") == ticks, 0.2)
    pre.api.signal(job, "resume")
    pre.wait(job, "R")
    until(lambda: pre.file("tick.log") != ticks, "the job goes on")
    assert work.starts(pre) == 1 and used(pre) == 1


def test_a_requeued_job_is_queued_and_its_process_dead_when_Q_is_answered(pre):
    job = running(pre)
    pid = work.pid(pre)
    with scheduler(pre, "R") as s:
        assert s.preempt([job]) == [(job, "Q")]
    status = pre.stat(job)
    assert status.state == "Q" and status.run_count == 1 and "exec_vnode" not in status
    assert "Job run at" not in status.get("comment", "")
    assert not faults.is_alive(pid) and used(pre) == 0


def test_a_requeued_job_runs_again_from_its_beginning(pre):
    job = running(pre)
    with scheduler(pre, "R") as s:
        s.preempt([job])
    pre.api.run(job, "(n2:ncpus=1)")
    until(lambda: work.starts(pre) == 2, "the second start")
    assert pre.wait(job, "R").run_count == 2


def test_a_deleted_job_is_unknown_and_its_process_dead_when_D_is_answered(pre):
    job = running(pre)
    pid = work.pid(pre)
    with scheduler(pre, "D") as s:
        assert s.preempt([job]) == [(job, "D")]
        assert unknown(pre, job)
    assert not faults.is_alive(pid) and used(pre) == 0



@pytest.mark.parametrize("order, code", [("SR", "S"), ("CS", "S"), ("CR", "Q"), ("CD", "D"), ("C", "000")])
def test_the_first_letter_that_works_is_used(pre, order, code):
    job = running(pre)
    with scheduler(pre, order) as s:
        assert s.preempt([job]) == [(job, code)]


@pytest.mark.parametrize("order, code", [("R", "000"), ("RS", "S"), ("RD", "D")])
def test_a_job_that_is_not_rerunable_is_not_requeued(pre, order, code):
    job = running(pre, options=("-r", "n"))
    with scheduler(pre, order) as s:
        assert s.preempt([job]) == [(job, code)]
    assert code != "000" or (pre.state(job) == "R" and work.starts(pre) == 1 and used(pre) == 1)


@pytest.mark.parametrize("left, code", [("00:00:10", "S"), ("10:00:00", "Q")])
def test_the_letters_follow_the_time_that_is_left(pre, left, code):
    """With "R 99 S" a job is requeued only while 99 percent of its time are left: after 1 s not of 10 s."""
    job = running(pre, "sleep 1.3; echo late > late.log; sleep 600", options=("-l", f"walltime={left}"))
    until(lambda: pre.file("late.log"), "more than a second of walltime")
    with scheduler(pre, "R 99 S") as s:
        assert s.preempt([job]) == [(job, code)]


@pytest.mark.parametrize("limit, code", [("00:00:50", "S"), ("100:00:00", "Q")])
def test_the_letters_follow_cput_where_a_job_has_no_walltime(pre, limit, code):
    """With "R 98 S": two seconds of processor time are more than 2 percent of 50 s, and nothing of 100 hours."""
    burn = "import time\nwhile time.process_time() < 2.5: pass"
    job = running(pre, f"python3 -c '{burn}'; echo burnt > burnt.log; sleep 600", options=("-l", f"cput={limit}"))
    until(lambda: pre.file("burnt.log"), "some processor time", 120)
    until(lambda: pre.stat(job)["resources_used"]["cput"] >= "00:00:02", lambda: pre.describe(job), 120)
    with scheduler(pre, "R 98 S") as s:
        assert s.preempt([job]) == [(job, code)]


@pytest.mark.parametrize("order, code", [("R", "Q"), ("D", "D")])
def test_a_suspended_job_can_still_be_taken_away(pre, order, code):
    job = running(pre)
    pid = work.pid(pre)
    with scheduler(pre, "S") as s:
        s.preempt([job])
    with scheduler(pre, order) as s:
        assert s.preempt([job]) == [(job, code)]
    assert not faults.is_alive(pid)


def test_a_job_that_is_suspended_already_has_given_way(pre):
    job = running(pre)
    with scheduler(pre, "S") as s:
        assert s.preempt([job]) == s.preempt([job]) == [(job, "S")]
    assert pre.state(job) == "S" and used(pre) == 0


def test_jobs_that_do_not_run_are_answered_at_once(pre):
    queued, held = work.submit(pre), work.submit(pre, options=("-h",))
    with scheduler(pre, "SRD") as s:
        codes = dict(s.preempt([queued, held, "999999"]))
    assert codes == {queued: "Q", held: "000", "999999": "D"}


def test_the_answer_lists_the_jobs_in_order_of_completion(pre):
    slow = running(pre, IGNORES_TERM, "slow")
    quick = running(pre, name="quick", where="(n2:ncpus=1)")
    with scheduler(pre, "D") as s:
        assert s.preempt([slow, quick]) == [(quick, "D"), (slow, "D")]


def test_many_victims_in_one_request_each_have_their_slot(pre):
    jobs = [running(pre, name=f"v{i}", where=f"(n{1 + i % 2}:ncpus=1)") for i in range(8)]
    with scheduler(pre, "R") as s:
        assert sorted(s.preempt(jobs)) == sorted((j, "Q") for j in jobs)
    assert used(pre, "n1") == used(pre, "n2") == 0


def test_only_a_scheduler_may_preempt(pre):
    job = running(pre)
    with pytest.raises(api.PbsError):
        pre.api.preempt([job])
    assert pre.state(job) == "R"


# --- accounting -------------------------------------------------------------------------------------------

def letters(cx, job):
    return "".join(letter for letter, _ in work.accounting(cx, job) if letter in "SzrRDE")


@pytest.mark.parametrize("order, record", [("S", "z"), ("R", "R"), ("D", "E")])
def test_accounting_has_a_record_of_what_was_done(pre, order, record):
    job = running(pre)
    with scheduler(pre, order) as s:
        s.preempt([job])
    until(lambda: letters(pre, job).endswith(record), lambda: f"record {record} in {work.accounting(pre, job)}")
    assert letters(pre, job).count("S") == 1


def test_a_job_preempted_by_deletion_has_a_D_record_before_its_E_record(pre):
    job = running(pre)
    with scheduler(pre, "D") as s:
        s.preempt([job])
    until(lambda: letters(pre, job) == "SDE", lambda: f"S, D and E in {work.accounting(pre, job)}")


# --- D is answered when it is true, and not before --------------------------------------------------------

def held_back(cx, ticket, connection, seconds=0.4):
    return faults.stays(lambda: not connection.ready(ticket), seconds)


@pytest.mark.parametrize("order, code", [("D", "D"), ("R", "Q"), ("S", "S")])
def test_no_answer_leaves_while_the_mom_is_silent(pre, order, code):
    job = running(pre)
    with scheduler(pre, order) as s:
        with faults.daemon_frozen(pre, "n1"):
            ticket = s.preempt_send([job])
            assert held_back(pre, ticket, s)
            assert used(pre) == 1 and pre.state(job) in "RE"
        assert s.preempt_recv(ticket) == [(job, code)]
        assert used(pre) == 0
        if code == "D":
            assert unknown(pre, job)
        else:
            assert pre.state(job) == code


def test_D_waits_for_the_obit_though_the_process_is_dead(pre):
    """The job's end is held back in a frozen MOM: its process has died long before the reply."""
    job = running(pre, "exec sleep 600")
    with scheduler(pre, "D") as s:
        with faults.daemon_frozen(pre, "n1"):
            os.kill(work.pid(pre), signal.SIGKILL)
            ticket = s.preempt_send([job])
            until(lambda: not faults.is_alive(work.pid(pre)), "the end of the process")
            assert held_back(pre, ticket, s) and pre.state(job) in "RE"
        assert s.preempt_recv(ticket) == [(job, "D")]
    assert unknown(pre, job) and work.starts(pre) == 1


@pytest.mark.parametrize("order, code", [("D", "D"), ("R", "Q")])
def test_a_job_that_ignores_SIGTERM_gives_way_after_kill_delay(pre, order, code):
    job = running(pre, IGNORES_TERM)
    pid = work.pid(pre)
    with scheduler(pre, order) as s:
        ticket = s.preempt_send([job])
        assert held_back(pre, ticket, s, 0.5) and faults.is_alive(pid)
        assert s.preempt_recv(ticket) == [(job, code)]
    assert not faults.is_alive(pid)


@pytest.mark.parametrize("order", ["D", "R", "S", "SRD"])
def test_a_job_that_ends_by_itself_at_that_moment_is_answered(pre, order):
    """Its end is known to the host, not yet to the server. Where it was to be requeued, either is true; a suspension
    may have come too late, and there is no other letter. But what is answered is what one then sees."""
    job = running(pre, "while [ ! -f go ]; do sleep 0.02; done; exit 3")
    pid = work.pid(pre)
    with scheduler(pre, order) as s:
        with faults.daemon_frozen(pre, "n1"):
            open(os.path.join(pre.work, "go"), "w", encoding="ascii").close()
            until(lambda: not faults.is_alive(pid), "the end of the script")
            ticket = s.preempt_send([job])
            assert held_back(pre, ticket, s, 0.2)
        os.unlink(os.path.join(pre.work, "go"))
        [(name, code)] = s.preempt_recv(ticket)
        assert name == job and code in {"R": ("D", "Q"), "S": ("D", "000")}.get(order, ("D", "Q"))
        until(lambda: pre.state(job) == ("Q" if code == "Q" else None), "the state that was answered")
    assert used(pre) == 0 and work.starts(pre) == 1


@pytest.mark.parametrize("order", ["D", "R", "S"])
def test_a_job_that_its_owner_deletes_at_that_moment_is_answered_D(pre, order):
    job = running(pre)
    with scheduler(pre, order) as s:
        with faults.daemon_frozen(pre, "n1"):
            ticket = s.preempt_send([job])
            pre.command("qdel", job, user=work.user())
            assert held_back(pre, ticket, s, 0.2)
        assert s.preempt_recv(ticket) == [(job, "D")]
    assert unknown(pre, job) and used(pre) == 0 and work.starts(pre) == 1


def test_a_forced_delete_answers_D_and_the_process_dies_when_the_mom_is_heard_again(pre):
    job = running(pre)
    pid = work.pid(pre)
    with scheduler(pre, "R") as s:
        with faults.daemon_frozen(pre, "n1"):
            ticket = s.preempt_send([job])
            pre.api.delete(job, "force")
            assert s.preempt_recv(ticket) == [(job, "D")] and unknown(pre, job)
        until(lambda: not faults.is_alive(pid), "the end of the process")


def test_a_job_that_is_being_deleted_already_is_answered_when_it_is_gone(pre):
    job = running(pre, IGNORES_TERM)
    pre.command("qdel", job, user=work.user())
    with scheduler(pre, "S") as s:
        assert s.preempt([job]) == [(job, "D")]
    assert unknown(pre, job)


def test_two_requests_for_one_job_are_both_answered(pre):
    job = running(pre, IGNORES_TERM)
    with scheduler(pre, "D") as s:
        first, second = s.preempt_send([job]), s.preempt_send([job])
        assert s.preempt_recv(second) == s.preempt_recv(first) == [(job, "D")]


def test_one_job_named_twice_has_two_slots(pre):
    job = running(pre)
    with scheduler(pre, "R") as s:
        assert s.preempt([job, job]) == [(job, "Q"), (job, "Q")]


def test_history_counts_as_gone(pre):
    job = running(pre)
    pre.api.manager(api.MSET, api.SERVER, "", [("job_history_enable", None, "True")])
    try:
        with scheduler(pre, "D") as s:
            assert s.preempt([job]) == [(job, "D")]
        assert pre.stat(job, "x").state == "F"
        pre.api.delete(job, "deletehist")
    finally:
        pre.api.manager(api.MSET, api.SERVER, "", [("job_history_enable", None, "False")])


def test_a_preemption_continues_when_the_caller_disconnects(pre):
    job = running(pre, IGNORES_TERM)
    with scheduler(pre, "D") as s:
        s.preempt_send([job])
        until(lambda: "Type 93 request" in pre.log("server"), "the request in the server")
    pre.wait_gone(job)
    with scheduler(pre, "R") as s:
        other = running(pre, name="other")
        assert s.preempt([other]) == [(other, "Q")]


def test_history_of_a_requeue_is_not_left_on_the_job(pre):
    """A job that was preempted once can be preempted again, by another method."""
    job = running(pre)
    with scheduler(pre, "R") as s:
        s.preempt([job])
    pre.api.run(job, "(n1:ncpus=1)")
    pre.wait(job, "R")
    with scheduler(pre, "S") as s:
        assert s.preempt([job]) == [(job, "S")]


# --- with the scheduler: an urgent job comes --------------------------------------------------------------

@pytest.mark.complex(nodes=2, ncpus=2)
@pytest.mark.parametrize("order, given_way", [("S", "S"), ("R", "Q"), ("D", None)])
def test_an_urgent_job_runs_when_its_victims_have_given_way(cx, order, given_way):
    cx.make_queue("express", Priority="200")
    cx.api.manager(api.MSET, api.QUEUE, "workq", [("kill_delay", None, "1")])
    cx.set_sched("preempt_order", order)
    low = {f"low{i}": work.submit(cx, "while [ ! -f go ]; do sleep 0.05; done", f"low{i}") for i in range(4)}
    for name in low:
        until(lambda: work.pid(cx, name), f"the script of {name}")  # noqa: B023
    with work.NodeWatch(cx):
        urgent = work.submit(
            cx, "for p in $(cat low?.pid); do kill -0 $p 2>/dev/null && echo $p; done > alive; sleep 0.3",
            "urgent", "express", select="2:ncpus=1", options=("-l", "place=scatter"))
        cx.wait(urgent, "R")
        states = [cx.state(job) for job in low.values()]
        assert states.count(given_way) == 2 and states.count("R") == 2
        cx.wait_gone(urgent)
        assert work.starts(cx, "urgent") == 1
        assert len(cx.file("alive").split()) == (4 if order == "S" else 2)
        back = [j for j in low.values() if cx.state(j) is not None]
        for job in back:
            cx.wait(job, "R")
    assert len(back) == (2 if order == "D" else 4)
    open(os.path.join(cx.work, "go"), "w", encoding="ascii").close()
    for job in back:
        cx.wait_gone(job)
    begun = sorted(work.starts(cx, name) for name in low)
    assert begun == ([1, 1, 2, 2] if order == "R" else [1, 1, 1, 1])
