"""A host that cannot start processes takes its vnode out, says why, and is back by itself; jobs are tried elsewhere."""
import contextlib
import os
import re
import tempfile

import pytest

from harness.faults import parent, processes_called
from harness.wait import until


def own_exec(cx, daemon):
    """PBS_EXEC of this MOM is a directory of its own, of links; the path of the program that it starts for each job."""
    with open(f"/proc/{cx.pid(daemon)}/environ", "rb") as f:
        conf = dict(word.split(b"=", 1) for word in f.read().split(b"\0") if b"=" in word)[b"PBS_CONF_FILE"].decode()
    with open(conf, encoding="ascii") as f:
        text = f.read()
    shared = re.search(r"^PBS_EXEC=(.*)$", text, re.M).group(1)
    own = os.path.join(cx.top, "exec")
    os.makedirs(os.path.join(own, "libexec"))
    for name in os.listdir(shared):
        if name != "libexec":
            os.symlink(os.path.join(shared, name), os.path.join(own, name))
    for name in os.listdir(os.path.join(shared, "libexec")):
        os.symlink(os.path.join(shared, "libexec", name), os.path.join(own, "libexec", name))
    with open(conf, "w", encoding="ascii") as f:
        f.write(re.sub(r"^PBS_EXEC=.*$", "PBS_EXEC=" + own, text, flags=re.M))
    cx.restart(daemon)
    until(lambda: "free" in cx.node(daemon).state, f"vnode {daemon}")
    return os.path.join(own, "libexec", "pbs_shepherd")


@pytest.mark.complex(nodes=2, ncpus=1)
@pytest.mark.parametrize("fault", ["gone", "broken"])
def test_a_mom_that_cannot_start_processes_is_down_says_why_and_comes_back(cx, fault):
    shepherd = own_exec(cx, "n1")
    os.rename(shepherd, shepherd + ".kept")
    if fault == "broken":
        os.symlink("/bin/false", shepherd)
    jobs = [cx.submit(select="1:ncpus=1") for _ in range(2)]
    until(lambda: "down" in cx.node("n1").state, "n1 to be taken out")
    assert "cannot start processes" in cx.node("n1")["comment"]
    until(lambda: sorted(cx.state(job) for job in jobs) == ["Q", "R"], "one job on n2, and one that waits")
    cx.wait_log("n1", "cannot start processes")
    if fault == "broken":
        os.unlink(shepherd)
    os.rename(shepherd + ".kept", shepherd)
    for job in jobs:
        cx.wait(job)
    assert "comment" not in cx.node("n1") and "down" not in cx.node("n1").state


def test_a_probe_of_the_host_that_does_not_end_has_a_time_limit(cx):
    shepherd, note = own_exec(cx, "n1"), os.path.join(cx.top, "probes")
    os.rename(shepherd, shepherd + ".kept")
    with open(shepherd, "w", encoding="ascii") as f:
        f.write(f'#!/bin/sh\n[ "$1" = --version ] || exit 1\necho $$ >>{note}\nexec sleep 600\n')
    os.chmod(shepherd, 0o755)
    cx.submit()
    until(lambda: "has not ended within" in cx.node().get("comment", ""), "n1 to be taken out")
    assert "down" in cx.node().state
    with open(note, encoding="ascii") as f:
        probe = f.readline().strip()
    until(lambda: not os.path.exists(f"/proc/{probe}"), "the end of the probe")
    os.rename(shepherd + ".kept", shepherd)
    until(lambda: "down" not in cx.node().state, "n1 to be back")
    cx.wait(cx.submit())


PIDS = "/sys/fs/cgroup/pids"


@contextlib.contextmanager
def no_more_processes(cx, daemon, which):
    """A group of the pids controller holds this MOM, or those who start shepherds for it, or both, and is full: fork fails there."""
    if not os.access(PIDS, os.W_OK):
        pytest.skip("there is no pids controller (cgroup v1) that we may use")
    mom = cx.pid(daemon)
    zygotes = {pid for pid in processes_called("zygote") if parent(pid) == mom}
    held = {"mom": {mom}, "zygote": zygotes, "both": {mom} | zygotes}[which]
    assert held
    with open(f"/proc/{mom}/cgroup", encoding="ascii") as f:
        before = next(line.strip().split(":", 2)[2] for line in f if line.split(":")[1] == "pids")
    group = tempfile.mkdtemp(prefix="cede_test_", dir=PIDS)
    try:
        for pid in held:
            put(group, "cgroup.procs", pid)
        put(group, "pids.max", 1)
        yield
    finally:
        put(group, "pids.max", "max")
        until(lambda: emptied(group, PIDS + before), "the end of the group")


def emptied(group, target):
    """What is in the group goes to another one; a process that began after the look keeps it."""
    with open(os.path.join(group, "cgroup.procs"), encoding="ascii") as f:
        for pid in f.read().split():
            with contextlib.suppress(ProcessLookupError):
                put(target, "cgroup.procs", pid)
    return removed(group)


def put(group, name, value):
    with open(os.path.join(group, name), "w", encoding="ascii") as f:
        f.write(str(value))


def removed(group):
    with contextlib.suppress(OSError):
        os.rmdir(group)
    return not os.path.exists(group)


@pytest.mark.complex(nodes=2, ncpus=1)
@pytest.mark.parametrize("which", ["mom", "zygote", "both"])
def test_a_mom_whose_fork_fails_takes_no_jobs_until_it_can(cx, which):
    with contextlib.ExitStack() as stack:
        warm = cx.submit("true", select="1:ncpus=1:host=n1")  # the zygote is there
        cx.wait_gone(warm)
        stack.enter_context(no_more_processes(cx, "n1", which))
        jobs = [cx.submit(select="1:ncpus=1") for _ in range(2)]
        if which == "both":
            until(lambda: "down" in cx.node("n1").state, "n1 to be taken out")
            assert "cannot start processes" in cx.node("n1")["comment"]
            until(lambda: sorted(cx.state(job) for job in jobs) == ["Q", "R"], "one job on n2, and one that waits")
        else:
            for job in jobs:
                cx.wait(job)
    for job in jobs:
        cx.wait(job)
    until(lambda: "comment" not in cx.node("n1") and "down" not in cx.node("n1").state, "n1 to be back")
