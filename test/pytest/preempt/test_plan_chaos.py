"""Plans among people and accidents: at random, by a seed, what must hold whatever happens.

Longer, and with other seeds: make pytest T="test_plan_chaos.py --chaos-seconds 60 --chaos-seeds 10-29".
"""
import contextlib
import os
import random
import signal
import time

import pytest

from harness import api, faults, work
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=2, ncpus=2, history=True)

ORDERS = ["S", "R", "D", "SR", "RD", "SRD", "C", "CR", "CSD"]
GRACES = [("0", "0"), ("1", "0"), ("1", "3"), ("3", "5")]

# Whose lock is taken by a process of another run of the same job is running twice.
ONCE = 'exec 9> "lock.$PBS_JOBID"; flock -n 9 || echo "$PBS_JOBID" >> twice\n'
# What a job does with its notice. None of it makes a job that continues end badly.
ANSWERS = ["", "pbs_preempt_ack -r", "pbs_preempt_ack -n 2", "exit 0", "pbs_preempt_ack -n 1; pbs_preempt_ack -r"]
# Told before it could catch the signal that it has asked for; nothing else sends that. A shell says it in its own way.
UNREADY = {str(128 + signal.SIGUSR1), str(256 + signal.SIGUSR1)}
# The site's checkpoint: keeps what it needs to begin again, and sometimes fails.
CKPT = '[ $(($$ % 4)) -ne 0 ] && mkdir "$1" && echo image > "$1/core"'


def checkpoints(cx, node):
    """This MOM has a checkpoint script from now on."""
    priv = os.path.join(cx.dir, "mom", node, "mom_priv")
    path = os.path.join(priv, "save")
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + CKPT + "\n")
    os.chmod(path, 0o755)
    with open(os.path.join(priv, "config"), "a", encoding="ascii") as f:
        f.write(f"$action checkpoint_abort 20 !{path} %path\n")
    cx.restart(node)


