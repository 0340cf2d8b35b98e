"""pbs_web beside a complex: `Web(cx)` starts one on a free port, with tokens, and asks it."""
import contextlib
import http.client
import itertools
import json
import os
import signal
import subprocess
from typing import NamedTuple

import pytest

from .wait import LIMIT_S, until


NUMBERS = itertools.count()


class Answer(NamedTuple):
    status: int
    headers: dict
    body: bytes

    def json(self):
        return json.loads(self.body)


class Web:
    """Ended by stop(). Tokens: `token` may do all, `reader` is read-only. `user`: by name, as root only."""

    def __init__(self, cx, *options, user=None):
        self.cx, self.user = cx, user
        self.program = os.path.join(cx.build, "sbin", "pbs_web")
        if not os.path.exists(self.program):
            pytest.skip("pbs_web is not built: libmicrohttpd-dev is not installed")
        number = next(NUMBERS)
        self.tokens = os.path.join(cx.work, f"web_tokens{number}")
        self.token = self.make_token()
        self.reader = self.make_token("--read-only")
        self.out = os.path.join(cx.top, f"web_out{number}")
        with open(self.out, "wb") as f:
            self.process = subprocess.Popen([self.program, "--listen", "127.0.0.1:0", "--tokens", self.tokens, *options], env=cx.env,
                                            stdout=f, stderr=subprocess.STDOUT, **({"user": user, "group": user, "extra_groups": []} if user else {}))
        until(lambda: "listening on" in self.said() or self.process.poll() is not None, "pbs_web to listen")
        assert self.process.poll() is None, self.said()
        self.url = self.said().split()[-1]
        self.port = int(self.url.rsplit(":", 1)[1].strip("/"))

    def said(self):
        with open(self.out, encoding="utf-8") as f:
            return f.read()

    def command(self, *words, check=True):
        return self.cx.command(self.program, *words, "--tokens", self.tokens, check=check, user=self.user)

    def make_token(self, *options):
        return self.command("token", *options).stdout.strip()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)

    def ask(self, path, method="GET", token=None, body=None, headers=None, connection=None):
        """The answer, whatever its status; `token` "" sends none. A body that is no text or bytes goes as JSON."""
        token = self.token if token is None else token
        head = {"Authorization": f"Bearer {token}"} if token else {}
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
            head["Content-Type"] = "application/json"
        c = connection or self.connect()
        try:
            c.request(method, path, body=body, headers={**head, **(headers or {})})
            r = c.getresponse()
            return Answer(r.status, dict(r.getheaders()), r.read())
        finally:
            if not connection:
                c.close()

    def get(self, path, **how):
        """The JSON of a request that must succeed."""
        a = self.ask(path, **how)
        assert a.status == 200, (path, a)
        return a.json()

    def metrics(self):
        """{'pbs_jobs{queue="workq",state="Queued"}': 3.0, ...}"""
        text = self.ask("/metrics").body.decode()
        assert text.endswith("# EOF\n")
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if not line.startswith("#")}

    def stop(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(LIMIT_S)
        finally:
            self.process.kill()
        return self.process.returncode
