"""Accidents that happen to the daemons of a complex: each takes a while, and is over when its function returns."""
import contextlib
import ctypes
import os
import resource
import signal
import time

from . import faults

_libc = ctypes.CDLL(None, use_errno=True)
PIDFD_OPEN, PIDFD_GETFD = 434, 438  # the same on all machines, asm-generic/unistd.h
SHUT_RDWR = 2


def stop(pid, seconds):
    """It stands still for so long."""
    with contextlib.suppress(ProcessLookupError), faults.frozen(pid):
        time.sleep(seconds)  # the accident is that nothing happens


def _sockets(pid):
    found = []
    with contextlib.suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:"):
                    found.append(int(fd))
    return found


def _tcp_inodes():
    """Of connections, not of listeners."""
    found = set()
    for name in ("tcp", "tcp6"):
        with open(f"/proc/net/{name}", encoding="ascii") as f:
            found |= {words[9] for words in map(str.split, list(f)[1:]) if words[3] == "01"}
    return found


def cut_off(pid):
    """Its connections over TCP break."""
    inodes = _tcp_inodes()
    process = _libc.syscall(PIDFD_OPEN, pid, 0)
    for fd in _sockets(pid) if process >= 0 else []:
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/fd/{fd}").strip("socket:[]") in inodes:
                ours = _libc.syscall(PIDFD_GETFD, process, fd, 0)
                if ours >= 0:
                    _libc.shutdown(ours, SHUT_RDWR)
                    os.close(ours)
    if process >= 0:
        os.close(process)


def no_descriptors(pid, seconds):
    """It can open nothing for so long."""
    try:
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        highest = max(map(int, os.listdir(f"/proc/{pid}/fd")))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (min(highest + 1, before[1]), before[1]))
    except (OSError, ValueError):
        return
    time.sleep(seconds)  # as above
    with contextlib.suppress(OSError):
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


def no_disk(path, seconds):
    """What lies on the file system of `path`, which must be a small one, finds no room for so long."""
    try:
        with open(path, "wb", buffering=0) as f, contextlib.suppress(OSError):
            while True:
                f.write(bytes(65536))
        time.sleep(seconds)  # as above
    finally:
        os.unlink(path)


def command_line(pid):
    """Of a process; "" where it has gone."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", encoding="utf-8") as f:
        return f.read()
    return ""


def kill_backend(top, draw):
    """SIGKILL one server process of the PostgreSQL cluster below `top`: it ends all sessions and recovers.

    Not the one that recovers: PostgreSQL ends when that one fails, and who has started it must start it again.
    """
    for where, _, files in os.walk(top):
        if "postmaster.pid" in files:
            with open(os.path.join(where, "postmaster.pid"), encoding="ascii") as f:
                master = int(f.readline())
            with open(f"/proc/{master}/task/{master}/children", encoding="ascii") as f:
                lines = {pid: command_line(pid) for pid in f.read().split()}
            children = [pid for pid, line in lines.items() if line.startswith("postgres: ") and "startup" not in line]
            if children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(draw.choice(children)), signal.SIGKILL)
            return
