"""Hooks of execution hosts before a deletion, after vnodes were given back, and what they cannot do to the server."""
import os
import signal
import subprocess
import time

import pytest

from harness import api
from harness.wait import until
from harness.work import begun
from hooks.test_mom_hooks import empty, ended, marks, mom_log, mom_worker, note

PBSE_HOOK_REJECT = 15169

pytestmark = pytest.mark.complex(nodes=2, history=True)


def background(cx, *words):
    return subprocess.Popen([str(w) for w in words], env=cx.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def running(cx, **more):
    job = cx.submit("sleep 600", **more)
    begun(cx, job)
    return job


# ---- execjob_preterm ----

def test_a_hook_refuses_a_deletion_in_its_words_and_the_job_runs_on(complex, hooks):
    hooks.make("keep", "execjob_preterm", "if e.job.project == 'kept':\n    e.reject('%s writes its results' % e.job.id)")
    kept, other = running(complex, project="kept"), running(complex)
    said = complex.command("qdel", kept, check=False)
    assert said.returncode == PBSE_HOOK_REJECT % 256 and said.stderr == f"qdel: {kept} writes its results {kept}\n"
    with pytest.raises(api.PbsError, match="writes its results") as why:
        complex.api.delete(kept)
    assert why.value.code == PBSE_HOOK_REJECT
    complex.api.delete(other)
    assert ended(complex, other)["Exit_status"] == "271"
    assert complex.stat(kept)["substate"] == "42"
    complex.command("qdel", "-W", "force", kept)
    complex.wait_gone(kept)


def test_each_job_of_a_list_has_the_words_of_its_own_refusal(complex, hooks):
    hooks.make("keep", "execjob_preterm", "if e.job.Job_Name != 'free':\n    e.reject(e.job.Job_Name + ' stays')")
    jobs = [running(complex, Job_Name=name) for name in ("one", "free", "two")]
    said = complex.command("qdel", *jobs, check=False)
    assert said.stderr == f"qdel: one stays {jobs[0]}\nqdel: two stays {jobs[2]}\n"
    complex.wait_gone(jobs[1])
    assert complex.state(jobs[0]) == complex.state(jobs[2]) == "R"


def test_an_array_with_a_subjob_that_is_kept_is_kept(complex, hooks):
    hooks.make("keep", "execjob_preterm", "if e.job.id.find('[2]') > 0:\n    e.reject('the second stays')")
    array = complex.submit("sleep 600", options=("-J", "1-2"))
    second, first = (array.replace("[]", f"[{i}]") for i in (2, 1))
    for job in (first, second):
        begun(complex, job)
    with pytest.raises(api.PbsError, match="the second stays"):
        complex.api.delete(array)
    assert complex.state(first) == complex.state(second) == "R"
    complex.api.delete(first)
    until(lambda: complex.state(first) == "X", "the first is gone")
    assert complex.state(second) == "R"


def test_a_requeue_asks_no_preterm_hook_and_hosts_of_a_deletion_all_run_them(complex, hooks):
    empty(complex)
    hooks.make("where", "execjob_preterm", note(complex, "'%s %s' % (pbs.get_local_nodename(), e.job.in_ms_mom())"))
    job = running(complex, select="2:ncpus=1", l_place="scatter")
    complex.command("qrerun", job)
    begun(complex, job)
    assert not marks(complex)
    complex.command("qdel", job)
    complex.wait_gone(job)
    until(lambda: len(marks(complex)) == 2, "both hosts")
    assert sorted(marks(complex)) == ["n1 True", "n2 False"]


def test_a_preterm_hook_that_raises_refuses_as_one_that_rejects(complex, hooks):
    hooks.make("broken", "execjob_preterm", "raise Exception('oh')")
    job = running(complex, select="1:ncpus=1:host=n1")
    said = complex.command("qdel", job, check=False)
    assert said.stderr == f"qdel: request rejected as filter hook 'broken' encountered an exception. Please inform Admin {job}\n"
    assert complex.state(job) == "R" and "execjob_preterm hook 'broken' encountered an exception, request rejected" in mom_log(complex)


def test_the_server_answers_others_while_a_host_is_asked(complex, hooks):
    empty(complex, "marks", "go")
    hooks.make("waits", "execjob_preterm", note(complex, "'asked'") + f"import os, time\nwhile not os.path.exists('{complex.work}/go'): time.sleep(0.05)")
    job = running(complex)
    with background(complex, "qdel", job) as qdel:
        until(lambda: marks(complex) == ["asked"], "the hook")
        assert complex.state(job) == "R"
        complex.blank("go")
        assert qdel.wait(120) == 0
    assert ended(complex, job)["Exit_status"] == "271"


def test_a_deletion_whose_host_dies_while_it_is_asked_fails_and_the_job_lives(complex, hooks):
    empty(complex, "marks", "go")
    hooks.make("waits", "execjob_preterm", note(complex, "'asked'") + f"import os, time\nwhile not os.path.exists('{complex.work}/go'): time.sleep(0.05)")
    job = running(complex, select="1:ncpus=1:host=n1")
    with background(complex, "qdel", job) as qdel:
        until(lambda: marks(complex) == ["asked"], "the hook")
        complex.kill("n1")
        assert qdel.wait(120) != 0
    complex.blank("go")
    complex.restart("n1")
    until(lambda: "down" not in complex.node("n1").state, "n1 is back")
    begun(complex, job)
    complex.command("qdel", job)
    assert ended(complex, job)["Exit_status"] == "271"


def test_a_worker_that_is_killed_in_preterm_refuses_and_the_next_deletion_has_another(complex, hooks):
    empty(complex)
    hooks.make("hangs", "execjob_preterm", f"import os, time\nif not os.path.exists('{complex.work}/marks'):\n    " +
               note(complex, "'hangs'").replace("\n    ", "\n        ") + "    while True: time.sleep(1)")
    job = running(complex, select="1:ncpus=1:host=n1")
    with background(complex, "qdel", job) as qdel:
        until(lambda: marks(complex), "the hook")
        os.kill(mom_worker(complex), signal.SIGKILL)
        assert qdel.wait(120) == PBSE_HOOK_REJECT % 256
    assert complex.state(job) == "R"
    complex.command("qdel", job)
    complex.wait_gone(job)


# ---- execjob_resize ----

def test_hooks_of_the_hosts_that_stay_see_the_job_after_it_has_given_vnodes_back(complex, hooks):
    empty(complex)
    hooks.make("sees", "execjob_resize", note(complex, "'%s %s %s' % (pbs.get_local_nodename(), sorted(e.vnode_list), e.job.exec_vnode)") + "e.reject('too late')")
    job = running(complex, select="2:ncpus=1", l_place="scatter")
    complex.command("pbs_release_nodes", "-j", job, "n2")
    until(lambda: marks(complex), "the hook")
    assert marks(complex) == ["n1 ['n1'] (n1:ncpus=1)"]
    until(lambda: "execjob_resize hook rejected request: too late" in mom_log(complex), "the log")
    assert complex.state(job) == "R"


# ---- bounds ----

def test_a_host_gets_no_more_vnodes_from_hooks_than_are_allowed(complex, hooks):
    hooks.make("floods", "exechost_periodic", "if pbs.get_local_nodename() == 'n2':\n"
               "    for i in range(4100):\n"
               "        v = pbs.vnode('flood%d' % i)\n"
               "        v.comment = 'x'\n"
               "        e.vnode_list['flood%d' % i] = v\n", freq=1)
    until(lambda: "is not made for hook 'floods': this host has 4096 already" in complex.logs("server", 20000), "the refusal")
    hooks.delete()
    hooks.names.clear()
    assert sum(n.name.startswith("flood") for n in complex.api.stat("vnode")) == 4095


def test_what_hooks_ask_for_while_there_is_no_server_is_bounded_by_its_bytes(complex, hooks):
    hooks.make("shouts", "exechost_periodic", "import time\nif pbs.get_local_nodename() == 'n1':\n"
               "    e.vnode_list['n1'].comment = '%d ' % time.time() + 'x' * 900000\n", freq=1)
    until(lambda: len(complex.node("n1").get("comment") or "") > 900000, "the first comment")
    complex.kill("server")
    lost = "shouts;what it asks for is lost: "
    until(lambda: lost in mom_log(complex), "the refusal", 60)
    line = next(x for x in mom_log(complex).splitlines() if lost in x)
    messages, size = (int(line.split(lost)[1].split()[i]) for i in (0, 3))
    assert messages < 20 and 15 << 20 < size <= 16 << 20
    refused_s = int(time.time())
    complex.restart("server")
    complex.again()
    until(lambda: int(complex.node("n1")["comment"].split()[0]) > refused_s, "a comment of now")
