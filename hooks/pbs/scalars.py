"""Types of a single value: whole numbers, floating point, text, truth, durations and sizes.

Each takes a Python value or the text of PBS, refuses others with an exception of `errors`, and prints the text of PBS.
"""
from __future__ import annotations

import re
from functools import total_ordering
from typing import Any

from .errors import BadAttributeValueError, BadAttributeValueTypeError

_TRUE = ("true", "t", "yes", "y", "1")
_FALSE = ("false", "f", "no", "n", "0")


class pbs_int(int):
    """A whole number. ValueError for a text that is none, as int() has it."""


class pbs_float(float):
    """A floating point number; prints as PBS does, without needless zeros."""

    def __str__(self) -> str:
        return format(float(self), ".15g")


class pbs_str(str):
    """A text."""


class pbs_bool(int):
    """True or False, from a bool, a number or the words true t yes y 1 false f no n 0 in any case."""

    def __new__(cls, value: Any = False) -> pbs_bool:
        if isinstance(value, str):
            word = value.strip().lower()
            if word not in _TRUE + _FALSE:
                raise BadAttributeValueError(f"invalid boolean value '{value}'")
            return super().__new__(cls, word in _TRUE)
        return super().__new__(cls, bool(value))

    def __str__(self) -> str:
        return "True" if self else "False"

    __repr__ = __str__


class priority(int):
    """A priority, -1024 to 1023."""

    def __new__(cls, value: Any = 0) -> priority:
        number = super().__new__(cls, value)
        if not -1024 <= number <= 1023:
            raise BadAttributeValueError(f"invalid priority value '{value}'")
        return number


class duration(int):
    """Seconds. From a number, "SECONDS[.FRACTION]" or "[[HOURS:]MINUTES:]SECONDS"; prints a text as it was given, else HH:MM:SS."""

    _text: str

    def __new__(cls, value: Any = 0) -> duration:
        if isinstance(value, str):
            m = re.fullmatch(r"\s*(?:(?:(\d+):)?(\d+):)?(\d+)(?:\.\d*)?\s*", value)
            if not m:
                raise BadAttributeValueError(f"invalid duration value '{value}'")
            hours, minutes, seconds = (int(part or 0) for part in m.groups())
            made = super().__new__(cls, hours * 3600 + minutes * 60 + seconds)
        elif isinstance(value, (int, float)):
            made = super().__new__(cls, value)
        else:
            raise BadAttributeValueTypeError(f"invalid type of a duration: {type(value).__name__}")
        made._text = value.strip() if isinstance(value, str) and ":" in value else _clock(int(made))
        if isinstance(value, duration):
            made._text = value._text
        return made

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def __add__(self, other: Any) -> Any:
        return duration(int(self) + int(_seconds(other))) if _is_time(other) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return duration(int(self) - int(_seconds(other))) if _is_time(other) else NotImplemented

    __radd__ = __add__


def _is_time(value: Any) -> bool:
    return isinstance(value, (int, str))


def _seconds(value: Any) -> int:
    return duration(value) if isinstance(value, str) else value


def _clock(seconds: int) -> str:
    sign, rest = ("-", -seconds) if seconds < 0 else ("", seconds)
    return f"{sign}{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"


# Powers of 1024 by letter.
_UNITS = ("", "k", "m", "g", "t", "p")
_SIZE = re.compile(r"\s*([+-]?\d+)([kmgtp]?)([bw]?)\s*", re.I)
WORD_BYTES = 8  # of a word on the 64 bit hosts that we run on; units w, kw, ... count these


@total_ordering
class size:
    """An amount of memory: a number and a unit (b kb mb gb tb pb, or words: w kw ...). A number alone is bytes.

    Sizes compare and add across units; a sum is printed in the smaller unit of the two. A number or text takes part as a size.
    """

    __slots__ = ("_count", "_power", "_words")

    def __init__(self, value: Any = 0) -> None:
        if isinstance(value, size):
            self._count, self._power, self._words = value._count, value._power, value._words
        elif isinstance(value, str):
            m = _SIZE.fullmatch(value)
            if not m:
                raise BadAttributeValueError(f"invalid size value '{value}'")
            self._count, self._power = int(m.group(1)), _UNITS.index(m.group(2).lower())
            self._words = m.group(3).lower() == "w"
        elif isinstance(value, (int, float)):
            self._count, self._power, self._words = int(value), 0, False
        else:
            raise BadAttributeValueTypeError(f"invalid type of a size: {type(value).__name__}")

    def _bytes(self) -> int:
        return self._count * 1024 ** self._power * (WORD_BYTES if self._words else 1)

    @classmethod
    def _of(cls, number: int, power: int) -> size:
        made = cls()
        made._count, made._power = number // 1024 ** power, power
        return made

    def _combine(self, other: Any, sign: int) -> size:
        right = size(other)
        return size._of(self._bytes() + sign * right._bytes(), min(self._power, right._power))

    def __int__(self) -> int:
        return self._bytes()

    def __add__(self, other: Any) -> size:
        return self._combine(other, 1)

    def __sub__(self, other: Any) -> size:
        return self._combine(other, -1)

    def __radd__(self, other: Any) -> size:
        return size(other)._combine(self, 1)

    def __rsub__(self, other: Any) -> size:
        return size(other)._combine(self, -1)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (size, str, int, float)):
            return NotImplemented
        try:
            return self._bytes() == size(other)._bytes()
        except BadAttributeValueError:
            return False

    def __lt__(self, other: Any) -> bool:
        if not isinstance(other, (size, str, int, float)):
            return NotImplemented
        return self._bytes() < size(other)._bytes()

    def __hash__(self) -> int:
        return hash(self._bytes())

    def __bool__(self) -> bool:
        return self._count != 0

    def __str__(self) -> str:
        return f"{self._count}{_UNITS[self._power]}{'w' if self._words else 'b'}"

    def __repr__(self) -> str:
        return str(self)
