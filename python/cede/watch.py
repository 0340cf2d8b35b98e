"""The stream of changes: first every object as it is, then each that changes, newest state only.

    with connection.watch("job", want=["job_state"]) as watch:
        for change in watch:
            print(change.name, change.value["job_state"] if change.value else "gone")

An iteration waits in the server, not by polling. `caught_up` of a change tells that it was the last of what is known now.
"""
from __future__ import annotations

import ctypes as C
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _libpbs as _l
from . import errors, values
from .objects import KINDS, Object

if TYPE_CHECKING:
    from .connection import Connection

# Numbers of enum pbs_kind.
_KINDS = {"server": 0, "queue": 1, "job": 2, "node": 3, "resv": 4, "resource": 5, "sched": 6, "hold": 7}
_NAMES = {number: name for name, number in _KINDS.items()}


class Change(NamedTuple):
    """One piece of news.

    kind       "job", "node", ...; "" for the news that all objects known until now are void: what follows is everything
    name       of the object
    gone       it is no more, or not to be seen any more
    raw        its attributes as text; the last ones, or empty, where it is gone
    value      the object, None where it is gone
    caught_up  nothing more has changed at this moment
    """

    kind: str
    name: str
    gone: bool
    raw: dict[str, Any]
    value: Object | None
    caught_up: bool = False


class Watch:
    """A stream of changes of one connection. Iterate over it, or feed a loop of your own by send(), ready() and receive()."""

    def __init__(self, connection: Connection, wants: Mapping[str, Iterable[str] | None], extend: str | None = None) -> None:
        self.connection, self.caught_up, self._begun, self._of_one = connection, False, False, extend is not None
        lists = [None if names is None else _l.attr_list(values.wanted(names)) for names in wants.values()]
        array = (_l.Want * len(wants))(*[_l.Want(_KINDS[kind], rows) for kind, rows in zip(wants, lists)])
        number = C.c_uint()
        if _l.lib.pbs_watch(connection.handle, array, len(wants), _l.to_bytes(extend), C.byref(number)) != 0:
            raise errors.last(connection.handle)
        self._number, self._cursor, self._ticket = number.value, _l.Cursor(0, 0), 0
        self._found: list[Change] = []
        # The callbacks live as long as the watch: libpbs keeps their addresses during a call.
        self._reader = _l.Reader(_l.RESTART(self._on_restart), _l.CHANGE(self._on_change), None)

    def _on_restart(self, _arg: Any) -> None:
        self._found = [Change("", "", True, {}, None)] if self._cursor.number else []

    def _on_change(self, pointer: Any, _arg: Any) -> None:
        ch = pointer.contents
        kind, name, gone, raw = _NAMES.get(ch.kind, ""), _l.to_text(ch.name), bool(ch.gone), _l.attributes(ch.attribs)
        if gone and not self._begun and not self._of_one:
            return  # it ended before this watch began
        value = None if gone else KINDS.get(kind, Object)(self.connection, name, raw)
        self._found.append(Change(kind, name, gone, raw, value))

    # --- for a loop of one's own
    def send(self) -> int:
        """Ask for what comes next, without waiting. The ticket, which pbs_next_ready() names when the answer is there."""
        if self._ticket == 0:
            self._ticket = _l.lib.pbs_watch_next_send(self.connection.handle, self._number, self._cursor)
            if self._ticket < 0:
                self._ticket = 0
                raise errors.last(self.connection.handle)
        return self._ticket

    def ready(self) -> bool:
        """The answer to send() is there."""
        return bool(_l.lib.pbs_ready(self.connection.handle, self._ticket) != 0)

    def receive(self) -> list[Change]:
        """The changes of the answer to send(); waits where it is not there yet."""
        news, ticket = _l.News(), self.send()
        self._ticket, self._found = 0, []
        if _l.lib.pbs_watch_next_recv(self.connection.handle, ticket, C.byref(self._reader), C.byref(news)) != 0:
            raise errors.last(self.connection.handle)
        self._cursor, self.caught_up = _l.Cursor(news.cursor.epoch, news.cursor.number), bool(news.caught_up)
        self._begun = self._begun or self.caught_up
        found, self._found = self._found, []
        if found and self.caught_up:
            found[-1] = found[-1]._replace(caught_up=True)
        return found

    # --- iteration
    def __iter__(self) -> Iterator[Change]:
        return self.until(None)

    def until(self, end_monotonic: float | None) -> Iterator[Change]:
        """The changes until a moment of time.monotonic(); None: for ever."""
        while True:
            self.send()
            while not self.ready():
                left = None if end_monotonic is None else end_monotonic - time.monotonic()
                if left is not None and left <= 0:
                    return
                self.connection.readable(left)
            yield from self.receive()

    def close(self) -> None:
        """Give up the answer that is awaited. The watch itself ends with its connection."""
        if self._ticket:
            _l.lib.pbs_drop(self.connection.handle, self._ticket)
            self._ticket = 0

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
