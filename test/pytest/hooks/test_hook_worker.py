"""The hook worker, spoken to as a daemon does by doc/internals/hook-protocol.md. No complex."""
import json
import os
import pwd
import signal
import subprocess

import pytest

from harness.hook_daemon import HookDaemon
from harness.wait import until

HEAD = "import pbs\ne = pbs.event()\n"
JOB = {"job": {"name": None, "attrs": {"queue": "workq", "Job_Name": "STDIN", "Resource_List": {"ncpus": "2"}, "Variable_List": "A=1"}}}


@pytest.fixture
def make(tmp_path):
    made = []

    def begin(script=None, **more):
        daemon = HookDaemon(str(tmp_path), **more)
        made.append(daemon)
        assert daemon.answer()["op"] == "hello"
        if script is not None:
            assert daemon.load(HEAD + script)["ok"]
        return daemon

    yield begin
    for daemon in made:
        daemon.close()


def test_a_worker_says_hello_and_ends_with_its_socket(tmp_path):
    daemon = HookDaemon(str(tmp_path))
    assert daemon.answer() == {"op": "hello", "version": 1, "pid": daemon.worker.pid}
    assert daemon.close() == 0


def test_another_version_ends_the_conversation(tmp_path):
    daemon = HookDaemon(str(tmp_path), version=2)
    assert daemon.receive() is None and daemon.close() == 1


@pytest.mark.parametrize("frame", [b"no json", b"[]", b"{}", b'{"op": 5}', b'{"op": "nonsense"}'])
def test_a_frame_that_breaks_the_protocol_ends_the_worker(make, frame):
    daemon = make()
    daemon.send(frame)
    assert daemon.receive() is None and daemon.close() == 1


def test_a_script_that_does_not_compile_leaves_the_old_one(make):
    daemon = make("e.accept()\n")
    said = daemon.load("def (", serial=2)
    assert not said["ok"] and "syntax" in said["message"] and said["serial"] == 2
    assert daemon.run()["result"] == "accept"
    daemon.send({"op": "unload", "hook": "h"})
    assert daemon.run()["result"] == "error" and "never loaded" in daemon.texts()[-1]


@pytest.mark.parametrize("kind, name, text, ok", [
    ("script", "h.PY", "x = 1\n", True), ("script", "h.PY", "x = (", False), ("script", "h.PY", "a\0b", False),
    ("config", "c.json", "{}", True), ("config", "c.json", "{", False), ("config", "c.py", "x = 1", True), ("config", "c.py", "x = ", False),
    ("config", "c.ini", "[a]\nb = 1\n", True), ("config", "c.ini", "b\n", False), ("config", "c.txt", "(", True), ("config", "c", "(", True)])
def test_an_import_is_checked_by_its_suffix(make, kind, name, text, ok):
    daemon = make()
    daemon.send({"op": "check", "kind": kind, "name": name, "text": text})
    said = daemon.answer()
    assert said["op"] == "checked" and said["ok"] == ok and ok == ("message" not in said)


def test_changes_come_in_the_order_in_which_they_were_made(make):
    daemon = make("j = e.job\nj.Resource_List['walltime'] = '1:00:00'\nj.Variable_List['X'] = 'a,b'\nj.Priority = 5\nj.Priority = 6\nj.Account_Name = None\n"
                  "j.Resource_List['scratch'] = pbs.size('1gb')\ne.accept()\n")
    said = daemon.run(data=JOB)
    assert said["result"] == "accept" and said["message"] is None and (said["rerun"], said["delete"], said["reboot"]) == ([], [], None)
    assert [(c["object"], c["attr"], c["resource"], c["value"]) for c in said["changes"]] == [
        ("job", "Resource_List", "walltime", "1:00:00"), ("job", "Variable_List", "X", "a,b"), ("job", "Priority", None, "5"), ("job", "Priority", None, "6"),
        ("job", "Account_Name", None, None), ("job", "Resource_List", "scratch", "1gb")]


def test_a_rejection_has_its_message_and_no_changes(make):
    daemon = make("e.job.Priority = 1\ne.reject('no')\n")
    said = daemon.run(data=JOB)
    assert (said["result"], said["message"], said["changes"]) == ("reject", "no", [])
    daemon.load(HEAD + "e.job.Hold_Types = 'u'\ne.reject()\n", serial=2)
    said = daemon.run("runjob", JOB, serial=2)
    assert (said["result"], said["message"]) == ("reject", None) and said["changes"][0]["value"] == "u"