class Chaos:
    """Actions on one complex; each is drawn from the seed, so a failure can be played again."""

    def __init__(self, cx, seed):
        self.cx, self.draw = cx, random.Random(seed)
        self.jobs, self.deleted, self.forced, self.crashed = [], set(), set(), set()
        self.other = None  # the connection of a second scheduler

    # --- what users do
    def submit(self):
        if len(self.cx.api.select()) > 12:  # enough to contend, few enough to come to an end on any machine
            return
        queue = self.draw.choices([None, "turns", "express"], [4, 2, 4])[0]
        text = (f"PATH={self.cx.build}/bin:$PATH\ncd {self.cx.work}\n{ONCE}trap '{self.draw.choice(ANSWERS)}' USR1\n"
                f"for i in $(seq {self.draw.randint(2, 14)}); do sleep 0.1; done\n")
        attrs = {"array_indices_submitted": "1-3"} if self.draw.random() < 0.15 else {}
        job = self.cx.submit(text, queue=queue, preempt_signal="USR1",
                             select=f"{self.draw.randint(1, 2)}:ncpus={self.draw.randint(1, 2)}", **attrs)
        self.jobs += [job.replace("[]", f"[{i}]") for i in (1, 2, 3)] if attrs else [job]

    def some(self):
        return self.draw.choice(self.jobs[-16:]) if self.jobs else None

    def delete(self):
        job = self.some()
        if job:
            self.deleted.add(job)
            self.cx.api.delete(job, self.draw.choice([None, None, "force"]))

    def hold(self):
        job = self.some()
        if job:
            self.cx.api.hold(job)
            self.cx.api.release(job)

    def rerun(self):
        job = self.some()
        if job:
            how = self.draw.choice([None, None, "force"])
            if how:
                self.forced.add(job)  # its host may be away, and then runs it until it is back: qrerun(1)
            self.cx.api.rerun(job, how)

    def alter(self):
        job = self.some()
        if job:
            self.cx.api.alter(job, [("Resource_List", "select", f"1:ncpus={self.draw.randint(1, 2)}")])

    def signal(self):
        job = self.some()
        if job:
            try:
                self.cx.api.signal(job, "suspend")
            finally:
                self.cx.api.signal(job, "resume")

    def explain(self):
        """Nothing comes of it, and it is answered: the answer is about this job, or the scheduler is not there."""
        job = self.some()
        if job:
            assert self.cx.api.explain(job)[0].name == job

    # --- what managers do
    def undo(self):
        for h in self.cx.api.stat("hold"):
            self.cx.api.delete_hold(h.name)

    def order(self):
        self.cx.set_sched("preempt_order", self.draw.choice(ORDERS))
        grace, most = self.draw.choice(GRACES)
        self.cx.set_sched("preempt_grace", grace)
        self.cx.set_sched("preempt_grace_max", most)

    # --- what another scheduler does: whatever it asks is answered once, and no job twice
    def second(self):
        if not self.other:
            self.other = self.cx.connect()
            self.other.register("other")
        try:
            jobs = self.cx.api.stat("job", "", extend="t")
            runs = [j.name for j in jobs if j.state in "RS" and "[]" not in j.name]
            waits = [j for j in jobs if j.state == "Q" and "[]" not in j.name]
            victims = self.draw.sample(runs, min(len(runs), self.draw.randint(1, 3)))
            if waits and self.draw.random() < 0.5:
                self.plan(self.draw.choice(waits), victims)
            elif victims:
                self.ask(victims)
        except api.PbsError:
            self.lose_second()
            raise

    def plan(self, job, victims):
        """On vnodes of its choice, but as the job has asked for it: what is saved of it is bound to its host."""
        chunks, _, cpus = job["Resource_List"]["select"].partition(":ncpus=")
        nodes = self.draw.sample(["n1", "n2"], int(chunks))
        self.other.preempt_run(job.name, "+".join(f"({n}:ncpus={cpus})" for n in nodes), victims)

    def ask(self, victims):
        ticket = self.other.preempt_send(victims)
        if self.draw.random() < 0.3:
            self.lose_second()  # no caller waits for the answer any more
            return
        until(lambda: self.other.ready(ticket), lambda: f"the answer for {victims}: {self.cx.api.stat('job')}")
        assert sorted(name for name, _ in self.other.preempt_recv(ticket)) == sorted(victims)

    def lose_second(self):
        if self.other:
            self.other.close()
        self.other = None

    # --- accidents
    def freeze(self):
        with faults.daemon_frozen(self.cx, self.draw.choice(["n1", "n2", "sched"])):
            time.sleep(self.draw.uniform(0.05, 0.3))  # the accident is that nothing happens for a while

    def kill(self):
        daemon = self.draw.choice(["server", "sched", "n1", "n2"])
        self.cx.kill(daemon)
        time.sleep(self.draw.uniform(0, 0.3))  # what happens meanwhile is a part of the accident
        self.cx.restart(daemon)
        self.cx.again()
        self.lose_second()

    def kill_shepherd(self):
        node = self.draw.choice(["n1", "n2"])
        ours = [p for p in faults.processes_called(f"{self.cx.dir}/mom/{node}/") if self.is_shepherd(p)]
        if ours:
            self.crashed.update(j.name for j in self.cx.api.stat("job", "", extend="t"))
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.draw.choice(ours), signal.SIGKILL)

    @staticmethod
    def is_shepherd(pid):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().split(b"\0")[0].endswith(b"pbs_shepherd")
        return False

    ACTIONS = {submit: 30, delete: 4, hold: 3, rerun: 3, alter: 2, signal: 2, undo: 2, order: 3, second: 5, freeze: 3,
               explain: 3, kill: 1, kill_shepherd: 1}

    def act(self):
        """What the server refuses (the job has ended meanwhile ...) is not an accident."""
        action = self.draw.choices(list(self.ACTIONS), list(self.ACTIONS.values()))[0]
        with contextlib.suppress(api.PbsError):
            action(self)

    # --- what must hold
    def check_nodes(self):
        """Nothing is promised twice: what is in use, and what is kept for holds, is there."""
        for n in self.cx.api.stat("vnode"):
            used = int(n.get("resources_assigned", {}).get("ncpus", 0))
            kept = int(n.get("resources_held", {}).get("ncpus", 0))
            assert used + kept <= 2, dict(n)

    def calm(self):
        """Nobody does anything more."""
        self.lose_second()
        self.cx.set_sched("preempt_grace", "0")

    def is_over(self):
        """What people have held or suspended is let go, as soon as there is room for it."""
        left = self.cx.api.select()
        for j in self.cx.api.stat("job", "", extend="t") if left else []:
            with contextlib.suppress(api.PbsError):
                if j.state == "H":
                    self.cx.api.release(j.name)
                elif j["substate"] == "43":
                    self.cx.api.signal(j.name, "resume")
        return not left

    def check_end(self):
        cx = self.cx
        assert cx.api.stat("hold") == []
        for n in cx.api.stat("vnode"):
            assert n.get("resources_held") is None and n["resources_assigned"]["ncpus"] == "0"
        twice = set((cx.file("twice") or "").split()) - self.forced
        assert not twice, f"ran twice at a time: {twice}"
        for job in self.jobs:
            s = cx.stat(job, "x")
            assert s, f"{job} is lost"
            if job not in self.deleted | self.crashed and s.get("preempt_method") != "D":
                assert s.get("Exit_status") in {"0"} | UNREADY, \
                    f"{job}: {dict(s)}\n{cx.command('tracejob', job, check=False).stdout}"


def test_whatever_happens_no_room_is_promised_twice_and_every_job_ends(cx, chaos_seed, chaos_seconds):
    cx.make_queue("express", Priority="200")
    cx.make_queue("turns", gang="True", gang_timeslice="1")
    cx.api.manager(api.CREATE, api.SCHED, "other", [("preempt_order", None, "SCRD")])
    for node in ("n1", "n2"):
        checkpoints(cx, node)
    chaos = Chaos(cx, chaos_seed)
    end = time.monotonic() + chaos_seconds
    with work.NodeWatch(cx):
        while time.monotonic() < end:
            chaos.act()
            chaos.check_nodes()
        chaos.calm()
        until(chaos.is_over, lambda: f"the end of all jobs: {[dict(j) for j in cx.api.stat('job')]}")
    chaos.check_end()
