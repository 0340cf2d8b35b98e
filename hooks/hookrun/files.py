"""The text form of events and objects: files of pbs_python --hook, and what a hook with debug leaves.

A line is OBJECT.ATTRIBUTE=VALUE or OBJECT.ATTRIBUTE[RESOURCE]=VALUE. OBJECT: pbs.event(), pbs.event().job, pbs.event().vnode_list[NAME],
pbs.server(), pbs.server().queue(NAME) ... Names in brackets may be in quotes. A value of several lines is between triple double quotes, in which
backslashes before a quote or at the end, and the quote, have one more backslash each. In the name of an environment's variable \\xNN is a character. What a
user has written can so never look like a line of its own. Empty lines and lines that begin with # count nothing. `data` has the form of
doc/internals/hook-protocol.md, section 5.
"""
from __future__ import annotations

import re
from typing import Any, Iterator, Optional

from pbs.lists import split_variables
from pbs.run import Attrs, Run

_LISTS = ("vnode_list", "vnode_list_fail", "job_list", "resv_list")
_OBJECTS = ("job", "job_o", "resv", "resv_o", "vnode_o")
_EVENT = re.compile(r"pbs\.event\(\)\.(\w+)(?:\[([^\]]*)\])?(?:\.(\w+)(?:\[([^\]]*)\])?(?:\.(\w+))?)?")
_SERVER = re.compile(r"pbs\.server\(\)(?:\.(queue|job|vnode|resv)\(([^)]*)\))?\.(\w+)(?:\[([^\]]*)\])?")
_KEY = re.compile(r"\s*((?:\[[^\]]*\]|\([^)]*\)|[^=\[(])+?)\s*=\s*(.*)", re.S)


_END = re.compile(r'(?<!\\)((?:\\\\)*)"""\s*\Z')  # of a value of several lines: behind an even number of backslashes
_HIDDEN = re.compile(r"[\\\"'\[\]()=\x00-\x20\x7f]")  # in names of variables


class BadFile(ValueError):
    """A line that cannot be read; its text names the line."""


def lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Number, key and value of each line."""
    rows = text.split("\n")
    number = 0
    while number < len(rows):
        start, row = number, rows[number]
        number += 1
        if not row.strip() or row.lstrip().startswith("#"):
            continue
        m = _KEY.fullmatch(row)
        if not m:
            raise BadFile(f"line {start + 1}: no KEY=VALUE: {row}")
        value = m.group(2)
        if value.startswith('"""'):
            parts = [value[3:]]
            while not _END.search(parts[-1]):
                if number == len(rows):
                    raise BadFile(f'line {start + 1}: the value has no """ at its end')
                parts.append(rows[number])
                number += 1
            value = re.sub(r'(\\+)("|\Z)', lambda m: m[1][:len(m[1]) // 2] + m[2], _END.sub(r"\1", "\n".join(parts)))
        yield start + 1, m.group(1).strip(), value


def _bare(name: Optional[str]) -> Optional[str]:
    return None if name is None else name.strip().strip("\"'")


def _put(attrs: Attrs, attr: str, resource: Optional[str], value: str) -> None:
    if resource is None:
        attrs[attr] = value
    else:
        held = attrs.setdefault(attr, {} if attr != "Variable_List" else "")
        if isinstance(held, dict):
            held[resource] = value
        else:
            attrs[attr] = ",".join(filter(None, [held, f"{resource}={value}"]))


def _member(data: dict[str, Any], name: str, key: Optional[str], attr: Optional[str], resource: Optional[str], last: Optional[str],
            value: str) -> bool:
    """Put one line of an event into data. False: it is not a member of this form."""
    if name in _LISTS and key is not None:
        found = next((o for o in data.setdefault(name, []) if o["name"] == key), None)
        if found is None:
            found = {"name": key, "attrs": {}}
            data[name].append(found)
        if attr is not None:
            _put(found["attrs"], attr, resource, value)
        return True
    if name in _OBJECTS or (name == "vnode" and attr is not None):
        made = data.setdefault(name, {"name": None, "attrs": {}})
        if attr in ("id", "resvid") or (attr == "name" and name.startswith("vnode")):
            made["name"] = value
        elif attr in ("in_ms_mom", "checkpointed", "stdout_file", "stderr_file", "failed_mom_list", "succeeded_mom_list"):
            said: Any = value.split(",") if attr.endswith("list") else value if attr.endswith("file") else value.lower() == "true"
            data.setdefault("host_says", {})[attr] = said
        elif attr is not None:
            _put(made["attrs"], attr, resource, value)
        return attr is not None
    if name == "argv":
        data.setdefault("argv", []).append(value)
    elif name == "env":
        data.setdefault("env", {}).update({_show(key): value} if key else dict(split_variables(value)))
    elif name == "management" and attr == "attribs" and resource is not None and last is not None:
        rows = data.setdefault("management", {}).setdefault("attribs", [])
        while len(rows) <= int(resource):
            rows.append({"name": "", "resource": None, "value": None, "op": 0, "flags": 0})
        rows[int(resource)][last] = int(value) if last in ("op", "flags") else value
    elif name == "management" and attr is not None:
        data.setdefault("management", {})[attr] = value if attr in ("objname", "reply_text") else int(value)
    elif attr is None and key is None:
        data[name] = int(value) if name in ("pid",) else value
    else:
        return False
    return True


def read_event(text: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The settings of a run (type, hook_name, requestor, ..., local_node) and the data of its event. BadFile."""
    settings: dict[str, str] = {}
    data: dict[str, Any] = {}
    for number, key, value in lines(text):
        m = _EVENT.fullmatch(key)
        if key == "pbs.get_local_nodename()":
            settings["local_node"] = value
        elif key == "pbs.hook_config_filename":
            settings["config"] = value
        elif m and m.group(1) in ("type", "hook_name", "hook_type", "requestor", "requestor_host", "freq", "alarm", "user", "debug",
                                  "order", "enabled", "fail_action") and not m.group(3):
            settings[m.group(1)] = value
        elif not m or not _member(data, m.group(1), _bare(m.group(2)), m.group(3), _bare(m.group(4)), m.group(5), value):
            raise BadFile(f"line {number}: what is {key}?")
    return settings, data


class Objects:
    """Objects of the server that a data file lists; a pbs.run.Source."""

    def __init__(self, text: str = "") -> None:
        self._of: dict[str, dict[Optional[str], Attrs]] = {"server": {None: {}}, "queue": {}, "job": {}, "vnode": {}, "resv": {}}
        for number, key, value in lines(text):
            m = _SERVER.fullmatch(key)
            if not m:
                raise BadFile(f"line {number}: what is {key}?")
            attrs = self._of[m.group(1) or "server"].setdefault(_bare(m.group(2)), {})
            if m.group(3) not in ("name", "id", "resvid"):
                _put(attrs, m.group(3), _bare(m.group(4)), value)
            elif m.group(1) is None:
                self.server_name = value

    server_name = ""

    def find(self, kind: str, name: Optional[str]) -> Optional[Attrs]:
        return self._of[kind].get(name)

    def walk(self, kind: str, queue: Optional[str]) -> Iterator[tuple[str, Attrs]]:
        for name, attrs in self._of[kind].items():
            if queue is None or attrs.get("queue") == queue:
                yield str(name), attrs


def _value(value: Any) -> str:
    text = str(value)
    if re.search(r'[\n"]|^\s|\s$', text):
        return '"""' + re.sub(r'(\\*)("|\Z)', lambda m: 2 * m[1] + ('\\"' if m[2] else ""), text) + '"""'
    return text


def _hide(name: str) -> str:
    return _HIDDEN.sub(lambda m: f"\\x{ord(m[0]):02x}", name)


def _show(name: str) -> str:
    return re.sub(r"\\x([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), name)


def attr_lines(place: str, attrs: Attrs) -> Iterator[str]:
    """Lines of an object's attributes."""
    for attr, value in attrs.items():
        if isinstance(value, dict):
            yield from (f"{place}.{attr}[{name}]={_value(text)}" for name, text in value.items())
        elif value is not None:
            yield f"{place}.{attr}={_value(value)}"


def event_text(run: Run) -> str:
    """The event of a run, as pbs_python --hook -i reads it."""
    out = [f"pbs.event().type={run.event}", f"pbs.event().hook_name={run.hook_name}", f"pbs.event().hook_type={run.hook_type}",
           f"pbs.event().requestor={run.requestor}", f"pbs.event().requestor_host={run.requestor_host}",
           f"pbs.get_local_nodename()={run.host.partition('.')[0]}"]
    if run.config:
        out.append(f"pbs.hook_config_filename={run.config}")
    for name, said in run.data.items():
        place = f"pbs.event().{name}"
        if name == "host_says":
            out += [f"pbs.event().job.{key}={_value(','.join(v) if isinstance(v, list) else v)}" for key, v in said.items() if v is not None]
        elif name == "management":
            out += [f"{place}.{key}={_value(v)}" for key, v in said.items() if key != "attribs" and v is not None]
            out += [f"{place}.attribs[{i}].{key}={_value(v)}" for i, row in enumerate(said.get("attribs") or []) for key, v in row.items()
                    if v is not None]
        elif name in _LISTS:
            for item in said or []:
                out += list(attr_lines(f'{place}["{item["name"]}"]', item.get("attrs") or {})) or [f'{place}["{item["name"]}"]=']
        elif isinstance(said, dict) and "attrs" in said:
            word = "name" if name.startswith("vnode") else "resvid" if name.startswith("resv") else "id"
            out += [f"{place}.{word}={said['name']}"] if said.get("name") else []
            out += attr_lines(place, said["attrs"] or {})
        elif name == "argv":
            out += [f"{place}[{i}]={_value(v)}" for i, v in enumerate(said or [])]
        elif name == "env":
            out += [f'{place}["{_hide(key)}"]={_value(v)}' for key, v in (said or {}).items() if key]
        elif said is not None:
            out.append(f"{place}={_value(said)}")
    return "\n".join(out) + "\n"


def outcome_text(run: Run) -> str:
    """What a run has brought: its decision, then what was set, last values only. An empty value: unset."""
    accepts = run.result == "accept"
    out = [f"pbs.event().accept={accepts}", f"pbs.event().reject={not accepts}"]
    if run.message:
        out.append(f"pbs.event().reject_msg={_value(run.message)}")
    last: dict[str, Any] = {}
    for c in run.changes:
        place = {"vnode": f'pbs.event().vnode_list["{c.name}"]' if c.name else "pbs.event().vnode", "launch": "pbs.event()"}.get(c.object)
        place = place or (f'pbs.event().job_list["{c.name}"]' if c.name else f"pbs.event().{c.object}")
        if isinstance(c.value, list):
            last.update({f"{place}.{c.attr}[{i}]": value for i, value in enumerate(c.value)})
        elif isinstance(c.value, dict):
            last.update({f'{place}.{c.attr}["{_hide(key)}"]': value for key, value in c.value.items()})
        else:
            last[f"{place}.{c.attr}" + (f'["{_hide(c.resource)}"]' if c.resource else "")] = c.value
    out += [f"{key}={_value('' if value is None else value)}" for key, value in last.items()]
    out += [f"pbs.event().job.rerun={job}" for job in run.rerun] + [f"pbs.event().job.delete={job}" for job in run.delete]
    if run.scheduler_restart_cycle:
        out.append("pbs.server().scheduler_restart_cycle=True")
    if run.reboot is not None:
        out.append(f"pbs.reboot()={_value(run.reboot)}")
    return "\n".join(out) + "\n"
