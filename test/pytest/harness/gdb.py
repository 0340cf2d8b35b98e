"""Where programs of a complex come past, and in which order: gdb, at functions of theirs, without a change of what they do."""
import contextlib
import ctypes
import functools
import os
import shutil
import signal
import subprocess

from . import build
from .wait import until

PTRACE_ATTACH = 16
SCRIPT = os.path.join(os.path.dirname(__file__), "programs", "stops.py")


def why_not():
    """Why gdb cannot be used here; None if it can."""
    if build.is_sanitized():
        return "the sanitizer allows no debugger"
    return _why_no_ptrace() if shutil.which("gdb") else "gdb is not installed"


@functools.cache
def _why_no_ptrace():
    """Containers may refuse ptrace(2) to all, and Yama refuses it to ordinary users for all but their children."""
    libc = ctypes.CDLL(None, use_errno=True)
    child = subprocess.Popen(["sleep", "600"])
    try:
        if libc.ptrace(PTRACE_ATTACH, child.pid, None, None) != 0:
            return f"no process may be traced here: {os.strerror(ctypes.get_errno())}"
    finally:
        child.kill()
        child.wait()
    with contextlib.suppress(FileNotFoundError), open("/proc/sys/kernel/yama/ptrace_scope", encoding="ascii") as f:
        if f.read().strip() != "0" and os.geteuid() != 0:
            return "kernel.yama.ptrace_scope lets users trace their own children only"
    return None


class Stops:
    """Functions as "file.c:function". Use it as a context: at its end each gdb has let go of its process, which runs on."""

    def __init__(self, cx):
        self._cx = cx
        self._out = os.path.join(cx.top, "stops")
        self._gdbs = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for who, process in self._gdbs:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)
            until(lambda p=process: p.poll() is not None, f"the end of gdb for {who}")

    def _begin(self, who, how, at, words, env):
        env = {**self._cx.env, **(env or {}), "STOPS_OUT": self._out, "STOPS_WHO": who, "STOPS_HOW": how, "STOPS_AT": " ".join(at)}
        said = os.path.join(self._cx.top, f"gdb.{who}")
        with open(said, "w", encoding="utf-8") as f:
            process = subprocess.Popen(["gdb", "-q", "-batch", "-nx", "-x", SCRIPT, *map(str, words)], stdin=subprocess.DEVNULL, stdout=f,
                                       stderr=subprocess.STDOUT, cwd=self._cx.work, env=env)
        self._gdbs.append((who, process))

        def is_ready():
            assert process.poll() is None or f"{who} ready" in self._text(), open(said, encoding="utf-8").read()
            return f" {who} ready" in self._text()
        until(is_ready, f"gdb for {who}")

    def attach(self, who, pid, *at):
        """Stop a process that runs at these functions."""
        self._begin(who, "attach", at, ["-p", pid], None)

    def next_child(self, who, pid, *at):
        """The same, of the child that this process forks next."""
        self._begin(who, "fork", at, ["-p", pid], None)

    def run(self, who, words, *at, env=None):
        """A program from its first function on."""
        self._begin(who, "run", at, ["--args", *words], env)

    def _text(self):
        with contextlib.suppress(FileNotFoundError), open(self._out, encoding="utf-8") as f:
            return f.read()
        return ""

    def past(self):
        """[(who, function, stack)] so far, as they came; a stack is function@file, the innermost first."""
        lines = sorted((line.split() for line in self._text().splitlines()), key=lambda words: int(words[0]))
        return [(words[1], words[2].partition(":")[2], words[3:]) for words in lines if words[2] != "ready"]

    def functions(self):
        return [function for _, function, _ in self.past()]


def first_missing(steps, past):
    """The first of these steps that has not come behind the one before it; None if all have."""
    rest = iter(past)
    return next((step for step in steps if step not in rest), None)
