"""A clock that a test sets."""
import math
import os
import struct
import subprocess
import time

from harness.build import PROGRAMS, is_sanitized
from harness.wait import until


class Clock:
    """The clock of the host, as all daemons of the complex see it, or only that one.

    A sanitizer wants to be loaded first: programs of a sanitized build see the real clock, so that leap() waits, and set() is of no use.
    """

    def __init__(self, cx, monkeypatch, program=None):
        self.path = os.path.join(cx.top, "clock")
        self.passed_s = 0
        self.set(0)
        if is_sanitized():
            return
        library = os.path.join(cx.top, "clock_jump.so")
        subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library,
                        os.path.join(PROGRAMS, "clock_jump.c")], check=True)
        monkeypatch.setenv("LD_PRELOAD", library)
        monkeypatch.setenv("CLOCK_JUMP", self.path)
        if program:
            monkeypatch.setenv("CLOCK_JUMP_OF", program)

    def set(self, ahead_s):
        self.ahead_s = ahead_s
        self._write()

    def leap(self, seconds):
        """So much time has passed."""
        if is_sanitized():
            end = time.monotonic() + seconds
            until(lambda: time.monotonic() >= end, f"{seconds} s to pass", seconds + 60)
            return
        self.passed_s += seconds
        self._write()

    def leap_to(self, when_s):
        """It is this time of the epoch, or later."""
        self.leap(max(0, math.ceil(when_s - self.now())))

    def _write(self):
        with open(self.path, "r+b" if os.path.exists(self.path) else "w+b") as f:
            f.write(struct.pack("qq", self.ahead_s, self.passed_s))

    def now(self):
        return time.time() + self.ahead_s + self.passed_s
