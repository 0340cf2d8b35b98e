"""Jobs that run: from submission to output, and the ways they end."""
import contextlib
import os
import re

import pytest

from harness import api, users
from harness.faults import daemon_frozen, stays
from harness.wait import until


def test_a_job_runs_and_its_output_is_delivered(shared):
    out = os.path.join(shared.work, "hello.out")
    job = shared.submit("echo hello; echo oops >&2; exit 3", Output_Path=out,
                        Error_Path=os.path.join(shared.work, "hello.err"))
    shared.wait_gone(job)
    assert until(lambda: shared.file("hello.out"), "the output") == "hello\n"
    assert shared.file("hello.err") == "oops\n"


@pytest.mark.complex(history=True)
def test_history_keeps_the_exit_status_and_usage(cx):
    job = cx.submit("exit 42")
    ended = cx.wait(job, state="F")
    assert ended["Exit_status"] == "42"
    assert "walltime" in ended["resources_used"] and "cput" in ended["resources_used"]


def test_a_job_sees_pbs_environment(shared):
    out = os.path.join(shared.work, "env.out")
    job = shared.submit('echo "$PBS_JOBID $PBS_QUEUE $PBS_JOBNAME $PBS_ENVIRONMENT"; wc -l < "$PBS_NODEFILE"',
                        Job_Name="seen", Output_Path=out)
    shared.wait_gone(job)
    lines = until(lambda: shared.file("env.out"), "the output").splitlines()
    assert lines == [f"{job} workq seen PBS_BATCH", "1"]


def test_jobs_wait_for_room_and_say_why(shared):
    first = [shared.submit(select="1:ncpus=4") for _ in range(2)]
    for job in first:
        shared.wait(job)
    late = shared.submit(select="1:ncpus=2")
    comment = until(lambda: shared.stat(late).get("comment"), "a comment")
    assert re.match(r"Not Running: Insufficient amount of resource: ncpus \(R: 2 A: 0 T: \d+\)", comment)
    shared.api.delete(first[0])
    shared.wait(late)


def test_a_running_job_can_be_deleted(shared):
    job = shared.submit("trap '' TERM; sleep 600 & wait; sleep 600")
    shared.wait(job)
    shared.api.delete(job, "force")
    shared.wait_gone(job)
    until(lambda: "jobs" not in shared.node("n1") and "jobs" not in shared.node("n2"), "free nodes")


def test_a_rerun_job_runs_again(shared):
    job = shared.submit()
    shared.wait(job)
    shared.api.rerun(job)
    assert shared.wait(job, run=2).run_count == 2


def test_a_job_that_may_not_rerun_is_refused(shared):
    job = shared.submit(Rerunable="False")
    shared.wait(job)
    with pytest.raises(api.PbsError) as e:
        shared.api.rerun(job)
    assert e.value.code == 15038


def test_a_signal_reaches_the_job(shared):
    """All of its processes; an executable job has no login shell above it, which would die of this one."""
    out, ready = os.path.join(shared.work, "signal.out"), os.path.join(shared.work, "ready")
    script = shared.script(f"trap 'echo got it; exit 0' USR1; echo > {ready}; while :; do sleep 0.1; done")
    job = shared.command("qsub", "-o", out, "-j", "oe", "--", "/bin/sh", script,
                         user=(users.available() or [None])[0]).stdout.strip()
    until(lambda: os.path.exists(ready), "the trap")
    shared.api.signal(job, "SIGUSR1")
    shared.wait_gone(job)
    assert "got it" in until(lambda: shared.file("signal.out"), "the output")


def test_a_suspended_job_is_stopped_and_gives_its_cpus_back(shared):
    mark = os.path.join(shared.work, "ticks")
    job = shared.submit(f"while :; do echo tick >> {mark}; sleep 0.05; done", select="1:ncpus=4")
    until(lambda: os.path.exists(mark), "the first tick")
    shared.api.signal(job, "suspend")
    shared.wait(job, state="S")
    before = os.path.getsize(mark)
    enough = os.path.join(shared.work, "enough")
    others = [shared.submit(f"while [ ! -e {enough} ]; do sleep 0.05; done", select="1:ncpus=4") for _ in range(2)]
    for other in others:
        shared.wait(other)
    assert os.path.getsize(mark) == before
    open(enough, "w", encoding="ascii").close()
    for other in others:
        shared.wait_gone(other)
    with contextlib.suppress(api.PbsError):  # the scheduler may have been quicker
        shared.api.signal(job, "resume")
    shared.wait(job, state="R")
    until(lambda: os.path.getsize(mark) > before, "another tick")


