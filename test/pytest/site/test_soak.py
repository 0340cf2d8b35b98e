"""Users and accidents together, for long: every job that was acknowledged comes to one end, and nothing is left of it.

A short run with a new seed stands in the suite; `make soak` goes on for SOAK_SECONDS (600), from SOAK_SEED on.
"""
import collections
import contextlib
import ctypes
import glob
import os
import pwd
import random
import shutil
import signal
import struct
import subprocess
import threading
import time

import pytest

from harness import accident, api, faults, users, work
from harness.build import PROGRAMS, is_sanitized
from harness.complex import Complex
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs jobs of several users, and mounts")

NODES, SIMULATED = ("n1", "n2", "n3"), 6
SMALL_MB, HOUR_S, END_S, MOST_WAITING = 96, 3600, 100, 6
GONE = (15031, 15033, 15034, 15060)  # the connection is of no use any more
SYS_SETRESUID = 117 if os.uname().machine == "x86_64" else 147
libc = ctypes.CDLL(None)

# Whose lock is taken by a process of another run of the same job is running twice.
REAL = ('cd "$PBS_O_WORKDIR"\nexec 9> "lock.$PBS_JOBID"; flock -n 9 || echo "$PBS_JOBID" >> twice\n'
        'echo "$PBS_JOBID" >> starts\nfor i in $(seq {}); do sleep 0.1; done\n')
CKPT = '#!/bin/sh\n[ $(($$ % 4)) -ne 0 ] && mkdir "$1" && echo image > "$1/core"\n'


