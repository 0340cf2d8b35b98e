"""Hooks of execution hosts: what an epilogue decides about the job, loops in steps of a running job, MOMs that are killed in them, and what outlives the server."""
import pytest

from harness import api, tasks
from harness.wait import until
from hooks.test_mom_hooks import empty, ended, marks, mom_log, note
from hooks.test_mom_hook_asks import there
from hooks.test_mom_hooks_more import background, running
from hooks.test_task_hooks import attach

N1 = "1:ncpus=1:host=n1"

pytestmark = pytest.mark.complex(nodes=2, history=True)


def alarm_text(event):
    return f"alarm call while running {event} hook 'loops', request rejected"


def loops(cx, hooks, event):
    """A hook whose first run loops until its alarm."""
    empty(cx)
    hooks.make("loops", event, note(cx, "'ran'") + f"if len(open('{cx.work}/marks').readlines()) == 1:\n    while True: pass", alarm=1)


def waits(cx, hooks, event, **attrs):
    """A hook that notes that it runs, and ends when the file `go` is there."""
    empty(cx, "marks", "go")
    hooks.make("waits", event, "import os, time\nif pbs.get_local_nodename() == 'n1':\n    " + note(cx, "'asked'").replace("\n    ", "\n        ") +
               f"    while not os.path.exists('{cx.work}/go'): time.sleep(0.05)", **attrs)


def killed_in_the_hook(cx):
    """Kill the MOM of n1 while its hook runs, and start it again."""
    until(lambda: marks(cx) == ["asked"], "the hook")
    cx.kill("n1")
    cx.blank("go")
    cx.restart("n1")
    until(lambda: "down" not in cx.node("n1").state, "n1 is back")


# ---- the epilogue decides ----

@pytest.mark.parametrize("text, status, runs", [
    ("e.reject('dirty')", "271", "1"), ("e.job.delete()", "-19", "1"), ("e.job.delete()\ne.reject('dirty')", "-19", "1"),
    ("e.job.delete()\ne.job.rerun()\ne.reject('dirty')", "-19", "1"), ("raise Exception('ignored')", None, "2")])
def test_a_job_that_was_to_run_again_does_what_its_epilogue_says(complex, hooks, text, status, runs):
    hooks.make("judges", "execjob_epilogue", f"if e.job.run_count == 1:\n    " + text.replace("\n", "\n    "))
    job = running(complex, select=N1)
    complex.command("qrerun", job, check=False)
    if status is None:
        until(lambda: complex.stat(job)["run_count"] == runs, "the second run")
        return
    done = ended(complex, job)
    assert done["Exit_status"] == status and done["run_count"] == runs
    if status == "-19":
        complex.wait_log("server", f"Node;n1;hook request delete {job}")


def test_the_epilogue_of_a_sister_keeps_a_job_from_running_again(complex, hooks):
    hooks.make("judges", "execjob_epilogue", "if pbs.get_local_nodename() == 'n2':\n    e.reject('dirty')")
    job = running(complex, select="2:ncpus=1", l_place="scatter")
    complex.command("qrerun", job, check=False)
    assert ended(complex, job)["run_count"] == "1"
    assert "hook 'judges' of n2 has rejected it: it does not run again" in complex.logs("server", 4000)


def test_a_rejected_epilogue_is_remembered_by_a_server_that_is_killed_before_the_end(complex, hooks):
    hooks.make("judges", "execjob_epilogue", "e.reject('dirty')")
    waits(complex, hooks, "execjob_end")
    job = running(complex, select=N1)
    with background(complex, "qrerun", job) as qrerun:
        until(lambda: marks(complex) == ["asked"], "the end hook")
        until(lambda: "hook 'judges' of n1 has rejected it" in complex.logs("server", 4000), "the rejection at the server")
        complex.qmgr("set server comment=stored")  # answered when it and what came before are stored
        complex.kill("server")
        qrerun.wait(120)
    complex.blank("go")
    complex.restart("server")
    complex.again()
    assert ended(complex, job)["run_count"] == "1"


# ---- loops ----