def test_an_exception_is_an_error_with_words_in_the_log(make):
    daemon = make("e.job.Priority = 1\nraise ValueError('bad thing')\n")
    assert daemon.run(data=JOB)["result"] == "error"
    words = [(line["class"], line["object"], line["text"]) for line in daemon.logs[:2]]
    begin = "PBS server internal error (15011) in Error evaluating Python script, "
    assert words == [("Svr", None, begin + "<class 'ValueError'>"), ("Svr", None, begin + "bad thing")]
    assert any("Traceback" in text for text in daemon.texts("h"))


def test_an_alarm_ends_a_script_and_the_worker_lives_on(make):
    daemon = make("import signal\nwhile True:\n    signal.pause()\n")
    assert daemon.run(data=JOB, alarm=1)["result"] == "alarm"
    assert daemon.logs[0]["object"] == "catch_hook_alarm" and daemon.logs[0]["text"] == "alarm call received"
    daemon.load("x = 1\n", serial=2)
    assert daemon.run(serial=2)["result"] == "accept"


def test_objects_are_asked_for_when_they_are_read_and_by_pages(make):
    jobs = [{"name": f"{n}.svr", "attrs": {"queue": "q1" if n % 2 else "q2", "Priority": str(n)}} for n in range(7)]
    daemon = make("s = pbs.server()\nif e.job.Priority:\n    pbs.logmsg(pbs.LOG_DEBUG, str([j.id for j in s.jobs()]))\n"
                  "    pbs.logmsg(pbs.LOG_DEBUG, str(sum(j.Priority for j in s.queue('q1').jobs())))\n    pbs.logmsg(pbs.LOG_DEBUG, str(s.job('99.svr')))\n"
                  "    next(s.jobs())\n    pbs.logmsg(pbs.LOG_DEBUG, str(s.scheduling))\n",
                  objects={"job": jobs, "queue": [{"name": "q1", "attrs": {}}], "server": [{"name": "svr", "attrs": {"scheduling": "True"}}]})
    daemon.run(data={"job": {"name": None, "attrs": {}}})
    assert not daemon.queries
    assert daemon.run(data={"job": {"name": None, "attrs": {"Priority": "1"}}})["result"] == "accept"
    assert daemon.texts() == [str([j["name"] for j in jobs]), "9", "None", "True"]
    kinds = [(q["kind"], q["name"], q["queue"], q["after"]) for q in daemon.queries]
    assert kinds[:4] == [("job", None, None, a) for a in (None, "2", "4", "6")] and kinds[-2:] == [("job", None, None, None), ("server", None, None, None)]
    assert [q["seq"] for q in daemon.queries] == list(range(1, len(kinds) + 1))


def test_one_run_leaves_nothing_to_the_next(make, tmp_path):
    daemon = make("import os, sys, signal\nassert 'LEFT' not in os.environ and os.getcwd() == %r and 'mine' not in globals()\nmine = 1\nos.environ['LEFT'] = 'x'\n"
                  "os.chdir('/')\nos.umask(0o777)\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsys.path.insert(0, '/nonsense')\nassert sys.path.count('/nonsense') == 1\n"
                  % str(tmp_path))
    assert [daemon.run()["result"] for _ in range(2)] == ["accept", "accept"]


def test_a_child_that_a_script_makes_does_not_answer(make):
    daemon = make("import os\npid = os.fork()\nif pid:\n    os.waitpid(pid, 0)\n    e.reject('parent')\n")
    assert daemon.run()["message"] == "parent"
    daemon.load(HEAD + "import os, sys\npid = os.fork()\nif not pid:\n    sys.exit(1)\nos.waitpid(pid, 0)\ne.reject('parent')\n", serial=2)
    assert daemon.run(serial=2)["message"] == "parent"
    daemon.load(HEAD + "import os\npid = os.fork()\nif not pid:\n    raise Exception('child')\nos.waitpid(pid, 0)\ne.reject('parent')\n", serial=3)
    assert daemon.run(serial=3)["message"] == "parent"


