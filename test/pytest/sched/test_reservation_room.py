"""Reservations and the real scheduler: it confirms them where they have room, and keeps that room for them (doc/reservations.md)."""
import time

import pytest

from harness.ask import stat_resv
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0, clock=True)

LIMIT_S = 120
CO, RN, DG = "2", "5", "10"
SOON_S = 20  # then it is there by a leap of the clock, which the test makes when it is ready
CONFLICT = "Not Running: Job would conflict with reservation or top job"


@pytest.fixture
def sim(cx):
    with Simulator(cx, nodes=2, ncpus=4) as s:
        yield s


def submit(cx, start=3600, lasts=600, select="1:ncpus=4", place=None, **attrs):
    """A reservation that begins in so many seconds."""
    now = int(cx.clock.now())
    items = [("reserve_start", now + start), ("reserve_end", now + start + lasts), ("Resource_List", "select", select)]
    items += [("Resource_List", "place", place)] if place else []
    return cx.api.submit_resv(items + [(k, None, v) for k, v in attrs.items()])[0]


def told(cx, resv):
    return lambda: f"{resv}: {stat_resv(cx, resv)}\n{cx.logs('sched', 40)}\n{cx.logs('server', 20)}"


def wait(cx, resv, wanted):
    """Its attributes, once it is in this state; None: gone."""
    until(lambda: (stat_resv(cx, resv) or {"reserve_state": None})["reserve_state"] == wanted, told(cx, resv), LIMIT_S)
    return stat_resv(cx, resv)


def wait_nodes(cx, resv, wanted):
    until(lambda: stat_resv(cx, resv)["resv_nodes"] == wanted, told(cx, resv), LIMIT_S)


def begin(cx, resv):
    """Its time has come, and it runs."""
    cx.clock.leap_to(int(stat_resv(cx, resv)["reserve_start"]))
    wait(cx, resv, RN)


def confirmed(cx, **how):
    resv = submit(cx, **how)
    return resv, wait(cx, resv, CO)["resv_nodes"]


def queue(resv):
    return resv.split(".")[0]


def wait_comment(cx, job, text):
    until(lambda: text in ((cx.stat(job) or {}).get("comment") or ""), lambda: cx.describe(job), LIMIT_S)


def wait_log(cx, daemon, text):
    until(lambda: text in cx.log(daemon), lambda: f"{text!r}:\n{cx.log(daemon)}", LIMIT_S)


def rsub(cx, select):
    begin = time.localtime(cx.clock.now() + 3600)
    words = cx.command("pbs_rsub", "-I", "50", "-R", time.strftime("%Y%m%d%H%M.%S", begin), "-D", "600", "-l",
                       f"select={select}").stdout.split()
    return words[0], words[1]


def test_a_new_reservation_gets_vnodes_and_pbs_rsub_says_so(cx, sim):
    resv, word = rsub(cx, "2:ncpus=4")
    s = stat_resv(cx, resv)
    assert word == "CONFIRMED" and s["reserve_state"] == CO
    assert s["resv_nodes"] == "(s1:ncpus=4)+(s2:ncpus=4)" and s["partition"] == "pbs-default"
    wait_log(cx, "sched", f"{resv};Reservation Confirmed")


def test_a_reservation_that_never_fits_is_denied_and_the_log_says_why(cx, sim):
    resv, word = rsub(cx, "1:ncpus=5")
    assert word == "DENIED" and stat_resv(cx, resv) is None
    wait_log(cx, "sched", f"{resv};PBS Failed to confirm resv: Insufficient amount of resource: ncpus")


def test_a_reservation_of_taken_vnodes_is_denied_and_the_server_says_when_it_could_begin(cx, sim):
    first, _ = confirmed(cx, select="2:ncpus=4")
    ends = time.ctime(int(stat_resv(cx, first)["reserve_end"]))
    second = submit(cx, start=3700)
    wait(cx, second, None)
    wait_log(cx, "server", f"{second};PBS Failed to confirm resv: Reservation would conflict with another reservation; "
                           f"it could begin at {ends}")
    _, where = confirmed(cx, start=4300)  # when the first has ended
    assert where == "(s1:ncpus=4)"


