"""Which peer is served which program: one connection is for one program, and EXEC is for services alone."""
import contextlib
import os
import shutil
import socket
import struct
import subprocess

import pytest

from harness import rpc_caller, users
from harness.exec_peer import BYE, EVENTS, HELLO, NODE_STATE, Peer
from harness.remote import port_of
from harness.wait import until

USAGE, GET_SCRIPT, ADVANCE = 4, 6, 7
IFL_STAT_SERVER = 21
DENIED = (1, 1, 1)  # a reply, MSG_DENIED, AUTH_ERROR
A = users.NAMES[0]

by_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: other users attack")
pytestmark = [by_root, pytest.mark.complex(nodes=0, sched=False)]


def u32(n):
    return struct.pack(">I", n)


def text(s):
    return u32(len(s)) + s + b"\0" * (-len(s) % 4)


# Well-formed arguments, so that a handler would be reached.
SCRIPT_OF_RUN = struct.pack(">iIQI", -1, 0, 0, 0)  # behind the job's number: no subjob, not run yet, from the beginning
EXEC_CALLS = {
    BYE: text(b"so long") + u32(0) + u32(0),
    GET_SCRIPT: struct.pack(">q", 1) + SCRIPT_OF_RUN,
    USAGE: u32(0) + u32(0),
    EVENTS: u32(0) + u32(0),
    NODE_STATE: u32(0) * 4,
    ADVANCE: struct.pack(">q", 1) + u32(0),
    HELLO: u32(0) * 40,
}
IFL_STAT = text(b"") + u32(0) + text(b"") + u32(0)


@contextlib.contextmanager
def local(cx):
    """A connection of an ordinary user over the local socket."""
    with users.acting_as(A):
        s = socket.socket(socket.AF_UNIX)
        s.connect(os.path.join(cx.home, "pbs_server.sock"))
    s.settimeout(rpc_caller.LIMIT_S)
    with s:
        yield s


@contextlib.contextmanager
def over_munge(cx, munged):
    """A connection inside TLS, on which an ordinary user has said who it is."""
    s = rpc_caller.connect_tls(port_of(cx), rpc_caller.IFL, os.path.join(cx.home, "certs"))
    done = subprocess.run(["munge", "-S", munged.socket], input=rpc_caller.binding(s), check=True,
                          capture_output=True, user=A)
    args = text(b"munge") + text(done.stdout.strip()) + u32(0)
    assert struct.unpack(">I", rpc_caller.call(s, rpc_caller.IFL, 95, args)[24:28])[0] == 0
    with s:
        yield s


def is_closed(s):
    """All that is left to read is the end of the connection."""
    try:
        return s.recv(1) == b""
    except ConnectionResetError:
        return True


def outcome(reply):
    return struct.unpack(">3I", reply[4:16])


def is_alive(cx):
    return cx.api.stat("server")[0]["server_state"]


@pytest.mark.parametrize("proc", EXEC_CALLS)
def test_a_call_of_exec_after_one_of_ifl_is_denied_and_ends_the_connection(cx, proc):
    """All connections are open at once, so that what the server keeps for each is at an address of its own."""
    secret = cx.submit("echo a secret of root")
    args = struct.pack(">q", int(secret.split(".")[0])) + SCRIPT_OF_RUN if proc == GET_SCRIPT else EXEC_CALLS[proc]
    server, replies = cx.pid("server"), []
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(local(cx)) for _ in range(60)]
        for s in sockets:
            assert outcome(rpc_caller.call(s, rpc_caller.IFL, IFL_STAT_SERVER, IFL_STAT))[1] == 0
        with contextlib.suppress(AssertionError):  # closed: is the server there?
            for s in sockets:
                replies.append(rpc_caller.call(s, rpc_caller.EXEC, proc, args))
        assert cx.pid("server") == server
        assert not [r for r in replies if b"secret" in r]
        assert [outcome(r) for r in replies] == [DENIED] * len(sockets)
        assert all(is_closed(s) for s in sockets)
    assert is_alive(cx) and cx.state(secret) == "Q"
    cx.wait_log("server", "program exec is not served to this peer")


