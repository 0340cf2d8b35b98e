"""Execute one script for one run, and say how it ended. The worker and pbs_python --hook both come through here.

Around the script: the run is the current one of `pbs`; SIGALRM ends it after its alarm with KeyboardInterrupt; working directory, environment,
signal handlers, sys.argv and sys.path are afterwards what they were; what it prints goes to the log.
"""
from __future__ import annotations

import io
import os
import signal
import sys
import traceback
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from types import CodeType
from typing import Any, Iterator

from pbs import rules
from pbs.constants import LOG_EVENTS
from pbs.run import Change, Run, begin, end

_SYSTEM = LOG_EVENTS["ERROR"] | LOG_EVENTS["SYSTEM"]
_SAID = LOG_EVENTS["DEBUG3"]
_LINE_LONGEST = 16 << 10
_RAISED = "PBS server internal error (15011) in "


def compile_script(text: str, name: str) -> CodeType:
    """The code of a script. SyntaxError or ValueError say why it is none."""
    return compile(text, name, "exec", dont_inherit=True)


def execute(code: CodeType, run: Run, alarm_s: int) -> None:
    """Execute the script; afterwards run.result is accept, reject, error or alarm, and run.changes is what counts.

    alarm_s   seconds it may take; 0: any time
    """
    begin(run)
    try:
        with _surroundings(run), redirect_stdout(_Printed(run, "stdout")), redirect_stderr(_Printed(run, "stderr")):
            _guarded(code, run, alarm_s)
            sys.stdout.flush()
            sys.stderr.flush()
        _collect(run)
    finally:
        end()


def _guarded(code: CodeType, run: Run, alarm_s: int) -> None:
    names = {"__name__": "__main__", "__file__": code.co_filename, "__builtins__": __builtins__}
    own = os.getpid()
    try:
        signal.alarm(alarm_s)
        try:
            exec(code, names)
        finally:
            signal.alarm(0)
            if os.getpid() != own:  # a child that the script has made ends here; the run is its parent's
                os._exit(0)
    except SystemExit:
        pass  # of accept(), reject(), reboot(), which have noted the decision; sys.exit() of a script is an accept
    except KeyboardInterrupt:
        run.result, run.message = "alarm", None
        run.log.line(LOG_EVENTS["ADMIN"] | LOG_EVENTS["SYSTEM"], "Hook", "catch_hook_alarm", "alarm call received")
        for what in ("<class 'KeyboardInterrupt'>", "<could not figure out the exception value>"):
            run.log.line(_SYSTEM, "Svr", None, f"{_RAISED}Python script received a KeyboardInterrupt, {what}")
    except BaseException as e:  # anything that a script raises is the script's error, also what is not an Exception
        run.result, run.message = "error", None
        for what in (str(type(e)), str(e) or "<could not figure out the exception value>"):
            run.log.line(_SYSTEM, "Svr", None, f"{_RAISED}Error evaluating Python script, {what}")
        for line in "".join(traceback.format_exception(e)).splitlines():
            run.log.line(_SAID, "Hook", run.hook_name, line)


def _collect(run: Run) -> None:
    """Leave of the changes what the outcome permits."""
    if run.result in ("error", "alarm") or (run.result == "reject" and run.event not in rules.CHANGES_ON_REJECT):
        run.changes.clear()
    elif run.event_object is not None and run.event == "preempt":
        run.changes.extend(Change("plan", None, "victims", None, value) for value in run.event_object._plan_changes())
    elif run.event_object is not None and run.event == "execjob_launch":
        run.changes.extend(Change("launch", None, attr, None, value) for attr, value in run.event_object._launch_changes())


def _rings_cb(signum: int, frame: Any) -> None:
    raise KeyboardInterrupt


@contextmanager
def _surroundings(run: Run) -> Iterator[None]:
    """Set what a script finds, and put back what it may have changed."""
    here, environ = os.getcwd(), dict(os.environ)
    argv, path = list(sys.argv), list(sys.path)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)}
    mask = os.umask(0o022)
    os.umask(mask)
    signal.signal(signal.SIGALRM, _rings_cb)
    sys.argv = [run.hook_name]
    if run.config:
        os.environ["PBS_HOOK_CONFIG_FILE"] = run.config
    else:
        os.environ.pop("PBS_HOOK_CONFIG_FILE", None)
    try:
        yield
    finally:
        signal.alarm(0)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        sys.argv, sys.path[:] = argv, path
        os.umask(mask)
        os.environ.clear()
        os.environ.update(environ)
        if os.getcwd() != here:  # not otherwise: a user's run may be in a directory that only root can enter
            os.chdir(here)


class _Printed(io.TextIOBase):
    """A text stream whose lines become lines of the log."""

    def __init__(self, run: Run, name: str) -> None:
        self._run, self._name, self._rest = run, name, ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._run.log.line(_SAID, "Hook", self._run.hook_name, f"{self._name}: {line}")
        if len(self._rest) > _LINE_LONGEST:  # a script may print a gigabyte without a newline
            self.flush()
        return len(text)

    def flush(self) -> None:
        if self._rest:
            self._run.log.line(_SAID, "Hook", self._run.hook_name, f"{self._name}: {self._rest}")
            self._rest = ""
