"""A second scheduler beside the default one: partitions, its own policy, files and preemption."""
import os

import pytest

from harness import api, build, faults
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)


def second(cx, partition="p2", start=True, **attrs):
    cx.api.manager(api.CREATE, api.SCHED, "s2", [("partition", None, partition)] if partition else [])
    for name, value in attrs.items():
        cx.set_sched(name, value, sched="s2")
    cx.set_sched("scheduling", "True", sched="s2")
    if start:
        cx.restart("sched_s2")
        until(lambda: sched(cx)["state"] != "down", "the second scheduler")


def sched(cx, name="s2"):
    return next(s for s in cx.api.stat("sched") if s.name == name)


@pytest.fixture
def sim(cx):
    """Nodes s1 of nobody, s2 of partition p2; queue workq of nobody, q2 of p2."""
    with Simulator(cx, nodes=2, ncpus=2) as s:
        cx.api.manager(api.MSET, api.NODE, "s2", [("partition", None, "p2")])
        cx.make_queue("q2", partition="p2")
        yield s


def logs(cx, daemon="sched_s2"):
    return cx.log(daemon)


def test_each_scheduler_runs_jobs_of_its_queues_on_its_nodes(cx, sim):
    second(cx)
    ours = [sim.job(select="1:ncpus=1", queue="q2") for _ in range(3)]
    theirs = [sim.job(select="1:ncpus=1") for _ in range(3)]
    assert [cx.wait(j)["exec_vnode"] for j in ours[:2]] == ["(s2:ncpus=1)"] * 2
    assert [cx.wait(j)["exec_vnode"] for j in theirs[:2]] == ["(s1:ncpus=1)"] * 2
    for waits in (ours[2], theirs[2]):
        until(lambda job=waits: (cx.stat(job) or {}).get("comment", "").startswith("Not Running: Insufficient"),
              "a reason, though the other partition has room or not")
    assert all(j in logs(cx) and j not in logs(cx, "sched") for j in ours)


def test_a_partition_waits_for_its_own_scheduler(cx, sim):
    job = sim.job(select="1:ncpus=1", queue="q2")
    assert faults.stays(lambda: cx.state(job) == "Q", 0.5)
    second(cx)
    cx.wait(job)


def test_a_second_scheduler_without_a_partition_runs_no_jobs(cx, sim):
    second(cx, partition=None)
    cx.kill("sched")
    job = sim.job(select="1:ncpus=1")
    cx.set_sched("scheduling", "True", sched="s2")
    until(lambda: "Scheduler does not contain a partition" in logs(cx), "the scheduler to say so")
    assert faults.stays(lambda: cx.state(job) == "Q", 0.5)


def test_each_name_has_one_live_scheduler(cx):
    second(cx)
    c = cx.connect()
    with pytest.raises(api.PbsError) as e:
        c.register("s2")
    assert e.value.code == 15230
    with pytest.raises(api.PbsError) as e:
        c.register("nobody")
    assert e.value.code == 15213


def test_qrun_goes_to_the_scheduler_of_the_queue(cx, sim):
    second(cx)
    cx.set_sched("scheduling", "False", sched="s2")
    job = sim.job(select="1:ncpus=1", queue="q2")
    cx.api.run(job)
    cx.wait(job)
    assert "Received qrun request" in logs(cx) and "Received qrun" not in logs(cx, "sched")


def test_each_scheduler_preempts_in_its_own_order(cx, sim):
    second(cx, preempt_order="R")
    cx.make_queue("express", Priority="200")
    cx.make_queue("express2", Priority="200", partition="p2")
    low, low2 = sim.job(select="1:ncpus=2"), sim.job(select="1:ncpus=2", queue="q2")
    cx.wait(low)
    cx.wait(low2)
    cx.wait(sim.job(select="1:ncpus=2", queue="express"))
    cx.wait(sim.job(select="1:ncpus=2", queue="express2"))
    assert (cx.state(low), cx.state(low2)) == ("S", "Q")
    until(lambda: "preempted by requeuing" in logs(cx), "the second scheduler to hear of it")
    until(lambda: "preempted by suspension" in logs(cx, "sched"), "the first one to hear of it")


