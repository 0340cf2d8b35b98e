"""Where a job runs: exec_vnode, exec_host, and the chunk of an exec_vnode."""
from __future__ import annotations

import re
from typing import Any

from .chunks import split
from .errors import BadAttributeValueError
from .resources import convert
from .words import _Text


class vchunk:
    """One vnode of a chunk of an exec_vnode, VNODE[:res=value ...].

    vnode_name        the vnode
    chunk_resources   dictionary from resource to its amount, of the resource's type
    """

    def __init__(self, achunk: str = "") -> None:
        text = str(achunk).strip().strip("()")
        parts = split(text, ":") if text else [""]
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
        made.chunks = [vchunk(part.strip("() ")) for part in split(str(made), "+") if part.strip("() ")]
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
