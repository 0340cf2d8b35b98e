"""Which hosts belong to a complex: those whose node has been created, until it is deleted."""
import os

import pytest

from harness.exec_peer import ACCEPTED, Mom
from harness.wait import until

UNKNOWN = "host n1 is unknown, it has no node"


def names(cx):
    return sorted(n.name for n in cx.api.stat("vnode"))


@pytest.fixture
def closed(cx):
    """Hosts do not join by themselves."""
    with open(cx.conf, "a", encoding="ascii") as f:
        f.write("PBS_HOSTS_JOIN=0\n")
    cx.restart("server")
    cx.again()
    until(lambda: cx.node("n1").state == "free", "n1")
    return cx


def await_mom(cx):
    until(lambda: UNKNOWN in cx.log("server"), "the MOM of n1")


def test_a_deleted_node_stays_away_whatever_its_mom_does(closed):
    closed.qmgr("delete node n1")
    assert names(closed) == []
    closed.restart("n1")
    await_mom(closed)
    assert names(closed) == []
    closed.restart("server")
    closed.again()
    closed.qmgr("create node n1")
    until(lambda: closed.node("n1").state == "free", "n1")


def test_a_node_created_again_is_free_at_once_with_what_its_host_has(closed):
    had = closed.node("n1")["resources_available"]
    closed.qmgr("delete node n1", "create node n1")
    n = closed.node("n1")
    assert n.state == "free" and n["resources_available"] == had
    closed.wait(closed.submit())


@pytest.mark.parametrize("name, mom", [("big", "n1"), ("big", "n1.example.org"), ("127.0.0.1", None), ("big", "127.0.0.1")])
@pytest.mark.complex(nodes=1, history=True)
def test_a_host_may_have_another_name_or_its_address(closed, name, mom):
    closed.qmgr("delete node n1", f"create node {name}" + (f" Mom={mom}" if mom else ""))
    n = closed.node(name)
    assert n.state == "free" and n["resources_available"]["ncpus"] == "4" and n["resources_available"]["vnode"] == name
    job = closed.submit("echo done")
    assert f"({name}:" in closed.wait(job, "REF")["exec_vnode"]
    closed.wait_gone(job)
    closed.kill("n1")
    until(lambda: "down" in closed.node(name).state, "the loss of the host")
    closed.restart("n1")
    until(lambda: closed.node(name).state == "free", "the host by its other name")
    assert names(closed) == [name]


def test_a_node_that_gets_another_mom_is_served_by_it(closed):
    closed.qmgr("delete node n1", "create node big Mom=elsewhere")
    assert "down" in closed.node("big").state
    closed.qmgr("set node big Mom=n1")
    assert closed.node("big").state == "free"
    closed.qmgr("set node big Mom=elsewhere")
    assert "down" in closed.node("big").state


@pytest.mark.complex(nodes=1, sched=False)
def test_parts_of_a_host_come_with_its_node_and_not_before(closed):
    closed.kill("n1")
    closed.qmgr("delete node n1")
    said = {"n1": {"resources_available.ncpus": 2}, "n1[0]": {"resources_available.ncpus": 1}}
    with Mom(closed, "n1") as mom:
        assert mom.hello(nodes=said).verdict == ACCEPTED
        assert names(closed) == []
        closed.wait_log("server", "2 vnodes are passed over")
        mom.say_nodes({"n1": {"state": "busy"}})
        closed.qmgr("create node n1")
        assert closed.node("n1").state == "job-busy" or "busy" in closed.node("n1").state
        mom.say_nodes({"n1": {"state": "free"}})
        assert closed.node("n1").state == "free"
        mom.hello(nodes=said)
        assert names(closed) == ["n1", "n1[0]"]


def test_hosts_of_a_private_complex_join_by_themselves(cx):
    cx.control("add-node")
    assert names(cx) == ["n1", "n2"]
    assert "PBS_HOSTS_JOIN=1\n" in open(os.path.join(cx.dir, "pbs.conf"), encoding="ascii").read()


def mom_port(cx, node):
    with open(os.path.join(cx.dir, "mom", node, "pbs.conf"), encoding="ascii") as f:
        return dict(line.strip().split("=", 1) for line in f if "=" in line)["PBS_MOM_SERVICE_PORT"]


@pytest.mark.complex(nodes=2)
def test_the_port_of_a_node_is_the_one_that_its_mom_says(cx):
    assert {n.name: n["Port"] for n in cx.api.stat("vnode")} == {n: mom_port(cx, n) for n in ("n1", "n2")}
    assert f"     Port = {mom_port(cx, 'n2')}\n" in cx.command("pbsnodes", "n2").stdout
    cx.qmgr("set node n1 Port=17002", "create node also Mom=n1,Port=17003")
    assert cx.node("n1")["Port"] == "17002"
    conf = os.path.join(cx.dir, "mom", "n1", "pbs.conf")
    with open(conf, encoding="ascii") as f:
        text = f.read().replace(f"PBS_MOM_SERVICE_PORT={mom_port(cx, 'n1')}", "PBS_MOM_SERVICE_PORT=17005")
    with open(conf, "w", encoding="ascii") as f:
        f.write(text)
    cx.restart("n1")
    until(lambda: cx.node("n1")["Port"] == "17005" and cx.node("also")["Port"] == "17005", "the port that n1 says")
    assert "create node n1 Port=17005\n" in cx.command("qmgr", "-c", "print node n1").stdout
