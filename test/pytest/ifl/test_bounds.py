"""Bounds of the wire that a legal object can pass: the largest is taken, one beyond is answered by an error that names the
bound, and no run is left behind that cannot start."""
import pytest

from harness import api
from harness.exec_peer import ACCEPTED, CAN_FREEZE, KEEP, RUNNING, START, SUSPEND, Peer
from harness.wait import until

MANY_CHUNKS, MANY_HOSTS = 512, 1024
LARGEST = 50000
VALUE, ATTRS, LIST, TEXT = 1 << 20, 4096, 65536, 65536


def chunks(names, what="ncpus=1"):
    return "+".join(f"({n}:{what})" for n in names)


def location(n):
    """An exec_vnode of n bytes."""
    return "(n1:ncpus=1)" + "+(n1:ncpus=1)" * ((n - 12) // 13 - 1) + "+(n1:ncpus=" + "0" * ((n - 12) % 13) + "1)"


class Held:
    """The objects of a row: a job that is held."""

    def __init__(self, cx):
        self.cx, self.api = cx, cx.api
        self.job = cx.submit("true", Hold_Types="u")


# what, the largest, how it is asked, what the error says
ROWS = [
    ("attributes of a request", ATTRS, lambda h, n: h.api.alter(h.job, [("comment", None, "x")] * n)),
    ("an attribute's value", VALUE, lambda h, n: h.api.alter(h.job, [("Account_Name", None, "a" * n)])),
    ("variables", 32768, lambda h, n: h.api.alter(
        h.job, [("Variable_List", None, ",".join(f"V{i}=1" for i in range(n - 20)) + "," +
                 ",".join(f"W{i}=1" for i in range(20)))])),
    ("bytes of a variable", 131071, lambda h, n: h.api.alter(h.job, [("Variable_List", None, "V=" + "x" * (n - 2))])),
    ("chunks of a select", LIST, lambda h, n: h.api.alter(
        h.job, [("Resource_List", "select", "+".join(["1:ncpus=1"] * n))])),
    ("dependencies", 16384, lambda h, n: h.api.alter(h.job, [("depend", None, "after" + f":{h.job}" * n)])),
    ("jobs of a preemption", LIST, lambda h, n: h.api.preempt([h.job] * n)),
    ("victims of a plan", LIST, lambda h, n: h.api.preempt_run(h.job, "(n1:ncpus=1)", ["999"] * n)),
    ("a location", VALUE, lambda h, n: h.api.run(h.job, location(n))),
]


@pytest.mark.parametrize("what,largest,ask", ROWS, ids=[r[0] for r in ROWS])
def test_a_bound_of_a_request_is_named_by_the_error_beyond_it(place, what, largest, ask):
    held = Held(place)
    place.api.register()

    def said(n):
        try:
            ask(held, n)
        except api.PbsError as e:
            return f"{e.code} {e.text}"
        return ""
    assert str(largest) not in said(largest), f"{what}: the largest is not too large"
    assert str(largest) in said(largest + 1), f"{what}: {said(largest + 1)}"
    assert place.state(held.job) == "H"


# --- runs

def vnodes(n):
    return {f"s{i}": {"resources_available.ncpus": 4} for i in range(n)}


def said_of(call, *args):
    with pytest.raises(api.PbsError) as e:
        call(*args)
    return e.value.text


@pytest.mark.complex(nodes=0, sched=False)
def test_a_service_of_fifty_thousand_vnodes_runs_a_job_on_all_of_them(cx):
    with Peer(cx, "s0") as peer:
        can = CAN_FREEZE | MANY_CHUNKS | MANY_HOSTS
        assert peer.hello(capabilities=can, nodes=vnodes(LARGEST)).verdict == ACCEPTED
        job = cx.submit("true", select=f"{LARGEST}:ncpus=1")
        cx.api.run_async(job, chunks(f"s{i}" for i in range(LARGEST)))
        assert peer.wait(lambda: [o for o in peer.orders if o.proc == START], "START")[0].id == job


@pytest.mark.complex(nodes=0, sched=False)
def test_an_order_that_an_older_service_cannot_take_is_refused_before_a_victim_is_touched(cx):
    """In a plan as in a run: it would be found out when the victims stand still."""
    with Peer(cx, "s1") as old:
        assert old.hello(capabilities=CAN_FREEZE, nodes={"s1": {"resources_available.ncpus": 4097}}).verdict == ACCEPTED
        victim, job = cx.submit("true", select="1:ncpus=1"), cx.submit("true", select="4097:ncpus=1")
        cx.api.run_async(victim, chunks(["s1"]))
        run = old.order(START).run
        old.say(old.ready(run), old.started(run))
        until(lambda: cx.stat(victim)["substate"] == "42", "the victim runs")
        cx.api.register()
        said = []
        for call in (lambda: cx.api.preempt_run(job, chunks(["s1"] * 4097), [victim]),
                     lambda: cx.api.run_async(job, chunks(["s1"] * 4097))):
            try:
                said.append(call())
            except api.PbsError as e:
                said.append(e.text)
        old.say_nodes({"s1": {}})  # the answer comes behind what was ordered
        assert not [o for o in old.orders if o.proc == SUSPEND], "the victim is told to stop"
        for text in said:
            assert "4097 chunks on sim:s1" in text and "older" in text and "4096" in text, text
        assert cx.state(victim) == "R" and cx.state(job) == "Q" and "room" not in cx.stat(job).get("comment", "")


@pytest.mark.complex(nodes=0, sched=False)
def test_resources_of_a_chunk_beyond_the_bound_are_named(cx):
    for i in range(256):
        cx.api.manager(api.CREATE, api.RESOURCE, f"r{i}", [("type", None, "long")])
    with Peer(cx, "s1") as peer:
        assert peer.hello(capabilities=CAN_FREEZE).verdict == ACCEPTED
        job = cx.submit("true")
        text = said_of(cx.api.run_async, job, chunks(["s1"], "ncpus=1:" + ":".join(f"r{i}=0" for i in range(256))))
        assert "257 resources" in text and "256" in text and cx.state(job) == "Q"
        cx.api.run_async(job, chunks(["s1"], "ncpus=1:" + ":".join(f"r{i}=0" for i in range(255))))
        assert peer.order(START).id == job


@pytest.mark.complex(nodes=0, sched=False)
def test_an_exec_host_longer_than_a_value_is_refused_by_the_bound(cx):
    """Its exec_vnode is short enough; its exec_host, which nobody could be sent, is not."""
    names = ["v" * 240 + str(i) for i in range(2)]
    with Peer(cx, names[0]) as peer:
        assert peer.hello(capabilities=CAN_FREEZE | MANY_CHUNKS,
                          nodes={n: {"resources_available.ncpus": 9999} for n in names}).verdict == ACCEPTED
        job = cx.submit("true", select="4170:ncpus=0")
        text = said_of(cx.api.run_async, job, "+".join([names[0] + ":ncpus=01"] * 4170))
        assert "1048576" in text and cx.state(job) == "Q", text


# --- what travels in pieces, and what comes together from parts

SCRIPT_MAX, PIECE = 16 << 20, 262144


@pytest.mark.complex(nodes=0, sched=False)
def test_a_script_of_many_pieces_travels_whole_and_one_byte_more_is_refused_by_the_bound(cx):
    def script(n):
        return "#!/bin/sh\n" + "# 56789 123456789 123456789 123456789\n" * (n // 38) + "#" * ((n - 10) % 38 + 28)

    whole = script(SCRIPT_MAX)[:SCRIPT_MAX]
    assert len(whole) == SCRIPT_MAX > 60 * PIECE
    cx.set_server("jobscript_max_size", "16mb")
    text = said_of(cx.submit, whole + "#")
    assert f"{SCRIPT_MAX + 1} bytes, {SCRIPT_MAX} allowed" in text, text
    assert not cx.api.stat("job")
    with Peer(cx, "s1") as peer:
        assert peer.hello(capabilities=CAN_FREEZE).verdict == ACCEPTED
        cx.api.run_async(cx.submit(whole), chunks(["s1"]))
        assert peer.script_whole(peer.order(START).run) == whole.encode()


HELD_MAX = 65536


@pytest.mark.complex(nodes=0, sched=False)
def test_a_hello_tells_of_as_many_runs_as_the_bound_and_one_more_is_refused_without_harm(cx):
    def runs(n):
        return [(seq, RUNNING, 1) for seq in (first.of_job(i + 10) for i in range(n))]

    with Peer(cx, "s1") as peer:
        assert peer.hello().verdict == ACCEPTED
        job = cx.submit("true")
        cx.api.run_async(job, chunks(["s1"]))
        first = peer.begin()
        with pytest.raises(AssertionError, match="the call was accepted"):
            peer.hello(runs(HELD_MAX + 1))
        assert cx.state(job) == "R", "what cannot be read says nothing of a run"
        answer = peer.hello([(first, RUNNING, 2)] + runs(HELD_MAX - 1))
        assert answer.verdict == ACCEPTED and len(answer.runs) == HELD_MAX and answer.runs[first][0] == KEEP
        assert cx.state(job) == "R"


@pytest.mark.complex(nodes=0, sched=False)
def test_an_exec_vnode_that_becomes_longer_than_a_value_is_refused_by_the_bound(cx):
    """The request is short enough: what is stored has brackets around each chunk."""
    name = "v" * 8
    most = (VALUE + 1) // len(f"({name}:ncpus=1)+")
    with Peer(cx, name) as peer:
        assert peer.hello(capabilities=CAN_FREEZE | MANY_CHUNKS,
                          nodes={name: {"resources_available.ncpus": LIST}}).verdict == ACCEPTED
        job = cx.submit("true", select=f"{most + 1}:ncpus=1")
        text = said_of(cx.api.run_async, job, "+".join([f"{name}:ncpus=1"] * (most + 1)))
        assert str(VALUE) in text and cx.state(job) == "Q", text
        job = cx.submit("true", select=f"{most}:ncpus=1")
        cx.api.run_async(job, "+".join([f"{name}:ncpus=1"] * most))
        assert peer.order(START).id == job
        assert len(cx.stat(job)["exec_vnode"]) == most * len(f"({name}:ncpus=1)+") - 1


@pytest.mark.complex(nodes=0, sched=False)
def test_a_job_that_asks_for_every_resource_there_can_be_is_shown_and_started(cx):
    """The resources of a complex are as many as the attributes of a request; a job has others beside them."""
    names = []
    with pytest.raises(api.PbsError) as e:
        for i in range(ATTRS):
            cx.api.manager(api.CREATE, api.RESOURCE, f"r{i}", [("type", None, "long")])
            names.append(f"r{i}")
    assert f"more than {ATTRS}" in e.value.text
    with Peer(cx, "s1") as peer:
        assert peer.hello(capabilities=CAN_FREEZE).verdict == ACCEPTED
        job = cx.submit("true")
        for some in names[:ATTRS // 2], names[ATTRS // 2:]:
            cx.api.alter(job, [("Resource_List", n, "0") for n in some])
        assert cx.stat(job)["job_state"] == "Q"
        cx.api.run_async(job, chunks(["s1"]))
        order = peer.order(START)
        assert order.id == job and {f"r{i}" for i in range(len(names))} <= {r for _, r, _ in order.attrs}
