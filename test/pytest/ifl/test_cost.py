"""Requests that are small and ask for much: what they cost is in proportion to what they say and to what is there."""
import contextlib
import pathlib
import re

import pytest

from harness import api
from harness.exec_peer import ACCEPTED, CAN_FREEZE, START, Peer
from harness.wait import until

MB = 1 << 20


def memory(cx, field):
    """VmRSS or VmHWM of the server, in bytes."""
    status = pathlib.Path(f"/proc/{cx.pid('server')}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) << 10


@contextlib.contextmanager
def grows_at_most(cx, limit_bytes):
    """The largest size of the server meanwhile is at most so much above that of before."""
    pathlib.Path(f"/proc/{cx.pid('server')}/clear_refs").write_text("5")
    before = memory(cx, "VmRSS")
    yield
    grown = memory(cx, "VmHWM") - before
    assert grown <= limit_bytes, f"the server grew by {grown >> 20} MB"


def refused(code, call, *args, **named):
    with pytest.raises(api.PbsError) as e:
        call(*args, **named)
    assert e.value.code == code, e.value
    return e.value.text


# --- index ranges

@pytest.fixture(scope="module")
def array(place):
    return place.submit("true", array_indices_submitted="1-1000")


@pytest.mark.parametrize("indices", ["0-2147483646:2147", "0-2147483646:2148", "0-2147483646"])
def test_a_range_of_indices_costs_what_its_array_has(place, array, indices):
    number = array.split("[")[0]
    expected = len([i for i in range(1, 1001) if i % int(indices.partition(":")[2] or 1) == 0])
    with grows_at_most(place, 16 * MB):
        if expected:
            shown = place.api.stat("job", ",".join([f"{number}[{indices}]"] * 4), want=["job_state"])
            assert len(shown) == 4 * expected
        else:
            refused(15001, place.api.stat, "job", f"{number}[{indices}]")
        for call in (place.api.delete, place.api.rerun):
            with contextlib.suppress(api.PbsError):
                call(f"{number}[2000-2147483646:2147]")


def test_ranges_of_a_status_have_a_bound_that_its_error_names(place, array):
    number = array.split("[")[0]
    text = refused(15004, place.api.stat, "job", ",".join([f"{number}[1-1000]"] * 1100), want=["job_state"])
    assert "1000000 subjobs" in text


def test_a_range_of_an_array_that_is_unknown_costs_nothing(place):
    with grows_at_most(place, 16 * MB):
        refused(15001, place.api.stat, "job", ",".join(["999999[0-2147483646:2147]"] * 40))
        refused(15001, place.api.delete, "999999[0-2147483646:2147]")


def test_indices_far_apart_cost_what_neighbours_cost(place):
    before = memory(place, "VmRSS")
    for _ in range(100):
        place.submit("true", array_indices_submitted="0-2147000000:214721")
    assert memory(place, "VmRSS") - before < 16 * MB
    place.crash_server()
    assert memory(place, "VmRSS") < before + 32 * MB
    assert sum(s["array_indices_remaining"] == "0-2146995279:214721" for s in place.api.stat("job")
               if "array_indices_remaining" in s) == 100


def test_a_selection_has_a_bound_on_criteria_that_its_error_names(place):
    text = refused(15004, place.api.select, [("Priority", None, "0", 0)] * 257)
    assert "257" in text and "256" in text


# --- orders beyond what the wire holds

MANY_CHUNKS, OLD_CHUNKS, MOST_CHUNKS = 512, 4096, 65536


def chunks(n):
    return "+".join(["(s1:ncpus=1)"] * n)


@pytest.mark.complex(nodes=0, sched=False)
@pytest.mark.parametrize("more", [0, 1])
def test_an_old_service_is_not_sent_more_chunks_than_it_takes_and_the_run_ends(cx, more):
    """The largest START of the older protocol leaves; one chunk more, which it took before it was replaced by an older
    version, ends the run, and the job says why."""
    with Peer(cx, "s1") as peer:
        assert peer.hello(capabilities=CAN_FREEZE | MANY_CHUNKS if more else CAN_FREEZE).verdict == ACCEPTED
        job = cx.submit("true", select=f"{OLD_CHUNKS + more}:ncpus=1")
        cx.api.run_async(job, chunks(OLD_CHUNKS + more))
        assert peer.order(START).id == job
        if more == 0:
            return
        assert peer.hello(capabilities=CAN_FREEZE, generation=2).verdict == ACCEPTED
        until(lambda: cx.state(job) == "Q", "the end of a run that cannot be ordered")
        assert "4097 chunks" in cx.stat(job)["comment"] and "4096" in cx.stat(job)["comment"]
        assert cx.node("s1").get("resources_assigned", {}).get("ncpus", "0") == "0"


@pytest.mark.complex(nodes=0, sched=False)
def test_a_run_of_fifty_thousand_chunks_on_one_service_starts(cx):
    with Peer(cx, "s1") as peer:
        assert peer.hello(capabilities=CAN_FREEZE | MANY_CHUNKS).verdict == ACCEPTED
        job = cx.submit("true", select="50000:ncpus=1")
        cx.api.run_async(job, chunks(50000))
        assert peer.order(START).id == job


@pytest.mark.complex(nodes=0, sched=False)
def test_more_chunks_than_an_order_holds_are_refused_before_anything_is_claimed(cx):
    with Peer(cx, "s1") as peer:
        assert peer.hello(capabilities=CAN_FREEZE | MANY_CHUNKS).verdict == ACCEPTED
        job = cx.submit("true", select=f"{MOST_CHUNKS + 1}:ncpus=1")
        text = refused(15004, cx.api.run_async, job, chunks(MOST_CHUNKS + 1))
        assert "65536" in text and cx.state(job) == "Q"
        cx.api.register()
        text = refused(15004, cx.api.preempt_run, job, chunks(MOST_CHUNKS + 1), [])
        assert "65536" in text and cx.state(job) == "Q"


@pytest.mark.complex(nodes=0, sched=False)
def test_hosts_of_a_large_job_get_their_orders_when_others_have_answered(cx):
    """Each START says all of the job, here 1 MB of variables: 24 of them are not made at once, and each host gets its own."""
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(Peer(cx, f"s{i}")) for i in range(24)]
        for p in peers:
            assert p.hello(address="127.0.0.1:1").verdict == ACCEPTED
        job = cx.submit("true", select="24:ncpus=1", Variable_List=",".join(f"V{i}=" + "x" * 100000 for i in range(10)))
        with grows_at_most(cx, 80 * MB):
            cx.api.run_async(job, "+".join(f"(s{i}:ncpus=1)" for i in range(24)))
            peers[-1].say_nodes({"s23": {}})
            assert not peers[-1].orders, "the last host waits for its turn"
        waiting = set(range(24))
        while waiting:
            for i in sorted(waiting):
                assert peers[i].pump()
                if any(o.proc == START for o in peers[i].orders):
                    waiting.remove(i)
