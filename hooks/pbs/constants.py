"""Numbers with names: events, states, commands, operators, log levels, and the dictionaries that lead back to names.

A constant that is a row of a table of the server comes from `tables`; the others are numbers that scripts of PBS know.
"""
from .tables import API, JOB_STATES, JOB_SUBSTATES, NODE_STATES, RESV_STATES

# Event bits by name, in the order in which qmgr lists events.
EVENTS: dict[str, int] = {
    "queuejob": 0x1, "postqueuejob": 0x8000000, "modifyjob": 0x2, "resvsub": 0x4, "modifyresv": 0x4000000, "movejob": 0x8,
    "runjob": 0x10, "jobobit": 0x800000, "management": 0x200000, "modifyvnode": 0x400000, "periodic": 0x8000,
    "provision": 0x20, "resv_confirm": 0x2000000, "resv_begin": 0x1000000, "resv_end": 0x10000,
    "execjob_begin": 0x40, "execjob_prologue": 0x80, "execjob_epilogue": 0x100, "execjob_end": 0x200,
    "execjob_preterm": 0x400, "execjob_launch": 0x800, "execjob_attach": 0x4000, "execjob_resize": 0x20000,
    "execjob_abort": 0x40000, "execjob_postsuspend": 0x80000, "execjob_preresume": 0x100000,
    "exechost_periodic": 0x1000, "exechost_startup": 0x2000,
    "preempt": 0x40000000,  # ours
}
EVENT_NAMES: dict[int, str] = {bit: name for name, bit in EVENTS.items()}
MOM_EVENTS: int = sum(bit for name, bit in EVENTS.items() if name.startswith("exec"))

LOG_EVENTS: dict[str, int] = {
    "ERROR": 0x1, "SYSTEM": 0x2, "ADMIN": 0x4, "JOB": 0x8, "JOB_USAGE": 0x10, "SECURITY": 0x20, "SCHED": 0x40, "DEBUG": 0x80,
    "DEBUG2": 0x100, "RESV": 0x200, "DEBUG3": 0x400, "DEBUG4": 0x800, "FORCE": 0x8000,
}

# Levels of logmsg(); none of them is the bit of an event, so that one argument can be either.
LOG_LEVELS: dict[str, int] = {"LOG_DEBUG": 5, "LOG_WARNING": 6, "LOG_ERROR": 7}

# A job's state while it is suspended; qstat shows S and U for R.
SUSPENDED: dict[str, int] = {"SUSPEND": 400, "SUSPEND_USERACTIVE": 410}

SERVER_STATES: dict[str, int] = {
    "DOWN": 0, "INIT": 1, "HOT": 2, "ACTIVE": 3, "IDLE": 4, "SHUTDEL": 5, "SHUTIMM": 6, "SHUTSIG": 7, "SCHEDULING": 8,
}
SERVER_WORDS: dict[str, int] = {
    "Hot_Start": 2, "Active": 3, "Idle": 4, "Terminating_Delayed": 5, "Terminating": 6, "Scheduling": 8,
}

QUEUE_TYPES: dict[str, int] = {"EXECUTION": 1, "ROUTE": 2}

# Names scripts know for bits that the table of vnode states names otherwise, and bits that no vnode of ours ever has.
_NODE_NAMES: dict[str, str] = {
    "JOBBUSY": "JOB_BUSY", "PROV": "PROVISIONING", "WAIT_PROV": "WAIT_PROVISIONING", "INIT": "INITIALIZING",
}
NODE_BITS: dict[str, int] = {
    "FREE": 0, "OFFLINE": 0, "DOWN": 0, "DELETED": 0, "UNRESOLVABLE": 0, "JOBBUSY": 0, "STALE": 0, "JOB_EXCLUSIVE": 0, "BUSY": 0,
    "UNKNOWN": 0, "NEEDS_HELLOSVR": 0x200, "INIT": 0, "PROV": 0, "WAIT_PROV": 0, "RESV_EXCLUSIVE": 0, "OFFLINE_BY_MOM": 0,
    "MARKEDDOWN": 0x8000, "NEED_ADDRS": 0x10000, "MAINTENANCE": 0, "SLEEP": 0, "NEED_CREDENTIALS": 0x80000,
}
NODE_BITS.update({name: NODE_STATES[_NODE_NAMES.get(name, name)]
                  for name, bit in NODE_BITS.items() if bit == 0 and name != "FREE"})
