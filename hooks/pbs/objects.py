"""Objects with attributes: job, resv, queue, vnode, server.

An object is made from the texts of its attributes; a value is converted when it is read first. `_set_cb` says whether an attribute may be
set: an object without one is read-only, as are nearly all that come from pbs.server().
"""
from __future__ import annotations

from typing import Any, Callable, Iterator, Optional

from .attributes import attributes_of, convert, holds_resources, kind_of, vnode_state
from .constants import LOG_EVENTS, NODE_BITS
from .errors import BadAttributeValueError
from .guard import SetCb, guard
from .lists import pbs_env
from .release import release_nodes
from .resources import pbs_resource
from .run import Attrs, current
from .scalars import pbs_str


class _tracked_env(pbs_env):
    """Variables that tell of each change."""

    def __init__(self, value: Any, set_cb: Optional[Callable[[str, Optional[str]], None]]) -> None:
        self._set_cb: Optional[Callable[[str, Optional[str]], None]] = None
        super().__init__(value)
        self._set_cb = set_cb

    def __setitem__(self, key: str, value: Any) -> None:
        if value is None:
            self.pop(key, None)
            return
        if self._set_cb:
            self._set_cb(str(key), str(value))
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        if key in self and self._set_cb:
            self._set_cb(key, None)
        super().__delitem__(key)

    def pop(self, key: str, *default: Any) -> Any:
        if key in self and self._set_cb:
            self._set_cb(key, None)
        return super().pop(key, *default)

    def update(self, *values: Any, **more: Any) -> None:
        for key, value in dict(*values, **more).items():
            self[key] = value

    def setdefault(self, key: str, default: Any = "") -> str:
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        for key in list(self):
            del self[key]


class _entity:
    """What all objects share. Names that begin with _ are our own; all others are attributes of PBS."""

    _kind = ""
    _own: tuple[str, ...] = ("name", "attributes")  # members beside the attributes

    def __init__(self, name: Optional[str], texts: Optional[Attrs] = None, set_cb: Optional[SetCb] = None,
                 load: Optional[Callable[[], Optional[Attrs]]] = None) -> None:
        """load: gives the texts when the first attribute is read."""
        fields = self.__dict__
        fields["_name"] = name
        fields["_texts"] = texts
        fields["_load"] = load
        fields["_set_cb"] = set_cb
        fields["_values"] = {}

    def _text(self, attr: str) -> Any:
        if self._texts is None:
            self.__dict__["_texts"] = (self._load() if self._load else None) or {}
        return self._texts.get(attr)

    def _refuse(self, attr: str, resource: Optional[str], value: Any) -> None:
        raise BadAttributeValueError(f"attribute '{attr}' is part of a readonly object")

    def _ask(self, attr: str, resource: Optional[str], value: Any) -> None:
        (self._set_cb or self._refuse)(attr, resource, value)

    def _make(self, attr: str) -> Any:
        text = self._text(attr)
        if attr == "Variable_List":
            return _tracked_env(text or "", lambda name, value: self._ask(attr, name, value))
        if holds_resources(self._kind, attr):
            return pbs_resource(attr, text if isinstance(text, dict) else {}, lambda name, value: self._ask(attr, name, value))
        if text is None:
            return None
        try:
            return convert(self._kind, attr, text) if text != "" else text
        except (ValueError, TypeError):
            return pbs_str(text)  # what the server holds can be read, whatever this type thinks of it

    def __getattr__(self, attr: str) -> Any:
        if attr.startswith("_"):
            raise AttributeError(attr)
        kind_of(self._kind, attr)
        if attr not in self._values:
            self._values[attr] = self._make(attr)
        return self._values[attr]

    def __setattr__(self, attr: str, value: Any) -> None:
        if attr in self._own:
            raise BadAttributeValueError(f"{self._kind} attribute '{attr}' is readonly")
        kind_of(self._kind, attr)
        if self._set_cb is None:
            self._refuse(attr, None, value)
        if attr == "Variable_List":
            if value is not self._values.get(attr):
                raise AssertionError("attribute 'Variable_List' cannot be directly set.")
            return
        if holds_resources(self._kind, attr):
            if value is not self._values.get(attr):
                raise AssertionError(f"can't set the head resource '{attr}' directly ")
            return
        made = None if value is None else self._converted(attr, value)
        self._ask(attr, None, made)
        self._values[attr] = made

    def _converted(self, attr: str, value: Any) -> Any:
        return convert(self._kind, attr, value)

    @property
    def attributes(self) -> list[str]:
        """Names of all attributes that such an object can have."""
        return attributes_of(self._kind)

    def __str__(self) -> str:
        return str(self._name)

    def __repr__(self) -> str:
        return f"{self._kind} {self._name}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _entity) and (self._kind, self._name) == (other._kind, other._name)

    def __hash__(self) -> int:
        return hash((self._kind, self._name))


