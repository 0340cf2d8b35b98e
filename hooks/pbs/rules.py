"""Which event has which members, and what a hook may set in it. Pure tables; `events` and `objects` ask them.

The daemon checks each change again: these rules exist so that a script hears of a mistake where it makes it.
"""
from __future__ import annotations

from .errors import BadAttributeValueError
from .resources import writable
from .tables import ATTRIBUTES

_COMMON = ("type", "hook_name", "hook_type", "requestor", "requestor_host")
_JOB = ("job", "vnode_list")

# Members of an event beside those that all have.
MEMBERS: dict[str, tuple[str, ...]] = {
    "queuejob": ("job",), "postqueuejob": ("job",), "modifyjob": ("job", "job_o"), "movejob": ("job", "src_queue"),
    "runjob": ("job",), "jobobit": ("job",),
    "resvsub": ("resv",), "resv_confirm": ("resv",), "resv_begin": ("resv",), "resv_end": ("resv",), "modifyresv": ("resv", "resv_o"),
    "management": ("management",), "modifyvnode": ("vnode", "vnode_o"),
    "periodic": ("vnode_list", "resv_list", "freq"), "provision": ("vnode", "aoe"),
    "execjob_begin": _JOB, "execjob_epilogue": _JOB, "execjob_end": _JOB, "execjob_abort": _JOB, "execjob_preterm": _JOB,
    "execjob_postsuspend": _JOB, "execjob_preresume": _JOB, "execjob_resize": _JOB,
    "execjob_prologue": _JOB + ("vnode_list_fail",),
    "execjob_launch": _JOB + ("vnode_list_fail", "progname", "argv", "env"), "execjob_attach": _JOB + ("pid",),
    "preempt": ("job", "victims"),
    "exechost_startup": ("vnode_list",), "exechost_periodic": ("vnode_list", "job_list", "freq"),
}

# Members that a script may assign.
ASSIGNABLE = ("progname", "argv", "env", "victims")

RUNJOB = ("Hold_Types", "Execution_Time", "project", "Error_Path", "Output_Path", "Resource_List", "Variable_List", "depend",
          "create_resv_from_job")

_SERVER_JOB = ("queuejob", "postqueuejob", "modifyjob")
_SERVER_RESV = ("resvsub", "modifyresv")
_NOTHING = ("execjob_attach", "execjob_resize")
_ONLY_LOOKED_AT = ("jobobit", "resv_begin", "resv_end", "resv_confirm", "management", "modifyvnode", "provision", "preempt")
_HOST_SAYS = 0x1000 | 0x2  # enum attr_flag: AF_HOST, AF_SERVER

# Events whose changes count also when the hook rejects.
CHANGES_ON_REJECT = ("runjob",) + tuple(name for name in MEMBERS if name.startswith("exec"))


def members(event: str) -> tuple[str, ...]:
    """All members of an event."""
    return _COMMON + MEMBERS[event]


def check(event: str, kind: str, attr: str, resource: str | None) -> None:
    """Raise AssertionError or BadAttributeValueError unless the event may set the attribute of its own objects.

    kind   job, resv or vnode
    """
    if event in _NOTHING:
        raise AssertionError(f"nothing is settable inside an {event} hook!")
    if event in _ONLY_LOOKED_AT:
        raise BadAttributeValueError(f"attribute '{attr}' is part of a readonly object")
    if event in _SERVER_JOB:
        _need(kind == "job", f"Can only set job,resource attributes under {event} event.")
        _writable(kind, attr, resource, ("queue",) if event != "modifyjob" else (), "array_indices_submitted")
    elif event in _SERVER_RESV:
        _need(kind == "resv", f"Can only set resv,resource attributes under {event} event.")
        _writable(kind, attr, resource, (), "")
    elif event == "movejob":
        _need((kind, attr) == ("job", "queue"), f"Can only set job's 'queue' attribute under MOVEJOB event - got {attr}")
    elif event == "runjob":
        _need(attr in RUNJOB if kind == "job" else (kind, attr) == ("vnode", "state"),
              f"Can only set job's ({','.join(RUNJOB)}) attribute, or a vnode's (state) attribute under RUNJOB event - got {attr}")
        _resource(resource, attr)
    elif event == "periodic":
        _need(kind == "vnode", "Can only set node,resource attributes under periodic event.")
        _host(kind, attr, resource)
    elif event.startswith("exechost") and kind == "job":
        _need(event == "exechost_periodic", f"Can only set node,resource attributes under {event} event.")
        _host(kind, attr, resource)
    else:
        _host(kind, attr, resource)


def _need(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)


def _resource(resource: str | None, attr: str) -> None:
    if resource is not None and attr == "Resource_List" and not writable(resource):
        raise BadAttributeValueError(f"resource attribute '{resource}' is readonly")


def _writable(kind: str, attr: str, resource: str | None, also: tuple[str, ...], submitted: str) -> None:
    """Writable by a manager, as the table of attributes has it."""
    level = ATTRIBUTES[kind][attr][1]
    if level not in ("user", "operator", "manager") and attr not in also and attr != submitted:
        raise BadAttributeValueError(f"{kind} attribute '{attr}' is readonly")
    _resource(resource, attr)


def _host(kind: str, attr: str, resource: str | None) -> None:
    """What hooks of hosts may set: what a manager may, and what a host says of its vnodes and jobs."""
    _, level, flags = ATTRIBUTES["node" if kind == "vnode" else kind][attr]
    told = kind == "vnode" and flags & _HOST_SAYS or attr == "resources_used"
    if level not in ("user", "operator", "manager") and not told:
        raise BadAttributeValueError(f"{kind} attribute '{attr}' is readonly")
    _resource(resource, attr)
