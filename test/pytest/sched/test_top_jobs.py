"""strict_ordering: jobs that are planned ahead, and those that may run before them; on simulated nodes."""
import json
import time

import pytest

from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)

LIMIT_S = 120
CONFLICT = "Not Running: Job would conflict with reservation or top job"
SHUT = "Not Running: Job would break strict sorted order"


@pytest.fixture
def sim(cx):
    cx.configure_sched("strict_ordering: true ALL\n")
    with Simulator(cx, nodes=1, ncpus=4) as s:
        yield s


def wait_comment(cx, job, text):
    until(lambda: (cx.stat(job) or {}).get("comment") == text, lambda: cx.describe(job), LIMIT_S)


def estimate(cx, job):
    return (cx.stat(job) or {}).get("estimated", {})


def top(cx, job):
    """The estimate, once the job is a top job."""
    return until(lambda: cx.stat(job).get("topjob") == "True" and estimate(cx, job), lambda: cx.describe(job), LIMIT_S)


def running(cx, sim, **attrs):
    job = sim.job(**attrs)
    cx.wait(job, "R", LIMIT_S)
    return job


def test_a_top_job_is_told_when_and_where_it_will_run(cx, sim):
    first = running(cx, sim, select="1:ncpus=2", l_walltime="1:00:00")
    told = top(cx, sim.job(select="1:ncpus=4", l_walltime="10:00"))
    until(lambda: "stime" in cx.stat(first), lambda: cx.describe(first), LIMIT_S)  # R is shown before the host has said that it began
    ends = int(cx.stat(first)["stime"]) + 3600
    assert told["exec_vnode"] == "(s1:ncpus=4)"
    assert abs(int(told["start_time"]) - ends) <= 60  # windows of opt_backfill_fuzzy; stime is the host's
    assert cx.command("qstat", "-T").stdout.count("--") > 0


def test_an_array_at_its_limit_is_told_when_its_next_subjob_begins_and_pbs_explain_says_the_same(cx, sim):
    array = sim.job(array_indices_submitted="0-5", max_run_subjobs="2", l_walltime="10:00")
    first = [array.replace("[]", f"[{i}]") for i in range(2)]
    begun_s = min(int(until(lambda: (cx.stat(job) or {}).get("stime"), lambda: cx.describe(job), LIMIT_S)) for job in first)
    told = top(cx, array)
    assert told["exec_vnode"] == "(s1:ncpus=1)" and abs(int(told["start_time"]) - begun_s - 600) <= 60
    said = json.loads(cx.command("pbs_explain", "-F", "json", array).stdout)
    assert said["topjob"] == "True" and abs(said["expected"] - int(told["start_time"])) <= 60
    assert "Number of concurrent running subjobs limit reached" in said["comment"]
    assert {h["job"] for h in said["holders"]} <= set(first) and said["holders"]
    behind = sim.job(select="1:ncpus=4", l_walltime="1:00")
    until(lambda: (cx.stat(behind) or {}).get("comment", "").startswith("Not Running: "), lambda: cx.describe(behind), LIMIT_S)
    assert not estimate(cx, behind)  # there is one place, and the array has it
    cx.api.delete(first[0])
    cx.wait(array.replace("[]", "[2]"), "R", LIMIT_S)


def test_fillers_run_only_where_they_delay_no_top_job(cx, sim):
    first = running(cx, sim, select="1:ncpus=2", l_walltime="1:00:00")
    large = sim.job(select="1:ncpus=4", l_walltime="10:00")
    top(cx, large)
    long, endless = sim.job(l_walltime="2:00:00"), sim.job()
    for job in (long, endless):
        wait_comment(cx, job, CONFLICT)
    short = running(cx, sim, l_walltime="10:00")
    assert cx.state(large) == "Q"
    cx.api.delete_list([first, short])
    cx.wait(large, "R", LIMIT_S)
    assert cx.state(long) == "Q"
    cx.api.delete(large)
    cx.wait(long, "R", LIMIT_S)
    cx.wait(endless, "R", LIMIT_S)


def seconds(text):
    return sum(int(part) * factor for part, factor in zip(text.split(":"), (3600, 60, 1)))


def test_a_filler_with_a_min_walltime_takes_the_time_that_there_is(cx, sim):
    running(cx, sim, select="1:ncpus=2", l_walltime="1:00:00")
    told = top(cx, sim.job(select="1:ncpus=4", l_walltime="10:00"))
    filler = running(cx, sim, l_min_walltime="10", l_max_walltime="5:00:00")
    until(lambda: "stime" in cx.stat(filler), lambda: cx.describe(filler), LIMIT_S)
    shown = cx.stat(filler)
    has_s = seconds(shown["Resource_List"]["walltime"])
    assert abs(int(shown["stime"]) + has_s - int(told["start_time"])) <= 60  # as above
    said = f"{filler};Job will run for duration={shown['Resource_List']['walltime']}"
    until(lambda: said in cx.log("sched"), said)
    too_long = sim.job(l_min_walltime="2:00:00", l_max_walltime="5:00:00")
    wait_comment(cx, too_long, CONFLICT)


