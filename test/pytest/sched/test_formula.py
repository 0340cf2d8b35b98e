"""job_sort_formula: what may be set, and jobs in its order."""
import pytest

from harness import api
from harness.sim import Simulator, starts_of
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)


@pytest.fixture
def sim(cx):
    with Simulator(cx, nodes=1, ncpus=1) as s:
        yield s


def submit_all(cx, sim, rows):
    cx.set_sched("scheduling", "False")
    jobs = [sim.job(ms=1, select="1:ncpus=1", **row) for row in rows]
    cx.set_sched("scheduling", "True")
    return jobs


@pytest.mark.parametrize("where", ["server", "sched"])
def test_jobs_go_in_the_order_of_the_formula(cx, sim, where):
    cx.set_sched("log_events", "4095")
    set_it = cx.set_server if where == "server" else cx.set_sched
    set_it("job_sort_formula", "walltime / 10 + job_priority * (2 if ncpus == 1 else 0)")
    rows = [{"l_walltime": "100"}, {"l_walltime": "10", "Priority": "100"}, {"l_walltime": "300"}, {}]
    a, b, c, d = submit_all(cx, sim, rows)
    assert starts_of(cx, [a, b, c, d]) == [b, c, a, d]
    cx.wait_log("sched", f"{b};Formula Evaluation = 201")


def test_without_its_formula_jobs_go_as_before(cx, sim):
    cx.set_server("job_sort_formula", "walltime")
    cx.api.manager(api.MUNSET, api.SERVER, "", [("job_sort_formula", None, "")])
    a, b = submit_all(cx, sim, [{"l_walltime": "100"}, {"l_walltime": "200"}])
    assert starts_of(cx, [a, b]) == [a, b]


def test_a_job_that_is_not_over_the_threshold_waits_and_says_so(cx, sim):
    cx.set_server("job_sort_formula", "job_priority")
    cx.set_sched("job_sort_formula_threshold", "5")
    job = sim.job(ms=1, select="1:ncpus=1", Priority="5")
    until(lambda: (cx.stat(job) or {}).get("comment")
          == "Not Running: Job is under job_sort_formula threshold value", "the reason")
    cx.wait_log("sched", "Job's formula value 5 is under threshold 5")
    cx.set_sched("job_sort_formula_threshold", "4.5")
    cx.wait_gone(job)


def test_a_value_that_cannot_be_had_is_zero_and_said(cx, sim):
    cx.set_server("job_sort_formula", "10 / job_priority")
    a, b = submit_all(cx, sim, [{}, {"Priority": "5"}])
    assert starts_of(cx, [a, b]) == [b, a]
    cx.wait_log("sched", "Zero value will be used: division by zero")


def test_eligible_time_counts_in_the_formula(cx, sim):
    cx.set_server("eligible_time_enable", "True")
    cx.set_server("job_sort_formula", "-eligible_time")
    blocks = sim.job(select="1:ncpus=1")
    cx.wait(blocks)
    older = sim.job(ms=1, select="1:ncpus=1")
    until(lambda: cx.stat(older)["eligible_time"] >= "00:00:02", "two seconds of waiting")
    younger = sim.job(ms=1, select="1:ncpus=1")
    cx.set_sched("scheduling", "True")
    cx.api.delete(blocks)
    assert starts_of(cx, [older, younger]) == [younger, older]


@pytest.mark.parametrize("text, code, says", [
    ("1 +", 15123, "Invalid Formula Format"), ("ncpus *", 15123, "character 8"), ("import os", 15123, "it should end"),
    ("frobs * 2", 15124, "invalid keyword: frobs"), ("arch + 1", 15125, "arch is not a number"),
    ("(" * 3000, 15123, "too deep")])
def test_a_formula_that_cannot_be_evaluated_is_refused(cx, text, code, says):
    for set_it in (cx.set_server, cx.set_sched):
        with pytest.raises(api.PbsError) as e:
            set_it("job_sort_formula", text)
        assert e.value.code == code and says in e.value.text


def test_every_keyword_of_formulas_and_a_custom_resource_are_accepted(cx, sim):
    cx.api.manager(api.CREATE, api.RESOURCE, "stars", [("type", None, "float")])
    words = ("eligible_time", "queue_priority", "job_priority", "fairshare_perc", "fair_share_perc",
             "fairshare_tree_usage", "fairshare_factor", "accrue_type", "stars * 100")
    cx.set_server("job_sort_formula", " + ".join(words))
    a, b = submit_all(cx, sim, [{"l_stars": "1.5"}, {"l_stars": "2.5"}])
    assert starts_of(cx, [a, b]) == [b, a]


def test_the_server_and_its_scheduler_have_one_formula(cx):
    cx.set_server("job_sort_formula", "ncpus")
    with pytest.raises(api.PbsError) as e:
        cx.set_sched("job_sort_formula", "walltime")
    assert e.value.code == 15226
    cx.set_sched("job_sort_formula", "ncpus")
