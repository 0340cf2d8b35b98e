"""Values of attributes: text of PBS to Python and back.

    numbers             int, float
    booleans            bool
    durations           datetime.timedelta
    points in time      datetime.datetime with a time zone
    sizes               Size, an int of bytes
    lists               list of str
    resources           dict of these, by name of the resource
    all others          str

A text that is not of its attribute's type stays a str, so that an answer of a newer server can always be read.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from ._libpbs import Row
from .tables import API, ATTRIBUTES, RESOURCES

SET = API["BATCH_OP_SET"]

# Attributes of type LONG that are points in time, seconds since 1970. The tables have no type of their own for them.
TIMES = frozenset({
    "ctime", "mtime", "qtime", "etime", "stime", "ptime", "obittime", "history_timestamp", "Execution_Time", "preempt_deadline",
    "preempt_time", "deadline", "drain_at", "drain_begun", "reserve_start", "reserve_end", "last_used_time", "last_state_change_time",
    "current_time", "estimated.start_time",
})
_UNITS = ("", "k", "m", "g", "t", "p")
_SIZE = re.compile(r"(\d+)([kmgtp]?)([bw]?)", re.I)
_CLOCK = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+)(?:\.(\d+))?")
WORD_BYTES = 8  # the unit w


class Size(int):
    """An amount of memory in bytes, from a number or a text such as "16gb"; prints as PBS does, in the largest unit that loses nothing."""

    def __new__(cls, value: Any = 0) -> Size:
        if isinstance(value, str):
            m = _SIZE.fullmatch(value.strip())
            if not m:
                raise ValueError(f"no size: {value!r}")
            value = int(m[1]) * 1024 ** _UNITS.index(m[2].lower()) * (WORD_BYTES if m[3].lower() == "w" else 1)
        return super().__new__(cls, value)

    def __str__(self) -> str:
        power, count = 0, int(self)
        while count and count % 1024 == 0 and power < len(_UNITS) - 1:
            power, count = power + 1, count // 1024
        return f"{count}{_UNITS[power]}b"

    def __repr__(self) -> str:
        return f"Size('{self}')"


def parse_duration(text: str) -> timedelta:
    """[[HOURS:]MINUTES:]SECONDS[.FRACTION]. ValueError for anything else."""
    m = _CLOCK.fullmatch(text.strip())
    if not m:
        raise ValueError(f"no duration: {text!r}")
    return timedelta(hours=int(m[1] or 0), minutes=int(m[2] or 0), seconds=float(f"{m[3]}.{m[4] or 0}"))


def parse_time(text: str) -> datetime:
    """Seconds since 1970, in the local time zone."""
    return datetime.fromtimestamp(int(text)).astimezone()


def _parse_bool(text: str) -> bool:
    if text.lower() in ("true", "t", "yes", "y", "1"):
        return True
    if text.lower() in ("false", "f", "no", "n", "0"):
        return False
    raise ValueError(f"no boolean: {text!r}")


def _parse_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


# By the type of the table, in any case: attributes name LONG, resources long.
_PARSERS: dict[str, Callable[[str], Any]] = {
    "LONG": int, "LONG64": int, "FLOAT": float, "BOOLEAN": _parse_bool, "SIZE": Size, "DURATION": parse_duration,
    "DURATION_S": parse_duration, "STRING_ARRAY": _parse_list, "ACL": _parse_list,
}


def parse(kind: str, name: str, resource: str | None, text: str, resource_type: Callable[[str], str]) -> Any:
    """The value of an attribute of an object of a kind ("job", "node", ...).

    resource_type   answers the type of a resource by name, "" for one that is not known
    """
    if name in TIMES or f"{name}.{resource}" in TIMES:
        parser: Callable[[str], Any] = parse_time
    else:
        of = resource_type(resource) if resource else ATTRIBUTES.get(kind, {}).get(name, ("",))[0]
        parser = _PARSERS.get(of.upper(), str)
    try:
        return parser(text)
    except (ValueError, OverflowError, OSError):
        return text


def builtin_type(resource: str) -> str:
    """The type of a built-in resource, or ""."""
    return RESOURCES.get(resource, ("",))[0]


def text_of(value: Any) -> str:
    """A value as PBS reads it: durations HH:MM:SS, times in seconds since 1970, lists with commas."""
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, timedelta):
        seconds = round(value.total_seconds())
        return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    if isinstance(value, datetime):
        return str(int(value.timestamp()))
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(text_of(v) for v in value)
    return str(value)


def rows(attributes: Mapping[str, Any]) -> list[Row]:
    """Attributes to set, as they travel. A value that is a mapping is one of resources; None is left out."""
    out: list[Row] = []
    for name, value in attributes.items():
        if isinstance(value, Mapping):
            out += [(name, resource, text_of(v), SET) for resource, v in value.items() if v is not None]
        elif value is not None:
            out.append((name, None, text_of(value), SET))
    return out


def wanted(names: Iterable[str]) -> list[Row]:
    """Attributes to ask for, "Resource_List.ncpus" among them."""
    out: list[Row] = []
    for name in names:
        attribute, _, resource = name.partition(".")
        out.append((attribute, resource or None, "", SET))
    return out
