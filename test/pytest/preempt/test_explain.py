"""pbs_preempt --explain: what would be done for a job, told by its scheduler, and nothing of it done."""
import json
import re
import subprocess
import threading
import time

import pytest

from harness import api, faults, users
from harness.api import PbsError
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)

EXPLAIN = 101  # the wake-up


@pytest.fixture
def sim(cx):
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", "SR")
    with Simulator(cx, nodes=1, ncpus=2) as s:
        yield s


def full(cx, sim, **attrs):
    """Two jobs that fill the node, the older first."""
    jobs = []
    for _ in range(2):
        job = sim.job(**attrs)
        until(lambda: (cx.stat(job) or {}).get("substate") == "42", f"{job} to be up")
        jobs.append(job)
    return jobs


def held(cx, **attrs):
    return cx.submit("true", Hold_Types="u", Variable_List="PBS_O_WORKDIR=/,EXECSIM_MS=600000", **attrs)


def shown(cx, job, **kwargs):
    return json.loads(cx.command("pbs_preempt", "--explain", "-F", "json", job, **kwargs).stdout)


def refused(code, call, *args):
    with pytest.raises(PbsError) as e:
        call(*args)
    assert e.value.code == code, e.value
    return e.value.text


# --- what is told
def test_a_held_job_does_after_its_release_as_was_foretold(cx, sim):
    old, new = full(cx, sim)
    urgent = held(cx, queue="express", l_walltime="10:00")
    told = shown(cx, urgent)
    assert told["verdict"] == "would_preempt" and told["exec_vnode"] == "(s1:ncpus=1)"
    assert "not in queued state" in told["not_yet"][0] and "ncpus" in told["in_the_way"][0]
    assert [(v["job"], v["order"], v["method"], v["lost_core_seconds"]) for v in told["victims"]] == [(new, 1, "S", 0)]
    assert 500 < told["victims"][0]["back"] - time.time() < 700
    assert [(s["job"], s["why"]) for s in told["spared"]] == [(old, "not_needed")]
    assert [cx.state(job) for job in (old, new, urgent)] == ["R", "R", "H"]
    cx.api.release(urgent)
    assert cx.wait(urgent, "R")["exec_vnode"] == told["exec_vnode"]
    assert [cx.state(job) for job in (old, new)] == ["R", "S"]


def test_explain_shows_the_loss_of_a_requeued_job_and_that_a_deleted_one_never_comes_back(cx, sim):
    old, new = full(cx, sim)
    urgent = held(cx, queue="express", select="1:ncpus=2")
    cx.set_sched("preempt_order", "D")
    told = until(lambda: [v for v in shown(cx, urgent)["victims"] if v["lost_core_seconds"]], "some loss")
    assert {v["job"] for v in told} <= {old, new} and {(v["method"], v["back"]) for v in told} == {("D", "never")}


@pytest.mark.parametrize("sort, price", [
    ("least_lost_work", r"least_lost_work: (?P<lost>\d+) core-seconds lost, then (?P<n>\d+) victims"),
    ("fewest_jobs", r"fewest_jobs: (?P<n>\d+) victims, then (?P<lost>\d+) core-seconds lost"),
    ("min_time_since_start", r"min_time_since_start: the one that started last, whatever is lost")])
def test_every_term_of_the_price_of_the_victims_is_told_and_of_who_was_not_needed(cx, sim, sort, price):
    old, new = full(cx, sim)
    cx.set_sched("preempt_order", "R")
    cx.set_sched("preempt_sort", sort)
    urgent = held(cx, queue="express")

    def priced():
        told = shown(cx, urgent)
        return told if told["victims"][0]["lost_core_seconds"] and told["spared"][0]["lost_core_seconds"] else None

    told = until(priced, "some loss of both")
    said = re.fullmatch(price, told["price"])
    assert said, told["price"]
    assert {told["victims"][0]["job"], told["spared"][0]["job"]} == {old, new}
    if said.groupdict():
        assert (int(said["lost"]), int(said["n"])) == (told["lost_core_seconds"], told["n_victims"])
        assert told["victims"][0]["lost_core_seconds"] <= told["spared"][0]["lost_core_seconds"]
    words = cx.command("pbs_preempt", "--explain", urgent).stdout
    assert re.search(rf"chosen by +{sort}: ", words) and re.search(r"it would lose \d+ core-s", words)


def test_each_that_is_spared_is_told_with_the_reason(cx, sim):
    cx.make_queue("never", preempt_order="none")
    cx.make_queue("exempt", preempt_exempt_time="3600")
    shielded, exempt = sim.job(queue="never"), sim.job(queue="exempt")
    for job in (shielded, exempt):
        cx.wait(job, "R")
    urgent = sim.job(queue="express")
    cx.wait(urgent, "Q")
    told = shown(cx, urgent)
    assert told["verdict"] == "waits" and told["victims"] == [] and told["spared_by_reason"] == {"never": 1,
                                                                                                "exempt_time": 1}
    until_s = {s["job"]: s.get("until") for s in told["spared"]}
    assert until_s[shielded] is None and 3500 < until_s[exempt] - time.time() <= 3600
    assert "would not be enough" in told["no_preemption"]


