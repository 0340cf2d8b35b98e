"""Examples of hooks that look at what has happened, and periodic ones, in a real server with a host."""
import json
import os

import pytest

from harness.hooks import Hooks
from harness.wait import until

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "..", "doc", "examples", "hooks")

pytestmark = pytest.mark.complex(nodes=1)


@pytest.fixture
def example(complex):
    """example(name, event, config, attributes): the hook of that name until the end of the test."""
    names = []

    def make(name, event, config=None, **attrs):
        given = "".join(f",{key}={value}" for key, value in attrs.items())
        lines = [f"create hook {name} event='{event}'{given}"]
        if config is not None:
            path = os.path.join(complex.work, name + ".json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(config, f)
            lines.append(f"import hook {name} application/x-config default {path}")
        names.append(name)
        complex.qmgr(*lines, f"import hook {name} application/x-python default {EXAMPLES}/{name}.py")

    yield make
    for name in names:
        complex.qmgr(f"delete hook {name}")


def logged(cx, text):
    return until(lambda: [line for line in cx.log("server").splitlines() if text in line], f"'{text}' in the log")


def test_accounting_tag_writes_a_line_for_each_end_of_a_job(complex, example):
    tags = os.path.join(complex.work, "tags")
    example("accounting_tag", "jobobit", {"file": tags})
    jobid = complex.submit("exit 3", Account_Name="acc", project="chem")
    complex.wait_gone(jobid)
    logged(complex, f"Job;{jobid};accounted to acc")
    with open(tags, encoding="utf-8") as f:
        said = json.loads(f.readline())
    assert (said["job"], said["account"], said["project"], said["status"]) == (jobid, "acc", "chem", 3)


def test_drain_tells_of_a_vnode_that_drains_with_its_jobs(complex, example):
    node = complex.api.stat("vnode")[0].name
    jobid = complex.submit("sleep 600")
    complex.wait(jobid)
    example("drain", "modifyvnode")
    complex.command("pbsnodes", "-o", "-C", "fan", node)
    logged(complex, f"{node} drains, 1 jobs still run: {jobid} (fan)")
    complex.command("qdel", jobid)
    complex.wait_gone(jobid)
    complex.command("pbsnodes", "-r", node)
    logged(complex, f"{node} takes jobs again, it was ND_STATE_OFFLINE")


def test_licence_counter_sets_a_resource_of_the_vnodes_from_time_to_time(complex, example):
    complex.qmgr("create resource solver_licences type=long,flag=h")
    example("licence_counter", "periodic", {"command": ["echo", "17"], "resource": "solver_licences"}, freq=1)
    until(lambda: complex.api.stat("vnode")[0].get("resources_available", {}).get("solver_licences") == "17", "the licences")


def test_a_hook_asks_for_a_new_cycle_of_the_scheduler(complex):
    hooks = Hooks(complex)
    complex.set_sched("log_events", "4095")
    hooks.make("cycle", "queuejob", "pbs.server().scheduler_restart_cycle()\ne.reject('asked')")

    def cycles():
        """Cycles that began after the scheduler had heard of a hook's wish."""
        return complex.log("sched").partition("Scheduler received command 16")[2].count("Starting Scheduling Cycle")

    assert cycles() == 0
    complex.command("qsub", complex.script("true"), check=False)
    logged(complex, "Hook;cycle;requested for scheduler to restart cycle")
    until(cycles, "a new cycle")
    hooks.delete()
