"""Why a reservation is not confirmed, and when it could be: its comment, pbs_preempt --explain, and who has to answer first."""
import json
import os
import signal
import time

import pytest

from harness import api
from harness.ask import at
from harness.desk import Desk
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)

CONFLICT = "Reservation would conflict with another reservation"


@pytest.fixture
def desk(cx):
    with Simulator(cx, nodes=2, ncpus=4) as sim:
        yield Desk(cx, sim)


def full(d, resv):
    return d.cx.command("pbs_rstat", "-f", resv).stdout


def explained(d, resv):
    return json.loads(d.cx.command("pbs_preempt", "--explain", "-F", "json", resv).stdout)


def test_an_alteration_that_was_refused_says_why_until_one_is_confirmed(desk, cx):
    resv = desk.new()
    desk.new(start=4300, select="2:ncpus=4")
    assert cx.command("pbs_ralter", "-D", "1200", "-I", "50", resv).stdout.endswith(" DENIED\n")
    assert f"comment = Not altered: {CONFLICT}" in full(desk, resv)
    assert CONFLICT in json.loads(cx.command("pbs_rstat", "-F", "json", resv).stdout)["resvs"][resv]["comment"]
    assert cx.command("pbs_ralter", "-D", "300", "-I", "50", resv).stdout.endswith(" CONFIRMED\n")
    assert "comment" not in full(desk, resv)


def test_a_degraded_one_says_why_and_when_it_could_begin(desk, cx):
    cx.set_server("reserve_retry_time", "1")
    resv, other = desk.new(), desk.new()
    ends = time.ctime(int(desk.stat(other)["reserve_end"])).strip()
    cx.command("pbsnodes", "-o", "s1")
    until(lambda: f"comment = Not reconfirmed: {CONFLICT}; it could begin at {ends}\n" in full(desk, resv), lambda: full(desk, resv))
    x = explained(desk, resv)
    assert x["verdict"] == "unconfirmed" and x["in_the_way"] == [CONFLICT]
    assert x["could_begin"] == int(desk.stat(other)["reserve_end"])
    words = cx.command("pbs_preempt", "--explain", resv).stdout
    assert words.startswith(f"{resv}: there is no room for it\n") and "could begin" in words and CONFLICT in words
    cx.command("pbsnodes", "-r", "s1")
    desk.wait(resv, "CO")
    assert "comment" not in full(desk, resv)


def test_what_is_confirmed_or_would_be_is_explained_to_anyone(desk, cx):
    resv = desk.new()
    cx.set_server("scheduling", "False")
    new = desk.new(wait="UN")
    many = desk.new("-r", "FREQ=DAILY;COUNT=3", start=3700, select="2:ncpus=4", wait="UN", env={"PBS_TZID": "UTC"})
    never = desk.new(select="1:ncpus=9", wait="UN")
    x = explained(desk, resv)
    assert (x["verdict"], x["exec_vnode"], x["reserve_state"]) == ("confirmed", "(s1:ncpus=4)", 2)
    x = json.loads(cx.command("pbs_preempt", "--explain", "-F", "json", new, user="pbstest2").stdout)
    assert (x["verdict"], x["exec_vnode"]) == ("would_confirm", "(s2:ncpus=4)") and "scheduling is off" in x["not_yet"]
    assert x["begins"] == int(desk.stat(new)["reserve_start"])
    x = explained(desk, many)
    assert (x["verdict"], x["occurrence"]) == ("unconfirmed", 1) and x["occurrence_begins"] == int(desk.stat(many)["reserve_start"])
    x = explained(desk, never)
    assert x["verdict"] == "unconfirmed" and x["never"] == "True" and "ncpus" in x["in_the_way"][0]
    assert desk.state(new) == "UN"  # nothing of it was done
    done = cx.command("pbs_preempt", "--explain", "R99", check=False)
    assert "Unknown Reservation Id" in done.stderr and done.returncode == 15084 % 256


@pytest.fixture
def two(cx):
    """A second scheduler, of partition p2 with s3, which has more processors."""
    with Simulator(cx, nodes=3, ncpus=4) as sim:
        cx.qmgr("set node s3 resources_available.ncpus=16", "set node s3 partition=p2")
        cx.api.manager(api.CREATE, api.SCHED, "s2", [("partition", None, "p2")])
        cx.set_sched("scheduling", "True", sched="s2")
        cx.restart("sched_s2")
        until(lambda: next(s for s in cx.api.stat("sched") if s.name == "s2")["state"] != "down", "the second scheduler")
        yield Desk(cx, sim)


def test_it_is_refused_when_the_last_scheduler_has_answered(two, cx):
    resv = two.new(select="1:ncpus=16")
    s = two.stat(resv)
    assert (s["partition"], s["resv_nodes"]) == ("p2", "(s3:ncpus=16)") and "comment" not in s
    assert two.new(select="1:ncpus=4") and two.rsub("-R", at(3600), "-D", "60", "-l", "select=1:ncpus=32", "-I",
                                                    "50").stdout.endswith(" DENIED\n")
    for name in ("sched", "sched_s2"):
        two.log(name, "PBS Failed to confirm resv: Insufficient amount of resource: ncpus")
    assert cx.api.stat("que", "R0")[0]["partition"] == "p2"


def test_a_scheduler_that_goes_away_before_it_answers_is_waited_for_no_longer(two, cx):
    os.kill(cx.pid("sched_s2"), signal.SIGSTOP)
    resv = two.new(select="1:ncpus=32", wait="UN")
    until(lambda: "comment = Not confirmed: Insufficient amount of resource: ncpus" in full(two, resv), lambda: full(two, resv))
    assert two.state(resv) == "UN"
    os.kill(cx.pid("sched_s2"), signal.SIGKILL)
    two.gone(resv)
