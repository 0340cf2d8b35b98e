"""Each soft limit of the server and of a queue acts: a job of who is over it gives way to a job that is as urgent otherwise."""
import pytest

from harness import api, users
from harness.complex import Complex
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.skipif(not users.available(), reason="needs root, to run jobs of others")

LIMITS = [  # attribute, resource, value that three jobs of one processor are over and one is not
    ("max_run_soft", None, "[u:PBS_GENERIC=1]"), ("max_run_soft", None, f"[u:{users.NAMES[1]}=1]"), ("max_run_soft", None, "[g:PBS_GENERIC=1]"),
    ("max_run_soft", None, "[p:heavy=1]"), ("max_run_res_soft", "ncpus", "[u:PBS_GENERIC=1]"), ("max_run_res_soft", "ncpus", "[g:PBS_GENERIC=1]"),
    ("max_run_res_soft", "mem", "[p:PBS_GENERIC=1gb]"), ("max_user_run_soft", None, "1"), ("max_group_run_soft", None, "1"),
    ("max_user_res_soft", "ncpus", "1"), ("max_group_res_soft", "mem", "1gb")]


@pytest.fixture(scope="module")
def sim():
    cx = Complex(nodes=0)
    try:
        cx.start()
        with Simulator(cx, nodes=1, ncpus=3) as s:
            yield s
    finally:
        cx.stop()


@pytest.mark.parametrize("of", ["server", "queue"])
@pytest.mark.parametrize("name, resource, value", LIMITS)
def test_a_job_of_who_is_over_a_soft_limit_gives_way(sim, of, name, resource, value):
    cx = sim.cx
    what = (api.SERVER, "") if of == "server" else (api.QUEUE, "workq")
    cx.set_sched("preempt_order", "S")
    cx.set_sched("preempt_prio", f"express_queue, normal_jobs, {of}_softlimits")
    jobs = [sim.job(select="1:ncpus=1:mem=1gb", User_List=users.NAMES[1], project="heavy") for _ in range(3)]
    for job in jobs:
        until(lambda j=job: cx.stat(j)["substate"] == "42", "its start")
    other = sim.job(select="1:ncpus=1:mem=1gb", User_List=users.NAMES[0], project="light")
    until(lambda: "Insufficient amount of resource: ncpus" in (cx.stat(other).get("comment") or ""), "its reason, without the limit")
    assert [cx.state(job) for job in jobs] == ["R"] * 3
    cx.api.manager(api.MSET, *what, [(name, resource, value)])
    cx.wait(other, "R")
    assert sorted(cx.state(job) for job in jobs) == ["R", "R", "S"]
    cx.api.manager(api.MUNSET, *what, [(name, None, "")])
    cx.clean()
