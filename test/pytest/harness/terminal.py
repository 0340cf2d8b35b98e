"""qsub -I at a terminal of the test."""
import fcntl
import os
import pty
import pwd
import re
import select
import signal
import struct
import subprocess
import termios
import time

from harness import users
from harness.wait import LIMIT_S

OWNER = users.NAMES[0] if os.geteuid() == 0 else users.me()


class Terminal:
    """qsub -I with a terminal of its own, as a user would sit there."""

    def __init__(self, cx, *options, env=None, program=("qsub", "-I")):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
        who = pwd.getpwnam(OWNER)
        change = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        os.fchown(slave, who.pw_uid, -1) if os.geteuid() == 0 else None
        self.process = subprocess.Popen([*program, *options], stdin=slave, stdout=slave, stderr=slave, cwd=cx.work,
                                        env={**cx.env, "TERM": "vt100", **(env or {})}, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **change)
        os.close(slave)
        self.seen = ""

    def read(self, limit_s=0.05):
        ready, _, _ = select.select([self.master], [], [], limit_s)
        if ready:
            try:
                self.seen += os.read(self.master, 65536).decode(errors="replace")
            except OSError:
                pass
        return self.seen

    def expect(self, pattern, limit_s=LIMIT_S):
        """Until this regular expression has been shown; the match."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            found = re.search(pattern, self.read())
            if found:
                self.seen = self.seen[found.end():]
                return found
        raise AssertionError(f"waited for {pattern!r}; seen: {self.seen!r}")

    def type(self, text):
        os.write(self.master, text.encode())

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.killpg(self.process.pid, signal.SIGWINCH)

    def job(self):
        return self.expect(r"qsub: waiting for job (\S+) to start").group(1)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)


def at_work(t):
    """A job whose shell answers."""
    job = t.job()
    t.expect(rf"qsub: job {re.escape(job)} ready")
    t.type("PS1=; stty -echo; echo re''ady\n")
    t.expect("ready\r\n")
    return job
