"""One loss: what pbs_preempt --explain foretells, the budget is charged, accounting records and --report sums are equal.

Time is stepped, so that the moment of the question and the moment of the preemption are one moment: the simulator, which
drives the time, is stopped between the two."""
import contextlib
import json
import os
import random
import signal

import pytest

from harness.api import PbsError
from harness.sim import Simulator
from harness.wait import until
from harness.work import account_lines

pytestmark = pytest.mark.complex(nodes=0, history=True)

VICTIMS, LOW, TICK_MS = 100, 9, 20000
ORDERS = ("R", "D", "S", "RD", "S 90 R 50 D", "R 80 D", "D 95 S")


@contextlib.contextmanager
def frozen(sim):
    """No second passes inside."""
    os.kill(sim.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(sim.process.pid, signal.SIGCONT)


def charged(cx):
    text = cx.api.stat("que", "express")[0].get("preempt_ledger") or ""
    return {minute: float(spent) for minute, spent in (entry.split("=") for entry in text.split())}


def added(before, after):
    return sum(spent - before.get(minute, 0) for minute, spent in after.items())


def records(cx):
    """Of each preemption that accounting knows, in order: job, method, core-seconds."""
    found = []
    for line in account_lines(cx):
        _, kind, job, rest = line.split(";", 3)
        if kind == "v":
            words = dict(w.split("=", 1) for w in rest.split() if "=" in w)
            found.append((job, words["method"], float(words["lost_core_seconds"])))
    return found


def reported(cx):
    rows = json.loads(cx.command("pbs_preempt", "--report", "-F", "json", "-p", cx.home).stdout)["preemptions"]
    return sum(row["lost_core_seconds"] for row in rows)


def start_clock(cx, sim):
    """Short jobs, one after the other on a vnode of their own, so that time passes in small steps while the test looks."""
    for _ in range(3):
        sim.job(ms=TICK_MS, select="1:ncpus=8:vnode=s1", array_indices_submitted="0-9999")


def make_history(cx, sim, rng):
    """Running jobs of several widths and ages, some of which have been suspended for a while."""
    jobs = [sim.job(ms=10**9, select=f"1:ncpus={rng.choice([1, 1, 2, 3])}:vnode=s{rng.choice([2, 3])}",
                    l_walltime=str(rng.choice([20000, 200000, 10**7]))) for _ in range(LOW)]
    until(lambda: sum(cx.state(job) == "R" for job in jobs) > 3, "some to run")
    for job in rng.sample(jobs, 3):
        if cx.state(job) != "R":
            continue
        with contextlib.suppress(PbsError):  # it was requeued meanwhile, or others have its room
            cx.api.signal(job, "suspend")
            cx.api.signal(job, "resume")
    return jobs


def virtual(cx):
    cx.stop_daemon("server")
    cx.command(f"{cx.build}/sbin/pbs_server", "--virtual")
    cx.again()
    until(lambda: cx.api.stat("sched")[0].state in ("idle", "scheduling"), "the scheduler")


def preempt_once(cx, sim, rng):
    """Ask, then let it happen, in one and the same second. How many gave way."""
    cx.set_sched("preempt_order", rng.choice(ORDERS))
    jobs = make_history(cx, sim, rng)
    with frozen(sim):
        before, known = charged(cx), len(records(cx))
        urgent = cx.submit("true", Hold_Types="u", queue="express", Variable_List="PBS_O_WORKDIR=/,EXECSIM_MS=1000",
                           select=f"1:ncpus={rng.randint(4, 8)}:vnode=s{rng.choice([2, 3])}", l_walltime="100")
        told = json.loads(cx.command("pbs_preempt", "--explain", "-F", "json", urgent).stdout)
        victims = {v["job"]: (v["method"], v["lost_core_seconds"]) for v in told["victims"]}
        if victims:
            cx.api.release(urgent)
            until(lambda: f"{urgent};Room is held" in cx.log("server"), "the room to be held")
        else:  # there is room, or those that could give way are only starting
            cx.api.delete(urgent)
    cx.wait_gone(urgent)
    until(lambda: len(records(cx)) >= known + len(victims), "the records")
    happened = {job: (method, lost) for job, method, lost in records(cx)[known:]}
    assert happened == {job: (method, float(lost)) for job, (method, lost) in victims.items()}
    assert added(before, charged(cx)) == sum(lost for _, lost in victims.values())
    for job in jobs:
        with contextlib.suppress(PbsError):  # deleted by the preemption
            cx.api.delete(job)
    return len(victims)


def test_explained_charged_accounted_and_reported_losses_of_a_hundred_jobs_are_equal(cx):
    seed = random.randrange(10**6)
    print("seed", seed)
    rng = random.Random(seed)
    cx.make_queue("express", Priority="200", preempt_budget="100000000")
    virtual(cx)
    with Simulator(cx, nodes=3, ncpus=8, options=["--virtual"]) as sim:
        start_clock(cx, sim)
        victims = 0
        while victims < VICTIMS:
            victims += preempt_once(cx, sim, rng)
        assert reported(cx) == sum(lost for _, _, lost in records(cx))
