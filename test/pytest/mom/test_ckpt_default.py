"""Checkpoints without a line of configuration: which adapters work on a host, and which jobs can be saved there."""
import os
import signal

import pytest

from harness.checkpoints import COUNTER, count, preempt, running, stop
from harness.faults import is_alive, stays, words_of
from harness.mom_priv import configure, configure_live, priv, script
from harness.wait import until

history = pytest.mark.complex(history=True)
alone = pytest.mark.complex(history=True, sched=False)
PLAIN = "while :; do sleep 0.1; done"


def quick_samples(cx):
    """A handler is seen when usage is sampled."""
    configure(cx, "$min_check_poll 1", "$max_check_poll 1")


def installation(cx, **adapters):
    """The MOM of n1 starts from a copy of the installation in which these adapters are other scripts."""
    top = os.path.join(cx.dir, "installation")
    os.makedirs(os.path.join(top, "libexec"))
    for name in os.listdir(cx.build):
        if name != "libexec":
            os.symlink(os.path.join(cx.build, name), os.path.join(top, name))
    for name in os.listdir(os.path.join(cx.build, "libexec")):
        path = os.path.join(top, "libexec", name)
        if name.removeprefix("ckpt-") in adapters:
            with open(path, "w", encoding="ascii") as f:
                f.write("#!/bin/sh\n" + adapters[name.removeprefix("ckpt-")] + "\n")
            os.chmod(path, 0o755)
        else:
            os.symlink(os.path.join(cx.build, "libexec", name), path)
    conf = os.path.join(cx.dir, "mom", "n1", "pbs.conf")
    with open(conf, encoding="ascii") as f:
        lines = [line if not line.startswith("PBS_EXEC=") else f"PBS_EXEC={top}\n" for line in f]
    with open(conf, "w", encoding="ascii") as f:
        f.writelines(lines)
    cx.restart("n1")
    until(lambda: cx.node("n1")["state"] == "free", "the node")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def by(cx, job):
    return cx.stat(job).get("checkpoint_by")


def start(cx, text=PLAIN, **attrs):
    job = cx.submit(text, **attrs)
    cx.api.run(job, "(n1:ncpus=1)")
    running(cx, job)
    return job


# --- what works on a host


def test_a_host_says_what_saves_jobs_there_and_why_the_others_do_not(cx):
    def known():
        """The probes end one after the other."""
        n = cx.node("n1")
        missing = dict(part.split(": ", 1) for part in n.get("checkpoint_missing", "").split("; ") if part)
        works = n.get("checkpoint", "").split(",")
        return (missing, works) if set(missing) | set(works) == {"app", "criu", "dmtcp"} else None
    missing, works = until(known, lambda: str(cx.node("n1")))
    assert works[0] == "app" and set(missing) <= {"criu", "dmtcp"} and all(missing.values())
    shown = cx.command("pbsnodes", "-v", "n1").stdout
    assert "checkpoint = app" in shown and "checkpoint_missing = " in shown


def test_actions_of_the_site_go_before_the_adapter_of_the_mom_and_end_with_their_line(cx):
    path = script(cx, "save", "mkdir $1; echo state >$1/core")
    configure(cx, f"$action checkpoint_abort 20 !{path} %path")
    until(lambda: cx.node("n1").get("checkpoint") == "site,app", lambda: cx.node("n1").get("checkpoint"))
    job = cx.submit(PLAIN)
    running(cx, job)
    assert until(lambda: by(cx, job), "what can be done") == "host"
    with open(priv(cx, "config"), encoding="ascii") as f:
        lines = [line for line in f if "$action" not in line]
    with open(priv(cx, "config"), "w", encoding="ascii") as f:
        f.writelines(lines)
    configure_live(cx)
    until(lambda: by(cx, job) == "none", "the end of what the site's script could do")
    until(lambda: cx.node("n1")["checkpoint"] == "app", lambda: cx.node("n1")["checkpoint"])


def test_a_site_may_say_that_nothing_is_saved(cx):
    configure(cx, "$checkpoint_adapter none")
    job = cx.submit(PLAIN, Checkpoint="c=1")
    running(cx, job)
    assert until(lambda: by(cx, job), "what can be done") == "none"
    until(lambda: cx.node("n1").get("checkpoint", "").startswith("none"), "its word")


def test_a_name_that_is_not_an_adapter_is_refused_and_what_was_stays(cx):
    with open(priv(cx, "config"), "a", encoding="ascii") as f:
        f.write("$checkpoint_adapter blcr\n")
    os.kill(cx.pid("n1"), signal.SIGHUP)
    until(lambda: "the old configuration stays" in cx.log("n1"), "the new configuration")
    cx.wait_log("n1", "is not one of app, criu, dmtcp, none")
    until(lambda: cx.node("n1").get("checkpoint", "").startswith("app"), lambda: cx.node("n1").get("checkpoint"))


def test_a_probe_that_hangs_keeps_neither_the_mom_nor_its_jobs(cx):
    installation(cx, criu="[ $1 = --probe ] && exec sleep 600")
    child = until(lambda: [p for p in children(cx.pid("n1")) if words_of(p)[:2] == ["sleep", "600"]], "the probe")
    cx.wait_gone(cx.submit("exit 0"))
    until(lambda: cx.node("n1").get("checkpoint") == "app", lambda: cx.node("n1").get("checkpoint"))
    assert is_alive(child[0])
    cx.kill("n1")  # for the test's own sake: its child is in a session of its own
    os.kill(child[0], signal.SIGKILL)


