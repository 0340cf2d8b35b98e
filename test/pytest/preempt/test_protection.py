"""What protects a job from preemption: asked by the server, whoever plans, and by pbs_sched before it plans."""
import json
import time
import os

import pytest

from harness import api
from harness.mom_priv import configure, script
from harness.wait import until
from harness.work import account_lines

pytestmark = pytest.mark.complex(nodes=1, ncpus=2, sched=False)


def scheduler(cx, order="D"):
    cx.set_sched("preempt_order", order)
    c = cx.connect()
    c.register("default")
    return c


def started(cx, **attrs):
    job = cx.submit(select="1:ncpus=2", **attrs)
    cx.api.run(job, "(n1:ncpus=2)")
    cx.wait(job)
    return job


def began(cx, job):
    """When the job's script began."""
    return int(until(lambda: cx.stat(job).get("stime"), "the start of the job"))


def refused(cx, c, victim):
    """By a plan and by pbs_preempt_jobs; the reason."""
    urgent = cx.submit(select="1:ncpus=2", queue="express")
    with pytest.raises(api.PbsError) as e:
        c.preempt_run(urgent, "(n1:ncpus=2)", [victim])
    assert e.value.code == 15016 and cx.state(victim) == "R"
    return e.value.text


@pytest.fixture
def express(cx):
    cx.make_queue("express", Priority="200")


@pytest.mark.usefixtures("express")
@pytest.mark.parametrize("name, value, why", [
    ("preempt_order", "none", "are not preempted"), ("preempt_exempt_time", "1000", "exempt"),
    ("preempt_max_count", "0", "0 times"), ("preemptable_by", "other", "may not be preempted by")])
def test_a_queue_protects_its_jobs(cx, name, value, why):
    cx.set_queue("workq", name, value)
    victim = started(cx)
    c = scheduler(cx)
    assert why in refused(cx, c, victim)
    if name != "preemptable_by":  # there the urgent job is not named
        assert c.preempt([victim]) == [(victim, "000")] and cx.state(victim) == "R"


@pytest.mark.usefixtures("express")
def test_a_queue_that_says_otherwise_counts_before_the_scheduler(cx):
    cx.set_sched("preempt_exempt_time", "1000")
    victim = started(cx)
    c = scheduler(cx)
    assert "exempt" in refused(cx, c, victim)
    cx.set_queue("workq", "preempt_exempt_time", "0")
    cx.set_queue("workq", "preempt_order", "S")
    assert c.preempt([victim]) == [(victim, "S")]


def test_a_job_narrows_its_methods_where_its_queue_allows_that(cx):
    victim = started(cx, preempt_methods="S")
    c = scheduler(cx, "RS")
    cx.set_queue("workq", "preempt_methods_enable", "True")
    assert c.preempt([victim]) == [(victim, "S")]
    cx.api.signal(victim, "resume")
    cx.wait(victim, "R")
    cx.set_queue("workq", "preempt_methods_enable", "False")
    assert c.preempt([victim]) == [(victim, "Q")]


def test_a_wish_that_would_leave_nothing_does_not_count(cx):
    victim = started(cx, preempt_methods="C")
    cx.set_queue("workq", "preempt_methods_enable", "True")
    assert scheduler(cx, "RS").preempt([victim]) == [(victim, "Q")]


@pytest.mark.parametrize("value", ["XY", "SS", "S 50 R", "none"])
def test_a_wish_that_is_none_is_refused_by_its_own_name(quiet, value):
    with pytest.raises(api.PbsError) as e:
        quiet.submit(preempt_methods=value)
    assert e.value.code == 15014 and "letters out of S C R D, each once" in f"{e.value.text} {e.value.attributes}"
    assert "preempt_order" not in f"{e.value.text} {e.value.attributes}"


@pytest.mark.parametrize("name, value", [
    ("preempt_order", "never"), ("preempt_order", "SS"), ("preempt_exempt_time", "soon"),
    ("preempt_max_count", "-1"), ("preempt_methods_enable", "perhaps")])
