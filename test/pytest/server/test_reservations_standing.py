"""Standing reservations, with this test as the scheduler; and reservations that a real scheduler confirms."""
import datetime
import time
import zoneinfo

import pytest

from harness import api, rows
from harness.ask import at, stat_resv
from harness.wait import until

CO, RN = "2", "5"
SOON_S = 20  # then it is there by a leap of the clock, which the test makes when it is ready
clocked = {"sched": False, "clock": True}


def wait(cx, resv, **wanted):
    """Until these attributes have these values; no state: until it is gone."""
    def check():
        s = stat_resv(cx, resv)
        return (s is None) if not wanted else s and all(s.get(k) == v for k, v in wanted.items())
    until(check, lambda: f"{resv} with {wanted}: {stat_resv(cx, resv)}")


def standing(cx, rule, start, lasts, zone="Europe/Berlin"):
    """Identifier; or the number of the error."""
    try:
        return cx.api.submit_resv([("reserve_start", start), ("reserve_end", start + lasts), ("reserve_rrule", rule),
                                   ("reserve_timezone", zone), ("Resource_List", "select", "1:ncpus=2")])[0]
    except api.PbsError as e:
        return e.code


def begin(cx, resv, **wanted):
    """Its time has come, and it runs."""
    cx.clock.leap_to(int(stat_resv(cx, resv)["reserve_start"]))
    wait(cx, resv, reserve_state=RN, **wanted)


def end(cx, resv):
    """The time of what is the current occurrence is over."""
    cx.clock.leap_to(int(stat_resv(cx, resv)["reserve_end"]))


def starts(cx, resv):
    return [int(s) for s in stat_resv(cx, resv)["reserve_starts"].split(",")]


@pytest.mark.complex(sched=False)
def test_hour_stays_when_clocks_change(cx):
    zone = zoneinfo.ZoneInfo("Europe/Berlin")
    year = datetime.datetime.now(zone).year + 1
    first = datetime.datetime(year, 3, 20, 9, 0, tzinfo=zone)
    resv = standing(cx, "FREQ=DAILY;COUNT=20", int(first.timestamp()), 3600)
    days = [datetime.datetime.fromtimestamp(s, zone) for s in starts(cx, resv)]
    assert resv.startswith("S") and len(days) == 20 and {d.hour for d in days} == {9}
    assert len({d.utcoffset() for d in days}) == 2 and days[-1].day == 8
    s = stat_resv(cx, resv)
    assert s["reserve_count"] == "20" and s["reserve_index"] == "1"


@pytest.mark.parametrize("rule, lasts, code", [
    ("FREQ=DAILY", 60, 15134), ("FREQ=DAILY;COUNT=2;UNTIL=20990101", 60, 15134), ("FREQ=OFTEN;COUNT=2", 60, 15133),
    ("FREQ=DAILY;COUNT=2;BYMINUTE=5", 60, 15133), ("FREQ=WEEKLY;COUNT=2;BYDAY=+1MO", 60, 15133),
    ("FREQ=HOURLY;COUNT=3", 3 * 3600, 15130), ("FREQ=DAILY;COUNT=3", 25 * 3600, 15129), ("FREQ", 60, 15133),
    ("FREQ=DAILY;BYHOUR=9,10;COUNT=4", 2 * 3600, 15086), ("FREQ=SECONDLY;COUNT=100000", 1, 15133), ("", 60, None),
])
def test_rules_that_cannot_be(quiet, rule, lasts, code):
    got = standing(quiet, rule, int(time.time()) + 3600, lasts)
    assert got == code if code else got.startswith("R")


def test_zone_must_be_known(quiet):
    assert standing(quiet, "FREQ=DAILY;COUNT=2", int(time.time()) + 3600, 60, "Nowhere/Land") == 15135


@pytest.mark.complex(sched=False)
def test_rule_with_one_occurrence_is_an_advance_reservation(cx):
    assert standing(cx, "freq=daily;count=1", int(time.time()) + 3600, 60).startswith("R")


