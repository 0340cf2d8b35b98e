"""A host that somebody else uses: its load, a person who works at it, users who have no job there; and hosts of several NUMA nodes."""
import contextlib
import fcntl
import os
import pwd
import socket
import struct
import subprocess
import threading
import time

import pytest

from harness import users
from harness.faults import is_alive, stays
from harness.mom_priv import replace_lines
from harness.wait import until

LIMIT = 120
COUNTER = "n=0; while :; do n=$((n+1)); echo $n > {work}/now; sleep 0.05; done"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="processes of other users can be killed by root only")


def counted(cx):
    text = (cx.file("now") or "").strip()
    return int(text) if text else 0


def counts_on(cx):
    before = counted(cx)
    until(lambda: counted(cx) > before, "the job's counting", LIMIT)


def stands_still(cx, node="n1"):
    until(lambda: "suspended, the host is in use" in cx.log(node), "what the MOM says", LIMIT)

    def same():
        before = counted(cx)
        return stays(lambda: counted(cx) == before, 0.5)
    until(same, "the job standing still", LIMIT)


def state(cx, node, wanted):
    until(lambda: wanted in cx.node(node)["state"], f"{node} being {wanted}", LIMIT)


class Console:
    """A file that is used as a keyboard is."""

    def __init__(self, cx):
        self.path = os.path.join(cx.work, "console")
        self.lines = (f"$kbd_devices {self.path}", "$kbd_idle 3000 0 1")
        self.leave()

    def use(self):
        with open(self.path, "ab"):
            pass
        os.utime(self.path)

    def leave(self):
        with open(self.path, "ab"):
            pass
        long_ago = time.time() - 100000
        os.utime(self.path, (long_ago, long_ago))


def test_jobs_of_a_host_with_too_much_load_are_stopped_where_the_site_says_so(cx):
    """The machine of the tests is never quite idle."""
    job = cx.submit(COUNTER.format(work=cx.work))
    cx.wait(job, limit_s=LIMIT)
    counts_on(cx)
    replace_lines(cx, "$max_load 0.0001 suspend", "$ideal_load 0.00005")
    state(cx, "n1", "busy")
    stands_still(cx)
    assert cx.state(job) == "R"
    replace_lines(cx, "$max_load 100000 suspend")
    counts_on(cx)
    state(cx, "n1", "free")


def test_jobs_are_stopped_while_a_person_works_at_their_host_also_by_a_new_mom(cx):
    console = Console(cx)
    replace_lines(cx, *console.lines)
    job = cx.submit(COUNTER.format(work=cx.work))
    cx.wait(job, limit_s=LIMIT)
    counts_on(cx)
    console.use()
    state(cx, "n1", "busy")
    stands_still(cx)
    other = cx.submit("true")
    cx.kill("n1")
    cx.restart("n1")
    state(cx, "n1", "busy")
    until(lambda: cx.log("n1").count("suspended, the host is in use") == 2, "the new MOM's word", LIMIT)
    stands_still(cx)
    assert cx.state(job) == "R" and cx.state(other) == "Q"
    console.leave()
    counts_on(cx)
    cx.wait_gone(other, limit_s=LIMIT)


def test_jobs_that_the_server_suspended_stay_suspended_and_jobs_that_it_ends_end(cx):
    console = Console(cx)
    replace_lines(cx, *console.lines)
    job = cx.submit(COUNTER.format(work=cx.work))
    cx.wait(job, limit_s=LIMIT)
    counts_on(cx)
    console.use()
    stands_still(cx)
    cx.command("qsig", "-s", "suspend", job)
    cx.wait(job, state="S", limit_s=LIMIT)
    console.leave()
    state(cx, "n1", "free")
    before = counted(cx)
    assert stays(lambda: counted(cx) == before, 0.5)
    console.use()
    state(cx, "n1", "busy")
    cx.command("qsig", "-s", "resume", job)
    cx.wait(job, state="R", limit_s=LIMIT)
    until(lambda: cx.log("n1").count("suspended, the host is in use") == 2, "the MOM's word", LIMIT)
    cx.api.delete(job)
    cx.wait_gone(job, limit_s=LIMIT)


