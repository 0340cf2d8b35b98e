"""pbs_ifl: the C API in Python, by the names of PBS's own module of this name.

Functions are those of pbs_ifl.h with their arguments; lists are linked objects with the members of the C structures, None at the end:

    c = pbs_connect(None)
    job = pbs_statjob(c, None, None, None)
    while job:
        print(job.name, {a.name: a.value for a in job.attributes()})
        job = job.next

A call that fails returns what the C call returns (a number, -1 or None); pbs_errno() has the number and pbs_geterrmsg(c) the text. Answers
are Python's own objects: pbs_statfree() has nothing to do. New programs are shorter with the package `cede`.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cede import _libpbs as _l
from cede.names import *  # noqa: F401,F403 - ATTR_l and the others are the point of this module
from cede.tables import API as _API
from cede.tables import ERRORS as _ERRORS

for _name, _number in _API.items():
    globals()[_name.removeprefix("BATCH_OP_")] = _number
for _name, (_number, _) in _ERRORS.items():
    globals()[f"PBSE_{_name}"] = _number
SHUT_IMMEDIATE, SHUT_DELAY, SHUT_QUICK = 0, 1, 2


class attrl:
    """An attribute: name, resource, value, op, and the next one."""

    def __init__(self, name: str | None = None, resource: str | None = None, value: str | None = None, op: int = 0,
                 next: attrl | None = None) -> None:
        self.name, self.resource, self.value, self.op, self.next = name, resource, value, op, next

    def __iter__(self) -> Iterator[attrl]:
        a: attrl | None = self
        while a:
            yield a
            a = a.next

    def __repr__(self) -> str:
        resource = f".{self.resource}" if self.resource else ""
        return f"<attrl {self.name}{resource}={self.value}>"


attropl = attrl


class batch_status:
    """An object of an answer: name, attribs, text, and the next one."""

    def __init__(self, name: str, attribs: attrl | None, text: str) -> None:
        self.name, self.attribs, self.text = name, attribs, text
        self.next: batch_status | None = None

    def attributes(self) -> list[attrl]:
        return list(self.attribs) if self.attribs else []

    def __iter__(self) -> Iterator[batch_status]:
        b: batch_status | None = self
        while b:
            yield b
            b = b.next

    def __repr__(self) -> str:
        return f"<batch_status {self.name}>"


class batch_deljob_status:
    """A job that was not deleted: name, code, and the next one."""

    def __init__(self, name: str, code: int) -> None:
        self.name, self.code = name, code
        self.next: batch_deljob_status | None = None


def _list(first: attrl | None) -> Any:
    return _l.attr_list((a.name or "", a.resource, a.value, a.op) for a in first or ())


def _attributes(raw: dict[str, Any]) -> attrl | None:
    first = None
    rows = [(n, r, v) for n, value in raw.items() for r, v in (value.items() if isinstance(value, dict) else [(None, value)])]
    for name, resource, value in reversed(rows):
        first = attrl(name, resource, value, next=first)
    return first


def _status(head: Any) -> batch_status | None:
    first = None
    for name, raw, text in reversed(_l.entries(head)):
        entry = batch_status(name, _attributes(raw), text)
        entry.next, first = first, entry
    return first


def _text(pointer: int | None) -> str | None:
    return _l.take_text(pointer) if pointer else None


def pbs_errno() -> int:
    """The number of this thread's last error."""
    return _l.errno()


pbs_geterrno = pbs_errno


class _Variables:
    """cvar.pbs_errno, as scripts of the other module read it."""

    pbs_errno = property(lambda self: _l.errno())
    pbs_server = property(lambda self: pbs_default())


cvar = _Variables()


# --- connections
def pbs_connect(server: str | None = None) -> int:
    _l.lib.pbs_loadconf(0)
    return int(_l.lib.pbs_connect(_l.to_bytes(server)))


def pbs_connect_extend(server: str | None, extend: str | None) -> int:
    _l.lib.pbs_loadconf(0)
    return int(_l.lib.pbs_connect_extend(_l.to_bytes(server), _l.to_bytes(extend)))


def pbs_disconnect(c: int) -> int:
    return int(_l.lib.pbs_disconnect(c))


def pbs_default() -> str | None:
    _l.lib.pbs_loadconf(0)
    name = _l.lib.pbs_default()
    return _l.to_text(name) if name else None


def pbs_loadconf(reload: int) -> int:
    return int(_l.lib.pbs_loadconf(reload))


def pbs_geterrmsg(c: int) -> str | None:
    text = _l.lib.pbs_geterrmsg(c)
    return _l.to_text(text) if text else None


# --- jobs
def pbs_submit(c: int, attrib: attropl | None, script: str | None, destination: str | None, extend: str | None = None) -> str | None:
    """script: the path of the script."""
    return _text(_l.lib.pbs_submit(c, _list(attrib), _l.to_bytes(script), _l.to_bytes(destination), _l.to_bytes(extend)))