def test_without_anything_in_its_way_a_job_has_its_max_walltime(cx, sim):
    job = running(cx, sim, l_min_walltime="10", l_max_walltime="5:00:00")
    assert cx.stat(job)["Resource_List"]["walltime"] == "05:00:00"


def test_a_job_that_waited_behind_a_top_job_runs_when_that_is_deleted(cx, sim):
    running(cx, sim, select="1:ncpus=2", l_walltime="1:00:00")
    large = sim.job(select="1:ncpus=4", l_walltime="10:00")
    long = sim.job(l_walltime="2:00:00")
    wait_comment(cx, long, CONFLICT)
    cx.api.hold(large)
    cx.wait(long, "R", LIMIT_S)
    until(lambda: cx.stat(large).get("topjob") != "True", lambda: cx.describe(large), LIMIT_S)


@pytest.mark.parametrize("clear", [True, False])
def test_an_estimate_goes_with_the_top_job_where_the_site_says_so(cx, sim, clear):
    cx.set_server("clear_topjob_estimates_enable", str(clear))
    running(cx, sim, select="1:ncpus=2", l_walltime="1:00:00")
    large = sim.job(select="1:ncpus=4", l_walltime="10:00")
    top(cx, large)
    cx.api.hold(large)
    until(lambda: cx.stat(large).get("topjob") == "False", lambda: cx.describe(large), LIMIT_S)
    assert bool(estimate(cx, large)) is not clear


@pytest.mark.parametrize("clear", [True, False])
@pytest.mark.parametrize("of_queue", [True, False])
def test_a_depth_of_0_takes_the_flag_back_and_the_estimate_where_the_site_says_so(cx, sim, clear, of_queue):
    cx.set_server("clear_topjob_estimates_enable", str(clear))
    running(cx, sim, select="1:ncpus=2", l_walltime="1:00:00")
    large = sim.job(select="1:ncpus=4", l_walltime="10:00")
    top(cx, large)
    if of_queue:
        cx.set_queue("workq", "backfill_depth", "0")
    else:
        cx.set_server("backfill_depth", "0")
    until(lambda: cx.stat(large).get("topjob") == "False", lambda: cx.describe(large), LIMIT_S)
    assert bool(estimate(cx, large)) is not clear


def test_estimates_of_jobs_that_were_top_jobs_before_go_when_the_site_says_so(cx, sim):
    running(cx, sim, select="1:ncpus=2", l_walltime="1:00:00")
    large = sim.job(select="1:ncpus=4", l_walltime="10:00")
    top(cx, large)
    cx.api.hold(large)
    until(lambda: cx.stat(large).get("topjob") == "False" and estimate(cx, large), lambda: cx.describe(large), LIMIT_S)
    cx.set_server("clear_topjob_estimates_enable", "True")
    assert not estimate(cx, large)


def test_so_many_are_planned_as_the_depth_says(cx, sim):
    cx.set_server("backfill_depth", "2")
    running(cx, sim, select="1:ncpus=3", l_walltime="1:00:00")
    jobs = [sim.job(select="1:ncpus=4", l_walltime="10:00") for _ in range(3)]
    first, second = [int(top(cx, job)["start_time"]) for job in jobs[:2]]
    assert second - first >= 600
    wait_comment(cx, jobs[2], "Not Running: Insufficient amount of resource: ncpus (R: 4 A: 1 T: 4)")
    assert "topjob" not in cx.stat(jobs[2])


def test_no_job_is_backfilled_where_backfill_depth_is_0(cx, sim):
    cx.set_server("backfill_depth", "0")
    first = running(cx, sim, select="1:ncpus=2", l_walltime="1:00:00")
    large, small = sim.job(select="1:ncpus=4", l_walltime="10:00"), sim.job(l_walltime="1:00")
    wait_comment(cx, small, SHUT)
    cx.set_queue("workq", "backfill_depth", "1")  # the queue's own counts
    cx.wait(small, "R", LIMIT_S)
    cx.api.delete_list([first, small])
    cx.wait(large, "R", LIMIT_S)


def test_an_estimate_outlives_the_scheduler(cx, sim):
    running(cx, sim, select="1:ncpus=2", l_walltime="1:00:00")
    large = sim.job(select="1:ncpus=4", l_walltime="10:00")
    when = int(top(cx, large)["start_time"])
    cx.kill("sched")
    cx.api.alter(large, [("Resource_List", "select", "1:ncpus=1")])
    cx.restart("sched")
    cx.wait(large, "R", LIMIT_S)
    assert int(estimate(cx, large)["start_time"]) == when


def test_an_urgent_job_preempts_before_it_is_planned(cx, sim):
    cx.make_queue("express", Priority="200")
    first = running(cx, sim, select="1:ncpus=2", l_walltime="1:00:00")
    urgent = sim.job(queue="express", select="1:ncpus=4", l_walltime="10:00")
    cx.wait(urgent, "R", LIMIT_S)
    assert cx.state(first) == "S" and not estimate(cx, urgent)


def test_the_next_subjob_of_an_array_is_planned(cx, sim):
    running(cx, sim, select="1:ncpus=2", l_walltime="1:00:00")
    array = sim.job(select="1:ncpus=4", l_walltime="10:00", array_indices_submitted="1-3")
    assert int(top(cx, array)["start_time"]) > time.time()
