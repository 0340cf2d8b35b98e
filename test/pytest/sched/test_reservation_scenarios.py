"""The scenarios of reservations, by their numbers in the description of PBS: what a user does, and what is seen then.

Each row has a complex of its own with simulated nodes s1, s2 ..., and a clock that leaps (cx.clock)."""
import datetime
import os
import signal

import pytest

from harness.ask import at
from harness.clock import Clock
from harness.complex import Complex
from harness.desk import SOON_S, Desk, queue
from harness.sim import Simulator
from harness.wait import until

CONFLICT = "Not Running: Job would conflict with reservation or top job"
BAD_TIME = "pbs_rsub: Bad time specification(s)\n"
ANNA, BOB = "pbstest1", "pbstest2"
ROWS = []


def scenario(number, nodes=2, ncpus=4):
    """A row: the function is called with the desk and the complex."""
    def add(play):
        ROWS.append(pytest.param(play, nodes, ncpus, id=f"{number}-{play.__name__}"))
        return play
    return add


@scenario(1, nodes=1)
def it_is_confirmed_behind_the_back_of_one_who_does_not_wait(d, cx):
    done = d.rsub("-R", at(3600), "-E", at(7200), "-l", "select=1:ncpus=4")
    assert (done.stdout, done.returncode) == (f"R0.{d.server} UNCONFIRMED\n", 0)
    resv = f"R0.{d.server}"
    d.wait(resv, "CO")
    q = cx.api.stat("que", "R0")[0]
    assert cx.node("s1")["resv"] == resv and (q["enabled"], q["started"]) == ("True", "False")


@scenario(2, nodes=1)
def who_waits_is_told_as_soon_as_it_is_decided(d, cx):
    done = d.rsub("-R", at(3600), "-E", at(7200), "-l", "select=1:ncpus=4", "-I", "50")
    assert (done.stdout, done.returncode) == (f"R0.{d.server} CONFIRMED\n", 0)


@scenario(3, nodes=1, ncpus=1)
def what_never_fits_is_denied_and_leaves_no_trace(d, cx):
    done = d.rsub("-R", at(3600), "-E", at(7200), "-l", "ncpus=10", "-I", "50")
    assert (done.stdout, done.returncode) == (f"R0.{d.server} DENIED\n", 0)
    d.log("server", f"R0.{d.server};Reservation denied\n")
    d.log("sched", f"R0.{d.server};PBS Failed to confirm resv: Insufficient amount of resource: ncpus")
    assert cx.command("pbs_rstat").stdout == ""


@scenario(4, nodes=1)
def patience_ends_and_leaves_it_or_deletes_it(d, cx):
    cx.set_server("scheduling", "False")
    words = ["-R", at(3600), "-E", at(7200), "-l", "ncpus=1", "-I"]
    assert d.rsub(*words, "1").stdout == f"R0.{d.server} UNCONFIRMED\n" and d.state("R0") == "UN"
    assert d.rsub(*words, "-1").stdout == f"R1.{d.server} delete, wait period expired\n"
    d.gone("R1")


@scenario(5, nodes=0)
def times_that_say_nothing_are_refused(d, cx):
    for words in (["-R", at(60)], ["-R", at(7200), "-E", at(3600)], ["-R", at(60), "-D", "60", "-E", at(3600)],
                  ["-E", at(60), "-D", "3600"]):
        done = d.rsub(*words, "-l", "ncpus=1")
        assert (done.stderr, done.returncode) == (BAD_TIME, 238), words


@scenario(6, nodes=0)
def sites_say_who_may_reserve(d, cx):
    words = ["-R", at(3600), "-D", "60", "-l", "ncpus=1"]
    cx.set_server("resv_enable", "False")
    assert d.rsub(*words).stderr == f"pbs_rsub: reservations disallowed on {d.server}\n"
    cx.set_server("resv_enable", "True")
    cx.set_server("acl_resv_users", f"{ANNA}@*")
    cx.set_server("acl_resv_user_enable", "True")
    assert d.rsub(*words, user=BOB).stderr == "pbs_rsub: Requestor not authorized to make reservations\n"
    assert d.rsub(*words, user=ANNA).returncode == 0


