"""The module `pbs`, which hook scripts import.

pbs.event() is the event that the hook runs for, pbs.server() the server; the types are those of values of attributes and resources, and
constants are the numbers of PBS. doc/hooks.md tells how to write a hook, man 1 pbs_python how to try one without a complex.
"""
from typing import Any

from . import constants as _constants
from .attributes import job_state, queue_type, resv_state, server_state, vnode_ntype, vnode_sharing, vnode_state
from .chunks import place, select
from .errors import (BadAttributeValueError, BadAttributeValueTypeError, BadResourceValueError, BadResourceValueTypeError,
                     EventIncompatibleError, UnsetAttributeNameError, UnsetResourceNameError)
from .events import _event, event, management, server_attribute
from .functions import (get_hook_config_file, get_local_nodename, get_pbs_conf, get_pbs_server_name, get_python_daemon_name, logjobmsg,
                        logmsg, reboot)
from .lists import (acl, arst_list, email_list, group_list, node_group_key, path_list, pbs_env, pbs_list, route_destinations, staging_list,
                    user_list)
from .objects import _server, job, queue, resv, server, vnode
from .resources import pbs_resource
from .scalars import duration, pbs_bool, pbs_float, pbs_int, pbs_str, priority, size
from .where import exec_host, exec_vnode, vchunk
from .words import (args, checkpoint, depend, hold_types, job_sort_formula, join_path, keep_files, license_count, mail_points, name, path,
                    project, range, remove_files, sandbox, software, state_count, tolerate_node_failures, version)

globals().update(_constants.NAMED)
globals().update(_constants.REVERSE)


def __getattr__(name: str) -> Any:
    """Names whose value depends on the hook that runs, and constants as type checkers see them."""
    if name == "hook_config_filename":
        return get_hook_config_file()
    if name == "pbs_conf":
        return get_pbs_conf()
    raise AttributeError(f"module 'pbs' has no attribute '{name}'")


__all__ = [
    "BadAttributeValueError", "BadAttributeValueTypeError", "BadResourceValueError", "BadResourceValueTypeError",
    "EventIncompatibleError", "UnsetAttributeNameError", "UnsetResourceNameError",
    "acl", "args", "arst_list", "checkpoint", "depend", "duration", "email_list", "event", "exec_host", "exec_vnode",
    "get_hook_config_file", "get_local_nodename", "get_pbs_conf", "get_pbs_server_name", "get_python_daemon_name", "group_list",
    "hold_types", "hook_config_filename", "job", "job_sort_formula", "job_state", "join_path", "keep_files", "license_count",
    "logjobmsg", "logmsg", "mail_points", "management", "name", "node_group_key", "path", "path_list", "pbs_bool", "pbs_conf", "pbs_env",
    "pbs_float", "pbs_int", "pbs_list", "pbs_resource", "pbs_str", "place", "priority", "project", "queue", "queue_type", "range",
    "reboot", "remove_files", "resv", "resv_state", "route_destinations", "sandbox", "select", "server", "server_attribute",
    "server_state", "size", "software", "staging_list", "state_count", "tolerate_node_failures", "user_list", "vchunk", "version", "vnode",
    "vnode_ntype", "vnode_sharing", "vnode_state",
    *_constants.NAMED, *_constants.REVERSE,
]
