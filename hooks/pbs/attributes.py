"""The Python type of each attribute: by its name where PBS has a type for it, else by its type in the table of attributes."""
from __future__ import annotations

from typing import Any, Callable

from .chunks import select
from .constants import QUEUE_TYPES, SERVER_WORDS, SHARING
from .errors import BadAttributeValueError, BadAttributeValueTypeError, UnsetAttributeNameError
from .lists import (acl, email_list, group_list, node_group_key, path_list, pbs_env, pbs_list, route_destinations, staging_list,
                    user_list)
from .scalars import duration, pbs_bool, pbs_float, pbs_int, pbs_str, priority, size
from .tables import ATTRIBUTES, JOB_LETTERS, NODE_WORDS, RESV_LETTERS
from .where import exec_host, exec_vnode
from .words import (args, checkpoint, depend, hold_types, job_sort_formula, join_path, keep_files, license_count, mail_points, name, path,
                    project, range, remove_files, sandbox, state_count, tolerate_node_failures, version)


class _State(int):
    """A number that stands for words; `_numbers` has those that there are."""

    _numbers: dict[str, int] = {}

    def __new__(cls, value: Any = 0) -> Any:
        if isinstance(value, str) and not value.lstrip("-").isdigit():
            number = {word.lower(): n for word, n in cls._numbers.items()}.get(value.strip().lower())
            if number is None:
                raise BadAttributeValueError(f"invalid {cls.__name__} value '{value}'")
            return super().__new__(cls, number)
        return super().__new__(cls, value)


class job_state(_State):
    """A job's state, pbs.JOB_STATE_*; from the number or the letter."""

    _numbers = {**JOB_LETTERS, "S": 400, "U": 410}


class resv_state(_State):
    """A reservation's state, pbs.RESV_STATE_*; from the number or RESV_ and the name."""

    _numbers = dict(RESV_LETTERS)


class server_state(_State):
    """The server's state, pbs.SV_STATE_*."""

    _numbers = SERVER_WORDS


class queue_type(_State):
    """A queue's type, pbs.QTYPE_*."""

    _numbers = {"Execution": QUEUE_TYPES["EXECUTION"], "Route": QUEUE_TYPES["ROUTE"], "E": 1, "R": 2}


class vnode_sharing(_State):
    """How jobs share a vnode: pbs.ND_DEFAULT_SHARED, ..."""

    _numbers = SHARING

    def __str__(self) -> str:
        return {n: word for word, n in SHARING.items()}.get(int(self), int.__repr__(self))


class vnode_ntype(_State):
    """A vnode's type: pbs.ND_PBS."""

    _numbers = {"PBS": 0}

    def __str__(self) -> str:
        return "PBS"


class vnode_state(int):
    """Bits of a vnode's state, pbs.ND_*; from the number or words with commas. Prints the words."""

    def __new__(cls, value: Any = 0) -> vnode_state:
        if isinstance(value, str) and not value.strip().isdigit():
            bits = 0
            for word in value.split(","):
                if word.strip() not in NODE_WORDS and word.strip() != "free":
                    raise BadAttributeValueError(f"invalid vnode_state value '{value}'")
                bits |= NODE_WORDS.get(word.strip(), 0)
            return super().__new__(cls, bits)
        return super().__new__(cls, value)

    def __str__(self) -> str:
        return ",".join(word for word, bit in NODE_WORDS.items() if self & bit) or "free"


_OF_NAME: dict[str, Callable[[Any], Any]] = {
    "Hold_Types": hold_types, "Checkpoint": checkpoint, "depend": depend, "Error_Path": path, "Output_Path": path,
    "exec_host": exec_host, "exec_vnode": exec_vnode, "group_list": group_list, "User_List": user_list, "Join_Path": join_path,
    "Keep_Files": keep_files, "Remove_Files": remove_files, "Mail_Points": mail_points, "Mail_Users": email_list, "Job_Name": name,
    "Reserve_Name": name, "Priority": priority, "stagein": staging_list, "stageout": staging_list, "Variable_List": pbs_env,
    "project": project, "sandbox": sandbox, "Shell_Path_List": path_list, "schedselect": select, "argument_list": args,
    "array_indices_submitted": range, "array_indices_remaining": range, "tolerate_node_failures": tolerate_node_failures,
    "Authorized_Users": acl, "Authorized_Groups": acl, "Authorized_Hosts": acl, "resv_nodes": exec_vnode,
    "state_count": state_count, "job_sort_formula": job_sort_formula, "license_count": license_count, "pbs_version": version,
    "route_destinations": route_destinations, "node_group_key": node_group_key, "queue_type": queue_type,
    "server_state": server_state, "reserve_state": resv_state, "reserve_substate": resv_state, "job_state": job_state,
    "sharing": vnode_sharing, "ntype": vnode_ntype, "eligible_time": duration, "reserve_duration": duration,
}
_OF_TYPE: dict[str, Callable[[Any], Any]] = {
    "LONG": pbs_int, "LONG64": pbs_int, "BOOLEAN": pbs_bool, "FLOAT": pbs_float, "SIZE": size, "DURATION": duration,
    "STRING_ARRAY": pbs_list, "ACL": acl, "NODE_STATE": vnode_state,
}
_KINDS = {"vnode": "node"}


def kind_of(kind: str, attr: str) -> str:
    """The type of a row: of a job, resv, queue, server, vnode. UnsetAttributeNameError: there is no such attribute."""
    rows = ATTRIBUTES[_KINDS.get(kind, kind)]
    if attr not in rows:
        raise UnsetAttributeNameError(f"{kind} attribute '{attr}' not found")
    return rows[attr][0]


def attributes_of(kind: str) -> list[str]:
    """Names of all attributes of a kind."""
    return list(ATTRIBUTES[_KINDS.get(kind, kind)])


def holds_resources(kind: str, attr: str) -> bool:
    """Is its value a dictionary of resources?"""
    return kind_of(kind, attr) in ("RESOURCES", "RESOURCE_LIMITS")


def convert(kind: str, attr: str, value: Any) -> Any:
    """The value as the attribute's Python type. BadAttributeValueError, BadAttributeValueTypeError."""
    make = _OF_NAME.get(attr) or _OF_TYPE.get(kind_of(kind, attr), pbs_str)
    if isinstance(value, bool) and make not in (pbs_bool, pbs_int, pbs_str):
        raise BadAttributeValueTypeError(f"{kind} attribute '{attr}' cannot be of type bool")
    if isinstance(value, (dict, bytes)) or (isinstance(value, (list, tuple, set)) and not _takes_items(make)):
        raise BadAttributeValueTypeError(f"{kind} attribute '{attr}' cannot be of type {type(value).__name__}")
    if make is pbs_int and attr == "umask" and isinstance(value, str):
        return pbs_str(value)
    try:
        return make(value)
    except (BadAttributeValueError, BadAttributeValueTypeError):
        raise
    except TypeError as e:
        raise BadAttributeValueTypeError(f"{kind} attribute '{attr}': {e}") from e
    except ValueError as e:
        raise BadAttributeValueError(f"{kind} attribute '{attr}': {e}") from e


def _takes_items(make: Callable[[Any], Any]) -> bool:
    return isinstance(make, type) and issubclass(make, pbs_list)