@scenario(7)
def jobs_of_its_owner_run_in_it_when_it_begins(d, cx):
    resv = d.new(start=SOON_S, user=ANNA)
    done = cx.command("qsub", "-q", "R0", cx.script("true"), user=BOB, check=False)
    assert done.stderr.startswith("qsub: Unauthorized Request ")
    job = d.job(user=ANNA, queue="R0")
    assert (cx.state(job), cx.stat(job)["reserve_ID"]) == ("Q", resv)
    d.begin(resv)
    cx.wait(job)
    s = cx.stat(job)
    assert (s["reserve_ID"], s["exec_vnode"]) == (resv, "(s1:ncpus=1)") and d.stat(resv)["resv_nodes"] == "(s1:ncpus=4)"


@scenario(8, nodes=1)
def a_job_wants_no_more_for_itself_than_its_reservation(d, cx):
    d.new(select="1:ncpus=2")
    done = cx.command("qsub", "-q", "R0", "-l", "select=1:ncpus=1", "-l", "place=excl", cx.script("true"), check=False)
    assert done.stderr == "qsub: job and reservation have conflicting specification Resource_List.place\n"


@scenario(9, nodes=1)
def vnodes_of_an_exclusive_one_say_so_while_it_runs(d, cx):
    resv = d.new("-l", "place=excl", wait="RN", select="1:ncpus=2")
    assert cx.node("s1")["state"] == "resv-exclusive"
    cx.wait(d.job(queue="R0", l_place="excl"))
    assert cx.node("s1")["state"] == "job-exclusive,resv-exclusive"
    cx.command("pbs_rdel", resv)
    d.gone(resv)
    until(lambda: cx.node("s1")["state"] == "free", lambda: cx.node("s1")["state"])


@scenario(10, nodes=1)
def its_end_takes_its_jobs_along_and_lets_others_run(d, cx):
    resv = d.new(lasts=20, wait="RN")
    jobs = [d.job(queue="R0", select="1:ncpus=4") for _ in range(2)]
    outside = d.job(select="1:ncpus=4", l_walltime="1:00:00")
    cx.wait(jobs[0])
    assert [cx.state(j) for j in (jobs[1], outside)] == ["Q", "Q"]
    d.end(resv)
    d.gone(resv)
    assert [cx.state(j) for j in jobs] == [None, None]
    d.log("server", f";Que;R0;deleted at request of pbs_server@{d.server}\n")
    cx.wait(outside)


@scenario(11, nodes=1)
def a_job_that_would_reach_into_it_waits_and_says_so(d, cx):
    d.new(start=600)
    job = d.job(l_walltime="2:00:00")
    d.comment(job, CONFLICT)
    assert cx.state(job) == "Q"


@scenario(12, nodes=1)
def a_job_that_may_run_for_ever_keeps_its_vnode(d, cx):
    cx.wait(d.job(l_place="excl"))
    assert d.rsub("-R", at(360), "-D", "60", "-l", "ncpus=1", "-I", "50").stdout == f"R1.{d.server} DENIED\n"


@scenario(13, nodes=1)
def a_standing_one_needs_a_zone_and_counts(d, cx):
    words = ["-R", "0900", "-E", "1000", "-r", "FREQ=DAILY;COUNT=3", "-l", "ncpus=1"]
    done = d.rsub(*words)
    assert done.stderr == "pbs_rsub error: a valid PBS_TZID timezone environment variable is required.\n" and done.returncode == 2
    assert d.rsub(*words, env={"PBS_TZID": "Europe/Berlin"}).stdout == f"S0.{d.server} UNCONFIRMED\n"
    assert "reserve_count = 3\n" in cx.command("pbs_rstat", "-f", "S0").stdout
    d.wait("S0", "CO")
    assert "reserve_index = 1\n" in cx.command("pbs_rstat", "-f", "S0").stdout


