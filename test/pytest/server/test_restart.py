"""Killed and started again: what was acknowledged is there, what ran runs on, nothing runs twice. On both stores."""
import os
import random
import re
import threading
import time

import pytest

from harness import api, faults, rows, work
from harness.complex import Complex
from harness.faults import daemon_frozen
from harness.wait import until

UNTIL_GO = "while [ ! -f go ]; do sleep 0.02; done"


@pytest.fixture(params=["sqlite", "postgres"])
def cx(request):
    marker = request.node.get_closest_marker("complex")
    c = Complex(**{"history": True, **(marker.kwargs if marker else {}), "store": request.param})
    try:
        yield c.start()
    finally:
        c.stop()


def again(cx, *daemons):
    """Kill these at once, then start them."""
    for daemon in daemons:
        cx.kill(daemon)
    for daemon in daemons:
        cx.restart(daemon)
    cx.again()


def begun(cx, text, name, **kw):
    """A job whose script has begun."""
    job = work.submit(cx, text, name, **kw)
    until(lambda: work.pid(cx, name), f"the script of {job}")
    cx.wait(job, "R")
    return job


def go(cx):
    open(os.path.join(cx.work, "go"), "w", encoding="ascii").close()


def ended(cx, job):
    """The job as history shows it."""
    return until(lambda: (s := cx.stat(job, "x")) and s.state == "F" and s, f"the end of {job}")


def statuses_in_accounting(cx, job):
    return [text.split("Exit_status=")[1].split()[0] for letter, text in work.accounting(cx, job) if letter == "E"]


# --- submissions ------------------------------------------------------------------------------------------

def submit_until_lost(cx, acknowledged):
    """Submit through one connection, many calls under way, until the server is gone."""
    c = cx.connect()
    attrs = [("Output_Path", None, "/dev/null"), ("Error_Path", None, "/dev/null")]
    script = cx.script("true")
    try:
        while True:
            tickets = [c.submit_send(attrs, script) for _ in range(20)]
            for ticket in tickets:
                acknowledged.append(c.submit_recv(ticket))
    except api.PbsError:
        pass
    finally:
        c.close()


@pytest.mark.complex(nodes=0, sched=False)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_acknowledged_submission_is_there_after_a_kill(cx, seed):
    acknowledged, threads = [], []
    for _ in range(3):
        threads.append(threading.Thread(target=submit_until_lost, args=(cx, acknowledged), daemon=True))
        threads[-1].start()
    until(lambda: len(acknowledged) > 40 + random.Random(seed).randrange(200), "some acknowledged jobs")
    cx.kill("server")
    for t in threads:
        t.join()
    cx.restart("server")
    there = cx.again().select()
    assert len(set(acknowledged)) == len(acknowledged)
    assert set(acknowledged) <= set(there)
    assert cx.submit() not in there


@pytest.mark.complex(nodes=0, sched=False)
def test_settings_of_managers_and_users_survive_a_kill(cx):
    cx.make_queue("kept", Priority="77")
    cx.set_sched("preempt_order", "SR 50 D")
    job = cx.submit(queue="kept", Job_Name="first")
    cx.api.alter(job, [("Job_Name", "second")])
    cx.api.hold(job, "u")
    gone = cx.submit()
    cx.api.delete(gone)
    again(cx, "server")
    assert cx.api.stat("que", "kept")[0]["Priority"] == "77"
    assert cx.api.stat("sched")[0]["preempt_order"] == "SR 50 D"
    status = cx.stat(job)
    assert (status.state, status["Job_Name"], status["queue"]) == ("H", "second", "kept")
    assert cx.state(gone) == "F"


# --- running jobs -----------------------------------------------------------------------------------------

def test_a_running_job_continues_while_the_server_is_killed(cx):
    job = begun(cx, UNTIL_GO + "; exit 4", "on")
    pid = work.pid(cx, "on")
    again(cx, "server")
    assert cx.state(job) == "R" and faults.is_alive(pid) and cx.node()["resources_assigned"]["ncpus"] == "1"
    go(cx)
    assert ended(cx, job)["Exit_status"] == "4" and work.starts(cx, "on") == 1


def test_a_job_that_ends_while_the_server_is_away_has_its_exit_status(cx):
    job = begun(cx, UNTIL_GO + "; exit 5", "away")
    cx.kill("server")
    go(cx)
    until(lambda: not faults.is_alive(work.pid(cx, "away")), "the end of the script")
    cx.restart("server")
    cx.again()
    assert ended(cx, job)["Exit_status"] == "5"
    until(lambda: statuses_in_accounting(cx, job) == ["5"], lambda: f"one E record: {work.accounting(cx, job)}")