_UNAVAILABLE = ("OFFLINE", "DOWN", "DELETED", "UNRESOLVABLE", "STALE", "UNKNOWN", "OFFLINE_BY_MOM", "MAINTENANCE", "SLEEP")
NODE_BITS["VNODE_UNAVAILABLE"] = sum(NODE_BITS[name] for name in _UNAVAILABLE)

# Words of the attribute `sharing`, and their constants.
SHARING: dict[str, int] = {
    "ignore_excl": 1, "default_shared": 0, "default_excl": 2, "force_excl": 3, "default_exclhost": 4, "force_exclhost": 5,
}

REPLY_CHOICES: dict[str, int] = {
    "NULL": 1, "Queue": 2, "RdytoCom": 3, "Commit": 4, "Select": 5, "Status": 6, "Text": 7, "Locate": 8, "RescQuery": 9,
    "PreemptJobs": 10,
}


def _named() -> dict[str, int]:
    """Every constant under the name by which scripts know it."""
    names: dict[str, int] = dict(API)
    for event, bit in EVENTS.items():
        names[event.upper()] = bit
        names["HOOK_EVENT_" + event.upper()] = bit
    names["MOM_EVENTS"] = names["HOOK_EVENT_MOM_EVENTS"] = MOM_EVENTS
    names.update({"EVENT_" + name: bit for name, bit in LOG_EVENTS.items()})
    names.update(LOG_LEVELS)
    names.update({"JOB_STATE_" + name: n for name, n in {**JOB_STATES, **SUSPENDED}.items()})
    names.update({"JOB_SUBSTATE_" + name: n for name, n in JOB_SUBSTATES.items()})
    names.update({"RESV_STATE_" + name: n for name, n in RESV_STATES.items()})
    names.update({"SV_STATE_" + name: n for name, n in SERVER_STATES.items()})
    names.update({"QTYPE_" + name: n for name, n in QUEUE_TYPES.items()})
    names.update({"ND_STATE_" + name: bit for name, bit in NODE_BITS.items()})
    names.update({"ND_" + name: bit for name, bit in NODE_BITS.items()})
    names["ND_PBS"] = 0
    names.update({"ND_" + word.upper(): n for word, n in SHARING.items()})
    names.update({"BRP_CHOICE_" + name: n for name, n in REPLY_CHOICES.items()})
    return names


NAMED: dict[str, int] = _named()


def _reverse(prefix: str) -> dict[int, str]:
    """Value to name, of all constants with the prefix; the first of two names for one value counts."""
    back: dict[int, str] = {}
    for name, value in NAMED.items():
        if name.startswith(prefix):
            back.setdefault(value, name)
    return back


REVERSE: dict[str, dict[int, str]] = {
    "REVERSE_MGR_CMDS": _reverse("MGR_CMD_"),
    "REVERSE_MGR_OBJS": _reverse("MGR_OBJ_"),
    "REVERSE_BRP_CHOICES": _reverse("BRP_CHOICE_"),
    "REVERSE_BATCH_OPS": _reverse("BATCH_OP_"),
    "REVERSE_ATR_VFLAGS": _reverse("ATR_VFLAG_"),
    "REVERSE_NODE_STATE": _reverse("ND_STATE_"),
    "REVERSE_JOB_STATE": _reverse("JOB_STATE_"),
    "REVERSE_JOB_SUBSTATE": _reverse("JOB_SUBSTATE_"),
    "REVERSE_RESV_STATE": _reverse("RESV_STATE_"),
    "REVERSE_HOOK_EVENT": _reverse("HOOK_EVENT_"),
}