@scenario(14, nodes=0)
def a_rule_needs_an_end_and_room_between_occurrences(d, cx):
    def ask(rule, lasts="60"):
        return d.rsub("-R", at(3600), "-D", lasts, "-l", "ncpus=1", "-r", rule, env={"PBS_TZID": "UTC"})
    assert ask("FREQ=DAILY;COUNT=1").stdout.startswith("R0.")
    done = ask("FREQ=DAILY")
    assert done.stderr == "pbs_rsub: Undefined iCalendar syntax. A valid COUNT or UNTIL is required\n"
    assert done.returncode == 15134 % 256
    assert ask("FREQ=DAILY;COUNT=2;UNTIL=20990101").returncode in (15133 % 256, 15134 % 256)
    assert ask("FREQ=HOURLY;COUNT=2", "3:00:00").stderr == "pbs_rsub: HOURLY recurrence duration cannot exceed 1 hour\n"


def standing(d, *words, start=None, lasts=600, rule="FREQ=DAILY;COUNT=2", wait="CO", **how):
    return d.new("-r", rule, *words, start=start, lasts=lasts, wait=wait, env={"PBS_TZID": "UTC"}, **how)


def used(cx):
    return cx.api.stat("server")[0].get("resources_assigned", {}).get("ncpus", "0")


@scenario(15, nodes=1, ncpus=2)
def arrays_in_a_standing_one_go_on_in_its_next_occurrence(d, cx):
    resv = standing(d, lasts=20, rule="FREQ=MINUTELY;COUNT=2", select="1:ncpus=2", wait="RN")
    array = d.job(queue="S0", array_indices_submitted="1-3")
    subjobs = [array.replace("[]", f"[{n}]") for n in (1, 2, 3)]
    for job in subjobs[:2]:
        cx.wait(job)
    d.end(resv)
    d.wait(resv, "CO", reserve_index="2")
    assert used(cx) == "0" and [cx.state(j) in (None, "X") for j in subjobs] == [True, True, False]
    assert cx.state(subjobs[2]) == "Q"
    d.begin(resv)
    cx.wait(subjobs[2])
    assert d.state(resv) == "RN"


@scenario(16)
def who_asked_first_is_served_first(d, cx):
    cx.set_server("scheduling", "False")
    first = standing(d, select="2:ncpus=4", wait="UN")
    second = d.new(start=3700, wait="UN")
    cx.set_server("scheduling", "True")
    d.gone(second)
    assert d.state(first) == "CO"


@scenario(17)
def a_lost_vnode_is_replaced_or_asked_for_again(d, cx):
    cx.set_server("reserve_retry_time", "2")
    resv = d.new()
    cx.command("pbsnodes", "-o", "s1")
    assert d.state(resv) in ("DG", "CO")
    d.wait(resv, "CO", resv_nodes="(s2:ncpus=4)")
    d.recorded("Y", resv, "YY")
    cx.command("pbsnodes", "-r", "s1")
    d.new(start=3700)  # takes s1
    cx.command("pbsnodes", "-o", "s2")
    d.log("server", f"{resv};Reservation is in degraded mode")
    assert d.state(resv) == "DG"


@scenario(18)
def a_vnode_on_which_its_jobs_run_is_not_replaced(d, cx):
    cx.set_server("reserve_retry_time", "2")
    resv = d.new(wait="RN")
    job = d.job(queue="R0")
    cx.wait(job)
    cx.command("pbsnodes", "-o", "s1")
    d.wait(resv, "RN/DG")
    d.log("sched", f"{resv};Reservation Failed to Reconfirm: Reservation has running jobs in it")
    cx.api.delete(job)
    d.wait(resv, "RN", resv_nodes="(s2:ncpus=4)")


@scenario(19, nodes=1)
def its_end_is_put_off_where_there_is_room(d, cx):
    resv = d.new(lasts=600)
    cx.set_server("scheduling", "False")
    done = cx.command("pbs_ralter", "-E", at(3600 + 1200), resv)
    assert done.stdout == f"pbs_ralter: {resv} ALTER REQUESTED\n" and d.state(resv) == "AL/CO"
    cx.set_server("scheduling", "True")
    d.log("server", f"{resv};Reservation alter confirmed")
    s = d.stat(resv)
    assert d.state(resv) == "CO" and 1190 < int(s["reserve_duration"]) < 1210
    assert sum(int(n) * u for n, u in zip(s["Resource_List"]["walltime"].split(":"), (3600, 60, 1))) == int(s["reserve_duration"])
    d.new(start=3600 + 1300)
    cx.command("pbs_ralter", "-E", at(3600 + 1500), resv)
    d.log("server", f"{resv};Reservation alter denied")
    assert d.stat(resv)["reserve_end"] == s["reserve_end"] and d.state(resv) == "CO"


