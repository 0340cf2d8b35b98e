"""What a request costs grows as its size does: each row of the table of requests and each attribute, given its worst.

Counted are steps of the server (harness.steps), not time, and by how much its memory grows for a request. Sizes are 1 and
64 KB, where what compares each with each costs hundreds of times what is allowed; `--cost-full` adds 1 MB, and 64 KB for
every attribute, not only the first of its type.
"""
import math
import os

import pytest

from harness import api
from harness.exec_peer import (ACCEPTED, CAN_FREEZE, CAN_RELEASE, LAUNCH, RUNNING, START, SUSPEND, UPDATE,
                            Peer)
from harness.steps import EXT, Caller, CountedComplex, array, attributes, attrops, requests, text, u32, u64

SIZES, LARGEST = (1 << 10, 1 << 16), 1_000_000
SET, UNSET, INCR, DECR, EQ = range(5)
# Steps that a request may cost: so many at once, and so many a byte, times the logarithm of its size. A linear
# scanner takes 5 to 30 a byte; what compares each with each takes 20,000 a byte at 64 KB.
BASE, A_BYTE = 400_000, 40
# Bytes by which the server may grow for a request: what its allocator and its batches keep, and so many a byte of
# request and answer. A word of two bytes that is decoded takes a block of memory and a pointer, 40 bytes.
MEMORY, MEMORY_A_BYTE = 8 << 20, 64
SETTLING = {"IFL_SHUTDOWN": "it ends the server"}
ALL_JOBS = 300


@pytest.fixture(scope="module")
def place():
    if "asan" in os.environ["CEDE_BUILD"]:
        pytest.skip("a sanitized server takes other steps")
    c = CountedComplex()
    try:
        c.start()
        c.set_server("max_array_size", "100000")
        yield c
    finally:
        c.stop()


@pytest.fixture
def sizes(pytestconfig):
    return (*SIZES, LARGEST) if pytestconfig.getoption("--cost-full") else SIZES


@pytest.fixture
def caller(place):
    """Removes the jobs that its test has added, since what a list costs grows with them. An array may be that of `objects`."""
    before = set(place.api.select())
    c = Caller(place)
    yield c
    c.close()
    added = [job for job in place.api.select() if job not in before and "[]" not in job]
    if added:
        place.api.delete_list(added, "force")


class Objects:
    """What the requests are about: held jobs, an array of which half has ended."""

    def __init__(self, cx):
        self.jobs = [cx.submit("true", Hold_Types="u") for _ in range(ALL_JOBS)]
        self.cx = cx
        self.array = self.new_array()
        self.token = 0

    def new_array(self):
        """Of 10,000 subjobs, of which the odd ones have ended."""
        array_ = self.cx.submit("true", array_indices_submitted="0-9999")
        self.cx.api.delete(array_.replace("[]", "[1-9999:2]"))
        return array_

    def new_token(self):
        self.token += 1
        return self.token.to_bytes(16, "big")


@pytest.fixture(scope="module")
def objects(place):
    return Objects(place)


def most(n):
    return BASE + A_BYTE * n * math.log2(n)


def check(costs, what):
    """costs: [(size, steps)] in rising order."""
    for n, steps in costs:
        assert steps <= most(n), f"{what}: {steps} steps for {n} bytes, {most(n):.0f} allowed"


def fill(n, make, joint=""):
    """make(0), make(1) ... as many as fit into n bytes."""
    parts, size, i = [], 0, 0
    while size < n:
        parts.append(make(i))
        size += len(parts[-1]) + len(joint)
        i += 1
    return joint.join(parts[:-1] if len(parts) > 1 else parts)[:n]


# --- texts that are bad for some reader

