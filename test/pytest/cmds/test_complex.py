"""pbs_complex: a complex of one's own, started, looked at, broken and ended."""
import ctypes
import os
import signal
import subprocess
import threading

import pytest

from harness import faults, ports, users
from harness.checkpoints import count, stop
from harness.complex import Complex
from harness.wait import until


def ours(cx):
    """Programs that were started for this complex."""
    return [pid for pid in faults.processes_with(cx.dir) if faults.is_alive(pid)]


def test_stop_leaves_no_process_and_keeps_the_files(cx):
    jobs = [cx.submit("trap '' TERM; sleep 600 & setsid sleep 600 & wait; sleep 600") for _ in range(2)]
    for job in jobs:
        cx.wait(job)
    pids = [cx.pid(d) for d in ("server", "sched", "n1")]
    cx.control("stop")
    assert not any(faults.is_alive(pid) for pid in pids)
    assert ours(cx) == []
    assert os.path.exists(cx.conf)
    cx.control("start")
    cx.again()
    assert all(cx.stat(job) for job in jobs)


def test_a_job_s_commands_talk_to_the_complex_that_it_runs_in(cx):
    """A script that asks for its job and submits the next one, as on a site where /etc/pbs.conf says where the server is."""
    script = "qstat -f $PBS_JOBID >stat 2>&1; qsub -N next -- /bin/true >next 2>&1; : >over"
    for first in ("#!/bin/sh", "#!/bin/bash", "#!/bin/bash -l"):
        job = cx.submit(f"{first}\ncd {cx.work}; {script}\n")
        until(lambda: cx.file("over") is not None, lambda: cx.describe(job))
        assert f"Job Id: {job}" in cx.file("stat") and cx.file("next").strip() > job, (cx.file("stat"), cx.file("next"))
        os.unlink(os.path.join(cx.work, "over"))


def test_purge_removes_everything(cx):
    cx.control("stop", "--purge")
    assert not os.path.exists(cx.dir)


def ports_of(cx):
    """The ports in the files of this complex."""
    files = [cx.conf] + [os.path.join(cx.dir, "mom", n, "pbs.conf") for n in os.listdir(os.path.join(cx.dir, "mom"))]
    found = []
    for path in files:
        with open(path, encoding="ascii") as f:
            found += {k: int(v) for k, v in (line.rstrip().split("=", 1) for line in f) if k.endswith("_PORT")}.values()
    return set(found)


def test_the_ports_of_a_complex_are_its_own_until_it_is_removed(cx):
    cx.control("add-node")
    assert len(ports_of(cx)) == 5 and ports_of(cx) == set(ports.claimed(cx.dir))
    cx.control("stop")
    assert ports_of(cx) == set(ports.claimed(cx.dir))
    cx.control("stop", "--purge")
    assert ports.claimed(cx.dir) == []


def test_status_tells_what_does_not_run(cx):
    cx.kill("sched")
    done = cx.control("status", check=False)
    assert done.returncode == 1
    assert "sched        does not run" in done.stdout and "free" in done.stdout
    cx.restart("sched")
    assert cx.control("status").returncode == 0


def lock_of(pid, path):
    """The open lock file of a process, as a descriptor of ours: the lock stays until it is closed too."""
    number = next(int(fd) for fd in os.listdir(f"/proc/{pid}/fd") if os.path.realpath(f"/proc/{pid}/fd/{fd}") == path)
    pidfd = os.pidfd_open(pid)
    fd = ctypes.CDLL(None, use_errno=True).syscall(438, pidfd, number, 0)  # pidfd_getfd(2)
    os.close(pidfd)
    assert fd >= 0, os.strerror(ctypes.get_errno())
    return fd


@pytest.mark.skipif(os.geteuid() != 0, reason="the files of another process are taken by root only")
def test_a_start_waits_for_the_lock_of_a_server_that_was_killed_and_has_not_quite_gone(cx):
    old = cx.pid("server")
    lock = lock_of(old, os.path.realpath(os.path.join(cx.home, "server_priv", "server.lock")))
    os.kill(old, signal.SIGKILL)
    gone = threading.Timer(0.5, os.close, [lock])
    gone.start()
    try:
        assert cx.control("start").stdout.startswith("The complex in")
    finally:
        gone.join()
    assert cx.pid("server") != old and cx.control("status").returncode == 0


def test_a_start_at_once_after_the_server_was_killed_starts_it(cx):
    old = cx.pid("server")
    os.kill(old, signal.SIGKILL)
    cx.control("start")
    assert cx.pid("server") != old and cx.control("status").returncode == 0


def test_status_of_a_server_that_does_not_answer_says_so_in_the_end(cx):
    with faults.daemon_frozen(cx, "server"):
        done = cx.control("status", check=False)
    assert done.returncode == 1 and "server       does not answer\n" in done.stdout
    assert cx.control("status").returncode == 0


