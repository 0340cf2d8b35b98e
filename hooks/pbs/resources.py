"""Resources: which there are, of what type each is, and the values of an attribute that holds resources, such as Resource_List."""
from __future__ import annotations

from typing import Any, Callable, Iterator, Optional

from .chunks import place, select
from .errors import BadAttributeValueError, BadResourceValueError, BadResourceValueTypeError, UnsetResourceNameError
from .lists import arst_list
from .scalars import duration, pbs_bool, pbs_float, pbs_int, pbs_str, size
from .tables import RESOURCES
from .words import software

_BY_TYPE: dict[str, Callable[[Any], Any]] = {
    "long": pbs_int, "float": pbs_float, "size": size, "boolean": pbs_bool, "duration": duration, "string": pbs_str,
    "string_array": arst_list,
}
_BY_NAME: dict[str, Callable[[Any], Any]] = {"select": select, "place": place, "software": software}

# The resources that there are, which the process that runs hooks is told; those of the installation until then.
_types: dict[str, str] = {}
_read_only: set[str] = set()
_WRITES = 0x2 | 0x8 | 0x20  # enum resource_flag: users, operators, managers may write


def define(custom: dict[str, str]) -> None:
    """Make these (name: type in words of `create resource`) the custom resources; those known so far are forgotten."""
    _types.clear()
    _types.update({name: kind for name, (kind, _) in RESOURCES.items()})
    _types.update({name: kind.lower() for name, kind in custom.items() if name not in RESOURCES})
    _read_only.clear()
    _read_only.update(name for name, (_, flags) in RESOURCES.items() if not flags & _WRITES)


define({})


def known(name: str) -> bool:
    """Is there a resource of this name?"""
    return name in _types


def writable(name: str) -> bool:
    """May a manager give it a value?"""
    return name not in _read_only


def convert(name: str, value: Any) -> Any:
    """The value as the type of the resource has it; a resource that is not known keeps text.

    ValueError for a number that is none, BadResourceValueError and BadResourceValueTypeError for other types.
    """
    make = _BY_NAME.get(name) or _BY_TYPE.get(_types.get(name, "string"), pbs_str)
    if isinstance(value, (dict, bytes)) or (isinstance(value, (list, tuple)) and make is not arst_list):
        raise BadResourceValueTypeError(f"invalid type of resource '{name}': {type(value).__name__}")
    try:
        return make(value)
    except BadAttributeValueError as e:
        raise BadResourceValueError(f"resource attribute '{name}': {e}") from e
    except TypeError as e:
        raise BadResourceValueTypeError(f"resource attribute '{name}': {e}") from e


def _read(name: str, text: Any) -> Any:
    """The value of a text that the server holds: one that the type refuses stays a text."""
    try:
        return convert(name, text)
    except (ValueError, TypeError):
        return pbs_str(text)


class pbs_resource(dict[str, Any]):
    """The resources of one attribute. A known resource without a value reads as None; to set None takes the value away.

    UnsetResourceNameError for a name that no resource has. Iteration, keys(), `in` and len() see those that have a value.
    """

    def __init__(self, attribute: str = "", texts: Optional[dict[str, Any]] = None,
                 set_cb: Optional[Callable[[str, Optional[Any]], None]] = None) -> None:
        """texts: what is set now. set_cb(resource, value): called before a value is set, raises where that is not permitted."""
        super().__init__()
        self._attribute = attribute
        self._set_cb = set_cb
        for name, text in (texts or {}).items():
            if text is not None:
                super().__setitem__(name, _read(name, text))

    def __getitem__(self, name: str) -> Any:
        if name in self:
            return super().__getitem__(name)
        if not known(name):
            raise UnsetResourceNameError(f"resource attribute '{name}' not found")
        return None

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name, default)

    def __setitem__(self, name: str, value: Any) -> None:
        if not known(name):
            raise UnsetResourceNameError(f"resource attribute '{name}' not found")
        made = None if value is None else convert(name, value)
        if self._set_cb:
            self._set_cb(name, made)
        if made is None:
            super().pop(name, None)
        else:
            super().__setitem__(name, made)

    def __delitem__(self, name: str) -> None:
        self[name] = None

    def pop(self, name: str, *default: Any) -> Any:
        value = super().get(name, *default)
        self[name] = None
        return value

    def update(self, *values: Any, **more: Any) -> None:
        for name, value in dict(*values, **more).items():
            self[name] = value

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def clear(self) -> None:
        for name in list(self):
            self[name] = None

    def has_key(self, name: str) -> bool:
        return name in self

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.items())

    __repr__ = __str__
