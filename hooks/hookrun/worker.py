"""The worker of a daemon: one process that runs hooks, by doc/internals/hook-protocol.md over a socket.

The daemon speaks first. Scripts are compiled once and kept; a run is executed in this process, or in a child of it where another user is
asked for: the child has the socket for that time, so the daemon sees one conversation. When the socket ends, the worker ends.
"""
from __future__ import annotations

import configparser
import contextlib
import json
import os
import pwd
import signal
import socket
import sys
import time
from types import CodeType
from typing import Any, Iterator, NamedTuple, Optional

from pbs import resources
from pbs.constants import LOG_EVENTS
from pbs.run import Attrs, Run, read_conf

from .execute import compile_script, execute
from .files import attr_lines, event_text, outcome_text
from .wire import Wire, WireError

VERSION = 1
TEXT_MAX = 16 << 10   # of a log text and of a message, in bytes; section 7
LINES_MAX = 100_000
LOG_MAX = 16 << 20    # bytes of all log texts of a run
CHANGES_MAX = 100_000
PAGE = 200            # objects of a page; section 5


class Script(NamedTuple):
    serial: int
    code: CodeType
    config: Optional[str]


class _no_alarm:
    """Hold SIGALRM back while a frame is on its way, so that an alarm cannot cut it."""

    def __enter__(self) -> None:
        self._was = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})

    def __exit__(self, *exc: Any) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._was)


def cut(text: str) -> str:
    """At most TEXT_MAX bytes of a text."""
    raw = text.encode("utf-8", "surrogateescape")
    return text if len(raw) <= TEXT_MAX else raw[:TEXT_MAX].decode("utf-8", "ignore")


class WireLog:
    """Log lines of one run; a pbs.run.Log."""

    def __init__(self, wire: Wire, run_id: int) -> None:
        self._wire, self._id, self._lines, self._bytes, self._full = wire, run_id, 0, 0, False

    def line(self, mask: int, cls: str, obj: Optional[str], text: str) -> None:
        for part in text.split("\n"):
            if self._full:
                return
            part = cut(part)
            self._lines += 1
            self._bytes += len(part.encode("utf-8", "surrogateescape"))
            self._full = self._lines >= LINES_MAX or self._bytes >= LOG_MAX
            if self._full:
                part = f"this run has logged {self._lines} lines of {self._bytes} bytes; what follows is lost"
            with _no_alarm():
                self._wire.send({"op": "log", "id": self._id, "mask": mask, "class": cls, "object": obj, "text": part})


class WireSource:
    """Objects of the daemon, asked for during one run; a pbs.run.Source. `seen` keeps them for a hook with debug."""

    def __init__(self, wire: Wire, run_id: int, keep: bool) -> None:
        self._wire, self._id, self._seq = wire, run_id, 0
        self.seen: Optional[dict[tuple[str, str], Attrs]] = {} if keep else None

    def _ask(self, kind: str, name: Optional[str], queue: Optional[str], after: Optional[str]) -> dict[str, Any]:
        self._seq += 1
        with _no_alarm():
            self._wire.send({"op": "query", "id": self._id, "seq": self._seq, "kind": kind, "name": name, "queue": queue,
                             "after": after, "limit": PAGE})
            page = self._wire.receive()
        if page is None:
            raise WireError("the daemon has gone")
        if page["op"] != "page" or page.get("seq") != self._seq:
            raise WireError(f"{page['op']} in place of a page")
        if page.get("error"):
            raise RuntimeError(page["error"])
        if self.seen is not None:
            self.seen.update({(kind, o["name"]): o.get("attrs") or {} for o in page["objects"]})
        return page

    def find(self, kind: str, name: Optional[str]) -> Optional[Attrs]:
        for found in self._ask(kind, name, None, None)["objects"]:
            return found.get("attrs") or {}
        return None

    def walk(self, kind: str, queue: Optional[str]) -> Iterator[tuple[str, Attrs]]:
        after = None
        while True:
            page = self._ask(kind, None, queue, after)
            for found in page["objects"]:
                yield found["name"], found.get("attrs") or {}
            after = page.get("next")
            if after is None:
                return