def test_walltime_is_enforced(shared):
    shared.wait_gone(shared.submit("sleep 600", l_walltime="00:00:01"))


@pytest.mark.skipif(not users.available(), reason="needs root, to be several users")
def test_a_job_runs_as_its_owner(shared):
    out = os.path.join(shared.work, "id.out")
    job = shared.submit("id -un; id -Gn", user="pbstest1", options=["-o", out, "-j", "oe"])
    shared.wait_gone(job)
    name, groups = until(lambda: shared.file("id.out"), "the output").splitlines()
    assert name == "pbstest1" and users.GROUP in groups.split()


@pytest.mark.complex(history=True, nodes=2)
def test_a_hundred_short_jobs_all_end_well(cx):
    jobs = [cx.submit("exit 0", Output_Path="/dev/null", Error_Path="/dev/null") for _ in range(100)]
    until(lambda: all(j["job_state"] == "F" for j in cx.api.stat("job", extend="x")), "the end of all")
    status = {j.name: j for j in cx.api.stat("job", extend="x")}
    assert [status[j]["Exit_status"] for j in jobs] == ["0"] * 100
    assert all(status[j].run_count == 1 for j in jobs)


@pytest.mark.complex(nodes=2, ncpus=4)
def test_a_job_on_two_hosts_ends_on_both(cx):
    job = cx.submit("sort -u $PBS_NODEFILE", select="2:ncpus=4", Output_Path=os.path.join(cx.work, "hosts"))
    cx.wait_gone(job)
    assert until(lambda: cx.file("hosts"), "the output") == "n1\nn2\n"
    until(lambda: [cx.node(n)["state"] for n in ("n1", "n2")] == ["free", "free"], "free nodes")


@pytest.mark.complex(nodes=2, ncpus=4)
def test_a_second_host_that_was_away_at_the_end_is_freed_when_it_is_back(cx):
    flag = os.path.join(cx.work, "end")
    job = cx.submit(f"while [ ! -e {flag} ]; do sleep 0.02; done", select="2:ncpus=4")
    until(lambda: (cx.stat(job) or {}).get("substate") == "42", "the start of the script")
    second = cx.wait(job)["exec_host"].split("+")[1].split("/")[0]
    cx.kill(second)
    open(flag, "w", encoding="ascii").close()
    assert cx.wait(job, state="E")["Exit_status"] == "0"
    cx.restart(second)
    cx.wait_gone(job)
    until(lambda: [cx.node(n)["state"] for n in ("n1", "n2")] == ["free", "free"], "free nodes")


@pytest.mark.complex(history=True)
def test_the_comment_of_a_running_job_that_was_deleted_says_by_whom(cx):
    job = cx.submit("sleep 600")
    until(lambda: cx.stat(job).get("session_id"), "its session")
    cx.command("qdel", job)
    cx.wait(job, "F")
    assert re.fullmatch(r"Job run at .* on \(n1:ncpus=1\) and terminated by \w+@\S+", cx.stat(job)["comment"])


def test_the_walltime_of_a_running_job_counts_between_the_reports_of_its_host(cx):
    """Its MOM is stopped; of a suspended job none passes. The server counts from the start that it ordered, so it is ahead of the host."""
    job = cx.submit("sleep 600")
    until(lambda: cx.stat(job)["substate"] == "42", "the job")
    with daemon_frozen(cx, "n1"):
        until(lambda: cx.stat(job)["resources_used"]["walltime"] >= "00:00:05", lambda: cx.describe(job))
    cx.api.signal(job, "suspend")
    used = cx.wait(job, state="S")["resources_used"]["walltime"]
    assert used >= "00:00:02" and stays(lambda: cx.stat(job)["resources_used"]["walltime"] == used, 1.5)
