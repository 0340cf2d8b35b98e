"""Hooks after the fact: postqueuejob, jobobit, management, modifyvnode, periodic."""
import os

import pytest

from harness.hooks import job, log, qsub
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=1, ncpus=4)


def said(cx, text):
    """A hook's line of the log; it may come after the answer to what caused it."""
    until(lambda: text in log(cx), text)


def count(cx, text):
    return log(cx).count(text)


def test_a_postqueuejob_hook_sees_each_queue_that_a_job_enters(complex, hooks):
    complex.make_queue("q1")
    complex.make_queue("q2")
    complex.qmgr("create queue rq queue_type=route,route_destinations=q1,enabled=true,started=true")
    hooks.make("post", "postqueuejob", "pbs.logmsg(pbs.LOG_DEBUG, 'entered %s' % e.job.queue.name)")
    jobid = qsub(complex, "-h", "-q", "rq", check=True).stdout.strip()
    said(complex, "entered rq")
    complex.qmgr("set queue rq route_held_jobs=true")
    said(complex, "entered q1")
    complex.command("qmove", "q2", jobid)
    said(complex, "entered q2")


def test_changes_of_a_postqueuejob_hook_are_made_and_its_reject_is_only_logged(complex, hooks):
    hooks.make("project", "postqueuejob", "e.job.project = 'p'")
    jobid = qsub(complex, "-h", check=True).stdout.strip()
    until(lambda: job(complex, jobid)["project"] == "p", "the project")
    hooks.make("says", "postqueuejob", "pbs.logmsg(pbs.LOG_DEBUG, 'says no')\ne.reject('no')")
    jobid = qsub(complex, "-h", check=True).stdout.strip()
    said(complex, "says no")
    assert job(complex, jobid)["job_state"] == "H"


def test_a_postqueuejob_hook_whose_changes_cannot_all_be_made_changes_nothing(complex, hooks):
    hooks.make("half", "postqueuejob", "e.job.project = 'p'\ne.job.Variable_List['A'] = '1'\ne.job.Variable_List['B'] = '2'\ne.job.Priority = 7\n"
               "e.job.Resource_List['ncpus'] = 3\ne.job.Resource_List['walltime'] = pbs.duration(90)\nif e.job.Job_Name == 'bad':\n    e.job.Resource_List['select'] = pbs.select('1:nosuch=1')")
    good = qsub(complex, "-h", "-N", "good", check=True).stdout.strip()
    until(lambda: job(complex, good)["project"] == "p", "the project")
    s = job(complex, good)
    assert s["Resource_List"]["walltime"] == "00:01:30" and s["Resource_List"]["ncpus"] == "3" and s.get("Priority") in (None, "0")
    assert {"A=1", "B=2"} <= set(s["Variable_List"].split(","))
    bad = qsub(complex, "-h", "-N", "bad", check=True).stdout.strip()
    said(complex, f"{bad};postqueuejob request rejected: ")
    s = job(complex, bad)
    assert s["project"] != "p" and "walltime" not in s["Resource_List"] and s["Resource_List"]["ncpus"] == "1" and "A=1" not in s["Variable_List"]


def test_a_jobobit_hook_runs_once_for_each_end_of_a_run(complex, hooks):
    hooks.make("obit", "jobobit", "pbs.logjobmsg(e.job.id, 'obit %s' % e.job.Exit_status)")
    jobid = complex.submit("exit 3")
    said(complex, f"{jobid};obit 3")
    waits = qsub(complex, "-h", check=True).stdout.strip()
    complex.command("qdel", waits)
    runs = complex.submit("sleep 600")
    complex.wait(runs)
    complex.set_server("scheduling", "False")
    complex.command("qrerun", runs)
    said(complex, f"{runs};obit")
    until(lambda: job(complex, runs)["job_state"] == "Q", "back in its queue")
    complex.command("qdel", runs)
    complex.set_server("scheduling", "True")
    assert count(complex, f"{jobid};obit") == 1 and count(complex, f"{waits};obit") == 0


def test_a_management_hook_hears_of_each_change_also_of_one_refused(complex, hooks):
    hooks.make("mgmt", "management", "m = e.management\npbs.logmsg(pbs.LOG_DEBUG, 'mgmt %s %s %s' % (m, m.reply_code, [(a.name, a.value) for a in m.attribs]))\ne.reject()", order=1)
    hooks.make("never", "management", "pbs.logmsg(pbs.LOG_DEBUG, 'the second')", order=2)
    complex.qmgr("set queue workq max_running=7")
    said(complex, "mgmt MGR_CMD_SET:MGR_OBJ_QUEUE:workq 0 [('max_running', '7')]")
    assert complex.command("qmgr", "-c", "set queue none enabled=true", check=False).returncode != 0
    said(complex, "mgmt MGR_CMD_SET:MGR_OBJ_QUEUE:none 15018 [('enabled', 'true')]")
    complex.qmgr("unset queue workq max_running")
    assert "the second" not in log(complex)


def test_a_modifyvnode_hook_sees_the_state_before_and_after(complex, hooks):
    vnode = complex.api.stat("vnode")[0].name
    hooks.make("vnode", "modifyvnode", "pbs.logmsg(pbs.LOG_DEBUG, 'vnode %s %d %d' % (e.vnode.name, e.vnode_o.state, e.vnode.state))")
    complex.command("pbsnodes", "-o", vnode)
    said(complex, f"vnode {vnode} 0 1")
    complex.command("pbsnodes", "-r", vnode)
    said(complex, f"vnode {vnode} 1 0")


def test_a_periodic_hook_runs_again_and_again_and_sets_vnodes(complex, hooks):
    vnode = complex.api.stat("vnode")[0].name
    hooks.make("ticks", "periodic", f"v = e.vnode_list[{vnode!r}]\nv.comment = 'seen'\npbs.logmsg(pbs.LOG_DEBUG, 'tick')", freq=1)
    until(lambda: count(complex, "ticks;periodic hook accepted") >= 2, "two runs")
    until(lambda: complex.api.stat("vnode")[0].get("comment") == "seen", "the comment")
    assert "Server periodic hook ran successfully" in log(complex) and "ticks;will run on " in log(complex)


def test_a_periodic_hook_is_never_run_twice_at_once(complex, hooks):
    gate = os.path.join(complex.work, "gate")
    os.mkfifo(gate)
    hooks.make("slow", "periodic", f"pbs.logmsg(pbs.LOG_DEBUG, 'slow began')\nopen({gate!r}).read()\ne.reject('no')", freq=1)
    with open(gate, "w"):
        turns = count(complex, "slow;will run on")
        until(lambda: count(complex, "slow;will run on") >= turns + 2, "two more turns")
        assert count(complex, "slow began") == 1
    said(complex, "slow;periodic request rejected by 'slow'")