def test_an_adapter_that_fails_its_probe_saves_nothing_and_the_host_says_why(cx):
    installation(cx, app="echo first words; echo 'there is no; such thing'; exit 1")
    n = until(lambda: (n := cx.node("n1")).get("checkpoint") == "none" and n.get("checkpoint_missing") and n, "the end of the probes")
    assert "app: there is no  such thing" in n["checkpoint_missing"]
    job = cx.submit(PLAIN, Checkpoint="c=1")
    running(cx, job)
    until(lambda: by(cx, job) == "none", "the word of the host")


# --- which jobs can be saved


@alone
def test_only_a_job_that_says_it_saves_itself_is_preempted_by_checkpoint(cx):
    plain = start(cx)
    assert by(cx, plain) == "none"
    assert preempt(cx, plain, "CR") == {plain: "Q"}
    assert "no process of the job has a handler" not in cx.log("n1")  # it was not even asked
    for attrs, said in (({"Checkpoint": "c=10"}, "-c"), ({"preempt_methods": "CR"}, "preempt_methods")):
        cx.blank("counts", "now")
        job = start(cx, COUNTER.format(work=cx.work), **attrs)
        assert by(cx, job) == said
        until(lambda: (cx.file("now") or "").strip(), "the first count")
        assert preempt(cx, job, "CR") == {job: "C"}
        assert "saved" in cx.file("counts")
        cx.api.delete(job)


@alone
def test_a_job_that_wants_no_checkpoint_is_not_saved_whatever_else_it_says(cx):
    job = start(cx, COUNTER.format(work=cx.work), Checkpoint="n", preempt_methods="CR")
    assert by(cx, job) == "none"
    assert preempt(cx, job, "CR") == {job: "Q"}


@alone
def test_a_program_with_a_handler_is_seen_to_save_itself(cx):
    quick_samples(cx)
    job = start(cx, COUNTER.format(work=cx.work))
    until(lambda: by(cx, job) == "handler", "the sight of its handler")
    assert preempt(cx, job, "CR") == {job: "C"}


@history
def test_an_urgent_job_does_not_wait_for_a_sample_of_usage_to_have_a_program_saved(cx):
    configure(cx, "$min_check_poll 3600", "$max_check_poll 3600")
    job = count(cx)
    cx.qmgr("create queue fast queue_type=execution, enabled=true, started=true, Priority=200")
    cx.set_sched("preempt_order", "C")
    urgent = cx.submit("exit 0", queue="fast", select="1:ncpus=1", l_place="excl")
    cx.wait_gone(urgent)
    assert cx.stat(job)["preempt_method"] == "C"
    stop(cx)
    cx.wait_gone(job)


@alone
def test_a_job_says_it_later_by_qalter(cx):
    job = start(cx)
    assert by(cx, job) == "none"
    cx.api.alter(job, [("preempt_methods", "", "C")])
    assert by(cx, job) == "preempt_methods"


@alone
def test_a_handler_that_was_for_something_else_is_believed_once(cx):
    quick_samples(cx)
    real = os.path.join(cx.build, "libexec", "ckpt-app")
    installation(cx, app=f"[ $1 = --probe ] && exit 0; echo $1 >> {cx.work}/asked; exec {real} USR1 1")
    job = start(cx, "trap : USR1\nwhile :; do sleep 0.1; done")
    until(lambda: by(cx, job) == "handler", "the sight of its handler")
    assert preempt(cx, job, "C") == {job: "000"}
    assert by(cx, job) == "none" and cx.file("asked") == "USR1\n"
    assert preempt(cx, job, "C") == {job: "000"}
    assert cx.file("asked") == "USR1\n"


@alone
def test_a_launcher_of_mpi_is_neither_counted_nor_sent_the_signal(cx):
    """It would pass the signal on to processes that die of it."""
    quick_samples(cx)
    launcher = os.path.join(cx.work, "mpirun")
    with open(launcher, "w", encoding="ascii") as f:
        f.write("#!/bin/bash\ntrap 'kill -USR1 $child' USR1\nsleep 600 & child=$!\n"
                "while kill -0 $child; do wait $child; done\n")
    os.chmod(launcher, 0o755)
    job = start(cx, f"exec {launcher}", preempt_methods="CR")
    assert by(cx, job) == "preempt_methods"
    assert preempt(cx, job, "CR") == {job: "Q"}  # it said so, and could not: the next letter
    assert stays(lambda: "no process of the job has a handler" in cx.log("n1"), 0.1)


@history
def test_a_newcomers_complex_saves_a_job_of_the_documentation_without_a_line_of_configuration(cx):
    job = count(cx, preempt_methods="C")
    cx.qmgr("create queue fast queue_type=execution, enabled=true, started=true, Priority=200")
    urgent = cx.submit("exit 0", queue="fast", select="1:ncpus=1", l_place="excl")
    cx.wait_gone(urgent)
    until(lambda: cx.file("counts").count("begin") == 2, "the second start")
    lines = cx.file("counts").splitlines()
    assert lines[1].startswith("saved ") and lines[2] == "begin " + lines[1].split()[1]
    stop(cx)
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "0" and cx.stat(job)["preempt_method"] == "C"


@history
def test_a_scheduler_does_not_plan_a_checkpoint_of_a_job_that_cannot_be_saved(cx):
    job = cx.submit(PLAIN)
    running(cx, job)
    until(lambda: by(cx, job) == "none", "what can be done")
    cx.qmgr("create queue fast queue_type=execution, enabled=true, started=true, Priority=200")
    cx.set_sched("preempt_order", "CR")
    urgent = cx.submit("exit 0", queue="fast", select="1:ncpus=1", l_place="excl")
    cx.wait_gone(urgent)
    s = cx.stat(job)
    assert s["preempt_method"] == "Q"
    assert "tried R" in until(lambda: (t := cx.log("server")) and "preempted: R" in t and t, "its log")
