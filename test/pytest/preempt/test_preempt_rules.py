"""Who may be stopped for whom, and what a suspended job gives back: rule by rule, decided by the scheduler."""
import pytest

from harness import api, faults
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)


def up(cx, job):
    until(lambda: (cx.stat(job) or {}).get("substate") == "42", lambda: f"{job} to be up: {cx.describe(job)}")


def low(cx, sim, **kw):
    job = sim.job(**kw)
    up(cx, job)
    return job


def server_s(cx):
    """The server's clock, by a job that is never run."""
    return int(cx.stat(cx.api.submit([("Hold_Types", None, "u")], cx.script("true")))["ctime"])


def states(cx, *jobs):
    return [cx.state(j) for j in jobs]


@pytest.fixture
def sim(cx):
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", "S")
    with Simulator(cx, nodes=1, ncpus=2) as s:
        yield s


# --- whom: preempt_targets
def test_targets_by_resource_are_those_that_ask_for_exactly_that(cx, sim):
    meant = low(cx, sim, l_software="x")
    other = low(cx, sim, l_software="xy")
    cx.wait(sim.job(queue="express", l_preempt_targets="Resource_List.software=x"), "R")
    assert states(cx, meant, other) == ["S", "R"]


@pytest.mark.parametrize("of", ["queue", "server"])
def test_targets_come_from_defaults_of_queue_and_server(cx, sim, of):
    cx.make_queue("spare")
    if of == "queue":
        cx.set_queue("express", "resources_default", "queue=spare", "preempt_targets")
    else:
        cx.set_server("resources_default", "queue=spare", "preempt_targets")
    spare = low(cx, sim, queue="spare")
    other = low(cx, sim)
    cx.wait(sim.job(queue="express"), "R")
    assert states(cx, spare, other) == ["S", "R"]


def test_targets_do_not_count_where_the_site_says_so(cx, sim):
    cx.set_sched("preempt_targets_enable", "False")
    jobs = [low(cx, sim) for _ in range(2)]
    cx.wait(sim.job(queue="express", l_preempt_targets="NONE"), "R")
    assert sorted(states(cx, *jobs)) == ["R", "S"]


def test_altered_targets_count_from_then_on(cx, sim):
    jobs = [low(cx, sim) for _ in range(2)]
    urgent = sim.job(queue="express", l_preempt_targets="None")
    assert cx.stat(urgent)["Resource_List"]["preempt_targets"] == "None"
    assert faults.stays(lambda: states(cx, *jobs) == ["R", "R"], 0.3)
    cx.api.alter(urgent, [("Resource_List", "preempt_targets", "queue=workq")])
    cx.wait(urgent, "R")


# --- how often: preempt_attempts
def test_a_cycle_looks_for_victims_as_often_as_preempt_attempts_says(cx, sim):
    cx.configure_sched("preempt_attempts: 1\n")
    jobs = [low(cx, sim) for _ in range(2)]
    cx.set_sched("scheduling", "False")
    urgent = [sim.job(queue="express", l_software=name) for name in ("a", "b")]
    never = sim.job(queue="express", select="1:ncpus=2", Priority="1000")
    cx.set_sched("scheduling", "True")
    until(lambda: "Not attempting to preempt: over max cycle preempt limit" in cx.log("sched"), "the limit")
    assert never and len(jobs + urgent) == 4


# --- levels
def test_of_several_express_queues_the_higher_one_stops_the_lower_ones(cx, sim):
    cx.make_queue("top", Priority="300")
    ordinary = low(cx, sim, select="1:ncpus=2")
    middle = sim.job(queue="express", select="1:ncpus=2")
    up(cx, middle)
    top = sim.job(queue="top", select="1:ncpus=2")
    cx.wait(top, "R")
    assert states(cx, ordinary, middle) == ["S", "S"]
    cx.api.delete(top)
    cx.wait(middle, "R")
    assert cx.state(ordinary) == "S"
    cx.api.delete(middle)
    cx.wait(ordinary, "R")


def test_a_job_that_would_be_as_urgent_afterwards_is_not_preempted(cx, sim):
    """One over a soft limit is a victim; stopped he would be over it no more, and as high as who preempts."""
    cx.set_sched("preempt_prio", "normal_jobs, queue_softlimits")
    cx.set_queue("workq", "max_run_soft", "[u:PBS_GENERIC=1]")
    jobs = [low(cx, sim) for _ in range(2)]
    cx.make_queue("other")
    urgent = sim.job(queue="other", select="1:ncpus=2")
    until(lambda: ";Preempting job will escalate its priority or priority of other jobs" in cx.log("sched"),
          "the reason")
    assert states(cx, urgent, *jobs) == ["Q", "R", "R"]


