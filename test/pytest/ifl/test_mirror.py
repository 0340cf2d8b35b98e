"""The delta stream: a mirror fed by it equals a fresh read after every step."""
import random

import pytest

from harness import api, faults
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)

QUEUE, JOB, NODE = 1, 2, 3
WANTED = {
    QUEUE: ["queue_type", "Priority", "started", "enabled", "resources_max"],
    JOB: ["job_state", "substate", "queue", "Priority", "Hold_Types", "comment", "exec_vnode", "run_version",
          "Resource_List", "schedselect", "ptime"],
    NODE: ["state", "resources_available", "resources_assigned", "Priority", "comment"],
}
STAT = {QUEUE: "que", JOB: "job", NODE: "vnode"}


class Mirror:
    """Asks for news without ever waiting for them."""

    def __init__(self, cx):
        self.cx = cx
        self.connection = cx.connect()
        self.watch = self.connection.watch(WANTED)
        self.ticket = None

    def pump(self):
        if self.ticket is None:
            self.ticket = self.watch.send()
        if self.connection.ready(self.ticket):
            self.watch.recv(self.ticket)
            self.ticket = None

    def fresh(self):
        return {(kind, s.name): dict(s)
                for kind, names in WANTED.items() for s in self.cx.api.stat(STAT[kind], want=names)}

    def is_equal(self):
        self.pump()
        return self.watch.caught_up and self.watch.objects == self.fresh()

    def difference(self):
        fresh, ours = self.fresh(), self.watch.objects
        return {k: (ours.get(k), fresh.get(k)) for k in {*fresh, *ours} if ours.get(k) != fresh.get(k)}

    def check(self):
        until(self.is_equal, lambda: f"the mirror to be right; (mirror, fresh): {self.difference()}")

    def close(self):
        self.connection.close()


@pytest.fixture
def mirror(cx):
    m = Mirror(cx)
    try:
        yield m
    finally:
        m.close()


def steps(cx, sim, rng):
    """One change to the complex each time; jobs that are gone are no error."""
    jobs = []

    def submit():
        jobs.append(sim.job(ms=rng.choice([1, 50, 600000]), select=f"{rng.randint(1, 2)}:ncpus={rng.randint(1, 3)}",
                            queue=rng.choice(["workq", "express"])))

    def on_job(name, *args):
        def step():
            if jobs:
                getattr(cx.api, name)(rng.choice(jobs), *args)
        return step

    def node_priority():
        cx.api.manager(api.MSET, api.NODE, f"s{rng.randint(1, 2)}", [("Priority", None, str(rng.randint(0, 9)))])

    def node_offline():
        cx.api.manager(rng.choice([api.MSET, api.MUNSET]), api.NODE, "s1", [("state", None, "offline")])

    def queue_changes():
        cx.set_queue("workq", "Priority", str(rng.randint(0, 9)))

    def queue_comes_and_goes():
        cx.make_queue("short")
        cx.api.manager(api.DELETE, api.QUEUE, "short")

    return [submit, submit, submit, on_job("hold"), on_job("release"), on_job("delete"), on_job("rerun", "force"),
            on_job("alter", [("Priority", None, "5")]), node_priority, node_offline, queue_changes,
            queue_comes_and_goes]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_mirror_equals_a_fresh_read_after_every_step(cx, mirror, seed):
    rng = random.Random(seed)
    with Simulator(cx, nodes=2, ncpus=4) as sim:
        cx.make_queue("express", Priority="200")
        choices = steps(cx, sim, rng)
        for _ in range(40):
            try:
                rng.choice(choices)()
            except api.PbsError:
                pass  # a job that has ended, or is in no state for it
            mirror.check()


def test_a_watcher_that_slept_sees_the_end_and_not_each_step(cx, mirror):
    mirror.check()
    job = cx.submit()
    for priority in range(50):
        cx.api.alter(job, [("Priority", None, str(priority))])
    before = mirror.watch.changes
    mirror.check()
    assert mirror.watch.objects[JOB, job]["Priority"] == "49"
    assert mirror.watch.changes - before < 10


def test_a_restarted_server_tells_everything_again(cx, mirror):
    jobs = [cx.submit() for _ in range(5)]
    mirror.check()
    cursor = mirror.watch.cursor
    cx.kill("server")
    cx.restart("server")
    cx.again()
    other = Mirror(cx)
    try:
        other.watch.objects[JOB, "12345.nowhere"] = {}
        other.watch.cursor = cursor
        other.check()
        assert all((JOB, job) in other.watch.objects for job in jobs)
        assert (JOB, "12345.nowhere") not in other.watch.objects
    finally:
        other.close()


def test_a_gone_job_is_told_as_gone(cx, mirror):
    job = cx.submit()
    mirror.check()
    assert (JOB, job) in mirror.watch.objects
    cx.api.delete(job)
    mirror.check()
    assert (JOB, job) not in mirror.watch.objects


def test_a_watcher_is_not_woken_by_kinds_that_it_has_not_asked_for(cx, mirror):
    mirror.check()
    until(lambda: mirror.pump() or mirror.ticket is not None, "a NEXT under way")
    for i in range(3):
        cx.set_server("comment", f"change {i}")
        cx.set_sched("preempt_order", "R" if i % 2 else "S")
        assert faults.stays(lambda: mirror.pump() or mirror.ticket is not None, 0.1)
    cx.set_queue("workq", "Priority", "7")
    mirror.check()
    assert mirror.watch.objects[(QUEUE, "workq")]["Priority"] == "7"


def test_next_waits_while_there_is_nothing_to_tell(cx, mirror):
    cx.set_sched("scheduling", "False")
    mirror.check()
    until(lambda: mirror.pump() or mirror.ticket is not None, "a NEXT under way")
    assert faults.stays(lambda: mirror.pump() or mirror.ticket is not None, 0.3)
