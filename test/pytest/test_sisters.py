"""Tasks on the other hosts of a job: letters between shepherds, carried by their MOMs."""
import os
import re

import pytest

from cede.compiler import program
from cede.tasks import is_gone, output_of, parent_of, run, stands_still, start
from cede.wait import until

TWO = {"select": "2:ncpus=1", "l_place": "scatter"}


def pids(cx, *names):
    """The numbers that tasks have written into files."""
    return [int(until(lambda: (cx.file(n) or "").strip(), n)) for n in names]


@pytest.mark.complex(nodes=3)
def test_pbsdsh_runs_on_every_host_and_all_output_is_the_jobs(cx):
    out = run(cx, "pbsdsh sh -c 'echo out $PBS_NODENUM $PBS_TASKNUM; echo err $PBS_NODENUM >&2'; echo exit $?",
              "3:ncpus=1", l_place="scatter")
    lines = sorted(out.splitlines())
    assert lines == ["err 0", "err 1", "err 2", "exit 0", "out 0 2", f"out 1 {(1 << 18) + 2}", f"out 2 {(2 << 18) + 2}"]


@pytest.mark.complex(nodes=2)
def test_tm_works_across_hosts(cx):
    probe = program(cx, "tm_probe")
    out = run(cx, f"""
        {probe} init nodes 'spawn:1:exit 5' obit obit 'spawn:1:sleep 600' tasks:1 tasks:0 kill:15 obit atnode \\
            'spawn:1:{probe} init publish:where=there; touch {cx.work}/published; sleep 600' await:published \\
            subscribe:{(1 << 18) + 4}:where kill:9 obit resources:1 spawn:1:/bin/true obit
    """, **TWO)
    lines = out.splitlines()
    assert lines[:6] == ["task 1 of 0, 2 nodes", "nodes 0 1", "spawned", "ended 5", "ended 5", "spawned"]
    assert lines[6:11] == ["tasks 1", "tasks 1", "signalled", f"ended {256 + 15}", "at node 1 (0)"]
    assert "where is there (6)" in lines and f"ended {256 + 9}" in lines and lines[-1] == "ended 0"
    assert any(re.match(r"resources Linux .*:ncpus=1", line) for line in lines)
    assert f"task {(1 << 18) + 4} of 1, 2 nodes" in lines


@pytest.mark.complex(nodes=2)
def test_pbs_tmrsh_relays_from_another_host(cx):
    out = run(cx, """
        pbs_tmrsh n2 'echo here $PBS_NODENUM; echo complaint >&2; exit 4' > tmrsh.out 2> tmrsh.err; echo exit $?
        pbs_tmrsh n2 'yes 0123456789 | head -c 5000000' | wc -c
    """, **TWO)
    assert out.split() == ["exit", "4", "5000000"]
    assert cx.file("tmrsh.out") == "here 1\n" and cx.file("tmrsh.err") == "complaint\n"


@pytest.mark.complex(nodes=2)
def test_tasks_on_sisters_stand_still_go_on_and_end_with_the_job(cx):
    job = start(cx, f"pbsdsh sh -c 'echo $$ > {cx.work}/pid.$PBS_NODENUM; exec sleep 600'", **TWO)
    tasks = pids(cx, "pid.0", "pid.1")
    assert parent_of(tasks[0]) != parent_of(tasks[1])
    cx.api.signal(job, "suspend")
    cx.wait(job, state="S")
    assert all(stands_still(t) for t in tasks)
    cx.api.signal(job, "resume")
    cx.wait(job, state="R")
    cx.api.delete(job)
    until(lambda: all(is_gone(t) for t in tasks), "the end of the tasks")
    cx.wait_gone(job)


@pytest.mark.complex(nodes=2, history=True)
def test_the_cpu_time_of_sisters_counts(cx):
    job = start(cx, "pbsdsh -n 1 sh -c 'ulimit -t 2; while :; do :; done'; true", **TWO)
    cput = cx.wait(job, state="F")["resources_used"]["cput"]
    assert cput != "00:00:00"


@pytest.mark.complex(nodes=2)
def test_tasks_on_sisters_outlive_every_mom_and_the_server(cx):
    """An mpirun with open connections notices nothing: what it asks meanwhile is done when the MOMs are back."""
    probe = program(cx, "tm_probe")
    job = start(cx, f"{probe} init 'spawn:1:touch {cx.work}/first; until test -e {cx.work}/go2; do sleep 0.05; done; "
                    f"echo from afar; exit 6' await:first await:go1 obit 'spawn:1:exit 7' obit", **TWO)
    until(lambda: cx.file("first") is not None, "the first task")
    for daemon in ("n1", "n2", "server"):
        cx.kill(daemon)
    for name in ("go1", "go2"):
        with open(os.path.join(cx.work, name), "w", encoding="ascii"):
            pass
    for daemon in ("server", "n2", "n1"):
        cx.restart(daemon)
    cx.again()
    lines = output_of(cx, job).splitlines()
    assert lines == ["task 1 of 0, 2 nodes", "spawned", "from afar", "ended 6", "spawned", "ended 7"]


@pytest.mark.complex(nodes=2)
def test_a_spawn_is_done_once_however_often_its_mom_dies(cx):
    probe = program(cx, "tm_probe")
    job = start(cx, f"i=0; while [ $i -lt 40 ]; do {probe} init 'spawn:1:echo x >> {cx.work}/spawned' obit; "
                    "i=$((i+1)); done", **TWO)
    for _ in range(3):
        seen = len((cx.file("spawned") or "").splitlines())
        until(lambda: len((cx.file("spawned") or "").splitlines()) > seen + 2, "a few more")
        cx.kill("n2")
        cx.restart("n2")
    assert output_of(cx, job).count("ended 0") == 40
    assert len(cx.file("spawned").splitlines()) == 40