@pytest.mark.complex(store="postgres")
def test_a_database_that_has_ended_is_named_and_started_again(cx):
    with open(os.path.join(cx.dir, "pgsql", "data", "postmaster.pid"), encoding="ascii") as f:
        os.kill(int(f.readline()), signal.SIGQUIT)
    until(lambda: "database     does not run" in cx.control("status", check=False).stdout, "the end of the database")
    assert cx.control("status", check=False).returncode == 1
    cx.control("start")
    assert "database     runs" in cx.control("status").stdout
    assert cx.wait(cx.submit("sleep 600"))["exec_host"]


def test_a_node_can_be_added_and_is_used(cx):
    assert cx.control("add-node", "--ncpus", "64").stdout == "n2\n"
    assert cx.control("add-node", "big.node", "--ncpus", "2").stdout == "big.node\n"
    job = cx.submit(select="1:ncpus=64")
    assert cx.wait(job)["exec_host"].startswith("n2/")


def test_a_node_is_not_added_twice(cx):
    done = cx.control("add-node", "n1", check=False)
    assert done.returncode == 1 and "n1" in done.stderr


def test_env_makes_commands_talk_to_it(cx):
    text = cx.control("env").stdout
    done = subprocess.run(["sh", "-c", text + "pbs_complex status && qstat -B"], capture_output=True, text=True,
                          cwd="/", env={"PATH": "/usr/bin:/bin"}, check=True)
    # qstat -B says Scheduling while a cycle is under way.
    assert "server       runs" in done.stdout and ("Active" in done.stdout or "Scheduling" in done.stdout)


def test_logs_end_with_what_happened(cx):
    job = cx.submit()
    cx.wait(job)
    for daemon in ("server", "n1"):
        until(lambda d=daemon: job in cx.control("logs", d).stdout, f"a line about the job in the log of {daemon}")


def test_logs_reach_back_over_midnight(cx):
    cx.kill("server")  # which may write further lines otherwise
    with open(os.path.join(cx.home, "server_logs", "20000101"), "w", encoding="ascii") as f:
        f.write("first\nlast\n")
    today = len(cx.logs("server", 10000).splitlines()) - 4  # without the two, the heading and the blank line
    assert cx.logs("server", 10000).splitlines()[1:3] == ["first", "last"]
    assert cx.logs("server", today + 1).splitlines()[1] == "last"
    assert "last" not in cx.logs("server", today)


@pytest.mark.parametrize("words", [("start", "--nodes", "many"), ("start", "--store", "oracle"),
                                   ("kill", "nobody"), ("add-node", "a b"), ("restart", "../server"),
                                   ("logs", "--lines", "0")])
