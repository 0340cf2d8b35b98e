"""The exec protocol event by event, with services that are played by hand: what may be said twice, late, or never."""
import contextlib
import os
import random
import socket
import struct
from concurrent import futures

import pytest

from harness import api, rpc_caller
from harness.exec_peer import (ACCEPTED, ACKED, FORGET, KEEP, KILL, LAUNCH, PURGE, REFUSED, RELEASED, RESUME, RUNNING,
                            START, SUSPEND, TERMINATE, UNKNOWN_RUN, WAS_RESUMED, WAS_SUSPENDED, WITHDRAW, CAN_WITHDRAW, Peer, text,
                            u32)
from harness.faults import stays
from harness.hosts import accounting
from harness.wait import until

alone = pytest.mark.complex(nodes=0, sched=False, history=True)
stores = pytest.mark.parametrize("store", [
    pytest.param("sqlite", marks=alone),
    pytest.param("postgres", marks=pytest.mark.complex(nodes=0, sched=False, history=True, store="postgres"))])
STATUS_TERMINATED = 256 + 15


@contextlib.contextmanager
def peers(cx, n):
    """Services s1 to sN of a vnode each, accepted."""
    with contextlib.ExitStack() as stack:
        all_of_them = [stack.enter_context(Peer(cx, f"s{i}")) for i in range(1, n + 1)]
        for p in all_of_them:
            assert p.hello().verdict == ACCEPTED
        yield all_of_them


@pytest.fixture
def peer(cx):
    with peers(cx, 1) as (p,):
        yield p


def job_on(cx, n=1, **attrs):
    """A job that was given n hosts."""
    job = cx.submit("true", select=f"{n}:ncpus=1", l_place="scatter", **attrs)
    cx.api.run_async(job, "+".join(f"(s{i}:ncpus=1)" for i in range(1, n + 1)))
    return job


@contextlib.contextmanager
def asking(cx, call, *args):
    """Somebody makes this call, which is answered when our services have done their part: at the latest at the end."""
    c = cx.connect()
    with futures.ThreadPoolExecutor(1) as pool:
        reply = pool.submit(getattr(c, call), *args)
        yield reply
        reply.result(120)
    c.close()


def used(cx, node="s1"):
    return cx.node(node).get("resources_assigned", {}).get("ncpus", "0")


def was_run(cx, job, times):
    """It is over, and went through its life once a run: nothing was counted twice."""
    cx.wait_gone(job)
    assert len(accounting(cx, job, "E")) == 1  # written last
    assert len(accounting(cx, job, "S")) == times
    assert cx.stat(job)["run_count"] == str(times) and used(cx) == "0"


# --- numbers


@alone
def test_a_life_event_by_event(cx, peer):
    job = job_on(cx)
    start = peer.order(START)
    assert start.id == job and start.launch and start.my_host == 0 and len(start.hosts) == 1
    run = start.run
    assert peer.say(peer.ready(run)) == [(ACKED, 1)]
    assert cx.stat(job)["substate"] == "41"
    assert peer.say(peer.started(run)) == [(ACKED, 2)]
    assert cx.state(job) == "R" and used(cx) == "1"
    assert peer.say(peer.finish(run, 3, status=7)) == [(ACKED, 3)]
    s = cx.stat(job)
    assert s.state == "E" and s["Exit_status"] == "7" and used(cx) == "1"  # the result is seen before its room is free
    assert peer.say(peer.release(run, 4)) == [(ACKED, 4)]
    assert used(cx) == "0"
    peer.order(PURGE, run)
    was_run(cx, job, 1)


@alone
def test_every_event_twice_and_in_reversed_batches_is_applied_once(cx, peer):
    job = job_on(cx)
    run = peer.order(START).run
    life = [peer.ready(run), peer.started(run), peer.finish(run, 3, status=9), peer.release(run, 4)]
    assert peer.say(*reversed(life)) == [(ACKED, 0), (ACKED, 0), (ACKED, 0), (ACKED, 1)]
    assert peer.say(*reversed(life)) == [(ACKED, 1), (ACKED, 1), (ACKED, 2), (ACKED, 2)]
    assert peer.say(life[1], life[0], life[1]) == [(ACKED, 2)] * 3
    assert cx.state(job) == "R"
    assert peer.say(life[3], life[2], life[2]) == [(ACKED, 2), (ACKED, 3), (ACKED, 3)]
    assert cx.state(job) == "E"
    assert peer.say(life[2], life[3]) == [(ACKED, 3), (ACKED, 4)]
    assert all(state == UNKNOWN_RUN for state, _ in peer.say(*life, *life))  # it is over: nothing refers to it any more
    assert cx.stat(job)["Exit_status"] == "9"
    was_run(cx, job, 1)


