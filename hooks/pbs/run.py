"""One run of one hook: what the script's calls of `pbs` refer to, and what they leave behind.

The program that runs hooks fills a Run, makes it the current one with `begin`, executes the script, and reads the outcome.
Where objects of the server come from (a socket, a file), where log lines go, is behind two interfaces.
"""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Iterator, Optional, Protocol

Attrs = dict[str, Any]  # attribute to its text, None (unset by a request), or a dictionary from resource to text


class Source(Protocol):
    """Objects of the server. kind: server, queue, job, vnode, resv."""

    def find(self, kind: str, name: Optional[str]) -> Optional[Attrs]:
        """Attributes of one object; None: there is none of that name. The server's own name is None."""

    def walk(self, kind: str, queue: Optional[str]) -> Iterator[tuple[str, Attrs]]:
        """Name and attributes of all objects of a kind, jobs of one queue if it is not None; read as they are asked for."""


class Log(Protocol):
    """Where log lines go."""

    def line(self, mask: int, cls: str, obj: Optional[str], text: str) -> None:
        """mask: event bits; cls: Hook, Job or Svr; obj: None is the daemon itself."""


@dataclass
class Change:
    """One attribute that the script has set. value None: unset."""

    object: str
    name: Optional[str]
    attr: str
    resource: Optional[str]
    value: Any


@dataclass
class Run:
    """event, type, hook_name, ...: as pbs.event() shows them. data: the members of doc/internals/hook-protocol.md, section 5."""

    event: str
    type: int
    hook_name: str
    source: Source
    log: Log
    data: dict[str, Any] = field(default_factory=dict)
    hook_type: str = "site"
    requestor: str = ""
    requestor_host: str = ""
    freq: int = 120
    server: str = ""
    host: str = ""
    config: Optional[str] = None
    conf: dict[str, str] = field(default_factory=dict)
    daemon: str = "pbs_python"
    as_user: bool = False

    result: str = "accept"
    decided: bool = False
    message: Optional[str] = None
    ecode: int = 0
    changes: list[Change] = field(default_factory=list)
    scheduler_restart_cycle: bool = False
    rerun: list[str] = field(default_factory=list)
    delete: list[str] = field(default_factory=list)
    reboot: Optional[str] = None
    release_nodes: Optional[dict[str, Any]] = None
    event_object: Any = None

    def changed(self, obj: str, name: Optional[str], attr: str, resource: Optional[str], value: Any) -> None:
        """Note a change."""
        self.changes.append(Change(obj, name, attr, resource, None if value is None else value))


# The functions of the module pbs have no argument that says which hook calls them, so the run is here. A process runs one at a time.
_current: Optional[Run] = None


def begin(run: Run) -> None:
    """Make it the current one."""
    global _current
    _current = run


def end() -> None:
    """No run is current from here on."""
    global _current
    _current = None


def current() -> Run:
    """The current run. RuntimeError outside a hook."""
    if _current is None:
        raise RuntimeError("this works in a hook only (pbs_python --hook)")
    return _current


def read_conf(path: Optional[str] = None) -> dict[str, str]:
    """pbs.conf as a dictionary; what the environment says goes before. An unreadable file counts as empty."""
    path = path or os.environ.get("PBS_CONF_FILE", "/etc/pbs.conf")
    conf: dict[str, str] = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                key, equals, value = line.strip().partition("=")
                if equals and not key.startswith("#"):
                    conf[key.strip()] = value.strip().strip("\"'")
    except OSError:
        pass
    conf.update({key: os.environ[key] for key in conf if key in os.environ})
    return conf