def test_no_job_reaches_into_a_reservation_but_one_that_ends_before_may_run(cx, sim):
    confirmed(cx, select="2:ncpus=4")
    long, endless = sim.job(l_walltime="2:00:00"), sim.job()
    for job in (long, endless):
        wait_comment(cx, job, CONFLICT)
    cx.wait(sim.job(l_walltime="10:00", select="1:ncpus=4"), "R", LIMIT_S)
    assert cx.state(long) == cx.state(endless) == "Q"


def test_jobs_wait_no_longer_for_a_reservation_that_is_deleted(cx, sim):
    resv, _ = confirmed(cx, select="2:ncpus=4")
    job = sim.job(l_walltime="2:00:00")
    wait_comment(cx, job, CONFLICT)
    cx.command("pbs_rdel", resv)
    cx.wait(job, "R", LIMIT_S)


def test_a_job_that_takes_what_time_there_is_ends_before_a_reservation(cx, sim):
    resv, _ = confirmed(cx, select="2:ncpus=4")
    job = sim.job(l_min_walltime="10", l_max_walltime="5:00:00")
    cx.wait(job, "R", LIMIT_S)
    hours, minutes, seconds = map(int, cx.stat(job)["Resource_List"]["walltime"].split(":"))
    assert 0 < hours * 3600 + minutes * 60 + seconds <= 3600
    assert stat_resv(cx, resv)["reserve_state"] == CO


def test_jobs_inside_run_when_the_reservation_does_and_on_its_vnodes_only(cx, sim):
    cx.wait(sim.job(select="1:ncpus=4", l_walltime="1:00:00"), "R", LIMIT_S)
    resv, where = confirmed(cx, start=SOON_S, lasts=3600, select="1:ncpus=3")
    assert where == "(s2:ncpus=3)"
    inside = [sim.job(select=f"1:ncpus={n}", queue=queue(resv)) for n in (2, 2, 1)]
    outside = sim.job(select="1:ncpus=2", l_walltime="1:00:00")
    begin(cx, resv)
    assert cx.wait(inside[0], "R", LIMIT_S)["exec_vnode"] == "(s2:ncpus=2)"
    assert cx.wait(inside[2], "R", LIMIT_S)["exec_vnode"] == "(s2:ncpus=1)"
    wait_comment(cx, inside[1], "Insufficient amount of queue resource: ncpus")
    assert cx.state(outside) == "Q"  # one cpu of s2 is free
    cx.api.delete(inside[0])
    assert cx.wait(inside[1], "R", LIMIT_S)["exec_vnode"] == "(s2:ncpus=2)"
    cx.command("pbs_rdel", resv)
    cx.wait(outside, "R", LIMIT_S)


def test_a_job_runs_in_a_reservation_that_has_its_vnodes_alone(cx, sim):
    resv, _ = confirmed(cx, start=SOON_S, lasts=3600, select="1:ncpus=2", place="excl")
    inside = sim.job(select="1:ncpus=1", queue=queue(resv))
    begin(cx, resv)
    assert cx.wait(inside, "R", LIMIT_S)["exec_vnode"] == "(s1:ncpus=1)"
    outside = sim.job(select="1:ncpus=4", l_walltime="10:00")
    assert cx.wait(outside, "R", LIMIT_S)["exec_vnode"] == "(s2:ncpus=4)"
    wait_comment(cx, sim.job(select="1:ncpus=1", l_walltime="10:00"), "Not Running")


def test_an_urgent_job_stops_no_other_for_room_that_a_reservation_has_before_its_end(cx, sim):
    cx.make_queue("express", Priority="200")
    low = [sim.job(select="1:ncpus=4", l_walltime="10:00") for _ in range(2)]
    for job in low:
        cx.wait(job, "R", LIMIT_S)
    confirmed(cx, select="2:ncpus=4")
    urgent = sim.job(select="1:ncpus=4", l_walltime="2:00:00", queue="express")
    wait_comment(cx, urgent, "Not Running")
    assert cx.state(urgent) == "Q" and [cx.state(j) for j in low] == ["R", "R"]
    cx.wait(sim.job(select="1:ncpus=4", l_walltime="10:00", queue="express"), "R", LIMIT_S)
    assert cx.state(urgent) == "Q"


