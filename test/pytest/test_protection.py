"""What protects a job from preemption: asked by the server, whoever plans, and by pbs_sched before it plans."""
import pytest

from cede import api
from cede.wait import until

pytestmark = pytest.mark.complex(nodes=1, ncpus=2, sched=False)


def scheduler(cx, order="D"):
    cx.set_sched("preempt_order", order)
    c = cx.connect()
    c.register("default")
    return c


def started(cx, **attrs):
    job = cx.submit(select="1:ncpus=2", **attrs)
    cx.api.run(job, "(n1:ncpus=2)")
    cx.wait(job)
    return job


def began(cx, job):
    """When the job's script began."""
    return int(until(lambda: cx.stat(job).get("stime"), "the start of the job"))


def refused(cx, c, victim):
    """By a plan and by pbs_preempt_jobs; the reason."""
    urgent = cx.submit(select="1:ncpus=2", queue="express")
    with pytest.raises(api.PbsError) as e:
        c.preempt_run(urgent, "(n1:ncpus=2)", [victim])
    assert e.value.code == 15016 and cx.state(victim) == "R"
    return e.value.text


@pytest.fixture
def express(cx):
    cx.make_queue("express", Priority="200")


@pytest.mark.usefixtures("express")
@pytest.mark.parametrize("name, value, why", [
    ("preempt_order", "none", "are not preempted"), ("preempt_exempt_time", "1000", "exempt"),
    ("preempt_max_count", "0", "0 times"), ("preemptable_by", "other", "may not be preempted by")])
def test_a_queue_protects_its_jobs(cx, name, value, why):
    cx.set_queue("workq", name, value)
    victim = started(cx)
    c = scheduler(cx)
    assert why in refused(cx, c, victim)
    if name != "preemptable_by":  # there nobody says for whom
        assert c.preempt([victim]) == [(victim, "000")] and cx.state(victim) == "R"


@pytest.mark.usefixtures("express")
def test_a_queue_that_says_otherwise_counts_before_the_scheduler(cx):
    cx.set_sched("preempt_exempt_time", "1000")
    victim = started(cx)
    c = scheduler(cx)
    assert "exempt" in refused(cx, c, victim)
    cx.set_queue("workq", "preempt_exempt_time", "0")
    cx.set_queue("workq", "preempt_order", "S")
    assert c.preempt([victim]) == [(victim, "S")]


def test_a_job_narrows_its_methods_where_its_queue_allows_that(cx):
    victim = started(cx, preempt_methods="S")
    c = scheduler(cx, "RS")
    cx.set_queue("workq", "preempt_methods_enable", "True")
    assert c.preempt([victim]) == [(victim, "S")]
    cx.api.signal(victim, "resume")
    cx.wait(victim, "R")
    cx.set_queue("workq", "preempt_methods_enable", "False")
    assert c.preempt([victim]) == [(victim, "Q")]


def test_a_wish_that_would_leave_nothing_does_not_count(cx):
    victim = started(cx, preempt_methods="C")
    cx.set_queue("workq", "preempt_methods_enable", "True")
    assert scheduler(cx, "RS").preempt([victim]) == [(victim, "Q")]


@pytest.mark.parametrize("name, value", [
    ("preempt_order", "never"), ("preempt_order", "SS"), ("preempt_exempt_time", "soon"),
    ("preempt_max_count", "-1"), ("preempt_methods_enable", "perhaps")])
def test_bad_values_are_refused(quiet, name, value):
    with pytest.raises(api.PbsError) as e:
        quiet.set_queue("workq", name, value)
    assert e.value.code == 15014


@pytest.mark.complex(nodes=1, ncpus=2)
@pytest.mark.usefixtures("express")
def test_the_scheduler_waits_until_its_victim_is_exempt_no_more(cx):
    cx.set_sched("preempt_order", "R")
    cx.set_queue("workq", "preempt_exempt_time", "2")
    low = cx.submit(select="1:ncpus=2")
    start = began(cx, low)
    urgent = cx.submit(select="1:ncpus=2", queue="express")
    assert began(cx, urgent) >= start + 2
    assert cx.state(low) == "Q"
    cx.set_queue("workq", "preempt_max_count", "1")
    cx.api.delete(urgent)
    cx.wait(low)
    second = cx.submit(select="1:ncpus=2", queue="express")
    until(lambda: cx.stat(second).get("comment"), "a comment")
    assert cx.state(low) == "R"
