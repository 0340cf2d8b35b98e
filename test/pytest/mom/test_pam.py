"""pam_pbs: who may log in on a host of jobs, and that the login becomes part of a job there. With PAM itself, whose files are those
of a mount namespace."""
import contextlib
import os
import pwd
import re
import shlex
import shutil
import signal
import socket
import subprocess

import pytest

from harness import build, users
from harness.mom_priv import configure
from harness.shepherds import confinement, kill_shepherd, shepherd
from harness.tasks import is_gone, running, stands_still
from harness.wait import until

OWNER, OTHER = users.NAMES[0], users.NAMES[1]


@pytest.fixture(autouse=True)
def needs_pam():
    if os.geteuid() != 0:
        pytest.skip("needs root: files of PAM, a mount namespace, users")
    if not os.path.exists(module()):
        pytest.skip("pam_pbs.so is not built: the headers of PAM are missing")


def module():
    return os.path.join(os.environ["CEDE_BUILD"], "lib", "security", "pam_pbs.so")


def host_name():
    return socket.gethostname()


def conf(cx, node="n1"):
    return os.path.join(cx.dir, "mom", node, "pbs.conf")


def aux(cx, node="n1"):
    return os.path.join(cx.dir, "mom", node, "aux")


def preloaded():
    """A program that was not built with the sanitizer loads the module with it."""
    if not build.is_sanitized():
        return {}
    # The sanitizer looks for the calls of libtirpc that it watches when it is loaded, so the library must be there by then.
    names = [subprocess.run(["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()
             for name in ("libasan.so", "libtirpc.so")]
    return {"LD_PRELOAD": ":".join(names), "ASAN_OPTIONS": "detect_leaks=0"}


def apart(cx, words, options="", configured=None):
    """The words of a command in a mount namespace whose /etc/pam.d has the service `pbs`, and no other."""
    line = f"required {module()} conf={configured or conf(cx)} {options}"
    env = " ".join(f"{k}={v}" for k, v in preloaded().items())
    text = f"""
        mount --make-rprivate /
        mount -t tmpfs none /etc/pam.d
        printf '%s\n' 'account {line}' 'account required pam_permit.so' 'session {line}' 'session required pam_permit.so' >/etc/pam.d/pbs
        exec env {env} {shlex.join(str(w) for w in words)}"""
    return ["unshare", "--mount", "sh", "-ec", text]


def account(cx, user=OWNER, options="", configured=None, session=True):
    """Whether the user may log in, and what is said on the terminal: pamtester, in a session of its own."""
    if not shutil.which("pamtester"):
        pytest.skip("pamtester is not installed")
    words = [*(["setsid", "-w"] if session else []), "pamtester", "pbs", user, "acct_mgmt"]
    done = cx.command(*apart(cx, words, options, configured), check=False)
    said = done.stdout + done.stderr
    assert (done.returncode == 0) == ("account management done" in said), said
    return done.returncode == 0, said


def refused(cx, reason, **how):
    """Is the user refused with these words?"""
    may, said = account(cx, **how)
    assert not may and f"Access denied by pam_pbs: {reason}\n" in said, said
    return True


def no_job(user=OWNER):
    return f"{user} has no running job on {host_name()}"


class Login:
    """A daemon with a user logged in, and what it has said."""

    def __init__(self, cx, user=OWNER, options="", procs=None):
        program = os.path.join(cx.work, "pam_login")
        if not os.path.exists(program):
            subprocess.run(["gcc", "-D_GNU_SOURCE", "-Wall", "-Werror", os.path.join(build.PROGRAMS, "pam_login.c"), "-o", program, "-lpam"],
                           check=True)
        words = apart(cx, [program, "pbs", user, *([procs] if procs else [])], options)
        self.daemon = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=cx.env)
        self.child, self.said = 0, ""
        for line in self.daemon.stdout:
            self.said += line
            if line.startswith("child "):
                self.child = int(line.split()[1])
                break

    def is_over(self):
        return self.daemon.poll() is not None and is_gone(self.child)

    def end(self):
        for pid in filter(None, (self.child, self.daemon.pid)):  # 0 would be our own process group
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.daemon.wait(120)
        self.daemon.stdout.close()


@pytest.fixture
def login(cx):
    """Logins that the test makes; they end with it."""
    made = []

    def make(**how):
        made.append(Login(cx, **how))
        assert made[-1].child, made[-1].said
        return made[-1]
    yield make
    for one in made:
        one.end()


def job_of(cx, user=OWNER, text="sleep 600"):
    """A job of this user whose script has begun."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(cx.work, "begun"))
    return running(cx, text, User_List=user)


def job_said(one):
    return re.search(r"^job (.*)$", one.said, re.M).group(1)


# --- who is let in
def test_a_user_without_a_job_here_is_refused_and_told_why(cx):
    assert refused(cx, no_job())
    job = job_of(cx)
    assert account(cx)[0]
    assert refused(cx, no_job(OTHER), user=OTHER)
    cx.api.delete(job)
    cx.wait_gone(job)
    assert refused(cx, no_job())


def test_root_and_those_who_are_named_need_no_job(cx):
    assert account(cx, user="root")[0]
    assert refused(cx, no_job("root"), user="root", options="refuse_root")
    assert account(cx, options=f"users=daemon,{OWNER}")[0]
    assert refused(cx, no_job(), options=f"users={OWNER}x,{OWNER[:-1]},{OTHER}")
    assert account(cx, options=f"groups=daemon,{users.GROUP}")[0]
    assert refused(cx, no_job(), options="groups=daemon,absent")
    assert account(cx, options="service=sshd,login")[0]
    assert refused(cx, no_job(), options="service=sshd,pbs")
    assert refused(cx, no_job(), options="misspelt users=daemon")


def test_a_user_that_the_host_does_not_know_is_refused(cx):
    may, said = account(cx, user="cedeabsent")
    assert not may and "User not known" in said


def test_a_host_whose_jobs_cannot_be_looked_up_refuses(cx):
    words = f"the jobs on {host_name()} cannot be looked up"
    assert refused(cx, words, configured="/absent/pbs.conf")
    job_of(cx)
    os.chmod(aux(cx), 0o777)
    assert refused(cx, words)
    os.chmod(aux(cx), 0o755)
    assert account(cx)[0]


# --- the login is part of the job
def test_a_login_is_limited_suspended_and_ended_with_the_job(cx, login):
    job = running(cx, select="1:ncpus=1:mem=200mb", User_List=OWNER)
    one = login()
    assert job_said(one) == job and "account Success" in one.said and "session Success" in one.said
    said = rf";{re.escape(job)};pid \d+ sid \d+ cmd pam_login attached as task [0-9A-F]{{8}}\n"
    until(lambda: re.search(said, cx.log("n1")), said)
    if confinement(cx)["memory"] != "none":
        with open(f"/proc/{one.child}/cgroup", encoding="ascii") as f:
            assert re.search(rf"memory.*pbs_.*{re.escape(job)}", f.read())
    assert os.stat(f"/proc/{one.child}").st_uid == pwd.getpwnam(OWNER).pw_uid
    cx.api.signal(job, "suspend")
    cx.wait(job, state="S")
    assert stands_still(one.child)
    cx.api.signal(job, "resume")
    cx.wait(job, state="R")
    cx.api.delete(job)
    cx.wait_gone(job)
    until(one.is_over, "the end of the login")


def test_a_login_ends_and_the_job_goes_on(cx, login):
    job = job_of(cx)
    one = login()
    os.kill(one.child, signal.SIGTERM)
    until(one.is_over, "the end of the login")
    until(lambda: re.search(rf";{re.escape(job)};task [0-9A-F]{{8}} terminated", cx.log("n1")), "the end of its task")
    assert cx.stat(job)["job_state"] == "R"


def test_what_a_login_leaves_behind_ends_with_the_job(cx, login):
    """The child of the daemon has a session and, after the daemon's end, a parent that are not the job's."""
    if confinement(cx)["suspend"] == "signals":
        pytest.skip("this host has no freezer that we may use")
    job = job_of(cx)
    one = login()
    os.kill(one.daemon.pid, signal.SIGKILL)
    one.daemon.wait(120)
    assert not is_gone(one.child)
    cx.api.delete(job)
    cx.wait_gone(job)
    assert is_gone(one.child)


def test_no_attach_checks_and_leaves_the_login_outside(cx, login):
    assert refused(cx, no_job(), options="no_attach")
    job = job_of(cx)
    one = login(options="no_attach")
    assert job_said(one) == "none"
    cx.api.delete(job)
    cx.wait_gone(job)
    assert not one.is_over() and "attached as task" not in cx.log("n1")


def test_of_two_jobs_the_newest_has_the_login(cx, login):
    jobs = [job_of(cx), job_of(cx)]
    one = login()
    assert job_said(one) == jobs[1]
    cx.api.delete(jobs[0])
    cx.wait_gone(jobs[0])
    assert not one.is_over()
    cx.api.delete(jobs[1])
    cx.wait_gone(jobs[1])
    until(one.is_over, "the end of the login")


def test_a_subjob_of_an_array_has_the_login(cx, login):
    array = cx.submit(f"touch {cx.work}/begun; sleep 600", array_indices_submitted="3-4", User_List=OWNER)
    until(lambda: cx.file("begun") is not None, "the script")
    assert job_said(login()) in (array.replace("[]", "[3]"), array.replace("[]", "[4]"))


def test_a_suspended_job_takes_no_login_in_and_an_older_one_does(cx, login):
    older = job_of(cx)
    newer = job_of(cx)
    cx.api.signal(newer, "suspend")
    cx.wait(newer, state="S")
    assert job_said(login()) == older
    cx.api.signal(older, "suspend")
    cx.wait(older, state="S")
    words = f"job {newer} of {OWNER} on {host_name()}: the job is suspended"
    assert refused(cx, words) and refused(cx, words, options="no_attach")


def test_a_host_that_forbids_attaching_refuses_logins_that_would_be_attached(cx):
    configure(cx, "$attach_allow false")
    job = job_of(cx)
    assert refused(cx, f"job {job} of {OWNER} on {host_name()}: $attach_allow of this host's MOM forbids it")
    assert account(cx, options="no_attach")[0]


def test_the_session_of_another_program_is_not_attached(cx):
    """su(1) runs in the session of its caller, all of which would end with the job."""
    job_of(cx)
    assert refused(cx, "the program of this login has made no session of its own", session=False)
    assert account(cx, session=False, options="no_attach")[0]


def test_session_takes_a_login_back_that_another_module_has_moved(cx, login):
    """pam_systemd moves the process into a group of its own after account."""
    if confinement(cx)["suspend"] != "cgroup v2":
        pytest.skip("this host has no freezer of version 2 that we may use")
    job = job_of(cx)
    with open("/proc/self/mounts", encoding="utf-8") as f:
        top = next(line.split()[1] for line in f if line.split()[2] == "cgroup2")
    elsewhere = os.path.join(top, f"cede_test_{os.getpid()}")
    os.mkdir(elsewhere)
    try:
        one = login(procs=f"{elsewhere}/cgroup.procs")
        with open(f"/proc/{one.child}/cgroup", encoding="ascii") as f:
            assert re.search(rf"^0::.*/pbs_.*{re.escape(job)}", f.read(), re.M)
        one.end()
    finally:
        until(lambda: not open(f"{elsewhere}/cgroup.procs", encoding="ascii").read(), "the end of what was moved")
        os.rmdir(elsewhere)


# --- daemons and hosts that fail
def test_logins_need_no_mom(cx, login):
    job = job_of(cx)
    cx.kill("n1")
    one = login()
    assert job_said(one) == job
    cx.restart("n1")
    until(lambda: cx.node()["state"] == "free", "the MOM")
    cx.api.delete(job)
    cx.wait_gone(job)
    until(one.is_over, "the end of the login")


def test_the_socket_of_a_shepherd_that_was_killed_is_no_job(cx):
    job = job_of(cx)
    cx.kill("n1")
    kill_shepherd(cx, job)
    assert os.path.exists(f"{aux(cx)}/{job}.tm")
    until(lambda: refused(cx, no_job()), "the refusal")
    cx.restart("n1")


def test_a_login_dies_with_a_shepherd_that_is_killed(cx, login):
    job = job_of(cx)
    one = login()
    kill_shepherd(cx, job)
    until(one.is_over, "the end of the login")


def test_a_shepherd_that_does_not_answer_is_passed_over_and_takes_nothing_in_later(cx, login):
    older = job_of(cx)
    newer = job_of(cx)
    silent = shepherd(cx, newer)
    os.kill(silent, signal.SIGSTOP)
    try:
        one = login()
        assert job_said(one) == older
        cx.api.delete(older)
        cx.wait_gone(older)
        until(one.is_over, "the end of the login")
        assert refused(cx, f"job {newer} of {OWNER} on {host_name()} does not answer")
    finally:
        os.kill(silent, signal.SIGCONT)
    assert job_said(login()) == newer
    assert len(re.findall(rf";{re.escape(newer)};pid \d+ .* attached as task", cx.log("n1"))) == 1


def test_a_socket_of_a_process_that_is_not_roots_is_not_asked(cx):
    """It cannot come into aux while root alone writes there; the module does not rely on that."""
    text = ("import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind('fake'); s.listen(); print('up', flush=True)\n"
            "while True: c = s.accept()[0]; c.sendall(b'\\xff' * 65536)")
    with subprocess.Popen(["python3", "-c", text], cwd=cx.work, user=OWNER, group=OWNER, extra_groups=[],
                          stdout=subprocess.PIPE, text=True) as fake:
        try:
            assert fake.stdout.readline() == "up\n"
            os.rename(f"{cx.work}/fake", f"{aux(cx)}/99.fake.tm")
            assert refused(cx, f"job 99.fake of {OWNER} on {host_name()}: what listens at its socket is not a shepherd of root")
            job = job_of(cx)
            assert account(cx)[0]
            cx.api.delete(job)
        finally:
            fake.kill()


def test_a_socket_of_root_that_answers_rubbish_or_nothing_refuses(cx):
    owner = pwd.getpwnam(OWNER)
    with socket.socket(socket.AF_UNIX) as s:
        path = f"{aux(cx)}/98.fake.tm"
        s.bind(path)
        os.chown(path, owner.pw_uid, owner.pw_gid)
        s.listen()
        assert refused(cx, f"job 98.fake of {OWNER} on {host_name()} does not answer")
    rubbish = ("import socket; s = socket.socket(socket.AF_UNIX); s.bind('fake'); s.listen(); print('up', flush=True)\n"
               "while True:\n c = s.accept()[0]\n try: c.sendall(b'\\xff' * (8 << 20))\n except OSError: pass")
    with subprocess.Popen(["python3", "-c", rubbish], cwd=cx.work, stdout=subprocess.PIPE, text=True) as fake:
        try:
            assert fake.stdout.readline() == "up\n"
            os.rename(f"{cx.work}/fake", f"{aux(cx)}/97.fake.tm")
            os.chown(f"{aux(cx)}/97.fake.tm", owner.pw_uid, owner.pw_gid)
            may, said = account(cx)
            assert not may and f"Access denied by pam_pbs: job 97.fake of {OWNER} on {host_name()}: " in said
        finally:
            fake.kill()


def test_a_job_is_found_among_thousands_of_sockets_that_no_process_has(cx, login):
    job = job_of(cx)
    owner = pwd.getpwnam(OWNER)
    for i in range(3000):
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(f"{aux(cx)}/{10000 + i}.stale.tm")
        os.chown(f"{aux(cx)}/{10000 + i}.stale.tm", owner.pw_uid, owner.pw_gid)
    assert job_said(login()) == job


def test_links_files_and_sockets_of_others_are_not_jobs_of_the_user(cx):
    owner = pwd.getpwnam(OWNER)
    job_of(cx, OTHER)
    other = next(n for n in os.listdir(aux(cx)) if n.endswith(".tm"))
    os.symlink(f"{aux(cx)}/{other}", f"{aux(cx)}/96.link.tm")
    os.lchown(f"{aux(cx)}/96.link.tm", owner.pw_uid, owner.pw_gid)
    with open(f"{aux(cx)}/95.file.tm", "w", encoding="ascii"):
        os.chown(f"{aux(cx)}/95.file.tm", owner.pw_uid, owner.pw_gid)
    assert refused(cx, no_job())


# --- sshd
SSHD = """
Port 2222
ListenAddress 127.0.0.1
HostKey {work}/key
PidFile none
UsePAM yes
StrictModes no
AuthorizedKeysFile {work}/key.pub
KbdInteractiveAuthentication yes
"""


class Sshd:
    """A real sshd in a network and with files of PAM of its own. It listens when this returns."""

    def __init__(self, cx):
        self.cx, self.key = cx, os.path.join(cx.work, "key")
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.key], check=True)
        config = os.path.join(cx.work, "sshd_config")
        with open(config, "w", encoding="ascii") as f:
            f.write(SSHD.format(work=cx.work))
        line = f"required {module()} conf={conf(cx)} users={OTHER}"
        text = f"""
            mount --make-rprivate /
            mount -t tmpfs none /etc/pam.d
            mount -t tmpfs none /run
            mkdir /run/sshd
            ip link set lo up
            printf '%s\n' 'auth required pam_permit.so' 'account required pam_permit.so' 'account {line}' 'session {line}' \\
                'session required pam_permit.so' >/etc/pam.d/sshd
            exec {shutil.which("sshd", path="/usr/sbin:/sbin")} -D -e -f {config}"""
        self.daemon = subprocess.Popen(["unshare", "--mount", "--net", "sh", "-ec", text], stderr=subprocess.PIPE, text=True)
        for line in self.daemon.stderr:
            if "Server listening" in line:
                break

    def words(self, user, *command, method="publickey"):
        """A command that runs `command` there as this user."""
        options = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", f"PreferredAuthentications={method}", "IdentitiesOnly=yes")
        return ["nsenter", "--net", "-t", str(self.daemon.pid), "ssh", "-F", "none", "-T", "-i", self.key, "-p", "2222",
                *(w for o in options for w in ("-o", o)), f"{user}@127.0.0.1", *command]

    def stop(self):
        self.daemon.kill()
        self.daemon.wait(120)
        self.daemon.stderr.close()


@pytest.fixture
def sshd(cx):
    missing = [p for p in ("sshd", "ssh", "ssh-keygen", "ip") if not shutil.which(p, path="/usr/sbin:/sbin:/usr/bin:/bin")]
    if missing or build.is_sanitized():
        pytest.skip(f"not installed: {', '.join(missing)}" if missing else "sshd cannot load a module of the sanitizer")
    s = Sshd(cx)
    yield s
    s.stop()


@pytest.mark.parametrize("method", ["publickey", "keyboard-interactive"])
def test_ssh_leads_into_the_job_and_ends_with_it(cx, sshd, method):
    """With keyboard-interactive sshd asks PAM in a process that ends before the login begins."""
    out = cx.command(*sshd.words(OWNER, "true", method=method), check=False)
    denied = f"Access denied by pam_pbs: {no_job()}"
    assert out.returncode == 255 and (denied in out.stdout + out.stderr or method != "publickey"), out.stderr
    assert cx.command(*sshd.words(OTHER, "echo in")).stdout == "in\n"
    job = job_of(cx)
    with subprocess.Popen(sshd.words(OWNER, "echo $PBS_JOBID $$; exec sleep 600", method=method), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as client:
        name, pid = client.stdout.readline().split()
        assert name == job
        cx.api.signal(job, "suspend")
        cx.wait(job, state="S")
        assert stands_still(int(pid))
        cx.api.signal(job, "resume")
        cx.wait(job, state="R")
        cx.api.delete(job)
        cx.wait_gone(job)
        until(lambda: is_gone(int(pid)), "the end of what the user runs")
        assert client.wait(120) == 255
    assert cx.command(*sshd.words(OTHER, "echo in")).stdout == "in\n"
