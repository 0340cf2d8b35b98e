"""Scripts that misuse their process, hooks that are replaced while they run, and lists of many jobs."""
import contextlib
import os
import signal
import subprocess
import threading

import pytest

from harness import api
from harness.hooks import log, qsub
from harness.wait import until

MANY = 10000

pytestmark = pytest.mark.complex(nodes=0, sched=False)


def workers(cx):
    """Processes of hooks of this server."""
    out = subprocess.run(["pgrep", "-P", str(cx.pid("server")), "-f", "hook"], capture_output=True, text=True, check=False).stdout
    return {int(pid) for pid in out.split()}


def test_children_that_a_script_forks_harm_no_request(complex, hooks):
    hooks.make("forks", "queuejob", "import os, signal\nfor i in range(20):\n    if os.fork() == 0:\n        if i % 2:\n            signal.pause()\n        break\n")
    done = [qsub(complex, "-h") for _ in range(3)]
    assert [d.returncode for d in done] == [0, 0, 0], done[0].stderr
    assert len(complex.api.select()) == 3
    complex.clean()


def test_a_script_whose_child_holds_the_socket_is_ended_at_its_alarm(complex, hooks):
    hooks.make("leaves", "queuejob", "import os, signal\nif os.fork() == 0:\n    signal.pause()\nos._exit(0)", alarm=1)
    assert qsub(complex).stderr == "qsub: request rejected as filter hook 'leaves' got an alarm call. Please inform Admin\n"


def test_a_script_without_memory_is_refused_and_the_next_one_runs(complex, hooks):
    hooks.make("eats", "queuejob", "import resource\nwas = resource.getrlimit(resource.RLIMIT_AS)\nresource.setrlimit(resource.RLIMIT_AS, (1 << 29, was[1]))\n"
               "try:\n    b = [bytearray(1 << 24) for _ in range(1000)]\nfinally:\n    resource.setrlimit(resource.RLIMIT_AS, was)")
    assert "encountered an exception. Please inform Admin" in qsub(complex).stderr and "MemoryError" in log(complex)
    complex.qmgr("set hook eats enabled=false")
    hooks.make("after", "queuejob", "e.reject('alive')")
    assert qsub(complex).stderr == "qsub: alive\n"


def test_a_worker_that_keeps_too_much_memory_is_replaced(complex, hooks):
    hooks.make("keeps", "queuejob", "import builtins, os\nbuiltins.kept = bytearray(b'x' * (1 << 30)) + b'x' * (1 << 26)\ne.reject(str(os.getpid()))")
    first = int(qsub(complex).stderr.removeprefix("qsub: "))
    until(lambda: first not in workers(complex), "the end of the worker")
    complex.qmgr("set hook keeps enabled=false")
    hooks.make("after", "queuejob", "import builtins\ne.reject(str(hasattr(builtins, 'kept')))")
    assert qsub(complex).stderr == "qsub: False\n"


def test_the_kernel_ends_a_worker_before_a_daemon(complex, hooks):
    hooks.make("score", "queuejob", "e.reject(open('/proc/self/oom_score_adj').read().strip())")
    assert qsub(complex).stderr == "qsub: 1000\n"


@pytest.mark.parametrize("what", ["closerange(0, 64)", "close(3); os.pipe()", "dup2(os.open('/dev/zero', os.O_RDWR), 3)"])
def test_a_script_that_takes_the_descriptors_of_its_worker_is_refused(complex, hooks, what):
    hooks.make("takes", "queuejob", f"import os\nos.{what}", alarm=2)
    assert "Please inform Admin" in qsub(complex).stderr
    complex.qmgr("set hook takes enabled=false")
    assert qsub(complex, "-h").returncode == 0