def test_a_loop_in_preterm_refuses_the_deletion_at_its_alarm(complex, hooks):
    loops(complex, hooks, "execjob_preterm")
    job = running(complex, select=N1)
    said = complex.command("qdel", job, check=False)
    assert said.stderr == f"qdel: request rejected as filter hook 'loops' got an alarm call. Please inform Admin {job}\n"
    assert complex.state(job) == "R" and f"Job;{job};{alarm_text('execjob_preterm')}" in mom_log(complex)
    complex.command("qdel", job)
    assert ended(complex, job)["Exit_status"] == "271"


def test_a_loop_in_attach_keeps_the_process_outside_at_its_alarm(complex, hooks):
    job = tasks.running(complex, "sleep 600", N1)
    loops(complex, hooks, "execjob_attach")
    until(lambda: attach(complex, job, "true").returncode == 1, "the hook on its host")
    assert alarm_text("execjob_attach") in mom_log(complex)
    assert attach(complex, job, "true").returncode == 0 and complex.state(job) == "R"


def test_a_loop_in_resize_is_logged_at_its_alarm_and_the_job_runs_on(complex, hooks):
    loops(complex, hooks, "execjob_resize")
    job = running(complex, select="2:ncpus=1", l_place="scatter")
    complex.command("pbs_release_nodes", "-j", job, "n2")
    until(lambda: "execjob_resize hook rejected request: request rejected as filter hook 'loops' got an alarm call" in mom_log(complex), "the log")
    assert f"Job;{job};{alarm_text('execjob_resize')}" in mom_log(complex)
    assert complex.state(job) == "R"


def test_a_loop_in_postsuspend_is_logged_at_its_alarm_and_the_job_stays_suspended(complex, hooks):
    loops(complex, hooks, "execjob_postsuspend")
    job = running(complex, select=N1)
    complex.api.signal(job, "suspend")
    complex.wait(job, state="S")
    until(lambda: "execjob_postsuspend hook rejected request: request rejected as filter hook 'loops' got an alarm call" in mom_log(complex), "the log")
    assert complex.state(job) == "S"
    complex.api.signal(job, "resume")
    complex.wait(job, state="R")


def test_a_loop_in_preresume_fails_the_resumption_at_its_alarm(complex, hooks):
    loops(complex, hooks, "execjob_preresume")
    job = running(complex, select=N1)
    complex.api.signal(job, "suspend")
    complex.wait(job, state="S")
    assert complex.command("qsig", "-s", "resume", job, check=False).returncode != 0
    assert complex.state(job) == "S" and f"Job;{job};{alarm_text('execjob_preresume')}" in mom_log(complex)
    complex.api.signal(job, "resume")
    complex.wait(job, state="R")


def test_a_loop_in_abort_is_ended_at_its_alarm_and_the_job_goes_back(complex, hooks):
    complex.set_server("scheduling", "False")
    hooks.make("no", "execjob_begin", "e.reject('no')")
    loops(complex, hooks, "execjob_abort")
    job = complex.submit("true")
    with pytest.raises(api.PbsError):
        complex.api.run(job, "n1")
    complex.wait(job, state="Q")
    assert f"Job;{job};{alarm_text('execjob_abort')}" in mom_log(complex)


# ---- MOMs that are killed ----

def test_a_mom_that_is_killed_in_an_abort_hook_runs_it_again(complex, hooks):
    complex.set_server("scheduling", "False")
    hooks.make("no", "execjob_begin", "e.reject('no')")
    waits(complex, hooks, "execjob_abort")
    job = complex.submit("true")
    with background(complex, "qrun", "-H", "n1", job) as qrun:
        killed_in_the_hook(complex)
        qrun.wait(120)
    complex.wait(job, state="Q")
    assert marks(complex) == ["asked", "asked"]


def test_a_mom_that_is_killed_in_a_preresume_hook_resumes_the_job_after_it(complex, hooks):
    job = running(complex, select=N1)
    complex.api.signal(job, "suspend")
    complex.wait(job, state="S")
    waits(complex, hooks, "execjob_preresume")
    with background(complex, "qsig", "-s", "resume", job) as qsig:
        killed_in_the_hook(complex)
        qsig.wait(120)
    complex.wait(job, state="R")
    assert set(marks(complex)) == {"asked"} and len(marks(complex)) > 1


