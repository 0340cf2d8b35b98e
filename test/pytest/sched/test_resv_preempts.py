"""A reservation as soon as possible preempts for its job, where the site says so and the job's queue is express (preempt_for_resv)."""
import pytest

from harness.desk import Desk, queue
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)


@pytest.fixture
def desk(cx, request):
    """One node that a job of two hours fills; a queue for urgent jobs. Parameter: how long a job takes to die, ms."""
    with Simulator(cx, nodes=1, ncpus=4, die_ms=getattr(request, "param", 0)) as sim:
        cx.make_queue("express", Priority="200")
        d = Desk(cx, sim)
        d.low = d.job(select="1:ncpus=4", l_walltime="2:00:00")
        until(lambda: cx.stat(d.low)["substate"] == "42", lambda: cx.describe(d.low))
        yield d


def asap(d, job, wait_s=50):
    return d.rsub(f"-Wqmove={job}", "-I", f"-{wait_s}").stdout.split(" ", 1)


def held(d, **attrs):
    """A job that waits until its reservation has been asked for."""
    return d.job(select="1:ncpus=4", l_walltime="1:00:00", **attrs)


def test_it_begins_at_once_in_the_room_of_a_job_of_a_lower_level(desk, cx):
    cx.set_sched("preempt_for_resv", "True")
    cx.set_server("scheduling", "False")
    job = held(desk, queue="express")
    done = cx.connect()
    items = [("qmove", None, job), ("reserve_start", None, "1893488460")]
    resv = done.submit_resv(items)[0]
    cx.set_server("scheduling", "True")
    desk.wait(resv, "RN")
    s, j = desk.stat(resv), cx.stat(job)
    assert (j.state, j["queue"], j["reserve_ID"]) == ("R", queue(resv), resv) and s["resv_nodes"] == j["exec_vnode"]
    assert s["reserve_start"] == j["stime"] and int(s["reserve_end"]) == int(j["stime"]) + 3600
    assert cx.state(desk.low) == "S" and cx.node("s1")["resources_assigned"]["ncpus"] == "4"
    texts = desk.recorded("UYBKk", resv, "UYB")
    assert texts[1].startswith(f"requestor=Scheduler@{desk.server} start={j['stime']} ")
    desk.log("sched", f"{resv};Others give way to job {job}, with which it will begin")
    cx.command("pbs_rdel", resv)
    desk.gone(resv)
    cx.wait(desk.low)


@pytest.mark.parametrize("says, of", [("False", "express"), ("True", "workq")])
def test_it_waits_for_room_where_the_site_or_the_queue_does_not_say_so(desk, cx, says, of):
    cx.set_sched("preempt_for_resv", says)
    cx.set_sched("preempt_prio", "normal_jobs, express_queue" if of == "express" else "express_queue, normal_jobs")
    job = held(desk, queue=of, Hold_Types="u")
    resv, word = asap(desk, job)
    assert word == "CONFIRMED\n" and int(desk.stat(resv)["reserve_start"]) == int(cx.stat(desk.low)["stime"]) + 7200
    assert cx.state(desk.low) == "R" and cx.stat(job)["queue"] == queue(resv)


@pytest.mark.parametrize("sched, queue_of, attrs, says", [
    ({"preempt_order": "S"}, "express", {"preempt_targets": "NONE"}, "its preempt_targets are NONE"),
    ({"preempt_prio": "normal_jobs, express_queue"}, "express", {}, "no running job has a lower preemption level"),
    ({"preempt_prio": "express_queue, normal_jobs"}, "workq", {}, "its queue is not an express queue"),
    ({}, "express", {"Hold_Types": "u"}, "it is not one that may be run now")])
def test_one_whose_preemption_is_refused_says_why(desk, cx, sched, queue_of, attrs, says):
    cx.set_sched("preempt_for_resv", "True")
    for name, value in sched.items():
        cx.set_sched(name, value)
    cx.set_server("scheduling", "False")
    targets = attrs.pop("preempt_targets", None)
    job = held(desk, queue=queue_of, **({"l_preempt_targets": targets} if targets else {}), **attrs)
    resv = cx.api.submit_resv([("qmove", None, job), ("reserve_start", None, "1893488460")])[0]
    explained = f"no job gives way to job {job}: {says}"
    until(lambda: explained in cx.command("pbs_preempt", "--explain", resv).stdout, lambda: desk.stat(resv))
    cx.set_server("scheduling", "True")
    desk.wait(resv, "CO")
    assert desk.stat(resv)["comment"] == f"Not now: {explained}" and cx.state(desk.low) == "R"
    assert f"comment = Not now: {explained}" in " ".join(cx.command("pbs_rstat", "-f", resv).stdout.split())


def test_room_that_is_free_is_taken_as_before(desk, cx):
    cx.set_sched("preempt_for_resv", "True")
    cx.api.delete(desk.low, "force")
    cx.wait_gone(desk.low)
    job = held(desk, queue="express", Hold_Types="u")
    resv, word = asap(desk, job)
    assert word == "CONFIRMED\n" and cx.stat(job)["queue"] == queue(resv)
    desk.wait(resv, "RN")
    cx.command("qrls", job)
    cx.wait(job)


def test_a_job_that_begins_while_its_reservation_is_decided_takes_it_along(desk, cx):
    """Another order than the scheduler's: the job is run by hand."""
    cx.set_server("scheduling", "False")
    cx.api.delete(desk.low, "force")
    cx.wait_gone(desk.low)
    job = held(desk)
    resv = cx.api.submit_resv([("qmove", None, job), ("reserve_start", None, "1893488460")])[0]
    cx.api.run(job, "(s1:ncpus=4)")
    desk.wait(resv, "RN")
    until(lambda: cx.stat(job)["queue"] == queue(resv), lambda: cx.describe(job))
    cx.crash_server()
    desk.wait(resv, "RN")
    assert cx.stat(job)["reserve_ID"] == resv


def asked(desk, cx):
    """A reservation as soon as possible for an express job, which others are to give way for; the scheduler has just been let go."""
    cx.set_sched("preempt_for_resv", "True")
    cx.set_sched("preempt_order", "R")
    cx.set_server("scheduling", "False")
    job = held(desk, queue="express")
    resv = cx.api.submit_resv([("qmove", None, job), ("reserve_start", None, "1893488460")])[0]
    cx.set_server("scheduling", "True")
    return job, resv


@pytest.mark.parametrize("desk", [6000], indirect=True)
def test_it_waits_while_others_give_way_and_its_deletion_costs_the_job_nothing(desk, cx):
    job, resv = asked(desk, cx)
    until(lambda: cx.stat(job)["substate"] != "10" or cx.api.stat("hold"), lambda: cx.describe(job))
    assert desk.state(resv) == "UN" and cx.state(job) == "Q"
    cx.command("pbs_rdel", resv)
    desk.gone(resv)
    cx.wait(job)
    assert cx.stat(job)["queue"] == "express"


@pytest.mark.parametrize("desk", [3000], indirect=True)
@pytest.mark.parametrize("daemon", ["sched", "server"])
def test_it_begins_although_the_daemon_is_killed_while_others_give_way(desk, cx, daemon):
    job, resv = asked(desk, cx)
    until(lambda: cx.api.stat("hold"), lambda: cx.describe(job))
    cx.kill(daemon)
    cx.restart(daemon)
    cx.again()
    desk.wait(resv, "RN")
    assert cx.stat(job)["reserve_ID"] == resv and cx.state(desk.low) == "Q"
    desk.recorded("UYBKk", resv, "UYB")