@alone
def test_after_a_gap_nothing_is_applied_until_it_is_filled(cx, peer):
    job = job_on(cx)
    run = peer.begin()
    assert peer.say(peer.release(run, 4)) == [(ACKED, 2)]
    assert peer.say(peer.release(run, 40)) == [(ACKED, 2)]
    assert cx.state(job) == "R" and used(cx) == "1"
    peer.end(run)
    was_run(cx, job, 1)


@alone
def test_events_of_an_earlier_run_do_not_touch_the_job(cx, peer):
    job = job_on(cx)
    first = peer.begin()
    with asking(cx, "rerun", job):
        assert peer.order(TERMINATE).run == first
        peer.end(first, status=STATUS_TERMINATED, reason=1)
    cx.wait(job, "Q")
    cx.api.run_async(job, "(s1:ncpus=1)")
    second = peer.begin()
    assert second == first.of(second.run) and second.run > first.run
    late = [peer.finish(first, 3, status=1), peer.release(first, 4), peer.release(first, 5)]
    assert [state for state, _ in peer.say(*late)] == [UNKNOWN_RUN] * 3
    assert cx.state(job) == "R" and used(cx) == "1"
    assert peer.say(peer.finish(first.of(second.run + 1), 3))[0][0] == UNKNOWN_RUN  # nor those of a run to come
    peer.end(second)
    was_run(cx, job, 2)


@alone
def test_an_exception_may_replace_start_and_finish(cx, peer):
    job = job_on(cx, Rerunable="False")
    run = peer.order(START).run
    said = peer.say(peer.exception(run, 1, 0, "disk", "the disk is gone"), peer.release(run, 2))
    assert said == [(ACKED, 1), (ACKED, 2)]
    cx.wait(job, "Q")  # nothing of it has run
    assert used(cx) == "0"
    cx.api.run_async(job, "(s1:ncpus=1)")
    peer.end(peer.begin())
    cx.wait_gone(job)
    assert len(accounting(cx, job, "E")) == len(accounting(cx, job, "S")) == 1


@alone
@pytest.mark.parametrize("rerunable", ["True", "False"])
def test_a_run_that_is_released_without_a_finish_is_lost(cx, peer, rerunable):
    job = job_on(cx, Rerunable=rerunable)
    run = peer.begin()
    peer.say(peer.exception(run, 3, 0, "lost", "no such process"), peer.release(run, 4))
    if rerunable == "True":
        cx.wait(job, "Q")
        cx.api.run_async(job, "(s1:ncpus=1)")
        peer.end(peer.begin())
        was_run(cx, job, 2)
    else:
        was_run(cx, job, 1)
        assert cx.stat(job)["Exit_status"] == "-20"


@alone
def test_of_two_ends_the_first_counts(cx, peer):
    job = job_on(cx)
    run = peer.begin()
    assert peer.say(peer.finish(run, 3, status=5), peer.finish(run, 4, status=6)) == [(ACKED, 3), (ACKED, 4)]
    assert peer.say(peer.release(run, 5)) == [(ACKED, 5)]
    peer.order(PURGE, run)
    was_run(cx, job, 1)
    assert cx.stat(job)["Exit_status"] == "5"


@alone
def test_a_host_that_needs_a_person_is_released_but_not_into_the_pool(cx, peer):
    job = job_on(cx)
    run = peer.begin()
    peer.say(peer.finish(run, 3), peer.release(run, 4, attention=True, note="its epilogue hangs"))
    peer.order(PURGE, run)
    was_run(cx, job, 1)
    assert "offline" in cx.node("s1").state and cx.node("s1")["comment"] == "its epilogue hangs"


@alone
def test_a_host_takes_no_other_out_of_the_pool(cx):
    with peers(cx, 2) as (one, other):
        job = job_on(cx)
        run = one.begin()
        one.say(one.finish(run, 3), one.release(run, 4, nodes=[other.node, one.node], attention=True, note="mine"))
        one.order(PURGE, run)
        was_run(cx, job, 1)
        assert "offline" in cx.node(one.node).state and cx.node(other.node).state == "free"


