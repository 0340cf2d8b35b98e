"""Hooks at requests: what they see, set and refuse; real workers run the scripts."""
import os
import re
import subprocess

import pytest

from harness.hooks import job, log, qsub
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=1, ncpus=4)


def test_a_queuejob_hook_refuses_jobs_without_walltime_with_its_own_words(complex, hooks):
    hooks.make("limits", "queuejob", "if e.job.Resource_List['walltime'] is None: e.reject('give a walltime')")
    before = complex.api.stat("server")[0]["total_jobs"]
    done = qsub(complex, "-h")
    assert (done.returncode, done.stderr) == (32, "qsub: give a walltime\n")
    assert complex.api.stat("server")[0]["total_jobs"] == before
    jobid = qsub(complex, "-h", "-l", "walltime=5", check=True).stdout.strip()
    assert job(complex, jobid)["job_state"] == "H"


def test_a_reject_without_a_message_has_the_words_of_pbs(complex, hooks):
    hooks.make("mute", "queuejob", "e.reject()")
    assert qsub(complex).stderr == "qsub: queuejob request rejected by 'mute'\n"


def test_a_hook_that_raises_refuses_and_the_log_says_what(complex, hooks):
    hooks.make("raises", "queuejob", "raise ValueError('seen in the log')")
    assert qsub(complex).stderr == \
        "qsub: request rejected as filter hook 'raises' encountered an exception. Please inform Admin\n"
    said = log(complex)
    assert "queuejob hook 'raises' encountered an exception, request rejected" in said
    assert "PBS server internal error (15011) in Error evaluating Python script, seen in the log" in said


def test_hooks_run_in_their_order_and_see_what_earlier_ones_set(complex, hooks):
    hooks.make("second", "queuejob", "e.job.Resource_List['walltime'] = pbs.duration(str(60 * int(e.job.Resource_List['ncpus'])))", order=2)
    hooks.make("first", "queuejob", "e.job.Resource_List['ncpus'] = 2", order=1)
    jobid = qsub(complex, "-h", check=True).stdout.strip()
    assert {k: job(complex, jobid)["Resource_List"][k] for k in ("ncpus", "walltime")} == {"ncpus": "2", "walltime": "00:02:00"}


def test_after_a_reject_no_later_hook_runs(complex, hooks):
    hooks.make("no", "queuejob", "e.reject('no')", order=1)
    hooks.make("later", "queuejob", "pbs.logmsg(pbs.LOG_DEBUG, 'later was here')", order=2)
    assert qsub(complex).stderr == "qsub: no\n"
    assert "later was here" not in log(complex)


def test_a_queuejob_hook_sets_queue_name_and_a_variable(complex, hooks):
    complex.make_queue("q2")
    hooks.make("sets", "queuejob", "e.job.queue = pbs.server().queue('q2')\ne.job.Job_Name = 'renamed'\n"
               "e.job.Variable_List['HOOK'] = 'a,b'\ne.job.project = 'p1'")
    jobid = qsub(complex, "-h", check=True).stdout.strip()
    j = job(complex, jobid)
    assert (j["queue"], j["Job_Name"], j["project"]) == ("q2", "renamed", "p1")
    assert "HOOK=a\\,b" in j["Variable_List"]


def test_a_modifyjob_hook_sees_the_request_and_the_job_as_it_was(complex, hooks):
    jobid = qsub(complex, "-h", "-p", "3", check=True).stdout.strip()
    hooks.make("modify", "modifyjob", "if e.job.Priority is not None and int(e.job.Priority) > int(e.job_o.Priority) + 10: e.reject('too much')\n"
               "e.job.Job_Name = 'altered'")
    done = complex.command("qalter", "-p", "20", jobid, check=False)
    assert done.returncode != 0 and done.stderr == f"qalter: too much {jobid}\n"
    complex.command("qalter", "-p", "5", jobid)
    assert (job(complex, jobid)["Priority"], job(complex, jobid)["Job_Name"]) == ("5", "altered")


def test_a_movejob_hook_refuses_and_knows_the_queue_the_job_comes_from(complex, hooks):
    complex.make_queue("q3")
    jobid = qsub(complex, "-h", check=True).stdout.strip()
    hooks.make("move", "movejob", "if e.job.queue.name == 'q3' and not e.job.Resource_List['mem']: e.reject('from %s' % e.src_queue.name)")
    done = complex.command("qmove", "q3", jobid, check=False)
    assert done.returncode != 0 and done.stderr == f"qmove: from workq {jobid}\n"
    assert job(complex, jobid)["queue"] == "workq"