class queue(_entity):
    """A queue. name: its name."""

    _kind = "queue"

    @property
    def name(self) -> Optional[str]:
        return self._name

    def jobs(self) -> Iterator[job]:
        """Its jobs, read as they are asked for."""
        return _walk("job", self._name)

    def job(self, job_id: str) -> Optional[job]:
        """A job of this queue, or None."""
        found = _find("job", job_id)
        return found if found is not None and str(found._text("queue")) == self._name else None


class vnode(_entity):
    """A vnode. vnode(NAME) makes one, to be put into the vnode_list of an event."""

    _kind = "vnode"

    def __init__(self, name: str, texts: Optional[Attrs] = None, set_cb: Optional[SetCb] = None,
                 load: Optional[Callable[[], Optional[Attrs]]] = None) -> None:
        pending: list[tuple[str, Optional[str], Any]] = []
        fresh = texts is None and load is None
        super().__init__(name, {} if fresh else texts,
                         (lambda a, r, v: pending.append((a, r, v))) if fresh else set_cb, load)
        self.__dict__["_pending"] = pending

    @property
    def name(self) -> str:
        return str(self._name)

    def _adopt(self, set_cb: SetCb) -> None:
        """The vnode is one of the event now: tell what was set so far."""
        for attr, resource, value in self._pending:
            set_cb(attr, resource, value)
        self._pending.clear()
        self.__dict__["_set_cb"] = set_cb

    def extract_state_strs(self) -> list[str]:
        """Names of the constants that share a bit with the state; of a free vnode ND_STATE_FREE."""
        state = int(self.state or vnode_state(0))
        return [f"ND_STATE_{name}" for name, bit in NODE_BITS.items() if state & bit] or ["ND_STATE_FREE"]

    def extract_state_ints(self) -> list[int]:
        """Their values."""
        return [NODE_BITS[name[len("ND_STATE_"):]] for name in self.extract_state_strs()]


class resv(_entity):
    """A reservation. resvid: its identifier."""

    _kind = "resv"
    _own = ("resvid", "name", "attributes")

    @property
    def resvid(self) -> Optional[str]:
        return self._name

    def _make(self, attr: str) -> Any:
        text = self._text(attr)
        if attr == "queue" and text:
            return _lazy("queue", text)
        if attr == "server" and text:
            return server()
        return super()._make(attr)


