"""Reservations where a daemon is killed at each step of their life, and where the clock is set."""
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import rows
from harness.api import PbsError
from harness.build import is_sanitized
from harness.desk import SOON_S, Desk, queue
from harness.exec_peer import ACCEPTED, Peer
from harness.faults import daemon_frozen
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=1, clock=True)


@pytest.fixture
def desk(cx):
    return Desk(cx)


def inside(d, resv, ncpus=1):
    return d.cx.submit(queue=queue(resv), select=f"1:ncpus={ncpus}")


def runs(cx, job):
    until(lambda: (s := cx.stat(job)) and s["substate"] == "42", lambda: cx.describe(job))


def dead(cx, daemon):
    """It is killed, and not there until restart()."""
    cx.kill(daemon)


def back(cx, daemon):
    cx.restart(daemon)
    if daemon == "server":
        cx.again()
        cx.hosts_back()


@pytest.mark.parametrize("daemon", ["sched", "server"])
def test_what_was_asked_for_is_confirmed_when_the_daemon_is_back(desk, cx, daemon):
    cx.set_server("scheduling", "False")
    resv = desk.new(wait="UN")
    dead(cx, daemon)
    back(cx, daemon)
    cx.set_server("scheduling", "True")
    desk.wait(resv, "CO")
    desk.recorded("UYK", resv, "UY")


def refuse(sched, resv, seen):
    """The error of a refusal by a scheduler that has seen the changes up to this number; None: it is taken."""
    try:
        sched.confirm_resv(resv, extend=f"PBS_RESV_CONFIRM_FAIL:seen={seen}:reason=no room")
    except PbsError as e:
        return e.code
    return None


@pytest.mark.complex(nodes=0, sched=False, store="postgres")
def test_a_refusal_without_a_host_that_says_hello_is_put_off_until_the_scheduler_has_seen_it(desk, cx):
    try_again, everything = 15208, 1 << 40
    with Peer(cx) as host, ThreadPoolExecutor(1) as pool:
        host.hello()
        resv = desk.new(wait="UN")
        cx.crash_server()
        sched = cx.connect()
        sched.register()
        with rows.held(cx, "object"):
            hello = pool.submit(host.hello)
            cx.wait_log("server", "Hello from MoM", 2)
            assert refuse(sched, resv, everything) == try_again
        assert hello.result().verdict == ACCEPTED
        assert refuse(sched, resv, 1) == try_again and desk.state(resv) == "UN"
        assert refuse(sched, resv, everything) is None
        desk.gone(resv)
        sched.close()


def test_a_scheduler_that_is_killed_is_not_needed_for_begin_and_end(desk, cx):
    resv = desk.new(start=SOON_S, lasts=600)
    dead(cx, "sched")
    desk.begin(resv)
    job = inside(desk, resv)
    back(cx, "sched")
    runs(cx, job)
    dead(cx, "sched")
    desk.end(resv)
    desk.gone(resv)
    cx.wait_gone(job)


def test_a_start_that_passes_while_the_server_is_down_is_made_up_for(desk, cx):
    resv = desk.new(start=SOON_S, lasts=600)
    job = inside(desk, resv)
    dead(cx, "server")
    cx.clock.leap(SOON_S + 5)
    back(cx, "server")
    desk.wait(resv, "RN")
    runs(cx, job)
    desk.recorded("YB", resv, "YB")


@pytest.mark.parametrize("while_down", [False, True])
def test_a_mom_that_is_killed_loses_neither_the_reservation_nor_its_job(desk, cx, while_down):
    resv = desk.new(start=SOON_S, lasts=100)
    desk.begin(resv)
    job = inside(desk, resv)
    runs(cx, job)
    dead(cx, "n1")
    if while_down:
        desk.wait(resv, "RN/DG")
        desk.end(resv)
        desk.wait(resv, "BD/DJ")
        back(cx, "n1")
        desk.gone(resv)
        cx.wait_gone(job)
        return
    back(cx, "n1")
    desk.wait(resv, "RN")
    assert cx.state(job) == "R"


def alter(desk, cx):
    resv = desk.new(start=SOON_S, lasts=600)
    cx.set_server("scheduling", "False")
    cx.command("pbs_ralter", "-D", "900", resv)
    return resv


def ask(desk, cx):
    cx.set_server("scheduling", "False")
    return desk.new(start=SOON_S, lasts=600, wait="UN")


def end_first(desk, cx):
    """An occurrence is over, and its job, whose host is dead, is not."""
    cx.set_server("node_fail_requeue", "0")
    resv = desk.standing(start=SOON_S, lasts=600, rule="FREQ=HOURLY;COUNT=2")
    desk.begin(resv)
    runs(cx, inside(desk, resv, ncpus=4))
    return resv


