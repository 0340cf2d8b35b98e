"""libpbs by ctypes: structures, signatures, and lists that cross the border. The other modules of the package call it; programs do not.

Shapes are those of pbs_ifl.h and pbs_ext.h. A call releases Python's lock, so several threads may be in calls at once; the error number
belongs to the thread. Text is UTF-8, and bytes that are not travel as surrogates.
"""
from __future__ import annotations

import ctypes as C
import os
from collections.abc import Iterable, Iterator
from typing import Any

MAX_JOB_ID = 537  # PBS_MAXCLTJOBID


class Attrl(C.Structure):
    pass


Attrl._fields_ = [("next", C.POINTER(Attrl)), ("name", C.c_char_p), ("resource", C.c_char_p), ("value", C.c_char_p), ("op", C.c_int)]


class BatchStatus(C.Structure):
    pass


BatchStatus._fields_ = [("next", C.POINTER(BatchStatus)), ("name", C.c_char_p), ("attribs", C.POINTER(Attrl)), ("text", C.c_char_p)]


class DelStatus(C.Structure):
    pass


DelStatus._fields_ = [("next", C.POINTER(DelStatus)), ("name", C.c_char_p), ("code", C.c_int)]


class AttrError(C.Structure):
    _fields_ = [("attribute", C.POINTER(Attrl)), ("code", C.c_int), ("text", C.c_char_p)]


class AttrErrors(C.Structure):
    _fields_ = [("n", C.c_int), ("list", C.POINTER(AttrError))]


class PreemptInfo(C.Structure):
    _fields_ = [("job_id", C.c_char * 276), ("order", C.c_char * 6)]


class Cursor(C.Structure):
    _fields_ = [("epoch", C.c_uint64), ("number", C.c_uint64)]


class Want(C.Structure):
    _fields_ = [("kind", C.c_int), ("attribs", C.POINTER(Attrl))]


class Change(C.Structure):
    _fields_ = [("kind", C.c_int), ("gone", C.c_int), ("number", C.c_uint64), ("name", C.c_char_p), ("attribs", C.POINTER(Attrl))]


RESTART = C.CFUNCTYPE(None, C.c_void_p)
CHANGE = C.CFUNCTYPE(None, C.POINTER(Change), C.c_void_p)
ENTRY = C.CFUNCTYPE(C.c_int, C.POINTER(BatchStatus), C.c_void_p)


class Reader(C.Structure):
    _fields_ = [("restart", RESTART), ("change", CHANGE), ("arg", C.c_void_p)]


class Wake(C.Structure):
    _fields_ = [("command", C.c_int), ("job", C.c_char * (MAX_JOB_ID + 1)), ("answer", C.c_uint)]


class News(C.Structure):
    _fields_ = [("restarted", C.c_int), ("caught_up", C.c_int), ("cursor", Cursor), ("now_ns", C.c_int64), ("n_wakes", C.c_size_t),
                ("wakes", Wake * 64)]


class JobEnd(C.Structure):
    _fields_ = [("exited", C.c_int), ("exit_status", C.c_int)]


class Peek(C.Structure):
    _fields_ = [("offset", C.c_ulonglong), ("size", C.c_ulonglong), ("n", C.c_uint), ("data", C.c_ubyte * 32768)]


# What a call returns where it is not an int.
_POINTERS: dict[str, Any] = {
    "pbs_default": C.c_char_p,
    "pbs_geterrmsg": C.c_char_p,
    "pbs_get_attributes_in_error": C.POINTER(AttrErrors),
    "pbs_deljoblist": C.POINTER(DelStatus),
    **{f"pbs_{name}": C.c_void_p
       for name in ("submit", "submit_recv", "locjob", "selectjob", "submit_resv", "modify_resv", "preempt_jobs", "preempt_jobs_recv")},
    **{f"pbs_{name}": C.POINTER(BatchStatus)
       for name in ("statjob", "statque", "statserver", "statsched", "statvnode", "statnode", "stathost", "statrsc", "statresv", "stathook",
                    "stathold", "statcounts", "selstat", "explain")},
}


def _places() -> Iterator[str]:
    """Where libpbs may be: the one of this installation, then that of the system."""
    if os.environ.get("CEDE_LIBPBS"):
        yield os.environ["CEDE_LIBPBS"]
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    yield from (os.path.join(own, name) for name in ("libpbs.so.0", "libpbs.so"))
    yield "libpbs.so.0"