def test_a_runjob_hook_keeps_a_job_waiting_and_the_comment_says_why(complex, hooks):
    hooks.make("run", "runjob", "pbs.logmsg(pbs.LOG_DEBUG, 'asked by %s at %s' % (e.requestor, e.job.exec_vnode))\ne.reject('no')")
    jobid = complex.submit("sleep 600")
    until(lambda: job(complex, jobid).get("comment") == "Not Running: PBS Error: no", "the comment")
    assert job(complex, jobid)["job_state"] == "Q"
    assert re.search(r"asked by Scheduler at \(\S+:ncpus=1\)", log(complex))
    complex.qmgr("set hook run enabled=false")
    complex.set_server("scheduling", "True")
    complex.wait(jobid)
    complex.command("qdel", jobid)


def test_attributes_that_a_runjob_hook_sets_stay_with_the_job(complex, hooks):
    hooks.make("site", "runjob", "e.job.Resource_List['site'] = 'abc'")
    jobid = complex.submit("sleep 600")
    complex.wait(jobid)
    assert job(complex, jobid)["Resource_List"]["site"] == "abc"
    assert f"{jobid};'site' hook set job's Resource_List.site = abc" in log(complex)
    complex.command("qdel", jobid)


def test_a_hook_reads_the_server_its_queues_and_jobs(complex, hooks):
    held = qsub(complex, "-h", "-N", "counted", check=True).stdout.strip()
    hooks.make("reads", "queuejob", "s = pbs.server()\nfound = [j.id for j in s.jobs() if j.Job_Name == 'counted']\n"
               "e.reject('%s %s %s %s' % (s.name, s.queue('workq').name, found, s.job('99999')))")
    server = complex.api.stat("server")[0].name
    assert qsub(complex).stderr == f"qsub: {server} workq ['{held}'] None\n"


def test_a_disabled_hook_and_one_without_a_script_do_not_run(complex, hooks):
    hooks.make("off", "queuejob", "e.reject('never')", enabled="false")
    hooks.names.append("empty")
    complex.qmgr("create hook empty event=queuejob")
    complex.command("qdel", qsub(complex, "-h", check=True).stdout.strip())


# --- faults

def test_a_hook_that_loops_is_ended_by_its_alarm(complex, hooks):
    hooks.make("loops", "queuejob", "while True: pass", alarm=1)
    assert qsub(complex).stderr == "qsub: request rejected as filter hook 'loops' got an alarm call. Please inform Admin\n"
    assert "alarm call while running queuejob hook 'loops', request rejected" in log(complex)


def test_a_hook_that_defies_its_alarm_is_killed(complex, hooks):
    hooks.make("defies", "queuejob", "while True:\n    try:\n        while True: pass\n    except BaseException: pass", alarm=1)
    assert qsub(complex).stderr == "qsub: request rejected as filter hook 'defies' got an alarm call. Please inform Admin\n"


@pytest.mark.parametrize("how", ["import os; os._exit(0)", "import os; os.kill(os.getpid(), 9)",
                                 "import os; os.write(3, b'\\xff' * 8)", "import os; os.write(3, b'\\0\\0\\0\\2{}')",
                                 "import os; os.close(3); os._exit(1)", "import no_such_module", "def f(): f()\nf()"],
                         ids=["exit", "kill", "long-frame", "no-op", "close", "import", "recursion"])
def test_a_worker_that_a_script_destroys_refuses_the_request_and_is_replaced(complex, hooks, how):
    hooks.make("destroys", "queuejob", how)
    assert qsub(complex).stderr == "qsub: request rejected as filter hook 'destroys' encountered an exception. Please inform Admin\n"
    complex.qmgr("set hook destroys enabled=false")
    hooks.make("after", "queuejob", "e.reject('alive')")
    assert qsub(complex).stderr == "qsub: alive\n"


NOISE = """import json, os, random, struct
r = random.Random(pbs.server().next)
FRAMES = [{'op': 'hello', 'version': 1}, {'op': 'loaded', 'hook': 'noise', 'ok': True}, {'op': 'checked', 'ok': 1}, {'op': 'query', 'kind': 3, 'after': 'x.y'},
          {'op': 'query', 'kind': 'job', 'after': '99999999999999999999.5', 'limit': -4}, {'op': 'log', 'text': 'noise', 'mask': 1 << 40, 'object': 7},
          {'op': 'log'}, {'op': 'answer', 'id': 1, 'result': 'accept'}, {'op': 'answer'}, {'op': 7}, {}, {'op': 'page'}, {'op': 'x' * 70000}]
"""


