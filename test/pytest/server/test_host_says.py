"""What root of an execution host can make its MOM say, and what the server takes of that: a MOM played by hand with the
certificate of mom:n1, beside an honest MOM of n2."""
import pytest

from harness.exec_peer import ACCEPTED, REFUSED, START, UNKNOWN_RUN, USAGE, Mom, Run, u32, u64
from harness.wait import until

two_hosts = pytest.mark.complex(nodes=2, ncpus=2, sched=False)
UNKNOWN_JOB = 15001


@pytest.fixture
def taken(cx):
    """The host n1 is taken over: its MOM is killed and played by hand."""
    cx.kill("n1")
    with Mom(cx, "n1") as mom:
        yield mom


def names(cx):
    return {n.name for n in cx.api.stat("vnode")}


def own(**attrs):
    return {"n1": {"resources_available.ncpus": 2, **attrs}}


def log(cx):
    return cx.log("server")


def run_of(job, run=1):
    r = object.__new__(Run)
    r.seq, r.index, r.run = int(job.split(".")[0]), -1, run
    return r


@two_hosts
def test_a_host_makes_vnodes_of_its_own_name_only(cx, taken):
    bait = {"bait": {"resources_available.ncpus": 100000}, "n10": {"resources_available.ncpus": 9},
            "n1[0]": {"resources_available.ncpus": 1}}
    assert taken.hello(nodes={**own(), **bait}).verdict == ACCEPTED
    assert names(cx) == {"n1", "n1[0]", "n2"}
    assert "vnode bait is not part of host n1" in log(cx) and "create node bait Mom=n1" in log(cx)


@two_hosts
def test_a_manager_gives_a_host_vnodes_of_any_name(cx, taken):
    cx.command("qmgr", "-c", "create node bait Mom=n1")
    cx.command("qmgr", "-c", "create node spare Mom=n2")
    taken.hello(nodes={**own(), "bait": {"resources_available.ncpus": 3}, "spare": {"resources_available.ncpus": 3}})
    assert cx.node("bait")["resources_available"]["ncpus"] == "3" and cx.node("bait").state == "free"
    assert "ncpus" not in cx.node("spare")["resources_available"] and cx.node("spare")["resources_available"]["host"] == "n2"


@two_hosts
@pytest.mark.parametrize("up", [True, False])
def test_a_host_has_no_say_of_the_vnodes_of_another_one_up_or_down(cx, taken, up):
    if not up:
        cx.kill("n2")
        until(lambda: "down" in cx.node("n2").state, "the loss of n2")
    before = cx.node("n2")["resources_available"]
    assert taken.hello(nodes={**own(), "n2": {"resources_available.ncpus": 64}}).verdict == ACCEPTED
    taken.say_nodes({"n2": {"state": "down" if up else "free", "resources_available.ncpus": 64}})
    assert cx.node("n2")["resources_available"] == before
    assert cx.node("n2").state == "free" if up else "down" in cx.node("n2").state
    assert "vnode n2 belongs to host n2, not to n1" in log(cx)
    cx.restart("n2")
    until(lambda: cx.node("n2").state == "free", "the honest MOM of n2")


@two_hosts
def test_a_host_says_what_it_has_and_not_who_may_use_it(cx, taken):
    cx.command("qmgr", "-c", "set node n1 comment = 'under repair'")
    cx.command("qmgr", "-c", "create node n1[1] Mom=n1")
    said = {"partition": "gold", "queue": "workq", "Priority": 1000, "comment": "come in", "no_multinode_jobs": "True",
            "max_running": 99, "sharing": "force_excl", "pcpus": 7}
    taken.hello(nodes={**own(**said), "n1[1]": {"comment": "slow disk"}})
    n = cx.node("n1")
    assert {k: n.get(k) for k in ("partition", "queue", "max_running")} == dict.fromkeys(("partition", "queue", "max_running"))
    assert n.get("Priority", "0") == "0" and n.get("no_multinode_jobs", "False") == "False"
    assert n["comment"] == "under repair" and n["sharing"] == "force_excl" and n["pcpus"] == "7"
    assert cx.node("n1[1]")["comment"] == "slow disk"
    taken.say_nodes({"n1": {"Priority": 500}, "n1[1]": {"comment": "new disk"}})
    assert cx.node("n1").get("Priority", "0") == "0" and cx.node("n1[1]")["comment"] == "new disk"


@two_hosts
def test_a_host_cannot_say_that_it_is_another_host_or_that_another_one_lends(cx, taken):
    cx.command("qmgr", "-c", "create resource licence type=long,flag=h")
    cx.command("qmgr", "-c", "set node n2 resources_available.licence = 5")
    said = {"resources_available.host": "n2", "resources_available.vnode": "n2", "resources_available.licence": "@n2"}
    taken.hello(nodes=own(**said))
    amounts = cx.node("n1")["resources_available"]
    assert amounts.get("host", "n1") == "n1" and amounts.get("vnode", "n1") == "n1" and "licence" not in amounts
    job = cx.submit("true", select="1:ncpus=1:host=n2")
    cx.command("qrun", "-H", "n2", job)
    cx.wait_gone(job)


