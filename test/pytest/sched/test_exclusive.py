"""Vnodes and hosts that a job has alone: from the order on, while room is held for it, and while it is suspended."""
import os
import signal

import pytest

from harness import api
from harness.ask import comment
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)


def urgent_alone(cx, sim):
    """Room is held on s1 for a job that will have it alone, while its victim dies slowly."""
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", "D")
    cx.wait(sim.job(select="1:ncpus=1:host=s1"), "R")
    urgent = sim.job(queue="express", select="1:ncpus=1:host=s1", l_place="excl")
    until(lambda: cx.node("s1").get("held_alone") == "True", "the hold")
    assert cx.node("s1")["jobs_held"] == urgent
    return urgent


def test_a_vnode_earmarked_for_an_exclusive_job_takes_no_other_job(cx):
    with Simulator(cx, nodes=1, ncpus=4, die_ms=1500) as sim:
        urgent = urgent_alone(cx, sim)
        filler = sim.job()
        until(lambda: comment(cx, filler).startswith("Not Running: "), "a reason")
        assert cx.state(urgent) == "Q"
        cx.wait(urgent, "R")
        assert "held_alone" not in cx.node("s1") and "jobs_held" not in cx.node("s1")
        assert "Failed to run" not in cx.log("sched")
        cx.api.delete(urgent)
        cx.wait(filler, "R")


def test_a_vnode_with_earmarked_room_takes_no_exclusive_job(cx):
    with Simulator(cx, nodes=2, ncpus=2, die_ms=1500) as sim:
        cx.make_queue("express", Priority="200")
        cx.set_sched("preempt_order", "D")
        cx.wait(sim.job(select="1:ncpus=2:host=s1"), "R")
        urgent = sim.job(queue="express", select="2:ncpus=2", l_place="scatter")
        until(lambda: cx.node("s2").get("jobs_held") == urgent, "the hold")
        alone = sim.job(select="1:ncpus=1", l_place="excl")
        until(lambda: comment(cx, alone).startswith("Not Running: "), "a reason")
        cx.wait(urgent, "R")
        assert "Failed to run" not in cx.log("sched")


@pytest.mark.parametrize("restricted", [False, True])
def test_a_resumed_job_has_its_vnode_alone_again(cx, restricted):
    with Simulator(cx, nodes=1, ncpus=4) as sim:
        if restricted:
            cx.set_server("restrict_res_to_release_on_suspend", "ncpus")
        alone = sim.job(select="1:ncpus=1", l_place="excl")
        until(lambda: (cx.stat(alone) or {}).get("substate") == "42", "the job to be up")
        cx.api.signal(alone, "suspend")
        cx.wait(alone, "S")
        assert ("job-exclusive" in cx.node("s1").state) == restricted
        cx.api.signal(alone, "resume")
        cx.wait(alone, "R")
        assert "job-exclusive" in cx.node("s1").state


def test_an_exclusive_victim_is_not_resumed_beside_the_urgent_job(cx):
    with Simulator(cx, nodes=1, ncpus=4) as sim:
        cx.make_queue("express", Priority="200")
        cx.set_sched("preempt_order", "S")
        alone = sim.job(select="1:ncpus=1", l_place="excl")
        until(lambda: (cx.stat(alone) or {}).get("substate") == "42", "the job to be up")
        urgent = sim.job(queue="express", select="1:ncpus=1")
        cx.wait(urgent, "R")
        assert cx.state(alone) == "S"
        cx.api.delete(urgent)
        cx.wait(alone, "R")


# --- whole hosts
def two_vnodes(cx, sharing=""):
    """The host n1 with two vnodes of two cpus."""
    path = os.path.join(cx.work, "vnodes")
    with open(path, "w", encoding="ascii") as f:
        f.write("$configversion 2\nn1: resources_available.ncpus = 0\n" + sharing +
                "".join(f"n1[{i}]: resources_available.ncpus = 2\n" for i in (0, 1)))
    conf = os.path.join(cx.dir, "mom", "n1", "pbs.conf")
    env = {"PBS_CONF_FILE": conf if os.path.exists(conf) else cx.conf, "PBS_MOM_HOME": os.path.join(cx.dir, "mom", "n1")}
    cx.command("pbs_mom", "-s", "insert", "site", path, env=env)
    os.kill(cx.pid("n1"), signal.SIGHUP)
    until(lambda: {n.name: n.state for n in cx.api.stat("vnode")} == dict.fromkeys(("n1", "n1[0]", "n1[1]"), "free"),
          "the vnodes")


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
def test_a_job_with_exclhost_has_all_vnodes_of_the_host(cx):
    two_vnodes(cx)
    c = cx.connect()
    c.register("default")
    alone = cx.submit(select="1:ncpus=1", l_place="exclhost")
    c.run(alone, "(n1[0]:ncpus=1)")
    cx.wait(alone)
    assert [cx.node(n).state for n in ("n1[0]", "n1[1]")] == ["job-exclusive"] * 2
    with pytest.raises(api.PbsError) as e:
        c.run(cx.submit(), "(n1[1]:ncpus=1)")
    assert e.value.code == 15044 and "in exclusive use" in e.value.text
    cx.crash_server()
    assert "job-exclusive" in cx.node("n1[1]").state
    cx.hosts_back()
    cx.api.delete(alone)
    until(lambda: [cx.node(n).state for n in ("n1", "n1[0]", "n1[1]")].count("free") >= 2, "the host")


@pytest.mark.complex(nodes=1, ncpus=4)
@pytest.mark.parametrize("word, both", [("default_excl", False), ("force_exclhost", True)])
def test_a_vnode_says_itself_how_it_is_shared(cx, word, both):
    two_vnodes(cx, f"n1[0]: sharing = {word}\nn1[1]: sharing = {word}\n")
    job = cx.submit(select="1:ncpus=1")
    used = cx.wait(job)["exec_vnode"].split(":")[0].strip("(")
    other = {"n1[0]": "n1[1]", "n1[1]": "n1[0]"}[used]
    assert "job-exclusive" in cx.node(used).state
    assert ("job-exclusive" in cx.node(other).state) == both