def test_bad_values_are_refused(quiet, name, value):
    with pytest.raises(api.PbsError) as e:
        quiet.set_queue("workq", name, value)
    assert e.value.code == 15014


@pytest.mark.complex(nodes=1, ncpus=2)
@pytest.mark.usefixtures("express")
def test_the_scheduler_waits_until_its_victim_is_exempt_no_more(cx):
    cx.set_sched("preempt_order", "R")
    cx.set_queue("workq", "preempt_exempt_time", "2")
    low = cx.submit(select="1:ncpus=2")
    start = began(cx, low)
    urgent = cx.submit(select="1:ncpus=2", queue="express")
    assert began(cx, urgent) >= start + 2
    assert cx.state(low) == "Q"
    cx.set_queue("workq", "preempt_max_count", "1")
    cx.api.delete(urgent)
    cx.wait(low)
    second = cx.submit(select="1:ncpus=2", queue="express")
    until(lambda: cx.stat(second).get("comment"), "a comment")
    assert cx.state(low) == "R"


# --- what preemptions for a queue may destroy in an hour
@pytest.mark.usefixtures("express")
def test_a_victim_that_would_cost_more_than_the_budget_is_protected_from_loss_only(cx):
    cx.set_queue("express", "preempt_budget", "0.0000001")
    victim = started(cx)
    until(lambda: time.time() >= began(cx, victim) + 1, "some work of the victim")
    c = scheduler(cx, "RD")
    text = refused(cx, c, victim)
    assert "preempt_budget" in text and "express" in text and victim in text
    cx.set_sched("preempt_order", "RS")
    urgent = cx.submit(select="1:ncpus=2", queue="express")
    c.preempt_run(urgent, "(n1:ncpus=2)", [victim])
    cx.wait(urgent)
    assert cx.state(victim) == "S"


@pytest.mark.complex(nodes=2, ncpus=2, sched=False)
@pytest.mark.usefixtures("express")
def test_the_charged_loss_is_remembered_across_a_restart(cx):
    cx.set_sched("preempt_budget", "1")
    victims = [started(cx), cx.submit(select="1:ncpus=2")]
    cx.api.run(victims[1], "(n2:ncpus=2)")
    start = max(began(cx, v) for v in victims)
    until(lambda: time.time() >= start + 1, "some work of the victims")
    c = scheduler(cx, "R")
    urgent = [cx.submit(select="1:ncpus=2", queue="express") for _ in range(3)]
    c.preempt_run(urgent[0], "(n1:ncpus=2)", [victims[0]])
    cx.wait(urgent[0])
    spent = cx.api.stat("que", "express")[0]["preempt_ledger"]
    assert float(spent.split("=")[1]) >= 2
    cx.crash_server()
    assert cx.api.stat("que", "express")[0]["preempt_ledger"] == spent
    until(lambda: "down" not in cx.node("n2")["state"], "the node to be back")
    c = scheduler(cx, "R")
    cx.set_queue("express", "preempt_budget", str(float(spent.split("=")[1]) / 3600))
    assert "spent" in refused_on(c, urgent[1], "(n2:ncpus=2)", victims[1:])
    cx.set_queue("express", "preempt_budget", "1")
    c.preempt_run(urgent[1], "(n2:ncpus=2)", victims[1:])
    cx.wait(urgent[1])


def refused_on(c, urgent, where, victims):
    with pytest.raises(api.PbsError) as e:
        c.preempt_run(urgent, where, victims)
    return e.value.text


@pytest.mark.complex(nodes=2, ncpus=2, sched=False)
@pytest.mark.usefixtures("express")
def test_the_victims_of_one_plan_add_up(cx):
    victims = [started(cx), cx.submit(select="1:ncpus=2")]
    cx.api.run(victims[1], "(n2:ncpus=2)")
    start = max(began(cx, v) for v in victims)
    until(lambda: time.time() >= start + 2, "some work of the victims")
    c = scheduler(cx, "R")
    urgent = cx.submit(select="2:ncpus=2", queue="express", l_place="scatter")
    ran = int(time.time()) - start  # two cores each: one is well within, two are not
    cx.set_queue("express", "preempt_budget", str(3 * ran / 3600))
    where = "(n1:ncpus=2)+(n2:ncpus=2)"
    assert "preempt_budget" in refused_on(c, urgent, where, victims) and cx.state(victims[0]) == "R"
    cx.set_queue("express", "preempt_budget", "1")
    c.preempt_run(urgent, where, victims)
    cx.wait(urgent)