def test_a_mom_that_is_killed_in_a_postsuspend_hook_runs_it_again(complex, hooks):
    waits(complex, hooks, "execjob_postsuspend")
    job = running(complex, select=N1)
    complex.api.signal(job, "suspend")
    killed_in_the_hook(complex)
    complex.wait(job, state="S")
    until(lambda: marks(complex) == ["asked", "asked"], "the hook again")


def test_a_mom_that_is_killed_in_a_resize_hook_runs_it_again(complex, hooks):
    waits(complex, hooks, "execjob_resize")
    job = running(complex, select="1:ncpus=1:host=n1+1:ncpus=1:host=n2", l_place="scatter")
    complex.command("pbs_release_nodes", "-j", job, "n2")
    killed_in_the_hook(complex)
    until(lambda: marks(complex) == ["asked", "asked"], "the hook again")
    assert complex.state(job) == "R"


@pytest.mark.parametrize("event, more", [("exechost_startup", {}), ("exechost_periodic", {"freq": 1})])
def test_a_mom_that_is_killed_in_a_hook_of_its_host_runs_it_again(complex, hooks, event, more):
    waits(complex, hooks, event, **more)
    if event == "exechost_startup":
        there(complex, "waits.PY", "waits.HK")
        complex.restart("n1")
    until(lambda: marks(complex), "the hook")
    complex.kill("n1")
    complex.blank("go")
    complex.restart("n1")
    until(lambda: len(marks(complex)) > 1, "the hook again")


# ---- what outlives the server ----

HOST_SAYS = """if pbs.get_local_nodename() == 'n1':
    e.vnode_list['n1'].resources_available['cards'] = 3
    e.vnode_list['n1.made'] = pbs.vnode('n1.made')
    e.vnode_list['n1.made'].resources_available['mem'] = pbs.size('9gb')
"""


@pytest.fixture
def cards(complex):
    """The resource that HOST_SAYS sets."""
    complex.qmgr("create resource cards type=long,flag=nh")
    yield
    complex.qmgr("delete resource cards")


@pytest.mark.usefixtures("cards")
def test_what_a_hook_has_said_of_its_host_is_there_after_a_restart_of_the_server(complex, hooks):
    hooks.make("tells", "exechost_startup", HOST_SAYS)
    there(complex, "tells.PY", "tells.HK")
    complex.restart("n1")
    until(lambda: any(n.name == "n1.made" and n["resources_available"].get("mem") == "9gb" for n in complex.api.stat("vnode")), "the vnode")
    until(lambda: complex.node("n1")["resources_available"].get("cards") == "3", "what it has said of n1")
    complex.crash_server()
    until(lambda: complex.node("n1").state == "free", "n1 is back")
    assert complex.node("n1")["resources_available"]["cards"] == "3"
    made = complex.node("n1.made")
    assert made.state == "free" and made["resources_available"]["mem"] == "9gb"
    complex.qmgr("delete node n1.made")
    complex.crash_server()
    until(lambda: complex.node("n1").state == "free", "n1 is back")
    assert not any(n.name == "n1.made" for n in complex.api.stat("vnode")), "a manager has deleted it"


@pytest.mark.usefixtures("cards")
def test_what_a_hook_says_while_the_server_is_away_is_said_when_it_is_back(complex, hooks):
    waits(complex, hooks, "exechost_startup")
    hooks.make("tells", "exechost_startup", HOST_SAYS + note(complex, "'told'"), order=2)
    there(complex, "waits.PY", "tells.PY", "tells.HK")
    complex.restart("n1")
    until(lambda: marks(complex), "the first hook")
    complex.kill("server")
    complex.blank("go")
    until(lambda: "told" in marks(complex), "the second hook")
    complex.restart("server")
    complex.again()
    until(lambda: (complex.node("n1")["resources_available"] or {}).get("cards") == "3", "what it has said")