@pytest.mark.complex(nodes=2, **clocked)
@pytest.mark.parametrize("killed", [False, True])
def test_occurrences_have_vnodes_of_their_own_and_queued_jobs_stay(cx, killed):
    resv = standing(cx, "FREQ=MINUTELY;COUNT=2", int(cx.clock.now()) + SOON_S, 20)
    with pytest.raises(api.PbsError) as e:
        cx.api.confirm_resv(resv, "1#(n1:ncpus=2){0}")
    assert e.value.code == 15014
    cx.api.confirm_resv(resv, "2#(n1:ncpus=2){0}(n2:ncpus=2){1}")
    queue = resv.split(".")[0]
    job, waiting = (cx.submit("sleep 600", queue=queue, select="1:ncpus=1") for _ in range(2))
    begin(cx, resv, reserve_index="1")
    cx.api.run_async(job, "(n1:ncpus=1)")
    end(cx, resv)
    wait(cx, resv, reserve_index="2")
    cx.wait_log("server", f"Resv;{resv};reached end of occurrence 1/2")
    cx.wait_log("server", f"Resv;{resv};stdg_resv: next occurrence start = {time.ctime(int(stat_resv(cx, resv)['reserve_start']))}")
    cx.wait_log("server", f"Job;{job};Deleting running job at end of reservation occurrence")
    if killed:
        cx.crash_server()
    assert stat_resv(cx, resv)["resv_nodes"] == "(n2:ncpus=2)" and len(starts(cx, resv)) == 1
    assert cx.stat(job) is None and cx.state(waiting) == "Q"
    begin(cx, resv)
    assert cx.node("n2")["resources_assigned"]["ncpus"] == "2" and "resv" not in cx.node("n1")
    end(cx, resv)
    wait(cx, resv)
    assert cx.stat(waiting) is None


@pytest.mark.complex(nodes=1, **clocked)
def test_occurrences_whose_time_passes_while_no_server_runs_are_skipped(cx):
    resv = standing(cx, "FREQ=HOURLY;COUNT=4", int(cx.clock.now()) + 600, 20)
    cx.api.confirm_resv(resv, "4#(n1:ncpus=2){0-3}")
    times = [int(stat_resv(cx, resv)["reserve_start"]) + 3600 * i for i in range(4)]
    cx.kill("server")
    cx.clock.leap_to(times[2] + 60)
    cx.restart("server")
    cx.again()
    wait(cx, resv, reserve_state=CO, reserve_index="4", reserve_start=str(times[3]))
    said = cx.log("server")
    for i in (1, 2):
        at_s = time.strftime("%H:%M:%S", time.localtime(times[i]))
        assert f"{resv};reservation occurrence {i + 1}/4 scheduled at {at_s} was skipped because its end time is in the past" in said
    assert f"{resv};Recovered reservation {resv}" in said
    cx.kill("server")
    cx.clock.leap_to(times[3] + 60)
    cx.restart("server")
    cx.again()
    wait(cx, resv)


@pytest.mark.complex(nodes=2, **clocked)
def test_occurrence_whose_vnode_was_deleted_wants_another_one(cx):
    resv = standing(cx, "FREQ=SECONDLY;INTERVAL=600;COUNT=2", int(cx.clock.now()) + SOON_S, 1)
    cx.api.confirm_resv(resv, "2#(n1:ncpus=2){0}(n2:ncpus=2){1}")
    with pytest.raises(api.PbsError) as e:
        cx.api.manager(api.DELETE, api.NODE, "n1")
    assert e.value.code == 15027
    cx.api.manager(api.DELETE, api.NODE, "n2")
    end(cx, resv)
    wait(cx, resv, reserve_state="10", reserve_index="2")
    cx.crash_server()
    s = stat_resv(cx, resv)
    assert s["reserve_state"] == "10" and int(s["reserve_retry"]) <= cx.clock.now() + 60
    cx.wait_log("server", f"{resv};Reservation with corrupted nodes, degrading with retry time set to ")
    cx.api.confirm_resv(resv, "1#(n1:ncpus=2){0}")
    wait(cx, resv, reserve_state=CO, reserve_substate=CO, resv_nodes="(n1:ncpus=2)")
    assert cx.node("n1")["resv"] == resv


@pytest.mark.complex(nodes=2, **clocked)
def test_a_vnode_that_is_not_in_the_store_any_more_is_replaced_within_a_minute_of_the_start(cx):
    resv = standing(cx, "FREQ=DAILY;COUNT=2", int(cx.clock.now()) + 3600, 60)
    cx.api.confirm_resv(resv, "2#(n2:ncpus=2){0,1}")
    cx.set_server("comment", "stored with what was before")
    cx.kill("n2")
    cx.kill("server")
    rows.query(cx, "delete from object where kind = 'node' and name = 'n2'")
    cx.restart("server")
    cx.again()
    wait(cx, resv, reserve_state="10", reserve_substate="10")
    assert cx.clock.now() < int(stat_resv(cx, resv)["reserve_retry"]) <= cx.clock.now() + 60
    cx.wait_log("server", f"{resv};Reservation with corrupted nodes, degrading with retry time set to ")
    cx.api.confirm_resv(resv, "2#(n1:ncpus=2){0,1}")
    wait(cx, resv, reserve_state=CO, reserve_substate=CO, resv_nodes="(n1:ncpus=2)")


