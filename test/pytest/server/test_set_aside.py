"""No object in any state keeps the server from starting, and no row that is damaged: it is set aside, said, and the rest starts."""
import contextlib
import json
import os
import random

import pytest

from harness import api, faults, rows, users
from harness.complex import Complex
from harness.pieces import Pieces
from harness.wait import until

ANNA = users.NAMES[0]


@contextlib.contextmanager
def busy(store):
    """A complex with every kind of object, and jobs in every state; its MOMs are gone, its server is killed. (cx, jobs)"""
    cx = Complex(nodes=2, ncpus=8, store=store, history=True, sched=False)
    try:
        cx.start()
        yield cx, fill(cx)
    finally:
        cx.stop()


def fill(cx):
    cx.qmgr("create resource foo type=long,flag=nh", "set server resources_available.foo = 5",
            "create sched other", "set sched other partition = p2", "set node n1 resources_available.foo = 3",
            "create queue way queue_type=route,route_destinations=workq,enabled=True,started=False",
            "set queue workq resources_default.foo = 0", "set server max_queued = [u:PBS_GENERIC=500]")
    jobs = {"queued": cx.submit(), "held": cx.submit(Hold_Types="u"), "routed": cx.submit(queue="way")}
    jobs["waiting"] = cx.submit(Execution_Time="209901010000")
    jobs["dependent"] = cx.submit(depend=f"afterok:{jobs['held']}")
    jobs["array"] = cx.submit(array_indices_submitted="1-9")
    jobs["custom"] = cx.submit(l_foo="1", Hold_Types="u")
    jobs["running"], jobs["suspended"], jobs["exiting"] = (cx.submit() for _ in range(3))
    for name in ("running", "suspended", "exiting"):
        cx.api.run(jobs[name], "n1")
        cx.wait(jobs[name])
    cx.api.signal(jobs["suspended"], "suspend")
    cx.wait(jobs["suspended"], "S")
    sub = jobs["array"].replace("[]", "[3]")
    cx.api.run(sub, "n1")
    cx.wait(sub)
    jobs["finished"] = cx.submit("true", block="1")
    cx.api.run(jobs["finished"], "n1")
    cx.wait_gone(jobs["finished"])
    with faults.daemon_frozen(cx, "n2"):
        jobs["starting"] = cx.submit()
        cx.api.run_async(jobs["starting"], "n2")
        until(lambda: cx.stat(jobs["starting"])["substate"] == "41", "a job that starts")
        p = Pieces(cx, ANNA)
        code, jobs["arriving"] = p.begin()
        assert code == 0
        jobs["arriving array"] = p.begin(array_indices_submitted="1-9")[1]
        for daemon in ("n1", "server"):
            cx.kill(daemon)
        cx.kill("n2")
        p.close()
    key = (int(jobs["exiting"].split(".")[0]), -1)
    hot = json.loads(rows.get(cx, "job", key, "hot"))
    rows.put(cx, "job", key, "state", "exiting")
    rows.put(cx, "job", key, "hot", json.dumps({**hot, "state": "exiting"}))
    return jobs


STATES = {"queued": "Q", "held": "H", "routed": "Q", "waiting": "W", "dependent": "H", "array": "B", "custom": "H", "running": "R",
          "suspended": "S", "exiting": "E", "finished": "F", "starting": "R", "arriving": "T", "arriving array": "T"}


def start(cx):
    cx.restart("server")
    cx.again()
    for kind in ("server", "sched", "que", "vnode", "rsc"):
        cx.api.stat(kind)
    return cx.api.stat("job", extend="tx")


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_each_object_in_each_state_is_there_after_a_kill(store):
    with busy(store) as (cx, jobs):
        start(cx)
        assert {name: cx.state(job) for name, job in jobs.items()} == STATES
        assert {q.name for q in cx.api.stat("que")} == {"workq", "way"}
        assert {s.name for s in cx.api.stat("sched")} == {"default", "other"}
        assert {n.name for n in cx.api.stat("vnode")} == {"n1", "n2"}
        assert not os.path.exists(os.path.join(cx.home, "server_priv", "set_aside"))
        cx.kill("server")
        start(cx)
        cx.clean()