class job(_entity):
    """A job. id: its identifier, None while it is submitted."""

    _kind = "job"
    _own = ("id", "name", "attributes", "server", "resv", "failed_mom_list", "succeeded_mom_list")

    @property
    def id(self) -> Optional[str]:
        return self._name

    def _make(self, attr: str) -> Any:
        text = self._text(attr)
        if attr == "queue" and text:
            return _lazy("queue", text)
        if attr == "server":
            return server()
        if attr == "resv":
            return _lazy("resv", self._text("reserve_ID")) if self._text("reserve_ID") else None
        return super()._make(attr)

    def _converted(self, attr: str, value: Any) -> Any:
        if attr == "queue":
            return value if isinstance(value, queue) else _lazy("queue", str(value))
        return super()._converted(attr, value)

    def rerun(self) -> None:
        """Ask the server to requeue the job. Only hooks of execution hosts can; elsewhere the log says so, and nothing happens."""
        if _on_host("rerun"):
            current().rerun.append(str(self._name))

    def delete(self) -> None:
        """Ask the server to delete the job; as rerun()."""
        if _on_host("delete"):
            current().delete.append(str(self._name))

    def is_checkpointed(self) -> bool:
        """Is there an image of a checkpoint? The host says so."""
        return bool(self._host_says("checkpointed"))

    def in_ms_mom(self) -> bool:
        """Does this run on the job's first host?"""
        said = self._host_says("in_ms_mom")
        if said is not None:
            return bool(said)
        first = str(self._text("exec_host") or "").partition("/")[0]
        return first.partition(".")[0] == current().host.partition(".")[0]

    def stdout_file(self) -> Optional[str]:
        """Path of its output on this host."""
        return self._host_says("stdout_file")

    def stderr_file(self) -> Optional[str]:
        """Path of its errors on this host."""
        return self._host_says("stderr_file")

    @property
    def failed_mom_list(self) -> list[str]:
        """Hosts of the job that failed."""
        return list(self._host_says("failed_mom_list") or [])

    @property
    def succeeded_mom_list(self) -> list[str]:
        """Hosts of the job that are well."""
        return list(self._host_says("succeeded_mom_list") or [])

    def release_nodes(self, node_list: Any = None, keep_select: Any = None) -> Optional[job]:
        """Give back hosts at the start of the job; see `release`. The job with what it keeps, or None."""
        return release_nodes(self, node_list, keep_select)

    def _host_says(self, what: str) -> Any:
        said = current().data.get("host_says", {})
        return said.get(what)


def _on_host(what: str) -> bool:
    run = current()
    if run.event.startswith("exec"):
        return True
    run.log.line(LOG_EVENTS["ADMIN"] | LOG_EVENTS["SYSTEM"], "Hook", None, f"{what}() of a job is for hooks of execution hosts")
    return False


class _server(_entity):
    """The server. name: its name."""

    _kind = "server"

    @property
    def name(self) -> str:
        return str(self._name)

    def queue(self, name: str) -> Optional[queue]:
        """A queue by its name (without @), or None."""
        if "@" in name:
            raise BadAttributeValueError(f"invalid queue name '{name}'")
        return _find("queue", name)

    def job(self, job_id: str) -> Optional[job]:
        """A job, or None."""
        return _find("job", job_id)

    def vnode(self, name: str) -> Optional[vnode]:
        """A vnode, or None."""
        return _find("vnode", name)

    def resv(self, resv_id: str) -> Optional[resv]:
        """A reservation, or None."""
        return _find("resv", resv_id)

    def queues(self) -> Iterator[queue]:
        """All queues. Here as below: read as they are asked for; objects may come and go meanwhile."""
        return _walk("queue")

    def jobs(self) -> Iterator[job]:
        """All jobs."""
        return _walk("job")

    def vnodes(self) -> Iterator[vnode]:
        """All vnodes."""
        return _walk("vnode")

    def resvs(self) -> Iterator[resv]:
        """All reservations."""
        return _walk("resv")

    def scheduler_restart_cycle(self) -> None:
        """Ask for a new cycle of the scheduler."""
        current().scheduler_restart_cycle = True


_CLASSES: dict[str, Any] = {"queue": queue, "job": job, "vnode": vnode, "resv": resv}


def _made(kind: str, name: str, texts: Attrs) -> Any:
    """An object of the server: read-only, but a runjob hook may set the state of a vnode."""
    run = current()
    return _CLASSES[kind](name, texts, guard(run, kind, name) if (kind, run.event) == ("vnode", "runjob") else None)


def _find(kind: str, name: str) -> Any:
    texts = current().source.find(kind, str(name))
    return None if texts is None else _made(kind, str(name), texts)


def _walk(kind: str, within: Optional[str] = None) -> Iterator[Any]:
    for name, texts in current().source.walk(kind, within):
        yield _made(kind, name, texts)


def _lazy(kind: str, name: str) -> Any:
    """A read-only object that is asked for when one of its attributes is read."""
    source = current().source
    return _CLASSES[kind](str(name), None, None, lambda: source.find(kind, str(name)) or {})


def server() -> _server:
    """The server; its attributes are asked for when one is read."""
    run = current()
    return _server(run.server, None, None, lambda: run.source.find("server", None))