@scenario(20, nodes=1)
def one_that_runs_begins_later_only_while_it_is_empty(d, cx):
    resv = d.new(wait="RN")
    job = d.job(queue="R0")
    cx.wait(job)
    done = cx.command("pbs_ralter", "-R", at(300), resv, check=False)
    assert done.stderr == "pbs_ralter: Reservation not empty\n"
    cx.api.delete(job)
    cx.wait_gone(job)
    cx.command("pbs_ralter", "-R", at(300), "-I", "50", resv)
    d.wait(resv, "CO")
    assert cx.api.stat("que", "R0")[0]["started"] == "False"


@scenario(21, nodes=2)
def the_next_occurrence_is_as_the_first_one_was(d, cx):
    resv = standing(d, start=SOON_S, lasts=6, rule="FREQ=MINUTELY;COUNT=2", select="2:ncpus=4")
    first = d.stat(resv)
    cx.command("pbs_ralter", "-D", "4", "-I", "50", resv)
    d.begin(resv)
    d.end(resv)
    d.wait(resv, "CO", reserve_index="2")
    s = d.stat(resv)
    assert int(s["reserve_start"]) == int(first["reserve_start"]) + 60 and s["reserve_duration"] == "6"
    assert s["Resource_List"]["select"] == "2:ncpus=4" and int(s["reserve_end"]) == int(s["reserve_start"]) + 6


@scenario(22, nodes=1)
def managers_alter_by_force(d, cx):
    resv = d.new(user=ANNA)
    d.new(start=4300, user=ANNA)
    done = cx.command("pbs_ralter", "-D", "1200", "-W", "force", resv, user=ANNA, check=False)
    assert done.stderr == "pbs_ralter: Unauthorized Request \n"
    for words, answer in ((["-D", "1200"], "ALTER REQUESTED"), (["-D", "1300", "-I", "50"], "CONFIRMED")):
        assert cx.command("pbs_ralter", *words, "-W", "force", resv).stdout == f"pbs_ralter: {resv} {answer}\n"
        d.wait(resv, "CO", reserve_duration=words[1])
    cx.set_server("scheduling", "False")
    assert cx.command("pbs_ralter", "-D", "1400", "-W", "force", resv).stdout == f"pbs_ralter: {resv} CONFIRMED\n"
    new = d.new(wait="UN")
    cx.command("pbs_ralter", "-D", "1500", "-W", "force", new)
    assert d.state(new) == "UN" and d.stat(new)["reserve_duration"] == "1500"
    done = cx.command("pbs_ralter", "-D", "1500", "-l", "select=1:ncpus=4", "-W", "force", resv, check=False)
    assert done.stderr.startswith("pbs_ralter: No support for requested service") and done.returncode in (2, 181)


def hosts_named(cx, *nodes):
    """A simulated node says nothing of its host."""
    for node in nodes:
        cx.qmgr(f"set node {node} resources_available.host={node}")


@scenario(23)
def maintenance_is_for_managers_and_at_once(d, cx):
    cx.set_server("scheduling", "False")
    hosts_named(cx, "s1")
    words = ["-R", at(3600), "-E", at(7200), "--hosts", "s1"]
    assert d.rsub(*words, user=ANNA).stderr == "pbs_rsub: Unauthorized Request \n"
    out = d.rsub(*words).stdout
    resv = out.split()[0]
    assert out == f"{resv} CONFIRMED\n" and resv.startswith("M") and d.state(resv) == "CO"
    r = d.stat(resv)["Resource_List"]
    assert (r["place"], r["select"]) == ("exclhost", "host=s1:ncpus=4")
    assert cx.command("pbs_rdel", resv, user=ANNA, check=False).stderr == f"pbs_rdel: Unauthorized Request  {resv}\n"


