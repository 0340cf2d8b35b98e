"""An execution service played by hand: it speaks PBS_EXEC_PROG (ifl/protocol/exec.x) and says only what a test says.

Orders of the server are kept in `orders`, each answered "taken" unless `refuse` has a code for its procedure. Events are
said with numbers of the test's own choice; the server's word on each comes back. One thread: whatever waits also reads.
"""
import os
import select
import socket
import struct
import time

from . import rpc_caller
from .remote import port_of

LIMIT_S = 120.0
EXEC, VERSION = 0x20000051, 1
HELLO, EVENTS, NODE_STATE, USAGE, BYE, GET_SCRIPT = range(1, 7)
START, LAUNCH, SIGNAL, SUSPEND, RESUME, CHECKPOINT, NOTICE, UPDATE, TERMINATE, PURGE = range(20, 30)
HOOKS, WITHDRAW = 33, 34
ACCEPTED, REFUSED, WAIT = range(3)
KEEP, KILL, FORGET = range(3)
ACKED, UNKNOWN_RUN = range(2)
PREPARING, RUNNING, SUSPENDED, ENDING, RELEASED = range(1, 6)
MOM, SIM = 1, 2
CAN_FREEZE, CAN_CHECKPOINT, CAN_RELEASE, CAN_HOOKS, CAN_WITHDRAW = 1, 2, 8, 4096, 16384
READY, STARTED, FINISH, RELEASE, EXCEPTION, WAS_SUSPENDED, WAS_RESUMED, CHECKPOINTED, FAILED = range(1, 10)


def u32(n):
    return struct.pack(">I", n & 0xFFFFFFFF)


def u64(n):
    return struct.pack(">Q", n)


def text(s):
    raw = s.encode()
    return u32(len(raw)) + raw + b"\0" * (-len(raw) % 4)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def u32(self):
        self.at += 4
        return struct.unpack_from(">I", self.data, self.at - 4)[0]

    def u64(self):
        self.at += 8
        return struct.unpack_from(">Q", self.data, self.at - 8)[0]

    def i32(self):
        self.at += 4
        return struct.unpack_from(">i", self.data, self.at - 4)[0]

    def text(self):
        n = self.u32()
        self.at += n + -n % 4
        return self.data[self.at - n - -n % 4:][:n].decode("utf-8", "replace")

    def list(self, one):
        return [one() for _ in range(self.u32())]


class Run:
    """What START, or another order, says of a run."""

    def __init__(self, r):
        self.seq, self.index, self.run = r.u64(), r.i32(), r.u32()

    @property
    def key(self):
        return struct.pack(">qiI", self.seq, self.index, self.run)

    def of(self, run):
        """The same job, another run."""
        other = object.__new__(Run)
        other.seq, other.index, other.run = self.seq, self.index, run
        return other

    def of_job(self, seq):
        """The same run of another job."""
        other = self.of(self.run)
        other.seq = seq
        return other

    def __eq__(self, other):
        return self.key == other.key

    def __hash__(self):
        return hash(self.key)


class Order:
    """proc, run; epoch and store where the order has them there; START: id, cookie, hosts, my_host, launch."""

    def __init__(self, proc, data):
        r = Reader(data)
        self.proc, self.run, self.data = proc, None, data
        if proc == HOOKS:
            self.epoch, self.store = r.u64(), r.text()
            return
        self.run = Run(r)
        if proc == START:
            self.id, self.store, self.epoch = r.text(), r.text(), r.u64()
            self.user, self.group, self.cookie = r.text(), r.text(), r.text()
            self.attrs = r.list(lambda: (r.text(), r.text(), r.text()))
            self.hosts = r.list(lambda: self._host(r))
            self.my_host, self.launch = r.u32(), r.u32()
        else:
            self.epoch, self.store = r.u64(), r.text()
            self.attempt = r.u32() if proc in (SUSPEND, RESUME, CHECKPOINT, TERMINATE, WITHDRAW) else None

    @staticmethod
    def _host(r):
        host = r.text(), r.text(), r.text()
        r.list(lambda: (r.text(), r.list(lambda: (r.text(), r.text()))))
        r.u32()
        return host


class Hello:
    """The server's answer: verdict, reason, store, epoch, and per run (decision, acknowledged)."""

    def __init__(self, data):
        r = Reader(data)
        self.verdict, self.reason, self.store, self.epoch = r.u32(), r.text(), r.text(), r.u64()
        r.u64(), r.text(), r.u32(), r.u32()
        self.runs = {}
        for _ in range(r.u32()):
            run = Run(r)
            self.runs[run] = (r.u32(), r.u64())