def test_a_second_scheduler_has_files_and_logs_where_its_object_says(cx):
    second(cx)
    priv, logs_at = os.path.join(cx.top, "priv2"), os.path.join(cx.top, "logs2")
    for path in (priv, logs_at):
        os.mkdir(path, 0o750)
    cx.set_sched("sched_log", logs_at, sched="s2")
    until(lambda: os.listdir(logs_at), "a log in the new place")
    cx.set_sched("sched_priv", priv, sched="s2")
    until(lambda: os.path.exists(os.path.join(priv, "sched_config")), "a sched_config in the new place")
    until(lambda: sched(cx)["state"] == "idle", "the scheduler back")
    # pbsfs asks the server where that is
    assert "TREEROOT" in cx.command("pbsfs", "-I", "s2", "-t").stdout
    cx.restart("sched_s2")
    until(lambda: sched(cx)["state"] == "idle", "the scheduler started again, where it was")


@pytest.mark.parametrize("attr", ["sched_priv", "sched_log"])
def test_an_unusable_directory_is_reported_and_the_scheduler_is_down(cx, attr):
    second(cx)
    bad = os.path.join(cx.top, "not", "there")
    cx.set_sched(attr, bad, sched="s2")
    until(lambda: sched(cx)["state"] == "down" and sched(cx).get("comment"), "the comment")
    assert sched(cx)["comment"] == f"PBS failed validation checks for {attr} directory {bad}: No such file or directory"
    os.makedirs(bad, 0o750)
    until(lambda: sched(cx)["state"] == "idle" and not sched(cx).get("comment"), "the scheduler up again")


def test_a_directory_that_others_can_replace_is_refused(cx):
    second(cx)
    above = os.path.join(cx.top, "open")
    os.mkdir(above)
    os.chmod(above, 0o777)
    os.mkdir(os.path.join(above, "priv"), 0o750)
    cx.set_sched("sched_priv", f"{above}/priv", sched="s2")
    until(lambda: sched(cx)["state"] == "down" and sched(cx).get("comment"), "the comment")
    assert sched(cx)["comment"].endswith(f"{above} can be changed by others than its owner")
    os.chmod(above, 0o755)
    until(lambda: sched(cx)["state"] == "idle" and not sched(cx).get("comment"), "the scheduler up again")


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
class TestProgram:
    """pbs_preempt_jobs() of a C program, with the reply as the fact sheet has it: six bytes of order."""

    ORDERS = {"S": "53 00 00 00 00 00", "Q": "51 00 00 00 00 00", "D": "44 00 00 00 00 00", "0": "30 30 30 00 00 00"}

    def preempt(self, cx, name, *jobs):
        out = cx.command(build.program(cx, "preempter"), name, *jobs, check=False).stdout
        return dict(line.split(" ", 1) for line in out.splitlines())

    def started(self, cx, **attrs):
        job = cx.submit(select="1:ncpus=1", **attrs)
        cx.api.run(job, "(n1:ncpus=1)")
        cx.wait(job)
        return job

    def test_the_order_of_the_scheduler_that_asks_is_used(self, cx):
        second(cx, start=False, preempt_order="R")
        cx.set_sched("preempt_order", "S")
        stopped, requeued = self.started(cx), self.started(cx)
        assert self.preempt(cx, "default", stopped) == {stopped: self.ORDERS["S"]}
        assert self.preempt(cx, "s2", requeued) == {requeued: self.ORDERS["Q"]}
        cx.wait(stopped, "S")
        cx.wait(requeued, "Q")

    def test_every_job_is_answered_as_it_went(self, cx):
        cx.set_sched("preempt_order", "RD")
        fixed, free, waits = self.started(cx, Rerunable="n"), self.started(cx), cx.submit()
        held = cx.submit(Hold_Types="u")
        gone = "987654." + free.split(".", 1)[1]
        assert self.preempt(cx, "default", fixed, free, waits, held, gone) == {
            fixed: self.ORDERS["D"], free: self.ORDERS["Q"], waits: self.ORDERS["Q"], held: self.ORDERS["0"],
            gone: self.ORDERS["D"]}

    def test_who_is_no_scheduler_is_refused(self, cx):
        job = self.started(cx)
        assert self.preempt(cx, "-", job) == {
            "preempt:": "15011 PBS server internal error: only the connection of a registered scheduler may preempt"}
        assert cx.state(job) == "R"