class Worker:
    """The state of a worker: what hello said, and scripts."""

    def __init__(self, wire: Wire, hello: dict[str, Any]) -> None:
        self._wire, self._hello = wire, hello
        self._answers = wire  # where the answer of a run goes
        self._scripts: dict[str, Script] = {}
        self._cpu_s = 0.0  # of the last run
        self._define(hello)

    def _define(self, message: dict[str, Any]) -> None:
        resources.define({row[0]: row[1] for row in message.get("resources") or []})

    def serve(self) -> None:
        """Answer until the daemon closes the socket. WireError for an op that there is not."""
        ops = {"load": self._load, "unload": self._unload, "check": self._check, "run": self._run, "resources": self._define}
        while (message := self._wire.receive()) is not None:
            if message["op"] not in ops:
                raise WireError(f"unknown op {message['op']}")
            ops[message["op"]](message)

    def _load(self, message: dict[str, Any]) -> None:
        said: dict[str, Any] = {"op": "loaded", "hook": message["hook"], "serial": message["serial"], "ok": True}
        before = time.process_time()
        try:
            code = compile_script(message["script"], message["hook"] + ".PY")
            self._scripts[message["hook"]] = Script(message["serial"], code, message.get("config"))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
            said.update(ok=False, message=cut(str(e)))
        self._wire.send({**said, "cpu_s": time.process_time() - before})

    def _unload(self, message: dict[str, Any]) -> None:
        self._scripts.pop(message["hook"], None)

    def _check(self, message: dict[str, Any]) -> None:
        said: dict[str, Any] = {"op": "checked", "ok": True}
        try:
            check(message["kind"], message["name"], message["text"])
        except (SyntaxError, ValueError, RecursionError, MemoryError, configparser.Error) as e:
            said = {"op": "checked", "ok": False, "message": cut(str(e))}
        self._wire.send(said)

    def _run(self, message: dict[str, Any]) -> None:
        script = self._scripts.get(message["hook"])
        if script is None or script.serial != message["serial"]:
            self._answer_failed(message, f"script {message['serial']} of hook {message['hook']} was never loaded")
        elif message.get("user"):
            self._run_as(message, script)
        else:
            self._run_safely(message, script)

    def _run_safely(self, message: dict[str, Any], script: Script) -> None:
        """A mistake of ours is an answer too, and the worker lives on. It is the hook's failure: what a user has written may have caused it, and must
        not pass by that."""
        try:
            self._run_here(message, script)
        except (WireError, ConnectionError):
            raise
        except Exception as e:
            self._answer_failed(message, f"the worker failed: {type(e).__name__}: {e}")

    def _run_as(self, message: dict[str, Any], script: Script) -> None:
        """In a child that has become the user, who can end it at any moment: this process passes its answer on, or answers in its place."""
        own, other = socket.socketpair()
        with own, other:
            child = os.fork()
            if child == 0:
                try:
                    self._answers = Wire(other)
                    become(message["user"])
                    self._run_safely(message, script)
                finally:
                    os._exit(0)
            other.close()
            try:
                said = Wire(own).receive()
            except WireError:
                said = None
            os.waitpid(child, 0)
        if said is None:
            self._answer_failed(message, f"the hook could not be run as {message['user']}, or its process was ended")
        else:
            self._wire.send(said)

    def _run_here(self, message: dict[str, Any], script: Script) -> None:
        said = self._hello
        source = WireSource(self._wire, message["id"], bool(message.get("debug")))
        run = Run(event=message["event"], type=message["type"], hook_name=message["hook"], source=source,
                  log=WireLog(self._wire, message["id"]), data=message.get("data") or {}, hook_type=message.get("hook_type", "site"),
                  requestor=message.get("requestor") or "", requestor_host=message.get("requestor_host") or "",
                  freq=message.get("freq") or 120, server=said.get("server") or "", host=said.get("host") or "", config=script.config,
                  conf=said.get("conf") or read_conf(), daemon=said.get("daemon") or "", as_user=bool(message.get("user")))
        name = f"hook_{run.event}_{run.hook_name}_{time.time_ns() // 1000}" if message.get("debug") else None
        if name:
            keep(run, name + ".in", event_text(run))
        before = time.process_time()
        execute(script.code, run, message.get("alarm") or 0)
        self._cpu_s = time.process_time() - before
        if name:
            keep(run, name + ".data", objects_text(source.seen or {}))
            keep(run, name + ".out", outcome_text(run))
        if len(run.changes) > CHANGES_MAX:
            run.log.line(LOG_EVENTS["ERROR"], "Hook", run.hook_name, f"a hook may make {CHANGES_MAX} changes; this one made {len(run.changes)}")
            run.result, run.message = "error", None
            run.changes.clear()
        self._answer(message, run)

    def _answer(self, message: dict[str, Any], run: Run) -> None:
        said = {"op": "answer", "id": message["id"], "result": run.result, "message": None if run.message is None else cut(run.message),
                "ecode": run.ecode, "changes": [vars(c) for c in run.changes], "scheduler_restart_cycle": run.scheduler_restart_cycle,
                "rerun": run.rerun, "delete": run.delete, "reboot": run.reboot, "release_nodes": run.release_nodes, "memory": memory(),
                "cpu_s": self._cpu_s}
        try:
            self._answers.send(said)
        except WireError as e:
            self._answer_failed(message, str(e))

    def _answer_failed(self, message: dict[str, Any], why: str) -> None:
        WireLog(self._wire, message["id"]).line(LOG_EVENTS["ERROR"], "Hook", message["hook"], why)
        self._answers.send({"op": "answer", "id": message["id"], "result": "error", "message": None, "changes": [],
                         "scheduler_restart_cycle": False, "rerun": [], "delete": [], "reboot": None})


