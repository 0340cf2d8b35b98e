"""Reservations where a daemon is killed at each step of their life, and where the clock is set."""
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import rows
from harness.api import PbsError
from harness.build import is_sanitized
from harness.desk import SOON_S, Desk, queue
from harness.exec_peer import ACCEPTED, Peer
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=1, clock=True)


@pytest.fixture
def desk(cx):
    return Desk(cx)


def inside(d, resv):
    job = d.cx.submit(queue=queue(resv), select="1:ncpus=1")
    return job


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
