"""What one user has of the server: connections, calls, memory. Beyond it that user's calls wait, and others are served."""
import contextlib
import os
import re
import socket
import struct

import pytest

from harness import rpc_caller, users
from harness.build import is_sanitized
from harness.wait import until

A, B = users.NAMES[:2]
pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="needs root: other users attack"),
              pytest.mark.complex(nodes=0, sched=False)]
IFL_STAT_SERVER, IFL_SELSTAT = 21, 51
MB = 1 << 20
JOBS = 300  # the answer to one question is longer than what a connection buffers
WANTED = 4000  # what takes eight bytes and less on the wire, and a block of memory in the server


def u32(n):
    return struct.pack(">I", n)


def text(s):
    return u32(len(s)) + s + b"\0" * (-len(s) % 4)


def record(proc, args, xid=7):
    body = struct.pack(">10I", xid, 0, 2, rpc_caller.IFL, 1, proc, 0, 0, 0, 0) + args
    return u32(rpc_caller.LAST | len(body)) + body


STAT = record(IFL_STAT_SERVER, text(b"") + u32(0) + text(b"") + u32(0))


@contextlib.contextmanager
def connections(cx, n, user=A):
    """So many connections of that user, or fewer: who is turned away is not among them."""
    with users.acting_as(user), contextlib.ExitStack() as stack:
        got = []
        for _ in range(n):
            s = stack.enter_context(socket.socket(socket.AF_UNIX))
            s.connect(os.path.join(cx.home, "pbs_server.sock"))
            s.settimeout(rpc_caller.LIMIT_S)
            got.append(s)
        os.seteuid(0)
        yield got


def is_served(s):
    try:
        s.sendall(STAT)
        return struct.unpack(">3I", rpc_caller.receive(s)[4:16]) == (1, 0, 0)
    except (AssertionError, ConnectionError):
        return False


def memory_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmRSS:\s+(\d+) kB", f.read()).group(1)) * 1024


class Flood:
    """Connections that get the same call again and again, and whose answers are not read."""

    def __init__(self, sockets, call, times):
        self.left = {s: memoryview(call * times) for s in sockets}
        for s in sockets:
            s.setblocking(False)

    def push(self):
        """True: something was taken."""
        moved = False
        for s, rest in list(self.left.items()):
            with contextlib.suppress(BlockingIOError):
                n = s.send(rest[:MB])
                self.left[s] = rest[n:]
                moved |= n > 0
        return moved


def test_unread_answers_to_costly_questions_take_bounded_memory(cx):
    for _ in range(JOBS):
        cx.submit("sleep 1")
    before = memory_of(cx.pid("server"))
    wanted = text(b"Priority") + text(b"")
    question = record(IFL_SELSTAT, u32(0) + u32(WANTED) + wanted * WANTED + text(b"") + u32(0))
    with connections(cx, 60) as attackers, connections(cx, 2, B) as (other, reader):
        reader.sendall(question)
        assert rpc_caller.receive(reader)[24:28] == u32(0), "it is not a refusal that they get"
        flood = Flood(attackers, question, 60)
        idle = 0
        while idle < 20:  # what the server takes of it, it takes between the answers to others
            idle = 0 if flood.push() else idle + 1
            assert is_served(other)
        # AddressSanitizer keeps 256 MB of what was freed, and half as much again of what is used
        assert memory_of(cx.pid("server")) - before < (1000 if is_sanitized() else 400) * MB
        assert is_served(other) and any(flood.left.values()), "most of it waits"


def test_a_user_has_so_many_connections_and_no_more(cx):
    with open(cx.conf, "a", encoding="ascii") as f:
        f.write("PBS_USER_CONNECTIONS=5\n")
    cx.restart("server")
    cx.again()
    with connections(cx, 8) as got, connections(cx, 1, B) as (other,):
        assert [is_served(s) for s in got] == [True] * 5 + [False] * 3
        assert is_served(other)
        got[0].close()

        def one_more():
            with connections(cx, 1) as (s,):
                return is_served(s)
        until(one_more, "the place of the one that has gone")
    cx.wait_log("server", "has 5 connections already")


def test_calls_beyond_the_rate_wait_and_are_answered(cx):
    with open(cx.conf, "a", encoding="ascii") as f:
        f.write("PBS_USER_CALLS_PER_SECOND=10\n")
    cx.restart("server")
    cx.again()
    with connections(cx, 2) as got, connections(cx, 1, B) as (other,):
        for s in got:
            s.sendall(STAT * 60)
        assert is_served(other)
        for s in got:
            for _ in range(60):
                assert struct.unpack(">3I", rpc_caller.receive(s)[4:16]) == (1, 0, 0)
    cx.wait_log("server", "the share of calls a second is used up")
