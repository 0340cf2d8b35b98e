"""A maintenance reservation drains its hosts before it begins (doc/reservations.md, "Maintenance")."""

import os

import pytest

from harness import checkpoints
from harness.ask import at
from harness.shepherds import kill_shepherd
from harness.users import NAMES
from harness.wait import until
from harness.work import account_lines

CO, RN = "2", "5"


def maintenance(cx, start, host="n1", lasts=600, drain="CR", lead=None):
    """Its identifier; `drain` None: as the site says."""
    words = ["-R", at(start), "-D", str(lasts), "--hosts", host]
    if drain:
        words[4:4] = ["-W", f"drain={drain}" + (f",drain_time={lead}" if lead is not None else "")]
    resv, word = cx.command("pbs_rsub", *words).stdout.split()
    assert word == "CONFIRMED"
    return resv


def stat(cx, resv):
    return cx.api.stat("resv", resv)[0]


def running(cx, node="n1", text="sleep 600", **attrs):
    job = cx.submit(text, select="1:ncpus=1", **attrs)
    cx.api.run(job, f"({node}:ncpus=1)")
    until(lambda: (s := cx.stat(job)) and s["substate"] == "42", "its script to run")
    return job


def saved_and_requeued(cx):
    """One job that can be saved, one that may run again, one that may do neither, one that ends by itself before."""
    checkpoints.by_application(cx)
    saved = cx.submit(checkpoints.COUNTER.format(work=cx.work), select="1:ncpus=1")
    cx.api.run(saved, "(n1:ncpus=1)")
    until(lambda: (cx.file("now") or "").strip(), "the first count")
    return saved, running(cx, options=["-c", "n"]), running(cx, options=["-c", "n", "-r", "n"]), \
        running(cx, l_walltime="5:00", options=["-c", "n"])


@pytest.mark.complex(sched=False, nodes=2)
def test_jobs_leave_by_checkpoint_or_requeue_and_others_stay(cx):
    saved, again, neither, short = saved_and_requeued(cx)
    elsewhere = running(cx, node="n2")
    resv = maintenance(cx, 400, lead=400 - 4)
    until(lambda: int(stat(cx, resv).get("drain_begun", 0)), "the drain")
    for job in (saved, again):
        until(lambda j=job: cx.stat(j).get("preempt_deadline"), f"the notice of {job}")
    for job in (saved, again, neither, short, elsewhere):
        assert cx.state(job) == "R"
    for job in (neither, short, elsewhere):
        assert "preempt_deadline" not in cx.stat(job)
    assert resv in cx.stat(again)["comment"]


@pytest.mark.complex(sched=False, nodes=2)
def test_when_the_notice_is_over_the_letters_are_applied_in_their_order(cx):
    saved, again, neither, short = saved_and_requeued(cx)
    resv = maintenance(cx, 8, lead=600)
    cx.wait(saved, "Q")
    cx.wait(again, "Q")
    assert cx.stat(saved)["preempted_by"] == cx.stat(again)["preempted_by"] == resv
    assert "saved" in cx.file("counts") and cx.stat(saved)["preempt_count"] == "1"
    until(lambda: stat(cx, resv)["reserve_state"] == RN, "its start")
    assert cx.state(neither) == "R" and cx.state(short) == "Q"  # PBS: running jobs stay
    for job, letter in ((again, "R"), (saved, "C")):
        record = f";v;{job};method={letter} requestor={resv} preempted_by={resv}"
        until(lambda r=record: any(r in line for line in account_lines(cx)), record)


@pytest.mark.complex(sched=False, nodes=2)
def test_a_job_that_can_be_saved_only_later_leaves_before_the_maintenance(cx):
    """Its program asks for the signal when the drain has begun."""
    job = running(cx, text=checkpoints.HANDLES_LATER.format(work=cx.work), options=["-r", "n"])
    resv = maintenance(cx, 600, drain="C", lead=600)
    until(lambda: int(stat(cx, resv).get("drain_begun", 0)), "the drain")
    until(lambda: "failed to be preempted" in cx.log("server"), "that it stays")
    with open(os.path.join(cx.work, "handle"), "w", encoding="ascii"):
        pass
    until(lambda: cx.stat(job).get("preempt_deadline"), "its notice")
    assert resv in cx.stat(job)["comment"]


