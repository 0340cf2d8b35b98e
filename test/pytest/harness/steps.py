"""A server that counts its steps (test/cost/steps.c), and requests made of bytes: what each cost, as a number.

The count is of basic blocks of the server's own code in the thread of its loop, so it is the same on any machine.
"""
import fcntl
import mmap
import os
import re
import shutil
import socket
import struct
import subprocess

from . import rpc_caller
from .complex import Complex

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
BUILT = os.path.join(TOP, "build", "counted")
LIMIT_S = 60


def build():
    """The path of the counting server, built when it is not there or not new."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "BUILD", "SANITIZE")}
    os.makedirs(BUILT, exist_ok=True)
    with open(os.path.join(BUILT, "lock"), "w", encoding="ascii") as lock:  # tests run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(["make", "-s", "-j2", "counted"], cwd=TOP, env=env, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    return os.path.join(BUILT, "sbin", "pbs_server")


class CountedComplex(Complex):
    """Without nodes and scheduler; its server counts."""

    def __init__(self, **kw):
        super().__init__(nodes=0, sched=False, **kw)
        whole, self.build = self.build, os.path.join(self.top, "exec")
        for folder in os.listdir(whole):
            if folder not in ("bin", "sbin"):
                os.makedirs(self.build, exist_ok=True)
                os.symlink(os.path.join(whole, folder), os.path.join(self.build, folder))
        for folder in ("bin", "sbin"):
            os.makedirs(os.path.join(self.build, folder))
            for name in os.listdir(os.path.join(whole, folder)):
                if name not in ("pbs_complex", "pbs_server"):
                    os.symlink(os.path.join(whole, folder, name), os.path.join(self.build, folder, name))
        shutil.copy2(os.path.join(whole, "bin", "pbs_complex"), os.path.join(self.build, "bin"))
        shutil.copy2(build(), os.path.join(self.build, "sbin", "pbs_server"))
        self._file = os.path.join(self.top, "steps")
        os.environ["COST_STEPS"] = self._file

    def start(self):
        try:
            super().start()
        finally:
            del os.environ["COST_STEPS"]
        with open(self._file, "r+b") as f:
            self._map = mmap.mmap(f.fileno(), 8)
        return self

    def report(self):
        """Short: its jobs have values of a megabyte."""
        return self.logs("server", 5)[:2000]

    def steps(self):
        return struct.unpack("=Q", self._map[:8])[0]


# --- XDR

def u32(n):
    return struct.pack(">I", n & 0xFFFFFFFF)


def u64(n):
    return struct.pack(">Q", n)


def text(s):
    raw = s if isinstance(s, bytes) else s.encode()
    return u32(len(raw)) + raw + b"\0" * (-len(raw) % 4)


def array(items):
    items = list(items)
    return u32(len(items)) + b"".join(items)


def attrops(*items):
    """(name, resource, value, op) each."""
    return array(text(n) + text(r) + text(v) + u32(op) for n, r, v, op in items)


EXT = u32(0)


class Caller:
    """A connection over the local socket, one call at a time."""

    def __init__(self, cx):
        self.cx, self.answered, self.grown = cx, 0, 0
        self.s = socket.socket(socket.AF_UNIX)
        self.s.settimeout(LIMIT_S)
        self.s.connect(os.path.join(cx.home, "pbs_server.sock"))

    def close(self):
        self.s.close()

    def _record(self):
        parts, last = [], False
        while not last:
            head, = struct.unpack(">I", rpc_caller._read(self.s, 4))  # pylint: disable=protected-access
            last = head & rpc_caller.LAST
            parts.append(rpc_caller._read(self.s, head & ~rpc_caller.LAST))  # pylint: disable=protected-access
        return b"".join(parts)

    def call(self, proc, args):
        """The result's bytes; None: the server did not decode it."""
        record = struct.pack(">10I", 7, 0, 2, rpc_caller.IFL, 1, proc, 0, 0, 0, 0) + args
        self.s.sendall(struct.pack(">I", rpc_caller.LAST | len(record)) + record)
        reply = self._record()
        return reply[24:] if struct.unpack_from(">I", reply, 20)[0] == 0 else None

    def _memory(self, file, word):
        """Bytes that the server's status says; or begin a new peak."""
        path = f"/proc/{self.cx.pid('server')}/{file}"
        if file == "clear_refs":
            with open(path, "w", encoding="utf-8") as f:
                f.write(word)
            return 0
        with open(path, encoding="utf-8") as f:
            return int(re.search(rf"{word}:\s+(\d+) kB", f.read())[1]) << 10

    def cost(self, proc, args):
        """(steps, PBS code) from the first byte of the request until the server has answered one more, small one. Then
        `answered` is the size of the answer, `grown` how much larger the server was than before, at most."""
        self._memory("clear_refs", "5")
        resident = self._memory("status", "VmRSS")
        before = self.cx.steps()
        result = self.call(proc, args)
        self.answered = len(result or b"")
        self.call(0, b"")
        self.grown = self._memory("status", "VmHWM") - resident
        code = struct.unpack_from(">i", result)[0] if result else None
        return self.cx.steps() - before, code


# --- the tables of the sources

def requests():
    """[(name of the procedure, its number, name of its arguments' struct)] of server/handlers/req_table.c."""
    with open(os.path.join(TOP, "server", "handlers", "req_table.c"), encoding="utf-8") as f:
        rows = re.findall(r"X\((IFL_\w+),[^)]*?(ifl_\w+_args),", f.read().replace("\\\n", " "))
    with open(os.path.join(TOP, "ifl", "protocol", "ifl.x"), encoding="utf-8") as f:
        numbers = dict(re.findall(r"(IFL_\w+)\(\w+\)\s*=\s*(\d+);", f.read()))
    return [(name, int(numbers[name]), args) for name, args in rows]


def attributes(kind):
    """[(name, type)] of those that can be written, of ifl/def/attr_KIND.def."""
    with open(os.path.join(TOP, "ifl", "def", f"attr_{kind}.def"), encoding="utf-8") as f:
        rows = re.findall(r"^ATTR\((\w+), (\w+), \w+, (\w+),", f.read(), re.M)
    return [(name, what) for name, what, writer in rows if writer != "SERVER"]
