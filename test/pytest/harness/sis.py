"""Speaks SIS to a MOM, as a peer that a test plays."""
import os
import re
import struct

from harness import rpc_caller


class Stranger:
    """Speaks SIS to a MOM with the certificate of another one of the same complex."""

    LETTER, FETCH = 1, 2

    def __init__(self, cx, to, role):
        self.tls = rpc_caller.connect_tls(self.port(cx, to), rpc_caller.SIS, os.path.join(cx.home, "certs"),
                                          name=role.replace(":", "-"))

    @staticmethod
    def port(cx, node):
        with open(os.path.join(cx.dir, "mom", node, "pbs.conf"), encoding="ascii") as f:
            return int(re.search(r"PBS_MANAGER_SERVICE_PORT=(\d+)", f.read()).group(1))

    def letter(self, seq, run, store, from_host, payload=b""):
        """The code of the answer."""
        def opaque(b):
            return struct.pack(">I", len(b)) + b + b"\0" * (-len(b) % 4)
        args = struct.pack(">qiI", seq, -1, run) + opaque(store.encode()) + struct.pack(">I", from_host)
        reply = rpc_caller.call(self.tls, rpc_caller.SIS, self.LETTER, args + opaque(payload) + opaque(b""))
        accepted = struct.unpack(">6I", reply[:24])
        assert accepted[1:3] == (1, 0) and accepted[5] == 0, accepted
        return struct.unpack(">i", reply[24:28])[0]

    def fetch(self, job, key, file=b"OU", number=None, done=False):
        """The code of the answer, and the bytes. `number`: of another job than the identifier is of."""
        def opaque(b):
            return struct.pack(">I", len(b)) + b + b"\0" * (-len(b) % 4)
        args = struct.pack(">qi", int((number or job).split(".")[0]), -1) + opaque(job.encode()) + opaque(b"") + opaque(key)
        args += opaque(file) + struct.pack(">QI", 0, done) + opaque(b"")
        reply = rpc_caller.call(self.tls, rpc_caller.SIS, self.FETCH, args)[24:]
        code, n = struct.unpack(">iI", reply[:8])
        size, = struct.unpack(">Q", reply[8 + (n + 3) // 4 * 4:][:8])
        return code, size
