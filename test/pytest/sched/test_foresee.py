"""Foresight: pbs_explain says why a job waits, who has what it needs and when it is expected; by the scheduler's own rules."""
import contextlib
import json
import subprocess
import time

import pytest

from harness import faults, users
from harness.sim import Simulator
from harness.wait import until
from harness.work import begun

pytestmark = pytest.mark.complex(nodes=0)


@pytest.fixture
def sim(cx):
    with Simulator(cx, nodes=2, ncpus=2) as s:
        yield s


def waits(cx, job):
    until(lambda: (cx.stat(job) or {}).get("comment"), f"the comment of {job}")
    return job


def held(cx, **attrs):
    return cx.submit("true", Hold_Types="u", Variable_List="PBS_O_WORKDIR=/,EXECSIM_MS=600000", **attrs)


def told(cx, job, **how):
    return json.loads(cx.command("pbs_explain", "-F", "json", job, **how).stdout)


def words(cx, *job, **how):
    return cx.command("pbs_explain", *job, **how)


# --- a job that waits
def test_a_waiting_job_is_told_what_is_short_who_holds_it_when_it_is_expected_and_which_vnodes_refuse(cx, sim):
    first = begun(cx, sim.job(select="1:ncpus=2", l_walltime="10:00"))
    second = begun(cx, sim.job(select="1:ncpus=1", l_walltime="20:00"))
    ahead = waits(cx, sim.job(select="1:ncpus=2", l_walltime="5:00"))
    job = waits(cx, sim.job(select="1:ncpus=2", l_walltime="1:00:00"))
    x = told(cx, job)
    assert x["verdict"] == "waits" and x["comment"] == cx.stat(job)["comment"]
    assert "Insufficient amount of resource: ncpus" in x["in_the_way"][0]
    assert {h["job"]: h["vnode"] for h in x["holders"]} == {first: "s1"} and x["jobs_before"] == 1
    assert [b["job"] for b in x["before"]] == [ahead] and x["before"][0]["ends"] <= x["expected"]
    assert 840 < x["expected"] - time.time() < 1000 and 540 < x["expected_alone"] - time.time() < 700
    assert x["expected_vnode"] == "(s1:ncpus=2)" and x["lasts"] == 3600
    refused = {name: v for v in x["vnodes"] for name in v["names"]}
    assert set(refused) == {"s1", "s2"} and all(v["resource"] == "ncpus" for v in refused.values())
    text = words(cx, job).stdout
    for said in ("waits", cx.stat(job)["comment"], "expected", "in 1", first, ahead, "until", "without others", "s1 s2"):
        assert said in text, (said, text)
    assert second not in text


def test_a_job_that_is_in_no_ones_way_but_a_limits_is_told_whose_end_mends_that(cx, sim):
    cx.set_server("max_run", "[u:PBS_GENERIC=1]")
    first = begun(cx, sim.job(l_walltime="10:00"))
    job = waits(cx, sim.job(l_walltime="1:00"))
    x = told(cx, job)
    assert [h["job"] for h in x["holders"]] == [first] and "limit" in x["comment"]
    assert all(v["room"] > 0 for v in x["vnodes"])


def test_where_a_job_without_walltime_is_in_the_way_no_time_is_told(cx, sim):
    for _ in range(2):
        begun(cx, sim.job(select="1:ncpus=2"))
    x = told(cx, waits(cx, sim.job()))
    assert "expected" not in x and "no walltime" in x["no_expectation"]
    assert "no walltime" in words(cx, x["job"]).stdout


def test_a_top_job_is_expected_when_qstat_says_and_a_job_that_would_delay_it_is_told_so(cx, sim):
    cx.configure_sched("strict_ordering: true")
    begun(cx, sim.job(select="2:ncpus=1:mem=1gb", l_walltime="10:00"))
    top = sim.job(select="2:ncpus=2", l_walltime="10:00")
    start_s = int(until(lambda: (cx.stat(top) or {}).get("estimated"), "its time")["start_time"])
    x = told(cx, top)
    assert x["topjob"] == "True" and abs(x["expected"] - start_s) <= 60
    long = waits(cx, sim.job(l_walltime="5:00:00"))
    x = told(cx, long)
    assert "top job" in x["comment"] and [b["job"] for b in x["before"]] == [top]


def test_what_is_told_of_a_held_job_is_what_happens_when_it_is_released(cx, sim):
    job = held(cx, select="1:ncpus=2")
    x = told(cx, job)
    assert x["verdict"] == "would_run" and x["facts"] == ["it is held by its owner (qrls)"]
    text = words(cx, job).stdout
    assert "waits" in text and "it would start now, there is room" in text
    cx.api.release(job)
    assert cx.wait(job, "R")["exec_vnode"] == x["exec_vnode"]


def test_the_facts_that_only_the_server_knows_are_told(cx, sim):
    first = begun(cx, sim.job())
    after = sim.job(depend=f"afterok:{first}")
    later = sim.job(Execution_Time=str(int(time.time()) + 7200))
    cx.make_queue("shut", started="False")
    shut = sim.job(queue="shut")
    cx.qmgr("create queue way queue_type=route,route_destinations=workq,enabled=true")
    on_its_way = sim.job(queue="way")
    cx.wait(after, "H")
    said = {job: "\n".join(told(cx, job)["facts"]) for job in (after, later, shut, on_its_way)}
    assert f"it depends on {first} (afterok), whose state is R" in said[after]
    assert "not to begin before" in said[later] and "queue shut is not started" in said[shut]
    assert "route queue way" in said[on_its_way] and "queue way is not started" in said[on_its_way]
    assert words(cx, on_its_way).returncode == 0