def anything(rng, p, run, seq):
    """Some event, right or wrong."""
    one = rng.choice([0, 1, 7])
    status, reason = rng.choice([0, 1, 271, -4, -12, -3]), rng.randrange(14)
    nodes = rng.choice([[], ["s1"], ["s2"], ["nobody"]])
    return rng.choice([
        lambda: p.ready(run, seq), lambda: p.started(run, seq), lambda: p.finish(run, seq, status, reason),
        lambda: p.release(run, seq, final=False, nodes=nodes), lambda: p.release(run, seq, nodes=nodes),
        lambda: p.exception(run, seq, rng.randrange(2), "some", "thing"), lambda: p.outcome(run, seq, WAS_SUSPENDED, one),
        lambda: p.outcome(run, seq, WAS_RESUMED, one), lambda: p.failed(run, seq, one, "suspend"),
        lambda: p.checkpointed(run, seq, one, rng.choice(["", "/a/b", "shared:x", "x;y,z|"]))])()


@alone
def test_services_that_say_anything_in_any_order_harm_only_their_own_jobs(cx):
    server = cx.pid("server")
    with peers(cx, 2) as hosts:
        for seed in range(20):
            rng = random.Random(seed)
            job = job_on(cx, 2)
            runs = [p.order(START).run for p in hosts]
            for seq in range(1, 12):
                for p, run in zip(hosts, runs):
                    p.say(anything(rng, p, run, seq))
            cx.api.delete_list([job], "force")
            cx.wait_gone(job)
            assert used(cx, "s1") == used(cx, "s2") == "0"
            for p in hosts:
                p.orders.clear()
    assert cx.pid("server") == server


# --- attempts


@alone
def test_an_outcome_of_another_attempt_is_not_taken_for_this_one(cx, peer):
    job = job_on(cx)
    run = peer.begin()
    with asking(cx, "signal", job, "suspend") as reply:
        now = peer.order(SUSPEND, run).attempt
        assert peer.say(peer.outcome(run, 3, WAS_SUSPENDED, now - 1)) == [(ACKED, 3)]
        assert peer.say(peer.outcome(run, 4, WAS_SUSPENDED, now + 1)) == [(ACKED, 4)]
        assert cx.state(job) == "R" and not reply.done()
        peer.say(peer.outcome(run, 5, WAS_SUSPENDED, now))
    assert cx.state(job) == "S"
    with asking(cx, "signal", job, "resume") as reply:
        later = peer.order(RESUME, run).attempt
        assert later > now
        peer.say(peer.outcome(run, 6, WAS_RESUMED, now))
        assert cx.state(job) == "S" and not reply.done()
        peer.say(peer.outcome(run, 7, WAS_RESUMED, later), peer.outcome(run, 8, WAS_SUSPENDED, now))
    assert cx.state(job) == "R"
    peer.end(run, 9)
    was_run(cx, job, 1)


@alone
def test_a_suspension_that_failed_and_succeeds_late_does_not_disturb_the_next_letter(cx, peer):
    cx.set_sched("preempt_order", "SR")
    job = job_on(cx)
    run = peer.begin()
    c = cx.connect()
    c.register()
    ticket = c.preempt_send([job])
    first = peer.order(SUSPEND, run).attempt
    peer.say(peer.failed(run, 3, first, "suspend"))
    second = peer.order(TERMINATE, run).attempt
    assert second > first
    peer.say(peer.outcome(run, 4, WAS_SUSPENDED, first))
    assert cx.state(job) == "R" and not c.ready(ticket)
    peer.end(run, 5, status=STATUS_TERMINATED, reason=1)
    assert c.preempt_recv(ticket) == [(job, "Q")]
    c.close()
    cx.wait(job, "Q")
    cx.api.run_async(job, "(s1:ncpus=1)")
    again = peer.begin()
    assert peer.say(peer.outcome(run, 7, WAS_SUSPENDED, first))[0][0] == UNKNOWN_RUN
    assert cx.state(job) == "R"
    peer.end(again)
    was_run(cx, job, 2)


# --- an end that is withdrawn


