"""Connections for asyncio: calls are sent at once and answered in any order, so that one task a job is cheap.

    async with cede.aio.connect() as pbs:
        jobs = [await pbs.submit(script) for _ in range(1000)]
        print(await asyncio.gather(*[pbs.ended(job) for job in jobs]))

A watch of one job tells its end, and a connection has a bounded number of watches: further connections are opened when many jobs are
waited for. All of them belong to the event loop they were opened in.
"""
from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any

from . import _libpbs as _l
from . import errors, submission, values
from .connection import Connection, criteria_rows
from .objects import Job
from .watch import Change, Watch

# Of the 16 watches that the server gives a connection, one remains for a watch of the program.
ENDS_PER_CONNECTION = 15


class _Handle:
    """A connection whose tickets are received by the event loop."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.ends = connection, 0
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[int, tuple[asyncio.Future[Any], Callable[[], Any]]] = {}
        self._fd: int = _l.lib.pbs_fd(connection.handle)
        self._loop.add_reader(self._fd, self._receive)

    def answer(self, ticket: int, receive: Callable[[], Any]) -> asyncio.Future[Any]:
        """What `receive` returns or raises, once it does not wait."""
        if ticket <= 0:
            raise errors.last(self.connection.handle)
        future = self._loop.create_future()
        self._waiting[ticket] = (future, receive)
        self._loop.call_soon(self._receive)  # an answer may have been read already
        return future

    def _receive(self) -> None:
        if self.connection.handle < 0:
            return
        while (ticket := _l.lib.pbs_next_ready(self.connection.handle)) > 0:
            if ticket not in self._waiting:
                _l.lib.pbs_drop(self.connection.handle, ticket)
                continue
            future, receive = self._waiting.pop(ticket)
            try:
                result = receive()
            except errors.PbsError as e:
                if not future.done():
                    future.set_exception(e)
            else:
                if not future.done():
                    future.set_result(result)

    def close(self) -> None:
        self._loop.remove_reader(self._fd)
        self.connection.close()
        for future, _ in self._waiting.values():
            future.cancel()
        self._waiting.clear()


class AsyncConnection:
    """A connection for asyncio. Of the calls that libpbs has in one piece only, `call` runs them in a thread."""

    def __init__(self, server: str | None, conf_file: str | Path | None) -> None:
        self._where = (server, conf_file)
        self._first = _Handle(Connection(server, conf_file))
        self._more: list[_Handle] = []

    async def __aenter__(self) -> AsyncConnection:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for handle in (self._first, *self._more):
            handle.close()
        self._more.clear()

    async def call(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Any method of Connection, in a thread and on a connection of its own: await pbs.call("nodes")."""
        def run() -> Any:
            with contextlib.closing(Connection(*self._where)) as connection:
                return getattr(connection, name)(*arguments, **options)

        return await asyncio.to_thread(run)

    async def simple(self, name: str, *arguments: Any) -> None:
        """A call of libpbs that answers 0 or an error."""
        handle = self._first.connection.handle
        ticket = getattr(_l.lib, f"pbs_{name}_send")(handle, *[_l.to_bytes(a) for a in arguments])

        def receive() -> None:
            if _l.lib.pbs_recv(handle, ticket) != 0:
                raise errors.last(handle)

        await self._first.answer(ticket, receive)

    async def submit(self, script: str | Path | None = None, *, command: Iterable[Any] | None = None, **options: Any) -> Job:
        """As Connection.submit(). A script of more than 64 KB is sent from a thread."""
        return await self.submit_prepared(submission.build(script, None if command is None else list(command), **options))

    async def submit_prepared(self, made: submission.Submission) -> Job:
        """As Connection.submit_prepared()."""
        connection = self._first.connection
        if len(made.script_bytes or b"") > 65536:
            return Job(connection, (await self.call("submit_prepared", made)).name)
        path = connection.script_path(made.script_bytes)
        ticket = _l.lib.pbs_submit_send(connection.handle, made.attropl, path, made.destination, None)

        def receive() -> str:
            pointer = _l.lib.pbs_submit_recv(connection.handle, ticket)
            if not pointer:
                raise errors.last(connection.handle)
            return _l.take_text(pointer)

        return Job(connection, await self._first.answer(ticket, receive))

    async def delete(self, job: str | Job, *, force: bool = False) -> None:
        await self.simple("deljob", job, "force" if force else None)

    async def hold(self, job: str | Job, letters: str = "u") -> None:
        await self.simple("holdjob", job, letters, None)

    async def release(self, job: str | Job, letters: str = "u") -> None:
        await self.simple("rlsjob", job, letters, None)

    async def rerun(self, job: str | Job) -> None:
        await self.simple("rerunjob", job, None)

    async def signal(self, job: str | Job, signal: str | int) -> None:
        await self.simple("sigjob", job, signal, None)

    async def jobs(self, *, history: bool = False, want: Iterable[str] = (), **criteria: Any) -> list[Job]:
        """As Connection.jobs()."""
        connection = self._first.connection
        found, entry = connection.collected_jobs()
        asked, wanted = _l.attr_list(criteria_rows(criteria)), _l.attr_list(values.wanted(want))
        ticket = _l.lib.pbs_selstat_each_send(connection.handle, asked, wanted, b"x" if history else None)

        def receive() -> list[Job]:
            if _l.lib.pbs_selstat_each_recv(connection.handle, ticket, entry, None) != 0:
                raise errors.last(connection.handle)
            return found

        result: list[Job] = await self._first.answer(ticket, receive)
        return result

    async def ended(self, job: str | Job) -> int | None:
        """Wait until a job is over: its exit status, None where it never ran or is no longer known."""
        handle = self._handle_with_room()
        handle.ends += 1
        try:
            with Watch(handle.connection, {"job": ["job_state", "Exit_status", "stime"]}, extend=f"job={job}") as watch:
                while True:
                    for change in await handle.answer(watch.send(), watch.receive):
                        if change.gone:
                            status = change.raw.get("Exit_status")
                            return int(status) if status is not None and "stime" in change.raw else None
        except errors.UnknownJob:
            over: int | None = await self.call("end_of", str(job))
            return over
        finally:
            handle.ends -= 1

    def _handle_with_room(self) -> _Handle:
        for handle in self._more:
            if handle.ends < ENDS_PER_CONNECTION:
                return handle
        self._more.append(_Handle(Connection(*self._where)))
        return self._more[-1]

    async def watch(self, *kinds: str, want: Iterable[str] = ()) -> AsyncIterator[Change]:
        """As Connection.watch(), an asynchronous iterator on a connection of its own, which ends with it."""
        handle = _Handle(Connection(*self._where))
        try:
            with handle.connection.watch(*kinds, want=want) as watch:
                while True:
                    for change in await handle.answer(watch.send(), watch.receive):
                        yield change
        finally:
            handle.close()


@contextlib.asynccontextmanager
async def connect(server: str | None = None, *, conf_file: str | Path | None = None) -> AsyncIterator[AsyncConnection]:
    """As cede.connect(), for `async with`."""
    connection = AsyncConnection(server, conf_file)
    try:
        yield connection
    finally:
        connection.close()
