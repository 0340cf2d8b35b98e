"""Objects of a complex as one answer described them: mappings from attribute to value, and what can be done to them.

An object does not change by itself; `refresh()` asks the server again. `raw` has the values as the server sent them.
"""
from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from . import errors, values

if TYPE_CHECKING:
    from .connection import Connection


class Object(Mapping[str, Any]):
    """An object: its name, and its attributes as items, parsed to Python types when they are looked at."""

    kind = ""

    def __init__(self, connection: Connection, name: str, raw: dict[str, Any]) -> None:
        self.connection, self.name, self.raw = connection, name, raw

    def __getitem__(self, name: str) -> Any:
        value = self.raw[name]
        if isinstance(value, dict):
            return {r: self._parse(name, r, text) for r, text in value.items()}
        return self._parse(name, None, value)

    def _parse(self, name: str, resource: str | None, text: str) -> Any:
        return values.parse(self.kind, name, resource, text, self.connection.resource_type)

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Object) and (self.kind, self.name) == (other.kind, other.name)

    def __hash__(self) -> int:
        return hash((self.kind, self.name))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def refresh(self) -> None:
        """Ask the server again. The error says so when the object is gone."""
        self.raw = self.connection.status(self.kind, self.name)[0].raw


class Server(Object):
    """The server of a complex."""

    kind = "server"

    def refresh(self) -> None:
        self.raw = self.connection.server().raw


class Queue(Object):
    """A queue."""

    kind = "queue"

    @property
    def is_open(self) -> bool:
        """Jobs can be submitted to it, and it runs or routes them."""
        return bool(self.get("enabled")) and bool(self.get("started"))


class Node(Object):
    """A vnode."""

    kind = "node"

    @property
    def state(self) -> str:
        return str(self.raw.get("state", ""))

    @property
    def is_free(self) -> bool:
        return self.state == "free"

    @property
    def jobs(self) -> list[str]:
        """Identifiers of the jobs that have a part of it, each once."""
        parts = str(self.raw.get("jobs", "")).split(",")
        return list(dict.fromkeys(part.strip().partition("/")[0] for part in parts if part.strip()))


class Reservation(Object):
    """A reservation."""

    kind = "resv"

    @property
    def queue(self) -> str:
        """Its queue, which jobs are submitted to."""
        return str(self.raw.get("queue", self.name.partition(".")[0]))

    @property
    def start(self) -> datetime:
        return values.parse_time(self.raw["reserve_start"])

    @property
    def end(self) -> datetime:
        return values.parse_time(self.raw["reserve_end"])

    def delete(self) -> None:
        """Delete it and its queue, with the jobs in it."""
        self.connection.delete_reservation(self.name)


class Job(Object):
    """A job, an array or a subjob. After submission only its name is known: the first look at an attribute asks the server."""

    kind = "job"

    def __init__(self, connection: Connection, name: str, raw: dict[str, Any] | None = None) -> None:
        super().__init__(connection, name, raw or {})
        self._known = raw is not None

    @property
    def raw(self) -> dict[str, Any]:
        if not self._known:
            self.refresh()
        return self._raw

    @raw.setter
    def raw(self, attributes: dict[str, Any]) -> None:
        self._raw, self._known = attributes, True

    id = property(lambda self: self.name, doc="Its identifier.")

    @property
    def state(self) -> str:
        """Its letter: Q H W T R S U E B X F M."""
        return str(self.raw.get("job_state", ""))

    @property
    def title(self) -> str:
        """Job_Name, of qsub -N."""
        return str(self.raw.get("Job_Name", ""))

    @property
    def owner(self) -> str:
        """USER of Job_Owner."""
        return str(self.raw.get("Job_Owner", "")).partition("@")[0]

    @property
    def queue(self) -> str:
        return str(self.raw.get("queue", ""))

    @property
    def comment(self) -> str:
        """Why it waits, or what happened to it."""
        return str(self.raw.get("comment", ""))

    @property
    def exit_status(self) -> int | None:
        """As in Exit_status: 256 + n where signal n ended it, below 0 where PBS did; None while it is not over."""
        return self.get("Exit_status")

    @property
    def hosts(self) -> list[str]:
        """The hosts where it runs, the first one first."""
        parts = str(self.raw.get("exec_host", "")).split("+")
        return list(dict.fromkeys(part.partition("/")[0] for part in parts if part))

    @property
    def variables(self) -> dict[str, str]:
        """Its Variable_List. A comma in a value has a backslash in front of it there."""
        out: dict[str, str] = {}
        text = str(self.raw.get("Variable_List", "")).replace("\\,", "\0")
        for part in text.split(","):
            name, equals, value = part.replace("\0", ",").partition("=")
            if equals:
                out[name] = value
        return out

    def wait(self, timeout: float | timedelta | None = None) -> int | None:
        """Wait until it is over: its exit status, or None where it never ran or is no longer known.

        TimeoutError when it is not over in time.
        """
        return self.connection.wait(self.name, timeout)

    async def ended(self) -> int | None:
        """wait() for asyncio."""
        return await asyncio.wrap_future(self.connection.end_future(self.name))

    def delete(self, *, force: bool = False) -> None:
        """Delete it; force: also where its host does not answer."""
        self.connection.simple("deljob", self.name, "force" if force else None)

    def hold(self, letters: str = "u") -> None:
        self.connection.simple("holdjob", self.name, letters, None)

    def release(self, letters: str = "u") -> None:
        self.connection.simple("rlsjob", self.name, letters, None)

    def rerun(self, *, force: bool = False) -> None:
        """Requeue it."""
        self.connection.simple("rerunjob", self.name, "force" if force else None)

    def signal(self, signal: str | int) -> None:
        """Send a signal: name or number, or "suspend", "resume"."""
        self.connection.simple("sigjob", self.name, signal, None)

    def move(self, queue: str) -> None:
        self.connection.simple("movejob", self.name, queue, None)

    def alter(self, **attributes: Any) -> None:
        """Change attributes: alter(Priority=3, Resource_List={"walltime": timedelta(hours=2)})."""
        self.connection.alter(self.name, attributes)

    def run(self, location: str | None = None) -> None:
        """Run it at once, as an operator."""
        self.connection.simple("runjob", self.name, location, None)

    def script(self) -> str:
        """Its script, for its owner and operators."""
        return self.connection.script(self.name)

    def peek(self, *, error: bool = False, offset: int = 0) -> bytes:
        """What it has written until now, from `offset` on; below 0 from the end."""
        return self.connection.peek(self.name, error, offset)

    def is_over(self) -> bool:
        """Ask the server whether it is over."""
        try:
            self.refresh()
        except errors.UnknownJob:
            return True
        return self.state in ("F", "M", "X")

    def refresh(self) -> None:
        """Ask the server again, also for a job of the history."""
        self.raw = self.connection.job(self.name).raw


KINDS: dict[str, type[Object]] = {"server": Server, "queue": Queue, "node": Node, "resv": Reservation, "job": Job}