TEXTS = {
    "one word": lambda n: "a" * n,
    "words": lambda n: fill(n, lambda i: f"w{i}", ","),
    "one word often": lambda n: fill(n, lambda i: "a", ","),
    "hosts": lambda n: fill(n, lambda i: f"u{i}@h{i}", ","),
    "backslashes": lambda n: "\\," * (n // 2),
    "variables": lambda n: fill(n, lambda i: f"V{i}={i}", ","),
    "brackets": lambda n: "[" * n,
    "numbers": lambda n: fill(n, lambda i: str(i), ","),
    "digits": lambda n: "9" * n,
    "colons": lambda n: "a:" * (n // 2),
    "plus": lambda n: fill(n, lambda i: f"{i + 1}:ncpus=1", "+"),
    "quotes": lambda n: '"' * n,
}
OF_TYPE = {
    "DEPEND": {"after": lambda n: "after" + fill(n - 5, lambda i: f":{i + 1}"),
               "kinds": lambda n: fill(n, lambda i: f"after:{i % 300 + 1},before:{i % 300 + 1}", ",")},
    "LIMIT": {"limits": lambda n: fill(n, lambda i: f"[u:user{i}=3]", ",")},
    "RESOURCE_LIMITS": {"limits": lambda n: fill(n, lambda i: f"[u:user{i}=3]", ",")},
    "STAGE": {"files": lambda n: fill(n, lambda i: f"a{i}@h:/b{i}", ",")},
    "RESOURCES": {"select": lambda n: fill(n, lambda i: f"{i % 9 + 1}:ncpus={i % 7 + 1}:mem=1gb", "+")},
}
RESOURCE_OF = {"RESOURCES": "select", "RESOURCE_LIMITS": "ncpus"}


def shapes(what):
    return {**TEXTS, **OF_TYPE.get(what, {})}


# --- requests

ROWS = requests()


def lists(name, o):
    """For a request about a list of jobs: {shape: fn(n) that makes the ids}."""
    number = (o.new_array() if name == "IFL_DELETE_LIST" else o.array).split("[")[0]
    return {
        "one job often": lambda n: [o.jobs[0]] * (n // 20),
        "each job": lambda n: [o.jobs[i % len(o.jobs)] for i in range(n // 20)],
        "unknown": lambda n: [f"{900000 + i}" for i in range(n // 20)],
        "no ids": lambda n: ["x" * 500] * (n // 500),
        "ended subjobs": lambda n: [f"{number}[{i % 50 * 2 + 1}]" for i in range(n // 20)],
        "ended ranges": lambda n: [f"{number}[1-9999:2]"] * (n // 20),
        "ranges beyond": lambda n: [f"{number}[1-2147483646:{2148 + 2 * i}]" for i in range(n // 40)],
        "ranges": lambda n: [f"{number}[0-2147483646:{2147 + i}]" for i in range(n // 40)],
        "waiting subjobs": lambda n: [f"{number}[{i * 2}]" for i in range(n // 20)],
    }


def of_one_job(name, o):
    """A job of its own for each request, so that none waits for what another has begun."""
    number = o.array.split("[")[0]
    own = o.jobs[10 + [row[0] for row in ROWS].index(name)]
    return {"a job": lambda n: own, "unknown": lambda n: "900000",
            "long": lambda n: "9" * min(n, 537),
            "a range": lambda n: f"{number}[" + fill(min(n, 500), lambda i: "1-9999:2", ",") + "]"}


def resv_arguments(name, n):
    """As arguments(). The times are long past, so that no reservation is made."""
    if name == "IFL_DELETE_RESV":
        return {k: text(make(min(n, 537))) + attrops() + text("") + EXT for k, make in TEXTS.items()}
    times = (("reserve_start", "", "1", SET), ("reserve_duration", "", "10", SET))
    found = {f"{a}: {k}": attrops(*times, (a, "", make(n), SET)) for k, make in TEXTS.items()
             for a in ("Reserve_Name", "Authorized_Users", "reserve_rrule", "Variable_List")}
    found |= {f"select: {k}": attrops(*times, ("Resource_List", "select", make(n), SET))
              for k, make in shapes("RESOURCES").items()}
    found["resources"] = attrops(*[("Resource_List", f"r{i}", "1", SET) for i in range(min(n // 40, 4096))])
    found["one attribute"] = attrops(*[("reserve_start", "", "1", SET)] * min(n // 40, 4096))
    for rule in ("FREQ=SECONDLY;COUNT=4000000000", "FREQ=MINUTELY;COUNT=1000000;BYDAY=MO,TU", "FREQ=YEARLY;UNTIL=99991231T000000Z"):
        found[rule] = attrops(("reserve_start", "", "4000000000", SET), ("reserve_duration", "", "10", SET),
                              ("reserve_rrule", "", rule, SET), ("reserve_timezone", "", "Europe/Berlin", SET))
    return {k: text("") + v + text("") + EXT for k, v in found.items()}


def arguments(struct, name, o, n):
    """{what is bad about it: the arguments as bytes}."""
    ids = {k: make(n) for k, make in of_one_job(name, o).items()}
    if struct == "ifl_submit_args" or struct == "ifl_arrive_args":
        found = {k: attrops(("Job_Name", "", "x", SET), ("Variable_List", "", make(n), SET)) for k, make in TEXTS.items()}
        found["resources"] = attrops(*[("Resource_List", f"r{i}", "1", SET) for i in range(min(n // 40, 4096))])
        found["one resource"] = attrops(*[("Resource_List", "ncpus", "1", SET) for i in range(min(n // 40, 4096))])
        found["one attribute"] = attrops(*[("Job_Name", "", "x", SET) for i in range(min(n // 40, 4096))])
        return {k: o.new_token() + text("") + v + u64(0) + text("") + text("") + EXT for k, v in found.items()}
    if struct == "ifl_script_args":
        return {"data": text(o.jobs[1]) + u64(0) + text(b"a" * min(n, 262144)) + EXT}
    if struct == "ifl_peek_args":
        return {k: text(v) + u32(1) + u64(n) + EXT for k, v in ids.items()}
    if struct == "ifl_job_args":
        return {k: text(v) + text("e" * min(n, 65536)) + EXT for k, v in ids.items()
                if name != "IFL_DELETE" or k != "a job"}
    if struct == "ifl_job_text_args":
        return {f"{k}, {t}": text(v) + text(make(n)) + text("") + EXT
                for k, v in ids.items() for t, make in TEXTS.items() if k == "a job" or t == "words"}
    if struct == "ifl_message_args":
        return {k: text(v) + u32(1) + text("m" * min(n, 65536)) + text("") + EXT for k, v in ids.items()}
    if struct == "ifl_modify_args":
        return {k: text(o.jobs[1]) + attrops(("Resource_List", "select", make(n), SET)) + text("") + EXT
                for k, make in shapes("RESOURCES").items()}
    if struct == "ifl_manager_args":
        names = {k: make(min(n, 65536)) for k, make in TEXTS.items()}
        found = {k: u32(2) + u32(3) + text(v) + attrops(("comment", "", "x", SET)) for k, v in names.items()}
        found |= {"queues: " + k: u32(2) + u32(1) + text(v) + attrops(("Priority", "", "1", SET)) for k, v in names.items()}
        found["attributes"] = u32(2) + u32(0) + text("") + attrops(*[("comment", "", "x", SET)] * min(n // 40, 4096))
        return {k: v + text("") + EXT for k, v in found.items()}
    if struct == "ifl_status_args":
        found = {k: text(",".join(make(n))[:n]) + u32(0) for k, make in lists(name, o).items()
                 if k not in ("each job", "ended ranges")}  # each of those would be shown
        found |= {k: text(make(n)) + u32(0) for k, make in TEXTS.items()}
        found["wanted"] = text(o.jobs[1]) + array(text("comment") + text("") for _ in range(min(n // 16, 4096)))
        found["wanted resources"] = text(o.jobs[1]) + array(
            text("Resource_List") + text(f"r{i}") for i in range(min(n // 24, 4096)))
        return {k: v + text("x" if "JOB" in name and k == "history" else "") + EXT for k, v in found.items()}
    if struct == "ifl_select_args":
        found = {"criteria": attrops(*[("Priority", "", "7", EQ)] * min(n // 32, 4096)),
                 "few criteria": attrops(*[("Priority", "", "0", EQ)] * min(n // 32, 255))}
        for a in ("User_List", "Job_Name", "job_state", "destination", "Hold_Types"):
            found |= {f"{a}: {k}": attrops((a, "", make(n), EQ)) for k, make in TEXTS.items()}
        return {k: v + u32(0) + text("") + EXT for k, v in found.items()}
    if struct == "ifl_delete_list_args":
        return {k: array(map(text, make(n)[:65536])) + text("") + EXT for k, make in lists(name, o).items()
                if k not in ("one job often", "each job")}
    if struct == "ifl_preempt_args":
        return {k: array(map(text, make(n)[:65536])) + EXT for k, make in lists(name, o).items()}
    if struct == "ifl_preempt_run_args":
        found = {k: text(o.jobs[0]) + text("(n1:ncpus=1)") + array(text(j) + u32(1) + text("") for j in make(n)[:65536])
                 for k, make in lists(name, o).items()}
        found |= {"vnodes: " + k: text(o.jobs[0]) + text(make(n)) + u32(0) for k, make in TEXTS.items()}
        found["chunks"] = text(o.jobs[0]) + text(fill(n, lambda i: f"(n{i}:ncpus=1)", "+")) + u32(0)
        return {k: v + text("") + EXT for k, v in found.items()}
    if struct == "ifl_watch_args":
        wanted = array(text("Resource_List") + text(f"r{i}") for i in range(min(n // 24, 4096)))
        return {"wanted": array([u32(2) + wanted]) + text("") + EXT,
                "kinds": array([u32(2) + array([text("comment") + text("")] * min(n // 256, 4096))] * 16) + text("") + EXT}
    if struct == "ifl_next_args":
        return {"unknown": u32(99) + u64(0) + u64(0) + EXT}
    if struct == "ifl_register_args":
        return {"unknown": text("s" * 200) + text("") + EXT}
    if struct == "ifl_sched_reply_args":
        return {"text": u32(1) + text(o.jobs[0]) + u32(0) + text("t" * min(n, 65536)) + EXT}
    if struct == "ifl_regist_dep_args":
        return {"depend": text(o.jobs[0]) + text("1.far") + text(OF_TYPE["DEPEND"]["after"](n)) + text("") + EXT}
    if struct == "ifl_track_args":
        return {"unknown": text("900000") + text("1.far") + u32(0) + u32(0) + EXT}
    if struct == "ifl_resv_args":
        return resv_arguments(name, n)
    if struct == "ifl_confirm_resv_args":
        found = {f"location: {k}": text("") + text(make(n)) for k, make in TEXTS.items()}
        found |= {"location: occurrences": text("") + text(fill(n, lambda i: f"1#(n1:ncpus=1){{{i}}}")),
                  "location: vnodes": text("") + text(fill(n, lambda i: f"(n{i}:ncpus=1)", "+"))}
        found = {k: text("R0") + v[4:] + u64(0) + text("PBS_RESV_CONFIRM_SUCCESS") for k, v in found.items()}
        return {k: v + EXT for k, v in found.items()}
    if struct == "ifl_counts_args":
        return {"extend": text("e" * min(n, 65536)) + EXT}
    if struct == "ifl_sched_counts_args":
        return {"unknown": u64(1) + u64(1) + array([u64(1)] * 13) + EXT}
    if struct == "ifl_explain_reply_args":
        entry = text("1") + array([text("a") + text("") + text("v")]) + text("")
        return {"found": u32(1) + text(o.jobs[0]) + array([entry] * min(n // 48, 2048)) + EXT}
    return {}


def test_the_harness_knows_every_request():
    assert len(ROWS) >= 40


@pytest.mark.parametrize("name,proc,struct", ROWS, ids=[r[0] for r in ROWS])
def test_a_request_costs_what_its_size_allows(caller, objects, sizes, name, proc, struct):
    if name in SETTLING:
        return
    made = [arguments(struct, name, objects, n) for n in sizes]
    assert made[0], f"no worst input is known for {struct}"
    for shape in made[0]:
        costs, grown = [], []
        for n, all_of_them in zip(sizes, made):
            args = all_of_them[shape]
            if len(args) < (1 << 20) - 100:
                try:
                    steps, _ = caller.cost(proc, args)
                except OSError as e:
                    raise AssertionError(f"{name}, {shape}, {n} bytes: {e}") from None
                grown.append((len(args) + caller.answered, caller.grown))
                looked = min(len(args) // 20 * 10000, 1100000) if shape == "ended ranges" else 0
                costs.append((max(n, 1024) + caller.answered + looked, steps))
        check(costs, f"{name}, {shape}")
        for n, more in grown:
            assert more <= MEMORY + MEMORY_A_BYTE * n, f"{name}, {shape}: the server grew by {more} bytes for {n}"


# --- attributes

KINDS = {"server": (0, ""), "queue": (1, "workq"), "sched": (6, "default"), "node": (3, "n1")}
HARMFUL = {  # what a test cannot set and go on
    "server": {"managers", "operators", "mailer", "scheduling", "acl_hosts", "acl_users"},
    "queue": {"acl_hosts", "acl_users", "acl_groups", "queue_type"},
    "sched": set(), "node": set()}
MODIFY, MANAGER, RELEASE_NODES, MGR_SET, MGR_UNSET = 11, 9, 90, 2, 3


def alter_job(o, name, resource, value, op):
    return MODIFY, text(o.jobs[2]) + attrops((name, resource, value, op)) + text("") + EXT


def manage(kind, name, resource, value, op):
    number, objname = KINDS[kind]
    command = MGR_UNSET if op == UNSET else MGR_SET
    return MANAGER, u32(command) + u32(number) + text(objname) + attrops((name, resource, value, op)) + text("") + EXT


def attribute_cost(caller, make, sizes):
    """Check one attribute; make(value, op) is a request."""
    what, request = make
    for shape, value in shapes(what).items():
        for n in sizes:
            text_ = value(n - 200)
            steps, code = caller.cost(*request(text_, SET))
            costs = [(n, steps)]
            if code == 0:
                costs.append((2 * n, caller.cost(*request(text_.replace("1", "2"), INCR))[0]))
                costs.append((2 * n, caller.cost(*request(text_, DECR))[0]))
                costs.append((2 * n, caller.cost(*request("", UNSET))[0]))
            check(costs, shape)


def first_of_type(rows):
    seen = set()
    return {name for name, what in rows if not (what in seen or seen.add(what))}


ATTRIBUTES = [("job", *row) for row in attributes("job")] + [
    (kind, *row) for kind in KINDS for row in attributes(kind) if row[0] not in HARMFUL[kind]]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", ["job", *KINDS])
def test_an_attribute_costs_what_its_size_allows(place, caller, objects, sizes, kind, pytestconfig):
    if kind == "node":
        place.api.manager(0, 3, "n1")
    rows = [row[1:] for row in ATTRIBUTES if row[0] == kind]
    firsts, full = first_of_type(rows), pytestconfig.getoption("--cost-full")
    for name, what in rows:
        def request(value, op, name=name, what=what):
            resource = RESOURCE_OF.get(what, "")
            if kind == "job":
                return alter_job(objects, name, resource, value, op)
            return manage(kind, name, resource, value, op)
        try:
            attribute_cost(caller, (what, request), sizes if name in firsts or full else sizes[:1])
        except AssertionError as e:
            raise AssertionError(f"{kind} attribute {name} ({what}), {e}") from None


@pytest.mark.parametrize("how", [INCR, DECR], ids=["added", "removed"])
def test_users_to_mail_cost_what_they_are(caller, objects, how):
    """A list of 128 KB to a list of 128 KB of others, or from it: an ordinary user's own held job."""
    there, named = (fill(1 << 17, lambda i, word=word: f"{word}{i}@h{i}", ",") for word in ("a", "b"))
    assert caller.cost(*alter_job(objects, "Mail_Users", "", there, SET))[1] == 0
    steps, code = caller.cost(*alter_job(objects, "Mail_Users", "", named, how))
    assert code == 0
    check([(len(there) + len(named), steps)], "Mail_Users")


# --- dependencies

def test_a_list_of_dependencies_searches_the_graph_once(place, caller):
    """After N jobs and before N others: four times as many cost some four times as much, not sixteen times."""
    def cost(n):
        first = [place.submit("true", Hold_Types="u") for _ in range(n)]
        last = [place.submit("true", Hold_Types="u", depend="on:1") for _ in range(n)]
        place.api.alter(first[0], [("depend", "after:" + ":".join(first[1:]))])
        job = place.submit("true", Hold_Types="u")
        value = "after:" + ":".join(first) + ",before:" + ":".join(last)
        steps, code = caller.cost(MODIFY, text(job) + attrops(("depend", "", value, SET)) + text("") + EXT)
        assert code == 0
        return steps
    few, many = cost(40), cost(160)
    assert many < 7 * few, f"{few} steps for 40 and 40, {many} for 160 and 160"


def test_more_dependencies_than_a_list_holds_are_refused_by_the_bound(place):
    job = place.submit("true", Hold_Types="u")
    with pytest.raises(api.PbsError) as e:
        place.api.alter(job, [("depend", "after" + f":{job}" * 16385)])
    assert "16384" in e.value.text


# --- services

MANY = CAN_FREEZE | 512 | 1024  # EXEC_CAN_MANY_CHUNKS, EXEC_CAN_MANY_HOSTS


@pytest.fixture
def apart(place):
    """For a test that makes thousands of vnodes."""
    c = CountedComplex()
    try:
        yield c.start()
    finally:
        c.stop()


def test_a_run_costs_what_its_chunks_are(apart):
    """Sixteen times as many chunks, written one by one, cost some sixteen times as much, not 256 times."""
    def cost(n):
        names = [f"w{n}x{i}" for i in range(n)]
        with Peer(apart, names[0]) as peer:
            nodes = {name: {"resources_available.ncpus": 1} for name in names}
            assert peer.hello(capabilities=MANY, nodes=nodes).verdict == ACCEPTED
            job = apart.submit("true", select="+".join(["1:ncpus=1"] * n))
            before = apart.steps()
            apart.api.run_async(job, "+".join(f"({name}:ncpus=1)" for name in names))
            peer.order(START)
            return apart.steps() - before
    few, many = cost(1000), cost(16000)
    assert many < 28 * few, f"{few} steps for 1,000 chunks, {many} for 16,000"


def test_a_hello_costs_what_it_says(apart):
    """Sixteen times as many jobs on the service, and runs that it says, cost some sixteen times as much."""
    def cost(jobs, others):
        with Peer(apart, f"h{jobs}") as peer:
            nodes = {peer.node: {"resources_available.ncpus": jobs}}
            assert peer.hello(capabilities=MANY, nodes=nodes).verdict == ACCEPTED
            for _ in range(jobs):
                apart.api.run_async(apart.submit("true"), f"({peer.node}:ncpus=1)")
            runs = [peer.order(START).run for _ in range(jobs)]
            held = [(runs[0].of(1000 + i), RUNNING, 2) for i in range(others)] + [(r, RUNNING, 0) for r in runs]
            before = apart.steps()
            assert peer.hello(capabilities=MANY, nodes=nodes, runs=held, again=True).verdict == ACCEPTED
            peer.say_nodes({peer.node: {}})
            return apart.steps() - before
    few, many = cost(60, 3000), cost(960, 48000)
    assert many < 28 * few, f"{few} steps for 60 jobs and 3,000 runs, {many} for 960 and 48,000"


def begin_many(cx, peer, n):
    """n jobs that run on the only vnode of this service."""
    assert peer.hello(capabilities=MANY, nodes={peer.node: {"resources_available.ncpus": n}}).verdict == ACCEPTED
    jobs = [cx.submit("true") for _ in range(n)]
    for job in jobs:
        cx.api.run_async(job, f"({peer.node}:ncpus=1)")
    runs = [peer.order(START).run for _ in jobs]
    for at in range(0, n, 100):
        peer.say(*[e for r in runs[at:at + 100] for e in (peer.ready(r), peer.started(r))])
    return jobs


@pytest.mark.parametrize("how", ["plan", "list"])
def test_a_preemption_costs_what_its_victims_are(apart, how):
    """Sixteen times as many running victims cost some sixteen times as much."""
    apart.api.register()

    def cost(n):
        with Peer(apart, f"p{n}") as peer:
            jobs = begin_many(apart, peer, n)
            urgent = apart.submit("true", select=f"{n}:ncpus=1")
            before = apart.steps()
            if how == "plan":
                apart.api.preempt_run(urgent, "+".join([f"({peer.node}:ncpus=1)"] * n), jobs)
            else:
                apart.api.preempt_send(jobs)
            peer.order(SUSPEND)
            peer.say_nodes({peer.node: {}})
            return apart.steps() - before
    few, many = cost(60), cost(960)
    assert many < 28 * few, f"{few} steps for 60 victims, {many} for 960"


def test_giving_vnodes_back_costs_what_the_job_has(apart):
    """Half of the vnodes of the second host of a job: sixteen times as many cost some sixteen times as much."""
    def cost(n):
        names = [f"g{n}x{i}" for i in range(n)]
        with Peer(apart, f"f{n}") as first, Peer(apart, names[0]) as second:
            can = MANY | CAN_RELEASE
            assert first.hello(capabilities=can, address="127.0.0.1:1").verdict == ACCEPTED
            assert second.hello(capabilities=can, address="127.0.0.1:2",
                                nodes={name: {"resources_available.ncpus": 1} for name in names}).verdict == ACCEPTED
            job = apart.submit("true", select=f"{n + 1}:ncpus=1")
            apart.api.run_async(job, "+".join(f"({name}:ncpus=1)" for name in [first.node, *names]))
            run = first.order(START).run
            second.order(START)
            first.say(first.ready(run))
            second.say(second.ready(run))
            first.order(LAUNCH)
            first.say(first.started(run))
            caller, before = Caller(apart), apart.steps()
            _, code = caller.cost(RELEASE_NODES, text(job) + text("+".join(names[::2])) + text("") + EXT)
            assert code == 0
            second.order(UPDATE)
            caller.close()
            return apart.steps() - before
    few, many = cost(500), cost(8000)
    assert many < 28 * few, f"{few} steps for 500 vnodes, {many} for 8,000"


# --- what exists beside

@pytest.mark.parametrize("name", ["IFL_MODIFY", "IFL_HOLD", "IFL_LOCATE", "IFL_STATUS_JOB", "IFL_SUBMIT"])
def test_a_request_about_one_job_costs_the_same_among_many(place, caller, objects, name):
    procs = {row[0]: (row[1], row[2]) for row in ROWS}
    proc, struct = procs[name]

    def cost():
        if name == "IFL_SUBMIT":
            attrs = attrops(("Job_Name", "", "x", SET), ("Hold_Types", "", "u", SET))
            args = objects.new_token() + text("") + attrs + u64(0) + text("") + text("") + EXT
        else:
            value = {"ifl_modify_args": attrops(("Priority", "", "7", SET)), "ifl_job_text_args": text("u"),
                     "ifl_job_args": b"", "ifl_status_args": u32(0)}[struct]
            args = text(objects.jobs[3]) + value + text("") + EXT
        return min(caller.cost(proc, args)[0] for _ in range(3))
    few = cost()
    for _ in range(700):
        place.submit("true", Hold_Types="u")
    assert cost() < 1.5 * few + 3000