def test_bytes_that_are_no_text_go_both_ways(make):
    daemon = make("assert e.job.Job_Name == 'a\\udcffb', ascii(e.job.Job_Name)\ne.job.comment = e.job.Job_Name\nimport os\nassert os.fsencode(e.job.Job_Name) == b'a\\xffb'\n")
    daemon.send(json.dumps({"op": "run", "id": 1, "event": "execjob_begin", "type": 64, "hook": "h", "serial": 1, "alarm": 5,
                            "data": {"job": {"name": "1", "attrs": {"Job_Name": "a\U0010ffffb"}}}}, ensure_ascii=False).encode())
    said = daemon.answer()
    assert said["result"] == "accept", daemon.texts()
    assert said["changes"][0]["value"] == "a\U0010ffffb"


def test_texts_are_bounded(make):
    daemon = make("pbs.logmsg(pbs.LOG_DEBUG, 'x' * 20000)\ne.reject('y' * 20000)\n")
    said = daemon.run()
    assert len(said["message"]) == 16 << 10 and len(daemon.texts()[0]) == 16 << 10


def test_lines_of_one_run_are_bounded(make):
    daemon = make("for n in range(100100):\n    pbs.logmsg(pbs.EVENT_DEBUG, 'x')\n")
    assert daemon.run()["result"] == "accept" and len(daemon.logs) == 100000 and "is lost" in daemon.texts()[-1]


@pytest.mark.parametrize("text", ["pbs.logmsg(pbs.EVENT_DEBUG, 'x' * 16384)", "print('x' * 1023)", "sys.stdout.write('x' * 20000)", "sys.stderr.write('x' * 20000)"])
def test_bytes_of_log_texts_of_one_run_are_bounded(make, text):
    daemon = make(f"import sys\nfor n in range(1 << 17 if 'print' in {text!r} else 1 << 14):\n    {text}\n")
    assert daemon.run(alarm=120)["result"] == "accept"
    assert (16 << 20) - 65536 < sum(len(t) for t in daemon.texts()) <= (16 << 20) + 65536 and "is lost" in daemon.texts()[-1]


def test_debug_leaves_files_that_pbs_python_reads(make, tmp_path):
    from harness.hook_desk import desk

    daemon = make("q = pbs.server().queue('workq')\ne.job.Priority = int(q.Priority)\n", objects={"queue": [{"name": "workq", "attrs": {"Priority": "7"}}]})
    assert daemon.run(data=JOB, debug=True)["changes"][0]["value"] == "7"
    kept = {name.rsplit(".", 1)[1]: (tmp_path / name).read_text() for name in os.listdir(tmp_path) if name.startswith("hook_queuejob_h_")}
    assert "pbs.event().job.queue=workq\n" in kept["in"] and "pbs.server().queue(workq).Priority=7" in kept["data"]
    assert "pbs.event().job.Priority=7" in kept["out"]
    again = desk(str(tmp_path), HEAD + "e.job.Priority = int(pbs.server().queue('workq').Priority)\n", "queuejob", kept["in"], kept["data"])
    assert again.changes() == {"pbs.event().job.Priority": "7"}


def test_a_hook_of_a_user_runs_as_that_user_and_the_worker_stays_root(make):
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    daemon = make("import os\npbs.logmsg(pbs.LOG_DEBUG, '%d %d %s' % (os.getuid(), os.getgid(), os.environ['HOME']))\ne.reject('as %d' % os.geteuid())\n")
    nobody = pwd.getpwnam("nobody")
    assert daemon.run("execjob_prologue", JOB, user="nobody")["message"] == f"as {nobody.pw_uid}"
    assert daemon.texts() == [f"{nobody.pw_uid} {nobody.pw_gid} {nobody.pw_dir}"]
    assert daemon.run("execjob_prologue", JOB)["message"] == "as 0"
    assert daemon.run("execjob_prologue", JOB, user="no.such.user")["result"] == "error"