@pytest.mark.complex(sched=False, nodes=2)
def test_a_site_drains_for_each_maintenance_and_one_may_say_none(cx):
    cx.set_server("maintenance_drain", "R")
    cx.set_server("maintenance_drain_time", "3600")
    job = running(cx)
    spared = maintenance(cx, 1000, drain="none")
    assert "drain_begun" not in stat(cx, spared) and cx.stat(job).get("preempt_deadline") is None
    cx.command("pbs_rdel", spared)
    resv = maintenance(cx, 1000, drain=None)
    assert stat(cx, resv)["drain"] == "R" and stat(cx, resv)["drain_time"] == "01:00:00"
    until(lambda: cx.stat(job).get("preempt_deadline"), "its notice")


@pytest.mark.complex(sched=False, nodes=2)
def test_jobs_run_on_when_a_maintenance_is_deleted_while_its_notices_last(cx):
    job = running(cx)
    resv = maintenance(cx, 1000, drain="R", lead=3600)
    until(lambda: cx.stat(job).get("preempt_deadline"), "its notice")
    cx.command("pbs_rdel", resv)
    until(lambda: not cx.stat(job).get("preempt_deadline"), "its notice to be withdrawn")
    assert cx.state(job) == "R" and "gives_way" not in cx.stat(job)


@pytest.mark.complex(sched=False, nodes=2)
def test_a_killed_server_neither_forgets_nor_repeats_a_drain(cx):
    job = running(cx)
    resv = maintenance(cx, 20, drain="R", lead=3600)
    deadline = until(lambda: cx.stat(job).get("preempt_deadline"), "its notice")
    begun = stat(cx, resv)["drain_begun"]
    cx.crash_server()
    assert stat(cx, resv)["drain_begun"] == begun and cx.stat(job)["preempt_deadline"] == deadline
    cx.hosts_back()
    cx.wait(job, "Q")
    assert cx.stat(job)["preempted_by"] == resv and cx.stat(job)["preempt_count"] == "1"


def in_its_prologue(cx, **attrs):
    """A job whose prologue waits until go()."""
    path = os.path.join(cx.dir, "mom", "n1", "mom_priv", "prologue")
    with open(path, "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\ntouch {cx.work}/begun\nwhile [ ! -e {cx.work}/go ]; do sleep 0.02; done\n")
    os.chmod(path, 0o500)
    os.chmod(cx.work, 0o777)
    job = cx.submit(checkpoints.COUNTER.format(work=cx.work), user=NAMES[0], select="1:ncpus=1", **attrs)
    cx.api.run_async(job, "(n1:ncpus=1)")
    until(lambda: cx.file("begun") is not None, "its prologue")
    assert cx.stat(job)["substate"] == "41"
    return job


def go(cx):
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass


@pytest.mark.complex(sched=False)
def test_a_job_in_its_prologue_is_requeued_at_once_as_it_has_nothing_to_save(cx):
    checkpoints.by_application(cx)
    job = in_its_prologue(cx)
    resv = maintenance(cx, 600, drain="CR", lead=3600)
    cx.wait(job, "Q")
    s = cx.stat(job)
    assert (s["preempted_by"], s["preempt_method"]) == (resv, "Q") and cx.file("now") is None


@pytest.mark.complex(sched=False)
def test_a_job_in_its_prologue_that_may_only_be_saved_is_saved_when_it_has_begun(cx):
    checkpoints.by_application(cx)
    cx.set_sched("preempt_grace", "3")
    job = in_its_prologue(cx, options=["-r", "n"])
    resv = maintenance(cx, 600, drain="C", lead=3600)
    until(lambda: int(stat(cx, resv).get("drain_begun", 0)), "the drain")
    assert cx.stat(job)["substate"] == "41"
    go(cx)
    until(lambda: (s := cx.stat(job)) and s.get("preempted_by") == resv, lambda: cx.describe(job), 15)
    assert cx.state(job) == "Q" and "saved" in cx.file("counts")