def test_the_text_says_what_is_in_the_way_and_which_jobs_are_exempt(cx, sim):
    full(cx, sim)
    job = sim.job()
    cx.wait(job, "Q")
    text = cx.command("pbs_preempt", "--explain", job).stdout
    assert "it would not be started" in text and "Insufficient amount of resource: ncpus" in text
    assert "no running job has a lower preemption level" in text
    assert text.count("its preemption level is not below that of the job") == 2
    old = cx.command("pbs_preempt", "--explain", held(cx, queue="express")).stdout
    assert "in the room of others" in old and "would give way, in this order" in old


def test_a_running_job_is_told_what_could_be_done_to_it(cx, sim):
    job = full(cx, sim)[0]
    told = shown(cx, job)
    assert (told["verdict"], told["methods"], told["lost_core_seconds"]) == ("runs", "SR", 0)


def test_while_others_give_way_the_hold_is_shown(cx):
    with Simulator(cx, nodes=1, ncpus=1, die_ms=60000) as sim:
        cx.make_queue("express", Priority="200")
        cx.set_sched("preempt_order", "R")
        low = sim.job()
        cx.wait(low, "R")
        urgent = sim.job(queue="express")
        until(lambda: cx.api.stat("hold"), "the hold")
        told = shown(cx, urgent)
        assert told["verdict"] == "under_way" and low in told["hold"]["victims"]
        assert low in cx.command("pbs_preempt", "--explain", urgent).stdout


def test_a_subjob_that_was_never_run_and_its_array_are_explained(cx, sim):
    full(cx, sim)
    array = sim.job(queue="express", array_indices_submitted="1-3", Hold_Types="u")
    for name in (array, array.replace("[]", "[2]")):
        told = shown(cx, name)
        assert (told["job"], told["verdict"], len(told["victims"])) == (name, "would_preempt", 1)


def test_of_many_jobs_some_are_listed_and_all_are_counted(cx):
    with Simulator(cx, nodes=1, ncpus=520) as sim:
        sim.job(array_indices_submitted="1-520")
        until(lambda: cx.node("s1")["resources_assigned"].get("ncpus") == "520", "all to run")
        told = shown(cx, sim.job())
        assert told["spared_by_reason"] == {"level": 520} and len(told["spared"]) == 500
        assert "and 20 more that are not listed" in cx.command("pbs_preempt", "--explain", sim.job()).stdout


# --- nothing is done
def test_explaining_changes_nothing_that_anybody_can_see(cx, sim):
    jobs = full(cx, sim)
    jobs += [held(cx, queue="express"), sim.job(), sim.job(array_indices_submitted="1-3", queue="workq")]
    until(lambda: (cx.stat(jobs[3]) or {}).get("comment"), "its comment")
    until(lambda: (cx.stat(jobs[4]) or {}).get("comment"), "its comment")

    def silent():
        """Another cycle may follow the one that has made the comments."""
        before = cx.log("sched")
        return faults.stays(lambda: cx.log("sched") == before, 0.5) and before
    logged = until(silent, "the scheduler to have nothing to do")
    watch = cx.api.watch({kind: None for kind in range(8)})
    watch.catch_up()
    ticket = watch.send()
    other = cx.connect()
    for job in jobs:
        assert other.explain(job)
    assert faults.stays(lambda: not cx.api.ready(ticket), 0.3)
    assert cx.log("sched") == logged


# --- who may ask, and about what
def test_only_its_owner_operators_and_managers_are_told(cx, sim):
    job = full(cx, sim)[0]
    words = ["pbs_preempt", "--explain", job]
    owner = cx.stat(job)["Job_Owner"].split("@")[0]
    assert cx.command(*words, user=owner).returncode == 0
    other = next(name for name in users.NAMES if name != owner)
    done = cx.command(*words, user=other, check=False)
    assert done.returncode != 0 and "Unauthorized Request" in done.stderr


def test_other_peoples_jobs_are_left_out_where_they_are_not_to_be_seen(cx, sim):
    first, second = users.NAMES[:2]
    for _ in range(2):
        cx.wait(cx.submit("true", user=first, options=["-v", "EXECSIM_MS=600000"]), "R")
    mine = cx.submit("true", user=second)
    cx.wait(mine, "Q")
    assert len(shown(cx, mine, user=second)["spared"]) == 2
    cx.set_server("query_other_jobs", "False")
    told = shown(cx, mine, user=second)
    assert told["spared"] == [] and told["spared_by_reason"] == {"level": 2}