class Actor(threading.Thread):
    """Does what it likes with a connection of its own, as long as `soak` lasts. What the server refuses is not an accident."""

    def __init__(self, soak, name, seed):
        super().__init__(daemon=True)
        self.soak, self.cx, self.user, self.draw = soak, soak.cx, name, random.Random(f"{seed} {name}")
        self.connection, self.jobs, self.deleted, self.failure = None, [], set(), None

    def run(self):
        if self.user:  # this thread alone is the user from now on
            assert libc.syscall(SYS_SETRESUID, -1, pwd.getpwnam(self.user).pw_uid, -1) == 0
        actions, weights = zip(*self.actions().items())
        while not self.soak.is_over.wait(self.draw.uniform(0, 0.1)):
            try:
                self.connection = self.connection or self.cx.connect()
                self.draw.choices(actions, weights)[0]()
            except api.PbsError as e:
                if e.code in GONE or e.code < 15000:
                    self.leave()
            except Exception as e:  # told at the end
                self.failure = e
                return
        self.leave()

    def leave(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def some(self):
        return self.draw.choice(self.jobs[-12:]) if self.jobs else None


class User(Actor):
    def actions(self):
        return {self.submit: 30, self.delete: 4, self.hold: 4, self.alter: 4}

    def submit(self):
        d = self.draw
        if len(self.connection.select()) > MOST_WAITING * len(users.NAMES):
            return
        simulated = d.random() < 0.5
        attrs = [("Resource_List", "select", f"{d.randint(1, 2)}:ncpus={d.randint(1, 2)}"),
                 ("Output_Path", None, "/dev/null"), ("Error_Path", None, "/dev/null"),
                 ("Variable_List", None, f"PBS_O_WORKDIR={self.cx.work},EXECSIM_MS={d.randint(50, 2000)}")]
        attrs += [("array_indices_submitted", None, "1-3")] if d.random() < 0.1 else []
        attrs += [("depend", None, "afterany:" + self.some())] if self.jobs and d.random() < 0.1 else []
        script = self.soak.scripts[d.randrange(len(self.soak.scripts))]
        queue = "simulated" if simulated else d.choice(["workq", "workq", "express"])
        self.jobs.append(self.connection.submit(attrs, script, queue))

    def delete(self):
        job = self.some()
        if job:
            self.deleted.add(job)  # before it is known whether it was: the answer may be lost
            self.connection.delete(job)

    def hold(self):
        job = self.some()
        if job:
            self.connection.hold(job)
            self.connection.release(job)

    def alter(self):
        job = self.some()
        if job:
            self.connection.alter(job, [("Resource_List", "select", f"1:ncpus={self.draw.randint(1, 2)}")])


class Operator(Actor):
    def actions(self):
        return {self.rerun: 4, self.signal: 4, self.order: 1, self.checkpoint: 2}

    def running(self):
        found = [j.name for j in self.connection.stat("job", "", extend="t") if j.state == "R" and "[]" not in j.name]
        return self.draw.choice(found) if found else None

    def rerun(self):
        job = self.running()
        if job:
            self.connection.rerun(job)

    def signal(self):
        job = self.running()
        if job:
            self.connection.signal(job, "suspend")
            self.connection.signal(job, "resume")

    def order(self):
        self.connection.manager(api.MSET, api.SCHED, "default",
                                [("preempt_order", None, self.draw.choice(["S", "R", "SR", "CR", "SCR"]))])

    def checkpoint(self):
        job = self.running()
        if job:
            self.connection.hold(job)
            self.connection.release(job)


class Soak:
    """The complex, those who act on it, and what happens to it."""

    def __init__(self, cx, clock, seed):
        self.cx, self.clock, self.draw, self.is_over = cx, clock, random.Random(seed), threading.Event()
        self.crashed, self.told = set(), []
        self.scripts = [cx.script(REAL.format(n)) for n in (1, 5, 12, 25)]
        self.actors = [User(self, name, seed) for name in users.NAMES] + [Operator(self, None, seed)]
        self.simulator = Simulator(cx, nodes=SIMULATED, ncpus=4)

    def prepare(self):
        cx = self.cx
        cx.blank("starts", "twice")
        cx.make_queue("express", Priority="200")
        cx.make_queue("simulated")
        for node in NODES:
            priv = os.path.join(cx.dir, "mom", node, "mom_priv")
            path = os.path.join(priv, "save")
            with open(path, "w", encoding="ascii") as f:
                f.write(CKPT)
            os.chmod(path, 0o755)
            with open(os.path.join(priv, "config"), "a", encoding="ascii") as f:
                f.write(f"$action checkpoint_abort 20 !{path} %path\n")
            cx.restart(node)
        self.simulator.__enter__()
        for i in range(SIMULATED):
            cx.api.manager(api.MSET, api.NODE, f"s{i + 1}", [("queue", None, "simulated")])

    # --- accidents
    def some(self):
        return self.draw.choice(["server", "server", "sched", *NODES])

    def begin(self, daemon):
        """A server does not start while the database recovers: whoever starts it tries again, as systemd does."""
        until(lambda: self.cx.control("restart", daemon, check=False).returncode == 0, lambda: self.cx.log(daemon))

    def kill(self):
        daemon = self.some()
        self.tell(f"kill {daemon}")
        self.cx.kill(daemon)
        time.sleep(self.draw.uniform(0, 0.5))  # what happens meanwhile is a part of the accident
        self.begin(daemon)

    def restart(self):
        daemon = self.some()
        self.tell(f"restart {daemon}")
        self.begin(daemon)

    def stop(self):
        daemon = self.some()
        self.tell(f"stop {daemon}")
        accident.stop(self.cx.pid(daemon), self.draw.uniform(0.1, 2))

    def cut(self):
        daemon = self.draw.choice(["server", *NODES])
        self.tell(f"cut {daemon} off")
        accident.cut_off(self.cx.pid(daemon))

    def no_descriptors(self):
        daemon = self.some()
        self.tell(f"no descriptors for {daemon}")
        accident.no_descriptors(self.cx.pid(daemon), self.draw.uniform(0.1, 1.5))

    def no_disk(self):
        self.tell("no disk for the server")
        accident.no_disk(os.path.join(self.cx.home, "filler"), self.draw.uniform(0.1, 1.5))

    def hour(self):
        self.tell("the clock is an hour ahead")
        self.clock.set(HOUR_S)
        time.sleep(self.draw.uniform(0.1, 1))  # as above
        self.clock.set(0)

    def database(self):
        self.tell("a process of the database is killed")
        accident.kill_backend(self.cx.dir, self.draw)

    def shepherd(self):
        found = shepherds(self.cx)
        if found:
            pid = self.draw.choice(sorted(found))
            self.tell(f"kill shepherd {pid}")
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def kill_simulator(self):
        self.tell("kill the simulator")
        self.simulator.process.kill()
        self.simulator.process.wait()
        self.simulate()

    def simulate(self):
        s = self.simulator
        s.process = subprocess.Popen(s.process.args, env=self.cx.env)

    ACCIDENTS = {kill: 6, restart: 2, stop: 4, cut: 4, no_descriptors: 3, no_disk: 2, hour: 2, database: 2, shepherd: 3,
                 kill_simulator: 1}

    def tell(self, text):
        self.told.append(f"{time.time() - self.begun_s:7.1f}  {text}")

    # --- the whole
    def run(self, seconds):
        self.begun_s, end = time.time(), time.monotonic() + seconds
        for a in self.actors:
            a.start()
        with work.NodeWatch(self.cx):
            while time.monotonic() < end:
                time.sleep(self.draw.uniform(0, 1.5))  # between two accidents jobs run
                self.draw.choices(list(self.ACCIDENTS), list(self.ACCIDENTS.values()))[0](self)
            self.is_over.set()
            for a in self.actors:
                a.join(120)
                assert not a.is_alive(), f"a call of {a.user or 'the operator'} is not answered"
                assert not a.failure, a.failure
            self.tell("calm")
            self.repair()
            until(self.is_done, lambda: f"the end of all jobs: {[dict(j) for j in self.cx.api.stat('job')]}", END_S)

    def repair(self):
        for daemon in ("server", "sched", *NODES):
            if not self.cx.pid(daemon):
                self.begin(daemon)
        if self.simulator.process.poll() is not None:
            self.simulate()
        self.cx.again()

    def is_done(self):
        """What people have held or suspended is let go."""
        try:
            left = [j for j in self.cx.api.stat("job", "", extend="t") if j.state not in "FX"]
        except api.PbsError:
            self.cx.again()
            return False
        for j in left:
            with contextlib.suppress(api.PbsError):
                if j.state == "H":
                    self.cx.api.release(j.name, "uos")
                elif j["substate"] == "43":
                    self.cx.api.signal(j.name, "resume")
        return not left

    # --- what must hold
    def accounted(self):
        """{job: its letters}"""
        found = collections.defaultdict(list)
        for path in sorted(glob.glob(os.path.join(self.cx.home, "server_priv", "accounting", "*"))):
            with open(path, encoding="utf-8") as f:
                for words in (line.split(";", 3) for line in f):
                    if len(words) == 4:
                        found[words[2]].append(words[1])
        return found

    def check(self):
        cx = self.cx
        jobs = [j for a in self.actors for j in a.jobs]
        assert len(jobs) == len(set(jobs)), "an identifier was promised twice"
        assert not cx.file("twice"), f"ran twice at a time: {cx.file('twice')}"
        starts, letters = collections.Counter((cx.file("starts") or "").split()), self.accounted()
        known = {s.name: s for s in cx.api.stat("job", "", extend="xt")}
        for job in jobs:
            assert job in known, f"{job} is lost"
            assert known[job].state == "F", dict(known[job])
        for job in [j for j in known if "[]" not in j]:
            said = letters[job]
            assert starts[job] <= 1 + said.count("R"), f"{job} began {starts[job]} times: {said}"
            assert said.count("E") <= 1 and said.count("S") <= 1 + said.count("R"), f"{job}: {said}"
            assert said.count("S") <= said.count("E") + said.count("R"), f"{job}: of a run no end is on record: {said}"
            assert "[" in job or said.count("Q") == 1, f"{job}: {said}"
        self.check_nothing_left()
        return f"{len(jobs)} jobs were acknowledged, {sum(starts.values())} scripts begun"

    def check_nothing_left(self):
        cx = self.cx
        for n in cx.api.stat("vnode"):
            assert n.get("resources_assigned", {}).get("ncpus", "0") == "0", dict(n)
        until(lambda: not shepherds(cx), lambda: f"the end of all shepherds: {shepherds(cx)}")
        for node in NODES:
            for where in ("spool", "mom_priv/jobs"):
                path = os.path.join(cx.dir, "mom", node, where)
                until(lambda path=path: not left_in(path), lambda path=path: f"{path} to be empty: {left_in(path)}")
            jobs = os.path.join(cx.dir, "mom", node, "mom_priv", "jobs")
            until(lambda jobs=jobs: not groups_of(jobs), lambda jobs=jobs: f"all groups to go: {groups_of(jobs)}")


def shepherds(cx):
    """{pid: command line} of those that have a job."""
    found = {}
    for pid in faults.processes_called(f"{cx.dir}/mom/"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", encoding="utf-8") as f:
            words = f.read().split("\0")
            if words[0].endswith("pbs_shepherd") and words[1] != "zygote":  # that one is the MOM's
                found[pid] = " ".join(words)
    return found


def left_in(path):
    """Its files, but for the places that a MOM keeps ready for jobs to come."""
    return [name for name in os.listdir(path) if not name.startswith(".spare")]


def groups_of(jobs):
    """cgroups of runs that this MOM has, under any controller: they are named for its directory of jobs."""
    st = os.stat(jobs)
    return [path for path in glob.glob(f"/sys/fs/cgroup/*/pbs_{st.st_dev:x}-{st.st_ino:x}_*") if ".spare" not in path]


class Clock:
    """The wall clock of all daemons, where it can be set."""

    def __init__(self, cx, monkeypatch):
        self.path = os.path.join(cx.top, "clock")
        self.set(0)
        if is_sanitized():  # the sanitizer wants to be loaded first
            return
        library = os.path.join(cx.top, "clock_jump.so")
        subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library,
                        os.path.join(PROGRAMS, "clock_jump.c")], check=True)
        monkeypatch.setenv("LD_PRELOAD", library)
        monkeypatch.setenv("CLOCK_JUMP", self.path)

    def set(self, ahead_s):
        with open(self.path, "r+b" if os.path.exists(self.path) else "w+b") as f:
            f.write(struct.pack("qq", ahead_s, 0))


