"""pbs.event(): the event that the hook runs for."""
from __future__ import annotations

from typing import Any, Iterator, NoReturn, Optional

from . import rules
from .constants import EVENTS, NAMED, REVERSE
from .errors import BadAttributeValueError, EventIncompatibleError, UnsetAttributeNameError
from .guard import guard
from .objects import _lazy, _tracked_env, job, resv, vnode
from .run import Run, current


class _objects(dict[str, Any]):
    """Objects of an event by name. One that a script adds, vnode_list[NAME] = pbs.vnode(NAME), becomes one of the event."""

    def __init__(self, run: Run, kind: str, found: list[dict[str, Any]], settable: bool) -> None:
        super().__init__()
        self._run, self._kind, self._settable = run, kind, settable
        for item in found:
            super().__setitem__(item["name"], _own(run, kind, item, settable))

    def __setitem__(self, name: str, value: Any) -> None:
        if not self._settable or self._kind != "vnode" or not isinstance(value, vnode):
            raise BadAttributeValueError(f"'{name}' cannot be put into this list")
        if value is not self.get(name):
            value._adopt(guard(self._run, "vnode", name))
        super().__setitem__(name, value)


def _own(run: Run, kind: str, item: Optional[dict[str, Any]], settable: bool) -> Any:
    """An object of the event."""
    if item is None:
        return None
    name = item.get("name")
    told = None if kind != "vnode" or run.event in ("modifyvnode",) else name
    made = {"job": job, "resv": resv, "vnode": vnode}[kind]
    return made(name, dict(item.get("attrs") or {}), guard(run, kind, told if kind == "vnode" else _job_name(run, kind, name)) if settable else None)


def _job_name(run: Run, kind: str, name: Optional[str]) -> Optional[str]:
    """The event's own job needs no name in a change; one of job_list does."""
    return name if kind == "job" and run.event == "exechost_periodic" else None


class server_attribute:
    """One attribute of a management request."""

    def __init__(self, name: str, resource: Optional[str], value: Optional[str], op: int, flags: int, sisters: Any = None) -> None:
        self.name, self.resource, self.value, self.op, self.flags = name, resource, value, op, flags
        self.sisters = sisters or []

    def extract_flags_int(self) -> list[int]:
        """Values of the constants ATR_VFLAG_* that are in flags."""
        return [bit for bit in REVERSE["REVERSE_ATR_VFLAGS"] if self.flags & bit]

    def extract_flags_str(self) -> list[str]:
        """Their names."""
        return [REVERSE["REVERSE_ATR_VFLAGS"][bit] for bit in self.extract_flags_int()]

    def __str__(self) -> str:
        return f"{self.name}={self.value}" if not self.resource else f"{self.name}.{self.resource}={self.value}"

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__:
            raise BadAttributeValueError(f"attribute '{name}' is part of a readonly object")
        super().__setattr__(name, value)


class management:
    """A request of qmgr's kind, and what was answered."""

    def __init__(self, said: dict[str, Any]) -> None:
        self.cmd: int = said.get("cmd", NAMED["MGR_CMD_NONE"])
        self.objtype: int = said.get("objtype", NAMED["MGR_OBJ_NONE"])
        self.objname: str = said.get("objname") or ""
        self.request_time: int = said.get("request_time", 0)
        self.reply_code: int = said.get("reply_code", 0)
        self.reply_auxcode: int = said.get("reply_auxcode", 0)
        self.reply_choice: int = said.get("reply_choice", NAMED["BRP_CHOICE_NULL"])
        self.reply_text: Optional[str] = said.get("reply_text")
        self.attribs: list[server_attribute] = [
            server_attribute(a["name"], a.get("resource"), a.get("value"), a.get("op", 0), a.get("flags", 0))
            for a in said.get("attribs") or []]

    def __str__(self) -> str:
        return ":".join([REVERSE["REVERSE_MGR_CMDS"].get(self.cmd, str(self.cmd)),
                         REVERSE["REVERSE_MGR_OBJS"].get(self.objtype, str(self.objtype)), self.objname])

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__:
            raise BadAttributeValueError(f"attribute '{name}' is part of a readonly object")
        super().__setattr__(name, value)


class victim:
    """A job that gives way in a plan. job: the job, read-only. methods: letters of S, C, R, D in the order in which they are tried; "": all of the policy."""

    def __init__(self, job_: job, methods: str) -> None:
        self.__dict__.update(job=job_, methods=methods)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "methods":
            raise BadAttributeValueError(f"attribute '{name}' of a victim is readonly")
        if not isinstance(value, str) or set(value) - set("SCRD") or len(set(value)) != len(value):
            raise BadAttributeValueError(f"methods of a victim are letters of SCRD, each once, not {value!r}")
        self.__dict__["methods"] = value


