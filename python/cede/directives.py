"""What the lines "#PBS ..." of a script ask for, as attributes of a job (qsub(1))."""
from __future__ import annotations

import shlex
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

PREFIX = "#PBS"

# Letter of the option: attribute, and its value where the option has none.
_OPTIONS: dict[str, tuple[str, str | None]] = {
    "A": ("Account_Name", None), "c": ("Checkpoint", None), "e": ("Error_Path", None), "h": ("Hold_Types", "u"),
    "j": ("Join_Path", None), "J": ("array_indices_submitted", None), "k": ("Keep_Files", None), "m": ("Mail_Points", None),
    "M": ("Mail_Users", None), "N": ("Job_Name", None), "o": ("Output_Path", None), "p": ("Priority", None), "P": ("project", None),
    "q": ("destination", None), "r": ("Rerunable", None), "R": ("Remove_Files", None), "S": ("Shell_Path_List", None),
    "u": ("User_List", None),
}


def split_list(text: str) -> list[tuple[str, str]]:
    """NAME=VALUE,NAME=VALUE; a comma inside quotes belongs to the value, and so does a part without "="."""
    parts: list[str] = []
    quote, current = "", ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c == ",":
            parts.append(current)
            current = ""
            continue
        current += c
    parts.append(current)
    out: list[tuple[str, str]] = []
    for part in parts:
        name, equals, value = part.partition("=")
        if equals:
            out.append((name.strip(), value.strip().strip("'\"")))
        elif out:
            out[-1] = (out[-1][0], f"{out[-1][1]},{part}")
        elif part.strip():
            raise ValueError(f"no NAME=VALUE: {part!r}")
    return out


def parse_when(text: str, now: datetime) -> datetime:
    """[[[[CC]YY]MM]DD]hhmm[.SS] of qsub -a: the first such time that is not over."""
    digits, _, seconds = text.partition(".")
    if not digits.isdigit() or len(digits) not in (4, 6, 8, 10, 12) or (seconds and not seconds.isdigit()):
        raise ValueError(f"no time: {text!r}")
    at = now.replace(hour=int(digits[-4:-2]), minute=int(digits[-2:]), second=int(seconds or 0), microsecond=0)
    if len(digits) == 4:
        return at if at >= now else at + timedelta(days=1)
    at = at.replace(day=int(digits[-6:-4]))
    if len(digits) == 6:
        return at if at >= now else (at.replace(day=1) + timedelta(days=32)).replace(day=at.day)
    at = at.replace(month=int(digits[-8:-6]))
    if len(digits) == 8:
        return at if at >= now else at.replace(year=at.year + 1)
    year = int(digits[:-8])
    return at.replace(year=year if year > 99 else 2000 + year)


def _apply(letter: str, value: str, into: dict[str, Any]) -> None:
    if letter == "l":
        into.setdefault("Resource_List", {}).update(split_list(value))
    elif letter == "a":
        into["Execution_Time"] = parse_when(value, datetime.now())
    elif letter == "v":
        into["Variable_List"] = value
    elif letter == "V":
        into["export"] = True
    elif letter == "W":
        into.update(split_list(value))
    elif letter in _OPTIONS:
        into[_OPTIONS[letter][0]] = value
    else:
        raise ValueError(f"option -{letter} has no meaning in a submission from Python")


def parse(script: str) -> dict[str, Any]:
    """The attributes that the script's directives ask for; "export" is true for -V. ValueError names the line that is wrong."""
    out: dict[str, Any] = {}
    for number, line in enumerate(script.splitlines(), 1):
        text = line.strip()
        if not text.startswith("#"):
            if text and not text.startswith(":"):
                break  # directives end at the first command
            continue
        if not text.startswith(PREFIX + " ") and not text.startswith(PREFIX + "\t"):
            continue
        try:
            _parse_line(text[len(PREFIX):], out)
        except ValueError as e:
            raise ValueError(f"line {number} of the script: {e}") from None
    return out


def _parse_line(text: str, into: dict[str, Any]) -> None:
    words = shlex.split(text, comments=True)
    while words:
        word = words.pop(0)
        if len(word) < 2 or word[0] != "-":
            raise ValueError(f"no option: {word!r}")
        letter = word[1]
        if letter in "hV":
            _apply(letter, _OPTIONS.get(letter, ("", ""))[1] or "", into)
            if len(word) > 2:
                words.insert(0, "-" + word[2:])
            continue
        value = word[2:] or (words.pop(0) if words else "")
        if not value:
            raise ValueError(f"option -{letter} needs a value")
        _apply(letter, value, into)


def read_script(script: str | Path) -> str:
    """The text of a script: a Path is read, a str is the script itself."""
    return script.read_text(encoding="utf-8", errors="surrogateescape") if isinstance(script, Path) else script