def test_a_job_that_ends_while_its_mom_is_dead_has_its_exit_status(cx):
    job = begun(cx, UNTIL_GO + "; exit 7", "dead")
    cx.kill("n1")
    go(cx)
    until(lambda: not faults.is_alive(work.pid(cx, "dead")), "the end of the script")
    assert cx.state(job) == "R"
    cx.restart("n1")
    assert ended(cx, job)["Exit_status"] == "7" and work.starts(cx, "dead") == 1
    until(lambda: statuses_in_accounting(cx, job) == ["7"], lambda: f"one E record: {work.accounting(cx, job)}")


def test_a_running_job_continues_while_its_mom_is_killed_and_can_then_be_deleted(cx):
    job = begun(cx, "sleep 600", "long")
    pid = work.pid(cx, "long")
    again(cx, "n1")
    until(lambda: cx.node()["state"] in ("free", "job-busy"), "the node is up")
    assert cx.state(job) == "R" and faults.is_alive(pid)
    cx.api.delete(job)
    ended(cx, job)
    assert not faults.is_alive(pid) and work.starts(cx, "long") == 1


def test_a_deletion_that_was_acknowledged_is_done_after_a_kill_of_server_and_mom(cx):
    job = begun(cx, "sleep 600", "del")
    pid = work.pid(cx, "del")
    with faults.daemon_frozen(cx, "n1"):
        cx.api.delete(job)
        cx.kill("server")
        cx.kill("n1")
    again(cx, "server", "n1")
    ended(cx, job)
    assert not faults.is_alive(pid) and work.starts(cx, "del") == 1


def test_a_suspended_job_stays_suspended_through_everything_and_resumes(cx):
    job = begun(cx, UNTIL_GO + "; exit 6", "still")
    cx.stop_daemon("sched")
    cx.api.signal(job, "suspend")
    cx.wait(job, "S")
    again(cx, "server", "n1")
    until(lambda: cx.node()["state"] == "free", "the node is up")
    cx.wait(job, "S")  # what was shown may have been a batch ahead of the disk: then the MOM says it again
    cx.api.signal(job, "resume")
    cx.wait(job, "R")
    go(cx)
    assert ended(cx, job)["Exit_status"] == "6" and work.starts(cx, "still") == 1


@pytest.mark.complex(nodes=2, ncpus=2)
def test_everything_killed_at_once_and_started_again(cx):
    low = {f"e{i}": work.submit(cx, UNTIL_GO + f"; exit {i}", f"e{i}") for i in range(6)}
    until(lambda: sum(bool(work.pid(cx, name)) for name in low) == 4, "four scripts on four cpus")
    again(cx, "sched", "n2", "server", "n1")
    go(cx)
    assert [ended(cx, job)["Exit_status"] for job in low.values()] == [str(i) for i in range(6)]
    assert [work.starts(cx, name) for name in low] == [1] * 6


# --- at any moment ----------------------------------------------------------------------------------------

@pytest.mark.complex(nodes=2, ncpus=2)
@pytest.mark.parametrize("victim", ["server", "n1", "sched"])
def test_killed_at_random_moments_every_job_runs_once(cx, victim):
    """Five kills, a seeded while apart, under jobs that start and end all the time."""
    chance = random.Random(f"{victim} 20")
    jobs = {f"r{i}": work.submit(cx, f"sleep 0.{1 + i % 4}; exit {i % 5}", f"r{i}") for i in range(24)}
    with work.NodeWatch(cx):
        for _ in range(5):
            time.sleep(chance.uniform(0, 0.15))  # the moment is the input of this test
            cx.kill(victim)
            cx.restart(victim)
        cx.again()
        got = [ended(cx, job)["Exit_status"] for job in jobs.values()]
    assert got == [str(i % 5) for i in range(24)]
    assert [work.starts(cx, name) for name in jobs] == [1] * 24
    for job in jobs.values():
        until(lambda: len(statuses_in_accounting(cx, job)) == 1, f"one E record of {job}")  # noqa: B023


