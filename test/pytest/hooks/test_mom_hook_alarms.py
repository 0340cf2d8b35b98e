"""Hooks of hosts that loop until their alarm, or whose worker dies: those of the host itself, and those of a job's sisters."""
import pytest

from harness.wait import until
from hooks.test_mom_hook_asks import there
from hooks.test_mom_hooks import empty, ended, marks, mom_log, note
from hooks.test_mom_hooks_more import running

BOTH = "1:ncpus=1:host=n1+1:ncpus=1:host=n2"
HOW = {"loops": "while True: pass", "dies": "os.kill(os.getpid(), 9)"}
SAID = {"loops": "alarm call while running {} hook 'bad', request rejected", "dies": "{} hook 'bad' encountered an exception, request rejected"}

pytestmark = [pytest.mark.complex(nodes=2, history=True), pytest.mark.parametrize("how", HOW)]


def bad(cx, hooks, event, how, node, **more):
    """A hook whose first run on this host does not end well."""
    empty(cx)
    hooks.make("bad", event, f"import os\nif pbs.get_local_nodename() == '{node}':\n    " + note(cx, "'ran'").replace("\n    ", "\n        ") +
               f"    if len(open('{cx.work}/marks').readlines()) == 1:\n        {HOW[how]}", alarm=1, **more)


def said(cx, event, how, node):
    until(lambda: SAID[how].format(event) in mom_log(cx, node), "the line of the log")


def test_a_bad_hook_of_the_start_takes_its_host_away_and_the_mom_lives(complex, hooks, how):
    bad(complex, hooks, "exechost_startup", how, "n1", fail_action="'offline_vnodes,clear_vnodes_upon_recovery'")
    there(complex, "bad.PY", "bad.HK")
    complex.restart("n1")
    until(lambda: "offline" in complex.node("n1").state, "n1 offline")
    said(complex, "exechost_startup", how, "n1")
    assert complex.node("n1")["comment"] == "offlined by hook 'bad' due to hook error" and "offline" not in complex.node("n2").state
    complex.restart("n1")
    until(lambda: complex.node("n1").state == "free", "n1 free")


def test_a_bad_periodic_hook_of_a_host_is_said_and_has_its_next_turn(complex, hooks, how):
    bad(complex, hooks, "exechost_periodic", how, "n1", freq=1)
    until(lambda: len(marks(complex)) > 1, "the next turn")
    log = mom_log(complex)
    assert f"Non-zero exit status {'253' if how == 'loops' else '254'} encountered for periodic hook" in log
    assert "exechost_periodic request rejected by 'bad'" in log
    assert ended(complex, complex.submit("true", select="1:ncpus=1:host=n1"))["Exit_status"] == "0"


@pytest.mark.parametrize("event, runs", [("execjob_begin", "2"), ("execjob_prologue", "2"), ("execjob_epilogue", "1"), ("execjob_end", "1")])
def test_a_bad_hook_of_a_sister_costs_its_step_and_no_more(complex, hooks, event, runs, how):
    bad(complex, hooks, event, how, "n2")
    done = ended(complex, complex.submit("true", select=BOTH, l_place="scatter"))
    assert (done["Exit_status"], done["run_count"]) == ("0", runs)
    said(complex, event, how, "n2")


def test_a_bad_preterm_hook_of_a_sister_does_not_keep_the_job(complex, hooks, how):
    bad(complex, hooks, "execjob_preterm", how, "n2")
    job = running(complex, select=BOTH, l_place="scatter")
    complex.command("qdel", job)
    assert ended(complex, job)["Exit_status"] == "271"
    said(complex, "execjob_preterm", how, "n2")


def test_a_bad_postsuspend_hook_of_a_sister_leaves_the_job_suspended(complex, hooks, how):
    bad(complex, hooks, "execjob_postsuspend", how, "n2")
    job = running(complex, select=BOTH, l_place="scatter")
    complex.api.signal(job, "suspend")
    complex.wait(job, state="S")
    said(complex, "execjob_postsuspend", how, "n2")
    complex.api.signal(job, "resume")
    complex.wait(job, state="R")


def test_a_bad_preresume_hook_of_a_sister_fails_the_resumption(complex, hooks, how):
    bad(complex, hooks, "execjob_preresume", how, "n2")
    job = running(complex, select=BOTH, l_place="scatter")
    complex.api.signal(job, "suspend")
    complex.wait(job, state="S")
    assert complex.command("qsig", "-s", "resume", job, check=False).returncode != 0
    assert complex.state(job) == "S"
    said(complex, "execjob_preresume", how, "n2")
    until(lambda: complex.command("qsig", "-s", "resume", job, check=False).returncode == 0, "another resumption, when n1 has stopped it again")
    complex.wait(job, state="R")


def test_a_bad_abort_hook_of_a_sister_lets_the_job_go_back(complex, hooks, how):
    hooks.make("no", "execjob_begin", f"import os\nif pbs.get_local_nodename() == 'n2' and not os.path.exists('{complex.work}/marks'): e.reject('no')")
    bad(complex, hooks, "execjob_abort", how, "n2")
    assert ended(complex, complex.submit("true", select=BOTH, l_place="scatter"))["run_count"] == "2"
    said(complex, "execjob_abort", how, "n2")