@pytest.mark.complex(nodes=1, ncpus=2)
@pytest.mark.usefixtures("express")
def test_the_scheduler_plans_nothing_beyond_the_budget(cx):
    cx.set_sched("preempt_order", "R")
    cx.set_queue("express", "preempt_budget", "0")
    low = cx.submit(select="1:ncpus=2")
    start = began(cx, low)
    until(lambda: time.time() >= start + 1, "some work of the victim")
    urgent = cx.submit(select="1:ncpus=2", queue="express")
    until(lambda: cx.stat(urgent).get("comment"), "a comment")
    assert cx.state(low) == "R" and "Type 202" not in cx.log("server")
    cx.set_queue("express", "preempt_budget", "1")
    cx.wait(urgent)
    assert cx.state(low) == "Q"


@pytest.mark.usefixtures("express")
def test_a_method_that_comes_after_another_costs_no_more_than_the_budget_has_left(cx):
    """C was agreed and costs nothing; while it failed the budget has shrunk, so R is passed over."""
    go, began_saving = os.path.join(cx.work, "go"), os.path.join(cx.work, "saving")
    tool = script(cx, "save", f"touch {began_saving}\nuntil test -e {go}; do sleep 0.1; done\nexit 1")
    configure(cx, f"$action checkpoint_abort 300 !{tool}")
    cx.set_queue("express", "preempt_budget", "1000")
    victim = started(cx)
    until(lambda: time.time() >= began(cx, victim) + 1, "some work of the victim")
    c = scheduler(cx, "CR")
    urgent = cx.submit(select="1:ncpus=2", queue="express")
    c.preempt_run(urgent, "(n1:ncpus=2)", [victim])
    until(lambda: os.path.exists(began_saving), "the script of the site")
    cx.set_queue("express", "preempt_budget", "0")
    open(go, "w", encoding="ascii").close()
    until(lambda: "room_held" not in cx.stat(urgent), lambda: cx.describe(urgent))
    assert cx.state(victim) == "R" and cx.stat(victim)["run_count"] == "1"
    cx.wait_log("server", "is passed over: it would lose")


# --- what people can see of it
@pytest.mark.complex(nodes=1, ncpus=2, sched=False)
def test_the_policy_in_force_is_shown_in_words_and_as_json(cx):
    cx.set_queue("workq", "preempt_order", "none")
    assert "never" in cx.command("pbs_preempt", "--policy", "workq").stdout
    shown = json.loads(cx.command("pbs_preempt", "--policy", "-F", "json").stdout)
    assert shown["queue"]["workq"]["preempt_order"] == "none"
    assert shown["sched"]["default"]["preempt_order"] == "SCR"


@pytest.mark.complex(nodes=1, ncpus=2, sched=False)
def test_the_policy_says_who_may_stop_whom_and_what_that_means(cx):
    for name, attrs in (("express", {"Priority": "200"}), ("top", {"Priority": "300", "preempt_order": "none"}),
                        ("low", {"preemptable_by": "top", "preempt_methods_enable": "True", "preempt_grace": "60"})):
        cx.make_queue(name, **attrs)
    cx.set_sched("preempt_order", "SR 50 D")
    of = {name: q["in_force"] for name, q in
          json.loads(cx.command("pbs_preempt", "--policy", "-F", "json").stdout)["queue"].items()}
    assert {name: q["preempted_by"] for name, q in of.items()} == {
        "workq": ["express", "top"], "express": ["top"], "top": [], "low": ["top"]}
    assert {name: q["preempts"] for name, q in of.items()} == {
        "workq": [], "express": ["workq"], "top": ["workq", "express", "low"], "low": []}
    assert of["top"]["by_time_left"] == []
    assert [(g["above_percent_left"], [(m["letter"], m["stays_in_memory"]) for m in g["methods"]])
            for g in of["low"]["by_time_left"]] == [(50, [("S", True), ("R", False)]), (0, [("D", False)])]
    assert (of["low"]["notice"], of["workq"]["notice"]) == ("00:01:00", "0")
    assert of["low"]["job_may_choose"] == ["preempt_methods", "preempt_signal"] and of["workq"]["job_may_choose"] == ["preempt_methods"]
    words = cx.command("pbs_preempt", "--policy", "low").stdout
    assert "give way to   jobs of queue top" in words and "stays in memory" in words and "queue workq" not in words
    refused = cx.command("pbs_preempt", "--policy", "nosuch", check=False)
    assert refused.returncode == 170 and "Unknown queue nosuch" in refused.stderr


