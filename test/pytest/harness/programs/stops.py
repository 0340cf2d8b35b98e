"""Run by gdb (harness/gdb.py): a line for each time that the process calls one of these functions, and it runs on.

Environment: STOPS_OUT a file, STOPS_WHO a word for its lines, STOPS_AT "file.c:function ...", STOPS_HOW attach, run, or fork: of the process that is
attached to, the next child is followed.
"""
import os
import time

import gdb

WHO, HOW = os.environ["STOPS_WHO"], os.environ["STOPS_HOW"]
FRAMES = 12
# Open until gdb ends.
out = open(os.environ["STOPS_OUT"], "a", buffering=1, encoding="utf-8")  # pylint: disable=consider-using-with


def say(what, stack=()):
    out.write(f"{time.monotonic_ns()} {WHO} {what} {' '.join(stack)}\n")


def stack():
    frame, names = gdb.newest_frame(), []
    while frame and len(names) < FRAMES:
        table = frame.find_sal().symtab
        names.append(f"{frame.name() or '?'}@{table.filename if table else ''}")
        frame = frame.older()
    return names


class Stop(gdb.Breakpoint):
    def stop(self):
        say(self.location, stack())
        if HOW == "fork":  # the child that was waited for; its own children are not followed
            gdb.execute("set follow-fork-mode parent")
        return False


for setting in ("pagination off", "confirm off", "breakpoint pending off", "debuginfod enabled off"):
    gdb.execute(f"set {setting}")
if HOW == "fork":
    gdb.execute("set follow-fork-mode child")
gdb.execute("handle all nostop noprint pass")
for where in os.environ["STOPS_AT"].split():
    Stop(where)
say("ready")
try:
    gdb.execute("run" if HOW == "run" else "continue")
except (KeyboardInterrupt, gdb.error):
    pass
for stop in gdb.breakpoints():
    stop.delete()
if gdb.selected_inferior().pid:
    gdb.execute("detach")