@two_hosts
def test_a_host_reads_scripts_of_its_own_jobs_only(cx, taken):
    taken.hello(nodes=own())
    secret, mine = cx.submit("echo the secret"), cx.submit("echo mine")
    assert taken.script(run_of(secret))[0] == UNKNOWN_JOB  # it waits
    cx.api.run_async(secret, "(n2:ncpus=1)")
    cx.api.run_async(mine, "(n1:ncpus=1)")
    start = taken.order(START)
    assert start.id == mine
    assert taken.script(run_of(secret)) == (UNKNOWN_JOB, "")
    assert taken.script(start.run.of(start.run.run + 1))[0] == UNKNOWN_JOB
    code, script = taken.script(start.run)
    assert code == 0 and "echo mine" in script
    taken.say(taken.ready(start.run), taken.started(start.run))
    taken.end(start.run)
    assert taken.script(start.run)[0] == UNKNOWN_JOB
    assert "its script was refused to mom:n1" in log(cx)


@two_hosts
def test_a_host_has_no_say_of_the_runs_of_another_one(cx, taken):
    taken.hello(nodes=own())
    job = cx.submit("sleep 600")
    cx.api.run_async(job, "(n2:ncpus=1)")
    cx.wait(job, "R")
    run = run_of(job)
    until(lambda: cx.stat(job)["substate"] == "42", "its start")
    said = taken.say(taken.finish(run, 3), taken.release(run, 4, nodes=["n2"]), taken.finish(run, 1), taken.release(run, 2))
    assert {state for state, _ in said} == {UNKNOWN_RUN}
    assert cx.state(job) == "R" and cx.node("n2")["resources_assigned"]["ncpus"] == "1"


@two_hosts
def test_a_sister_cannot_say_that_the_script_has_begun(cx):
    """n2 is first and honest, and never says that; n1 says it."""
    cx.kill("n1")
    cx.kill("n2")
    with Mom(cx, "n1") as taken, Mom(cx, "n2") as honest:
        taken.hello(nodes=own())
        honest.hello()
        job = cx.submit("true", select="2:ncpus=1", l_place="scatter")
        cx.api.run_async(job, "(n2:ncpus=1)+(n1:ncpus=1)")
        run = taken.order(START).run
        assert honest.order(START).run == run
        honest.say(honest.ready(run))
        taken.say(taken.ready(run), taken.started(run))
        assert cx.stat(job)["substate"] != "42" and "session_id" not in cx.stat(job)
        assert "says that the job has begun, but its script runs on mom:n2" in log(cx)
        cx.api.delete(job, "force")


@two_hosts
def test_a_host_is_where_it_comes_from_whatever_address_it_says(cx, taken):
    cx.kill("n2")
    with Mom(cx, "n2") as honest:
        honest.hello(address=":15003")
        taken.hello(nodes=own(), address="192.0.2.7:15003")
        job = cx.submit("true", select="2:ncpus=1", l_place="scatter")
        cx.api.run_async(job, "(n2:ncpus=1)+(n1:ncpus=1)")
        assert all("127.0.0.1" in h[2] and h[2].endswith(":15003") for h in honest.order(START).hosts)
        cx.api.delete(job, "force")


@two_hosts
def test_the_certificate_of_a_mom_is_for_no_simulator_and_no_other_name(cx, taken):
    taken.kind = 2
    assert taken.hello(nodes=own()).verdict == REFUSED
    taken.kind, taken.service = 1, "mom:n2"
    assert taken.hello(generation=99).verdict == REFUSED


@two_hosts
def test_usage_of_any_size_breaks_no_sum(cx, taken):
    cx.kill("n2")
    with Mom(cx, "n2") as other:
        other.hello()
        taken.hello(nodes=own())
        job = cx.submit("true", select="2:ncpus=1", l_place="scatter")
        cx.api.run_async(job, "(n1:ncpus=1)+(n2:ncpus=1)")
        run = taken.order(START).run
        other.say(other.ready(other.order(START).run))
        taken.say(taken.ready(run), taken.started(run))
        for mom in (taken, other):
            mom.call(USAGE, u32(1) + run.key + u64(2**63 - 1) * 4 + u32(1) * 2 + u32(0))
        used = cx.stat(job)["resources_used"]
        assert int(used["mem"].rstrip("kb")) > 2**40 and not [v for v in used.values() if v.startswith("-")]
        cx.api.delete(job, "force")