def test_a_server_that_goes_down_with_delay_ends_when_the_last_running_job_is_suspended(cx):
    job = cx.submit("exec sleep 600")
    cx.wait(job)
    until(lambda: cx.stat(job)["substate"] == "42", "its first process")
    asker = cx.connect()
    with daemon_frozen(cx, "n1"):
        asker.call_send("sigjob_send", job, "suspend", None)
        cx.command("qterm", "-t", "delay")
        assert cx.pid("server")
    until(lambda: cx.pid("server") == 0, "the end of the server")
    cx.restart("server")
    cx.again()
    assert cx.state(job) == "S"


@pytest.mark.complex(sched=False)
def test_a_restart_leaves_jobs_that_wait_as_they_were(cx):
    """Not even their times change: nothing of a million queued jobs need be written."""
    jobs = [cx.submit(), cx.submit(Hold_Types="u"), cx.submit(Execution_Time=str(int(time.time()) + 3600))]
    before = [cx.stat(job) for job in jobs]
    assert [s.state for s in before] == ["Q", "H", "W"]
    # the clock must have gone on, or a new time could not be told from the old one
    until(lambda: time.time() > max(int(s["mtime"]) for s in before) + 1, "another second")
    cx.kill("server")
    cx.restart("server")
    cx.again()
    for was in before:
        now = cx.stat(was.name)
        assert {k: now.get(k) for k in ("job_state", "mtime", "etime", "Execution_Time")} == \
            {k: was.get(k) for k in ("job_state", "mtime", "etime", "Execution_Time")}


def multiply(cx, job, n):
    """While no server runs: n rows in all that are as that of this job, under numbers that follow its own."""
    seq, suffix = int(job.split(".")[0]), job[job.index("."):]
    rows.query(cx, "insert into job (seq, idx, id, state, queue, owner, project, hot, attrs, fixed, fixed_attrs) "
                   f"with recursive more(seq) as (select {seq + 1} union all select seq + 1 from more where seq < {seq + n - 1}) "
                   f"select more.seq, idx, more.seq || '{suffix}', state, queue, owner, project, hot, attrs, fixed, fixed_attrs "
                   f"from job, more where job.seq = {seq}")
    return seq


@pytest.mark.complex(nodes=0, sched=False)
def test_a_restart_with_many_jobs_says_in_the_log_how_many_are_read(cx):
    """At each tenth, among the other lines of the reading; the restart with one job before says nothing of it."""
    job = cx.submit(Hold_Types="u")
    again(cx, "server")
    assert "jobs read" not in cx.log("server")
    cx.kill("server")
    seq = multiply(cx, job, 20000)
    rows.put(cx, "job", (seq + 10500, -1), "hot", "{}")
    cx.restart("server")
    log = cx.wait_log("server", "Recovered 19999 jobs")
    told = [int(n) if n else "left out" for n in re.findall(r"(?:(\d+) of 20000 jobs read|the stored job is left out)", log)]
    assert told == [2000, 4000, 6000, 8000, 10000, "left out", 12000, 14000, 16000, 18000, 20000]
    assert log.index("20000 of 20000 jobs read") < log.index("Recovered 19999 jobs")


def test_a_start_time_given_to_a_running_job_says_nothing_of_its_end(cx):
    """The job is in one queue by time only: in that of start times while it waits, in that of history when it is over."""
    pid = cx.pid("server")
    job = cx.submit("sleep 1000")
    cx.wait(job)
    cx.api.alter(job, [("Execution_Time", None, str(int(time.time()) + 3600))])
    cx.api.delete(job)
    until(lambda: cx.state(job) == "F", lambda: cx.describe(job))
    cx.api.delete(job, "deletehist")
    assert cx.api.stat("job", "", extend="x") == [] and cx.pid("server") == pid


@pytest.mark.complex(nodes=1, sched=False)
def test_a_run_that_is_asked_for_before_its_host_is_heard_of_waits_for_the_host(cx):
    """A host that is away since the server started may be back at any moment; one that was lost later is refused (15070)."""
    first, second = cx.submit(), cx.submit()
    cx.stop_daemon("n1")
    cx.restart("server")
    cx.again()
    cx.api.run_async(first, "(n1:ncpus=1)")
    assert cx.stat(first)["substate"] != "42"
    cx.restart("n1")
    cx.wait(first)
    until(lambda: cx.stat(first)["substate"] == "42", "its begin")
    cx.stop_daemon("n1")
    until(lambda: "down" in cx.node("n1").state, "the host down")
    with pytest.raises(api.PbsError) as e:
        cx.api.run_async(second, "(n1:ncpus=1)")
    assert e.value.code == 15070
