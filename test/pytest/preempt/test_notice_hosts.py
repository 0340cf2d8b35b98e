"""A job on several hosts answers its notice: each host speaks for its own programs (doc/pmix.md, "Several hosts")."""
import os
import shutil
import time

import pytest

from harness.build import pmix_program
from harness.checkpoints import by_application
from harness.faults import daemon_frozen
from harness.shepherds import kill_helper, kill_shepherd
from harness.wait import until
from test_notice import LONG, ROOM, noticed, record, scheduler, started
from test_pmix import TWO, kill_ranks, line, said, states, talker

pytestmark = [pytest.mark.complex(nodes=2, ncpus=4, sched=False),
              pytest.mark.skipif(not shutil.which("pkg-config"), reason="there is no pkg-config")]

three = pytest.mark.complex(nodes=3, ncpus=4, sched=False)
WIDE = TWO + "+(n3:ncpus=4)"


def spread(cx, *words, n=2, declared=True, **attrs):
    """A talker with rank 0 on n1, rank 1 on n2 ..., whose declaration has been heard of."""
    job = talker(cx, *words, where=TWO if n == 2 else WIDE, select=f"{n}:ncpus=4:mpiprocs=1", l_place="scatter", ranks=n, **attrs)
    if declared:
        until(lambda: (cx.stat(job) or {}).get("checkpoint_by") == "pmix", "the declaration")
    for r in range(n if declared else 0):
        line(cx, "declared", r)
    return job


def give_notice(cx, job, *policy, **more):
    """An urgent job that wants n1, and the job has been given notice."""
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, *policy, **more).preempt_run(urgent, ROOM, [job])
    return urgent


def heard(cx, **answers):
    """The server has heard so many answers of each kind."""
    def counts():
        [c] = [s for s in cx.api.counts() if s.name == "notices"]
        return c["answers"]
    until(lambda: all(counts()[k] == str(n) for k, n in answers.items()), lambda: f"{answers} of {counts()}")


def go(cx):
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass


def waits(cx, job, urgent):
    return cx.state(job) == "R" and cx.stat(job).get("preempt_deadline") and cx.state(urgent) == "Q"


# --- ready and saved
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("word, order", [("ready", "R"), ("saved", "CR"), ("saved", "R")])
def test_the_word_of_one_host_waits_for_that_of_the_other(cx, first, word, order):
    victim = spread(cx, "event", word, f"{1 - first}:hold=answer")
    urgent = give_notice(cx, victim, order)
    heard(cx, **{word: 1})
    assert waits(cx, victim, urgent)
    go(cx)
    cx.wait(urgent)
    r = record(cx, victim)
    assert (r["method"], r["reply"]) == (order[0], word)


def test_a_job_whose_hosts_say_ready_and_saved_is_ready(cx):
    victim = spread(cx, "event", "0:saved", "1:ready")
    cx.wait(give_notice(cx, victim))
    assert record(cx, victim)["reply"] == "ready"


def test_the_method_is_applied_at_the_deadline_where_one_host_is_silent(cx):
    victim = spread(cx, "event", "0:ready")
    urgent = give_notice(cx, victim, grace="5")
    heard(cx, ready=1)
    assert waits(cx, victim, urgent)
    cx.wait(urgent)
    r = record(cx, victim)
    assert r["reply"] == "none" and float(r["notice"]) >= 5


def test_a_host_whose_programs_have_declared_nothing_is_not_waited_for(cx):
    victim = spread(cx, "0:event", "0:ready", declared=False)
    cx.wait(give_notice(cx, victim))
    assert record(cx, victim)["reply"] == "ready"


def test_a_host_whose_program_cannot_save_itself_is_waited_for_where_it_has_declared_itself(cx):
    victim = spread(cx, "plain", "ready", "1:hold=answer", declared=False)
    for r in (0, 1):
        line(cx, "declared", r)
    urgent = give_notice(cx, victim)
    heard(cx, ready=1)
    assert waits(cx, victim, urgent)
    go(cx)
    cx.wait(urgent)
    assert cx.wait(victim, "Q").get("preempt_count") == "1"


def test_the_end_of_the_last_program_of_a_host_is_its_answer(cx):
    victim = spread(cx, "event", "0:ready")
    urgent = give_notice(cx, victim)
    heard(cx, ready=1)
    assert waits(cx, victim, urgent)
    kill_ranks(cx, 1)
    cx.wait(urgent)
    assert record(cx, victim)["reply"] == "ready"


# --- time, offers, refusals
@pytest.mark.parametrize("rank", [0, 1])
def test_a_host_that_has_been_granted_time_holds_those_that_are_ready(cx, rank):
    victim = spread(cx, "event", f"{rank}:defer=900", f"{1 - rank}:ready")
    urgent = give_notice(cx, victim, grace="300", most="1000")
    heard(cx, ready=1, defer=1)
    assert waits(cx, victim, urgent) and int(cx.stat(victim)["preempt_deadline"]) > time.time() + 600


