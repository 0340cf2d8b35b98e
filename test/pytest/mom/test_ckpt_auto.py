"""-c auto: a job is saved as often as costs least, by what an image takes and what the site loses."""
import math

import pytest

from harness.checkpoints import running, tool
from harness.mom_priv import configure
from harness.wait import until

alone = pytest.mark.complex(history=True, sched=False)
QUEUE_PRIOR_S, HOST_PRIOR_S = 86400, 10 * 365 * 86400


def start(cx, **attrs):
    job = cx.submit("while :; do sleep 0.05; done", Checkpoint="auto", **attrs)
    cx.api.run(job, "(n1:ncpus=1)")
    running(cx, job)
    return job


def interval(cx, job):
    return until(lambda: int(cx.stat(job).get("checkpoint_interval", 0)), "its interval")


def quick(cx, took="0"):
    tool(cx, checkpoint=f"sleep {took}; mkdir -p $3 && echo x > $3/core; echo x >> {cx.work}/saves")
    configure(cx, "$min_check_poll 1", "$max_check_poll 1")


@alone
def test_the_interval_is_dalys_for_the_cost_that_was_measured(cx):
    quick(cx, took="0.5")
    configure(cx, "$wallmult 100000")  # so that the first interval is soon over
    job = start(cx)
    until(lambda: cx.file("saves"), "the first checkpoint")
    text = until(lambda: (t := [line for line in cx.log("server").splitlines() if "checkpointed on mom:n1" in line]) and t,
                 "its record")
    cost = int(text[0].split(" ms")[0].split()[-1]) / 1000
    assert cost >= 0.5
    rate = 1 / QUEUE_PRIOR_S + 1 / HOST_PRIOR_S
    until(lambda: abs(interval(cx, job) - math.sqrt(2 * cost / rate)) < 0.2 * math.sqrt(2 * cost / rate), "the interval")
    assert cx.state(job) == "R"


@alone
def test_the_queue_bounds_the_interval(cx):
    quick(cx)
    cx.qmgr("set queue workq checkpoint_min = 600")
    assert interval(cx, start(cx)) == 600 * 60


@alone
def test_preemptions_that_cost_work_make_the_interval_shorter(cx):
    quick(cx)
    job = start(cx)
    before = interval(cx, job)
    cx.set_sched("preempt_order", "R")
    cx.api.register()
    for k in range(3):
        assert dict(cx.api.preempt([job])) == {job: "Q"}
        until(lambda: float((cx.api.stat("que", "workq")[0].get("checkpoint_losses") or "0").split()[0]) == k + 1, "what is counted")  # noqa: B023
        cx.api.run(job, "(n1:ncpus=1)")
        running(cx, job)
    until(lambda: interval(cx, job) < before, "a shorter interval")
    cx.kill("server")
    cx.restart("server")
    cx.again()
    assert cx.api.stat("que", "workq")[0]["checkpoint_losses"].startswith("3.0 ")


def test_auto_takes_no_minutes(cx):
    done = cx.command("qsub", "-c", "auto=5", "--", "/bin/true", check=False)
    assert done.returncode != 0