def test_a_reservation_that_has_lost_a_vnode_gets_another_one(cx, sim):
    cx.set_server("reserve_retry_time", "2")
    resv, where = confirmed(cx)
    assert where == "(s1:ncpus=4)"
    cx.command("pbsnodes", "-o", "s1")
    wait_nodes(cx, resv, "(s2:ncpus=4)")
    wait(cx, resv, CO)
    cx.command("pbsnodes", "-o", "s2")
    wait(cx, resv, DG)
    wait_log(cx, "sched", f"{resv};Reservation is in degraded mode")
    cx.command("pbsnodes", "-r", "s2")
    assert wait(cx, resv, CO)["resv_nodes"] == "(s2:ncpus=4)"


def test_a_running_reservation_keeps_the_vnodes_that_are_up(cx):
    with Simulator(cx, nodes=3, ncpus=4) as sim:
        cx.set_server("reserve_retry_time", "2")
        resv, where = confirmed(cx, start=SOON_S, lasts=3600, select="2:ncpus=4")
        assert where == "(s1:ncpus=4)+(s2:ncpus=4)"
        begin(cx, resv)
        cx.command("pbsnodes", "-o", "s1")
        wait_nodes(cx, resv, "(s3:ncpus=4)+(s2:ncpus=4)")
        inside = sim.job(select="1:vnode=s2:ncpus=1", queue=queue(resv))
        cx.wait(inside, "R", LIMIT_S)
        cx.command("pbsnodes", "-r", "s1")
        cx.command("pbsnodes", "-o", "s2")
        wait_log(cx, "sched", f"{resv};Reservation Failed to Reconfirm: Reservation has running jobs in it")
        cx.api.delete(inside)
        wait_nodes(cx, resv, "(s3:ncpus=4)+(s1:ncpus=4)")


def test_an_altered_reservation_is_placed_again_or_stays_as_it_was(cx, sim):
    resv, _ = confirmed(cx)
    begin = int(stat_resv(cx, resv)["reserve_start"])
    later = time.strftime("%Y%m%d%H%M.%S", time.localtime(begin + 2400))
    other, _ = confirmed(cx, start=4800, select="2:ncpus=4")
    cx.command("pbs_ralter", "-E", later, resv)
    wait_log(cx, "server", "Reservation alter denied")
    assert wait(cx, resv, CO)["reserve_end"] == str(begin + 600)
    cx.command("pbs_rdel", other)
    cx.command("pbs_ralter", "-E", later, resv)
    until(lambda: (stat_resv(cx, resv)["reserve_state"], stat_resv(cx, resv)["reserve_end"]) == (CO, str(begin + 2400)), told(cx, resv),
          LIMIT_S)


def standing(cx, select):
    return submit(cx, select=select, reserve_rrule="FREQ=DAILY;COUNT=3", reserve_timezone="UTC", reserve_standing="1")


def test_an_alteration_by_force_holds_though_there_is_no_room(cx, sim):
    first, _ = confirmed(cx, select="2:ncpus=4", start=3600, lasts=600)
    second, _ = confirmed(cx, select="2:ncpus=4", start=4300, lasts=600)
    for words, answer in (([], "DENIED"), (["-W", "force"], "CONFIRMED")):
        out = cx.command("pbs_ralter", "-D", "20:00", "-I", "50", *words, first).stdout
        assert out == f"pbs_ralter: {first} {answer}\n"
    assert stat_resv(cx, first)["reserve_duration"] == "1200" and stat_resv(cx, first)["reserve_state"] == CO
    assert stat_resv(cx, second)["reserve_state"] == CO


def test_a_standing_reservation_has_room_for_all_its_occurrences_or_for_none(cx, sim):
    confirmed(cx, start=3600 + 86400)  # s1, on the second day
    resv = standing(cx, "1:ncpus=4")
    s = wait(cx, resv, CO)
    assert s["reserve_execvnodes"] == "3#(s1:ncpus=4){0,2}(s2:ncpus=4){1}" and s["resv_nodes"] == "(s1:ncpus=4)"
    wait_log(cx, "sched", f"{resv};Confirming 3 Occurrences")
    wait(cx, standing(cx, "2:ncpus=4"), None)


def test_a_scheduler_that_begins_again_keeps_what_was_confirmed(cx, sim):
    resv, where = confirmed(cx, select="2:ncpus=4")
    cx.restart("sched")
    wait_comment(cx, sim.job(l_walltime="2:00:00"), CONFLICT)
    assert stat_resv(cx, resv)["resv_nodes"] == where


