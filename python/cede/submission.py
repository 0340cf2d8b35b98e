"""What a job is submitted with: script, directives, arguments and environment become attributes, as qsub makes them.

Arguments are stronger than the script's directives.
"""
from __future__ import annotations

import os
import platform
import pwd
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from . import _libpbs as _l
from . import directives, values
from ._libpbs import Row

# Variables of the caller that the job sees as PBS_O_NAME.
_COPIED = ("HOME", "LANG", "LOGNAME", "PATH", "MAIL", "SHELL", "TZ")
_PATHS = ("Output_Path", "Error_Path")


@dataclass(frozen=True)
class Submission:
    """A call of pbs_submit(): attributes, text of the script (None: a command), destination or None. It can be sent any number of times."""

    attributes: list[Row]
    script: str | None
    queue: str | None

    @cached_property
    def attropl(self) -> Any:
        """The attributes as libpbs takes them, made once."""
        return _l.attr_list(self.attributes)

    @cached_property
    def destination(self) -> bytes | None:
        return _l.to_bytes(self.queue)

    @cached_property
    def script_bytes(self) -> bytes | None:
        return _l.to_bytes(self.script)


def escape(value: str) -> str:
    """A value of Variable_List: a comma, a backslash and a blank at the end have a backslash in front."""
    out = value.replace("\\", "\\\\").replace(",", "\\,")
    return f"{out[:-1]}\\{out[-1]}" if out[-1:].isspace() else out


def _environment(wanted: Any, extra: Mapping[str, Any], everything: bool) -> str:
    """Variable_List: PBS_O_ variables, then what the caller names, then (qsub -V) the whole environment."""
    own = {f"PBS_O_{name}": os.environ[name] for name in _COPIED if name in os.environ}
    own.setdefault("PBS_O_LOGNAME", pwd.getpwuid(os.getuid()).pw_name)
    own.update(PBS_O_WORKDIR=_workdir(), PBS_O_SYSTEM=platform.system(), PBS_O_HOST=platform.node())
    parts = [f"{name}={escape(value)}" for name, value in own.items()]
    named = {name: str(value) for name, value in extra.items()}
    if wanted:
        parts += [part if "=" in part else f"{part}={escape(os.environ.get(part, ''))}" for part in str(wanted).split(",")]
    parts += [f"{name}={escape(value)}" for name, value in named.items()]
    if everything:
        parts += [f"{name}={escape(value)}" for name, value in os.environ.items()
                  if not name.startswith("PBS_O_") and name not in named and name != "PBS_JOBCOOKIE"]
    return ",".join(parts)


def _workdir() -> str:
    """The current directory as the user sees it: PWD where that is the same directory."""
    pwd_, here = os.environ.get("PWD", ""), os.getcwd()
    return pwd_ if pwd_.startswith("/") and os.path.exists(pwd_) and os.path.samefile(pwd_, here) else here


def _full_path(path: str) -> str:
    """HOST:/PATH, as the server wants it."""
    host, colon, name = path.partition(":")
    if not colon:
        host, name = platform.node(), path
    return f"{host}:{name if name.startswith('/') else os.path.join(_workdir(), name)}"


def _arguments(command: Any) -> str:
    """argument_list of a command (the form of qsub -- COMMAND)."""
    escaped = [str(a).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for a in command]
    return "".join(f"<jsdl-hpcpa:Argument>{a}</jsdl-hpcpa:Argument>" for a in escaped)


def build(script: str | Path | None, command: Any, *, name: str | None = None, queue: str | None = None, select: str | None = None,
          walltime: timedelta | int | str | None = None, resources: Mapping[str, Any] | None = None,
          env: Mapping[str, Any] | None = None, export: bool = False, depend: str | None = None, array: str | None = None,
          output: Any = None, error: Any = None, join: bool = False, hold: bool = False, priority: int | None = None,
          after: datetime | None = None, project: str | None = None, account: str | None = None, rerunable: bool | None = None,
          attributes: Mapping[str, Any] | None = None) -> Submission:
    """The submission that these arguments describe; Connection.submit() says what each is. ValueError for what cannot be."""
    if (script is None) == (command is None):
        raise ValueError("a job has a script or a command")
    text = directives.read_script(script) if script is not None else None
    asked = directives.parse(text) if text is not None else {}
    everything = bool(asked.pop("export", False)) or export
    wanted = asked.pop("Variable_List", None)
    given = {
        "Job_Name": name, "Priority": priority, "depend": depend, "array_indices_submitted": array, "Execution_Time": after,
        "project": project, "Account_Name": account, "Output_Path": str(output) if output is not None else None,
        "Error_Path": str(error) if error is not None else None, "Join_Path": "oe" if join else None, "Hold_Types": "u" if hold else None,
        "Rerunable": None if rerunable is None else "y" if rerunable else "n",
    }
    asked.update({k: v for k, v in given.items() if v is not None})
    limits = asked.setdefault("Resource_List", {})
    limits.update(resources or {})
    limits.update({k: v for k, v in {"select": select, "walltime": walltime}.items() if v is not None})
    for key, value in (attributes or {}).items():
        if isinstance(value, Mapping):
            asked.setdefault(key, {}).update(value)
        else:
            asked[key] = value
    if "Job_Name" not in asked:
        asked["Job_Name"] = (script.name if isinstance(script, Path) else os.path.basename(str(command[0])) if command else "STDIN")
    if command is not None:
        asked["executable"] = f"<jsdl-hpcpa:Executable>{command[0]}</jsdl-hpcpa:Executable>"
        if len(command) > 1:
            asked["argument_list"] = _arguments(command[1:])
    asked.update({key: _full_path(str(asked[key])) for key in _PATHS if key in asked})
    destination = queue or asked.pop("destination", None)
    asked.pop("destination", None)
    if "array_indices_submitted" in asked:
        asked.setdefault("array", True)
    asked["Variable_List"] = _environment(wanted, env or {}, everything)
    return Submission(values.rows(asked), text, destination)
