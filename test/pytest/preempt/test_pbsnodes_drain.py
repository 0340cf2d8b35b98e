"""An operator drains a host: pbsnodes -o --drain (doc/preemption.md, "Draining a host")."""
import time

import pytest

from harness import checkpoints
from harness.wait import until
from harness.work import account_lines

alone = pytest.mark.complex(history=True, sched=False)


def start(cx, text="exec sleep 600", **attrs):
    job = cx.submit(text, select="1:ncpus=1", **attrs)
    cx.api.run(job, "(n1:ncpus=1)")
    checkpoints.running(cx, job)
    return job


def three(cx):
    """One that saves itself, one that may run again, one that may do neither."""
    saved = start(cx, checkpoints.COUNTER.format(work=cx.work), preempt_methods="C")
    until(lambda: (cx.file("now") or "").strip(), "the first count")
    return saved, start(cx), start(cx, Rerunable="n")


def record_of(cx, job):
    return next((line for line in account_lines(cx) if f";v;{job};" in line), None)


@alone
def test_jobs_leave_a_drained_host_by_the_first_letter_that_can_be_applied_and_others_stay(cx):
    saved, again, neither = three(cx)
    cx.command("pbsnodes", "-o", "--drain=CR", "n1")
    cx.wait(saved, "Q")
    cx.wait(again, "Q")
    n = until(lambda: (n := cx.node("n1"))["drain_left"] == "1" and n, "its progress")
    assert "offline" in n["state"] and int(n["drain_begun"]) > 0 and neither in n["jobs"]
    assert cx.stat(saved)["preempt_method"] == "C" and cx.stat(again)["preempt_method"] == "Q"
    assert cx.state(neither) == "R" and "saved" in cx.file("counts")
    line = until(lambda: record_of(cx, again), "its record")
    assert "method=R" in line and "preempted_by=drain:n1" in line
    cx.api.delete(neither)
    until(lambda: cx.node("n1")["drain_left"] == "0", "the end of its progress")


@alone
def test_with_D_the_rest_is_deleted(cx):
    job = start(cx, Rerunable="n")
    cx.command("pbsnodes", "-o", "--drain=CRD", "n1")
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] != "0"


@alone
def test_notice_is_given_and_pbsnodes_r_takes_it_back(cx):
    job = start(cx)
    cx.set_sched("preempt_grace", "600")
    cx.command("pbsnodes", "-o", "--drain=R", "n1")
    until(lambda: cx.stat(job).get("preempt_deadline"), "its notice")
    cx.command("pbsnodes", "-r", "n1")
    until(lambda: "preempt_deadline" not in cx.stat(job), "the end of its notice")
    n = cx.node("n1")
    assert cx.state(job) == "R" and n["state"] == "free" and not [name for name in n if name.startswith("drain")]


@alone
def test_a_drain_at_a_time_survives_a_restart_of_the_server_and_begins_then(cx):
    job = start(cx)
    cx.qmgr(f"set node n1 drain = R, drain_at = {int(time.time()) + 3600}")
    assert "drain_begun" not in cx.node("n1") and cx.state(job) == "R"
    cx.qmgr(f"set node n1 drain_at = {int(time.time()) + 5}")
    cx.kill("server")
    cx.restart("server")
    cx.again()
    cx.wait(job, "Q")
    assert int(cx.node("n1")["drain_begun"]) >= int(cx.node("n1")["drain_at"])


@alone
def test_a_drain_goes_on_after_a_restart_in_its_middle(cx):
    job = start(cx)
    cx.set_sched("preempt_grace", "5")
    cx.command("pbsnodes", "-o", "--drain=R", "n1")
    until(lambda: cx.stat(job).get("preempt_deadline"), "its notice")
    cx.kill("server")
    cx.restart("server")
    cx.again()
    cx.wait(job, "Q")
    assert cx.stat(job)["preempt_count"] == "1"


@alone
@pytest.mark.parametrize("words, said", [(("--drain=R",), "--drain goes with -o"), (("-o", "--at", "2330"), "--at goes with"),
                                         (("-o", "--drain=S"), ""), (("-o", "--drain=R", "--at", "noon"), "")])
def test_contradicting_options_are_refused_and_change_nothing(cx, words, said):
    done = cx.command("pbsnodes", *words, "n1", check=False)
    assert done.returncode != 0 and said in done.stderr
    assert cx.node("n1")["state"] == "free" and "drain" not in cx.node("n1")


@alone
def test_only_an_operator_drains(cx):
    from harness import users
    done = cx.command("pbsnodes", "-o", "--drain=R", "n1", user=users.NAMES[0], check=False)
    assert done.returncode != 0 and "drain" not in cx.node("n1")


@alone
def test_a_job_that_can_be_saved_only_later_stays_for_a_reason_and_leaves_then(cx):
    """Its program asks for the signal when the host drains already."""
    job = start(cx, checkpoints.HANDLES_LATER.format(work=cx.work))
    cx.command("pbsnodes", "-o", "--drain=C", "n1")
    n = until(lambda: (n := cx.node("n1")).get("drain_stays") and n, "the reason")
    assert n["drain_left"] == "1" and n["drain_stays"] == f"{job} (C: its program does not save itself)"
    assert "drain_stays" in cx.command("pbsnodes", "-v", "n1").stdout and cx.state(job) == "R"
    with open(f"{cx.work}/handle", "w", encoding="ascii"):
        pass
    cx.wait(job, "Q")
    assert cx.stat(job)["preempt_method"] == "C" and cx.stat(job)["preempted_by"] == "drain:n1"
    until(lambda: cx.node("n1")["drain_left"] == "0" and "drain_stays" not in cx.node("n1"), "an empty host")


@alone
def test_the_reason_names_each_letter_that_cannot_be_applied(cx):
    job = start(cx, Rerunable="n", Checkpoint="n")
    cx.command("pbsnodes", "-o", "--drain=CR", "n1")
    until(lambda: cx.node("n1").get("drain_stays") ==
          f"{job} (C: it wants no checkpoint; R: it is not rerunable)", lambda: cx.node("n1"))
    cx.command("pbsnodes", "-r", "n1")
    assert "drain_stays" not in cx.node("n1")