class _event:
    """Its members are those of `rules.MEMBERS`; objects are made when they are read first."""

    def __init__(self, run: Run) -> None:
        self.__dict__["_run"] = run
        self.__dict__["_made"] = {}

    def accept(self, ecode: int = 0) -> NoReturn:
        """The request is accepted; the script ends here."""
        self._decide("accept", None, ecode)

    def reject(self, msg: Optional[str] = None, ecode: int = 255) -> NoReturn:
        """The request is rejected, with a message for its client; the script ends here."""
        self._decide("reject", None if msg is None else str(msg), ecode)

    def _decide(self, result: str, message: Optional[str], ecode: int) -> NoReturn:
        run = self._run
        run.result, run.message, run.ecode, run.decided = result, message, int(ecode), True
        raise SystemExit(run.ecode)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in rules.members(self._run.event):
            raise EventIncompatibleError(f'"{name}" not found in self._param')
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Any:
        run = self._run
        if name == "type":
            return EVENTS[run.event]  # the same object as the constant: scripts compare by `is` too
        if name in ("hook_name", "hook_type", "requestor", "requestor_host", "freq"):
            return getattr(run, name)
        said = run.data.get(name)
        if name in ("job", "resv"):
            return _own(run, name, said, True)
        if name in ("job_o", "resv_o", "vnode_o"):
            return _own(run, name[:-2], said, False)
        if name == "vnode":
            return _own(run, "vnode", said, False) if isinstance(said, dict) else said
        if name == "src_queue":
            return _lazy("queue", said) if said else None
        if name == "management":
            return management(said or {})
        if name in ("vnode_list", "vnode_list_fail", "job_list", "resv_list"):
            kind = name.partition("_")[0]
            return _objects(run, kind, said or [], name in ("vnode_list", "job_list"))
        if name == "victims":
            return tuple(victim(_own(run, "job", item, False), item.get("methods") or "") for item in said or [])
        if name == "argv":
            return list(said or [])
        if name == "env":
            return _tracked_env(dict(said or {}), None)
        return said

    def __setattr__(self, name: str, value: Any) -> None:
        run = self._run
        if name not in rules.members(run.event):
            raise UnsetAttributeNameError(f"event attribute '{name}' not found")
        if name not in rules.ASSIGNABLE:
            raise BadAttributeValueError(f"event attribute '{name}' is readonly")
        if run.decided:
            raise AssertionError(f"Not permitted to modify attributes (name={name},res=): "
                                 "an event.accept() or event.reject() already called.")
        if name == "victims":
            self._set_victims(value)
            return
        self._made[name] = (_tracked_env(value, None) if name == "env" else [str(a) for a in value] if name == "argv"
                            else None if value is None else str(value))

    def _set_victims(self, value: Any) -> None:
        known = set(map(id, self._all_victims()))
        value = tuple(value)
        if not all(isinstance(v, victim) and id(v) in known for v in value) or len(set(map(id, value))) != len(value):
            raise BadAttributeValueError("victims can be left out and put in another order; they are those of the event, each once")
        self._made["victims"] = value

    def _all_victims(self) -> tuple[victim, ...]:
        """Those that the event came with, also after a script has left some out."""
        if "all victims" not in self._made:
            self._made["all victims"] = self.victims
        made: tuple[victim, ...] = self._made["all victims"]
        return made

    def _plan_changes(self) -> Iterator[str]:
        """The plan that a script has made of it, if it is another one."""
        before = [f"{item['name']}={item.get('methods') or ''}" for item in self._run.data.get("victims") or []]
        now = [f"{v.job.id}={v.methods}" for v in self.victims]
        if now != before:
            yield " ".join(now)

    def _launch_changes(self) -> Iterator[tuple[str, Any]]:
        """What a launch hook has made of program, arguments and environment, in place or by assignment."""
        for name in ("progname", "argv", "env"):
            if name in self._made:
                now = dict(self._made[name]) if name == "env" else self._made[name]
                before = self._run.data.get(name)
                if now != (before or ({} if name == "env" else [] if name == "argv" else None)):
                    yield name, now


def event() -> _event:
    """The event of the hook that runs."""
    run = current()
    if run.event_object is None:
        run.event_object = _event(run)
    made: _event = run.event_object
    return made
