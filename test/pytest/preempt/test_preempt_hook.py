"""The event preempt: hooks that look at a plan before the server carries it out; this test is the scheduler, except in the last ones."""
import os
import threading

import pytest

from harness import api
from harness.hooks import Hooks, log
from harness.wait import until

ROOM = "(n1:ncpus=4)"

pytestmark = pytest.mark.complex(nodes=2, ncpus=4, sched=False, registers=True)


def planner(cx, order="SCRD"):
    """Be the scheduler."""
    cx.set_sched("preempt_order", order)
    return cx.scheduler


def started(cx, where=ROOM, **attrs):
    job = cx.submit(**attrs)
    cx.api.run(job, where)
    cx.wait(job)
    return job


def halves(cx):
    """Two jobs with half of n1 each."""
    return [started(cx, "(n1:ncpus=2)", select="1:ncpus=2") for _ in range(2)]


def refusal(c, *plan):
    with pytest.raises(api.PbsError) as e:
        c.preempt_run(*plan)
    return e.value


def test_a_hook_sees_the_plan_and_refuses_it_with_its_own_words(complex, hooks):
    victim, urgent = started(complex), complex.submit(select="1:ncpus=4")
    hooks.make("veto", "preempt", "e.reject('%s by %s: %s on %s for %s' % (e.requestor, e.hook_name, [(v.job.id, v.job.job_state == pbs.JOB_STATE_RUNNING, v.methods) "
               "for v in e.victims], e.job.exec_vnode, e.job.id))")
    e = refusal(planner(complex), urgent, ROOM, [victim])
    assert e.code == 15136 and e.text == f"Scheduler by veto: [('{victim}', True, '')] on {ROOM} for {urgent}"
    assert complex.state(victim) == "R" and complex.state(urgent) == "Q" and not complex.api.stat("hold")


def test_an_accepting_hook_changes_nothing(complex, hooks):
    victim, urgent = started(complex), complex.submit(select="1:ncpus=4")
    hooks.make("accepts", "preempt", "e.victims = e.victims\ne.accept()")
    planner(complex, "S").preempt_run(urgent, ROOM, [victim])
    complex.wait(urgent)
    assert complex.state(victim) == "S"


def test_a_hook_says_by_which_methods_a_victim_gives_way(complex, hooks):
    (kept, other), urgent = halves(complex), complex.submit(select="1:ncpus=4")
    hooks.make("methods", "preempt", f"for v in e.victims:\n    if v.job.id == '{other}':\n        v.methods = 'RS'")
    planner(complex, "SR").preempt_run(urgent, ROOM, [kept, other])
    complex.wait(urgent)
    assert complex.state(kept) == "S" and complex.state(other) == "Q"


def test_a_method_that_the_policy_forbids_cannot_be_ordered_by_a_hook(complex, hooks):
    victim, urgent = started(complex), complex.submit(select="1:ncpus=4")
    hooks.make("kills", "preempt", "e.victims[0].methods = 'D'")
    assert "no method is left" in refusal(planner(complex, "S"), urgent, ROOM, [victim]).text
    assert complex.state(victim) == "R"


def test_a_hook_spares_a_victim_that_is_not_needed(complex, hooks):
    spared, needed = halves(complex)
    urgent = complex.submit(select="1:ncpus=2")
    hooks.make("spares", "preempt", f"e.victims = [v for v in e.victims if v.job.id != '{spared}']")
    planner(complex, "S").preempt_run(urgent, "(n1:ncpus=2)", [spared, needed])
    complex.wait(urgent)
    assert complex.state(spared) == "R" and complex.state(needed) == "S"


def test_a_plan_that_a_hook_leaves_without_enough_room_is_refused(complex, hooks):
    victim, urgent = started(complex), complex.submit(select="1:ncpus=4")
    hooks.make("spares", "preempt", "e.victims = ()")
    assert refusal(planner(complex), urgent, ROOM, [victim]).code == 15044
    assert complex.state(victim) == "R"


def test_victims_give_way_in_the_order_of_the_last_hook(complex, hooks):
    victims, urgent = halves(complex), complex.submit(select="1:ncpus=4")
    for name, order in (("first", 1), ("second", 2)):
        hooks.make(name, "preempt", "pbs.logmsg(pbs.LOG_DEBUG, '%s has %s' % (e.hook_name, ' '.join(v.job.id for v in e.victims)))\ne.victims = reversed(e.victims)", order=order)
    hooks.make("third", "preempt", "e.victims = sorted(e.victims, key=lambda v: v.job.id, reverse=True)", order=3)
    planner(complex, "S").preempt_run(urgent, ROOM, victims)
    complex.wait(urgent)
    text = log(complex)
    assert f"first has {victims[0]} {victims[1]}" in text and f"second has {victims[1]} {victims[0]}" in text
    assert text.index(f"{victims[1]};") >= 0 and f"plan for job {urgent}: victims are now {victims[1]}= {victims[0]}=" in text


