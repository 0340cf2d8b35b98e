"""admin-suspend: a job is stopped and its vnodes take no other until admin-resume."""
import pytest

from harness import api
from harness.wait import until


def running(cx, **attrs):
    job = cx.submit(**attrs)
    until(lambda: (s := cx.stat(job)) and s["substate"] == "42", "its script to run")
    return job


def state(cx, node="n1"):
    return cx.node(node)["state"]


def test_a_vnode_is_in_maintenance_while_a_job_is_admin_suspended(cx):
    job, other = running(cx, select="1:ncpus=1"), running(cx, select="1:ncpus=1")
    cx.command("qsig", "-s", "admin-suspend", job)
    cx.command("qsig", "-s", "admin-suspend", other)
    assert cx.state(job) == "S" and cx.stat(job)["substate"] == "43"
    assert state(cx) == "maintenance" and sorted(cx.node()["maintenance_jobs"].split(",")) == sorted((job, other))
    waits = cx.submit(select="1:ncpus=1")
    until(lambda: cx.stat(waits).get("comment", "").startswith("Not Running"), "it to be looked at")
    cx.command("qsig", "-s", "admin-resume", job)
    assert state(cx) == "maintenance" and cx.state(job) == "R" and cx.state(waits) == "Q"
    cx.command("qsig", "-s", "admin-resume", other)
    cx.wait(waits)
    assert state(cx) == "free" and "maintenance_jobs" not in cx.node()


def test_each_kind_of_suspension_has_its_own_resumption(cx):
    job, other = running(cx, select="1:ncpus=1"), running(cx, select="1:ncpus=1")
    cx.api.signal(job, "admin-suspend")
    cx.api.signal(other, "suspend")
    for j, signal in ((job, "resume"), (other, "admin-resume")):
        with pytest.raises(api.PbsError) as e:
            cx.api.signal(j, signal)
        assert e.value.code == 15177
        assert cx.state(j) == "S"


def test_maintenance_survives_the_server_and_ends_with_the_job(cx):
    job = running(cx, select="1:ncpus=1")
    cx.api.signal(job, "admin-suspend")
    cx.kill("server")
    cx.restart("server")
    cx.again()
    until(lambda: state(cx) == "maintenance", "the vnode to be back in maintenance")
    cx.api.delete(job, "force")
    until(lambda: state(cx) == "free", "the vnode to be free")


def suspended_on_both(cx):
    jobs = [cx.submit(l_select="2:ncpus=1", l_place="scatter") for _ in range(2)]
    for job in jobs:
        until(lambda j=job: (s := cx.stat(j)) and s["substate"] == "42", "its script to run")
        cx.command("qsig", "-s", "admin-suspend", job)
    assert [state(cx, n) for n in ("n1", "n2")] == ["maintenance"] * 2
    return jobs


@pytest.mark.complex(nodes=2)
@pytest.mark.parametrize("words", [("qsig", "-s", "admin-resume"), ("qdel",), ("qdel", "-Wforce"), ("qrerun",),
                                   ("qsig", "-s", "KILL")])
def test_every_vnode_is_free_when_the_last_job_of_two_has_left_maintenance(cx, words):
    jobs = suspended_on_both(cx)
    cx.set_server("scheduling", "False")
    cx.command(*words, jobs[0])
    until(lambda: "," not in cx.node().get("maintenance_jobs", ""), "the first to leave it")
    assert [state(cx, n) for n in ("n1", "n2")] == ["maintenance"] * 2
    cx.command(*words, jobs[1])
    until(lambda: [state(cx, n) for n in ("n1", "n2")] == ["free"] * 2, lambda: str(cx.api.stat("vnode")))
    assert all("maintenance_jobs" not in cx.node(n) for n in ("n1", "n2"))
