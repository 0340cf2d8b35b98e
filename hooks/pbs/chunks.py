"""The small languages of placement: select, place, exec_vnode, exec_host, and the chunk of an exec_vnode."""
from __future__ import annotations

import math
import re
from typing import Any

from .errors import BadAttributeValueError, BadAttributeValueTypeError
from .words import _Text

_RESOURCE = r"[A-Za-z][A-Za-z0-9_-]*=(?:\"[^\"]*\"|'[^']*'|[^:+\"']*)"
_CHUNK = re.compile(rf"(?:(\d+)(?::({_RESOURCE}(?::{_RESOURCE})*))?|({_RESOURCE}(?::{_RESOURCE})*))")


def _split(text: str, mark: str) -> list[str]:
    """Parts between marks that are not inside quotes."""
    return [part.strip() for part in re.findall(rf"((?:\"[^\"]*\"|'[^']*'|[^{re.escape(mark)}])*)(?:{re.escape(mark)}|$)", text)[:-1]]


class select(_Text):
    """Chunks, [N:]res=value[:res=value ...][+ ...]."""

    @classmethod
    def _check(cls, text: str) -> None:
        if text:
            for part in _split(text, "+"):
                if not _CHUNK.fullmatch(part):
                    cls._refuse(text)

    def increment_chunks(self, increment_spec: Any) -> select:
        """More chunks of each kind.

        increment_spec   a number N or "N": N more; "N%": that many percent more, rounded up; or a dictionary from the index of
                         a kind (0 is the first) to one of these: only those grow
        The first chunk is the mother superior's: one instance of it is never counted, and a first kind of one chunk stays one.
        """
        spec = increment_spec
        if isinstance(spec, bool) or not isinstance(spec, (int, str, dict)):
            raise BadAttributeValueTypeError("increment_spec must be a number, a text or a dictionary")
        parts = []
        for index, part in enumerate(_split(str(self), "+")):
            m = _CHUNK.fullmatch(part)
            assert m
            count, rest = int(m.group(1) or 1), m.group(2) or m.group(3)
            wish = spec.get(index, 0) if isinstance(spec, dict) else spec
            grows = count - 1 if index == 0 else count
            count += _increment(grows, wish) if grows > 0 else 0
            parts.append(f"{count}:{rest}" if rest else str(count))
        return select("+".join(parts))


def _increment(count: int, wish: Any) -> int:
    m = re.fullmatch(r"\s*(\d+)\s*(%?)\s*", str(wish))
    if not m:
        raise BadAttributeValueError(f"invalid increment '{wish}'")
    number = int(m.group(1))
    return math.ceil(count * number / 100) if m.group(2) else number


class place(_Text):
    """[arrangement][:sharing][:group=resource]."""

    _arrangements = ("free", "pack", "scatter", "vscatter")
    _sharings = ("excl", "exclhost", "shared")

    @classmethod
    def _check(cls, text: str) -> None:
        seen: list[str] = []
        for part in text.split(":") if text else []:
            kind = ("arrangement" if part in cls._arrangements else "sharing" if part in cls._sharings
                    else "group" if re.fullmatch(r"group=[A-Za-z][A-Za-z0-9_-]*", part) else "")
            if not kind or kind in seen:
                cls._refuse(text)
            seen.append(kind)


class vchunk:
    """One vnode of a chunk of an exec_vnode, VNODE[:res=value ...].

    vnode_name        the vnode
    chunk_resources   dictionary from resource to its amount, of the resource's type
    """

    def __init__(self, achunk: str = "") -> None:
        from .resources import convert

        text = str(achunk).strip().strip("()")
        parts = _split(text, ":") if text else [""]
        self.vnode_name: str = parts[0]
        self.chunk_resources: dict[str, Any] = {}
        for part in parts[1:]:
            key, equals, value = part.partition("=")
            if not equals or not key:
                raise BadAttributeValueError(f"invalid vchunk value '{achunk}'")
            self.chunk_resources[key] = convert(key, value.strip("\"'"))

    def __str__(self) -> str:
        return ":".join([self.vnode_name] + [f"{key}={value}" for key, value in self.chunk_resources.items()])

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, vchunk) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class exec_vnode(_Text):
    """Where a job runs, (vnode:res=value+vnode ...)+(...). `chunks`: a vchunk for each vnode of each chunk, in order."""

    chunks: list[vchunk]

    def __new__(cls, value: Any = "") -> Any:
        made = super().__new__(cls, value)
        made.chunks = [vchunk(part.strip("() ")) for part in _split(str(made), "+") if part.strip("() ")]
        return made

    @classmethod
    def _check(cls, text: str) -> None:
        depth = 0
        for c in text:
            depth += (c == "(") - (c == ")")
            if depth not in (0, 1):
                cls._refuse(text)
        if depth:
            cls._refuse(text)


class exec_host(_Text):
    """Hosts of a job, host/slot[*ncpus][+ ...]."""

    @classmethod
    def _check(cls, text: str) -> None:
        for part in text.split("+") if text else []:
            if not re.fullmatch(r"[^/\s]+/\d+(/\d+)?(\*\d+)?", part):
                cls._refuse(text)
