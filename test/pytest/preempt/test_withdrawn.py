"""A plan is undone when its victim has got SIGTERM and not yet SIGKILL: the victim may run on (doc/preemption.md, "Plan and hold")."""
import os
import re
import time

import pytest

from harness import faults, users
from harness.mom_priv import configure, script
from harness.shepherds import kill_shepherd
from harness.wait import until
from harness.work import accounting

pytestmark = pytest.mark.complex(nodes=2, ncpus=4, sched=False, history=True)

ROOM = "(n1:ncpus=4)"
BOTH = "(n1:ncpus=4)+(n2:ncpus=4)"
GRACE = "4"   # kill_delay: longer than the answer to a request takes, and waited for whole by each job that survives
LONG = "600"  # where what happens next does not wait for its end

# Notes SIGTERM in `told`, then does `then`; without that it ends when there is a file `go`.
SCRIPT = """
trap 'echo $PBS_JOBID >> told; {}' TERM
echo up >> ready
until test -f go; do sleep 0.05; done
echo done
"""


def planner(cx, order="R", delay=GRACE):
    cx.set_queue("workq", "kill_delay", delay)
    cx.set_sched("preempt_order", order)
    c = cx.connect()
    c.register("default")
    return c


def touch(cx, name):
    open(os.path.join(cx.work, name), "w", encoding="ascii").close()


def lines(cx, name):
    return (cx.file(name) or "").splitlines()


def started(cx, then=":", where=ROOM, before="", **attrs):
    """Its output file is `out` in the work directory."""
    job = cx.submit(f"PATH={cx.build}/bin:$PATH\ncd {cx.work}\n{before}" + SCRIPT.replace("{}", then), user=users.NAMES[0],
                    options=("-j", "oe", "-o", os.path.join(cx.work, "out")), **attrs)
    cx.api.run(job, where)
    until(lambda: cx.file("ready"), "the script to be ready")
    return job


def told(cx, times=1):
    until(lambda: len(lines(cx, "told")) >= times, f"SIGTERM to have come {times} times")
    return time.monotonic()


def planned(cx, c, victim, where=ROOM, select="1:ncpus=4"):
    """An urgent job whose victim has got SIGTERM."""
    n = len(lines(cx, "told"))
    urgent = cx.submit(select=select)
    c.preempt_run(urgent, where, [victim])
    told(cx, n + 1)
    return urgent


def withdrawn(cx, victim):
    return until(lambda: (s := cx.stat(victim)).get("comment", "").startswith("Preemption withdrawn: ") and s,
                 lambda: f"the withdrawal: {cx.describe(victim)}")


def stays(cx, victim, times=1):
    """The hosts have said that it runs on."""
    cx.wait_log("server", f"{victim};was told to end, did not, and runs on", times)
    s = cx.stat(victim)
    assert s.state == "R" and s["run_count"] == "1" and s.get("gives_way") is None
    assert s.get("preempt_count") in (None, "0") and s.get("preempted_by") is None


def ends_well(cx, victim):
    touch(cx, "go")
    s = until(lambda: (s := cx.stat(victim, "x")).state == "F" and s, "the end of the job")
    assert s["Exit_status"] == "0" and s["run_count"] == "1"
    assert until(lambda: cx.file("out"), "its output").endswith("done\n")
    assert [letter for letter, _ in accounting(cx, victim) if letter in "vR"] == []


def is_requeued(cx, victim, urgent):
    s = cx.wait(victim, "Q")
    assert s["preempted_by"] == urgent and s["preempt_count"] == "1"
    [record] = until(lambda: [text for letter, text in accounting(cx, victim) if letter == "v"], "the record of it")
    return dict(re.findall(r'(\S+?)="?([^" ]*)', record))


# --- the job survives
@pytest.mark.parametrize("order", ["R", "D"])
@pytest.mark.parametrize("how", ["deleted", "held", "hold deleted", "elsewhere"])
def test_a_victim_that_got_sigterm_alone_runs_on_when_its_plan_is_undone(cx, order, how):
    c = planner(cx, order)
    victim = started(cx)
    urgent = planned(cx, c, victim)
    assert cx.stat(victim)["gives_way"] == "True"
    {"deleted": lambda: cx.api.delete(urgent), "held": lambda: cx.api.hold(urgent, "u"),
     "hold deleted": lambda: cx.api.delete_hold(urgent), "elsewhere": lambda: c.run(urgent, "(n2:ncpus=4)")}[how]()
    s = withdrawn(cx, victim)
    assert s["comment"].startswith(f"Preemption withdrawn: no room is needed for job {urgent} any more: ")
    stays(cx, victim)
    assert lines(cx, "told") == [victim]
    ends_well(cx, victim)


