"""Types that are lists with commas. They are texts, as PBS's are; `in` finds text and items alike, and iteration gives items."""
from __future__ import annotations

import re
from typing import Any, Iterator

from .errors import BadAttributeValueTypeError
from .words import _Text


class pbs_list(_Text):
    """Items with commas between. From a text or a sequence; an item that holds a comma is in the text with a backslash before it."""

    def __new__(cls, value: Any = "") -> Any:
        if isinstance(value, dict):
            raise BadAttributeValueTypeError(f"invalid type of a {cls.__name__}: dict")
        if isinstance(value, (list, tuple, set, frozenset)):
            value = ",".join(str(item) for item in value)
        return super().__new__(cls, value)

    def items(self) -> list[str]:
        """The items, without blanks around them."""
        return [item.strip() for item in re.split(r"(?<!\\),", str(self)) if item.strip()]


class acl(pbs_list):
    """[+|-]name items of an access list."""


class _AtHost(pbs_list):
    """name[@host] items."""

    @classmethod
    def _check(cls, text: str) -> None:
        for item in text.split(",") if text else []:
            if not re.fullmatch(r"\s*[^@\s,]+(@[^@\s,]*)?\s*", item):
                cls._refuse(text)


class user_list(_AtHost):
    """user[@host] items."""


class group_list(_AtHost):
    """group[@host] items."""


class email_list(_AtHost):
    """user[@host] items, whom mail goes to."""


class path_list(_AtHost):
    """path[@host] items."""


class route_destinations(_AtHost):
    """queue[@server] items."""


class node_group_key(pbs_list):
    """Names of resources that form placement sets."""


class staging_list(pbs_list):
    """local@host:remote items of files to stage."""

    @classmethod
    def _check(cls, text: str) -> None:
        for item in re.split(r"(?<!\\),", text) if text else []:
            if not re.fullmatch(r"\s*[^@]+@[^:]+:.+", item):
                cls._refuse(text)


class arst_list(pbs_list):
    """Values of a string_array."""


class pbs_env(dict[str, str]):
    """Variables of an environment: a dictionary that prints as NAME=VALUE with commas, `\\` before a comma or a backslash of a value.

    From a text of that form or a mapping.
    """

    def __init__(self, value: Any = "") -> None:
        super().__init__()
        if isinstance(value, dict):
            for key, item in value.items():
                self[key] = item
        elif isinstance(value, str):
            for key, item in split_variables(value):
                self[key] = item
        else:
            raise BadAttributeValueTypeError(f"invalid type of variables: {type(value).__name__}")

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(str(key), str(value))

    def __str__(self) -> str:
        return ",".join(f"{key}={_escape(value)}" for key, value in self.items())

    __repr__ = __str__


def _escape(value: str) -> str:
    return re.sub(r"([\\,])", r"\\\1", value)


def split_variables(text: str) -> Iterator[tuple[str, str]]:
    """NAME, VALUE of each variable of a Variable_List; a backslash hides the character behind it."""
    for item in re.findall(r"(?:\\.|[^\\,])+", text, re.S):
        key, equals, value = item.partition("=")
        if key.strip() and equals:
            yield key.strip(), re.sub(r"\\(.)", r"\1", value, flags=re.S)
