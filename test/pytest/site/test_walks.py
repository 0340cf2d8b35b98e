"""The first walks of doc/structure.md are true: gdb stops in the function of each step, in the order of the page, and the stacks say where."""
import os
import re
import signal

import pytest

from harness import faults, gdb, shepherds, walks
from harness.wait import until

pytestmark = [pytest.mark.skipif(gdb.why_not() is not None, reason=gdb.why_not() or ""), pytest.mark.complex(ncpus=2, history=True)]


def at(name, *folders):
    """The stops of a walk in files below these folders."""
    return [f"{os.path.basename(f)}:{function}" for f, function in walks.stops(name) if f.startswith(folders)]


def walked(stops, name):
    """Wait until all steps have come in their order; the stacks then."""
    steps = [function for _, function in walks.stops(name)]
    until(lambda: gdb.first_missing(steps, stops.functions()) is None,
          lambda: f"{gdb.first_missing(steps, stops.functions())} in its place of {steps}: {stops.functions()}")
    return [frame.split("@") for _, _, stack in stops.past() for frame in stack]


def words(name):
    return {word.rstrip("s") for word in re.split(r"[_.-]", name)}


def says_its_module(function, path):
    """A word of the file's name is in that of the function, or of a program's main.c that of its folder; actions and handlers have prefixes of their own."""
    folder, file = path.split("/")[-2:]
    module = words(file[:-2]) | (words(folder) if file == "main.c" else set())
    return function == "main" or function.startswith(("act_", "req_")) or bool(module & words(function))


def nameless(frames):
    """Those of Cede's sources whose function does not say where it is."""
    return {f"{path}: {function}" for function, path in frames
            if re.match(r"(base|ifl|server|sched|mom|cmds)/", path) and not says_its_module(function, path)}


def test_a_job(cx):
    cx.wait(cx.submit("true"), state="F")
    mom = cx.pid("n1")
    zygote = next(pid for pid in shepherds.shepherds(cx) + faults.processes_called("pbs_shepherd") if faults.parent(pid) == mom)
    with gdb.Stops(cx) as stops:
        stops.attach("server", cx.pid("server"), *at("A job", "server/"))
        stops.attach("sched", cx.pid("sched"), *at("A job", "sched/"))
        stops.attach("mom", mom, *at("A job", "mom/mom/"))
        stops.next_child("shepherd", zygote, *at("A job", "mom/shepherd/"))
        stops.run("qsub", [f"{cx.build}/bin/qsub", "--", "/bin/true"], *at("A job", "cmds/"))
        frames = walked(stops, "A job")
    assert nameless(frames) == set()


@pytest.mark.complex(ncpus=1)
def test_an_urgent_job(cx):
    cx.make_queue("express", Priority="200")
    victim = cx.submit()
    cx.wait(victim)
    with gdb.Stops(cx) as stops:
        stops.attach("server", cx.pid("server"), *at("An urgent job", "server/"))
        stops.attach("sched", cx.pid("sched"), *at("An urgent job", "sched/"))
        urgent = cx.submit(queue="express")
        frames = walked(stops, "An urgent job")
    cx.wait(urgent)
    assert nameless(frames) == set()


def test_a_mom_that_is_killed(cx):
    walk = "A MOM that is killed"
    job = cx.submit("(exec sleep 700 &)\nexec sleep 600")
    cx.wait(job)
    orphan = until(lambda: faults.processes_called("sleep\0" "700"), "the process that the job leaves behind")
    with gdb.Stops(cx) as stops:
        stops.attach("server", cx.pid("server"), *at(walk, "server/"))
        stops.attach("shepherd", until(lambda: shepherds.shepherd(cx, job), "the shepherd"), *at(walk, "mom/shepherd/"))
        cx.kill("n1")
        os.kill(orphan[0], signal.SIGKILL)
        stops.run("mom", [f"{cx.build}/sbin/pbs_mom", "-N"], *at(walk, "mom/mom/"), env={"PBS_CONF_FILE": f"{cx.dir}/mom/n1/pbs.conf"})
        frames = walked(stops, walk)
    assert cx.state(job) == "R"
    assert nameless(frames) == set()