@pytest.mark.complex(nodes=1, **clocked)
def test_server_that_is_killed_while_the_jobs_of_an_occurrence_end_comes_to_the_next_one(cx):
    resv = standing(cx, "FREQ=MINUTELY;INTERVAL=10;COUNT=2", int(cx.clock.now()) + SOON_S, 20)
    cx.api.confirm_resv(resv, "2#(n1:ncpus=2){0-1}")
    queue = resv.split(".")[0]
    cx.qmgr(f"set queue {queue} kill_delay=3")
    begin(cx, resv)
    job = cx.submit(f"trap '' TERM; touch {cx.work}/begun; while :; do sleep 1; done", queue=queue, select="1:ncpus=1")
    cx.api.run(job, "(n1:ncpus=1)")
    until(lambda: cx.file("begun") is not None, "the job")
    end(cx, resv)
    wait(cx, resv, reserve_state="9")
    cx.crash_server()
    wait(cx, resv, reserve_state=CO, reserve_index="2")
    assert cx.stat(job) is None and cx.node("n1")["resources_assigned"]["ncpus"] == "0"


@pytest.mark.complex(sched=False, nodes=2)
def test_lost_vnode_degrades_and_another_one_mends(cx):
    cx.set_server("reserve_retry_time", "3600")
    now = int(time.time())
    resv = cx.api.submit_resv([("reserve_start", now + 7200), ("reserve_duration", "600"),
                               ("Resource_List", "select", "1:ncpus=2")])[0]
    cx.api.confirm_resv(resv, "(n1:ncpus=2)")
    cx.command("pbsnodes", "-o", "n1")
    wait(cx, resv, reserve_state="10", reserve_substate="10")
    assert int(stat_resv(cx, resv)["reserve_retry"]) >= now + 3600
    cx.command("pbsnodes", "-r", "n1")
    wait(cx, resv, reserve_state=CO, reserve_substate=CO)
    cx.command("pbsnodes", "-o", "n1")
    wait(cx, resv, reserve_state="10")
    cx.api.confirm_resv(resv, extend="PBS_RESV_CONFIRM_FAIL")
    wait(cx, resv, reserve_state="10")
    cx.api.confirm_resv(resv, "(n2:ncpus=2)")
    wait(cx, resv, reserve_state=CO, resv_nodes="(n2:ncpus=2)")


@pytest.mark.complex(sched=False, nodes=2)
def test_maintenance_takes_vnodes_from_others(cx):
    now = int(time.time())
    rest = [("reserve_duration", "600"), ("Resource_List", "select", "1:ncpus=2")]
    first, other, later = (cx.api.submit_resv([("reserve_start", now + n), *rest])[0] for n in (7200, 7300, 9000))
    for resv, node in ((first, "n1"), (other, "n2"), (later, "n1")):
        cx.api.confirm_resv(resv, f"({node}:ncpus=2)")
    done = cx.command("pbs_rsub", "-R", at(7100), "-E", at(7300), "--hosts", "n1").stdout.split()
    assert done[1] == "CONFIRMED"
    wait(cx, first, reserve_state="10", reserve_substate="12")
    assert "resv_nodes" not in stat_resv(cx, first) and first not in cx.node("n1")["resv"]
    assert stat_resv(cx, other)["reserve_state"] == stat_resv(cx, later)["reserve_state"] == CO
    cx.api.confirm_resv(first, extend="PBS_RESV_CONFIRM_FAIL")
    tried = int(stat_resv(cx, first)["reserve_retry"])
    assert tried > now + 300
    cx.api.delete_resv(done[0])
    until(lambda: int(stat_resv(cx, first)["reserve_retry"]) < tried, "others to be asked for as soon as n1 is free again")
    cx.api.confirm_resv(first, "(n2:ncpus=2)")
    wait(cx, first, reserve_state=CO, reserve_substate=CO, resv_nodes="(n2:ncpus=2)")