@scenario(24)
def maintenance_takes_vnodes_of_others(d, cx):
    hosts_named(cx, "s1", "s2")
    resv = d.new(start=SOON_S)
    assert d.stat(resv)["resv_nodes"] == "(s1:ncpus=4)"
    cx.set_server("scheduling", "False")
    host = d.rsub("-R", d.at(SOON_S), "-D", "600", "--hosts", "s1").stdout.split()[0]
    assert d.state(resv) == "DG/IC" and "resv_nodes" not in d.stat(resv) and cx.node("s1")["resv"] == host
    cx.set_server("scheduling", "True")
    d.wait(resv, "CO", resv_nodes="(s2:ncpus=4)")
    cx.set_server("scheduling", "False")
    d.rsub("-R", d.at(SOON_S), "-D", "600", "--hosts", "s2")
    job = d.job(queue=queue(resv))
    cx.set_server("scheduling", "True")
    d.begin(resv, "RN/IC")
    d.comment(job, "Not Running: Queue not started.")
    assert cx.api.stat("que", queue(resv))[0]["started"] == "False" and cx.state(job) == "Q"


@scenario(25, nodes=1, ncpus=1)
def reservations_of_jobs_that_wait_follow_one_another(d, cx):
    jobs = [d.job(l_walltime="1:00:00") for _ in range(3)]
    cx.wait(jobs[0])
    begun = int(cx.stat(jobs[0])["stime"])
    for n, job in enumerate(jobs[1:], 1):
        resv, word = d.rsub(f"-Wqmove={job}").stdout.split()
        assert word == "CONFIRMED" and int(d.stat(resv)["reserve_start"]) == begun + n * 3600
        assert cx.stat(job)["queue"] == queue(resv)
        assert "delete_idle_time = 00:10:00\n" in cx.command("pbs_rstat", "-f", resv).stdout


@scenario(26)
def an_idle_one_ends_and_a_standing_one_goes_on(d, cx):
    once = d.new("-W", "delete_idle_time=2", wait="RN")
    again = standing(d, "-W", "delete_idle_time=2", start=SOON_S)
    d.log("server", f"{once};Deleting reservation after being idle for 2 seconds")
    d.gone(once)
    cx.clock.leap_to(int(d.stat(again)["reserve_start"]))
    d.wait(again, "CO", reserve_index="2")


@scenario(27, nodes=1)
def those_that_are_there_are_shown_beside_one_that_is_not(d, cx):
    first, second = d.new(select="1:ncpus=1"), d.new(select="1:ncpus=1")
    cx.command("pbs_rdel", first)
    done = cx.command("pbs_rstat", "-B", "R0", "R1", check=False)
    assert (done.stdout, done.returncode) == (f"Resv ID: {second}\n", 0)
    assert done.stderr.startswith("pbs_rstat: Unknown Reservation Id")


@scenario(28, nodes=1)
def a_restart_begins_nothing_twice(d, cx):
    resv = d.new("-l", "place=excl", wait="RN")
    cx.crash_server()
    d.wait(resv, "RN")
    assert cx.api.stat("que", "R0")[0]["started"] == "True"
    until(lambda: cx.node("s1")["state"] == "resv-exclusive", "its vnode")
    d.recorded("B", resv, "B")


def shown(seconds):
    """A time as pbs_rstat shows it."""
    when, now = datetime.datetime.fromtimestamp(seconds), datetime.datetime.now()
    sunday = [d.date() - datetime.timedelta(days=(d.weekday() + 1) % 7) for d in (when, now)]
    if when.date() == now.date():
        return when.strftime("Today %H:%M")
    if sunday[0] == sunday[1]:
        return when.strftime("%a %H:%M")
    return when.strftime("%a %b %d %H:%M" if when.year == now.year else "%a %b %d %Y %H:%M")[:17]


@scenario(29, nodes=1)
def a_line_has_its_columns(d, cx):
    done = cx.command("pbs_rstat")
    assert (done.stdout, done.stderr) == ("", "")
    resv = d.new(user=ANNA, lasts=3600)
    start, end = (shown(int(d.stat(resv)[k])) for k in ("reserve_start", "reserve_end"))
    assert cx.command("pbs_rstat").stdout == (
        "Resv ID    Queue    User     State             Start / Duration / End              \n" + "-" * 69 + "\n" +
        f"{resv:.10s} R0       {ANNA + '@':.8s} CO    {start:>17s} / 3600 / {end:<17s}\n".replace(
            f"{resv:.10s}", f"{resv[:10]:10s}"))
    cx.set_server("scheduling", "False")
    d.new(lasts=4294967295, wait="UN")
    assert " / 4294967295 / " in cx.command("pbs_rstat").stdout