def set_aside(cx, name):
    with open(os.path.join(cx.home, "server_priv", "set_aside", name), encoding="utf-8") as f:
        return json.load(f)


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_a_damaged_row_is_set_aside_or_taken_up_in_part(store):
    with busy(store) as (cx, jobs):
        bad = {"kept": 1, "no such attribute": 2}
        for kind, name in (("server", rows.query(cx, "select name from object where kind = 'server'")[0][0]), ("queue", "workq"),
                           ("node", "n1"), ("sched", "other")):
            attrs = json.loads(rows.get(cx, "object", (kind, name), "attrs"))
            rows.put(cx, "object", (kind, name), "attrs", json.dumps({**attrs, **bad}))
        number = {name: int(job.split("[")[0].split(".")[0]) for name, job in jobs.items()}
        for name, column, value in (("held", "attrs", json.dumps(bad)), ("waiting", "hot", '{"state":"thinking"}'),
                                    ("running", "hot", '{"state":"running","queue_name":"workq"}'), ("dependent", "fixed", "[]")):
            rows.put(cx, "job", (number[name], -1), column, value)
        rows.query(cx, "delete from object where kind = 'queue' and name = 'way'")
        start(cx)
        states = {name: cx.state(job) for name, job in jobs.items()}
        left_out = {"waiting", "running", "dependent"}
        assert states == {name: None if name in left_out else state for name, state in STATES.items()}
        assert cx.stat(jobs["held"])["Hold_Types"] == "us"
        queues = {q.name: (q.get("enabled"), q.get("started")) for q in cx.api.stat("que")}
        assert queues == {"workq": ("False", "False"), "way": ("False", "False")}
        assert "offline" in cx.node("n1").state
        assert set_aside(cx, "queue.workq")["kind"] == "queue"
        assert "thinking" in set_aside(cx, "job." + jobs["waiting"])["hot"]
        assert "thinking" in set_aside(cx, "job." + jobs["waiting"])["why"]
        cx.wait_log("server", "is left out")
        cx.wait_log("server", jobs["dependent"])
        assert cx.api.stat("server")[0]["max_queued"] == "[u:PBS_GENERIC=500]"


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_the_number_of_the_next_job_is_found_when_it_is_lost(store):
    with busy(store) as (cx, jobs):
        name = rows.query(cx, "select name from object where kind = 'server'")[0][0]
        rows.put(cx, "object", ("server", name), "hot", "{}")
        start(cx)
        last = max(int(job.split("[")[0].split(".")[0]) for job in jobs.values())
        assert int(cx.submit().split(".")[0]) == last + 1


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_rows_of_names_that_look_alike_have_a_file_each(store):
    with contextlib.closing(Opened(store)) as o:
        cx = o.cx
        cx.kill("server")
        long = "n" * 300
        names = ["a b", "a+b", "a_b", "a%20b", "a/b", long + "1", long + "2"]
        columns = rows.query(cx, "select * from object where kind = 'queue'")[0]
        for name in names:
            rows.query(cx, f"insert into object (kind, name, hot, attrs) values ('queue', {rows.quote(name)}, "
                           "'{}', '{\"no such attribute\": 2}')")
        assert columns
        begin(cx)
        folder = os.path.join(cx.home, "server_priv", "set_aside")
        kept = [json.loads(open(os.path.join(folder, f), encoding="utf-8").read()) for f in os.listdir(folder)]
        assert sorted(k["name"] for k in kept if k["kind"] == "queue") == sorted(names)


def mutate(dice, text, valid):
    """A text that is damaged; `valid`: that is JSON all the same, since a database lets nothing else in."""
    if not valid and dice.random() < 0.5:
        at = dice.randrange(len(text) + 1)
        return dice.choice([text[:at], text[:at] + chr(dice.randrange(1, 127)) + text[at + 1:], text[at:], "", "\x7f" + text])
    strange = [None, 0, -1, 2 ** 62, -2 ** 62, 1.5, True, "", "x" * 3000, [], {}, [[]], {"a": {"b": []}}, "Q", "1-9", "\u20ac\\\""]
    try:
        tree = json.loads(text)
    except ValueError:
        tree = {}
    if not isinstance(tree, dict) or not tree or dice.random() < 0.1:
        return json.dumps(dice.choice(strange))
    at = tree
    while True:
        name = dice.choice(sorted(at)) if isinstance(at, dict) else dice.randrange(len(at))
        if isinstance(at[name], (dict, list)) and at[name] and dice.random() < 0.7:
            at = at[name]
            continue
        break
    if dice.random() < 0.3:
        del at[name]
    else:
        at[name] = dice.choice(strange)
    return json.dumps(tree)


COLUMNS = [("job", "hot"), ("job", "attrs"), ("job", "fixed"), ("job", "fixed_attrs"), ("job", "id"), ("object", "hot"),
           ("object", "attrs"), ("array_page", "remaining"), ("array_page", "failed"), ("acct", "line"), ("acct", "time"),
           ("meta", "value")]


