"""qsub --when: when a job would start that is not submitted, and nothing is left of the question."""
import json
import time

import pytest

from harness import users
from harness.hooks import Hooks
from harness.sim import Simulator
from harness.wait import until
from harness.work import account_lines, begun

pytestmark = pytest.mark.complex(nodes=0)
USER = users.NAMES[0]


@pytest.fixture
def sim(cx):
    with Simulator(cx, nodes=2, ncpus=2) as s:
        yield s


def full(cx, sim):
    """Both vnodes are in use, one for ten minutes and one for twenty."""
    return [begun(cx, sim.job(select="1:ncpus=2", l_walltime=t)) for t in ("10:00", "20:00")]


def asked(cx, *options, **how):
    """What is said of each shape."""
    done = cx.command("qsub", "--when", "-F", "json", *options, **{"user": USER, **how})
    text, shapes = done.stdout.strip(), []
    while text:
        shape, end = json.JSONDecoder().raw_decode(text)
        shapes.append(shape)
        text = text[end:].strip()
    return shapes


def test_each_shape_is_told_when_and_where_it_would_start_and_what_that_rests_on(cx, sim):
    jobs = full(cx, sim)
    first, small, wide, never = asked(cx, "-l", "select=1:ncpus=2", "-l", "walltime=1:00:00", "--or", "walltime=30:00",
                                      "--or", "select=2:ncpus=2", "--or", "select=3:ncpus=2")
    assert first["shape"] == "select=1:ncpus=2 walltime=1:00:00" and small["shape"] == "walltime=30:00"
    assert first["verdict"] == "waits" and 540 < first["expected"] - time.time() < 700
    assert [h["job"] for h in first["holders"]] == jobs[:1] and first["lasts"] == 3600
    assert 1140 < wide["expected"] - time.time() < 1300
    assert "expected" not in never and never["never"] == "True"
    text = cx.command("qsub", "--when", "-l", "select=2:ncpus=2", "--or", "select=1:ncpus=2", user=USER).stdout
    assert "would start" in text and "earlier" in text and "rests on" in text, text


def test_where_there_is_room_it_would_start_now(cx, sim):
    (one,) = asked(cx, "-l", "select=2:ncpus=2")
    assert one["verdict"] == "would_run" and one["exec_vnode"].count("ncpus=2") == 2
    assert "now" in cx.command("qsub", "--when", "--", "/bin/true", user=USER).stdout


def test_an_urgent_one_is_told_who_would_give_way(cx, sim):
    cx.qmgr("create queue express queue_type=e, enabled=t, started=t, priority=200")
    full(cx, sim)
    (one,) = asked(cx, "-q", "express", "-l", "select=2:ncpus=2")
    assert one["verdict"] == "would_preempt" and len(one["victims"]) == 2, one


def test_nothing_is_left_and_the_next_job_has_the_next_number(cx, sim):
    before = cx.submit("true", Hold_Types="u")
    full_before = cx.stat(before)
    for _ in range(3):
        assert len(asked(cx, "-N", "asked", "--or", "walltime=1:00")) == 2
    after = cx.submit("true", Hold_Types="u")
    assert int(after.split(".")[0]) == int(before.split(".")[0]) + 1
    assert cx.stat(before)["mtime"] == full_before["mtime"]
    assert cx.command("qselect", "-N", "asked").stdout == ""
    until(lambda: any(after in line for line in account_lines(cx)), "the record of the job that was submitted")
    assert "asked" not in "".join(account_lines(cx))


def test_what_a_submission_would_be_refused_for_is_said_of_each_shape(cx, sim):
    cx.qmgr("set queue workq resources_max.ncpus = 3")
    fits, not_ = asked(cx, "-l", "select=1:ncpus=1", "--or", "select=4:ncpus=1", check=False)
    assert fits["verdict"] == "would_run" and "limit" in not_["refused"], (fits, not_)
    done = cx.command("qsub", "--when", "-q", "nowhere", user=USER, check=False)
    assert done.returncode and "Unknown queue" in done.stdout + done.stderr


def test_that_queuejob_hooks_are_not_asked_is_said_where_there_are_any(cx, sim):
    hooks = Hooks(cx)
    words = ("qsub", "--when", "-l", "select=1:ncpus=1")
    assert "hooks_not_run" not in asked(cx)[0]
    hooks.make("short", "modifyjob", "e.reject('never')")
    assert "hooks_not_run" not in asked(cx)[0] and "hooks" not in cx.command(*words, user=USER).stdout
    hooks.make("strict", "queuejob", "e.reject('say why')")
    assert [s["hooks_not_run"] for s in asked(cx, "--or", "select=3:ncpus=2")] == ["queuejob"] * 2
    assert "may change or refuse" in cx.command(*words, user=USER).stdout
    assert "say why" in cx.command("qsub", "--", "/bin/true", user=USER, check=False).stderr
    cx.qmgr("set hook strict enabled=false")
    assert "hooks_not_run" not in asked(cx)[0]


def test_a_route_queue_sends_it_to_the_queue_that_would_take_it(cx, sim):
    cx.qmgr("create queue small queue_type=e, enabled=t, started=t, resources_max.ncpus=1")
    cx.qmgr("create queue large queue_type=e, enabled=t, started=t")
    cx.qmgr("create queue door queue_type=r, enabled=t, started=t, route_destinations='small,large'")
    one, two = asked(cx, "-q", "door", "-l", "select=1:ncpus=1", "--or", "select=1:ncpus=2")
    assert (one["queue"], two["queue"]) == ("small", "large")


def test_without_a_scheduler_it_says_so(cx, sim):
    cx.kill("sched")
    until(lambda: "state = down" in cx.qmgr("list sched default"), "its absence")
    done = cx.command("qsub", "--when", user=USER, check=False)
    assert done.returncode and "no scheduler" in done.stdout + done.stderr