@contextlib.contextmanager
def requeued_for_another(cx, n=1, capabilities=CAN_WITHDRAW):
    """Services, a job that all of them were told to end for an urgent one, its run, the urgent job, and the attempt."""
    cx.set_sched("preempt_order", "R")
    c = cx.connect()
    c.register("default")
    with peers(cx, n) as hosts:
        for p in hosts:
            assert p.hello(capabilities=capabilities).verdict == ACCEPTED
        job = job_on(cx, n)
        for p in hosts:
            run = p.order(START).run
            p.say(p.ready(run))
        hosts[0].say(hosts[0].started(run))
        cx.wait(job)
        urgent = cx.submit(select=f"{n}:ncpus=4", l_place="scatter")
        c.preempt_run(urgent, "+".join(f"({p.node}:ncpus=4)" for p in hosts), [job])
        first = {p.order(TERMINATE, run).attempt for p in hosts}
        yield hosts, job, run, urgent, first.pop()
    c.close()


@alone
def test_a_job_runs_on_when_its_host_has_taken_the_end_back(cx):
    with requeued_for_another(cx) as ((peer,), job, run, urgent, ended):
        cx.api.delete(urgent)
        now = peer.order(WITHDRAW, run).attempt
        assert now > ended
        peer.say(peer.outcome(run, 3, WAS_RESUMED, ended))
        with pytest.raises(api.PbsError) as e:
            cx.api.signal(job, "suspend")
        assert e.value.code == 15016
        peer.say(peer.outcome(run, 4, WAS_RESUMED, now))
        with asking(cx, "signal", job, "suspend"):
            peer.say(peer.outcome(run, 5, WAS_SUSPENDED, peer.order(SUSPEND, run).attempt))
        assert cx.state(job) == "S"


@alone
def test_an_older_host_is_not_asked_to_take_an_end_back(cx):
    with requeued_for_another(cx, capabilities=0) as ((peer,), job, run, urgent, _):
        cx.api.delete(urgent)
        peer.end(run, 3, status=STATUS_TERMINATED, reason=1)
        cx.wait(job, "Q")
        assert WITHDRAW not in [o.proc for o in peer.orders]


@alone
def test_all_hosts_are_told_to_end_again_when_one_refuses_to_take_it_back(cx):
    with requeued_for_another(cx, 2) as ((first, second), job, run, urgent, ended):
        second.refuse[WITHDRAW] = 15018
        cx.api.delete(urgent)
        now = first.order(WITHDRAW, run).attempt
        second.order(WITHDRAW, run)
        again = {p.order(TERMINATE, run).attempt for p in (first, second)}
        assert len(again) == 1 and again.pop() > now > ended
        first.say(first.outcome(run, 3, WAS_RESUMED, now))
        second.say(second.finish(run, 2, status=STATUS_TERMINATED, reason=1), second.release(run, 3))
        first.end(run, 4, status=STATUS_TERMINATED, reason=1)
        cx.wait(job, "Q")


@alone
def test_a_job_that_one_host_has_released_cannot_run_on(cx):
    with requeued_for_another(cx, 2) as ((first, second), job, run, urgent, _):
        cx.api.delete(urgent)
        now = first.order(WITHDRAW, run).attempt
        first.say(first.outcome(run, 3, WAS_RESUMED, now))
        second.say(second.finish(run, 2, status=STATUS_TERMINATED, reason=1), second.release(run, 3))
        assert first.order(TERMINATE, run).attempt > now
        first.end(run, 4, status=STATUS_TERMINATED, reason=1)
        assert cx.wait(job, "Q")["preempt_count"] == "1"


@alone
def test_a_host_that_says_hello_in_between_is_told_again(cx):
    with requeued_for_another(cx) as ((peer,), job, run, urgent, _):
        cx.api.delete(urgent)
        now = peer.order(WITHDRAW, run).attempt
        peer.orders.clear()
        assert peer.hello(runs=[(run, RUNNING, 2)], generation=2, capabilities=CAN_WITHDRAW).runs[run][0] == KEEP
        assert peer.order(WITHDRAW, run).attempt == now
        peer.say(peer.outcome(run, 3, WAS_RESUMED, now), peer.outcome(run, 4, WAS_RESUMED, now))
        assert TERMINATE not in [o.proc for o in peer.orders]
        cx.api.delete_list([job])
        assert peer.order(TERMINATE, run).attempt > now
        peer.end(run, 5, status=STATUS_TERMINATED, reason=1)
        cx.wait_gone(job)