@pytest.mark.complex(sched=False)
def test_a_job_that_is_started_after_the_drain_has_begun_leaves_too(cx):
    resv = maintenance(cx, 600, drain="R", lead=3600)
    until(lambda: int(stat(cx, resv).get("drain_begun", 0)), "the drain")
    job = running(cx)
    until(lambda: cx.stat(job).get("preempt_deadline"), "its notice")
    assert resv in cx.stat(job)["comment"]
    brief = running(cx, l_walltime="5:00")
    assert "preempt_deadline" not in cx.stat(brief)


# Asked to save itself, it waits until it may.
HELD = checkpoints.COUNTER.replace("save() {{", "save() {{ touch {work}/asked; while [ ! -e {work}/may ]; do sleep 0.02; done;")


@pytest.mark.complex(sched=False)
@pytest.mark.parametrize("who", ["n1", "shepherd", "server"])
def test_a_job_leaves_although_its_checkpoint_for_a_maintenance_is_interrupted(cx, who):
    checkpoints.by_application(cx)
    os.chmod(cx.work, 0o777)
    job = cx.submit(HELD.format(work=cx.work), user=NAMES[0], select="1:ncpus=1")
    cx.api.run(job, "(n1:ncpus=1)")
    until(lambda: (cx.file("now") or "").strip(), "the first count")
    resv = maintenance(cx, 3, lead=600)
    until(lambda: cx.file("asked") is not None, "its checkpoint to be under way")
    if who == "shepherd":
        kill_shepherd(cx, job, "n1")
    else:
        cx.kill(who)
    with open(os.path.join(cx.work, "may"), "w", encoding="ascii"):
        pass
    if who != "shepherd":
        cx.restart(who)
        cx.again()
    cx.wait(job, "Q")
    s = cx.stat(job)
    assert s["preempted_by"] == resv and s["preempt_count"] == "1" and s["run_count"] == "1"
    until(lambda: stat(cx, resv)["reserve_state"] == RN, "its start")
    until(lambda: cx.node()["state"] == "resv-exclusive", "its vnode is empty")
    cx.command("pbs_rdel", resv)
    cx.api.run(job, "(n1:ncpus=1)")
    until(lambda: cx.file("counts").count("begin") == 2, "its second start")
    from_what = cx.file("counts").splitlines()[-1]
    assert (s["preempt_method"] == "C") == (from_what != "begin 0"), (s["preempt_method"], cx.file("counts"))


@pytest.mark.complex(sched=False)
def test_only_a_maintenance_drains_and_letters_are_checked(cx):
    done = cx.command("pbs_rsub", "-R", at(600), "-D", "60", "-l", "select=1:ncpus=1", "-W", "drain=R", check=False)
    assert done.returncode and "maintenance reservations" in done.stderr
    done = cx.command("pbs_rsub", "-R", at(600), "-D", "60", "-W", "drain=S", "--hosts", "n1", check=False)
    assert done.returncode and "letters out of C R D" in done.stderr


@pytest.mark.complex(nodes=2)
def test_a_job_that_has_left_waits_or_runs_on_another_host(cx):
    job = cx.submit(select="1:ncpus=1", l_walltime="1:00:00")
    until(lambda: (s := cx.stat(job)) and s["substate"] == "42", "its script to run")
    here = cx.stat(job)["exec_vnode"][1:3]
    resv = maintenance(cx, 8, host=here, drain="R", lead=600)
    until(lambda: (s := cx.stat(job)) and s["job_state"] == "R" and s["exec_vnode"][1:3] != here, "it to run elsewhere")
    until(lambda: stat(cx, resv)["reserve_state"] == RN, "its start")
    assert cx.node(here)["state"] == "resv-exclusive"