def test_a_preempted_job_comes_before_others_that_have_waited_longer(cx):
    """Requeued, and so to be told by nothing but ptime; which only schedulers see."""
    with Simulator(cx, nodes=1, ncpus=1) as sim:
        cx.make_queue("express", Priority="200")
        cx.set_sched("preempt_order", "R")
        before = sim.job()
        up(cx, before)
        waits = sim.job(Priority="1000")
        urgent = sim.job(queue="express")
        cx.wait(urgent, "R")
        assert cx.state(before) == "Q" and "ptime" not in cx.stat(before)
        cx.api.delete(urgent)
        cx.wait(before, "R")
        assert cx.state(waits) == "Q"


# --- by which method: what is left of the time asked for
@pytest.mark.parametrize("limits, state", [
    ({"l_walltime": "1000"}, "Q"), ({"l_walltime": "10"}, "S"), ({"l_walltime": "1000", "l_soft_walltime": "10"}, "S"),
    ({}, "Q")])
def test_the_letters_follow_walltime_and_before_it_soft_walltime(cx, limits, state):
    with Simulator(cx, nodes=1, ncpus=1) as sim:
        cx.make_queue("express", Priority="200")
        cx.set_sched("preempt_order", "R 95 S")
        job = sim.job(**limits)
        up(cx, job)
        started = int(cx.stat(job)["stime"])
        until(lambda: server_s(cx) > started, "another second")
        cx.wait(sim.job(queue="express"), "R")
        assert cx.state(job) == state


@pytest.mark.complex(nodes=0, clock=True)
def test_time_in_which_a_job_was_suspended_is_none_of_its_walltime(cx, sim):
    """It was suspended for 20 seconds by its clock, and has run for less than 12, a fifth of its walltime."""
    cx.set_sched("preempt_order", "S 80 D")
    job = low(cx, sim, select="1:ncpus=2", l_walltime="60")
    cx.api.signal(job, "suspend")
    cx.wait(job, "S")
    cx.clock.leap(20)
    cx.api.signal(job, "resume")
    assert int(cx.wait(job, "R")["paused_time"]) >= 19
    cx.wait(sim.job(queue="express"), "R")
    assert cx.state(job) == "S"


@pytest.mark.parametrize("order, attrs", [("CD", {"Checkpoint": "n"}), ("RD", {"Rerunable": "False"})])
def test_a_job_that_may_not_be_checkpointed_or_requeued_goes_by_the_next_letter(cx, sim, order, attrs):
    cx.set_sched("preempt_order", order)
    job = low(cx, sim, select="1:ncpus=2", **attrs)
    cx.wait(sim.job(queue="express"), "R")
    assert cx.state(job) is None


# --- what a suspended job gives back
def tape(cx):
    cx.api.manager(api.CREATE, api.RESOURCE, "tape", [("type", None, "long"), ("flag", None, "q")])
    cx.set_server("resources_available", "3", "tape")


def assigned(cx, kind="server", *name):
    return cx.api.stat(kind, *name)[0].get("resources_assigned", {})


@pytest.mark.parametrize("only, kept", [("ncpus", "2"), ("ncpus,tape", "0"), (None, "0")])
def test_server_wide_resources_are_given_back_as_the_list_says(cx, sim, only, kept):
    tape(cx)
    if only:
        cx.set_server("restrict_res_to_release_on_suspend", only)
    job = low(cx, sim, select="1:ncpus=1:mem=1gb", l_tape="2")
    cx.api.signal(job, "suspend")
    s = cx.wait(job, "S")
    assert assigned(cx).get("tape", "0") == kept and assigned(cx, "que", "workq").get("tape", "0") == kept
    if only:
        assert s["resource_released_list"].get("tape") == (None if kept == "2" else "2")
    second = sim.job(l_tape="2")
    assert cx.wait(second, "R" if kept == "0" else "Q")
    if kept == "0":
        cx.api.delete(second)
        cx.wait_gone(second)
    cx.api.signal(job, "resume")
    cx.wait(job, "R")
    assert assigned(cx)["tape"] == "2"