# --- several hosts


@alone
def test_a_host_that_refuses_to_end_a_run_is_told_again_until_it_does(cx, peer):
    cx.set_server("resend_term_delay", "1")
    job = job_on(cx)
    run = peer.begin()
    peer.refuse[TERMINATE] = 15050
    with asking(cx, "rerun", job):
        for _ in range(3):
            assert peer.order(TERMINATE).run == run
        peer.refuse.clear()
        assert peer.order(TERMINATE).run == run
        peer.end(run, status=STATUS_TERMINATED, reason=1)
    cx.wait(job, "Q")
    cx.wait_log("server", "its termination was refused, and is ordered again")


@alone
def test_all_hosts_have_the_same_start_but_for_their_place(cx):
    with peers(cx, 3) as hosts:
        job = job_on(cx, 3)
        starts = [p.order(START) for p in hosts]
        assert [s.my_host for s in starts] == [0, 1, 2] and not any(s.launch for s in starts)
        assert len({(s.cookie, s.id, s.run, tuple(s.hosts)) for s in starts}) == 1
        run = starts[0].run
        for p in hosts[:2]:
            p.say(p.ready(run))
        assert cx.stat(job)["substate"] == "41"
        assert stays(lambda: hosts[0].pump(0) and not hosts[0].orders, 0.2)
        hosts[2].say(hosts[2].ready(run))
        hosts[0].order(LAUNCH, run)
        hosts[0].say(hosts[0].started(run))
        assert cx.state(job) == "R"
        hosts[0].say(hosts[0].finish(run, 3), hosts[0].release(run, 4))
        assert used(cx, "s1") == "0" and used(cx, "s2") == "1"
        for p in hosts[1:]:
            p.order(TERMINATE, run)
            p.say(p.finish(run, 2), p.release(run, 3))
        was_run(cx, job, 1)


@alone
def test_a_start_that_the_third_of_four_hosts_refuses_leaves_nothing_behind(cx):
    with peers(cx, 4) as hosts:
        hosts[2].refuse[START] = 15037
        job = job_on(cx, 4)
        run = hosts[0].order(START).run
        hosts[2].order(START)
        others = [hosts[i] for i in (0, 1, 3)]
        for p in others:
            p.order(TERMINATE, run)
            p.say(p.ready(run), p.finish(run, 2, status=STATUS_TERMINATED, reason=1), p.release(run, 3))
        for p in others:
            p.order(PURGE, run)
        cx.wait(job, "QH")
        assert [used(cx, f"s{i}") for i in range(1, 5)] == ["0"] * 4
        assert not [o for o in hosts[2].orders if o.proc != START]  # who has refused is told nothing more
        assert not [o for o in hosts[0].orders if o.proc == LAUNCH]


# --- HELLO


@alone
def test_a_service_that_reconnects_continues_its_runs_from_what_was_acknowledged(cx, peer):
    job = job_on(cx)
    run = peer.begin()
    answer = peer.hello([(run, RUNNING, 2)], generation=2)
    assert answer.verdict == ACCEPTED and answer.runs == {run: (KEEP, 2)}
    peer.end(run)
    was_run(cx, job, 1)


@alone
def test_a_newer_generation_takes_over_at_once_and_an_older_one_is_refused(cx, peer):
    job = job_on(cx)
    run = peer.begin()
    with Peer(cx) as newer, Peer(cx) as older:
        newer.store, newer.epoch = peer.store, peer.epoch
        assert newer.hello([(run, RUNNING, 2)], generation=3).verdict == ACCEPTED
        until(lambda: not peer.pump(), "the end of the older connection")
        refused = older.hello(generation=2)
        assert refused.verdict == REFUSED and "is here already" in refused.reason
        assert cx.state(job) == "R"
        newer.end(run)
        was_run(cx, job, 1)


@alone
def test_runs_are_kept_or_killed_as_the_server_knows_them(cx, peer):
    job = job_on(cx)
    run = peer.begin()
    unknown, earlier = run.of(run.run), run.of(run.run - 1)
    unknown.seq += 1000
    answer = peer.hello([(run, RUNNING, 2), (unknown, RUNNING, 2), (earlier, RUNNING, 4)], generation=2)
    assert answer.runs[run] == (KEEP, 2)
    assert answer.runs[unknown][0] == KILL and answer.runs[earlier][0] == KILL
    assert [state for state, _ in peer.say(peer.finish(unknown, 3), peer.release(unknown, 4))] == [UNKNOWN_RUN] * 2
    assert cx.state(job) == "R"
    peer.end(run)
    was_run(cx, job, 1)


