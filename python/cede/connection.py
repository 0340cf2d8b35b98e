"""A connection to a server: ask, submit, act. The calls of libpbs, with Python's types."""
from __future__ import annotations

import ctypes as C
import os
import select as _select
import tempfile
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from . import _libpbs as _l
from . import errors, submission, values
from .objects import KINDS, Job, Node, Object, Queue, Reservation, Server
from .tables import API
from .watch import Watch

_ENTRY_KINDS = {"queue": "que", "node": "vnode", "resv": "resv", "job": "job"}
_MATCH = {"": "BATCH_OP_SET", "=": "BATCH_OP_EQ", "!=": "BATCH_OP_NE", ">=": "BATCH_OP_GE", ">": "BATCH_OP_GT", "<=": "BATCH_OP_LE",
          "<": "BATCH_OP_LT"}


def connect(server: str | None = None, *, conf_file: str | Path | None = None) -> Connection:
    """Connect to a server, as the user who runs this program.

    server      "HOST" or "HOST:PORT"; None: the one of pbs.conf
    conf_file   the pbs.conf to read; None: PBS_CONF_FILE of the environment, else /etc/pbs.conf

    NotConnected when the server cannot be reached.
    """
    return Connection(server, conf_file)


class Connection:
    """One connection. Several threads may use it; a call blocks its own thread only. Also a context manager."""

    def __init__(self, server: str | None = None, conf_file: str | Path | None = None) -> None:
        if conf_file is not None:
            os.environ["PBS_CONF_FILE"] = str(conf_file)
        if not _l.lib.pbs_loadconf(1):
            raise errors.make(_l.errno(), f"cannot read {os.environ.get('PBS_CONF_FILE', '/etc/pbs.conf')}")
        self._types: dict[str, str] = {}
        self._script, self._script_text = -1, b""
        self._lock = threading.Lock()
        self._ends: dict[str, Future[int | None]] = {}
        self.handle: int = _l.lib.pbs_connect(_l.to_bytes(server))
        if self.handle < 0:
            raise errors.last(-1)

    def close(self) -> None:
        """End the connection. Closing twice does nothing."""
        if self.handle >= 0:
            _l.lib.pbs_disconnect(self.handle)
            self.handle = -1
        if self._script >= 0:
            os.close(self._script)
            self._script = -1

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "handle", -1) >= 0:
            self.close()

    # --- calls
    def simple(self, name: str, *arguments: Any) -> None:
        """A call of libpbs that answers 0 or an error: simple("holdjob", "12.host", "u", None)."""
        if getattr(_l.lib, f"pbs_{name}")(self.handle, *[a if isinstance(a, int) else _l.to_bytes(a) for a in arguments]) != 0:
            raise errors.last(self.handle)

    def _taken(self, pointer: int | None) -> str:
        if not pointer:
            raise errors.last(self.handle)
        return _l.take_text(pointer)

    def _entries(self, kind: str, head: Any) -> list[Any]:
        if not head and _l.errno() != 0:
            raise errors.last(self.handle)
        return [KINDS[kind](self, name, raw) for name, raw, _ in _l.entries(head)]

    # --- questions
    def status(self, kind: str, name: str | None = None, want: Iterable[str] = (), extend: str | None = None) -> list[Any]:
        """Objects of a kind ("job", "node", "queue", "resv"), all or by name, with the attributes wanted (none: all)."""
        call = getattr(_l.lib, f"pbs_stat{_ENTRY_KINDS[kind]}")
        return self._entries(kind, call(self.handle, _l.to_bytes(name), _l.attr_list(values.wanted(want)), _l.to_bytes(extend)))

    def server(self) -> Server:
        found: list[Server] = self._entries("server", _l.lib.pbs_statserver(self.handle, None, None))
        return found[0]

    def queues(self) -> list[Queue]:
        return self.status("queue")

    def queue(self, name: str) -> Queue:
        found: list[Queue] = self.status("queue", name)
        return found[0]

    def nodes(self) -> list[Node]:
        """All vnodes."""
        return self.status("node")

    def node(self, name: str) -> Node:
        found: list[Node] = self.status("node", name)
        return found[0]

    def reservations(self) -> list[Reservation]:
        return self.status("resv")

    def reservation(self, name: str) -> Reservation:
        found: list[Reservation] = self.status("resv", name)
        return found[0]

    def job(self, name: str, *, history: bool = True) -> Job:
        """One job, also of the history. UnknownJob when there is none."""
        found: list[Job] = self.status("job", name, extend="x" if history else None)
        return found[0]

    def jobs(self, *, history: bool = False, want: Iterable[str] = (), **criteria: Any) -> list[Job]:
        """Jobs that meet all criteria: jobs(job_state="R", queue="workq").

        criteria    attribute to value, or to (operator, value) with the operators = != < <= > >=; a mapping for resources
        want        attributes to bring (none: all)
        history     also jobs that have ended
        """
        found, entry = self.collected_jobs()
        asked, wanted = _l.attr_list(criteria_rows(criteria)), _l.attr_list(values.wanted(want))
        if _l.lib.pbs_selstat_each(self.handle, asked, wanted, b"x" if history else None, entry, None) != 0:
            raise errors.last(self.handle)
        return found

    def collected_jobs(self) -> tuple[list[Job], Any]:
        """A list, and the callback of pbs_selstat_each() that fills it."""
        found: list[Job] = []

        def entry(pointer: Any, _arg: Any) -> int:
            found.append(Job(self, _l.to_text(pointer.contents.name), _l.attributes(pointer.contents.attribs)))
            return 0

        return found, _l.ENTRY(entry)

    def resource_type(self, name: str) -> str:
        """The type of a resource, built-in or custom: "long", "size", ...; "" where there is none of that name."""
        known = values.builtin_type(name) or self._types.get(name)
        if known is None:
            self._types = {r: _custom_type(raw) for r, raw, _ in _l.entries(_l.lib.pbs_statrsc(self.handle, None, None, None))}
            known = self._types.setdefault(name, "")
        return known

    # --- jobs
    def submit(self, script: str | Path | None = None, *, command: Iterable[Any] | None = None, **options: Any) -> Job:
        """Submit a job.

        script       its text, or a Path to it; lines "#PBS ..." are read as qsub reads them
        command      in place of a script: a program and its arguments
        name         Job_Name
        queue        QUEUE, QUEUE@SERVER, or the queue of a reservation
        select       "2:ncpus=4:mem=8gb"
        walltime     a timedelta, seconds, or "HH:MM:SS"
        resources    further resources by name
        env          variables of its environment; export=True: all of the caller's as well
        array        "1-100", "1-100:5%10"
        output, error, join      where its output goes
        hold, priority, depend, after (a datetime), project, account, rerunable
        attributes   anything else, by the name of the attribute

        The job; UnknownQueue, BadAttribute, LimitExceeded, Unauthorized, ... say why not. ValueError: a directive that cannot be read.
        """
        return self.submit_prepared(submission.build(script, None if command is None else list(command), **options))

    def submit_prepared(self, made: submission.Submission) -> Job:
        """Submit what submission.build() made: the same job many times without reading its script again."""
        path = self.script_path(made.script_bytes)
        return Job(self, self._taken(_l.lib.pbs_submit(self.handle, made.attropl, path, made.destination, None)))

    def script_path(self, text: bytes | None) -> bytes | None:
        """A path where libpbs finds this text, until the next call of this function; None for no script."""
        if text is None:
            return None
        if self._script < 0:
            self._script = os.memfd_create("script")
        if text is not self._script_text:
            os.ftruncate(self._script, 0)
            os.pwrite(self._script, text, 0)
            self._script_text = text
        return f"/proc/self/fd/{self._script}".encode()

    def alter(self, job: str, attributes: Mapping[str, Any]) -> None:
        if _l.lib.pbs_alterjob(self.handle, _l.to_bytes(job), _l.attr_list(values.rows(attributes)), None) != 0:
            raise errors.last(self.handle)

    def delete(self, jobs: Iterable[str | Job], *, force: bool = False) -> dict[str, errors.PbsError]:
        """Delete many jobs in one call. The jobs that were not deleted, with the reason."""
        failed = _l.delete_jobs(self.handle, [str(j) for j in jobs], "force" if force else None)
        if not failed and _l.errno() != 0:
            raise errors.last(self.handle)
        return {name: errors.make(code) for name, code in failed.items()}

    def wait(self, job: str, timeout: float | timedelta | None = None) -> int | None:
        """As Job.wait()."""
        limit = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
        try:
            return self.end_future(job).result(limit)
        except TimeoutError:
            raise TimeoutError(f"{job} is not over after {limit:g} s") from None

    def end_future(self, job: str) -> Future[int | None]:
        """The end of a job as a future: one thread a job, however often it is asked for (cede.aio waits for thousands with none)."""
        with self._lock:
            future = self._ends.get(job)
            if future is None:
                future = self._ends[job] = Future()
                threading.Thread(target=self._follow, args=(job, future), name=f"cede-wait-{job}", daemon=True).start()
            return future

    def _follow(self, job: str, future: Future[int | None]) -> None:
        try:
            future.set_result(self.end_of(job))
        except errors.PbsError as e:
            future.set_exception(e)
        with self._lock:
            self._ends.pop(job, None)

    def end_of(self, job: str) -> int | None:
        """Wait for the end of a job: its exit status; None where it never ran or is no longer known. No signal interrupts it."""
        end = _l.JobEnd()
        if _l.lib.pbs_waitjob(self.handle, _l.to_bytes(job), None, C.byref(end)) != 0:
            e = errors.last(self.handle)
            if isinstance(e, errors.UnknownJob):
                return None
            raise e
        return end.exit_status if end.exited else None

    def script(self, job: str) -> str:
        """As Job.script()."""
        with tempfile.TemporaryFile() as file:
            self.simple("jobscript", job, file.fileno(), None)
            file.seek(0)
            return file.read().decode("utf-8", "surrogateescape")

    def peek(self, job: str, error: bool = False, offset: int = 0) -> bytes:
        """As Job.peek()."""
        out, piece = b"", _l.Peek()
        while True:
            if _l.lib.pbs_peekjob(self.handle, _l.to_bytes(job), 2 if error else 1, C.c_longlong(offset), None, C.byref(piece)) != 0:
                raise errors.last(self.handle)
            if piece.n == 0:
                return out
            out += C.string_at(piece.data, piece.n)
            offset = piece.offset + piece.n

    # --- reservations
    def reserve(self, *, start: datetime | None = None, end: datetime | None = None, duration: timedelta | None = None,
                select: str | None = None, name: str | None = None, attributes: Mapping[str, Any] | None = None) -> Reservation:
        """Ask for a reservation (pbs_rsub(1)). It is confirmed or refused later: watch it, or ask for it again."""
        asked = {"reserve_start": start, "reserve_end": end, "reserve_duration": None if duration is None else int(duration.total_seconds()),
                 "Reserve_Name": name, "Resource_List": {"select": select}, **(attributes or {})}
        answer = self._taken(_l.lib.pbs_submit_resv(self.handle, _l.attr_list(values.rows(asked)), None))
        return self.reservation(answer.split()[0])

    def delete_reservation(self, name: str) -> None:
        self.simple("delresv", name, None)

    # --- administration
    def manage(self, command: str, kind: str, name: str = "", attributes: Mapping[str, Any] | None = None, *,
               operator: str = "SET") -> None:
        """What qmgr does: manage("set", "queue", "workq", {"enabled": True}). operator: SET, INCR or DECR."""
        rows = [(n, r, v, API[f"BATCH_OP_{operator}"]) for n, r, v, _ in values.rows(attributes or {})]
        code, object_ = API[f"MGR_CMD_{command.upper()}"], API[f"MGR_OBJ_{ {'resource': 'rsc'}.get(kind, kind).upper()}"]
        if _l.lib.pbs_manager(self.handle, code, object_, _l.to_bytes(name), _l.attr_list(rows), None) != 0:
            raise errors.last(self.handle)

    # --- preemption
    def preempt(self, jobs: Iterable[str | Job]) -> list[tuple[str, str]]:
        """Preempt jobs, as a scheduler may: (job, letter of the method that worked, or "000"), in order of completion."""
        done = _l.preempt_jobs(self.handle, [str(j) for j in jobs])
        if done is None:
            raise errors.last(self.handle)
        return done

    def explain(self, job: str | Job) -> list[Object]:
        """What its scheduler would do for a waiting job now, and why (pbs_explain(3)): the job, its victims, those that are exempt."""
        found: list[Object] = self._entries("job", _l.lib.pbs_explain(self.handle, _l.to_bytes(str(job)), None))
        return found

    # --- news
    def watch(self, *kinds: str, want: Iterable[str] = ()) -> Watch:
        """The changes of jobs, nodes, queues, ... as an iterator: first every object as it is, then each change (cede.Watch)."""
        return Watch(self, {kind: list(want) or None for kind in kinds or ("job",)})

    def readable(self, timeout_s: float | None) -> bool:
        """Wait until an answer is there to be read."""
        fd = _l.lib.pbs_fd(self.handle)
        return bool(_select.select([fd], [], [], timeout_s)[0]) if fd >= 0 else True


def _custom_type(raw: Mapping[str, Any]) -> str:
    return _TYPE_NUMBERS.get(str(raw.get("type", "")), "")


# The numbers that pbs_statrsc() gives for types.
_TYPE_NUMBERS = {"1": "LONG", "2": "CHAR", "3": "STRING", "4": "STRING_ARRAY", "5": "SIZE", "11": "BOOLEAN", "14": "FLOAT"}


def criteria_rows(criteria: Mapping[str, Any]) -> list[_l.Row]:
    out: list[_l.Row] = []
    for name, value in criteria.items():
        parts = value.items() if isinstance(value, Mapping) else [(None, value)]
        for resource, wanted in parts:
            operator, wanted = wanted if isinstance(wanted, tuple) else ("=", wanted)
            out.append((name, resource, values.text_of(wanted), API[_MATCH[operator]]))
    return out