def test_a_hook_that_is_replaced_under_load_refuses_or_accepts_as_one_of_its_scripts(complex, hooks):
    hooks.make("changes", "queuejob", "e.job.comment = 'v0'")
    errors, stop = [], threading.Event()

    def submits():
        with contextlib.closing(complex.connect()) as c:
            while not stop.is_set() and not errors:
                try:
                    c.submit([("Hold_Types", None, "u")], script, None)
                except api.PbsError as e:
                    errors.append(str(e))

    script = complex.script("true")
    threads = [threading.Thread(target=submits) for _ in range(4)]
    for t in threads:
        t.start()
    for version in range(1, 16):
        path = os.path.join(complex.work, f"v{version}.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"import pbs\npbs.event().job.comment = 'v{version}'\n")
        complex.qmgr(f"import hook changes application/x-python default {path}", f"set hook changes enabled={'false' if version % 3 == 0 else 'true'}")
    stop.set()
    for t in threads:
        t.join()
    assert not errors
    comments = {j.get("comment") for j in complex.api.stat("job")}
    assert comments <= {f"v{n}" for n in range(16)} | {None} and len(comments) > 3
    complex.qmgr("set hook changes enabled=true")
    assert complex.api.stat("job", qsub(complex, "-h", check=True).stdout.strip())[0]["comment"] == "v15"
    complex.clean()


def test_runs_of_a_hook_that_is_replaced_meanwhile_end_with_their_script_and_later_ones_have_the_new(complex, hooks):
    """Four runs fill the pool; some of its workers die, others come; what waits for them was asked before the import, and runs behind it."""
    gate, told = os.path.join(complex.work, "gate"), os.path.join(complex.work, "told_which")
    text = "import os, time\nwith open(%r, 'a') as f: f.write('{0} ')\nwhile not os.path.exists(%r): time.sleep(0.02)\ne.reject('{0}')" % (told, gate)
    hooks.make("long", "queuejob", text.format("old"), alarm=600)
    asked = [os.path.join(complex.build, "bin", "qsub"), complex.script("true")]

    def ask(n):
        return [subprocess.Popen(asked, stderr=subprocess.PIPE, env=complex.env, cwd=complex.work, text=True) for _ in range(n)]

    def begun():
        return (complex.file("told_which") or "").split()

    old = ask(4)
    until(lambda: begun() == ["old"] * 4, "four runs")
    waiting = ask(4)
    path = os.path.join(complex.work, "new.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write("import pbs\ne = pbs.event()\n" + text.format("new"))
    importing = subprocess.Popen([os.path.join(complex.build, "bin", "qmgr"), "-c", f"import hook long application/x-python default {path}"], stderr=subprocess.PIPE,
                                 env=complex.env, cwd=complex.work, text=True)
    killed = sorted(workers(complex))[:2]
    for pid in killed:  # the import is checked by the first worker that comes
        os.kill(pid, signal.SIGKILL)
    assert "overwritten" in importing.communicate(timeout=120)[1]
    until(lambda: begun().count("new") >= 1, "a run of the new script beside those of the old one")
    with open(gate, "w", encoding="ascii"):
        pass
    said = [p.communicate(timeout=120)[1].removeprefix("qsub: ").strip() for p in old]
    assert sorted(said) == ["old", "old", *["request rejected as filter hook 'long' encountered an exception. Please inform Admin"] * 2]
    later = [p.communicate(timeout=120)[1] for p in waiting + ask(2)]
    assert set(later[-2:]) == {"qsub: new\n"} and set(later) <= {"qsub: new\n", "qsub: old\n"}


def load(cx, n):
    """Submit so many held jobs."""
    subprocess.run([os.path.join(cx.build, "test/bench/ifl_load"), "submit", "-c", "4", "-w", "64", "-n", str(n), cx.script("true"), "Hold_Types=u"],
                   env=cx.env, check=True, stdout=subprocess.DEVNULL)


def test_events_that_wait_have_a_bound_and_requests_go_before_them(complex, hooks):
    gate, told = os.path.join(complex.work, "open"), os.path.join(complex.work, "told")
    hooks.make("slow", "postqueuejob", f"import os, time\nwhile not os.path.exists({gate!r}):\n    time.sleep(0.02)\nwith open({told!r}, 'a') as f:\n    f.write('x')\n", alarm=600)
    hooks.make("now", "queuejob", "pass", enabled="false")
    load(complex, MANY + 20)
    until(lambda: "it is not run: 10000 runs of hooks wait for a worker already" in log(complex), "the line of the log")
    complex.qmgr("set hook now enabled=true")
    with subprocess.Popen(["qsub", "-h", complex.script("true")], stdout=subprocess.PIPE, env=complex.env, cwd=complex.work) as waiting:
        until(lambda: "Hook;now;started" in log(complex), "the request to wait for its hook")
        with open(gate, "w", encoding="ascii"):
            pass
        assert waiting.wait(120) == 0
        assert os.path.getsize(told) < MANY
    until(lambda: os.path.getsize(told) >= MANY, "the events that waited")
    complex.clean()


def test_ten_thousand_jobs_are_read_page_by_page(complex, hooks):
    complex.clean()
    load(complex, MANY)
    hooks.make("one", "queuejob", "ids = []\nfor j in pbs.server().jobs():\n    ids.append(j.id)\n    if len(ids) == 3:\n        break\ne.reject(str(len(ids)))", debug="true")
    assert qsub(complex).stderr == "qsub: 3\n"
    tmp = os.path.join(complex.home, "server_priv/hooks/tmp")
    with open(os.path.join(tmp, next(n for n in os.listdir(tmp) if n.startswith("hook_queuejob_one_") and n.endswith(".data"))), encoding="utf-8") as f:
        asked = {line.split(")")[1] for line in f if line.startswith("pbs.server().job(")}
    assert 3 <= len(asked) <= 200
    complex.qmgr("set hook one enabled=false")
    hooks.make("all", "queuejob", "import hookrun.worker as w\nbefore = most = w.memory()\nids = set()\nn = 0\nfor j in pbs.server().jobs():\n    ids.add(j.id)\n    n += 1\n"
               "    if n % 500 == 0:\n        most = max(most, w.memory())\ne.reject('%d %d %s' % (n, len(ids), most - before < 32 << 20))")
    waiting = subprocess.Popen(["qsub", complex.script("true")], stderr=subprocess.PIPE, env=complex.env, cwd=complex.work, text=True)
    assert complex.command("qstat", "-B").returncode == 0
    assert waiting.communicate(timeout=120)[1] == f"qsub: {MANY} {MANY} True\n"
