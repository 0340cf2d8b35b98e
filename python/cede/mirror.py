"""A mirror of a complex: its objects by kind and name, kept as the stream of changes tells them."""
from __future__ import annotations

from collections.abc import Iterable, Mapping

from .connection import Connection
from .objects import Object
from .watch import Watch


class Mirror:
    """Objects of some kinds as they are now. The connection belongs to it: a mirror is fed from one thread.

        mirror = Mirror(cede.connect(), {"job": ["job_state", "queue"], "node": None})
        mirror.follow(1.0)
        mirror["job"]["17.host"].state
    """

    def __init__(self, connection: Connection, wants: Mapping[str, Iterable[str] | None]) -> None:
        """wants: kinds with the attributes to bring, None for all. Returns when it is complete."""
        self._watch = Watch(connection, wants)
        self.objects: dict[str, dict[str, Object]] = {kind: {} for kind in wants}
        while not self._watch.caught_up:
            self._take()

    def __getitem__(self, kind: str) -> dict[str, Object]:
        return self.objects[kind]

    def _take(self) -> None:
        for change in self._watch.receive():
            if not change.kind:
                for known in self.objects.values():
                    known.clear()
            elif change.value is None:
                self.objects[change.kind].pop(change.name, None)
            else:
                self.objects[change.kind][change.name] = change.value

    def send(self) -> None:
        """Ask for the next changes, without waiting for them."""
        self._watch.send()

    def follow(self, timeout_s: float) -> bool:
        """Take the changes that come within this time, or are there already. True: there were some."""
        self.send()
        if not self._watch.ready() and not (self._watch.connection.readable(timeout_s) and self._watch.ready()):
            return False
        self._take()
        return True