def _load() -> C.CDLL:
    for place in _places():
        if os.path.isabs(place) and not os.path.exists(place):
            continue
        library = C.CDLL(place)
        getattr(library, "__pbs_errno_location").restype = C.POINTER(C.c_int)
        for name, result in _POINTERS.items():
            getattr(library, name).restype = result
        library.pbs_watch_next_send.argtypes = [C.c_int, C.c_uint, Cursor]
        library.pbs_statfree.argtypes = [C.c_void_p]
        library.pbs_delstatfree.argtypes = [C.c_void_p]
        return library
    raise ImportError("there is no libpbs.so.0 on this host")


lib = _load()
_libc = C.CDLL(None)
_libc.free.argtypes = [C.c_void_p]


def errno() -> int:
    """pbs_errno of this thread."""
    return int(getattr(lib, "__pbs_errno_location")().contents.value)


def to_bytes(text: Any) -> bytes | None:
    """A value on its way to libpbs. ValueError for a null byte, which would end the text early."""
    if text is None:
        return None
    out = text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogateescape")
    if b"\0" in out:
        raise ValueError("a null byte in a value")
    return out


def to_text(value: bytes | None) -> str:
    return "" if value is None else value.decode("utf-8", "surrogateescape")


# An attribute as it travels: name, resource or None, value, operator (enum batch_op).
Row = tuple[str, "str | None", "str | None", int]


def attr_list(rows: Iterable[Row]) -> Any:
    """A linked list, alive as long as the result; None for no rows."""
    nodes = [Attrl(None, to_bytes(name), to_bytes(resource), to_bytes("" if value is None else value), op)
             for name, resource, value, op in rows]
    for a, b in zip(nodes, nodes[1:]):
        a.next = C.pointer(b)
    return C.pointer(nodes[0]) if nodes else None


def attributes(pointer: Any) -> dict[str, Any]:
    """{name: text}, and {name: {resource: text}} for attributes that have resources."""
    out: dict[str, Any] = {}
    while pointer:
        a = pointer.contents
        name, value = to_text(a.name), to_text(a.value)
        if a.resource is None:
            out[name] = value
        else:
            out.setdefault(name, {})[to_text(a.resource)] = value
        pointer = a.next
    return out


def entries(head: Any) -> list[tuple[str, dict[str, Any], str]]:
    """Name, attributes and text of each entry of a status answer, which is freed."""
    out: list[tuple[str, dict[str, Any], str]] = []
    p = head
    while p:
        b = p.contents
        out.append((to_text(b.name), attributes(b.attribs), to_text(b.text)))
        p = b.next
    if head:
        lib.pbs_statfree(head)
    return out


def take_text(pointer: int) -> str:
    """A text of libpbs, which is freed."""
    text = to_text(C.cast(pointer, C.c_char_p).value)
    _libc.free(pointer)
    return text


def take_names(block: int) -> list[str]:
    """An array of texts that ends with NULL, in one block, which is freed."""
    array = C.cast(block, C.POINTER(C.c_char_p))
    out: list[str] = []
    while array[len(out)] is not None:
        out.append(to_text(array[len(out)]))
    _libc.free(block)
    return out


def text_array(texts: Iterable[Any]) -> Any:
    """A C array of texts, NULL behind the last."""
    items = [to_bytes(t) for t in texts]
    return (C.c_char_p * (len(items) + 1))(*items, None)


def preempt_jobs(handle: int, names: list[str]) -> list[tuple[str, str]] | None:
    """pbs_preempt_jobs(): (job, order) in order of completion; None where the call failed."""
    ticket = lib.pbs_preempt_jobs_send(handle, text_array(names))
    return preempted(handle, ticket) if ticket > 0 else None


def preempted(handle: int, ticket: int) -> list[tuple[str, str]] | None:
    """The answer to pbs_preempt_jobs_send(), as preempt_jobs() gives it."""
    n = C.c_int()
    block = lib.pbs_preempt_jobs_recv(handle, ticket, C.byref(n))
    if not block:
        return None
    array = C.cast(block, C.POINTER(PreemptInfo))
    out = [(to_text(array[i].job_id), to_text(array[i].order)) for i in range(n.value)]
    _libc.free(block)
    return out


def delete_jobs(handle: int, names: list[str], extend: Any) -> dict[str, int]:
    """pbs_deljoblist(): {job that was not deleted: number of the error}; empty where the call failed, too: errno() tells."""
    head = lib.pbs_deljoblist(handle, text_array(names), len(names), to_bytes(extend))
    failed, p = {}, head
    while p:
        failed[to_text(p.contents.name)] = int(p.contents.code)
        p = p.contents.next
    if head:
        lib.pbs_delstatfree(head)
    return failed
