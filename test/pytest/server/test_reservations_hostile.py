"""Reservations that ask for too much: each is refused in words, or made as it was asked for, and the server keeps serving."""
import threading
import time

import pytest

from harness import api
from harness.ask import stat_resv

pytestmark = pytest.mark.complex(nodes=1, sched=False)
LAST, MOST = 253402300799, 2**63 - 1  # the end of the year 9999, and of a number
SELECT = ("Resource_List", "select", "1:ncpus=1")


def ask(cx, *items, select=SELECT):
    """Identifier, or the number of the error."""
    try:
        return cx.api.submit_resv([*items, select])[0]
    except api.PbsError as e:
        return e.code


def later(cx, *items, **how):
    return ask(cx, ("reserve_start", int(time.time()) + 3600), ("reserve_duration", 60), *items, **how)


@pytest.mark.parametrize("start, end, duration", [
    (MOST, None, 1), (MOST - 10, None, 100), (None, MOST, 1), (1, MOST, None), (LAST, None, 1), (LAST + 1, None, 60), (1, LAST + 1, None),
    (1, None, LAST), (None, 10, LAST)])
def test_times_behind_the_year_9999_are_refused(quiet, start, end, duration):
    now = int(time.time())
    said = [("reserve_start", now if start == 1 else start), ("reserve_end", now if end == 10 else end), ("reserve_duration", duration)]
    assert ask(quiet, *[(k, v) for k, v in said if v is not None]) == 15086


def test_the_last_second_that_there_is_can_be_reserved_shown_and_altered(cx):
    resv = ask(cx, ("reserve_end", LAST), ("reserve_duration", 60))
    cx.api.confirm_resv(resv, "(n1:ncpus=1)")
    cx.command("pbsnodes", "-o", "n1")
    assert stat_resv(cx, resv)["reserve_state"] == "10" and "Fri Dec 31 9999" in cx.command("pbs_rstat").stdout
    assert "9999" in cx.command("pbs_rstat", "-f").stdout
    for said in (("reserve_end", MOST), ("reserve_duration", LAST), ("reserve_start", LAST), ("reserve_start", MOST)):
        with pytest.raises(api.PbsError) as e:
            cx.api.modify_resv(resv, [said])
        assert e.value.code == 15086, said
    with pytest.raises(api.PbsError) as e:
        cx.api.confirm_resv(resv, "(n1:ncpus=1)", start=LAST)
    assert e.value.code == 15086
    cx.crash_server()
    assert stat_resv(cx, resv)["reserve_end"] == str(LAST)


@pytest.mark.parametrize("seconds", [MOST, -MOST, -MOST - 1])
def test_one_who_waits_for_ever_waits_until_it_is_decided(cx, seconds):
    answers = []
    c = cx.connect()
    items = [("reserve_start", int(time.time()) + 3600), ("reserve_duration", 60), ("interactive", seconds), SELECT]
    thread = threading.Thread(target=lambda: answers.append(c.submit_resv(items)))
    thread.start()
    cx.wait_log("server", "New reservation submitted")
    assert stat_resv(cx, "R0")["reserve_state"] == "1"
    cx.api.confirm_resv("R0", "(n1:ncpus=1)")
    thread.join()
    c.close()
    assert [a[1] for a in answers] == ["CONFIRMED"]


@pytest.mark.parametrize("name, code", [
    ("x\ny", 15014), ("\x1b[2J", 15014), ("a b", 15014), ("a/b", 15014), ("a" * 231, 15173), ("a" * 100000, 15173)])
def test_a_name_has_the_form_of_that_of_a_job(cx, name, code):
    assert later(cx, ("Reserve_Name", name)) == code
    resv = later(cx, ("Reserve_Name", "a" * 230))
    cx.api.confirm_resv(resv, "(n1:ncpus=1)")
    with pytest.raises(api.PbsError) as e:
        cx.api.modify_resv(resv, [("Reserve_Name", name)])
    assert e.value.code == code and stat_resv(cx, resv)["Reserve_Name"] == "a" * 230


