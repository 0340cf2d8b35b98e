"""Hold, kill and lose: what goes wrong in the world, at a moment that the test chooses."""
import contextlib
import os
import signal
import time


@contextlib.contextmanager
def frozen(*pids):
    """These processes stand still: nothing they would say is said, nothing they should do is done."""
    assert all(pid > 0 for pid in pids), "there is no such process"  # 0 would be our own group
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def daemon_frozen(cx, daemon):
    """A daemon of the complex stands still; as a MOM it holds every end of a job back."""
    with frozen(cx.pid(daemon)):
        yield


def processes_with(text, where="environ"):
    """The pids of processes whose environment (or cmdline) holds this text."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/{where}", "rb") as f:
                if text.encode() in f.read():
                    found.append(int(name))
    return found


def processes_called(text):
    """The pids of processes whose command line holds this text."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/cmdline", "rb") as f:
                if text.encode() in f.read():
                    found.append(int(name))
    return found


def words_of(pid):
    """The command line of a process; [] when it has gone."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as f:
            return f.read().split("\0")
    return []


def parent(pid):
    """0 when it has gone: who walks through /proc meets such."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return int(f.read().rpartition(")")[2].split()[1])
    return 0


def is_alive(pid):
    """Not gone, and not a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def stays(condition, seconds):
    """True when the condition holds all this time: for what must not happen. Used sparingly: it costs time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not condition():
            return False
        time.sleep(0.02)
    return True
