"""Reservations and what a site has beside them: dedicated and prime time, partitions, access lists, limits of time, records."""
import re
import time

import pytest

from harness import api
from harness.desk import SOON_S, Desk, queue
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0, clock=True)

ANNA, BOB = "pbstest1", "pbstest2"
NEVER_PRIME = "YEAR 2999\nweekday none all\nsaturday none all\nsunday none all\n"


@pytest.fixture
def desk(cx):
    with Simulator(cx, nodes=1, ncpus=4) as sim:
        yield Desk(cx, sim)


def hours(*seconds):
    """A line of dedicated_time."""
    return " ".join(time.strftime("%m/%d/%Y %H:%M", time.localtime(s)) for s in seconds) + "\n"


def answer(d, *words, start=3600, lasts=600, select="1:ncpus=4", **how):
    return d.rsub("-R", d.at(start), "-D", lasts, "-l", f"select={select}", "-I", "50", *words, **how).stdout.split()[1]


def test_none_is_confirmed_in_dedicated_time_unless_the_site_says_so(desk, cx):
    now = cx.clock.now()
    cx.configure_sched("", dedicated_time=hours(now + 3600, now + 7200))
    assert answer(desk, start=3000, lasts=1800) == "DENIED"
    desk.log("sched", "PBS Failed to confirm resv: Reservation would meet dedicated time")
    assert answer(desk, start=600, lasts=1200) == "CONFIRMED"
    cx.configure_sched("resv_confirm_ignore: dedicated_time\n", dedicated_time=hours(now + 3600, now + 7200))
    assert answer(desk, start=3000, lasts=1800) == "CONFIRMED"


def test_prime_time_and_run_limits_do_not_count_for_it_but_limits_do_for_its_jobs(desk, cx):
    cx.configure_sched("primetime_prefix: p_\n", holidays=NEVER_PRIME)
    cx.set_server("max_run", "[u:PBS_GENERIC=1]")
    resv = desk.new(start=SOON_S, user=ANNA)
    desk.new(start=SOON_S + 700, user=ANNA)
    desk.begin(resv)
    first, second = (desk.job(user=ANNA, queue=queue(resv)) for _ in range(2))
    cx.wait(first)
    desk.comment(second, "Not Running")
    assert cx.state(second) == "Q"


def test_none_is_confirmed_where_no_vnode_is_for_reservations(desk, cx):
    cx.qmgr("set node s1 resv_enable=False")
    resv, word = desk.rsub("-R", desk.at(3600), "-D", "60", "-l", "select=1:ncpus=1", "-I", "50").stdout.split()
    assert word == "DENIED"
    desk.log("sched", f"{resv};PBS Failed to confirm resv: Node not eligible for advance reservation")
    cx.qmgr("unset node s1 resv_enable")
    assert desk.rsub("-R", desk.at(3600), "-D", "60", "-l", "ncpus=1", "-I", "50").stdout.endswith(" CONFIRMED\n")


def test_its_jobs_do_not_run_before_it_where_a_person_starts_its_queue(desk, cx):
    resv = desk.new()
    job = desk.job(queue=queue(resv))
    desk.comment(job, "Not Running: Queue not started.")
    cx.command("qstart", queue(resv))
    desk.comment(job, "Can Never Run: Reservation is in an invalid state")
    desk.log("sched", f"{job};Reservation is in an invalid state")
    cx.command("qdisable", queue(resv))
    cx.command("qenable", queue(resv))
    assert cx.state(job) == "Q"
    desk.begin(resv)
    cx.wait(job)


def test_a_partition_has_its_own_reservations(desk, cx):
    """The vnode is of a partition whose scheduler confirms; jobs of that partition's reservation run there."""
    cx.qmgr("set node s1 partition=p2")
    cx.api.manager(api.CREATE, api.SCHED, "s2", [("partition", None, "p2")])
    cx.set_sched("scheduling", "True", sched="s2")
    cx.restart("sched_s2")
    until(lambda: next(s for s in cx.api.stat("sched") if s.name == "s2")["state"] != "down", "the second scheduler")
    resv = desk.new(wait="RN")
    assert desk.stat(resv)["partition"] == cx.api.stat("que", queue(resv))[0]["partition"] == "p2"
    cx.wait(desk.job(queue=queue(resv)))


