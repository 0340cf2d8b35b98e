"""qsub -I -X: windows of a job on the user's display. The display is a stand-in, and so is the user's xauth; what the job's programs
find is what libX11 would find."""
import binascii
import os
import pathlib
import re
import socket
import struct
import subprocess
import threading

import pytest

from harness.terminal import OWNER, at_work

pytestmark = pytest.mark.complex(history=True)
LIMIT = 120
PROTOCOL = b"MIT-MAGIC-COOKIE-1"
REAL = bytes(range(16))

# A program with a window: cookie and place from the environment, then what it says comes back doubled.
CLIENT = r"""
import os, socket, struct, sys, threading
host, _, number = os.environ["DISPLAY"].partition(":")
number = number.partition(".")[0]
def entries(b):
    while b:
        family, = struct.unpack(">H", b[:2]); b = b[2:]
        fields = []
        for _ in range(4):
            n, = struct.unpack(">H", b[:2]); fields.append(b[2:2 + n]); b = b[2 + n:]
        yield (family, *fields)
with open(os.environ["XAUTHORITY"], "rb") as f:
    family, address, at, name, cookie = next(entries(f.read()))
assert family == 0xffff and at.decode() == number and name == b"MIT-MAGIC-COOKIE-1" and len(cookie) == 16
if "wrong" in sys.argv:
    cookie = bytes(16)
s = socket.create_connection((host, 6000 + int(number)))
s.sendall(struct.pack("<BxHHHHxx", ord("l"), 11, 0, len(name), len(cookie)) + name + b"\0\0" + cookie)
amount = int(sys.argv[1])
got = 0
threading.Thread(target=lambda: s.sendall(b"w" * amount), daemon=True).start()
while got < 2 * amount:
    piece = s.recv(65536)
    if not piece:
        break
    got += len(piece)
print("got:" + str(got) + ":bytes", flush=True)
"""


