"""A submission in pieces, by hand: SUBMIT that announces a script, SCRIPT, COMMIT, each only when asked for."""
import os
import pwd
import socket
import struct

from . import rpc_caller

SUBMIT, SCRIPT, COMMIT = 1, 3, 5
INLINE = 65536  # a longer script comes in pieces (IFL_SCRIPT_INLINE)


def text(value):
    """A string or bytes as XDR has them."""
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack(">I", len(raw)) + raw + b"\0" * (-len(raw) % 4)


class Reader:
    """An answer, from its beginning on."""

    def __init__(self, raw):
        self.raw = raw

    def number(self):
        value, self.raw = struct.unpack(">i", self.raw[:4])[0], self.raw[4:]
        return value

    def string(self):
        n = self.number()
        value, self.raw = self.raw[:n], self.raw[n + -n % 4:]
        return value.decode()

    def error(self):
        """Of one attribute: its name, its resource and its value, a code and a text."""
        return self.string(), self.string(), self.string(), self.number(), self.string()


class Pieces:
    """The connection of one user, by name, to the server's socket. Each call: the code and the text of the answer."""

    def __init__(self, cx, user=None):
        self.cx = cx
        self.where = socket.socket(socket.AF_UNIX)
        self.where.settimeout(rpc_caller.LIMIT_S)
        uid = os.geteuid()
        if user and uid == 0:
            os.seteuid(pwd.getpwnam(user).pw_uid)
        try:
            self.where.connect(os.path.join(cx.home, "pbs_server.sock"))
        finally:
            os.seteuid(uid)

    def close(self):
        self.where.close()

    def _call(self, proc, args):
        """Code, text, and the string that follows the result, if there is one."""
        r = Reader(rpc_caller.call(self.where, rpc_caller.IFL, proc, args)[24:])
        code, why = r.number(), r.string()
        for _ in range(r.number()):
            r.error()
        r.string()  # ext
        return code, why, r.string() if proc == SUBMIT else ""

    def begin(self, length=INLINE + 1, queue="", **attrs):
        """Announce a script of so many bytes; (code, the job's identifier or the error)."""
        attrs = {"Output_Path": "/dev/null", "Error_Path": "/dev/null", **attrs}
        words = b"".join(text(k) + text("") + text(v) + struct.pack(">i", 0) for k, v in attrs.items())
        args = os.urandom(16) + text(queue) + struct.pack(">I", len(attrs)) + words + struct.pack(">QI", length, 0)
        code, why, rest = self._call(SUBMIT, args + text("") + struct.pack(">I", 0))
        return code, why or rest

    def send(self, job, data, offset=0):
        return self._call(SCRIPT, text(job) + struct.pack(">Q", offset) + text(data) + struct.pack(">I", 0))[:2]

    def commit(self, job):
        return self._call(COMMIT, text(job) + text("") + struct.pack(">I", 0))[:2]