@pytest.mark.parametrize("proc", EXEC_CALLS)
def test_an_ordinary_user_is_denied_exec_before_anything_is_looked_at(cx, proc):
    with local(cx) as s:
        assert outcome(rpc_caller.call(s, rpc_caller.EXEC, proc, b"no arguments at all!")) == DENIED
        assert is_closed(s)
    with local(cx) as s:  # and what follows on that connection finds nothing that EXEC left there
        s.sendall(b"".join(record(rpc_caller.EXEC, proc, EXEC_CALLS[proc]) + record(rpc_caller.IFL, 21, IFL_STAT)
                           for _ in range(10)))
        assert outcome(rpc_caller.receive(s)) == DENIED
        assert is_closed(s)
    assert is_alive(cx)


def record(prog, proc, args):
    body = struct.pack(">10I", 7, 0, 2, prog, 1, proc, 0, 0, 0, 0) + args
    return u32(rpc_caller.LAST | len(body)) + body


@pytest.mark.parametrize("first", ["ifl", "exec"])
def test_a_service_that_calls_two_programs_on_one_connection_loses_it(cx, first):
    """Root may call both, but each on a connection of its own."""
    with Peer(cx, "s1") as p:
        p.connect()
        p.sock.settimeout(rpc_caller.LIMIT_S)
        if first == "exec":
            assert p.hello(again=True).verdict == 0
        else:
            rpc_caller.call(p.sock, rpc_caller.IFL, IFL_STAT_SERVER, IFL_STAT)
        other = (rpc_caller.IFL, 21, IFL_STAT) if first == "exec" else (rpc_caller.EXEC, BYE, EXEC_CALLS[BYE])
        p.sock.sendall(record(*other))
        until(lambda: not p.pump(), "the end of the connection")
    assert is_alive(cx)
    cx.wait_log("server", "on a connection of program")


def test_a_connection_of_one_service_says_no_hello_of_another(cx):
    with Peer(cx, "s1") as p:
        assert p.hello().verdict == 0
        p.service, p.node = "sim:s2", "s2"
        answer = p.hello(again=True)
        assert answer.verdict == 1 and "that of sim:s1" in answer.reason
        assert p.say() == []  # it is the first service still


@pytest.mark.skipif(not shutil.which("munged"), reason="needs munged")
def test_a_user_known_by_munge_is_denied_exec(cx, munged):
    for proc, args in EXEC_CALLS.items():
        with over_munge(cx, munged) as s:
            assert outcome(rpc_caller.call(s, rpc_caller.EXEC, proc, args)) == DENIED
            assert is_closed(s)
        with over_munge(cx, munged) as s:
            assert outcome(rpc_caller.call(s, rpc_caller.IFL, IFL_STAT_SERVER, IFL_STAT))[1] == 0
            assert outcome(rpc_caller.call(s, rpc_caller.EXEC, proc, args)) == DENIED
            assert is_closed(s)
    assert is_alive(cx)


def test_a_guest_has_one_credential_examined_at_a_time(cx, munged):
    """Others are admitted, however many one guest sends."""
    s = rpc_caller.connect_tls(port_of(cx), rpc_caller.IFL, os.path.join(cx.home, "certs"))
    n, args = 400, text(b"munge") + text(b"MUNGE:nonsense:") + u32(0)
    s.sendall(record(rpc_caller.IFL, 95, args) * n)
    with over_munge(cx, munged) as other:
        assert outcome(rpc_caller.call(other, rpc_caller.IFL, IFL_STAT_SERVER, IFL_STAT))[1] == 0
    answers = [rpc_caller.receive(s) for _ in range(n)]
    assert sum(b"one at a time" in a for a in answers) > n // 2
    s.close()


def test_a_guest_is_denied_exec(cx):
    for proc, args in EXEC_CALLS.items():
        s = rpc_caller.connect_tls(port_of(cx), rpc_caller.IFL, os.path.join(cx.home, "certs"))
        assert outcome(rpc_caller.call(s, rpc_caller.EXEC, proc, args)) == DENIED
        assert is_closed(s)
    assert is_alive(cx)
