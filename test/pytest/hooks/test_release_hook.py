"""Hosts that fail at the start of a tolerant job: hooks of its first host see them, and give them back."""
import os

import pytest

from harness.wait import until
from harness.work import accounting, begun
from hooks.test_mom_hooks import empty, marks, note

pytestmark = pytest.mark.complex(nodes=3, history=True)

FAILS = "if pbs.get_local_nodename() == 'n2':\n    e.reject('broken host')"
SEES = "'%s %s %s %s' % (sorted(e.vnode_list_fail), e.job.failed_mom_list, e.job.succeeded_mom_list, sorted(e.vnode_list))"


def tolerant(cx, select="3:ncpus=1"):
    empty(cx, "marks", "nodes")
    return cx.submit(f"cat $PBS_NODEFILE > {cx.work}/nodes\nsleep 600", select=select, l_place="scatter", tolerate_node_failures="job_start")


@pytest.mark.parametrize("event", ["execjob_prologue", "execjob_launch"])
def test_a_hook_of_the_first_host_sees_hosts_that_have_failed_and_gives_them_back(complex, hooks, event):
    hooks.make("fails", "execjob_begin", FAILS)
    hooks.make("gives", event, "if e.job.in_ms_mom():\n    " + note(complex, SEES).replace("\n    ", "\n        ") +
               "    job = e.job.release_nodes()\n    " + note(complex, "str(job.exec_vnode)").replace("\n    ", "\n        "))
    job = tolerant(complex)
    begun(complex, job)
    assert marks(complex) == ["['n2'] ['n2'] ['n1', 'n3'] ['n1', 'n2', 'n3']", "(n1:ncpus=1)+(n3:ncpus=1)"]
    until(lambda: complex.stat(job)["exec_vnode"] == "(n1:ncpus=1)+(n3:ncpus=1)", "what the job keeps")
    until(lambda: len(marks(complex, "nodes")) == 2, "the nodefile")
    assert marks(complex, "nodes") == ["n1", "n3"], "the script never saw the host that failed"
    assert complex.stat(job).state == "R"


def test_a_hook_keeps_what_a_select_asks_for_and_other_hosts_are_free_again(complex, hooks):
    hooks.make("narrows", "execjob_launch", "if e.job.in_ms_mom():\n    e.job.release_nodes(keep_select='2:ncpus=1')")
    job = tolerant(complex)
    begun(complex, job)
    until(lambda: complex.stat(job)["exec_vnode"] == "(n1:ncpus=1)+(n2:ncpus=1)", "what the job keeps")
    complex.wait_log("n1", f"Job;{job};pruned from exec_vnode=(n1:ncpus=1)+(n2:ncpus=1)+(n3:ncpus=1)\n")
    complex.wait_log("n1", f"Job;{job};pruned to exec_vnode=(n1:ncpus=1)+(n2:ncpus=1)\n")
    until(lambda: len(marks(complex, "nodes")) == 2, "the nodefile")
    until(lambda: "jobs" not in complex.node("n3"), "n3 without the job")
    assert complex.stat(job).state == "R"
    until(lambda: [letter for letter, _ in accounting(complex, job)] == ["Q", "S", "s"], lambda: accounting(complex, job))
    whole, pruned = (text for letter, text in accounting(complex, job) if letter in "Ss")
    assert "exec_host=n1/0+n2/0+n3/0 " in whole and "exec_host=n1/0+n2/0 " in pruned and "resource_assigned.ncpus=2" in pruned
    assert "Resource_List.select=2:ncpus=1" in pruned and "resource_assigned.ncpus=3" in whole
    complex.api.delete(job)
    complex.wait_gone(job)
    until(lambda: accounting(complex, job)[-1][0] == "E", "its last record")
    assert "exec_host=n1/0+n2/0+n3/0 " in accounting(complex, job)[-1][1]


def test_a_job_that_is_not_tolerant_releases_nothing_and_the_log_says_why(complex, hooks):
    hooks.make("gives", "execjob_launch", "if e.job.in_ms_mom():\n    assert e.job.release_nodes(['n2']) is None")
    job = complex.submit("sleep 600", select="3:ncpus=1", l_place="scatter")
    begun(complex, job)
    log = complex.logs("n1", 2000)
    assert "release_nodes() needs a job with tolerate_node_failures job_start or all" in log
    assert complex.stat(job)["exec_vnode"].count("(") == 3
    assert os.path.exists(os.path.join(complex.dir, "mom", "n1"))