@scenario(30, nodes=0)
def a_start_that_is_past_today_is_that_of_a_day_to_come(d, cx):
    cx.set_server("scheduling", "False")
    now = datetime.datetime.now(datetime.UTC)
    day = now + datetime.timedelta(days=3)
    start, end = now - datetime.timedelta(minutes=2), now + datetime.timedelta(minutes=2)
    done = d.rsub("-R", start.strftime("%H%M"), "-E", end.strftime("%H%M"), "-l", "ncpus=1", "-r",
                  f"FREQ=WEEKLY;BYDAY={day.strftime('%a')[:2].upper()};COUNT=3", env={"PBS_TZID": "UTC", "TZ": "UTC"})
    assert done.returncode == 0, done.stderr
    begins = datetime.datetime.fromtimestamp(int(d.stat("S0")["reserve_start"]), datetime.UTC)
    assert begins.strftime("%H%M") == start.strftime("%H%M") and begins.weekday() == day.weekday()
    assert datetime.timedelta(days=1) < begins - now <= datetime.timedelta(days=7)


@scenario(31)
def an_occurrence_that_has_lost_its_vnode_does_not_hurt_the_next(d, cx):
    resv = standing(d, start=SOON_S, lasts=1, rule="FREQ=SECONDLY;INTERVAL=600;COUNT=2", wait="CO")
    cx.set_server("scheduling", "False")
    cx.api.delete_resv(resv)
    resv = standing(d, start=SOON_S, lasts=1, rule="FREQ=SECONDLY;INTERVAL=600;COUNT=2", wait="UN")
    cx.api.confirm_resv(resv, "2#(s1:ncpus=4){0}(s2:ncpus=4){1}")
    cx.command("pbsnodes", "-o", "s1")
    d.wait(resv, "DG")
    d.end(resv)
    d.wait(resv, "CO", reserve_index="2", resv_nodes="(s2:ncpus=4)")


@scenario(32, nodes=1)
def a_held_job_moves_into_a_standing_one_and_runs_there(d, cx):
    resv = standing(d, start=SOON_S)
    job = d.job(Hold_Types="u")
    cx.command("qmove", "S0", job)
    assert (cx.state(job), cx.stat(job)["queue"]) == ("H", "S0")
    cx.command("qrls", job)
    assert cx.state(job) == "Q"
    d.begin(resv)
    cx.wait(job)


@scenario(33, nodes=1)
def a_job_inside_counts_until_the_end_of_its_reservation(d, cx):
    d.new("-l", "place=excl", wait="RN")
    cx.wait(d.job(queue="R0"))
    d.new(start=700)


@scenario(34, nodes=3)
def one_that_runs_keeps_the_vnodes_that_are_up(d, cx):
    cx.set_server("reserve_retry_time", "2")
    resv = d.new(select="2:ncpus=4", wait="RN")
    cx.command("pbsnodes", "-o", "s1")
    d.wait(resv, "RN", resv_nodes="(s3:ncpus=4)+(s2:ncpus=4)")


@scenario(35, nodes=1)
def a_job_that_ends_in_time_runs_before_it(d, cx):
    d.new(start=65)
    cx.wait(d.job(l_walltime="50"))
    d.comment(d.job(l_walltime="100"), CONFLICT)


@scenario(37, nodes=1)
def its_users_are_altered_at_once(d, cx):
    resv = d.new(user=ANNA)

    def may(user):
        done = cx.command("qsub", "-q", "R0", cx.script("true"), user=user, check=False)
        assert done.returncode == 0 or done.stderr.startswith("qsub: Unauthorized Request ")
        return done.returncode == 0
    assert (may(ANNA), may(BOB)) == (True, False)
    for users, wanted in ((BOB, (False, True)), (f"{ANNA},-{BOB}", (True, False))):
        cx.command("pbs_ralter", "-U", users, resv)
        assert d.state(resv) == "CO" and (may(ANNA), may(BOB)) == wanted, users
    cx.command("pbs_ralter", "-G", "pbstestg", resv)
    assert not may(BOB)