@pytest.mark.parametrize("rule, code", [
    ("FREQ=SECONDLY;COUNT=1000000000", 15133), ("FREQ=SECONDLY;UNTIL=99991231", 15133), ("FREQ=DAILY", 15134),
    ("FREQ=SECONDLY;INTERVAL=86400;COUNT=2", 15133), ("FREQ=DAILY;COUNT=3x", 15133), ("FREQ=DAILY;COUNT=3" + ";" * 300, 15133),
    ("FREQ=MINUTELY;INTERVAL=7;BYDAY=MO;BYHOUR=3;COUNT=10000", None), ("FREQ=YEARLY;COUNT=10000", 15086)])
def test_rules_without_end_are_refused(quiet, rule, code):
    now = int(time.time()) + 3600
    got = ask(quiet, ("reserve_start", now), ("reserve_duration", 1), ("reserve_rrule", rule), ("reserve_timezone", "UTC"))
    assert got == code if code else got.startswith("S")


@pytest.mark.parametrize("zone", ["../../../../etc/passwd", "/etc/passwd", "Europe", "Europe/Berlin/../London", "%s%n", "A" * 100000])
def test_a_zone_is_no_path(quiet, zone):
    assert later(quiet, ("reserve_rrule", "FREQ=DAILY;COUNT=2"), ("reserve_timezone", zone)) == 15135


@pytest.mark.parametrize("select, code", [
    ("+".join(f"1:ncpus=1:host=h{i}" for i in range(100000)), 15004), ("+".join(["1:ncpus=1"] * 80000), 15014),
    ("99999999999:ncpus=1", 15014), ("+".join(f"1:ncpus=1:host=h{i}" for i in range(40000)), None)])
def test_a_select_of_very_many_hosts_is_refused_or_kept(quiet, select, code):
    got = later(quiet, select=("Resource_List", "select", select))
    assert got == code if code else stat_resv(quiet, got)["Resource_List"]["select"] == select


@pytest.mark.parametrize("attr, code", [
    ("Authorized_Users", None), ("Authorized_Groups", None), ("Authorized_Hosts", None), ("User_List", 15095), ("group_list", 15096)])
def test_lists_of_very_many_names_are_kept_or_refused(quiet, attr, code):
    names = ",".join(f"name{i}" for i in range(50000))
    got = later(quiet, (attr, names))
    assert got == code if code else stat_resv(quiet, got)[attr].startswith(names)


def test_pbs_rsub_says_which_of_very_many_hosts_is_there_twice_or_unknown(cx):
    hosts = [f"h{i}" for i in range(50000)]
    words = ["pbs_rsub", "-R", "2359", "-D", "60", "--hosts"]
    done = cx.command(*words, *hosts, "h7", check=False)
    assert (done.stderr.splitlines()[0], done.returncode) == ("pbs_rsub: Duplicate host: h7", 2)
    done = cx.command(*words, "n1", *hosts, check=False)
    assert (done.stderr, done.returncode) == ("pbs_rsub: Host with resources not found: h0\n", 2)
    assert cx.api.stat("resv") == []


def test_a_thousand_of_them_begin_and_end_and_leave_nothing(cx):
    """Each is looked at when it is due: that none is forgotten shows in their records."""
    cx.api.stat("server")
    resvs = [later(cx) for _ in range(1000)]
    for resv in resvs[::2]:
        cx.api.confirm_resv(resv, "(n1:ncpus=0)")
    assert len(cx.node("n1")["resv"].split(",")) == 500
    cx.crash_server()
    assert sorted(r.name for r in cx.api.stat("resv")) == sorted(resvs)
    for resv in resvs:
        cx.api.delete_resv(resv)
    assert cx.api.stat("resv") == [] and "resv" not in cx.node("n1") and [q.name for q in cx.api.stat("que")] == ["workq"]