def test_the_budget_gets_back_what_was_not_destroyed(cx):
    cx.set_queue("workq", "preempt_budget", "1000")
    c = planner(cx)
    victim = started(cx)
    time_s = int(cx.stat(victim)["stime"])
    until(lambda: time.time() > time_s + 2, "work that could be lost")
    urgent = planned(cx, c, victim)
    assert "=" in cx.api.stat("que", "workq")[0]["preempt_ledger"]
    cx.api.delete(urgent)
    stays(cx, victim)
    assert cx.api.stat("que", "workq")[0].get("preempt_ledger") is None


def test_a_notice_file_goes_when_the_end_that_it_announced_is_withdrawn(cx):
    cx.set_sched("preempt_grace", "1")
    c = planner(cx)
    victim = started(cx, before='echo "$PBS_PREEMPT_NOTICE" > path\n')
    urgent = planned(cx, c, victim)
    path = cx.file("path").strip()
    assert os.path.exists(path)
    cx.api.delete(urgent)
    until(lambda: not os.path.exists(path), "the notice file to go")
    stays(cx, victim)
    ends_well(cx, victim)


def test_a_drain_that_is_taken_back_lets_its_victim_run_on(cx):
    cx.set_queue("workq", "kill_delay", GRACE)
    victim = started(cx)
    cx.command("pbsnodes", "-o", "--drain=R", "n1")
    told(cx)
    cx.command("pbsnodes", "-r", "n1")
    stays(cx, victim)
    ends_well(cx, victim)


# --- it does not
@pytest.mark.parametrize("then", ["exit 0", "exit 3"])
def test_a_job_that_ends_by_sigterm_after_the_withdrawal_is_requeued_as_before(cx, then):
    c = planner(cx, delay=LONG)
    victim = started(cx, f"until test -f end; do sleep 0.05; done; {then}")
    urgent = planned(cx, c, victim)
    cx.api.delete(urgent)
    withdrawn(cx, victim)
    touch(cx, "end")
    assert is_requeued(cx, victim, urgent)["method"] == "R"
    s = cx.stat(victim)
    assert not s.get("comment", "").startswith(("Preemption withdrawn", "Job run at"))


def test_a_job_that_ends_by_sigterm_after_the_withdrawal_is_deleted_as_before(cx):
    c = planner(cx, "D", delay=LONG)
    victim = started(cx, "until test -f end; do sleep 0.05; done; exit 0")
    cx.api.delete(planned(cx, c, victim))
    withdrawn(cx, victim)
    touch(cx, "end")
    s = until(lambda: (s := cx.stat(victim, "x")).state == "F" and s, "the end of the job")
    assert s["Exit_status"] == "271" and s["preempt_count"] == "1"


def test_an_end_that_crosses_the_withdrawal_requeues_the_job(cx):
    """The MOM says that the job has ended when the server has withdrawn the order."""
    c = planner(cx, delay=LONG)
    victim = started(cx, "until test -f end; do sleep 0.05; done; exit 1")
    urgent = planned(cx, c, victim)
    with faults.daemon_frozen(cx, "n1"):
        touch(cx, "end")
        cx.api.delete(urgent)
        withdrawn(cx, victim)
    assert is_requeued(cx, victim, urgent)["method"] == "R"


def test_a_job_that_is_killed_already_is_requeued_whatever_becomes_of_its_plan(cx):
    c = planner(cx, delay="0")
    victim = started(cx)
    urgent = cx.submit(select="1:ncpus=4")
    with faults.daemon_frozen(cx, "n1"):
        c.preempt_run(urgent, ROOM, [victim])
        cx.api.delete(urgent)
    cx.wait(victim, "Q")


def test_a_checkpoint_that_is_being_taken_is_not_withdrawn(cx):
    path = script(cx, "save", f"cd {cx.work}; echo up > saving; until test -f saved; do sleep 0.05; done; mkdir -p $1 && echo image > $1/core")
    configure(cx, f"$action checkpoint_abort 60 !{path} %path")
    c = planner(cx, "C")
    victim = started(cx)
    urgent = cx.submit(select="1:ncpus=4")
    c.preempt_run(urgent, ROOM, [victim])
    until(lambda: cx.file("saving"), "the checkpoint to begin")
    cx.api.delete(urgent)
    touch(cx, "saved")
    assert is_requeued(cx, victim, urgent)["method"] == "C"


# --- another wish meanwhile
def test_a_victim_that_is_deleted_after_the_withdrawal_has_its_time_again(cx):
    c = planner(cx, delay=LONG)
    victim = started(cx)
    cx.api.delete(planned(cx, c, victim))
    withdrawn(cx, victim)
    cx.api.delete(victim)
    told(cx, 2)
    touch(cx, "go")
    s = until(lambda: (s := cx.stat(victim, "x")).state == "F" and s, "the end of the job")
    assert s["Exit_status"] == "271" and s.get("preempt_count") in (None, "0")
    assert "v" not in [letter for letter, _ in accounting(cx, victim)]