@pytest.mark.complex(nodes=0, history=True)
def test_unknown_finished_and_misspelt_jobs_are_refused_by_name(cx, sim):
    done = sim.job(ms=1)
    until(lambda: (cx.stat(done) or {}).get("job_state") == "F" or cx.stat(done) is None, "its end")
    assert "finished" in refused(15139, cx.api.explain, done).lower()
    assert "4711" in refused(15001, cx.api.explain, "4711")
    refused(15004, cx.api.explain, "1[1-3]")
    assert "limit=SECONDS" in refused(15004, cx.api.explain, held(cx), "limit=now")
    assert cx.command("pbs_preempt", "--explain", check=False).returncode == 2


# --- schedulers that do not answer
def asks(cx, job, extend=None):
    """Ask from a thread: what came of it is in the list when the thread has ended."""
    came, c = [], cx.connect()

    def run():
        try:
            came.append(c.explain(job, extend))
        except PbsError as e:
            came.append(e)
    thread = threading.Thread(target=run)
    thread.start()
    return thread, came


@pytest.mark.complex(nodes=0, sched=False)
def test_without_a_scheduler_it_is_said_at_once(cx):
    assert "no scheduler is connected" in refused(15099, cx.api.explain, cx.submit())


def test_a_scheduler_that_is_killed_in_the_middle_ends_the_question(cx, sim):
    job = held(cx)
    with faults.daemon_frozen(cx, "sched"):
        thread, came = asks(cx, job)
        until(lambda: "Type 205 request" in cx.log("server"), "the question")
        cx.kill("sched")
    thread.join(120)
    assert came and came[0].code == 15099 and cx.state(job) == "H"


def test_a_scheduler_that_keeps_silent_is_waited_for_no_longer_than_the_limit(cx, sim):
    with faults.daemon_frozen(cx, "sched"):
        text = refused(15099, cx.api.explain, held(cx), "limit=1")
    assert "default has not answered within 1 seconds" in text


def test_a_caller_of_explain_that_is_killed_does_not_hinder_the_next(cx, sim):
    job = held(cx)
    with faults.daemon_frozen(cx, "sched"):
        with subprocess.Popen(["pbs_preempt", "--explain", job], env=cx.env, stdout=subprocess.DEVNULL) as asker:
            until(lambda: "Type 205 request" in cx.log("server"), "the question")
            asker.kill()
    assert cx.api.explain(job)[0].name == job


# --- another scheduler
@pytest.fixture
def foreign(cx):
    """A scheduler of somebody else: its connection, and a watch."""
    c = cx.connect()
    c.register("default")
    watch = c.watch({api.JOB: ["job_state"]})
    watch.catch_up()
    yield c, watch
    c.close()


def question(watch):
    until(lambda: watch.next() and [w for w in watch.wakes if w[0] == EXPLAIN], "the question")
    return next(w for w in watch.wakes if w[0] == EXPLAIN)


@pytest.mark.complex(nodes=0, sched=False)
def test_another_scheduler_can_explain_in_its_own_words(cx, foreign):
    job, (c, watch) = cx.submit(), foreign
    thread, came = asks(cx, job)
    _, name, answer = question(watch)
    assert name == job
    c.explain_reply(answer, job, [(job, [("verdict", "waits"), ("mood", "calm")]), ("9.x", [("role", "spared")])])
    thread.join(120)
    assert [(s.name, dict(s)) for s in came[0]] == [(job, {"verdict": "waits", "mood": "calm"}),
                                                   ("9.x", {"role": "spared"})]
    assert "was not asked" in refused(15004, c.explain_reply, answer, job, [(job, [])])


@pytest.mark.complex(nodes=0, sched=False)
def test_a_scheduler_that_does_not_know_how_says_so(cx, foreign):
    job, (c, watch) = cx.submit(), foreign
    for code, text, expected in ((15029, "not I", "not I"), (0, "", "cannot explain")):
        thread, came = asks(cx, job)
        watch.wakes.clear()
        c.sched_reply(question(watch)[2], job, code, text)
        thread.join(120)
        assert came[0].code == 15029 and expected in came[0].text


@pytest.mark.complex(nodes=0, sched=False)
def test_a_question_to_explain_gives_no_right_to_run_beyond_limits(cx, foreign):
    """qrun lets a scheduler pass run limits for the job; a question does not."""
    job, (c, watch) = cx.submit(), foreign
    cx.set_queue("workq", "started", "False")
    thread, came = asks(cx, job)
    answer = question(watch)[2]
    refused(15044, c.run, job, "(n1:ncpus=1)")
    c.sched_reply(answer, job, 15029)
    thread.join(120)
    assert came


@pytest.mark.complex(nodes=0, sched=False)
def test_a_scheduler_is_asked_only_so_much_at_once(cx, foreign):
    job = cx.submit()
    waiting = [asks(cx, job, "limit=2") for _ in range(32)]
    until(lambda: cx.log("server").count("Type 205 request") >= 32, "32 questions")
    assert "try again" in refused(15006, cx.api.explain, job)
    foreign[0].close()
    for thread, came in waiting:
        thread.join(120)
        assert came[0].code == 15099
