"""What goes wrong: one exception for each PBSE_ number that a program may want to tell apart, below PbsError."""
from __future__ import annotations

from typing import NamedTuple

from . import _libpbs as _l
from .tables import ERRORS


class AttributeRefused(NamedTuple):
    """An attribute that the server refused: its name and resource, the number of the error, and the server's words."""

    name: str
    resource: str
    code: int
    text: str


class PbsError(Exception):
    """A call that failed.

    code        PBSE_ number
    name        its name, "PBSE_UNKJOBID", or "" for a number that has none
    text        the server's words
    attributes  the attributes that were refused, AttributeRefused each
    """

    def __init__(self, code: int, text: str = "", attributes: tuple[AttributeRefused, ...] = ()) -> None:
        self.code, self.name = code, _names.get(code, "")
        self.text = text or ERRORS.get(self.name[5:], (0, ""))[1].strip()
        self.attributes = attributes
        super().__init__(self.text or f"PBS error {code}")


class UnknownJob(PbsError):
    """There is no such job, or it is not to be seen."""


class JobHasEnded(PbsError):
    """The job is in the history: it can be looked at and nothing else."""


class Unauthorized(PbsError):
    """The caller may not do that."""


class WrongState(PbsError):
    """The object's state does not allow it."""


class UnknownQueue(PbsError):
    """There is no such queue."""


class UnknownNode(PbsError):
    """There is no such vnode."""


class UnknownReservation(PbsError):
    """There is no such reservation."""


class BadAttribute(PbsError):
    """An attribute or resource is unknown, cannot be set, or has a wrong value; `attributes` lists them."""


class LimitExceeded(PbsError):
    """A limit of queue or server forbids it."""


class NotConnected(PbsError):
    """There is no connection: the server cannot be reached, has ended, or has closed it."""


_CLASSES: dict[str, type[PbsError]] = {
    "UNKJOBID": UnknownJob, "HISTJOBID": JobHasEnded, "PERM": Unauthorized, "BADSTATE": WrongState, "UNKQUE": UnknownQueue,
    "UNKNODE": UnknownNode, "UNKRESVID": UnknownReservation, "NOATTR": BadAttribute, "ATTRRO": BadAttribute, "BADATVAL": BadAttribute,
    "UNKRESC": BadAttribute, "BADATLST": BadAttribute, "MODATRRUN": BadAttribute, "BADNDATVAL": BadAttribute, "EXCQRESC": LimitExceeded,
    "MAXQUED": LimitExceeded, "EXLIMIT": LimitExceeded, "PROTOCOL": NotConnected, "NOSERVER": NotConnected, "NOCONNECTS": NotConnected,
}
_names = {number: f"PBSE_{name}" for name, (number, _) in ERRORS.items()}
_by_code = {ERRORS[name][0]: cls for name, cls in _CLASSES.items() if name in ERRORS}


def make(code: int, text: str = "", attributes: tuple[AttributeRefused, ...] = ()) -> PbsError:
    """The exception of a number."""
    return _by_code.get(code, PbsError)(code, text, attributes)


def last(handle: int) -> PbsError:
    """The exception of this thread's last call on a connection (-1: of a connection that was not made)."""
    refused = []
    found = _l.lib.pbs_get_attributes_in_error(handle)
    for i in range(found.contents.n if found else 0):
        e = found.contents.list[i]
        refused.append(AttributeRefused(_l.to_text(e.attribute.contents.name), _l.to_text(e.attribute.contents.resource), e.code,
                                        _l.to_text(e.text)))
    return make(_l.errno(), _l.to_text(_l.lib.pbs_geterrmsg(handle)), tuple(refused))