@pytest.mark.complex(nodes=2, ncpus=1)
@pytest.mark.parametrize("used", ["n1", "n2"])
def test_a_job_on_several_hosts_goes_back_where_one_is_in_use(cx, used):
    console = Console(cx)
    replace_lines(cx, *console.lines, "$action multinodebusy 0 requeue", node=used)
    job = cx.submit("sleep 600", select="2:ncpus=1")
    cx.wait(job, limit_s=LIMIT)
    until(lambda: cx.stat(job)["substate"] == "42", "the job", LIMIT)
    console.use()
    cx.wait(job, state="Q", limit_s=LIMIT)
    cx.wait_log(used, "multinodebusy")
    console.leave()
    cx.wait(job, state="R", limit_s=LIMIT)
    assert int(cx.stat(job)["run_count"]) >= 2


# --- a person at an X display


class Screen:
    """An X server that knows one question: how long ago it was touched. Its name is that of a port above 6000."""

    def __init__(self):
        self.touched = 0.0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.name = f"127.0.0.1:{self.socket.getsockname()[1] - 6000}"
        self.open = []
        threading.Thread(target=self._accept, daemon=True).start()

    def touch(self):
        self.touched = time.time()

    def _accept(self):
        while True:
            try:
                c, _ = self.socket.accept()
            except OSError:
                return
            self.open.append(c)
            threading.Thread(target=self._serve, args=(c,), daemon=True).start()

    def _serve(self, c):
        try:
            self._setup(c)
            number = 0
            while head := c.recv(4, socket.MSG_WAITALL):
                opcode, minor, words = struct.unpack("<BBH", head)
                if words > 1:
                    c.recv(4 * (words - 1), socket.MSG_WAITALL)
                number += 1
                c.sendall(self._answer(opcode, minor, number))
        except OSError:
            pass

    @staticmethod
    def _setup(c):
        n_name, n_data = struct.unpack("<HH", c.recv(12, socket.MSG_WAITALL)[6:10])
        rest = (n_name + 3) // 4 * 4 + (n_data + 3) // 4 * 4
        if rest:
            c.recv(rest, socket.MSG_WAITALL)
        root = struct.pack("<5I6HI4B", 7, 0, 0, 0, 0, 100, 100, 10, 10, 1, 1, 0, 0, 0, 24, 0)
        body = struct.pack("<4IHH8BI", 0, 1 << 21, (1 << 21) - 1, 0, 0, 65535, 1, 0, 0, 0, 32, 32, 8, 255, 0) + root
        c.sendall(struct.pack("<BxHHH", 1, 11, 0, len(body) // 4) + body)

    def _answer(self, opcode, minor, number):
        if opcode == 98:  # is there the extension? it is 200
            return struct.pack("<BxHIBBBB20x", 1, number, 0, 1, 200, 0, 0)
        if (opcode, minor) == (200, 1):
            return struct.pack("<BBHIIIIIB7x", 1, 0, number, 0, 9, 0, min(int((time.time() - self.touched) * 1000), 10 ** 9), 0, 0)
        return struct.pack("<BxHI24x", 1, number, 0)

    def hang_up(self):
        while self.open:
            with contextlib.suppress(OSError):  # it has gone by itself
                self.open.pop().shutdown(socket.SHUT_RDWR)

    def close(self):
        self.socket.close()


def test_a_person_at_an_x_display_stops_jobs_by_pbs_idled(cx):
    replace_lines(cx, "$kbd_devices /none", "$kbd_idle 3000 0 1")
    spool = os.path.join(cx.dir, "mom", "n1", "spool", "idledir")
    until(lambda: os.path.isdir(spool) and os.stat(spool).st_mode & 0o7777 == 0o1777, "the directory of users", LIMIT)
    screen = Screen()
    env = {**cx.env, "DISPLAY": screen.name, "PBS_CONF_FILE": os.path.join(cx.dir, "mom", "n1", "pbs.conf")}
    idled = subprocess.Popen(["pbs_idled", "-w", "1", "-r", "1"], env=env)
    try:
        mine = os.path.join(spool, pwd.getpwuid(os.geteuid()).pw_name)
        until(lambda: os.path.exists(mine), "the user's file", LIMIT)
        job = cx.submit("sleep 600")
        cx.wait(job, limit_s=LIMIT)
        screen.touch()
        state(cx, "n1", "busy")
        until(lambda: "suspended, the host is in use" in cx.log("n1"), "what the MOM says", LIMIT)
        screen.touched = 0.0
        state(cx, "n1", "free")
        screen.hang_up()
        screen.touch()
        state(cx, "n1", "busy")
    finally:
        idled.kill()
        idled.wait()
        screen.close()


def test_pbs_idled_says_what_it_lacks_and_follows_no_link(cx):
    screen = Screen()
    target, link = os.path.join(cx.work, "target"), os.path.join(cx.work, "link")
    with open(target, "w", encoding="ascii"):
        pass
    os.symlink(target, link)
    before = os.stat(target).st_atime_ns
    for words, env, said in ((["-f", link], {"DISPLAY": screen.name}, link), (["-w", "x"], {"DISPLAY": screen.name}, "illegal -w value"),
                             (["-f", target], {"DISPLAY": ""}, "DISPLAY not set")):
        done = cx.command("pbs_idled", *words, env=env, check=False)
        assert done.returncode == 1 and said in done.stderr, done.stderr
    assert os.stat(target).st_atime_ns == before
    screen.close()


def test_where_a_user_was_before_the_mom_nothing_is_touched(cx):
    """The spool is open to all; so somebody may have put a link there."""
    victim = os.path.join(cx.work, "victim")
    os.mkdir(victim, 0o700)
    os.symlink(victim, os.path.join(cx.dir, "mom", "n1", "spool", "idledir"))
    replace_lines(cx, "$kbd_idle 3000 0 1")
    until(lambda: "idledir: " in cx.log("n1"), "what the MOM says", LIMIT)
    assert os.stat(victim).st_mode & 0o7777 == 0o700


# --- users without a job


@pytest.fixture
def alone():
    """A MOM looks at all users of the machine: of these tests one at a time, whoever runs them."""
    with open("/tmp/.cede-strangers.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def sleeper(uid):
    return subprocess.Popen(["sleep", "1000"], user=uid, group=uid, extra_groups=[])


@needs_root
def test_users_without_a_job_have_no_processes_but_for_those_that_the_site_spares(alone, cx):
    """Numbers that no other test and no user of any machine has: theirs alone are looked at."""
    spared, system = sleeper(2000000012), sleeper(2000000001)
    stranger = sleeper(2000000011)
    try:
        replace_lines(cx, "$restrict_user true", "$restrict_user_exceptions 2000000012", "$restrict_user_maxsysid 2000000010")
        until(lambda: stranger.poll() is not None, "the end of the stranger", LIMIT)
        until(lambda: f"killed uid 2000000011 pid {stranger.pid}(sleep)" in cx.log("n1"), "the MOM's word", LIMIT)
        assert spared.poll() is None and system.poll() is None
    finally:
        for p in (spared, system, stranger):
            p.kill()
            p.wait()


@needs_root
def test_users_are_left_alone_as_long_as_they_have_a_job(alone, cx):
    name, uid = "pbstesthigh", 2000000019
    with users.accounts():
        try:
            pwd.getpwnam(name)
        except KeyError:
            subprocess.run(["useradd", "-l", "-M", "-u", str(uid), name], check=True)
    job = cx.submit("sleep 600", user=name)
    cx.wait(job, limit_s=LIMIT)
    until(lambda: cx.stat(job).get("session_id"), "the job's session", LIMIT)
    own, stranger = sleeper(uid), sleeper(2000000011)
    try:
        replace_lines(cx, "$restrict_user true", "$restrict_user_maxsysid 2000000010")
        until(lambda: stranger.poll() is not None, "the end of the stranger", LIMIT)
        assert own.poll() is None and is_alive(int(cx.stat(job)["session_id"]))
        cx.hosts_back()
        cx.api.delete(job)
        cx.wait_gone(job, limit_s=LIMIT)
        until(lambda: own.poll() is not None, "the end of what he has left here", LIMIT)
    finally:
        for p in (own, stranger):
            p.kill()
            p.wait()


# --- NUMA


def test_a_host_of_two_numa_nodes_is_two_vnodes(cx, monkeypatch):
    """The hardware is hwloc's pretence."""
    monkeypatch.setenv("HWLOC_SYNTHETIC", "numa:2 core:3 pu:1")
    replace_lines(cx, "$vnode_per_numa_node true")
    cx.restart("n1")

    def cpus(vnode):
        found = cx.command("pbsnodes", "-v", vnode, check=False).stdout
        return [line.split("=")[1].strip() for line in found.splitlines() if "resources_available.ncpus" in line]
    until(lambda: cpus("n1[0]") == ["3"] and cpus("n1[1]") == ["3"] and cpus("n1") == ["0"], "the vnodes", LIMIT)
    job = cx.submit("sleep 600", select="1:ncpus=3+1:ncpus=3")
    s = cx.wait(job, limit_s=LIMIT)
    assert "n1[0]" in s["exec_vnode"] and "n1[1]" in s["exec_vnode"]
    cx.api.delete(job)
    cx.wait_gone(job, limit_s=LIMIT)