@scenario(38, nodes=3)
def fewer_chunks_are_those_with_jobs(d, cx):
    resv = d.new("-l", "place=scatter", select="3:ncpus=4", wait="RN")
    cx.wait(d.job(queue="R0", select="1:ncpus=1:vnode=s2"))
    cx.command("pbsnodes", "-o", "s1")
    cx.command("pbs_ralter", "-l", "select=1:ncpus=4", "-I", "50", resv)
    d.wait(resv, "RN", resv_nodes="(s2:ncpus=4)")
    cx.command("pbsnodes", "-r", "s1")
    other = d.new(select="6:ncpus=1")
    for select in ("7:ncpus=1", "6:ncpus=1+1:ncpus=1", "1:ncpus=2"):
        done = cx.command("pbs_ralter", "-l", f"select={select}", other, check=False)
        assert done.stderr == "pbs_ralter: New select must be made up of a subset of the original chunks\n"


@scenario(39, nodes=1)
def one_with_jobs_may_last_longer_but_not_begin_later(d, cx):
    resv = d.new(wait="RN")
    cx.wait(d.job(queue="R0"))
    was = d.stat(resv)
    done = cx.command("pbs_ralter", "-E", at(1200), "-R", at(300), resv, check=False)
    assert done.stderr == "pbs_ralter: Reservation not empty\n" and d.state(resv) == "RN"
    assert d.stat(resv)["reserve_end"] == was["reserve_end"]
    cx.command("pbs_ralter", "-D", "00:05:00", "-I", "50", resv)
    s = d.stat(resv)
    assert s["reserve_duration"] == "300" and int(s["reserve_end"]) == int(s["reserve_start"]) + 300


@scenario(40, nodes=1, ncpus=1)
def the_server_counts_each_occurrence_while_it_runs(d, cx):
    resv = standing(d, start=SOON_S, lasts=20, rule="FREQ=MINUTELY;COUNT=2", select="1:ncpus=1")
    assert used(cx) == "0"
    for index, then in (("1", "CO"), ("2", None)):
        d.begin(resv)
        assert used(cx) == "1" and d.stat(resv)["reserve_index"] == index
        d.end(resv)
        d.wait(resv, then)
        assert used(cx) == "0"
    assert not [q for q in cx.api.stat("que") if q.name == "S0"]


@pytest.mark.parametrize("play, nodes, ncpus", ROWS)
def test_scenario(play, nodes, ncpus, monkeypatch):
    cx = Complex(nodes=0)
    cx.clock = Clock(cx, monkeypatch)
    try:
        cx.start()
        with Simulator(cx, nodes=nodes, ncpus=ncpus) as sim:
            play(Desk(cx, sim), cx)
    except Exception as e:
        raise AssertionError(f"{play.__name__}: {e}") from e
    finally:
        cx.stop()


def host_says(cx, *words):
    """pbs_mom -s of n1, and the MOM reads its files again."""
    home = os.path.join(cx.dir, "mom", "n1")
    cx.command("pbs_mom", "-s", *words, env={"PBS_CONF_FILE": os.path.join(home, "pbs.conf"), "PBS_MOM_HOME": home})
    os.kill(cx.pid("n1"), signal.SIGHUP)


@pytest.mark.complex(clock=True)
def test_scenario_36_a_vnode_that_its_host_names_no_more_is_lost_and_taken_for_none(cx):
    """With a MOM: simulated nodes have no vnode files."""
    vnodes = os.path.join(cx.work, "vnodes")
    with open(vnodes, "w", encoding="ascii") as f:
        f.write("$configversion 2\nn1[0]: resources_available.ncpus = 8\n")
    host_says(cx, "insert", "site", vnodes)
    until(lambda: [n.state for n in cx.api.stat("vnode") if n.name == "n1[0]"] == ["free"], "the vnode")
    d = Desk(cx)
    resv = d.new(select="1:ncpus=8")
    assert d.stat(resv)["resv_nodes"] == "(n1[0]:ncpus=8)"
    host_says(cx, "remove", "site")
    d.wait(resv, "DG")
    assert "Stale" in cx.node("n1[0]")["state"]
    assert d.rsub("-R", at(9000), "-D", "60", "-l", "ncpus=8", "-I", "50").stdout.endswith(" DENIED\n")