@pytest.mark.parametrize("what", ["tape", "limit"])
def test_a_job_suspended_for_a_server_resource_resumes_when_that_is_free_again(cx, sim, what):
    """There are processors for both all the time."""
    tape(cx)
    if what == "limit":
        cx.set_server("max_run", "[o:PBS_ALL=1]")
    victim = low(cx, sim, l_tape="2")
    urgent = sim.job(queue="express", l_tape="2" if what == "tape" else "1")
    up(cx, urgent)
    until(lambda: cx.stat(victim).get("preempt_count") == "1", lambda: cx.describe(victim))
    if what == "tape":
        cx.wait_gone(sim.job(ms=1))
        with pytest.raises(api.PbsError) as e:
            cx.api.signal(victim, "resume")
        assert e.value.code == 15044 and "tape (R: 2 A: 1 T: 3) on the server" in e.value.text
    else:
        until(lambda: cx.stat(victim).get("comment") == f"Suspended for {urgent}", lambda: cx.describe(victim))
    assert states(cx, victim, urgent) == ["S", "R"]
    cx.api.delete(urgent)
    cx.wait(victim, "R")


def test_a_suspended_subjob_says_what_it_has_given_back_and_gets_it_again(cx, sim):
    cx.set_server("restrict_res_to_release_on_suspend", "ncpus")
    array = sim.job(select="1:ncpus=2:mem=1gb", array_indices_submitted="0-1")
    job = array.replace("[]", "[0]")
    up(cx, job)
    urgent = sim.job(queue="express")
    cx.wait(urgent, "R")
    s = cx.wait(job, "S")
    assert s["resources_released"] == "(s1:ncpus=2)" and s["resource_released_list"] == {"ncpus": "2"}
    cx.api.delete(urgent)
    assert "resources_released" not in cx.wait(job, "R")


def test_deleting_a_suspended_job_frees_what_it_has_kept(cx, sim):
    cx.set_server("restrict_res_to_release_on_suspend", "ncpus")
    job = low(cx, sim, select="1:ncpus=1:mem=1gb")
    cx.api.signal(job, "suspend")
    cx.wait(job, "S")
    assert cx.node("s1")["resources_assigned"]["mem"] == "1048576kb"
    cx.api.delete(job)
    cx.wait_gone(job)
    assert cx.node("s1")["resources_assigned"] | {"mem": "0kb", "ncpus": "0"} == cx.node("s1")["resources_assigned"]


def test_resources_released_are_shown_to_operators_only(cx, sim):
    cx.set_server("restrict_res_to_release_on_suspend", "ncpus")
    job = low(cx, sim)
    cx.api.signal(job, "suspend")
    assert "resources_released" in cx.wait(job, "S")
    plain = cx.command("qstat", "-f", job, user="pbstest1").stdout
    assert "job_state = S" in plain and "released" not in plain


@pytest.mark.parametrize("value, code", [("bananas", 15035), ("ncpus,bananas", 15035)])
def test_unknown_resources_in_the_list_are_refused(quiet, value, code):
    with pytest.raises(api.PbsError) as e:
        quiet.set_server("restrict_res_to_release_on_suspend", value)
    assert e.value.code == code


def test_a_resource_that_is_removed_is_taken_out_of_the_list(cx):
    tape(cx)
    cx.set_server("restrict_res_to_release_on_suspend", "ncpus,tape")
    cx.api.manager(api.DELETE, api.RESOURCE, "tape")
    assert cx.api.stat("server")[0]["restrict_res_to_release_on_suspend"] == "ncpus"


# --- several hosts
@pytest.mark.parametrize("order, state", [("S", "S"), ("R", "Q"), ("D", None)])
def test_a_job_over_several_hosts_gives_way_on_all_of_them(cx, order, state):
    with Simulator(cx, nodes=3, ncpus=1) as sim:
        cx.make_queue("express", Priority="200")
        cx.set_sched("preempt_order", order)
        wide = sim.job(select="2:ncpus=1")
        up(cx, wide)
        urgent = sim.job(queue="express", select="3:ncpus=1")
        cx.wait(urgent, "R")
        assert cx.state(wide) == state
        cx.api.delete(urgent)
        if state:
            where = cx.stat(wide).get("exec_vnode")
            s = cx.wait(wide, "R")
            assert state != "S" or s["exec_vnode"] == where