@pytest.mark.complex(nodes=2, **clocked)
def test_jobs_of_a_reservation_run_on_where_maintenance_takes_vnodes(cx):
    now = int(cx.clock.now())
    resv = cx.api.submit_resv([("reserve_start", now + SOON_S), ("reserve_duration", "3600"), ("Resource_List", "place", "scatter"),
                               ("Resource_List", "select", "2:ncpus=2")])[0]
    cx.api.confirm_resv(resv, "(n1:ncpus=2)+(n2:ncpus=2)")
    job = cx.submit("sleep 600", queue=resv.split(".")[0], select="1:ncpus=1")
    begin(cx, resv)
    cx.api.run(job, "(n1:ncpus=1)")
    cx.wait(job, "R")
    host = cx.command("pbs_rsub", "-R", at(1000), "-D", "60", "--hosts", "n1", "n2").stdout.split()[0]
    wait(cx, resv, reserve_state=RN, reserve_substate="12", resv_nodes="(n1:ncpus=2)")
    cx.crash_server()
    wait(cx, resv, reserve_state=RN, reserve_substate="12", resv_nodes="(n1:ncpus=2)")
    cx.hosts_back()
    cx.api.delete(job)
    until(lambda: "resv_nodes" not in stat_resv(cx, resv), "the vnode to be given up with its last job")
    assert cx.api.stat("que", resv.split(".")[0])[0]["started"] == "False"
    cx.api.delete_resv(host)
    cx.api.confirm_resv(resv, "(n1:ncpus=2)+(n2:ncpus=2)")
    wait(cx, resv, reserve_state=RN, reserve_substate=RN)
    assert cx.api.stat("que", resv.split(".")[0])[0]["started"] == "True"


@pytest.mark.complex(nodes=3)
def test_a_scheduler_finds_other_hosts_than_those_in_maintenance(cx):
    resv = cx.command("pbs_rsub", "-R", at(600), "-D", "600", "-l", "select=1:ncpus=4", "-I", "30").stdout.split()[0]
    wait(cx, resv, reserve_state=CO)
    had = stat_resv(cx, resv)["resv_nodes"][1:3]
    cx.command("pbs_rsub", "-R", at(700), "-D", "60", "--hosts", had)
    wait(cx, resv, reserve_state=CO, reserve_substate=CO)
    assert stat_resv(cx, resv)["resv_nodes"][1:3] != had


@pytest.mark.complex(clock=True)
def test_idle_reservation_ends(cx):
    resv = cx.command("pbs_rsub", "-R", at(SOON_S), "-D", "600", "-l", "select=1:ncpus=1", "-W", "delete_idle_time=2",
                      "-I", "30").stdout.split()
    assert resv[1] == "CONFIRMED"
    begin(cx, resv[0])
    cx.clock.leap(2)
    wait(cx, resv[0])


@pytest.mark.complex(clock=True)
def test_scheduler_confirms_runs_and_refuses(cx):
    resv, word = cx.command("pbs_rsub", "-R", at(SOON_S), "-D", "600", "-l", "select=1:ncpus=3", "-I", "30").stdout.split()
    assert word == "CONFIRMED" and stat_resv(cx, resv)["partition"] == "pbs-default"
    too_much = cx.command("pbs_rsub", "-R", at(60), "-D", "600", "-l", "select=1:ncpus=2", "-I", "30").stdout
    assert too_much.endswith(" DENIED\n")
    inside = cx.submit("sleep 600", queue=resv.split(".")[0], select="1:ncpus=3")
    outside = cx.submit("sleep 600", select="1:ncpus=2", l_walltime="1:00:00")
    begin(cx, resv)
    cx.wait(inside, "R")
    assert cx.state(outside) == "Q"
    cx.command("pbs_rdel", resv)
    wait(cx, resv)
    cx.wait_gone(inside)
    cx.wait(outside, "R")


def test_scheduler_confirms_all_occurrences(cx):
    env = {"PBS_TZID": "Europe/Berlin"}
    resv, word = cx.command("pbs_rsub", "-R", at(600), "-D", "600", "-l", "select=1:ncpus=3", "-r",
                            "FREQ=DAILY;COUNT=3", "-I", "30", env=env).stdout.split()
    assert word == "CONFIRMED" and resv.startswith("S")
    assert stat_resv(cx, resv)["reserve_execvnodes"].startswith("3#(")