@contextlib.contextmanager
def small_home(cx):
    """The files of server and scheduler lie on a file system that can be filled."""
    cx.stop_daemon("sched")
    cx.stop_daemon("server")
    kept = cx.home + ".kept"
    os.rename(cx.home, kept)
    os.mkdir(cx.home)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL_MB}m,mode=755", "tmpfs", cx.home], check=True)
    try:
        shutil.copytree(kept, cx.home, dirs_exist_ok=True, symlinks=True, ignore=shutil.ignore_patterns("*.sock"))
        cx.restart("server")
        cx.restart("sched")
        cx.again()
        yield
    finally:
        cx.stop_daemon("sched")
        cx.stop_daemon("server")
        subprocess.run(["umount", "-l", cx.home], check=False)


@pytest.fixture
def soak(request, monkeypatch):
    seed = request.config.getoption("--soak-seed") or int(time.time())
    print(f"seed {seed}")
    cx = Complex(nodes=len(NODES), ncpus=2, history=True, store=random.Random(seed).choice(["sqlite", "postgres"]))
    clock = Clock(cx, monkeypatch)
    try:
        cx.start()
        with small_home(cx):
            s = Soak(cx, clock, seed)
            s.prepare()
            try:
                yield s
            finally:
                s.simulator.process.kill()
                s.simulator.process.wait()
    finally:
        cx.stop()


@pytest.mark.timeout(7 * 24 * HOUR_S)  # it ends by itself
def test_whatever_happens_each_job_comes_to_one_end(soak, request):
    try:
        soak.run(request.config.getoption("--soak-seconds"))
        print(soak.check())
    except BaseException:
        print(*soak.told, sep="\n")
        print(soak.cx.report())
        raise