def test_time_is_granted_to_the_host_that_has_asked_and_not_to_another_one(cx):
    """The second one asks for more than there is: it must not take the answer of the first one for its own."""
    victim = spread(cx, "event", "0:defer=400", "1:defer=5000", "1:hold=answer")
    give_notice(cx, victim, grace="300", most="1000")
    assert line(cx, "answered", 0)[0].startswith("answered SUCCESS")
    go(cx)
    assert "RESOURCE-BUSY" in line(cx, "answered", 1)[0]
    until(lambda: int(noticed(cx, victim)) > time.time() + 900, "the bound of the site")
    assert [x for x in said(cx, 0) if x.startswith("answered")] == [line(cx, "answered", 0)[0]]


def test_a_refusal_of_one_host_is_recorded_and_the_deadline_remains(cx):
    victim = spread(cx, "event", "0:ready", "1:refuse")
    urgent = give_notice(cx, victim, grace="5")
    heard(cx, ready=1, decline=1)
    assert waits(cx, victim, urgent)
    cx.wait(urgent)
    r = record(cx, victim)
    assert r["reply"] == "decline" and float(r["notice"]) >= 5


def test_an_offer_of_one_host_is_taken_though_another_one_is_ready(cx):
    victim = spread(cx, "event", "0:hold=answer", "0:partial=n2", "1:ready")
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx).preempt_run(urgent, "(n2:ncpus=4)", [victim])
    heard(cx, ready=1)
    assert waits(cx, victim, urgent)
    go(cx)
    cx.wait(urgent)
    assert cx.stat(victim)["exec_vnode"] == "(n1:ncpus=4)" and cx.state(victim) == "R"


# --- a script that answers once
ACK = "trap 'pbs_preempt_ack -r' USR1\n"


def test_an_answer_of_the_script_speaks_for_the_job_where_no_other_host_takes_part(cx):
    victim = started(cx, ACK + "echo up > ready\nwhile :; do sleep 0.05; done", TWO, select="2:ncpus=4", l_place="scatter",
                     preempt_signal="USR1")
    until(lambda: cx.file("ready"), "the script")
    cx.wait(give_notice(cx, victim))
    assert record(cx, victim)["reply"] == "ready"


def test_an_answer_of_the_script_waits_for_a_host_that_has_declared_that_it_takes_part(cx):
    pmix_program(cx, "pmix_talk")
    victim = started(cx, ACK + "pbs_launch ./pmix_talk talk 1:event 1:ready 1:hold=answer &\nwhile :; do wait; done", TWO,
                     select="2:ncpus=4:mpiprocs=1", l_place="scatter", preempt_signal="USR1")
    until(lambda: (cx.stat(victim) or {}).get("checkpoint_by") == "pmix", "the declaration")
    urgent = give_notice(cx, victim)
    heard(cx, ready=1)
    assert waits(cx, victim, urgent)
    go(cx)
    cx.wait(urgent)
    assert record(cx, victim)["reply"] == "ready"


# --- restarts, and hosts that leave in between
def test_a_restarted_server_knows_which_hosts_have_answered(cx):
    victim = spread(cx, "event", "ready", "1:hold=answer")
    urgent = give_notice(cx, victim)
    heard(cx, ready=1)
    cx.crash_server()
    cx.hosts_back()
    assert waits(cx, victim, urgent)
    go(cx)
    cx.wait(urgent)
    assert record(cx, victim)["reply"] == "ready"


def test_a_host_that_is_lost_is_not_waited_for(cx):
    victim = spread(cx, "event", "0:ready", tolerate_node_failures="all")
    urgent = give_notice(cx, victim)
    heard(cx, ready=1)
    assert waits(cx, victim, urgent)
    kill_shepherd(cx, victim, "n2")
    cx.wait(urgent)
    assert record(cx, victim)["reply"] == "ready"


def test_a_host_whose_helper_has_died_is_not_waited_for(cx):
    victim = spread(cx, "event", "0:ready", "1:hold=answer")
    urgent = give_notice(cx, victim)
    heard(cx, ready=1)
    assert waits(cx, victim, urgent)
    kill_helper(cx, victim, "n2")
    cx.wait(urgent)
    assert record(cx, victim)["reply"] == "ready"


@three
def test_a_host_that_is_given_back_is_not_waited_for(cx):
    victim = spread(cx, "event", "0:ready", "1:ready", n=3)
    urgent = give_notice(cx, victim)
    heard(cx, ready=2)
    assert waits(cx, victim, urgent)
    cx.command("pbs_release_nodes", "-j", victim, "n3")
    cx.wait(urgent)
    assert record(cx, victim)["reply"] == "ready"


