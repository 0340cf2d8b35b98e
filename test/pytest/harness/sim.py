"""Simulated nodes for a complex: jobs that only take time, on as many nodes as a test likes."""
import os
import subprocess

from . import api
from .wait import until


class Simulator:
    """pbs_execsim beside a complex that was started without nodes; nodes are s1, s2 ...

    A job takes EXECSIM_MS of its Variable_List (see job()), and ends die_ms after it was terminated.
    """

    def __init__(self, cx, nodes=1, ncpus=4, die_ms=0, mem="64gb", options=()):
        self.cx, self.nodes, self.ncpus, self.die_ms, self.mem = cx, nodes, ncpus, die_ms, mem
        self.options = options
        self.process = None

    def __enter__(self):
        for i in range(1, self.nodes + 1):
            self.cx.api.manager(api.CREATE, api.NODE, f"s{i}")
        self.start()
        return self

    def start(self):
        command = ["pbs_execsim", "--nodes", self.nodes, "--ncpus", self.ncpus, "--prefix", "s", "--mem", self.mem,
                   "--die-ms", self.die_ms, *self.options]
        self.process = subprocess.Popen([os.path.join(self.cx.build, "sbin", str(command[0])),
                                         *map(str, command[1:])], env=self.cx.env)
        until(lambda: all(n.state == "free" for n in self.cx.api.stat("vnode")), "the simulated nodes")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def job(self, ms=600000, **kwargs):
        """Submit a job of that length."""
        return self.cx.submit("true", Variable_List=f"PBS_O_WORKDIR=/,EXECSIM_MS={ms}", **kwargs)

def starts_of(cx, jobs):
    """These jobs in the order in which the scheduler started them, once all have ended."""
    for job in jobs:
        cx.wait_gone(job)

    def logged():
        lines = [line.split(";") for line in cx.log("sched").splitlines() if line.endswith(";Job run")]
        found = [words[4] for words in lines if words[4] in jobs]
        return found if len(found) >= len(jobs) else None
    return until(logged, "a line for each start")  # a short job may be over before its line is written
