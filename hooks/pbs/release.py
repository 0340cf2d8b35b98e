"""job.release_nodes(): which vnodes a job keeps when some of its hosts have failed before it began.

The script hears of the new exec_vnode at once; the daemon gets the wish and makes it true on hosts and in the server.
"""
from __future__ import annotations

import re
from typing import Any, Optional, Protocol, TypeVar

from .chunks import select
from .constants import LOG_EVENTS
from .errors import BadAttributeValueError
from .resources import convert
from .run import current
from .where import exec_vnode, vchunk


class _Job(Protocol):
    """What this needs of a pbs.job, which is above it."""

    _name: str
    _texts: Optional[dict[str, Any]]

    def __init__(self, name: str, texts: dict[str, Any]) -> None: ...

    def _text(self, attr: str) -> Any: ...


_J = TypeVar("_J", bound=_Job)

_EVENTS = ("execjob_prologue", "execjob_launch")


def release_nodes(asked: _J, node_list: Any, keep_select: Any) -> Optional[_J]:
    """Release vnodes of the job.

    node_list     vnodes that go: a list, a dictionary with their names, or names with + between; None: those of vnode_list_fail
    keep_select   chunks that the job shall keep on the vnodes that stay; None: every chunk that lost none
    None, with a line in the log, where the event or the job does not permit it, or where too little stays.
    """
    run = current()
    if run.event not in _EVENTS:
        return _no(f"release_nodes() is not for {run.event} hooks")
    if str(asked._text("tolerate_node_failures") or "none") not in ("job_start", "all"):
        return _no("release_nodes() needs a job with tolerate_node_failures job_start or all")
    if node_list is None:
        gone = {item["name"] for item in run.data.get("vnode_list_fail") or []}
    else:
        gone = set(node_list.split("+") if isinstance(node_list, str) else node_list)
    chunks = [[vchunk(part) for part in text.split("+")] for text in re.findall(r"\(([^()]*)\)", str(asked._text("exec_vnode") or ""))]
    stay = [chunk for chunk in chunks if not gone & {v.vnode_name for v in chunk}]
    kept = stay if keep_select is None else _fit(select(keep_select), stay)
    if not kept or (chunks and kept[0] is not chunks[0]):
        return _no("the chunks that stay are too few for the job")
    used = {v.vnode_name for chunk in kept for v in chunk}
    run.release_nodes = {"node_list": sorted({v.vnode_name for chunk in chunks for v in chunk} - used),
                         "keep_select": None if keep_select is None else str(keep_select)}
    for word, parts in (("from", chunks), ("to", kept)):
        run.log.line(LOG_EVENTS["JOB"], "Job", asked._name, f"pruned {word} exec_vnode={_text(parts)}")
    texts = dict(asked._texts or {})
    texts["exec_vnode"] = str(exec_vnode(_text(kept)))
    return type(asked)(asked._name, texts)


def _text(chunks: list[list[vchunk]]) -> str:
    return "+".join("(" + "+".join(map(str, chunk)) + ")" for chunk in chunks)


def _no(why: str) -> None:
    current().log.line(LOG_EVENTS["ADMIN"] | LOG_EVENTS["SYSTEM"], "Hook", None, why)


def _fit(wish: select, chunks: list[list[vchunk]]) -> Optional[list[list[vchunk]]]:
    """For each chunk of the wish one of the job's that has as much of each resource; None: there is none for one of them."""
    left, taken = list(chunks), []
    for part in str(wish).split("+"):
        count, _, rest = part.partition(":") if part[:1].isdigit() else ("1", ":", part)
        needs = dict(item.split("=", 1) for item in rest.split(":") if item)
        for _ in range(int(count)):
            found = next((chunk for chunk in left if _has(chunk, needs)), None)
            if found is None:
                return None
            left.remove(found)
            taken.append(found)
    return [chunk for chunk in chunks if chunk in taken]


def _has(chunk: list[vchunk], needs: dict[str, str]) -> bool:
    """Numbers and sizes are summed over the vnodes of the chunk; a resource that a chunk does not carry (host, arch, ...) was met when the job was placed."""
    for name, text in needs.items():
        values = [v.chunk_resources[name] for v in chunk if name in v.chunk_resources]
        if not values:
            continue
        need = convert(name, text)
        try:
            if sum(values[1:], values[0]) < need:
                return False
        except TypeError as e:
            raise BadAttributeValueError(f"resource {name} of a chunk: {e}") from e
    return True