def test_mistakes_are_named(quiet, words):
    done = quiet.control(*words, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("pbs_complex: ") and words[-1].split("/")[-1] in done.stderr


@pytest.mark.parametrize("words", [(), ("begin",), ("kill",), ("stop", "now")])
def test_a_bad_command_line_shows_the_usage(quiet, words):
    done = quiet.command("pbs_complex", *words, check=False)
    assert done.returncode == 2 and "usage: pbs_complex start" in done.stderr


def test_a_path_of_any_length_will_do():
    c = Complex()
    c.dir = os.path.join(c.top, "a" * 120, "b" * 120)
    try:
        c.start()
        c.wait_gone(c.submit("true"))
    finally:
        c.stop()


@pytest.mark.complex(nodes=1, ncpus=2, history=True)
def test_an_urgent_job_preempts_by_checkpoint_without_further_configuration(cx):
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", "C")
    low = count(cx, select="1:ncpus=2")
    urgent = cx.submit("true", queue="express", select="1:ncpus=2")
    cx.wait(urgent, state="F")
    until(lambda: cx.file("counts").count("begin") == 2, "the second start of the job that gave way")
    words = cx.file("counts").split()
    assert words[2] == "saved" and words[5] == words[3] and int(words[3]) > 0
    stop(cx)
    s = cx.wait(low, state="F")
    assert (s["Exit_status"], s["run_count"], s["preempt_count"]) == ("0", "2", "1")


@pytest.mark.complex(nodes=2, history=True)
@pytest.mark.parametrize("user", [None, *users.NAMES[:1]])
def test_jobs_find_the_commands_after_the_profile_of_their_login_shell(cx, user):
    script = ("cd $PBS_O_WORKDIR; pbsdsh true && (command -v pbsdsh; command -v pbs_tmrsh) > found\n"
              "bash -c 'echo $PATH' > path")
    for first in ("", "#!/bin/bash -l\n"):
        job = cx.submit(first + script, user=user, select="2:ncpus=1", l_place="scatter")
        assert cx.wait(job, state="F")["Exit_status"] == "0"
        assert cx.file("found").split() == [f"{cx.build}/bin/{name}" for name in ("pbsdsh", "pbs_tmrsh")]
        assert cx.file("path").count(f"{cx.build}/bin") == 1
    job = cx.command("qsub", "-o", "/dev/null", "-e", "/dev/null", "--", "pbs_sleep", "0", user=user).stdout.strip()
    assert cx.wait(job, state="F")["Exit_status"] == "0"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts a cluster as another user")
def test_a_folder_that_the_account_of_the_database_cannot_enter_is_named_with_the_remedy():
    c = Complex(store="postgres")
    closed = os.path.join(c.top, "closed")
    os.makedirs(os.path.join(closed, "open"))
    os.chmod(closed, 0o700)
    c.dir = os.path.join(closed, "open", "complex")
    try:
        refused = c.control("start", "--store", "postgres", check=False)
        assert refused.returncode and f"cannot enter {closed}; chmod o+x {closed}, or choose another --dir" in refused.stderr
        assert os.listdir(os.path.join(closed, "open")) == []
        os.chmod(closed, 0o711)
        c.control("start", "--store", "postgres")
    finally:
        c.stop()


@pytest.mark.complex(store="postgres")
def test_postgres_keeps_jobs_too(cx):
    job = cx.submit(select="1:ncpus=4")
    waiting = cx.submit(select="1:ncpus=4")
    cx.wait(job)
    cx.kill("server")
    cx.restart("server")
    cx.again()
    assert cx.wait(job).run_count == 1
    assert cx.state(waiting) == "Q"
    cx.hosts_back()
    cx.api.delete(job)
    cx.wait(waiting)


@pytest.mark.skipif(not users.available(), reason="needs root, to be somebody else")
def test_an_ordinary_user_can_have_a_private_complex(quiet):
    home = f"/home/{users.NAMES[2]}/own"

    def control(*words, **more):
        return quiet.command("pbs_complex", *words, "--dir", home, user=users.NAMES[2], **more)

    control("stop", "--purge", check=False)
    control("start", "--nodes", "1", "--ncpus", "2")
    try:
        env = {"PBS_CONF_FILE": home + "/pbs.conf"}
        quiet.command("qsub", "-o", "/dev/null", "-j", "oe", "--", "/bin/sleep", "600", user=users.NAMES[2], env=env)

        def runs():
            out = quiet.command("qstat", user=users.NAMES[2], env=env).stdout
            return " R workq" in out
        until(runs, "the job to run")
        stranger = quiet.command("qstat", user=users.NAMES[0], env=env, check=False)
        assert stranger.returncode != 0
    finally:
        control("stop", "--purge")


class Nameless(Complex):
    """On a host whose own name is in no /etc/hosts and that no resolver knows."""

    def command(self, *words, **options):
        lookup = os.path.join(self.top, "nsswitch.conf")
        with open(lookup, "w", encoding="ascii") as f:
            f.write("passwd: files\ngroup: files\nhosts: files\n")
        name = f'echo nobody-knows.invalid > /proc/sys/kernel/hostname && mount --bind {lookup} /etc/nsswitch.conf && exec "$@"'
        return super().command("unshare", "--uts", "--mount", "sh", "-c", name, "sh", *words, **options)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a host another name")
def test_a_host_whose_own_name_does_not_resolve_runs_jobs():
    cx = Nameless(nodes=2)
    try:
        cx.start()
        done = cx.command("qsub", "-l", "select=2:ncpus=1", "-W", "block=true", "--", "/bin/sh", "-c", "exit 7", check=False)
        assert done.returncode == 7, done.stderr
        said = cx.command("script", "-qec", "qsub -I -S /bin/sh", "/dev/null", stdin="echo this is $((40 + 2))\nexit\n").stdout
        assert "this is 42" in said
    finally:
        cx.stop()


def test_a_second_daemon_of_a_kind_says_that_there_is_another(cx):
    for name in ("server", "sched"):
        done = cx.command("pbs_" + name, check=False)
        lock = f"{cx.home}/{name}_priv/{name}.lock"
        assert done.stderr == f"pbs_{name}: another {name} running: {lock} is locked by process {cx.pid(name)}\n"
        assert done.returncode == 2


@pytest.mark.complex(nodes=2, ncpus=3, mem="2gb")
@pytest.mark.parametrize("asked, named", [
    (("--nodes", "4"), "has 2 nodes, not 4"), (("--ncpus", "8"), "have ncpus 3, not 8"),
    (("--mem", "4gb"), "have memory 2gb, not 4gb"), (("--store", "postgres"), "another store")])
def test_a_start_that_asks_for_another_complex_than_is_there_says_so(cx, asked, named):
    refused = cx.control("start", *asked, check=False)
    assert refused.returncode and named in refused.stderr and "add-node" in refused.stderr
    cx.control("start", "--nodes", "2", "--ncpus", "3", "--mem", "2GB")  # the one that is there: up already


def test_a_new_complex_shows_ended_jobs():
    cx = Complex(nodes=1, history=True)  # as pbs_complex makes it
    try:
        cx.start()
        job = cx.submit("true")
        cx.wait_gone(job)
        assert cx.command("qstat", "-x", job).stdout.splitlines()[-1].split()[4] == "F"
    finally:
        cx.stop()
