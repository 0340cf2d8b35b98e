"""Plans among people and accidents: at random, by a seed, what must hold whatever happens."""
import contextlib
import random
import time

import pytest

from cede import api, faults
from cede.wait import until

pytestmark = pytest.mark.complex(nodes=2, ncpus=2, history=True)

SECONDS = 8
ORDERS = ["S", "R", "D", "SR", "RD", "SRD"]


class Chaos:
    """Actions on one complex; each is drawn from the seed, so a failure can be played again."""

    def __init__(self, cx, seed):
        self.cx, self.draw = cx, random.Random(seed)
        self.jobs, self.deleted = [], set()

    def submit(self):
        if len(self.cx.api.select()) > 12:  # enough to contend, few enough to come to an end on any machine
            return
        urgent = self.draw.random() < 0.4
        self.jobs.append(self.cx.submit(f"sleep {self.draw.uniform(0.2, 1.5):.1f}",
                                        queue="express" if urgent else None,
                                        select=f"{self.draw.randint(1, 2)}:ncpus={self.draw.randint(1, 2)}"))

    def some(self):
        return self.draw.choice(self.jobs) if self.jobs else None

    def delete(self):
        job = self.some()
        if job:
            self.deleted.add(job)
            self.cx.api.delete(job)

    def hold(self):
        job = self.some()
        if job:
            self.cx.api.hold(job)
            self.cx.api.release(job)

    def rerun(self):
        job = self.some()
        if job:
            self.cx.api.rerun(job)

    def undo(self):
        for h in self.cx.api.stat("hold"):
            self.cx.api.delete_hold(h.name)

    def order(self):
        self.cx.set_sched("preempt_order", self.draw.choice(ORDERS))

    def freeze(self):
        with faults.daemon_frozen(self.cx, self.draw.choice(["n1", "n2", "sched"])):
            time.sleep(self.draw.uniform(0.05, 0.3))  # the accident is that nothing happens for a while

    def kill(self):
        daemon = self.draw.choice(["server", "sched", "n1", "n2"])
        self.cx.kill(daemon)
        self.cx.restart(daemon)
        self.cx.again()

    def act(self):
        """What the server refuses (the job has ended meanwhile ...) is no accident."""
        action = self.draw.choices([self.submit, self.delete, self.hold, self.rerun, self.undo, self.order,
                                    self.freeze, self.kill], [30, 4, 3, 3, 2, 2, 3, 1])[0]
        with contextlib.suppress(api.PbsError):
            action()

    def check_nodes(self):
        """Nothing is promised twice: what is in use, and what is kept for holds, is there."""
        for n in self.cx.api.stat("vnode"):
            used = int(n.get("resources_assigned", {}).get("ncpus", 0))
            kept = int(n.get("resources_held", {}).get("ncpus", 0))
            assert used + kept <= 2, dict(n)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whatever_happens_no_room_is_promised_twice_and_every_job_ends(cx, seed):
    cx.make_queue("express", Priority="200")
    chaos = Chaos(cx, seed)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        chaos.act()
        chaos.check_nodes()
    until(lambda: not cx.api.select(), lambda: f"the end of all jobs: {cx.api.stat('job')}", 90)
    assert cx.api.stat("hold") == []
    for n in cx.api.stat("vnode"):
        assert n.get("resources_held") is None and n["resources_assigned"]["ncpus"] == "0"
    for job in chaos.jobs:
        s = cx.stat(job, "x")
        assert s, f"{job} is lost"
        if job not in chaos.deleted and s.get("preempt_method") != "D":
            assert s.get("Exit_status") == "0", f"{job}: {dict(s)}\n{cx.command('tracejob', job, check=False).stdout}"
