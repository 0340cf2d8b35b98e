"""Types that are letters or words of a fixed set: holds, mail points, kept files, joined output, checkpoints, names."""
from __future__ import annotations

import re
from typing import Any

from .errors import BadAttributeValueError, BadAttributeValueTypeError


class _Text(str):
    """A text that is checked when it is made."""

    def __new__(cls, value: Any = "") -> Any:
        if value is None or isinstance(value, (list, tuple, dict, bool)):
            raise BadAttributeValueTypeError(f"invalid type of a {cls.__name__}: {type(value).__name__}")
        text = str(value)
        cls._check(text)
        return super().__new__(cls, text)

    @classmethod
    def _check(cls, text: str) -> None:
        """Raise BadAttributeValueError if the text is not a value of the type."""

    @classmethod
    def _refuse(cls, text: str) -> None:
        raise BadAttributeValueError(f"invalid {cls.__name__} value '{text}'")


class _Letters(_Text):
    """Letters of `_letters`, or a single letter of `_alone`."""

    _letters = ""
    _alone = "n"

    @classmethod
    def _check(cls, text: str) -> None:
        if text and text not in cls._alone and not set(text) <= set(cls._letters):
            cls._refuse(text)


class hold_types(_Letters):
    """Holds: letters u o s p, or n. `+` and `-` of texts add and take away letters."""

    _letters = "uosp"

    def _of(self, letters: set[str]) -> hold_types:
        return hold_types("".join(c for c in self._letters if c in letters) or "n")

    def __add__(self, other: str) -> hold_types:
        return self._of((set(self) | set(hold_types(other))) - {"n"})

    def __sub__(self, other: str) -> hold_types:
        return self._of(set(self) - set(hold_types(other)) - {"n"})


class mail_points(_Letters):
    """When mail is sent: letters a b e j (c of reservations), or n."""

    _letters = "abejc"


class keep_files(_Letters):
    """Output kept on the host: letters o e d, or n."""

    _letters = "oed"


class remove_files(_Letters):
    """Output removed when the job ends with 0: letters o e."""

    _letters = "oe"


class _Words(_Text):
    """One of `_words`."""

    _words: tuple[str, ...] = ()

    @classmethod
    def _check(cls, text: str) -> None:
        if text and text not in cls._words:
            cls._refuse(text)


class join_path(_Words):
    """Which output joins the other: oe, eo or n."""

    _words = ("oe", "eo", "n")


class sandbox(_Words):
    """Where the job runs: HOME, PRIVATE or O_WORKDIR."""

    _words = ("HOME", "PRIVATE", "O_WORKDIR")


class tolerate_node_failures(_Words):
    """Which failures of hosts a job bears: none, job_start, all."""

    _words = ("none", "job_start", "all")


class checkpoint(_Text):
    """When to checkpoint: n s c c=MINUTES w w=MINUTES u."""

    @classmethod
    def _check(cls, text: str) -> None:
        if text and not re.fullmatch(r"[nsu]|[cw](=\d+)?", text):
            cls._refuse(text)


class name(_Text):
    """A job's or reservation's name: at most 230 printing characters."""

    @classmethod
    def _check(cls, text: str) -> None:
        if len(text) > 230 or re.search(r"[\s\x00-\x1f\x7f]", text):
            cls._refuse(text)


class project(_Text):
    """A project: none of / [ ] " ; : | < > + , ? * \\ ."""

    @classmethod
    def _check(cls, text: str) -> None:
        if set(text) & set('/[]";:|<>+,?*\\'):
            cls._refuse(text)


class depend(_Text):
    """Dependencies, TYPE:ARGUMENT[:ARGUMENT ...][,TYPE:...]."""

    _kinds = ("after", "afterok", "afternotok", "afterany", "before", "beforeok", "beforenotok", "beforeany", "on",
              "runone", "synccount", "syncwith")

    @classmethod
    def _check(cls, text: str) -> None:
        for part in text.split(",") if text else []:
            kind, colon, rest = part.strip().partition(":")
            if kind not in cls._kinds or not colon or not rest:
                cls._refuse(text)


class args(_Text):
    """Arguments as they are kept with a job."""


class job_sort_formula(_Text):
    """A formula of priorities; the scheduler checks it."""


class license_count(_Text):
    """Counters of licences, NAME:NUMBER ..."""


class version(_Text):
    """A version of the product."""


class software(_Text):
    """A name of software that a job wants."""


class path(_Text):
    """[host:]path of a file."""


class state_count(_Text):
    """Jobs by state, `Transit:0 Queued:3 ...`."""

    @classmethod
    def _check(cls, text: str) -> None:
        for part in text.split():
            if not re.fullmatch(r"[A-Za-z]+:-?\d+", part):
                cls._refuse(text)


class range(_Text):
    """Indices of an array, X-Y[:Z], several with commas; `-` is none."""

    @classmethod
    def _check(cls, text: str) -> None:
        part = r"\d+(-\d+(:\d+)?)?"
        if text not in ("", "-") and not re.fullmatch(rf"{part}(,{part})*(%\d+)?", text):
            cls._refuse(text)