def test_a_job_that_shrinks_runs_until_the_reservation_begins(desk, cx):
    desk.new(start=900)
    job = desk.job(select="1:ncpus=4", l_min_walltime="10:00", l_max_walltime="5:00:00")
    cx.wait(job)
    hour, minute, second = map(int, cx.stat(job)["Resource_List"]["walltime"].split(":"))
    assert 600 <= hour * 3600 + minute * 60 + second <= 900
    never = desk.job(select="1:ncpus=4", l_min_walltime="30:00", l_max_walltime="5:00:00")
    desk.comment(never, "Not Running")


def test_its_jobs_end_before_it_so_that_its_vnodes_are_free_then(desk, cx):
    cx.set_server("resv_post_processing_time", "00:01:00")
    resv = desk.new(lasts=600, wait="RN")
    job = desk.job(queue=queue(resv))
    cx.wait(job)
    end = int(desk.stat(resv)["reserve_end"])
    cx.clock.leap_to(end - 120)
    assert cx.state(job) == "R" and desk.state(resv) == "RN"
    cx.clock.leap_to(end - 60)
    desk.gone(resv)
    assert cx.clock.now() < end
    cx.wait_gone(job)


def test_time_for_processing_counts_from_when_it_is_set(desk, cx):
    resv = desk.new(lasts=600, wait="RN")
    cx.clock.leap_to(int(desk.stat(resv)["reserve_end"]) - 100)
    assert desk.state(resv) == "RN"
    cx.set_server("resv_post_processing_time", "00:02:00")
    desk.gone(resv)


def test_one_whose_last_job_was_moved_elsewhere_is_idle_from_then_on(desk, cx):
    resv = desk.new("-W", "delete_idle_time=60", wait="RN")
    job = desk.job(queue=queue(resv), Hold_Types="u")
    cx.clock.leap(100)
    assert desk.state(resv) == "RN"
    cx.command("qmove", "workq", job)
    cx.clock.leap(30)
    assert desk.state(resv) == "RN"
    cx.clock.leap(31)
    desk.gone(resv)
    assert cx.state(job) == "H"


def test_an_idle_one_ends_also_where_the_server_was_killed_meanwhile(desk, cx):
    resv, held = (desk.new("-W", "delete_idle_time=60", wait="RN", select="1:ncpus=1") for _ in range(2))
    job = desk.job(queue=queue(held), Hold_Types="u")
    cx.crash_server()
    cx.clock.leap(61)
    desk.log("server", f"{resv};Deleting reservation after being idle for 60 seconds")
    desk.gone(resv)
    assert desk.state(held).startswith("RN") and cx.state(job) == "H"


@pytest.mark.parametrize("name, value, text", [
    ("acl_resv_hosts", "elsewhere", "Host machine not authorized to submit reservations"),
    ("acl_resv_groups", "wheel", "Requestor's group not authorized to submit reservations"),
    ("acl_resv_users", f"-{ANNA}@*", "Requestor not authorized to make reservations"),
])
def test_lists_say_who_may_reserve(desk, cx, name, value, text):
    cx.set_server(name, value)
    assert answer(desk, user=ANNA) == "CONFIRMED"  # it is not enabled
    cx.set_server(name[:-1] + "_enable", "True")
    done = desk.rsub("-R", desk.at(9000), "-D", "60", "-l", "ncpus=1", user=ANNA)
    assert done.stderr == f"pbs_rsub: {text}\n" and done.returncode


@pytest.mark.parametrize("entries, own, other", [
    (ANNA, True, False), ("pbstestg", False, True), (f"-{ANNA},+", False, True), ("-pbstestg,+", True, False), ("", True, True)])
def test_the_group_that_a_reservation_is_for_says_whether_it_may_be_made(desk, cx, entries, own, other):
    """ANNA's own group, and another that she names by -g: as the jobs of a queue with such a list."""
    if entries:
        cx.set_server("acl_resv_groups", entries)
    cx.set_server("acl_resv_group_enable", "True")
    for words, may in (((), own), (("-g", "pbstestg"), other)):
        done = desk.rsub("-R", desk.at(9000), "-D", "60", "-l", "ncpus=1", *words, user=ANNA)
        assert done.stderr == ("" if may else "pbs_rsub: Requestor's group not authorized to submit reservations\n"), words
        assert bool(done.returncode) != may


