"""Interactive jobs: qsub -I at a terminal of the test."""
import os
import re
import signal
import subprocess

import pytest

from harness import users
from harness.faults import is_alive
from harness.terminal import OWNER, at_work
from harness.wait import LIMIT_S, until

history = pytest.mark.complex(history=True)


@history
def test_an_interactive_job_is_a_shell_at_the_users_terminal(cx, sit):
    t = sit("-l", "select=1:ncpus=1")
    job = at_work(t)
    t.type("echo $PBS_ENVIRONMENT:$PBS_JOBID:$TERM; id -un; stty size; tty; ps -o tty= -p $$\n")
    t.expect(rf"PBS_INTERACTIVE:{re.escape(job)}:vt100\r\n{OWNER}\r\n33 101\r\n/dev/(pts/\d+)\r\n\1")
    assert cx.stat(job)["Rerunable"] == "False"
    assert "interactive_key" not in cx.stat(job)
    t.type("exit 5\n")
    t.expect(f"qsub: job {re.escape(job)} completed")
    assert t.process.wait(LIMIT_S) == 0
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "5"


@history
def test_typed_bytes_reach_programs_unchanged_and_interrupt_them(cx, sit):
    t = sit()
    at_work(t)
    t.type("bash -c 'trap \"echo inter\"rupted INT; echo be\"\"gun; while :; do sleep 0.05; done'\n")
    t.expect("begun")
    t.type("\x03")
    t.expect("interrupted")
    t.type("\x1a")
    t.expect("Stopped")
    t.type("kill -9 %1\n")
    t.type("(stty -echo; echo g''o; wc -c)\n")
    t.expect("go\r\n")
    t.type("x" * 60 + "\n" * 3 + "\x04")
    t.expect(r"\b63\b")


@history
def test_the_window_of_the_job_follows_that_of_the_user(cx, sit):
    t = sit()
    at_work(t)
    t.type("trap 'stty size' WINCH\n")
    t.resize(50, 132)
    until(lambda: t.type("stty size\n") or "50 132" in t.read(0.2), "the new size")


@history
def test_much_output_and_much_input_pass_at_once(cx, sit):
    t = sit()
    at_work(t)
    t.type("stty raw; head -c 300000 /dev/zero | tr '\\0' a; stty cooked; echo do''ne\n")
    t.expect("a{1000}")
    t.expect("done")


@history
def test_a_job_that_is_deleted_gives_the_terminal_back(cx, sit):
    t = sit()
    job = at_work(t)
    cx.api.delete(job)
    t.expect(f"qsub: job {re.escape(job)} completed")
    t.process.wait(LIMIT_S)
    cx.wait_gone(job)


@history
def test_a_job_that_is_deleted_before_it_starts_is_said(cx, sit):
    cx.set_server("scheduling", "False")
    t = sit()
    job = t.job()
    cx.api.delete(job)
    t.expect("apparently deleted|completed")
    t.process.wait(LIMIT_S)


@history
def test_an_interactive_job_ends_when_its_user_disconnects(cx, sit):
    t = sit()
    job = at_work(t)
    pid = int(cx.stat(job)["session_id"])
    t.type("sleep 600\n")
    os.killpg(t.process.pid, signal.SIGKILL)
    cx.wait_gone(job)
    until(lambda: not is_alive(pid), "the end of the shell")


@history
def test_the_user_may_leave_while_waiting(cx, sit):
    cx.set_server("scheduling", "False")
    t = sit()
    job = t.job()
    t.type("\x03")
    t.expect(r"Do you wish to terminate the job and exit \(y\|\[n\]\)\?")
    t.type("y\n")
    t.expect(f"Job {re.escape(job)} is being deleted")
    assert t.process.wait(LIMIT_S) == 0
    cx.wait_gone(job)


@history
def test_a_tilde_and_a_dot_at_the_beginning_of_a_line_end_client_and_job(cx, sit):
    t = sit()
    job = at_work(t)
    pid = int(cx.stat(job)["session_id"])
    t.type("echo in:the ~. middle:of; sleep 600\n")
    t.expect("in:the ~. middle:of")
    t.type("~.")
    t.expect(f"Job {re.escape(job)} is being deleted")
    assert t.process.wait(LIMIT_S) == 0
    cx.wait_gone(job)
    until(lambda: not is_alive(pid), "the end of the shell")


@history
def test_two_tildes_are_one_and_a_tilde_before_anything_else_is_itself(cx, sit):
    t = sit()
    at_work(t)
    t.type("stty -icanon; echo rea''dy; head -c 7 | od -An -c\n")
    t.expect("ready")
    t.type("\n~~.\n~x\n")
    t.expect(r"\\n +~ +\. +\\n +~ +x +\\n")


@history
def test_the_user_may_stop_qsub_and_use_the_shell(cx, sit):
    t = sit(program=["bash", "-c", "set -m; qsub -I; echo sto''pped; stty size; read line; fg; echo o''ver"])
    job = at_work(t)
    t.type("(sleep 0.2; echo said:meanwhile) &\n~\x1a")
    t.expect("stopped\r\n33 101\r\n")
    t.type("\n")
    t.expect("said:meanwhile")
    t.type("echo back:again; exit 0\n")
    t.expect("back:again")
    t.expect(f"qsub: job {re.escape(job)} completed")
    t.expect("over")
    cx.wait_gone(job)


@history
def test_an_interactive_job_outlives_its_mom_and_the_server(cx, sit):
    t = sit()
    job = at_work(t)
    cx.kill("n1")
    cx.kill("server")
    t.type("echo still:here\n")
    t.expect("still:here")
    cx.restart("server")
    cx.restart("n1")
    t.type("echo and:again; exit 0\n")
    t.expect("and:again")
    cx.again()
    cx.wait_gone(job)


@history
def test_a_stranger_at_the_port_gets_nothing(cx, sit):
    cx.set_server("scheduling", "False")
    t = sit()
    job = t.job()
    port = int(cx.stat(job)["interactive"])
    done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_3"], input=b"hello\n",
                          capture_output=True, timeout=120, check=False)
    assert b"hello" not in done.stdout
    cx.set_server("scheduling", "True")
    t.expect(rf"qsub: job {re.escape(job)} ready")


@history
def test_an_interactive_job_without_a_terminal_is_refused(cx):
    done = cx.command("qsub", "-I", user=users.NAMES[0], check=False)
    assert done.returncode != 0 and "standard input and output must be a terminal" in done.stderr