def alter_select(cx, resv, select, *words):
    return cx.command("pbs_ralter", "-I", "50", "-l", f"select={select}", *words, resv, check=False)


@pytest.fixture
def four(cx):
    with Simulator(cx, nodes=4, ncpus=4) as s:
        yield s


def test_a_reservation_that_runs_gives_up_the_vnodes_without_jobs(cx, four):
    resv, _ = confirmed(cx, start=SOON_S, lasts=3600, select="3:ncpus=2", place="scatter")
    begin(cx, resv)
    job = four.job(queue=queue(resv), select="1:ncpus=1:vnode=s2")
    cx.wait(job)
    cx.command("pbsnodes", "-o", "s1")
    until(lambda: stat_resv(cx, resv)["reserve_substate"] == DG, told(cx, resv))
    assert alter_select(cx, resv, "1:ncpus=2").stdout == f"pbs_ralter: {resv} CONFIRMED\n"
    s = stat_resv(cx, resv)
    assert s["resv_nodes"] == "(s2:ncpus=2)" and s["reserve_state"] == s["reserve_substate"] == RN
    assert s["Resource_List"]["ncpus"] == "2" and s["Resource_List"]["nodect"] == "1" and s["schedselect_orig"] == "3:ncpus=2"
    assert [cx.node(n)["resources_assigned"].get("ncpus") for n in ("s1", "s2", "s3")] == ["0", "2", "0"]
    assert cx.api.stat("que", queue(resv))[0]["resources_max"]["ncpus"] == "2" and cx.state(job) == "R"
    assert cx.api.stat("server")[0]["resources_assigned"]["ncpus"] == "2"
    cx.api.delete_resv(resv)
    wait(cx, resv, None)
    assert cx.api.stat("server")[0]["resources_assigned"]["ncpus"] == "0"


def test_a_select_with_jobs_in_all_its_chunks_is_not_made_smaller(cx, four):
    resv, _ = confirmed(cx, start=SOON_S, lasts=3600, select="2:ncpus=2", place="scatter")
    begin(cx, resv)
    jobs = [four.job(queue=queue(resv), select=f"1:ncpus=1:vnode={n}") for n in ("s1", "s2")]
    for job in jobs:
        cx.wait(job)
    assert alter_select(cx, resv, "1:ncpus=2").stdout == f"pbs_ralter: {resv} DENIED\n"
    wait_log(cx, "sched", f"{resv};PBS Failed to confirm resv: Reservation has running jobs in it")
    s = stat_resv(cx, resv)
    assert s["Resource_List"]["select"] == "2:ncpus=2" and s["Resource_List"]["ncpus"] == "4" and s["reserve_state"] == RN
    assert "schedselect_orig" not in s


@pytest.mark.parametrize("select", ["7:ncpus=1", "1:ncpus=2", "6:ncpus=1+1:ncpus=1", "1:ncpus=1:mem=1gb", "1:ncpus=1+1:mem=2gb"])
def test_another_select_must_be_a_part_of_the_first(cx, four, select):
    resv, _ = confirmed(cx, select="6:ncpus=1")
    done = alter_select(cx, resv, select)
    assert done.returncode == 79
    assert done.stderr == "pbs_ralter: New select must be made up of a subset of the original chunks\n"
    assert alter_select(cx, resv, "2:ncpus=1+1:ncpus=1").stdout.endswith(" CONFIRMED\n")


def test_an_altered_select_is_that_of_one_occurrence(cx, four):
    resv = submit(cx, start=SOON_S, lasts=8, select="3:ncpus=4", place="scatter", reserve_rrule="FREQ=MINUTELY;COUNT=2",
                  reserve_timezone="UTC", reserve_standing="1")
    assert wait(cx, resv, CO)["reserve_execvnodes"] == "2#(s1:ncpus=4)+(s2:ncpus=4)+(s3:ncpus=4){0-1}"
    assert alter_select(cx, resv, "1:ncpus=4").stdout.endswith(" CONFIRMED\n")
    s = stat_resv(cx, resv)
    assert s["Resource_List"]["ncpus"] == "4"
    assert s["reserve_execvnodes"] == "2#(s1:ncpus=4){0}(s1:ncpus=4)+(s2:ncpus=4)+(s3:ncpus=4){1}"
    begin(cx, resv)
    cx.clock.leap_to(int(stat_resv(cx, resv)["reserve_end"]))
    until(lambda: stat_resv(cx, resv)["reserve_index"] == "2", told(cx, resv), LIMIT_S)
    s = stat_resv(cx, resv)
    assert s["Resource_List"]["select"] == "3:ncpus=4" and s["Resource_List"]["ncpus"] == "12"
    assert s["resv_nodes"] == "(s1:ncpus=4)+(s2:ncpus=4)+(s3:ncpus=4)" and "schedselect_orig" not in s


