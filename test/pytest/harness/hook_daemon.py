"""The daemon's end of doc/internals/hook-protocol.md: a real worker, driven frame by frame."""
import json
import os
import socket
import struct
import subprocess

from harness.hook_desk import package


class HookDaemon:
    """A worker and its socket. `logs`: all log frames so far; `queries`: all questions."""

    def __init__(self, tmp, objects=None, page=2, **hello):
        self.tmp, self.objects, self.page = tmp, objects or {}, page
        self.logs, self.queries, self._runs = [], [], 0
        own, other = socket.socketpair()
        own.settimeout(60)
        self.sock = own
        self.worker = subprocess.Popen(
            [os.path.join(os.environ["CEDE_BUILD"], "libexec", "pbs_hook_worker"), "--fd", str(other.fileno())], pass_fds=(other.fileno(),), cwd=tmp,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
            env={"PATH": os.environ["PATH"], "HOME": "/", "LANG": "C.UTF-8"})
        other.close()
        self.send({"op": "hello", "version": 1, "daemon": "pbs_server", "server": "svr", "host": "svr.site", "home": tmp, "conf": {"PBS_SERVER": "svr"},
                   "attributes": {}, "resources": [["ncpus", "LONG", "hnm"], ["scratch", "SIZE", "h"]], **hello})

    def send(self, message):
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.sock.sendall(struct.pack(">I", len(body)) + body)

    def _bytes(self, n):
        got = b""
        while len(got) < n:
            part = self.sock.recv(n - len(got))
            if not part:
                return None
            got += part
        return got

    def receive(self):
        """The next frame, None at the end."""
        head = self._bytes(4)
        return json.loads(self._bytes(struct.unpack(">I", head)[0])) if head else None

    def answer(self):
        """The next frame that is neither log nor query; logs are kept, queries answered from `objects`."""
        while (frame := self.receive()) is not None:
            if frame["op"] == "log":
                self.logs.append(frame)
            elif frame["op"] == "query":
                self.queries.append(frame)
                self.send(self._page(frame))
            else:
                return frame
        return None

    def _page(self, query):
        rows = [o for o in self.objects.get(query["kind"], [])
                if query["name"] in (None, o["name"]) and query["queue"] in (None, o["attrs"].get("queue"))]
        start = int(query["after"] or 0)
        end = start + min(self.page, query["limit"])
        return {"op": "page", "id": query["id"], "seq": query["seq"], "objects": rows[start:end], "next": str(end) if end < len(rows) else None}

    def load(self, script, hook="h", serial=1, config=None):
        self.send({"op": "load", "hook": hook, "serial": serial, "script": script, "config": config})
        return self.answer()

    def begin(self, event="queuejob", data=None, hook="h", serial=1, alarm=30, **more):
        """Send a run and do not wait."""
        self._runs += 1
        self.send({"op": "run", "id": self._runs, "event": event, "type": getattr(package(), event.upper()),
                   "hook": hook, "hook_type": "site", "serial": serial, "alarm": alarm, "debug": False, "requestor": "anna", "requestor_host": "login",
                   "data": data or {}, **more})

    def run(self, event="queuejob", data=None, **more):
        self.begin(event, data, **more)
        return self.answer()

    def texts(self, obj=None):
        return [line["text"] for line in self.logs if obj is None or line["object"] == obj]

    def close(self):
        """Close the socket; the worker's exit status."""
        self.sock.close()
        _, self.stderr = self.worker.communicate(timeout=120)
        return self.worker.returncode