class Peer:
    """A service of one vnode; `s1` of the service `sim:s1` unless told else. Connects and says HELLO by hello()."""

    kind = SIM

    def __init__(self, cx, node="s1", ncpus=4, service=None):
        self.cx, self.node, self.ncpus, self.service = cx, node, ncpus, service or f"sim:{node}"
        self.sock, self.xid, self.buffer = None, 0, b""
        self.orders, self.replies, self.refuse = [], {}, {}
        self.silent = set()  # orders that are read and not answered
        self.store, self.epoch = "", 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.sock:
            self.sock.close()
        self.sock, self.buffer, self.replies = None, b"", {}

    # --- records
    def connect(self):
        self.close()
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.path.join(self.cx.home, "pbs_server.sock"))

    def _send(self, body):
        self.sock.sendall(u32(0x80000000 | len(body)) + body)

    def _records(self):
        """Whole records (of one fragment each, as the server writes them) that are here."""
        while len(self.buffer) >= 4:
            mark = struct.unpack(">I", self.buffer[:4])[0]
            n = mark & 0x7FFFFFFF
            if len(self.buffer) < 4 + n:
                return
            body, self.buffer = self.buffer[4:4 + n], self.buffer[4 + n:]
            yield body

    def _take(self, body):
        xid, kind = struct.unpack(">II", body[:8])
        if kind == 1:
            self.replies[xid] = body[12:]
            return
        proc = struct.unpack(">I", body[20:24])[0]
        r = Reader(body)
        r.at = 24
        for _ in range(2):  # credential, verifier
            r.u32(), r.text()
        code = 0 if proc == 0 else self.refuse.get(proc, 0)
        if proc:
            self.orders.append(Order(proc, body[r.at:]))
        if proc in self.silent:
            return
        answer = b"" if proc == 0 else struct.pack(">i", code) + text("by hand" if code else "") + u32(0)
        self._send(u32(xid) + u32(1) + u32(0) * 4 + answer)

    def _has_bytes(self):
        return False

    def pump(self, seconds=0.05):
        """Read what is here, or comes soon. False: the server has closed the connection."""
        if not self._has_bytes() and not select.select([self.sock], [], [], seconds)[0]:
            return True
        try:
            more = self.sock.recv(1 << 20)
        except ConnectionResetError:
            more = b""
        self.buffer += more
        for body in self._records():
            self._take(body)
        return bool(more)

    def wait(self, found, what, limit_s=LIMIT_S):
        """Read until found() is true; its value."""
        end = time.monotonic() + limit_s
        while True:
            value = found()
            if value:
                return value
            assert time.monotonic() < end, f"not within {limit_s} s: {what}"
            assert self.pump(), f"the server closed the connection; awaited: {what}"

    def call_send(self, proc, args):
        self.xid += 1
        self._send(u32(self.xid) + u32(0) + u32(2) + u32(EXEC) + u32(VERSION) + u32(proc) + u32(0) * 4 + args)
        return self.xid

    def call_recv(self, xid):
        body = self.wait(lambda: self.replies.get(xid), f"the answer to call {xid}")
        del self.replies[xid]
        flavor, n, stat = struct.unpack(">III", body[:12])
        assert (flavor, n, stat) == (0, 0, 0), "the call was accepted"
        return body[12:]

    def call(self, proc, args):
        return self.call_recv(self.call_send(proc, args))

    # --- HELLO
    def hello(self, runs=(), generation=1, boot="boot", instance="", host="here", store=None, epoch=None,
              capabilities=CAN_FREEZE | CAN_RELEASE, again=False, address="", nodes=None):
        """`runs`: (run, state, last number). Unless it says HELLO again on its connection, on a new one. `nodes`: what is
        said of vnodes, {name: {"attribute" or "attribute.resource": value}}."""
        if not again:
            self.connect()
        nodes = nodes or {self.node: {"resources_available.ncpus": self.ncpus}}
        held = b"".join(run.key + text(self.store if of is None else of) + u32(state) + u64(last) + u32(0)
                        for run, state, last, of in [(*r, None)[:4] for r in runs])
        answer = Hello(self.call(HELLO, u32(1) + u32(self.kind) + text(self.service) + u64(generation) + text(host) +
                                 text(address) +
                                 text(boot) + text(instance) + text(self.store if store is None else store) +
                                 u64(self.epoch if epoch is None else epoch) + u32(capabilities) +
                                 u64(time.time_ns()) + self._nodes(nodes) + u32(len(runs)) + held +
                                 text("by hand") + u32(0)))
        if answer.verdict == ACCEPTED:
            self.store, self.epoch = answer.store, answer.epoch
        return answer

    @staticmethod
    def _nodes(nodes):
        def attr(name, value):
            return b"".join(map(text, (*(name.split(".") + [""])[:2], str(value))))
        return u32(len(nodes)) + b"".join(text(name) + u32(len(said)) + b"".join(attr(*a) for a in said.items())
                                          for name, said in nodes.items())

    def say_nodes(self, nodes):
        """NODE_STATE, with the same form of `nodes`."""
        self.call(NODE_STATE, self._nodes(nodes) + u32(0) + text("") + u32(0))

    def script(self, run):
        """GET_SCRIPT: the code, and the bytes."""
        r = Reader(self.call(GET_SCRIPT, run.key + u64(0) + u32(0)))
        code, _ = r.i32(), r.text()
        return code, r.text()

    def script_whole(self, run):
        """All pieces of GET_SCRIPT, until one is empty."""
        whole = b""
        while True:
            r = Reader(self.call(GET_SCRIPT, run.key + u64(len(whole)) + u32(0)))
            assert r.i32() == 0, r.text()
            r.text()
            n = r.u32()
            if n == 0:
                return whole
            whole += r.data[r.at:r.at + n]

    # --- orders
    def order(self, proc, run=None):
        """The first order of that kind (about that run) that was not asked for before; waits for it."""
        def find():
            return next((o for o in self.orders if o.proc == proc and (run is None or o.run == run)), None)
        o = self.wait(find, f"order {proc}")
        self.orders.remove(o)
        return o

    # --- events
    @staticmethod
    def usage(walltime_ms=1000):
        return u64(0) + u64(walltime_ms) + u64(0) + u64(0) + u32(1) + u32(0)

    def event(self, run, seq, kind, data=b""):
        return run.key + u64(seq) + u64(time.time_ns()) + u32(kind) + data

    def ready(self, run, seq=1):
        return self.event(run, seq, READY)

    def started(self, run, seq=2):
        return self.event(run, seq, STARTED, u32(4711) + text("here") + text(""))

    def finish(self, run, seq, status=0, reason=0):
        return self.event(run, seq, FINISH, struct.pack(">i", status) + u32(reason) + text("") + self.usage())

    def release(self, run, seq, final=True, nodes=None, attention=False, note=""):
        nodes = [self.node] if nodes is None else nodes
        return self.event(run, seq, RELEASE, u32(len(nodes)) + b"".join(map(text, nodes)) + u32(final) +
                          u32(attention) + text(note))

    def exception(self, run, seq, severity, kind, note):
        return self.event(run, seq, EXCEPTION, u32(severity) + text(kind) + text(note))

    def outcome(self, run, seq, kind, attempt):
        """WAS_SUSPENDED, WAS_RESUMED."""
        return self.event(run, seq, kind, u32(attempt) + self.usage())

    def failed(self, run, seq, attempt, method, code=15050, said="by hand"):
        return self.event(run, seq, FAILED, u32(attempt) + text(method) + struct.pack(">i", code) + text(said))

    def checkpointed(self, run, seq, attempt, image):
        return self.event(run, seq, CHECKPOINTED, u32(attempt) + text(image) + u64(4096) + u32(1))

    def say_send(self, *events):
        return self.call_send(EVENTS, u32(len(events)) + b"".join(events) + u32(0))

    def say_recv(self, ticket):
        r = Reader(self.call_recv(ticket))
        return [(state, seq) for _, state, seq in r.list(lambda: (Run(r), r.u32(), r.u64()))]

    def say(self, *events):
        """One call of EVENTS; (ACKED or UNKNOWN_RUN, number) for each, when that is durable."""
        return self.say_recv(self.say_send(*events))

    # --- a whole life
    def begin(self, events=2):
        """Take a START and say so many of ready and start; the run."""
        start = self.order(START)
        self.say(*[self.ready(start.run), self.started(start.run)][:events])
        return start.run

    def end(self, run, seq=3, status=0, reason=0):
        """finish and the last release; until the server wants it forgotten."""
        self.say(self.finish(run, seq, status, reason), self.release(run, seq + 1))
        self.order(PURGE, run)


class Mom(Peer):
    """A MOM whose host belongs to somebody else: it has the certificate of mom:NODE and says what it likes."""

    kind = MOM

    def __init__(self, cx, node):
        super().__init__(cx, node, service=f"mom:{node}")

    def connect(self):
        self.close()
        self.sock = rpc_caller.connect_tls(port_of(self.cx), rpc_caller.EXEC, os.path.join(self.cx.home, "certs"),
                                           name=f"mom-{self.node}")

    def _has_bytes(self):
        return self.sock.pending() > 0