def test_hosts_of_a_queue(desk, cx):
    resv = desk.new("-H", "elsewhere", "-U", ANNA)
    assert desk.stat(resv)["Authorized_Hosts"] == "elsewhere"
    done = cx.command("qsub", "-q", queue(resv), cx.script("true"), user=ANNA, check=False)
    assert done.returncode and "Access from host not allowed, or unknown host" in done.stderr
    cx.command("pbs_rdel", resv)
    desk.gone(resv)
    open_to_here = desk.new("-H", f"elsewhere,{cx.api.stat('server')[0].name}", "-U", ANNA)
    cx.command("qsub", "-q", queue(open_to_here), cx.script("true"), user=ANNA)


def test_groups_and_users_of_a_queue(desk, cx):
    resv = desk.new("-U", f"{ANNA},{BOB}", "-G", "nosuchgroup")
    done = cx.command("qsub", "-q", queue(resv), cx.script("true"), user=BOB, check=False)
    assert done.stderr.startswith("qsub: Unauthorized Request ")
    cx.command("pbs_ralter", "-G", "pbstestg,pbstest2", resv)
    cx.command("qsub", "-q", queue(resv), cx.script("true"), user=BOB)


def test_records_have_their_fields_in_order(desk, cx):
    resv = desk.new("-N", "lunch", "-W", "Account_Name=kitchen", wait="RN", user=ANNA, select="1:ncpus=2")
    job = desk.job(queue=queue(resv), user=ANNA)
    cx.wait(job)
    s, me, host = desk.stat(resv), f"{ANNA}@{desk.server}", desk.server
    cx.command("pbs_rdel", resv, user=ANNA)
    desk.gone(resv)
    asked, confirmed, begun, removed = desk.recorded("UYBKkF", resv, "UYBk")
    times = f"start={s['reserve_start']} end={s['reserve_end']}"
    assert asked == f"requestor={me}" and removed == f"requestor={me}"
    assert confirmed == f"requestor=Scheduler@{host} {times} nodes=(s1:ncpus=2)"
    assert begun == (f"owner={me} name=lunch account=kitchen queue={queue(resv)} ctime={s['ctime']} {times} duration=600 "
                     f"nodes=(s1:ncpus=2) Authorized_Users={me} Resource_List.ncpus=2 Resource_List.nodect=1 "
                     "Resource_List.place=free Resource_List.select=1:ncpus=2 Resource_List.walltime=00:10:00")
    started = desk.records("S", job)[0][1]
    assert re.search(rf" queue={queue(resv)} resvname=lunch resvID={re.escape(resv)} ctime=", started), started


def test_records_of_a_standing_one_name_its_rule_and_count(desk, cx):
    resv = desk.new("-r", "FREQ=DAILY;COUNT=2", "-I", "50", env={"PBS_TZID": "UTC"})
    asked, confirmed = desk.recorded("UY", resv, "UY")
    assert asked.endswith(" Interactive=50 recurrence_rrule=FREQ=DAILY;COUNT=2 timezone=UTC"), asked
    assert confirmed.endswith(" nodes=(s1:ncpus=4) count=2"), confirmed
    cx.api.delete_resv(resv)
    desk.gone(resv)
    assert desk.recorded("Kk", resv, "k")


def test_history_keeps_its_jobs_and_a_restart_forgets_neither(desk, cx):
    cx.set_server("job_history_enable", "True")
    resv = desk.new(lasts=600, wait="RN")
    ended, cut_short = desk.job(queue=queue(resv), ms=100), desk.job(queue=queue(resv))
    cx.wait(cut_short)

    def finished(job):
        until(lambda: (s := cx.stat(job, "x")) and s.state == "F", "its history")
        s = cx.stat(job, "x")
        assert (s.get("reserve_ID"), s["queue"]) == (resv, queue(resv)), job
    finished(ended)
    desk.end(resv)
    desk.gone(resv)
    for job in (ended, cut_short):
        finished(job)
    cx.crash_server()
    for job in (ended, cut_short):
        finished(job)
    assert desk.state(resv) is None and cx.command("pbs_rstat").stdout == ""