def test_a_second_urgent_job_has_the_same_victim_again(cx):
    c = planner(cx, delay=LONG)
    victim = started(cx)
    cx.api.delete(planned(cx, c, victim))
    withdrawn(cx, victim)
    urgent = planned(cx, c, victim)
    assert len(lines(cx, "told")) == 2 and cx.stat(victim)["gives_way"] == "True"
    touch(cx, "go")
    cx.wait(urgent)
    assert is_requeued(cx, victim, urgent)["method"] == "R"


def test_a_victim_survives_two_plans_one_after_the_other(cx):
    c = planner(cx)
    victim = started(cx)
    for times in (1, 2):
        cx.api.delete(planned(cx, c, victim))
        stays(cx, victim, times)
    ends_well(cx, victim)


# --- on two hosts
def test_a_job_on_two_hosts_runs_on_although_it_has_no_process_on_the_second(cx):
    c = planner(cx)
    victim = started(cx, where=BOTH, select="2:ncpus=4")
    cx.api.delete(planned(cx, c, victim))
    stays(cx, victim)
    ends_well(cx, victim)


def test_a_task_on_the_second_host_survives_with_its_job(cx):
    c = planner(cx)
    task = "trap 'echo task >> task_told' TERM; echo up > task_up; until test -f task_go; do sleep 0.05; done; echo ended > task_ended"
    victim = started(cx, where=BOTH, select="2:ncpus=4",
                     before=f"cat > task.sh <<'E'\ncd {cx.work}\n{task}\nE\npbs_tmrsh n2 sh {cx.work}/task.sh &\n"
                            "until test -f task_up; do sleep 0.05; done\n")
    cx.api.delete(planned(cx, c, victim))
    stays(cx, victim)
    assert lines(cx, "task_told") == ["task"]
    touch(cx, "task_go")
    until(lambda: cx.file("task_ended"), "the task to end")
    ends_well(cx, victim)


def test_a_job_that_has_ended_on_its_second_host_ends(cx):
    """One host cannot call it back: the other gets SIGTERM again."""
    c = planner(cx, delay=LONG)
    victim = started(cx, where=BOTH, select="2:ncpus=4")
    urgent = planned(cx, c, victim)
    with faults.daemon_frozen(cx, "n2"):
        cx.api.delete(urgent)
        withdrawn(cx, victim)
        kill_shepherd(cx, victim.split(".")[0], "n2")
    told(cx, 2)
    touch(cx, "go")
    cx.wait(victim, "Q")


# --- daemons die
def stays_after_restart(cx, victim, daemon):
    cx.restart(daemon)
    cx.again()
    cx.hosts_back()
    stays(cx, victim)
    ends_well(cx, victim)


@pytest.mark.parametrize("daemon", ["server", "n1"])
def test_a_withdrawal_outlives_the_death_of(cx, daemon):
    """The host could not answer before: the order is given again."""
    c = planner(cx, delay="8")
    victim = started(cx)
    urgent = planned(cx, c, victim)
    with faults.daemon_frozen(cx, "n1"):
        cx.api.delete(urgent)
        withdrawn(cx, victim)
        cx.kill(daemon)
    stays_after_restart(cx, victim, daemon)


@pytest.mark.parametrize("daemon", ["server", "n1"])
def test_what_the_host_has_been_told_outlives_the_death_of(cx, daemon):
    c = planner(cx, delay="8")
    victim = started(cx)
    cx.api.delete(planned(cx, c, victim))
    cx.wait_log("n1", f"{victim};signal job with withdraw")
    cx.kill(daemon)
    stays_after_restart(cx, victim, daemon)


def test_a_plan_that_is_undone_while_the_mom_is_away_is_withdrawn_when_it_is_back(cx):
    c = planner(cx, delay="12")
    victim = started(cx)
    urgent = planned(cx, c, victim)
    cx.kill("n1")
    cx.api.delete(urgent)
    withdrawn(cx, victim)
    cx.restart("n1")
    stays(cx, victim)
    ends_well(cx, victim)


def test_a_mom_that_comes_back_too_late_says_that_the_job_has_ended(cx):
    c = planner(cx, delay="2")
    victim = started(cx, before="echo $$ > pid\n")
    urgent = planned(cx, c, victim)
    cx.kill("n1")
    cx.api.delete(urgent)
    until(lambda: not faults.is_alive(int(cx.file("pid"))), "the job to be killed")
    cx.restart("n1")
    assert is_requeued(cx, victim, urgent)["method"] == "R"