def test_a_refused_select_is_put_back_also_by_a_server_that_was_killed(cx, four):
    resv, _ = confirmed(cx, select="2:ncpus=2")
    cx.set_server("scheduling", "False")
    assert cx.command("pbs_ralter", "-l", "select=1:ncpus=2", resv).stdout == f"pbs_ralter: {resv} ALTER REQUESTED\n"
    cx.crash_server()
    assert stat_resv(cx, resv)["reserve_state"] == "11"
    cx.api.confirm_resv(resv, extend="PBS_RESV_CONFIRM_FAIL")
    s = stat_resv(cx, resv)
    assert s["reserve_state"] == CO and s["Resource_List"]["select"] == s["schedselect"] == "2:ncpus=2"
    assert s["Resource_List"]["nodect"] == "2" and s["Resource_List"]["ncpus"] == "4"


def test_occurrences_that_have_lost_nothing_stay_where_they_are(cx, four):
    cx.set_server("reserve_retry_time", "1")
    cx.set_server("scheduling", "False")
    resv = standing(cx, "1:ncpus=4")
    cx.api.confirm_resv(resv, "3#(s1:ncpus=4){0}(s4:ncpus=4){1-2}")
    wait(cx, resv, CO)
    cx.command("pbsnodes", "-o", "s1")
    cx.set_server("scheduling", "True")
    until(lambda: stat_resv(cx, resv)["reserve_execvnodes"] == "3#(s2:ncpus=4){0}(s4:ncpus=4){1-2}", told(cx, resv), LIMIT_S)
    wait(cx, resv, CO)


def test_occurrences_last_as_long_as_before_where_the_first_is_altered(cx, four):
    resv = standing(cx, "4:ncpus=4")
    begin = int(wait(cx, resv, CO)["reserve_start"])
    assert cx.command("pbs_ralter", "-D", "5:00", "-I", "50", resv).stdout.endswith(" CONFIRMED\n")
    # 400 s behind the start of the second occurrence: behind 5, before 10 minutes
    other = cx.api.submit_resv([("reserve_start", begin + 86400 + 400), ("reserve_duration", "60"),
                                ("Resource_List", "select", "1:ncpus=4")])[0]
    wait(cx, other, None)
    other = cx.api.submit_resv([("reserve_start", begin + 400), ("reserve_duration", "60"),
                                ("Resource_List", "select", "1:ncpus=4")])[0]
    wait(cx, other, CO)


def test_room_of_occurrences_that_were_confirmed_again_later_is_kept(cx, four):
    cx.set_server("reserve_retry_time", "1")
    resv, _ = confirmed(cx, start=SOON_S, lasts=5, select="1:ncpus=4", reserve_rrule="FREQ=MINUTELY;COUNT=3", reserve_timezone="UTC",
                        reserve_standing="1")
    begin(cx, resv)
    cx.clock.leap_to(int(stat_resv(cx, resv)["reserve_end"]))
    until(lambda: stat_resv(cx, resv)["reserve_index"] == "2", told(cx, resv), LIMIT_S)
    cx.command("pbsnodes", "-o", stat_resv(cx, resv)["resv_nodes"][1:3])
    until(lambda: stat_resv(cx, resv)["reserve_first"] == "2", told(cx, resv), LIMIT_S)
    where = stat_resv(cx, resv)
    assert where["reserve_execvnodes"] == "2#(s2:ncpus=4){0-1}" and where["reserve_state"] == CO
    # s2 and no other vnode is kept for the third occurrence
    job = four.job(select="3:ncpus=4", l_place="scatter", l_walltime="1:00:00")
    wait_comment(cx, job, CONFLICT)