@pytest.mark.parametrize("script", [
    "raise Exception('x')",
    "e.victims = [pbs.victim]",
    "e.victims = e.victims * 2",
    "e.victims[0].methods = 'X'",
    "e.victims[0].job = e.job",
    "e.job.Priority = 1",
    "import os; os._exit(1)",
])
def test_a_hook_that_fails_has_no_say(complex, hooks, script):
    victim, urgent = started(complex), complex.submit(select="1:ncpus=4")
    hooks.make("fails", "preempt", script)
    planner(complex, "S").preempt_run(urgent, ROOM, [victim])
    complex.wait(urgent)
    assert "preempt hook 'fails' encountered an exception, it has no say" in log(complex) and complex.state(victim) == "S"


def test_a_foreign_job_that_a_hook_smuggles_in_is_not_preempted(complex, hooks):
    foreign = started(complex, "(n2:ncpus=4)", select="1:ncpus=4")
    victim, urgent = started(complex), complex.submit(select="1:ncpus=4")
    hooks.make("forges", "preempt", f"e.victims[0].__dict__['job'] = pbs.server().job('{foreign}')")
    planner(complex, "S").preempt_run(urgent, ROOM, [victim])
    complex.wait(urgent)
    assert complex.state(victim) == "S" and complex.state(foreign) == "R"
    assert f"job {foreign} is not a victim of this plan" in log(complex)


def test_a_plan_in_which_a_hook_names_a_victim_twice_is_used_as_it_was(complex, hooks):
    victims, urgent = halves(complex), complex.submit(select="1:ncpus=4")
    hooks.make("forges", "preempt", "e.victims[1].__dict__['job'] = e.victims[0].job")
    planner(complex, "S").preempt_run(urgent, ROOM, victims)
    complex.wait(urgent)
    assert [complex.state(v) for v in victims] == ["S", "S"]
    assert f"victim {victims[0]} is named twice" in log(complex)


@pytest.mark.parametrize("script, said", [
    ("import time\ntime.sleep(600)", "preempt hook 'hangs' got an alarm call, it has no say"),
    ("import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass", "the plan continues without its preempt hooks: they take too long"),
])
def test_a_plan_does_not_wait_for_a_hook_that_hangs(complex, hooks, script, said):
    victim, urgent = started(complex), complex.submit(select="1:ncpus=4")
    hooks.make("hangs", "preempt", script, alarm=1)
    planner(complex, "S").preempt_run(urgent, ROOM, [victim])
    complex.wait(urgent)
    assert complex.state(victim) == "S" and said in log(complex)


def test_a_victim_that_ends_while_a_hook_thinks_is_out_of_the_way(complex, hooks):
    victim, urgent = started(complex), complex.submit(select="1:ncpus=4")
    hooks.make("thinks", "preempt", "import time\npbs.logmsg(pbs.LOG_DEBUG, 'thinks')\nwhile pbs.server().job(e.victims[0].job.id):\n    time.sleep(0.02)\n")
    c = planner(complex, "S")
    asks = threading.Thread(target=c.preempt_run, args=(urgent, ROOM, [victim]))
    asks.start()
    until(lambda: "thinks" in log(complex), "the hook to run")
    complex.api.delete(victim)
    asks.join()
    complex.wait(urgent)


def test_a_runjob_hook_still_has_its_say_about_the_urgent_job(complex, hooks):
    victim, urgent = started(complex), complex.submit(select="1:ncpus=4")
    hooks.make("accepts", "preempt", "e.accept()")
    hooks.make("no", "runjob", "e.reject('not this job')")
    assert refusal(planner(complex, "S"), urgent, ROOM, [victim]).text == "not this job"


@pytest.mark.complex(nodes=1, ncpus=4)
def test_the_scheduler_tells_the_urgent_job_who_refused_its_plan(cx):
    hooks = Hooks(cx)
    hooks.make("night", "preempt", "e.reject('no preemption before midnight')")
    cx.make_queue("express", Priority="200")
    victim = cx.submit(select="1:ncpus=4")
    cx.wait(victim)
    urgent = cx.submit(select="1:ncpus=4", queue="express")
    until(lambda: "no preemption before midnight" in (cx.stat(urgent).get("comment") or ""), lambda: cx.describe(urgent))
    assert cx.state(victim) == "R"
    hooks.delete()
    cx.set_server("scheduling", "True")
    cx.wait(urgent)
    assert cx.state(victim) == "S"


@pytest.mark.complex(nodes=1, ncpus=4, sched=False)
def test_a_server_killed_while_a_hook_looks_at_a_plan_has_not_begun_it(cx):
    gate, hooks = os.path.join(cx.work, "gate"), Hooks(cx)
    os.mkfifo(gate)
    hooks.make("half", "preempt", f"open({gate!r}).read()")
    victim, urgent = started(cx), cx.submit(select="1:ncpus=4")
    c = cx.connect()
    c.register("default")

    def plans():
        with pytest.raises(api.PbsError):
            c.preempt_run(urgent, ROOM, [victim])

    asks = threading.Thread(target=plans)
    asks.start()
    with open(gate, "w", encoding="ascii"):  # returns when the hook has opened it: it runs now
        cx.crash_server()
    asks.join()
    assert not cx.api.stat("hold") and cx.state(victim) == "R" and cx.state(urgent) == "Q"