def _named(function: Any, name: str, arguments: str) -> Any:
    """A function that is made, under the name that it has in C."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}({arguments}) of pbs_ifl.h."
    return function


def _of_job(name: str) -> Any:
    """A call c, jobid, TEXT..., extend that answers 0 or a number."""
    call = getattr(_l.lib, name)

    def function(c: int, jobid: str, *rest: str | None) -> int:
        return int(call(c, _l.to_bytes(jobid), *[_l.to_bytes(r) for r in rest]))

    return _named(function, name, "c, jobid, ..., extend")


pbs_deljob = _of_job("pbs_deljob")
pbs_holdjob = _of_job("pbs_holdjob")
pbs_rlsjob = _of_job("pbs_rlsjob")
pbs_movejob = _of_job("pbs_movejob")
pbs_orderjob = _of_job("pbs_orderjob")
pbs_rerunjob = _of_job("pbs_rerunjob")
pbs_runjob = _of_job("pbs_runjob")
pbs_asyrunjob = _of_job("pbs_asyrunjob")
pbs_sigjob = _of_job("pbs_sigjob")
pbs_stagein = _of_job("pbs_stagein")
pbs_relnodesjob = _of_job("pbs_relnodesjob")
pbs_delresv = _of_job("pbs_delresv")


def pbs_msgjob(c: int, jobid: str, fileopt: int, msg: str, extend: str | None = None) -> int:
    return int(_l.lib.pbs_msgjob(c, _l.to_bytes(jobid), fileopt, _l.to_bytes(msg), _l.to_bytes(extend)))


def pbs_alterjob(c: int, jobid: str, attrib: attrl | None, extend: str | None = None) -> int:
    return int(_l.lib.pbs_alterjob(c, _l.to_bytes(jobid), _list(attrib), _l.to_bytes(extend)))


def pbs_deljoblist(c: int, jobids: list[str], numjids: int | None = None, extend: str | None = None) -> batch_deljob_status | None:
    first = None
    for name, code in reversed(_l.delete_jobs(c, jobids[:numjids], extend).items()):
        entry = batch_deljob_status(name, code)
        entry.next, first = first, entry
    return first


def pbs_locjob(c: int, jobid: str, extend: str | None = None) -> str | None:
    return _text(_l.lib.pbs_locjob(c, _l.to_bytes(jobid), _l.to_bytes(extend)))


# --- questions
def pbs_selectjob(c: int, criteria: attropl | None, extend: str | None = None) -> list[str]:
    block = _l.lib.pbs_selectjob(c, _list(criteria), _l.to_bytes(extend))
    return _l.take_names(block) if block else []


def pbs_selstat(c: int, criteria: attropl | None, wanted: attrl | None = None, extend: str | None = None) -> batch_status | None:
    return _status(_l.lib.pbs_selstat(c, _list(criteria), _list(wanted), _l.to_bytes(extend)))


def _of_object(name: str) -> Any:
    """A question c, name, wanted, extend."""
    call = getattr(_l.lib, name)

    def function(c: int, id: str | None = None, wanted: attrl | None = None, extend: str | None = None) -> batch_status | None:
        return _status(call(c, _l.to_bytes(id), _list(wanted), _l.to_bytes(extend)))

    return _named(function, name, "c, name, attrl, extend")


pbs_statjob = _of_object("pbs_statjob")
pbs_statque = _of_object("pbs_statque")
pbs_statnode = _of_object("pbs_statnode")
pbs_statvnode = _of_object("pbs_statvnode")
pbs_stathost = _of_object("pbs_stathost")
pbs_statresv = _of_object("pbs_statresv")
pbs_statrsc = _of_object("pbs_statrsc")
pbs_stathook = _of_object("pbs_stathook")


def pbs_statserver(c: int, wanted: attrl | None = None, extend: str | None = None) -> batch_status | None:
    return _status(_l.lib.pbs_statserver(c, _list(wanted), _l.to_bytes(extend)))


def pbs_statsched(c: int, wanted: attrl | None = None, extend: str | None = None) -> batch_status | None:
    return _status(_l.lib.pbs_statsched(c, _list(wanted), _l.to_bytes(extend)))


def pbs_statfree(_answer: batch_status | None) -> None:
    """Nothing: an answer is Python's own."""


def pbs_delstatfree(_answer: batch_deljob_status | None) -> None:
    """Nothing: an answer is Python's own."""


# --- reservations
def pbs_submit_resv(c: int, attrib: attropl | None, extend: str | None = None) -> str | None:
    return _text(_l.lib.pbs_submit_resv(c, _list(attrib), _l.to_bytes(extend)))


def pbs_modify_resv(c: int, resvid: str, attrib: attropl | None, extend: str | None = None) -> str | None:
    return _text(_l.lib.pbs_modify_resv(c, _l.to_bytes(resvid), _list(attrib), _l.to_bytes(extend)))


# --- administration
def pbs_manager(c: int, command: int, objtype: int, objname: str | None, attrib: attropl | None, extend: str | None = None) -> int:
    return int(_l.lib.pbs_manager(c, command, objtype, _l.to_bytes(objname or ""), _list(attrib), _l.to_bytes(extend)))


def pbs_terminate(c: int, manner: int, extend: str | None = None) -> int:
    return int(_l.lib.pbs_terminate(c, manner, _l.to_bytes(extend)))


def pbs_preempt_jobs(c: int, jobids: list[str]) -> list[tuple[str, str]] | None:
    """(job, order) in order of completion; None: an error."""
    return _l.preempt_jobs(c, jobids)