class Display:
    """Takes connections that show the right cookie, and says twice what it hears."""

    def __init__(self, path):
        self.path = path
        self.cookies = []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        os.chmod(path, 0o777)
        self.socket.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                c, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(c,), daemon=True).start()

    def _serve(self, c):
        with c:
            head = c.recv(12, socket.MSG_WAITALL)
            if len(head) < 12:
                return
            n_name, n_cookie = struct.unpack("<HH", head[6:10])
            name = c.recv((n_name + 3) // 4 * 4, socket.MSG_WAITALL)[:n_name] if n_name else b""
            cookie = c.recv(n_cookie, socket.MSG_WAITALL) if n_cookie else b""
            self.cookies.append((name, cookie))
            while piece := c.recv(65536):
                c.sendall(piece * 2)

    def close(self):
        self.socket.close()


@pytest.fixture
def desk(cx):
    """The user's place: display, and a directory for PATH with an xauth that knows it."""
    place = pathlib.Path(cx.work) / "desk"
    place.mkdir()
    display = Display(f"{place}/display")
    programs = place / "bin"
    programs.mkdir()
    xauth = programs / "xauth"
    xauth.write_text(f"#!/bin/sh\n[ \"$1 $2\" = 'list {display.path}' ] || exit 1\n"
                     f"echo 'desk:0  MIT-MAGIC-COOKIE-1  {binascii.hexlify(REAL).decode()}'\n")
    xauth.chmod(0o755)
    display.env = {"DISPLAY": display.path, "PATH": f"{programs}:{cx.env['PATH']}"}
    display.xauth = xauth
    client = place / "client"
    client.write_text(CLIENT)
    for d in (place, programs):
        d.chmod(0o755)
    display.client = f"/usr/bin/python3 {client}"
    yield display
    display.close()


def test_a_window_of_the_job_is_on_the_users_display_by_a_cookie_of_its_own(cx, sit, desk):
    t = sit("-X", env=desk.env)
    job = at_work(t)
    assert cx.stat(job)["forward_x11_port"] == cx.stat(job)["interactive"]
    assert "forward_x11_cookie" not in cx.stat(job)
    t.type("echo $DISPLAY $XAUTHORITY $TMPDIR; stat -c '%a %U' $XAUTHORITY\n")
    shown = t.expect(r"127\.0\.0\.1:(\d+)\.0 (\S+)/\.Xauthority (\S+)\r\n(\d+) (\S+)\r\n")
    assert shown.group(2) == shown.group(3) and shown.group(4) == "600" and shown.group(5) == OWNER
    t.type(f"{desk.client} 1000\n")
    t.expect("got:2000:bytes", LIMIT)
    assert desk.cookies == [(PROTOCOL, REAL)]
    t.type("exit 0\n")
    t.expect(f"qsub: job {re.escape(job)} completed", LIMIT)


def test_much_passes_in_several_windows_while_the_terminal_is_used(cx, sit, desk):
    t = sit("-X", env=desk.env)
    at_work(t)
    t.type(f"for i in 1 2 3; do {desk.client} 1000000 & done\n")
    t.type("echo still:typing\n")
    for _ in range(3):
        t.expect("got:2000000:bytes", LIMIT)
    assert desk.cookies == [(PROTOCOL, REAL)] * 3


def test_a_client_without_the_cookie_of_the_job_does_not_reach_the_display(cx, sit, desk):
    t = sit("-X", env=desk.env)
    at_work(t)
    t.type(f"{desk.client} 10 wrong\n")
    t.expect("got:0:bytes", LIMIT)
    assert desk.cookies == []
    t.type(f"{desk.client} 10\n")
    t.expect("got:20:bytes", LIMIT)


def test_where_xauth_knows_no_cookie_that_is_said_and_none_is_shown(cx, sit, desk):
    desk.xauth.write_text("#!/bin/sh\nexit 0\n")
    t = sit("-X", env=desk.env)
    t.expect("xauth knows no cookie for display", LIMIT)
    at_work(t)
    t.type(f"{desk.client} 10\n")
    t.expect("got:20:bytes", LIMIT)
    assert desk.cookies == [(b"", b"")]


def test_a_display_that_is_gone_ends_the_window_and_not_the_job(cx, sit, desk):
    t = sit("-X", env=desk.env)
    at_work(t)
    os.unlink(desk.path)
    t.type(f"{desk.client} 10\n")
    t.expect("got:0:bytes", LIMIT)
    t.type("echo goes:on\n")
    t.expect("goes:on", LIMIT)


def test_without_xauth_or_display_qsub_says_so_and_no_job_is_made(cx, sit, desk, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    qsub = subprocess.run(["which", "qsub"], env=cx.env, capture_output=True, text=True, check=True).stdout.strip()
    t = sit("-X", env={**desk.env, "PATH": str(empty)}, program=[qsub, "-I"])
    t.expect("xauth is not found on this host", LIMIT)
    assert t.process.wait(LIMIT) != 0
    t = sit("-X", env={"DISPLAY": ""}, program=["env", "-u", "DISPLAY", "qsub", "-I"])
    t.expect("qsub: DISPLAY not set", LIMIT)
    t = sit("-X", "-v", "A=1,DISPLAY=:1", env=desk.env)
    t.expect("cannot be given by -v", LIMIT)
    assert cx.command("qstat").stdout == ""


def test_xauth_itself_reads_the_file_of_the_job(cx, sit, desk):
    if subprocess.run(["sh", "-c", "command -v xauth"], capture_output=True, check=False).returncode:
        pytest.skip("xauth is not installed here")
    t = sit("-X", env=desk.env)
    at_work(t)
    t.type("PATH=/usr/bin:/bin xauth list $DISPLAY\n")
    t.expect(r"#:\d+ +MIT-MAGIC-COOKIE-1 +[0-9a-f]{32}\r\n", LIMIT)
