"""What qmgr refuses since two attributes do not agree, and PBS's words for it."""
import os

import pytest

from harness import users


def refused(cx, line):
    done = cx.command("qmgr", "-c", line, check=False)
    assert done.returncode != 0, line
    return done.stderr


@pytest.mark.complex(nodes=0, sched=False)
def test_a_route_queue_without_destinations_may_be_started_and_not_enabled(cx):
    cx.qmgr("create queue r queue_type = Route, started = True")
    assert "15030" in refused(cx, "set queue r enabled = True")
    assert "15030" in refused(cx, "create queue r2 queue_type = Route, enabled = True")
    cx.qmgr("set queue r route_destinations = workq, enabled = True")


@pytest.mark.complex(nodes=1, sched=False)
def test_queue_and_partition_of_a_vnode_agree_or_none_of_both_is_set(cx):
    cx.qmgr("create queue gold queue_type = Execution, partition = P1", "create queue free queue_type = Execution")
    assert "15220" in refused(cx, "set node n1 queue = gold, partition = P2")
    n = cx.node()
    assert "queue" not in n and "partition" not in n
    cx.qmgr("set node n1 partition = P2")
    assert "15219" in refused(cx, "set node n1 queue = gold")
    cx.qmgr("set node n1 queue = free", "set node n1 queue = gold, partition = P1")
    assert "15220" in refused(cx, "set node n1 partition = P2")


@pytest.mark.complex(nodes=1, sched=False)
def test_jobs_in_maintenance_are_for_the_server_to_list(cx):
    assert "Cannot set attribute, read only or insufficient permission  maintenance_jobs" in refused(
        cx, "set node n1 maintenance_jobs = 1.svr")


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
@pytest.mark.complex(nodes=1, sched=False)
def test_an_unknown_node_and_a_host_that_may_not_are_said_in_the_words_of_pbs(cx):
    user = users.NAMES[0]
    job = cx.submit(user=user)
    done = cx.command("qrun", "-H", "nosuch", job, check=False)
    assert done.returncode != 0 and done.stderr == "qrun: Unknown node nosuch\n"
    cx.qmgr("create queue hosts queue_type = Execution, enabled = True, acl_host_enable = True, acl_hosts = elsewhere")
    done = cx.command("qmove", "hosts", job, check=False, user=user)
    assert done.returncode != 0 and done.stderr == f"qmove: Access from host not allowed, or unknown host {job}\n"