@pytest.mark.complex(nodes=1, ncpus=2, sched=False)
def test_the_methods_of_a_job_are_those_of_the_scheduler_that_serves_its_queue(cx):
    cx.api.manager(api.CREATE, api.SCHED, "second", [("partition", None, "p2"), ("preempt_order", None, "D")])
    cx.make_queue("other", partition="p2")
    jobs = [cx.submit(queue=q) for q in ("workq", "other")]
    shown = [json.loads(cx.command("pbs_preempt", "--methods", "-F", "json", j).stdout)["methods"] for j in jobs]
    assert shown == ["SCR", "D"]


def test_the_methods_of_a_job_are_shown_as_the_server_would_try_them(cx):
    cx.set_sched("preempt_order", "SRD")
    job = started(cx, Rerunable="False")
    out = json.loads(cx.command("pbs_preempt", "--methods", "-F", "json", job).stdout)
    assert out == {"job": job, "methods": "SD", "percent_left": 100}
    cx.set_queue("workq", "preempt_order", "none")
    assert "not preempted" in cx.command("pbs_preempt", "--methods", job).stdout


def test_the_report_sums_what_was_lost_by_day_queue_and_user(cx):
    victim = started(cx)
    c = scheduler(cx, "S")
    c.preempt([victim])
    cx.set_sched("preempt_order", "D")
    cx.api.signal(victim, "resume")
    cx.wait(victim, "R")
    c.preempt([victim])

    def rows():
        text = cx.command("pbs_preempt", "--report", "-F", "json").stdout
        return [r for r in json.loads(text)["preemptions"] if r["deleted"]]
    row, = until(rows, "the records of the preemptions")
    assert (row["queue"], row["suspended"], row["deleted"], row["requeued"]) == ("workq", 1, 1, 0)
    assert row["lost_core_seconds"] >= 0
    assert "workq" in cx.command("pbs_preempt", "--report").stdout
    assert json.loads(cx.command("pbs_preempt", "--report", "-F", "json", "-d", "29991231").stdout) == {
        "preemptions": [], "policy": []}


def test_the_record_of_a_preemption_says_whom_for_whom_how_and_what_was_lost(cx):
    """A method that cannot be applied is among what was tried."""
    victim = started(cx)
    start_s = began(cx, victim)
    until(lambda: time.time() > start_s + 1, "some work")
    scheduler(cx, "CR").preempt([victim])

    def records():
        return [line for line in account_lines(cx) if f";v;{victim};" in line]
    line, = until(records, "the record")
    said = dict(word.split("=", 1) for word in line.rstrip().split(";")[3].split())
    assert (said["method"], said["tried"], said["queue"], said["preempt_count"]) == ("R", "CR", "workq", "1")
    assert said["scheduler"] == "default" and said["preempted_by"] == said["requestor"]
    assert float(said["took"]) > 0 and 0 < float(said["lost_core_seconds"]) < 600 and "lost_cpu_seconds" in said
    cx.wait_log("server", f"{victim};preempted: R for a job that was not named by {said['requestor']}, tried CR")


def test_a_bad_command_line_shows_the_usage(cx):
    for words in ([], ["--policy", "--report"], ["--methods"], ["--report", "x"]):
        done = cx.command("pbs_preempt", *words, check=False)
        assert done.returncode == 2 and "usage" in done.stderr
