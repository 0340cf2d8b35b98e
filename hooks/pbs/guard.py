"""What objects ask before a script changes them. The guard of an object notes each change that the event permits in the run."""
from __future__ import annotations

from typing import Any, Callable, Optional

from . import rules
from .run import Run

SetCb = Callable[[str, Optional[str], Any], None]  # attribute, resource or variable, new value; raises where that is not permitted


def guard(run: Run, kind: str, name: Optional[str]) -> SetCb:
    """The guard of a job, resv or vnode of the event. name: None, the event has one of its kind."""
    def ask(attr: str, resource: Optional[str], value: Any) -> None:
        if run.decided:
            raise AssertionError(f"Not permitted to modify attributes (name={attr},res={resource or ''}): "
                                 "an event.accept() or event.reject() already called.")
        rules.check(run.event, kind, attr, resource)
        run.changed(kind, name, attr, resource, None if value is None else _text(attr, value))
    return ask


def _text(attr: str, value: Any) -> str:
    """The text of a value, as the wire and the files have it; of an object its name."""
    if attr in ("eligible_time", "reserve_duration"):
        return str(int(value))
    return str(value)
