"""Eligible time: how long a job could have run, as far as it is concerned."""
import re

import pytest

from harness import api
from harness.wait import until


def kind(cx, job):
    return cx.stat(job).get("accrue_type")


def seconds(cx, job):
    h, m, s = cx.stat(job)["eligible_time"].split(":")
    return int(h) * 3600 + int(m) * 60 + int(s)


@pytest.fixture
def kept(cx):
    cx.set_server("eligible_time_enable", "True")
    return cx


def test_a_job_that_waits_for_room_accrues_eligible_time_and_keeps_it(kept):
    first = kept.submit(select="1:ncpus=4")
    kept.wait(first)
    job = kept.submit(select="1:ncpus=1")
    until(lambda: kind(kept, job) == "2", "eligible time to pass")
    until(lambda: seconds(kept, job) >= 2, "two seconds of it")
    kept.crash_server()
    assert seconds(kept, job) >= 2
    kept.hosts_back()
    kept.api.delete(first)
    kept.wait(job)
    had = seconds(kept, job)
    assert kind(kept, job) == "3" and had >= 2
    log = kept.wait_log("server", f"{job};Accrue type has changed to run_time")
    assert re.search(rf"{job};Accrue type has changed to run_time, previous accrue type was eligible_time for \d+ secs, "
                     r"total eligible_time=00:00:\d\d", log)
    assert re.search(rf"{job};Accrue type has changed to eligible_time, previous accrue type was initial_time", log)


def test_a_job_over_its_users_limit_and_a_held_one_accrue_none(kept):
    kept.command("qmgr", "-c", 'set server max_run = "[u:PBS_GENERIC=1]"')
    first, second = kept.submit(select="1:ncpus=1"), kept.submit(select="1:ncpus=1")
    kept.wait(first)
    until(lambda: kind(kept, second) == "1", "the second to be ineligible")
    had = kept.stat(second)["eligible_time"]  # until a cycle has looked at it
    held = kept.submit(Hold_Types="u")
    assert (kind(kept, held), seconds(kept, held)) == ("1", 0)
    kept.command("qmgr", "-c", 'unset server max_run')
    kept.wait(second)
    log = kept.wait_log("server", f"{second};Accrue type has changed to run_time")
    assert re.search(rf"{second};.* previous accrue type was ineligible_time for \d+ secs, total eligible_time={had}", log)


def test_it_is_shown_and_set_only_where_it_is_kept(cx):
    job = cx.submit(Hold_Types="u")
    assert "eligible_time" not in cx.stat(job) and "accrue_type" not in cx.stat(job)
    with pytest.raises(api.PbsError) as e:
        cx.api.alter(job, [("eligible_time", "00:10:00")])
    assert e.value.code == 15138
    cx.set_server("eligible_time_enable", "True")
    cx.command("qalter", "-W", "eligible_time=00:10:00", job)
    assert cx.stat(job)["eligible_time"] == "00:10:00"


def test_eligible_time_passes_from_submission_on_also_while_scheduling_is_off(kept):
    kept.set_server("scheduling", "False")
    job, array = kept.submit(select="1:ncpus=1"), kept.submit(select="1:ncpus=1", options=["-J", "1-3"])
    for waits in (job, array):
        assert kind(kept, waits) == "2"
        until(lambda: seconds(kept, waits) >= 1, "a second of it")
    assert kind(kept, kept.submit(Hold_Types="u")) == "1"


def test_an_array_accrues_while_subjobs_wait_and_not_when_all_have_started(kept):
    array = kept.submit(select="1:ncpus=2", options=["-J", "1-3"])
    first, last = array.replace("[]", "[1]"), array.replace("[]", "[3]")
    kept.wait(first)
    kept.wait(array.replace("[]", "[2]"))
    assert kept.state(array) == "B" and kind(kept, array) == "2"
    kept.api.delete(first)
    kept.wait(last)
    until(lambda: kind(kept, array) == "1", "nothing to wait")
