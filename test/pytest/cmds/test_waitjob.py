"""Waiting for a job's end: qsub -W block=true, qwait, pbs_waitjob, and the watch of one job under them."""
import os
import signal
import subprocess
import threading

import pytest

from harness import api, users
from harness.wait import until

USER = (users.available() or [None])[0]


def start(cx, *words, stdin=None):
    who = {"user": USER, "group": USER, "extra_groups": []} if USER else {}
    return subprocess.Popen(words, env=cx.env, cwd=cx.work, text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **who)


def blocked(cx, text, *options):
    """A qsub that waits, and its job."""
    p = start(cx, "qsub", "-W", "block=true", *options, cx.script(text))
    return p, p.stdout.readline().strip()


@pytest.mark.parametrize("text,code", [("exit 0", 0), ("exit 42", 42), ("kill -9 $$", 137)])
def test_a_blocking_qsub_ends_as_its_job_did(shared, text, code):
    p, job = blocked(shared, text)
    assert p.wait(120) == code and job.split(".")[0].isdigit()
    assert p.stderr.read() == ""


def test_a_blocking_qsub_says_that_its_job_was_deleted_before_it_ran(shared):
    p, job = blocked(shared, "exit 0", "-h")
    until(lambda: shared.state(job) == "H", "the job")
    assert p.poll() is None
    shared.api.delete(job)
    assert p.wait(120) == 3
    assert p.stderr.read() == f"qsub: job {job} was deleted before it ran\n"


def caught(pid):
    """The signals that a process has handlers for, as bits."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1], 16) for line in f if line.startswith("SigCgt:"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_waiting_and_not_the_job(shared, number):
    p, job = blocked(shared, "sleep 600")
    shared.wait(job)
    until(lambda: caught(p.pid) >> (number - 1) & 1, "the handler")
    p.send_signal(number)
    assert p.wait(120) == 2
    assert p.stderr.read() == f"qsub: wait for job {job} interrupted by signal {int(number)}\n"
    assert shared.state(job) == "R"


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_waiters_survive_a_server_that_is_killed_at_the_end_of_their_job(store):
    from harness.complex import Complex
    cx = Complex(nodes=1, store=store)
    try:
        cx.start()
        path = os.path.join(cx.work, "go")
        p, job = blocked(cx, f"while [ ! -e {path} ]; do sleep 0.05; done; exit 7")
        cx.wait(job)
        cx.kill("server")
        open(path, "w", encoding="ascii").close()
        cx.restart("server")
        assert p.wait(120) == 7
        cx.again()
        cx.wait_gone(job)
        cx.kill("server")  # the end is known for some minutes more, whatever happens
        cx.restart("server")
        assert start(cx, "qwait", job).wait(120) == 7
    finally:
        cx.stop()


def test_qwait_waits_for_several_jobs_and_ends_as_the_last_one_did(shared):
    path = os.path.join(shared.work, "qwait-go")
    one, two = (shared.submit(f"while [ ! -e {path} ]; do sleep 0.05; done; exit {status}", block="1")
                for status in (3, 5))  # of such jobs the end is remembered for a while
    p = start(shared, "qwait", "-v", one.split(".")[0], two)
    for job in (one, two):
        shared.wait(job)
    assert p.poll() is None
    open(path, "w", encoding="ascii").close()
    assert p.wait(120) == 5 and p.stdout.read().splitlines() == [f"{one} 3", f"{two} 5"]


def test_qwait_names_a_job_that_is_unknown(shared):
    done = shared.command("qwait", "999999", check=False)
    assert done.returncode == 15001 % 256 and "Unknown Job Id" in done.stderr
    assert shared.command("qwait", "x.y.z", check=False).returncode == 1
    assert shared.command("qwait", check=False).returncode == 2


@pytest.mark.complex(history=True)
def test_qwait_knows_the_past_by_history(cx):
    job = cx.submit("exit 9")
    cx.wait(job, state="F")
    cx.restart("server")
    assert cx.command("qwait", job, check=False).returncode == 9


def test_a_watch_of_one_job_is_not_woken_by_others(shared):
    job, other = shared.submit(Hold_Types="u"), shared.submit(Hold_Types="u")
    c = shared.connect()
    try:
        w = c.watch_job(job)
        w.catch_up()
        assert [k[1] for k in w.objects] == [job]
        ticket = w.send()
        shared.api.alter(other, [("Priority", "5")])
        shared.api.alter(other, [("Priority", "6")])
        assert not c.ready(ticket)
        shared.api.alter(job, [("Priority", "7")])
        w.recv(ticket)
        assert w.objects[(2, job)]["Priority"] == "7"
        shared.api.delete(job)
        w.next()
        assert not w.objects
        with pytest.raises(api.PbsError):
            w.next()  # the watch has gone with the job
        with pytest.raises(api.PbsError) as e:
            c.watch_job("999999")
        assert e.value.code == 15001
    finally:
        c.close()


def test_many_may_wait_on_one_connection(shared):
    jobs = [shared.submit(Hold_Types="u") for _ in range(20)]
    ends = {}

    def wait(job):
        ends[job] = shared.api.wait_job(job)
    for job in jobs:  # one after another on one connection: no watch is left behind
        t = threading.Thread(target=wait, args=(job,))
        t.start()
        shared.api.delete(job)
        t.join(120)
    assert len(ends) == len(jobs)
