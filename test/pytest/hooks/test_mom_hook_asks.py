"""Hooks of execution hosts: what they ask of host, server and scheduler, alarms in each step, files of debug, and what each failure is followed by."""
import os
import re
import subprocess

import pytest

from harness import api, faults
from harness.wait import until
from hooks.test_mom_hooks import empty, ended, hook_files, marks, mom_log, note

pytestmark = pytest.mark.complex(nodes=2, history=True)

OFFLINE = "offlined by hook 'slow' due to hook error"


def there(cx, *files, node="n1"):
    until(lambda: hook_files(cx, node) >= set(files), "the hook on its host")


def hooks_tmp(cx, node="n1"):
    return os.path.join(cx.dir, "mom", node, "mom_priv", "hooks", "tmp")


def test_reboot_runs_the_command_of_the_site_and_ends_the_script(complex, hooks):
    empty(complex, "marks", "rebooted")
    hooks.make("boots", "execjob_end", note(complex, "pbs.get_local_nodename()") + f"pbs.reboot('echo $0 now > {complex.work}/rebooted')\n" + note(complex, "'not reached'"))
    assert ended(complex, complex.submit("true", select="1:ncpus=1:host=n1"))["Exit_status"] == "0"
    until(lambda: marks(complex, "rebooted"), "the command")
    assert marks(complex) == ["n1"]
    log = mom_log(complex)
    assert "boots;requested for host to be rebooted" in log and "boots;issuing cmd echo" in log


def test_a_hook_that_runs_as_the_user_cannot_reboot(complex, hooks):
    empty(complex, "rebooted")
    hooks.make("boots", "execjob_prologue", f"pbs.reboot('echo x > {complex.work}/rebooted')", user="pbsuser")
    job = complex.submit("true", select="1:ncpus=1:host=n1")
    until(lambda: "Not allowed to issue reboot if run as user" in mom_log(complex), "the refusal")
    complex.api.delete(job, "force")
    assert not marks(complex, "rebooted")


def test_a_hook_of_a_host_has_the_scheduler_begin_its_cycle_again(complex, hooks):
    hooks.make("again", "execjob_end", "pbs.server().scheduler_restart_cycle()")
    assert ended(complex, complex.submit("true", select="1:ncpus=1:host=n1"))["Exit_status"] == "0"
    until(lambda: "n1;hook 'again' requested for scheduler to restart cycle" in complex.logs("server", 3000), "the log")


def test_a_job_that_is_sent_to_a_host_before_its_hooks_are_there_is_said_and_meets_them(complex, hooks):
    empty(complex)
    with faults.daemon_frozen(complex, "n1"):
        hooks.make("late", "execjob_begin", note(complex, "'late'"))
        job = complex.submit("true", select="1:ncpus=1:host=n1")
        complex.wait_log("server", f"{job};vnode n1's parent mom n1:")
        assert "has a pending copy hook or delete hook request" in complex.log("server")
        assert "late.PY" not in hook_files(complex, "n1")
    assert ended(complex, job)["Exit_status"] == "0" and marks(complex) == ["late"]
    complex.wait_log("server", "n1;Hello from MoM on port=")
    again = complex.submit("true", select="1:ncpus=1:host=n1")
    assert ended(complex, again)["Exit_status"] == "0" and f"{again};vnode" not in complex.log("server")


