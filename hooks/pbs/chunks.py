"""What a job asks for, in the small languages of placement: select and place."""
from __future__ import annotations

import math
import re
from typing import Any

from .errors import BadAttributeValueError, BadAttributeValueTypeError
from .words import _Text

_RESOURCE = r"[A-Za-z][A-Za-z0-9_-]*=(?:\"[^\"]*\"|'[^']*'|[^:+\"']*)"
_CHUNK = re.compile(rf"(?:(\d+)(?::({_RESOURCE}(?::{_RESOURCE})*))?|({_RESOURCE}(?::{_RESOURCE})*))")


def split(text: str, mark: str) -> list[str]:
    """Parts between marks that are not inside quotes."""
    return [part.strip() for part in re.findall(rf"((?:\"[^\"]*\"|'[^']*'|[^{re.escape(mark)}])*)(?:{re.escape(mark)}|$)", text)[:-1]]


class select(_Text):
    """Chunks, [N:]res=value[:res=value ...][+ ...]."""

    @classmethod
    def _check(cls, text: str) -> None:
        if text:
            for part in split(text, "+"):
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
        for index, part in enumerate(split(str(self), "+")):
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
