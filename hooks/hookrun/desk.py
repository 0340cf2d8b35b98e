"""pbs_python --hook [-e event] [-i in] [-L dir] [-l logfile] [-o out] [-r resourcedef] [-s data] [script]

Run a hook's script without a daemon: the event comes from a file, objects of the server from another, and what the script has set goes
to a third. Exit status: 0 the script has accepted or rejected, 254 it raised, 253 its alarm was over, 1 it could not be run; of a
provision hook what it gave accept() or reject().
"""
from __future__ import annotations

import getopt
import os
import socket
import sys
import time
from typing import Optional

from pbs import resources
from pbs.constants import EVENT_NAMES, EVENTS
from pbs.run import Run, read_conf

from .execute import compile_script, execute
from .files import BadFile, Objects, outcome_text, read_event

USAGE = "usage: pbs_python --hook [-e event] [-i in] [-L dir] [-l logfile] [-o out] [-r resourcedef] [-s data] [script]"
_STATUS = {"accept": 0, "reject": 0, "error": 254, "alarm": 253}


class LogFile:
    """Lines of PBS's form at the end of a file; a pbs.run.Log."""

    def __init__(self, path: str) -> None:
        self._path = path

    def line(self, mask: int, cls: str, obj: Optional[str], text: str) -> None:
        with open(self._path, "a", encoding="utf-8", errors="surrogateescape") as f:
            for part in text.split("\n"):
                f.write(f"{time.strftime('%m/%d/%Y %H:%M:%S')};{mask:04x};pbs_python;{cls};{obj or 'pbs_python'};{part}\n")


def event_word(given: str) -> str:
    """The word of an event from its word in any case, also with HOOK_EVENT_, or its bit. ValueError: there is none."""
    word = given.strip().lower().removeprefix("hook_event_")
    if word in EVENTS:
        return word
    try:
        return EVENT_NAMES[int(word, 0)]
    except (ValueError, KeyError):
        raise ValueError(f"unknown event {given}") from None


def define_resources(text: str) -> None:
    """Custom resources from lines NAME [type=TYPE] [flag=FLAGS] of a resourcedef file."""
    custom = {}
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words:
            parts = dict(word.split("=", 1) for word in words[1:] if "=" in word)
            custom[words[0]] = parts.get("type", "string")
    resources.define(custom)


def _read(path: Optional[str]) -> str:
    if path is None or path == "-":
        return sys.stdin.read()
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        return f.read()


def _make_run(options: dict[str, str], log: LogFile) -> tuple[Run, int]:
    settings, data = read_event(_read(options.get("-i")))
    source = Objects(_read(options["-s"]) if "-s" in options else "")
    if "-r" in options:
        define_resources(_read(options["-r"]))
    event = options.get("-e") or settings.get("type")
    if not event:
        raise ValueError("which event? Say it with -e, or as pbs.event().type in the input")
    word, conf = event_word(event), read_conf()
    run = Run(event=word, type=EVENTS[word], hook_name=settings.get("hook_name", "hook"), source=source, log=log, data=data,
              hook_type=settings.get("hook_type", "site"), requestor=settings.get("requestor", ""),
              requestor_host=settings.get("requestor_host", ""), freq=int(settings.get("freq", 120)),
              server=source.server_name or conf.get("PBS_SERVER", ""), host=settings.get("local_node") or socket.gethostname(),
              config=settings.get("config") or os.environ.get("PBS_HOOK_CONFIG_FILE"), conf=conf)
    return run, int(settings.get("alarm", 0))


def main(arguments: list[str]) -> int:
    """The command; arguments are those behind --hook."""
    try:
        given, rest = getopt.getopt(arguments, "e:i:L:l:o:r:s:")
    except getopt.GetoptError as e:
        print(f"pbs_python: {e}\n{USAGE}", file=sys.stderr)
        return 2
    options = dict(given)
    if len(rest) > 1 or (not rest and "-i" not in options):
        print(USAGE, file=sys.stderr)
        return 2
    log = LogFile(os.path.abspath(os.path.join(options.get("-L", "."), options.get("-l") or time.strftime("%Y%m%d"))))
    try:
        run, alarm_s = _make_run(options, log)
        code = compile_script(_read(rest[0] if rest else None), rest[0] if rest else "<stdin>")
    except (OSError, BadFile, ValueError, SyntaxError) as e:
        print(f"pbs_python: {e}", file=sys.stderr)
        return 1
    execute(code, run, alarm_s)
    if "-o" in options:
        with open(options["-o"], "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(outcome_text(run))
    else:
        sys.stdout.write(outcome_text(run))
    return run.ecode & 255 if run.event == "provision" and run.decided else _STATUS[run.result]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