# --- what hosts have declared
@pytest.mark.parametrize("most", [0, 1])
def test_of_several_hosts_the_longest_time_that_one_needs_stretches_the_notice(cx, most):
    victim = spread(cx, "event", "need=150", f"{most}:need=500")
    give_notice(cx, victim, grace="100", most="900")
    assert 400 < int(noticed(cx, victim)) - time.time() <= 500


def test_what_one_host_has_declared_remains_when_the_programs_of_another_one_end(cx):
    victim = spread(cx, "event", "need=150", "1:need=500")
    kill_ranks(cx, 1)
    cx.wait_log("server", "its programs on n2 do not save themselves any more")
    assert cx.stat(victim)["checkpoint_by"] == "pmix"
    give_notice(cx, victim, grace="100", most="900")
    assert 100 < int(noticed(cx, victim)) - time.time() <= 150


def test_what_a_host_has_declared_ends_with_its_helper(cx):
    victim = spread(cx, "event", "need=150", "1:need=500")
    kill_helper(cx, victim, "n2")
    cx.wait_log("server", "its programs on n2 do not save themselves any more")
    assert cx.stat(victim)["checkpoint_by"] == "pmix"
    kill_helper(cx, victim, "n1")
    until(lambda: (cx.stat(victim) or {}).get("checkpoint_by") != "pmix", "the end of the declaration")


def test_a_restarted_server_knows_what_each_host_has_declared(cx):
    victim = spread(cx, "event", "need=150", "1:need=500")
    cx.crash_server()
    cx.hosts_back()
    kill_ranks(cx, 1)
    cx.wait_log("server", "its programs on n2 do not save themselves any more")
    assert cx.stat(victim)["checkpoint_by"] == "pmix"
    kill_ranks(cx, 0)
    until(lambda: (cx.stat(victim) or {}).get("checkpoint_by") != "pmix", "the end of the declaration")


# --- a save is an image also where the method is R
def bound(cx, job):
    """What the job asks for while it waits, and whether that names the hosts of its image."""
    return cx.wait(job, "Q")["schedselect"]


BOUND = "1:ncpus=4:mpiprocs=1:host=n1+1:ncpus=4:mpiprocs=1:host=n2"


def test_programs_that_save_themselves_on_both_hosts_and_are_requeued_continue_there(cx):
    victim = spread(cx, "event", "saved")
    urgent = give_notice(cx, victim)
    cx.wait(urgent)
    assert bound(cx, victim) == BOUND
    r = record(cx, victim)
    assert (r["method"], r["reply"]) == ("R", "saved")
    cx.api.delete(urgent)
    cx.wait_gone(urgent)
    cx.api.run(victim, TWO)
    until(lambda: all(said(cx, r).count("up") == 2 for r in (0, 1)), "both ranks to be back")
    assert [states(cx, victim, n) for n in ("n1", "n2")] == [["state.0"], ["state.1"]]


def test_a_save_on_one_of_two_hosts_is_not_an_image(cx):
    victim = spread(cx, "event", "0:saved", "1:ready")
    cx.wait(give_notice(cx, victim))
    assert bound(cx, victim) == "2:ncpus=4:mpiprocs=1"
    assert states(cx, victim, "n1") == ["state.0"]


@three
def test_a_host_on_which_nothing_has_run_has_nothing_to_save(cx):
    pmix_program(cx, "pmix_talk")
    victim = started(cx, "pbs_launch -K 0 -n 2 ./pmix_talk talk event saved", WIDE, select="3:ncpus=4:mpiprocs=1", l_place="scatter")
    for r in (0, 1):
        line(cx, "declared", r)
    cx.wait(give_notice(cx, victim))
    assert bound(cx, victim) == BOUND + "+1:ncpus=4:mpiprocs=1:host=n3"


def test_a_restarted_server_knows_which_hosts_have_ended_with_a_save(cx):
    victim = spread(cx, "event", "saved", "0:hold=answer")
    urgent = give_notice(cx, victim)
    heard(cx, saved=1)
    with daemon_frozen(cx, "n2"):
        go(cx)
        cx.wait_log("server", "saved by its programs on n1")
        cx.crash_server()
    cx.hosts_back()
    cx.wait(urgent)
    assert bound(cx, victim) == BOUND


# --- method C
def test_a_checkpoint_is_not_taken_where_one_host_does_not_report_and_the_next_letter_is_applied(cx):
    by_application(cx, "n1", "n2", seconds=2)
    victim = spread(cx, "event", "0:saved", "1:hold=asked", declared=False)
    for r in (0, 1):
        line(cx, "declared", r)
    urgent = give_notice(cx, victim, "CR", grace="4")
    heard(cx, saved=1)
    assert waits(cx, victim, urgent)
    cx.wait(urgent)
    r = record(cx, victim)
    assert (r["method"], r["tried"], r["reply"]) == ("R", "CR", "none")