@pytest.mark.parametrize("make, now, before", [
    (ask, "UN", "UN"), (lambda desk, cx: desk.new(start=SOON_S), "CO", "RN/DG"), (alter, "AL/CO", "AL/CO"), (end_first, "RN", "DJ/DG")],
    ids=["UN", "CO", "AL", "DJ"])
def test_a_start_that_passes_while_the_mom_is_dead_is_made_up_for_when_it_is_back(desk, cx, make, now, before):
    resv = make(desk, cx)
    assert desk.state(resv) == now
    waits = inside(desk, resv) if now != "UN" else None
    dead(cx, "n1")
    until(lambda: "down" in cx.node()["state"], "its vnode is down")
    if now == "RN":
        desk.wait(resv, "RN/DG")
        desk.end(resv)
    begin = int(desk.stat(resv)["reserve_start"]) + (3600 if now == "RN" else 0)
    cx.clock.leap_to(begin)
    desk.wait(resv, before)
    assert not waits or cx.state(waits) == "Q"
    back(cx, "n1")
    cx.hosts_back()
    cx.set_server("scheduling", "True")
    desk.wait(resv, "RN", reserve_start=str(begin))
    runs(cx, waits or inside(desk, resv))


@pytest.mark.complex(nodes=0, store="postgres")
@pytest.mark.parametrize("died", [["sched"], ["sched", "server"]], ids=["sched", "both"])
def test_a_scheduler_killed_before_its_confirmation_is_answered_has_confirmed_once(desk, cx, died):
    """The server has taken it, and waits for its store. Where it is killed too, it is confirmed again."""
    with Peer(cx) as host:
        host.hello()
        cx.stop_daemon("sched")
        resv = desk.new(wait="UN")
        cx.set_server("comment", "all that went before is stored")
        with rows.held(cx, "object"):
            cx.restart("sched")
            desk.wait(resv, "CO")
            for daemon in died:
                dead(cx, daemon)
        for daemon in reversed(died):
            cx.restart(daemon)
        cx.again()
        if "server" in died:
            host.hello()
        desk.wait(resv, "CO")
        desk.recorded("UYK", resv, "UY")
        assert cx.node("s1")["resv"] == resv


def test_a_scheduler_killed_between_its_plan_and_the_server_leaves_it_to_the_next(desk, cx):
    """The server reads the confirmation of a scheduler that is dead, or not: it is confirmed once."""
    with daemon_frozen(cx, "sched"):
        resv = desk.new(wait="UN")
        os.kill(cx.pid("server"), signal.SIGSTOP)
    cx.wait_log("sched", f"{resv};Confirming")
    dead(cx, "sched")
    os.kill(cx.pid("server"), signal.SIGCONT)
    back(cx, "sched")
    desk.wait(resv, "CO")
    desk.recorded("UYK", resv, "UY")


def test_an_alteration_is_decided_when_the_scheduler_is_back(desk, cx):
    resv = desk.new()
    cx.set_server("scheduling", "False")
    cx.command("pbs_ralter", "-D", "1200", resv)
    for daemon in ("sched", "server"):
        dead(cx, daemon)
        back(cx, daemon)
        assert desk.state(resv) == "AL/CO"
    cx.set_server("scheduling", "True")
    desk.wait(resv, "CO", reserve_duration="1200")


def test_a_degraded_one_is_reconfirmed_when_the_scheduler_is_back(desk, cx):
    cx.set_server("reserve_retry_time", "1")
    resv = desk.new()
    dead(cx, "sched")
    cx.command("pbsnodes", "-o", "n1")
    desk.wait(resv, "DG")
    cx.crash_server()
    assert desk.state(resv) == "DG"
    back(cx, "sched")
    desk.log("server", f"{resv};Reservation is in degraded mode")
    cx.command("pbsnodes", "-r", "n1")
    desk.wait(resv, "CO")


@pytest.mark.skipif(is_sanitized(), reason="the sanitizer wants to be loaded first")
def test_a_clock_that_is_set_begins_and_ends_it_by_its_new_time(desk, cx):
    resv, later = desk.new(start=3600, lasts=600), desk.new(start=9000, lasts=600)
    cx.clock.set(3700)
    cx.api.stat("server")
    desk.wait(resv, "RN")
    cx.clock.set(3000)
    cx.api.stat("server")
    assert desk.state(resv) == "RN" and desk.state(later) == "CO"
    cx.clock.set(4300)
    cx.api.stat("server")
    desk.gone(resv)
    assert desk.state(later) == "CO"