HELD = """import os, pathlib, signal
pathlib.Path('pid').write_text(str(os.getpid()))
%s
signal.pause()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV])
def test_a_user_who_ends_the_process_of_a_hook_has_not_passed_it(make, tmp_path, number):
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    os.chmod(tmp_path, 0o777)
    daemon = make(HELD % "")
    daemon.begin("execjob_prologue", JOB, user="nobody")
    child = int(until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "the child"))
    subprocess.run(["setpriv", "--reuid", "nobody", "kill", f"-{int(number)}", str(child)], check=True)
    assert daemon.answer()["result"] == ("alarm" if number == signal.SIGINT else "error"), daemon.texts()
    daemon.load(HEAD + "e.reject('alive')\n", serial=2)
    assert daemon.run("execjob_prologue", JOB, serial=2, user="nobody")["message"] == "alive"


def test_a_user_cannot_look_into_the_process_of_a_hook(make, tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    os.chmod(tmp_path, 0o777)
    daemon = make(HELD % "")
    daemon.begin("execjob_prologue", JOB, user="nobody", alarm=600)
    child = until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "the child")
    for name in ("mem", "environ", "fd/3", "maps"):
        done = subprocess.run(["setpriv", "--reuid", "nobody", "head", "-c1", f"/proc/{child}/{name}"], capture_output=True, check=False)
        assert done.returncode, name
    os.kill(int(child), signal.SIGKILL)
    assert daemon.answer()["result"] == "error"


def test_a_process_of_a_user_that_answers_and_is_ended_answers_once(make):
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    daemon = make("import os\nclass Last:\n    def __del__(self):\n        os.kill(os.getpid(), 9)\nimport builtins\nlast = os._exit\n"
                  "os._exit = lambda n: os.kill(os.getpid(), 9)\ne.reject('said')\n")
    assert [daemon.run("execjob_prologue", JOB, user="nobody")["message"] for _ in range(3)] == ["said"] * 3


@pytest.mark.parametrize("user", [None, "nobody"])
def test_an_answer_that_is_too_long_is_an_error(make, user):
    if user and os.getuid() != 0:
        pytest.skip("only root can become another user")
    daemon = make("e.job.Variable_List['X'] = 'x' * (17 << 20)\n")
    more = {"user": user} if user else {}
    assert daemon.run("execjob_prologue", JOB, **more)["result"] == "error"
    assert "bytes is too long" in daemon.texts()[-1]


def test_requests_beside_changes_are_in_the_answer(make):
    daemon = make("e.job.rerun()\ne.job.delete()\npbs.server().scheduler_restart_cycle()\nif e.job.in_ms_mom():\n    pbs.reboot('now')\n")
    said = daemon.run("execjob_begin", {"job": {"name": "1.svr", "attrs": {"exec_host": "svr/0"}}})
    assert (said["rerun"], said["delete"], said["scheduler_restart_cycle"], said["reboot"]) == (["1.svr"], ["1.svr"], True, "now")


def test_a_launch_and_its_new_values(make):
    daemon = make("e.argv.append('-x')\ne.env['A'] = '2'\n")
    said = daemon.run("execjob_launch", {"job": {"name": "1.svr", "attrs": {}}, "progname": "/bin/sh", "argv": ["sh"], "env": {"A": "1"}})
    assert said["changes"] == [{"object": "launch", "name": None, "attr": "argv", "resource": None, "value": ["sh", "-x"]},
                               {"object": "launch", "name": None, "attr": "env", "resource": None, "value": {"A": "2"}}]


def test_resources_that_come_later_are_known(make):
    daemon = make("e.job.Resource_List['later'] = 3\n")
    assert daemon.run(data=JOB)["result"] == "error"
    daemon.send({"op": "resources", "resources": [["ncpus", "LONG", "hnm"], ["later", "LONG", ""]]})
    assert daemon.run(data=JOB)["changes"][0]["value"] == "3"


def test_every_value_that_the_server_holds_can_be_read(make):
    daemon = make("assert e.job.Hold_Types == 'xyz' and e.job.Priority == 'many' and e.job.Resource_List['ncpus'] == 'few', e.job\n"
                  "assert e.job.Resource_List['gone'] == 'x'\n")
    attrs = {"Hold_Types": "xyz", "Priority": "many", "Resource_List": {"ncpus": "few", "gone": "x"}}
    assert daemon.run(data={"job": {"name": "1", "attrs": attrs}})["result"] == "accept", daemon.texts()


def test_an_order_that_the_worker_cannot_follow_is_an_error_and_it_runs_on(make, tmp_path):
    daemon = make("e.job\ne.reject('alive')\n")
    assert daemon.run(data={"job": "no object"})["result"] == "error"
    daemon.send({"op": "run", "id": 9, "event": "queuejob", "hook": "h", "serial": 1})
    assert daemon.answer()["result"] == "error" and "KeyError: 'type'" in daemon.texts("h")[-1]
    os.rmdir(tmp_path)
    assert daemon.run(data=JOB, debug=True)["result"] == "error"
    assert any(".in: No such file" in text for text in daemon.texts("h")) and daemon.texts("h")[-1].startswith("the worker failed: FileNotFoundError")
    assert daemon.load("x = 1\n", serial=2)["ok"]