def damage(cx, dice):
    """Three values of rows at random; what was done."""
    done = []
    for _ in range(3):
        table, column = dice.choice(COLUMNS)
        keys = rows.query(cx, f"select {', '.join(rows.KEYS[table])} from {table}")
        keys = sorted(k for k in keys if table != "meta" or k == ["acct"])
        if not keys:
            continue
        key = dice.choice(keys)
        is_json = column in ("hot", "attrs", "fixed", "fixed_attrs")
        old = rows.get(cx, table, key, column)
        if column == "time":
            new = dice.choice([0, -1, 2 ** 62, -2 ** 62])
        elif column == "line":
            new = b"" if cx.store == "sqlite" else "\\x"
        else:
            new = mutate(dice, str(old or "{}"), is_json and cx.store == "postgres")
        rows.put(cx, table, key, column, new)
        done.append((table, key, column, new))
    return done


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_rows_damaged_at_random_do_not_keep_the_server_from_starting(store, damage_seeds):
    with busy(store) as (cx, jobs):
        was = {table: rows.query(cx, f"select * from {table}") for table in rows.KEYS}
        for seed in damage_seeds:
            done = damage(cx, random.Random(seed))
            try:
                start(cx)
                cx.kill("server")
            except (AssertionError, api.PbsError) as e:
                raise AssertionError(f"seed {seed}: {done}") from e
            rows.restore(cx, was)


def damage_server(cx):
    """Its lists and ACLs are lost, as if a byte of them had changed."""
    name = rows.query(cx, "select name from object where kind = 'server'")[0][0]
    rows.put(cx, "object", ("server", name), "attrs", json.dumps({"managers": 7, "comment": "kept", "acl_users": [1]}))


def remove_server(cx):
    rows.query(cx, "delete from object where kind = 'server'")


def begin(cx):
    cx.restart("server")
    cx.again()


def refusal(call, *args, **named):
    with pytest.raises(api.PbsError) as e:
        call(*args, **named)
    return e.value


def doctor_says(cx):
    findings = json.loads(cx.command("pbs_doctor", "-F", "json", check=False).stdout)["findings"]
    return next(f["state"] for f in findings if f["check"] == "closed")


@pytest.mark.skipif(not users.available(), reason="needs root, to be several users")
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
@pytest.mark.parametrize("damage", [damage_server, remove_server])
def test_a_server_that_has_lost_its_attributes_is_closed_until_root_opens_it(store, damage):
    with contextlib.closing(Opened(store)) as o:
        cx = o.cx
        cx.kill("server")
        damage(cx)
        for _ in range(2):  # a change is stored in between, and is not a repair
            begin(cx)
            said = cx.api.stat("server")[0]
            assert "stored attributes" in said["closed"] and said["scheduling"] == "False"
            assert cx.api.stat("job", extend="x")  # what might purge the history is lost, so it is kept
            assert cx.api.stat("sched")[0]["scheduling"] == "False"
            assert {(q.name, q["enabled"], q["started"]) for q in cx.api.stat("que")} == {("workq", "True", "True")}
            cx.wait_log("server", "the server is closed")
            assert doctor_says(cx) == "error"
            with o.anna() as anna:
                refused = refusal(anna.submit, [], cx.script("true"))
                assert refused.code == 15007 and "closed" in str(refused)
                assert refusal(anna.manager, api.MSET, api.SERVER, "", [("comment", None, "mine")]).code == 15007
                assert anna.stat("job") == []
            with contextlib.closing(Pieces(cx, ANNA)) as p:
                assert p.begin()[0] == 15007
            job = cx.submit(queue="workq")
            assert cx.state(job) == "Q"
            cx.set_server("managers", f"{ANNA}@*")
            with o.anna() as anna:
                assert refusal(anna.manager, api.MSET, api.SERVER, "", [("comment", None, "mine")]).code == 15007
            cx.kill("server")
        begin(cx)
        cx.qmgr("set server default_queue = workq", "unset server closed", "set server scheduling = True")
        cx.kill("server")
        begin(cx)
        assert "closed" not in cx.api.stat("server")[0]
        assert doctor_says(cx) == "fine"
        with o.anna() as anna:
            anna.manager(api.MSET, api.SERVER, "", [("comment", None, "mine")])
            anna.submit([], cx.script("true"))
        assert len([j for j in cx.api.stat("job") if j["job_state"] in "QR"]) >= 3


class Opened:
    """A complex without MOMs that has a job of root, and connections of ANNA to it."""

    def __init__(self, store):
        self.cx = Complex(nodes=0, store=store, sched=False).start()
        self.cx.submit()

    @contextlib.contextmanager
    def anna(self):
        with users.acting_as(ANNA):
            c = self.cx.connect()
        try:
            yield c
        finally:
            c.close()

    def close(self):
        self.cx.stop()