@alone
def test_a_run_of_another_store_is_left_alone(cx, peer):
    job = job_on(cx)
    run = peer.begin()
    other = run.of(run.run + 7)
    answer = peer.hello([(run, RUNNING, 2), (other, RUNNING, 2, "another")], generation=2)
    assert answer.runs[run][0] == KEEP and answer.runs[other][0] == KEEP
    assert cx.state(job) == "R"
    peer.end(run)
    was_run(cx, job, 1)


@alone
def test_a_start_that_was_lost_is_sent_again_as_it_was(cx, peer):
    job = job_on(cx)
    first = peer.order(START)
    assert peer.hello(generation=1).verdict == ACCEPTED  # it holds nothing: START got lost
    second = peer.order(START)
    assert second.data == first.data
    run = second.run
    peer.say(peer.ready(run), peer.started(run))
    peer.end(run)
    was_run(cx, job, 1)


@alone
def test_a_start_that_is_sent_again_after_the_server_has_died_says_where_each_host_is(cx):
    with Peer(cx, "s1") as first, Peer(cx, "s2") as second:
        for p in (first, second):
            assert p.hello(address=f"{p.node}:1").verdict == ACCEPTED
        job = job_on(cx, 2)
        assert first.order(START).run == second.order(START).run  # and both are lost on their way
        cx.kill("server")
        cx.control("restart", "server")
        cx.again()
        assert first.hello(address="s1:1").verdict == ACCEPTED
        first.pump(0.2)
        assert second.hello(address="s2:1").verdict == ACCEPTED
        for p in (first, second):
            start = p.order(START)
            assert [host[2] for host in start.hosts] == ["s1:1", "s2:1"]
            p.say(p.ready(start.run))
        first.order(LAUNCH)
        cx.api.delete(job, "force")


@alone
def test_a_start_waits_no_longer_for_a_host_that_is_given_up(cx):
    with Peer(cx, "s1") as first, Peer(cx, "s2") as second:
        for p in (first, second):
            assert p.hello(address=f"{p.node}:1").verdict == ACCEPTED
        job = job_on(cx, 2, tolerate_node_failures="all")
        assert first.order(START).run == second.order(START).run
        second.close()
        cx.kill("server")
        cx.control("restart", "server")
        cx.again()
        cx.set_server("node_fail_requeue", "1")
        assert first.hello(address="s1:1").verdict == ACCEPTED
        start = first.order(START)
        first.say(first.ready(start.run))
        cx.api.delete(job, "force")


@alone
def test_a_run_that_was_started_and_is_not_held_any_more_is_lost(cx, peer):
    job = job_on(cx)
    peer.begin()
    assert peer.hello(generation=2, boot="another").verdict == ACCEPTED
    cx.wait(job, "Q")
    assert used(cx) == "0"
    cx.api.run_async(job, "(s1:ncpus=1)")
    peer.end(peer.begin())
    was_run(cx, job, 2)


@alone
def test_a_job_that_may_not_run_again_ends_when_its_only_host_is_lost_and_others_hear_of_it(cx, peer):
    cx.set_server("node_fail_requeue", "1")
    job = job_on(cx, Rerunable="False")
    peer.begin()
    ok, notok = (cx.submit("true", depend=f"{word}:{job}") for word in ("afterok", "afternotok"))
    peer.close()
    was_run(cx, job, 1)
    assert cx.stat(job)["Exit_status"] == "-20"
    cx.wait(notok, "Q")
    until(lambda: cx.state(ok) in (None, "F"), "the end of the job that waited for a good end")


@alone
@pytest.mark.parametrize("begins, said", [(False, "Job never started"), (True, "Job requeued")])
def test_a_job_whose_host_went_away_says_in_the_log_how_far_it_was(cx, peer, begins, said):
    cx.set_server("node_fail_requeue", "1")
    job = job_on(cx)
    if begins:
        peer.begin()
    else:
        peer.order(START)
    peer.close()
    cx.wait(job, "Q")
    until(lambda: f";{job};{said}, execution node s1 down\n" in cx.log("server"), said)