def test_debug_leaves_input_objects_and_output_that_a_desk_can_run(complex, hooks):
    text = "e.job.Variable_List['SEEN'] = str(pbs.server().vnode('n2').name)"
    hooks.make("shows", "execjob_begin", text, debug="True")
    assert ended(complex, complex.submit("true", select="1:ncpus=1:host=n1"))["Exit_status"] == "0"
    tmp = hooks_tmp(complex)
    kept = sorted(f for f in os.listdir(tmp) if f.startswith("hook_execjob_begin_shows_"))
    assert [f.rpartition(".")[2] for f in kept] == ["data", "in", "out"]
    data, given, out = (os.path.join(tmp, f) for f in kept)
    assert 'pbs.event().job.Variable_List["SEEN"]=n2' in open(out, encoding="utf-8").read()
    again = os.path.join(complex.work, "again.out")
    done = subprocess.run(["pbs_python", "--hook", "-e", "execjob_begin", "-i", given, "-s", data, "-o", again, "-l", os.path.join(complex.work, "desk.log"),
                           os.path.join(complex.work, "shows.py")], env=complex.env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 'pbs.event().job.Variable_List["SEEN"]=n2' in open(again, encoding="utf-8").read()


ALARMS = [  # event, Exit_status of the job then; None: it goes back
    ("execjob_begin", None), ("execjob_prologue", None), ("execjob_launch", "-17"), ("execjob_epilogue", "0"), ("execjob_end", "0"),
]


@pytest.mark.parametrize("event, status", ALARMS)
def test_an_alarm_in_a_step_ends_the_script_and_no_more_than_its_step(complex, hooks, event, status):
    empty(complex)
    hooks.make("slow", event, note(complex, "'ran'") + "if len(open('%s/marks').readlines()) == 1:\n    while True: pass" % complex.work, alarm=1)
    job = complex.submit("true", select="1:ncpus=1:host=n1")
    done = ended(complex, job)
    assert done["Exit_status"] == (status or "0") and done["run_count"] == ("1" if status else "2")
    assert f"Job;{job};alarm call while running {event} hook 'slow', request rejected" in mom_log(complex)


@pytest.mark.parametrize("event", ["execjob_begin", "execjob_prologue"])
def test_fail_action_restarts_the_cycle_and_takes_the_host_away(complex, hooks, event):
    hooks.make("slow", event, "if pbs.get_local_nodename() == 'n1':\n    raise Exception('no')", fail_action="'offline_vnodes,scheduler_restart_cycle'")
    job = complex.submit("true", select="1:ncpus=1:host=n1")
    until(lambda: "offline" in complex.node("n1").state, "n1 offline")
    assert complex.node("n1")["comment"] == OFFLINE
    until(lambda: "n1;hook 'slow' requested for scheduler to restart cycle" in complex.logs("server", 3000), "the log")
    complex.wait(job, state="Q")


def test_an_administrator_gives_back_what_a_hook_has_taken(complex, hooks):
    hooks.make("slow", "execjob_begin", "if pbs.get_local_nodename() == 'n1':\n    raise Exception('no')", fail_action="offline_vnodes")
    job = complex.submit("true", select="1:ncpus=1:host=n1")
    until(lambda: "offline" in complex.node("n1").state, "n1 offline")
    complex.api.delete(job, "force")
    hooks.delete()
    complex.command("pbsnodes", "-r", "n1")
    until(lambda: "offline" not in complex.node("n1").state, "n1 in use")


def test_a_rejected_epilogue_keeps_the_exit_status_and_the_later_hooks_do_not_run(complex, hooks):
    empty(complex)
    hooks.make("first", "execjob_epilogue", note(complex, "'first'") + "e.reject('dirty')", order=1)
    hooks.make("second", "execjob_epilogue", note(complex, "'second'"), order=2)
    job = complex.submit("exit 3", select="1:ncpus=1:host=n1")
    done = ended(complex, job)
    assert done["Exit_status"] == "3" and done["run_count"] == "1"
    assert marks(complex) == ["first"] and "execjob_epilogue request rejected by 'first'" in mom_log(complex)


def test_a_host_that_rejects_root_scripts_takes_none_gives_up_old_ones_and_runs_its_jobs(complex, hooks):
    hooks.make("old", "execjob_begin", note(complex, "'old'"))
    there(complex, "old.PY", "old.HK", node="n2")
    config = os.path.join(complex.dir, "mom", "n2", "mom_priv", "config")
    with open(config, encoding="ascii") as f:
        before = f.read()
    with open(config, "a", encoding="ascii") as f:
        f.write("\n$reject_root_scripts true\n")
    complex.restart("n2")
    try:
        hooks.delete()
        until(lambda: "old.PY" not in hook_files(complex, "n2"), "the removal")
        empty(complex)
        hooks.make("root", "execjob_begin", note(complex, "pbs.get_local_nodename()"))
        there(complex, "root.PY", "root.HK")
        until(lambda: "(mom's reject_root_scripts=1)" in complex.logs("server", 3000), "the warning")
        for node in ("n1", "n2"):
            assert ended(complex, complex.submit("true", select=f"1:ncpus=1:host={node}"))["Exit_status"] == "0"
        assert marks(complex) == ["n1"] and "root.PY" not in hook_files(complex, "n2")
    finally:
        with open(config, "w", encoding="ascii") as f:
            f.write(before)
        complex.restart("n2")


def test_an_end_hook_that_rejects_ends_the_chain_and_nothing_else(complex, hooks):
    empty(complex)
    for order, text in ((1, ""), (2, "e.reject('two')\n"), (170, "")):
        hooks.make(f"h{order}", "execjob_end", note(complex, f"'{order}'") + text, order=order)
    assert ended(complex, complex.submit("true", select="1:ncpus=1:host=n1"))["Exit_status"] == "0"
    assert marks(complex) == ["1", "2"]


def test_a_mom_keeps_what_hooks_have_said_until_its_server_is_back_and_says_it_once(complex, hooks):
    empty(complex, "marks", "go")
    complex.qmgr("create resource marbles type=long,flag=nh")
    hooks.make("counts", "execjob_epilogue", f"import os, time\nwhile not os.path.exists('{complex.work}/go'): time.sleep(0.05)\n" + note(complex, "'ran'") +
               "e.job.resources_used['marbles'] = 4\ne.vnode_list['n1'].resources_available['marbles'] = 9")
    job = complex.submit("true", select="1:ncpus=1:host=n1")
    until(lambda: (complex.stat(job) or {}).get("substate") in ("51", "50") or complex.state(job) == "E", "the epilogue")
    complex.kill("server")
    complex.blank("go")
    until(lambda: marks(complex) == ["ran"], "the hook")
    complex.restart("server")
    complex.again()
    done = ended(complex, job)
    assert done["resources_used"]["marbles"] == "4" and complex.node("n1")["resources_available"]["marbles"] == "9"
    assert complex.logs("server", 4000).count(f"Job;{job};'counts' hook set job's resources_used.marbles = 4") == 1
    assert marks(complex) == ["ran"]


def test_a_script_that_prints_a_gigabyte_costs_a_few_lines_of_the_log(complex, hooks):
    hooks.make("talks", "execjob_end", "line = 'x' * 1023 + '\\n'\nimport sys\nfor i in range(1 << 20):\n    sys.stdout.write(line)", alarm=60)
    job = complex.submit("true", select="1:ncpus=1:host=n1")
    assert ended(complex, job)["Exit_status"] == "0"
    size = sum(os.path.getsize(os.path.join(top, f)) for top, _, files in os.walk(os.path.join(complex.dir, "mom", "n1", "mom_logs")) for f in files)
    assert size < 64 << 20
    assert ended(complex, complex.submit("true", select="1:ncpus=1:host=n1"))["Exit_status"] == "0"


def costs(log, label):
    """Lines hook_perf_stat of this label: (action, start or stop, they have numbers)."""
    found = re.findall(rf"hook_perf_stat;label={re.escape(label)} action=(\w+) profile_(start|stop)( walltime=[0-9.]+ cputime=[0-9.]+)?", log)
    return [(action, what, bool(numbers)) for action, what, numbers in found]


STEPS = ["load_code", "run_code"]


def test_a_profile_of_each_run_is_in_the_log_of_level_debug4(complex, hooks):
    complex.set_server("log_events", "4095")
    hooks.make("quick", "queuejob", "pass")
    job = complex.submit("true", select="1:ncpus=1:host=n1")
    ended(complex, job)
    label = "hook_queuejob_quick_" + str(complex.pid("server"))
    said = costs(complex.logs("server", 4000), label)
    steps = [(step, what, what == "stop") for step in STEPS for what in ("start", "stop")]
    assert said == [("server_process_hooks", "start", False), *steps, ("server_process_hooks", "stop", True)]


def test_a_profile_of_a_hook_of_a_host_names_its_job(complex, hooks):
    config = os.path.join(complex.dir, "mom", "n1", "mom_priv", "config")
    with open(config, encoding="ascii") as f:
        before = f.read()
    with open(config, "a", encoding="ascii") as f:
        f.write("\n$logevent 0xfff\n")
    complex.restart("n1")
    try:
        hooks.make("quick", "execjob_end", "pass")
        job = complex.submit("true", select="1:ncpus=1:host=n1")
        assert ended(complex, job)["Exit_status"] == "0"
        actions = [action for action, what, numbers in costs(mom_log(complex), f"hook_execjob_end_quick_{job}") if what == "stop" and numbers]
        assert actions == [*STEPS, "mom_process_hooks"]
    finally:
        with open(config, "w", encoding="ascii") as f:
            f.write(before)
        complex.restart("n1")
