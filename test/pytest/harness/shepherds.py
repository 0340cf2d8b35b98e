"""The processes that hold the jobs of a complex, and what confines them."""
import contextlib
import glob
import os
import signal

from harness import faults
from harness.wait import until


def shepherd(cx, job, node=None):
    """The pid of the process that holds this job on this node (None: on any node), or 0."""
    where = f"{cx.dir}/mom/{node}/" if node else cx.dir
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
        except OSError:
            continue
        if len(words) > 2 and words[0].endswith(b"pbs_shepherd") and f"/{job}.".encode() in words[2] \
                and words[2].startswith(where.encode()):
            return int(name)
    return 0


def kill_shepherd(cx, job, node=None):
    """SIGKILL; once it is there, for 0 would be our own processes."""
    os.kill(until(lambda: shepherd(cx, job, node), f"the shepherd of {job}"), signal.SIGKILL)


def helper_pid(cx, job, node):
    """The pid of the PMIx helper of this job on this node, once it is there: its directory is that of the host."""
    def helper():
        for p in filter(str.isdigit, os.listdir("/proc")):
            words = faults.words_of(int(p))
            if len(words) > 2 and words[0].endswith("/pbs_pmix") and words[1] == job and words[2].startswith(f"{cx.dir}/mom/{node}/"):
                return int(p)
        return 0
    return until(helper, f"the PMIx helper of {job} on {node}")


def kill_helper(cx, job, node):
    """SIGKILL."""
    os.kill(helper_pid(cx, job, node), signal.SIGKILL)


def shepherds(cx):
    """The pids of the shepherds of the jobs here."""
    found = []
    for pid in faults.processes_called(f"{cx.dir}/mom/n1/"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as f:
            if f.read().split(b"\0")[0].endswith(b"pbs_shepherd"):
                found.append(pid)
    return found


def confinement(cx):
    """{what: by what} as the node n1 shows it."""
    return dict(w.split(":") for w in cx.api.stat("vnode", "n1")[0]["confinement"].split(","))


def groups(prefix="pbs_"):
    return set(glob.glob(f"/sys/fs/cgroup/*/{prefix}*") + glob.glob(f"/sys/fs/cgroup/{prefix}*"))
