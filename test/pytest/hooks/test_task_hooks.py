"""Hooks of tasks: what a program starts by TM (execjob_launch), and processes from outside (execjob_attach)."""
import os
import subprocess

import pytest

from harness import tasks, users
from harness.wait import until
from hooks.test_mom_hooks import empty, ended, marks, mom_log, note

OWNER = users.NAMES[0]

pytestmark = pytest.mark.complex(nodes=2, history=True)


def begun(cx, text="sleep 600"):
    empty(cx, "begun")
    return tasks.running(cx, text, "1:ncpus=1:host=n1")


def attach_words(job, *words):
    return ["setsid", "-w", "pbs_attach", "-j", job, *words]


def conf(cx):
    return {"PBS_CONF_FILE": os.path.join(cx.dir, "mom", "n1", "pbs.conf")}


def attach(cx, job, *words):
    return cx.command(*attach_words(job, *words), user=OWNER, check=False, env=conf(cx))


def test_an_attach_hook_sees_the_process_and_refuses_it(complex, hooks):
    empty(complex)
    hooks.make("outside", "execjob_attach", note(complex, "'%s %s' % (e.job.id, e.pid)") + "e.reject('not from outside')")
    job = begun(complex)
    done = attach(complex, job, "true")
    assert done.returncode == 1 and "not from outside" in done.stderr
    said = marks(complex)[0].split()
    assert len(marks(complex)) == 1 and said[0] == job and said[1].isdigit()
    assert "execjob_attach request rejected by 'outside'" in mom_log(complex)
    complex.qmgr("set hook outside enabled=false")
    until(lambda: attach(complex, job, "true").returncode == 0, "an attached process")


def test_an_attach_hook_that_accepts_lets_the_process_in_and_can_set_nothing(complex, hooks):
    empty(complex)
    hooks.make("looks", "execjob_attach", "try:\n    e.job.Priority = 1\nexcept AssertionError as why:\n    " + note(complex, "str(why)").replace("\n    ", "\n        "))
    job = begun(complex)
    assert attach(complex, job, "sh", "-c", "exit 3").returncode == 3
    assert marks(complex) == ["nothing is settable inside an execjob_attach hook!"]


def test_launch_hooks_run_for_each_task_on_its_host_and_change_what_it_gets(complex, hooks):
    empty(complex, "marks", "told")
    hooks.make("tasks", "execjob_launch", "if e.argv[-1] == 'WHO':\n    e.argv[-1] = pbs.get_local_nodename()\n"
               "    e.env['COLOUR'] = 'red'\n    del e.env['PBS_O_WORKDIR']")
    show = f"echo $0 $COLOUR ${{PBS_O_WORKDIR-gone}} $PBS_JOBID >> {complex.work}/told"
    job = tasks.start(complex, f"pbsdsh sh -c '{show}' WHO\n", "2:ncpus=1", l_place="scatter")
    assert ended(complex, job)["Exit_status"] == "0", tasks.output_of(complex, job)
    assert sorted(marks(complex, "told")) == [f"n1 red gone {job}", f"n2 red gone {job}"]


def test_a_launch_hook_refuses_a_task_and_the_job_lives(complex, hooks):
    hooks.make("no", "execjob_launch", "if e.progname.endswith('/false') or 'false' in e.argv:\n    e.reject('no such tasks here')")
    job = tasks.start(complex, "pbsdsh false 2> why\necho after >> why")
    assert ended(complex, job)["Exit_status"] == "0"
    assert marks(complex, "why")[-1] == "after" and len(marks(complex, "why")) > 1


def test_a_mom_that_is_killed_in_an_attach_hook_refuses_it_and_so_does_one_that_is_away(complex, hooks):
    empty(complex, "marks", "go")
    hooks.make("waits", "execjob_attach", note(complex, "'asked'") + f"import os, time\nwhile not os.path.exists('{complex.work}/go'): time.sleep(0.05)")
    job = begun(complex)
    with subprocess.Popen(attach_words(job, "true"), env={**complex.env, **conf(complex)}, stderr=subprocess.DEVNULL,
                          user=OWNER, group=OWNER, extra_groups=[], cwd="/") as first:
        until(lambda: marks(complex) == ["asked"], "the hook")
        complex.kill("n1")
        assert first.wait(120) == 1
    assert "its MOM is away" in attach(complex, job, "true").stderr
    complex.blank("go")
    complex.restart("n1")
    until(lambda: attach(complex, job, "true").returncode == 0, "an attached process")
    assert complex.state(job) == "R"


def test_a_mom_that_is_killed_in_a_launch_hook_of_a_task_refuses_the_task_alone(complex, hooks):
    empty(complex, "marks", "go", "status", "step1", "step2", "step3")
    job = begun(complex, "for i in 1 2 3; do until test -e step$i; do sleep 0.05; done; pbsdsh true; echo $? >> status; done")
    hooks.make("waits", "execjob_launch", note(complex, "'asked'") + f"import os, time\nwhile not os.path.exists('{complex.work}/go'): time.sleep(0.05)")
    until(lambda: os.path.exists(os.path.join(complex.dir, "mom", "n1", "mom_priv", "hooks", "waits.PY")), "the hook on its host")
    complex.blank("step1")
    until(lambda: marks(complex) == ["asked"], "the hook")
    complex.kill("n1")
    until(lambda: len(marks(complex, "status")) == 1, "the first task")
    complex.blank("step2")
    until(lambda: len(marks(complex, "status")) == 2, "the second task")
    complex.blank("go")
    complex.restart("n1")
    until(lambda: "down" not in complex.node("n1").state, "n1 is back")
    complex.blank("step3")
    assert ended(complex, job)["Exit_status"] == "0"
    first, second, third = marks(complex, "status")
    assert first != "0" and second != "0" and third == "0"