@alone
def test_a_service_that_obeyed_a_higher_epoch_is_refused(cx, peer):
    answer = peer.hello(epoch=peer.epoch + 1, generation=2)
    assert answer.verdict == REFUSED and "has obeyed a server of epoch" in answer.reason
    assert peer.hello(epoch=peer.epoch + 1, store="another", generation=2).verdict == ACCEPTED


# --- the server dies


@pytest.mark.parametrize("said", range(5))
@stores
def test_a_server_killed_with_events_under_way_applies_each_once(cx, store, said):
    """Killed when so many have been acknowledged and the next may or may not be durable."""
    assert cx.store == store
    with peers(cx, 1) as (p,):
        job = job_on(cx)
        run = p.order(START).run
        life = [p.ready(run), p.started(run), p.finish(run, 3, status=5), p.release(run, 4)]
        for event in life[:said]:
            p.say(event)
        if said < len(life):
            p.say_send(life[said])
        cx.kill("server")
        cx.control("restart", "server")
        cx.again()
        answer = p.hello([(run, RUNNING, 4)])
        assert answer.verdict == ACCEPTED
        decision, acked = answer.runs[run]
        if decision == KEEP:
            assert acked >= said
            p.say(*life[acked:])
        else:
            assert said >= 3  # all of it was durable
        cx.wait_gone(job)
        assert cx.stat(job)["Exit_status"] == "5"
        was_run(cx, job, 1)


@alone
def test_a_host_that_has_ended_its_part_is_to_forget_it_after_the_server_has_died(cx):
    with peers(cx, 2) as (first, second):
        job = job_on(cx, 2)
        run = first.order(START).run
        first.say(first.ready(run))
        second.say(second.ready(run))
        first.say(first.started(run))
        first.say(first.finish(run, 3), first.release(run, 4))
        second.order(TERMINATE, run)
        cx.kill("server")
        cx.control("restart", "server")
        cx.again()
        assert first.hello([(run, RELEASED, 4)]).runs[run][0] == FORGET
        assert second.hello([(run, RUNNING, 1)]).runs[run] == (KEEP, 1)
        second.order(TERMINATE, run)  # said again
        second.say(second.finish(run, 2), second.release(run, 3))
        was_run(cx, job, 1)


@alone
def test_a_namesake_does_not_get_the_runs_of_a_service_that_the_server_has_not_heard_of_since_it_died(cx):
    with peers(cx, 1) as (p,), Peer(cx) as namesake:
        p.hello(instance="one", again=True)
        job = job_on(cx)
        run = p.begin()
        cx.kill("server")
        cx.control("restart", "server")
        cx.again()
        answer = namesake.hello(instance="another", generation=9)
        assert answer.verdict == REFUSED and "holds runs" in answer.reason
        assert p.hello([(run, RUNNING, 2)], instance="one", generation=2).verdict == ACCEPTED
        assert cx.state(job) == "R"
        p.end(run)
        was_run(cx, job, 1)


def message(cx_socket, job, words):
    """Send IFL_MESSAGE; nobody reads its answer."""
    args = text(job) + u32(1) + text(words) + text("") + u32(0)
    record = struct.pack(">10I", 7, 0, 2, rpc_caller.IFL, 1, 10, 0, 0, 0, 0) + args
    cx_socket.sendall(struct.pack(">I", 0x80000000 | len(record)) + record)


@alone
def test_a_host_that_reads_orders_and_answers_none_is_cut_off_and_agrees_again(cx, peer):
    job = job_on(cx)
    run = peer.order(START).run
    peer.say(peer.ready(run), peer.started(run))
    until(lambda: cx.stat(job)["substate"] == "42", "the job")
    peer.silent = {30}
    words = "x" * 65000
    with contextlib.ExitStack() as stack:
        def flood():
            for _ in range(6):
                s = stack.enter_context(socket.socket(socket.AF_UNIX))
                s.connect(os.path.join(cx.home, "pbs_server.sock"))
                for _ in range(400):
                    message(s, job, words)
                    if not peer.pump(0):
                        return
        flood()
        until(lambda: not peer.pump(), "the end of the connection")
        assert any(o.proc == 30 for o in peer.orders)
    cx.wait_log("server", "s1 has not answered orders of more than 128 MB together")
    peer.silent = set()
    again = peer.hello([(run, RUNNING, 2)])
    assert again.verdict == ACCEPTED and cx.state(job) == "R"