def check(kind: str, name: str, text: str) -> None:
    """Would an import of this text do? Raises what its parser raises: SyntaxError, ValueError, configparser.Error."""
    suffix = os.path.splitext(name)[1].lower()
    if kind == "script" or suffix == ".py":
        compile_script(text, name)
    elif suffix == ".json":
        json.loads(text)
    elif suffix == ".ini":
        configparser.ConfigParser().read_string(text)


def memory() -> int:
    """Bytes that this process has in memory now."""
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def die_first() -> None:
    """A host without memory ends this process and not its daemon: what a script takes is its own loss."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as f:
        f.write("1000")


def become(user: str) -> None:
    """Give up the identity of the daemon for good. KeyError: there is no such user. OSError."""
    entry = pwd.getpwnam(user)
    os.initgroups(user, entry.pw_gid)
    os.setresgid(entry.pw_gid, entry.pw_gid, entry.pw_gid)
    os.setresuid(entry.pw_uid, entry.pw_uid, entry.pw_uid)
    os.environ.update(HOME=entry.pw_dir, USER=user, LOGNAME=user)


def keep(run: Run, name: str, text: str) -> None:
    """A file of a hook with debug, in the working directory. One that cannot be written is told of in the log, no more."""
    try:
        with open(name, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(text)
    except OSError as e:
        run.log.line(LOG_EVENTS["ERROR"], "Hook", run.hook_name, f"{name}: {e.strerror}")


def objects_text(seen: dict[tuple[str, str], Attrs]) -> str:
    """Objects of the server as pbs_python --hook -s reads them."""
    out = []
    for (kind, name), attrs in seen.items():
        out += attr_lines("pbs.server()" if kind == "server" else f"pbs.server().{kind}({name})", attrs)
    return "\n".join(out) + "\n"


def main(arguments: list[str]) -> int:
    """pbs_hook_worker --fd N"""
    if len(arguments) != 2 or arguments[0] != "--fd" or not arguments[1].isdigit():
        print("usage: pbs_hook_worker --fd N; a daemon starts it", file=sys.stderr)
        return 2
    sock = socket.socket(fileno=int(arguments[1]))
    sock.set_inheritable(False)
    die_first()
    wire = Wire(sock)
    try:
        hello = wire.receive()
        if hello is None:
            return 0
        if hello["op"] != "hello" or hello.get("version") != VERSION:
            return 1
        worker = Worker(wire, hello)
        import pbs  # noqa: F401  hello is answered when scripts can import it

        wire.send({"op": "hello", "version": VERSION, "pid": os.getpid()})
        worker.serve()
    except (BrokenPipeError, ConnectionResetError):
        return 0
    except WireError as e:
        print(f"pbs_hook_worker: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
