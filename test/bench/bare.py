"""What the kernel takes to stop processes when no manager stands between: what preemption is compared with."""
import glob
import os
import signal
import subprocess
import time

ROOTS = ("/sys/fs/cgroup/freezer", "/sys/fs/cgroup", "/sys/fs/cgroup/unified")
# file to write, what freezes, what thaws; file that tells, and its line when all is frozen
VERSION_1 = ("freezer.state", "FROZEN", "THAWED", "freezer.state", "FROZEN")
VERSION_2 = ("cgroup.freeze", "1", "0", "cgroup.events", "frozen 1")
FREEZE_LIMIT_S = 10


def _write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def _read(path):
    with open(path, encoding="ascii") as f:
        return f.read().splitlines()


def groups_make(n):
    """Directories of n new groups that can freeze; none where the host has no such thing or does not let this user."""
    for root in ROOTS:
        top, made = os.path.join(root, f"bench.{os.getpid()}"), []
        try:
            os.mkdir(top)
            for i in range(n):
                made.append(os.path.join(top, str(i)))
                os.mkdir(made[-1])
        except OSError:
            made = []
        if made and glob.glob(f"{made[0]}/freezer.state") + glob.glob(f"{made[0]}/cgroup.freeze"):
            return made
        groups_remove(top)
    return []


def groups_remove(top):
    for path in [*glob.glob(f"{top}/*/"), top]:
        try:
            os.rmdir(path)
        except OSError:
            continue


def freeze(groups):
    """Seconds until all are frozen; they are thawed afterwards."""
    version = VERSION_1 if os.path.exists(os.path.join(groups[0], VERSION_1[0])) else VERSION_2
    order, frozen, thawed, tells, line = version
    begin = time.monotonic()
    for g in groups:
        _write(os.path.join(g, order), frozen)
    while not all(line in _read(os.path.join(g, tells)) for g in groups):
        if time.monotonic() - begin > FREEZE_LIMIT_S:
            raise TimeoutError(f"groups are not frozen after {FREEZE_LIMIT_S} s")
    took = time.monotonic() - begin
    for g in groups:
        _write(os.path.join(g, order), thawed)
    return took


def kill(processes):
    """Seconds until all are killed and reaped."""
    begin = time.monotonic()
    for p in processes:
        p.send_signal(signal.SIGKILL)
    for p in processes:
        p.wait()
    return time.monotonic() - begin


def stop_alone(command, n):
    """(freezing, killing and reaping) of n processes of this command, each in a group of its own, in seconds; freezing is None
    where there is no freezer to write to."""
    groups, processes = groups_make(n), []
    try:
        processes += [subprocess.Popen(command) for _ in range(n)]
        for g, p in zip(groups, processes):
            _write(os.path.join(g, "cgroup.procs"), str(p.pid))
        frozen = freeze(groups) if groups else None
        return frozen, kill(processes)
    finally:
        kill([p for p in processes if p.returncode is None])
        if groups:
            groups_remove(os.path.dirname(groups[0]))