@pytest.mark.parametrize("seed", range(24))
def test_noise_of_a_worker_harms_only_its_own_request(complex, hooks, seed):
    """Frames at random, whole and cut, right and wrong: the wire as the server reads it."""
    hooks.make("noise", "queuejob", NOISE.replace("pbs.server().next", str(seed)) + """
out = b''
for i in range(r.randrange(1, 6)):
    body = r.choice([json.dumps(r.choice(FRAMES)).encode(), r.randbytes(r.randrange(40)), b'[' * r.randrange(5000), b'{"op": "log", "op": "log"}'])
    out += struct.pack('>I', len(body) if r.random() < 0.8 else r.getrandbits(r.choice([8, 32]))) + body
os.write(3, out[:r.randrange(1, len(out) + 1)])
os._exit(0)""")
    done = qsub(complex)
    assert done.stderr == "qsub: request rejected as filter hook 'noise' encountered an exception. Please inform Admin\n"
    assert complex.command("qstat", "-B").returncode == 0


FLOODS = {
    "lines": "frame(op='log', id=1, mask=1024, text='x\\n' * 4000)",
    "texts": "frame(op='log', id=1, mask=1024, text='x' * (1 << 20))",
    "questions": "frame(op='query', id=1, seq=1, kind='none' + 'x' * 4096)",
    "answers": "frame(op='nothing', text='x' * (1 << 20))",
}


@pytest.mark.parametrize("what", FLOODS)
def test_what_a_worker_may_say_in_one_run_is_bounded(complex, hooks, what):
    """The script writes frames by itself, without end and without reading."""
    complex.set_server("log_events", "2047")
    before = len(log(complex))
    hooks.make("floods", "queuejob", "import json, os, struct, threading\ndef frame(**m):\n    b = json.dumps(m).encode()\n    return struct.pack('>I', len(b)) + b\n"
               f"f = {FLOODS[what]}\nthreading.Thread(target=lambda: [None for _ in iter(lambda: os.read(3, 1 << 20), b'')], daemon=True).start()\n"
               "while True:\n    left = f\n    while left:\n        left = left[os.write(3, left):]\n", alarm=60)
    with subprocess.Popen(["qsub", complex.script("true")], stderr=subprocess.PIPE, env=complex.env, cwd=complex.work, text=True) as waiting:
        assert complex.command("qstat", "-B").returncode == 0
        assert waiting.communicate(timeout=240)[1] == "qsub: request rejected as filter hook 'floods' encountered an exception. Please inform Admin\n"
    assert len(log(complex)) - before < 32 << 20
    complex.set_server("log_events", "511")


def test_prints_of_a_hook_are_lost_and_harm_nothing(complex, hooks):
    hooks.make("prints", "queuejob", "import sys\nblock = 'x' * (1 << 20)\nfor i in range(1024): sys.stdout.write(block)\ne.reject('done')")
    assert qsub(complex).stderr == "qsub: done\n"


def test_the_server_serves_others_while_a_hook_runs(complex, hooks, tmp_path):
    gate = os.path.join(complex.work, "gate")
    os.mkfifo(gate)
    hooks.make("waits", "queuejob", f"open({gate!r}).read()\ne.reject('opened')")
    waiting = subprocess.Popen(["qsub", complex.script("true")], stderr=subprocess.PIPE, env=complex.env, cwd=complex.work, text=True)
    with open(gate, "w"):  # returns when the hook has opened it: it runs now
        assert complex.command("qstat", "-B").returncode == 0
        assert waiting.poll() is None
    assert waiting.communicate(timeout=120)[1] == "qsub: opened\n"


def test_a_server_killed_while_a_hook_runs_leaves_nothing_half_done(complex, hooks):
    gate = os.path.join(complex.work, "gate2")
    os.mkfifo(gate)
    jobid = qsub(complex, "-h", "-p", "1", check=True).stdout.strip()
    hooks.make("half", "modifyjob", f"open({gate!r}).read()")
    with subprocess.Popen(["qalter", "-p", "9", jobid], stderr=subprocess.PIPE, env=complex.env, cwd=complex.work, text=True) as asked:
        with open(gate, "w"):
            complex.crash_server()
        asked.kill()
    assert job(complex, jobid)["Priority"] == "1"
    complex.qmgr("set hook half enabled=false")
    complex.command("qalter", "-p", "9", jobid)
    assert job(complex, jobid)["Priority"] == "9"