def test_an_array_its_subjobs_and_several_jobs_are_explained(cx, sim):
    for _ in range(2):
        begun(cx, sim.job(select="1:ncpus=2", l_walltime="10:00"))
    array = sim.job(array_indices_submitted="1-3", l_walltime="1:00")
    names = [array, array.replace("[]", "[2]")]
    for name in names:
        x = told(cx, name)
        assert (x["job"], x["verdict"]) == (name, "waits") and x["expected"] > time.time()
    text = words(cx, *names).stdout
    assert text.count("expected ") == 2 and "\n\n" in text


def test_running_and_suspended_jobs_are_told_as_what_they_are(cx, sim):
    job = begun(cx, sim.job())
    assert "runs" in words(cx, job).stdout
    cx.api.signal(job, "suspend")
    cx.wait(job, "S")
    x = told(cx, job)
    assert x["verdict"] == "waits" and "must resume it" in x["no_expectation"]


def test_qstat_shows_the_time_of_a_top_job_and_else_the_reason_in_the_same_words(cx, sim):
    begun(cx, sim.job(select="2:ncpus=2", l_walltime="10:00"))
    job = waits(cx, sim.job(l_walltime="10:00"))
    assert told(cx, job)["comment"] in cx.command("qstat", "-T", job).stdout


# --- who may ask, and what they see
def test_jobs_of_others_are_counted_and_not_named_where_they_are_not_to_be_seen(cx, sim):
    first, second, third = users.NAMES[:3]
    for _ in range(2):
        begun(cx, cx.submit("true", user=first, options=["-l", "select=1:ncpus=2,walltime=10:00", "-v", "EXECSIM_MS=600000"]))
    ahead = waits(cx, cx.submit("true", user=first, options=["-l", "select=2:ncpus=2,walltime=10:00"]))
    mine = waits(cx, cx.submit("true", user=second, options=["-l", "select=2:ncpus=2,walltime=10:00"]))
    assert len(told(cx, mine, user=second)["holders"]) == 2
    cx.set_server("query_other_jobs", "False")
    x = told(cx, mine, user=second)
    assert x["holders"] == [] and x["before"] == [] and x["rests_on"] == {"holder": 2, "before": 1}
    text = words(cx, mine, user=second).stdout
    assert "2 jobs of others" in text and ahead not in text
    done = words(cx, mine, user=third, check=False)
    assert done.returncode != 0 and done.stdout == ""


def test_a_user_has_a_few_questions_at_a_time_and_does_not_keep_others_from_asking(cx, sim):
    first, second = users.NAMES[:2]
    theirs, mine = (cx.submit("true", user=u, options=["-h"]) for u in (first, second))
    with faults.daemon_frozen(cx, "sched"):
        with contextlib.ExitStack() as stack:
            for _ in range(4):
                asker = stack.enter_context(subprocess.Popen(["pbs_explain", "-t", "60", theirs], env=cx.env, cwd="/", user=first, group=first,
                                                             extra_groups=[], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
                stack.callback(asker.kill)
            until(lambda: cx.logs("server", 400).count("Type 205 request") >= 4, "four questions")
            done = words(cx, theirs, user=first, check=False)
            assert done.returncode != 0 and "4 jobs to explain to you already" in done.stderr
            assert "has not answered" in words(cx, "-t", "1", mine, user=second, check=False).stderr


# --- what preemption has cost
def test_the_report_says_which_line_of_the_policy_cost_what(cx, sim):
    cx.make_queue("express", Priority="200")
    cx.make_queue("cheap", preempt_order="R")
    cx.set_sched("preempt_order", "S")
    victims = [begun(cx, sim.job(queue=q, select="1:ncpus=2")) for q in ("workq", "cheap")]
    urgent = begun(cx, sim.job(queue="express", select="2:ncpus=2"))

    def lines():
        rows = json.loads(cx.command("pbs_preempt", "--report", "-F", "json").stdout)["policy"]
        return rows if sum(r["suspended"] + r["requeued"] for r in rows) == 2 else None
    rows = {r["queue"]: r for r in until(lines, f"two records, of {victims} for {urgent}")}
    assert {q: (r["policy"], r["authority"], r["suspended"], r["requeued"]) for q, r in rows.items()} == {
        "workq": ("sched:default:preempt_order=S", "express_queue:express", 1, 0),
        "cheap": ("queue:cheap:preempt_order=R", "express_queue:express", 0, 1)}
    assert rows["workq"]["lost_core_seconds"] == 0
    assert "queue:cheap:preempt_order=R" in cx.command("pbs_preempt", "--report").stdout


# --- schedulers that do not answer
@pytest.mark.complex(nodes=0, sched=False)
def test_without_a_scheduler_the_servers_half_is_told_and_that_the_other_is_missing(cx):
    done = words(cx, cx.submit(Hold_Types="u"), check=False)
    assert done.returncode != 0 and "held by its owner" in done.stdout and "no scheduler is connected" in done.stderr


def test_a_hung_scheduler_is_waited_for_no_longer_than_asked_and_scheduling_off_is_said(cx, sim):
    job = held(cx)
    with faults.daemon_frozen(cx, "sched"):
        done = words(cx, "-t", "1", job, check=False)
        assert done.returncode != 0 and "has not answered within 1 seconds" in done.stderr
    cx.set_server("scheduling", "False")
    cx.api.release(job)
    assert "scheduling is False" in words(cx, job).stdout
    assert words(cx, check=False).returncode == 2
